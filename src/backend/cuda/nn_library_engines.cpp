/*
 * backend/cuda/nn_library_engines.cpp - which of cuDNN's engines its heuristics name for a
 * convolution, with their settings, and which of them may be used.
 */
#include <cudnn.h>

#include "backend/cuda/nn_library_conv.hpp"

enum { MOST_CONFIGS = 64 };

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
static cull_status ask(const cull_operation &operation, cudnnBackendHeurMode_t mode,
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
static void ask_all(const cull_operation &operation, const cull_conv_problem *problem,
                    bool compiled, size_t most, cull_choice *out, size_t *count)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B,
                                                   CUDNN_HEUR_MODE_FALLBACK};

    for (cudnnBackendHeurMode_t mode : modes)
        if (*count < most) (void)ask(operation, mode, problem, compiled, most, out, count);
}

cull_status cull_library_convs(cull_library *library, const cull_conv_problem *problem,
                               cull_compiled compiled, size_t most, cull_choice *out,
                               size_t *count)
{
    cull_operation operation;
    size_t         plain = compiled == CULL_COMPILED_TOO ? most - most / 2 : most;

    *count = 0;
    PASS(cull_operation_make(library, problem, &operation));
    ask_all(operation, problem, false, plain, out, count);
    if (compiled == CULL_COMPILED_TOO || (compiled == CULL_COMPILED_ELSE && *count == 0))
        ask_all(operation, problem, true, most, out, count);
    return CULL_OK;
}

