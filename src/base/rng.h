/*
 * base/rng.h - counter-based randomness: Philox4x32-10 (Salmon et al. 2011).
 *
 * A number is a pure function of a key (seed and stream) and a counter (step, place), so
 * the same draw is made on any device, by any thread, before and after a resume.
 */
#ifndef CULL_BASE_RNG_H
#define CULL_BASE_RNG_H

#include "cull.h"

/* Four 32-bit words from a key and a 128-bit counter. */
void cull_base_philox(cull_key key, const uint32_t counter[4], uint32_t out[4]);

/* A uniform integer in [0, bound), 1 <= bound <= 2^32; the bias is below bound/2^32. */
uint64_t cull_base_below(cull_key key, uint64_t step, uint64_t place, uint64_t bound);

#endif
