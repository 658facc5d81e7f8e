/* select/scores.c - what stands in for the score of an example no loss is known of. */
#include <math.h>

#include "select/select.h"

void cull_sel_unseen_first(double *score, const uint8_t *unseen, size_t rows, cull_key key,
                           uint64_t step, const uint32_t *place)
{
    double best = 0, gap = 0;

    if (!unseen) return;
    for (size_t i = 0; i < rows; i++)
        if (!unseen[i] && score[i] > best) best = score[i];
    gap = 1 + best; /* wide enough to keep the random parts apart after rounding */
    for (size_t i = 0; i < rows; i++)
        if (unseen[i])
            score[i] = best + gap * (1 + cull_key_uniform(key, step, place ? place[i] : i));
}
