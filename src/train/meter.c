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

void cull_meter_start(cull_meter *meter)
{
    meter->mark = read_clock(meter);
    if (meter->energy) (void)cull_energy_lap(meter->energy);
}

void cull_meter_lap(cull_meter *meter, cull_phase phase)
{
    double now = read_clock(meter);

    meter->seconds[phase] += now - meter->mark;
    meter->mark = now;
    if (meter->energy) meter->joules[phase] += cull_energy_lap(meter->energy);
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
