/*
 * backend/facility.h - what facility location means, shared by every backend.
 *
 * S (n, n) holds how near atom j is to atom i: the similarity as given, or minus the
 * gradient distance, -sqrt(max(0, K_ii + K_jj - 2 K_ij)), rounded to float32. Only ratios
 * matter: both are divided by a power of two first (P is), so that none leaves its type's
 * range, and the value is multiplied by it again. `floor` is where every atom's best starts:
 * 0, or minus the largest distance. Then
 *
 *     gain_i   = sum over j of max(0, S_ij - best_j)     atoms picked before left out
 *     pick     = the largest gain, ties to the lower index
 *     best_j   = max(best_j, S_pj), its owner p only if S_pj was strictly larger, so that an
 *                atom goes to the earliest of equally near picks; the first pick owns all
 *     weight_p = atoms it owns at the end (0 for the duplicate of an earlier pick)
 *     value    = sum over j of best_j - floor
 */
#ifndef CULL_BACKEND_FACILITY_H
#define CULL_BACKEND_FACILITY_H

#include <math.h>

#include "base/rng.h"
#include "tensor/tensor.h"

/* How many candidates a stochastic pick looks at: (n/k) ln(1/sample), rounded up. */
static inline size_t cull_facility_sample_size(size_t count, size_t budget, double sample)
{
    double size = ceil((double)count / (double)budget * log(1 / (sample > 0 ? sample : 0.01)));

    if (!(size > 1)) return 1;
    return size < (double)count ? (size_t)size : count;
}

/* Bring `size` random ones of the `left` candidates to the front. The draws are counted by
 * pick, so that they are the same in every backend and for any number of problems. */
static inline void cull_facility_sample(const cull_facility_options *options, size_t count,
                                        size_t pick, uint32_t *candidate, size_t left, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint64_t place = (uint64_t)pick * count + i;
        size_t   j = i + (size_t)cull_base_below(options->key, options->step, place, left - i);
        uint32_t drawn = candidate[j];

        candidate[j] = candidate[i];
        candidate[i] = drawn;
    }
}

/* Row of h and p that atom i is. */
static inline size_t cull_facility_row(const cull_facility_problem *problem, size_t i)
{
    return problem->row ? problem->row[i] : i;
}

/* e, so that the largest entry of the atoms' rows lies between 2^(e-1) and 2^e. */
static inline int cull_facility_largest(const cull_facility_problem *problem, const cull_tensor *t,
                                        bool rows)
{
    size_t columns = (size_t)t->shape[1];
    double largest = 0;
    int    exponent = 0;

    for (size_t i = 0; i < problem->count; i++) {
        const void *data = cull_tensor_row(t, rows ? cull_facility_row(problem, i) : i);
        cull_tensor row = cull_vector(data, t->dtype, columns);
        for (size_t j = 0; j < columns; j++)
            largest = fmax(largest, fabs(cull_tensor_get(&row, j)));
    }
    (void)frexp(largest, &exponent);
    return exponent;
}

/* The exponent of the power of two that P, or the similarity, is divided by; a similarity in
 * float32 is taken as it is. */
static inline int cull_facility_exponent(const cull_facility_problem *problem)
{
    enum { LEAST = -1000 }; /* whose inverse is still a number */
    int exponent = 0, wide = 0;

    if (cull_tensor_present(&problem->similarity)) {
        if (problem->similarity.dtype == CULL_F32) return 0;
        exponent = cull_facility_largest(problem, &problem->similarity, false);
    } else {
        exponent = cull_facility_largest(problem, &problem->p, true);
        wide = cull_facility_largest(problem, &problem->h, true);
    }
    if (wide > 0) exponent += wide;
    return exponent > LEAST ? exponent : LEAST;
}

#endif
