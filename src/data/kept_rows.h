/* data/kept_rows.h - rows that are made when they are asked for, kept in memory where they fit. */
#ifndef CULL_DATA_KEPT_ROWS_H
#define CULL_DATA_KEPT_ROWS_H

#include "data/dataset.h"

/* How much of the machine's memory a set may take for that: an eighth, and 1 GiB at most. */
uint64_t cull_data_most_kept(void);

/* Remark that a set takes more than that, so that its examples are made again whenever they are
 * asked for, and what to do. `path` begins the sentence. */
cull_status cull_data_remark_unkept(cull_dataset *set, const char *path);

/* Make all rows of a set that was just read, if they take no more than `most` bytes; else that is
 * remarked. Images are measured on the way: *measured then. threads 0: as many as there are cores.
 */
cull_status cull_data_keep_rows(cull_dataset *set, uint64_t most, unsigned threads, bool *measured);

#endif
