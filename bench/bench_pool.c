/*
 * bench/bench_pool.c - one selection over a pool of synthetic last-layer signals.
 *
 *     bench_pool --strategy grad-match --n 50000 --d 512 --c 10 --k 5000 \
 *                [--threads 2] [--batch 128] [--options scope=class ridge=0.5 ...]
 *
 * Prints the seconds of the one decision, by the clock and of all cores, the peak memory beyond the
 * caller's arrays, and how far the subset's gradient is from the pool's (squared, as a share).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "cull.h"

enum { MOST_OPTIONS = 16, MOST_TARGET = 1000 };

struct work {
    const char  *strategy;
    size_t       n, d, c, k, batch, threads;
    cull_option  options[MOST_OPTIONS];
    size_t       option_count;
    float       *centre; /* (c, d) */
    cull_signals signals;
};

struct block {
    size_t   n;
    float   *h, *p, *logits;
    int32_t *label;
};

/* splitmix64: synthetic data only has to be quick and the same every time. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static float uniform(uint64_t *state)
{
    return (float)(next(state) >> 40) * 0x1p-24f;
}

/* Features around their class's centre, cut at zero; four draws from one number. */
static void fill_features(const struct work *w, const float *centre, uint64_t *state, float *h)
{
    uint64_t bits = 0;

    for (size_t j = 0; j < w->d; j++, bits >>= 16) {
        float noise = 0;
        if (j % 4 == 0) bits = next(state);
        noise = (float)(bits & 0xffff) * (4 * 0x1p-16f) - 2;
        h[j] = centre[j] + noise > 0 ? centre[j] + noise : 0;
    }
}

/* softmax - onehot: u^8 gives probabilities as uneven as a network's. */
static void fill_gradient(const struct work *w, size_t label, uint64_t *state, float *p,
                          float *logits)
{
    float sum = 0;

    for (size_t c = 0; c < w->c; c++) {
        float u = uniform(state), u2 = u * u;
        p[c] = u2 * u2 * u2 * u2 + 1e-6f;
        if (c == label) p[c] += uniform(state) * (float)w->c / 4;
        sum += p[c];
    }
    for (size_t c = 0; c < w->c; c++) {
        p[c] /= sum;
        if (logits) logits[c] = logf(p[c]);
    }
    p[label] -= 1;
}

static int fill(const struct work *w, size_t n, uint64_t seed, bool logits, struct block *out)
{
    uint64_t state = seed;

    *out = (struct block){.n = n};
    out->h = malloc(n * w->d * sizeof *out->h);
    out->p = malloc(n * w->c * sizeof *out->p);
    out->label = malloc(n * sizeof *out->label);
    if (logits) out->logits = malloc(n * w->c * sizeof *out->logits);
    if (!out->h || !out->p || !out->label || (logits && !out->logits)) return 1;
    for (size_t i = 0; i < n; i++) {
        size_t label = (size_t)(next(&state) % w->c);
        out->label[i] = (int32_t)label;
        fill_features(w, w->centre + label * w->d, &state, out->h + i * w->d);
        fill_gradient(w, label, &state, out->p + i * w->c, logits ? out->logits + i * w->c : NULL);
    }
    return 0;
}

static int make_signals(struct work *w)
{
    uint64_t     state = 3;
    struct block pool = {0}, target = {0};
    size_t       count = w->n / 10 < MOST_TARGET ? w->n / 10 + 1 : MOST_TARGET;

    w->centre = malloc(w->c * w->d * sizeof *w->centre);
    if (!w->centre) return 1;
    for (size_t i = 0; i < w->c * w->d; i++) w->centre[i] = uniform(&state) * 2 - 1;
    if (fill(w, w->n, 1, false, &pool) || fill(w, count, 2, true, &target)) return 1;
    w->signals = (cull_signals){.count = w->n,
                                .h = cull_matrix(pool.h, CULL_F32, w->n, w->d),
                                .p = cull_matrix(pool.p, CULL_F32, w->n, w->c),
                                .label = cull_vector(pool.label, CULL_I32, w->n)};
    w->signals.target = (cull_target){.count = count,
                                      .h = cull_matrix(target.h, CULL_F32, count, w->d),
                                      .p = cull_matrix(target.p, CULL_F32, count, w->c),
                                      .label = cull_vector(target.label, CULL_I32, count),
                                      .logits = cull_matrix(target.logits, CULL_F32, count, w->c)};
    return 0;
}

/* MiB at most so far; seconds of all threads: what the decision cost, whatever else the machine was
 * doing. */
static double take_usage(double *seconds)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    *seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return (double)usage.ru_maxrss / 1024;
}

/* key=value, to the end of the arguments. */
static int take_options(struct work *w, int argc, char **argv)
{
    for (int i = 0; i < argc && w->option_count < MOST_OPTIONS; i++) {
        char *equals = strchr(argv[i], '=');

        if (!equals) return fprintf(stderr, "%s: key=value expected\n", argv[i]), 1;
        *equals = '\0';
        w->options[w->option_count++] = (cull_option){argv[i], equals + 1};
    }
    return 0;
}

static int take_arguments(struct work *w, int argc, char **argv)
{
    const struct {
        const char *name;
        size_t     *number;
    } known[] = {{"--n", &w->n}, {"--d", &w->d},         {"--c", &w->c},
                 {"--k", &w->k}, {"--batch", &w->batch}, {"--threads", &w->threads}};

    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        size_t      k = 0, all = sizeof known / sizeof *known;

        if (strcmp(argv[i], "--options") == 0) return take_options(w, argc - i - 1, argv + i + 1);
        while (k < all && strcmp(argv[i], known[k].name) != 0) k++;
        if (strcmp(argv[i], "--strategy") == 0)
            w->strategy = value;
        else if (k < all)
            *known[k].number = strtoul(value, NULL, 10);
        else
            return fprintf(stderr, "%s: unknown\n", argv[i]), 1;
    }
    return w->n < 1 || w->d < 1 || w->c < 1;
}

static int measure(struct work *w)
{
    cull_setting   setting = {.pool = w->n, .batch = w->batch, .epochs = 100, .seed = 1};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    cull_diagnosis diagnosis = {0};
    double before = 0, peak = 0, start = 0, seconds = 0, cores_before = 0, cores = 0, sum = 0;
    int    failed = 1;

    if (cull_backend_open("cpu", (unsigned)w->threads, &setting.backend)) goto done;
    if (cull_selector_create(w->strategy, w->options, w->option_count, &setting, &selector))
        goto done;
    before = take_usage(&cores_before);
    start = cull_base_seconds();
    if (cull_select(selector, &w->signals, w->k, &subset)) goto done;
    seconds = cull_base_seconds() - start;
    peak = take_usage(&cores);
    for (size_t i = 0; i < subset.count; i++) sum += subset.weight[i];
    if (cull_diagnose(setting.backend, &w->signals, &subset, NULL, &diagnosis)) goto done;
    printf("{\"case\":\"%s n=%zu d=%zu c=%zu k=%zu threads=%zu\",\"options\":\"%s\",", w->strategy,
           w->n, w->d, w->c, w->k, w->threads, cull_selector_options(selector));
    printf("\"seconds\":%.3f,\"core_seconds\":%.3f,\"beyond_mib\":%.0f,", seconds,
           cores - cores_before, peak - before);
    printf("\"count\":%zu,\"picked\":%zu,\"mean_weight\":%.6f,\"error\":%.3g}\n", subset.count,
           subset.picked, subset.count ? sum / (double)subset.count : 0,
           diagnosis.error / diagnosis.full);
    failed = 0;
done:
    if (failed) fprintf(stderr, "%s: %s\n", w->strategy, cull_last_error());
    cull_diagnosis_clear(&diagnosis);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    cull_backend_close(setting.backend);
    return failed;
}

static void release(struct work *w)
{
    free(w->centre);
    free(w->signals.h.data);
    free(w->signals.p.data);
    free(w->signals.label.data);
    free(w->signals.target.h.data);
    free(w->signals.target.p.data);
    free(w->signals.target.label.data);
    free(w->signals.target.logits.data);
}

int main(int argc, char **argv)
{
    struct work w = {.strategy = "grad-match",
                     .n = 50000,
                     .d = 512,
                     .c = 10,
                     .k = 5000,
                     .batch = 128,
                     .threads = 2};
    int         failed = 0;

    if (take_arguments(&w, argc, argv)) return 2;
    failed = make_signals(&w);
    if (failed)
        fprintf(stderr, "no memory for the signals\n");
    else
        failed = measure(&w);
    release(&w);
    return failed;
}
