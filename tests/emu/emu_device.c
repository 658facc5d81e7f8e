/* tests/emu/emu_device.c - the one device, errors, and what tests plan. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_inside.h"

void emu_insist(bool holds, const char *what)
{
    if (holds) return;
    (void)fprintf(stderr, "emu: %s\n", what);
    abort();
}

/* ---- one call at a time ---- */

static struct {
    pthread_mutex_t lock;
    pthread_once_t  once;
    size_t          calls, lost_at; /* 0: not planned */
} runtime = {.once = PTHREAD_ONCE_INIT};

static _Thread_local cudaError_t last;

/* A call that a test left by longjmp, out of a signal, leaves the lock to its own thread. */
static void make_lock(void)
{
    pthread_mutexattr_t kind;

    (void)pthread_mutexattr_init(&kind);
    (void)pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&runtime.lock, &kind);
    (void)pthread_mutexattr_destroy(&kind);
    if (getenv("CULL_EMU_LOSES")) runtime.lost_at = strtoul(getenv("CULL_EMU_LOSES"), NULL, 10);
}

static bool is_lost(void)
{
    return runtime.lost_at && runtime.calls >= runtime.lost_at;
}

cudaError_t emu_enter(void)
{
    (void)pthread_once(&runtime.once, make_lock);
    (void)pthread_mutex_lock(&runtime.lock);
    runtime.calls++;
    return is_lost() ? cudaErrorIllegalAddress : cudaSuccess;
}

cudaError_t emu_leave(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady) last = error;
    (void)pthread_mutex_unlock(&runtime.lock);
    return error;
}

void emu_lose_device(size_t nth)
{
    (void)emu_enter();
    runtime.lost_at = nth ? runtime.calls + nth : 0;
    last = cudaSuccess;
    (void)emu_leave(cudaSuccess);
}

size_t emu_calls(void)
{
    return runtime.calls;
}

cudaError_t cudaPeekAtLastError(void)
{
    return is_lost() ? cudaErrorIllegalAddress : last;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();

    last = cudaSuccess;
    return error;
}

/* ---- their names, and CUDA's sentences ---- */

static const struct {
    cudaError_t error;
    const char *name, *sentence;
} errors[] = {
#define ERROR(name, sentence)                                                                      \
    {                                                                                              \
        name, #name, sentence                                                                      \
    }
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInsufficientDriver,
          "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorNoKernelImageForDevice,
          "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorStreamCaptureInvalidated,
          "operation failed due to a previous error during capture"),
    ERROR(cudaErrorStreamCaptureUnmatched, "capture was not initiated in this stream"),
    ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ERROR(cudaErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a "
                                  "capturing stream"),
    ERROR(cudaErrorStreamCaptureWrongThread, "attempt to terminate a thread-local capture sequence "
                                             "from another thread"),
};

static size_t find_error(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return i;
    return 1;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return errors[find_error(error)].sentence;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return errors[find_error(error)].name;
}

/* ---- the device ---- */

static struct {
    bool        known;
    const char *what; /* NULL: nothing */
} lack;

void emu_lack(const char *what)
{
    lack.known = true;
    lack.what = what;
}

static bool lacks(const char *what)
{
    if (!lack.known) emu_lack(getenv("CULL_EMU_LACKS"));
    return lack.what && strcmp(lack.what, what) == 0;
}

/* CULL_EMU_DEVICES (1) of them, whose memory is one. */
static int devices(void)
{
    const char *count = getenv("CULL_EMU_DEVICES");

    return count ? atoi(count) : 1;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = cudaSuccess;

    *count = 0;
    if (lacks("driver") || lacks("newer driver"))
        error = cudaErrorInsufficientDriver;
    else if (lacks("device"))
        error = cudaErrorNoDevice;
    else
        *count = devices();
    EMU_CALL(error);
}

static _Thread_local int current;

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    EMU_CALL(cudaSuccess);
}

static cudaError_t check_device(int device)
{
    return device >= 0 && device < devices() ? cudaSuccess : cudaErrorInvalidDevice;
}

static cudaError_t set_device(int device)
{
    cudaError_t error = check_device(device);

    if (error == cudaSuccess) current = device;
    return error;
}

cudaError_t cudaSetDevice(int device)
{
    EMU_CALL(set_device(device));
}

size_t emu_processors(void)
{
    const char *said = getenv("CULL_EMU_PROCESSORS");
    size_t      count = said ? strtoul(said, NULL, 10) : EMU_PROCESSORS;

    emu_insist(count > 0 && count <= EMU_MOST_PROCESSORS, "so many processors are not imitated");
    return count;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    *properties = (struct cudaDeviceProp){.name = "emulated",
                                          .totalGlobalMem = (size_t)8 << 30,
                                          .sharedMemPerBlock = EMU_SHARED_PLAIN,
                                          .sharedMemPerBlockOptin = EMU_SHARED,
                                          .sharedMemPerMultiprocessor = EMU_SHARED + 1024,
                                          .warpSize = 32,
                                          .maxThreadsPerBlock = 1024,
                                          .maxThreadsPerMultiProcessor = 2048,
                                          .multiProcessorCount = (int)emu_processors(),
                                          .major = 9,
                                          .l2CacheSize = 1 << 20,
                                          .cooperativeLaunch = 1,
                                          .asyncEngineCount = 1};
    EMU_CALL(check_device(device));
}

static cudaError_t find_attribute(int *value, enum cudaDeviceAttr attribute)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = EMU_SHARED_PLAIN; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = (int)emu_processors(); break;
    case cudaDevAttrL2CacheSize: *value = 1 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = EMU_SHARED + 1024; break;
    case cudaDevAttrCooperativeLaunch: *value = 1; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = EMU_SHARED; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = emu_enter();

    if (error == cudaSuccess) error = check_device(device);
    return emu_leave(error == cudaSuccess ? find_attribute(value, attribute) : error);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int room, int device)
{
    if (room > 0) (void)snprintf(text, (size_t)room, "0000:00:00.0");
    EMU_CALL(check_device(device));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    EMU_CALL(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = lacks("driver") ? 0 : lacks("newer driver") ? 12020 : CUDART_VERSION;
    EMU_CALL(cudaSuccess);
}

/* ---- functions ---- */

enum { FUNCTIONS = 512 };
static struct {
    const void *function;
    size_t      shared;
} agreed[FUNCTIONS];
static size_t functions;

size_t emu_shared_most(const void *function)
{
    for (size_t i = 0; i < functions; i++)
        if (agreed[i].function == function) return agreed[i].shared;
    return EMU_SHARED_PLAIN;
}

static cudaError_t agree(const void *function, enum cudaFuncAttribute attribute, int value)
{
    size_t i = 0;

    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (!function || value < 0 || value > EMU_SHARED) return cudaErrorInvalidValue;
    while (i < functions && agreed[i].function != function) i++;
    emu_insist(i < FUNCTIONS, "more kernels ask for shared memory than are kept in mind");
    if (i == functions) functions++;
    agreed[i].function = function;
    agreed[i].shared = (size_t)value > EMU_SHARED_PLAIN ? (size_t)value : EMU_SHARED_PLAIN;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    EMU_CALL(agree(function, attribute, value));
}

static cudaError_t occupy(int *blocks, const void *function, int threads, size_t shared)
{
    *blocks = 0;
    if (lacks("code")) return cudaErrorNoKernelImageForDevice;
    if (!function || threads < 1) return cudaErrorInvalidValue;
    if (threads <= 1024 && shared <= emu_shared_most(function)) *blocks = 1;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared)
{
    EMU_CALL(occupy(blocks, function, threads, shared));
}
