/*
 * reproduce_all.c - figure after figure, the smallest first, as far as a time goes.
 *
 * What was begun goes on at its scale. Another is begun at the largest scale of a ladder at which
 * it takes no more than a share of the time, so that a visit gives several figures; how far down
 * the ladder that is, the page says beside each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare_parts.h"
#include "reproduce/reproduce_parts.h"

enum { SHARE = 6, MOST = 256, LEAST_BATCHES = 5 }; /* a figure takes a sixth of the time */

/* From the paper's down: what is told least is shed first. Seeds 0: the paper's. */
static const cull_reproduction_scale ladder[] = {
    {1, 1, 0, 0},    {.5, 1, 0, 0},     {.2, 1, 3, 0},     {.1, 1, 3, 0},
    {.05, 1, 3, 0},  {.05, 1, 2, 0},    {.05, .5, 2, 0},   {.02, .2, 2, 0},
    {.01, .1, 2, 0}, {.005, .05, 2, 0}, {.005, .02, 1, 0}, {.001, .01, 1, 0},
};

struct item {
    const cull_reproduction *entry;
    const cull_reproduction *whose;   /* all of its runs are there as this one's; or NULL */
    double                   seconds; /* that are left to do; NaN: not known              */
    cull_figure_state        state;
    bool                     left_out; /* it does not fit the time at all, or cannot be done */
};

struct yard {
    const all_wish *wish;
    prices          prices;
    struct item     item[MOST];
    size_t          count;
};

static void root_for(const struct yard *y, const cull_reproduction *entry, char *out, size_t room)
{
    char paper[64];

    paper_of(entry, paper, sizeof paper);
    root_of(y->wish, paper, out, room);
}

/* What it takes at a scale; once: without runs that were priced before. */
static int price_at(struct yard *y, const struct item *item, const cull_reproduction_scale *scale,
                    bool once, double *out)
{
    char         root[MOST_WORD];
    cull_figure *figure = NULL;
    cull_status  status = CULL_OK;
    int          end = END_WELL;

    *out = 0;
    if (item->entry->kind != CULL_REPRODUCE_TRAIN && item->state.done) return END_WELL;
    root_for(y, item->entry, root, sizeof root);
    status = cull_figure_open(item->entry, scale, y->wish->recipes, root, &figure);
    end = status == CULL_OK ? price_figure(figure, &y->prices, once, out) : complain_run(status);
    cull_figure_close(figure);
    return end;
}

/* The paper's seeds, where those are fewer. A probe trains nothing, and looks at fewer minibatches;
 * what is timed is the same at any scale. */
static cull_reproduction_scale rung(const cull_reproduction *entry, size_t i)
{
    cull_reproduction_scale scale = ladder[i];
    uint64_t                batches = cull_reproduction_batches(entry);

    if (scale.seeds >= entry->seeds) scale.seeds = 0;
    if (batches && scale.subset < 1)
        scale.batches = (uint64_t)fmax(LEAST_BATCHES, round((double)batches * scale.subset));
    if (entry->kind == CULL_REPRODUCE_PROBE) scale.epochs = 1;
    if (entry->kind == CULL_REPRODUCE_TIME)
        scale = (cull_reproduction_scale){.epochs = 1, .subset = 1};
    return scale;
}

static int choose_scale(struct yard *y, struct item *item)
{
    double budget = y->wish->seconds > 0 ? y->wish->seconds / SHARE : INFINITY;
    int    end = END_WELL;

    if (item->state.begun || y->wish->scaled) {
        if (!item->state.begun) item->state.scale = y->wish->scale;
        return price_at(y, item, &item->state.scale, false, &item->seconds);
    }
    for (size_t i = 0; !end && i < sizeof ladder / sizeof *ladder; i++) {
        item->state.scale = rung(item->entry, i);
        end = price_at(y, item, &item->state.scale, false, &item->seconds);
        if (!(item->seconds > budget)) return end;
    }
    item->left_out = true;
    return end;
}

/* Is what it needs on this machine? */
static bool has_data(const struct yard *y, const cull_reproduction *entry)
{
    char         path[MOST_WORD];
    cull_recipe *recipe = NULL;
    bool         there = false, is_path = false;

    (void)snprintf(path, sizeof path, "%.600s/%.500s", y->wish->recipes, entry->recipe);
    if (cull_recipe_open(path, NULL, 0, &recipe) == CULL_OK)
        there = missing_of(recipe, &is_path) == NULL;
    cull_recipe_close(recipe);
    return there;
}

static int gather(struct yard *y)
{
    const cull_reproduction *entry = NULL;
    size_t                   length = y->wish->paper ? strlen(y->wish->paper) : 0, absent = 0;
    char                     root[MOST_WORD];

    for (size_t i = 0; (entry = cull_reproduction_at(i)) && !compare_asked_to_end(); i++) {
        struct item *item = &y->item[y->count];

        if (length &&
            (strncmp(entry->name, y->wish->paper, length) != 0 || entry->name[length] != '/'))
            continue;
        if (entry->missing || y->count == MOST) continue;
        if (!has_data(y, entry)) {
            absent++;
            continue;
        }
        *item = (struct item){.entry = entry, .seconds = NAN};
        root_for(y, entry, root, sizeof root);
        if (cull_figure_read(entry, root, &item->state) != CULL_OK)
            return complain_last(END_FAILED, "Give another --out.");
        if (!item->state.begun && !y->wish->scaled &&
            cull_figure_shared(entry, y->wish->recipes, root, &item->state, &item->whose) !=
                CULL_OK)
            return complain_last(END_FAILED, "Give another --out.");
        if (choose_scale(y, item) != END_WELL) { /* why was said, and the others go on */
            (void)fprintf(stderr, "%s is left out.\n", entry->name);
            item->left_out = true;
        }
        y->count++;
    }
    if (absent)
        (void)printf("%zu figure%s: the data set is not on this machine\n", absent,
                     absent == 1 ? " is left out" : "s are left out");
    return END_WELL;
}

/* By what is left to do. */
static int by_size(const void *a, const void *b)
{
    const struct item *p = a, *q = b;

    if (p->left_out != q->left_out) return p->left_out - q->left_out;
    if (p->seconds < q->seconds || p->seconds > q->seconds) return p->seconds < q->seconds ? -1 : 1;
    return p->entry < q->entry ? -1 : p->entry > q->entry;
}

static bool is_done(const struct item *item)
{
    return item->entry->kind == CULL_REPRODUCE_TRAIN ? item->state.begun && item->seconds <= 0
                                                     : item->state.done;
}

static void print_item(const struct item *item)
{
    const cull_reproduction_scale *s = &item->state.scale;

    (void)printf("%-29s", item->entry->name);
    if (is_done(item))
        (void)printf(" %9s", "done");
    else
        compare_put(item->seconds / 3600, 9, 3, "");
    (void)printf("  %6.3g %% %5llu %6.3g %%%s\n", 100 * s->epochs,
                 (unsigned long long)(s->seeds ? s->seeds : item->entry->seeds), 100 * s->subset,
                 item->left_out ? "  left out: it does not fit" : "");
}

static int print_all(struct yard *y)
{
    double sum = 0, seconds = 0;
    char   clock[40];
    int    end = END_WELL;

    (void)printf("%-29s %9s  %8s %5s %8s\n", "figure", "hours", "epochs", "seeds", "examples");
    for (size_t i = 0; !end && i < y->count; i++) {
        print_item(&y->item[i]);
        if (y->item[i].left_out) continue;
        end = price_at(y, &y->item[i], &y->item[i].state.scale, true, &seconds);
        sum += seconds;
    }
    compare_clock(sum, clock, sizeof clock);
    (void)printf("all of them: %.1f hours (%s) on this machine, runs of several figures counted "
                 "once, by steps of full training; what choosing itself takes is not in it\n",
                 sum / 3600, clock);
    return end ? end : end_output(END_WELL);
}

static int do_item(const struct yard *y, const struct item *item)
{
    char         root[MOST_WORD];
    reproduction r = {.recipes = y->wish->recipes, .root = root, .until = y->wish->until};
    all_wish     wish = *y->wish;
    bool         done = false;
    int          end = END_WELL;

    root_for(y, item->entry, root, sizeof root);
    wish.scale = item->state.scale;
    wish.scaled = true;
    r.whose = item->whose;
    end = open_entry(item->entry, &wish, &r);
    if (!end) end = do_entry(&r, &done);
    (void)printf("\n");
    clear_words(&r.changes);
    return end;
}

/* The page of every paper that something was done of. */
static int make_pages(const struct yard *y)
{
    char paper[64], last[64] = "", root[MOST_WORD];
    int  end = END_WELL;

    for (size_t i = 0; !end && i < y->count; i++) {
        bool again = false;

        paper_of(y->item[i].entry, paper, sizeof paper);
        for (size_t j = 0; j < i && !again; j++) {
            paper_of(y->item[j].entry, last, sizeof last);
            again = strcmp(paper, last) == 0;
        }
        if (again) continue;
        root_of(y->wish, paper, root, sizeof root);
        end = make_folders(root);
        if (!end) end = make_page(paper, y->wish->recipes, root, NULL);
    }
    return end;
}

static void say_left_out(const struct yard *y)
{
    size_t count = 0;

    for (size_t i = 0; i < y->count; i++) count += y->item[i].left_out;
    if (count)
        (void)printf(
            "%zu of %zu figures are left out: their smallest scale takes more than a sixth "
            "of the time, or measuring did; --plan lists them\n\n",
            count, y->count);
}

static int do_items(const struct yard *y)
{
    reproduction time = {.until = y->wish->until};
    size_t       failed = 0;

    say_left_out(y);

    for (size_t i = 0; i < y->count && !must_end(&time); i++) {
        if (is_done(&y->item[i]) || y->item[i].left_out) continue;
        if (do_item(y, &y->item[i]) != END_WELL) failed++;
    }
    if (compare_asked_to_end()) return 128 + compare_asked_to_end();
    return failed ? END_FAILED : END_WELL;
}

int reproduce_all(const all_wish *wish)
{
    struct yard *y = calloc(1, sizeof *y);
    int          end = END_WELL, paged = END_WELL;

    if (!y) return complain(END_FAILED, "End other programs.", "no memory");
    y->wish = wish;
    if (wish->until > 0) y->prices.until = compare_now() + wish->seconds / 2;
    end = gather(y);
    if (!end) qsort(y->item, y->count, sizeof *y->item, by_size);
    if (!end && wish->plan) {
        end = print_all(y);
    } else if (!end) {
        end = do_items(y);
        paged = make_pages(y);
        if (!end) end = paged;
    }
    clear_prices(&y->prices);
    free(y);
    return end ? end : end_output(END_WELL);
}
