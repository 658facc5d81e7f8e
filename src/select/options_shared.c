/* select/options_shared.c - the options strategies have in common, by trait and rhythm. */
#include <float.h>
#include <string.h>

#include "select/select.h"

/* What stands between the braces of a line. */
#define KEEP                                                                                       \
    "keep", CULL_OPTION_REAL, "0.5", 1e-9, 1, NULL,                                                \
        "rho: share of the candidates to keep, at least one example"
#define START                                                                                      \
    "start", CULL_OPTION_REAL, "0", 0, 1, NULL, "first moment of selection, share of the run"
#define END "end", CULL_OPTION_REAL, "1", 0, 1, NULL, "last moment of selection, share of the run"
#define EVERY                                                                                      \
    "every", CULL_OPTION_INT, "1", 1, 1e9, NULL,                                                   \
        "select on every n-th step (over the pool: epoch) of the window, else train plainly"
#define LOSSES(words)                                                                              \
    "losses", CULL_OPTION_CHOICE, "scored", 0, 0, words,                                           \
        "where losses come from: a scoring pass, stored ones, those of training steps"
#define STALE_EVERY                                                                                \
    "stale-every", CULL_OPTION_INT, "2", 1, 1e9, NULL,                                             \
        "losses=stale: score every n-th epoch, use stored losses between"
#define PREDICT                                                                                    \
    "predict", CULL_OPTION_CHOICE, "last", 0, 0, "last|average|trend",                             \
        "losses=stale: what stands for the loss of an unscored epoch"
#define SCOPE                                                                                      \
    "scope", CULL_OPTION_CHOICE, "batch", 0, 0, "batch|pool",                                      \
        "losses=remembered: draw from each batch, or from the pool once an epoch"

static const cull_option_spec window[] = {{START}, {END}, {EVERY}, {.key = NULL}};
static const cull_option_spec budget_and_window[] = {
    {KEEP},
    {"mode", CULL_OPTION_CHOICE, "fixed", 0, 0, "fixed|scaled",
     "fixed: score a batch, keep rho of it; scaled: score batch/rho, keep a batch"},
    {START},
    {END},
    {EVERY},
    {.key = NULL}};
static const cull_option_spec keep_and_window[] = {{KEEP}, {START}, {END}, {EVERY}, {.key = NULL}};
static const cull_option_spec stale_or_remembered[] = {
    {LOSSES("scored|stale|remembered")}, {STALE_EVERY}, {PREDICT}, {SCOPE}, {.key = NULL}};
static const cull_option_spec stale_only[] = {
    {LOSSES("scored|stale")}, {STALE_EVERY}, {PREDICT}, {.key = NULL}};
static const cull_option_spec remembered_only[] = {
    {LOSSES("scored|remembered")}, {SCOPE}, {.key = NULL}};
static const cull_option_spec period[] = {
    {KEEP},
    {"period", CULL_OPTION_INT, "20", 1, 1e9, NULL, "R: epochs between two selections"},
    {"warm", CULL_OPTION_REAL, "0", 0, 1, NULL,
     "kappa: share of the epochs traded for full ones before the first selection"},
    {.key = NULL}};
static const cull_option_spec once[] = {{KEEP}, {.key = NULL}};

void cull_sel_tables(const cull_strategy *strategy, cull_option_tables *out)
{
    unsigned takes = strategy->traits & (CULL_TAKES_STALE | CULL_TAKES_REMEMBERED);

    *out = (cull_option_tables){{strategy->options}};
    switch (strategy->runs) {
    case CULL_RUNS_STEP:
        if (takes == CULL_TAKES_STALE) out->table[1] = stale_only;
        if (takes == CULL_TAKES_REMEMBERED) out->table[1] = remembered_only;
        if (takes == (CULL_TAKES_STALE | CULL_TAKES_REMEMBERED))
            out->table[1] = stale_or_remembered;
        out->table[2] = strategy->traits & CULL_NO_BUDGET ? window : budget_and_window;
        break;
    case CULL_RUNS_PERIOD: out->table[1] = period; break;
    case CULL_RUNS_ONCE: out->table[1] = once; break;
    case CULL_RUNS_EPOCH:
        out->table[1] = strategy->traits & CULL_NO_BUDGET ? window : keep_and_window;
        break;
    }
}

const cull_option_spec *cull_strategy_option_at(const cull_strategy *strategy, size_t i)
{
    cull_option_tables tables;

    cull_sel_tables(strategy, &tables);
    return cull_base_option_at(&tables, i);
}

const cull_option_spec *cull_strategy_option(const cull_strategy *strategy, const char *key)
{
    const cull_option_spec *spec = NULL;

    for (size_t i = 0; (spec = cull_strategy_option_at(strategy, i)); i++)
        if (strcmp(spec->key, key) == 0) return spec;
    return NULL;
}
