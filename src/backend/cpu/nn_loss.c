/*
 * backend/cpu/nn_loss.c - losses of each example, and their gradients p, in double; dx = scale
 * weight p.
 *
 *     cross-entropy   target_k = (1 - s) [k = label] + s/C        s: label smoothing
 *                     loss     = log sum exp x - sum target x     p = softmax(x) - target
 *     squared         loss     = 1/W sum (x - t)^2                p = 2 (x - t) / W
 *     binary          loss     = 1/W sum log(1 + exp x) - t x     p = (sigmoid(x) - t) / W
 */
#include <math.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

struct loss {
    cull_layer_op base;
    double       *power; /* cross-entropy: [n * classes] exp(x - top) */
};

struct job {
    const struct loss     *loss;
    const cull_layer_args *args;
    size_t                 parts;
};

static void destroy(cull_layer_op *op)
{
    cull_base_free(((struct loss *)op)->power);
    cull_base_free(op);
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status  status = CULL_OK;
    struct loss *loss = NULL;
    size_t       classes = (size_t)cull_image_row(&desc->x);

    (void)backend;
    TRY(cull_cpu_layer_new(desc, sizeof *loss, &loss));
    if (desc->loss.kind == CULL_LOSS_CROSS_ENTROPY)
        TRY(cull_base_alloc((size_t)desc->x.n, classes * sizeof(double), "a loss", &loss->power));
    *out = &loss->base;
    loss = NULL;
done:
    if (loss) destroy(&loss->base);
    return status;
}

static void put(const cull_layer_args *args, size_t at, double weight, double gradient)
{
    if (args->p) ((float *)args->p)[at] = (float)gradient;
    if (args->dx) ((float *)args->dx)[at] = (float)(weight * gradient);
}

static double cross_entropy(const struct loss *loss, const cull_layer_args *args, size_t n,
                            double weight)
{
    const cull_layer_desc *d = &loss->base.desc;
    size_t                 classes = (size_t)cull_image_row(&d->x), at = n * classes;
    size_t                 label = (size_t)((const int32_t *)args->target)[n];
    const float           *x = (const float *)args->x + at;
    double                *power = loss->power + at, top = (double)x[0], sum = 0, expected = 0;
    double                 smoothing = d->loss.smoothing;

    for (size_t k = 1; k < classes; k++) top = (double)x[k] > top ? (double)x[k] : top;
    for (size_t k = 0; k < classes; k++) sum += power[k] = exp((double)x[k] - top);
    for (size_t k = 0; k < classes; k++) {
        double target = smoothing / (double)classes + (k == label ? 1 - smoothing : 0);

        expected += target * ((double)x[k] - top);
        put(args, at + k, weight, power[k] / sum - target);
    }
    return log(sum) - expected;
}

static double squared(const cull_layer_args *args, size_t n, size_t outputs, double weight)
{
    const float *x = args->x, *t = args->target;
    double       sum = 0;

    for (size_t i = n * outputs; i < (n + 1) * outputs; i++) {
        double off = (double)x[i] - (double)t[i];

        sum += off * off;
        put(args, i, weight, 2 * off / (double)outputs);
    }
    return sum / (double)outputs;
}

/* Nothing overflows, and neither tail is lost: 1 - sigmoid(x) is taken as sigmoid(-x). */
static double binary(const cull_layer_args *args, size_t n, size_t outputs, double weight)
{
    const float   *x = args->x;
    const uint8_t *t = args->target;
    double         sum = 0;

    for (size_t i = n * outputs; i < (n + 1) * outputs; i++) {
        double away = t[i] ? -(double)x[i] : (double)x[i]; /* from the truth */
        double small = exp(-fabs(away));

        sum += (away > 0 ? away : 0) + log1p(small);
        away = (away > 0 ? 1 : small) / (1 + small);
        put(args, i, weight, (t[i] ? -away : away) / (double)outputs);
    }
    return sum / (double)outputs;
}

static void row(const struct loss *loss, const cull_layer_args *args, size_t n)
{
    size_t outputs = (size_t)cull_image_row(&loss->base.desc.x);
    double weight = args->scale * (args->weight ? args->weight[n] : 1);

    switch (loss->base.desc.loss.kind) {
    case CULL_LOSS_CROSS_ENTROPY: args->loss[n] = cross_entropy(loss, args, n, weight); break;
    case CULL_LOSS_SQUARED: args->loss[n] = squared(args, n, outputs, weight); break;
    case CULL_LOSS_BINARY: args->loss[n] = binary(args, n, outputs, weight); break;
    }
}

static void loss_part(void *context, size_t task, unsigned worker)
{
    const struct job *job = context;
    size_t            first = 0, last = 0;

    (void)worker;
    cull_cpu_part((size_t)job->loss->base.desc.x.n, job->parts, task, &first, &last);
    for (size_t n = first; n < last; n++) row(job->loss, job->args, n);
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    cull_status status = CULL_OK;
    struct job  job = {(const struct loss *)op, args, 1};

    TRY(cull_layer_check_targets(&op->desc, args));
    job.parts =
        cull_cpu_parts(op->backend, (size_t)op->desc.x.n, (size_t)cull_image_row(&op->desc.x));
    cull_team_run(op->backend->team, job.parts, loss_part, &job);
done:
    return status;
}

const cull_layer_class cull_cpu_loss = {create, forward, NULL, destroy};
