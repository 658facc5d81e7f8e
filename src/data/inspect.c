/* data/inspect.c - what is probably wrong with a set, as its labels and its sample show it. */
#include "data/inspect.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { ROOM = CULL_TEXT_SHOWN + 4, NAMED = 5, LIST = (NAMED + 1) * ROOM, FEW = 100 };

#define LOPSIDED .9 /* share of the largest class above which an accuracy says little */

/* By its name in quotes, or its number where there are no names. */
static const char *name_of(const cull_texts *names, size_t i, char out[ROOM])
{
    char shown[CULL_TEXT_SHOWN];

    if (i < names->count)
        (void)snprintf(out, ROOM, "'%s'",
                       cull_text_show(names->text[i], strlen(names->text[i]), shown));
    else
        (void)snprintf(out, ROOM, "%zu", i);
    return out;
}

/* The first of those that are marked, "1, 4, 6 and 17 more". */
static void list_marked(const cull_texts *names, const bool *mark, size_t count, char out[LIST])
{
    size_t at = 0, told = 0, more = 0;
    char   name[ROOM];

    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (!mark[i]) continue;
        if (told == NAMED)
            more++;
        else
            at += (size_t)snprintf(out + at, LIST - at, "%s%s", told++ ? ", " : "",
                                   name_of(names, i, name));
    }
    if (more) (void)snprintf(out + at, LIST - at, " and %zu more", more);
}

/* ---- labels ---- */

static cull_status remark_on_missing(cull_dataset *set, const size_t *size)
{
    cull_status status = CULL_OK;
    size_t      missing = 0;
    char        text[LIST];
    bool       *mark = NULL;

    for (size_t k = 0; k < set->classes; k++) missing += size[k] == 0;
    if (missing == 0) goto done;
    if (missing == 1 && size[0] == 0 && !set->class_names.count) {
        TRY(cull_data_remark(set,
                             "%s: labels run from 1 to %zu, and class 0 has no example; subtract 1 "
                             "from them, or it is trained in vain",
                             set->name, set->classes - 1));
        goto done;
    }
    TRY(cull_base_alloc(set->classes, sizeof *mark, "looking at labels", &mark));
    for (size_t k = 0; k < set->classes; k++) mark[k] = size[k] == 0;
    list_marked(&set->class_names, mark, set->classes, text);
    if (missing == 1)
        TRY(cull_data_remark(set, "%s: class %s has no example", set->name, text));
    else
        TRY(cull_data_remark(set, "%s: %zu of %zu classes have no example: %s", set->name, missing,
                             set->classes, text));
done:
    cull_base_free(mark);
    return status;
}

static cull_status remark_on_classes(cull_dataset *set)
{
    cull_status    status = CULL_OK;
    const int32_t *label = cull_data_labels(set);
    size_t        *size = NULL, most = 0;
    char           name[ROOM];

    TRY(cull_base_alloc(set->classes, sizeof *size, "looking at labels", &size));
    for (size_t i = 0; i < set->count; i++) size[label[i]]++;
    for (size_t k = 1; k < set->classes; k++)
        if (size[k] > size[most]) most = k;
    (void)name_of(&set->class_names, most, name);
    if (size[most] == set->count) {
        TRY(cull_data_remark(set,
                             "%s: every example is of class %s: there is nothing to tell apart",
                             set->name, name));
        goto done;
    }
    TRY(remark_on_missing(set, size));
    if ((double)size[most] > LOPSIDED * (double)set->count)
        TRY(cull_data_remark(set,
                             "%s: %.1f %% of the examples are of class %s; who always answers that "
                             "is right as often",
                             set->name, 100 * (double)size[most] / (double)set->count, name));
done:
    cull_base_free(size);
    return status;
}

static bool same_target(const cull_dataset *set, size_t place, size_t column)
{
    size_t      bytes = cull_dtype_size(set->target.dtype), at = column * bytes;
    const char *a = cull_data_target_at(set, 0), *b = cull_data_target_at(set, place);

    return memcmp(a + at, b + at, bytes) == 0;
}

/* What is learned beside one class: columns in which all examples agree. */
static cull_status remark_on_columns(cull_dataset *set)
{
    cull_status status = CULL_OK;
    size_t      constant = 0, width = set->target.width;
    bool       *mark = NULL;
    char        text[LIST];

    TRY(cull_base_alloc(width, sizeof *mark, "looking at targets", &mark));
    for (size_t k = 0; k < width; k++) {
        size_t i = 1;

        while (i < set->count && same_target(set, i, k)) i++;
        mark[k] = i == set->count;
        constant += mark[k];
    }
    if (constant == 0) goto done;
    list_marked(&set->label_names, mark, width, text);
    TRY(cull_data_remark(set, "%s: %zu of %zu targets are the same in every example: %s", set->name,
                         constant, width, text));
done:
    cull_base_free(mark);
    return status;
}

/* ---- inputs ---- */

static bool all_alike(const cull_data_sample *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->hash[i] != s->hash[0]) return false;
    return s->count > 1;
}

/* The sample alone may miss a change; where all inputs were measured, those tell. */
static bool never_changes(const cull_dataset *set, size_t c)
{
    const cull_data_sample *s = set->sample;
    bool                    whole = s->count == set->count;

    return s->low[c] == s->high[c] && (whole || set->published || set->deviation[c] == 1);
}

static cull_status remark_on_inputs(cull_dataset *set)
{
    cull_status status = CULL_OK;
    bool       *mark = NULL, pictures = set->height * set->width > 1;
    size_t      constant = 0;
    char        text[LIST];

    TRY(cull_base_alloc(set->channels, sizeof *mark, "looking at inputs", &mark));
    for (size_t c = 0; c < set->channels; c++) constant += mark[c] = never_changes(set, c);
    list_marked(&set->feature_names, mark, set->channels, text);
    if (set->dtype == CULL_I32 && !all_alike(set->sample)) goto done;
    if (constant == set->channels)
        TRY(cull_data_remark(set, "%s: its inputs never change", set->name));
    else if (all_alike(set->sample))
        TRY(cull_data_remark(set, "%s: all of %zu examples looked at are the same", set->name,
                             set->sample->count));
    else if (constant && (pictures || set->count >= FEW))
        TRY(cull_data_remark(set, "%s: %zu of %zu %s never change%s: %s", set->name, constant,
                             set->channels, pictures ? "channels" : "inputs",
                             constant == 1 ? "s" : "", text));
done:
    cull_base_free(mark);
    return status;
}

cull_status cull_data_inspect(cull_dataset *set)
{
    cull_status status = CULL_OK;

    TRY(cull_data_look(set));
    if (set->count < 2) goto done;
    TRY(set->target.kind == CULL_TARGET_CLASS ? remark_on_classes(set) : remark_on_columns(set));
    TRY(remark_on_inputs(set));
done:
    return status;
}
