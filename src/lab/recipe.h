/*
 * lab/recipe.h - recipes: one table of options, read from YAML, checked whole, printed again.
 *
 * The table is all there is: what a file or the command line may say, what the help and
 * docs/recipes.md print, and what a resumed run is compared by.
 */
#ifndef CULL_LAB_RECIPE_H
#define CULL_LAB_RECIPE_H

#include "base/options.h"
#include "train/train.h"

struct cull_recipe {
    cull_values     *values;
    char            *text; /* resolved, as YAML */
    cull_train_setup setup;
};

/* recipe_table.c: keys ascend by section; a NULL key ends it. */
extern const cull_option_spec cull_recipe_table[];

/* One value as the file or the command line gave it. */
typedef struct cull_recipe_pair {
    char  key[64];
    char *value;
    char  where[256]; /* "recipe.yaml:7", or "command line" */
} cull_recipe_pair;

typedef struct cull_recipe_pairs {
    size_t            count, room;
    cull_recipe_pair *pair;
} cull_recipe_pairs;

/* recipe_yaml.c: the values of a YAML text, each checked alone; `name` begins the sentences.
 * *out is zeros; ended with cull_recipe_pairs_clear(), also after a failure. */
cull_status cull_recipe_scan(const char *name, const void *yaml, size_t bytes,
                             cull_recipe_pairs *out);
/* Check one value and add it; CULL_BAD_OPTION, beginning with `where`, also for a key that is
 * there already. */
cull_status cull_recipe_add(cull_recipe_pairs *pairs, const char *where, const char *key,
                            const char *value, size_t length);
void        cull_recipe_pairs_clear(cull_recipe_pairs *pairs);

/* As cull_recipe_open, from bytes; yaml NULL: none. */
cull_status cull_recipe_parse(const char *name, const void *yaml, size_t bytes,
                              const cull_option *changes, size_t count, cull_recipe **out);

/* recipe_setup.c: what the values mean; texts stay the values'. CULL_BAD_OPTION names the key
 * of values that contradict each other. */
cull_status cull_recipe_fill(const cull_values *values, cull_train_setup *out);

/* The first key by which two recipes differ, or NULL. */
const char *cull_recipe_difference(const cull_recipe *a, const cull_recipe *b);

#endif
