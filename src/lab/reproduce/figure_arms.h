/*
 * lab/reproduce/figure_arms.h - a figure of a paper as the runs it asks for.
 *
 *     figure_arms.c    strategies x shares x values, as arms with a recipe each
 *     figure_price.c   what a run of one will take
 *     figure_shared.c  whose runs are another figure's
 *     claim.c          a claim, judged by numbers
 *     claim_numbers.c  the numbers, out of the folders
 *     paper.c          figures of a paper, as its page is made of them
 */
#ifndef CULL_LAB_FIGURE_ARMS_H
#define CULL_LAB_FIGURE_ARMS_H

#include "lab/recipe/recipe.h"
#include "lab/reproduce/reproduce.h"

enum { CULL_FIGURE_CHANGES = 48, CULL_FIGURE_VALUE = 160 };

/* Changes to a recipe. */
typedef struct cull_figure_changes {
    struct {
        char key[CULL_RECIPE_KEY], value[CULL_FIGURE_VALUE];
    } of[CULL_FIGURE_CHANGES];
    size_t count;
} cull_figure_changes;

typedef struct cull_figure_part {
    cull_figure_arm     is;
    cull_figure_changes changes;
    cull_recipe        *recipe; /* owned; of seed 1 */
} cull_figure_part;

struct cull_figure {
    const cull_reproduction *entry;
    cull_reproduction_scale  scale;
    uint64_t                 seeds;
    char                     root[CULL_DATA_PATH], path[CULL_DATA_PATH]; /* of runs; the recipe */
    cull_figure_part        *part; /* [parts] full training first */
    size_t                   parts, room;
};

/* Seed N of an arm lies here. CULL_IO: the name is too long. */
cull_status cull_figure_folder(const cull_figure_arm *arm, uint64_t seed, char out[CULL_DATA_PATH]);

#endif
