/* tests/emu/include/emu_atomic.h - atomics: one thread runs at a time, so they are plain. Those
 * that CUDA has for no type are missing here too. */
#ifndef CULL_TESTS_EMU_ATOMIC_H
#define CULL_TESTS_EMU_ATOMIC_H

typedef unsigned long long emu_ull;

#define EMU_ATOMIC(name, type, result)                                                             \
    static inline type name(type *at, type x)                                                      \
    {                                                                                              \
        type old = *at;                                                                            \
        *at = result;                                                                              \
        return old;                                                                                \
    }
#define EMU_ATOMICS(type)                                                                          \
    EMU_ATOMIC(atomicMin, type, old < x ? old : x)                                                 \
    EMU_ATOMIC(atomicMax, type, old > x ? old : x)                                                 \
    EMU_ATOMIC(atomicAnd, type, old &x)                                                            \
    EMU_ATOMIC(atomicOr, type, old | x)                                                            \
    EMU_ATOMIC(atomicXor, type, old ^ x)                                                           \
    EMU_ATOMIC(atomicExch, type, x)                                                                \
    static inline type atomicCAS(type *at, type is, type x)                                        \
    {                                                                                              \
        type old = *at;                                                                            \
        if (old == is) *at = x;                                                                    \
        return old;                                                                                \
    }
EMU_ATOMICS(int)
EMU_ATOMICS(unsigned)
EMU_ATOMICS(emu_ull)
EMU_ATOMIC(atomicMin, long long, old < x ? old : x)
EMU_ATOMIC(atomicMax, long long, old > x ? old : x)
EMU_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(x)))
EMU_ATOMIC(atomicAdd, unsigned, old + x)
EMU_ATOMIC(atomicAdd, emu_ull, old + x)
EMU_ATOMIC(atomicAdd, float, old + x)
EMU_ATOMIC(atomicAdd, double, old + x)
EMU_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(x)))
EMU_ATOMIC(atomicSub, unsigned, old - x)
EMU_ATOMIC(atomicExch, float, x)
EMU_ATOMIC(atomicInc, unsigned, old >= x ? 0 : old + 1)
EMU_ATOMIC(atomicDec, unsigned, old == 0 || old > x ? x : old - 1)
#undef EMU_ATOMIC
#undef EMU_ATOMICS

#endif
