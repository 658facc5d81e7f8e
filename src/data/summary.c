/* data/summary.c - what is in a data set, as the public API has it. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "data/dataset.h"
#include "data/strata.h"
#include "data/tokens.h"

/* Of the summary's own: a list that ends with NULL, or NULL for none. */
static cull_status copy_list(const cull_texts *from, char ***out)
{
    cull_status status = CULL_OK;
    cull_texts  copy = {0};

    if (!from->count) goto done;
    TRY(cull_texts_copy(&copy, from));
    TRY(cull_base_grow(copy.count + 1, sizeof *copy.text, "a summary", &copy.text));
    copy.text[copy.count] = NULL;
    *out = copy.text;
    copy = (cull_texts){0};
done:
    cull_texts_clear(&copy);
    return status;
}

static void clear_list(char **list)
{
    for (char **next = list; next && *next; next++) cull_base_free(*next);
    cull_base_free(list);
}

enum { TARGETS = sizeof(((cull_data_summary *)0)->target_mean) / sizeof(double) };

static double target_at(const cull_data_target *t, size_t i, size_t k)
{
    size_t at = i * t->width + k;

    return t->kind == CULL_TARGET_REAL ? (double)((const float *)t->data)[at]
                                       : (double)((const uint8_t *)t->data)[at];
}

/* Where no class is an example's, there are none to be counted. */
static cull_status count_classes(const cull_dataset *set, cull_data_summary *out)
{
    cull_status      status = CULL_OK;
    cull_data_strata strata = {0};

    if (!cull_data_labels(set)) goto done;
    TRY(cull_data_strata_init(&strata, set));
    out->fewest = set->count;
    for (size_t k = 0; k < strata.classes; k++) {
        if (strata.size[k] < out->fewest) out->fewest = strata.size[k];
        if (strata.size[k] > out->most) out->most = strata.size[k];
    }
done:
    cull_data_strata_clear(&strata);
    return status;
}

/* Of targets that are no class; a label is 1 where it holds, and 0 else. */
static void measure_targets(const cull_dataset *set, cull_data_summary *out)
{
    const cull_data_target *t = &set->target;

    for (size_t k = 0; k < t->width && k < TARGETS && t->kind != CULL_TARGET_CLASS; k++) {
        double sum = 0, square = 0, mean = 0;
        for (size_t i = 0; i < set->count; i++) sum += target_at(t, i, k);
        mean = sum / (double)set->count;
        for (size_t i = 0; i < set->count; i++)
            square += (target_at(t, i, k) - mean) * (target_at(t, i, k) - mean);
        out->target_mean[k] = mean;
        out->target_deviation[k] = sqrt(square / (double)set->count);
    }
}

/* Does the caller's struct, which may be an older one, hold this member? */
#define REACHES(s, member)                                                                         \
    (!(s)->size || (s)->size >= offsetof(cull_data_summary, member) + sizeof((s)->member))

enum { CHANNELS = sizeof(((cull_data_summary *)0)->mean) / sizeof(double) };

cull_status cull_data_summarise(const cull_data_request *request, cull_data_summary *out)
{
    cull_status       status = CULL_OK;
    cull_dataset     *set = NULL;
    cull_data_request request_room;
    cull_data_summary room, made = {0};

    SIZED(cull_data_request, request, request_room);
    if (out->size) TRY(cull_sized_read("cull_data_summary", out, sizeof room, &room));
    TRY(cull_data_open(request, &set));
    made = (cull_data_summary){.count = set->count,
                               .classes = set->classes,
                               .channels = set->channels,
                               .height = set->height,
                               .width = set->width,
                               .dtype = set->dtype,
                               .published = set->published,
                               .stored = set->stored,
                               .target = set->target.kind};
    memcpy(made.name, set->name, sizeof made.name);
    for (size_t c = 0; c < set->channels && c < CHANNELS; c++) {
        made.mean[c] = set->mean[c];
        made.deviation[c] = set->deviation[c];
    }
    TRY(count_classes(set, &made));
    made.vocabulary = set->vocabulary;
    if (set->vocabulary) TRY(cull_data_tokens_count(set, &made.tokens, &made.longest));
    measure_targets(set, &made);
    if (REACHES(out, remarks)) { /* a shorter struct could not end the lists */
        TRY(copy_list(&set->class_names, &made.class_names));
        TRY(copy_list(&set->remarks, &made.remarks));
    }
    if (REACHES(out, label_names)) TRY(copy_list(&set->label_names, &made.label_names));
    cull_sized_give(out, &made, sizeof made);
    made = (cull_data_summary){0};
done:
    cull_data_summary_clear(&made);
    cull_data_close(set);
    return status;
}

void cull_data_summary_clear(cull_data_summary *summary)
{
    if (!summary || !REACHES(summary, remarks)) return;
    clear_list(summary->class_names);
    clear_list(summary->remarks);
    summary->class_names = summary->remarks = NULL;
    if (!REACHES(summary, label_names)) return;
    clear_list(summary->label_names);
    summary->label_names = NULL;
}
