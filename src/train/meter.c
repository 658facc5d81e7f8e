/* train/meter.c - counting and timing. */
#include "train/meter.h"

#include "base/clock.h"

const char *cull_phase_name(cull_phase phase)
{
    static const char *const names[CULL_PHASES] = {"load",  "score",    "select",    "learn",
                                                   "optim", "evaluate", "checkpoint"};
    return names[phase];
}

static double read_clock(const cull_meter *meter)
{
    return meter->processor ? cull_base_processor_seconds() : cull_base_seconds();
}

/*
 * Counters of energy move in ticks, phases may be shorter: then what was drawn since the latest
 * reading is shared out by the time each phase took. The long and rare phases always read.
 */
static void lap_energy(cull_meter *meter, cull_phase phase)
{
    double now = cull_base_seconds(), passed = 0, joules = 0;

    meter->unread[phase] += now - meter->wall;
    meter->wall = now;
    for (int i = 0; i < CULL_PHASES; i++) passed += meter->unread[i];
    if (phase < CULL_PHASE_EVALUATE && passed < meter->energy->tick) return;
    joules = cull_energy_lap(meter->energy);
    for (int i = 0; i < CULL_PHASES; i++) {
        if (passed > 0) meter->joules[i] += joules * (meter->unread[i] / passed);
        meter->unread[i] = 0;
    }
    meter->wall = cull_base_seconds(); /* the reading itself is nobody's */
    meter->mark = read_clock(meter);
}

void cull_meter_start(cull_meter *meter)
{
    meter->mark = read_clock(meter);
    if (!meter->energy) return;
    meter->wall = cull_base_seconds();
    (void)cull_energy_lap(meter->energy);
    for (int i = 0; i < CULL_PHASES; i++) meter->unread[i] = 0;
}

void cull_meter_lap(cull_meter *meter, cull_phase phase)
{
    double now = read_clock(meter);

    meter->seconds[phase] += now - meter->mark;
    meter->mark = now;
    if (meter->energy) lap_energy(meter, phase);
}

double cull_meter_seconds(const cull_meter *meter)
{
    double sum = 0;

    for (int i = 0; i < CULL_PHASES; i++) sum += meter->seconds[i];
    return sum;
}

double cull_meter_cost(const cull_meter *meter)
{
    return (double)meter->thirds / 3;
}
