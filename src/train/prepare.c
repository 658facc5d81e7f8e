/* train/prepare.c - everything a run needs, opened and checked before its first step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/inspect.h"
#include "data/split.h"
#include "data/strata.h"
#include "data/text_rows.h"
#include "train/folder/bert_folder.h"
#include "train/folder/weights.h"
#include "train/machine.h"
#include "train/train.h"

static bool corrupts(const cull_data_corruption *c)
{
    return c->imbalance > 0 || c->label_noise > 0 || c->duplicates > 1;
}

/* What a recipe calls its program's own must have been brought. */
static cull_status check_own(const cull_train_setup *s)
{
    cull_status status = CULL_OK;
    bool        train = s->own_data[CULL_DATA_TRAIN].x.data != NULL;

    if (!s->own_model && cull_train_is_own(s->model))
        FAIL_ABOUT(CULL_BAD_OPTION, "model.name",
                   "model.name=%s: only the program that made this model can bring it", s->model);
    if (!train && cull_train_is_own_data(s->data))
        FAIL_ABOUT(CULL_BAD_OPTION, "data.name",
                   "data.name=%s: only the program that has these arrays can bring them", s->data);
    if (!s->own_data[CULL_DATA_TEST].x.data && s->test && cull_train_is_own_data(s->test))
        FAIL_ABOUT(CULL_BAD_OPTION, "data.test",
                   "data.test=%s: only the program that has these arrays can bring them", s->test);
    if (s->own_model && s->score.scale < 1)
        FAIL_OPTION("score.scale", "a model of a program's own is known at one size only");
    if (train && !s->test && !(s->split > 0))
        FAIL_OPTION("data.test", "arrays to train on bring no test set; give one too, or let "
                                 "data.split=0.1 set examples aside");
done:
    return status;
}

/* What is tried on a part of the data has a validation set in proportion. */
static cull_status take_subset(cull_dataset *set, const char *which, const cull_train_setup *s)
{
    cull_status   status = CULL_OK;
    cull_dataset *left_out = NULL;

    if (set->count < 2 || cull_data_share(1 - s->subset, set->count) == set->count)
        FAIL_OPTION("data.subset", "%g leaves none of the %zu %s examples", s->subset, set->count,
                    which);
    TRY(cull_data_split(set, 1 - s->subset, s->seed, &left_out));
done:
    cull_data_close(left_out);
    return status;
}

/* Texts are no longer than the network that reads them was made for. */
static cull_status fit_length(const cull_train_setup *s, cull_data_request *r)
{
    cull_status status = CULL_OK;
    cull_bert   bert = {0};

    if (!r->tokenizer || !s->model_path) goto done;
    TRY(cull_bert_read(s->model_path, &bert));
    if (r->length > (size_t)bert.positions)
        FAIL_OPTION("data.length", "%zu tokens of a text; %s has %lld positions", r->length,
                    s->model_path, (long long)bert.positions);
    if (r->length == 0 && bert.positions < CULL_TEXT_LENGTH) r->length = (size_t)bert.positions;
done:
    return status;
}

/* like: what was trained on, where the files are named as a test set of their own; else NULL. */
static cull_status open_set(const cull_train_setup *s, const char *name, cull_data_role role,
                            const cull_dataset *like, cull_dataset **out)
{
    cull_data_request request = s->files;
    cull_status       status = CULL_OK;

    request.name = name;
    request.role = role;
    TRY(fit_length(s, &request));
    status = like ? cull_data_open_test(&request, like, out) : cull_data_open(&request, out);
    if (status == CULL_IO) /* no file of the run's own */
        status = cull_fail_about(status, name == s->test ? "data.test" : "data.name", "%s",
                                 cull_last_error());
done:
    return status;
}

static cull_status take_own(const cull_train_setup *s, const char *name, cull_data_role role,
                            cull_dataset **out)
{
    cull_data_request how = s->files;

    how.name = name;
    return cull_data_take(&how, &s->own_data[role].x, &s->own_data[role].y, out);
}

/* Are an example's targets what the loss is of, and is there something to be learned? Real ones are
 * then as they are learned. */
static cull_status fit_targets(const cull_train_setup *s, cull_dataset *set, const char *which,
                               const cull_target_scale *scale)
{
    cull_status      status = CULL_OK;
    cull_target_kind kind = cull_train_target(s->loss.kind);

    if (set->target.kind != kind)
        FAIL_OPTION("model.loss", "it is of %s, and the target of an example of %s is %s",
                    cull_data_target_name(kind), set->name,
                    cull_data_target_name(set->target.kind));
    TRY(cull_train_check_judged(s->loss.kind, set, which));
    cull_target_scale_apply(scale, set);
done:
    return status;
}

/* Was it that there is no test set? One that cannot be read is there. */
static bool lacks_test(cull_status status)
{
    return status == CULL_NOT_FOUND ||
           (status == CULL_BAD_FILE && strcmp(cull_last_subject(), "data.test") == 0);
}

/* Who measures with a test set of his own where there is a common one is comparable with nobody. */
static cull_status check_split(const cull_train_setup *s)
{
    cull_status   status = CULL_OK;
    cull_dataset *theirs = NULL;

    if (s->own_data[CULL_DATA_TRAIN].x.data) goto done;
    status = open_set(s, s->data, CULL_DATA_TEST, NULL, &theirs);
    if (status == CULL_OK)
        FAIL_OPTION("data.split", "%s brings a test set, of %zu examples; leave the split out",
                    theirs->name, theirs->count);
    if (lacks_test(status)) status = CULL_OK;
done:
    cull_data_close(theirs);
    return status;
}

static cull_status split_test(const cull_train_setup *s, cull_train_sets *t)
{
    cull_status status = CULL_OK;

    TRY(check_split(s));
    TRY(cull_data_split_test(t->train, s->split, &t->test));
    TRY(cull_data_check_overlap(t->test, t->train));
done:
    return status;
}

static cull_status open_test(const cull_train_setup *s, cull_train_sets *t)
{
    cull_status status = CULL_OK;
    bool        own = s->own_data[CULL_DATA_TEST].x.data != NULL;

    if (own)
        TRY(take_own(s, s->test, CULL_DATA_TEST, &t->test));
    else if (s->test)
        TRY(open_set(s, s->test, cull_data_is_known(s->test) ? CULL_DATA_TEST : CULL_DATA_TRAIN,
                     t->train, &t->test));
    else
        TRY(open_set(s, s->data, CULL_DATA_TEST, NULL, &t->test));
    cull_data_print(t->test, t->print[CULL_DATA_TEST]);
    TRY(cull_data_check_pair(t->test, t->train, own));
done:
    return status;
}

static cull_status gather_warnings(const cull_texts *remarks, cull_texts *out)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < remarks->count; i++)
        if (cull_texts_find(out, remarks->text[i]) == out->count)
            TRY(cull_texts_add(out, remarks->text[i], strlen(remarks->text[i])));
done:
    return status;
}

cull_status cull_train_open_data(const cull_train_setup *s, cull_train_sets *sets)
{
    cull_status status = CULL_OK;

    if (s->own_data[CULL_DATA_TRAIN].x.data)
        TRY(take_own(s, s->data, CULL_DATA_TRAIN, &sets->train));
    else
        TRY(open_set(s, s->data, CULL_DATA_TRAIN, NULL, &sets->train));
    cull_data_print(sets->train, sets->print[CULL_DATA_TRAIN]);
    TRY(s->split > 0 ? split_test(s, sets) : open_test(s, sets));
    TRY(gather_warnings(&sets->train->remarks, &sets->warnings));
    TRY(cull_target_scale_measure(sets->train, &sets->scale));
    if (s->validation > 0)
        TRY(cull_data_split(sets->train, s->validation, s->seed, &sets->validation));
    if (s->subset > 0 && s->subset < 1) {
        TRY(take_subset(sets->train, "training", s));
        if (sets->validation) TRY(take_subset(sets->validation, "validation", s));
    }
    TRY(cull_data_adopt(sets->test, sets->train));
    TRY(gather_warnings(&sets->test->remarks, &sets->warnings));
    if (corrupts(&s->corruption))
        TRY(cull_data_corrupt(&sets->train, &s->corruption, &sets->corruption));
    TRY(fit_targets(s, sets->train, "training", &sets->scale));
    if (sets->validation) TRY(fit_targets(s, sets->validation, "validation", &sets->scale));
    TRY(fit_targets(s, sets->test, "test", &sets->scale));
done:
    return status;
}

/* A model of the program's own must read these examples and put out what is learned of them. */
static cull_status take_model(const cull_model *own, const char *data, const cull_card *card,
                              cull_model **out)
{
    cull_status status = CULL_OK;
    bool        classes = card->target == CULL_TARGET_CLASS;

    if ((size_t)own->input.c != card->channels || (size_t)own->input.h != card->height ||
        (size_t)own->input.w != card->width)
        FAIL(CULL_BAD_ARGUMENT, "%s takes inputs of %lldx%lldx%lld, %s has %zux%zux%zu", own->name,
             (long long)own->input.c, (long long)own->input.h, (long long)own->input.w, data,
             card->channels, card->height, card->width);
    if (classes && own->classes < card->outputs)
        FAIL(CULL_BAD_ARGUMENT, "%s tells %zu classes apart, %s has %zu", own->name, own->classes,
             data, card->outputs);
    if (!classes && own->classes != card->outputs)
        FAIL(CULL_BAD_ARGUMENT, "%s has %zu outputs, targets of %s have %zu numbers", own->name,
             own->classes, data, card->outputs);
    TRY(cull_nn_model_copy(own, out));
done:
    return status;
}

static cull_status name_model(const cull_train_setup *setup, const cull_card *card,
                              cull_model **out)
{
    cull_status        status = CULL_OK;
    cull_model_options options = setup->model_options;
    cull_bert          bert = {0};
    char               why[256];

    options.channels = (int64_t)card->channels;
    options.height = (int64_t)card->height;
    options.width = (int64_t)card->width;
    options.classes = card->outputs;
    options.tokens = (int64_t)card->vocabulary;
    if (setup->layers) return cull_nn_model_by_list(setup->layers, &options, out);
    if (setup->model_path) TRY(cull_bert_read(setup->model_path, &bert));
    if (setup->model_path) options.bert = &bert;
    status = cull_nn_model_by_name(setup->model, &options, out);
    if (status == CULL_BAD_ARGUMENT) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(status, "model.name=%s does not fit inputs of %lldx%lldx%lld: %s", setup->model,
             (long long)options.channels, (long long)options.height, (long long)options.width, why);
    }
done:
    return status;
}

/* Texts go with a model that embeds as many tokens as there are, and with no other. */
static cull_status check_tokens(const cull_model *model, const char *data, const cull_card *card)
{
    cull_status status = CULL_OK;
    bool        reads = model->node[0].dtype == CULL_I32;

    if (reads && !card->vocabulary)
        FAIL_OPTION("model.name", "%s reads texts, and %s holds none", model->name, data);
    if (!reads && card->vocabulary)
        FAIL_OPTION("model.name", "%s reads numbers, and %s holds texts", model->name, data);
    for (int n = 1; n < model->nodes; n++) {
        const cull_layer_desc *d = &model->node[n].desc;

        if (d->kind == CULL_LAYER_EMBED && (size_t)d->rows < card->vocabulary)
            FAIL_OPTION("data.tokenizer", "its texts have %zu pieces, and %s knows %lld",
                        card->vocabulary, model->name, (long long)d->rows);
    }
done:
    return status;
}

cull_status cull_train_model(const cull_train_setup *setup, const char *data, const cull_card *card,
                             cull_model **out)
{
    cull_status status = CULL_OK;
    cull_model *model = NULL;

    TRY(setup->own_model ? take_model(setup->own_model, data, card, &model)
                         : name_model(setup, card, &model));
    TRY(check_tokens(model, data, card));
    *out = model;
    model = NULL;
done:
    cull_nn_model_destroy(model);
    return status;
}

/* Borrowed: the set outlives it. */
static cull_card card_of(const cull_dataset *set, const cull_target_scale *scale)
{
    bool classes = set->target.kind == CULL_TARGET_CLASS;

    return (cull_card){.channels = set->channels,
                       .height = set->height,
                       .width = set->width,
                       .dtype = set->dtype,
                       .vocabulary = set->vocabulary,
                       .target = set->target.kind,
                       .outputs = classes ? set->classes : set->target.width,
                       .target_mean = scale->mean,
                       .target_deviation = scale->deviation,
                       .mean = set->mean,
                       .deviation = set->deviation,
                       .class_names = set->class_names,
                       .feature_names = set->feature_names,
                       .label_names = set->label_names};
}

static cull_status make_model(const cull_train_setup *setup, cull_trainer *t)
{
    cull_status status = CULL_OK;
    cull_model *model = NULL;
    cull_card   card = card_of(t->sets.train, &t->sets.scale);

    TRY(cull_train_model(setup, t->sets.train->name, &card, &model));
    status = cull_machine_fit(setup, model, &t->backend, t->why);
    if (status != CULL_OK) cull_nn_model_destroy(model);
    TRY(status);
    TRY(cull_learner_open(setup, model, t->backend, &t->learner));
    t->learner.card = card;
done:
    return status;
}

/* Every set where the backend reads it. */
static cull_status place_data(const cull_train_setup *setup, const cull_learner *learner,
                              cull_train_sets *sets)
{
    cull_status              status = CULL_OK;
    const cull_data_augment *augment = setup->augments ? &setup->augment : NULL;
    cull_backend            *b = learner->backend;

    TRY(cull_model_form(learner->model, learner->params, &sets->form));
    TRY(cull_resident_open(sets->train, augment, sets->form, b, &sets->train_at));
    if (sets->validation)
        TRY(cull_resident_open(sets->validation, NULL, sets->form, b, &sets->validation_at));
    TRY(cull_resident_open(sets->test, NULL, sets->form, b, &sets->test_at));
done:
    return status;
}

void cull_train_close_data(cull_train_sets *sets)
{
    cull_resident_close(&sets->train_at);
    cull_resident_close(&sets->validation_at);
    cull_resident_close(&sets->test_at);
    cull_data_record_clear(&sets->corruption);
    cull_target_scale_clear(&sets->scale);
    cull_texts_clear(&sets->warnings);
    cull_data_close(sets->train);
    cull_data_close(sets->validation);
    cull_data_close(sets->test);
}

cull_status cull_trainer_begin(cull_trainer *t)
{
    if (!t->setup->init || t->progress.init_hash) return CULL_OK;
    if (t->setup->init == t->setup->model_path)
        return cull_bert_begin(t->setup->init, t->learner.model, t->learner.params,
                               &t->progress.init_hash);
    return cull_weights_begin(t->setup->init, t->learner.model, t->learner.params,
                              &t->progress.init_hash);
}

/* A shortened run decays as far as a whole one: what is counted in epochs shrinks with it. Counted
 * in trained examples, a shape covers as many as are expected. */
static cull_status make_schedule(const cull_train_setup *setup, const cull_expectation *expected,
                                 size_t pool, cull_schedule *c)
{
    cull_status status = CULL_OK;
    double      steps = (double)c->steps_per_epoch, shorten = setup->shorten;
    double      total = expected->length * steps;
    const char *why_few = "";

    if (expected->epochs < setup->epochs)
        why_few = ": the strategy or train.shorten makes them fewer";
    if (setup->count_trained) why_few = ": schedule.count=trained counts fewer";
    if (setup->count_trained && expected->fixed)
        total =
            expected->trained * steps / (double)pool * expected->length / (double)expected->epochs;
    c->steps = (uint64_t)fmax(1, round(total));
    c->warmup = (uint64_t)llround(setup->warmup * shorten * steps);
    if (c->warmup >= c->steps)
        FAIL_OPTION("schedule.warmup", "%g epochs are %llu steps, but all are %llu%s",
                    setup->warmup * shorten, (unsigned long long)c->warmup,
                    (unsigned long long)c->steps, why_few);
    for (size_t i = 0; i < c->milestones; i++) c->milestone[i] *= shorten;
    TRY(cull_schedule_check(c));
done:
    return status;
}

uint64_t cull_train_epochs(const cull_train_setup *s)
{
    return (uint64_t)ceil(s->shorten * (double)s->epochs * (1 - 1e-12));
}

double cull_train_length(const cull_train_setup *s, const cull_selector *selector)
{
    double epochs = (double)cull_selector_epochs(selector);

    return s->shorten < 1 ? fmin(s->shorten * (double)s->epochs, epochs) : epochs;
}

static cull_status make_selector(const cull_train_setup *setup, size_t pool, cull_backend *backend,
                                 cull_expectation *expected, cull_selector **out)
{
    cull_status  status = CULL_OK;
    cull_setting setting = {.pool = pool,
                            .batch = setup->batch,
                            .epochs = cull_train_epochs(setup),
                            .seed = setup->seed,
                            .backend = backend};

    TRY(cull_selector_create(setup->strategy, setup->select, setup->selects, &setting, out));
    expected->epochs = cull_selector_epochs(*out);
    expected->length = cull_train_length(setup, *out);
done:
    return status;
}

/* Where targets are no classes, nobody can go by them. */
static cull_status check_classes(const cull_train_setup *s, const cull_selector *selector)
{
    cull_status status = CULL_OK;
    cull_needs  reads = {0};
    const char *key = "select.strategy";

    if (s->loss.kind == CULL_LOSS_CROSS_ENTROPY) return CULL_OK;
    TRY(cull_selector_reads(selector, &reads));
    if (!((reads.signals | reads.target | reads.observe) & CULL_SIGNAL_LABEL)) goto done;
    for (size_t i = 0; i < s->selects; i++)
        if (strcmp(s->select[i].key, "scope") == 0) key = "select.scope";
    FAIL_ABOUT(CULL_BAD_OPTION, key,
               "%s: %s goes by the class of each example, and with this model.loss a target is "
               "%s%s",
               key, cull_selector_name(selector),
               cull_data_target_name(cull_train_target(s->loss.kind)),
               strcmp(key, "select.scope") == 0 ? "; choose another scope, as batch" : "");
done:
    return status;
}

/* A reading that will never be made would be waited for in vain. */
static cull_status check_moments(const cull_train_setup *s, double length)
{
    double last = s->moments ? s->moment[s->moments - 1] : 0;

    if (last <= length) return CULL_OK;
    return cull_fail_about(
        CULL_BAD_OPTION, "train.evaluate_at",
        "train.evaluate_at: %g lies behind the run's end, after %g "
        "epoch%s%s",
        last, length, length == 1 ? "" : "s",
        length < (double)s->epochs ? ": the strategy or train.shorten makes them fewer" : "");
}

/* The plan that evaluates, so that what a run takes of a device is there before its first step. */
static cull_status make_evaluation(cull_trainer *t)
{
    size_t     most = cull_train_evaluate_batch(t->setup, t->backend), count = t->sets.test->count;
    cull_plan *plan = NULL;

    return cull_learner_plan(&t->learner, CULL_PLAN_SCORE, most < count ? most : count, 0, &plan);
}

static cull_status make_learning(cull_trainer *t)
{
    const cull_train_setup *s = t->setup;
    cull_status             status = CULL_OK;
    size_t                  pool = t->sets.train->count;
    cull_schedule          *schedule = &t->learner.schedule;
    cull_resident          *validation = t->sets.validation ? &t->sets.validation_at : NULL;

    if (s->batch > pool)
        FAIL_ABOUT(CULL_BAD_OPTION, "train.batch",
                   "train.batch=%zu, the training set has %zu examples", s->batch, pool);
    TRY(cull_feed_open(s, &t->sets.train_at, t->sets.form, &t->feed));
    TRY(cull_tally_create(t->backend, pool, &t->books.tally));
    TRY(make_selector(s, pool, t->backend, &t->expected, &t->selector));
    TRY(check_classes(s, t->selector));
    TRY(check_moments(s, t->expected.length));
    t->books.of = s->loss.kind;
    t->books.variance = cull_train_variance(s->loss.kind, t->sets.train);
    TRY(cull_learner_begin(&t->learner));
    t->books.optim = t->learner.optim;
    schedule->steps_per_epoch = cull_data_order_batches(&t->feed.order);
    TRY(cull_scorer_open(s, &t->learner, &t->sets.train_at, validation, t->sets.form, &t->scorer));
    TRY(cull_train_expect(s, t->selector, &t->learner, &t->scorer, schedule->steps_per_epoch,
                          &t->expected));
    TRY(cull_rows_make(t->backend, t->expected.learns, cull_resident_row(&t->sets.train_at),
                       cull_resident_target(&t->sets.train_at), &t->feed.rows));
    if (t->expected.candidates > s->batch) cull_feed_cut(&t->feed, t->expected.candidates);
    t->recorder.lengths = t->sets.train_at.bucket != NULL;
    t->feed.letter = &t->learner.letter;
    TRY(cull_train_make_letter(t, t->expected.meets));
    if (!cull_backend_on_host(t->backend)) { /* decisions wait for nothing: the step tells */
        cull_sel_trouble(t->selector, t->learner.trouble);
        cull_sel_moment(t->selector, t->learner.now);
    }
    cull_sel_subset_aim(&t->chosen, t->backend);
    TRY(cull_subset_resize(&t->chosen, t->expected.candidates));
    if (!cull_backend_on_host(t->backend)) TRY(make_evaluation(t));
    TRY(make_schedule(s, &t->expected, pool, schedule));
done:
    return status;
}

cull_status cull_trainer_create(const cull_train_setup *setup, bool learns, cull_trainer **out)
{
    cull_status   status = CULL_OK;
    cull_trainer *t = NULL;

    TRY(cull_base_alloc(1, sizeof *t, "a trainer", &t));
    t->setup = setup;
    t->progress.best = t->progress.accuracy = t->progress.watched = NAN;
    t->progress.test = t->progress.test_loss = NAN;
    TRY(check_own(setup));
    TRY(cull_machine_open(setup, &t->backend, t->why));
    if (learns || !t->why[0]) TRY(cull_machine_check(setup, t->backend, t->why));
    TRY(cull_train_open_data(setup, &t->sets));
    TRY(make_model(setup, t));
    t->recorder.backend = t->backend;
    cull_books_open(t->backend, setup->score.proxy != NULL, &t->books);
    TRY(cull_train_check_room(t));
    TRY(place_data(setup, &t->learner, &t->sets));
    if (learns) TRY(make_learning(t));
    *out = t;
    t = NULL;
done:
    if (t) status = cull_train_blame_room(t, status);
    cull_trainer_destroy(t);
    return status;
}

void cull_trainer_destroy(cull_trainer *t)
{
    if (!t) return;
    cull_recorder_clear(&t->recorder);
    cull_feed_close(&t->feed);
    cull_subset_clear(&t->chosen);
    cull_subset_clear(&t->pool);
    cull_books_close(&t->books);
    cull_scorer_close(&t->scorer);
    cull_selector_destroy(t->selector);
    cull_learner_close(&t->learner);
    cull_train_close_data(&t->sets);
    cull_backend_close(t->backend);
    cull_base_free(t);
}
