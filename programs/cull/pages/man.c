/*
 * man.c - cull write-pages DIR: the manual, a page for the program, each command and recipes.
 *
 * Printed from the tables that help is printed from, when the program is built.
 */
#include <stdlib.h>
#include <string.h>

#include "pages/pages.h"

/* Text as roff takes it: '-' stays a '-', and no line is a request. */
static void put(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool first = i == 0 || text[i - 1] == '\n';

        if (first && (text[i] == '.' || text[i] == '\'')) (void)fputs("\\&", stdout);
        if (text[i] == '\\')
            (void)fputs("\\e", stdout);
        else if (text[i] == '-')
            (void)fputs("\\-", stdout);
        else
            (void)putchar(text[i]);
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static void put_head(const char *name, int section, const char *doc)
{
    (void)printf(".TH \"");
    for (const char *at = name; *at; at++)
        (void)putchar(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
    (void)printf("\" \"%d\" \"\" \"cull %s\" \"cull\"\n.SH NAME\n", section, cull_version());
    put_text(name);
    (void)printf(" \\- ");
    put_text(doc);
    (void)printf("\n");
}

static void put_see_also(const char *but)
{
    (void)printf(".SH SEE ALSO\n");
    if (strcmp(but, "cull") != 0) (void)printf(".BR cull (1),\n");
    for (size_t i = 0; command_at(i); i++)
        if (strcmp(command_at(i)->name, but) != 0)
            (void)printf(".BR cull\\-%s (1),\n", command_at(i)->name);
    (void)printf(strcmp(but, "recipe") == 0 ? ".B cull train \\-\\-help\n"
                                            : ".BR cull\\-recipe (5)\n");
}

/* ---- a command ---- */

/* Usage lines as they are; paragraphs without the ends of their lines, but a list keeps them. */
static void put_usage(const char *usage)
{
    const char *end = strstr(usage, "\n\n");
    size_t      length = end ? (size_t)(end - usage) : strlen(usage);

    (void)printf(".SH SYNOPSIS\n.nf\n");
    for (const char *line = usage; line < usage + length; line += strcspn(line, "\n") + 1) {
        const char *text = line + (strncmp(line, "usage:", 6) == 0 ? 6 : 0);

        text += strspn(text, " ");
        if (strncmp(text, "cull ", 5) != 0) put_text("         "); /* goes on from above */
        put(text, strcspn(text, "\n"));
        (void)printf("\n");
    }
    (void)printf(".fi\n.SH DESCRIPTION\n");
    for (const char *text = usage + length, *next = NULL; text; text = next) {
        text += strspn(text, "\n");
        next = strstr(text, "\n\n");
        if (next && text > usage + length + 2) (void)printf(".PP\n");
        put(text, next ? (size_t)(next + 1 - text) : strlen(text));
    }
}

static void put_flag(const char *name, const char *value, const char *doc)
{
    (void)printf(".TP\n\\fB");
    put_text(name);
    (void)printf("\\fR");
    if (value) {
        (void)printf(" \\fI");
        put_text(value);
        (void)printf("\\fR");
    }
    (void)printf("\n");
    put_text(doc);
    (void)printf("\n");
}

/* What stands below the flags: an example, laid out by hand. */
static int put_more(const command *self)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = self->more ? open_memstream(&text, &size) : NULL;

    if (!self->more) return END_WELL;
    if (!to) return complain(END_FAILED, "Free some.", "no memory for a page");
    self->more(to);
    if (fclose(to) == 0) {
        (void)printf(".SH NOTES\n.nf\n");
        put_text(text + strspn(text, "\n"));
        (void)printf(".fi\n");
    }
    free(text);
    return END_WELL;
}

int pages_print(const command *self, const flag *flags)
{
    char name[USAGE_WORD];
    int  end = END_WELL;

    (void)snprintf(name, sizeof name, "cull-%s", self->name);
    for (size_t i = 0; command_at(i); i++)
        if (strcmp(command_at(i)->name, self->name) == 0) put_head(name, 1, command_at(i)->doc);
    put_usage(self->usage);
    (void)printf(".SH OPTIONS\n");
    for (; flags->name; flags++) put_flag(flags->name, flags->value, flags->doc);
    put_flag("--help", NULL, "what the command does, and all of its flags");
    if (self->recipe_keys)
        (void)printf(".SH KEYS OF A RECIPE\nWhat key=value may change:\n.BR cull\\-recipe (5).\n");
    end = put_more(self);
    put_see_also(self->name);
    return end;
}

/* ---- the program ---- */

static int print_program(void)
{
    put_head("cull", 1, "decide which training examples are worth backpropagating");
    (void)printf(".SH SYNOPSIS\n.B cull\n.I COMMAND\n.RI [ ARGUMENTS ]\n.SH COMMANDS\n");
    for (size_t i = 0; command_at(i); i++) put_flag(command_at(i)->name, NULL, command_at(i)->doc);
    (void)printf(".SH OPTIONS\n");
    put_flag("--help", NULL, "what there is; cull help COMMAND for a command's own");
    put_flag("--version", NULL, "the version");
    (void)printf(".SH EXIT STATUS\n"
                 "0: done. 1: failed; one sentence says what happened and one what to do.\n"
                 "2: a wrong command or recipe, before anything ran.\n"
                 "130 and 143: ended by a signal, with a checkpoint where networks are trained.\n"
                 ".SH ENVIRONMENT\n");
    put_flag("CULL_DATA", NULL,
             "the folder that holds the data sets' folders; cull data list says where each is to "
             "be had");
    put_flag("OMP_WAIT_POLICY", NULL,
             "passive unless it is set: threads that wait for others give their core away");
    (void)printf(".SH FILES\n");
    put_flag("PREFIX/share/cull/recipes", NULL, "recipes that are found by name");
    put_flag("PREFIX/share/doc/cull", NULL, "README.md and the pages that it names, in docs/");
    put_see_also("cull");
    return END_WELL;
}

/* ---- recipes ---- */

static void put_key(const cull_option_spec *option)
{
    char values[256];

    describe_option(option, values, sizeof values);
    (void)printf(".TP\n\\fB");
    put_text(option->key);
    (void)printf("\\fR=\\fI");
    put_text(option->fallback);
    (void)printf("\\fR (");
    put_text(values);
    (void)printf(")\n");
    put_text(option->doc);
    (void)printf("\n");
}

/* A layer with its options, each with what it is without it; those that are needed stand alone. */
static void put_layer(const char *layer)
{
    const cull_option_spec *option = NULL;

    (void)printf(".TP\n\\fB");
    put_text(layer);
    (void)printf("\\fR");
    for (size_t i = 0; (option = cull_recipe_layer_option_at(layer, i)); i++) {
        (void)printf("%s", i ? ", " : ": {");
        put_text(option->key);
        if (*option->fallback) (void)printf(": ");
        put_text(option->fallback);
    }
    (void)printf("%s\n", cull_recipe_layer_option_at(layer, 0) ? "}" : "");
    put_text(cull_recipe_layer_doc(layer));
    if (cull_recipe_layer_alone(layer)) {
        (void)printf("; a value by itself is its ");
        put_text(cull_recipe_layer_alone(layer));
    }
    (void)printf("\n");
}

static int print_recipe(void)
{
    const cull_option_spec *option = NULL;
    char                    section[USAGE_WORD] = "";

    put_head("cull-recipe", 5, "what a recipe of cull may say");
    (void)printf(".SH DESCRIPTION\n");
    put_text("A recipe is a YAML file of keys with values, nested or dotted as one likes. What is "
             "left out has its default, which stands behind each key below, with what is "
             "possible. key=value on a command line replaces what the file says. Paths are "
             "relative to the recipe's file, on a command line to the current folder. Options of "
             "the strategy are keys of the section select, as select.keep; cull select --list has "
             "those of each.\n");
    for (size_t i = 0; (option = cull_recipe_option_at(i)); i++) {
        size_t length = strcspn(option->key, ".");

        if (strncmp(section, option->key, length) != 0 || section[length]) {
            (void)snprintf(section, sizeof section, "%.*s", (int)length, option->key);
            (void)printf(".SH %s\n", section);
        }
        put_key(option);
    }
    (void)printf(".SH layers of model.layers\n");
    for (size_t i = 0; cull_recipe_layer_at(i); i++) put_layer(cull_recipe_layer_at(i));
    put_see_also("recipe");
    return END_WELL;
}

/* ---- files ---- */

/* FOLDER/NAME becomes standard output. */
static int open_page(const char *folder, const char *name)
{
    char path[1200];

    (void)snprintf(path, sizeof path, "%.1000s/%s", folder, name);
    if (freopen(path, "w", stdout)) return END_WELL;
    return complain(END_FAILED, "Give a folder that is there.", "%s cannot be written", path);
}

int pages_write(int argc, char **argv)
{
    int end = END_WELL;

    if (argc != 1)
        return complain(END_USAGE, "As cull " PAGES_WRITE " DIR.", "one folder is written to");
    end = open_page(argv[0], "cull.1");
    if (!end) end = end_output(print_program());
    if (!end) end = open_page(argv[0], "cull-recipe.5");
    if (!end) end = end_output(print_recipe());
    for (size_t i = 0; !end && command_at(i); i++) {
        char name[USAGE_WORD];

        (void)snprintf(name, sizeof name, "cull-%s.1", command_at(i)->name);
        end = open_page(argv[0], name);
        if (!end) end = command_at(i)->run(2, (char *[]){TABLES, TABLES_PRINT, NULL});
        if (!end) end = end_output(END_WELL);
    }
    return end;
}
