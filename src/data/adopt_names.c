/* data/adopt_names.c - classes and inputs of two sets, by their names. */
#include "data/adopt_names.h"

#include <string.h>

#include "base/alloc.h"
#include "data/text_labels.h"

#define NOWHERE UINT32_MAX

static const char *show(const char *name, char out[CULL_TEXT_SHOWN])
{
    return cull_text_show(name, strlen(name), out);
}

/* ---- classes ---- */

/* Where any name is a number, numbers are looked for among names. */
static bool has_numbers(const cull_texts *names)
{
    int32_t number = 0;

    for (size_t k = 0; k < names->count; k++)
        if (cull_data_class_number(names->text[k], &number)) return true;
    return false;
}

/* Both have names. */
static void find_names(const cull_texts *is, const cull_texts *was, uint32_t *there)
{
    for (size_t k = 0; k < is->count; k++) {
        there[k] = (uint32_t)k; /* where it mostly is */
        if (k < was->count && strcmp(is->text[k], was->text[k]) == 0) continue;
        there[k] = (uint32_t)cull_texts_find(was, is->text[k]);
        if (there[k] == was->count) there[k] = NOWHERE;
    }
}

/* Classes are numbers, and those trained on have names that are. */
static cull_status find_numbers(const cull_dataset *set, const cull_dataset *train, uint32_t *there)
{
    cull_status       status = CULL_OK;
    const cull_texts *was = &train->class_names;
    int32_t           number = 0;
    char              one[CULL_TEXT_SHOWN], other[CULL_TEXT_SHOWN];

    for (size_t k = 0; k < set->classes; k++) there[k] = NOWHERE;
    for (size_t k = 0; k < was->count; k++) {
        if (!cull_data_class_number(was->text[k], &number) || (size_t)number >= set->classes)
            continue;
        if (there[number] != NOWHERE)
            FAIL(CULL_BAD_ARGUMENT, "%s: label %d may be class '%s' or '%s' of those trained on",
                 set->name, number, show(was->text[there[number]], one), show(was->text[k], other));
        there[number] = (uint32_t)k;
    }
done:
    return status;
}

/* Classes have names, some of them numbers, and those trained on are numbers. */
static void read_numbers(const cull_texts *is, uint32_t *there)
{
    int32_t number = 0;

    for (size_t k = 0; k < is->count; k++)
        there[k] = cull_data_class_number(is->text[k], &number) ? (uint32_t)number : NOWHERE;
}

/* Names that are no numbers say nothing of which is which. */
static cull_status tell_of_order(cull_dataset *set, bool own, const cull_texts *names)
{
    char first[CULL_TEXT_SHOWN], second[CULL_TEXT_SHOWN];

    if (names->count < 2) return CULL_OK;
    return cull_data_remark(set,
                            "%s: its classes have %s, and those trained on %s: names are taken in "
                            "their order, '%s' for 0, '%s' for 1%s",
                            set->name, own ? "names" : "numbers", own ? "numbers" : "names",
                            show(names->text[0], first), show(names->text[1], second),
                            names->count > 2 ? " and so on" : "");
}

/* Whoever numbered folders in the order of their names means something else by a number. */
static cull_status tell_of_numbers(cull_dataset *set, const uint32_t *there, size_t count)
{
    size_t k = 0;

    while (k < count && (there[k] == k || there[k] == NOWHERE)) k++;
    if (k == count) return CULL_OK;
    return cull_data_remark(set,
                            "%s: classes are numbers in one set and names like '%zu' in the other: "
                            "the number counts, not the place that it has among the names",
                            set->name, set->class_names.count ? (size_t)there[k] : k);
}

/* One of the two has names. */
static cull_status match_numbers(cull_dataset *set, const cull_dataset *train, uint32_t *there,
                                 size_t count)
{
    cull_status       status = CULL_OK;
    bool              own = set->class_names.count > 0;
    const cull_texts *names = own ? &set->class_names : &train->class_names;

    if (!has_numbers(names)) {
        for (size_t k = 0; k < count; k++) there[k] = (uint32_t)k;
        TRY(tell_of_order(set, own, names));
        goto done;
    }
    if (own)
        read_numbers(names, there);
    else
        TRY(find_numbers(set, train, there));
    TRY(tell_of_numbers(set, there, count));
done:
    return status;
}

/* A name that is none of train's, used or not; a number that an example has. */
static cull_status check_found(const cull_dataset *set, const uint32_t *there)
{
    const int32_t *labels = cull_data_labels(set);
    char           shown[CULL_TEXT_SHOWN];

    for (size_t k = 0; k < set->class_names.count; k++)
        if (there[k] == NOWHERE)
            return cull_fail(CULL_BAD_ARGUMENT, "%s: class '%s' is none of those trained on",
                             set->name, show(set->class_names.text[k], shown));
    for (size_t i = 0; i < set->count; i++)
        if (there[labels[i]] == NOWHERE)
            return cull_fail(CULL_BAD_ARGUMENT,
                             "%s: example %zu is of class %d, and none of those trained on is "
                             "called so",
                             set->name, i, labels[i]);
    return CULL_OK;
}

cull_status cull_data_match_classes(cull_dataset *set, const cull_dataset *train)
{
    cull_status status = CULL_OK;
    size_t      is = set->class_names.count, was = train->class_names.count;
    size_t      count = is ? is : set->classes;
    int32_t    *labels = cull_data_labels(set);
    uint32_t   *there = NULL;

    if (!labels || (!is && !was)) return CULL_OK;
    TRY(cull_base_alloc(count, sizeof *there, "names of classes", &there));
    if (is && was)
        find_names(&set->class_names, &train->class_names, there);
    else
        TRY(match_numbers(set, train, there, count));
    TRY(check_found(set, there));
    for (size_t i = 0; i < set->count; i++) labels[i] = (int32_t)there[labels[i]];
    cull_texts_clear(&set->class_names);
    TRY(cull_texts_copy(&set->class_names, &train->class_names));
done:
    cull_base_free(there);
    return status;
}

/* ---- inputs ---- */

cull_status cull_data_match_features(cull_dataset *set, const cull_texts *trained)
{
    const cull_texts *names = &set->feature_names;

    if (names->count && !trained->count)
        return cull_data_remark(set,
                                "%s: what was trained on has no names of columns, so that these "
                                "are taken in their order",
                                set->name);
    if (!names->count && trained->count)
        return cull_data_remark(set,
                                "%s: has no names of columns, so that they are taken in the order "
                                "of those trained on",
                                set->name);
    for (size_t c = 0; c < names->count && c < trained->count; c++)
        if (strcmp(names->text[c], trained->text[c]) != 0)
            return cull_fail(CULL_BAD_ARGUMENT,
                             "%s: feature %zu is '%.64s', but trained on '%.64s'", set->name, c,
                             names->text[c], trained->text[c]);
    return CULL_OK;
}
