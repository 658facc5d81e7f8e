/* fuzz/fuzz_options.c - lines of any bytes as key=value changes to a recipe, as a command line has
 * them: a recipe whose text is the same recipe, or a sentence; and its layers a network, or a
 * sentence. */
#include "fuzz_layers.h"

enum { MOST_CHANGES = 16 };

/* Cuts the text at line ends and at the first '=' of a line, as the program does. */
static size_t cut(char *text, cull_option *changes)
{
    size_t count = 0;

    while (*text && count < MOST_CHANGES) {
        size_t length = strcspn(text, "\n");
        char  *next = text + length + (text[length] != '\0'), *equals = NULL;

        text[length] = '\0';
        equals = strchr(text, '=');
        if (equals) {
            *equals = '\0';
            changes[count++] = (cull_option){text, equals + 1};
        }
        text = next;
    }
    return count;
}

static void check(const cull_option *changes, size_t count)
{
    cull_recipe *recipe = NULL, *again = NULL;
    const char  *text = NULL;

    if (cull_recipe_parse("fuzz", NULL, 0, changes, count, &recipe) != CULL_OK) {
        if (recipe || cull_last_error()[0] == '\0') abort();
        return;
    }
    text = cull_recipe_text(recipe);
    if (cull_recipe_parse("again", text, strlen(text), NULL, 0, &again) != CULL_OK) abort();
    if (cull_recipe_difference(recipe, again)) abort();
    build_layers(recipe);
    cull_recipe_close(recipe);
    cull_recipe_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char       *text = calloc(size + 1, 1);
    cull_option changes[MOST_CHANGES];

    if (!text) return 0;
    if (size) memcpy(text, data, size);
    check(changes, cut(text, changes));
    free(text);
    return 0;
}
