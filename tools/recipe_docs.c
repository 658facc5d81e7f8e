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
    "refused. `key=value`\non the command line replaces what the file says; a list is written "
    "there "
    "as here,\n`schedule.milestones=[60, 120]`, or `60,120`. Bounds are inclusive.\n\n"
    "Paths (of `data.name`, `data.root`, `data.test`, `score.irreducible`, `train.init`, a plug-in "
    "in\n"
    "`select.strategy`) are relative to the recipe's file, and where nothing is there to the "
    "current "
    "folder;\n"
    "those of `key=value` are relative to the current folder. A run's own `recipe.yaml` has them "
    "absolute, so\n"
    "that `cull train RUN --resume`, `cull eval RUN` and the recipe itself work from anywhere. A "
    "file that was\n"
    "moved is named anew once, `cull train RUN data.name=NEW/set.npz --resume`; a run goes on with "
    "a "
    "path that\n"
    "ends in the same name. A recipe that is not here is looked for where `make install` puts "
    "them; "
    "`cull\n"
    "train` alone lists those.\n";

static const char layers[] =
    "\n## A network of one's own\n\n"
    "`model.layers` lists the layers of a network in place of naming one; shapes follow from the "
    "data:\n\n"
    "```yaml\n"
    "model:\n"
    "  layers:\n"
    "    - conv: {channels: 32, kernel: 3, padding: same}\n"
    "    - batchnorm\n"
    "    - relu\n"
    "    - maxpool: 2\n"
    "    - residual: [conv: {channels: 32, kernel: 3, padding: same}, batchnorm, relu]\n"
    "    - flatten\n"
    "    - dense: 128\n"
    "    - relu\n"
    "    - dropout: 0.5\n"
    "    - dense\n"
    "```\n\n"
    "A layer is a word, a word with a value (`maxpool: 2`), or a word with options by name; the "
    "numbers of a\nwindow may be two, as `kernel: [3, 5]`, of height and width. The last layer is "
    "`dense`; without a width it\nhas an output for every class of the data, every number or "
    "label. Where roads part, "
    "`residual` adds what its layers make to what\nthey were given; `add` and `concat` join "
    "branches: `concat: [[], [relu]]`. On the command line a list is\nwritten in YAML's flow form, "
    "in quotes: `model.layers='[flatten, dense]'`; `model.layers=none` takes a\nrecipe's away. A "
    "mistake names file, line and layer; where only the data tells, layer and shapes.\n\n"
    "Layers are counted from 0: `model.layers[4][1]` is the second inside of the fifth. Their "
    "tensors are called\nso in weights files, `0.weight`, `4.1.running_mean`, as those of a "
    "`torch.nn.Sequential` of the same layers\n(`layernorm`'s have the three extents of an "
    "example). `name` gives another name, so that weights trained\nelsewhere can begin a run "
    "(`train.init`). What a list begins with depends on the seed and on its layers'\norder, not on "
    "names: one that lists `lenet5`'s layers is `lenet5`, bit for bit.\n\n"
    "| layer | | alone, a value is its |\n|---|---|---|\n";

static const char closing[] =
    "\n## While training\n\n"
    "What a step does follows from what the strategy asks for, and nothing else is paid for.\n\n"
    "- *Scored batches.* The next candidates are loaded and scored (dropout off, BatchNorm's "
    "averages\n  untouched), the strategy chooses, and the chosen are trained with their weights: "
    "again from the\n  inputs (`score.pass: separate`, M + 3m thirds of an example's work), or "
    "backward through the scoring\n  pass itself (`reuse`, M + 2m thirds; then that pass has "
    "dropout "
    "and updates the averages, once).\n"
    "- *Unscored batches* (`random`, stale epochs, `remembered`). The choice is made by places; "
    "only "
    "what is\n  chosen is loaded and augmented (3m thirds).\n"
    "- *Streams* (`sb-stream`). A step may fill no training batch, one or several; examples that "
    "wait "
    "for\n  later are made again then, with the augmentation of the epoch they are trained in. "
    "What "
    "waits when\n  the last epoch ends is trained as a short batch.\n"
    "- *Subsets of the pool* are chosen when an epoch begins, from signals of all examples "
    "without\n  "
    "augmentation by BatchNorm's averages, and trained in shuffled batches; subsets made of "
    "whole\n  "
    "batches are trained batch by batch, in shuffled order.\n"
    "- *Targets.* Strategies that aim at a validation set get all of it for a choice from the "
    "pool, "
    "and for\n  a step a random part as large as a batch, scored at the current weights.\n"
    "- *The schedule* has as many positions an epoch as full training has steps; an epoch of a "
    "subset, or\n  of scaled batches, passes over as many. `train.shorten` scales milestones and "
    "warm-up too.\n"
    "- *Windows* (`select.start`, `select.end`) are shares of the examples met in all epochs that "
    "are begun,\n  whatever the steps take; over the pool, of the epochs. A step lies where it "
    "begins.\n"
    "- *Scored ahead* (`score.pipelined`). The first step of an epoch is scored by the newest "
    "weights, the\n  others by those the step before began with. At high rates that costs "
    "accuracy: "
    "[cost.md](cost.md) has figures.\n"
    "- *A proxy* (`score.proxy`) starts from the same seed, has the same optimizer settings and "
    "rates, and is\n  trained on every batch that the model is trained on. Its work is counted "
    "apart.\n";

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
    case CULL_OPTION_TEXT: print_cell(option->words ? option->words : "text"); return;
    case CULL_OPTION_LIST: fputs("a list of numbers", stdout); return;
    case CULL_OPTION_LAYERS: fputs("a list of layers, or none", stdout); return;
    case CULL_OPTION_INT: printf("%.17g to %.17g", option->low, option->high); return;
    case CULL_OPTION_REAL: printf("%g to %g", option->low, option->high); return;
    }
}

static bool is_same(const cull_option_spec *a, const cull_option_spec *b)
{
    return strcmp(a->key, b->key) == 0 && strcmp(a->fallback, b->fallback) == 0 &&
           a->high == b->high && strcmp(a->doc, b->doc) == 0;
}

/* Does this layer have this very option? */
static bool has(const char *layer, const cull_option_spec *option)
{
    const cull_option_spec *own = NULL;

    for (size_t i = 0; (own = cull_recipe_layer_option_at(layer, i)); i++)
        if (is_same(own, option)) return true;
    return false;
}

/* An option with all layers that have it, where this is the first of them. */
static void print_layer_option(size_t layer, const cull_option_spec *option)
{
    const char *name = NULL, *comma = "";
    bool        needed = option->type != CULL_OPTION_TEXT && !*option->fallback;

    for (size_t i = 0; i < layer; i++)
        if (has(cull_recipe_layer_at(i), option)) return;
    printf("| `%s` | ", option->key);
    for (size_t i = layer; (name = cull_recipe_layer_at(i)); i++) {
        if (!has(name, option)) continue;
        printf("%s%s", comma, name);
        comma = ", ";
    }
    printf(" | %s | ", needed ? "needed" : option->fallback);
    if (option->type == CULL_OPTION_LIST)
        printf("%g to %.17g", option->low, option->high);
    else
        print_values(option);
    fputs(" | ", stdout);
    print_cell(option->doc);
    fputs(" |\n", stdout);
}

static void print_layers(void)
{
    const cull_option_spec *option = NULL;
    const char             *name = NULL;

    fputs(layers, stdout);
    for (size_t i = 0; (name = cull_recipe_layer_at(i)); i++) {
        const char *alone = cull_recipe_layer_alone(name);

        printf("| `%s` | %s | %s |\n", name, cull_recipe_layer_doc(name), alone ? alone : "");
    }
    fputs("\n| option | of | default | values | |\n|---|---|---|---|---|\n", stdout);
    for (size_t i = 0; (name = cull_recipe_layer_at(i)); i++)
        for (size_t k = 0; (option = cull_recipe_layer_option_at(name, k)); k++)
            print_layer_option(i, option);
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
    print_layers();
    fputs(closing, stdout);
    return fflush(stdout) != 0;
}
