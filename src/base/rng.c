/* base/rng.c - Philox4x32-10 and the few draws made from it. */
#include "base/rng.h"

enum { ROUNDS = 10 };
#define MULTIPLIER_0 0xD2511F53u
#define MULTIPLIER_1 0xCD9E8D57u
#define WEYL_0       0x9E3779B9u
#define WEYL_1       0xBB67AE85u

void cull_base_philox(cull_key key, const uint32_t counter[4], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key.word[0], k1 = key.word[1];

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t product0 = (uint64_t)MULTIPLIER_0 * c0;
        uint64_t product1 = (uint64_t)MULTIPLIER_1 * c2;
        uint32_t next0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
        uint32_t next2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;

        c1 = (uint32_t)product1;
        c3 = (uint32_t)product0;
        c0 = next0;
        c2 = next2;
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* FNV-1a of the stream's name, so that streams of one seed are independent keys. */
cull_key cull_key_make(uint64_t seed, const char *stream)
{
    uint64_t hash = 0xcbf29ce484222325u;
    uint32_t counter[4] = {(uint32_t)seed, (uint32_t)(seed >> 32), 0, 0}, out[4];
    cull_key key;

    for (const char *s = stream; s && *s; s++) {
        hash ^= (unsigned char)*s;
        hash *= 0x100000001b3u;
    }
    key.word[0] = (uint32_t)hash;
    key.word[1] = (uint32_t)(hash >> 32);
    cull_base_philox(key, counter, out);
    key.word[0] = out[0];
    key.word[1] = out[1];
    return key;
}

static uint64_t draw(cull_key key, uint64_t step, uint64_t place)
{
    uint32_t counter[4] = {(uint32_t)place, (uint32_t)(place >> 32), (uint32_t)step,
                           (uint32_t)(step >> 32)};
    uint32_t out[4];

    cull_base_philox(key, counter, out);
    return (uint64_t)out[1] << 32 | out[0];
}

double cull_key_uniform(cull_key key, uint64_t step, uint64_t place)
{
    return ((double)(draw(key, step, place) >> 12) + 0.5) * 0x1p-52;
}

uint64_t cull_base_below(cull_key key, uint64_t step, uint64_t place, uint64_t bound)
{
    return (draw(key, step, place) >> 32) * bound >> 32;
}
