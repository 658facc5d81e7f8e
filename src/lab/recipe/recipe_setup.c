/* lab/recipe/recipe_setup.c - what the values of a recipe mean to a trainer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/recipe/recipe.h"

static const char *text_or_none(const cull_values *v, const char *key)
{
    const char *text = cull_value_text(v, key);

    return text[0] ? text : NULL;
}

static cull_data_layout layout_of(const cull_values *v)
{
    if (cull_value_is(v, "data.layout", "nchw")) return CULL_LAYOUT_FIRST;
    return cull_value_is(v, "data.layout", "nhwc") ? CULL_LAYOUT_LAST : CULL_LAYOUT_TOLD;
}

static cull_data_fit fit_of(const cull_values *v)
{
    if (cull_value_is(v, "data.fit", "stretch")) return CULL_FIT_STRETCH;
    return cull_value_is(v, "data.fit", "centre") ? CULL_FIT_CENTRE : CULL_FIT_COVER;
}

static void fill_data(const cull_values *v, cull_train_setup *s)
{
    s->data = cull_value_text(v, "data.name");
    s->files = (cull_data_request){.root = text_or_none(v, "data.root"),
                                   .layout = layout_of(v),
                                   .side = (size_t)cull_value_int(v, "data.size"),
                                   .fit = fit_of(v),
                                   .label = text_or_none(v, "data.label"),
                                   .text = text_or_none(v, "data.text"),
                                   .tokenizer = text_or_none(v, "data.tokenizer"),
                                   .length = (size_t)cull_value_int(v, "data.length"),
                                   .missing = cull_value_is(v, "data.missing", "mean")
                                                  ? CULL_MISSING_MEAN
                                                  : CULL_MISSING_REFUSED};
    s->test = text_or_none(v, "data.test");
    s->split = cull_value_real(v, "data.split");
    s->validation = cull_value_real(v, "data.validation");
    s->subset = cull_value_real(v, "data.subset");
    s->workers = (unsigned)cull_value_int(v, "data.workers");
    s->corruption = (cull_data_corruption){
        .imbalance = cull_value_real(v, "data.imbalance"),
        .imbalance_keep = cull_value_real(v, "data.imbalance_keep"),
        .label_noise = cull_value_real(v, "data.label_noise"),
        .noise = cull_value_is(v, "data.noise", "flip") ? CULL_DATA_FLIP : CULL_DATA_REDRAW,
        .duplicates = (size_t)cull_value_int(v, "data.duplicates"),
        .seed = s->seed};
    s->augment = (cull_data_augment){.pad = (size_t)cull_value_int(v, "augment.crop"),
                                     .reflect = cull_value_is(v, "augment.padding", "reflect"),
                                     .flip = cull_value_bool(v, "augment.flip"),
                                     .cutout = (size_t)cull_value_int(v, "augment.cutout"),
                                     .seed = s->seed};
    s->augments = s->augment.pad || s->augment.flip || s->augment.cutout;
}

static cull_optim_rule rule_of(const cull_values *v)
{
    if (cull_value_is(v, "optim.name", "sgd")) return CULL_OPTIM_SGD;
    return cull_value_is(v, "optim.name", "adam") ? CULL_OPTIM_ADAM : CULL_OPTIM_ADAMW;
}

static cull_loss_kind loss_of(const cull_values *v)
{
    if (cull_value_is(v, "model.loss", "squared-error")) return CULL_LOSS_SQUARED;
    if (cull_value_is(v, "model.loss", "binary-cross-entropy")) return CULL_LOSS_BINARY;
    return CULL_LOSS_CROSS_ENTROPY;
}

/* What is said of classes has no meaning where targets are none. */
static cull_status check_loss(const cull_train_setup *s)
{
    cull_status status = CULL_OK;

    if (s->loss.kind == CULL_LOSS_CROSS_ENTROPY) return CULL_OK;
    if (s->loss.smoothing > 0)
        FAIL_OPTION("model.smoothing", "smooths the labels of model.loss=cross-entropy alone");
    if (s->corruption.imbalance > 0)
        FAIL_OPTION("data.imbalance", "cuts classes, which only model.loss=cross-entropy has");
    if (s->corruption.label_noise > 0)
        FAIL_OPTION("data.label_noise", "makes wrong classes, which only model.loss=cross-entropy "
                                        "has");
done:
    return status;
}

static void fill_model(const cull_values *v, cull_train_setup *s)
{
    s->model = cull_value_text(v, "model.name");
    s->model_path = text_or_none(v, "model.path");
    if (!s->init) s->init = s->model_path;
    s->model_options.dropout = cull_value_real(v, "model.dropout");
    s->model_options.imagenet_stem = cull_value_is(v, "model.stem", "imagenet");
    s->model_options.norm_epsilon = cull_value_real(v, "model.norm_epsilon");
    s->model_options.norm_momentum = cull_value_real(v, "model.norm_momentum");
    s->model_options.mlp_width = cull_value_int(v, "model.width");
    s->model_options.mlp_depth = cull_value_int(v, "model.depth");
    s->model_options.activation = CULL_RELU;
    s->loss = (cull_loss){loss_of(v), cull_value_real(v, "model.smoothing")};
    s->files.target = cull_train_target(s->loss.kind);
    s->optim = (cull_optim_options){.rule = rule_of(v),
                                    .momentum = cull_value_real(v, "optim.momentum"),
                                    .nesterov = cull_value_bool(v, "optim.nesterov"),
                                    .weight_decay = cull_value_real(v, "optim.weight_decay"),
                                    .beta1 = cull_value_real(v, "optim.beta1"),
                                    .beta2 = cull_value_real(v, "optim.beta2"),
                                    .epsilon = cull_value_real(v, "optim.epsilon"),
                                    .clip = cull_value_real(v, "optim.clip")};
    s->decay_all = cull_value_is(v, "optim.decay", "all");
}

static cull_schedule_shape shape_of(const cull_values *v)
{
    if (cull_value_is(v, "schedule.name", "constant")) return CULL_SCHEDULE_CONSTANT;
    if (cull_value_is(v, "schedule.name", "multi-step")) return CULL_SCHEDULE_MULTI_STEP;
    if (cull_value_is(v, "schedule.name", "cosine")) return CULL_SCHEDULE_COSINE;
    if (cull_value_is(v, "schedule.name", "linear")) return CULL_SCHEDULE_LINEAR;
    return CULL_SCHEDULE_ONE_CYCLE;
}

static cull_status fill_schedule(const cull_values *v, cull_train_setup *s)
{
    cull_status    status = CULL_OK;
    cull_schedule *c = &s->schedule;
    double         stretch = cull_value_real(v, "schedule.stretch");

    *c = (cull_schedule){.shape = shape_of(v),
                         .rate = stretch * cull_value_real(v, "optim.lr"),
                         .low = stretch * cull_value_real(v, "schedule.low"),
                         .gamma = cull_value_real(v, "schedule.gamma"),
                         .peak = cull_value_real(v, "schedule.peak"),
                         .divide = cull_value_real(v, "schedule.divide"),
                         .final_divide = cull_value_real(v, "schedule.final_divide"),
                         .warmup_start = cull_value_real(v, "schedule.warmup_start")};
    s->warmup = cull_value_real(v, "schedule.warmup") / stretch;
    s->epochs = (uint64_t)fmax(1, round((double)s->epochs / stretch));
    s->count_trained = cull_value_is(v, "schedule.count", "trained");
    c->milestones =
        cull_values_list(v, "schedule.milestones", c->milestone, CULL_SCHEDULE_MILESTONES);
    if (c->milestones > CULL_SCHEDULE_MILESTONES)
        FAIL_OPTION("schedule.milestones", "%zu of them, %d are possible", c->milestones,
                    CULL_SCHEDULE_MILESTONES);
    for (size_t i = 0; i < c->milestones; i++) c->milestone[i] /= stretch;
    for (size_t i = 1; i < c->milestones; i++)
        if (!(c->milestone[i] > c->milestone[i - 1]))
            FAIL_OPTION("schedule.milestones", "%g does not come after %g", c->milestone[i],
                        c->milestone[i - 1]);
    if (c->shape == CULL_SCHEDULE_MULTI_STEP && c->milestones == 0)
        FAIL_OPTION("schedule.milestones", "multi-step needs at least one");
    if ((c->shape == CULL_SCHEDULE_COSINE || c->shape == CULL_SCHEDULE_LINEAR) && c->low > c->rate)
        FAIL_OPTION("schedule.low", "%g is above optim.lr, %g", c->low, c->rate);
    if (s->warmup >= (double)s->epochs)
        FAIL_OPTION("schedule.warmup", "%g epochs in a run of %llu", s->warmup,
                    (unsigned long long)s->epochs);
done:
    return status;
}

/* With reuse the scoring pass is the training pass, so nothing may set it apart. */
static cull_status check_reuse(const cull_train_setup *s)
{
    cull_status status = CULL_OK;

    if (s->score.running)
        FAIL_OPTION("score.norm", "score.pass=reuse trains by the batch's statistics");
    if (s->score.int8 || s->score.bf16)
        FAIL_OPTION("score.precision", "score.pass=reuse trains what it scores, in full");
    if (s->score.scale < 1)
        FAIL_OPTION("score.scale", "score.pass=reuse trains what it scores, at full size");
    if (s->score.clean)
        FAIL_OPTION("score.augment", "score.pass=reuse trains what it scores, augmented");
    if (s->score.pipelined)
        FAIL_OPTION("score.pipelined", "score.pass=reuse scores by the newest weights");
    if (s->score.proxy) FAIL_OPTION("score.proxy", "score.pass=reuse trains the model that scores");
done:
    return status;
}

static cull_status fill_score(const cull_values *v, cull_train_setup *s)
{
    cull_status status = CULL_OK;

    s->score = (cull_score_setup){
        .reuse = cull_value_is(v, "score.pass", "reuse"),
        .constants = cull_value_is(v, "reuse.batchnorm", "constants"),
        .running = cull_value_is(v, "score.norm", "running"),
        .int8 = cull_value_is(v, "score.precision", "int8"),
        .bf16 = cull_value_is(v, "score.precision", "bf16"),
        .clean = !cull_value_bool(v, "score.augment"),
        .scale = cull_value_real(v, "score.scale"),
        .pipelined = cull_value_bool(v, "score.pipelined"),
        .proxy = text_or_none(v, "score.proxy"),
        .irreducible = text_or_none(v, "score.irreducible"),
    };
    if (s->score.reuse) TRY(check_reuse(s));
    if (s->score.constants && !s->score.reuse)
        FAIL_OPTION("reuse.batchnorm", "goes with score.pass=reuse only");
    if (s->score.pipelined && s->score.proxy)
        FAIL_OPTION("score.pipelined", "a proxy is trained every step, so it cannot lag");
    if (s->score.pipelined && s->score.scale < 1)
        FAIL_OPTION("score.pipelined", "scores images as they are, score.scale=1");
    if (s->score.scale < 1 && (s->score.bf16 || s->arithmetic.values))
        FAIL_OPTION("score.scale", "smaller images are made in float32 alone");
    if (s->score.scale < 1 && s->score.proxy)
        FAIL_OPTION("score.scale", "a proxy reads images as they are");
    s->moments = cull_values_list(v, "train.evaluate_at", s->moment, CULL_TRAIN_MOMENTS);
    if (s->moments > CULL_TRAIN_MOMENTS)
        FAIL_OPTION("train.evaluate_at", "%zu of them, %d are possible", s->moments,
                    CULL_TRAIN_MOMENTS);
    if (s->moments && !(s->moment[0] > 0))
        FAIL_OPTION("train.evaluate_at", "%g comes before the first step; moments lie above 0",
                    s->moment[0]);
    for (size_t i = 1; i < s->moments; i++)
        if (!(s->moment[i] > s->moment[i - 1]))
            FAIL_OPTION("train.evaluate_at", "%g does not come after %g", s->moment[i],
                        s->moment[i - 1]);
done:
    return status;
}

static bool has_norms(const cull_layer_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->layer[i].kind && cull_nn_list_option(list->layer[i].kind, "epsilon")) return true;
    return false;
}

static cull_status check_layers(const cull_train_setup *s)
{
    static const char         itself[] = "model.layers is a network of its own, and says it there";
    const cull_model_options *o = &s->model_options;
    cull_status               status = CULL_OK;

    if (o->dropout > 0) FAIL_OPTION("model.dropout", "%s", itself);
    if (o->imagenet_stem) FAIL_OPTION("model.stem", "%s", itself);
    if (o->mlp_width != CULL_MLP_WIDTH) FAIL_OPTION("model.width", "%s", itself);
    if (o->mlp_depth != CULL_MLP_DEPTH) FAIL_OPTION("model.depth", "%s", itself);
    if (o->norm_epsilon != CULL_NORM_EPSILON && !has_norms(s->layers))
        FAIL_OPTION("model.norm_epsilon", "model.layers has no norms");
    if (o->norm_momentum != CULL_NORM_MOMENTUM && !has_norms(s->layers))
        FAIL_OPTION("model.norm_momentum", "model.layers has no norms");
done:
    return status;
}

/* Settings that the model has not would otherwise pass in silence. */
static cull_status check_settings(const cull_train_setup *s)
{
    const cull_model_options *o = &s->model_options;
    cull_status               status = CULL_OK;
    char                      key[CULL_RECIPE_KEY];

    if (s->layers) return check_layers(s);
    if (!cull_train_is_own(s->model)) {
        status = cull_nn_model_check_options(s->model, o);
        (void)snprintf(key, sizeof key, "model.%.40s", cull_last_subject());
        return status ? cull_fail_about(status, key, "model.%s", cull_last_error()) : CULL_OK;
    }
    if (o->dropout > 0 || o->imagenet_stem || o->norm_epsilon != CULL_NORM_EPSILON ||
        o->norm_momentum != CULL_NORM_MOMENTUM || o->mlp_width != CULL_MLP_WIDTH ||
        o->mlp_depth != CULL_MLP_DEPTH)
        FAIL_ABOUT(CULL_BAD_OPTION, "model.name",
                   "model.name: a program's own model has the width, depth, dropout, stem and "
                   "norms it was built with");
done:
    return status;
}

/* A name nobody knows is told by building it for any images at all. */
static cull_status check_model(const cull_train_setup *s, const char *name, const char *key)
{
    cull_model_options options = s->model_options;
    cull_model        *model = NULL;
    cull_status        status = CULL_OK;

    if (name == s->model && (s->layers || s->model_path || cull_train_is_own(name)))
        return CULL_OK; /* a trainer asks for it */
    cull_nn_model_fit_options(name, &options);
    options.channels = 3;
    options.height = options.width = 32;
    options.classes = 10;
    status = cull_nn_model_by_name(name, &options, &model);
    cull_nn_model_destroy(model);
    if (status == CULL_BAD_OPTION || status == CULL_UNKNOWN_MODEL)
        return cull_fail_about(status, status == CULL_BAD_OPTION ? key : name, "%s: %s", key,
                               cull_last_error());
    return status == CULL_NO_MEMORY ? status : CULL_OK;
}

/* A pretrained network is a folder of its own. */
static cull_status check_path(const cull_train_setup *s)
{
    cull_status status = CULL_OK;
    bool        wanted = !s->layers && strcmp(s->model, "bert") == 0;

    if (s->model_path && !wanted) FAIL_OPTION("model.path", "goes with model.name=bert alone");
    if (wanted && !s->model_path)
        FAIL_OPTION("model.path", "model.name=bert has its sizes and weights in a folder: name it");
done:
    return status;
}

static cull_arithmetic arithmetic_of(const cull_values *v)
{
    return (cull_arithmetic){.values =
                                 cull_value_is(v, "train.precision", "bfloat16") ? CULL_BF16 : 0,
                             .tf32 = cull_value_is(v, "train.precision", "tf32"),
                             .repeatable = cull_value_bool(v, "train.deterministic")};
}

cull_status cull_recipe_fill(const cull_values *v, const cull_layer_list *layers,
                             cull_train_setup *out)
{
    cull_status      status = CULL_OK;
    cull_train_setup s = {.layers = layers};

    s.seed = (uint64_t)cull_value_int(v, "train.seed");
    s.init = text_or_none(v, "train.init");
    s.epochs = (uint64_t)cull_value_int(v, "train.epochs");
    s.batch = (size_t)cull_value_int(v, "train.batch");
    s.evaluate_batch = (size_t)cull_value_int(v, "train.evaluate_batch");
    s.drop_short = cull_value_bool(v, "train.drop_short");
    s.strategy = cull_value_text(v, "select.strategy");
    s.backend = cull_value_text(v, "train.backend");
    s.arithmetic = arithmetic_of(v);
    s.threads = (unsigned)cull_value_int(v, "train.threads");
    s.log_every = (uint64_t)cull_value_int(v, "train.log");
    s.evaluate_every = (uint64_t)cull_value_int(v, "train.evaluate");
    s.checkpoint_every = (uint64_t)cull_value_int(v, "train.checkpoint");
    s.checkpoint_steps = (uint64_t)cull_value_int(v, "train.checkpoint_steps");
    s.keeps = !cull_value_is(v, "train.keep", "none");
    s.keeps_best = cull_value_is(v, "train.keep", "all");
    s.target = cull_value_real(v, "train.target");
    s.most_seconds = cull_value_real(v, "train.seconds");
    s.most_cost = cull_value_real(v, "train.cost");
    s.shorten = cull_value_real(v, "train.shorten");
    fill_data(v, &s);
    if (s.split > 0 && s.test)
        FAIL_OPTION("data.split", "data.test=%.200s is the test set already", s.test);
    fill_model(v, &s);
    TRY(fill_schedule(v, &s));
    if (s.optim.rule == CULL_OPTIM_SGD && s.optim.nesterov && s.optim.momentum == 0)
        FAIL_OPTION("optim.nesterov", "needs optim.momentum above 0");
    TRY(check_path(&s));
    TRY(check_model(&s, s.model, "model.name"));
    TRY(check_settings(&s));
    TRY(check_loss(&s));
    TRY(fill_score(v, &s));
    if (s.score.proxy) TRY(check_model(&s, s.score.proxy, "score.proxy"));
    *out = s;
done:
    return status;
}
