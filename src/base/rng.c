/* base/rng.c - the few draws that are made from Philox, as functions. */
#include "base/rng.h"

#include "base/philox.h"

void cull_base_philox(cull_key key, const uint32_t counter[4], uint32_t out[4])
{
    cull_philox(key, counter, out);
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
    cull_philox(key, counter, out);
    key.word[0] = out[0];
    key.word[1] = out[1];
    return key;
}

double cull_key_uniform(cull_key key, uint64_t step, uint64_t place)
{
    return cull_philox_uniform(key, step, place);
}

uint64_t cull_base_below(cull_key key, uint64_t step, uint64_t place, uint64_t bound)
{
    return cull_philox_below(key, step, place, bound);
}
