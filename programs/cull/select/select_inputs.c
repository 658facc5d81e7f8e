/* select_inputs.c - reading the arrays of cull select from .npy files or one .npz. */
#include "select/select_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIEW(member) offsetof(inputs, member)

const input_kind input_kinds[INPUTS] = {
    [IN_LOSS] = {"--loss", "loss", CULL_SIGNAL_LOSS, false, VIEW(signals.loss)},
    [IN_H] = {"--h", "h", CULL_SIGNAL_H, false, VIEW(signals.h)},
    [IN_P] = {"--p", "p", CULL_SIGNAL_P, false, VIEW(signals.p)},
    [IN_LABELS] = {"--labels", "labels", CULL_SIGNAL_LABEL, false, VIEW(signals.label)},
    [IN_IRREDUCIBLE] = {"--irreducible", "irreducible", CULL_SIGNAL_IRREDUCIBLE, false,
                        VIEW(signals.irreducible)},
    [IN_PLACES] = {"--places", "places", 0, false, VIEW(places)},
    [IN_UNSEEN] = {"--unseen", "unseen", 0, false, VIEW(unseen_array)},
    [IN_TARGET_H] = {"--target-h", "target_h", CULL_SIGNAL_H, true, VIEW(signals.target.h)},
    [IN_TARGET_P] = {"--target-p", "target_p", CULL_SIGNAL_P, true, VIEW(signals.target.p)},
    [IN_TARGET_LABELS] = {"--target-labels", "target_labels", CULL_SIGNAL_LABEL, true,
                          VIEW(signals.target.label)},
    [IN_TARGET_LOGITS] = {"--target-logits", "target_logits", CULL_SIGNAL_LOGITS, true,
                          VIEW(signals.target.logits)},
};

static bool has_array(const cull_arrays *all, const char *name)
{
    const char *there = NULL;

    for (size_t i = 0; all && (there = cull_arrays_name(all, i)); i++)
        if (strcmp(there, name) == 0) return true;
    return false;
}

/* What the common file calls an array. */
static const char *name_of(const inputs *in, int kind)
{
    const char *name = input_kinds[kind].array;

    if (!in->trained || has_array(in->all, name)) return name;
    return kind == IN_LOSS ? "" : kind == IN_PLACES ? "place" : name;
}

/* One array, from its own file or from the common one, but not from both. */
static int read_one(inputs *in, int kind, const char *path, cull_tensor *out)
{
    const input_kind *k = &input_kinds[kind];
    const char       *name = name_of(in, kind);
    cull_status       status = CULL_OK;
    bool              common = has_array(in->all, name);

    if (path && common)
        return complain(END_USAGE, "Leave one of the two out.",
                        "%s is given, and the %s file has an array '%s' too", k->flag,
                        in->trained ? "--observe" : "--signals", name);
    if (path) {
        status = cull_arrays_open(path, &in->file[kind]);
        if (status == CULL_OK) status = cull_arrays_get(in->file[kind], NULL, out);
    } else if (common) {
        status = cull_arrays_get(in->all, name, out);
    }
    return complain_status(status);
}

/* Element i of an integer array, which `places` and `unseen` must be; false: it is none. */
static bool whole_number(const cull_tensor *t, size_t i, int64_t *out)
{
    switch (t->dtype) {
    case CULL_I32: *out = ((const int32_t *)t->data)[i]; return true;
    case CULL_I64: *out = ((const int64_t *)t->data)[i]; return true;
    case CULL_U8: *out = ((const uint8_t *)t->data)[i]; return true;
    default: return false;
    }
}

/* Vectors of the same whole numbers? */
static bool same_numbers(const cull_tensor *a, const cull_tensor *b)
{
    int64_t x = 0, y = 0;

    if (a->dims != 1 || b->dims != 1 || a->shape[0] != b->shape[0]) return false;
    for (size_t i = 0; i < (size_t)a->shape[0]; i++)
        if (!whole_number(a, i, &x) || !whole_number(b, i, &y) || x != y) return false;
    return true;
}

/* An --observe file may name its places in two ways, but they are the same places. */
static int check_names_of_places(const inputs *in)
{
    cull_status status = CULL_OK;
    cull_tensor place = {0}, places = {0};

    if (!in->trained || !has_array(in->all, "place") || !has_array(in->all, "places"))
        return END_WELL;
    status = cull_arrays_get(in->all, "place", &place);
    if (status == CULL_OK) status = cull_arrays_get(in->all, "places", &places);
    if (status != CULL_OK) return complain_status(status);
    if (same_numbers(&place, &places)) return END_WELL;
    return complain(END_USAGE, "Leave one of the two out.",
                    "the --observe file has arrays 'place' and 'places', and they differ");
}

/* A vector of `count` whole numbers from 0 to `most`. */
static int check_vector(const cull_tensor *t, const char *name, size_t count, int64_t most)
{
    static const char hint[] = "See cull select --help for the shape and type of each array.";
    int64_t           value = 0;

    if (t->dims != 1 || (uint64_t)t->shape[0] != count)
        return complain(END_FAILED, hint, "%s is not a vector of %zu elements", name, count);
    for (size_t i = 0; i < count; i++) {
        if (!whole_number(t, i, &value))
            return complain(END_FAILED, hint, "%s is %s, an integer type is expected", name,
                            cull_dtype_name(t->dtype));
        if (value < 0 || value > most)
            return complain(END_FAILED, hint, "%s of example %zu is %lld, outside 0 to %lld", name,
                            i, (long long)value, (long long)most);
    }
    return END_WELL;
}

static int no_memory(void)
{
    return complain(END_FAILED, "Give fewer examples at once.", "no memory for the signals");
}

static int take_places(inputs *in)
{
    size_t  count = in->signals.count;
    int64_t value = 0;
    int     end = END_WELL;

    if (!in->places.data) return END_WELL;
    end = check_vector(&in->places, "places", count, UINT32_MAX - 2);
    if (end) return end;
    in->place = malloc(count * sizeof *in->place);
    if (!in->place) return no_memory();
    for (size_t i = 0; i < count; i++)
        if (whole_number(&in->places, i, &value)) in->place[i] = (uint32_t)value;
    in->signals.place = in->place;
    return END_WELL;
}

static int take_unseen(inputs *in)
{
    size_t  count = in->signals.count;
    int64_t value = 0;
    int     end = END_WELL;

    if (!in->unseen_array.data) return END_WELL;
    end = check_vector(&in->unseen_array, "unseen", count, 1);
    if (end) return end;
    in->unseen = malloc(count);
    if (!in->unseen) return no_memory();
    for (size_t i = 0; i < count; i++)
        if (whole_number(&in->unseen_array, i, &value)) in->unseen[i] = (uint8_t)value;
    in->signals.unseen = in->unseen;
    return END_WELL;
}

int inputs_read(inputs *in, const char *const path[INPUTS], const char *all, size_t count)
{
    cull_status status = all ? cull_arrays_open(all, &in->all) : CULL_OK;
    int         end = complain_status(status);

    if (!end) end = check_names_of_places(in);
    for (int i = 0; i < INPUTS && !end; i++) {
        cull_tensor *view = (cull_tensor *)(void *)((char *)in + input_kinds[i].at);
        size_t      *rows = input_kinds[i].target ? &in->signals.target.count : &in->signals.count;
        end = read_one(in, i, path[i], view);
        if (!end && view->data && *rows == 0) *rows = (size_t)view->shape[0];
    }
    if (!end && in->signals.count == 0) in->signals.count = count;
    if (!end && in->signals.count == 0)
        end = complain(END_USAGE, "Give an array (--loss, --h, ...), or --pool N.",
                       "there are no examples to select from");
    if (!end) end = take_places(in);
    if (!end) end = take_unseen(in);
    return end;
}

void inputs_clear(inputs *in)
{
    for (int i = 0; i < INPUTS; i++) cull_arrays_close(in->file[i]);
    cull_arrays_close(in->all);
    free(in->place);
    free(in->unseen);
    *in = (inputs){0};
}

unsigned inputs_of(unsigned signals, unsigned target)
{
    unsigned kinds = 0;

    for (int i = 0; i < INPUTS; i++)
        if ((input_kinds[i].target ? target : signals) & input_kinds[i].signal) kinds |= 1u << i;
    return kinds;
}

unsigned inputs_given(const inputs *in)
{
    unsigned kinds = 0;

    for (int i = 0; i < INPUTS; i++) {
        const cull_tensor *view = (const void *)((const char *)in + input_kinds[i].at);
        if (view->data) kinds |= 1u << i;
    }
    return kinds;
}

unsigned inputs_held(const inputs *in)
{
    unsigned kinds = 0;

    for (int i = 0; i < INPUTS; i++)
        if (has_array(in->all, input_kinds[i].array)) kinds |= 1u << i;
    return kinds;
}

bool inputs_words(unsigned kinds, bool flags, char *out, size_t room)
{
    size_t at = 0;

    out[0] = '\0';
    for (int i = 0; i < INPUTS && at < room; i++)
        if (kinds >> i & 1)
            at += (size_t)snprintf(out + at, room - at, "%s%s", at ? " and " : "",
                                   flags ? input_kinds[i].flag : input_kinds[i].array);
    return at > 0;
}
