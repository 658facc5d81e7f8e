/*
 * bench/bench_device_step.c - whole steps of real runs on a backend: what selection costs there.
 *
 *     bench_device_step BACKEND [KEY=VALUE]...       (BACKEND: cuda, cpu, ...; keys of recipes)
 *
 * Runs of the recipe below, changed by the keys given, on made-up pictures that lie on the device:
 * order, augmentation, scoring, decision, backward and update of every step, as `cull train` takes
 * them, without evaluations and files. Each case is first run until its steps are recorded; then
 * the cases take turns, STEPS steps each, waited for at the end, ROUNDS times. A line of JSON a
 * case: the median and the least of the rounds, in milliseconds a step, and the share of the full
 * step. CASES names those to run (all of them), STEPS_EACH their steps.
 *
 * TEXTS=LENGTH: made-up texts of so many tokens instead, batches of 32 and AdamW; the network by
 * keys, as model.name=bert model.path=FOLDER model.dropout=0.1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "common.h"
#include "lab/recipe/recipe.h"
#include "train/train.h"

enum { WARM = 24, STEPS = 400, ROUNDS = 5, MOST_KEYS = 24, PICTURES = 25600, EXTENT = 32 };
enum { MADE_TEXTS = 6400, PIECES = 30522 };

static const char recipe_text[] =
    "model: {name: resnet18}\n"
    "augment: {crop: 4, flip: true}\n"
    "optim: {lr: 0.01, momentum: 0.9, nesterov: true, weight_decay: 0.0005}\n"
    "train: {epochs: 1000, batch: 128, threads: 1, log: 0}\n";

static const char text_recipe[] =
    "model: {name: transformer-6-384}\n"
    "optim: {name: adamw, lr: 2e-5, weight_decay: 0.01, decay: weights}\n"
    "train: {epochs: 1000, batch: 32, threads: 1, log: 0}\n";

/* What a case adds to the keys given. */
struct run {
    const char   *name, *strategy, *keep, *pass;
    cull_recipe  *recipe;
    cull_trainer *t;
    double        ms[ROUNDS];
};

static struct run runs[] = {
    {.name = "full", .strategy = "full"},
    {.name = "random .3", .strategy = "random", .keep = "0.3"},
    {.name = "sb separate .1", .strategy = "sb", .keep = "0.1"},
    {.name = "sb separate .3", .strategy = "sb", .keep = "0.3"},
    {.name = "sb separate .5", .strategy = "sb", .keep = "0.5"},
    {.name = "sb reuse .1", .strategy = "sb", .keep = "0.1", .pass = "reuse"},
    {.name = "sb reuse .3", .strategy = "sb", .keep = "0.3", .pass = "reuse"},
    {.name = "sb reuse .5", .strategy = "sb", .keep = "0.5", .pass = "reuse"},
    {.name = "sb remembered .1", .strategy = "sb remembered", .keep = "0.1"},
    {.name = "sb remembered .3", .strategy = "sb remembered", .keep = "0.3"},
    {.name = "sb remembered .5", .strategy = "sb remembered", .keep = "0.5"},
    {.name = "gradmatch reuse .1", .strategy = "gradmatch", .keep = "0.1", .pass = "reuse"},
    {.name = "gradmatch reuse .3", .strategy = "gradmatch", .keep = "0.3", .pass = "reuse"},
    {.name = "gradmatch reuse .5", .strategy = "gradmatch", .keep = "0.5", .pass = "reuse"},
};
enum { RUNS = sizeof runs / sizeof *runs };

/* Bytes and labels of which nothing can be learnt. */
static cull_status write_pictures(const char *path)
{
    cull_status status = CULL_OK;
    size_t      row = (size_t)3 * EXTENT * EXTENT;
    uint8_t    *x = malloc(PICTURES * row);
    int32_t     y[PICTURES];
    cull_key    key = cull_key_make(1, "pictures");
    cull_array  arrays[] = {{"x", cull_images(x, CULL_U8, PICTURES, 3, EXTENT, EXTENT)},
                            {"y", cull_vector(y, CULL_I32, PICTURES)}};

    if (!x) FAIL(CULL_NO_MEMORY, "no memory for pictures");
    for (size_t i = 0; i < PICTURES * row; i++) x[i] = (uint8_t)(256 * cull_key_uniform(key, 0, i));
    for (size_t i = 0; i < PICTURES; i++) y[i] = (int32_t)(10 * cull_key_uniform(key, 1, i));
    TRY(cull_arrays_write(path, arrays, 2));
done:
    free(x);
    return status;
}

static cull_status write_texts(const char *path, size_t length)
{
    cull_status status = CULL_OK;
    int32_t    *x = calloc(MADE_TEXTS, length * sizeof *x), y[MADE_TEXTS];
    int64_t     pieces = PIECES;
    cull_key    key = cull_key_make(1, "texts");
    cull_array  arrays[] = {{"x", cull_matrix(x, CULL_I32, MADE_TEXTS, length)},
                            {"y", cull_vector(y, CULL_I32, MADE_TEXTS)},
                            {"vocabulary", cull_vector(&pieces, CULL_I64, 1)}};

    if (!x) FAIL(CULL_NO_MEMORY, "no memory for texts");
    for (size_t i = 0; i < MADE_TEXTS * length; i++)
        x[i] = (int32_t)(PIECES * cull_key_uniform(key, 0, i));
    for (size_t i = 0; i < MADE_TEXTS; i++) y[i] = (int32_t)(2 * cull_key_uniform(key, 1, i));
    TRY(cull_arrays_write(path, arrays, 3));
done:
    free(x);
    return status;
}

static cull_status open_run(struct run *r, const char *recipe, const char *path,
                            const char *backend, int given, char **keys)
{
    cull_status status = CULL_OK;
    cull_needs  needs = {0};
    char        text[MOST_KEYS][128];
    cull_option option[MOST_KEYS + 8] = {{"data.name", path},
                                         {"data.split", "0.1"},
                                         {"train.backend", backend},
                                         {"select.strategy", r->strategy}};
    size_t      count = 4;

    if (r->keep) option[count++] = (cull_option){"select.keep", r->keep};
    if (r->pass) option[count++] = (cull_option){"score.pass", r->pass};
    for (int i = 0; i < given && i < MOST_KEYS; i++) {
        char *equals = NULL;

        (void)snprintf(text[i], sizeof text[i], "%s", keys[i]);
        equals = strchr(text[i], '=');
        if (!equals) FAIL(CULL_BAD_OPTION, "%s is not KEY=VALUE", keys[i]);
        *equals = '\0';
        option[count++] = (cull_option){text[i], equals + 1};
    }
    TRY(cull_recipe_parse("bench", recipe, strlen(recipe), option, count, &r->recipe));
    TRY(cull_trainer_create(&r->recipe->setup, true, &r->t));
    TRY(cull_trainer_begin(r->t));
    TRY(cull_train_begin_epoch(r->t, &needs));
done:
    return status;
}

/* As train_epoch() does, without what is read between steps. */
static cull_status take_steps(struct run *r, size_t count)
{
    cull_status      status = CULL_OK;
    cull_step_values v = {0};
    cull_trainer    *t = r->t;

    for (size_t i = 0; i < count; i++) {
        cull_sel_course course = cull_train_course(t);

        if (cull_sel_course_over(&course)) {
            TRY(cull_books_settle(&t->books, &t->learner, &t->progress));
            TRY(cull_train_enter_epoch(t, t->progress.epoch + 1, &v.asked.needs));
        }
        TRY(cull_train_step(t, &v));
    }
    TRY(cull_books_settle(&t->books, &t->learner, &t->progress));
    TRY(cull_backend_wait(t->backend));
done:
    return status;
}

static void drop(struct run *r)
{
    (void)fprintf(stderr, "%s: %s\n", r->name, cull_last_error());
    cull_trainer_destroy(r->t);
    r->t = NULL;
}

/* A case that fails is out; the others are told all the same. */
static void measure(struct run *all, size_t steps)
{
    for (size_t i = 0; i < RUNS; i++)
        if (all[i].t && take_steps(&all[i], WARM) != CULL_OK) drop(&all[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < RUNS; i++) {
            double begin = cull_base_seconds();

            if (!all[i].t) continue;
            if (take_steps(&all[i], steps) != CULL_OK) drop(&all[i]);
            all[i].ms[round] = 1e3 * (cull_base_seconds() - begin) / (double)steps;
        }
}

/* How many there were. */
static size_t report(const char *backend, size_t length)
{
    double full = NAN;
    size_t told = 0;

    for (size_t i = 0; i < RUNS; i++) {
        struct run *r = &runs[i];

        if (!r->t) continue;
        told++;
        bench_sort(r->ms, ROUNDS);
        if (i == 0) full = r->ms[ROUNDS / 2];
        printf("{\"bench\":\"device_step\",\"backend\":\"%s\",\"model\":\"%s\",\"batch\":%zu,"
               "\"tokens\":%zu,\"case\":\"%s\",\"ms\":%.4f,\"least_ms\":%.4f",
               backend, r->recipe->setup.model, r->recipe->setup.batch, length, r->name,
               r->ms[ROUNDS / 2], r->ms[0]);
        if (isfinite(full)) printf(",\"share\":%.3f", r->ms[ROUNDS / 2] / full);
        puts("}");
    }
    return told;
}

int main(int argc, char **argv)
{
    cull_status status = CULL_OK;
    size_t      asked = 0, told = 0;
    char        folder[] = "/tmp/cull-bench-XXXXXX", path[64] = "";
    const char *only = getenv("CASES"), *count = getenv("STEPS_EACH"), *texts = getenv("TEXTS");
    const char *recipe = texts ? text_recipe : recipe_text;
    size_t      length = texts ? strtoul(texts, NULL, 10) : 0;
    size_t      steps = count ? strtoul(count, NULL, 10) : STEPS;

    if (argc < 2) return fprintf(stderr, "bench_device_step BACKEND [KEY=VALUE]...\n"), 2;
    bench_wait_passively(argv);
    if (!mkdtemp(folder)) FAIL(CULL_IO, "%s: cannot be made", folder);
    (void)snprintf(path, sizeof path, "%s/made.npz", folder);
    TRY(texts ? write_texts(path, length) : write_pictures(path));
    for (size_t i = 0; i < RUNS; i++) {
        if (only && !strstr(only, runs[i].name)) continue;
        asked++;
        if (open_run(&runs[i], recipe, path, argv[1], argc - 2, argv + 2) != CULL_OK)
            drop(&runs[i]);
    }
    measure(runs, steps);
    told = report(argv[1], length);
done:
    if (status != CULL_OK) (void)fprintf(stderr, "bench_device_step: %s\n", cull_last_error());
    for (size_t i = 0; i < RUNS; i++) {
        cull_trainer_destroy(runs[i].t);
        cull_recipe_close(runs[i].recipe);
    }
    (void)unlink(path);
    (void)rmdir(folder);
    return status != CULL_OK || told < asked;
}
