/*
 * backend/cpu/facility_near.c - how near atoms are to each other.
 *
 *     K_ij = (p_i . p_j)(h_i . h_j + 1)      S_ij = -(float)sqrt(max(0, K_ii + K_jj - 2 K_ij))
 *
 * Products are in double whatever the signals are: a distance between near atoms is a small
 * difference of large numbers. They do not depend on where in a block a pair lies, so S is
 * symmetric, duplicates are at distance zero, and a row made again is the same row. Not fused
 * into one rounding (this file is compiled without), for the same reason.
 */
#include <string.h>

#include "backend/cpu/facility.h"

enum { STRIP = CULL_NEAR_STRIP, COLUMNS = CULL_NEAR_COLUMNS };

/* Rows of S being made: A against all atoms, or up to the diagonal. */
struct job {
    cull_near    *near;
    const double *h, *p; /* rows of A   */
    const double *norm;  /* [STRIP]     */
    float        *to[STRIP];
    size_t        count;
};

static void run_tasks(const cull_near *near, size_t tasks, cull_team_task run, void *context)
{
    if (near->team)
        cull_team_run(near->team, tasks, run, context);
    else
        for (size_t task = 0; task < tasks; task++) run(context, task, 0);
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void gather(const cull_near *near, const cull_tensor *from, double *to, size_t ld, size_t i)
{
    size_t      width = (size_t)from->shape[1];
    cull_tensor row =
        cull_vector(cull_tensor_row(from, cull_facility_row(near->problem, i)), from->dtype, width);

    cull_tensor_to_double(&row, width, to + i * ld);
}

static void gather_strip(void *context, size_t task, unsigned worker)
{
    cull_near *near = context;
    size_t     end = least_of((task + 1) * STRIP, near->n);
    size_t     d = (size_t)near->problem->h.shape[1], c = (size_t)near->problem->p.shape[1];

    (void)worker;
    for (size_t i = task * STRIP; i < end; i++) {
        double *h = near->h + i * near->ldh, *p = near->p + i * near->ldp, hh = 0, pp = 0;
        gather(near, &near->problem->h, near->h, near->ldh, i);
        gather(near, &near->problem->p, near->p, near->ldp, i);
        for (size_t j = 0; j < c; j++) p[j] *= near->scale;
        near->products->multiply_f64(1, 1, d, h, near->ldh, h, near->ldh, &hh, 1);
        near->products->multiply_f64(1, 1, c, p, near->ldp, p, near->ldp, &pp, 1);
        near->norm[i] = pp * (hh + 1);
    }
}

static void negated_distances(size_t n, double own, const double *norm, const double *hh,
                              const double *pp, float *to)
{
    for (size_t j = 0; j < n; j++) {
        double square = own + norm[j] - 2 * (pp[j] * (hh[j] + 1));
        to[j] = -(float)sqrt(square > 0 ? square : 0);
    }
}

/* Columns first .. first+n of the rows of a job. */
static void make_block(const struct job *job, size_t first, size_t n, unsigned worker)
{
    const cull_near *near = job->near;
    double          *hh = near->room + (size_t)worker * 2 * STRIP * COLUMNS;
    double          *pp = hh + STRIP * COLUMNS;
    size_t           d = (size_t)near->problem->h.shape[1], c = (size_t)near->problem->p.shape[1];

    near->products->multiply_f64(job->count, n, d, job->h, near->ldh, near->h + first * near->ldh,
                                 near->ldh, hh, COLUMNS);
    near->products->multiply_f64(job->count, n, c, job->p, near->ldp, near->p + first * near->ldp,
                                 near->ldp, pp, COLUMNS);
    for (size_t i = 0; i < job->count; i++)
        negated_distances(n, job->norm[i], near->norm + first, hh + i * COLUMNS, pp + i * COLUMNS,
                          job->to[i] + first);
}

static float row_least(size_t n, const float *row)
{
    float least = 0;

    for (size_t j = 0; j < n; j++) least = row[j] < least ? row[j] : least;
    return least;
}

/* A strip of S up to the diagonal, its mirror image, and its least element; longest strips
 * first, so that threads end together. */
static void hold_strip(void *context, size_t task, unsigned worker)
{
    cull_near *near = context;
    size_t     n = near->n, strips = (n + STRIP - 1) / STRIP, strip = strips - 1 - task;
    size_t     first = strip * STRIP, end = least_of(first + STRIP, n);
    struct job job = {.near = near,
                      .h = near->h + first * near->ldh,
                      .p = near->p + first * near->ldp,
                      .norm = near->norm + first,
                      .count = end - first};

    for (size_t i = first; i < end; i++) job.to[i - first] = near->held + i * n;
    for (size_t j = 0; j < end; j += COLUMNS)
        make_block(&job, j, least_of(COLUMNS, end - j), worker);
    for (size_t j = 0; j < first; j++)
        for (size_t i = first; i < end; i++) near->held[j * n + i] = near->held[i * n + j];
    near->least[strip] = 0;
    for (size_t i = first; i < end; i++) {
        float least = row_least(end, near->held + i * n);
        if (least < near->least[strip]) near->least[strip] = least;
    }
}

static void make_columns(void *context, size_t task, unsigned worker)
{
    struct job *job = context;
    size_t      first = task * COLUMNS;

    make_block(job, first, least_of(COLUMNS, job->near->n - first), worker);
}

/* Float64; a float32 one is used where it lies. */
static void copy_similarity(const cull_near *near, uint32_t atom, float *to)
{
    const cull_tensor *s = &near->problem->similarity;

    for (size_t j = 0; j < near->n; j++)
        to[j] = (float)(near->scale * ((const double *)cull_tensor_row(s, atom))[j]);
}

/* Rows of S into the slots given to their atoms; at most STRIP. */
static void make_rows(cull_near *near, const uint32_t *atom, size_t count)
{
    double     norm[STRIP];
    double    *h = near->chosen, *p = near->chosen + STRIP * near->ldh;
    struct job job = {.near = near, .h = h, .p = p, .norm = norm, .count = count};

    for (size_t i = 0; i < count; i++) {
        job.to[i] = near->held + near->slot_of[atom[i]] * near->n;
        if (cull_tensor_present(&near->problem->similarity)) {
            copy_similarity(near, atom[i], job.to[i]);
            continue;
        }
        memcpy(h + i * near->ldh, near->h + atom[i] * near->ldh, near->ldh * sizeof *h);
        memcpy(p + i * near->ldp, near->p + atom[i] * near->ldp, near->ldp * sizeof *p);
        norm[i] = near->norm[atom[i]];
    }
    if (cull_tensor_present(&near->problem->similarity)) return;
    run_tasks(near, (near->n + COLUMNS - 1) / COLUMNS, make_columns, &job);
}

size_t cull_cpu_near_batch(const cull_near *near)
{
    if (near->all) return near->n;
    return near->slots < STRIP ? near->slots : STRIP;
}

/* A slot that nothing asked for in this call is held in. */
static uint32_t free_slot(cull_near *near)
{
    uint32_t slot = 0;

    while (near->used[near->hand] == near->call) near->hand = (near->hand + 1) % near->slots;
    slot = (uint32_t)near->hand;
    near->hand = (near->hand + 1) % near->slots;
    if (near->atom_of[slot] != UINT32_MAX) near->slot_of[near->atom_of[slot]] = UINT32_MAX;
    return slot;
}

void cull_cpu_near_need(cull_near *near, const uint32_t *atom, size_t count)
{
    uint32_t missing[STRIP];
    size_t   missed = 0;

    if (near->all) return;
    near->call++;
    for (size_t i = 0; i < count; i++) {
        if (near->slot_of[atom[i]] == UINT32_MAX)
            missing[missed++] = atom[i];
        else
            near->used[near->slot_of[atom[i]]] = near->call;
    }
    for (size_t i = 0; i < missed; i++) {
        uint32_t slot = free_slot(near);
        near->atom_of[slot] = missing[i];
        near->slot_of[missing[i]] = slot;
        near->used[slot] = near->call;
    }
    if (missed > 0) make_rows(near, missing, missed);
}

/* Every row once, for its sum and least element. */
static void survey(cull_near *near)
{
    size_t   batch = cull_cpu_near_batch(near);
    uint32_t atom[STRIP];

    for (size_t first = 0; first < near->n; first += batch) {
        size_t count = least_of(batch, near->n - first);
        for (size_t i = 0; i < count; i++) atom[i] = (uint32_t)(first + i);
        cull_cpu_near_need(near, atom, count);
        for (size_t i = 0; i < count; i++) {
            const float *row = cull_cpu_near_row(near, atom[i]);
            double       sum = 0;
            for (size_t j = 0; j < near->n; j++) sum += (double)row[j];
            near->sum[first + i] = sum;
            near->least[first + i] = row_least(near->n, row);
        }
    }
}

void cull_cpu_near_prepare(cull_near *near)
{
    size_t n = near->n, strips = (n + STRIP - 1) / STRIP, lows = n;
    bool   given = cull_tensor_present(&near->problem->similarity);

    near->all = NULL;
    near->hand = 0;
    near->call = 0;
    near->exponent = cull_facility_exponent(near->problem);
    near->scale = ldexp(1, -near->exponent);
    if (!given) run_tasks(near, strips, gather_strip, near);
    if (given && near->problem->similarity.dtype == CULL_F32) {
        near->all = near->problem->similarity.data;
        near->ld = (size_t)near->problem->similarity.stride[0];
    } else if (near->slots == n) {
        for (size_t i = 0; given && i < n; i++)
            copy_similarity(near, (uint32_t)i, near->held + i * n);
        if (!given) run_tasks(near, strips, hold_strip, near);
        near->all = near->held;
        near->ld = n;
        lows = strips;
    } else {
        for (size_t i = 0; i < n; i++) near->slot_of[i] = UINT32_MAX;
        for (size_t i = 0; i < near->slots; i++) {
            near->atom_of[i] = UINT32_MAX;
            near->used[i] = 0;
        }
        survey(near);
    }
    near->floor = 0;
    for (size_t i = 0; !given && i < lows; i++)
        if ((double)near->least[i] < near->floor) near->floor = (double)near->least[i];
}
