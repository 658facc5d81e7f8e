/* test_inputs.c - what a network reads: several inputs, each where it lies, none of them copied. */
#include "nn/plan.h"
#include "policy_support.h"
#include "tensor/tensor.h"

enum { ROWS = 6, CHANNELS = 2, EXTENT = 4, WIDTH = CHANNELS * EXTENT * EXTENT };

/* A network of the sum of its inputs. */
static cull_model *model_of(int inputs)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_nn_model_create("sums", CHANNELS, EXTENT, EXTENT, &m));
    for (int i = 1; i < inputs; i++)
        x = cull_model_add(m, x, cull_nn_input(m, CHANNELS, EXTENT, EXTENT, CULL_F32));
    x = cull_model_conv(m, x, "conv", &(cull_conv){.out = 8, .kernel = 3, .pad = 1});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn"), CULL_RELU);
    x = cull_model_dense(m, cull_model_flatten(m, x), "logits", &(cull_dense){.out = CLASSES});
    assert_ok(cull_nn_model_finish(m, x));
    return m;
}

/* Parameters are drawn node by node: the numbers of the nodes would make them others. */
static void same_start(cull_params *p)
{
    for (size_t i = 0; i < p->count; i++)
        ((float *)p->value)[i] = 0.2F * (float)random_normal(11, i);
}

/* The losses of two steps. */
static void train(const char *name, int inputs, const float *const x[3], double loss[2 * ROWS])
{
    cull_model   *m = model_of(inputs);
    cull_backend *backend = NULL;
    cull_params  *params = NULL;
    cull_plan    *plan = NULL;
    cull_optim   *optim = NULL;
    int32_t       label[ROWS] = {0, 1, 2, 0, 1, 2};
    cull_batch    batch = {.count = ROWS, .inputs = x[0], .more = {x[1], x[2]}, .target = label};

    assert_ok(cull_backend_open(name, 1, &backend));
    assert_ok(cull_nn_params_create(backend, m, CULL_F32, &params));
    assert_ok(cull_nn_params_init(params, m, 1));
    same_start(params);
    assert_ok(
        cull_nn_plan_create(m, params, backend, CULL_PLAN_LEARN, ROWS, (cull_loss){0}, &plan));
    assert_int_equal(1, cull_nn_plan_input(plan).block); /* so that the test's arrays fit */
    assert_ok(cull_optim_create(&(cull_optim_options){.rule = CULL_OPTIM_SGD}, CULL_F32,
                                params->count, backend, &optim));
    for (size_t step = 0; step < 2; step++) {
        cull_signals seen = {0};

        assert_ok(cull_nn_learn(plan, &batch, &seen));
        memcpy(loss + step * ROWS, seen.loss.data, ROWS * sizeof *loss);
        assert_ok(cull_optim_step(optim, .1, params->value, params->gradient));
    }
    cull_optim_destroy(optim);
    cull_nn_plan_destroy(plan);
    cull_nn_params_destroy(params);
    cull_backend_close(backend);
    cull_nn_model_destroy(m);
}

static void a_model_of_three_inputs_is_one_of_their_sum(void **state)
{
    float *part[3], *sum = calloc(ROWS * WIDTH, sizeof *sum);
    double apart[2 * ROWS], together[2 * ROWS];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        part[i] = normals_f32(5 + i, ROWS * WIDTH);
        for (size_t j = 0; j < ROWS * WIDTH; j++) sum[j] += part[i][j];
    }
    train("ref", 3, (const float *const[]){part[0], part[1], part[2]}, apart);
    train("ref", 1, (const float *const[]){sum, NULL, NULL}, together);
    for (size_t i = 0; i < 2 * ROWS; i++)
        assert_true(fabs(apart[i] - together[i]) < 1e-5 * fabs(together[i]));
    for (size_t i = 0; i < 3; i++) free(part[i]);
    free(sum);
}

static void more_inputs_than_a_batch_has_are_refused(void **state)
{
    cull_model *m = NULL;

    (void)state;
    assert_ok(cull_nn_model_create("many", 1, 2, 2, &m));
    for (int i = 1; i < CULL_MODEL_INPUTS; i++)
        assert_int_equal(i, cull_nn_input(m, 1, 2, 2, CULL_I32));
    assert_int_equal(-1, cull_nn_input(m, 1, 2, 2, CULL_I32));
    assert_fails(CULL_BAD_ARGUMENT, "more than 3 inputs", cull_nn_model_finish(m, 1));
    cull_nn_model_destroy(m);
    m = NULL;
    assert_ok(cull_nn_model_create("none", 1, 2, 2, &m));
    assert_int_equal(-1, cull_nn_input(m, 0, 2, 2, CULL_F32));
    assert_fails(CULL_BAD_ARGUMENT, "0x2x2 cannot be", cull_nn_model_finish(m, 1));
    cull_nn_model_destroy(m);
}

/* ---- copies ---- */

/* What a plan of the run read in its latest pass. */
static const void *read_by(cull_trainer *t, cull_plan_mode mode, size_t count)
{
    cull_plan *plan = NULL;

    assert_ok(cull_plans_get(&t->learner.plans, mode, count, 0, t->setup->loss, &plan));
    return plan->value[0].data;
}

/* A full step reads the loader's own memory; a separate one scores it there and puts the chosen
 * rows together once, where they are trained. */
static void a_step_copies_what_it_gathers_and_nothing_else(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe[2];
    cull_trainer       *full = NULL, *selective = NULL;
    cull_step_values    v;

    recipe[0] = recipe_of(w, "model.name=lenet5");
    recipe[1] = recipe_of(w, "model.name=lenet5 select.strategy=sb select.keep=0.25");
    assert_ok(cull_trainer_create(&recipe[0]->setup, true, &full));
    assert_ok(cull_trainer_create(&recipe[1]->setup, true, &selective));
    (void)begin_epoch(full);
    (void)begin_epoch(selective);
    v = step_of(full);
    assert_ptr_equal(v.batch.inputs, read_by(full, CULL_PLAN_LEARN, BATCH));
    assert_null(full->feed.met.inputs);
    v = step_of(selective);
    assert_ptr_equal(v.batch.inputs, read_by(selective, CULL_PLAN_SCORE, BATCH));
    assert_ptr_equal(selective->feed.rows.inputs, read_by(selective, CULL_PLAN_LEARN, BATCH / 4));
    assert_ptr_not_equal(v.batch.inputs, selective->feed.rows.inputs);
    cull_trainer_destroy(full);
    cull_trainer_destroy(selective);
    cull_recipe_close(recipe[0]);
    cull_recipe_close(recipe[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_of_three_inputs_is_one_of_their_sum),
        cmocka_unit_test(more_inputs_than_a_batch_has_are_refused),
        TEST(a_step_copies_what_it_gathers_and_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
