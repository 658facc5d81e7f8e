/* lab/probe/probe_record.c - what a probe saw, as the records of probe.jsonl have it. */
#include <math.h>
#include <stdio.h>

#include "lab/probe/probe.h"

cull_status cull_probe_record_pick(cull_records_probe_log *log, const cull_probe_result *result,
                                   const cull_probe_arm *arm, const cull_probe_pick *pick)
{
    const cull_probe_gap *data = pick->data, *whole = pick->whole;
    const cull_probe_arm *control = cull_probe_control(result, arm);
    cull_records_probe    probe = {.keep = arm->keep,
                                   .batch = (double)pick->batch,
                                   .kept = (double)pick->kept,
                                   .corrupted = (double)pick->corrupted,
                                   .error = data[CULL_PROBE_TRAINED].error,
                                   .error_m = data[CULL_PROBE_OF_BATCH].error,
                                   .cosine = data[CULL_PROBE_TRAINED].cosine,
                                   .sign = data[CULL_PROBE_TRAINED].sign,
                                   .batch_error = whole[CULL_PROBE_TRAINED].error,
                                   .batch_error_m = whole[CULL_PROBE_OF_BATCH].error,
                                   .batch_cosine = whole[CULL_PROBE_TRAINED].cosine,
                                   .batch_sign = whole[CULL_PROBE_TRAINED].sign,
                                   .relative = pick->relative[CULL_PROBE_TRAINED],
                                   .relative_m = pick->relative[CULL_PROBE_OF_BATCH],
                                   .last = pick->last[CULL_PROBE_TRAINED],
                                   .last_m = pick->last[CULL_PROBE_OF_BATCH],
                                   .full = result->full,
                                   .win = NAN};

    (void)snprintf(probe.strategy, sizeof probe.strategy, "%s", arm->strategy);
    if (control && control != arm) probe.win = data->error < control->pick[pick->batch].data->error;
    return cull_records_probe_add(log, &probe, result->data_batches > 0);
}
