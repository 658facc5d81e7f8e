/* probe_print.c - what a probe found, printed; and the lists its commands take. */
#include "probe/probe_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ways[CULL_PROBE_WAYS] = {
    "as trained, BatchNorm by the kept rows",
    "BatchNorm by all rows of the batch",
};

static void print_rate(const cull_rate *rate)
{
    if (rate->trials > 0)
        (void)printf("  %5.1f %% [%4.1f, %5.1f]", 100 * rate->rate, 100 * rate->low,
                     100 * rate->high);
    else
        (void)printf("  %-21s", "-");
}

static void print_way(const cull_probe_result *r, int way)
{
    (void)printf("%-24s %4s %4s  %9s %9s %9s %9s  %-21s %6s %6s %9s  %-21s\n", "strategy", "keep",
                 "kept", "error", "/full", "median", "q95", " below random", "cosine", "sign",
                 "to batch", " below random");
    for (size_t i = 0; i < r->arms; i++) {
        const cull_probe_arm *a = &r->arm[i];

        (void)printf("%-24s %4.2g %4.0f  %9.3g %9.3g %9.3g %9.3g", a->strategy, a->keep, a->kept,
                     a->error[way].mean, a->error[way].mean / r->full, a->error[way].median,
                     a->error[way].high);
        print_rate(&a->wins[way]);
        (void)printf(" %6.3f %6.3f %9.3g", a->cosine[way].mean, a->sign[way].mean,
                     a->batch_error[way].mean);
        print_rate(&a->batch_wins[way]);
        (void)printf("\n");
    }
}

/* Against the gradient of the batch itself, and as shares of its square: the last layer is what
 * gradients are matched over. */
static void print_relative(const cull_probe_result *r, int way)
{
    (void)printf(r->data_batches > 0
                     ? "\nsquared error as a share of the batch's own gradient: of the last layer, "
                       "of all; medians\n"
                     : "\nsquared error of the last layer as a share of the batch's own gradient; "
                       "medians\n");
    (void)printf("%-32s %4s %4s  %9s %9s  %-21s", "strategy", "keep", "kept", "last", "q95",
                 " below random");
    if (r->data_batches > 0) (void)printf(" %9s %9s  %-21s", "all", "q95", " below random");
    (void)printf("\n");
    for (size_t i = 0; i < r->arms; i++) {
        const cull_probe_arm *a = &r->arm[i];

        (void)printf("%-32s %4.2g %4.0f  %9.3g %9.3g", a->strategy, a->keep, a->kept,
                     a->last[way].median, a->last[way].high);
        print_rate(&a->last_wins[way]);
        if (r->data_batches > 0) {
            (void)printf(" %9.3g %9.3g", a->relative[way].median, a->relative[way].high);
            print_rate(&a->batch_wins[way]);
        }
        (void)printf("\n");
    }
}

static void print_picks(const cull_probe_result *r)
{
    (void)printf("\nwrong labels: %.2f %% of what was there to pick\n%-24s %4s  %-21s %s\n",
                 100 * r->base.rate, "strategy", "keep", " of the picks", "of the weight");
    for (size_t i = 0; i < r->arms; i++) {
        (void)printf("%-24s %4.2g", r->arm[i].strategy, r->arm[i].keep);
        print_rate(&r->arm[i].corrupted);
        (void)printf("  %5.1f %%\n", 100 * r->arm[i].corrupted_weight);
    }
}

void print_probe(const cull_probe_result *r)
{
    if (r->data_batches > 0) {
        (void)printf("%zu minibatches of %zu, %zu parameters\n"
                     "squared norm of the gradient of all the data (%zu minibatches): %.4g\n"
                     "squared error of a whole minibatch against it: %.4g\n",
                     r->batches, r->batch, r->parameters, r->data_batches, r->full,
                     r->whole_error.mean);
        for (int way = 0; way < (r->batchnorm ? CULL_PROBE_WAYS : 1); way++) {
            (void)printf("\n%s%s\n", r->batchnorm ? "gradients " : "gradients",
                         r->batchnorm ? ways[way] : "");
            print_way(r, way);
            print_relative(r, way);
        }
    }
    if (r->data_batches == 0) {
        (void)printf("%zu minibatches of %zu\n", r->batches, r->batch);
        print_relative(r, CULL_PROBE_OF_BATCH);
    }
    if (r->base.hits > 0) print_picks(r);
}

static json_t *spread_json(const cull_spread *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean", json_number(s->mean), "sd",
                     json_number(s->deviation), "q05", json_number(s->low), "q25",
                     json_number(s->quarter), "q50", json_number(s->median), "q75",
                     json_number(s->three_quarters), "q95", json_number(s->high));
}

static json_t *rate_json(const cull_rate *rate)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "rate", json_number(rate->rate), "low",
                     json_number(rate->low), "high", json_number(rate->high), "trials",
                     json_number(rate->trials));
}

static json_t *way_json(const cull_probe_result *r, const cull_probe_arm *a, int way)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "error",
        spread_json(&a->error[way]), "relative", json_number(a->error[way].mean / r->full), "wins",
        rate_json(&a->wins[way]), "cosine", spread_json(&a->cosine[way]), "sign",
        spread_json(&a->sign[way]), "batch_error", spread_json(&a->batch_error[way]), "batch_wins",
        rate_json(&a->batch_wins[way]), "batch_cosine", spread_json(&a->batch_cosine[way]),
        "batch_sign", spread_json(&a->batch_sign[way]), "batch_relative",
        spread_json(&a->relative[way]), "last_relative", spread_json(&a->last[way]), "last_wins",
        rate_json(&a->last_wins[way]));
}

int print_probe_json(const cull_probe_result *r)
{
    int end = END_WELL;

    for (size_t i = 0; i < r->arms && end == END_WELL; i++) {
        const cull_probe_arm *a = &r->arm[i];
        json_t *o = json_pack("{s:s, s:o, s:o, s:I, s:o, s:o, s:o}", "strategy", a->strategy,
                              "keep", json_number(a->keep), "kept", json_number(a->kept), "batches",
                              (json_int_t)r->batches, "corrupted", rate_json(&a->corrupted),
                              "corrupted_weight", json_number(a->corrupted_weight), "base",
                              rate_json(&r->base));

        if (r->data_batches > 0) {
            (void)json_object_set_new(o, "full", json_number(r->full));
            (void)json_object_set_new(o, "whole_error", spread_json(&r->whole_error));
            (void)json_object_set_new(o, "trained", way_json(r, a, CULL_PROBE_TRAINED));
            (void)json_object_set_new(o, "of_batch", way_json(r, a, CULL_PROBE_OF_BATCH));
        } else {
            (void)json_object_set_new(o, "last_relative",
                                      spread_json(&a->last[CULL_PROBE_OF_BATCH]));
            (void)json_object_set_new(o, "last_wins",
                                      rate_json(&a->last_wins[CULL_PROBE_OF_BATCH]));
        }
        if (!o || json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) || putchar('\n') < 0)
            end = complain(END_FAILED, "Look at fewer strategies.", "the result cannot be printed");
        json_decref(o);
    }
    return end ? end : end_output(END_WELL);
}

/* Texts with commas between; *out is a new block, the texts behind their addresses. */
static int take_list(const char *text, const char ***out, size_t *count)
{
    size_t      most = 1, length = 0;
    char       *copy = NULL;
    const char *rest = NULL, *item = NULL;

    for (const char *c = text; *c; c++) most += *c == ',';
    *out = calloc(1, most * sizeof **out + strlen(text) + 1);
    if (!*out) return complain(END_FAILED, "Give fewer arguments.", "no memory");
    copy = (char *)(*out + most);
    memcpy(copy, text, strlen(text));
    for (rest = copy; (item = cull_list_next(&rest, &length));) {
        copy[(size_t)(item - copy) + length] = '\0';
        if (length) (*out)[(*count)++] = item;
    }
    if (*count == 0)
        return complain(END_USAGE, "Give names with commas between.", "'%s' names nothing", text);
    return END_WELL;
}

static int take_keeps(const char *text, double **out, size_t *count)
{
    const char **word = NULL;
    int          end = take_list(text, &word, count);

    *out = end ? NULL : calloc(*count + 1, sizeof **out);
    if (!end && !*out) end = complain(END_FAILED, "Give fewer arguments.", "no memory");
    for (size_t i = 0; !end && i < *count; i++) {
        char *rest = NULL;

        (*out)[i] = strtod(word[i], &rest);
        if (*rest || !((*out)[i] > 0 && (*out)[i] <= 1))
            end = complain(END_USAGE, "Write them as --keep 0.1,0.3.",
                           "--keep takes shares above 0 and up to 1, not '%s'", word[i]);
    }
    free((void *)word);
    return end;
}

int take_probe(const char *strategies, const char *keep, cull_probe_options *out)
{
    const char **names = NULL;
    double      *keeps = NULL;
    int          end = take_list(strategies, &names, &out->strategies);

    if (!end) end = take_keeps(keep, &keeps, &out->keeps);
    out->strategy = names;
    out->keep = keeps;
    return end;
}

void clear_probe(cull_probe_options *options)
{
    free((void *)options->strategy);
    free((void *)options->keep);
}

void tell_passes(void *context, size_t done, size_t all)
{
    const bool *terminal = context;

    if (*terminal && (done % 8 == 0 || done == all))
        (void)fprintf(stderr, "\r%zu of %zu passes%s", done, all, done == all ? "\n" : "");
}
