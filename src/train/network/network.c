/* train/network/network.c - a network for loops outside of the library: score, learn, step. */
#include "train/network/network.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "tensor/tensor.h"
#include "train/folder/weights.h"
#include "train/rule.h"

static const unsigned everything =
    CULL_SIGNAL_LOSS | CULL_SIGNAL_LABEL | CULL_SIGNAL_P | CULL_SIGNAL_H;

cull_status cull_network_optim(const cull_network *n, cull_optim **out)
{
    return cull_train_rule(&n->optim_options, n->decay_all, n->model, n->params, out);
}

/* Is there arithmetic of this type at all? A plan would find out, but only with the first batch. */
static cull_status check_dtype(cull_backend *backend, cull_dtype dtype)
{
    cull_image      one = {.n = 1, .c = 2, .h = 1, .w = 1, .block = 1};
    cull_layer_desc loss = {.kind = CULL_LAYER_LOSS, .dtype = dtype, .x = one, .y = one};
    cull_layer_op  *op = NULL;
    cull_status     status = cull_layer_create(backend, &loss, &op);

    cull_layer_destroy(op);
    return status;
}

/* The parameters by name; averages are none. */
static cull_status list_tensors(cull_network *n)
{
    cull_status status = CULL_OK;
    size_t      all = 0;
    const char *from = n->params->value;

    TRY(cull_weights_list(n->model, n->params, &n->tensor, &all));
    for (size_t i = 0; i < all; i++) {
        const char *data = n->tensor[i].tensor.data;
        bool        learns =
            data >= from && data < from + n->params->count * cull_dtype_size(n->params->dtype);

        if (learns) n->tensor[n->tensors++] = n->tensor[i];
    }
done:
    return status;
}

static cull_status make_params(cull_network *n, const cull_network_setup *setup)
{
    cull_status     status = CULL_OK;
    cull_arithmetic arithmetic = setup->arithmetic;

    TRY(cull_nn_params_create(n->backend, n->model, setup->dtype, &n->params));
    /* what a recipe's run computed in, as far as this backend goes */
    if (!cull_layer_mixes(n->backend)) arithmetic = (cull_arithmetic){0};
    TRY(cull_nn_params_compute(n->params, arithmetic));
    TRY(cull_nn_params_init(n->params, n->model, setup->seed));
    TRY(cull_kit_allocate(&n->kit, n->params->running_count, cull_dtype_size(setup->dtype),
                          "a network", &n->running));
    TRY(cull_kit_allocate(&n->kit, 1, sizeof *n->seen, "a network", &n->seen));
    TRY(cull_kit_allocate(&n->kit, 1, sizeof *n->trouble, "a network", &n->trouble));
    TRY(list_tensors(n));
done:
    return status;
}

static cull_status take_card(cull_network *n, const cull_card *card, size_t channels)
{
    cull_status status = CULL_OK;

    if (card) {
        TRY(cull_card_copy(card, &n->card));
        goto done;
    }
    TRY(cull_base_alloc(channels, sizeof *n->card.mean, "a network", &n->card.mean));
    TRY(cull_base_alloc(channels, sizeof *n->card.deviation, "a network", &n->card.deviation));
    for (size_t c = 0; c < channels; c++) n->card.deviation[c] = 1;
done:
    return status;
}

cull_status cull_network_make(const cull_model *model, cull_backend *backend,
                              const cull_network_setup *setup, cull_network **out)
{
    cull_status   status = CULL_OK;
    cull_network *n = NULL;

    if (!model || !model->classes) FAIL(CULL_BAD_ARGUMENT, "the model is not finished");
    TRY(cull_base_alloc(1, sizeof *n, "a network", &n));
    if (!backend) TRY(cull_backend_open(setup->backend, setup->threads, &n->owned));
    n->backend = n->kit.backend = backend ? backend : n->owned;
    TRY(check_dtype(n->backend, setup->dtype));
    n->optim_options = setup->optim;
    n->decay_all = setup->decay_all;
    n->loss = setup->loss;
    n->key = cull_key_make(setup->seed, "dropout");
    TRY(take_card(n, setup->card, (size_t)model->input.c));
    TRY(cull_base_alloc((size_t)cull_image_row(&model->input), sizeof *n->row, "a network",
                        &n->row));
    TRY(cull_nn_model_copy(model, &n->model));
    TRY(make_params(n, setup));
    n->tray = (cull_tray){.backend = n->backend,
                          .row = (size_t)cull_image_row(&model->input) *
                                 cull_dtype_size(cull_nn_plan_values(n->params, CULL_PLAN_LEARN)),
                          .loss = setup->loss.kind,
                          .outputs = model->classes,
                          .dtype = setup->dtype};
    if (!cull_backend_on_host(n->backend))
        n->placed = (cull_subset){.device = cull_backend_device(n->backend), .backend = n->backend};
    n->plans =
        (cull_plans){.model = n->model, .params = n->params, .backend = n->backend, .many = true};
    TRY(cull_network_optim(n, &n->optim));
    *out = n;
    n = NULL;
done:
    cull_network_destroy(n);
    return status;
}

void cull_network_destroy(cull_network *n)
{
    if (!n) return;
    cull_plans_clear(&n->plans);
    cull_optim_destroy(n->optim);
    cull_nn_params_destroy(n->params);
    cull_nn_model_destroy(n->model);
    cull_card_clear(&n->card);
    cull_tray_clear(&n->tray);
    cull_base_free(n->logits);
    cull_subset_clear(&n->chosen);
    cull_subset_clear(&n->placed);
    cull_base_free(n->row);
    cull_kit_clear(&n->kit);
    cull_base_free(n->tensor);
    cull_backend_close(n->owned);
    cull_base_free(n);
}

cull_status cull_network_plan(cull_network *n, cull_plan_mode mode, size_t batch, cull_plan **out)
{
    return cull_plans_get(&n->plans, mode, batch, 0, n->loss, out);
}

static cull_status check_examples(const cull_network *n, const cull_examples *examples)
{
    cull_status status = CULL_OK;

    TRY(cull_network_check(n, &examples->inputs));
    TRY(cull_network_check_targets(n, examples));
done:
    return status;
}

/* Plans come and go; the network itself counts for what it lends. */
static void lend(cull_network *n, cull_signals *signals)
{
    signals->passes = &n->passes;
    signals->lent = n->passes;
}

/* Rows of the examples (all without a subset) as one batch. */
static cull_status take_batch(cull_network *n, const cull_plan *plan, const cull_examples *e,
                              const cull_subset *subset, cull_batch *out)
{
    cull_status      status = CULL_OK;
    const cull_rows *rows = &n->tray.here;
    cull_data_form   form = {0};
    size_t           count = subset ? subset->count : (size_t)e->inputs.shape[0];

    TRY(cull_plan_form(plan, &form));
    TRY(cull_tray_room(&n->tray, count));
    for (size_t i = 0; i < count; i++) {
        size_t from = subset ? subset->index[i] : i;

        TRY(cull_network_take(n, &e->inputs, form, from, i));
        TRY(cull_network_take_target(n, e, from, i));
        rows->weight[i] = subset ? subset->weight[i] : 1;
        rows->place[i] = e->place ? e->place[from] : (uint32_t)from;
    }
    *out = (cull_batch){.step = e->step, .epoch = e->epoch, .key = n->key};
    TRY(cull_tray_send(&n->tray, count, out));
done:
    return status;
}

static cull_plan_mode mode_of(const cull_scoring *scoring)
{
    if (scoring->keep) return CULL_PLAN_SCORE_AND_KEEP;
    return scoring->int8 ? CULL_PLAN_SCORE_INT8 : CULL_PLAN_SCORE;
}

static cull_status check_scoring(const cull_network *n, const cull_scoring *scoring,
                                 unsigned wanted)
{
    cull_status status = CULL_OK;

    if (wanted & ~everything)
        FAIL(CULL_BAD_ARGUMENT, "a forward pass sees losses, H, P and labels, nothing else");
    if (scoring->keep && (scoring->running || scoring->int8))
        FAIL(CULL_BAD_ARGUMENT, "a kept pass is a training pass: by the batch, and in full");
    if (scoring->int8 && n->params->dtype != CULL_F32)
        FAIL(CULL_UNSUPPORTED, "networks in float64 have no int8");
done:
    return status;
}

cull_status cull_network_score_as(cull_network *n, const cull_examples *examples, unsigned wanted,
                                  const cull_scoring *scoring, cull_signals *out)
{
    cull_status     status = CULL_OK;
    cull_statistics statistics = CULL_STATS_BATCH;
    cull_plan      *plan = NULL;
    cull_batch      batch = {0};
    size_t          count = 0;
    cull_examples   examples_room;
    cull_scoring    scoring_room;
    cull_signals    room, *given = out;

    SIZED(cull_examples, examples, examples_room);
    SIZED(cull_scoring, scoring, scoring_room);
    SIZED_RESULT(cull_signals, out, room);
    TRY(check_examples(n, examples));
    count = (size_t)examples->inputs.shape[0];
    *out = (cull_signals){
        .count = count, .place = examples->place, .step = examples->step, .epoch = examples->epoch};
    TRY(check_scoring(n, scoring, wanted));
    if (!wanted && !scoring->keep) goto done;
    if (scoring->running) statistics = CULL_STATS_RUNNING;
    if (scoring->keep) statistics = CULL_STATS_UPDATE;
    cull_network_pass(n);
    TRY(cull_network_plan(n, mode_of(scoring), count, &plan));
    TRY(take_batch(n, plan, examples, NULL, &batch));
    TRY(cull_nn_score(plan, &batch, statistics, wanted, out));
    lend(n, out);
    if (scoring->keep) n->kept = count;
done:
    cull_sized_give(given, out, sizeof *out);
    return status;
}

cull_status cull_network_score(cull_network *n, const cull_examples *examples, unsigned wanted,
                               bool running, cull_signals *out)
{
    return cull_network_score_as(n, examples, wanted, &(cull_scoring){.running = running}, out);
}

/* The first of the losses that is not finite, if one is. */
static cull_status find_trouble(cull_network *n, const cull_signals *seen, cull_trouble *out)
{
    cull_status  status = CULL_OK;
    cull_op_args losses = {.summary = {.rows = seen->count,
                                       .loss = seen->loss.data,
                                       .place = seen->place,
                                       .out = n->seen,
                                       .trouble = n->trouble}};

    TRY(cull_kit_run(&n->kit, CULL_OP_SUMMARY, 0, &losses));
    TRY(cull_backend_download(n->backend, out, n->trouble, sizeof *out));
    if (out->what) TRY(cull_backend_fill(n->backend, n->trouble, 0, sizeof *out));
done:
    return status;
}

/* The gradient is there, and what was seen on the way is finite. */
static cull_status accept(cull_network *n, cull_signals *seen, cull_signals *trained)
{
    cull_status  status = CULL_OK;
    cull_trouble trouble = {0};
    cull_signals room;

    if (trained && trained->size) TRY(cull_sized_read("cull_signals", trained, sizeof room, &room));
    TRY(find_trouble(n, seen, &trouble));
    if (trouble.what)
        FAIL(CULL_NOT_FINITE, "the loss of place %u is no longer finite", (unsigned)trouble.place);
    n->learned = true;
    lend(n, seen);
    if (trained) cull_sized_give(trained, seen, sizeof *seen);
done:
    return status;
}

cull_status cull_network_learn(cull_network *n, const cull_examples *examples,
                               const cull_subset *subset, cull_signals *trained)
{
    cull_status   status = CULL_OK;
    cull_plan    *plan = NULL;
    cull_batch    batch = {0};
    cull_subset   here = {0};
    cull_signals  seen = {0};
    size_t        count = 0;
    cull_examples examples_room;
    cull_subset   subset_room;

    n->learned = false;
    cull_network_pass(n);
    SIZED(cull_examples, examples, examples_room);
    SIZED(cull_subset, subset, subset_room);
    TRY(check_examples(n, examples));
    count = (size_t)examples->inputs.shape[0];
    if (subset) TRY(cull_network_read_subset(n, subset, count, &here));
    TRY(cull_network_plan(n, CULL_PLAN_LEARN, subset ? subset->count : count, &plan));
    TRY(take_batch(n, plan, examples, subset ? &here : NULL, &batch));
    TRY(cull_nn_learn(plan, &batch, &seen));
    TRY(accept(n, &seen, trained));
done:
    return status;
}

cull_status cull_network_look(cull_network *n, const cull_examples *examples,
                              const cull_subset *subset, cull_signals *trained)
{
    size_t      bytes = n->params->running_count * cull_dtype_size(n->params->dtype);
    cull_status status = CULL_OK, back = CULL_OK;

    TRY(cull_backend_copy(n->backend, n->running, n->params->running, bytes));
    status = cull_network_learn(n, examples, subset, trained);
    back = cull_backend_copy(n->backend, n->params->running, n->running, bytes);
done:
    return status == CULL_OK ? back : status;
}

cull_status cull_network_learn_kept(cull_network *n, const cull_subset *subset,
                                    cull_signals *trained)
{
    cull_status  status = CULL_OK;
    cull_plan   *plan = NULL, *kept = NULL;
    cull_subset  there = {0}, room;
    cull_signals seen = {0};

    n->learned = false;
    SIZED(cull_subset, subset, room);
    if (!n->kept)
        FAIL(CULL_BAD_ARGUMENT,
             "no pass is kept: score with .keep, and learn before anything else is done");
    n->passes++;
    TRY(cull_network_place_subset(n, subset, n->kept, &there));
    /* asked for each time, so that it is never the one that was not used for longest */
    TRY(cull_network_plan(n, CULL_PLAN_SCORE_AND_KEEP, n->kept, &kept));
    TRY(cull_network_plan(n, CULL_PLAN_LEARN_FROM_KEPT, there.count, &plan));
    TRY(cull_nn_learn_kept(plan, kept, &there, &seen));
    TRY(accept(n, &seen, trained));
done:
    return status;
}

cull_status cull_network_step(cull_network *n, double rate)
{
    cull_status status = CULL_OK;

    if (!n->learned) FAIL(CULL_BAD_ARGUMENT, "there is no gradient to step with: learn first");
    if (!(rate >= 0 && isfinite(rate))) FAIL(CULL_BAD_ARGUMENT, "a rate of %g", rate);
    TRY(cull_optim_step(n->optim, rate, n->params->value, n->params->gradient));
    n->learned = false;
    n->kept = 0;
done:
    return status;
}
