/*
 * backend/cpu/nn_dense.c - fully connected layer, by the products of kernels.h (C = A B^T); for as
 * many rows as sequences have, nn_dense_many.c's.
 *
 *     forward    y  = x W^T + b        x (N, I)   W (O, I)   b (O)   y (N, O)
 *     backward   dW = dy^T x           from dy^T (O, N) and x^T (I, N)
 *                dx = dy W             from W^T (I, O)
 *
 * Threads share out rows of the result; what is transposed is small beside the product.
 */
#include "backend/cpu/nn.h"
#include "base/alloc.h"

/* From here on copies in another order are more than the library's products need. */
enum { MANY = 512, WIDE = 32 };

struct dense {
    cull_layer_op base;
    size_t        rows, in, out;
    float        *turned_x, *turned_dy, *turned_w; /* (I, N), (O, N), (I, O) */
    float        *aside;                           /* dx before it is added  */
};

struct product {
    const cull_products *products;
    size_t               m, n, k, parts;
    const float         *a, *b, *bias; /* bias [n] or NULL                   */
    float               *c;
    float               *sum; /* [m * n] C is added to it, or NULL  */
};

static void destroy(cull_layer_op *op)
{
    struct dense *dense = (struct dense *)op;

    cull_base_free_aligned(dense->turned_x);
    cull_base_free_aligned(dense->turned_dy);
    cull_base_free_aligned(dense->turned_w);
    cull_base_free_aligned(dense->aside);
    cull_base_free(dense);
}

static cull_status make_room(struct dense *dense, bool input_gradient)
{
    cull_status status = CULL_OK;
    size_t      size = sizeof(float);

    TRY(cull_base_alloc_aligned(dense->in * dense->rows, size, "a layer", &dense->turned_x));
    TRY(cull_base_alloc_aligned(dense->out * dense->rows, size, "a layer", &dense->turned_dy));
    if (!input_gradient) return CULL_OK;
    TRY(cull_base_alloc_aligned(dense->in * dense->out, size, "a layer", &dense->turned_w));
    TRY(cull_base_alloc_aligned(dense->in * dense->rows, size, "a layer", &dense->aside));
done:
    return status;
}

static cull_status create(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out)
{
    cull_status   status = CULL_OK;
    struct dense *dense = NULL;

    if (desc->x.n >= MANY && cull_image_row(&desc->x) >= WIDE && cull_image_row(&desc->y) >= WIDE)
        return cull_cpu_dense_many.create(backend, desc, out);
    TRY(cull_cpu_layer_new(desc, sizeof *dense, &dense));
    dense->rows = (size_t)desc->x.n;
    dense->in = (size_t)cull_image_row(&desc->x);
    dense->out = (size_t)cull_image_row(&desc->y);
    if (desc->learn) TRY(make_room(dense, desc->input_gradient));
    *out = &dense->base;
    dense = NULL;
done:
    if (dense) destroy(&dense->base);
    return status;
}

static void multiply_part(void *context, size_t task, unsigned worker)
{
    const struct product *p = context;
    size_t                first = 0, last = 0;

    (void)worker;
    cull_cpu_part(p->m, p->parts, task, &first, &last);
    p->products->multiply_f32(last - first, p->n, p->k, p->a + first * p->k, p->k, p->b, p->k,
                              p->c + first * p->n, p->n);
    for (size_t i = first; p->bias && i < last; i++)
        for (size_t j = 0; j < p->n; j++) p->c[i * p->n + j] += p->bias[j];
    for (size_t i = first * p->n; p->sum && i < last * p->n; i++) p->sum[i] += p->c[i];
}

static void multiply(const struct dense *dense, struct product product)
{
    cull_backend *backend = dense->base.backend;

    product.products = cull_cpu_kernels(backend)->products;
    product.parts = cull_cpu_parts(backend, product.m, product.n * (product.k / 4 + 1));
    cull_team_run(backend->team, product.parts, multiply_part, &product);
}

static cull_status forward(cull_layer_op *op, const cull_layer_args *args)
{
    const struct dense *dense = (const struct dense *)op;

    multiply(dense, (struct product){.m = dense->rows,
                                     .n = dense->out,
                                     .k = dense->in,
                                     .a = args->x,
                                     .b = args->w,
                                     .bias = op->desc.bias ? args->b : NULL,
                                     .c = args->y});
    return CULL_OK;
}

struct turn {
    size_t       rows, columns, parts;
    const float *from; /* (rows, columns) */
    float       *to;   /* (columns, rows) */
};

enum { TILE = 16 };

static void turn_part(void *context, size_t task, unsigned worker)
{
    const struct turn *t = context;
    size_t             first = 0, last = 0;

    (void)worker;
    cull_cpu_part((t->columns + TILE - 1) / TILE, t->parts, task, &first, &last);
    for (size_t tile = first; tile < last; tile++) {
        size_t begin = tile * TILE, end = begin + TILE < t->columns ? begin + TILE : t->columns;
        for (size_t i = 0; i < t->rows; i++)
            for (size_t j = begin; j < end; j++)
                t->to[j * t->rows + i] = t->from[i * t->columns + j];
    }
}

static void turn(const struct dense *dense, size_t rows, size_t columns, const float *from,
                 float *to)
{
    struct turn t = {rows, columns, 1, from, to};

    t.parts = cull_cpu_parts(dense->base.backend, (columns + TILE - 1) / TILE, rows * TILE);
    cull_team_run(dense->base.backend->team, t.parts, turn_part, &t);
}

static void bias_gradient(const struct dense *dense, float *db)
{
    for (size_t o = 0; o < dense->out; o++) {
        double sum = 0;

        for (size_t n = 0; n < dense->rows; n++)
            sum += (double)dense->turned_dy[o * dense->rows + n];
        db[o] = (float)sum;
    }
}

static cull_status backward(cull_layer_op *op, const cull_layer_args *args)
{
    const struct dense *dense = (const struct dense *)op;

    turn(dense, dense->rows, dense->out, args->dy, dense->turned_dy);
    turn(dense, dense->rows, dense->in, args->x, dense->turned_x);
    multiply(dense, (struct product){.m = dense->out,
                                     .n = dense->in,
                                     .k = dense->rows,
                                     .a = dense->turned_dy,
                                     .b = dense->turned_x,
                                     .c = args->dw});
    if (op->desc.bias) bias_gradient(dense, args->db);
    if (!args->dx) return CULL_OK;
    turn(dense, dense->out, dense->in, args->w, dense->turned_w);
    multiply(dense, (struct product){.m = dense->rows,
                                     .n = dense->in,
                                     .k = dense->out,
                                     .a = args->dy,
                                     .b = dense->turned_w,
                                     .c = args->accumulate ? dense->aside : args->dx,
                                     .sum = args->accumulate ? args->dx : NULL});
    return CULL_OK;
}

const cull_layer_class cull_cpu_dense = {create, forward, backward, destroy};
