/* lab/compare/compare.c - a comparison from its options to its table of costs. */
#include "lab/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "records/judge/statistics.h"

enum { MOST_JOBS = 256, MOST_ROUNDS = 8 };

/* ---- create ---- */

static char *take_text(char **next, const char *text)
{
    char  *copy = *next;
    size_t bytes = strlen(text) + 1;

    memcpy(copy, text, bytes);
    *next += bytes;
    return copy;
}

/* The options outlive the caller's. */
static cull_status copy_texts(cull_comparison *c, const cull_compare_options *o)
{
    cull_status status = CULL_OK;
    size_t      bytes = strlen(o->strategies) + strlen(o->keep) + strlen(o->pass) + 4;
    char       *next = NULL;

    bytes += o->recipe ? strlen(o->recipe) : 0;
    bytes += o->command ? strlen(o->command) + 1 : 0;
    for (size_t i = 0; i < o->count; i++)
        bytes += strlen(o->changes[i].key) + strlen(o->changes[i].value) + 2;
    TRY(cull_base_alloc(bytes, 1, "a comparison", &c->text));
    TRY(cull_base_alloc(o->count + 1, sizeof *c->changes, "a comparison", &c->changes));
    next = c->text;
    if (o->recipe) c->base.path = take_text(&next, o->recipe);
    if (o->command) c->command = take_text(&next, o->command);
    c->wish.strategies = take_text(&next, o->strategies);
    c->wish.keep = take_text(&next, o->keep);
    c->wish.pass = take_text(&next, o->pass);
    for (size_t i = 0; i < o->count; i++) {
        c->changes[i].key = take_text(&next, o->changes[i].key);
        c->changes[i].value = take_text(&next, o->changes[i].value);
    }
    c->base.changes = c->changes;
    c->base.count = o->count;
    c->base.threads = o->threads;
    c->wish.anyway = o->anyway;
done:
    return status;
}

/* Weights that nobody asked for are not kept: a comparison reads none. */
static cull_status keep_nothing(cull_comparison *c)
{
    cull_status  status = CULL_OK;
    cull_recipe *recipe = NULL;

    for (size_t i = 0; i < c->base.count; i++)
        if (strcmp(c->changes[i].key, "train.keep") == 0) return CULL_OK;
    TRY(cull_recipe_open(c->base.path, c->changes, c->base.count, &recipe));
    if (recipe->setup.keeps_best) c->changes[c->base.count++] = (cull_option){"train.keep", "none"};
done:
    cull_recipe_close(recipe);
    return status;
}

/* Of a device: one, which has it to itself. Else: as many as cores allow. */
static cull_status choose_jobs(cull_comparison *c)
{
    cull_status      status = CULL_OK;
    cull_train_setup setup = c->arms.arm[0].recipe->setup;
    cull_backend    *backend = NULL;
    char             why[CULL_MACHINE_WHY];
    long             cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (c->jobs) return CULL_OK;
    setup.threads = c->threads;
    TRY(cull_machine_open(&setup, &backend, why));
    c->jobs = 1;
    if (cull_backend_on_host(backend) && cores > (long)c->threads)
        c->jobs = (unsigned)cores / c->threads;
    if (c->jobs > MOST_JOBS) c->jobs = MOST_JOBS;
done:
    cull_backend_close(backend);
    return status;
}

unsigned cull_comparison_jobs(const cull_comparison *c)
{
    return c->jobs;
}

static cull_status check_options(const cull_compare_options *o)
{
    cull_status status = CULL_OK;

    if (o->seeds < 1 || o->seeds > CULL_COMPARE_SEEDS)
        FAIL(CULL_BAD_OPTION, "seeds: %llu, 1 to %d are possible", (unsigned long long)o->seeds,
             CULL_COMPARE_SEEDS);
    if (o->jobs > MOST_JOBS)
        FAIL(CULL_BAD_OPTION, "jobs: %u, 1 to %d are possible", o->jobs, MOST_JOBS);
    if (o->threads < 1) FAIL(CULL_BAD_OPTION, "threads: a run takes at least one");
    if (!(o->margin >= 0) || o->margin > 100)
        FAIL(CULL_BAD_OPTION, "margin: %g is not within 0 and 100 points", o->margin);
done:
    return status;
}

static cull_status ask_for_size(cull_comparison *c, size_t m, size_t batch)
{
    cull_status  status = CULL_OK;
    cull_recipe *recipe = NULL;

    /* full training measures its own batch */
    if (m < 1 || m > batch || m == c->arms.arm[0].recipe->setup.batch) return CULL_OK;
    if (c->costs.sizes + c->waiting >= CULL_COST_SIZES) return CULL_OK; /* between others, then */
    for (size_t i = 0; i < c->costs.sizes; i++)
        if (c->costs.learn[i].batch == m) return CULL_OK;
    for (size_t i = 0; i < c->waiting; i++)
        if (c->unmeasured[i].arm == SIZE_MAX &&
            cull_budget(cull_value_real(c->unmeasured[i].recipe->values, "select.keep"),
                        c->unmeasured[i].recipe->setup.batch) == m)
            return CULL_OK;
    TRY(cull_arm_uniform_of(&c->base, m, batch, &recipe));
    c->unmeasured[c->waiting++] = (cull_unmeasured){.recipe = recipe, .arm = SIZE_MAX};
done:
    return status;
}

/* First: full training, what every strategy adds to it, and learning at the sizes that are known.
 */
static cull_status ask_first(cull_comparison *c)
{
    cull_status  status = CULL_OK;
    size_t       batch = c->arms.arm[0].recipe->setup.batch;
    cull_recipe *recipe = NULL;

    for (size_t i = 0; i < c->arms.count; i++) {
        cull_arm *arm = &c->arms.arm[i];

        if (i == 0 || !arm->uniform) {
            TRY(cull_arm_measured_as(&c->base, arm, &recipe));
            c->unmeasured[c->waiting++] = (cull_unmeasured){.recipe = recipe, .arm = i};
        }
        if (i > 0 && arm->price.candidates && arm->price.fixed)
            TRY(ask_for_size(c, arm->price.budget, arm->price.candidates));
        if (i > 0 && arm->price.candidates > batch) { /* a control may train as many */
            TRY(ask_for_size(c, (arm->price.budget + arm->price.candidates) / 2,
                             arm->price.candidates));
            TRY(ask_for_size(c, arm->price.candidates, arm->price.candidates));
        }
    }
    TRY(ask_for_size(c, batch / 4, batch));
    TRY(ask_for_size(c, batch / 2, batch));
done:
    return status;
}

/* Then: learning at the sizes of the controls with the whole budget, which the table so far tells.
 * A size may be much slower than the one before it, so both that a control alternates between are
 * measured, until it moves no more. */
static cull_status ask_again(cull_comparison *c)
{
    cull_status status = CULL_OK;

    for (size_t i = 1; i < c->arms.count; i++) {
        cull_arm *arm = &c->arms.arm[i];
        double    keep = 0;

        if (arm->uniform) continue;
        TRY(cull_arm_price(&c->costs, arm));
        if (arm->price.pool || arm->price.collects) continue;
        TRY(cull_arm_whole_budget(&c->base, &c->costs, arm, arm->price.seconds, &keep));
        if (keep < 1) {
            size_t m = cull_budget(keep, arm->price.candidates);

            TRY(ask_for_size(c, m, arm->price.candidates));
            TRY(ask_for_size(c, m + 1, arm->price.candidates));
        }
    }
done:
    return status;
}

cull_status cull_comparison_create(const cull_compare_options *options, cull_comparison **out)
{
    cull_status          status = CULL_OK;
    cull_comparison     *c = NULL;
    time_t               now = time(NULL);
    struct tm            parts;
    cull_compare_options room;

    SIZED(cull_compare_options, options, room);
    TRY(check_options(options));
    TRY(cull_base_alloc(1, sizeof *c, "a comparison", &c));
    c->lock = -1;
    c->seeds = options->seeds;
    c->threads = options->threads;
    c->jobs = options->jobs;
    c->margin = options->margin;
    if (gmtime_r(&now, &parts))
        (void)strftime(c->created, sizeof c->created, "%Y-%m-%dT%H:%M:%SZ", &parts);
    TRY(copy_texts(c, options));
    TRY(keep_nothing(c));
    TRY(cull_arms_open(&c->base, &c->wish, &c->arms));
    if (c->arms.count < 2)
        FAIL(CULL_BAD_OPTION, "strategies: nothing to compare with full training");
    TRY(choose_jobs(c));
    TRY(cull_compare_look(c));
    TRY(ask_first(c));
    *out = c;
    c = NULL;
done:
    cull_comparison_destroy(c);
    return status;
}

void cull_comparison_destroy(cull_comparison *c)
{
    if (!c) return;
    cull_compare_clear_unmeasured(c);
    cull_compare_drop_runs(c);
    cull_arms_close(&c->arms);
    cull_texts_clear(&c->warnings);
    cull_json_clear(&c->plan);
    cull_json_clear(&c->result);
    cull_base_free(c->changes);
    cull_base_free(c->text);
    if (c->lock >= 0) (void)close(c->lock);
    cull_base_free(c);
}

/* ---- measure ---- */

const cull_recipe *cull_comparison_unmeasured(const cull_comparison *c, size_t i)
{
    return i < c->waiting ? c->unmeasured[i].recipe : NULL;
}

/* The middle of what the processes saw, number by number; what is no measurement is the same. */
static cull_measured middle(const cull_measured *all, size_t processes)
{
#define AT(member) offsetof(cull_measured, member)
    static const size_t numbers[] = {AT(start),      AT(load),       AT(score),  AT(decide),
                                     AT(learn),      AT(optim),      AT(scored), AT(trained),
                                     AT(pool_score), AT(pool_solve), AT(waited), AT(tokens)};
#undef AT
    cull_measured out = all[0];
    double        seen[MOST_JOBS];

    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        for (size_t p = 0; p < processes; p++)
            seen[p] = *(const double *)(const void *)((const char *)&all[p] + numbers[k]);
        *(double *)(void *)((char *)&out + numbers[k]) = cull_stat_median(seen, processes);
    }
    return out;
}

static void take_full(cull_costs *costs, const cull_measured *m, size_t batch)
{
    costs->pool = m->pool;
    costs->validation = m->validation;
    costs->test = m->test;
    costs->classes = m->classes;
    costs->parameters = m->parameters;
    costs->guess = m->guess;
    costs->start = m->start;
    costs->waited = m->waited;
    costs->load = m->load;
    costs->tokens = m->tokens;
    costs->optim = m->optim;
    (void)cull_costs_add(costs, batch < m->pool ? batch : m->pool, m->learn);
}

static void take_own(cull_arm *arm, const cull_measured *m)
{
    arm->own = (cull_arm_costs){.known = true,
                                .diverged = m->diverged != 0,
                                .score = m->scored > 0 ? m->score / m->scored : 0,
                                .decide = m->decide,
                                .learn_kept = m->learn,
                                .pool_score = m->pool_score,
                                .pool_solve = m->pool_solve};
    if (!arm->price.fixed) arm->own.share = m->scored > 0 ? m->trained / m->scored : .75;
}

static cull_status take_measured(cull_comparison *c, const cull_unmeasured *u,
                                 const cull_measured *m)
{
    cull_status status = CULL_OK;
    size_t      batch = u->recipe->setup.batch;

    /* a step that collects may train nothing */
    if (m->pool == 0 || ((u->arm == 0 || u->arm == SIZE_MAX) && !(m->learn > 0)))
        FAIL(CULL_BAD_ARGUMENT, "%s: nothing was measured", u->recipe->setup.strategy);
    if (u->arm == 0 && m->diverged)
        FAIL(CULL_NOT_FINITE, "full training: the loss is no longer finite after a few steps");
    if (u->arm == 0)
        take_full(&c->costs, m, batch);
    else if (u->arm != SIZE_MAX)
        take_own(&c->arms.arm[u->arm], m);
    else if (!cull_costs_add(&c->costs, (size_t)llround(m->trained), m->learn))
        FAIL(CULL_TOO_LARGE, "more than %d sizes of training batches", CULL_COST_SIZES);
done:
    return status;
}

static bool score_alike(const cull_arm *a, const cull_arm *b)
{
    const char *key = NULL;

    for (size_t i = 0; (key = cull_arm_scoring(i)); i++)
        if (strcmp(cull_recipe_value(a->recipe, key), cull_recipe_value(b->recipe, key)) != 0)
            return false;
    return a->own.known && b->own.known && a->price.pool == b->price.pool &&
           a->price.signals == b->price.signals && a->price.target == b->price.target &&
           a->price.candidates == b->price.candidates;
}

/* What is scored on another thread shows while learning: all beyond learning itself is scoring. */
static void charge_overlap(const cull_costs *costs, cull_arms *arms)
{
    for (size_t i = 1; i < arms->count; i++) {
        cull_arm *a = &arms->arm[i];
        double    candidates = (double)a->price.candidates;
        double    kept = a->price.fixed ? (double)a->price.budget : a->own.share * candidates;

        if (a->own.known && a->recipe->setup.score.pipelined && candidates > 0)
            a->own.score += fmax(0, a->own.learn_kept - cull_costs_learn(costs, kept)) / candidates;
    }
}

/* The same scoring pass was measured once an arm: all get the middle of it. */
static void share_scores(cull_arms *arms)
{
    double score[CULL_ARM_MOST], pool[CULL_ARM_MOST];

    for (size_t i = 1; i < arms->count; i++) {
        double seen[CULL_ARM_MOST], seen_pool[CULL_ARM_MOST];
        size_t count = 0;

        for (size_t j = 1; j < arms->count; j++)
            if (score_alike(&arms->arm[i], &arms->arm[j])) {
                seen[count] = arms->arm[j].own.score;
                seen_pool[count++] = arms->arm[j].own.pool_score;
            }
        score[i] = cull_stat_median(seen, count);
        pool[i] = cull_stat_median(seen_pool, count);
    }
    for (size_t i = 1; i < arms->count; i++)
        if (arms->arm[i].own.known) {
            arms->arm[i].own.score = score[i];
            arms->arm[i].own.pool_score = pool[i];
        }
}

/* Its arm is in the list until all measurements are handed in. */
cull_status cull_comparison_leave_out(cull_comparison *c, size_t i, const char *why)
{
    cull_status status = CULL_OK;
    size_t others = cull_arms_to_judge(&c->arms), arm = i < c->waiting ? c->unmeasured[i].arm : 0;

    if (i < c->waiting && c->unmeasured[i].left) goto done; /* another process said so before */
    if (arm == 0 || arm == SIZE_MAX)
        FAIL(CULL_BAD_ARGUMENT, "what all arms are measured by cannot be left out");
    for (size_t k = 0; k < c->waiting; k++) others -= c->unmeasured[k].left;
    if (others < 2) FAIL(CULL_BAD_ARGUMENT, "the last arm cannot be left out");
    TRY(cull_arms_note_left(&c->arms, c->arms.arm[arm].name, CULL_BAD_OPTION, why));
    c->unmeasured[i].left = true;
done:
    return status;
}

/* From the last on, so that the places of the others hold. */
static void drop_left(cull_comparison *c)
{
    for (size_t i = c->waiting; i-- > 0;)
        if (c->unmeasured[i].left) cull_arms_drop(&c->arms, c->unmeasured[i].arm);
}

cull_status cull_comparison_measured(cull_comparison *c, const cull_measured *all, size_t count,
                                     size_t processes)
{
    cull_status    status = CULL_OK;
    cull_measured *copies = NULL;

    if (count != c->waiting || processes < 1 || processes > MOST_JOBS)
        FAIL(CULL_BAD_ARGUMENT, "%zu measurements, %zu were asked for", count, c->waiting);
    TRY(cull_sized_read_all("cull_measured", all, count * processes, sizeof *all, &copies));
    if (copies) all = copies;
    for (size_t i = 0; i < count; i++) {
        cull_measured m = middle(&all[i * processes], processes);
        if (!c->unmeasured[i].left) TRY(take_measured(c, &c->unmeasured[i], &m));
    }
    drop_left(c);
    cull_compare_clear_unmeasured(c);
    cull_costs_smooth(&c->costs);
    if (c->round == 0) {
        charge_overlap(&c->costs, &c->arms);
        share_scores(&c->arms);
    }
    if (c->round++ < MOST_ROUNDS) TRY(ask_again(c));
    if (c->waiting == 0) TRY(cull_compare_make_plan(c));
done:
    cull_base_free(copies);
    return status;
}
