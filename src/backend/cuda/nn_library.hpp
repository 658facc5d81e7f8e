/* backend/cuda/nn_library.hpp - what the files behind nn_library.h share. */
#ifndef CULL_BACKEND_CUDA_NN_LIBRARY_HPP
#define CULL_BACKEND_CUDA_NN_LIBRARY_HPP

#include <cublasLt.h>
#include <cudnn.h>

#include "backend/cuda/nn_library.h"

extern "C" {
#include "base/alloc.h"
}

struct cull_library {
    cudnnHandle_t    dnn; /* made with the first operation: it takes time */
    cublasLtHandle_t blas;
    char             about[128];
};

/* A plan of either library; exactly one of its makers knows which. */
struct cull_plan {
    cull_library *library;
    size_t        room;
    char          name[48];
    virtual ~cull_plan() {}
};

/* A status and a sentence from what cuDNN or cuBLASLt said of `call`, told by name alone. */
cull_status cull_dnn_said(cudnnStatus_t said, const char *call);
cull_status cull_blas_said(cublasStatus_t said, const char *call);

#define DNN(call)                                                                                  \
    do {                                                                                           \
        cudnnStatus_t said_ = (call);                                                              \
        if (said_ != CUDNN_STATUS_SUCCESS) return cull_dnn_said(said_, #call);                     \
    } while (0)
#define BLAS(call)                                                                                 \
    do {                                                                                           \
        cublasStatus_t said_ = (call);                                                             \
        if (said_ != CUBLAS_STATUS_SUCCESS) return cull_blas_said(said_, #call);                   \
    } while (0)
#define PASS(call)                                                                                 \
    do {                                                                                           \
        cull_status status_ = (call);                                                              \
        if (status_ != CULL_OK) return status_;                                                    \
    } while (0)

#endif
