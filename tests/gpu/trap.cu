/* tests/gpu/trap.cu - a kernel that traps, by which the process loses its device. */
#include <cuda_runtime.h>

static __global__ void trap()
{
    __trap();
}

extern "C" void plant_trap(void);

extern "C" void plant_trap(void)
{
    trap<<<1, 1>>>();
    (void)cudaDeviceSynchronize();
}
