/*
 * lab/recipe/recipe_layers.c - a list of layers in YAML: each a word, or a word with a value, with
 * options by name, or with lists of its own.
 *
 *     - conv: {channels: 16, kernel: 3}
 *     - maxpool: 2
 *     - residual: [relu, conv: {channels: 16, kernel: 3, padding: same}]
 *     - flatten
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "lab/recipe/recipe.h"
#include "lab/recipe/recipe_events.h"

#define KEY  CULL_LIST_KEY
#define NONE "none"

enum { MOST_TEXT = 96 };

struct reading {
    cull_recipe_events *events;
    cull_layer_list    *list;
    char                owner[CULL_RECIPE_WHERE + CULL_MODEL_PLACE +
               2]; /* begins sentences about the latest layer */
};

static cull_status next_event(struct reading *r)
{
    return cull_recipe_events_next(r->events);
}

static yaml_event_type_t type_of(const struct reading *r)
{
    return r->events->event.type;
}

/* Sentences are about layer i, or something of it on this line. */
static void name_line(struct reading *r, size_t i, unsigned long line)
{
    char where[CULL_RECIPE_WHERE], place[CULL_MODEL_PLACE];

    cull_recipe_events_where(r->events, line, where);
    cull_nn_list_place(r->list, i, place);
    (void)snprintf(r->owner, sizeof r->owner, "%s: %s", where, place);
}

static void name_owner(struct reading *r, size_t i)
{
    name_line(r, i, r->list->layer[i].line);
}

/* A value as text that can be shown and compared; too long ones are cut, and refused as too long.
 */
static cull_status copy_scalar(struct reading *r, const char *what, char out[MOST_TEXT])
{
    const yaml_event_t  *e = &r->events->event;
    const unsigned char *value = e->data.scalar.value;

    for (size_t i = 0; i < e->data.scalar.length; i++)
        if (value[i] < 0x20 || value[i] == 0x7f)
            return cull_fail_about(CULL_BAD_OPTION, KEY, "%s: %s holds a control character",
                                   r->owner, what);
    (void)snprintf(out, MOST_TEXT, "%s", (const char *)value);
    return CULL_OK;
}

/* ---- a layer's options ---- */

/* A quoted number is a text, as for the keys of a recipe. */
static cull_status check_quotes(const struct reading *r, const cull_option_spec *spec,
                                const char *value)
{
    bool quoted = r->events->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;

    if (!spec || !quoted || spec->type == CULL_OPTION_TEXT || spec->type == CULL_OPTION_CHOICE)
        return CULL_OK;
    return cull_fail_about(CULL_BAD_OPTION, KEY,
                           "%s: %s=\"%.40s\" is a text in quotes, not a number or a truth value",
                           r->owner, spec->key, value);
}

/* "[3, 5]" becomes "3,5". */
static cull_status read_pair(struct reading *r, const char *key, char out[MOST_TEXT])
{
    cull_status status = CULL_OK;
    char        item[MOST_TEXT];
    int         at = 0;

    out[0] = '\0';
    TRY(next_event(r));
    while (type_of(r) != YAML_SEQUENCE_END_EVENT) {
        if (type_of(r) != YAML_SCALAR_EVENT || at > 40)
            FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: %s is one number or two, height and width",
                       r->owner, key);
        TRY(copy_scalar(r, key, item));
        at += snprintf(out + at, MOST_TEXT - (size_t)at, "%s%.40s", at ? "," : "", item);
        TRY(next_event(r));
    }
done:
    return status;
}

/* The option of this key, the events being at its value. */
static cull_status read_option(struct reading *r, const char *key, cull_list_given *given)
{
    cull_status             status = CULL_OK;
    const cull_option_spec *spec = cull_nn_list_option(given->kind, key);
    char                    value[MOST_TEXT] = "";

    if (cull_recipe_events_nothing(r->events))
        FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: %.40s has no value", r->owner, key);
    if (type_of(r) == YAML_SEQUENCE_START_EVENT && spec && spec->type == CULL_OPTION_LIST) {
        TRY(read_pair(r, key, value));
    } else if (type_of(r) == YAML_SCALAR_EVENT) {
        TRY(copy_scalar(r, key, value));
        TRY(check_quotes(r, spec, value));
    } else if (spec) {
        FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: %s takes one value", r->owner, key);
    }
    TRY(cull_nn_list_give(given, r->owner, key, value));
done:
    return status;
}

static cull_status read_options(struct reading *r, cull_list_given *given)
{
    cull_status status = CULL_OK;
    size_t      i = r->list->count - 1;
    char        key[MOST_TEXT];

    TRY(next_event(r));
    while (type_of(r) != YAML_MAPPING_END_EVENT) {
        name_line(r, i, cull_recipe_events_line(r->events));
        if (type_of(r) != YAML_SCALAR_EVENT)
            FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: an option is a word with a value", r->owner);
        TRY(copy_scalar(r, "an option", key));
        TRY(next_event(r));
        TRY(read_option(r, key, given));
        TRY(next_event(r));
    }
    name_owner(r, i);
done:
    return status;
}

/* ---- layers ---- */

static cull_status read_road(struct reading *r, int depth);

static cull_status begin(struct reading *r, const cull_list_kind *kind, int depth)
{
    unsigned long line = cull_recipe_events_line(r->events);
    char          where[CULL_RECIPE_WHERE];
    cull_status   status = cull_nn_list_begin(r->list, kind, depth, line);

    if (status == CULL_OK) {
        name_owner(r, r->list->count - 1);
    } else if (status == CULL_BAD_OPTION) {
        cull_recipe_events_where(r->events, line, where);
        return cull_fail_about(status, KEY, "%s: %s", where, cull_last_error());
    }
    return status;
}

/* The word that the events are at begins a layer. */
static cull_status begin_named(struct reading *r, int depth)
{
    cull_status           status = CULL_OK;
    const cull_list_kind *kind = NULL;
    char                  word[MOST_TEXT], all[256] = "";
    int                   at = 0;

    TRY(begin(r, NULL, depth));
    if (type_of(r) != YAML_SCALAR_EVENT || cull_recipe_events_nothing(r->events))
        FAIL_ABOUT(CULL_BAD_OPTION, KEY,
                   "%s: a layer is a word, as relu, or one with a value, as maxpool: 2", r->owner);
    TRY(copy_scalar(r, "the name of a layer", word));
    kind = cull_nn_list_kind(word);
    for (size_t i = 0; !kind && cull_nn_list_kind_at(i); i++)
        at += snprintf(all + at, sizeof all - (size_t)at, "%s%s", i ? ", " : "",
                       cull_nn_list_kind_at(i)->name);
    if (!kind)
        FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: no layer is called '%.40s'; there are %s", r->owner,
                   word, all);
    r->list->layer[r->list->count - 1].kind = kind;
    name_owner(r, r->list->count - 1);
done:
    return status;
}

/* What stands behind the word of a layer that holds none. */
static cull_status read_value(struct reading *r, const cull_list_kind *kind)
{
    cull_status     status = CULL_OK;
    cull_list_given given = {.kind = kind};

    if (type_of(r) == YAML_MAPPING_START_EVENT) {
        TRY(read_options(r, &given));
    } else if (!cull_recipe_events_nothing(r->events)) {
        if (!kind->option->key)
            FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: has no options; the word alone will do",
                       r->owner);
        if (!kind->alone)
            FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: takes its options by name, as {%s: ...}",
                       r->owner, kind->option->key);
        TRY(read_option(r, kind->alone, &given));
    }
    TRY(cull_nn_list_set(r->list, r->owner, &given));
done:
    return status;
}

/* The branches of layer i, of which one may be empty. */
static cull_status read_branches(struct reading *r, size_t i, int depth)
{
    cull_status status = CULL_OK;
    size_t      branches = 0, empty = 0;

    TRY(next_event(r));
    for (; type_of(r) != YAML_SEQUENCE_END_EVENT; branches++) {
        size_t before = r->list->count + 1;

        TRY(begin(r, NULL, depth));
        if (type_of(r) != YAML_SEQUENCE_START_EVENT)
            FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: a branch is a list of layers", r->owner);
        TRY(read_road(r, depth + 1));
        empty += r->list->count == before;
        TRY(next_event(r));
    }
    name_owner(r, i);
    if (branches < 2 || empty > 1)
        FAIL_ABOUT(CULL_BAD_OPTION, KEY,
                   "%s: takes two branches or more, as [[], [relu]], of which one may be empty",
                   r->owner);
done:
    return status;
}

static cull_status read_held(struct reading *r, const cull_list_kind *kind, int depth)
{
    cull_status status = CULL_OK;
    size_t      i = r->list->count - 1;

    TRY(cull_nn_list_set(r->list, r->owner, &(cull_list_given){.kind = kind}));
    if (type_of(r) != YAML_SEQUENCE_START_EVENT)
        FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: takes a list of %s", r->owner,
                   kind->holds == CULL_LIST_ROAD ? "layers" : "branches, each a list of layers");
    if (kind->holds == CULL_LIST_BRANCHES) {
        TRY(read_branches(r, i, depth + 1));
    } else {
        TRY(read_road(r, depth + 1));
        name_owner(r, i);
        if (r->list->count == i + 1)
            FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: holds no layers", r->owner);
    }
done:
    return status;
}

/* A word, or one word with what it takes. */
static cull_status read_layer(struct reading *r, int depth)
{
    cull_status           status = CULL_OK;
    bool                  alone = type_of(r) != YAML_MAPPING_START_EVENT;
    size_t                i = r->list->count;
    const cull_list_kind *kind = NULL;
    char                  word[MOST_TEXT];

    if (!alone) TRY(next_event(r));
    TRY(begin_named(r, depth));
    kind = r->list->layer[i].kind;
    if (!alone) TRY(next_event(r));
    if (kind->holds != CULL_LIST_NOTHING)
        TRY(read_held(r, kind, depth));
    else if (alone)
        TRY(cull_nn_list_set(r->list, r->owner, &(cull_list_given){.kind = kind}));
    else
        TRY(read_value(r, kind));
    if (alone) goto done;
    TRY(next_event(r));
    name_owner(r, i);
    if (type_of(r) == YAML_MAPPING_END_EVENT) goto done;
    word[0] = '\0';
    if (type_of(r) == YAML_SCALAR_EVENT) TRY(copy_scalar(r, "a key", word));
    FAIL_ABOUT(CULL_BAD_OPTION, KEY,
               "%s: '%.40s' stands beside it; a layer has a dash of its own, an option stands "
               "further in than its layer",
               r->owner, word);
done:
    return status;
}

/* Layers up to the end of the list that the events are at the start of. */
static cull_status read_road(struct reading *r, int depth)
{
    cull_status status = CULL_OK;

    TRY(next_event(r));
    while (type_of(r) != YAML_SEQUENCE_END_EVENT) {
        TRY(read_layer(r, depth));
        TRY(next_event(r));
    }
done:
    return status;
}

/* ---- the whole ---- */

static cull_status check_names(struct reading *r, size_t i)
{
    const char *name = cull_nn_list_name(&r->list->layer[i]);

    for (size_t k = 0; *name && k < i; k++)
        if (strcmp(name, cull_nn_list_name(&r->list->layer[k])) == 0)
            return cull_fail_about(CULL_BAD_OPTION, KEY, "%s: another layer is called '%s' too",
                                   r->owner, name);
    return CULL_OK;
}

/* What only all layers together tell. */
static cull_status check_whole(struct reading *r)
{
    cull_status            status = CULL_OK;
    const cull_layer_list *list = r->list;
    size_t                 last = 0;

    for (size_t i = 0; i < list->count; i = cull_nn_list_next(list, i)) last = i;
    for (size_t i = 0; i < list->count; i++) {
        const cull_listed *layer = &list->layer[i];

        name_owner(r, i);
        TRY(check_names(r, i));
        if (i != last && layer->kind && layer->kind->ends &&
            !cull_values_given(layer->values, "width"))
            FAIL_ABOUT(CULL_BAD_OPTION, KEY,
                       "%s: needs width: only the last layer's is known from the data", r->owner);
    }
    name_owner(r, last);
    if (!list->layer[last].kind->ends)
        FAIL_ABOUT(CULL_BAD_OPTION, KEY,
                   "%s: is the last layer; the last one is dense, its outputs are the classes",
                   r->owner);
done:
    return status;
}

bool cull_recipe_is_layers(const char *key)
{
    const cull_option_spec *spec = cull_recipe_option(key);

    return spec && spec->type == CULL_OPTION_LAYERS;
}

cull_status cull_recipe_layers_take(cull_recipe_events *events, cull_layer_list *out)
{
    cull_status    status = CULL_OK;
    struct reading r = {.events = events, .list = out};
    char           where[CULL_RECIPE_WHERE];

    cull_recipe_events_where(events, cull_recipe_events_line(events), where);
    TRY(read_road(&r, 0));
    if (out->count == 0)
        FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: " KEY " is empty; a network ends in a dense layer",
                   where);
    TRY(check_whole(&r));
done:
    return status;
}

cull_status cull_recipe_layers_parse(const char *where, const char *text, cull_layer_list *out)
{
    cull_status        status = CULL_OK;
    cull_recipe_events events = {0};

    if (strcmp(text, NONE) == 0) return CULL_OK;
    TRY(cull_recipe_events_open(where, false, text, strlen(text), &events));
    for (int i = 0; i < 3; i++) { /* the stream, the document, the list */
        TRY(cull_recipe_events_next(&events));
        if (events.event.type == YAML_STREAM_END_EVENT) break;
    }
    if (events.event.type != YAML_SEQUENCE_START_EVENT)
        FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: " KEY " takes a list of layers, as [flatten, dense]",
                   where);
    TRY(cull_recipe_layers_take(&events, out));
    TRY(cull_recipe_events_next(&events)); /* the document's end */
    TRY(cull_recipe_events_next(&events));
    if (events.event.type != YAML_STREAM_END_EVENT)
        FAIL_ABOUT(CULL_BAD_OPTION, KEY, "%s: " KEY ": a second document", where);
done:
    cull_recipe_events_close(&events);
    return status;
}

cull_status cull_recipe_layers_add(cull_recipe_pairs *pairs, const char *where, const char *key,
                                   const cull_layer_list *list)
{
    cull_status status = CULL_OK;
    cull_writer text = {0};

    if (list->count)
        TRY(cull_nn_list_text(list, &text));
    else
        TRY(cull_write(&text, NONE, strlen(NONE)));
    TRY(cull_recipe_add(pairs, where, key, (const char *)text.data, text.size));
done:
    cull_writer_clear(&text);
    return status;
}

cull_status cull_recipe_layers_print(const cull_layer_list *list, cull_writer *out)
{
    static const char dash[] = "\n    - ";
    cull_status       status = CULL_OK;

    for (size_t i = 0; i < list->count; i = cull_nn_list_next(list, i)) {
        TRY(cull_write(out, dash, strlen(dash)));
        TRY(cull_nn_list_put(list, i, out));
    }
done:
    return status;
}

/* ---- for pages ---- */

const char *cull_recipe_layer_at(size_t i)
{
    const cull_list_kind *kind = cull_nn_list_kind_at(i);

    return kind ? kind->name : NULL;
}

const char *cull_recipe_layer_doc(const char *layer)
{
    const cull_list_kind *kind = cull_nn_list_kind(layer);

    return kind ? kind->doc : NULL;
}

const cull_option_spec *cull_recipe_layer_option_at(const char *layer, size_t i)
{
    const cull_list_kind   *kind = cull_nn_list_kind(layer);
    const cull_option_spec *spec = kind ? kind->option : NULL;

    while (spec && spec->key && i > 0) spec++, i--;
    return spec && spec->key ? spec : NULL;
}

const char *cull_recipe_layer_alone(const char *layer)
{
    const cull_list_kind *kind = cull_nn_list_kind(layer);

    return kind ? kind->alone : NULL;
}
