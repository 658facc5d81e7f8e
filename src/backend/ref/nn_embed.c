/*
 * backend/ref/nn_embed.c - rows of a table: those of tokens, and those of positions.
 *
 *     embed      y[n, t] = w[x[n, t]], zero at padding     dw[v] = sum over x[n, t] = v of dy[n, t]
 *     positions  y[n, t] = x[n, t] + w[r]                  dw[r] = sum over n of dy[n, t]
 *                r = t, or 0 with `same`                   dx = dy
 */
#include <string.h>

#include "backend/ref/nn.h"

static void sizes(const cull_layer_desc *d, cull_ref_sizes *out)
{
    out->w = (size_t)(d->rows * d->y.c);
}

static void embed(const cull_layer_desc *d, const cull_layer_args *args)
{
    const int32_t *token = args->x;
    const double  *w = args->w;
    double        *y = args->y;

    for (int64_t i = 0; i < d->y.n * d->y.h; i++)
        for (int64_t c = 0; c < d->y.c; c++)
            y[i * d->y.c + c] = token[i] < 0 ? 0 : w[token[i] * d->y.c + c];
}

static void embed_backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const int32_t *token = args->x;
    const double  *dy = args->dy;
    double        *dw = args->dw;

    memset(dw, 0, (size_t)(d->rows * d->y.c) * sizeof *dw);
    for (int64_t i = 0; i < d->y.n * d->y.h; i++)
        for (int64_t c = 0; token[i] >= 0 && c < d->y.c; c++)
            dw[token[i] * d->y.c + c] += dy[i * d->y.c + c];
}

/* Which row belongs to position i of all. */
static int64_t row_of(const cull_layer_desc *d, int64_t i)
{
    return d->same ? 0 : i % d->y.h;
}

static void positions(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x, *w = args->w;
    double       *y = args->y;

    for (int64_t i = 0; i < d->y.n * d->y.h; i++)
        for (int64_t c = 0; c < d->y.c; c++)
            y[i * d->y.c + c] = x[i * d->y.c + c] + w[row_of(d, i) * d->y.c + c];
}

static void positions_backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *dy = args->dy;
    double       *dw = args->dw, *dx = args->dx;

    memset(dw, 0, (size_t)(d->rows * d->y.c) * sizeof *dw);
    for (int64_t i = 0; i < d->y.n * d->y.h; i++)
        for (int64_t c = 0; c < d->y.c; c++) {
            int64_t at = i * d->y.c + c;

            dw[row_of(d, i) * d->y.c + c] += dy[at];
            if (dx) dx[at] = dy[at] + (args->accumulate ? dx[at] : 0);
        }
}

const cull_ref_rule cull_ref_embed = {.kind = CULL_LAYER_EMBED,
                                      .sizes = sizes,
                                      .check = cull_layer_check_tokens,
                                      .sequences = true,
                                      .forward = embed,
                                      .backward = embed_backward};
const cull_ref_rule cull_ref_positions = {.kind = CULL_LAYER_POSITIONS,
                                          .sizes = sizes,
                                          .sequences = true,
                                          .forward = positions,
                                          .backward = positions_backward};
