/*
 * test_trainer.c - runs: the same every time, killed anywhere and resumed to the same bits.
 *
 * Every run is made in a process of its own, so that it can be killed. The calls by which a run
 * touches its files are wrapped (-Wl,--wrap): the nth may kill the process or fail as on a full
 * disk.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "files.h"
#include "lab/recipe/recipe.h"

ssize_t __real_write(int fd, const void *data, size_t bytes);
int     __real_rename(const char *from, const char *to);
int     __real_unlink(const char *path);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
int     __wrap_fsync(int fd);
int     __wrap_rename(const char *from, const char *to);
int     __wrap_unlink(const char *path);

enum { COUNT = 60, SIDE = 6, CLASSES = 3, MOST_POINTS = 1000 };

/* What happens at call number `at` (1: the next); 0: nothing. */
static struct {
    size_t at, calls;
    bool   full;
} trap;

static bool springs(void)
{
    trap.calls++;
    return trap.at && trap.calls == trap.at;
}

static void maybe_kill(void)
{
    if (springs() && !trap.full) (void)kill(getpid(), SIGKILL);
}

/* A killed write leaves half of its bytes behind. */
ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    if (!springs()) return __real_write(fd, data, bytes);
    if (!trap.full) {
        bytes = (size_t)__real_write(fd, data, bytes / 2);
        (void)kill(getpid(), SIGKILL);
    }
    errno = ENOSPC;
    return -1;
}

/* Nothing is synced: a killed process loses nothing that the kernel holds. */
int __wrap_fsync(int fd)
{
    (void)fd;
    maybe_kill();
    if (trap.full && trap.calls == trap.at) {
        errno = ENOSPC;
        return -1;
    }
    return 0;
}

int __wrap_rename(const char *from, const char *to)
{
    maybe_kill();
    return __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    maybe_kill();
    return __real_unlink(path);
}

/* ---- a folder with two small sets, and runs in it ---- */

struct world {
    char folder[64];
};

static void write_set(const struct world *w, const char *name, uint64_t seed)
{
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);

    /* The label shows in one row of pixels, so that there is something to learn. */
    for (size_t i = 0; i < COUNT; i++)
        for (size_t x = 0; x < SIDE; x++)
            ((uint8_t *)cull_data_base(
                set))[i * SIDE * SIDE + (size_t)cull_data_labels(set)[i] * SIDE + x] =
                (uint8_t)(200 + 50 * random_uniform(seed, i));
    assert_ok(cull_data_write(set, path_in(w->folder, name)));
    cull_data_close(set);
}

static int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    strcpy(w->folder, FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    write_set(w, "train.npz", 1);
    write_set(w, "test.npz", 2);
    *state = w;
    return 0;
}

static int remove_world(void **state)
{
    struct world *w = *state;

    remove_folder(w->folder);
    free(w);
    return 0;
}

/* Everything random a run can do: split, noise, copies, augmentation, a short batch. */
static const char base[] = "model: {name: mlp}\n"
                           "augment: {crop: 1, flip: true, cutout: 2}\n"
                           "optim: {lr: 0.05, momentum: 0.9, weight_decay: 0.001}\n"
                           "train: {epochs: 2, batch: 16, backend: cpu, threads: 1, log: 2, "
                           "checkpoint_steps: 3, evaluate_batch: 7}\n";

static cull_recipe *recipe_in(const struct world *w, const char *changes)
{
    cull_recipe *recipe = NULL;
    char         train[128], test[128], words[512];
    cull_option  option[16] = {{"data.name", train}, {"data.test", test}};
    size_t       count = 2;

    (void)snprintf(train, sizeof train, "%s/train.npz", w->folder);
    (void)snprintf(test, sizeof test, "%s/test.npz", w->folder);
    (void)snprintf(words, sizeof words, "%s", changes);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        option[count++] = (cull_option){word, equals + 1};
    }
    assert_ok(cull_recipe_parse("test", base, strlen(base), option, count, &recipe));
    return recipe;
}

#define HARMED "data.validation=0.2 data.label_noise=0.1 data.duplicates=2"

struct script {
    const char *changes, *out;
    bool        resume, full;
    size_t      trap_at, stop_at, kill_step;
};

struct outcome {
    cull_status     status;
    cull_run_result result;
    char            sentence[400];
    size_t          calls; /* wrapped ones */
};

struct watcher {
    size_t   stop_at, kill_step;
    uint64_t steps;
};

static bool stop_there(void *context)
{
    const struct watcher *watcher = context;

    return watcher->stop_at && watcher->steps >= watcher->stop_at;
}

static void count_steps(void *context, const cull_run_news *news)
{
    struct watcher *watcher = context;

    watcher->steps = news->step;
    if (watcher->kill_step && news->step == watcher->kill_step) (void)kill(getpid(), SIGKILL);
}

static struct outcome train_here(const struct world *w, const struct script *s)
{
    struct outcome   outcome = {0};
    struct watcher   watcher = {.stop_at = s->stop_at, .kill_step = s->kill_step};
    cull_recipe     *recipe = recipe_in(w, s->changes);
    const char      *folder = path_in(w->folder, s->out);
    cull_run_options options = {.folder = folder,
                                .resume = s->resume,
                                .tell = count_steps,
                                .stop = stop_there,
                                .context = &watcher};

    trap.calls = 0;
    trap.at = s->trap_at;
    trap.full = s->full;
    outcome.status = cull_train(recipe, &options, &outcome.result);
    trap.at = 0;
    outcome.calls = trap.calls;
    (void)snprintf(outcome.sentence, sizeof outcome.sentence, "%s", cull_last_error());
    cull_recipe_close(recipe);
    return outcome;
}

/* In a process of its own; false: it was killed. */
static bool train_apart(const struct world *w, const struct script *s, struct outcome *out)
{
    int   pipes[2], how = 0;
    pid_t child = 0;

    assert_int_equal(0, pipe(pipes));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct outcome made = train_here(w, s);
        _exit(__real_write(pipes[1], &made, sizeof made) == (ssize_t)sizeof made ? 0 : 1);
    }
    (void)close(pipes[1]);
    *out = (struct outcome){0};
    how = read(pipes[0], out, sizeof *out) == (ssize_t)sizeof *out;
    (void)close(pipes[0]);
    assert_true(waitpid(child, &(int){0}, 0) == child);
    return how != 0;
}

static struct outcome train_well(const struct world *w, const struct script *s)
{
    struct outcome outcome;

    assert_true(train_apart(w, s, &outcome));
    if (outcome.status != CULL_OK)
        fail_msg("%s: %s", cull_status_name(outcome.status), outcome.sentence);
    return outcome;
}

/* ---- comparing what runs left ---- */

static char *file_text(const char *path, size_t *bytes)
{
    void *data = NULL;
    char *copy = NULL;

    assert_ok(cull_file_read(path, &data, bytes));
    copy = calloc(*bytes + 1, 1);
    assert_non_null(copy);
    memcpy(copy, data, *bytes);
    cull_bytes_release(data);
    return copy;
}

/* Metrics without times and energies: every "seconds...":NUMBER and "joules...":NUMBER goes. */
static void strip_times(char *text)
{
    static const char *const names[] = {"\"seconds", "\"joules"};

    for (size_t i = 0; i < 2; i++) {
        for (char *at = strstr(text, names[i]); at; at = strstr(at, names[i])) {
            size_t length = strcspn(at, ",}");
            memmove(at, at + length, strlen(at + length) + 1);
        }
    }
}

/* The wall time of an event stands first and takes 9 bytes; checksums follow from it. */
static void strip_event_times(char *data, size_t bytes)
{
    for (size_t at = 0; at + 16 <= bytes;) {
        uint64_t length = 0;
        memcpy(&length, data + at, sizeof length);
        assert_true(length >= 9 && at + 16 + length <= bytes);
        memset(data + at + 13, 0, 8);
        memset(data + at + 12 + length, 0, 4);
        at += 16 + length;
    }
}

static void assert_same_file(const struct world *w, const char *a, const char *b, const char *name,
                             int kind)
{
    char   path[2][200];
    char  *text[2];
    size_t bytes[2];

    (void)snprintf(path[0], sizeof path[0], "%s/%s/%s", w->folder, a, name);
    (void)snprintf(path[1], sizeof path[1], "%s/%s/%s", w->folder, b, name);
    for (int i = 0; i < 2; i++) {
        text[i] = file_text(path[i], &bytes[i]);
        if (kind == 1) {
            strip_times(text[i]);
            bytes[i] = strlen(text[i]);
        }
        if (kind == 2) strip_event_times(text[i], bytes[i]);
    }
    if (bytes[0] != bytes[1] || memcmp(text[0], text[1], bytes[0]) != 0)
        fail_msg("%s differs between %s and %s:\n%.3000s\n---\n%.3000s", name, a, b,
                 kind == 1 ? text[0] : "", kind == 1 ? text[1] : "");
    free(text[0]);
    free(text[1]);
}

/* The state without times and what depends on their length. */
static void assert_same_state(const struct world *w, const char *a, const char *b)
{
    const char *names[2] = {a, b};
    cull_writer made[2] = {{0}};

    for (int i = 0; i < 2; i++) {
        char           path[200];
        size_t         bytes = 0;
        char          *data = NULL;
        cull_run_state state;

        (void)snprintf(path, sizeof path, "%s/%s/state", w->folder, names[i]);
        data = file_text(path, &bytes);
        assert_ok(cull_run_state_decode(path, data, bytes, &state));
        memset(state.meter.seconds, 0, sizeof state.meter.seconds);
        memset(state.meter.joules, 0, sizeof state.meter.joules);
        state.progress.metrics = 0;
        assert_ok(cull_run_state_encode(&state, &made[i]));
        free(data);
    }
    assert_int_equal(made[0].size, made[1].size);
    assert_memory_equal(made[0].data, made[1].data, made[0].size);
    cull_writer_clear(&made[0]);
    cull_writer_clear(&made[1]);
}

static size_t count_files(const struct world *w, const char *out)
{
    DIR   *folder = opendir(path_in(w->folder, out));
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder)) count++;
    (void)closedir(folder);
    return count;
}

static void assert_same_run(const struct world *w, const char *a, const char *b,
                            const cull_run_result *result)
{
    assert_same_file(w, a, b, "recipe.yaml", 0);
    assert_same_file(w, a, b, result->weights, 0);
    assert_same_file(w, a, b, result->best_weights, 0);
    assert_same_file(w, a, b, "metrics.jsonl", 1);
    assert_same_file(w, a, b, "events.out.tfevents.cull", 2);
    assert_same_state(w, a, b);
    assert_int_equal(count_files(w, a), count_files(w, b)); /* nothing half-written */
}

static void assert_manifest(const struct world *w, const char *out, const char *text)
{
    char   path[200];
    char  *manifest = NULL;
    size_t bytes = 0;

    (void)snprintf(path, sizeof path, "%s/%s/run.json", w->folder, out);
    manifest = file_text(path, &bytes);
    if (!strstr(manifest, text)) fail_msg("%s lacks %s: %s", path, text, manifest);
    free(manifest);
}

/* ---- properties ---- */

static void a_run_repeats_bit_for_bit(void **state)
{
    const struct world *w = *state;
    struct outcome      a = train_well(w, &(struct script){.changes = HARMED, .out = "a"});
    struct outcome      b = train_well(w, &(struct script){.changes = HARMED, .out = "b"});

    assert_int_equal(CULL_RUN_EPOCHS, a.result.end);
    assert_string_equal("validation", a.result.watched);
    assert_int_equal(2, a.result.epoch);
    assert_int_equal(2 * 2 * 48, a.result.trained);
    assert_string_equal(a.result.weights, b.result.weights);
    assert_same_run(w, "a", "b", &a.result);
}

static void a_run_learns_what_there_is_to_learn(void **state)
{
    const struct world *w = *state;
    const char         *changes = "train.epochs=5 augment.crop=0 augment.cutout=0";
    struct outcome      run = train_well(w, &(struct script){.changes = changes, .out = "a"});

    assert_string_equal("test", run.result.watched);
    assert_true(run.result.test > .9 && run.result.best >= run.result.test);
}

static void threads_and_loaders_change_nothing(void **state)
{
    static const char *const kinds[] = {"train.backend=ref", "train.backend=cpu",
                                        "train.backend=cpu model.name=resnet20 train.batch=30"};
    const struct world      *w = *state;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char           one[200], three[200];
        struct outcome a, b;

        (void)snprintf(one, sizeof one, "%s train.threads=1 data.workers=0", kinds[i]);
        (void)snprintf(three, sizeof three, "%s train.threads=3 data.workers=3", kinds[i]);
        a = train_well(w, &(struct script){.changes = one, .out = "one"});
        b = train_well(w, &(struct script){.changes = three, .out = "three"});
        assert_string_equal(a.result.weights, b.result.weights);
        assert_same_file(w, "one", "three", "metrics.jsonl", 1);
        remove_folder(path_in(w->folder, "one"));
        remove_folder(path_in(w->folder, "three"));
    }
}

/* The number behind the last "name": in a file of a run. */
static double last_number(const struct world *w, const char *out, const char *file,
                          const char *name)
{
    char   path[200], key[64];
    size_t bytes = 0;
    double value = NAN;
    char  *text = NULL;

    (void)snprintf(path, sizeof path, "%s/%s/%s", w->folder, out, file);
    (void)snprintf(key, sizeof key, "\"%s\":", name);
    text = file_text(path, &bytes);
    for (char *at = strstr(text, key); at; at = strstr(at + 1, key))
        value = strtod(at + strlen(key), NULL);
    free(text);
    return value;
}

static void subsets_are_counted_by_what_became_of_them(void **state)
{
    cull_meter  meter = {0};
    cull_subset subset = {.count = 9, .picked = 4};

    (void)state;
    cull_meter_choose(&meter, &subset); /* a rule that repeats nothing may count as it likes */
    subset.flags = CULL_SUBSET_FILLED;
    cull_meter_choose(&meter, &subset);
    cull_meter_choose(&meter, &subset);
    subset.flags = CULL_SUBSET_SHORT;
    cull_meter_choose(&meter, &subset);
    subset = (cull_subset){.count = 9, .flags = CULL_SUBSET_FALLBACK};
    cull_meter_choose(&meter, &subset);
    assert_int_equal(5, meter.subsets);
    assert_int_equal(2, meter.subsets_filled);
    assert_int_equal(10, meter.filled);
    assert_int_equal(1, meter.subsets_short);
    assert_int_equal(1, meter.subsets_fallback);
}

/* 60 examples four times, in batches of 64, two epochs: 8 steps, or 2 choices over the pool, all
 * of more than there are different examples. */
#define COPIES                                                                                     \
    " data.duplicates=4 train.batch=64 train.log=1 augment.crop=0 augment.flip=false "             \
    "augment.cutout=0"

static void filled_and_short_subsets_are_told_where_runs_are_read(void **state)
{
    static const struct {
        const char *changes;
        double      subsets;
        bool        fills;
    } kinds[] = {
        {"select.strategy=gradmatch select.keep=0.9" COPIES, 8, true},
        {"select.strategy=gradmatch select.keep=0.9 select.short=accept" COPIES, 8, false},
        {"select.strategy=grad-match select.keep=0.9 select.period=1 select.ridge=0" COPIES, 2,
         true},
        {"select.strategy=full" COPIES, 0, false},
    };
    static const char *const files[] = {"metrics.jsonl", "run.json"};
    const struct world      *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        (void)train_well(w, &(struct script){.changes = kinds[k].changes, .out = "a"});
        for (size_t f = 0; f < 2; f++) {
            double filled = last_number(w, "a", files[f], "subsets_filled");
            double brief = last_number(w, "a", files[f], "subsets_short");

            assert_true(last_number(w, "a", files[f], "subsets") == kinds[k].subsets);
            assert_true(kinds[k].fills ? filled > 0 && brief == 0 : filled == 0);
            assert_true((last_number(w, "a", files[f], "filled") >= filled) &&
                        (brief > 0) == (k == 1));
            assert_true(last_number(w, "a", files[f], "subsets_fallback") == 0);
        }
        size_t bytes = 0;
        char  *events = file_text(path_in(w->folder, "a/events.out.tfevents.cull"), &bytes);
        size_t tags = 0;
        for (size_t i = 0; i + 14 < bytes; i++)
            tags += memcmp(events + i, "subsets/filled", 14) == 0;
        assert_int_equal(kinds[k].subsets > 0 ? 2 * 2 : 0, tags); /* of subsets, of examples */
        free(events);
        remove_folder(path_in(w->folder, "a"));
    }
}

/* How often a tag stands in the events of a run, and the last value under it. */
static size_t tagged(const struct world *w, const char *tag, double *last)
{
    size_t bytes = 0, count = 0, length = strlen(tag);
    char  *events = file_text(path_in(w->folder, "a/events.out.tfevents.cull"), &bytes);

    for (size_t i = 0; i + length + 5 < bytes; i++) {
        float value = 0;

        if (memcmp(events + i, tag, length) != 0 || events[i + length] != 0x15) continue;
        memcpy(&value, events + i + length + 1, sizeof value);
        *last = (double)value;
        count++;
    }
    free(events);
    return count;
}

/* 240 examples in batches of 64, two epochs: 8 steps, of which a quarter is kept. */
static void what_is_kept_and_what_it_costs_are_told_to_tensorboard(void **state)
{
    const struct world *w = *state;
    double              last = 0;

    (void)train_well(
        w, &(struct script){.changes = "select.strategy=sb select.keep=0.25" COPIES, .out = "a"});
    assert_int_equal(8, tagged(w, "train/kept", &last));
    assert_true(last == .25);
    assert_int_equal(2, tagged(w, "epoch/kept", &last));
    assert_true(last == .25);
    assert_int_equal(2, tagged(w, "cost/scored", &last));
    assert_true(last == 480);
    assert_int_equal(2, tagged(w, "cost/trained", &last));
    assert_true(last == 120);
    assert_int_equal(2, tagged(w, "cost/counted", &last));
    assert_true(last == 480 / 3 + 120);
    assert_int_equal(2, tagged(w, "subsets/filled", &last));
    assert_true(last == 0);
    remove_folder(path_in(w->folder, "a"));
}

static void a_state_of_an_older_version_is_refused_with_a_sentence(void **state)
{
    cull_run_state empty = {0}, read = {0};
    cull_writer    made = {0};

    (void)state;
    assert_ok(cull_run_state_encode(&empty, &made));
    made.data[8] = 2;
    assert_fails(CULL_BAD_STATE, "state: version 2, this program reads 4",
                 cull_run_state_decode("state", made.data, made.size, &read));
    cull_writer_clear(&made);
}

/* Kill at the nth touch of a file, for every n; then go on. */
static void a_run_killed_at_any_touch_of_a_file_goes_on_bit_for_bit(void **state)
{
    const struct world *w = *state;
    struct outcome      whole = train_well(w, &(struct script){.changes = HARMED, .out = "whole"});

    assert_true(whole.calls > 60 && whole.calls < MOST_POINTS);
    for (size_t n = 1; n <= whole.calls; n++) {
        struct script  dies = {.changes = HARMED, .out = "killed", .trap_at = n};
        struct script  goes_on = {.changes = HARMED, .out = "killed", .resume = true};
        struct outcome outcome;

        assert_false(train_apart(w, &dies, &outcome));
        outcome = train_well(w, &goes_on);
        assert_same_run(w, "whole", "killed", &outcome.result);
        assert_manifest(w, "killed", "\"status\":\"finished\"");
        remove_folder(path_in(w->folder, "killed"));
    }
}

static void a_run_killed_after_any_step_goes_on_bit_for_bit(void **state)
{
    const struct world *w = *state;
    const char         *changes = "train.checkpoint_steps=0 schedule.name=one-cycle optim.clip=1";
    struct outcome      whole = train_well(w, &(struct script){.changes = changes, .out = "whole"});

    for (size_t step = 1; step <= whole.result.step; step++) {
        struct outcome outcome;

        assert_false(train_apart(
            w, &(struct script){.changes = changes, .out = "killed", .kill_step = step}, &outcome));
        outcome =
            train_well(w, &(struct script){.changes = changes, .out = "killed", .resume = true});
        assert_same_run(w, "whole", "killed", &outcome.result);
        remove_folder(path_in(w->folder, "killed"));
    }
}

/* Every way of choosing, killed inside an epoch and resumed from its middle; a checkpoint every
 * second step, so that odd ones are done again. */
static void a_run_that_selects_killed_anywhere_goes_on_bit_for_bit(void **state)
{
    static const char *const kinds[] = {
        "select.strategy=sb+stale select.keep=0.5 train.epochs=3",
        "select.strategy=sb+remembered select.keep=0.5",
        ("select.strategy=sb+remembered select.keep=0.5 select.percentile=pool select.trim=0.2 "
         "train.epochs=3"),
        "select.strategy=sb+remembered select.scope=pool select.keep=0.6 train.epochs=3",
        "select.strategy=sb-stream select.beta=2 select.history=64",
        "select.strategy=sb-stream+stale select.history=64",
        "select.strategy=grad-match select.keep=0.5 select.warm=0.5 select.period=2 train.epochs=4",
        "select.strategy=grad-match select.scope=batch select.keep=0.5 select.period=2",
        "select.strategy=glister select.keep=0.3 select.period=1 data.validation=0.2",
        "select.strategy=infobatch train.epochs=3",
        "select.strategy=kath18 select.variable=true select.score=loss",
        "select.strategy=gradmatch select.keep=0.3 score.pass=reuse",
        "select.strategy=sb select.keep=0.3 select.mode=scaled schedule.count=trained",
        "select.strategy=sb select.keep=0.3 score.proxy=mlp model.name=resnet20 train.epochs=1",
        "select.strategy=gradmatch select.keep=0.3 score.pipelined=true",
        ("select.strategy=sb select.keep=0.4 select.mode=scaled select.every=3 "
         "train.drop_short=true train.batch=7 train.epochs=3"),
        ("select.strategy=random select.keep=0.33 select.rounding=alternate "
         "train.evaluate_at=0.4,1.1,1.5 train.shorten=0.8"),
    };
    const struct world *w = *state;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char           changes[400];
        struct outcome whole, outcome;

        (void)snprintf(changes, sizeof changes, "%s train.checkpoint_steps=2", kinds[k]);
        whole = train_well(w, &(struct script){.changes = changes, .out = "whole"});
        for (size_t step = 1 + k % 2; step <= whole.result.step; step += 3) {
            assert_false(train_apart(
                w, &(struct script){.changes = changes, .out = "killed", .kill_step = step},
                &outcome));
            outcome = train_well(
                w, &(struct script){.changes = changes, .out = "killed", .resume = true});
            assert_same_run(w, "whole", "killed", &outcome.result);
            assert_same_file(w, "whole", "killed", "selection.npz", 0);
            remove_folder(path_in(w->folder, "killed"));
        }
        remove_folder(path_in(w->folder, "whole"));
    }
}

static void check_stopped_twice(const struct world *w, const char *changes)
{
    struct outcome whole = train_well(w, &(struct script){.changes = changes, .out = "whole"});
    struct outcome part =
        train_well(w, &(struct script){.changes = changes, .out = "stopped", .stop_at = 2});

    assert_int_equal(CULL_RUN_STOPPED, part.result.end);
    assert_int_equal(2, part.result.step);
    part = train_well(
        w, &(struct script){.changes = changes, .out = "stopped", .resume = true, .stop_at = 3});
    assert_int_equal(CULL_RUN_STOPPED, part.result.end);
    assert_true(part.result.resumed);
    part = train_well(w, &(struct script){.changes = changes, .out = "stopped", .resume = true});
    assert_int_equal(CULL_RUN_EPOCHS, part.result.end);
    assert_same_run(w, "whole", "stopped", &whole.result);
}

static void a_run_stopped_twice_goes_on_bit_for_bit_with_running_averages(void **state)
{
    check_stopped_twice(*state, "model.name=resnet20 optim.name=adamw train.batch=20 "
                                "train.backend=cpu train.checkpoint_steps=0 augment.crop=0 "
                                "optim.lr=0.001");
}

static void a_run_of_listed_layers_goes_on_bit_for_bit(void **state)
{
    check_stopped_twice(
        *state, "model.name=layers optim.name=adam optim.lr=0.01 select.strategy=sb "
                "score.pass=reuse model.layers=[{\"conv\":{\"channels\":4,\"kernel\":3}},"
                "\"batchnorm\",{\"residual\":[\"relu\",{\"dropout\":0.3}]},{\"concat\":[[],"
                "[\"gelu\",\"groupnorm\":2]]},\"flatten\",{\"dense\":9},\"relu\",\"dense\"]");
}

static void a_finished_run_is_not_run_again(void **state)
{
    const struct world *w = *state;
    struct outcome      first = train_well(w, &(struct script){.changes = "", .out = "a"});
    struct outcome      again =
        train_well(w, &(struct script){.changes = "", .out = "a", .resume = true});

    assert_true(again.calls < 5); /* run.json alone is written */
    assert_int_equal(first.result.step, again.result.step);
    assert_true(first.result.test == again.result.test);
}

static void a_folder_with_a_run_is_refused_without_resume(void **state)
{
    const struct world *w = *state;
    struct outcome      outcome;

    (void)train_well(w, &(struct script){.changes = "", .out = "a"});
    assert_true(train_apart(w, &(struct script){.changes = "", .out = "a"}, &outcome));
    assert_int_equal(CULL_EXISTS, outcome.status);
    assert_non_null(strstr(outcome.sentence, "already holds a run"));
    assert_int_equal(0, outcome.calls);
}

static void another_recipe_is_refused_and_the_key_named(void **state)
{
    const struct world *w = *state;
    struct outcome      outcome;

    (void)train_well(w, &(struct script){.changes = "", .out = "a", .stop_at = 1});
    assert_true(train_apart(
        w, &(struct script){.changes = "optim.lr=0.1", .out = "a", .resume = true}, &outcome));
    assert_int_equal(CULL_DIFFERS, outcome.status);
    assert_non_null(strstr(outcome.sentence, "optim.lr=0.05, the recipe 0.1"));
    /* The same number written otherwise is the same recipe. */
    (void)train_well(w, &(struct script){.changes = "optim.lr=5e-2", .out = "a", .resume = true});
}

static void a_full_disk_is_said_and_what_was_committed_stays(void **state)
{
    const struct world *w = *state;
    struct outcome      whole = train_well(w, &(struct script){.changes = "", .out = "whole"});
    size_t              failed = 0;

    for (size_t n = 1; n <= whole.calls; n += 3) {
        struct script  runs_full = {.changes = "", .out = "full", .trap_at = n, .full = true};
        struct outcome outcome;

        assert_true(train_apart(w, &runs_full, &outcome));
        if (outcome.status == CULL_OK) { /* a rename, a folder's sync: nothing was written */
            remove_folder(path_in(w->folder, "full"));
            continue;
        }
        failed++;
        assert_int_equal(CULL_IO, outcome.status);
        assert_non_null(strstr(outcome.sentence, "No space left"));
        outcome = train_well(w, &(struct script){.changes = "", .out = "full", .resume = true});
        assert_same_run(w, "whole", "full", &outcome.result);
        remove_folder(path_in(w->folder, "full"));
    }
    assert_true(failed > 5);
}

static void a_diverging_loss_ends_the_run_and_run_json_says_why(void **state)
{
    const struct world *w = *state;
    struct outcome      outcome;

    assert_true(
        train_apart(w,
                    &(struct script){.changes = "optim.lr=1000 train.epochs=200 "
                                                "schedule.name=constant optim.momentum=0.99",
                                     .out = "a"},
                    &outcome));
    assert_int_equal(CULL_NOT_FINITE, outcome.status);
    assert_non_null(strstr(outcome.sentence, "no longer finite at step"));
    assert_manifest(w, "a", "\"status\":\"failed\",\"why\":\"the loss is no longer finite");
}

static void a_target_or_a_cost_ends_a_run_early(void **state)
{
    const struct world *w = *state;
    struct outcome      outcome =
        train_well(w, &(struct script){.changes = "train.epochs=100 train.target=0.5", .out = "a"});

    assert_int_equal(CULL_RUN_TARGET, outcome.result.end);
    assert_true(outcome.result.accuracy >= .5 && outcome.result.epoch < 100);
    outcome =
        train_well(w, &(struct script){.changes = "train.epochs=100 train.cost=100", .out = "b"});
    assert_int_equal(CULL_RUN_BUDGET, outcome.result.end);
    assert_int_equal(60 + 48, outcome.result.trained); /* the first step at or past 100 */
    assert_true(isfinite(outcome.result.test));
    outcome = train_well(
        w, &(struct script){.changes = "train.epochs=100000 train.seconds=0.2", .out = "c"});
    assert_int_equal(CULL_RUN_BUDGET, outcome.result.end);
    assert_true(outcome.result.seconds >= .2);
}

struct allocations {
    uint64_t step, epoch;
    size_t   count, warm;
};

static void watch_allocations(void *context, const cull_run_news *news)
{
    struct allocations *a = context;
    size_t              now = cull_base_alloc_count();

    if (!news->epoch_end && news->step > 1 && news->epoch == a->epoch) {
        assert_int_equal(a->count, now);
        a->warm++;
    }
    a->epoch = news->epoch_end ? news->epoch + 1000 : news->epoch;
    a->count = now;
}

static void a_step_allocates_nothing(void **state)
{
    const struct world *w = *state;
    struct allocations  seen = {0};
    cull_recipe        *recipe = recipe_in(w, "train.checkpoint_steps=0 train.log=0");
    cull_run_result     result = {0};

    assert_ok(cull_train(recipe,
                         &(cull_run_options){.folder = path_in(w->folder, "a"),
                                             .tell = watch_allocations,
                                             .context = &seen},
                         &result));
    assert_true(seen.warm >= 4);
    cull_recipe_close(recipe);
}

static void a_run_survives_every_failing_allocation(void **state)
{
    const struct world *w = *state;
    cull_recipe        *recipe = recipe_in(w, HARMED " train.epochs=1 train.checkpoint_steps=0");
    cull_status         status = CULL_NO_MEMORY;
    size_t              n = 1;

    for (; status != CULL_OK; n++) {
        cull_run_result  result = {0};
        cull_run_options options = {.folder = path_in(w->folder, "a"), .resume = true};

        fail_nth_alloc(n);
        status = cull_train(recipe, &options, &result);
        fail_nth_alloc(0);
        if (status != CULL_OK && status != CULL_NO_MEMORY)
            fail_msg("allocation %zu: %s: %s", n, cull_status_name(status), cull_last_error());
        if (status == CULL_OK && alloc_has_failed()) status = CULL_NO_MEMORY;
    }
    assert_true(n > 50);
    cull_recipe_close(recipe);
}

static void evaluation_agrees_with_the_run(void **state)
{
    const struct world *w = *state;
    struct outcome      run = train_well(w, &(struct script){.changes = HARMED, .out = "a"});
    cull_recipe        *recipe = recipe_in(w, HARMED);
    cull_evaluation     e = {0};
    char                weights[300];

    (void)snprintf(weights, sizeof weights, "%s/a/%s", w->folder, run.result.weights);
    assert_ok(cull_evaluate(recipe, weights, "test", &e));
    assert_int_equal(COUNT, e.count);
    assert_true(e.accuracy == run.result.test && e.loss == run.result.test_loss);
    assert_ok(cull_evaluate(recipe, weights, "validation", &e));
    assert_int_equal(COUNT / 5, e.count);
    assert_true(e.accuracy == run.result.accuracy);
    assert_ok(cull_evaluate(recipe, weights, "train", &e));
    assert_fails(CULL_UNKNOWN_SET, "no set of this name",
                 cull_evaluate(recipe, weights, "other", &e));
    cull_recipe_close(recipe);
    recipe = recipe_in(w, "model.name=lenet5");
    assert_true(cull_evaluate(recipe, weights, "test", &e) != CULL_OK);
    cull_recipe_close(recipe);
}

static void a_damaged_checkpoint_is_refused(void **state)
{
    static const char *const names[] = {"state", "weights"};
    const struct world      *w = *state;
    struct outcome run = train_well(w, &(struct script){.changes = "", .out = "a", .stop_at = 2});

    for (size_t i = 0; i < 2; i++) {
        char           path[300];
        char          *data = NULL;
        size_t         bytes = 0;
        struct outcome outcome;

        (void)snprintf(path, sizeof path, "%s/a/%s", w->folder, i ? run.result.weights : names[i]);
        data = file_text(path, &bytes);
        data[bytes / 2] ^= 1;
        put_file(path, data, bytes);
        assert_true(
            train_apart(w, &(struct script){.changes = "", .out = "a", .resume = true}, &outcome));
        assert_int_equal(i ? CULL_BAD_FILE : CULL_BAD_STATE, outcome.status);
        data[bytes / 2] ^= 1;
        put_file(path, data, bytes);
        free(data);
    }
    (void)train_well(w, &(struct script){.changes = "", .out = "a", .resume = true});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, remove_world)

int main(void)
{
    /* Those that train in this very process come last: a forked child must not inherit threads. */
    const struct CMUnitTest tests[] = {
        TEST(a_run_learns_what_there_is_to_learn),
        TEST(a_run_repeats_bit_for_bit),
        cmocka_unit_test(subsets_are_counted_by_what_became_of_them),
        TEST(filled_and_short_subsets_are_told_where_runs_are_read),
        TEST(what_is_kept_and_what_it_costs_are_told_to_tensorboard),
        cmocka_unit_test(a_state_of_an_older_version_is_refused_with_a_sentence),
        TEST(threads_and_loaders_change_nothing),
        TEST(a_run_killed_at_any_touch_of_a_file_goes_on_bit_for_bit),
        TEST(a_run_killed_after_any_step_goes_on_bit_for_bit),
        TEST(a_run_that_selects_killed_anywhere_goes_on_bit_for_bit),
        TEST(a_run_stopped_twice_goes_on_bit_for_bit_with_running_averages),
        TEST(a_run_of_listed_layers_goes_on_bit_for_bit),
        TEST(a_finished_run_is_not_run_again),
        TEST(a_folder_with_a_run_is_refused_without_resume),
        TEST(another_recipe_is_refused_and_the_key_named),
        TEST(a_full_disk_is_said_and_what_was_committed_stays),
        TEST(a_diverging_loss_ends_the_run_and_run_json_says_why),
        TEST(a_target_or_a_cost_ends_a_run_early),
        TEST(a_damaged_checkpoint_is_refused),
        TEST(evaluation_agrees_with_the_run),
        TEST(a_step_allocates_nothing),
        TEST(a_run_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
