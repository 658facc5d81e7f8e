/*
 * backend/ref/nn_join.c - two inputs become one: their sum, or their channels one after the other.
 *
 *     add      y = x + x2              dx = dx2 = dy
 *     concat   y = [x; x2] by channel  dx, dx2 the two parts of dy
 */
#include "backend/ref/nn.h"

static void sizes(const cull_layer_desc *d, cull_ref_sizes *out)
{
    out->x2 = (size_t)(d->x2.n * cull_image_row(&d->x2));
}

static void add_forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x, *x2 = args->x2;
    double       *y = args->y;

    for (int64_t i = 0; i < d->x.n * cull_image_row(&d->x); i++) y[i] = x[i] + x2[i];
}

/* `length` elements of each row of dy, from `first` on, to the rows of dx. */
static void hand_back(const double *dy, int64_t rows, int64_t stride, int64_t first, int64_t length,
                      double *dx, bool accumulate)
{
    for (int64_t n = 0; dx && n < rows; n++)
        for (int64_t i = 0; i < length; i++)
            dx[n * length + i] = dy[n * stride + first + i] + (accumulate ? dx[n * length + i] : 0);
}

static void add_backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    int64_t row = cull_image_row(&d->x);

    hand_back(args->dy, d->x.n, row, 0, row, args->dx, args->accumulate);
    hand_back(args->dy, d->x.n, row, 0, row, args->dx2, args->accumulate2);
}

static void concat_forward(const cull_layer_desc *d, const cull_layer_args *args)
{
    const double *x = args->x, *x2 = args->x2;
    double       *y = args->y;
    int64_t       a = cull_image_row(&d->x), b = cull_image_row(&d->x2);

    for (int64_t n = 0; n < d->x.n; n++) {
        for (int64_t i = 0; i < a; i++) y[n * (a + b) + i] = x[n * a + i];
        for (int64_t i = 0; i < b; i++) y[n * (a + b) + a + i] = x2[n * b + i];
    }
}

static void concat_backward(const cull_layer_desc *d, const cull_layer_args *args)
{
    int64_t a = cull_image_row(&d->x), b = cull_image_row(&d->x2);

    hand_back(args->dy, d->x.n, a + b, 0, a, args->dx, args->accumulate);
    hand_back(args->dy, d->x.n, a + b, a, b, args->dx2, args->accumulate2);
}

const cull_ref_rule cull_ref_add = {
    .kind = CULL_LAYER_ADD, .sizes = sizes, .forward = add_forward, .backward = add_backward};
const cull_ref_rule cull_ref_concat = {.kind = CULL_LAYER_CONCAT,
                                       .sizes = sizes,
                                       .forward = concat_forward,
                                       .backward = concat_backward};
