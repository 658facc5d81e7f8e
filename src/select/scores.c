/* select/scores.c - what stands in for the score of an example no loss is known of. */
#include <float.h>

#include "select/select.h"

/* The upper half of all doubles is theirs, so that they need not know the other scores. */
void cull_sel_unseen_first(double *score, const uint8_t *unseen, size_t rows, cull_key key,
                           uint64_t step, const uint32_t *place)
{
    if (!unseen) return;
    for (size_t i = 0; i < rows; i++) {
        if (unseen[i])
            score[i] = DBL_MAX * (0.5 + 0.5 * cull_key_uniform(key, step, place ? place[i] : i));
        else if (score[i] > 0.5 * DBL_MAX)
            score[i] = 0.5 * DBL_MAX;
    }
}
