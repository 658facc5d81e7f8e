/* lab/compare/compare_print.c - a comparison as the values that its records write. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/sized.h"
#include "lab/compare/compare.h"

enum { ROWS_OF_ARM = 4, OTHER_ROWS = 2 };

static const char *say(cull_compare_value *v, const char *format, ...) CULL_PRINTF(2, 3);
static const char *say(cull_compare_value *v, const char *format, ...)
{
    char   *text = v->text[v->texts++];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, CULL_COMPARE_TEXT, format, args);
    va_end(args);
    return text;
}

/* ---- what is planned ---- */

static cull_records_versus against(const cull_comparison *c, const cull_arm *a, cull_role role)
{
    bool primary = role == CULL_ROLE_WHOLE_BUDGET;

    return (cull_records_versus){.control = c->arms.arm[a->control[role]].name,
                                 .kind = cull_role_name(role),
                                 .level = .95,
                                 .difference = NAN,
                                 .p_holm = NAN,
                                 .wilcoxon = NAN,
                                 .verdict = primary ? cull_verdict_name(CULL_VERDICT_UNTESTED) : "",
                                 .sentence = "",
                                 .more_seeds = NAN};
}

static cull_status plan_arm(cull_comparison *c, size_t i, cull_records_arm *out)
{
    cull_status       status = CULL_OK;
    const cull_arm   *a = &c->arms.arm[i];
    const cull_price *full = &c->arms.arm[0].price;
    size_t            asked = a->asked ? a->asked->what.options : 0;

    *out = (cull_records_arm){.name = a->name,
                              .folder = a->folder,
                              .role = cull_role_name(a->role),
                              .strategy = a->strategy,
                              .pass = a->pass,
                              .uniform = a->uniform && a->role != CULL_ROLE_FULL &&
                                         a->role < CULL_ROLE_SHORTENED,
                              .keep = a->keep,
                              .cost = a->price.seconds / full->seconds,
                              .counted = a->price.thirds / full->thirds,
                              .guess = cull_compare_is_guess(a),
                              .planned = a->recipe ? (double)c->seeds : 0,
                              .expect = cull_compare_run_seconds(c, i),
                              .predicted = 1 - a->price.seconds / full->seconds,
                              .mean = NAN,
                              .sd = NAN,
                              .best = NAN,
                              .verdict = a->role == CULL_ROLE_ARM && a->uniform ? "control" : ""};
    for (size_t f = 0; f < CULL_RECORDS_FACTORS; f++)
        out->factor[f] = f < CULL_COMPARE_FACTORS ? cull_compare_factor[f] : NAN;
    TRY(cull_base_alloc(asked, sizeof *out->option, "options", &out->option));
    if (asked) memcpy(out->option, a->asked->what.option, asked * sizeof *out->option);
    out->options = asked;
    TRY(cull_base_alloc(c->seeds, sizeof *out->run, "runs", &out->run));
    for (; out->runs < c->seeds; out->runs++)
        out->run[out->runs] =
            (cull_records_compared){.folder = say(&c->value, "runs/%s/seed-%llu",
                                                  a->recipe ? a->folder : c->arms.arm[0].folder,
                                                  (unsigned long long)out->runs + 1),
                                    .status = "",
                                    .why = "",
                                    .best = NAN};
    TRY(cull_base_alloc(CULL_ROLES, sizeof *out->versus, "controls", &out->versus));
    for (cull_role role = CULL_ROLE_SAME_M; role < CULL_ROLES; role++)
        if (a->control[role] != SIZE_MAX) out->versus[out->controls++] = against(c, a, role);
done:
    return status;
}

static cull_status list_recipe(const cull_comparison *c, cull_compare_value *v)
{
    cull_status             status = CULL_OK;
    const cull_option_spec *spec = NULL;
    size_t                  count = 0;

    while (cull_recipe_option_at(count)) count++;
    TRY(cull_arm_recipe(&c->base, NULL, 0, &v->recipe));
    TRY(cull_base_alloc(count, sizeof *v->is.recipe, "a recipe", &v->is.recipe));
    for (; (spec = cull_recipe_option_at(v->is.pairs)); v->is.pairs++)
        v->is.recipe[v->is.pairs] =
            (cull_option){spec->key, cull_recipe_value(v->recipe, spec->key)};
done:
    return status;
}

cull_status cull_compare_make_value(cull_comparison *c)
{
    cull_status         status = CULL_OK;
    cull_compare_value *v = &c->value;
    size_t              rows = OTHER_ROWS + c->costs.sizes + ROWS_OF_ARM * c->arms.count;

    cull_compare_clear_value(c);
    v->is = (cull_records_comparison){.title = c->title,
                                      .created = c->created,
                                      .command = c->command ? c->command : "",
                                      .verdict = c->verdict,
                                      .advice = c->advice,
                                      .threads = c->threads,
                                      .jobs = c->jobs,
                                      .margin = c->margin,
                                      .classes = (double)c->costs.classes,
                                      .matched = c->costs.tokens > 0 ? "tokens" : "",
                                      .tokens = c->costs.tokens > 0 ? round(c->costs.tokens) : NAN,
                                      .test = (double)c->costs.test,
                                      .guess = c->costs.guess > 0 ? 100 * c->costs.guess : NAN,
                                      .metric = cull_compare_yardstick(c)->key,
                                      .seeds = (size_t)c->seeds};
    TRY(cull_base_alloc(rows + c->arms.count * c->seeds, sizeof *v->text, "a result", &v->text));
    TRY(cull_base_alloc(rows, sizeof *v->is.time, "step times", &v->is.time));
    TRY(cull_base_alloc(c->arms.count, sizeof *v->verdict, "verdicts", &v->verdict));
    TRY(list_recipe(c, v));
    TRY(cull_base_alloc(c->arms.count, sizeof *v->is.arm, "arms", &v->is.arm));
    for (size_t i = 0; i < c->arms.count; i++) {
        v->is.arms++;
        TRY(plan_arm(c, i, &v->is.arm[i]));
    }
done:
    return status;
}

void cull_compare_clear_value(cull_comparison *c)
{
    cull_records_comparison_clear(&c->value.is);
    cull_base_free(c->value.verdict);
    cull_base_free(c->value.text);
    cull_recipe_close(c->value.recipe);
    c->value = (cull_compare_value){0};
    c->verdict[0] = '\0';
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
                              .arm = c->value.is.arm,
                              .arms = c->value.is.arms,
                              .seconds = cull_compare_seconds(c),
                              .bytes = cull_compare_bytes(c),
                              .waited = c->costs.waited};

    TRY(cull_compare_name_left(c));
    plan.problems = c->value.is.problems;
    for (size_t i = 0; i < plan.arms; i++) plan.runs += plan.arm[i].planned;
    TRY(cull_records_plan_put(&plan, &c->plan));
done:
    return status;
}

/* ---- what came of it ---- */

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

static cull_status name_machine(const cull_comparison *c, cull_compare_value *v)
{
    cull_status      status = CULL_OK;
    cull_train_setup setup = c->arms.arm[0].recipe->setup;
    cull_backend    *backend = NULL;
    char             why[CULL_MACHINE_WHY];
    long             cores = sysconf(_SC_NPROCESSORS_ONLN);

    setup.threads = c->threads;
    TRY(cull_machine_open(&setup, &backend, why));
    processor_name(v->processor, sizeof v->processor);
    (void)snprintf(v->backend, sizeof v->backend, "%s", cull_backend_describe(backend));
    v->is.machine.cpu = v->processor;
    v->is.machine.cores = cores > 0 ? (double)cores : 1;
    v->is.machine.backend = v->backend;
    v->is.machine.version = cull_version();
done:
    cull_backend_close(backend);
    return status;
}

static void add_time(cull_compare_value *v, const char *what, double seconds)
{
    v->is.time[v->is.times++] = (cull_records_time){what, seconds};
}

static void add_times_of(cull_compare_value *v, const cull_arm *a)
{
    if (!a->own.known) return;
    if (a->own.score > 0 && !a->price.pool)
        add_time(v, say(v, "score an example: %s", a->name), a->own.score);
    if (!a->price.pool) add_time(v, say(v, "decide: %s", a->name), a->own.decide);
    if (a->recipe->setup.score.reuse)
        add_time(v, say(v, "learn from kept: %s", a->name), a->own.learn_kept);
    if (a->own.pool_score > 0)
        add_time(v, say(v, "score the pool: %s", a->name), a->own.pool_score);
    if (a->price.pool) add_time(v, say(v, "solve the pool: %s", a->name), a->own.pool_solve);
}

static void list_times(const cull_comparison *c, cull_compare_value *v)
{
    const cull_costs *k = &c->costs;
    double            batch = (double)c->arms.arm[0].recipe->setup.batch;

    v->is.times = 0;
    v->texts = c->arms.count * (size_t)c->seeds; /* behind the folders of runs */
    v->is.full_step = batch * k->load + cull_costs_learn(k, batch) + k->optim;
    add_time(v, "load an example", k->load);
    for (size_t i = 0; i < k->sizes; i++)
        add_time(v, say(v, "learn %zu", k->learn[i].batch), k->learn[i].seconds);
    add_time(v, "optimizer", k->optim);
    for (size_t i = 1; i < c->arms.count; i++) add_times_of(v, &c->arms.arm[i]);
}

/* An early stop is read off the full run, and has no times of its own. */
static void take_run(const cull_comparison *c, size_t arm, uint64_t seed,
                     cull_records_compared *out)
{
    const cull_compared     *run = cull_compared_at(c, arm, seed);
    const cull_records_work *work = &run->record.info.work;
    bool whole = cull_compared_finished(run), own = whole && c->arms.arm[arm].recipe;

    *out = (cull_records_compared){.seed = (double)seed,
                                   .folder = out->folder,
                                   .status = cull_compared_status(run),
                                   .why = run->record.why,
                                   .accuracy = whole ? 100 * run->accuracy : NAN,
                                   .best = whole ? 100 * run->best : NAN,
                                   .scored = whole ? work->scored : NAN,
                                   .trained = whole ? work->trained : NAN,
                                   .thirds = whole ? work->thirds : NAN};
    for (int i = 0; i < CULL_PHASES; i++) {
        out->seconds[i] = own ? work->seconds_by[i] : NAN;
        out->joules[i] = own ? work->joules_by[i] : NAN;
    }
}

static void advise(cull_comparison *c)
{
    cull_advice advice;

    cull_advise_verdict(&c->value.is, cull_compare_yardstick(c), c->verdict);
    cull_advise(&c->value.is, cull_compare_yardstick(c), &advice);
    (void)snprintf(c->advice, sizeof c->advice, "%s%s%s", advice.what, advice.more[0] ? " " : "",
                   advice.more);
}

cull_status cull_comparison_judge(cull_comparison *c)
{
    cull_status         status = CULL_OK;
    cull_compare_value *v = &c->value;
    char                path[CULL_DATA_PATH];

    if (!c->planned || c->lock < 0)
        FAIL(CULL_BAD_ARGUMENT, "a comparison is judged in its folder, by its plan");
    TRY(cull_compare_read_runs(c));
    TRY(cull_compare_settle(c));
    TRY(cull_compare_judge(c));
    TRY(name_machine(c, v));
    list_times(c, v);
    v->is.finished = cull_compare_all_finished(c);
    for (size_t i = 0; i < c->arms.count; i++)
        for (uint64_t seed = 1; seed <= c->seeds; seed++)
            take_run(c, i, seed, &v->is.arm[i].run[seed - 1]);
    advise(c);
    TRY(cull_compare_gather_warnings(c));
    TRY(cull_records_comparison_put(&v->is, &c->result));
    TRY(cull_base_join(c->folder, "comparison.json", path));
    TRY(cull_file_write(path, c->result.bytes.data, strlen(cull_comparison_text(c))));
done:
    return status;
}

const char *cull_comparison_text(const cull_comparison *c)
{
    return c->result.bytes.size ? (const char *)c->result.bytes.data : NULL;
}

/* ---- the same, arm by arm ---- */

bool cull_comparison_arm(const cull_comparison *c, size_t i, cull_compare_arm *out)
{
    cull_compare_arm arm;

    if (!c->planned || i >= c->value.is.arms) return false;
    cull_records_arm_view(&c->value.is.arm[i], &arm);
    arm.runs = (size_t)c->value.is.arm[i].planned;
    if (!c->verdict[0]) arm.verdict = "";
    cull_sized_give(out, &arm, sizeof arm);
    return true;
}

const char *cull_comparison_problem(const cull_comparison *c, size_t i)
{
    return i < c->value.is.problems.count ? c->value.is.problems.text[i] : NULL;
}

bool cull_comparison_outlook(const cull_comparison *c, cull_compare_outlook *out)
{
    cull_compare_outlook all = {
        .title = c->title, .verdict = c->verdict, .advice = c->advice, .metric = ""};

    if (c->planned) {
        for (size_t i = 0; i < c->value.is.arms; i++)
            all.runs += (size_t)c->value.is.arm[i].planned;
        all.threads = c->threads;
        all.jobs = c->jobs;
        all.seconds = cull_compare_seconds(c);
        all.bytes = cull_compare_bytes(c);
        all.waited = c->costs.waited;
        all.metric = cull_compare_yardstick(c)->key;
        all.tokens = c->costs.tokens;
    }
    cull_sized_give(out, &all, sizeof all);
    return c->planned;
}
