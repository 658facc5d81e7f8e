/*
 * lab/reproduce/claim_numbers.c - the numbers a claim is judged by, out of the folders.
 *
 * Seconds, joules and examples are those of the phases that are cost. An arm is held against the
 * full run of its seed and value; where that value has none, against the first full run of the
 * seed. A target that is never reached counts as infinitely late: a ratio of 0. One that full
 * training meets at its first look tells nothing, nor does one that neither side meets: nobody is
 * known to come there sooner. Times and joules are held against those of the same machine alone.
 *
 * A number is a mean over the places of a seed, and a seed counts when all of them are there: what
 * is missing, or has diverged, would leave it to the others to decide.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/probe/probe.h"
#include "lab/reproduce/claim.h"
#include "records/along.h"

cull_status cull_claim_open(const cull_figure *figure, const char *folder, cull_claim_ground *out)
{
    cull_status       status = CULL_OK;
    cull_records_list problems = {0};
    char              path[CULL_DATA_PATH];
    size_t            runs = figure ? figure->parts * figure->seeds : 0;
    bool              there = false;

    *out = (cull_claim_ground){.figure = figure};
    if (runs) TRY(cull_base_alloc(runs, sizeof *out->run, "runs", &out->run));
    for (size_t i = 0; i < runs; i++) {
        TRY(cull_figure_folder(&figure->part[i / figure->seeds].is, 1 + i % figure->seeds, path));
        TRY(cull_records_run_read(path, &out->run[i]));
    }
    if (!folder) goto done;
    TRY(cull_records_points_read(folder, &out->points, &there, &problems));
    TRY(cull_records_probes_read(folder, &out->probes, &there, &problems));
done:
    cull_records_list_clear(&problems);
    return status;
}

void cull_claim_clear(cull_claim_ground *g)
{
    for (size_t i = 0; g->run && i < g->figure->parts * g->figure->seeds; i++)
        cull_records_run_clear(&g->run[i]);
    cull_base_free(g->run);
    cull_records_points_clear(&g->points);
    cull_records_probes_clear(&g->probes);
    *g = (cull_claim_ground){0};
}

/* ---- runs ---- */

static const cull_yardstick *measure_of(const cull_records_run *run)
{
    const cull_yardstick *by = cull_yardstick_find(run->info.metric);

    return by ? by : &cull_yardstick_accuracy;
}

static bool is_at(const cull_figure_arm *arm, const char *at)
{
    char keep[24];

    if (!at || strcmp(arm->value, at) == 0) return true;
    (void)snprintf(keep, sizeof keep, "%g", arm->keep);
    return !isnan(arm->keep) && strcmp(keep, at) == 0;
}

/* The full training that an arm is held against; SIZE_MAX: there is none. */
static size_t full_of(const cull_claim_ground *g, const cull_figure_arm *arm)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < g->figure->parts; i++) {
        const cull_figure_arm *full = &g->figure->part[i].is;

        if (!full->full) continue;
        if (strcmp(full->value, arm->value) == 0) return i;
        if (found == SIZE_MAX) found = i;
    }
    return found;
}

/* Did the same computer and backend take the time of both? */
static bool is_one_machine(const cull_records_run *a, const cull_records_run *b)
{
    return strcmp(a->info.machine.processor, b->info.machine.processor) == 0 &&
           strcmp(a->info.machine.backend, b->info.machine.backend) == 0;
}

static bool is_of_time(const cull_claim *rule)
{
    return rule->of == CULL_CLAIM_SPEED || rule->of == CULL_CLAIM_ENERGY ||
           rule->of == CULL_CLAIM_SOONER;
}

static bool is_until_target(const cull_claim *rule)
{
    return rule->of == CULL_CLAIM_SOONER || rule->of == CULL_CLAIM_UPDATES ||
           rule->of == CULL_CLAIM_TRAINED;
}

static bool is_early(const cull_claim *rule)
{
    return rule->right && strcmp(rule->right, "full-earlystop") == 0;
}

static double joules_of(const cull_records_work *work)
{
    double sum = 0;

    for (int i = 0; i < CULL_PHASES_OF_COST; i++) sum += work->joules_by[i];
    return sum > 0 ? sum : NAN;
}

/* What had been spent when a target was met. */
static double spent_until(const cull_claim *rule, const cull_records_run *run, double error)
{
    const cull_records_line *look = cull_along_reach(run, measure_of(run), error);

    if (!look) return INFINITY;
    if (rule->of == CULL_CLAIM_SOONER) return cull_along_seconds(look);
    if (rule->of == CULL_CLAIM_UPDATES) return cull_along_updates(look);
    return look->so_far.trained;
}

static double against_full(const cull_claim *rule, const cull_records_run *run,
                           const cull_records_run *full)
{
    const cull_yardstick *by = measure_of(full);
    double                error = cull_yardstick_error(by, by->scale * full->info.test);
    double                mine = 0, theirs = 0;

    if (is_of_time(rule) && !is_one_machine(run, full)) return NAN;
    if (rule->of == CULL_CLAIM_SPEED)
        return cull_records_spent(&full->info.work) / cull_records_spent(&run->info.work);
    if (rule->of == CULL_CLAIM_ENERGY)
        return joules_of(&full->info.work) / joules_of(&run->info.work);
    if (cull_along_reach(full, by, rule->target * error) == full->curves.of[CULL_RECORDS_TEST].look)
        return NAN;
    mine = spent_until(rule, run, rule->target * error);
    theirs = spent_until(rule, full, rule->target * error);
    return rule->of == CULL_CLAIM_TRAINED ? mine / theirs : theirs / mine;
}

static double number_of(const cull_claim_ground *g, const cull_claim *rule, size_t arm,
                        uint64_t seed)
{
    const cull_records_run *run = cull_claim_run(g, arm, seed);
    const cull_yardstick   *by = measure_of(run);
    size_t                  full = 0;

    if (!cull_claim_finished(g, arm, seed)) return NAN;
    if (rule->of == CULL_CLAIM_BEST || rule->of == CULL_CLAIM_TUNED)
        return by->scale * run->info.best;
    if (rule->of == CULL_CLAIM_END || rule->of == CULL_CLAIM_RANKS)
        return by->scale * run->info.test;
    full = full_of(g, &g->figure->part[arm].is);
    if (full == SIZE_MAX || !cull_claim_finished(g, full, seed)) return NAN;
    return against_full(rule, run, cull_claim_run(g, full, seed));
}

/* Who stands on the right of an arm: the series at the same place, or, of one share alone, at its
 * own; "SERIES@VALUE" is at that value. SIZE_MAX: nobody. */
static size_t right_of(const cull_claim_ground *g, const cull_claim *rule, size_t left)
{
    const cull_figure_arm *arm = &g->figure->part[left].is, *full = &g->figure->part[0].is;
    size_t                 length = strcspn(rule->right, "@"), found = SIZE_MAX, others = 0;
    const char            *value = rule->right[length] ? rule->right + length + 1 : arm->value;

    if (full->full && strcmp(rule->right, full->series) == 0) return full_of(g, arm);
    for (size_t i = 0; i < g->figure->parts; i++) {
        const cull_figure_arm *other = &g->figure->part[i].is;

        if (strlen(other->series) != length || memcmp(other->series, rule->right, length) != 0 ||
            strcmp(other->value, value) != 0)
            continue;
        if (other->keep == arm->keep || (isnan(other->keep) && isnan(arm->keep))) return i;
        found = i;
        others++;
    }
    return others == 1 ? found : SIZE_MAX;
}

/* Full training stopped when it had cost what the arm did: the last look until then. */
static double stopped_early(const cull_claim_ground *g, size_t arm, uint64_t seed)
{
    const cull_records_run   *run = cull_claim_run(g, arm, seed);
    size_t                    at = full_of(g, &g->figure->part[arm].is);
    const cull_records_curve *curve = NULL;
    const cull_yardstick     *by = measure_of(run);
    double                    spent = cull_records_spent(&run->info.work), last = NAN;

    if (at == SIZE_MAX || !cull_claim_finished(g, at, seed)) return NAN;
    if (!is_one_machine(run, cull_claim_run(g, at, seed))) return NAN;
    curve = &cull_claim_run(g, at, seed)->curves.of[CULL_RECORDS_TEST];
    for (size_t i = 0; i < curve->count && cull_along_seconds(&curve->look[i]) <= spent; i++)
        last = by->scale * curve->look[i].accuracy;
    return last;
}

/* Of one arm and seed; NaN: not known. Where higher is worse, less is more. */
static double difference_of(const cull_claim_ground *g, const cull_claim *rule, size_t arm,
                            uint64_t seed)
{
    double left = number_of(g, rule, arm, seed);
    bool   gain =
        rule->of == CULL_CLAIM_BEST || rule->of == CULL_CLAIM_END || rule->of == CULL_CLAIM_RANKS;
    bool   early = is_early(rule);
    size_t right = rule->right && !early ? right_of(g, rule, arm) : SIZE_MAX;
    double against = NAN;

    if (!rule->right || isnan(left)) return left - rule->to;
    if (early)
        against = stopped_early(g, arm, seed);
    else
        against = right == SIZE_MAX ? NAN : number_of(g, rule, right, seed);
    if (is_until_target(rule) && left == 0 && against == 0) return NAN; /* neither comes there */
    if (isnan(against) || !gain) return left - against;
    return cull_yardstick_gain(measure_of(cull_claim_run(g, arm, seed)), left, against);
}

/* Who is on the frontier of all points along training of one seed; *step: of so few points. */
static cull_status front_of(const cull_claim_ground *g, const cull_claim *rule, uint64_t seed,
                            double *out, double *step)
{
    cull_status       status = CULL_OK;
    cull_along_point *point = NULL;
    size_t            count = 0, n = 0, front = 0;

    *out = NAN;
    for (size_t i = 0; i < g->figure->parts; i++)
        count += cull_claim_run(g, i, seed)->curves.of[CULL_RECORDS_TEST].count;
    if (count == 0) goto done;
    TRY(cull_base_alloc(count, sizeof *point, "a frontier", &point));
    for (size_t i = 0; i < g->figure->parts; i++) {
        const cull_records_run   *run = cull_claim_run(g, i, seed);
        const cull_records_curve *curve = &run->curves.of[CULL_RECORDS_TEST];
        size_t                    whose = strcmp(g->figure->part[i].is.group, rule->left) == 0;

        if (!cull_claim_finished(g, i, seed)) goto done; /* not before all are there */
        if (!is_one_machine(run, cull_claim_run(g, 0, seed))) goto done;
        for (size_t k = 0; k < curve->count; k++) {
            double x = cull_along_seconds(&curve->look[k]);
            double y = cull_along_error(measure_of(run), &curve->look[k]);

            if (isfinite(x) && isfinite(y)) point[n++] = (cull_along_point){x, y, whose, false};
        }
    }
    cull_along_front(point, n);
    *out = 100 * cull_along_share(point, n, 1) - rule->to;
    for (size_t i = 0; i < n; i++) front += point[i].front;
    if (front) *step = fmax(*step, 100 / (double)front);
done:
    cull_base_free(point);
    return status;
}

static bool is_left(const cull_claim_ground *g, const cull_claim *rule, size_t i)
{
    const cull_figure_arm *arm = &g->figure->part[i].is;

    return strcmp(arm->series, rule->left) == 0 && is_at(arm, rule->at);
}

static bool is_there(const cull_claim_ground *g, size_t arm, uint64_t seed)
{
    return arm == SIZE_MAX || cull_claim_finished(g, arm, seed);
}

/* Has a seed all runs that its number is a mean over? */
static bool is_whole(const cull_claim_ground *g, const cull_claim *rule, uint64_t seed)
{
    bool full = is_of_time(rule) || is_until_target(rule) || is_early(rule);

    for (size_t i = 0; i < g->figure->parts; i++) {
        if (!is_left(g, rule, i)) continue;
        if (!is_there(g, i, seed)) return false;
        if (rule->right && !is_early(rule) && !is_there(g, right_of(g, rule, i), seed))
            return false;
        if (full && !is_there(g, full_of(g, &g->figure->part[i].is), seed)) return false;
    }
    return true;
}

/* The highest of a series over all values, as whoever tunes it finds it; what diverged is no
 * choice. NaN: one is missing. */
static double tuned(const cull_claim_ground *g, const cull_claim *rule, const char *series,
                    uint64_t seed)
{
    double best = NAN;

    for (size_t i = 0; i < g->figure->parts; i++) {
        double one = NAN;

        if (strcmp(g->figure->part[i].is.series, series) != 0) continue;
        if (cull_claim_run(g, i, seed)->state == CULL_RECORDS_FAILED) continue;
        one = number_of(g, rule, i, seed);
        if (isnan(one)) return NAN;
        if (isnan(best) ||
            cull_yardstick_gain(measure_of(cull_claim_run(g, i, seed)), one, best) > 0)
            best = one;
    }
    return best;
}

/* A target is met at a look: how much a number changes by one look, of the side that has fewer. */
static double step_of(const cull_claim_ground *g, const cull_claim *rule, size_t arm, uint64_t seed)
{
    size_t                  at = full_of(g, &g->figure->part[arm].is);
    const cull_records_run *full = cull_claim_run(g, at, seed);
    const cull_yardstick   *by = measure_of(full);
    double error = rule->target * cull_yardstick_error(by, by->scale * full->info.test);
    double looks = INFINITY, number = number_of(g, rule, arm, seed);

    for (int side = 0; side < 2; side++) {
        const cull_records_run  *run = side ? full : cull_claim_run(g, arm, seed);
        const cull_records_line *look = cull_along_reach(run, by, error);

        if (look) looks = fmin(looks, (double)(look - run->curves.of[CULL_RECORDS_TEST].look) + 1);
    }
    return isfinite(number) ? fabs(number) / looks : 0;
}

/* The mean over the places of one seed, or, for ranks, each of them; *step: the largest that those
 * come in. */
static cull_status add_seed(const cull_claim_ground *g, const cull_claim *rule, uint64_t seed,
                            double *out, size_t *pairs, double *step)
{
    cull_status status = CULL_OK;
    double      sum = 0, one = NAN;
    size_t      count = 0;

    if (rule->of == CULL_CLAIM_FRONT) {
        TRY(front_of(g, rule, seed, &one, step));
        if (!isnan(one)) out[(*pairs)++] = one;
        goto done;
    }
    if (rule->of == CULL_CLAIM_TUNED) {
        one = cull_yardstick_gain(measure_of(cull_claim_run(g, 0, seed)),
                                  tuned(g, rule, rule->left, seed),
                                  tuned(g, rule, rule->right, seed));
        if (!isnan(one)) out[(*pairs)++] = one;
        goto done;
    }
    if (rule->of != CULL_CLAIM_RANKS && !is_whole(g, rule, seed)) goto done;
    for (size_t i = 0; i < g->figure->parts; i++) {
        if (!is_left(g, rule, i)) continue;
        one = difference_of(g, rule, i, seed);
        if (isnan(one)) continue;
        if (is_until_target(rule)) *step = fmax(*step, step_of(g, rule, i, seed));
        if (is_until_target(rule) && rule->right && !is_early(rule))
            *step = fmax(*step, step_of(g, rule, right_of(g, rule, i), seed));
        if (rule->of == CULL_CLAIM_RANKS) out[(*pairs)++] = one;
        sum += one;
        count++;
    }
    /* infinite: a target that is never met; by the one at one place and the other at another: NaN
     */
    if (count && rule->of != CULL_CLAIM_RANKS && !isnan(sum)) out[(*pairs)++] = sum / (double)count;
done:
    return status;
}

/* The steps that results of so many test examples come in. */
static double resolution_of(const cull_claim_ground *g, const cull_claim *rule)
{
    const cull_records_run *run = g->run;

    if (rule->of != CULL_CLAIM_BEST && rule->of != CULL_CLAIM_TUNED && rule->of != CULL_CLAIM_END)
        return 0;
    for (size_t i = 0; i < g->figure->parts * g->figure->seeds; i++)
        if (run[i].state == CULL_RECORDS_FINISHED && run[i].info.data.test > 0)
            return cull_yardstick_step(measure_of(&run[i]), run[i].info.data.test);
    return 0;
}

/* ---- points ---- */

/* The height of the bar "SERIES VALUE", all its parts together; NaN: there is none. */
static double bar_of(const cull_records_points *points, const char *series, const char *value)
{
    char   name[2 * CULL_POINT_NAME];
    double sum = NAN;

    (void)snprintf(name, sizeof name, "%s %s", series, value);
    for (size_t i = 0; i < points->count; i++)
        if (strcmp(points->point[i].value, name) == 0)
            sum = isnan(sum) ? points->point[i].y : sum + points->point[i].y;
    return sum;
}

/* Bars: left / right, for every bar of left; less `to`. */
static void add_bars(const cull_records_points *points, const cull_claim *rule, double *out,
                     size_t *pairs)
{
    size_t length = strlen(rule->left);

    for (size_t i = 0; i < points->count; i++) {
        const char *bar = points->point[i].value;
        bool        again = false;
        double      ratio = NAN;

        if (strncmp(bar, rule->left, length) != 0 || bar[length] != ' ') continue;
        for (size_t j = 0; j < i; j++) again = again || strcmp(points->point[j].value, bar) == 0;
        if (again || (rule->at && strcmp(bar + length + 1, rule->at) != 0)) continue;
        ratio = bar_of(points, rule->left, bar + length + 1);
        if (rule->right) ratio /= bar_of(points, rule->right, bar + length + 1);
        if (!isnan(ratio)) out[(*pairs)++] = ratio - rule->to;
    }
}

static bool is_point(const cull_records_point *p, const cull_claim *rule, const char *series)
{
    return strcmp(p->series, series) == 0 && (!rule->at || strcmp(p->panel, rule->at) == 0);
}

static void add_points(const cull_records_points *points, const cull_claim *rule, double *out,
                       size_t *pairs)
{
    for (size_t i = 0; i < points->count; i++) {
        const cull_records_point *p = &points->point[i];
        double                    against = rule->to;

        if (!is_point(p, rule, rule->left)) continue;
        if (rule->target > 0 && p->x != rule->target) continue; /* at this x alone */
        if (rule->right) against = NAN;
        for (size_t j = 0; rule->right && j < points->count; j++) {
            const cull_records_point *q = &points->point[j];

            if (is_point(q, rule, rule->right) && strcmp(p->panel, q->panel) == 0 &&
                strcmp(p->value, q->value) == 0 && (p->x == q->x || (isnan(p->x) && isnan(q->x))))
                against = q->y;
        }
        if (!isnan(against)) out[(*pairs)++] = p->y - against;
    }
}

cull_status cull_claim_differences(const cull_claim_ground *g, const cull_claim *rule, double **out,
                                   size_t *pairs, double *resolution)
{
    cull_status status = CULL_OK;
    bool        points = rule->of == CULL_CLAIM_POINTS, bars = rule->of == CULL_CLAIM_BARS;
    size_t      most = points || bars ? g->points.count
                       : g->figure    ? g->figure->parts * g->figure->seeds
                                      : 0;

    *pairs = 0;
    *resolution = 0;
    TRY(cull_base_alloc(most ? most : 1, sizeof **out, "differences", out));
    if (points) add_points(&g->points, rule, *out, pairs);
    if (bars) add_bars(&g->points, rule, *out, pairs);
    if (points || bars || !g->figure) goto done;
    for (uint64_t seed = 1; seed <= g->figure->seeds; seed++)
        TRY(add_seed(g, rule, seed, *out, pairs, resolution));
    *resolution = fmax(*resolution, resolution_of(g, rule));
done:
    return status;
}

static bool is_pick(const cull_records_probe *p, const cull_claim *rule)
{
    char keep[24];

    (void)snprintf(keep, sizeof keep, "%g", p->keep);
    return strcmp(p->strategy, rule->left) == 0 && !isnan(p->win) &&
           (!rule->at || strcmp(keep, rule->at) == 0);
}

/* At how many shares each minibatch was picked from: its picks are one observation, not several. */
static size_t count_shares(const cull_claim_ground *g, const cull_claim *rule)
{
    size_t shares = 0;

    for (size_t i = 0; i < g->probes.count; i++) {
        const cull_records_probe *p = &g->probes.probe[i];
        bool                      again = !is_pick(p, rule);

        for (size_t j = 0; j < i && !again; j++)
            again = is_pick(&g->probes.probe[j], rule) && g->probes.probe[j].keep == p->keep;
        shares += !again;
    }
    return shares;
}

cull_claimed cull_claim_wins(const cull_claim_ground *g, const cull_claim *rule)
{
    cull_claimed c = {.held = CULL_HELD_OPEN, .mean = NAN, .low = NAN, .high = NAN};
    double       hits = 0, shares = (double)count_shares(g, rule), picks = 0;
    cull_rate    rate;

    for (size_t i = 0; i < g->probes.count; i++) {
        if (!is_pick(&g->probes.probe[i], rule)) continue;
        hits += g->probes.probe[i].win;
        picks++;
    }
    if (picks == 0) return c;
    c.pairs = (size_t)(picks / shares);
    rate = cull_probe_rate(hits / shares, picks / shares);
    c.mean = 100 * rate.rate - rule->to;
    c.low = 100 * rate.low - rule->to;
    c.high = 100 * rate.high - rule->to;
    c.held = cull_claim_side(rule, c.low, c.high);
    return c;
}
