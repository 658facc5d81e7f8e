/* bench/bench_ops.c - time of the small operations and products, one JSON line a case. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "common.h"

enum { ROUNDS = 15 };

/* Microseconds of one run; a round is long enough for the clock. */
static void report(const char *name, cull_op *op, const cull_op_args *args)
{
    double round[ROUNDS], begin = cull_base_seconds(), once = 0;
    size_t repeat = 1;

    if (cull_op_run(op, args)) return;
    once = cull_base_seconds() - begin;
    if (once < 2e-3) repeat = (size_t)(2e-3 / (once + 1e-7)) + 1;
    for (int r = 0; r < ROUNDS; r++) {
        begin = cull_base_seconds();
        for (size_t i = 0; i < repeat; i++) (void)cull_op_run(op, args);
        round[r] = (cull_base_seconds() - begin) / (double)repeat;
    }
    bench_tell(name, round, ROUNDS);
}

static void time_op(cull_backend *backend, const char *name, cull_op_kind kind, size_t rows,
                    const cull_op_args *args)
{
    cull_op     *op = NULL;
    cull_op_desc desc = {.kind = kind, .rows = rows};

    if (cull_op_ready(backend, &desc, &op) == CULL_OK) report(name, op, args);
    cull_op_destroy(op);
}

static void time_small(cull_backend *backend, size_t n)
{
    double   *x = malloc(n * sizeof *x), *out = malloc(n * sizeof *out);
    uint32_t *index = malloc(n * sizeof *index);
    cull_key  key = cull_key_make(1, "bench");
    char      name[64];

    if (!x || !out || !index) goto done;
    for (size_t i = 0; i < n; i++) x[i] = (double)(float)cull_key_uniform(key, 0, i);
    (void)snprintf(name, sizeof name, "rank n=%zu", n);
    time_op(backend, name, CULL_OP_RANK, n, &(cull_op_args){.rank = {n, x, out}});
    (void)snprintf(name, sizeof name, "keys n=%zu", n);
    time_op(backend, name, CULL_OP_KEYS, n, &(cull_op_args){.keys = {n, key, 0, NULL, x, out}});
    (void)snprintf(name, sizeof name, "top n=%zu m=%zu", n, n * 3 / 10);
    time_op(backend, name, CULL_OP_TOP, n,
            &(cull_op_args){.top = {n, n * 3 / 10, out, false, index}});
done:
    free(x);
    free(out);
    free(index);
}

static void time_gram(cull_backend *backend, size_t n, size_t d, size_t c, cull_dtype dtype)
{
    size_t      size = cull_dtype_size(dtype);
    void       *h = malloc(n * d * size), *p = malloc(n * c * size);
    double     *k = malloc(n * n * sizeof *k), *t = malloc(n * sizeof *t), b2 = 0;
    cull_tensor th = cull_matrix(h, dtype, n, d), tp = cull_matrix(p, dtype, n, c);
    cull_key    key = cull_key_make(2, "bench");
    char        name[96];

    if (!h || !p || !k || !t) goto done;
    for (size_t i = 0; i < n * (d + c); i++) {
        double x = cull_key_uniform(key, 0, i) - 0.5;
        if (dtype == CULL_F32)
            *((i < n * d ? (float *)h : (float *)p - n * d) + i) = (float)x;
        else
            *((i < n * d ? (double *)h : (double *)p - n * d) + i) = x;
    }
    (void)snprintf(name, sizeof name, "gram %s n=%zu D=%zu C=%zu", cull_dtype_name(dtype), n, d, c);
    time_op(backend, name, CULL_OP_GRAM, n,
            &(cull_op_args){.gram = {.h = &th, .p = &tp, .k = k, .t = t, .b2 = &b2}});
done:
    free(h);
    free(p);
    free(k);
    free(t);
}

int main(int argc, char **argv)
{
    const size_t  small[] = {128, 512, 1280, 50000, 1000000};
    unsigned      threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    cull_backend *backend = NULL;

    if (cull_backend_open("cpu", threads, &backend))
        return fprintf(stderr, "%s\n", cull_last_error()), 1;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) time_small(backend, small[i]);
    time_gram(backend, 128, 512, 10, CULL_F32);
    time_gram(backend, 128, 512, 10, CULL_F64);
    time_gram(backend, 128, 512, 100, CULL_F32);
    time_gram(backend, 512, 512, 10, CULL_F32);
    time_gram(backend, 1280, 512, 10, CULL_F32);
    time_gram(backend, 1280, 512, 10, CULL_F64);
    cull_backend_close(backend);
    return 0;
}
