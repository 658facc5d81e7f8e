/*
 * backend/cpu/strip.h - one register of floats, as wide as the file is compiled for: only for
 * kernels that are compiled once for each instruction set.
 */
#ifndef CULL_BACKEND_CPU_STRIP_H
#define CULL_BACKEND_CPU_STRIP_H

#include <stdint.h>

/* It divides CULL_LAYER_STRIP. */
#if defined(__AVX512F__)
enum { STRIP = 16 };
#elif defined(__AVX2__)
enum { STRIP = 8 };
#else
enum { STRIP = 4 };
#endif
typedef float   lanes __attribute__((vector_size(STRIP * sizeof(float))));
typedef int32_t masks __attribute__((vector_size(STRIP * sizeof(float))));

#endif
