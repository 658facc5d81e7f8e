/* reproduce_look.c - what audits of a run's weights have to say, as points of a figure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce_watch.h"

enum { EXAMPLES = 5 };

/* Ranks of all examples by loss, 0 to 1, of an audit that was just written; owned. */
static int read_ranks(const struct watch *w, double **out, size_t *count)
{
    cull_arrays *arrays = NULL;
    cull_tensor  rank = {0};
    cull_status  status = cull_arrays_open(w->audit, &arrays);
    int          end = END_WELL;

    if (status == CULL_OK) status = cull_arrays_get(arrays, "rank", &rank);
    if (status != CULL_OK) {
        end = complain_run(status);
    } else {
        *count = (size_t)rank.shape[0];
        *out = calloc(*count, sizeof **out);
        if (*out)
            memcpy(*out, rank.data, *count * sizeof **out);
        else
            end = complain(END_FAILED, "Give --subset.", "no memory");
    }
    cull_arrays_close(arrays);
    return end;
}

static int audit(const struct watch *w, const char *set, const double *hard, size_t count,
                 cull_audit_result *out)
{
    cull_audit_options options = {
        .weights = w->weights, .set = set, .path = w->audit, .hard = hard, .hards = count};

    return complain_run(cull_audit(w->recipe, &options, out));
}

/* Five examples' chances, and by how much all of them moved since the epoch before. */
static int put_chances(struct watch *w, const double *chance, size_t count)
{
    cull_point point[EXAMPLES + 1];
    size_t     points = 0;
    double     moved = 0;
    char       name[32];

    (void)printf("epoch %3llu  %-18s chance of", (unsigned long long)w->epoch, w->strategy);
    for (size_t i = 0; i < EXAMPLES; i++) {
        double value = chance[i * count / EXAMPLES];

        (void)snprintf(name, sizeof name, "example %zu", i + 1);
        point[points++] = watch_point(w->strategy, name, (double)w->epoch, value);
        (void)printf("  %.3f", value);
    }
    for (size_t i = 0; w->before && i < count; i++) moved += fabs(chance[i] - w->before[i]);
    if (w->before) {
        (void)printf("  moved %.4f", moved / (double)count);
        point[points++] =
            watch_point("mean move", w->strategy, (double)w->epoch, moved / (double)count);
    }
    (void)printf("\n");
    return put_points(w->r, point, points, false);
}

int look_chances(struct watch *w)
{
    cull_audit_result result = {0};
    double           *chance = NULL;
    size_t            count = 0;
    int               end = audit(w, NULL, NULL, 0, &result);

    if (!end) end = read_ranks(w, &chance, &count);
    for (size_t i = 0; !end && i < count; i++) chance[i] = pow(chance[i], w->beta);
    if (!end && count) end = put_chances(w, chance, count);
    free(w->before);
    w->before = chance;
    w->count = count;
    return end;
}

/* The loss that a share of the examples is below, by the confidence in the true class. */
static double loss_at(const cull_audit_result *a, size_t percent)
{
    return -log(fmax(a->confidence[CULL_AUDIT_POINTS - 1 - percent], 1e-30));
}

/* At the first epoch, at a quarter, a half and the end of the run the whole distribution; mean and
 * median always. */
int look_losses(struct watch *w)
{
    cull_audit_result a = {0};
    cull_point        point[CULL_AUDIT_POINTS + 2];
    size_t            points = 0;
    uint64_t          quarter = w->epochs > 4 ? w->epochs / 4 : 1;
    bool whole = w->last || w->epoch == 1 || w->epoch == quarter || w->epoch == 2 * quarter;
    char name[32];
    int  end = audit(w, NULL, NULL, 0, &a);

    if (end) return end;
    (void)snprintf(name, sizeof name, "epoch %llu", (unsigned long long)w->epoch);
    for (size_t i = 0; whole && i < CULL_AUDIT_POINTS; i++)
        point[points++] = watch_point("losses", name, loss_at(&a, i), (double)i / 100);
    point[points++] = watch_point("by epoch", "mean", (double)w->epoch, a.loss);
    point[points++] = watch_point("by epoch", "median", (double)w->epoch, loss_at(&a, 50));
    (void)printf("%s: loss of the examples: mean %.4f, median %.4f\n", name, a.loss,
                 loss_at(&a, 50));
    return put_points(w->r, point, points, false);
}

/* What each exponent makes of the same losses: a share that is below, to its power. */
int look_selections(struct watch *w)
{
    cull_audit_result a = {0};
    cull_point        point[CULL_AUDIT_POINTS];
    char              strategy[MOST_WORD / 2];
    int               end = audit(w, NULL, NULL, 0, &a);

    for (size_t s = 0; !end && list_part(w->r->entry->strategies, s, strategy, sizeof strategy);
         s++) {
        double beta = option_of(strategy, "beta", 1), sum = 0;

        for (size_t i = 0; i < CULL_AUDIT_POINTS; i++) {
            double chance = pow((double)i / 100, beta);

            point[i] = watch_point("chance", strategy, loss_at(&a, i), chance);
            sum += chance / CULL_AUDIT_POINTS;
        }
        (void)printf("%s picks %.0f %% of the examples\n", strategy, 100 * sum);
        end = put_points(w->r, point, CULL_AUDIT_POINTS, false);
    }
    return end;
}

int look_confidence(struct watch *w)
{
    cull_audit_result a = {0};
    cull_point        point[CULL_AUDIT_POINTS];
    size_t            points = 0;
    int               end = audit(w, "test", NULL, 0, &a);

    if (end) return end;
    (void)printf("%s: test accuracy %.2f %%\n  confidence in the true class at 10, 20 .. 90 %% of "
                 "the test examples:\n   ",
                 w->strategy, 100 * a.accuracy);
    for (size_t i = 10; i <= 90; i += 10) (void)printf(" %.3f", a.confidence[i]);
    (void)printf("\n  classified right, by tenths of confidence from low to high:\n   ");
    for (size_t i = 0; i < CULL_AUDIT_TENTHS; i++) (void)printf(" %.3f", a.tenth[i]);
    (void)printf("\n");
    if (w->r->entry->look == CULL_LOOK_CONFIDENCE)
        for (size_t i = 0; i < CULL_AUDIT_POINTS; i++)
            point[points++] = watch_point("", w->strategy, (double)i, a.confidence[i]);
    else
        for (size_t i = 0; i < CULL_AUDIT_TENTHS; i++)
            point[points++] = watch_point("", w->strategy, 10 * (double)(i + 1), a.tenth[i]);
    return put_points(w->r, point, points, false);
}

/* ---- consistently low or high ---- */

/* The ranks of all looks so far lie beside the figure, so that another sitting goes on with them.
 */
static int add_ranks(const struct watch *w, double *sum, size_t count)
{
    char         path[CULL_DATA_PATH];
    cull_arrays *arrays = NULL;
    cull_tensor  before = {0};
    int          end = END_WELL;

    (void)snprintf(path, sizeof path, "%.900s/ranks.npz", w->folder);
    if (cull_arrays_open(path, &arrays) == CULL_OK &&
        cull_arrays_get(arrays, "sum", &before) == CULL_OK && before.dims == 1 &&
        before.dtype == CULL_F64 && (size_t)before.shape[0] == count)
        for (size_t i = 0; i < count; i++) sum[i] += ((const double *)before.data)[i];
    cull_arrays_close(arrays);
    if (cull_arrays_write(path, &(cull_array){"sum", cull_vector(sum, CULL_F64, count)}, 1) !=
        CULL_OK)
        end = complain_last(END_FAILED, "Give another --out.");
    return end;
}

static int print_examples(const struct watch *w)
{
    cull_arrays *arrays = NULL;
    cull_tensor  label = {0}, predicted = {0}, loss = {0};
    cull_status  status = cull_arrays_open(w->audit, &arrays);

    if (status == CULL_OK) status = cull_arrays_get(arrays, "label", &label);
    if (status == CULL_OK) status = cull_arrays_get(arrays, "predicted", &predicted);
    if (status == CULL_OK) status = cull_arrays_get(arrays, "loss", &loss);
    for (size_t i = 0; status == CULL_OK && i < (size_t)label.shape[0]; i++) {
        size_t each = (size_t)label.shape[0] / 2;

        if (i % each < EXAMPLES)
            (void)printf("%s  class %d, told as %d, loss %.4f\n", i < each ? "easy" : "hard",
                         ((int32_t *)label.data)[i], ((int32_t *)predicted.data)[i],
                         ((double *)loss.data)[i]);
    }
    cull_arrays_close(arrays);
    return complain_run(status);
}

/* At the end those are shown whose rank was lowest, or highest, over all looks. */
int look_examples(struct watch *w)
{
    cull_audit_result result = {0};
    double           *sum = NULL;
    size_t            count = 0;
    int               end = audit(w, NULL, NULL, 0, &result);

    if (!end) end = read_ranks(w, &sum, &count);
    if (!end) end = add_ranks(w, sum, count);
    if (!end && w->last) {
        (void)snprintf(w->audit, sizeof w->audit, "%s/audit.npz", w->r->state.folder);
        end = audit(w, NULL, sum, count, &result);
        if (!end) end = print_examples(w);
        if (!end) (void)printf("pictures: %s\n", w->audit);
    }
    free(sum);
    return end;
}
