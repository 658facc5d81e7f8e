/* lab/reproduce/paper.c - the figures of a paper, as its page is made of them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/path.h"
#include "lab/reproduce/claim.h"
#include "records/figure_info.h"

enum { SENTENCE = 800 };

static const struct {
    const char *name, *title;
} papers[] = {
    {"balles2023", "Balles, Archambeau, Zappella: A Negative Result on Gradient Matching for "
                   "Selective Backprop, 2023"},
    {"jiang2019", "Jiang et al.: Accelerating Deep Learning by Focusing on the Biggest Losers, "
                  "2019"},
    {"killamsetty2021", "Killamsetty et al.: GRAD-MATCH: Gradient Matching based Data Subset "
                        "Selection for Efficient Deep Model Training, 2021"},
};

/* What one figure's texts and lists lie in. */
typedef struct shown {
    cull_figure_state state;
    cull_figure      *figure; /* NULL: it has no runs */
    cull_paper_arm   *arm;    /* [figure->parts] */
    const char      **run;    /* [parts * seeds] each points into `path` */
    unsigned         *seed;   /* [parts * seeds] */
    char (*path)[CULL_DATA_PATH];
    char finding[CULL_CLAIM_TEXT], scale[SENTENCE], missing[SENTENCE];
} shown;

struct cull_paper_book {
    cull_paper         is;
    cull_paper_figure *figure; /* [count] */
    shown             *shown;  /* [count] */
    size_t             count;
    char               setup[SENTENCE];
};

/* ---- what was begun ---- */

static const char *short_name(const cull_reproduction *entry)
{
    const char *slash = strchr(entry->name, '/');

    return slash ? slash + 1 : entry->name;
}

static cull_status own_folder(const cull_reproduction *entry, const char *root,
                              char out[CULL_DATA_PATH])
{
    if (snprintf(out, CULL_DATA_PATH, "%s/figures/%s", root, short_name(entry)) >=
        CULL_DATA_PATH - 32)
        return cull_fail(CULL_IO, "%.100s...: the name is too long", root);
    return CULL_OK;
}

cull_status cull_figure_read(const cull_reproduction *entry, const char *root,
                             cull_figure_state *out)
{
    cull_status         status = CULL_OK;
    cull_records_figure is = {0};

    *out = (cull_figure_state){.scale = {.epochs = 1, .subset = 1}};
    TRY(own_folder(entry, root, out->folder));
    TRY(cull_records_figure_read(out->folder, &is, &out->begun));
    if (!out->begun) goto done;
    out->done = is.done;
    out->scale =
        (cull_reproduction_scale){is.epochs, is.subset, (uint64_t)is.seeds, (uint64_t)is.batches};
    (void)snprintf(out->network, sizeof out->network, "%s", is.network);
    (void)snprintf(out->recipe, sizeof out->recipe, "%s", is.recipe);
done:
    return status;
}

cull_status cull_figure_note(const cull_reproduction *entry, const char *root,
                             const cull_figure_state *state)
{
    cull_status         status = CULL_OK;
    char                folder[CULL_DATA_PATH];
    cull_records_figure is = {.epochs = state->scale.epochs,
                              .subset = state->scale.subset,
                              .seeds = (double)state->scale.seeds,
                              .batches = (double)state->scale.batches,
                              .done = state->done};

    (void)snprintf(is.network, sizeof is.network, "%s", state->network);
    (void)snprintf(is.recipe, sizeof is.recipe, "%s", state->recipe);
    TRY(own_folder(entry, root, folder));
    TRY(cull_records_figure_write(folder, &is));
done:
    return status;
}

/* ---- sentences ---- */

static double epochs_of(const cull_figure *f)
{
    const char *epochs = f ? cull_recipe_value(f->part[0].recipe, "train.epochs") : NULL;

    return epochs ? strtod(epochs, NULL) : NAN;
}

/* "10 of 200 epochs, 1 of 3 seeds, 10 % of the training examples: this is not the paper's scale" */
static void say_scale(const cull_reproduction *entry, const shown *s, char out[SENTENCE])
{
    const cull_reproduction_scale *scale = &s->state.scale;

    double   epochs = epochs_of(s->figure);
    uint64_t batches = cull_reproduction_batches(entry);
    bool     fewer = scale->seeds && scale->seeds < entry->seeds, shorter = scale->epochs < 1;
    bool     part = scale->subset < 1, glance = scale->batches && scale->batches < batches;
    size_t   at = 0;

    out[0] = '\0';
    if (shorter && isnan(epochs))
        at += (size_t)snprintf(out + at, SENTENCE - at, "%.3g %% of the epochs, ",
                               100 * scale->epochs);
    else if (shorter)
        at += (size_t)snprintf(out + at, SENTENCE - at, "%.0f of %.0f epochs, ", epochs,
                               round(epochs / scale->epochs));
    if (fewer)
        at += (size_t)snprintf(out + at, SENTENCE - at, "%llu of %u seeds, ",
                               (unsigned long long)scale->seeds, entry->seeds);
    if (part)
        at += (size_t)snprintf(out + at, SENTENCE - at, "%.3g %% of the training examples, ",
                               100 * scale->subset);
    if (glance)
        at += (size_t)snprintf(out + at, SENTENCE - at, "%llu of %llu minibatches, ",
                               (unsigned long long)scale->batches, (unsigned long long)batches);
    at -= at > 2 ? 2 : 0;
    (void)snprintf(out + at, SENTENCE - at, "%s",
                   at ? ": this is not the paper's scale." : "At the paper's scale.");
}

/* "resnet18 on cifar10, batches of 128, float32", without what an entry varies. */
static void name_network(const cull_reproduction *entry, const cull_recipe *recipe,
                         char out[CULL_RECORDS_NETWORK])
{
    const char *vary = entry->vary ? entry->vary : "";
    const char *data = cull_recipe_value(recipe, "data.name"), *slash = strrchr(data, '/');
    bool        batches = strncmp(vary, "train.batch", strlen("train.batch")) == 0;
    char        batch[32] = "";

    out[0] = '\0';
    if (strncmp(vary, "model.", strlen("model.")) == 0) return;
    if (!batches)
        (void)snprintf(batch, sizeof batch, ", batches of %.10s",
                       cull_recipe_value(recipe, "train.batch"));
    (void)snprintf(out, CULL_RECORDS_NETWORK, "%.40s on %.40s%s, %.10s",
                   cull_recipe_value(recipe, "model.name"), slash ? slash + 1 : data, batch,
                   cull_recipe_value(recipe, "train.precision"));
}

bool cull_figure_take(const cull_reproduction *entry, const cull_recipe *recipe,
                      cull_figure_state *state)
{
    const char *text = cull_recipe_text(recipe);
    char        hash[sizeof state->recipe];
    bool        same = false;

    (void)snprintf(hash, sizeof hash, "%016" PRIx64, cull_base_hash(text, strlen(text)));
    same = !state->recipe[0] || strcmp(state->recipe, hash) == 0;
    (void)snprintf(state->recipe, sizeof state->recipe, "%s", hash);
    name_network(entry, recipe, state->network);
    return same;
}

/* What was trained, or looked at, behind the scale: recipes may have been changed. */
static void say_network(const shown *s, char out[SENTENCE])
{
    char   network[CULL_RECORDS_NETWORK];
    size_t at = strlen(out);

    (void)snprintf(network, sizeof network, "%s", s->state.network);
    if (s->figure) name_network(s->figure->entry, s->figure->part[0].recipe, network);
    if (network[0])
        (void)snprintf(out + at, SENTENCE - at, s->figure ? " Trained: %s." : " Network: %s.",
                       network);
}

static bool is_same_place(const cull_records_info *a, const cull_records_info *b)
{
    return strcmp(a->version, b->version) == 0 &&
           strcmp(a->machine.processor, b->machine.processor) == 0 &&
           strcmp(a->machine.backend, b->machine.backend) == 0;
}

/* What a reader could not see in a drawing: runs that diverged, times of several machines, and what
 * is not at its end yet. */
static void say_state(const cull_reproduction *entry, const shown *s, const cull_claim_ground *g,
                      char out[SENTENCE])
{
    size_t runs = g->figure ? g->figure->parts * g->figure->seeds : 0, failed = 0, others = 0;
    size_t at = strlen(out);

    const cull_records_info *first = NULL;

    for (size_t i = 0; i < runs; i++) {
        const cull_records_run *run = &g->run[i];

        failed += run->state == CULL_RECORDS_FAILED;
        if (run->state != CULL_RECORDS_FINISHED) continue;
        if (!first) first = &run->info;
        others += !is_same_place(first, &run->info);
    }
    if (failed)
        at += (size_t)snprintf(out + at, SENTENCE - at, " %zu run%s failed, and %s left out.",
                               failed, failed == 1 ? "" : "s", failed == 1 ? "is" : "are");
    if (others)
        at += (size_t)snprintf(out + at, SENTENCE - at,
                               " %zu run%s of another machine or version than the first: times of "
                               "different machines are not held against each other in what is "
                               "judged, but are drawn together.",
                               others, others == 1 ? " is" : "s are");
    if (entry->kind != CULL_REPRODUCE_TRAIN && !s->state.done)
        (void)snprintf(out + at, SENTENCE - at, " It is not finished; the same command goes on.");
}

/* The machine and the version of the first run that tells. */
static void say_setup(const cull_claim_ground *g, char out[SENTENCE])
{
    for (size_t i = 0; !out[0] && g->figure && i < g->figure->parts * g->figure->seeds; i++) {
        const cull_records_info *info = &g->run[i].info;

        if (g->run[i].state == CULL_RECORDS_FINISHED)
            (void)snprintf(out, SENTENCE, "cull %.40s on %.100s, %.100s.", info->version,
                           info->machine.processor, info->machine.backend);
    }
}

/* ---- figures ---- */

static cull_status make_room(shown *s)
{
    cull_status status = CULL_OK;
    size_t      parts = s->figure->parts, runs = parts * s->figure->seeds;

    TRY(cull_base_alloc(parts, sizeof *s->arm, "a page", &s->arm));
    TRY(cull_base_alloc(runs, sizeof *s->run, "a page", &s->run));
    TRY(cull_base_alloc(runs, sizeof *s->seed, "a page", &s->seed));
    TRY(cull_base_alloc(runs, sizeof *s->path, "a page", &s->path));
done:
    return status;
}

/* Arms with a finished run. */
static cull_status take_arms(shown *s, const cull_claim_ground *g, cull_paper_figure *out)
{
    cull_status status = CULL_OK;
    size_t      at = 0;

    TRY(make_room(s));
    for (size_t i = 0; i < s->figure->parts; i++) {
        const cull_figure_arm *is = &s->figure->part[i].is;
        cull_paper_arm         arm = {.series = is->series,
                                      .group = is->group,
                                      .x = is->x,
                                      .value = is->value,
                                      .full = is->full,
                                      .run = &s->run[at],
                                      .seed = &s->seed[at]};

        for (uint64_t seed = 1; seed <= s->figure->seeds; seed++) {
            if (!cull_claim_finished(g, i, seed)) continue;
            TRY(cull_figure_folder(is, seed, s->path[at]));
            s->run[at] = s->path[at];
            s->seed[at++] = (unsigned)seed;
            arm.runs++;
        }
        out->runs += arm.runs;
        if (arm.runs) s->arm[out->arms++] = arm;
    }
    out->of = s->figure->parts * s->figure->seeds;
    out->arm = s->arm;
done:
    return status;
}

static cull_status judge(const cull_reproduction *entry, cull_paper_book *book, shown *s,
                         cull_paper_figure *out)
{
    cull_status       status = CULL_OK;
    cull_claim_ground ground = {0};

    TRY(cull_claim_open(s->figure, s->state.folder, &ground));
    if (s->figure) TRY(take_arms(s, &ground, out));
    say_setup(&ground, book->setup);
    if (s->figure ? out->runs == 0 : !s->state.done && ground.points.count == 0) {
        (void)snprintf(s->missing, sizeof s->missing, "It was begun, and nothing is finished yet.");
        goto done;
    }
    TRY(cull_claim_entry(entry, &ground, &out->held, s->finding));
    say_scale(entry, s, s->scale);
    say_network(s, s->scale);
    say_state(entry, s, &ground, s->scale);
done:
    cull_claim_clear(&ground);
    return status;
}

static cull_status make_figure(const cull_reproduction *entry, const char *recipes,
                               const char *root, cull_paper_book *book, size_t i)
{
    cull_status        status = CULL_OK;
    shown             *s = &book->shown[i];
    cull_paper_figure *out = &book->figure[i];

    const cull_reproduction *whose = NULL;

    *out = (cull_paper_figure){.name = entry->name,
                               .number = entry->number,
                               .title = entry->title,
                               .claim = entry->claim,
                               .drawing = (cull_drawing)entry->drawing,
                               .x = entry->x ? entry->x : "",
                               .y = entry->y ? entry->y : "",
                               .target = entry->target,
                               .folder = s->state.folder,
                               .finding = s->finding,
                               .scale = s->scale,
                               .missing = s->missing};
    TRY(cull_figure_read(entry, root, &s->state));
    if (!s->state.begun) TRY(cull_figure_shared(entry, recipes, root, &s->state, &whose));
    if (entry->missing)
        (void)snprintf(s->missing, sizeof s->missing, "It cannot be done: %.280s.", entry->missing);
    else if (!s->state.begun)
        (void)snprintf(s->missing, sizeof s->missing, "Not run yet: cull reproduce %s.",
                       entry->name);
    if (s->missing[0]) goto done;
    if (entry->kind == CULL_REPRODUCE_TRAIN)
        TRY(cull_figure_open(entry, &s->state.scale, recipes, root, &s->figure));
    TRY(judge(entry, book, s, out));
done:
    return status;
}

static bool is_of(const cull_reproduction *entry, const char *paper)
{
    size_t length = strlen(paper);

    return strncmp(entry->name, paper, length) == 0 && entry->name[length] == '/';
}

cull_status cull_paper_open(const char *name, const char *recipes, const char *root,
                            cull_paper_book **out)
{
    cull_status              status = CULL_OK;
    cull_paper_book         *book = NULL;
    const cull_reproduction *entry = NULL;
    size_t                   count = 0;

    for (size_t i = 0; (entry = cull_reproduction_at(i)); i++) count += is_of(entry, name);
    if (count == 0) FAIL_ABOUT(CULL_NOT_FOUND, name, "there is no paper '%s'", name);
    TRY(cull_base_alloc(1, sizeof *book, "a page", &book));
    TRY(cull_base_alloc(count, sizeof *book->figure, "a page", &book->figure));
    TRY(cull_base_alloc(count, sizeof *book->shown, "a page", &book->shown));
    for (size_t i = 0; (entry = cull_reproduction_at(i)); i++)
        if (is_of(entry, name)) TRY(make_figure(entry, recipes, root, book, book->count++));
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        if (strcmp(papers[i].name, name) == 0)
            book->is = (cull_paper){.name = papers[i].name, .title = papers[i].title};
    book->is.setup = book->setup;
    book->is.figure = book->figure;
    book->is.figures = book->count;
    *out = book;
    book = NULL;
done:
    cull_paper_close(book);
    return status;
}

void cull_paper_close(cull_paper_book *book)
{
    if (!book) return;
    for (size_t i = 0; i < book->count; i++) {
        cull_figure_close(book->shown[i].figure);
        cull_base_free(book->shown[i].arm);
        cull_base_free(book->shown[i].run);
        cull_base_free(book->shown[i].seed);
        cull_base_free(book->shown[i].path);
    }
    cull_base_free(book->figure);
    cull_base_free(book->shown);
    cull_base_free(book);
}

const cull_paper *cull_paper_of(const cull_paper_book *book)
{
    return &book->is;
}
