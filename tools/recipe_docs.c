/* recipe_docs.c - docs/recipes.md, printed from the table that recipes are checked against. */
#include <cull.h>
#include <stdio.h>
#include <string.h>

static const char opening[] =
    "# Recipes\n\n"
    "Printed from the code by `make docs`; a test fails when this page is stale. "
    "`cull train --help` prints\nthe same at the command line.\n\n"
    "A recipe is a YAML file, read by `cull train RECIPE.yaml [key=value ...]`. Keys are nested or "
    "dotted,\nas one likes:\n\n"
    "```yaml\n"
    "data:\n  name: fashion-mnist\n"
    "optim: {lr: 0.05, momentum: 0.9}\n"
    "train.epochs: 5\n"
    "```\n\n"
    "What is left out has its default; a run's folder holds the recipe with every key. An unknown "
    "or\nrepeated key, a value of the wrong type or out of bounds is an error that names file and "
    "line (exit\nstatus 2), before anything runs. Anchors, aliases, tags and second documents are "
    "refused. `key=value`\non the command line replaces what the file says. Bounds are "
    "inclusive.\n";

/* Text for a table's cell, where a bar would end it. */
static void print_cell(const char *text)
{
    for (; text && *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

static void print_values(const cull_option_spec *option)
{
    switch (option->type) {
    case CULL_OPTION_BOOL: fputs("true or false", stdout); return;
    case CULL_OPTION_CHOICE: print_cell(option->words); return;
    case CULL_OPTION_TEXT: fputs("text", stdout); return;
    case CULL_OPTION_LIST: fputs("a list of numbers", stdout); return;
    case CULL_OPTION_INT: printf("%.17g to %.17g", option->low, option->high); return;
    case CULL_OPTION_REAL: printf("%g to %g", option->low, option->high); return;
    }
}

int main(void)
{
    const cull_option_spec *option = NULL;
    char                    section[64] = "";

    fputs(opening, stdout);
    for (size_t i = 0; (option = cull_recipe_option_at(i)); i++) {
        size_t length = strcspn(option->key, ".");
        if (strncmp(section, option->key, length) != 0 || section[length]) {
            (void)snprintf(section, sizeof section, "%.*s", (int)length, option->key);
            printf("\n## %s\n\n| key | default | values | |\n|---|---|---|---|\n", section);
        }
        printf("| `%s` | %s | ", option->key, option->fallback);
        print_values(option);
        fputs(" | ", stdout);
        print_cell(option->doc);
        fputs(" |\n", stdout);
    }
    return fflush(stdout) != 0;
}
