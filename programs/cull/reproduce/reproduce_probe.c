/* reproduce_probe.c - figures about gradients at start weights. */
#include <stdio.h>
#include <unistd.h>

#include "probe/probe_print.h"
#include "reproduce/reproduce_parts.h"

struct passes {
    const reproduction *r;
    bool                terminal, ended;
};

static void tell(void *context, size_t done, size_t all)
{
    tell_passes(&((struct passes *)context)->terminal, done, all);
}

static bool stop(void *context)
{
    struct passes *p = context;

    p->ended = must_end(p->r);
    return p->ended;
}

int reproduce_probe(const reproduction *r, bool *done)
{
    struct passes      passes = {.r = r, .terminal = isatty(STDERR_FILENO) != 0};
    cull_probe_options options = {.batches = (size_t)r->state.scale.batches,
                                  .folder = r->state.folder,
                                  .tell = tell,
                                  .stop = stop,
                                  .context = &passes};
    cull_probe_result  result = {0};
    cull_recipe       *recipe = NULL;
    int                end = take_probe(r->entry->strategies, r->entry->keep, &options);

    if (!end) end = open_changed(r, NULL, &recipe);
    if (!end) end = complain_run(cull_probe(recipe, &options, &result));
    if (!end) {
        print_probe(&result);
        (void)printf("a line for each batch and arm: %s/probe.jsonl\n", r->state.folder);
    }
    *done = !end && !passes.ended;
    cull_probe_clear(&result);
    cull_recipe_close(recipe);
    clear_probe(&options);
    return end;
}
