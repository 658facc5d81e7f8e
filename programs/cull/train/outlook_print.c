/* outlook_print.c - what a run is about to do, in a few lines or as JSON. */
#include <math.h>
#include <stdio.h>

#include "train/run_parts.h"

/* What there are so many of to tell. */
static const char *name_learned(const cull_run_outlook *o)
{
    if (o->target == CULL_TARGET_CLASS) return o->classes == 1 ? "class" : "classes";
    if (o->target == CULL_TARGET_CLASSES) return o->classes == 1 ? "label" : "labels";
    return o->classes == 1 ? "number to tell" : "numbers to tell";
}

static void print_data(const cull_run_outlook *o)
{
    (void)fprintf(stderr, "data      %s: %zu examples to train, ", o->data, o->train);
    if (o->validation) (void)fprintf(stderr, "%zu to validate, ", o->validation);
    (void)fprintf(stderr, "%zu to test, %zu %s, ", o->test, o->classes, name_learned(o));
    if (o->height == 1 && o->width == 1)
        (void)fprintf(stderr, "%zu feature%s\n", o->channels, o->channels == 1 ? "" : "s");
    else
        (void)fprintf(stderr, "%zux%zux%zu\n", o->channels, o->height, o->width);
}

static void print_run(const cull_run_outlook *o)
{
    (void)fprintf(stderr, "model     %s, %llu parameters\n", o->model,
                  (unsigned long long)o->parameters);
    (void)fprintf(stderr, "strategy  %s, ", o->strategy);
    if (o->keep >= 1)
        (void)fprintf(stderr, "trains on everything\n");
    else if (isfinite(o->keep))
        (void)fprintf(stderr, "keeps %.3g %%\n", 100 * o->keep);
    else
        (void)fprintf(stderr, "whose rule decides how many are kept\n");
    (void)fprintf(stderr, "run       %llu epoch%s, about %llu step%s, batches of %llu",
                  (unsigned long long)o->epochs, o->epochs == 1 ? "" : "s",
                  (unsigned long long)o->steps, o->steps == 1 ? "" : "s",
                  (unsigned long long)o->batch);
    if (o->done) (void)fprintf(stderr, "; goes on after step %llu", (unsigned long long)o->done);
    (void)fputs("\n", stderr);
}

static void print_machine(const cull_run_outlook *o)
{
    (void)fprintf(stderr, "backend   %s, %s", o->backend, o->precision);
    if (o->chosen[0]) (void)fprintf(stderr, " (train.backend=auto: %s)", o->chosen);
    (void)fputs("\n", stderr);
    if (o->device_total)
        (void)fprintf(stderr,
                      "memory    %.0f MB of data, %.0f MB of parameters and optimizer, %.0f MB of "
                      "activations; %.1f of %.1f GB are left\n",
                      (double)o->device_data / 1e6, (double)o->device_parameters / 1e6,
                      (double)o->device_plans / 1e6, (double)o->device_free / 1e9,
                      (double)o->device_total / 1e9);
}

static void print_counted(const cull_run_outlook *o)
{
    if (isfinite(o->counted))
        (void)fprintf(stderr, "cost      %.3g %% of full training's work, as counted\n",
                      100 * o->counted);
    else
        (void)fprintf(stderr, "cost      not known beforehand\n");
}

void print_outlook(const cull_run_outlook *o)
{
    print_data(o);
    print_run(o);
    print_machine(o);
    print_counted(o);
}

void print_prediction(const cull_run_outlook *o)
{
    char time[32];

    if (!isfinite(o->predicted)) return;
    clock_text(o->seconds, time, sizeof time);
    (void)fprintf(stderr, "predicted %.3g %% of full training's time, %s to train in all\n",
                  100 * o->predicted, time);
}

/* Bytes of a device; null where memory is the host's. */
static json_t *device_json(const cull_run_outlook *o)
{
    if (!o->device_total) return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "data", (json_int_t)o->device_data, "parameters",
                     (json_int_t)o->device_parameters, "activations", (json_int_t)o->device_plans,
                     "free", (json_int_t)o->device_free, "total", (json_int_t)o->device_total);
}

json_t *outlook_json(const cull_run_outlook *o)
{
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:[I,I,I], s:s, s:I, s:s, s:o, s:I, s:I, s:I, s:I, s:o, s:o, "
        "s:o, s:s, s:s, s:s, s:o}",
        "data", o->data, "train", (json_int_t)o->train, "validation", (json_int_t)o->validation,
        "test", (json_int_t)o->test, "classes", (json_int_t)o->classes, "shape",
        (json_int_t)o->channels, (json_int_t)o->height, (json_int_t)o->width, "model", o->model,
        "parameters", (json_int_t)o->parameters, "strategy", o->strategy, "keep",
        json_number(o->keep), "batch", (json_int_t)o->batch, "steps", (json_int_t)o->steps,
        "epochs", (json_int_t)o->epochs, "done", (json_int_t)o->done, "counted",
        json_number(o->counted), "predicted", json_number(o->predicted), "seconds",
        json_number(o->seconds), "backend", o->backend, "chosen", o->chosen, "precision",
        o->precision, "memory", device_json(o));
}
