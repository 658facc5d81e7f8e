/*
 * records/picks.h - how often examples were trained: selection.npz of a run's folder, with
 * corruption.npz where it is there.
 */
#ifndef CULL_RECORDS_PICKS_H
#define CULL_RECORDS_PICKS_H

#include "records/run.h"

enum { CULL_RECORDS_BINS = 40 };

typedef struct cull_records_picks {
    bool   there;
    size_t examples, never, most, median;
    size_t width; /* counts to a bin of the histogram */
    double bin[CULL_RECORDS_BINS + 1];
    bool   corruption; /* the two below are known */
    double base_rate, picked_rate;
} cull_records_picks;

/* info: its run.json. CULL_BAD_FILE: an archive is damaged. */
cull_status cull_records_picks_read(const char *folder, const cull_records_info *info,
                                    cull_records_picks *out);

#endif
