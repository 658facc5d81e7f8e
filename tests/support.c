/* tests/support.c - the allocator that fails on demand, and seeded random data. */
#include "support.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Threads allocate too. */
static atomic_size_t countdown; /* 0: nothing fails any more */
static atomic_bool   failed;

static bool fails_now(void)
{
    size_t left = atomic_load(&countdown);

    while (left > 0)
        if (atomic_compare_exchange_weak(&countdown, &left, left - 1)) break;
    if (left != 1) return false;
    atomic_store(&failed, true);
    return true;
}

static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return fails_now() ? NULL : malloc(bytes);
}

static void *reallocate(void *context, void *data, size_t bytes)
{
    (void)context;
    return fails_now() ? NULL : realloc(data, bytes);
}

static void release(void *context, void *data)
{
    (void)context;
    free(data);
}

void fail_nth_alloc(size_t n)
{
    static const cull_allocator failing = {allocate, reallocate, release, NULL};

    atomic_store(&countdown, n);
    if (n) atomic_store(&failed, false);
    cull_allocator_set(&failing);
}

bool alloc_has_failed(void)
{
    return atomic_load(&failed);
}

double random_uniform(uint64_t seed, uint64_t i)
{
    return cull_key_uniform(cull_key_make(seed, "tests"), 0, i);
}

double random_normal(uint64_t seed, uint64_t i)
{
    double radius = sqrt(-2 * log(random_uniform(seed, 2 * i)));
    return radius * cos(2 * 3.14159265358979323846 * random_uniform(seed, 2 * i + 1));
}

float *normals_f32(uint64_t seed, size_t n)
{
    float *x = malloc(n * sizeof *x);
    for (size_t i = 0; x && i < n; i++) x[i] = (float)random_normal(seed, i);
    return x;
}

double *normals_f64(uint64_t seed, size_t n)
{
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; x && i < n; i++) x[i] = random_normal(seed, i);
    return x;
}

cull_status try_selector(const char *strategy, const char *options, const cull_setting *setting,
                         cull_selector **out)
{
    enum { MOST = 16 };
    char        text[512] = "";
    cull_option pair[MOST];
    size_t      count = 0;
    char       *rest = NULL;

    assert_true(strlen(options) < sizeof text);
    memcpy(text, options, strlen(options) + 1);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');

        assert_true(equals != NULL && count < MOST);
        *equals = '\0';
        pair[count++] = (cull_option){word, equals + 1};
    }
    return cull_selector_create(strategy, pair, count, setting, out);
}

cull_selector *make_selector(const char *strategy, const char *options, const cull_setting *setting)
{
    cull_selector *selector = NULL;

    assert_ok(try_selector(strategy, options, setting, &selector));
    return selector;
}

cull_backend *plain_backend(void)
{
    static cull_backend *backend = NULL;

    if (!backend) assert_ok(cull_backend_open("ref", 1, &backend));
    return backend;
}

cull_status option_status(const char *sentence)
{
    if (strstr(sentence, "no option is called")) return CULL_UNKNOWN_OPTION;
    if (strstr(sentence, "no strategy is called")) return CULL_UNKNOWN_STRATEGY;
    if (strstr(sentence, "no model is called")) return CULL_UNKNOWN_MODEL;
    return strstr(sentence, "cannot save anything") ? CULL_NO_SAVING : CULL_BAD_OPTION;
}
