/* select_arguments.h - the command line of cull select. */
#ifndef CULL_SELECT_ARGUMENTS_H
#define CULL_SELECT_ARGUMENTS_H

#include "select/select_inputs.h"
#include "train/run_parts.h"

enum { MOST_SELECT_FLAGS = 40, MOST_NAME = 256 };

/* The command line. */
typedef struct select_arguments {
    const char *strategy, *keep, *backend, *out, *overlap, *state, *signals, *observe;
    const char *path[INPUTS];
    uint64_t    budget, seed, step, epoch, epochs, steps, pool, batch, threads;
    bool        json, diagnose, flush, list, budget_given;
    char        name[MOST_NAME]; /* the strategy with its modifier */
    changes     change;          /* the strategy's options         */
    flag        flags[MOST_SELECT_FLAGS];
} select_arguments;

/* Parse and check: as take_line(). With a list asked for, nothing else is looked at. */
int select_take_arguments(select_arguments *a, int argc, char **argv);

#endif
