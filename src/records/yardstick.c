/* records/yardstick.c - accuracy, which is what runs are judged by. */
#include "records/yardstick.h"

#include <math.h>

const cull_yardstick cull_yardstick_accuracy = {.name = "accuracy",
                                                .unit = "%",
                                                .points = "points",
                                                .error = "error",
                                                .scale = 100,
                                                .best = 100,
                                                .digits = 2,
                                                .counts = true};

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
