/* report/styles.c - which arms are drawn alike. */
#include <string.h>

#include "report/shown.h"

bool cull_rep_is_arm(const cull_rep_arm *arm)
{
    return strcmp(arm->is->role, "arm") == 0;
}

bool cull_rep_finished(const cull_rep_arm *arm, size_t run)
{
    return strcmp(arm->is->run[run].status, "finished") == 0;
}

static bool has_trait(const cull_rep_arm *arm, unsigned trait)
{
    const cull_strategy *found = cull_strategy_of(arm->is->strategy);

    return found && (found->traits & trait);
}

bool cull_rep_is_full(const cull_rep_arm *arm)
{
    return strcmp(arm->is->role, "full") == 0 || strcmp(arm->is->role, "shortened") == 0 ||
           strcmp(arm->is->role, "early-stop") == 0;
}

static bool is_drawn_full(const cull_rep_arm *arm)
{
    return has_trait(arm, CULL_KEEPS_ALL) || cull_rep_is_full(arm);
}

bool cull_rep_is_uniform(const cull_rep_arm *arm)
{
    return arm->is->uniform || has_trait(arm, CULL_UNIFORM) ||
           strcmp(arm->is->role, "same-m") == 0 || strcmp(arm->is->role, "whole-budget") == 0;
}

bool cull_rep_is_of_batches(const cull_rep_arm *arm)
{
    const cull_strategy *found = cull_strategy_of(arm->is->strategy);

    return cull_rep_is_uniform(arm) && found && found->runs == CULL_RUNS_STEP;
}

void cull_rep_styles(cull_rep_comparison *c)
{
    enum { COLOURS = 6, MARKERS = 6, OTHERS = 4 };
    static const int others[OTHERS] = {1, 3, 4, 2}; /* 0 and 5 are those of the controls */
    int              next = 0, uniform = 0;

    for (size_t i = 0; i < c->arms; i++) {
        cull_rep_arm       *arm = &c->arm[i];
        const cull_rep_arm *like = NULL;

        arm->style.hollow =
            strcmp(arm->is->pass, "reuse") == 0 || strcmp(arm->is->role, "arm") != 0;
        if (is_drawn_full(arm)) {
            bool short_run = strcmp(arm->is->role, "shortened") == 0;
            bool stopped = strcmp(arm->is->role, "early-stop") == 0;
            arm->style = (cull_rep_style){1, stopped ? 2 : short_run ? 4 : 1, short_run || stopped};
            continue;
        }
        for (size_t j = 0; j < i && !like; j++)
            if (!is_drawn_full(&c->arm[j]) && strcmp(arm->series, c->arm[j].series) == 0 &&
                cull_rep_is_uniform(arm) == cull_rep_is_uniform(&c->arm[j]))
                like = &c->arm[j];
        if (like) {
            arm->style.colour = like->style.colour;
            arm->style.marker = like->style.marker;
        } else if (cull_rep_is_uniform(arm)) {
            arm->style.marker = strcmp(arm->series, arm->is->strategy) != 0
                                    ? others[uniform++ % OTHERS]
                                : cull_rep_is_of_batches(arm) ? 0
                                                              : 5;
        } else {
            arm->style.colour = 2 + next % COLOURS;
            arm->style.marker = (next + 1 + next / COLOURS) % MARKERS;
            next++;
        }
    }
}
