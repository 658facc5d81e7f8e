/* report/view.c - the runs of a paper's figures, read figure by figure. */
#include "report/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- names ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct cull_rep_folder *)a)->name,
                  ((const struct cull_rep_folder *)b)->name);
}

static cull_status gather_folders(const cull_paper *paper, cull_rep_names *out)
{
    cull_status status = CULL_OK;
    size_t      room = 0, kept = 0;

    for (size_t f = 0; f < paper->figures; f++)
        for (size_t a = 0; a < paper->figure[f].arms; a++)
            for (size_t r = 0; r < paper->figure[f].arm[a].runs; r++) {
                TRY(cull_records_room(out->folders, &room, sizeof *out->folder, "a page",
                                      &out->folder));
                out->folder[out->folders++] =
                    (struct cull_rep_folder){.name = paper->figure[f].arm[a].run[r]};
            }
    if (!out->folders) goto done;
    qsort(out->folder, out->folders, sizeof *out->folder, by_name);
    for (size_t i = 0; i < out->folders; i++)
        if (!kept || by_name(&out->folder[kept - 1], &out->folder[i]) != 0)
            out->folder[kept++] = out->folder[i];
    out->folders = kept;
done:
    return status;
}

/* Uniform choice has a colour of its own, all others take turns, past those that stand beside it.
 */
static cull_rep_style next_style(const cull_rep_names *names, const char *series, unsigned taken)
{
    enum { COLOURS = 6, MARKERS = 6 };
    const cull_strategy *found = cull_strategy_of(series);
    int                  turn = 0, uniform = 0, colour = 0;

    for (size_t i = 0; i < names->count; i++)
        *(names->series[i].style.colour == 0 ? &uniform : &turn) += 1;
    if (found && (found->traits & CULL_KEEPS_ALL)) return (cull_rep_style){1, 1, false};
    if (found && (found->traits & CULL_UNIFORM))
        return (cull_rep_style){0, uniform * 5 % MARKERS, false};
    colour = 2 + turn % COLOURS;
    for (int i = 0; i < COLOURS && (taken >> colour & 1); i++) colour = 2 + (turn + i) % COLOURS;
    return (cull_rep_style){colour, (turn + 1 + turn / COLOURS) % MARKERS, false};
}

unsigned cull_rep_names_taken(const cull_rep_names *names, const char *series)
{
    for (size_t i = 0; i < names->count; i++)
        if (strncmp(names->series[i].series, series, CULL_REP_SERIES_NAME - 1) == 0)
            return 1U << names->series[i].style.colour;
    return 0;
}

cull_status cull_rep_names_style(cull_rep_names *names, const char *series, unsigned taken,
                                 cull_rep_style *out)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < names->count; i++)
        if (strncmp(names->series[i].series, series, CULL_REP_SERIES_NAME - 1) == 0) {
            *out = names->series[i].style;
            goto done;
        }
    TRY(cull_records_room(names->count, &names->room, sizeof *names->series, "a page",
                          &names->series));
    *out = next_style(names, series, taken);
    (void)snprintf(names->series[names->count].series, CULL_REP_SERIES_NAME, "%s", series);
    names->series[names->count++].style = *out;
done:
    return status;
}

cull_status cull_rep_names_gather(const cull_paper *paper, cull_rep_names *out)
{
    cull_status    status = CULL_OK;
    cull_rep_style style;

    TRY(gather_folders(paper, out));
    for (size_t f = 0; f < paper->figures; f++) {
        const cull_paper_figure *figure = &paper->figure[f];
        unsigned                 taken = 0;

        for (size_t a = 0; a < figure->arms; a++)
            taken |= cull_rep_names_taken(out, figure->arm[a].series);
        for (size_t a = 0; a < figure->arms; a++) {
            if (figure->arm[a].full) continue;
            TRY(cull_rep_names_style(out, figure->arm[a].series, taken, &style));
            taken |= 1U << style.colour;
        }
    }
done:
    return status;
}

size_t cull_rep_names_read(const cull_rep_names *names)
{
    size_t count = 0;

    for (size_t i = 0; i < names->folders; i++) count += names->folder[i].read;
    return count;
}

void cull_rep_names_clear(cull_rep_names *names)
{
    cull_base_free(names->series);
    cull_base_free(names->folder);
    *names = (cull_rep_names){0};
}

/* ---- reading ---- */

/* The highest of all looks at the test set, and the last. */
static void take_results(cull_rep_seen *run, const cull_yardstick *by)
{
    const cull_records_curve *test = &run->record.curves.of[CULL_RECORDS_TEST];

    run->end = by->scale * run->record.info.test;
    run->best = run->end;
    for (size_t i = 0; i < test->count; i++) {
        double value = by->scale * test->look[i].accuracy;

        if (isfinite(value) && !(cull_yardstick_gain(by, run->best, value) >= 0)) run->best = value;
    }
}

static cull_status read_run(const char *folder, cull_rep_names *names, cull_rep_seen *out,
                            cull_records_list *problems)
{
    cull_status             status = CULL_OK;
    struct cull_rep_folder *known = bsearch(&(struct cull_rep_folder){.name = folder},
                                            names->folder, names->folders, sizeof *known, by_name);

    TRY(cull_records_run_read(folder, &out->record));
    out->there = out->record.state == CULL_RECORDS_FINISHED;
    if (out->there) {
        known->read = true;
        take_results(out, cull_rep_yardstick(out->record.info.metric));
    } else if (!known->said) {
        known->said = true;
        if (out->record.why[0])
            TRY(cull_records_say(problems, "%.600s: %s", folder, out->record.why));
        else
            TRY(cull_records_say(problems, "%.600s: %s", folder,
                                 out->record.state == CULL_RECORDS_MISSING
                                     ? "holds no run"
                                     : "is not finished, and left out"));
    }
done:
    return status;
}

static cull_status read_arm(const cull_paper_arm *is, cull_rep_names *names,
                            cull_records_list *problems, cull_rep_view_arm *out)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(is->runs, sizeof *out->run, "runs", &out->run));
    out->is = is;
    out->style = (cull_rep_style){1, 1, false};
    if (!is->full) TRY(cull_rep_names_style(names, is->series, 0, &out->style));
    for (size_t i = 0; i < is->runs; i++) {
        TRY(read_run(is->run[i], names, &out->run[i], problems));
        out->there += out->run[i].there;
    }
done:
    return status;
}

/* What all are judged by: as the first that was read. */
static const cull_yardstick *find_measure(const cull_rep_view *view)
{
    for (size_t a = 0; a < view->arms; a++)
        for (size_t i = 0; i < view->arm[a].is->runs; i++)
            if (view->arm[a].run[i].there)
                return cull_rep_yardstick(view->arm[a].run[i].record.info.metric);
    return &cull_yardstick_accuracy;
}

cull_status cull_rep_view_read(const cull_paper_figure *figure, cull_rep_names *names,
                               cull_records_list *problems, cull_rep_view *out)
{
    cull_status status = CULL_OK;

    *out = (cull_rep_view){.is = figure, .problems = problems};
    TRY(cull_base_alloc(figure->arms, sizeof *out->arm, "arms", &out->arm));
    while (out->arms < figure->arms) {
        cull_rep_view_arm *arm = &out->arm[out->arms];

        arm->is = &figure->arm[out->arms++];
        TRY(read_arm(arm->is, names, problems, arm));
    }
    out->by = find_measure(out);
done:
    return status;
}

void cull_rep_view_clear(cull_rep_view *view)
{
    for (size_t a = 0; a < view->arms; a++) {
        for (size_t i = 0; view->arm[a].run && i < view->arm[a].is->runs; i++)
            cull_records_run_clear(&view->arm[a].run[i].record);
        cull_base_free(view->arm[a].run);
    }
    cull_base_free(view->arm);
    *view = (cull_rep_view){0};
}

/* ---- asking ---- */

cull_rep_mean cull_rep_view_mean(const cull_rep_view_arm *arm, cull_rep_number_of number,
                                 const void *context)
{
    cull_rep_mean m = {.low = INFINITY, .high = -INFINITY};

    for (size_t i = 0; i < arm->is->runs; i++) {
        double value = arm->run[i].there ? number(&arm->run[i], context) : NAN;

        if (!isfinite(value)) continue;
        m.mean += value;
        m.low = fmin(m.low, value);
        m.high = fmax(m.high, value);
        m.runs++;
    }
    m.mean = m.runs ? m.mean / (double)m.runs : NAN;
    return m;
}

static double best_of(const cull_rep_seen *run, const void *context)
{
    (void)context;
    return run->best;
}

static double end_of(const cull_rep_seen *run, const void *context)
{
    (void)context;
    return run->end;
}

cull_rep_mean cull_rep_view_best(const cull_rep_view_arm *arm)
{
    return cull_rep_view_mean(arm, best_of, NULL);
}

cull_rep_mean cull_rep_view_end(const cull_rep_view_arm *arm)
{
    return cull_rep_view_mean(arm, end_of, NULL);
}

bool cull_rep_view_common(const cull_rep_view *view, const cull_rep_view_arm *full)
{
    size_t fulls = 0;

    if (!full->is->full) return false;
    for (size_t i = 0; i < view->arms; i++) fulls += view->arm[i].is->full;
    if (fulls == 1 && view->is->runs >= view->is->of) return true;
    return isnan(full->is->x) && !full->is->value[0];
}

const cull_rep_view_arm *cull_rep_view_full(const cull_rep_view *view, const cull_rep_view_arm *arm)
{
    const cull_rep_view_arm *common = NULL;

    for (size_t i = 0; i < view->arms; i++) {
        const cull_rep_view_arm *full = &view->arm[i];

        if (!full->is->full || !full->there) continue;
        if (cull_rep_view_common(view, full)) {
            if (!common) common = full;
        } else if (strcmp(full->is->value, arm->is->value) == 0 &&
                   (full->is->x == arm->is->x || isnan(full->is->x))) {
            return full;
        }
    }
    return common;
}

double cull_rep_view_error(const cull_rep_view *view, const cull_rep_view_arm *full)
{
    return full ? cull_yardstick_error(view->by, cull_rep_view_end(full).mean) : NAN;
}

bool cull_rep_view_begins_at(const cull_rep_view *view, const cull_rep_view_arm *full, double error)
{
    bool begins = full && full->there > 0;

    for (size_t i = 0; begins && i < full->is->runs; i++)
        if (full->run[i].there)
            begins = cull_along_reach(&full->run[i].record, view->by, error) ==
                     full->run[i].record.curves.of[CULL_RECORDS_TEST].look;
    return begins;
}

bool cull_rep_view_joined(const cull_rep_view_arm *a, const cull_rep_view_arm *b)
{
    return a->is->full == b->is->full && (a->is->full || strcmp(a->is->series, b->is->series) == 0);
}

void cull_rep_view_called(const cull_rep_view_arm *arm, char out[CULL_REP_NAME])
{
    if (arm->is->full)
        (void)snprintf(out, CULL_REP_NAME, "full training");
    else
        cull_rep_shorten(arm->is->series, CULL_REP_NAME / 2, out, CULL_REP_NAME);
}

void cull_rep_view_named(const cull_rep_view_arm *arm, char out[CULL_REP_NAME])
{
    char name[CULL_REP_NAME];

    cull_rep_view_called(arm, name);
    if (arm->is->value[0])
        (void)snprintf(out, CULL_REP_NAME, "%.80s, %.36s", name, arm->is->value);
    else if (!arm->is->full && isfinite(arm->is->x))
        (void)snprintf(out, CULL_REP_NAME, "%.80s, %.4g", name, arm->is->x);
    else
        (void)snprintf(out, CULL_REP_NAME, "%s", name);
}

void cull_rep_view_told(const cull_rep_view *view, const cull_rep_view_arm *arm,
                        char out[CULL_REP_NAME])
{
    size_t alike = 0;

    for (size_t i = 0; i < view->arms; i++) alike += cull_rep_view_joined(&view->arm[i], arm);
    if (alike > 1)
        cull_rep_view_named(arm, out);
    else
        cull_rep_view_called(arm, out);
}
