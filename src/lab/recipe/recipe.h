/*
 * lab/recipe/recipe.h - recipes: one table of options, read from YAML, checked whole, printed
 * again.
 *
 * The table is all there is: what a file or the command line may say, what the help and
 * docs/recipes.md print, and what a resumed run is compared by.
 */
#ifndef CULL_LAB_RECIPE_H
#define CULL_LAB_RECIPE_H

#include "base/options.h"
#include "nn/layer_list.h"
#include "train/train.h"

enum { CULL_RECIPE_KEY = 64 };

/* The options of the recipe's strategy as keys of the recipe. */
typedef struct cull_recipe_select {
    const cull_strategy *strategy;
    void                *plugin; /* its shared object, or NULL                             */
    size_t               count;
    char                *key;    /* [count][CULL_RECIPE_KEY] "select.keep"                 */
    cull_option_spec    *spec;   /* [count + 1] under those keys; a NULL key ends it       */
    cull_option         *option; /* [count] "keep" and its value, as selectors take them   */
} cull_recipe_select;

struct cull_recipe {
    cull_recipe_select select;
    cull_values       *values;
    char              *text; /* resolved, as YAML */
    cull_train_setup   setup;
    cull_model        *model;  /* a program's own; NULL: none */
    cull_layer_list   *layers; /* of model.layers; NULL: none */
};

/* own.c: compare the recipe's own model with the one that a run wrote down, or write it down; does
 * nothing for other recipes. CULL_DIFFERS names what differs. */
cull_status cull_recipe_match_model(const cull_recipe *recipe, const char *path);
cull_status cull_recipe_note_model(const cull_recipe *recipe, const char *path);

/* recipe_table.c: keys ascend by section; a NULL key ends it. */
extern const cull_option_spec cull_recipe_table[];

/* One value as the file or the command line gave it. */
typedef struct cull_recipe_pair {
    char  key[CULL_RECIPE_KEY];
    char *value;
    bool  quoted;     /* a text, whatever it looks like     */
    char  where[256]; /* "recipe.yaml:7", or "command line" */
} cull_recipe_pair;

typedef struct cull_recipe_pairs {
    size_t            count, room;
    cull_recipe_pair *pair;
} cull_recipe_pairs;

/* recipe_select.c: the table of the strategy that `text` names; *out is zeros.
 * CULL_UNKNOWN_STRATEGY or CULL_BAD_OPTION, beginning with "select.strategy: ", when there is none
 * of this name or modifier. */
cull_status cull_recipe_select_open(const char *text, cull_recipe_select *out);
void        cull_recipe_select_close(cull_recipe_select *select);
/* Check those of the pairs that are options of the strategy. */
cull_status cull_recipe_select_check(const cull_recipe_select *select,
                                     const cull_recipe_pairs  *pairs);
/* Take the options' values; texts stay the values'. */
void cull_recipe_select_fill(cull_recipe_select *select, const cull_values *values);

/* recipe_yaml.c: the values of a YAML text, each checked alone but for a strategy's options; `name`
 * begins the sentences. *out is zeros; ended with cull_recipe_pairs_clear(), also after a failure.
 */
cull_status cull_recipe_scan(const char *name, const void *yaml, size_t bytes,
                             cull_recipe_pairs *out);
/* Check one value (not a strategy's option) and add it; CULL_BAD_OPTION, beginning with `where`,
 * also for a key that is there already. */
cull_status cull_recipe_add(cull_recipe_pairs *pairs, const char *where, const char *key,
                            const char *value, size_t length);
void        cull_recipe_pairs_clear(cull_recipe_pairs *pairs);

/* Can YAML give these bytes back as they are, on one line? */
bool cull_recipe_is_text(const char *value, size_t length);

/* recipe_paths.c: does this value name a file or folder, not something that is known by name? */
bool cull_recipe_is_path(const cull_option_spec *spec, const char *value);
/* Values of a recipe's file become paths beside it; `recipe` is that file's path. */
cull_status cull_recipe_place(const char *recipe, cull_recipe_pairs *pairs);
/* A value as it is written down: paths whole, all else as it is. In `out`, or `value` itself. */
const char *cull_recipe_whole(const cull_option_spec *spec, const char *value,
                              char out[CULL_DATA_PATH]);
/* Do two different values name the same thing, moved elsewhere? That is told by the last part of a
 * path; whether a file still holds the same is for those to tell who read it. */
bool cull_recipe_same_place(const cull_option_spec *spec, const char *a, const char *b);

/* recipe_layers.c: is the value of this key a list of layers? */
bool cull_recipe_is_layers(const char *key);
/* Layers from the list that the events are at the start of, to its end; or from a
 * text, `where` beginning the sentences: "none", or a list in YAML. *out is zeros, and ended with
 * cull_nn_list_clear(), also after a failure. CULL_BAD_OPTION names the layer by its place. */
typedef struct cull_recipe_events cull_recipe_events;
cull_status cull_recipe_layers_take(cull_recipe_events *events, cull_layer_list *out);
cull_status cull_recipe_layers_parse(const char *where, const char *text, cull_layer_list *out);
/* Add them as a value, in one form; none: "none". */
cull_status cull_recipe_layers_add(cull_recipe_pairs *pairs, const char *where, const char *key,
                                   const cull_layer_list *list);
/* A line for each. */
cull_status cull_recipe_layers_print(const cull_layer_list *list, cull_writer *out);

/* As cull_recipe_open, from bytes; yaml NULL: none. `name` is the path of the recipe. */
cull_status cull_recipe_parse(const char *name, const void *yaml, size_t bytes,
                              const cull_option *changes, size_t count, cull_recipe **out);

/* recipe_setup.c: what the values mean; texts stay the values', layers (NULL: none) the caller's.
 * CULL_BAD_OPTION names the key of values that contradict each other. */
cull_status cull_recipe_fill(const cull_values *values, const cull_layer_list *layers,
                             cull_train_setup *out);

/* The first key by which two recipes differ, or NULL. */
const char *cull_recipe_difference(const cull_recipe *a, const cull_recipe *b);

/* recipe_differing.c: how they differ by it, for a sentence: of layers the first that is another.
 */
typedef struct cull_recipe_differing {
    char what[CULL_RECIPE_KEY]; /* the key, or "model.layers[2]" */
    char a[160], b[160];        /* values, cut where they are long */
} cull_recipe_differing;
cull_status cull_recipe_differ_by(const cull_recipe *a, const cull_recipe *b, const char *key,
                                  cull_recipe_differing *out);

#endif
