/* lab/run/outlook.h - what a run will do and cost, told to whoever started it. */
#ifndef CULL_LAB_OUTLOOK_H
#define CULL_LAB_OUTLOOK_H

#include "lab/recipe/recipe.h"

/* Stands between a trainer and the caller's functions, which it calls. */
typedef struct cull_outlook {
    const cull_recipe      *recipe;
    const cull_run_options *caller;
    cull_trainer           *trainer;
    cull_meter begun, first, warm; /* readings: at the start, after one step, after some */
    uint64_t   done, steps;        /* before this sitting, and in it */
    bool       told;               /* also what steps take */
} cull_outlook;

/* The options that the trainer is to run with; all arguments are borrowed until it has run. */
cull_run_options cull_outlook_open(const cull_recipe *recipe, const cull_run_options *caller,
                                   cull_trainer *trainer, cull_outlook *outlook);

#endif
