/*
 * tests/golden/model_trace.h - a network that starts from the formulas of tools/make_golden.py and
 * descends by SGD with momentum; and random projections of what it computes.
 */
#ifndef CULL_TESTS_GOLDEN_MODEL_TRACE_H
#define CULL_TESTS_GOLDEN_MODEL_TRACE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/nn.h"
#include "support.h"
#include "tensor/tensor.h"

enum { STEPS = 10, CLASSES = 10, SIGNS = 8, LINE = 512, MOST_EXAMPLES = 32, MOST_NODES = 1024 };

#define RATE     0.1
#define MOMENTUM 0.9

/* ---- the formulas ---- */
static inline uint64_t hash_name(const char *prefix, const char *name, const char *suffix)
{
    const char *parts[] = {prefix, name, suffix};
    uint64_t    value = 0xcbf29ce484222325u;

    for (int i = 0; i < 3; i++)
        for (const char *c = parts[i]; *c; c++) value = (value ^ (uint8_t)*c) * 0x100000001b3u;
    return value;
}

static inline uint64_t number(uint64_t name, uint64_t i)
{
    uint64_t z = name + (i + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double even(uint64_t name, uint64_t i)
{
    return 2 * ((double)(number(name, i) >> 11) * 0x1p-53) - 1;
}

/* last: no other normalisation lies between this one and the classifier. */
static inline double initial(const cull_node *node, int part, bool last, double value)
{
    double scale = last ? 0.125 : 1;

    if (part == 1) return scale * (value / 4);
    if (node->running_count) return scale * (1 + value / 4);
    return value / sqrt((double)(node->param_count[0] / (size_t)node->desc.y.c)) *
           (node->params > 1 ? 1 : 4);
}

static inline const char *suffix_of(int part)
{
    return part ? ".bias" : ".weight";
}

/* ---- a network in training ---- */
struct trace {
    const char *model, *prefix; /* prefix: "", or "SEED:" */
    bool        gelu;
    cull_loss   loss;
    bool        weighs; /* examples have weights, and targets of the loss */
    int64_t     channels, extent;
    size_t      examples;
    cull_dtype  dtype;

    cull_arithmetic arithmetic; /* values in bfloat16: a device's; inputs then are so too */

    cull_backend *backend;
    cull_model   *net;
    cull_params  *params;
    cull_params   host; /* values, averages and gradient as they are, where they can be read */
    cull_plan    *plan;
    void         *velocity, *inputs;               /* inputs in the plan's layout */
    double        target[MOST_EXAMPLES * CLASSES]; /* or what the loss has       */
    double        weight[MOST_EXAMPLES];
    void         *there[3]; /* inputs, targets and weights, where the backend reads them */
};

static inline double get(const void *block, cull_dtype dtype, size_t i)
{
    return dtype == CULL_F32 ? (double)((const float *)block)[i] : ((const double *)block)[i];
}

static inline void put(void *block, cull_dtype dtype, size_t i, double value)
{
    if (dtype == CULL_F32)
        ((float *)block)[i] = (float)value;
    else
        ((double *)block)[i] = value;
}

/* Does a way lead from here to the network's end that meets no normalisation? */
static inline void find_last(const cull_model *net, bool *last)
{
    memset(last, 0, (size_t)net->nodes * sizeof *last);
    last[net->nodes - 1] = true;
    for (int k = net->nodes - 1; k > 0; k--)
        for (int i = 0; last[k] && !net->node[k].running_count && i < net->node[k].inputs; i++)
            last[net->node[k].input[i]] = true;
}

static inline void forget(struct trace *t)
{
    if (!t->params) return;
    if (t->host.gradient != t->params->gradient) free(t->host.gradient);
    cull_nn_params_drop(t->params, &t->host);
}

/* What the backend has, into host. */
static inline void look(struct trace *t)
{
    size_t bytes = t->params->count * cull_dtype_size(t->dtype);

    forget(t);
    assert_ok(cull_nn_params_borrow(t->params, &t->host));
    if (t->host.gradient) return;
    t->host.gradient = malloc(bytes);
    assert_non_null(t->host.gradient);
    assert_ok(cull_nn_params_download(t->params, t->params->gradient, t->host.gradient));
}

static inline void set_parameters(struct trace *t)
{
    bool last[MOST_NODES];

    assert_in_range(t->net->nodes, 2, MOST_NODES);
    look(t);
    find_last(t->net, last);
    for (int k = 1; k < t->net->nodes; k++) {
        const cull_node *node = &t->net->node[k];
        bool             small = last[k] && node->running_count;

        for (int part = 0; part < node->params; part++) {
            uint64_t hash = hash_name(t->prefix, node->name, suffix_of(part));

            for (size_t i = 0; i < node->param_count[part]; i++)
                put(t->host.value, t->dtype, node->param_at[part] + i,
                    initial(node, part, small, even(hash, i)));
        }
        for (size_t i = 0; i < node->running_count; i++)
            put(t->host.running, t->dtype, node->running_at + i, i >= node->running_count / 2);
    }
    assert_ok(cull_nn_params_return(t->params, &t->host));
}

/* Row e of what the loss is of; the formulas of tools/make_golden_loss.py. */
static inline void set_target(struct trace *t, const char *step, size_t e)
{
    uint64_t label = hash_name(t->prefix, step, "labels");
    uint64_t numbered = hash_name(t->prefix, step, "numbers");
    uint64_t truth = hash_name(t->prefix, step, "truths");

    t->weight[e] = 1 + even(hash_name(t->prefix, step, "weights"), e);
    for (size_t i = e * CLASSES; i < (e + 1) * CLASSES; i++) {
        if (t->loss.kind == CULL_LOSS_CROSS_ENTROPY)
            ((int32_t *)t->target)[e] = (int32_t)((number(label, e) >> 32) % CLASSES);
        else if (t->loss.kind == CULL_LOSS_BINARY)
            ((uint8_t *)t->target)[i] = (uint8_t)(number(truth, i) >> 63);
        else
            put(t->target, t->dtype, i, (double)(float)even(numbered, i));
    }
}

static inline size_t target_bytes(const struct trace *t)
{
    return t->examples * cull_loss_target(t->loss.kind, CLASSES, t->dtype);
}

/* Every step, counted from 1, has examples of its own. */
static inline void set_batch(struct trace *t, int step)
{
    cull_image image = cull_nn_plan_input(t->plan);
    size_t     row = (size_t)cull_image_row(&image), area = (size_t)(image.h * image.w);
    size_t     block = (size_t)image.block;
    char       number_of[16];
    uint64_t   input = 0;

    (void)snprintf(number_of, sizeof number_of, "%d:", step);
    input = hash_name(t->prefix, number_of, "inputs");
    for (size_t e = 0; e < t->examples; e++) {
        set_target(t, number_of, e);
        for (size_t i = 0; i < row; i++) {
            size_t channel = i / (area * block) * block + i % block, pixel = i / block % area;
            put(t->inputs, t->dtype, e * row + i,
                2 * even(input, e * row + channel * area + pixel));
        }
    }
}

/* Of the inputs. */
static inline size_t numbers(const struct trace *t)
{
    cull_image image = cull_nn_plan_input(t->plan);

    return t->examples * (size_t)cull_image_row(&image);
}

static inline void make_room(struct trace *t)
{
    size_t size = cull_dtype_size(t->dtype);

    t->velocity = calloc(t->params->count, size);
    t->inputs = calloc(numbers(t), size);
    assert_non_null(t->velocity);
    assert_non_null(t->inputs);
    assert_ok(cull_backend_allocate(t->backend, numbers(t), size, "a test", &t->there[0]));
    assert_ok(cull_backend_allocate(t->backend, target_bytes(t), 1, "a test", &t->there[1]));
    assert_ok(
        cull_backend_allocate(t->backend, t->examples, sizeof *t->weight, "a test", &t->there[2]));
}

/* Needs the first two lines of the struct and dtype. False where the backend has no layers. */
static inline bool start(struct trace *t, const char *backend)
{
    cull_model_options options = {.channels = t->channels,
                                  .height = t->extent,
                                  .width = t->extent,
                                  .classes = CLASSES,
                                  .activation = t->gelu ? CULL_GELU : CULL_RELU};
    cull_status        status = CULL_OK;

    assert_in_range(t->examples, 1, MOST_EXAMPLES);
    assert_ok(cull_backend_open(backend, 0, &t->backend));
    assert_ok(cull_nn_model_by_name(t->model, &options, &t->net));
    assert_ok(cull_nn_params_create(t->backend, t->net, t->dtype, &t->params));
    assert_ok(cull_nn_params_compute(t->params, t->arithmetic));
    set_parameters(t);
    status = cull_nn_plan_create(t->net, t->params, t->backend, CULL_PLAN_LEARN, t->examples,
                                 t->loss, &t->plan);
    if (status == CULL_UNSUPPORTED) return false;
    assert_ok(status);
    make_room(t);
    return true;
}

static inline void finish(struct trace *t)
{
    free(t->velocity);
    free(t->inputs);
    forget(t);
    for (int i = 0; i < 3; i++) cull_backend_release(t->backend, t->there[i]);
    cull_nn_plan_destroy(t->plan);
    cull_nn_params_destroy(t->params);
    cull_nn_model_destroy(t->net);
    cull_backend_close(t->backend);
}

/* The inputs, in the type that the plan reads. */
static inline void send_inputs(const struct trace *t)
{
    size_t    count = numbers(t);
    uint16_t *narrow = NULL;

    if (!t->arithmetic.values) {
        assert_ok(cull_backend_upload(t->backend, t->there[0], t->inputs,
                                      count * cull_dtype_size(t->dtype)));
        return;
    }
    narrow = calloc(count, sizeof *narrow);
    assert_non_null(narrow);
    for (size_t i = 0; i < count; i++) narrow[i] = cull_bf16_of(((const float *)t->inputs)[i]);
    assert_ok(cull_backend_upload(t->backend, t->there[0], narrow, count * sizeof *narrow));
    free(narrow);
}

/* One pass forward and backward over the examples of a step, into host: losses and P. */
static inline void learn_step(struct trace *t, int step, double each[MOST_EXAMPLES],
                              double p[MOST_EXAMPLES * CLASSES])
{
    cull_batch   batch = {.count = t->examples,
                          .inputs = t->there[0],
                          .target = t->there[1],
                          .weight = t->weighs ? t->there[2] : NULL};
    size_t       size = cull_dtype_size(t->dtype), outputs = t->examples * CLASSES;
    double       native[MOST_EXAMPLES * CLASSES];
    cull_signals seen;

    set_batch(t, step);
    send_inputs(t);
    assert_ok(cull_backend_upload(t->backend, t->there[1], t->target, target_bytes(t)));
    assert_ok(
        cull_backend_upload(t->backend, t->there[2], t->weight, t->examples * sizeof *t->weight));
    assert_ok(cull_nn_learn(t->plan, &batch, &seen));
    assert_ok(cull_backend_download(t->backend, each, seen.loss.data, t->examples * sizeof *each));
    assert_ok(cull_backend_download(t->backend, native, seen.p.data, outputs * size));
    for (size_t i = 0; i < outputs; i++) p[i] = get(native, t->dtype, i);
    look(t);
}

/* The same; the mean loss. */
static inline double learn(struct trace *t, int step)
{
    double each[MOST_EXAMPLES], p[MOST_EXAMPLES * CLASSES], loss = 0;

    learn_step(t, step, each, p);
    for (size_t e = 0; e < t->examples; e++) loss += each[e] / (double)t->examples;
    return loss;
}

/* By hand and in the network's own type: what is tested here is the network. */
static inline void descend(struct trace *t)
{
    if (t->dtype == CULL_F32) {
        float       *value = t->host.value, *velocity = t->velocity;
        const float *gradient = t->host.gradient;

        for (size_t i = 0; i < t->params->count; i++) {
            velocity[i] = (float)MOMENTUM * velocity[i] + gradient[i];
            value[i] -= (float)RATE * velocity[i];
        }
    } else {
        double       *value = t->host.value, *velocity = t->velocity;
        const double *gradient = t->host.gradient;

        for (size_t i = 0; i < t->params->count; i++) {
            velocity[i] = MOMENTUM * velocity[i] + gradient[i];
            value[i] -= RATE * velocity[i];
        }
    }
    assert_ok(cull_nn_params_return(t->params, &t->host));
}

/* Adds the projections of `count` elements from `at` on, on the signs of this name. */
static inline void project(const void *block, cull_dtype dtype, size_t at, size_t count,
                           const char *name, const char *suffix, int kinds, double *out)
{
    uint64_t hash = hash_name("sign:", name, suffix);

    for (size_t i = 0; i < count; i++) {
        uint64_t bits = number(hash, i) >> 56;
        double   value = get(block, dtype, at + i);

        for (int j = 0; j < kinds; j++) out[j] += (bits >> j) & 1 ? value : -value;
    }
}

#endif
