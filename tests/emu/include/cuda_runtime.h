/* tests/emu/include/cuda_runtime.h - what kernels, as C++ for the host, find: cuda_runtime_api.h
 * says how far it goes. */
#ifndef CULL_TESTS_EMU_CUDA_RUNTIME_H
#define CULL_TESTS_EMU_CUDA_RUNTIME_H

#include <math.h>
#include <string.h>

#include "cuda_runtime_api.h"
#include "emu_atomic.h"
#include "emu_kernel.h"
#include "emu_number.h"
#include "emu_warp.h"

#endif
