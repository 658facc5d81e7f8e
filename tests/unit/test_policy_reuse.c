/* test_policy_reuse.c - the scoring pass as training pass: every strategy, and what it may observe.
 */
#include "policy_support.h"
#include "select/frame.h"
#include "tensor/tensor.h"

/* ---- what training saw ---- */

static struct {
    size_t            calls, rows;
    cull_trainer     *t;
    cull_step_values *v;
} watch;

static void wants_everything(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *out)
{
    (void)self, (void)step, (void)epoch;
    out->observe = CULL_SIGNAL_LOSS | CULL_SIGNAL_LABEL | CULL_SIGNAL_H | CULL_SIGNAL_P;
}

/* Of every row: what the scoring pass saw of it. */
static cull_status compares(cull_self *self, const cull_signals *trained)
{
    const cull_signals *seen = &watch.v->scored.signals;
    const cull_subset  *chosen = &watch.t->chosen;

    (void)self;
    watch.calls++;
    watch.rows += trained->count;
    assert_int_equal(chosen->count, trained->count);
    assert_int_equal(seen->h.shape[1], trained->h.shape[1]);
    for (size_t i = 0; i < trained->count; i++) {
        uint32_t row = chosen->index[i];

        assert_int_equal(seen->place[row], trained->place[i]);
        assert_true(cull_tensor_get(&seen->loss, row) == cull_tensor_get(&trained->loss, i));
        assert_memory_equal(cull_tensor_row(&seen->h, row), cull_tensor_row(&trained->h, i),
                            (size_t)seen->h.shape[1] * sizeof(float));
        assert_memory_equal(cull_tensor_row(&seen->p, row), cull_tensor_row(&trained->p, i),
                            (size_t)seen->p.shape[1] * sizeof(float));
    }
    return CULL_OK;
}

static void a_strategy_may_observe_all_of_what_a_reused_pass_saw(void **state)
{
    static const char *const models[] = {"mlp", "lenet5", "resnet20"};
    const struct world      *w = *state;

    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char             changes[200];
        cull_recipe     *recipe = NULL;
        cull_trainer    *t = NULL;
        cull_strategy    watching;
        cull_step_values values = {0};

        (void)snprintf(changes, sizeof changes,
                       "model.name=%s select.strategy=gradmatch score.pass=reuse", models[m]);
        recipe = recipe_of(w, changes);
        assert_ok(cull_trainer_create(&recipe->setup, true, &t));
        watching = *t->selector->strategy;
        watching.needs = wants_everything;
        watching.observe = compares;
        t->selector->strategy = &watching;
        watch.calls = watch.rows = 0;
        watch.t = t;
        watch.v = &values;
        (void)begin_epoch(t);
        for (int step = 0; step < 4; step++) assert_ok(cull_train_step(t, &values));
        assert_int_equal(4, watch.calls);
        assert_int_equal(3 * 8 + 6, watch.rows);
        t->selector->strategy = cull_strategy_find("gradmatch");
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
    }
}

/* ---- every strategy ---- */

static const char *const variants[] = {
    "sb+remembered",
    "sb+stale",
    "top-loss+stale",
    "sb select.mode=scaled",
    "sb select.start=0.5",
    "sb select.every=2",
    "kath18 select.score=gnorm-last",
    "kath18 select.score=gnorm-last select.variable=false",
    "kath18 select.score=gnorm select.variable=false select.mode=fixed",
    "kath18 select.score=loss select.variable=false",
    "kath18 select.score=gnorm-last select.keep=0.9 select.mode=fixed",
    "gradmatch select.match=validation",
    "divbs select.match=validation",
};

/* It runs to its end, or is refused before it begins, by the key. */
static bool runs_or_is_refused(const struct world *w, const char *strategy)
{
    char             changes[400];
    cull_recipe     *recipe = NULL;
    cull_run_options options = {.folder = path_in(w->folder, "run")};
    cull_run_result  result = {0};
    cull_status      status = CULL_OK;

    (void)snprintf(changes, sizeof changes,
                   "model.name=lenet5 data.validation=0.2 score.irreducible=%s/irreducible.npz "
                   "score.pass=reuse select.strategy=%s",
                   w->folder, strategy);
    recipe = recipe_of(w, changes);
    status = cull_train(recipe, &options, &result);
    cull_recipe_close(recipe);
    if (status == CULL_OK) {
        assert_true(result.trained > 0);
        remove_folder(path_in(w->folder, "run"));
        return true;
    }
    if (status != CULL_BAD_OPTION || !strstr(cull_last_error(), "score.pass"))
        fail_msg("%s: %s", strategy, cull_last_error());
    return false;
}

static void every_strategy_reuses_its_pass_or_says_why_not(void **state)
{
    const struct world *w = *state;
    size_t              ran = 0;

    for (size_t i = 0; cull_strategy_at(i); i++)
        ran += runs_or_is_refused(w, cull_strategy_at(i)->name);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        ran += runs_or_is_refused(w, variants[i]);
    assert_true(ran >= 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_strategy_may_observe_all_of_what_a_reused_pass_saw),
        TEST(every_strategy_reuses_its_pass_or_says_why_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
