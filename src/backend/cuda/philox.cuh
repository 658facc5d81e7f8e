/* backend/cuda/philox.cuh - Philox4x32-10 as base/rng.c has it: the same words on the device. */
#ifndef CULL_BACKEND_CUDA_PHILOX_CUH
#define CULL_BACKEND_CUDA_PHILOX_CUH

#include "backend/cuda/device.cuh"

struct cull_words {
    uint32_t at[4];
};

static __device__ __forceinline__ cull_words cull_cuda_philox(cull_key key, uint32_t c0,
                                                              uint32_t c1, uint32_t c2, uint32_t c3)
{
    uint32_t k0 = key.word[0], k1 = key.word[1];

    for (int round = 0; round < 10; round++) {
        uint64_t product0 = static_cast<uint64_t>(0xD2511F53u) * c0;
        uint64_t product1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
        uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
        uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;

        c1 = static_cast<uint32_t>(product1);
        c3 = static_cast<uint32_t>(product0);
        c0 = next0;
        c2 = next2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
}

#endif
