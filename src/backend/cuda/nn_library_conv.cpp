/*
 * backend/cuda/nn_library_conv.cpp - convolutions by cuDNN's graph API: a graph of one operation,
 * the engines that its heuristics name for it, and a plan of one of them.
 *
 * Tensors have four dimensions (n, c, h, w) and strides of NHWC; the filter is (o, c/groups, r, s)
 * with c innermost, and says by its c how many groups there are.
 */
#include <cudnn.h>

#include "backend/cuda/nn_library.hpp"

#include <cstdio>
#include <new>

/* The unique numbers of a graph's tensors. */
enum { TENSOR_X = 1, TENSOR_W, TENSOR_Y };
enum { MOST_CONFIGS = 64, BORDER = 16 };

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

/* ---- the operation ---- */
struct operation {
    descriptor x, w, y, conv, op, graph;
};

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

static cull_status make_operation(cull_library *library, const cull_conv_problem *problem,
                                  operation *out)
{
    const cull_conv_shape   *s = &problem->shape;
    const auto              &part = parts[problem->direction];
    cull_dtype               w_type = problem->direction == CULL_WEIGHTS ? problem->result
                                                                         : problem->values;
    float                    alpha = 1, beta = problem->add ? 1 : 0;
    cudnnBackendDescriptor_t op = nullptr;

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

/* ---- choices ---- */

/* Engine and settings of a configuration. */
static cull_status read_knobs(const descriptor &config, cull_choice *out)
{
    descriptor               knob[CULL_CHOICE_KNOBS];
    cudnnBackendDescriptor_t raw[CULL_CHOICE_KNOBS];
    int64_t                  count = 0, one = 0;

    for (int i = 0; i < CULL_CHOICE_KNOBS; i++) {
        PASS(knob[i].make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
        raw[i] = knob[i].raw();
    }
    PASS(config.get(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                    CULL_CHOICE_KNOBS, &count, raw));
    if (count > CULL_CHOICE_KNOBS)
        return cull_fail(CULL_UNSUPPORTED, "an engine of cuDNN has %d settings", (int)count);
    for (int64_t i = 0; i < count; i++) {
        cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;

        PASS(knob[i].get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &one, &type));
        PASS(knob[i].get(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &one,
                         &out->value[i]));
        out->type[i] = static_cast<int32_t>(type);
    }
    out->knobs = static_cast<int32_t>(count);
    return CULL_OK;
}

static bool has(const int32_t *notes, int64_t count, int32_t note)
{
    for (int64_t i = 0; i < count; i++)
        if (notes[i] == note) return true;
    return false;
}

/* May an engine of these notes compute the problem? Float32 means float32, so no matrix units
 * without leave; and nobody asked for transforms that trade bits for speed. */
static bool precise(const cull_conv_problem *problem, const int32_t *notes, int64_t count)
{
    if (problem->repeatable && has(notes, count, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
        return false;
    if (has(notes, count, CUDNN_NUMERICAL_NOTE_FFT) ||
        has(notes, count, CUDNN_NUMERICAL_NOTE_WINOGRAD) ||
        has(notes, count, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
        return false;
    if (problem->values != CULL_F32) return true;
    return !has(notes, count, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) &&
           (problem->tf32 || !has(notes, count, CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
}

/* *fits: it may be used. */
static cull_status read_config(const descriptor &config, const cull_conv_problem *problem,
                               cull_choice *out, bool *fits)
{
    descriptor               engine;
    cudnnBackendDescriptor_t raw = nullptr;
    int32_t                  notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT] = {0};
    int32_t                  habits[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT] = {0};
    int64_t                  count = 0;

    static_assert(sizeof(cudnnBackendNumericalNote_t) == sizeof(int32_t), "notes are ints");
    static_assert(sizeof(cudnnBackendBehaviorNote_t) == sizeof(int32_t), "notes are ints");
    *out = cull_choice{};
    *fits = false;
    PASS(engine.make(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
    raw = engine.raw();
    PASS(config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &raw));
    PASS(engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, &out->engine));
    PASS(engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                    CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes));
    if (count > CUDNN_NUMERICAL_NOTE_TYPE_COUNT || !precise(problem, notes, count)) return CULL_OK;
    PASS(engine.get(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                    CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, &count, habits));
    if (count > CUDNN_BEHAVIOR_NOTE_TYPE_COUNT ||
        has(habits, count, CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER) ||
        has(habits, count, CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER))
        return CULL_OK;
    out->compiled = has(habits, count, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
    PASS(read_knobs(config, out));
    *fits = true;
    return CULL_OK;
}

static bool same(const cull_choice *a, const cull_choice *b)
{
    if (a->engine != b->engine || a->knobs != b->knobs) return false;
    for (int i = 0; i < a->knobs; i++)
        if (a->type[i] != b->type[i] || a->value[i] != b->value[i]) return false;
    return true;
}

/* What one of cuDNN's heuristics gives, added to out. */
static cull_status ask(const operation &operation, cudnnBackendHeurMode_t mode,
                       const cull_conv_problem *problem, bool compiled, size_t most,
                       cull_choice *out, size_t *count)
{
    descriptor               heuristic, config[MOST_CONFIGS];
    cudnnBackendDescriptor_t raw[MOST_CONFIGS];
    int64_t                  found = 0;

    PASS(heuristic.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
    PASS(heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operation.graph));
    PASS(heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode));
    PASS(heuristic.finalize());
    for (int i = 0; i < MOST_CONFIGS; i++) {
        PASS(config[i].make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
        raw[i] = config[i].raw();
    }
    PASS(heuristic.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_CONFIGS,
                       &found, raw));
    for (int64_t i = 0; i < found && i < MOST_CONFIGS && *count < most; i++) {
        bool fits = false, known = false;

        if (read_config(config[i], problem, &out[*count], &fits) != CULL_OK || !fits) continue;
        if (out[*count].compiled != compiled) continue;
        for (size_t k = 0; k < *count; k++) known = known || same(&out[k], &out[*count]);
        if (!known) (*count)++;
    }
    return CULL_OK;
}

/* Mode A first, and where it gives too little B, and the engines that always work. */
static void ask_all(const operation &operation, const cull_conv_problem *problem, bool compiled,
                    size_t most, cull_choice *out, size_t *count)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B,
                                                   CUDNN_HEUR_MODE_FALLBACK};

    for (cudnnBackendHeurMode_t mode : modes)
        if (*count < most) (void)ask(operation, mode, problem, compiled, most, out, count);
}

cull_status cull_library_convs(cull_library *library, const cull_conv_problem *problem, bool all,
                               size_t most, cull_choice *out, size_t *count)
{
    operation operation;

    *count = 0;
    PASS(make_operation(library, problem, &operation));
    ask_all(operation, problem, false, most, out, count);
    if (all || *count == 0) ask_all(operation, problem, true, *count + 4 < most ? *count + 4 : most,
                                    out, count);
    return CULL_OK;
}

/* ---- plans ---- */
struct conv_plan : cull_plan {
    operation  of;
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

    PASS(make_operation(plan->library, problem, &plan->of));
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
