/*
 * backend/cpu/gradient.c - the last layer's gradient over some rows.
 *
 *     B = sum over rows of p_i (x) [h_i; 1]      H (N, D)   P (N, C)   B (C, D+1)
 *
 * Threads share out strips of B's columns. A strip sees the rows in blocks that fit a
 * near cache, in order, so every entry of B is one sum over the rows from first to last.
 */
#include "backend/cpu/cpu.h"
#include "backend/cpu/rows.h"
#include "base/alloc.h"

enum { WIDTH = CULL_STRIP, BLOCK = 64, AHEAD = 8 };

struct gradient {
    cull_op base;
    double *room; /* for each thread: (BLOCK, WIDTH) of H, (BLOCK, C) of P, (C, WIDTH) of B */
    size_t  classes;
};

struct job {
    const struct gradient *gradient;
    const cull_sums       *sums;
    const cull_op_args    *args;
};

static size_t share(size_t classes)
{
    return (size_t)BLOCK * WIDTH + classes * (BLOCK + WIDTH);
}

static void destroy(cull_op *op)
{
    struct gradient *gradient = (struct gradient *)op;

    cull_base_free_aligned(gradient->room);
    cull_base_free(gradient);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status      status = CULL_OK;
    struct gradient *gradient = NULL;

    (void)backend;
    (void)desc;
    TRY(cull_base_alloc(1, sizeof *gradient, "an operation", &gradient));
    *out = &gradient->base;
done:
    return status;
}

static cull_status make_room(struct gradient *gradient, size_t classes)
{
    cull_status status = CULL_OK;
    double     *room = NULL;
    size_t      threads = cull_team_size(gradient->base.backend->team);

    if (gradient->room && classes <= gradient->classes) return CULL_OK;
    TRY(cull_base_alloc_aligned(threads, share(classes) * sizeof *room, "a gradient", &room));
    cull_base_free_aligned(gradient->room);
    gradient->room = room;
    gradient->classes = classes;
done:
    return status;
}

/* A strip of a row is too short for the machine to guess where the next one lies. */
static void fetch(const cull_tensor *h, size_t row, size_t first, size_t count)
{
    size_t      size = cull_dtype_size(h->dtype);
    const char *at = (const char *)cull_tensor_row(h, row) + first * size;

    for (size_t line = 0; line < count * size; line += 64) __builtin_prefetch(at + line);
}

/* One strip of B's first D columns; the first strip's task also sums the last column. */
static void make_strip(void *context, size_t task, unsigned worker)
{
    const struct job  *job = context;
    const cull_tensor *h = job->args->gradient.h, *p = job->args->gradient.p;
    const uint32_t    *row = job->args->gradient.row;
    size_t             rows = job->args->gradient.rows, d = (size_t)h->shape[1];
    size_t             first = task * WIDTH, count = d - first < WIDTH ? d - first : WIDTH;
    size_t             classes = (size_t)p->shape[1];
    double            *out = job->args->gradient.b;
    double            *a = job->gradient->room + worker * share(job->gradient->classes);
    double            *b = a + (size_t)BLOCK * WIDTH, *factor = b + classes * WIDTH;

    memset(a, 0, ((size_t)BLOCK + classes) * WIDTH * sizeof *a);
    for (size_t c = 0; task == 0 && c < classes; c++) out[c * (d + 1) + d] = 0;
    for (size_t block = 0; block < rows; block += BLOCK) {
        size_t m = rows - block < BLOCK ? rows - block : BLOCK;
        for (size_t i = 0; i < m; i++) {
            size_t at = row ? row[block + i] : block + i;
            if (i + AHEAD < m) fetch(h, row ? row[block + i + AHEAD] : at + AHEAD, first, count);
            cull_cpu_row(job->sums, h, at, first, count, a + i * WIDTH);
            cull_cpu_row(job->sums, p, at, 0, classes, factor + i * classes);
        }
        job->sums->outer(m, classes, factor, a, b);
        for (size_t i = 0; task == 0 && i < m * classes; i++)
            out[i % classes * (d + 1) + d] += factor[i];
    }
    for (size_t c = 0; c < classes; c++)
        memcpy(out + c * (d + 1) + first, b + c * WIDTH, count * sizeof *b);
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status      status = CULL_OK;
    struct gradient *gradient = (struct gradient *)op;
    struct job       job = {gradient, cull_cpu_kernels(op->backend)->sums, args};
    size_t           d = (size_t)args->gradient.h->shape[1];

    TRY(make_room(gradient, (size_t)args->gradient.p->shape[1]));
    cull_team_run(op->backend->team, (d + WIDTH - 1) / WIDTH, make_strip, &job);
done:
    return status;
}

const cull_op_class cull_cpu_gradient = {create, run, destroy};
