/*
 * base/philox.h - Philox4x32-10 (Salmon et al. 2011) and the draws made from it, for the host and
 * for devices: the same bits everywhere.
 */
#ifndef CULL_BASE_PHILOX_H
#define CULL_BASE_PHILOX_H

#include "base/exact.h"
#include "cull.h"

/* Four 32-bit words from a key and a 128-bit counter. */
CULL_EVERYWHERE void cull_philox(cull_key key, const uint32_t counter[4], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key.word[0], k1 = key.word[1];

    for (int round = 0; round < 10; round++) {
        uint64_t product0 = (uint64_t)0xD2511F53u * c0;
        uint64_t product1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t next0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
        uint32_t next2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;

        c1 = (uint32_t)product1;
        c3 = (uint32_t)product0;
        c0 = next0;
        c2 = next2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Two of them, of one step and place. */
CULL_EVERYWHERE uint64_t cull_philox_word(cull_key key, uint64_t step, uint64_t place)
{
    uint32_t counter[4], out[4];

    counter[0] = (uint32_t)place;
    counter[1] = (uint32_t)(place >> 32);
    counter[2] = (uint32_t)step;
    counter[3] = (uint32_t)(step >> 32);
    cull_philox(key, counter, out);
    return (uint64_t)out[1] << 32 | out[0];
}

/* As cull_key_uniform(): (w + 1/2) / 2^52, w the word's upper 52 bits, which are put behind a 1. */
CULL_EVERYWHERE double cull_philox_uniform(cull_key key, uint64_t step, uint64_t place)
{
    uint64_t w = cull_philox_word(key, step, place) >> 12;

    return cull_exact_double(CULL_EXACT_ONE | w) - 1 + 0x1p-53;
}

/* As cull_base_below(): an integer in [0, bound), 1 <= bound <= 2^32. */
CULL_EVERYWHERE uint64_t cull_philox_below(cull_key key, uint64_t step, uint64_t place,
                                           uint64_t bound)
{
    return (cull_philox_word(key, step, place) >> 32) * bound >> 32;
}

#endif
