/*
 * tests/gpu/test_trap.c - a kernel traps in the middle of a run: it ends with a sentence, its last
 * checkpoint is whole, and a new process goes on from there to the weights of a run that had no
 * trap.
 *
 * A device that was lost stays lost for its process, so every run has one of its own, and this one
 * never opens a device.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "unit/policy_support.h"

#define ON_DEVICE                                                                                  \
    "train.backend=cuda train.deterministic=true train.batch=7 train.epochs=4 model.name=lenet5 "  \
    "select.strategy=sb select.keep=0.4 train.checkpoint_steps=5"

void plant_trap(void);

/* What a run of another process came to. */
struct told {
    cull_status status;
    char        sentence[512], weights[96];
    double      loss, test;
};

struct trap {
    size_t steps, at; /* at 0: never */
};

static bool traps(void *context)
{
    struct trap *trap = context;

    if (++trap->steps == trap->at) plant_trap();
    return false;
}

static void run_here(const struct world *w, const char *folder, size_t at, bool resume,
                     struct told *out)
{
    struct trap      trap = {0, at};
    cull_recipe     *recipe = recipe_of(w, ON_DEVICE);
    cull_run_result  result = {0};
    cull_run_options options = {
        .folder = path_in(w->folder, folder), .stop = traps, .context = &trap, .resume = resume};

    *out = (struct told){.status = cull_train(recipe, &options, &result)};
    if (out->status != CULL_OK)
        (void)snprintf(out->sentence, sizeof out->sentence, "%s", cull_last_error());
    (void)snprintf(out->weights, sizeof out->weights, "%s", result.weights);
    out->loss = result.loss;
    out->test = result.test;
    cull_recipe_close(recipe);
}

static struct told run(const struct world *w, const char *folder, size_t at, bool resume)
{
    struct told told = {0};
    int         ends[2], status = 0;
    pid_t       child = 0;

    assert_int_equal(0, pipe(ends));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run_here(w, folder, at, resume, &told);
        _exit(write(ends[1], &told, sizeof told) != sizeof told);
    }
    (void)close(ends[1]);
    assert_int_equal(sizeof told, read(ends[0], &told, sizeof told));
    (void)close(ends[0]);
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_int_equal(0, status);
    return told;
}

static void a_run_outlives_a_trap(void **state)
{
    static const size_t at[] = {2, 8, 9, 19}; /* run, recorded, replayed; in the third epoch */
    const struct world *w = *state;
    struct told         whole = run(w, "whole", 0, false), lost, after;

    assert_int_equal(CULL_OK, whole.status);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        lost = run(w, "lost", at[i], false);
        assert_int_equal(CULL_DEVICE, lost.status);
        if (!strstr(lost.sentence, "cuda") || !strstr(lost.sentence, "launch failure"))
            fail_msg("a trap at step %zu is told as: %s", at[i], lost.sentence);
        after = run(w, "lost", 0, true);
        if (after.status != CULL_OK) fail_msg("it does not go on: %s", after.sentence);
        assert_string_equal(whole.weights, after.weights);
        assert_true(whole.loss == after.loss && whole.test == after.test);
        remove_folder(path_in(w->folder, "lost"));
    }
}

/* In a process of its own too. */
static bool has_device(void)
{
    int   status = 0;
    pid_t child = fork();

    if (child == 0) {
        cull_backend *backend = NULL;
        cull_status   found = cull_backend_open("cuda", 1, &backend);

        if (found != CULL_OK) (void)printf("skipped: no GPU (%s)\n", cull_last_error());
        (void)fflush(stdout);
        _exit(found != CULL_OK);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_outlives_a_trap, make_world, remove_world)};

    if (!has_device()) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
