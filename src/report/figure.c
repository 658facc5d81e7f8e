/* report/figure.c - writes scripts, runs gnuplot on them, and puts what it draws on the page. */
#include "report/figure.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

extern char **environ;

enum { MOST_SVG = 32 << 20, MOST_SAID = 200, MOST_DRAWN = 600, NO_PROGRAM = 127 };

void cull_rep_figure_begin(cull_rep_figure *f, const char *x, const char *y, int height)
{
    *f = (cull_rep_figure){.height = height ? height : CULL_REP_HEIGHT};
    cull_rep_print(&f->script,
                   "set terminal svg size %d,%d dynamic font 'sans,14' noenhanced\n"
                   "set encoding utf8\nset border 3 lc rgb '#0102%02x'\n"
                   "set tics out nomirror scale .6 tc rgb '#0102%02x'\n"
                   "set grid y lt 1 lw 1 lc rgb '#0102%02x'\n"
                   "set minussign\nset bars small\nunset key\nset rmargin 2\nset tmargin 1\n",
                   CULL_REP_WIDTH, f->height, CULL_REP_AXIS, CULL_REP_AXIS, CULL_REP_GRID);
    cull_rep_print(
        &f->script,
        "set xlabel '%s' offset 0,.5\nset xtics offset 0,.35\nset ylabel '%s' offset .6,0\n", x, y);
}

int cull_rep_figure_label(cull_rep_figure *f, const char *words, bool whole)
{
    if (f->labels == CULL_REP_LABELS) return -1;
    f->label[f->labels] = f->words.size;
    cull_rep_escape(&f->words, words, whole ? CULL_REP_MARK : CULL_REP_LABEL);
    cull_rep_bytes(&f->words, "", 1);
    return (int)f->labels++;
}

void cull_rep_figure_rows(cull_rep_figure *f)
{
    cull_rep_print(&f->script, "$d%zu << EOD\n", f->blocks++);
    f->open = true;
}

cull_rep_text *cull_rep_figure_plot(cull_rep_figure *f, const char *name)
{
    int title = name ? cull_rep_figure_label(f, name, true) : -1;

    cull_rep_put(&f->clauses, f->plots ? ", " : "plot ");
    if (f->plots < CULL_REP_LABELS) f->title[f->plots] = title;
    f->plots++;
    return &f->clauses;
}

cull_rep_text *cull_rep_figure_plot_rows(cull_rep_figure *f, const char *name)
{
    if (f->open) cull_rep_put(&f->script, "EOD\n");
    f->open = false;
    cull_rep_print(cull_rep_figure_plot(f, name), "$d%zu ", f->blocks - 1);
    return &f->clauses;
}

void cull_rep_figure_key(cull_rep_figure *f, const char *words, const cull_rep_key *key)
{
    int label = f->keys < CULL_REP_LABELS ? cull_rep_figure_label(f, words, true) : -1;

    if (label < 0 || f->words.status != CULL_OK) return;
    for (size_t i = 0; i < f->keys; i++)
        if (strcmp(f->words.data + f->label[label], f->words.data + f->label[f->key[i].label]) ==
            0) {
            f->words.size = f->label[--f->labels];
            return;
        }
    f->key[f->keys] = *key;
    f->key[f->keys++].label = label;
}

void cull_rep_figure_range(cull_rep_figure *f, char axis, double low, double high)
{
    double least = 1e-6 * fmax(fabs(low), fabs(high));

    if (!(high - low > least)) {
        double middle = .5 * (low + high), half = least > 0 ? least : .5;

        low = middle - half;
        high = middle + half;
    }
    cull_rep_print(&f->script, "set %crange [%.9g:%.9g]\n", axis, low, high);
}

void cull_rep_figure_full_cost(cull_rep_figure *f)
{
    cull_rep_print(&f->script,
                   "set arrow from 100, graph 0 to 100, graph 1 nohead lw 1 lc rgb "
                   "'#0102%02x'\n",
                   CULL_REP_AXIS);
}

size_t cull_rep_figure_stride(size_t rows)
{
    return rows / MOST_DRAWN + 1;
}

void cull_rep_put_symbols(cull_rep_text *html)
{
    static const char *const shapes[][2] = {
        {"path", "d=\"M-.95-.95h1.9v1.9h-1.9z\""},
        {"circle", "r=\"1.05\""},
        {"path", "d=\"M0-1.33L-1.33.8H1.33z\""},
        {"path", "d=\"M0 1.33L-1.33-.8H1.33z\""},
        {"path", "d=\"M0-1.4L1.4 0 0 1.4-1.4 0z\""},
        {"path", "d=\"M0-1.33L1.27-.41.78 1.08H-.78L-1.27-.41z\""},
    };

    cull_rep_put(html, "<svg class=\"symbols\" aria-hidden=\"true\"><defs>"
                       "<circle id=\"gpDot\" r=\".5\"/>");
    for (int i = 0; i < 2 * (int)(sizeof shapes / sizeof *shapes); i++)
        cull_rep_print(html, "<%s id=\"gpPt%d\" stroke=\"currentColor\" stroke-width=\"%s %s/>",
                       shapes[i / 2][0], 3 + i, i % 2 ? ".2\" fill=\"currentColor\"" : ".35\"",
                       shapes[i / 2][1]);
    cull_rep_put(html, "</defs></svg>\n");
}

int cull_rep_marker(const cull_rep_style *style)
{
    return 5 + 2 * style->marker - style->hollow;
}

void cull_rep_swatch(cull_rep_text *html, const cull_rep_style *style, bool line, bool dashed)
{
    cull_rep_print(html,
                   "<svg class=\"swatch\" viewBox=\"0 0 %d 12\" aria-hidden=\"true\" "
                   "style=\"color:var(--k%d)\">",
                   line ? 24 : 12, CULL_REP_SERIES + style->colour);
    if (line)
        cull_rep_print(html, "<path d=\"M0,6H24\" stroke=\"currentColor\" stroke-width=\"2\"%s/>",
                       dashed ? " stroke-dasharray=\"4 3\"" : "");
    cull_rep_print(html,
                   "<use href=\"#gpPt%d\" fill=\"%s\" transform=\"translate(%d,6) "
                   "scale(4)\"/></svg>",
                   cull_rep_marker(style) - 1, style->hollow ? "var(--paper)" : "currentColor",
                   line ? 12 : 6);
}

static void put_keys(cull_rep_text *html, const cull_rep_figure *f)
{
    if (!f->keys) return;
    cull_rep_put(html, "<ul class=\"key\">");
    for (size_t i = 0; i < f->keys; i++) {
        const cull_rep_key *key = &f->key[i];

        cull_rep_put(html, "<li>");
        if (key->phase >= 0)
            cull_rep_print(html, "<i style=\"background:var(--k%d)\"></i>",
                           CULL_REP_PHASE + key->phase);
        else
            cull_rep_swatch(html, &key->style, key->line, key->dashed);
        cull_rep_put(html, f->words.data + f->label[key->label]);
        cull_rep_put(html, "</li>");
    }
    cull_rep_put(html, "</ul>");
}

/* What a finished child leaves in a file, with a zero behind it. */
static cull_status collect_file(FILE *file, size_t most, char **out)
{
    cull_status status = CULL_OK;
    long        size = 0;

    if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET))
        FAIL(CULL_IO, "a temporary file cannot be read: %s", strerror(errno));
    if ((size_t)size > most) size = (long)most;
    TRY(cull_base_alloc((size_t)size + 1, 1, "a figure", out));
    if (fread(*out, 1, (size_t)size, file) != (size_t)size)
        FAIL(CULL_IO, "a temporary file cannot be read");
done:
    return status;
}

/* gnuplot between three files; *end is its exit status, NO_PROGRAM when there is none. */
static cull_status spawn_gnuplot(const char *program, FILE *in, FILE *out, FILE *said, int *end)
{
    cull_status                status = CULL_OK;
    posix_spawn_file_actions_t actions;
    char                       name[] = "gnuplot", defaults[] = "-d";
    char                      *arguments[] = {name, defaults, NULL};
    pid_t                      child = 0;
    int                        error = posix_spawn_file_actions_init(&actions), state = 0;

    if (error) return cull_fail(CULL_NO_MEMORY, "no memory for starting gnuplot");
    error = posix_spawn_file_actions_adddup2(&actions, fileno(in), 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(said), 2);
    if (error) FAIL(CULL_NO_MEMORY, "no memory for starting gnuplot");
    error = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    *end = NO_PROGRAM;
    if (error) goto done;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR) FAIL(CULL_IO, "gnuplot: %s", strerror(errno));
    *end = WIFEXITED(state) ? WEXITSTATUS(state) : NO_PROGRAM - 1;
done:
    (void)posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* Runs of spaces and ends of lines become one space, none at the ends. */
static void squeeze(char *words)
{
    char *to = words;

    for (const char *at = words; *at; at++) {
        bool space = isspace((unsigned char)*at) != 0;

        if (!space)
            *to++ = *at;
        else if (to > words && to[-1] != ' ')
            *to++ = ' ';
    }
    if (to > words && to[-1] == ' ') to--;
    *to = '\0';
}

/* Why a figure is not drawn: the first of them says it. */
CULL_PRINTF(2, 3) static void blame(cull_rep_page *page, const char *format, ...)
{
    va_list args;

    if (page->why[0]) return;
    va_start(args, format);
    (void)vsnprintf(page->why, sizeof page->why, format, args);
    va_end(args);
}

/* *svg stays NULL, and page->why says why, where nothing was drawn. */
static cull_status run_gnuplot(cull_rep_page *page, const cull_rep_figure *f, char **svg)
{
    cull_status status = CULL_OK;
    FILE       *in = tmpfile(), *out = tmpfile(), *said = tmpfile();
    char       *words = NULL;
    int         end = NO_PROGRAM;

    if (!in || !out || !said) {
        blame(page, "no temporary file: %s", strerror(errno));
        goto done;
    }
    if (fwrite(f->script.data, 1, f->script.size, in) != f->script.size ||
        fwrite(f->clauses.data, 1, f->clauses.size, in) != f->clauses.size ||
        fputs("\n", in) == EOF || fflush(in) || fseek(in, 0, SEEK_SET))
        FAIL(CULL_IO, "a temporary file cannot be written: %s", strerror(errno));
    TRY(spawn_gnuplot(page->gnuplot, in, out, said, &end));
    if (end == 0) {
        TRY(collect_file(out, MOST_SVG, svg));
        goto done;
    }
    TRY(collect_file(said, MOST_SAID, &words));
    squeeze(words);
    page->unable = end == NO_PROGRAM;
    if (end == NO_PROGRAM)
        blame(page, "gnuplot is not installed");
    else
        blame(page, "gnuplot ended with status %d: %s", end, words);
done:
    cull_base_free(words);
    if (in) (void)fclose(in);
    if (out) (void)fclose(out);
    if (said) (void)fclose(said);
    return status;
}

static cull_status put_figure(cull_rep_page *page, const cull_rep_figure *f, const char *what,
                              const char *caption)
{
    cull_status   status = CULL_OK;
    char         *svg = NULL;
    cull_rep_text drawing = {0};

    TRY(run_gnuplot(page, f, &svg));
    if (svg) status = cull_rep_svg(&drawing, f, what, svg);
    if (status == CULL_BAD_FILE)
        blame(page, "%s", cull_last_error());
    else if (status != CULL_OK)
        goto done;
    if (!svg || status == CULL_BAD_FILE) {
        status = CULL_OK;
        page->undrawn++;
        goto done;
    }
    cull_rep_put(&page->html, "<figure>");
    cull_rep_bytes(&page->html, drawing.data, drawing.size);
    put_keys(&page->html, f);
    cull_rep_put(&page->html, "<figcaption>");
    cull_rep_put(&page->html, caption);
    cull_rep_put(&page->html, "</figcaption></figure>\n");
    page->figures++;
done:
    cull_base_free(svg);
    cull_rep_text_clear(&drawing);
    return status;
}

cull_status cull_rep_figure_draw(cull_rep_page *page, cull_rep_figure *f, const char *what,
                                 const char *caption)
{
    cull_status status = CULL_OK;

    TRY(f->script.status);
    TRY(f->clauses.status);
    TRY(f->words.status);
    if (f->plots == 0) goto done;
    if (page->unable)
        page->undrawn++;
    else
        TRY(put_figure(page, f, what, caption));
    status = page->html.status;
done:
    cull_rep_figure_clear(f);
    return status;
}

void cull_rep_figure_clear(cull_rep_figure *f)
{
    cull_rep_text_clear(&f->script);
    cull_rep_text_clear(&f->clauses);
    cull_rep_text_clear(&f->words);
    *f = (cull_rep_figure){0};
}
