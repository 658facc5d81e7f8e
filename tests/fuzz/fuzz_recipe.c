/* fuzz/fuzz_recipe.c - any bytes as a recipe: one whose text is the same recipe, or a sentence;
 * and its layers a network, or a sentence. */
#include "fuzz_layers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cull_recipe *recipe = NULL, *again = NULL;
    const char  *text = NULL;

    if (cull_recipe_parse("fuzz", data, size, NULL, 0, &recipe) != CULL_OK) {
        if (recipe || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    text = cull_recipe_text(recipe);
    if (cull_recipe_parse("again", text, strlen(text), NULL, 0, &again) != CULL_OK) abort();
    if (cull_recipe_difference(recipe, again)) abort();
    build_layers(recipe);
    cull_recipe_close(recipe);
    cull_recipe_close(again);
    return 0;
}
