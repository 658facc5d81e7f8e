/* tests/unit/test_measure.c - what steps take, also where they lead nowhere. */
#include "policy_support.h"

/* Rates at which a few steps are enough; a run would warm up, or select later. */
static const char wild[] = "optim.lr=900 optim.momentum=0.99 augment.crop=0 augment.flip=false "
                           "select.strategy=sb select.keep=0.5";

static void steps_that_diverge_are_measured_at_the_first_weights(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = recipe_of(w, wild);
    cull_measured       m = {0};

    assert_ok(cull_measure(recipe, 1e-3, &m));
    assert_int_equal(1, m.diverged);
    assert_int_equal(COUNT, m.pool);
    assert_true(m.steps >= 6 && m.learn > 0 && m.score > 0 && m.optim > 0);
    cull_recipe_close(recipe);
    recipe = recipe_of(w, "select.strategy=sb select.keep=0.5");
    assert_ok(cull_measure(recipe, 1e-3, &m));
    assert_int_equal(0, m.diverged);
    cull_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(steps_that_diverge_are_measured_at_the_first_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
