/* records/probe_lines.h - probe.jsonl: a line for what each arm picked of each batch, and a last
 * one for each arm over all of them. docs/reproduce.md names the fields. */
#ifndef CULL_RECORDS_PROBE_LINES_H
#define CULL_RECORDS_PROBE_LINES_H

#include "cull_lab.h"
#include "records/files.h"
#include "records/json.h"
#include "records/log.h"

/* What was picked of one minibatch. Where no gradients were taken, those numbers are NaN. */
typedef struct cull_records_probe {
    char            strategy[CULL_PROBE_NAME];
    double          keep;
    cull_probe_pick pick;
    double          full; /* squared norm of the full-data gradient                           */
    double          win;  /* 1: error below uniform's on the same minibatch; NaN: not compared */
} cull_records_probe;

typedef struct cull_records_probe_log {
    cull_records_log log;
    cull_json        json;
} cull_records_probe_log;

cull_status cull_records_probe_open(cull_records_probe_log *log, const char *folder);
cull_status cull_records_probe_add(cull_records_probe_log *log, const cull_records_probe *probe,
                                   bool gradients);
/* The figures of an arm, over all batches. */
cull_status cull_records_probe_add_arm(cull_records_probe_log *log, const cull_probe_result *result,
                                       const cull_probe_arm *arm);
void        cull_records_probe_close(cull_records_probe_log *log);

typedef struct cull_records_probes {
    cull_records_probe *probe;
    size_t              count, room;
} cull_records_probes;

/* Lines about minibatches, behind those that are there; others are passed over, those that are no
 * JSON named, `name` beginning the sentence. */
cull_status cull_records_probes_decode(const char *name, const void *data, size_t bytes,
                                       cull_records_probes *out, cull_records_list *problems);
/* Of a folder; *there stays false where it has no such file. */
cull_status cull_records_probes_read(const char *folder, cull_records_probes *out, bool *there,
                                     cull_records_list *problems);
void        cull_records_probes_clear(cull_records_probes *probes);

#endif
