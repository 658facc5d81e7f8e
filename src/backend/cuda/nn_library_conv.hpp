/* backend/cuda/nn_library_conv.hpp - cuDNN's descriptors, and a convolution as a graph of them. */
#ifndef CULL_BACKEND_CUDA_NN_LIBRARY_CONV_HPP
#define CULL_BACKEND_CUDA_NN_LIBRARY_CONV_HPP

#include "backend/cuda/nn_library.hpp"

/* A descriptor that ends with its scope. */
class descriptor {
public:
    descriptor() : raw_(nullptr) {}
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;
    ~descriptor()
    {
        if (raw_) (void)cudnnBackendDestroyDescriptor(raw_);
    }
    cull_status make(cudnnBackendDescriptorType_t type)
    {
        DNN(cudnnBackendCreateDescriptor(type, &raw_));
        return CULL_OK;
    }
    cull_status set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    int64_t count, const void *value)
    {
        DNN(cudnnBackendSetAttribute(raw_, name, type, count, value));
        return CULL_OK;
    }
    cull_status set(cudnnBackendAttributeName_t name, const descriptor &other)
    {
        return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.raw_);
    }
    cull_status get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    int64_t most, int64_t *count, void *value) const
    {
        DNN(cudnnBackendGetAttribute(raw_, name, type, most, count, value));
        return CULL_OK;
    }
    cull_status finalize()
    {
        DNN(cudnnBackendFinalize(raw_));
        return CULL_OK;
    }
    cudnnBackendDescriptor_t raw() const { return raw_; }

private:
    cudnnBackendDescriptor_t raw_;
};

/* Of one operation, with all that it is made of. */
struct cull_operation {
    descriptor x, w, y, conv, op, graph;
};

cull_status cull_operation_make(cull_library *library, const cull_conv_problem *problem,
                                cull_operation *out);

#endif
