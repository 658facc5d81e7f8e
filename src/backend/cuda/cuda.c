/* backend/cuda/cuda.c - the backend's class, and opening a device. */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include "backend/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/types.h"
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

int cull_cuda_current(const cull_cuda *cuda)
{
    int device = cuda->number;

    CUDA_QUIETLY(cudaGetDevice(&device));
    return device;
}

/* Has anybody computed there? Nobody is asked where the driver is not to be seen. */
static bool has_context(int device)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *symbol = NULL;
    int (*state)(int device, unsigned *flags, int *active) = NULL;
    unsigned flags = 0;
    int      active = 1;

    if (!driver) return true;
    symbol = dlsym(driver, "cuDevicePrimaryCtxGetState");
    if (symbol) memcpy(&state, &symbol, sizeof state);
    if (state && state(device, &flags, &active) != 0) active = 1;
    (void)dlclose(driver);
    return active != 0;
}

void cull_cuda_restore(const cull_cuda *cuda, int before)
{
    if (before != cuda->number && has_context(before)) CUDA_QUIETLY(cudaSetDevice(before));
}

static void close_device(cull_backend *backend)
{
    cull_cuda *cuda = cull_cuda_of(backend);
    int        before = 0;

    if (!cuda) return;
    before = cull_cuda_current(cuda);
    CUDA_QUIETLY(cudaSetDevice(cuda->number));
    cuda->stream = cuda->own;
    cuda->main = NULL;
    if (cuda->stream) CUDA_QUIETLY(cudaStreamSynchronize(cuda->stream));
    if (cuda->library) cuda->library_close(cuda->library);
    for (int i = 0; i < 2; i++)
        if (cuda->left[i]) CUDA_QUIETLY(cudaEventDestroy(cuda->left[i]));
    if (cuda->stage) CUDA_QUIETLY(cudaFreeHost(cuda->stage));
    if (cuda->forked) CUDA_QUIETLY(cudaEventDestroy(cuda->forked));
    if (cuda->joined) CUDA_QUIETLY(cudaEventDestroy(cuda->joined));
    if (cuda->turned) CUDA_QUIETLY(cudaEventDestroy(cuda->turned));
    if (cuda->ended) CUDA_QUIETLY(cudaEventDestroy(cuda->ended));
    if (cuda->third) CUDA_QUIETLY(cudaStreamDestroy(cuda->third));
    if (cuda->side) CUDA_QUIETLY(cudaStreamDestroy(cuda->side));
    if (cuda->own) CUDA_QUIETLY(cudaStreamDestroy(cuda->own));
    cull_cuda_restore(cuda, before);
    cull_base_free(cuda);
}

/* Why a machine has no device for us, and what would mend it. */
static cull_status no_device(cudaError_t error)
{
    int driver = 0;

    (void)cudaGetLastError();
    if (error == cudaErrorInsufficientDriver) {
        (void)cudaDriverGetVersion(&driver);
        if (driver == 0)
            return cull_fail(CULL_UNSUPPORTED, "there is no CUDA driver on this machine "
                                               "(libcuda.so.1): install NVIDIA's");
        return cull_fail(CULL_UNSUPPORTED,
                         "the driver of this machine knows CUDA %d.%d, and this build is of %d.%d: "
                         "install a newer driver, or build with an older toolkit",
                         driver / 1000, driver / 10 % 100, CUDART_VERSION / 1000,
                         CUDART_VERSION / 10 % 100);
    }
    if (error == cudaErrorNoDevice)
        return cull_fail(CULL_UNSUPPORTED, "there is a CUDA driver, and it sees no device: look at "
                                           "nvidia-smi and at CUDA_VISIBLE_DEVICES");
    return cull_fail(CULL_UNSUPPORTED, "no CUDA device can be used: %s", cudaGetErrorString(error));
}

static cull_status find_device(const cull_backend *backend)
{
    cull_status status = CULL_OK;
    int         count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    if (error != cudaSuccess) TRY(no_device(error));
    if (count == 0) TRY(no_device(cudaErrorNoDevice));
    if (backend->ordinal >= count)
        FAIL(CULL_UNSUPPORTED, "there is no CUDA device %d; %d %s here", (int)backend->ordinal,
             count, count == 1 ? "is" : "are");
done:
    return status;
}

/* Code for other devices than this is no code. */
static cull_status check_code(const struct cudaDeviceProp *device)
{
    cudaError_t error = cull_cuda_has_code();

    if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction)
        return cull_cuda_check(error, "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    (void)cudaGetLastError();
    return cull_fail(
        CULL_UNSUPPORTED,
        "%.60s is of compute capability %d.%d, for which this build has no code: build "
        "with CULL_CUDA_ARCHITECTURES=%d%d",
        device->name, device->major, device->minor, device->major, device->minor);
}

static cull_status describe(cull_backend *backend, cull_cuda *cuda)
{
    cull_status           status = CULL_OK;
    struct cudaDeviceProp device;
    int                   shared = 0;

    CUDA(cudaGetDeviceProperties(&device, cuda->number));
    TRY(check_code(&device));
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
    int         first = 0, last = 0; /* what the way on waits for comes before what goes beside */
    int         before = -1;

    TRY(find_device(backend));
    TRY(cull_base_alloc(1, sizeof *cuda, "a backend", &cuda));
    backend->device = cuda; /* close_device ends it, also when the rest fails */
    cuda->number = backend->ordinal;
    before = cull_cuda_current(cuda);
    CUDA(cudaSetDevice(cuda->number));
    TRY(describe(backend, cuda));
    CUDA(cudaDeviceGetStreamPriorityRange(&last, &first));
    CUDA(cudaStreamCreateWithPriority(&cuda->own, cudaStreamNonBlocking, first));
    cuda->stream = cuda->own;
    CUDA(cudaStreamCreateWithPriority(&cuda->side, cudaStreamNonBlocking, last));
    CUDA(cudaStreamCreateWithPriority(&cuda->third, cudaStreamNonBlocking, last));
    CUDA(cudaEventCreateWithFlags(&cuda->ended, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&cuda->forked, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&cuda->joined, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&cuda->turned, cudaEventDisableTiming));
    CUDA(cudaMallocHost((void **)&cuda->stage, 2 * (size_t)CULL_CUDA_HALF));
    for (int i = 0; i < 2; i++)
        CUDA(cudaEventCreateWithFlags(&cuda->left[i], cudaEventDisableTiming));
done:
    if (before >= 0) cull_cuda_restore(cuda, before);
    return status;
}

/* Of cuDNN, where this process has it open: what selects alone has not. */
static void add_cudnn(char *out, size_t room)
{
    void *library = dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_NOLOAD);
    size_t (*version)(void) = NULL;
    size_t number = 0, at = strlen(out);

    if (!library) return;
    *(void **)&version = dlsym(library, "cudnnGetVersion");
    if (version) number = version();
    if (number)
        (void)snprintf(out + at, room - at, ", cuDNN %zu.%zu.%zu", number / 10000,
                       number / 100 % 100, number % 100);
    (void)dlclose(library);
}

static cull_status look(cull_backend *backend, cull_backend_facts *out)
{
    cull_status status = CULL_OK;
    cull_cuda  *cuda = NULL;
    int         driver = 0, runtime = 0;

    TRY(cull_cuda_enter(backend, &cuda));
    CUDA(cudaMemGetInfo(&out->free, &out->total));
    CUDA(cudaDriverGetVersion(&driver));
    CUDA(cudaRuntimeGetVersion(&runtime));
    (void)snprintf(out->versions, sizeof out->versions, "driver %d.%d, runtime %d.%d",
                   driver / 1000, driver / 10 % 100, runtime / 1000, runtime / 10 % 100);
    add_cudnn(out->versions, sizeof out->versions);
    (void)snprintf(out->bus, sizeof out->bus, "%s", backend->bus);
done:
    return status;
}

const cull_backend_class cull_backend_cuda = {
    .name = CULL_CUDA_NAME,
    .device = CULL_DEVICE_CUDA,
    .host = "cpu",
    .queue = &cull_cuda_queue,
    .op =
        {
            [CULL_OP_GRAM] = &cull_cuda_gram,         [CULL_OP_OMP] = &cull_cuda_omp,
            [CULL_OP_REFIT] = &cull_cuda_refit,       [CULL_OP_MATCH] = &cull_cuda_match,
            [CULL_OP_RANK] = &cull_cuda_rank,         [CULL_OP_KEYS] = &cull_cuda_keys,
            [CULL_OP_TOP] = &cull_cuda_top,           [CULL_OP_FACILITY] = &cull_cuda_facility,
            [CULL_OP_GRADIENT] = &cull_cuda_gradient, [CULL_OP_GAIN] = &cull_cuda_gain,
            [CULL_OP_AUGMENT] = &cull_cuda_augment,   [CULL_OP_RESIZE] = &cull_cuda_resize,
            [CULL_OP_GATHER] = &cull_cuda_gather,     [CULL_OP_GATHER_ALL] = &cull_cuda_gather_all,
            [CULL_OP_KEPT] = &cull_cuda_kept,         [CULL_OP_UPDATE] = &cull_cuda_update,
            [CULL_OP_SUMMARY] = &cull_cuda_summary,   [CULL_OP_TALLY] = &cull_cuda_tally,
            [CULL_OP_CHECK] = &cull_cuda_check_op,    [CULL_OP_SCORE] = &cull_cuda_score,
            [CULL_OP_CHANCE] = &cull_cuda_chance,     [CULL_OP_DRAW] = &cull_cuda_draw,
            [CULL_OP_SETTLE] = &cull_cuda_settle,     [CULL_OP_RECORD] = &cull_cuda_record,
            [CULL_OP_RECALL] = &cull_cuda_recall,     [CULL_OP_SAMPLE] = &cull_cuda_sample,
            [CULL_OP_CANCEL] = &cull_cuda_cancel,     [CULL_OP_WIDEN] = &cull_cuda_widen,
            [CULL_OP_NARROW] = &cull_cuda_narrow,
        },
    .open = open_device,
    .close = close_device,
    .look = look,
};
