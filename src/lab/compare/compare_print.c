/* lab/compare/compare_print.c - plan.json and comparison.json. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lab/compare/compare.h"

static const char *const statuses[] = {"missing", "running", "finished", "failed", "corrupt"};

static void put_null(cull_json *j, const char *key)
{
    cull_json_number(j, key, NAN);
}

static void put_seeds(cull_json *j, const cull_comparison *c, const char *key)
{
    cull_json_open(j, key, '[');
    for (uint64_t seed = 1; seed <= c->seeds; seed++) cull_json_count(j, NULL, seed);
    cull_json_close(j, ']');
}

static void put_who(cull_json *j, const cull_arm *a)
{
    cull_json_text(j, "name", a->name);
    cull_json_text(j, "folder", a->folder);
    cull_json_text(j, "role", cull_role_name(a->role));
    cull_json_text(j, "strategy", a->strategy);
    cull_json_open(j, "options", '{');
    for (size_t i = 0; a->asked && i < a->asked->what.options; i++)
        cull_json_text(j, a->asked->what.option[i].key, a->asked->what.option[i].value);
    cull_json_close(j, '}');
    cull_json_bool(j, "uniform",
                   a->uniform && a->role != CULL_ROLE_FULL && a->role < CULL_ROLE_SHORTENED);
    cull_json_number(j, "keep", a->keep);
    cull_json_text(j, "pass", a->pass);
}

static void put_controls(cull_json *j, const cull_comparison *c, const cull_arm *a)
{
    cull_json_open(j, "controls", '{');
    for (cull_role role = CULL_ROLE_SAME_M; role < CULL_ROLES; role++)
        if (a->control[role] != SIZE_MAX)
            cull_json_text(j, cull_role_name(role), c->arms.arm[a->control[role]].name);
    cull_json_close(j, '}');
}

static void end_text(cull_json *j)
{
    cull_json_line(j);
    if (j->status == CULL_OK) j->status = cull_write(&j->bytes, "", 1);
}

cull_status cull_compare_print_plan(cull_comparison *c)
{
    cull_json    *j = &c->plan;
    char          title[160];
    size_t        runs = 0;
    const double *full = &c->arms.arm[0].price.seconds;

    cull_compare_title(c, title, sizeof title);
    cull_json_reset(j);
    cull_json_open(j, NULL, '{');
    cull_json_count(j, "version", CULL_COMPARE_VERSION);
    cull_json_text(j, "title", title);
    cull_json_text(j, "created", c->created);
    cull_json_text(j, "strategies", c->wish.strategies);
    cull_json_text(j, "keep", c->wish.keep);
    cull_json_text(j, "pass", c->wish.pass);
    cull_json_count(j, "seeds", c->seeds);
    cull_json_count(j, "threads", c->threads);
    cull_json_count(j, "jobs", c->jobs);
    cull_json_number(j, "margin", c->margin);
    cull_json_open(j, "arms", '[');
    for (size_t i = 0; i < c->arms.count; i++) {
        const cull_arm *a = &c->arms.arm[i];

        cull_json_open(j, NULL, '{');
        put_who(j, a);
        cull_json_number(j, "cost", a->price.seconds / *full);
        cull_json_number(j, "counted", a->price.thirds / c->arms.arm[0].price.thirds);
        cull_json_bool(j, "guess", cull_compare_is_guess(a));
        cull_json_count(j, "runs", a->recipe ? c->seeds : 0);
        cull_json_number(j, "seconds", cull_compare_run_seconds(c, i));
        put_controls(j, c, a);
        cull_json_close(j, '}');
        runs += a->recipe != NULL;
    }
    cull_json_close(j, ']');
    cull_json_count(j, "runs", runs * c->seeds);
    cull_json_number(j, "seconds", cull_compare_seconds(c));
    cull_json_number(j, "bytes", cull_compare_bytes(c));
    cull_json_number(j, "waited", c->costs.waited);
    cull_json_open(j, "problems", '[');
    cull_compare_name_left(c, j);
    cull_json_close(j, ']');
    cull_json_close(j, '}');
    end_text(j);
    return j->status;
}

/* ---- comparison.json ---- */

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

static cull_status put_machine(cull_json *j, const cull_comparison *c)
{
    cull_status             status = CULL_OK;
    const cull_train_setup *s = &c->arms.arm[0].recipe->setup;
    cull_backend           *backend = NULL;
    char                    name[200];
    long                    cores = sysconf(_SC_NPROCESSORS_ONLN);

    TRY(cull_backend_open(s->backend, c->threads, &backend));
    processor_name(name, sizeof name);
    cull_json_open(j, "machine", '{');
    cull_json_text(j, "cpu", name);
    cull_json_count(j, "cores", cores > 0 ? (uint64_t)cores : 1);
    cull_json_text(j, "backend", cull_backend_describe(backend));
    cull_json_text(j, "version", cull_version());
    cull_json_close(j, '}');
done:
    cull_backend_close(backend);
    return status;
}

static void put_row(cull_json *j, const char *what, const char *of, double seconds)
{
    char text[CULL_ARM_NAME + 64];

    (void)snprintf(text, sizeof text, "%s%s%s", what, of[0] ? " " : "", of);
    cull_json_open(j, NULL, '{');
    cull_json_text(j, "what", text);
    cull_json_number(j, "seconds", seconds);
    cull_json_close(j, '}');
}

static void put_costs(cull_json *j, const cull_comparison *c)
{
    const cull_costs *k = &c->costs;
    double            batch = (double)c->arms.arm[0].recipe->setup.batch;
    char              size[24];

    cull_json_open(j, "costs", '{');
    cull_json_number(j, "full_step", batch * k->load + cull_costs_learn(k, batch) + k->optim);
    cull_json_open(j, "rows", '[');
    put_row(j, "load an example", "", k->load);
    for (size_t i = 0; i < k->sizes; i++) {
        (void)snprintf(size, sizeof size, "%zu", k->learn[i].batch);
        put_row(j, "learn", size, k->learn[i].seconds);
    }
    put_row(j, "optimizer", "", k->optim);
    for (size_t i = 1; i < c->arms.count; i++) {
        const cull_arm *a = &c->arms.arm[i];

        if (!a->own.known) continue;
        if (a->own.score > 0 && !a->price.pool)
            put_row(j, "score an example:", a->name, a->own.score);
        if (!a->price.pool) put_row(j, "decide:", a->name, a->own.decide);
        if (a->recipe->setup.score.reuse)
            put_row(j, "learn from kept:", a->name, a->own.learn_kept);
        if (a->own.pool_score > 0) put_row(j, "score the pool:", a->name, a->own.pool_score);
        if (a->price.pool) put_row(j, "solve the pool:", a->name, a->own.pool_solve);
    }
    cull_json_close(j, ']');
    cull_json_close(j, '}');
}

static void put_joules(cull_json *j, const json_t *joules)
{
    const char *key = NULL;
    json_t     *value = NULL;

    if (!joules) {
        put_null(j, "joules");
        return;
    }
    cull_json_open(j, "joules", '{');
    json_object_foreach((json_t *)joules, key, value)
        cull_json_number(j, key, json_is_number(value) ? json_number_value(value) : NAN);
    cull_json_close(j, '}');
}

static void put_run(cull_json *j, const cull_comparison *c, size_t arm, uint64_t seed)
{
    const cull_arm      *a = &c->arms.arm[arm];
    const cull_compared *run = cull_compared_at(c, arm, seed);
    char                 folder[CULL_ARM_NAME + 64];
    bool                 whole = run->status == CULL_COMPARED_FINISHED;

    (void)snprintf(folder, sizeof folder, "runs/%s/seed-%llu",
                   a->recipe ? a->folder : c->arms.arm[0].folder, (unsigned long long)seed);
    cull_json_open(j, NULL, '{');
    cull_json_count(j, "seed", seed);
    cull_json_text(j, "folder", folder);
    cull_json_text(j, "status", statuses[run->status]);
    if (run->why[0])
        cull_json_text(j, "why", run->why);
    else
        put_null(j, "why");
    cull_json_number(j, "accuracy", whole ? 100 * run->accuracy : NAN);
    cull_json_number(j, "best", whole ? 100 * run->best : NAN);
    cull_json_number(j, "scored", whole ? run->scored : NAN);
    cull_json_number(j, "trained", whole ? run->trained : NAN);
    cull_json_number(j, "thirds", whole ? run->thirds : NAN);
    cull_json_open(j, "seconds", '{');
    for (int i = 0; whole && a->recipe && i < CULL_PHASES; i++)
        cull_json_number(j, cull_phase_name((cull_phase)i), run->seconds[i]);
    cull_json_close(j, '}');
    put_joules(j, run->joules);
    cull_json_close(j, '}');
}

static void put_versus(cull_json *j, const cull_comparison *c, cull_role role, const cull_versus *v)
{
    bool primary = role == CULL_ROLE_WHOLE_BUDGET;

    cull_json_open(j, NULL, '{');
    cull_json_text(j, "control", c->arms.arm[v->control].name);
    cull_json_text(j, "kind", cull_role_name(role));
    cull_json_count(j, "pairs", v->test.n);
    cull_json_number(j, "difference", v->test.mean);
    cull_json_number(j, "sd", v->test.sd);
    cull_json_number(j, "low", v->low);
    cull_json_number(j, "high", v->high);
    cull_json_number(j, "level", .95);
    cull_json_number(j, "p", v->test.p);
    cull_json_number(j, "p_holm", v->holm);
    cull_json_number(j, "wilcoxon", v->wilcoxon);
    if (primary) {
        cull_json_text(j, "verdict", cull_verdict_name(v->verdict.kind));
        cull_json_number(j, "more_seeds", v->verdict.more ? (double)v->verdict.more : NAN);
        cull_json_text(j, "sentence", v->verdict.sentence);
    }
    cull_json_close(j, '}');
}

static void put_arm(cull_json *j, const cull_comparison *c, size_t i)
{
    const cull_arm    *a = &c->arms.arm[i];
    const cull_judged *g = &c->judged[i];

    cull_json_open(j, NULL, '{');
    put_who(j, a);
    cull_json_number(j, "cost", g->cost);
    cull_json_number(j, "counted", g->counted);
    cull_json_number(j, "predicted_saving", 1 - a->price.seconds / c->arms.arm[0].price.seconds);
    cull_json_number(j, "measured_saving", g->saved);
    cull_json_number(j, "mean", g->mean);
    cull_json_number(j, "sd", g->sd);
    cull_json_number(j, "best_mean", g->best);
    cull_json_open(j, "runs", '[');
    for (uint64_t seed = 1; seed <= c->seeds; seed++) put_run(j, c, i, seed);
    cull_json_close(j, ']');
    if (a->role == CULL_ROLE_ARM) {
        cull_json_text(j, "verdict",
                       a->uniform
                           ? "control"
                           : cull_verdict_name(g->versus[CULL_ROLE_WHOLE_BUDGET].verdict.kind));
        put_controls(j, c, a);
        cull_json_open(j, "versus", '[');
        for (cull_role role = CULL_ROLE_SAME_M; role < CULL_ROLES; role++)
            if (a->control[role] != SIZE_MAX) put_versus(j, c, role, &g->versus[role]);
        cull_json_close(j, ']');
    }
    cull_json_open(j, "to_error", '[');
    for (size_t f = 0; f < CULL_COMPARE_FACTORS; f++) {
        cull_json_open(j, NULL, '{');
        cull_json_number(j, "factor", cull_compare_factor[f]);
        cull_json_number(j, "cost", g->reach[f]);
        cull_json_close(j, '}');
    }
    cull_json_close(j, ']');
    cull_json_bool(j, "pareto", g->pareto);
    cull_json_close(j, '}');
}

static void put_recipe(cull_json *j, const cull_recipe *recipe)
{
    const cull_option_spec *spec = NULL;

    cull_json_open(j, "recipe", '{');
    for (size_t i = 0; (spec = cull_recipe_option_at(i)); i++)
        cull_json_text(j, spec->key, cull_recipe_value(recipe, spec->key));
    cull_json_close(j, '}');
}

cull_status cull_compare_print(cull_comparison *c)
{
    cull_status  status = CULL_OK;
    cull_json   *j = &c->result;
    char         title[160];
    cull_recipe *base = NULL;

    TRY(cull_arm_recipe(&c->base, NULL, 0, &base));
    cull_compare_title(c, title, sizeof title);
    cull_json_reset(j);
    cull_json_open(j, NULL, '{');
    cull_json_count(j, "version", CULL_COMPARE_VERSION);
    cull_json_text(j, "title", title);
    cull_json_text(j, "created", c->created);
    if (c->command)
        cull_json_text(j, "command", c->command);
    else
        put_null(j, "command");
    cull_json_bool(j, "finished", cull_compare_all_finished(c));
    TRY(put_machine(j, c));
    cull_json_count(j, "threads", c->threads);
    cull_json_count(j, "jobs", c->jobs);
    put_recipe(j, base);
    put_seeds(j, c, "seeds");
    cull_json_number(j, "margin", c->margin);
    cull_json_count(j, "classes", c->costs.classes);
    put_costs(j, c);
    cull_json_text(j, "verdict", c->verdict);
    cull_json_open(j, "arms", '[');
    for (size_t i = 0; i < c->arms.count; i++) put_arm(j, c, i);
    cull_json_close(j, ']');
    cull_json_open(j, "problems", '[');
    if (j->status == CULL_OK && c->problems.bytes.size)
        j->status = cull_write(&j->bytes, c->problems.bytes.data, c->problems.bytes.size);
    cull_json_close(j, ']');
    cull_json_close(j, '}');
    end_text(j);
    TRY(j->status);
done:
    cull_recipe_close(base);
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
    TRY(cull_compare_path(c, "comparison.json", path));
    TRY(cull_file_write(path, c->result.bytes.data, strlen(cull_comparison_text(c))));
done:
    return status;
}

const char *cull_comparison_text(const cull_comparison *c)
{
    return c->result.bytes.size ? (const char *)c->result.bytes.data : NULL;
}
