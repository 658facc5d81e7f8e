/*
 * backend/cuda/nn_library_conv.cpp - convolutions by cuDNN's graph API: a graph of one operation,
 * and a plan of one of its engines (nn_library_engines.cpp finds them).
 *
 * Tensors have four dimensions (n, c, h, w) and strides of NHWC; the filter is (o, c/groups, r, s)
 * with c innermost, and says by its c how many groups there are.
 */
#include <cudnn.h>

#include "backend/cuda/nn_library_conv.hpp"

#include <cstdio>
#include <new>

/* The unique numbers of a graph's tensors. */
enum { TENSOR_X = 1, TENSOR_W, TENSOR_Y };
enum { BORDER = 16 };

/* ---- the operation ---- */
static cudnnDataType_t type_of(cull_dtype dtype)
{
    if (dtype == CULL_F64) return CUDNN_DATA_DOUBLE;
    return dtype == CULL_F32 ? CUDNN_DATA_FLOAT : CUDNN_DATA_BFLOAT16;
}

static cull_status make_tensor(descriptor *tensor, int64_t number, cull_dtype dtype, int64_t n,
                               int64_t c, int64_t h, int64_t w)
{
    int64_t         extent[4] = {n, c, h, w}, stride[4] = {h * w * c, 1, w * c, c};
    int64_t         border = BORDER;
    cudnnDataType_t type = type_of(dtype);

    PASS(tensor->make(CUDNN_BACKEND_TENSOR_DESCRIPTOR));
    PASS(tensor->set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    PASS(tensor->set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, extent));
    PASS(tensor->set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride));
    PASS(tensor->set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number));
    PASS(tensor->set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &border));
    return tensor->finalize();
}

static cull_status make_conv(descriptor *conv, const cull_conv_shape *s)
{
    cudnnDataType_t        type = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    int64_t                extents = 2, pad[2], stride[2], dilation[2];

    for (int i = 0; i < 2; i++) {
        pad[i] = s->pad[i];
        stride[i] = s->stride[i];
        dilation[i] = s->dilation[i];
    }
    PASS(conv->make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
    PASS(conv->set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    PASS(conv->set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode));
    PASS(conv->set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &extents));
    PASS(conv->set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pad));
    PASS(conv->set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pad));
    PASS(conv->set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilation));
    PASS(conv->set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride));
    return conv->finalize();
}

/* What the three operations call their parts. */
static const struct {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t  x, w, y, conv, alpha, beta;
} parts[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};

cull_status cull_operation_make(cull_library *library, const cull_conv_problem *problem,
                                  cull_operation *out)
{
    const cull_conv_shape   *s = &problem->shape;
    const auto              &part = parts[problem->direction];
    cull_dtype               w_type = problem->direction == CULL_WEIGHTS ? problem->result
                                                                         : problem->values;
    float                    alpha = 1, beta = problem->add ? 1 : 0;
    cudnnBackendDescriptor_t op = nullptr;

    if (!library->dnn) DNN(cudnnCreate(&library->dnn));
    PASS(make_tensor(&out->x, TENSOR_X, problem->values, s->n, s->c, s->h, s->w));
    PASS(make_tensor(&out->w, TENSOR_W, w_type, s->o, s->c / s->groups, s->kernel[0],
                     s->kernel[1]));
    PASS(make_tensor(&out->y, TENSOR_Y, problem->values, s->n, s->o, s->p, s->q));
    PASS(make_conv(&out->conv, s));
    PASS(out->op.make(part.type));
    PASS(out->op.set(part.conv, out->conv));
    PASS(out->op.set(part.x, out->x));
    PASS(out->op.set(part.w, out->w));
    PASS(out->op.set(part.y, out->y));
    PASS(out->op.set(part.alpha, CUDNN_TYPE_FLOAT, 1, &alpha));
    PASS(out->op.set(part.beta, CUDNN_TYPE_FLOAT, 1, &beta));
    PASS(out->op.finalize());
    op = out->op.raw();
    PASS(out->graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
    PASS(out->graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &library->dnn));
    PASS(out->graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &op));
    return out->graph.finalize();
}

/* ---- plans ---- */
struct conv_plan : cull_plan {
    cull_operation of;
    descriptor engine, config, plan;
};

static cull_status make_config(conv_plan *plan, const cull_choice *choice)
{
    descriptor               knob[CULL_CHOICE_KNOBS];
    cudnnBackendDescriptor_t raw[CULL_CHOICE_KNOBS];

    PASS(plan->engine.make(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
    PASS(plan->engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, plan->of.graph));
    PASS(plan->engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &choice->engine));
    PASS(plan->engine.finalize());
    for (int i = 0; i < choice->knobs; i++) {
        cudnnBackendKnobType_t type = static_cast<cudnnBackendKnobType_t>(choice->type[i]);

        PASS(knob[i].make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
        PASS(knob[i].set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type));
        PASS(knob[i].set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
                         &choice->value[i]));
        PASS(knob[i].finalize());
        raw[i] = knob[i].raw();
    }
    PASS(plan->config.make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    PASS(plan->config.set(CUDNN_ATTR_ENGINECFG_ENGINE, plan->engine));
    if (choice->knobs)
        PASS(plan->config.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                              choice->knobs, raw));
    return plan->config.finalize();
}

static cull_status make_plan(conv_plan *plan, const cull_conv_problem *problem,
                             const cull_choice *choice)
{
    int64_t room = 0, count = 0;

    PASS(cull_operation_make(plan->library, problem, &plan->of));
    PASS(make_config(plan, choice));
    PASS(plan->plan.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
    PASS(plan->plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
                        &plan->library->dnn));
    PASS(plan->plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, plan->config));
    PASS(plan->plan.finalize());
    PASS(plan->plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count,
                        &room));
    if (room < 0 || room > CULL_LIBRARY_ROOM)
        return cull_fail(CULL_UNSUPPORTED, "engine %d of cuDNN wants %lld bytes of scratch",
                         (int)choice->engine, (long long)room);
    plan->room = static_cast<size_t>(room);
    (void)snprintf(plan->name, sizeof plan->name, "cudnn %d%s", (int)choice->engine,
                   choice->compiled ? ", compiled" : "");
    return CULL_OK;
}

cull_status cull_library_conv(cull_library *library, const cull_conv_problem *problem,
                              const cull_choice *choice, cull_plan **out)
{
    void       *room = nullptr;
    conv_plan  *plan = nullptr;
    cull_status status = cull_base_alloc(1, sizeof *plan, "a plan of cuDNN", &room);

    *out = nullptr;
    if (status != CULL_OK) return status;
    plan = new (room) conv_plan();
    plan->library = library;
    status = make_plan(plan, problem, choice);
    if (status == CULL_OK)
        *out = plan;
    else
        cull_plan_destroy(plan);
    return status;
}

cull_status cull_plan_conv(const cull_plan *given, cudaStream_t stream, void *x, void *w, void *y,
                           void *room)
{
    const conv_plan *plan = static_cast<const conv_plan *>(given);
    descriptor       pack;
    int64_t          number[] = {TENSOR_X, TENSOR_W, TENSOR_Y};
    void            *data[] = {x, w, y};

    DNN(cudnnSetStream(plan->library->dnn, stream));
    PASS(pack.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
    PASS(pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, number));
    PASS(pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, data));
    PASS(pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &room));
    PASS(pack.finalize());
    DNN(cudnnBackendExecute(plan->library->dnn, plan->plan.raw(), pack.raw()));
    return CULL_OK;
}
