/* data/dataset.c - a set of examples: growing, gathering, and what is kept of each. */
#include "data/dataset.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/adopt_names.h"
#include "data/inspect.h"
#include "data/reader.h"
#include "data/targets.h"

enum { MOST_REMARKS = 32, ROOM = 512 };

size_t cull_data_row(const cull_dataset *set)
{
    return set->channels * set->height * set->width;
}

size_t cull_data_row_bytes(const cull_dataset *set)
{
    return cull_data_row(set) * cull_dtype_size(set->dtype);
}

size_t cull_data_target_bytes(const cull_dataset *set)
{
    return set->target.width * cull_dtype_size(set->target.dtype);
}

const void *cull_data_target_at(const cull_dataset *set, size_t place)
{
    return (const char *)set->target.data + place * cull_data_target_bytes(set);
}

int32_t *cull_data_labels(const cull_dataset *set)
{
    return set->target.kind == CULL_TARGET_CLASS ? set->target.data : NULL;
}

cull_status cull_data_check_labels(const cull_dataset *set)
{
    if (set->target.kind == CULL_TARGET_CLASS) return CULL_OK;
    return cull_fail(CULL_UNSUPPORTED, "%s: an example's target is %s; one class is known here",
                     set->name, cull_data_target_name(set->target.kind));
}

cull_status cull_data_say_no_test(const char *path, const char *what)
{
    return cull_fail_about(CULL_BAD_FILE, "data.test",
                           "%s: holds no test set%s; name one with data.test, or let "
                           "data.split: 0.1 set a tenth of the examples aside",
                           path, what);
}

cull_status cull_data_create(const char *name, cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;
    size_t        length = strlen(name);

    TRY(cull_base_alloc(1, sizeof *set, "a data set", &set));
    if (length >= sizeof set->name) length = sizeof set->name - 1;
    memcpy(set->name, name, length);
    cull_data_aim(set, CULL_TARGET_CLASS, 1);
    *out = set;
done:
    return status;
}

cull_status cull_data_remark(cull_dataset *set, const char *format, ...)
{
    char    text[ROOM] = "";
    va_list list;
    int     length = 0;

    va_start(list, format);
    length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cull_text_tame(text);
    if (length < 0 || set->remarks.count == MOST_REMARKS ||
        cull_texts_find(&set->remarks, text) < set->remarks.count)
        return CULL_OK;
    return cull_texts_add(&set->remarks, text, strlen(text));
}

void cull_data_close(cull_dataset *set)
{
    if (!set) return;
    cull_texts_clear(&set->class_names);
    cull_texts_clear(&set->remarks);
    cull_texts_clear(&set->feature_names);
    cull_texts_clear(&set->label_names);
    cull_data_sample_close(set->sample);
    cull_data_rows_release(set->rows);
    cull_base_free(set->target.data);
    cull_base_free(set->origin);
    cull_base_free(set->marks);
    cull_base_free(set->mean);
    cull_base_free(set->deviation);
    cull_base_free(set);
}

void cull_data_aim(cull_dataset *set, cull_target_kind kind, size_t width)
{
    static const cull_dtype dtypes[] = {[CULL_TARGET_CLASS] = CULL_I32,
                                        [CULL_TARGET_CLASSES] = CULL_U8,
                                        [CULL_TARGET_REAL] = CULL_F32};

    set->target = (cull_data_target){.kind = kind, .dtype = dtypes[kind], .width = width};
}

cull_status cull_data_shape(cull_dataset *set, const char *path, cull_dtype dtype, size_t channels,
                            size_t height, size_t width)
{
    cull_status status = CULL_OK;

    if (set->mean) {
        if (set->dtype != dtype || set->channels != channels || set->height != height ||
            set->width != width)
            FAIL(CULL_BAD_FILE, "%s: %s examples of %zu x %zu x %zu, the file before it has others",
                 path, cull_dtype_name(dtype), channels, height, width);
        goto done;
    }
    if (channels < 1 || height < 1 || width < 1)
        FAIL(CULL_BAD_FILE, "%s: examples of %zu x %zu x %zu numbers; none may be 0", path,
             channels, height, width);
    if (height > CULL_DATA_MOST_SIDE || width > CULL_DATA_MOST_SIDE)
        FAIL(CULL_BAD_FILE, "%s: images of %zu x %zu pixels; a side is at most %d", path, height,
             width, CULL_DATA_MOST_SIDE);
    if (channels > CULL_DATA_MOST_ROW / (height * width))
        FAIL(CULL_BAD_FILE, "%s: examples of %zu x %zu x %zu; at most 2^31-1 numbers are read",
             path, channels, height, width);
    TRY(cull_base_alloc(channels, sizeof *set->deviation, "a data set", &set->deviation));
    TRY(cull_base_alloc(channels, sizeof *set->mean, "a data set", &set->mean));
    set->dtype = dtype;
    set->channels = channels;
    set->height = height;
    set->width = width;
done:
    return status;
}

/* Room for what is kept of each example beside its row. */
static cull_status add_places(cull_dataset *set, const char *path, uint64_t more)
{
    cull_status status = CULL_OK;
    size_t      total = 0;

    if (more > UINT32_MAX - 1 - set->count)
        FAIL(CULL_BAD_FILE, "%s: %llu examples behind %zu; 2^32-2 is the most", path,
             (unsigned long long)more, set->count);
    total = set->count + (size_t)more;
    TRY(cull_base_grow(total, cull_data_target_bytes(set), "the targets of a data set",
                       &set->target.data));
    TRY(cull_base_grow(total, sizeof *set->origin, "a data set", &set->origin));
    TRY(cull_base_grow(total, sizeof *set->marks, "a data set", &set->marks));
    for (size_t i = set->count; i < total; i++) {
        set->origin[i] = (uint32_t)i;
        set->marks[i] = 0;
    }
done:
    return status;
}

cull_status cull_data_extend(cull_dataset *set, const char *path, uint64_t more)
{
    cull_status status = CULL_OK;

    TRY(add_places(set, path, more));
    TRY(cull_data_rows_grow(&set->rows, set->count + (size_t)more, cull_data_row_bytes(set)));
done:
    return status;
}

cull_status cull_data_hold(cull_dataset *set, const char *path, cull_data_rows *rows)
{
    cull_status status = CULL_OK;

    TRY(add_places(set, path, rows->count));
    set->rows = cull_data_rows_share(rows);
done:
    return status;
}

void *cull_data_base(const cull_dataset *set)
{
    return set->rows ? set->rows->base : NULL;
}

void *cull_data_end(const cull_dataset *set)
{
    return (char *)set->rows->base + set->count * cull_data_row_bytes(set);
}

cull_status cull_data_row_at(const cull_dataset *set, size_t place, void *buffer, const void **out)
{
    const cull_data_rows *rows = set->rows;

    *out = buffer;
    if (!rows->base) return rows->class->read(rows, set->origin[place], buffer);
    *out = (const char *)rows->base + set->origin[place] * cull_data_row_bytes(set);
    return CULL_OK;
}

const char *cull_data_name_at(const cull_dataset *set, size_t place)
{
    const cull_data_rows *rows = set->rows;

    return rows->class->name ? rows->class->name(rows, set->origin[place]) : NULL;
}

static void copy_statistics(cull_dataset *to, const cull_dataset *from)
{
    memcpy(to->mean, from->mean, from->channels * sizeof *to->mean);
    memcpy(to->deviation, from->deviation, from->channels * sizeof *to->deviation);
    to->published = from->published;
    to->stored = from->stored;
    to->classes = from->classes;
}

static cull_status copy_texts(cull_dataset *to, const cull_dataset *from)
{
    cull_status status = CULL_OK;

    TRY(cull_texts_copy(&to->class_names, &from->class_names));
    TRY(cull_texts_copy(&to->remarks, &from->remarks));
    TRY(cull_texts_copy(&to->feature_names, &from->feature_names));
    TRY(cull_texts_copy(&to->label_names, &from->label_names));
done:
    return status;
}

/* Not its row: that is shared. */
static void copy_example(const cull_dataset *from, size_t place, cull_dataset *to, size_t i)
{
    size_t bytes = cull_data_target_bytes(from);

    memmove((char *)to->target.data + i * bytes, cull_data_target_at(from, place), bytes);
    to->origin[i] = from->origin[place];
    to->marks[i] = from->marks[place];
}

cull_status cull_data_gather(const cull_dataset *set, const uint32_t *places, size_t count,
                             cull_dataset **out)
{
    cull_status status = CULL_OK;
    cull_dataset *new = NULL;

    TRY(cull_data_create(set->name, &new));
    TRY(cull_data_shape(new, set->name, set->dtype, set->channels, set->height, set->width));
    cull_data_aim(new, set->target.kind, set->target.width);
    TRY(add_places(new, set->name, count));
    new->rows = cull_data_rows_share(set->rows);
    copy_statistics(new, set);
    new->unlabelled = set->unlabelled;
    new->vocabulary = set->vocabulary;
    TRY(copy_texts(new, set));
    for (size_t i = 0; i < count; i++) copy_example(set, places[i], new, i);
    new->count = count;
    *out = new;
    new = NULL;
done:
    cull_data_close(new);
    return status;
}

void cull_data_keep(cull_dataset *set, const uint32_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) copy_example(set, places[i], set, i);
    set->count = count;
}

/* Of targets that are no class, where both sets name their columns. */
static cull_status check_targets(const cull_dataset *set, const cull_dataset *train)
{
    const cull_texts *is = &set->label_names, *was = &train->label_names;

    for (size_t k = 0; !cull_data_labels(set) && k < is->count && k < was->count; k++)
        if (strcmp(is->text[k], was->text[k]) != 0)
            return cull_fail(CULL_BAD_ARGUMENT,
                             "%s: target %zu is '%.64s', but '%.64s' was learned", set->name, k,
                             is->text[k], was->text[k]);
    return CULL_OK;
}

cull_status cull_data_adopt(cull_dataset *set, const cull_dataset *train)
{
    cull_status    status = CULL_OK;
    const int32_t *labels = cull_data_labels(set);

    if (set->target.kind != train->target.kind || set->target.width != train->target.width)
        FAIL(CULL_BAD_ARGUMENT, "%s: a target is %s (%zu), but trained on %s (%zu)", set->name,
             cull_data_target_name(set->target.kind), set->target.width,
             cull_data_target_name(train->target.kind), train->target.width);
    if (set->dtype != train->dtype || set->channels != train->channels ||
        set->height != train->height || set->width != train->width)
        FAIL(CULL_BAD_ARGUMENT, "%s: %s %zu x %zu x %zu, but trained on %s %zu x %zu x %zu",
             set->name, cull_dtype_name(set->dtype), set->channels, set->height, set->width,
             cull_dtype_name(train->dtype), train->channels, train->height, train->width);
    if (set->vocabulary != train->vocabulary)
        FAIL(CULL_BAD_ARGUMENT, "%s: tokens of %zu pieces, but trained on those of %zu", set->name,
             set->vocabulary, train->vocabulary);
    TRY(cull_data_match_features(set, &train->feature_names));
    TRY(check_targets(set, train));
    TRY(cull_data_match_classes(set, train));
    for (size_t i = 0; labels && i < set->count; i++)
        if ((size_t)labels[i] >= train->classes)
            FAIL(CULL_BAD_ARGUMENT, "%s: example %zu is of class %d; %zu classes were trained on",
                 set->name, i, labels[i], train->classes);
    copy_statistics(set, train);
done:
    return status;
}
