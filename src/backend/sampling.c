/*
 * backend/sampling.c - sample: rows drawn with replacement in proportion to their scores.
 *
 *     score      the loss; |p|; or |p| sqrt(1 + |h|^2)      over the largest, so that no sum of
 * them is too large row of u   the first at which the running sum of scores exceeds u times the
 * whole weight_i   mean(s) / s_i, or 1 tau        0.9 tau + 0.1 sqrt(n sum g^2), g = s / sum s
 */
#include <math.h>

#include "backend/backend.h"
#include "base/alloc.h"
#include "tensor/tensor.h"

struct sample {
    cull_op base;
    double *score, *sum; /* [rows] */
};

static void destroy(cull_op *op)
{
    struct sample *sample = (struct sample *)op;

    cull_base_free(sample->score);
    cull_base_free(sample->sum);
    cull_base_free(sample);
}

static cull_status create(cull_backend *backend, const cull_op_desc *desc, cull_op **out)
{
    cull_status    status = CULL_OK;
    struct sample *sample = NULL;

    (void)backend;
    TRY(cull_base_alloc(1, sizeof *sample, "an operation", &sample));
    TRY(cull_base_alloc(desc->rows, sizeof *sample->score, "scores", &sample->score));
    TRY(cull_base_alloc(desc->rows, sizeof *sample->sum, "scores", &sample->sum));
    *out = &sample->base;
    sample = NULL;
done:
    if (sample) destroy(&sample->base);
    return status;
}

static double norm2(const cull_tensor *t, size_t i)
{
    cull_tensor row = cull_tensor_line(t, i);
    double      sum = 0;

    for (size_t j = 0; j < (size_t)t->shape[1]; j++) {
        double x = cull_tensor_get(&row, j);
        sum += x * x;
    }
    return fmin(sum, CULL_SAMPLE_MOST);
}

static double score_of(const cull_op_args *args, size_t i)
{
    if (cull_tensor_present(&args->sample.loss)) return cull_tensor_get(&args->sample.loss, i);
    if (!cull_tensor_present(&args->sample.h)) return sqrt(norm2(&args->sample.p, i));
    return sqrt(norm2(&args->sample.p, i)) * sqrt(1 + norm2(&args->sample.h, i));
}

static void tell_negative(const cull_op_args *args, size_t row)
{
    const cull_moment *now = args->sample.moment;

    *args->sample.trouble =
        (cull_trouble){.what = CULL_WRONG_SIGNAL,
                       .which = CULL_SIGNAL_LOSS | CULL_TROUBLE_NEGATIVE,
                       .row = row,
                       .place = args->sample.place ? args->sample.place[row] : row,
                       .step = now ? now->step : 0,
                       .epoch = now ? now->epoch : 0};
}

/* score[], the largest 1; all 1 when the known ones are all zero. False: one is negative. */
static bool take_scores(struct sample *s, const cull_op_args *args)
{
    const uint8_t *unseen = cull_tensor_present(&args->sample.loss) ? args->sample.unseen : NULL;
    double         largest = 0;

    for (size_t i = 0; i < args->sample.rows; i++) {
        s->score[i] = unseen && unseen[i] ? 0 : score_of(args, i);
        if (s->score[i] < 0) {
            tell_negative(args, i);
            return false;
        }
        largest = fmax(largest, s->score[i]);
    }
    for (size_t i = 0; i < args->sample.rows; i++)
        s->score[i] = largest == 0 || (unseen && unseen[i]) ? 1 : s->score[i] / largest;
    return true;
}

/* The first row whose running sum exceeds x; a row of score zero never does. */
static size_t find_row(const double *sum, size_t rows, double x)
{
    size_t low = 0, high = rows - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sum[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    while (low > 0 && sum[low] == sum[low - 1]) low--; /* x rounded up to the whole sum */
    return low;
}

static void draw(const struct sample *s, const cull_op_args *args, uint64_t step, double total)
{
    size_t rows = args->sample.rows;

    for (size_t j = 0; j < args->sample.m; j++) {
        double u = cull_key_uniform(args->sample.key, step, j);
        size_t row = find_row(s->sum, rows, u * total);

        args->sample.index[j] = (uint32_t)row;
        args->sample.weight[j] = args->sample.unit ? 1 : total / (double)rows / s->score[row];
    }
    args->sample.sampled->drew = 1;
    args->sample.sampled->drew_at = step;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    struct sample *s = (struct sample *)op;
    size_t         rows = args->sample.rows;
    double         total = 0, squares = 0, *tau = &args->sample.sampled->tau;

    if (args->sample.trouble->what != CULL_WRONG_NOTHING || !take_scores(s, args)) return CULL_OK;
    for (size_t i = 0; i < rows; i++) s->sum[i] = total += s->score[i];
    if (args->sample.m)
        draw(s, args, args->sample.now ? *args->sample.now : args->sample.step, total);
    for (size_t i = 0; i < rows; i++) squares += s->score[i] / total * (s->score[i] / total);
    *tau = CULL_SAMPLE_KEPT * *tau + (1 - CULL_SAMPLE_KEPT) * sqrt((double)rows * squares);
    return CULL_OK;
}

const cull_op_class cull_host_sample = {create, run, destroy};
