/* backend/cuda/cuda.c - the backend's class, and opening a device. */
#include "backend/cuda/cuda.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#ifndef CULL_CUDA_NAME
#define CULL_CUDA_NAME "cuda"
#endif

cull_status cull_cuda_check(cudaError_t error, const char *call)
{
    int length = (int)strcspn(call, "( ");

    if (error == cudaSuccess) return CULL_OK;
    (void)cudaGetLastError(); /* what is not sticky is told once */
    if (error == cudaErrorMemoryAllocation)
        return cull_fail(CULL_NO_MEMORY, "%.*s: the device's memory is full", length, call);
    return cull_fail(CULL_DEVICE, "%.*s: %s", length, call, cudaGetErrorString(error));
}

cull_status cull_cuda_enter(const cull_backend *backend, cull_cuda **out)
{
    cull_cuda *cuda = cull_cuda_of(backend);

    *out = cuda;
    return cull_cuda_check(cudaSetDevice(cuda->number), "cudaSetDevice");
}

static void close_device(cull_backend *backend)
{
    cull_cuda *cuda = cull_cuda_of(backend);

    if (!cuda) return;
    CUDA_QUIETLY(cudaSetDevice(cuda->number));
    if (cuda->stream) CUDA_QUIETLY(cudaStreamSynchronize(cuda->stream));
    if (cuda->library) cuda->library_close(cuda->library);
    for (int i = 0; i < 2; i++)
        if (cuda->left[i]) CUDA_QUIETLY(cudaEventDestroy(cuda->left[i]));
    if (cuda->stage) CUDA_QUIETLY(cudaFreeHost(cuda->stage));
    if (cuda->stream) CUDA_QUIETLY(cudaStreamDestroy(cuda->stream));
    cull_base_free(cuda);
}

static cull_status find_device(const cull_backend *backend)
{
    cull_status status = CULL_OK;
    int         count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        FAIL(CULL_UNSUPPORTED, "no CUDA device can be used: %s", cudaGetErrorString(error));
    }
    if (backend->ordinal >= count)
        FAIL(CULL_UNSUPPORTED, "there is no CUDA device %d; %d %s here", (int)backend->ordinal,
             count, count == 1 ? "is" : "are");
done:
    return status;
}

static cull_status describe(cull_backend *backend, cull_cuda *cuda)
{
    cull_status           status = CULL_OK;
    struct cudaDeviceProp device;
    int                   shared = 0;

    CUDA(cudaGetDeviceProperties(&device, cuda->number));
    CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->number));
    cuda->processors = device.multiProcessorCount;
    cuda->shared_most = (size_t)shared;
    (void)snprintf(backend->description, sizeof backend->description, "%s:%d, %.40s",
                   backend->class->name, cuda->number, device.name);
    CUDA(cudaDeviceGetPCIBusId(backend->bus, (int)sizeof backend->bus, cuda->number));
done:
    return status;
}

static cull_status open_device(cull_backend *backend)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;

    TRY(find_device(backend));
    TRY(cull_base_alloc(1, sizeof *cuda, "a backend", &cuda));
    backend->device = cuda; /* close_device ends it, also when the rest fails */
    cuda->number = backend->ordinal;
    CUDA(cudaSetDevice(cuda->number));
    TRY(describe(backend, cuda));
    CUDA(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
    CUDA(cudaMallocHost((void **)&cuda->stage, 2 * (size_t)CULL_CUDA_HALF));
    for (int i = 0; i < 2; i++)
        CUDA(cudaEventCreateWithFlags(&cuda->left[i], cudaEventDisableTiming));
done:
    return status;
}

const cull_backend_class cull_backend_cuda = {
    .name = CULL_CUDA_NAME,
    .device = CULL_DEVICE_CUDA,
    .host = "cpu",
    .queue = &cull_cuda_queue,
    .op = {[CULL_OP_FACILITY] = &cull_cuda_facility,
           [CULL_OP_GRADIENT] = &cull_cuda_gradient,
           [CULL_OP_GAIN] = &cull_cuda_gain,
           [CULL_OP_CANCEL] = &cull_cuda_cancel},
    .open = open_device,
    .close = close_device,
};
