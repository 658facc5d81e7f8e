/* backend/cuda/omp_lay.c - how a pursuit is shared among blocks and threads, and where its arrays
 * lie.
 */
#include "backend/cuda/omp.h"

#include <math.h>

enum {
    LANES = 32,
    BANKS = 16,
    ROWS_WORTH_A_BLOCK = 8,
    ROW_BYTES = 6 * sizeof(double) + sizeof(uint32_t) /* of a block's rows, beside L */
};

uint32_t cull_cuda_omp_threads(size_t rows)
{
    size_t threads = (rows * LANES + LANES - 1) / LANES * LANES;

    return (uint32_t)(threads < CULL_OMP_THREADS ? threads : CULL_OMP_THREADS);
}

/* A cluster, or as many as there are processors, whichever is done sooner. */
uint32_t cull_cuda_omp_blocks(size_t n, size_t budget, int processors, size_t most)
{
    uint32_t all = cull_crew_blocks(n, ROWS_WORTH_A_BLOCK, (size_t)processors);
    uint32_t few = all < CULL_CREW_NEAR ? all : CULL_CREW_NEAR;

    return cull_cuda_omp_cost(n, budget, few, most) <= cull_cuda_omp_cost(n, budget, all, most)
               ? few
               : all;
}

/* The powers of two of threads to a row, as many as there are. */
static uint32_t lanes_of(uint32_t rows, uint32_t threads)
{
    uint32_t lanes = 1;

    while (lanes < LANES && 2 * lanes * rows <= threads) lanes *= 2;
    return lanes;
}

/* Rows of L begin in banks that neighbouring rows do not use. */
static uint32_t width_of(uint32_t budget, uint32_t lanes)
{
    uint32_t width = (budget + BANKS - 1) / BANKS * BANKS;

    if (lanes >= BANKS) return width;
    return width - budget >= BANKS - lanes ? width - BANKS + lanes : width + lanes;
}

static uint32_t up(size_t bytes)
{
    return (uint32_t)((bytes + 15) / 16 * 16);
}

bool cull_cuda_omp_can_be_near(const cull_cuda_omp_rules *rules, size_t n)
{
    return n <= CULL_TABLEAU_SIDE && !rules->sample && !rules->nonnegative;
}

size_t cull_cuda_omp_lay(cull_cuda_pursuit *x, uint32_t blocks, uint32_t threads, size_t most,
                         bool bring)
{
    size_t at = CULL_CREW_BYTES, l = 0, k = (size_t)x->n * x->n * sizeof(double);

    x->rows = (x->n + blocks - 1) / blocks;
    x->lanes = lanes_of(x->rows, threads);
    x->width = width_of(x->budget, x->lanes);
    x->at_pick = (uint32_t)at;
    at += up(2 * x->width * sizeof(double));
    x->at_rows = (uint32_t)at;
    at += up((size_t)x->rows * ROW_BYTES);
    l = x->near ? CULL_OMP_NEAR_BYTES : (size_t)x->rows * x->width * sizeof(double);
    x->at_l = at + l <= most ? (uint32_t)at : 0;
    if (x->at_l) at += l;
    x->brings_k = bring && blocks == 1 && at + k <= most;
    x->at_k = x->brings_k ? (uint32_t)at : 0;
    if (x->brings_k) at += k;
    x->stages = blocks > 1 || !x->at_l;
    x->bytes = at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
    return 2 * (size_t)x->budget + (x->stages ? (size_t)x->n * x->width : 0);
}

void cull_cuda_omp_room(cull_cuda_pursuit *x, double *room)
{
    x->scratch = room;
    x->l = x->stages ? room + 2 * (size_t)x->budget : NULL;
}

/* A pick: what a barrier or a meeting takes, and half of L as it is in the end, read once. Rows
 * that do not fit take for ever. */
double cull_cuda_omp_cost(size_t n, size_t budget, uint32_t blocks, size_t most)
{
    size_t rows = (n + blocks - 1) / blocks, fixed = 2 * CULL_CREW_BYTES + rows * ROW_BYTES;
    double all = (double)rows * (double)budget, room = (double)most - (double)fixed;
    bool   near = (all + 2 * (double)budget) * sizeof(double) < room;

    if ((double)budget * 2 * sizeof(double) > room) return HUGE_VAL;
    return (double)budget *
           (cull_crew_clocks(blocks) + all / 2 * (near ? CULL_CLOCKS_NEAR : CULL_CLOCKS_FAR));
}
