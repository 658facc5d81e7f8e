/*
 * test_policy_single.c - a batch of one example, where BatchNorm would see one value a channel.
 *
 * How many are trained may be the rule's, or fewer than asked for: what could then come to a batch
 * of one is refused before the run, not an epoch later and at every resumption. 60 examples.
 */
#include "policy_support.h"

/* The whole image becomes one pixel, which is normalised. */
static cull_model *one_pixel(void)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_nn_model_create("own/pixel", 1, SIDE, SIDE, &m));
    x = cull_model_conv(
        m, 0, "conv",
        &(cull_conv){.out = 4, .kernel = SIDE, .no_bias = true, .init = CULL_INIT_HE_IN});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "norm"), CULL_RELU);
    x = cull_model_dense(m, x, "fc", &(cull_dense){.out = CLASSES});
    assert_ok(cull_nn_model_finish(m, x));
    return m;
}

static cull_status create(const struct world *w, const char *changes, const cull_model *own,
                          cull_recipe **recipe, cull_trainer **out)
{
    char text[512];

    (void)snprintf(text, sizeof text, "%s%s", own ? "model.name=own/pixel " : "", changes);
    *recipe = recipe_of(w, text);
    if (own) (*recipe)->setup.own_model = own;
    return cull_trainer_create(&(*recipe)->setup, true, out);
}

static void check_refused(const struct world *w, const char *changes, const cull_model *own,
                          const char *text)
{
    cull_recipe  *recipe = NULL;
    cull_trainer *t = NULL;
    cull_status   status = create(w, changes, own, &recipe, &t);

    if (status != CULL_BAD_OPTION || !strstr(cull_last_error(), text))
        fail_msg("%s: %s: %s", changes, cull_status_name(status), cull_last_error());
    cull_recipe_close(recipe);
}

static void check_accepted(const struct world *w, const char *changes, const cull_model *own)
{
    cull_recipe  *recipe = NULL;
    cull_trainer *t = NULL;

    if (create(w, changes, own, &recipe, &t) != CULL_OK)
        fail_msg("%s: %s", changes, cull_last_error());
    cull_trainer_destroy(t);
    cull_recipe_close(recipe);
}

#define SEES  "one example, in which batchnorm norm of own/pixel sees one value a channel"
#define DROPS "larger images or another model have more, and train.drop_short leaves such a"

static const struct {
    const char *changes, *text;
} open_ended[] = {
    {"select.strategy=infobatch train.epochs=3", "select.strategy: infobatch may train a batch of"},
    {"select.strategy=infobatch train.epochs=3", SEES},
    {"select.strategy=infobatch train.epochs=3", DROPS},
    /* what a stream still holds at the end is trained, whatever a last batch is */
    {"select.strategy=sb-stream select.history=64", SEES},
    {"select.strategy=sb-stream select.history=64 train.drop_short=true train.batch=2", SEES},
    {"select.strategy=sb-stream+stale select.history=64", "sb-stream stale may train a batch"},
    {"select.strategy=craig", DROPS},
    {"select.strategy=grad-match select.short=accept", DROPS},
    {"select.strategy=grad-match select.short=accept", "and select.short=refit keeps as many"},
    {"select.strategy=gradmatch select.short=accept", "and select.short=refit keeps as many"},
    {"select.strategy=gradmatch select.short=accept train.drop_short=true", SEES},
    /* minibatches of 59 and 1 */
    {"select.strategy=craig select.scope=batch train.batch=59 train.drop_short=true",
     "another train.batch leaves no minibatch of one"},
    {"select.strategy=grad-match select.scope=batch train.batch=59 train.drop_short=true", SEES},
};

static void what_may_come_to_one_example_is_refused_before_the_run(void **state)
{
    const struct world *w = *state;
    cull_model         *own = one_pixel();

    for (size_t i = 0; i < sizeof open_ended / sizeof *open_ended; i++)
        check_refused(w, open_ended[i].changes, own, open_ended[i].text);
    /* a proxy learns by the same batches */
    check_refused(w, "select.strategy=sb-stream select.history=64 score.proxy=mobilenetv1", NULL,
                  "of mobilenetv1 sees one value");
    cull_nn_model_destroy(own);
}

static void what_has_statistics_in_any_case_is_accepted(void **state)
{
    static const char *const fine[] = {
        "select.strategy=infobatch train.epochs=3 train.drop_short=true",
        "select.strategy=infobatch select.delta=0",
        "select.strategy=craig train.drop_short=true",
        "select.strategy=craig select.scope=batch train.batch=8",
        "select.strategy=grad-match select.short=accept train.drop_short=true",
        "select.strategy=grad-match",
        "select.strategy=grad-match select.scope=batch select.short=accept",
        "select.strategy=gradmatch",
        "select.strategy=gradmatch select.short=accept score.pass=reuse",
        "select.strategy=sb",
        "select.strategy=sb+remembered select.scope=pool",
        "select.strategy=kath18",
        "",
    };
    const struct world *w = *state;
    cull_model         *own = one_pixel();

    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) check_accepted(w, fine[i], own);
    cull_nn_model_destroy(own);
}

/* Those that never come to one pixel before a norm, and those without norms. */
static void other_networks_are_untouched(void **state)
{
    const struct world *w = *state;
    char                changes[256];

    for (size_t i = 0; i < sizeof open_ended / sizeof *open_ended; i++) {
        (void)snprintf(changes, sizeof changes, "model.name=resnet20 %s", open_ended[i].changes);
        check_accepted(w, changes, NULL);
        check_accepted(w, open_ended[i].changes, NULL);
    }
}

static void runs_that_leave_short_batches_out_come_to_their_end(void **state)
{
    /* the second: 45 examples, all of them kept, in which case minibatches are not looked at */
    static const char *const kinds[] = {
        "select.strategy=infobatch",
        "select.strategy=craig select.scope=batch select.keep=1 data.validation=0.25",
    };
    const struct world *w = *state;
    cull_model         *own = one_pixel();
    char                changes[192];

    for (size_t i = 0; i < 16; i++) {
        cull_recipe     *recipe = NULL;
        cull_trainer    *t = NULL;
        cull_run_result  result = {0};
        cull_run_options options = {.folder = path_in(w->folder, "run")};

        (void)snprintf(changes, sizeof changes,
                       "%s train.batch=2 train.epochs=3 train.drop_short=true train.seed=%zu",
                       kinds[i % 2], i / 2);
        assert_int_equal(0, mkdir(options.folder, 0777));
        assert_ok(create(w, changes, own, &recipe, &t));
        assert_ok(cull_trainer_run(t, &options, &result));
        assert_int_equal(CULL_RUN_EPOCHS, result.end);
        cull_trainer_destroy(t);
        cull_recipe_close(recipe);
        remove_folder(path_in(w->folder, "run"));
    }
    cull_nn_model_destroy(own);
}

/* At a quarter of its size an image of 16 by 16 is one pixel in the last stage. */
static void a_last_batch_of_one_that_is_scored_smaller_is_refused_too(void **state)
{
    static const char   changes[] = "model.name=resnet20 score.scale=0.25 train.batch=59 "
                                    "select.strategy=sb select.keep=0.1";
    const struct world *w = *state;
    cull_recipe        *recipe = NULL;
    cull_trainer       *t = NULL;
    char                running[256];

    assert_fails(CULL_BAD_ARGUMENT, "sees one value a channel in a batch of one example",
                 create(w, changes, NULL, &recipe, &t));
    cull_recipe_close(recipe);
    (void)snprintf(running, sizeof running, "%s score.norm=running", changes);
    check_accepted(w, running, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_may_come_to_one_example_is_refused_before_the_run),
        TEST(what_has_statistics_in_any_case_is_accepted),
        TEST(other_networks_are_untouched),
        TEST(runs_that_leave_short_batches_out_come_to_their_end),
        TEST(a_last_batch_of_one_that_is_scored_smaller_is_refused_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
