/* fuzz/fuzz_selector.h - a selector of any strategy and options, chosen by the input. */
#ifndef CULL_TESTS_FUZZ_SELECTOR_H
#define CULL_TESTS_FUZZ_SELECTOR_H

#include <stdio.h>

#include "cull.h"
#include "fuzz.h"

enum { MOST_OPTIONS = 4, MOST_POOL = 48, MOST_VALUE = 32 };

/* A value for an option: its bounds, a word, a default, or text that is wrong. */
static inline void fuzz_value(struct bytes *b, const cull_option_spec *spec, char *out)
{
    double      low = spec->low, high = spec->high < 64 ? spec->high : 64;
    const char *word = spec->words ? spec->words : "true";
    size_t      skip = take_below(b, 4);

    for (; skip > 0 && strchr(word, '|'); skip--) word = strchr(word, '|') + 1;
    switch (take_below(b, 6)) {
    case 0: (void)snprintf(out, MOST_VALUE, "%s", spec->fallback); break;
    case 1: (void)snprintf(out, MOST_VALUE, "%.*s", (int)strcspn(word, "|"), word); break;
    case 2: (void)snprintf(out, MOST_VALUE, "%g", low + (high - low) * 0.4); break;
    case 3: (void)snprintf(out, MOST_VALUE, "%zu", take_below(b, 8)); break;
    case 4: (void)snprintf(out, MOST_VALUE, "0.%zu", take_below(b, 1000)); break;
    default:
        take_bytes(b, out, MOST_VALUE - 1);
        out[MOST_VALUE - 1] = '\0';
        break;
    }
}

/* NULL when the options do not go together, which is fine. setting->backend is to be closed. */
static inline cull_selector *fuzz_selector(struct bytes *b, cull_setting *setting)
{
    static const char *const modifiers[] = {"", "", " stale", " remembered"};
    char                     name[64], value[MOST_OPTIONS][MOST_VALUE];
    cull_option              options[MOST_OPTIONS];
    const cull_strategy     *strategy = NULL;
    cull_selector           *selector = NULL;
    size_t                   strategies = 0, specs = 0, count = 0;

    while (cull_strategy_at(strategies)) strategies++;
    strategy = cull_strategy_at(take_below(b, strategies));
    while (cull_strategy_option_at(strategy, specs)) specs++;
    (void)snprintf(name, sizeof name, "%s%s", strategy->name, modifiers[take_below(b, 4)]);
    count = specs ? take_below(b, MOST_OPTIONS + 1) : 0;
    for (size_t i = 0; i < count; i++) {
        const cull_option_spec *spec = cull_strategy_option_at(strategy, take_below(b, specs));
        fuzz_value(b, spec, value[i]);
        options[i] = (cull_option){spec->key, value[i]};
    }
    *setting = (cull_setting){.pool = 1 + take_below(b, MOST_POOL),
                              .epochs = take_below(b, 12),
                              .steps = take_below(b, 4),
                              .seed = take_below(b, 1000)};
    setting->batch = take_below(b, setting->pool + 1);
    if (take_below(b, 4) == 1) (void)cull_backend_open("ref", 1, &setting->backend);
    if (cull_selector_create(name, options, count, setting, &selector) != CULL_OK) return NULL;
    return selector;
}

#endif
