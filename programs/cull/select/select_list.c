/* select_list.c - every strategy with its options, printed from the library's own tables. */
#include <stdio.h>
#include <string.h>

#include "select/select_parts.h"

enum { MOST_TEXT = 256 };

/* Does the strategy read examples' arrays of this kind? */
static bool reads(const cull_strategy *strategy, int kind)
{
    return !input_kinds[kind].target && (strategy->signals & input_kinds[kind].signal);
}

static const struct {
    const char *name, *when;
} runs[] = {
    [CULL_RUNS_STEP] = {"step", "every step, over the batch"},
    [CULL_RUNS_EPOCH] = {"epoch", "every epoch, over the pool"},
    [CULL_RUNS_PERIOD] = {"period", "every period epochs, over the pool"},
    [CULL_RUNS_ONCE] = {"once", "once, over the pool"},
};

static const char *const types[] = {
    [CULL_OPTION_INT] = "int",       [CULL_OPTION_REAL] = "real", [CULL_OPTION_CHOICE] = "choice",
    [CULL_OPTION_BOOL] = "bool",     [CULL_OPTION_TEXT] = "text", [CULL_OPTION_LIST] = "list",
    [CULL_OPTION_LAYERS] = "layers",
};

static bool is_number(const cull_option_spec *option)
{
    return option->type == CULL_OPTION_INT || option->type == CULL_OPTION_REAL;
}

/* What an option takes: "0 to 1, or auto|balles". */
static void describe_values(const cull_option_spec *option, char *out, size_t room)
{
    const char *words = option->words ? option->words : "";

    if (is_number(option))
        (void)snprintf(out, room, "%g to %g%s%s", option->low, option->high,
                       words[0] ? ", or " : "", words);
    else
        (void)snprintf(out, room, "%s", option->type == CULL_OPTION_BOOL ? "true|false" : words);
}

static void print_strategy(const cull_strategy *strategy)
{
    const cull_option_spec *option = NULL;

    (void)printf("%s: %s\n  %s; reads", strategy->name, strategy->doc, runs[strategy->runs].when);
    for (int i = 0; i < INPUTS; i++)
        if (reads(strategy, i)) (void)printf(" %s", input_kinds[i].array);
    if (!strategy->signals) (void)printf(" nothing");
    if (strategy->traits & CULL_TAKES_STALE) (void)printf("; takes stale");
    if (strategy->traits & CULL_TAKES_REMEMBERED) (void)printf("; takes remembered");
    if (strategy->traits & CULL_HOST_SIGNALS) (void)printf("; works on the host");
    (void)printf("\n");
    for (size_t i = 0; (option = cull_strategy_option_at(strategy, i)); i++) {
        char values[MOST_TEXT];
        describe_values(option, values, sizeof values);
        (void)printf("    %s=%s  (%s)\n        %s\n", option->key, option->fallback, values,
                     option->doc);
    }
}

static json_t *option_json(const cull_option_spec *option)
{
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s}", "key", option->key, "type", types[option->type],
                  "default", option->fallback, "doc", option->doc);

    if (is_number(option)) {
        (void)json_object_set_new(object, "low", json_number(option->low));
        (void)json_object_set_new(object, "high", json_number(option->high));
    }
    if (option->words) {
        json_t     *words = json_array();
        const char *next = option->words;
        while (*next) {
            size_t length = strcspn(next, "|");
            (void)json_array_append_new(words, json_stringn(next, length));
            next += length + (next[length] == '|');
        }
        (void)json_object_set_new(object, "words", words);
    }
    return object;
}

static json_t *strategy_json(const cull_strategy *strategy)
{
    json_t *signals = json_array(), *modifiers = json_array(), *options = json_array();
    const cull_option_spec *option = NULL;

    for (int i = 0; i < INPUTS; i++)
        if (reads(strategy, i))
            (void)json_array_append_new(signals, json_string(input_kinds[i].array));
    if (strategy->traits & CULL_TAKES_STALE)
        (void)json_array_append_new(modifiers, json_string("stale"));
    if (strategy->traits & CULL_TAKES_REMEMBERED)
        (void)json_array_append_new(modifiers, json_string("remembered"));
    for (size_t i = 0; (option = cull_strategy_option_at(strategy, i)); i++)
        (void)json_array_append_new(options, option_json(option));
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:o, s:o}", "name", strategy->name, "doc",
                     strategy->doc, "runs", runs[strategy->runs].name, "budget",
                     !(strategy->traits & CULL_NO_BUDGET), "host",
                     (strategy->traits & CULL_HOST_SIGNALS) != 0, "signals", signals, "modifiers",
                     modifiers, "options", options);
}

int select_list(const char *only, bool json)
{
    json_t              *array = json ? json_array() : NULL;
    const cull_strategy *strategy = NULL;

    if (only && !cull_strategy_find(only)) {
        json_decref(array);
        return select_unknown_strategy(only);
    }
    for (size_t i = 0; (strategy = cull_strategy_at(i)); i++) {
        if (only && strcmp(strategy->name, only) != 0) continue;
        if (json)
            (void)json_array_append_new(array, strategy_json(strategy));
        else
            print_strategy(strategy);
    }
    return json ? print_json(array) : end_output(END_WELL);
}
