/* lab/recipe/own.c - models and data of a program's own in recipes, and networks outside of runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "lab/recipe/recipe.h"
#include "train/folder/weights.h"
#include "train/network/network.h"

/* Give keys other values, as if the recipe had been opened with them. */
static cull_status change(cull_recipe *recipe, const cull_option *changes, size_t count)
{
    cull_status status = CULL_OK;
    cull_recipe old = *recipe, *new = NULL;

    TRY(cull_recipe_parse("recipe", recipe->text, strlen(recipe->text), changes, count, &new));
    *recipe = *new;
    *new = old;
    recipe->model = old.model;
    recipe->setup.own_model = old.setup.own_model;
    memcpy(recipe->setup.own_data, old.setup.own_data, sizeof old.setup.own_data);
    new->model = NULL;
done:
    cull_recipe_close(new);
    return status;
}

cull_status cull_recipe_set_model(cull_recipe *recipe, const cull_model *model)
{
    cull_status status = CULL_OK;
    cull_model *copy = NULL;
    char        name[64];
    cull_option changes[] = {{"model.name", name}, {"model.layers", "none"}};

    if (!model || !model->classes) FAIL(CULL_BAD_ARGUMENT, "the model is not finished");
    TRY(cull_nn_model_copy(model, &copy));
    (void)snprintf(name, sizeof name, CULL_TRAIN_OWN "%s", model->name);
    TRY(change(recipe, changes, 2));
    cull_nn_model_destroy(recipe->model);
    recipe->model = copy;
    recipe->setup.own_model = copy;
    copy = NULL;
done:
    cull_nn_model_destroy(copy);
    return status;
}

static uint64_t hash_of(const cull_tensor *t)
{
    uint64_t part[CULL_MAX_DIMS + 2] = {(uint64_t)t->dtype};
    size_t   bytes = cull_dtype_size(t->dtype);

    for (int d = 0; d < t->dims; d++) {
        part[d + 2] = (uint64_t)t->shape[d];
        bytes *= (size_t)t->shape[d];
    }
    part[1] = cull_base_hash(t->data, bytes);
    return cull_base_hash(part, sizeof part);
}

cull_status cull_recipe_set_data(cull_recipe *recipe, cull_data_role role, const cull_tensor *x,
                                 const cull_tensor *y)
{
    cull_status       status = CULL_OK;
    bool              test = role == CULL_DATA_TEST;
    cull_data_request how = recipe->setup.files;
    cull_dataset     *set = NULL;
    char              name[64];
    uint64_t          hash[2] = {0};

    if (role != CULL_DATA_TRAIN && !test)
        FAIL(CULL_BAD_ARGUMENT, "no data is of role %d", (int)role);
    /* The copy is thrown away: what is wrong is to be told here, not when a run begins. */
    how.name = test ? "own test set" : "own training set";
    TRY(cull_data_take(&how, x, y, &set));
    hash[0] = hash_of(x);
    hash[1] = hash_of(y);
    (void)snprintf(name, sizeof name, CULL_TRAIN_OWN "%016" PRIx64,
                   cull_base_hash(hash, sizeof hash));
    TRY(change(recipe, &(cull_option){test ? "data.test" : "data.name", name}, 1));
    recipe->setup.own_data[role] = (cull_own_data){*x, *y};
done:
    cull_data_close(set);
    return status;
}

/* Two texts that differ, told by the first line in which they do. */
static cull_status tell_lines(const char *path, const char *old, const char *own)
{
    while (*old && *own) {
        size_t a = strcspn(old, "\n"), b = strcspn(own, "\n");

        if (a != b || memcmp(old, own, a) != 0) break;
        old += a + (old[a] == '\n');
        own += b + (own[b] == '\n');
    }
    return cull_fail_about(CULL_DIFFERS, "model.name",
                           "%s: the run's model has '%.*s', the one given '%.*s'", path,
                           *old ? (int)strcspn(old, "\n") : 7, *old ? old : "nothing",
                           *own ? (int)strcspn(own, "\n") : 7, *own ? own : "nothing");
}

cull_status cull_recipe_match_model(const cull_recipe *recipe, const char *path)
{
    cull_status status = CULL_OK;
    cull_writer own = {0}, old = {0};
    void       *data = NULL;
    size_t      bytes = 0;

    if (!recipe->model) goto done;
    TRY(cull_nn_model_text(recipe->model, &own));
    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_write(&old, data, bytes));
    TRY(cull_write(&old, "", 1));
    if (strcmp((const char *)old.data, (const char *)own.data) != 0)
        TRY(tell_lines(path, (const char *)old.data, (const char *)own.data));
done:
    cull_writer_clear(&own);
    cull_writer_clear(&old);
    cull_bytes_release(data);
    return status;
}

cull_status cull_recipe_note_model(const cull_recipe *recipe, const char *path)
{
    cull_status status = CULL_OK;
    cull_writer own = {0};

    if (!recipe->model) goto done;
    TRY(cull_nn_model_text(recipe->model, &own));
    TRY(cull_file_write(path, own.data, own.size - 1));
done:
    cull_writer_clear(&own);
    return status;
}

/* Networks outside of runs are the processor's, unless a device is asked for. */
static cull_network_setup setup_of(const cull_train_setup *s)
{
    return (cull_network_setup){.dtype = CULL_F32,
                                .arithmetic = s->arithmetic,
                                .optim = s->optim,
                                .decay_all = s->decay_all,
                                .loss = s->loss,
                                .seed = s->seed,
                                .backend = strcmp(s->backend, "auto") ? s->backend
                                                                      : CULL_MACHINE_PROCESSOR,
                                .threads = s->threads};
}

static bool is_recipes(const char *key)
{
    return strcmp(key, "train.seed") == 0 || strcmp(key, "train.precision") == 0 ||
           strcmp(key, "train.deterministic") == 0 || strcmp(key, "model.smoothing") == 0 ||
           strcmp(key, "model.loss") == 0 ||
           (strncmp(key, "optim.", 6) == 0 && strcmp(key, "optim.lr") != 0);
}

/* Those that are a recipe's to rest, the dtype to *dtype. */
static cull_status sort_options(const cull_option *options, size_t count, cull_option *rest,
                                size_t *rests, cull_dtype *dtype)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < count; i++) {
        const char *key = options[i].key, *value = options[i].value;

        if (key && value && is_recipes(key)) {
            rest[(*rests)++] = options[i];
        } else if (key && value && strcmp(key, "dtype") == 0) {
            if (strcmp(value, "float32") != 0 && strcmp(value, "float64") != 0)
                FAIL(CULL_BAD_OPTION, "dtype=%s: float32 or float64 are possible", value);
            *dtype = strcmp(value, "float64") == 0 ? CULL_F64 : CULL_F32;
        } else {
            FAIL(CULL_BAD_OPTION, "a network takes no option '%s'", key ? key : "");
        }
    }
done:
    return status;
}

cull_status cull_network_create(const cull_model *model, cull_backend *backend,
                                const cull_option *options, size_t count, cull_network **out)
{
    cull_status        status = CULL_OK;
    cull_recipe       *recipe = NULL;
    cull_network_setup setup = {0};
    cull_option       *rest = NULL;
    size_t             rests = 0;
    cull_dtype         dtype = CULL_F32;

    TRY(cull_base_alloc(count + 1, sizeof *rest, "options", &rest));
    TRY(sort_options(options, count, rest, &rests, &dtype));
    TRY(cull_recipe_parse("network", NULL, 0, rest, rests, &recipe));
    setup = setup_of(&recipe->setup);
    setup.dtype = dtype;
    if (dtype == CULL_F64) setup.backend = "ref";
    TRY(cull_network_make(model, backend, &setup, out));
done:
    cull_recipe_close(recipe);
    cull_base_free(rest);
    return status;
}

cull_status cull_network_open(const cull_recipe *recipe, const char *weights, cull_network **out)
{
    cull_status        status = CULL_OK;
    cull_trainer      *t = NULL;
    cull_network      *network = NULL;
    cull_model        *model = NULL;
    cull_card          card = {0};
    cull_network_setup setup = setup_of(&recipe->setup);

    if (weights) TRY(cull_weights_card(weights, &card));
    setup.card = &card;
    if (card.channels) {
        TRY(cull_train_model(&recipe->setup, weights, &card, &model));
    } else {
        TRY(cull_trainer_create(&recipe->setup, false, &t));
        setup.card = &t->learner.card;
    }
    TRY(cull_network_make(t ? t->learner.model : model, NULL, &setup, &network));
    if (weights) {
        TRY(cull_network_read(network, weights));
    } else {
        TRY(cull_trainer_begin(t));
        TRY(cull_nn_params_copy(network->params, t->learner.params));
    }
    *out = network;
    network = NULL;
done:
    cull_network_destroy(network);
    cull_nn_model_destroy(model);
    cull_card_clear(&card);
    cull_trainer_destroy(t);
    return status;
}
