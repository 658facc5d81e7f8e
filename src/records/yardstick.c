/* records/yardstick.c - accuracy, R² and mAP, which are what runs are judged by. */
#include "records/yardstick.h"

#include <math.h>
#include <string.h>

const cull_yardstick cull_yardstick_accuracy = {.name = "accuracy",
                                                .unit = "%",
                                                .points = "points",
                                                .error = "error",
                                                .scale = 100,
                                                .best = 100,
                                                .digits = 2,
                                                .counts = true,
                                                .key = "accuracy",
                                                .what = "share of the examples classified right",
                                                .bounded = true};

const cull_yardstick cull_yardstick_r2 = {
    .name = "R²",
    .unit = "%",
    .points = "points",
    .error = "error",
    .scale = 100,
    .best = 100,
    .digits = 2,
    .key = "r2",
    .what = "1 less the squared error over the variance of the targets; 0: as good as their mean"};

const cull_yardstick cull_yardstick_map = {
    .name = "mAP",
    .unit = "%",
    .points = "points",
    .error = "error",
    .scale = 100,
    .best = 100,
    .digits = 2,
    .key = "map",
    .what = "mean over the labels of their average precision: how high true examples are ranked",
    .bounded = true};

const cull_yardstick *cull_yardstick_at(size_t i)
{
    static const cull_yardstick *const all[] = {&cull_yardstick_accuracy, &cull_yardstick_r2,
                                                &cull_yardstick_map};

    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

const cull_yardstick *cull_yardstick_find(const char *key)
{
    const cull_yardstick *measure = NULL;

    if (!key[0]) return &cull_yardstick_accuracy;
    for (size_t i = 0; (measure = cull_yardstick_at(i)); i++)
        if (strcmp(measure->key, key) == 0) return measure;
    return NULL;
}

const char *cull_yardstick_way(const cull_yardstick *measure)
{
    return measure->lower ? "lower" : "higher";
}

bool cull_yardstick_can_be(const cull_yardstick *measure, double value)
{
    return isfinite(value) && measure->scale * value <= measure->best &&
           (value >= 0 || !measure->bounded);
}

double cull_yardstick_gain(const cull_yardstick *measure, double a, double b)
{
    return measure->lower ? b - a : a - b;
}

double cull_yardstick_error(const cull_yardstick *measure, double value)
{
    return fabs(measure->best - value);
}

double cull_yardstick_step(const cull_yardstick *measure, double examples)
{
    return measure->counts && examples >= 1 ? measure->scale / examples : 0;
}

const char *cull_metric_name(const char *metric)
{
    const cull_yardstick *measure = metric[0] ? cull_yardstick_find(metric) : NULL;

    return measure ? measure->name : NULL;
}
