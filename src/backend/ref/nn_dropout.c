/*
 * backend/ref/nn_dropout.c - dropout whose mask is a function of (key, step, place, element).
 *
 * Element e of a row is counted in NCHW order; word e mod 4 of Philox at counter (e/4, place,
 * step) keeps it when it is at least p 2^32. So the mask is the same on every device, in every
 * layout, and backward draws it again instead of keeping it.
 */
#include "backend/ref/nn.h"
#include "base/rng.h"

static void apply(const cull_layer_desc *d, const cull_layer_args *args, const double *in,
                  double *out, bool accumulate)
{
    int64_t  row = cull_image_row(&d->x);
    uint64_t step = cull_layer_step(args);
    double   threshold = d->probability * 0x1p32, scale = 1 / (1 - d->probability);

    for (int64_t n = 0; n < d->x.n; n++) {
        uint32_t word[4] = {0};
        for (int64_t e = 0; e < row; e++) {
            uint32_t counter[4] = {(uint32_t)(e / 4), args->place ? args->place[n] : (uint32_t)n,
                                   (uint32_t)step, (uint32_t)(step >> 32)};
            double   kept = 0;

            if (e % 4 == 0) cull_base_philox(args->key, counter, word);
            kept = (double)word[e % 4] >= threshold ? scale * in[n * row + e] : 0;
            out[n * row + e] = kept + (accumulate ? out[n * row + e] : 0);
        }
    }
}

static void forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    apply(d, args, args->x, args->y, false);
}

static void backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    apply(d, args, args->dy, args->dx, args->accumulate);
}

const cull_ref_rule cull_ref_dropout = {
    .kind = CULL_LAYER_DROPOUT, .forward = forward, .backward = backward};
