/* test_init.c - runs that begin with given weights: whose they must be, and what is kept of them.
 */
#include <unistd.h>

#include "base/alloc.h"
#include "cull_lab.h"
#include "policy_support.h"
#include "train/folder/weights.h"

#define MODEL "model.name=resnet20 train.epochs=1 optim.weight_decay=0.01 "

static cull_trainer *trainer_of(const struct world *w, const char *changes, cull_recipe **recipe)
{
    cull_trainer *t = NULL;

    *recipe = recipe_of(w, changes);
    assert_ok(cull_trainer_create(&(*recipe)->setup, true, &t));
    return t;
}

static void end(cull_trainer *t, cull_recipe *recipe)
{
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

static const char *init_of(const struct world *w, const char *changes)
{
    static char text[400];

    (void)snprintf(text, sizeof text, "%s train.init=%s/given.safetensors", changes, w->folder);
    return text;
}

/* Weights that a run left, as given.safetensors. */
static void leave_weights(const struct world *w)
{
    cull_run_result run = run_of(w, MODEL "train.seed=5", "first");
    char            from[300], to[200];

    (void)snprintf(from, sizeof from, "%s/first/%s", w->folder, run.weights);
    (void)snprintf(to, sizeof to, "%s/given.safetensors", w->folder);
    assert_int_equal(0, rename(from, to));
}

/* ---- what a run makes of them ---- */

static void a_run_begins_with_the_given_weights_and_nothing_else(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe[2];
    cull_trainer       *given = NULL, *other = NULL;
    cull_run_result     result[2] = {{0}};
    cull_run_options    options = {.folder = path_in(w->folder, "a")};

    leave_weights(w);
    given = trainer_of(w, init_of(w, MODEL), &recipe[0]);
    other = trainer_of(w, MODEL, &recipe[1]);
    assert_ok(cull_weights_read(path_in(w->folder, "given.safetensors"), other->learner.model,
                                other->learner.params));
    assert_ok(cull_trainer_begin(given));
    assert_memory_equal(given->learner.params->value, other->learner.params->value,
                        given->learner.params->count * sizeof(float));
    assert_memory_equal(given->learner.params->running, other->learner.params->running,
                        given->learner.params->running_count * sizeof(float));
    /* the optimizer, order and schedule are those of any run: the same steps follow */
    assert_int_equal(0, mkdir(options.folder, 0777));
    assert_ok(cull_trainer_run(given, &options, &result[0]));
    options.folder = path_in(w->folder, "b");
    assert_int_equal(0, mkdir(options.folder, 0777));
    assert_ok(cull_trainer_run(other, &options, &result[1]));
    assert_string_equal(result[0].weights, result[1].weights);
    end(given, recipe[0]);
    end(other, recipe[1]);
}

/* |gradient of all the data|^2 */
static double probed(const cull_recipe *recipe, const char *weights)
{
    const char        *strategy = "sb";
    double             keep = 0.5, full = 0;
    cull_probe_result  result = {0};
    cull_probe_options options = {.weights = weights,
                                  .strategy = &strategy,
                                  .strategies = 1,
                                  .keep = &keep,
                                  .keeps = 1,
                                  .batches = 1};

    assert_ok(cull_probe(recipe, &options, &result));
    full = result.full;
    cull_probe_clear(&result);
    return full;
}

static void a_network_and_a_probe_of_the_recipe_begin_with_them(void **state)
{
    const struct world *w = *state;
    cull_recipe        *given = NULL, *plain = NULL;
    cull_network       *network[2] = {NULL, NULL};
    void               *bytes[2];
    size_t              size[2];

    leave_weights(w);
    given = recipe_of(w, init_of(w, MODEL));
    plain = recipe_of(w, MODEL);
    assert_ok(cull_network_open(given, NULL, &network[0]));
    assert_ok(cull_network_open(plain, path_in(w->folder, "given.safetensors"), &network[1]));
    for (int i = 0; i < 2; i++) assert_ok(cull_network_save(network[i], &bytes[i], &size[i]));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    for (int i = 0; i < 2; i++) {
        cull_bytes_release(bytes[i]);
        cull_network_destroy(network[i]);
    }
    assert_true(probed(given, NULL) == probed(plain, path_in(w->folder, "given.safetensors")));
    assert_true(probed(given, NULL) != probed(plain, NULL));
    cull_recipe_close(given);
    cull_recipe_close(plain);
}

static bool stop_at_two(void *context)
{
    return ++*(int *)context == 2;
}

static void has(const struct world *w, const char *run, const char *text)
{
    char  *data = NULL, path[200];
    size_t bytes = 0;

    (void)snprintf(path, sizeof path, "%s/%s/run.json", w->folder, run);
    assert_ok(cull_file_read(path, (void **)&data, &bytes));
    data = realloc(data, bytes + 1);
    data[bytes] = '\0';
    if (!strstr(data, text)) fail_msg("no %s in %s", text, data);
    free(data);
}

static void a_resumed_run_has_no_more_use_for_the_file(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = NULL;
    cull_run_result     whole = {0}, part = {0};
    int                 steps = 0;
    char                hash[64];
    void               *data = NULL;
    size_t              bytes = 0;
    cull_run_options    options = {
           .folder = path_in(w->folder, "part"), .stop = stop_at_two, .context = &steps};

    leave_weights(w);
    assert_ok(cull_file_read(path_in(w->folder, "given.safetensors"), &data, &bytes));
    (void)snprintf(hash, sizeof hash, "\"hash\":\"%016llx\"",
                   (unsigned long long)cull_base_hash(data, bytes));
    cull_bytes_release(data);
    whole = run_of(w, init_of(w, MODEL), "whole");
    has(w, "whole", hash);
    recipe = recipe_of(w, init_of(w, MODEL));
    options.folder = path_in(w->folder, "part");
    assert_ok(cull_train(recipe, &options, &part));
    assert_int_equal(CULL_RUN_STOPPED, part.end);
    assert_int_equal(0, unlink(path_in(w->folder, "given.safetensors")));
    options = (cull_run_options){.folder = path_in(w->folder, "part"), .resume = true};
    assert_ok(cull_train(recipe, &options, &part));
    assert_string_equal(whole.weights, part.weights);
    has(w, "part", hash);
    has(w, "part", "given.safetensors");
    /* one that has not begun needs it, and leaves nothing behind */
    options = (cull_run_options){.folder = path_in(w->folder, "new"), .resume = true};
    assert_fails(CULL_IO, "train.init: ", cull_train(recipe, &options, &part));
    assert_non_null(strstr(cull_last_error(), "given.safetensors: "));
    assert_int_not_equal(0, access(path_in(w->folder, "new"), F_OK));
    cull_recipe_close(recipe);
}

/* ---- whose they must be ---- */

/* The weights of a fresh network, changed by `change`, are refused with `why`. */
static void check_refused(const struct world *w, const char *why,
                          void (*change)(cull_safetensor *list, size_t *count))
{
    cull_recipe     *recipe = NULL;
    cull_trainer    *t = trainer_of(w, init_of(w, MODEL), &recipe);
    cull_safetensor *list = NULL, *longer = NULL;
    cull_writer      bytes = {0};
    size_t           count = 0;
    cull_status      status = CULL_OK;

    assert_ok(cull_weights_list(t->learner.model, t->learner.params, &list, &count));
    longer = calloc(count + 2, sizeof *longer);
    memcpy(longer, list, count * sizeof *longer);
    change(longer, &count);
    assert_ok(cull_safetensors_encode(longer, count, "resnet20", NULL, &bytes));
    assert_ok(cull_file_write(path_in(w->folder, "given.safetensors"), bytes.data, bytes.size));
    status = cull_trainer_begin(t);
    if (!why)
        assert_ok(status);
    else
        assert_fails(CULL_BAD_OPTION, why, status);
    cull_writer_clear(&bytes);
    free(longer);
    cull_base_free(list);
    end(t, recipe);
}

static void drop(cull_safetensor *list, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(list[i].name, name) == 0) {
            memmove(list + i, list + i + 1, (*count - i - 1) * sizeof *list);
            (*count)--;
            return;
        }
    fail_msg("no tensor is called %s", name);
}

static void change_nothing(cull_safetensor *list, size_t *count)
{
    (void)list, (void)count;
}

static void lose_a_weight(cull_safetensor *list, size_t *count)
{
    drop(list, count, "layer1.0.conv1.weight");
}

static void lose_averages(cull_safetensor *list, size_t *count)
{
    drop(list, count, "layer1.0.bn1.running_var");
}

static void add_a_bias(cull_safetensor *list, size_t *count)
{
    list[*count] = list[1];
    strcpy(list[(*count)++].name, "layer9.bias");
}

static void count_batches(cull_safetensor *list, size_t *count)
{
    static int64_t batches = 7;

    list[*count] = (cull_safetensor){.name = "layer1.0.bn1.num_batches_tracked",
                                     .tensor = {.data = &batches, .dtype = CULL_I64}};
    (*count)++;
}

static void turn_a_kernel(cull_safetensor *list, size_t *count)
{
    (void)count;
    for (int d = 0; d < 2; d++) { /* (16, 1, 3, 3) as (1, 16, 3, 3) */
        list[0].tensor.shape[d] = d ? 16 : 1;
        list[0].tensor.stride[d] = d ? 9 : 144;
    }
}

static void spoil_a_weight(cull_safetensor *list, size_t *count)
{
    (void)count;
    ((float *)list[0].tensor.data)[3] = NAN;
}

static void weights_of_another_network_are_refused_by_their_first_tensor(void **state)
{
    const struct world *w = *state;

    check_refused(w, NULL, change_nothing);
    check_refused(w, NULL, count_batches);
    check_refused(w, "no tensor 'layer1.0.conv1.weight', which resnet20 has", lose_a_weight);
    check_refused(w, "no tensor 'layer1.0.bn1.running_var': BatchNorm's averages", lose_averages);
    check_refused(w, "'layer9.bias', which resnet20 does not have: model.name", add_a_bias);
    check_refused(w, "conv1.weight is (1, 16, 3, 3), resnet20's is (16, 1, 3, 3)", turn_a_kernel);
    check_refused(w, "conv1.weight is not finite", spoil_a_weight);
}

static void a_file_that_holds_no_tensors_is_refused_by_its_key(void **state)
{
    static const char   text[] = "these are no weights, whatever the name of the file says";
    const struct world *w = *state;
    cull_recipe        *recipe = NULL;
    cull_trainer       *t = trainer_of(w, init_of(w, MODEL), &recipe);

    for (size_t bytes = 0; bytes < sizeof text; bytes += sizeof text / 2) {
        assert_ok(cull_file_write(path_in(w->folder, "given.safetensors"), text, bytes));
        assert_fails(CULL_BAD_FILE, "train.init: ", cull_trainer_begin(t));
        assert_non_null(strstr(cull_last_error(), "given.safetensors: "));
    }
    end(t, recipe);
}

static void refused_weights_leave_no_folder(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = NULL;
    cull_run_result     result = {0};
    cull_run_options    options = {.folder = path_in(w->folder, "new")};

    leave_weights(w);
    recipe = recipe_of(w, init_of(w, "model.name=lenet5"));
    options.folder = path_in(w->folder, "new");
    assert_fails(CULL_BAD_OPTION, "train.init", cull_train(recipe, &options, &result));
    assert_int_not_equal(0, access(path_in(w->folder, "new"), F_OK));
    cull_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_begins_with_the_given_weights_and_nothing_else),
        TEST(a_network_and_a_probe_of_the_recipe_begin_with_them),
        TEST(a_resumed_run_has_no_more_use_for_the_file),
        TEST(weights_of_another_network_are_refused_by_their_first_tensor),
        TEST(a_file_that_holds_no_tensors_is_refused_by_its_key),
        TEST(refused_weights_leave_no_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
