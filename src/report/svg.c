/*
 * report/svg.c - gnuplot's SVG made a part of a page.
 *
 * Its colours become CSS variables, its tokens labels, its plots' titles the names of what they
 * show; the markers' definitions stand once in the page; groups that hold nothing go, and so do
 * the white discs under marks with whiskers, which would hide what lies behind.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure.h"

static const struct {
    const char *from, *to;
} rules[] = {
    {"<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" "
     "stroke-linecap=\"butt\" stroke-linejoin=\"miter\">\n</g>\n",
     ""},
    {"<g fill=\"none\" color=\"white\" stroke=\"currentColor\" stroke-width=\"1.00\" "
     "stroke-linecap=\"butt\" stroke-linejoin=\"miter\">\n</g>\n",
     ""},
    {"<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" "
     "stroke-linecap=\"butt\" stroke-linejoin=\"miter\">",
     "<g>"},
    {" color=\"black\"", ""},
    {" color=\"white\"", ""},
    {" stroke=\"black\"", " stroke=\"currentColor\""},
    {" fill=\"black\"", " fill=\"currentColor\""},
    {" font-family=\"sans\"", ""},
    {" font-size=\"14.00\"", ""},
    {" shape-rendering='crispEdges'", ""},
    {"\t", ""},
    {"xlink:href='#gp", "href='#gp"},
};

static bool begins(const char *at, const char *with)
{
    return strncmp(at, with, strlen(with)) == 0;
}

/* "rgb(1,2,N)", spaces anywhere: the code N and the end of it, or NULL. */
static const char *colour(const char *at, int *code)
{
    int         part[3];
    const char *next = at + 4;

    if (!begins(at, "rgb(")) return NULL;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;

        part[i] = (int)strtol(next, &end, 10);
        if (end == next || *end != (i < 2 ? ',' : ')')) return NULL;
        next = end + 1;
    }
    *code = part[2];
    return part[0] == 1 && part[1] == 2 ? next : NULL;
}

/* A number between two pieces: "~k12~", "gnuplot_plot_3". */
static const char *numbered(const char *at, const char *before, const char *behind, size_t *number)
{
    char *end = NULL;

    if (!begins(at, before) || !isdigit((unsigned char)at[strlen(before)])) return NULL;
    *number = (size_t)strtoul(at + strlen(before), &end, 10);
    return begins(end, behind) ? end + strlen(behind) : NULL;
}

/* "<use xlink:href='#gpPt6' ... color='white'/>": what follows it, or NULL. */
static const char *disc(const char *at)
{
    static const char white[] = " color='white'/>";
    const char       *end = begins(at, "<use ") ? strstr(at, "/>") : NULL;
    size_t            length = strlen(white);

    if (!end || (size_t)(end + 2 - at) < length) return NULL;
    return begins(end + 2 - length, white) ? end + 2 : NULL;
}

/* "<g id="gnuplot_plot_3" ><title>what gnuplot calls it</title>": what follows it, or NULL. */
static const char *titled(const char *at, size_t *number)
{
    static const char end[] = "</title>";
    const char       *next = numbered(at, "<g id=\"gnuplot_plot_", "\"", number);

    if (!next) return NULL;
    while (*next == ' ') next++;
    if (!begins(next, "><title>")) return NULL;
    next = strstr(next, end);
    return next ? next + strlen(end) : NULL;
}

static void put_title(cull_rep_text *html, const cull_rep_figure *f, size_t number)
{
    if (number < 1 || number > f->plots || number > CULL_REP_LABELS) return;
    if (f->title[number - 1] < 0) return;
    cull_rep_put(html, "<title>");
    cull_rep_put(html, f->words.data + f->label[f->title[number - 1]]);
    cull_rep_put(html, "</title>");
}

/* Copy or replace what begins here; returns what follows it. */
static const char *take(cull_rep_text *html, const cull_rep_figure *f, const char *at)
{
    int         code = 0;
    size_t      number = 0;
    const char *next = colour(at, &code);

    if (next) {
        cull_rep_print(html, "var(--k%d)", code);
        return next;
    }
    if ((next = numbered(at, "~k", "~", &number)) && number < f->labels) {
        cull_rep_put(html, f->words.data + f->label[number]);
        return next;
    }
    if ((next = titled(at, &number))) {
        cull_rep_put(html, "<g>");
        put_title(html, f, number);
        return next;
    }
    if ((next = disc(at))) return next;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!begins(at, rules[i].from)) continue;
        cull_rep_put(html, rules[i].to);
        return at + strlen(rules[i].from);
    }
    cull_rep_bytes(html, at, 1);
    return at + 1;
}

cull_status cull_rep_svg(cull_rep_text *html, const cull_rep_figure *f, const char *what,
                         const char *svg)
{
    static const char defined[] = "</defs>", closing[] = "</svg>";

    const char *at = strstr(svg, defined), *end = at ? strstr(at, closing) : NULL;

    if (!strstr(svg, "<g id=\"gnuplot_canvas\">") || !end)
        return cull_fail(CULL_BAD_FILE, "gnuplot wrote no picture");
    cull_rep_print(html, "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                   CULL_REP_WIDTH, f->height);
    cull_rep_escape(html, what, CULL_REP_SENTENCE);
    cull_rep_put(html, "\"><g fill=\"none\" stroke=\"currentColor\" stroke-linejoin=\"round\">\n");
    for (at += strlen(defined); at < end;) at = take(html, f, at);
    cull_rep_put(html, "</svg>\n");
    return html->status;
}
