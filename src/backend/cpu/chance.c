/*
 * backend/cpu/chance.c - weights that rows are drawn by: percentile ^ beta, or what is trimmed.
 *
 * Percentiles of rows among themselves are whole multiples of 1 / 2 rows, and mostly as many rows
 * come with the same beta as before: each power is taken once and looked up.
 */
#include "backend/cpu/cpu.h"
#include "base/alloc.h"
#include "base/exact.h"

enum { MOST_POWERS = 1 << 13 };

struct chance {
    cull_op base;
    double *power; /* [2 rows + 1] (i / 2 rows)^beta, or below 0: not yet needed */
    size_t  rows;  /* of power; 0: of none                                       */
    double  beta;
};

static void destroy(cull_op *op)
{
    struct chance *chance = (struct chance *)op;

    cull_base_free(chance->power);
    cull_base_free(chance);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status    status = CULL_OK;
    struct chance *chance = NULL;
    size_t         most = desc->rows < MOST_POWERS ? desc->rows : MOST_POWERS;

    (void)backend;
    TRY(cull_base_alloc(1, sizeof *chance, "an operation", &chance));
    TRY(cull_base_alloc(2 * most + 1, sizeof *chance->power, "powers", &chance->power));
    *out = &chance->base;
    chance = NULL;
done:
    if (chance) destroy(&chance->base);
    return status;
}

/* A power too small for a double keeps its rank. */
static double power(double percentile, double beta)
{
    double weight = cull_exact_pow(percentile, beta);

    return weight > CULL_CHANCE_LEAST ? weight : CULL_CHANCE_LEAST * percentile;
}

static void look_up(struct chance *chance, const cull_op_args *args)
{
    size_t rows = args->chance.rows;
    double beta = args->chance.beta, twice = 2 * (double)rows;

    if (chance->rows != rows || chance->beta != beta)
        for (size_t i = 0; i < 2 * rows + 1; i++) chance->power[i] = -1;
    chance->rows = rows;
    chance->beta = beta;
    for (size_t i = 0; i < rows; i++) {
        double  percentile = args->chance.percentile[i];
        double *known = &chance->power[(size_t)(percentile * twice + 0.5)];

        if (*known < 0) *known = power(percentile, beta);
        args->chance.weight[i] = *known;
    }
}

static void raise(const cull_op_args *args)
{
    for (size_t i = 0; i < args->chance.rows; i++) {
        size_t place = args->chance.place ? args->chance.place[i] : i;
        double own = args->chance.percentile     ? args->chance.percentile[i]
                     : place < args->chance.pool ? args->chance.standing[place]
                                                 : 1;

        args->chance.weight[i] = power(own, args->chance.beta);
    }
}

/* 1 - trim and a percentile that are the same number may differ in their last bits. */
static void trim(const cull_op_args *args)
{
    double above = 1 - args->chance.trim + 1e-12;

    for (size_t i = 0; i < args->chance.rows; i++) {
        size_t place = args->chance.place ? args->chance.place[i] : i;

        if (place < args->chance.pool && !args->chance.fresh[place] &&
            args->chance.standing[place] > above)
            args->chance.weight[i] = args->chance.trimmed;
    }
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    if (args->chance.percentile && args->chance.rows <= MOST_POWERS)
        look_up((struct chance *)op, args);
    else
        raise(args);
    if (args->chance.trim > 0) trim(args);
    return CULL_OK;
}

const cull_op_class cull_cpu_chance = {create, run, destroy};
