/* cmd_reproduce.c - cull reproduce: a paper's figures and tables, each claim beside ours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/compare_parts.h"
#include "reproduce/reproduce_parts.h"

struct arguments {
    const char *subset, *until;
    bool        list, all, controls;
    uint64_t    epochs, seeds, batches;
    all_wish    wish;
};

static const command self = {
    .name = "reproduce",
    .usage =
        "usage: cull reproduce FIGURE [--epochs N] [--seeds N] [--subset SHARE] [--out DIR]\n"
        "       cull reproduce --all|PAPER [--until TIME] [--plan]\n"
        "       cull reproduce --list\n\n"
        "Does a figure or table of a paper again, and leaves a page of the paper: its claims\n"
        "beside ours, with what became of them. Whole set-ups take days: --epochs, --seeds and\n"
        "--subset scale them down, and the page says by how much; --all does as many figures\n"
        "as a time allows, the smallest first, at a scale at which they fit, and goes on the\n"
        "next time. --controls runs the strategies beside uniform choice and shortened full\n"
        "training of the same cost. docs/reproduce.md has the figures measured here.\n\n",
};

static int list(void)
{
    const cull_reproduction *entry = NULL;

    for (size_t i = 0; (entry = cull_reproduction_at(i)); i++)
        (void)printf("%-29s %s%s\n", entry->name, entry->title,
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

/* ---- one figure ---- */

void paper_of(const cull_reproduction *entry, char *out, size_t room)
{
    (void)snprintf(out, room, "%.*s", (int)strcspn(entry->name, "/"), entry->name);
}

void root_of(const all_wish *wish, const char *paper, char *out, size_t room)
{
    if (!wish->out)
        (void)snprintf(out, room, "runs/%s", paper);
    else if (wish->paper)
        (void)snprintf(out, room, "%s", wish->out);
    else
        (void)snprintf(out, room, "%s/%s", wish->out, paper);
}

/* The folder that has an entry's recipe: as it was named, here, or where the program is installed.
 */
static int find_recipes(const char *given, const char *recipe, char *out, size_t room)
{
    char path[MOST_WORD], installed[MOST_WORD / 2];

    if (given) {
        (void)snprintf(out, room, "%s", given);
        return END_WELL; /* a file that is not there gets its sentence when it is opened */
    }
    (void)snprintf(out, room, "recipes/reproduce");
    (void)snprintf(path, sizeof path, "recipes/reproduce/%.500s", recipe);
    if (access(path, R_OK) == 0) return END_WELL;
    if (recipe_folder(installed, sizeof installed)) {
        (void)snprintf(out, room, "%s/reproduce", installed);
        (void)snprintf(path, sizeof path, "%.600s/%.500s", out, recipe);
        if (access(path, R_OK) == 0) return END_WELL;
    }
    return complain(END_FAILED, "Run it where recipes/ lies, or name it: --recipes DIR/reproduce.",
                    "the recipe %s is not found", recipe);
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
    double      scale = r->state.scale.epochs;
    int         end = END_WELL;

    if (scale == 1) return END_WELL;
    (void)snprintf(milestones, sizeof milestones, "%s",
                   cull_recipe_value(recipe, "schedule.milestones"));
    drop_word(&r->changes, "train.epochs");
    drop_word(&r->changes, "schedule.milestones");
    end = add_word(&r->changes, "train.epochs=%.0f", fmax(1, round(epochs * scale)));
    if (!end) end = add_scaled(&r->changes, "schedule.milestones", milestones, scale);
    if (!end && strtod(warmup, &rest) > 0)
        end = add_scaled(&r->changes, "schedule.warmup", warmup, scale);
    return end;
}

/* Before anything is announced: are the files there? */
static int check_data(const reproduction *r, const cull_recipe *recipe)
{
    bool        path = false;
    const char *missing = missing_of(recipe, &path);

    if (!missing) return END_WELL;
    if (path)
        return complain(END_FAILED,
                        "Have it there, or where the command is started; or name it in a copy of "
                        "the recipes: --recipes COPY.",
                        "%s needs %s, which is not on this machine", r->entry->name, missing);
    return complain(END_FAILED, "Let CULL_DATA name the folder that holds the sets.",
                    "%s needs the data set %s, which is not on this machine", r->entry->name,
                    missing);
}

/* The recipe, checked with every change. */
static int prepare(reproduction *r)
{
    cull_recipe *recipe = NULL;
    int          end = END_WELL;

    (void)snprintf(r->recipe, sizeof r->recipe, "%.600s/%.500s", r->recipes, r->entry->recipe);
    if (r->entry->changes) end = add_change(&r->changes, r->entry->changes);
    if (!end) end = open_changed(r, NULL, &recipe);
    if (!end) end = scale_epochs(r, recipe);
    if (!end && r->state.scale.subset < 1)
        end = add_word(&r->changes, "data.subset=%.9g", r->state.scale.subset);
    cull_recipe_close(recipe);
    recipe = NULL;
    if (!end) end = open_changed(r, NULL, &recipe);
    if (!end) end = check_data(r, recipe);
    /* runs lie below a name that their recipe gives them; all else begins anew */
    if (!end && !cull_figure_take(r->entry, recipe, &r->state) &&
        r->entry->kind != CULL_REPRODUCE_TRAIN)
        r->state.begun = r->state.done = false;
    cull_recipe_close(recipe);
    return end;
}

static bool is_same(const cull_reproduction_scale *a, const cull_reproduction_scale *b)
{
    return a->epochs == b->epochs && a->subset == b->subset && a->seeds == b->seeds &&
           a->batches == b->batches;
}

/* As it was begun, or as another figure has left all of its runs; or, where the user says how, so:
 * then what was begun otherwise is not it. */
int open_entry(const cull_reproduction *entry, const all_wish *wish, reproduction *r)
{
    cull_figure_state *s = &r->state;
    cull_status        status = cull_figure_read(entry, r->root, s);

    r->entry = entry;
    if (status != CULL_OK) return complain_last(END_FAILED, "Give another --out.");
    if (!wish->scaled && !s->begun)
        status = cull_figure_shared(entry, r->recipes, r->root, s, &r->whose);
    if (status != CULL_OK) return complain_run(status);
    if (wish->scaled || !s->begun) {
        if (!is_same(&s->scale, &wish->scale)) s->begun = s->done = false;
        s->scale = wish->scale;
    }
    return prepare(r);
}

static void announce(const reproduction *r)
{
    const cull_reproduction       *e = r->entry;
    const cull_reproduction_scale *s = &r->state.scale;

    bool fewer = s->seeds && s->seeds < e->seeds, shorter = s->epochs < 1, part = s->subset < 1;

    if (r->whose) (void)printf("all runs of %s are runs of %s\n", e->name, r->whose->name);

    (void)printf("%s: %s, %s\nthe paper: %s\nhere: %s", e->name, e->number, e->title, e->claim,
                 r->recipe);
    for (size_t i = 0; i < r->changes.count; i++) (void)printf(" %s", r->changes.word[i]);
    (void)printf("\n");
    if (!fewer && !shorter && !part) return;
    (void)printf("scaled down:");
    if (shorter)
        (void)printf(" %.3g %% of the epochs%s", 100 * s->epochs, fewer || part ? "," : "");
    if (fewer)
        (void)printf(" %llu of %u seeds%s", (unsigned long long)s->seeds, e->seeds,
                     part ? "," : "");
    if (part) (void)printf(" %.3g %% of the training examples", 100 * s->subset);
    (void)printf("; this is not the paper's setting\n");
}

static int do_kind(const reproduction *r, bool *done)
{
    switch (r->entry->kind) {
    case CULL_REPRODUCE_TRAIN: return reproduce_train(r, done);
    case CULL_REPRODUCE_PROBE: return reproduce_probe(r, done);
    case CULL_REPRODUCE_WATCH: return reproduce_watch(r, done);
    case CULL_REPRODUCE_TIME: return reproduce_time(r, done);
    case CULL_REPRODUCE_NOT: break;
    }
    return END_FAILED;
}

static int note(const reproduction *r)
{
    if (cull_figure_note(r->entry, r->root, &r->state) == CULL_OK) return END_WELL;
    return complain_last(END_FAILED, "Give another --out.");
}

int do_entry(reproduction *r, bool *done)
{
    int end = END_WELL;

    *done = false;
    announce(r);
    (void)fflush(stdout);
    end = note(r);
    if (!end && r->controls) end = reproduce_compare(r);
    if (!end && !r->controls) end = do_kind(r, done);
    r->state.begun = true;
    r->state.done = *done;
    if (!r->controls && *done && !end) end = note(r);
    return end;
}

static int plan_entry(const reproduction *r)
{
    prices p = {0};
    int    end = END_WELL;

    announce(r);
    if (r->controls) return reproduce_compare(r);
    if (r->entry->kind == CULL_REPRODUCE_PROBE)
        (void)printf(
            "would probe %s at %s over %llu minibatches\n", r->entry->strategies, r->entry->keep,
            (unsigned long long)(r->state.scale.batches ? r->state.scale.batches
                                                        : cull_reproduction_batches(r->entry)));
    else if (r->entry->kind == CULL_REPRODUCE_TIME)
        (void)printf("would time steps of the recipe with %s\n",
                     r->entry->strategies ? r->entry->strategies : "nothing selected");
    end = print_plan(r, &p);
    clear_prices(&p);
    return end ? end : end_output(END_WELL);
}

/* What is asked for must mean something for this figure. */
static int check_scaling(const struct arguments *a, const cull_reproduction *entry)
{
    bool trains = entry->kind == CULL_REPRODUCE_TRAIN || entry->kind == CULL_REPRODUCE_WATCH;

    if (a->epochs && !trains)
        return complain(END_USAGE, "Leave it out.", "%s trains nothing: --epochs has no meaning",
                        entry->name);
    if ((a->seeds || a->controls) && entry->kind != CULL_REPRODUCE_TRAIN)
        return complain(END_USAGE, "Leave it out.", "%s has one run: %s has no meaning",
                        entry->name, a->seeds ? "--seeds" : "--controls");
    return END_WELL;
}

/* "--epochs 10" as a share of the paper's. */
static int share_epochs(struct arguments *a, const cull_reproduction *entry, const char *recipes)
{
    reproduction r = {
        .entry = entry, .recipes = recipes, .state.scale = {.epochs = 1, .subset = 1}};
    cull_recipe *recipe = NULL;
    char        *rest = NULL;
    int          end = END_WELL;

    if (!a->epochs) return END_WELL;
    (void)snprintf(r.recipe, sizeof r.recipe, "%.600s/%.500s", recipes, entry->recipe);
    if (entry->changes) end = add_change(&r.changes, entry->changes);
    if (!end) end = open_changed(&r, NULL, &recipe);
    if (!end) {
        double all = strtod(cull_recipe_value(recipe, "train.epochs"), &rest);

        a->wish.scale.epochs = (double)a->epochs / all;
        if (a->wish.scale.epochs > 1)
            end = complain(END_USAGE, "Give fewer, or leave it out.",
                           "--epochs %llu: the paper trains %.0f", (unsigned long long)a->epochs,
                           all);
    }
    cull_recipe_close(recipe);
    clear_words(&r.changes);
    return end;
}

static int reproduce(struct arguments *a, const char *name)
{
    const cull_reproduction *entry = cull_reproduction_find(name);
    reproduction r = {.until = a->wish.until, .plan = a->wish.plan, .controls = a->controls};
    char         recipes[MOST_WORD], paper[64], root[MOST_WORD];
    bool         done = false;
    int          end = END_WELL;

    if (!entry) return unknown(name);
    if (entry->missing)
        return complain(END_FAILED, "See cull reproduce --list for what can be done.",
                        "%s cannot be done: %s", name, entry->missing);
    paper_of(entry, paper, sizeof paper);
    a->wish.paper = paper;
    root_of(&a->wish, paper, root, sizeof root);
    r.recipes = recipes;
    r.root = root;
    end = check_scaling(a, entry);
    if (!end) end = find_recipes(a->wish.recipes, entry->recipe, recipes, sizeof recipes);
    if (!end) end = share_epochs(a, entry, recipes);
    if (!end) end = open_entry(entry, &a->wish, &r);
    if (!end && a->wish.plan) {
        end = plan_entry(&r);
    } else if (!end) {
        end = do_entry(&r, &done);
        if (!end && !r.controls) end = make_page(paper, recipes, root, entry);
    }
    clear_words(&r.changes);
    if (!end && compare_asked_to_end()) end = 128 + compare_asked_to_end();
    return end ? end : end_output(END_WELL);
}

/* ---- the command ---- */

static int read_wish(struct arguments *a)
{
    char *rest = NULL;

    a->wish.scale = (cull_reproduction_scale){
        .epochs = 1, .subset = 1, .seeds = a->seeds, .batches = a->batches};
    a->wish.scaled = a->epochs || a->seeds || a->subset || a->batches;
    if (a->subset) {
        a->wish.scale.subset = strtod(a->subset, &rest);
        if (*rest || !(a->wish.scale.subset > 0 && a->wish.scale.subset <= 1))
            return complain(END_USAGE, "Write it as --subset 0.1.",
                            "--subset takes a share above 0 and up to 1, not '%s'", a->subset);
    }
    return compare_read_until(a->until, &a->wish.until);
}

static int do_all(struct arguments *a, const char *paper)
{
    char recipes[MOST_WORD];
    int  end = END_WELL;

    if (a->epochs || a->controls)
        return complain(END_USAGE, "Leave it out, or name one figure.",
                        "%s has no meaning for figures of several recipes",
                        a->epochs ? "--epochs" : "--controls");
    end = find_recipes(a->wish.recipes, "balles2023/cifar10.yaml", recipes, sizeof recipes);
    a->wish.recipes = recipes;
    a->wish.paper = paper;
    a->wish.seconds = a->wish.until > 0 ? a->wish.until - compare_now() : 0;
    return end ? end : reproduce_all(&a->wish);
}

static bool is_paper(const char *name)
{
    const cull_reproduction *entry = NULL;
    size_t                   length = strlen(name);

    for (size_t i = 0; (entry = cull_reproduction_at(i)); i++)
        if (strncmp(entry->name, name, length) == 0 && entry->name[length] == '/') return true;
    return false;
}

int cmd_reproduce(int argc, char **argv)
{
    struct arguments a = {.list = false};
    flag             flags[] = {
                    {"--list", FLAG_SWITCH, NULL, "what there is", &a.list, 0},
                    {"--all", FLAG_SWITCH, NULL, "every figure of every paper, the smallest first", &a.all, 0},
                    {"--until", FLAG_TEXT, "TIME", "stop by then, and go on the next time: 30m, 9h", &a.until,
                     0},
                    {"--epochs", FLAG_NUMBER, "N", "train so many (the paper's)", &a.epochs, 0},
                    {"--seeds", FLAG_NUMBER, "N", "so many runs of each arm (the paper's)", &a.seeds, 0},
                    {"--subset", FLAG_TEXT, "SHARE", "of the training examples (1)", &a.subset, 0},
                    {"--batches", FLAG_NUMBER, "N", "minibatches of a probe (200)", &a.batches, 0},
                    {"--controls", FLAG_SWITCH, NULL, "compare with controls of equal cost", &a.controls, 0},
                    {"--out", FLAG_TEXT, "DIR", "for the files (runs/PAPER)", &a.wish.out, 0},
                    {"--recipes", FLAG_TEXT, "DIR", "where the recipes lie (recipes/reproduce)",
                     &a.wish.recipes, 0},
                    {"--plan", FLAG_SWITCH, NULL, "say what would run, and how long; run nothing", &a.wish.plan,
                     0},
                    {.name = NULL}};
    size_t count = 0;
    int    end = take_line(&self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    if (a.list) return list();
    if (count != (a.all ? 0 : 1))
        return complain(END_USAGE, "See cull reproduce --list.", "%s",
                        a.all   ? "--all is every figure: name none"
                        : count ? "more than one figure is given"
                                : "no figure is given");
    end = read_wish(&a);
    if (end) return end;
    compare_listen();
    if (a.all) return do_all(&a, NULL);
    return is_paper(argv[0]) ? do_all(&a, argv[0]) : reproduce(&a, argv[0]);
}
