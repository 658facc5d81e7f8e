/* near.c - words compared: which is near to one that is wrong, and how one ends. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "program.h"

enum { MOST_WORD = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Names are written small; people write SB and ResNet18. */
static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edits (insert, delete, replace, change two neighbours' places) that turn a into b, but for the
 * size of letters; both shorter than MOST_WORD. */
static size_t distance(const char *a, const char *b)
{
    size_t above[MOST_WORD + 1] = {0}, row[MOST_WORD + 1] = {0}, next[MOST_WORD + 1] = {0};
    size_t width = strlen(b);

    for (size_t j = 0; j <= width; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        next[0] = i;
        for (size_t j = 1; j <= width; j++) {
            next[j] = least(row[j - 1] + !same(a[i - 1], b[j - 1]), least(row[j], next[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                next[j] = least(next[j], above[j - 2] + 1);
        }
        memcpy(above, row, sizeof above);
        memcpy(row, next, sizeof row);
    }
    return row[width];
}

/* Is `word` near, and nearer than what was tried before? Then `meant` is the best. */
static void try_as(search *s, const char *word, const char *meant)
{
    size_t length = strlen(s->wrong), edits = 0;

    if (length >= MOST_WORD || strlen(word) >= MOST_WORD) return;
    edits = distance(s->wrong, word);
    if (edits >= length / 3 + 2 || (s->best && edits >= s->edits)) return;
    s->edits = edits;
    s->best = meant;
}

void try_word(search *s, const char *word)
{
    try_as(s, word, word);
}

bool is_of_strategy(const char *key)
{
    for (size_t i = 0; cull_strategy_at(i); i++)
        if (cull_strategy_option(cull_strategy_at(i), key)) return true;
    return false;
}

/* Who leaves the section out spells the rest right, or nearly; `keep` is then a strategy's. */
void try_key(search *s, const char *key)
{
    const char *dot = strchr(key, '.');
    size_t      length = strlen(s->wrong);

    try_as(s, key, key);
    if (!dot || strchr(s->wrong, '.') || is_of_strategy(dot + 1)) return;
    if (length > 4 || strcmp(s->wrong, dot + 1) == 0) try_as(s, dot + 1, key);
}

search nearest_strategy(const char *wrong)
{
    search               s = {.wrong = wrong};
    const cull_strategy *strategy = NULL;

    for (size_t i = 0; (strategy = cull_strategy_at(i)); i++) try_word(&s, strategy->name);
    return s;
}

search nearest_model(const char *wrong)
{
    search s = {.wrong = wrong};

    for (size_t i = 0; cull_model_name_at(i); i++) try_word(&s, cull_model_name_at(i));
    return s;
}

search nearest_set(const char *wrong)
{
    search            s = {.wrong = wrong};
    cull_data_listing set = {0};

    for (size_t i = 0; cull_data_list("/", i, &set); i++) try_word(&s, set.name);
    return s;
}

/* What other programs call our keys; NULL: nobody we know calls one so. */
static const char *key_elsewhere(const char *wrong)
{
    static const char *const names[][2] = {{"learning_rate", "optim.lr"},
                                           {"batch_size", "train.batch"},
                                           {"num_epochs", "train.epochs"},
                                           {"max_epochs", "train.epochs"},
                                           {"optimizer", "optim.name"},
                                           {"lr_scheduler", "schedule.name"},
                                           {"dataset", "data.name"},
                                           {"num_workers", "data.workers"},
                                           {"val_split", "data.validation"},
                                           {"test_split", "data.split"},
                                           {"hidden_size", "model.width"},
                                           {"num_layers", "model.depth"},
                                           {"architecture", "model.name"},
                                           {"label_smoothing", "model.smoothing"},
                                           {"warmup_epochs", "schedule.warmup"}};
    const char              *dot = strrchr(wrong, '.'), *name = dot ? dot + 1 : wrong;

    if (strlen(name) >= MOST_WORD) return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (distance(name, names[i][0]) <= 1) return names[i][1];
    return NULL;
}

search nearest_key(const char *wrong)
{
    search                  s = {.wrong = wrong, .best = key_elsewhere(wrong)};
    const cull_option_spec *option = NULL;

    if (s.best) return s;
    for (size_t i = 0; (option = cull_recipe_option_at(i)); i++) try_key(&s, option->key);
    return s;
}

bool same_file(const char *a, const char *b)
{
    struct stat x = {0}, y = {0};

    if (!a || !b) return false;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length > tail && strcmp(text + length - tail, end) == 0;
}
