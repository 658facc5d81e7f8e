/* lab/probe/probe_record.c - what a probe saw, as the records of probe.jsonl have it. */
#include <math.h>
#include <string.h>

#include "lab/probe/probe.h"

cull_status cull_probe_record_pick(cull_records_probe_log *log, const cull_probe_result *result,
                                   const cull_probe_arm *arm, const cull_probe_pick *pick)
{
    const cull_probe_arm *control = cull_probe_control(result, arm);
    cull_records_probe probe = {.keep = arm->keep, .pick = *pick, .full = result->full, .win = NAN};

    memcpy(probe.strategy, arm->strategy, sizeof probe.strategy);
    if (control && control != arm)
        probe.win = pick->data->error < control->pick[pick->batch].data->error;
    return cull_records_probe_add(log, &probe, result->data_batches > 0);
}
