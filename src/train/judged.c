/* train/judged.c - accuracy, R² and mAP. */
#include "train/judged.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "data/strata.h"
#include "data/targets.h"

const cull_yardstick *cull_train_yardstick(cull_loss_kind loss)
{
    static const cull_yardstick *const of[] = {[CULL_LOSS_CROSS_ENTROPY] = &cull_yardstick_accuracy,
                                               [CULL_LOSS_SQUARED] = &cull_yardstick_r2,
                                               [CULL_LOSS_BINARY] = &cull_yardstick_map};

    return of[loss];
}

cull_target_kind cull_train_target(cull_loss_kind loss)
{
    static const cull_target_kind kinds[] = {[CULL_LOSS_CROSS_ENTROPY] = CULL_TARGET_CLASS,
                                             [CULL_LOSS_SQUARED] = CULL_TARGET_REAL,
                                             [CULL_LOSS_BINARY] = CULL_TARGET_CLASSES};

    return kinds[loss];
}

double cull_train_variance(cull_loss_kind loss, const cull_dataset *set)
{
    return loss == CULL_LOSS_SQUARED ? cull_data_target_variance(set) : 0;
}

double cull_train_judged(cull_loss_kind loss, const cull_seen *sums, double variance)
{
    switch (loss) {
    case CULL_LOSS_CROSS_ENTROPY: return (double)sums->correct / (double)sums->count;
    case CULL_LOSS_SQUARED: return 1 - sums->loss / (double)sums->count / variance;
    case CULL_LOSS_BINARY: break;
    }
    return NAN;
}

struct ranked {
    float score;
    bool  truth;
};

static int by_score(const void *a, const void *b)
{
    float x = ((const struct ranked *)a)->score, y = ((const struct ranked *)b)->score;

    return (x < y) - (x > y);
}

/* Of one label; NaN: it holds for nobody. */
static double average_precision(struct ranked *ranked, size_t count)
{
    double sum = 0;
    size_t above = 0, end = 0; /* true ones so far; where those of one score end */

    qsort(ranked, count, sizeof *ranked, by_score);
    for (size_t at = 0; at < count; at = end) {
        size_t here = 0;

        for (end = at; end < count && ranked[end].score == ranked[at].score; end++)
            here += ranked[end].truth;
        above += here;
        sum += (double)here * (double)above / (double)end;
    }
    return above ? sum / (double)above : NAN;
}

cull_status cull_train_precision(const cull_dataset *set, const float *score, double *out)
{
    cull_status    status = CULL_OK;
    struct ranked *ranked = NULL;
    const uint8_t *truth = set->target.data;
    size_t         labels = set->target.width, told = 0;
    double         sum = 0;

    TRY(cull_base_alloc(set->count, sizeof *ranked, "an evaluation", &ranked));
    for (size_t k = 0; k < labels; k++) {
        double precision = 0;

        for (size_t i = 0; i < set->count; i++)
            ranked[i] = (struct ranked){score[i * labels + k], truth[i * labels + k] != 0};
        precision = average_precision(ranked, set->count);
        if (isnan(precision)) continue;
        sum += precision;
        told++;
    }
    *out = sum / (double)told;
done:
    cull_base_free(ranked);
    return status;
}

static cull_status most_frequent(const cull_dataset *set, double *out)
{
    cull_status      status = CULL_OK;
    cull_data_strata strata = {0};
    size_t           most = 0;

    TRY(cull_data_strata_init(&strata, set));
    for (size_t k = 0; k < strata.classes; k++)
        if (strata.size[k] > most) most = strata.size[k];
    *out = (double)most / (double)set->count;
done:
    cull_data_strata_clear(&strata);
    return status;
}

/* Where all scores are the same, a label's average precision is the share that it holds for. */
static double mean_share(const cull_dataset *set)
{
    const uint8_t *truth = set->target.data;
    size_t         labels = set->target.width, told = 0;
    double         sum = 0;

    for (size_t k = 0; k < labels; k++) {
        size_t holds = 0;

        for (size_t i = 0; i < set->count; i++) holds += truth[i * labels + k] != 0;
        sum += (double)holds / (double)set->count;
        told += holds > 0;
    }
    return told ? sum / (double)told : 0;
}

cull_status cull_train_guess(cull_loss_kind loss, const cull_dataset *set, double *out)
{
    *out = 0; /* R² of the mean */
    if (loss == CULL_LOSS_CROSS_ENTROPY) return most_frequent(set, out);
    if (loss == CULL_LOSS_BINARY) *out = mean_share(set);
    return CULL_OK;
}

cull_status cull_train_check_judged(cull_loss_kind loss, const cull_dataset *set, const char *which)
{
    cull_status status = CULL_OK;
    const char *measure = cull_train_yardstick(loss)->name;

    if (loss == CULL_LOSS_SQUARED && !(cull_data_target_variance(set) > 0))
        FAIL_OPTION("model.loss",
                    "the targets of the %s set of %s never change, so that %s has no meaning there",
                    which, set->name, measure);
    if (loss == CULL_LOSS_BINARY && cull_data_target_holds(set) == 0)
        FAIL_OPTION("model.loss",
                    "no label of the %s set of %s holds, so that %s has no meaning there", which,
                    set->name, measure);
done:
    return status;
}
