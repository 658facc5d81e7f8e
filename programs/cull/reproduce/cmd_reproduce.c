/* cmd_reproduce.c - cull reproduce: a paper's figure or table, with its claim beside ours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reproduce/reproduce_parts.h"

struct arguments {
    const char  *name, *subset, *recipes;
    bool         list;
    reproduction r;
    char         folder[MOST_WORD];
};

static const command self = {
    .name = "reproduce",
    .usage =
        "usage: cull reproduce FIGURE [--epochs N] [--seeds N] [--subset SHARE] [--out DIR]\n"
        "       cull reproduce --list\n\n"
        "Does a figure or table of a paper again and prints what came of it beside what the paper\n"
        "says. Whole set-ups take days: --epochs, --seeds and --subset scale them down, and the\n"
        "output says by how much. docs/reproduce.md has the figures measured here.\n\n",
};

static int list(void)
{
    const cull_reproduction *entry = NULL;

    for (size_t i = 0; (entry = cull_reproduction_at(i)); i++)
        (void)printf("%-28s %s%s\n", entry->name, entry->title,
                     entry->missing ? " (not built)" : "");
    return end_output(END_WELL);
}

static int unknown(const char *name)
{
    search                   s = {.wrong = name};
    const cull_reproduction *entry = NULL;

    for (size_t i = 0; (entry = cull_reproduction_at(i)); i++) try_word(&s, entry->name);
    return complain_near(&s, "", "cull reproduce --list", "there is no figure or table '%s'", name);
}

/* Here, or where the program is installed. */
static int place_recipe(struct arguments *a)
{
    char  folder[MOST_WORD / 2];
    char *to = a->r.recipe;

    if (a->recipes) {
        (void)snprintf(to, MOST_WORD, "%.600s/%s", a->recipes, a->r.entry->recipe);
        return END_WELL; /* a file that is not there gets its sentence when it is opened */
    }
    (void)snprintf(to, MOST_WORD, "recipes/reproduce/%s", a->r.entry->recipe);
    if (access(to, R_OK) == 0) return END_WELL;
    if (recipe_folder(folder, sizeof folder))
        (void)snprintf(to, MOST_WORD, "%s/reproduce/%s", folder, a->r.entry->recipe);
    if (access(to, R_OK) == 0) return END_WELL;
    return complain(END_FAILED, "Run it where recipes/ lies, or name it: --recipes DIR/reproduce.",
                    "the recipe %s is not found", a->r.entry->recipe);
}

static int add_change(words *all, const char *text)
{
    char  copy[MOST_WORD], *rest = NULL;
    int   end = END_WELL;
    char *word = NULL;

    (void)snprintf(copy, sizeof copy, "%s", text);
    for (word = strtok_r(copy, " ", &rest); word && !end; word = strtok_r(NULL, " ", &rest))
        end = add_word(all, "%s", word);
    return end;
}

/* A later word for the same key replaces the earlier. */
static void drop_word(words *all, const char *key)
{
    for (size_t i = 0; i < all->count; i++) {
        size_t length = strcspn(all->word[i], "=");

        if (strlen(key) != length || strncmp(all->word[i], key, length) != 0) continue;
        free(all->word[i]);
        memmove((void *)&all->word[i], (void *)&all->word[i + 1],
                (all->count - i) * sizeof *all->word);
        all->count--;
        return;
    }
}

static int scale_epochs(reproduction *r, const cull_recipe *recipe)
{
    char       *rest = NULL;
    char        milestones[MOST_WORD / 2];
    const char *warmup = cull_recipe_value(recipe, "schedule.warmup");
    double      epochs = strtod(cull_recipe_value(recipe, "train.epochs"), &rest);
    int         end = END_WELL;

    (void)snprintf(milestones, sizeof milestones, "%s",
                   cull_recipe_value(recipe, "schedule.milestones"));
    r->scale = r->epochs ? (double)r->epochs / epochs : 1;
    if (!r->epochs) return END_WELL;
    drop_word(&r->changes, "train.epochs");
    drop_word(&r->changes, "schedule.milestones");
    end = add_word(&r->changes, "train.epochs=%llu", (unsigned long long)r->epochs);
    if (!end) end = add_scaled(&r->changes, "schedule.milestones", milestones, r->scale);
    if (!end && strtod(warmup, &rest) > 0)
        end = add_scaled(&r->changes, "schedule.warmup", warmup, r->scale);
    return end;
}

/* Before anything is announced: are the files there? */
static int check_data(const reproduction *r, const cull_recipe *recipe)
{
    const char       *name = cull_recipe_value(recipe, "data.name");
    const char       *root = cull_recipe_value(recipe, "data.root");
    cull_data_listing listing = {0};

    for (size_t i = 0; cull_data_list(root[0] ? root : NULL, i, &listing); i++)
        if (strcmp(listing.name, name) == 0 && !(listing.train && listing.test))
            return complain(END_FAILED, "Let CULL_DATA name the folder that holds the sets.",
                            "%s needs the data set %s, which is not on this machine",
                            r->entry->name, name);
    return END_WELL;
}

/* The recipe, checked with every change. */
static int prepare(struct arguments *a)
{
    reproduction *r = &a->r;
    cull_recipe  *recipe = NULL;
    int           end = place_recipe(a);

    if (!end && r->entry->changes) end = add_change(&r->changes, r->entry->changes);
    if (!end) end = open_changed(r, NULL, &recipe);
    if (!end) end = scale_epochs(r, recipe);
    if (!end && r->subset < 1) end = add_word(&r->changes, "data.subset=%.9g", r->subset);
    cull_recipe_close(recipe);
    recipe = NULL;
    if (!end) end = open_changed(r, NULL, &recipe);
    if (!end) end = check_data(r, recipe);
    cull_recipe_close(recipe);
    return end;
}

static void announce(const reproduction *r)
{
    const cull_reproduction *e = r->entry;
    bool fewer = r->seeds && r->seeds < e->seeds, shorter = r->scale < 1, part = r->subset < 1;

    (void)printf("%s: %s\nthe paper: %s\nhere: %s", e->name, e->title, e->claim, r->recipe);
    for (size_t i = 0; i < r->changes.count; i++) (void)printf(" %s", r->changes.word[i]);
    (void)printf("\n");
    if (!fewer && !shorter && !part) return;
    (void)printf("scaled down:");
    if (shorter)
        (void)printf(" %llu of %.0f epochs%s", (unsigned long long)r->epochs,
                     (double)r->epochs / r->scale, fewer || part ? "," : "");
    if (fewer)
        (void)printf(" %llu of %u seeds%s", (unsigned long long)r->seeds, e->seeds,
                     part ? "," : "");
    if (part) (void)printf(" %.3g %% of the training examples", 100 * r->subset);
    (void)printf("; this is not the paper's setting\n");
}

/* What is asked for must mean something for this figure. */
static int check_scaling(struct arguments *a)
{
    const reproduction *r = &a->r;
    char               *rest = NULL;
    bool                trains =
        r->entry->kind == CULL_REPRODUCE_COMPARE || r->entry->kind == CULL_REPRODUCE_WATCH;

    if (a->subset) {
        a->r.subset = strtod(a->subset, &rest);
        if (*rest || !(a->r.subset > 0 && a->r.subset <= 1))
            return complain(END_USAGE, "Write it as --subset 0.1.",
                            "--subset takes a share above 0 and up to 1, not '%s'", a->subset);
    }
    if (r->epochs && !trains)
        return complain(END_USAGE, "Leave it out.", "%s trains nothing: --epochs has no meaning",
                        r->entry->name);
    if (r->seeds && r->entry->kind != CULL_REPRODUCE_COMPARE)
        return complain(END_USAGE, "Leave it out.", "%s has one run: --seeds has no meaning",
                        r->entry->name);
    return END_WELL;
}

static int reproduce(struct arguments *a)
{
    reproduction *r = &a->r;
    int           end = END_WELL;

    r->entry = cull_reproduction_find(a->name);
    if (!r->entry) return unknown(a->name);
    if (r->entry->missing)
        return complain(END_FAILED, "See cull reproduce --list for what can be done.",
                        "%s cannot be done: %s", a->name, r->entry->missing);
    end = check_scaling(a);
    if (!end) end = prepare(a);
    if (end) return end;
    if (!r->out) {
        (void)snprintf(a->folder, sizeof a->folder, "runs/%s", a->name);
        r->out = a->folder;
    }
    announce(r);
    (void)fflush(stdout);
    if (!r->plan) end = make_folders(r->out);
    if (end) return end;
    switch (r->entry->kind) {
    case CULL_REPRODUCE_COMPARE: return reproduce_compare(r);
    case CULL_REPRODUCE_PROBE: return reproduce_probe(r);
    case CULL_REPRODUCE_WATCH: return reproduce_watch(r);
    case CULL_REPRODUCE_TIME: return reproduce_time(r);
    case CULL_REPRODUCE_NOT: break;
    }
    return END_FAILED;
}

int cmd_reproduce(int argc, char **argv)
{
    struct arguments a = {.r = {.subset = 1, .scale = 1}};
    flag             flags[] = {
                    {"--list", FLAG_SWITCH, NULL, "what there is", &a.list, 0},
                    {"--epochs", FLAG_NUMBER, "N", "train so many (the paper's)", &a.r.epochs, 0},
                    {"--seeds", FLAG_NUMBER, "N", "so many runs of each arm (the paper's)", &a.r.seeds, 0},
                    {"--subset", FLAG_TEXT, "SHARE", "of the training examples (1)", &a.subset, 0},
                    {"--batches", FLAG_NUMBER, "N", "minibatches of a probe (200)", &a.r.batches, 0},
                    {"--out", FLAG_TEXT, "DIR", "for the files (runs/FIGURE)", &a.r.out, 0},
                    {"--recipes", FLAG_TEXT, "DIR", "where the recipes lie (recipes/reproduce)", &a.recipes, 0},
                    {"--plan", FLAG_SWITCH, NULL, "say what would run, and run nothing", &a.r.plan, 0},
                    {.name = NULL}};
    size_t count = 0;
    int    end = take_line(&self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    if (a.list) return list();
    if (count != 1)
        return complain(END_USAGE, "See cull reproduce --list.", "%s",
                        count ? "more than one figure is given" : "no figure is given");
    a.name = argv[0];
    end = reproduce(&a);
    clear_words(&a.r.changes);
    return end;
}
