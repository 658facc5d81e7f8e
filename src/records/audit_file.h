/* records/audit_file.h - audit.npz: the easiest and the hardest examples of a set, as pictures
 * where they are any, and figures over all of it. docs/formats.md names the arrays. */
#ifndef CULL_RECORDS_AUDIT_FILE_H
#define CULL_RECORDS_AUDIT_FILE_H

#include "base/status.h"

/* Arrays that are not there have no data. */
typedef struct cull_records_audit {
    cull_tensor  images; /* (n, height, width, channels) uint8 */
    cull_tensor  label, predicted, place, loss, kind, corrupted;
    cull_tensor  confidence, tenth, rank, never, times;
    cull_arrays *file; /* read: owned, the arrays are its */
} cull_records_audit;

/* One of the n; kind 0: easy, 1: hard. */
typedef struct cull_records_example {
    double         label, predicted, loss, kind;
    bool           corrupted;
    const uint8_t *pixels; /* (height, width, channels) */
} cull_records_example;

cull_status cull_records_audit_write(const char *path, const cull_records_audit *audit);
/* What is shown of FOLDER/audit.npz; without pictures, or without the file, images has no data. */
cull_status          cull_records_audit_read(const char *folder, cull_records_audit *out);
cull_records_example cull_records_audit_at(const cull_records_audit *audit, size_t i);
void                 cull_records_audit_clear(cull_records_audit *audit);

#endif
