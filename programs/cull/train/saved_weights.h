/* saved_weights.h - saved weights as a command line names them: a run's folder, or a file. */
#ifndef CULL_SAVED_WEIGHTS_H
#define CULL_SAVED_WEIGHTS_H

#include "train/run_parts.h"

enum { MOST_CHECKPOINT = 1200 };

typedef struct checkpoint {
    char folder[MOST_CHECKPOINT], weights[MOST_CHECKPOINT];
} checkpoint;

/* Find the weights (of a folder the latest, or the best), and open their recipe, which lies beside
 * them or is named. Returns an exit status; *out is then to be closed where that is 0. */
int open_checkpoint(const char *given, const char *recipe, bool best, const changes *change,
                    checkpoint *c, cull_recipe **out);

#endif
