/* select/budget.c - how many to keep: of a batch, and of each class. */
#include <math.h>

#include "select/select.h"

size_t cull_budget(double keep, size_t count)
{
    double m = floor(keep * (double)count + 1e-9 * (double)count);

    if (count == 0) return 0;
    if (!(m >= 1)) return 1;
    return m >= (double)count ? count : (size_t)m;
}

/* Largest remainder: everyone gets the floor of the proportional share; what is left goes, one
 * each, to the largest remainders, ties to the lower class. Remainders are compared as exact
 * integers, so that no rounding decides. */
void cull_budget_split(size_t total, const size_t *size, size_t classes, size_t *share)
{
    uint64_t sum = 0;
    size_t   given = 0;

    for (size_t c = 0; c < classes; c++) sum += size[c];
    if (total > sum) total = (size_t)sum;
    for (size_t c = 0; c < classes; c++) {
        share[c] = sum ? (size_t)((uint64_t)total * size[c] / sum) : 0;
        given += share[c];
    }
    while (given < total) {
        size_t   best = classes;
        uint64_t best_rest = 0;

        for (size_t c = 0; c < classes; c++) {
            uint64_t rest = (uint64_t)total * size[c] - share[c] * sum;
            if (share[c] * sum > (uint64_t)total * size[c] || share[c] >= size[c]) continue;
            if (best == classes || rest > best_rest) {
                best = c;
                best_rest = rest;
            }
        }
        share[best]++;
        given++;
    }
}
