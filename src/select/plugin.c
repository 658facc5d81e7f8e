/* select/plugin.c - a strategy from a shared object. */
#include <dlfcn.h>
#include <string.h>

#include "select/select.h"

void cull_sel_plugin_close(void *handle)
{
    if (handle) dlclose(handle);
}

/* What the frame relies on and a compiler cannot see. */
static cull_status check_options(const char *path, const cull_strategy *strategy)
{
    cull_status status = CULL_OK;

    for (const cull_option_spec *spec = strategy->options; spec && spec->key; spec++)
        if (!spec->fallback || (spec->type == CULL_OPTION_CHOICE && !spec->words))
            FAIL(CULL_BAD_FILE, "%s: option %s needs a default, and a choice its words", path,
                 spec->key);
done:
    return status;
}

cull_status cull_sel_plugin_open(const char *path, void **handle, const cull_strategy **out)
{
    cull_status          status = CULL_OK;
    void                *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const cull_strategy *strategy = NULL;
    const char          *why = NULL;

    if (!object) {
        why = dlerror();
        if (!why) why = "no reason given";
        FAIL(CULL_BAD_FILE, "%s: cannot be loaded: %s%s", path, why,
             strstr(why, "undefined symbol: cull_") ? " (a plug-in calls it through self->call)"
                                                    : "");
    }
    strategy = dlsym(object, CULL_STRATEGY_SYMBOL);
    if (!strategy) FAIL(CULL_BAD_FILE, "%s: has no symbol %s", path, CULL_STRATEGY_SYMBOL);
    if (strategy->abi != CULL_STRATEGY_ABI)
        FAIL(CULL_BAD_FILE, "%s: made for strategy interface %u, this is %d", path, strategy->abi,
             CULL_STRATEGY_ABI);
    if (!strategy->name || !strategy->doc || !strategy->decide ||
        (strategy->save == NULL) != (strategy->restore == NULL))
        FAIL(CULL_BAD_FILE, "%s: a strategy needs a name, a doc, decide, and save with restore",
             path);
    if ((unsigned)strategy->runs > CULL_RUNS_ONCE)
        FAIL(CULL_BAD_FILE, "%s: runs at no known rhythm (%d)", path, (int)strategy->runs);
    TRY(check_options(path, strategy));
    *handle = object;
    *out = strategy;
    object = NULL;
done:
    cull_sel_plugin_close(object);
    return status;
}
