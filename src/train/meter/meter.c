/* train/meter/meter.c - counting and timing. */
#include "train/meter/meter.h"

#include <math.h>

#include "base/clock.h"

static double read_clock(const cull_meter *meter)
{
    return meter->processor && !meter->backend ? cull_base_processor_seconds()
                                               : cull_base_seconds();
}

/*
 * Counters of energy move in ticks, phases may be shorter: what was drawn between two readings is
 * shared out by the time each phase took.
 */
static void read_energy(cull_meter *meter)
{
    double clock = read_clock(meter), wall = cull_base_seconds(), passed = 0, joules = 0;

    for (int i = 0; i < CULL_PHASES; i++) passed += meter->unread[i];
    if (!(passed > 0)) return;
    joules = cull_energy_lap(meter->energy);
    for (int i = 0; i < CULL_PHASES; i++) {
        meter->joules[i] += joules * (meter->unread[i] / passed);
        meter->unread[i] = 0;
    }
    meter->since = cull_base_seconds();
    meter->wall += meter->since - wall; /* the reading itself is nobody's */
    meter->mark += read_clock(meter) - clock;
}

/* A share of what has passed, in this phase. */
static void spend(cull_meter *meter, cull_phase phase, double clock, double wall, double share)
{
    meter->seconds[phase] += share * (clock - meter->mark);
    if (meter->energy) meter->unread[phase] += share * (wall - meter->wall);
}

static void pass(cull_meter *meter, double clock, double wall)
{
    meter->mark = clock;
    if (!meter->energy) return;
    meter->wall = wall;
    if (wall - meter->since >= meter->energy->tick) read_energy(meter);
}

void cull_meter_settle(cull_meter *meter)
{
    if (meter->energy) read_energy(meter);
}

void cull_meter_start(cull_meter *meter)
{
    meter->mark = read_clock(meter);
    if (!meter->energy) return;
    (void)cull_energy_lap(meter->energy);
    for (int i = 0; i < CULL_PHASES; i++) meter->unread[i] = 0;
    meter->since = meter->wall = cull_base_seconds();
}

void cull_meter_lap(cull_meter *meter, cull_phase phase)
{
    cull_laps *laps = meter->laps;
    double     now = 0, wall = 0;

    if (laps) {
        if (meter->unmarked || laps->count == CULL_LAPS)
            return; /* all phases share what lies behind */
        laps->phase[laps->count] = phase;
        if (cull_backend_mark(meter->backend, &laps->mark[laps->count + 1]) == CULL_OK)
            laps->count++;
        return;
    }
    now = read_clock(meter);
    if (meter->energy) wall = cull_base_seconds();
    spend(meter, phase, now, wall, 1);
    pass(meter, now, wall);
}

void cull_meter_again(cull_meter *meter, cull_laps *laps)
{
    if (laps->done++ == 0) {
        laps->next = meter->unread_laps;
        meter->unread_laps = laps;
    }
    meter->laps = laps;
}

cull_status cull_meter_begin(cull_meter *meter, cull_laps *laps)
{
    cull_status status = CULL_OK;

    if (!meter->backend) return CULL_OK;
    if (!meter->unmarked) {
        TRY(cull_backend_mark(meter->backend, &laps->mark[0]));
        laps->count = 0;
    }
    cull_meter_again(meter, laps);
done:
    return status;
}

void cull_meter_drop(cull_meter *meter)
{
    for (cull_laps *laps = meter->unread_laps, *next = NULL; laps; laps = next) {
        next = laps->next;
        laps->done = 0;
        laps->next = NULL;
    }
    meter->laps = meter->unread_laps = NULL;
}

/* Seconds of this lap in all such steps. */
static cull_status lap_of(const cull_meter *meter, const cull_laps *laps, size_t i, double *out)
{
    cull_status status =
        cull_backend_elapsed(meter->backend, laps->mark[i], laps->mark[i + 1], out);

    *out *= (double)laps->done;
    return status;
}

cull_status cull_meter_read(cull_meter *meter)
{
    cull_status status = CULL_OK;
    double      now = read_clock(meter), wall = cull_base_seconds(), all = 0, one = 0;

    for (const cull_laps *laps = meter->unread_laps; laps; laps = laps->next)
        for (size_t i = 0; i < laps->count; i++) {
            TRY(lap_of(meter, laps, i, &one));
            all += one;
        }
    if (!(all > 0)) goto done;
    for (const cull_laps *laps = meter->unread_laps; laps; laps = laps->next)
        for (size_t i = 0; i < laps->count; i++) {
            TRY(lap_of(meter, laps, i, &one));
            spend(meter, laps->phase[i], now, wall, one / all);
        }
    pass(meter, now, wall);
done:
    cull_meter_drop(meter);
    return status;
}

void cull_laps_clear(cull_laps *laps, cull_backend *backend)
{
    for (size_t i = 0; i <= CULL_LAPS; i++)
        if (laps->mark[i]) backend->class->queue->unmark(backend, laps->mark[i]);
    *laps = (cull_laps){0};
}

void cull_meter_choose(cull_meter *meter, const cull_subset *subset)
{
    meter->subsets++;
    if (subset->flags & CULL_SUBSET_SHORT) meter->subsets_short++;
    if (subset->flags & CULL_SUBSET_FALLBACK) meter->subsets_fallback++;
    if (!(subset->flags & CULL_SUBSET_FILLED)) return;
    meter->subsets_filled++;
    meter->filled += subset->count - subset->picked;
}

void cull_meter_repeat(cull_meter *meter, const cull_meter *before, const cull_meter *after)
{
    meter->scored += after->scored - before->scored;
    meter->trained += after->trained - before->trained;
    meter->thirds += after->thirds - before->thirds;
    meter->tokens_scored += after->tokens_scored - before->tokens_scored;
    meter->tokens_trained += after->tokens_trained - before->tokens_trained;
    meter->token_thirds += after->token_thirds - before->token_thirds;
    meter->proxy += after->proxy - before->proxy;
    meter->subsets += after->subsets - before->subsets;
    meter->subsets_filled += after->subsets_filled - before->subsets_filled;
    meter->subsets_short += after->subsets_short - before->subsets_short;
    meter->subsets_fallback += after->subsets_fallback - before->subsets_fallback;
    meter->filled += after->filled - before->filled;
}

/* What has passed and is not told yet, whatever phase's it is. */
static double unread_seconds(const cull_meter *meter)
{
    return meter->unread_laps ? read_clock(meter) - meter->mark : 0;
}

double cull_meter_seconds(const cull_meter *meter)
{
    double sum = unread_seconds(meter);

    for (int i = 0; i < CULL_PHASES; i++) sum += meter->seconds[i];
    return sum;
}

double cull_meter_spent(const cull_meter *meter)
{
    return cull_meter_seconds(meter) - meter->seconds[CULL_PHASE_EVALUATE];
}

double cull_meter_cost(const cull_meter *meter)
{
    return (double)meter->thirds / 3;
}

cull_records_work cull_meter_work(const cull_meter *m, bool proxied)
{
    cull_records_work work = {.scored = (double)m->scored,
                              .trained = (double)m->trained,
                              .thirds = (double)m->thirds,
                              .tokens_scored = m->token_thirds ? (double)m->tokens_scored : NAN,
                              .tokens_trained = m->token_thirds ? (double)m->tokens_trained : NAN,
                              .token_thirds = m->token_thirds ? (double)m->token_thirds : NAN,
                              .proxy_thirds = proxied ? (double)m->proxy : NAN,
                              .cost = cull_meter_cost(m),
                              .subsets = (double)m->subsets,
                              .subsets_filled = (double)m->subsets_filled,
                              .subsets_short = (double)m->subsets_short,
                              .subsets_fallback = (double)m->subsets_fallback,
                              .filled = (double)m->filled,
                              .updates = NAN, /* they are the optimizer's to count */
                              .seconds = cull_meter_seconds(m)};

    for (int i = 0; i < CULL_PHASES; i++) {
        work.seconds_by[i] = m->seconds[i];
        work.joules_by[i] = m->energy ? m->joules[i] : NAN;
    }
    return work;
}
