/*
 * lab/reproduce/figure_shared.c - a figure whose runs another has left.
 *
 * Folders of runs are named after all that their recipes say, so that a run is shared by itself.
 * What is found here is the scale: that of another figure of the paper which asks for the same and
 * more, if every run lies there and is finished.
 */
#include <string.h>

#include "lab/reproduce/figure_arms.h"

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Every item of one list is one of the other. */
static bool is_part(const char *list, const char *all)
{
    const char *item = NULL, *other = NULL;
    size_t      length = 0, size = 0;

    if (!list || !all) return list == all;
    while ((item = cull_list_next(&list, &length))) {
        const char *rest = all;
        bool        found = false;

        while (!found && (other = cull_list_next(&rest, &size)))
            found = size == length && memcmp(item, other, size) == 0;
        if (!found) return false;
    }
    return true;
}

/* By their words alone; runs decide. */
static bool may_share(const cull_reproduction *entry, const cull_reproduction *other)
{
    size_t paper = strcspn(entry->name, "/") + 1;

    return other != entry && other->kind == CULL_REPRODUCE_TRAIN &&
           strncmp(entry->name, other->name, paper) == 0 && is_same(entry->recipe, other->recipe) &&
           is_same(entry->changes, other->changes) && is_same(entry->vary, other->vary) &&
           is_part(entry->strategies, other->strategies) && is_part(entry->keep, other->keep);
}

static cull_status are_there(const cull_reproduction *entry, const cull_reproduction_scale *scale,
                             const char *recipes, const char *root, bool *out)
{
    cull_status  status = CULL_OK;
    cull_figure *figure = NULL;
    size_t       finished = 0, of = 0;

    TRY(cull_figure_open(entry, scale, recipes, root, &figure));
    TRY(cull_figure_count(figure, &finished, &of));
    *out = finished == of;
done:
    cull_figure_close(figure);
    return status;
}

cull_status cull_figure_shared(const cull_reproduction *entry, const char *recipes,
                               const char *root, cull_figure_state *state,
                               const cull_reproduction **whose)
{
    cull_status              status = CULL_OK;
    const cull_reproduction *other = NULL;
    cull_figure_state        theirs = {0};
    bool                     there = false;

    *whose = NULL;
    if (entry->kind != CULL_REPRODUCE_TRAIN) goto done;
    for (size_t i = 0; !there && (other = cull_reproduction_at(i)); i++) {
        if (!may_share(entry, other)) continue;
        TRY(cull_figure_read(other, root, &theirs));
        if (!theirs.begun) continue;
        TRY(are_there(entry, &theirs.scale, recipes, root, &there));
        if (there) *whose = other;
    }
    if (!there) goto done;
    state->begun = true;
    state->scale = theirs.scale;
done:
    return status;
}
