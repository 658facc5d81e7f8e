/* lab/compare/compare_print.c - a comparison as the values that its records write. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "lab/compare/compare.h"

static cull_records_who who_of(const cull_arm *a)
{
    return (cull_records_who){.name = a->name,
                              .folder = a->folder,
                              .role = cull_role_name(a->role),
                              .strategy = a->strategy,
                              .pass = a->pass,
                              .keep = a->keep};
}

/* ---- plan.json ---- */

static cull_records_planned planned(const cull_comparison *c, size_t i)
{
    const cull_arm      *a = &c->arms.arm[i];
    const cull_price    *full = &c->arms.arm[0].price;
    cull_records_planned out = {.who = who_of(a),
                                .cost = a->price.seconds / full->seconds,
                                .counted = a->price.thirds / full->thirds,
                                .guess = cull_compare_is_guess(a),
                                .runs = a->recipe ? (double)c->seeds : 0,
                                .seconds = cull_compare_run_seconds(c, i)};

    for (cull_role role = CULL_ROLE_SAME_M; role < CULL_ROLES; role++)
        if (a->control[role] != SIZE_MAX)
            out.control[out.controls++] =
                (cull_records_control){cull_role_name(role), c->arms.arm[a->control[role]].name};
    return out;
}

cull_status cull_compare_print_plan(cull_comparison *c)
{
    cull_status       status = CULL_OK;
    cull_records_plan plan = {.title = c->title,
                              .created = c->created,
                              .strategies = c->wish.strategies,
                              .keep = c->wish.keep,
                              .pass = c->wish.pass,
                              .seeds = (double)c->seeds,
                              .threads = c->threads,
                              .jobs = c->jobs,
                              .margin = c->margin,
                              .seconds = cull_compare_seconds(c),
                              .bytes = cull_compare_bytes(c),
                              .waited = c->costs.waited};

    TRY(cull_compare_name_left(c));
    TRY(cull_base_alloc(c->arms.count, sizeof *plan.arm, "a plan", &plan.arm));
    for (; plan.arms < c->arms.count; plan.arms++) {
        plan.arm[plan.arms] = planned(c, plan.arms);
        plan.runs += plan.arm[plan.arms].runs;
    }
    plan.problems = c->problems;
    TRY(cull_records_plan_put(&plan, &c->plan_text));
done:
    plan.problems = (cull_records_list){0}; /* borrowed */
    cull_records_plan_clear(&plan);
    return status;
}

/* ---- comparison.json ---- */

enum { ROWS_OF_ARM = 4, OTHER_ROWS = 2 };

static const char *say(cull_compare_result *d, const char *format, ...) CULL_PRINTF(2, 3);
static const char *say(cull_compare_result *d, const char *format, ...)
{
    char   *text = d->text[d->texts++];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, CULL_COMPARE_TEXT, format, args);
    va_end(args);
    return text;
}

/* "model name : ..." of the first processor, where the system tells. */
static void processor_name(char *out, size_t room)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char  line[256];

    (void)snprintf(out, room, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(out, room, "%s", colon + (colon[1] == ' ' ? 2 : 1));
        break;
    }
    if (file) (void)fclose(file);
}

static cull_status fill_machine(const cull_comparison *c, cull_compare_result *d)
{
    cull_status status = CULL_OK;
    long        cores = sysconf(_SC_NPROCESSORS_ONLN);

    TRY(cull_backend_open(c->arms.arm[0].recipe->setup.backend, c->threads, &d->backend));
    processor_name(d->processor, sizeof d->processor);
    d->value.machine.cpu = d->processor;
    d->value.machine.cores = cores > 0 ? (double)cores : 1;
    d->value.machine.backend = cull_backend_describe(d->backend);
    d->value.machine.version = cull_version();
done:
    return status;
}

static cull_status fill_recipe(const cull_comparison *c, cull_compare_result *d)
{
    cull_status             status = CULL_OK;
    const cull_option_spec *spec = NULL;
    size_t                  count = 0;

    while (cull_recipe_option_at(count)) count++;
    TRY(cull_arm_recipe(&c->base, NULL, 0, &d->recipe));
    TRY(cull_base_alloc(count, sizeof *d->value.recipe, "a recipe", &d->value.recipe));
    for (; (spec = cull_recipe_option_at(d->value.pairs)); d->value.pairs++)
        d->value.recipe[d->value.pairs] =
            (cull_records_pair){spec->key, cull_recipe_value(d->recipe, spec->key)};
done:
    return status;
}

static void add_time(cull_compare_result *d, const char *what, double seconds)
{
    d->value.time[d->value.times++] = (cull_records_time){what, seconds};
}

static void add_times_of(cull_compare_result *d, const cull_arm *a)
{
    if (!a->own.known) return;
    if (a->own.score > 0 && !a->price.pool)
        add_time(d, say(d, "score an example: %s", a->name), a->own.score);
    if (!a->price.pool) add_time(d, say(d, "decide: %s", a->name), a->own.decide);
    if (a->recipe->setup.score.reuse)
        add_time(d, say(d, "learn from kept: %s", a->name), a->own.learn_kept);
    if (a->own.pool_score > 0)
        add_time(d, say(d, "score the pool: %s", a->name), a->own.pool_score);
    if (a->price.pool) add_time(d, say(d, "solve the pool: %s", a->name), a->own.pool_solve);
}

static cull_status fill_times(const cull_comparison *c, cull_compare_result *d)
{
    cull_status       status = CULL_OK;
    const cull_costs *k = &c->costs;
    double            batch = (double)c->arms.arm[0].recipe->setup.batch;

    TRY(cull_base_alloc(OTHER_ROWS + k->sizes + ROWS_OF_ARM * c->arms.count, sizeof *d->value.time,
                        "step times", &d->value.time));
    d->value.full_step = batch * k->load + cull_costs_learn(k, batch) + k->optim;
    add_time(d, "load an example", k->load);
    for (size_t i = 0; i < k->sizes; i++)
        add_time(d, say(d, "learn %zu", k->learn[i].batch), k->learn[i].seconds);
    add_time(d, "optimizer", k->optim);
    for (size_t i = 1; i < c->arms.count; i++) add_times_of(d, &c->arms.arm[i]);
done:
    return status;
}

/* An early stop is read off the full run, and names its folder. */
static cull_records_compared compared(const cull_comparison *c, size_t arm, uint64_t seed,
                                      cull_compare_result *d)
{
    const cull_arm          *a = &c->arms.arm[arm];
    const cull_compared     *run = cull_compared_at(c, arm, seed);
    const cull_records_work *work = &run->record.info.work;
    bool                     whole = cull_compared_finished(run), own = whole && a->recipe;
    cull_records_compared    out = {.seed = (double)seed,
                                    .status = cull_compared_status(run),
                                    .why = run->record.why,
                                    .accuracy = whole ? 100 * run->accuracy : NAN,
                                    .best = whole ? 100 * run->best : NAN,
                                    .scored = whole ? work->scored : NAN,
                                    .trained = whole ? work->trained : NAN,
                                    .thirds = whole ? work->thirds : NAN};

    out.folder = say(d, "runs/%s/seed-%llu", a->recipe ? a->folder : c->arms.arm[0].folder,
                     (unsigned long long)seed);
    for (int i = 0; i < CULL_PHASES; i++) {
        out.seconds[i] = own ? work->seconds_by[i] : NAN;
        out.joules[i] = own ? work->joules_by[i] : NAN;
    }
    return out;
}

static cull_records_versus versus(const cull_comparison *c, cull_role role, const cull_versus *v)
{
    cull_records_versus out = {.control = c->arms.arm[v->control].name,
                               .kind = cull_role_name(role),
                               .pairs = (double)v->test.n,
                               .difference = v->test.mean,
                               .sd = v->test.sd,
                               .low = v->low,
                               .high = v->high,
                               .level = .95,
                               .p = v->test.p,
                               .p_holm = v->holm,
                               .wilcoxon = v->wilcoxon,
                               .verdict = "",
                               .sentence = ""};

    if (role != CULL_ROLE_WHOLE_BUDGET) return out;
    out.verdict = cull_verdict_name(v->verdict.kind);
    out.more_seeds = v->verdict.more ? (double)v->verdict.more : NAN;
    out.sentence = v->verdict.sentence;
    return out;
}

static const char *verdict_of(const cull_arm *a, const cull_judged *g)
{
    if (a->role != CULL_ROLE_ARM) return "";
    if (a->uniform) return "control";
    return cull_verdict_name(g->versus[CULL_ROLE_WHOLE_BUDGET].verdict.kind);
}

static cull_status fill_arm(const cull_comparison *c, size_t i, cull_compare_result *d,
                            cull_records_arm *out)
{
    cull_status        status = CULL_OK;
    const cull_arm    *a = &c->arms.arm[i];
    const cull_judged *g = &c->judged[i];

    *out = (cull_records_arm){.who = who_of(a),
                              .cost = g->cost,
                              .counted = g->counted,
                              .predicted = 1 - a->price.seconds / c->arms.arm[0].price.seconds,
                              .measured = g->saved,
                              .mean = g->mean,
                              .sd = g->sd,
                              .best = g->best,
                              .verdict = verdict_of(a, g),
                              .pareto = g->pareto};
    for (size_t f = 0; f < CULL_RECORDS_FACTORS; f++) {
        out->factor[f] = f < CULL_COMPARE_FACTORS ? cull_compare_factor[f] : NAN;
        out->to_error[f] = f < CULL_COMPARE_FACTORS ? g->reach[f] : NAN;
    }
    TRY(cull_base_alloc(c->seeds, sizeof *out->run, "runs", &out->run));
    for (; out->runs < c->seeds; out->runs++)
        out->run[out->runs] = compared(c, i, out->runs + 1, d);
    TRY(cull_base_alloc(CULL_ROLES, sizeof *out->versus, "controls", &out->versus));
    for (cull_role role = CULL_ROLE_SAME_M; role < CULL_ROLES; role++)
        if (a->control[role] != SIZE_MAX)
            out->versus[out->controls++] = versus(c, role, &g->versus[role]);
done:
    return status;
}

static cull_status fill(const cull_comparison *c, cull_compare_result *d)
{
    cull_status status = CULL_OK;
    size_t      rows = c->costs.sizes + ROWS_OF_ARM * c->arms.count;

    d->value = (cull_records_comparison){.title = c->title,
                                         .created = c->created,
                                         .command = c->command ? c->command : "",
                                         .verdict = c->verdict,
                                         .finished = cull_compare_all_finished(c),
                                         .threads = c->threads,
                                         .jobs = c->jobs,
                                         .margin = c->margin,
                                         .classes = (double)c->costs.classes,
                                         .seeds = (size_t)c->seeds,
                                         .problems = c->problems};
    TRY(cull_base_alloc(rows + c->arms.count * c->seeds, sizeof *d->text, "a result", &d->text));
    TRY(fill_machine(c, d));
    TRY(fill_recipe(c, d));
    TRY(fill_times(c, d));
    TRY(cull_base_alloc(c->arms.count, sizeof *d->value.arm, "arms", &d->value.arm));
    for (size_t i = 0; i < c->arms.count; i++) {
        d->value.arms++;
        TRY(fill_arm(c, i, d, &d->value.arm[i]));
    }
done:
    return status;
}

void cull_compare_clear_result(cull_comparison *c)
{
    cull_compare_result *r = &c->result;

    r->value.problems = (cull_records_list){0}; /* the comparison's */
    cull_records_comparison_clear(&r->value);
    cull_base_free(r->text);
    cull_recipe_close(r->recipe);
    cull_backend_close(r->backend);
    *r = (cull_compare_result){0};
}

cull_status cull_compare_print(cull_comparison *c)
{
    cull_status status = CULL_OK;

    cull_compare_clear_result(c);
    TRY(fill(c, &c->result));
    TRY(cull_records_comparison_put(&c->result.value, &c->result_text));
done:
    if (status != CULL_OK) cull_compare_clear_result(c);
    return status;
}

cull_status cull_comparison_judge(cull_comparison *c)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];

    if (!c->planned || c->lock < 0)
        FAIL(CULL_BAD_ARGUMENT, "a comparison is judged in its folder, by its plan");
    TRY(cull_compare_read_runs(c));
    TRY(cull_compare_settle(c));
    TRY(cull_compare_judge(c));
    TRY(cull_compare_print(c));
    TRY(cull_base_join(c->folder, "comparison.json", path));
    TRY(cull_file_write(path, c->result_text.bytes.data, strlen(cull_comparison_text(c))));
done:
    return status;
}

const char *cull_comparison_text(const cull_comparison *c)
{
    return c->result_text.bytes.size ? (const char *)c->result_text.bytes.data : NULL;
}

/* ---- the same, arm by arm ---- */

bool cull_comparison_arm(const cull_comparison *c, size_t i, cull_compare_arm *out)
{
    const cull_arm        *a = NULL;
    const cull_price      *full = NULL;
    const cull_records_arm planned = {.mean = NAN, .sd = NAN, .best = NAN, .verdict = ""};

    if (!c->planned || i >= c->arms.count) return false;
    a = &c->arms.arm[i];
    full = &c->arms.arm[0].price;
    cull_records_arm_view(c->result.value.arms ? &c->result.value.arm[i] : &planned, out);
    out->name = a->name;
    out->role = cull_role_name(a->role);
    out->uniform = a->uniform;
    out->guess = cull_compare_is_guess(a);
    out->runs = a->recipe ? (size_t)c->seeds : 0;
    if (c->result.value.arms) return true;
    out->cost = a->price.seconds / full->seconds;
    out->counted = a->price.thirds / full->thirds;
    return true;
}

const char *cull_comparison_problem(const cull_comparison *c, size_t i)
{
    return i < c->problems.count ? c->problems.text[i] : NULL;
}

bool cull_comparison_outlook(const cull_comparison *c, cull_compare_outlook *out)
{
    *out = (cull_compare_outlook){.title = c->title,
                                  .verdict = c->result.value.arms ? c->verdict : ""};
    if (!c->planned) return false;
    for (size_t i = 0; i < c->arms.count; i++)
        out->runs += c->arms.arm[i].recipe ? (size_t)c->seeds : 0;
    out->threads = c->threads;
    out->jobs = c->jobs;
    out->seconds = cull_compare_seconds(c);
    out->bytes = cull_compare_bytes(c);
    out->waited = c->costs.waited;
    return true;
}
