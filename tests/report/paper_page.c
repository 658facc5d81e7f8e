/*
 * tests/report/paper_page.c - a paper's page from a description in JSON, for tests of pages.
 *
 *     paper_page PAPER.json PAGE.html [GNUPLOT]
 *
 * The description has the members of cull_paper by their names; what is not there is "" or NaN.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cull_lab.h"

static const char *const drawings[] = {"by-keep", "by-value", "updates", "time",   "course",
                                       "phases",  "frontier", "speedup", "energy", "targets",
                                       "ranks",   "errors",   "lines",   "bars",   "examples"};
static const char *const outcomes[] = {"none", "held", "not", "open"};

static void *room_for(size_t count, size_t size)
{
    void *room = calloc(count ? count : 1, size);

    if (!room) exit(3);
    return room;
}

static const char *text_of(const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));

    return text ? text : "";
}

static double number_of(const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int place_in(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return (int)i;
    (void)fprintf(stderr, "there is no '%s'\n", name);
    exit(3);
}

static cull_paper_arm read_arm(const json_t *from)
{
    const json_t  *run = json_object_get(from, "run"), *seed = json_object_get(from, "seed");
    cull_paper_arm arm = {.series = text_of(from, "series"),
                          .group = text_of(from, "group"),
                          .x = number_of(from, "x"),
                          .value = text_of(from, "value"),
                          .full = json_is_true(json_object_get(from, "full")),
                          .runs = json_array_size(run)};
    const char   **folder = room_for(arm.runs, sizeof *folder);
    unsigned      *seeds = room_for(arm.runs, sizeof *seeds);

    for (size_t i = 0; i < arm.runs; i++) {
        folder[i] = json_string_value(json_array_get(run, i));
        seeds[i] = (unsigned)json_integer_value(json_array_get(seed, i));
    }
    arm.run = folder;
    arm.seed = seeds;
    return arm;
}

static cull_paper_figure read_figure(const json_t *from)
{
    const json_t     *arms = json_object_get(from, "arms");
    cull_paper_figure figure = {
        .name = text_of(from, "name"),
        .number = text_of(from, "number"),
        .title = text_of(from, "title"),
        .claim = text_of(from, "claim"),
        .drawing = (cull_drawing)place_in(drawings, sizeof drawings / sizeof *drawings,
                                          text_of(from, "drawing")),
        .x = text_of(from, "x"),
        .y = text_of(from, "y"),
        .target = number_of(from, "target"),
        .arms = json_array_size(arms),
        .folder = text_of(from, "folder"),
        .runs = (size_t)json_integer_value(json_object_get(from, "runs")),
        .of = (size_t)json_integer_value(json_object_get(from, "of")),
        .held = (cull_held)place_in(outcomes, sizeof outcomes / sizeof *outcomes,
                                    text_of(from, "held")),
        .finding = text_of(from, "finding"),
        .scale = text_of(from, "scale"),
        .missing = text_of(from, "missing")};
    cull_paper_arm *arm = room_for(figure.arms, sizeof *arm);

    for (size_t i = 0; i < figure.arms; i++) arm[i] = read_arm(json_array_get(arms, i));
    figure.arm = arm;
    return figure;
}

static void clear_figures(cull_paper_figure *figure, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < figure[i].arms; j++) {
            free((void *)figure[i].arm[j].run);
            free((void *)figure[i].arm[j].seed);
        }
        free((void *)figure[i].arm);
    }
    free(figure);
}

int main(int argc, char **argv)
{
    int                 end = 0;
    json_t             *root = argc >= 3 ? json_load_file(argv[1], 0, NULL) : NULL;
    const json_t       *figures = json_object_get(root, "figures");
    cull_paper          paper = {.name = text_of(root, "name"),
                                 .title = text_of(root, "title"),
                                 .setup = text_of(root, "setup"),
                                 .figures = json_array_size(figures)};
    cull_paper_figure  *figure = room_for(paper.figures, sizeof *figure);
    cull_report_options options = {.size = sizeof options,
                                   .output = argc >= 3 ? argv[2] : NULL,
                                   .gnuplot = argc >= 4 ? argv[3] : NULL};
    cull_report_result  result = {.size = sizeof result};

    if (!root) {
        free(figure);
        (void)fprintf(stderr, "usage: paper_page PAPER.json PAGE.html [GNUPLOT]\n");
        return 2;
    }
    for (size_t i = 0; i < paper.figures; i++) figure[i] = read_figure(json_array_get(figures, i));
    paper.figure = figure;
    if (cull_report_paper(&paper, &options, &result) != CULL_OK) {
        (void)fprintf(stderr, "%s\n", cull_last_error());
        end = 1;
    } else {
        (void)printf("{\"runs\": %zu, \"figures\": %zu, \"undrawn\": %zu, \"problems\": %zu}\n",
                     result.runs, result.figures, result.undrawn, result.problems);
    }
    clear_figures(figure, paper.figures);
    json_decref(root);
    return end;
}
