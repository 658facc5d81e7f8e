/* records/figure_info.h - figure.json: how far a paper's figure that was done again was scaled
 * down, and whether all of it is there. */
#ifndef CULL_RECORDS_FIGURE_INFO_H
#define CULL_RECORDS_FIGURE_INFO_H

#include "base/status.h"

enum { CULL_RECORDS_NETWORK = 160, CULL_RECORDS_RECIPE = 20 };

typedef struct cull_records_figure {
    double epochs, subset;              /* shares of the paper's */
    double seeds, batches;              /* 0: the paper's; minibatches of a probe, 0: as many as
                                           are usual */
    bool done;                          /* of figures without runs of their own */
    char network[CULL_RECORDS_NETWORK]; /* in words; "": older files do not say */
    char recipe[CULL_RECORDS_RECIPE];   /* a hash of what its recipe says; "": the same */
} cull_records_figure;

/* Write FOLDER/figure.json by one rename. */
cull_status cull_records_figure_write(const char *folder, const cull_records_figure *figure);
/* *there stays false where there is none, or none that can be believed. */
cull_status cull_records_figure_read(const char *folder, cull_records_figure *out, bool *there);
/* The same of its bytes. */
cull_status cull_records_figure_decode(const void *data, size_t bytes, cull_records_figure *out,
                                       bool *there);

#endif
