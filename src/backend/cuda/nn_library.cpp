/* backend/cuda/nn_library.cpp - cuDNN and cuBLASLt opened, and what they say of failures. */
#include <cublasLt.h>
#include <cudnn.h>

#include "backend/cuda/nn_library.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static int name_length(const char *call)
{
    return static_cast<int>(strcspn(call, "( "));
}

/* Why an engine cannot be used, for benchmarks that want to know. */
static void say(const char *call, const char *said)
{
    const char *wanted = getenv("CULL_CUDA_SAY");

    if (wanted && strcmp(wanted, "1") == 0)
        (void)fprintf(stderr, "    %.*s: %s\n", name_length(call), call, said);
}

cull_status cull_dnn_said(cudnnStatus_t said, const char *call)
{
    cull_status status = CULL_DEVICE;
    int         kind = static_cast<int>(said);
    char        details[512] = "";

    cudnnGetLastErrorString(details, sizeof details);
    say(call, details);
    if (kind >= CUDNN_STATUS_NOT_SUPPORTED && kind < CUDNN_STATUS_INTERNAL_ERROR)
        status = CULL_UNSUPPORTED;
    if (said == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
        said == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        status = CULL_NO_MEMORY;
    return cull_fail(status, "%.*s: %s", name_length(call), call, cudnnGetErrorString(said));
}

cull_status cull_blas_said(cublasStatus_t said, const char *call)
{
    cull_status status = CULL_DEVICE;

    say(call, cublasLtGetStatusString(said));
    if (said == CUBLAS_STATUS_NOT_SUPPORTED || said == CUBLAS_STATUS_ARCH_MISMATCH)
        status = CULL_UNSUPPORTED;
    if (said == CUBLAS_STATUS_ALLOC_FAILED) status = CULL_NO_MEMORY;
    return cull_fail(status, "%.*s: %s", name_length(call), call, cublasLtGetStatusString(said));
}

static cull_status open_all(cull_library *library, int device)
{
    struct cudaDeviceProp known;
    cudaError_t           error = cudaGetDeviceProperties(&known, device);

    if (error != cudaSuccess)
        return cull_fail(CULL_DEVICE, "cudaGetDeviceProperties: %s", cudaGetErrorString(error));
    BLAS(cublasLtCreate(&library->blas));
    (void)snprintf(library->about, sizeof library->about,
                   "cull %d.%d.%d, %.60s, %d, cuDNN %zu, cuBLASLt %zu", CULL_VERSION_MAJOR,
                   CULL_VERSION_MINOR, CULL_VERSION_PATCH, known.name, known.multiProcessorCount,
                   cudnnGetVersion(), cublasLtGetVersion());
    return CULL_OK;
}

cull_status cull_library_open(int device, cull_library **out)
{
    cull_library *library = nullptr;
    cull_status   status = cull_base_alloc(1, sizeof *library, "cuDNN", &library);

    if (status == CULL_OK) status = open_all(library, device);
    if (status != CULL_OK) {
        cull_library_close(library);
        library = nullptr;
    }
    *out = library;
    return status;
}

void cull_library_close(cull_library *library)
{
    if (!library) return;
    if (library->blas) (void)cublasLtDestroy(library->blas);
    if (library->dnn) (void)cudnnDestroy(library->dnn);
    cull_base_free(library);
}

const char *cull_library_about(const cull_library *library)
{
    return library->about;
}

void cull_plan_destroy(cull_plan *plan)
{
    if (!plan) return;
    plan->~cull_plan();
    cull_base_free(plan);
}

size_t cull_plan_room(const cull_plan *plan)
{
    return plan->room;
}

const char *cull_plan_name(const cull_plan *plan)
{
    return plan->name;
}
