/* lab/recipe/recipe_differing.c - two recipes that differ, in words. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "lab/recipe/recipe.h"

/* A layer as text, or what says that there is none. */
static cull_status describe_layer(const cull_layer_list *list, size_t at, char out[160])
{
    cull_status status = CULL_OK;
    cull_writer text = {0};

    if (at < list->count)
        TRY(cull_nn_list_put(list, at, &text));
    else
        TRY(cull_write(&text, "nothing", strlen("nothing")));
    TRY(cull_write(&text, "", 1));
    (void)snprintf(out, 160, "%.159s", (const char *)text.data);
done:
    cull_writer_clear(&text);
    return status;
}

/* The first layer by which two lists differ. */
static cull_status differ_by_layer(const cull_layer_list *a, const cull_layer_list *b,
                                   cull_recipe_differing *out)
{
    cull_status status = CULL_OK;
    size_t      i = 0, k = 0;

    for (size_t n = 0; i < a->count || k < b->count; n++) {
        (void)snprintf(out->what, sizeof out->what, CULL_LIST_KEY "[%zu]", n);
        TRY(describe_layer(a, i, out->a));
        TRY(describe_layer(b, k, out->b));
        if (strcmp(out->a, out->b) != 0) break;
        i = cull_nn_list_next(a, i);
        k = cull_nn_list_next(b, k);
    }
done:
    return status;
}

cull_status cull_recipe_differ_by(const cull_recipe *a, const cull_recipe *b, const char *key,
                                  cull_recipe_differing *out)
{
    *out = (cull_recipe_differing){0};
    if (strcmp(key, CULL_LIST_KEY) == 0 && a->layers && b->layers)
        return differ_by_layer(a->layers, b->layers, out);
    (void)snprintf(out->what, sizeof out->what, "%s", key);
    (void)snprintf(out->a, sizeof out->a, "%s", cull_recipe_value(a, key));
    (void)snprintf(out->b, sizeof out->b, "%s", cull_recipe_value(b, key));
    return CULL_OK;
}
