/*
 * tests/unit/plan_support.h - small networks on a backend, with a batch to run, for tests of plans.
 */
#ifndef CULL_TESTS_UNIT_PLAN_SUPPORT_H
#define CULL_TESTS_UNIT_PLAN_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/nn.h"
#include "support.h"
#include "tensor/tensor.h"

enum { CLASSES = 5, BATCH = 6 };
#define SMOOTHING 0.1

struct net {
    cull_backend *backend;
    cull_model   *model;
    cull_params  *params;
    double       *inputs; /* (BATCH, C, H, W) */
    void         *native; /* the same as the plan's type and layout want it */
    cull_loss     loss;
    int32_t       label[BATCH];
    uint8_t       truth[BATCH * CLASSES];
    double        number[BATCH * CLASSES]; /* or floats */
    uint32_t      place[BATCH];
    double        weight[BATCH];
    cull_batch    batch;
};

static inline double get(const void *block, cull_dtype dtype, size_t i)
{
    return dtype == CULL_F32 ? (double)((const float *)block)[i] : ((const double *)block)[i];
}

/* The same examples under another loss. */
static inline struct net *aim(struct net *n, cull_loss_kind loss)
{
    n->loss = (cull_loss){.kind = loss};
    for (size_t i = 0; i < (size_t)BATCH * CLASSES; i++) {
        n->truth[i] = i % 3 == 1;
        if (n->params->dtype == CULL_F32)
            ((float *)n->number)[i] = (float)random_normal(90, i);
        else
            n->number[i] = (double)(float)random_normal(90, i);
    }
    if (loss == CULL_LOSS_SQUARED) n->batch.target = n->number;
    if (loss == CULL_LOSS_BINARY) n->batch.target = n->truth;
    return n;
}

/* Takes the model over. */
static inline struct net *net_of(cull_model *model, const char *backend, cull_dtype dtype)
{
    struct net *n = calloc(1, sizeof *n);
    size_t      row = (size_t)cull_image_row(&model->input);

    assert_non_null(n);
    n->model = model;
    assert_ok(cull_backend_open(backend, 2, &n->backend));
    assert_ok(cull_nn_params_create(n->backend, model, dtype, &n->params));
    cull_nn_params_init(n->params, model, 7);
    n->inputs = normals_f64(11, BATCH * row);
    n->native = calloc(BATCH * row, sizeof(double));
    n->loss.smoothing = SMOOTHING;
    for (size_t i = 0; i < BATCH * row; i++) n->inputs[i] = (double)(float)n->inputs[i];
    for (int i = 0; i < BATCH; i++) {
        n->label[i] = i % CLASSES;
        n->place[i] = (uint32_t)(100 + 3 * i);
        n->weight[i] = 0.25 + 0.5 * i;
    }
    n->batch = (cull_batch){.count = BATCH,
                            .inputs = n->native,
                            .target = n->label,
                            .weight = n->weight,
                            .place = n->place,
                            .step = 3,
                            .key = cull_key_make(1, "dropout")};
    return n;
}

static inline cull_model *model_of(const char *name, int64_t channels, int64_t extent,
                                   double dropout, cull_activation activation)
{
    cull_model        *model = NULL;
    cull_model_options options = {.channels = channels,
                                  .height = extent,
                                  .width = extent,
                                  .classes = CLASSES,
                                  .dropout = dropout,
                                  .activation = activation};

    assert_ok(cull_nn_model_by_name(name, &options, &model));
    return model;
}

/* On ref in double, with GELU in place of ReLU so that derivatives are smooth. */
static inline struct net *make(const char *name, int64_t channels, int64_t extent, double dropout)
{
    return net_of(model_of(name, channels, extent, dropout, CULL_GELU), "ref", CULL_F64);
}

static inline void drop(struct net *n)
{
    free(n->inputs);
    free(n->native);
    cull_nn_params_destroy(n->params);
    cull_nn_model_destroy(n->model);
    cull_backend_close(n->backend);
    free(n);
}

/* The inputs as this plan wants them. */
static inline void lay_inputs(struct net *n, const cull_plan *plan)
{
    cull_image image = cull_nn_plan_input(plan);
    size_t     area = (size_t)(image.h * image.w), c = (size_t)image.c, block = (size_t)image.block;

    for (size_t i = 0; i < BATCH * c * area; i++) {
        size_t row = i / (c * area), channel = i / area % c, pixel = i % area;
        size_t at =
            ((row * (c / block) + channel / block) * area + pixel) * block + channel % block;

        if (n->params->dtype == CULL_F32)
            ((float *)n->native)[at] = (float)n->inputs[i];
        else
            ((double *)n->native)[at] = n->inputs[i];
    }
}

static inline cull_plan *plan_of(struct net *n, cull_plan_mode mode, size_t batch)
{
    cull_plan *plan = NULL;

    assert_ok(cull_nn_plan_create(n->model, n->params, n->backend, mode, batch, n->loss, &plan));
    lay_inputs(n, plan);
    return plan;
}

/* A copy of the gradient, in double. */
static inline double *gradient_of(const struct net *n)
{
    double *g = malloc(n->params->count * sizeof *g);

    assert_non_null(g);
    for (size_t i = 0; i < n->params->count; i++)
        g[i] = get(n->params->gradient, n->params->dtype, i);
    return g;
}

static inline void compare(const double *a, const double *b, size_t count, double tolerance,
                           const char *what)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < count; i++) {
        error += (a[i] - b[i]) * (a[i] - b[i]);
        norm += b[i] * b[i];
    }
    if (!(sqrt(error) <= tolerance * sqrt(norm)))
        fail_msg("%s: relative error %g", what, sqrt(error / norm));
}

#endif
