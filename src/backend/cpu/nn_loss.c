/*
 * backend/cpu/nn_loss.c - softmax cross-entropy, in double.
 *
 *     target_k = (1 - s) [k = label] + s/C        s: label smoothing
 *     loss     = log sum exp x - sum target x      per example, unweighted
 *     p        = softmax(x) - target               dx = scale weight p
 */
#include <math.h>

#include "backend/cpu/nn.h"
#include "base/alloc.h"

struct loss {
    cull_layer_op base;
    double       *power; /* [n * classes] exp(x - top) */
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
    TRY(cull_base_alloc((size_t)desc->x.n, classes * sizeof(double), "a loss", &loss->power));
    *out = &loss->base;
    loss = NULL;
done:
    if (loss) destroy(&loss->base);
    return status;
}

static void row(const struct loss *loss, const cull_layer_args *args, size_t n)
{
    const cull_layer_desc *d = &loss->base.desc;
    size_t                 classes = (size_t)cull_image_row(&d->x), at = n * classes;
    const float           *x = (const float *)args->x + at;
    double                *power = loss->power + at, top = (double)x[0], sum = 0, expected = 0;
    double                 weight = args->scale * (args->weight ? args->weight[n] : 1);

    for (size_t k = 1; k < classes; k++) top = (double)x[k] > top ? (double)x[k] : top;
    for (size_t k = 0; k < classes; k++) sum += power[k] = exp((double)x[k] - top);
    for (size_t k = 0; k < classes; k++) {
        double target =
            d->smoothing / (double)classes + (k == (size_t)args->label[n] ? 1 - d->smoothing : 0);
        double gradient = power[k] / sum - target;

        expected += target * ((double)x[k] - top);
        if (args->p) ((float *)args->p)[at + k] = (float)gradient;
        if (args->dx) ((float *)args->dx)[at + k] = (float)(weight * gradient);
    }
    args->loss[n] = log(sum) - expected;
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

    TRY(cull_layer_check_labels(&op->desc, args));
    job.parts =
        cull_cpu_parts(op->backend, (size_t)op->desc.x.n, (size_t)cull_image_row(&op->desc.x));
    cull_team_run(op->backend->team, job.parts, loss_part, &job);
done:
    return status;
}

const cull_layer_class cull_cpu_loss = {create, forward, NULL, destroy};
