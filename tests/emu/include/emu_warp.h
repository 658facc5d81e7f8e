/* tests/emu/include/emu_warp.h - shuffles, votes and reductions of a warp. */
#ifndef CULL_TESTS_EMU_WARP_H
#define CULL_TESTS_EMU_WARP_H

#include "emu_kernel.h"

template <typename T> static inline uint64_t emu_bits(T value)
{
    uint64_t bits = 0;

    static_assert(sizeof value <= sizeof bits, "a shuffle moves up to eight bytes");
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T> static inline T emu_from_bits(uint64_t bits)
{
    T value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* What lane `from` gave, or what this one did, where that is out of its part of the warp. */
template <typename T>
static inline T emu_shuffled(const emu_lanes *lanes, unsigned from, bool inside, T own)
{
    return inside ? emu_from_bits<T>(lanes->value[from]) : own;
}

template <typename T> static inline T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    unsigned first = emu_lane() & ~(unsigned)(width - 1);
    unsigned lane = first + ((unsigned)from & (unsigned)(width - 1));

    return emu_shuffled(emu_exchange("__shfl_sync", mask, emu_bits(value)), lane, true, value);
}

template <typename T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    unsigned lane = emu_lane(), at = lane & (unsigned)(width - 1);

    return emu_shuffled(emu_exchange("__shfl_up_sync", mask, emu_bits(value)), lane - delta,
                        delta <= at, value);
}

template <typename T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    unsigned lane = emu_lane(), at = lane & (unsigned)(width - 1);

    return emu_shuffled(emu_exchange("__shfl_down_sync", mask, emu_bits(value)), lane + delta,
                        at + delta < (unsigned)width, value);
}

template <typename T>
static inline T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32)
{
    unsigned lane = emu_lane(), other = lane ^ (unsigned)with;
    unsigned end = (lane & ~(unsigned)(width - 1)) + (unsigned)width;

    return emu_shuffled(emu_exchange("__shfl_xor_sync", mask, emu_bits(value)), other, other < end,
                        value);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    const emu_lanes *lanes = emu_exchange("__ballot_sync", mask, predicate != 0);
    unsigned         votes = 0;

    for (unsigned i = 0; i < 32; i++) votes |= (lanes->present >> i & lanes->value[i] & 1u) << i;
    return votes;
}

static inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

static inline int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}

template <typename T, typename F>
static inline T emu_reduced(const char *what, unsigned mask, T value, F join)
{
    const emu_lanes *lanes = emu_exchange(what, mask, emu_bits(value));
    bool             any = false;

    for (unsigned i = 0; i < 32; i++) {
        if (!(lanes->present >> i & 1)) continue;
        value = any ? join(value, emu_from_bits<T>(lanes->value[i]))
                    : emu_from_bits<T>(lanes->value[i]);
        any = true;
    }
    return value;
}

#define EMU_REDUCE(name, type, result)                                                             \
    static inline type name(unsigned mask, type value)                                             \
    {                                                                                              \
        return emu_reduced(#name, mask, value, [](type a, type b) -> type { return result; });     \
    }
EMU_REDUCE(__reduce_add_sync, unsigned, a + b)
EMU_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
EMU_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
EMU_REDUCE(__reduce_and_sync, unsigned, a &b)
EMU_REDUCE(__reduce_or_sync, unsigned, a | b)
EMU_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
EMU_REDUCE(__reduce_add_sync, int, a + b)
EMU_REDUCE(__reduce_min_sync, int, a < b ? a : b)
EMU_REDUCE(__reduce_max_sync, int, a > b ? a : b)
#undef EMU_REDUCE

#endif
