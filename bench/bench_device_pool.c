/*
 * bench/bench_device_pool.c - selections over a pool whose signals lie on a backend, and whether
 * the solvers' picks there are cpu's.
 *
 *     bench_device_pool [BACKEND [SIZE]]       (cuda, cpu, ...; cifar, imagenet or small; both
 * large)
 *
 * Signals are made row by row from their numbers and uploaded, which is not timed. A line for each
 * strategy: seconds of the least and the median of ROUNDS decisions. A line for its solver: of up
 * to CHECKED classes, how many are picked as by cpu, and how many picks in all are another at their
 * place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "common.h"

enum { ROUNDS = 3, CHUNK = 4096, CHECKED = 20 };

static const struct size {
    const char *name;
    size_t      n, d, c, k;
    bool        craig;
} sizes[] = {
    {"cifar", 50000, 512, 10, 5000, true},
    {"imagenet", 1280000, 512, 1000, 128000, false},
    {"small", 2000, 40, 5, 200, true},
};

struct pool {
    const struct size *size;
    cull_backend      *backend, *cpu;
    cull_kit           kit;
    cull_signals       signals;
    float             *h, *p; /* (CHUNK, D), (CHUNK, C) on the host */
    size_t             first; /* row of the pool that they begin with */
};

/* ---- signals ---- */

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static size_t label_of(const struct size *size, size_t row)
{
    return (size_t)(mix(row) % size->c);
}

/* Features around their class's centre, cut at zero; four from one number. */
static void make_h(const struct size *size, size_t row, float *h)
{
    uint64_t bits = 0, centre = 0, own = mix(row ^ 0x5bd1e995), of = mix(label_of(size, row) << 32);

    for (size_t j = 0; j < size->d; j++, bits >>= 16, centre >>= 16) {
        float x = 0;
        if (j % 4 == 0) bits = mix(own + j), centre = mix(of + j);
        x = (float)(bits & 0xffff) * (4 * 0x1p-16f) - 2 + (float)(centre & 0xffff) * 0x1p-15f - 1;
        h[j] = x > 0 ? x : 0;
    }
}

/* softmax - onehot, with probabilities as uneven as a network's. */
static void make_p(const struct size *size, size_t row, float *p)
{
    uint64_t bits = 0, own = mix(row ^ 0xc2b2ae35);
    size_t   label = label_of(size, row);
    float    sum = 0;

    for (size_t c = 0; c < size->c; c++, bits >>= 16) {
        float u = 0;
        if (c % 4 == 0) bits = mix(own + c);
        u = (float)(bits & 0xffff) * 0x1p-16f;
        u *= u * u * u;
        p[c] = u * u + 1e-6f;
        if (c == label) p[c] += (float)(own & 0xffff) * 0x1p-18f * (float)size->c;
        sum += p[c];
    }
    for (size_t c = 0; c < size->c; c++) p[c] /= sum;
    p[label] -= 1;
}

static void make_row(void *context, size_t task, unsigned worker)
{
    const struct pool *pool = context;
    const struct size *size = pool->size;

    (void)worker;
    make_h(size, pool->first + task, pool->h + task * size->d);
    make_p(size, pool->first + task, pool->p + task * size->c);
}

static cull_status send_rows(struct pool *pool)
{
    cull_status        status = CULL_OK;
    const struct size *size = pool->size;
    cull_backend      *backend = pool->backend;
    size_t             d = size->d * sizeof(float), c = size->c * sizeof(float);
    float             *h = pool->signals.h.data, *p = pool->signals.p.data;

    for (size_t first = 0; first < size->n; first += CHUNK) {
        size_t count = size->n - first < CHUNK ? size->n - first : CHUNK;

        pool->first = first;
        cull_team_run(pool->cpu->team, count, make_row, pool);
        TRY(cull_backend_upload(backend, h + first * size->d, pool->h, count * d));
        TRY(cull_backend_upload(backend, p + first * size->c, pool->p, count * c));
    }
done:
    return status;
}

static cull_status make_signals(struct pool *pool)
{
    cull_status        status = CULL_OK;
    const struct size *size = pool->size;
    cull_device        device = cull_backend_device(pool->backend);
    float             *h = NULL, *p = NULL;
    int32_t           *here = malloc(size->n * sizeof *here), *label = NULL;

    pool->h = malloc(CHUNK * size->d * sizeof *pool->h);
    pool->p = malloc(CHUNK * size->c * sizeof *pool->p);
    if (!here || !pool->h || !pool->p) FAIL(CULL_NO_MEMORY, "no memory for signals");
    TRY(cull_kit_allocate(&pool->kit, size->n, size->d * sizeof *h, "signals", &h));
    TRY(cull_kit_allocate(&pool->kit, size->n, size->c * sizeof *p, "signals", &p));
    TRY(cull_kit_allocate(&pool->kit, size->n, sizeof *label, "signals", &label));
    for (size_t i = 0; i < size->n; i++) here[i] = (int32_t)label_of(size, i);
    TRY(cull_backend_upload(pool->backend, label, here, size->n * sizeof *label));
    pool->signals = (cull_signals){.count = size->n,
                                   .device = device,
                                   .h = cull_matrix(h, CULL_F32, size->n, size->d),
                                   .p = cull_matrix(p, CULL_F32, size->n, size->c),
                                   .label = cull_vector(label, CULL_I32, size->n)};
    pool->signals.h.device = pool->signals.p.device = pool->signals.label.device = device;
    TRY(send_rows(pool));
    TRY(cull_backend_wait(pool->backend));
done:
    free(here);
    return status;
}

/* ---- strategies ---- */

static cull_status time_strategy(struct pool *pool, const char *strategy)
{
    cull_status  status = CULL_OK;
    cull_setting setting = {
        .pool = pool->size->n, .epochs = 100, .seed = 1, .backend = pool->backend};
    cull_selector *selector = NULL;
    cull_subset    subset = {.backend = cull_backend_on_host(pool->backend) ? NULL : pool->backend,
                             .device = cull_backend_device(pool->backend)};
    double         seconds[ROUNDS];

    TRY(cull_selector_create(strategy, NULL, 0, &setting, &selector));
    for (size_t r = 0; r < ROUNDS; r++) {
        double start = cull_base_seconds();

        pool->signals.epoch = r;
        TRY(cull_select(selector, &pool->signals, pool->size->k, &subset));
        TRY(cull_backend_wait(pool->backend));
        seconds[r] = cull_base_seconds() - start;
    }
    bench_sort(seconds, ROUNDS);
    (void)printf("{\"case\":\"%s %s\",\"backend\":\"%s\",\"seconds\":%.4f,\"median\":%.4f,"
                 "\"count\":%zu,\"picked\":%zu}\n",
                 strategy, pool->size->name, cull_backend_describe(pool->backend), seconds[0],
                 seconds[ROUNDS / 2], subset.count, subset.picked);
    (void)fflush(stdout);
done:
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    return status;
}

/* ---- picks ---- */

/* A class as a problem of a solver, on the backend and for cpu. */
struct class
{
    size_t    n, k;
    uint32_t *row, *picks, *there_row, *there_index; /* [n], [k] picked by cpu             */
    float    *h, *p;                                 /* (n, D), (n, C) of these rows, here */
    double   *weight, *there_weight, *b, *there_b;
};

static void drop_class(struct class *x)
{
    free(x->row);
    free(x->picks);
    free(x->h);
    free(x->p);
    free(x->weight);
    free(x->b);
}

static cull_status make_class(struct pool *pool, cull_kit *kit, size_t c, struct class *x)
{
    cull_status        status = CULL_OK;
    const struct size *size = pool->size;

    *x = (struct class){.row = malloc(size->n * sizeof *x->row)};
    for (size_t i = 0; x->row && i < size->n; i++)
        if (label_of(size, i) == c) x->row[x->n++] = (uint32_t)i;
    x->k = x->n * size->k / size->n;
    x->picks = malloc(2 * x->k * sizeof *x->picks);
    x->h = malloc(x->n * size->d * sizeof *x->h);
    x->p = malloc(x->n * size->c * sizeof *x->p);
    x->weight = malloc(x->k * sizeof *x->weight);
    x->b = malloc((size->d + 1) * sizeof *x->b);
    if (!x->row || !x->picks || !x->h || !x->p || !x->weight || !x->b || x->k == 0)
        FAIL(CULL_NO_MEMORY, "no memory for a class");
    for (size_t i = 0; i < x->n; i++) {
        make_h(size, x->row[i], x->h + i * size->d);
        make_p(size, x->row[i], x->p + i * size->c);
    }
    TRY(cull_kit_allocate(kit, x->n, sizeof *x->row, "a class", &x->there_row));
    TRY(cull_kit_allocate(kit, x->k, sizeof *x->picks, "a class", &x->there_index));
    TRY(cull_kit_allocate(kit, x->k, sizeof *x->weight, "a class", &x->there_weight));
    TRY(cull_kit_allocate(kit, size->d + 1, sizeof *x->b, "a class", &x->there_b));
    TRY(cull_backend_upload(pool->backend, x->there_row, x->row, x->n * sizeof *x->row));
done:
    return status;
}

static cull_status pursue(struct pool *pool, cull_kit *kit, size_t c, struct class *x)
{
    cull_status      status = CULL_OK;
    cull_signals    *s = &pool->signals;
    size_t           bytes = (pool->size->d + 1) * sizeof *x->b;
    cull_tensor      p = s->p;
    cull_omp_options options = {.ridge = .5, .tolerance = 1e-6};
    cull_omp_problem problem = {.count = x->n,
                                .budget = x->k,
                                .h = s->h,
                                .p = s->p,
                                .row = x->there_row,
                                .column = (int32_t)c,
                                .b = x->there_b,
                                .index = x->there_index,
                                .weight = x->there_weight};
    cull_op_args     args = {0};

    p.data = (float *)p.data + c;
    p.shape[1] = 1;
    args = (cull_op_args){.gradient = {&s->h, &p, x->there_row, x->n, x->there_b}};
    TRY(cull_kit_run(kit, CULL_OP_GRADIENT, x->n, &args));
    TRY(cull_backend_download(pool->backend, x->b, x->there_b, bytes));
    args = (cull_op_args){.omp = {&problem, 1, &options}};
    TRY(cull_kit_run(kit, CULL_OP_OMP, x->n, &args));
    problem.h = cull_matrix(x->h, CULL_F32, x->n, pool->size->d);
    problem.p = cull_matrix(x->p, CULL_F32, x->n, pool->size->c);
    problem.row = NULL;
    problem.b = x->b;
    problem.index = x->picks;
    problem.weight = x->weight;
    TRY(cull_omp(pool->cpu, &problem, 1, &options));
done:
    return status;
}

static cull_status locate(struct pool *pool, cull_kit *kit, struct class *x)
{
    cull_status           status = CULL_OK;
    cull_facility_options options = {.memory = (size_t)1 << 32};
    cull_facility_problem problem = {.count = x->n,
                                     .budget = x->k,
                                     .h = pool->signals.h,
                                     .p = pool->signals.p,
                                     .row = x->there_row,
                                     .index = x->there_index,
                                     .weight = x->there_weight};
    cull_op_args          args = {.facility = {&problem, 1, &options}};

    TRY(cull_kit_run(kit, CULL_OP_FACILITY, x->n, &args));
    problem.h = cull_matrix(x->h, CULL_F32, x->n, pool->size->d);
    problem.p = cull_matrix(x->p, CULL_F32, x->n, pool->size->c);
    problem.row = NULL;
    problem.index = x->picks;
    problem.weight = x->weight;
    TRY(cull_facility(pool->cpu, &problem, 1, &options));
done:
    return status;
}

static cull_status check_picks(struct pool *pool, const char *solver, bool facility)
{
    cull_status status = CULL_OK;
    cull_kit    kit = {.backend = pool->backend};
    struct class x = {0};
    size_t classes = pool->size->c < CHECKED ? pool->size->c : CHECKED, equal = 0, others = 0;

    for (size_t c = 0; c < classes; c++) {
        size_t before = others;

        TRY(make_class(pool, &kit, c, &x));
        TRY(facility ? locate(pool, &kit, &x) : pursue(pool, &kit, c, &x));
        TRY(cull_backend_download(pool->backend, x.picks + x.k, x.there_index,
                                  x.k * sizeof *x.picks));
        for (size_t i = 0; i < x.k; i++) others += x.picks[i] != x.picks[x.k + i];
        equal += others == before;
        drop_class(&x);
        x = (struct class){0};
        cull_kit_clear(&kit);
    }
    (void)printf("{\"case\":\"%s %s\",\"backend\":\"%s\",\"classes\":%zu,\"picked_as_cpu\":%zu,"
                 "\"other_picks\":%zu}\n",
                 solver, pool->size->name, cull_backend_describe(pool->backend), classes, equal,
                 others);
    (void)fflush(stdout);
done:
    drop_class(&x);
    cull_kit_clear(&kit);
    return status;
}

static cull_status run(const char *backend, const struct size *size)
{
    cull_status status = CULL_OK;
    struct pool pool = {.size = size};

    TRY(cull_backend_open(backend, 0, &pool.backend));
    TRY(cull_backend_open("cpu", 0, &pool.cpu));
    pool.kit.backend = pool.backend;
    TRY(make_signals(&pool));
    TRY(time_strategy(&pool, "grad-match"));
    if (size->craig) TRY(time_strategy(&pool, "craig"));
    TRY(check_picks(&pool, "pursuit", false));
    if (size->craig) TRY(check_picks(&pool, "facility", true));
done:
    if (status != CULL_OK) (void)fprintf(stderr, "%s: %s\n", size->name, cull_last_error());
    if (pool.backend) cull_kit_clear(&pool.kit);
    free(pool.h);
    free(pool.p);
    cull_backend_close(pool.cpu);
    cull_backend_close(pool.backend);
    return status;
}

int main(int argc, char **argv)
{
    const char *backend = argc > 1 ? argv[1] : "cuda", *wanted = argc > 2 ? argv[2] : NULL;
    int         failed = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (wanted ? strcmp(wanted, sizes[i].name) != 0 : strcmp("small", sizes[i].name) == 0)
            continue;
        failed |= run(backend, sizes + i) != CULL_OK;
    }
    return failed;
}
