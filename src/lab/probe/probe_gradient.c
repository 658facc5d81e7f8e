/*
 * lab/probe/probe_gradient.c - the gradients of a probe, each one pass of the engine.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/probe/probe.h"
#include "tensor/tensor.h"
#include "train/train.h"

static size_t running_bytes(const cull_params *params)
{
    return params->running_count * cull_dtype_size(params->dtype);
}

static cull_status make_room(cull_prober *p)
{
    const cull_probe_ground *g = &p->ground;
    cull_status              status = CULL_OK;
    size_t                   batch = g->batch, count = g->params->count;
    size_t                   size = cull_dtype_size(g->params->dtype);

    p->tray = (cull_tray){.backend = g->backend,
                          .row = cull_data_row(g->set) * size,
                          .loss = g->loss.kind,
                          .outputs = g->model->classes,
                          .dtype = g->params->dtype};
    p->seen = (cull_sel_load){.home = g->backend, .work = cull_backend_host(g->backend)};
    TRY(cull_tray_room(&p->tray, batch));
    TRY(cull_base_alloc(batch, sizeof *p->weight, "a probe", &p->weight));
    TRY(cull_base_alloc(batch, sizeof *p->rows, "a probe", &p->rows));
    TRY(cull_base_alloc(count, sizeof *p->full, "a probe's gradients", &p->full));
    TRY(cull_base_alloc(count, sizeof *p->whole, "a probe's gradients", &p->whole));
    TRY(cull_base_alloc(count, sizeof *p->part, "a probe's gradients", &p->part));
    TRY(cull_backend_allocate(g->backend, running_bytes(g->params), 1, "a probe", &p->running));
    if (!cull_backend_on_host(g->backend))
        TRY(cull_base_alloc(count, size, "a probe's gradients", &p->gradient));
    for (size_t i = 0; i < batch; i++) p->rows[i] = (uint32_t)i;
done:
    return status;
}

cull_status cull_prober_init(cull_prober *p, const cull_probe_ground *ground)
{
    cull_status status = CULL_OK;

    *p = (cull_prober){.ground = *ground};
    p->plans =
        (cull_plans){.model = ground->model, .params = ground->params, .backend = ground->backend};
    if (ground->batch < 1 || ground->batch > ground->set->count)
        FAIL(CULL_BAD_OPTION, "train.batch=%zu, the training set has %zu examples", ground->batch,
             ground->set->count);
    TRY(cull_data_order_init(&p->order, ground->set->count, ground->batch, true, ground->seed));
    cull_data_order_epoch(&p->order, 0, NULL, ground->set->count);
    TRY(make_room(p));
    cull_prober_go(p, 0);
done:
    return status;
}

void cull_prober_clear(cull_prober *p)
{
    cull_plans_clear(&p->plans);
    cull_data_order_clear(&p->order);
    cull_tray_clear(&p->tray);
    cull_sel_load_clear(&p->seen);
    cull_backend_release(p->ground.backend, p->running);
    cull_base_free(p->gradient);
    cull_base_free(p->weight);
    cull_base_free(p->rows);
    cull_base_free(p->full);
    cull_base_free(p->whole);
    cull_base_free(p->part);
    cull_base_free(p->wide[0]);
    cull_base_free(p->wide[1]);
    *p = (cull_prober){0};
}

size_t cull_prober_batches(const cull_prober *p)
{
    return cull_data_order_batches(&p->order);
}

void cull_prober_go(cull_prober *p, size_t number)
{
    size_t   batches = cull_data_order_batches(&p->order), count = 0;
    uint64_t epoch = number / batches;

    if (epoch != p->epoch) {
        cull_data_order_epoch(&p->order, epoch, NULL, p->ground.set->count);
        p->epoch = epoch;
    }
    p->number = number;
    p->places = cull_data_order_batch(&p->order, number % batches, &count);
}

/* The plan for so many rows of the current batch, and those rows as it reads them. */
static cull_status bring(cull_prober *p, cull_plan_mode mode, const uint32_t *rows, size_t count,
                         const double *weight, cull_plan **plan, cull_batch *out)
{
    const cull_probe_ground *g = &p->ground;
    const cull_rows         *here = &p->tray.here;
    cull_status              status = CULL_OK;
    cull_data_form           form = {0};

    TRY(cull_plans_get(&p->plans, mode, count, 0, g->loss, plan));
    TRY(cull_plan_form(*plan, &form));
    for (size_t i = 0; i < count; i++) {
        here->place[i] = p->places[rows[i]];
        cull_tray_aim_at(&p->tray, i, g->set, here->place[i]);
        if (weight) here->weight[i] = weight[i];
    }
    TRY(cull_data_transform(g->set, g->augment, form, p->epoch, here->place, count, here->inputs));
    *out = (cull_batch){
        .step = p->number, .epoch = p->epoch, .key = cull_key_make(g->seed, "dropout")};
    TRY(cull_tray_send(&p->tray, count, out));
    if (!weight) out->weight = NULL;
done:
    return status;
}

/* A matrix of signals in float64, in room that is made once. */
static cull_status widen(cull_tensor *x, double **room)
{
    cull_status status = CULL_OK;
    size_t      rows = (size_t)x->shape[0], columns = (size_t)x->shape[1];

    if (!*room) TRY(cull_base_alloc(rows, columns * sizeof **room, "a probe's signals", room));
    for (size_t i = 0; i < rows; i++) {
        cull_tensor row = cull_vector(cull_tensor_row(x, i), x->dtype, columns);
        for (size_t j = 0; j < columns; j++) (*room)[i * columns + j] = cull_tensor_get(&row, j);
    }
    *x = cull_matrix(*room, CULL_F64, rows, columns);
done:
    return status;
}

cull_status cull_prober_score(cull_prober *p, bool exact, cull_signals *signals)
{
    cull_status status = CULL_OK;
    cull_needs  all = {.signals =
                           CULL_SIGNAL_LOSS | CULL_SIGNAL_H | CULL_SIGNAL_P | CULL_SIGNAL_LABEL};
    cull_plan  *plan = NULL;
    cull_batch  batch = {0};

    TRY(bring(p, CULL_PLAN_SCORE, p->rows, p->ground.batch, NULL, &plan, &batch));
    TRY(cull_nn_score(plan, &batch, CULL_STATS_BATCH, all.signals, signals));
    TRY(cull_sel_carry(&p->seen, &all, signals));
    if (exact) {
        TRY(widen(&signals->h, &p->wide[0]));
        TRY(widen(&signals->p, &p->wide[1]));
    }
done:
    return status;
}

/* sum += weight p_i (x) [h_i; 1], or (x) h_i where the layer has no biases. */
static void add_outer(const cull_signals *signals, size_t i, double weight, bool bias, double *sum)
{
    size_t      width = (size_t)signals->h.shape[1], classes = (size_t)signals->p.shape[1];
    cull_tensor h = cull_vector(cull_tensor_row(&signals->h, i), signals->h.dtype, width);
    cull_tensor p = cull_vector(cull_tensor_row(&signals->p, i), signals->p.dtype, classes);

    for (size_t c = 0; c < classes; c++) {
        double factor = weight * cull_tensor_get(&p, c);

        for (size_t l = 0; l < width; l++) *sum++ += factor * cull_tensor_get(&h, l);
        if (bias) *sum++ += factor;
    }
}

double cull_prober_last(cull_prober *p, const cull_signals *signals, const cull_subset *subset)
{
    const cull_model *model = p->ground.model;
    bool              bias = model->node[model->last_dense].params > 1;
    size_t size = (size_t)signals->p.shape[1] * ((size_t)signals->h.shape[1] + (bias ? 1 : 0));

    memset(p->whole, 0, size * sizeof *p->whole);
    memset(p->part, 0, size * sizeof *p->part);
    for (size_t i = 0; i < signals->count; i++)
        add_outer(signals, i, 1 / (double)signals->count, bias, p->whole);
    for (size_t i = 0; i < subset->count; i++)
        add_outer(signals, subset->index[i], subset->weight[i] / (double)subset->count, bias,
                  p->part);
    return cull_probe_relative(p->part, p->whole, size);
}

/* *gradient on the host, until the next; running averages as before. */
static cull_status learn(cull_prober *p, const uint32_t *rows, size_t count, const double *weight,
                         cull_tensor *gradient)
{
    const cull_params *params = p->ground.params;
    cull_backend      *backend = p->ground.backend;
    cull_status        status = CULL_OK, back = CULL_OK;
    cull_plan         *plan = NULL;
    cull_batch         batch = {0};
    cull_signals       trained = {0};
    const void        *numbers = params->gradient;

    TRY(bring(p, CULL_PLAN_LEARN, rows, count, weight, &plan, &batch));
    TRY(cull_backend_copy(backend, p->running, params->running, running_bytes(params)));
    status = cull_nn_learn(plan, &batch, &trained);
    back = cull_backend_copy(backend, params->running, p->running, running_bytes(params));
    TRY(status);
    TRY(back);
    if (p->gradient) {
        TRY(cull_backend_download(backend, p->gradient, numbers,
                                  params->count * cull_dtype_size(params->dtype)));
        numbers = p->gradient;
    }
    *gradient = cull_vector(numbers, params->dtype, params->count);
done:
    return status;
}

cull_status cull_prober_whole(cull_prober *p)
{
    cull_status status = CULL_OK;
    cull_tensor gradient = {0};

    TRY(learn(p, p->rows, p->ground.batch, NULL, &gradient));
    cull_tensor_to_double(&gradient, p->ground.params->count, p->whole);
done:
    return status;
}

cull_status cull_prober_add(cull_prober *p)
{
    cull_status status = CULL_OK;
    cull_tensor gradient = {0};

    TRY(learn(p, p->rows, p->ground.batch, NULL, &gradient));
    for (size_t i = 0; i < p->ground.params->count; i++)
        p->full[i] += cull_tensor_get(&gradient, i);
done:
    return status;
}

void cull_prober_divide(cull_prober *p, size_t batches)
{
    for (size_t i = 0; i < p->ground.params->count; i++) p->full[i] /= (double)batches;
}

cull_status cull_prober_part(cull_prober *p, const cull_subset *subset, int way)
{
    cull_status status = CULL_OK;
    size_t      batch = p->ground.batch;
    cull_tensor gradient = {0};

    if (subset->count == 0 || subset->count > batch)
        FAIL(CULL_BAD_ARGUMENT, "a gradient of %zu examples of a batch of %zu", subset->count,
             batch);
    for (size_t i = 0; i < subset->count; i++)
        if (subset->index[i] >= batch)
            FAIL(CULL_BAD_ARGUMENT, "row %u of %zu is not there", subset->index[i], batch);
    if (way == CULL_PROBE_TRAINED) {
        TRY(learn(p, subset->index, subset->count, subset->weight, &gradient));
    } else {
        double scale = (double)batch / (double)subset->count;

        memset(p->weight, 0, batch * sizeof *p->weight);
        for (size_t i = 0; i < subset->count; i++)
            p->weight[subset->index[i]] += scale * subset->weight[i];
        TRY(learn(p, p->rows, batch, p->weight, &gradient));
    }
    cull_tensor_to_double(&gradient, p->ground.params->count, p->part);
done:
    return status;
}
