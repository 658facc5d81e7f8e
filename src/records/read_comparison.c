/* records/read_comparison.c - comparison.json into arms, runs and verdicts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/records.h"

enum { MOST_ARMS = 512, MOST_RUNS = 256, MOST_VERSUS = 16, MOST_PASS = 16 };

static const char *const statuses[] = {"finished", "running", "missing", "failed", "corrupt"};

/* A list's length, cut to what is read of it. */
static size_t length_of(const json_t *list, size_t most)
{
    size_t count = json_array_size(list);

    return count < most ? count : most;
}

static void decode_run(const json_t *from, cull_rep_run *run)
{
    const json_t *seconds = json_object_get(from, "seconds");
    const json_t *joules = json_object_get(from, "joules");

    run->folder = cull_rep_word(from, "folder");
    run->status = cull_rep_word(from, "status");
    run->why = cull_rep_word(from, "why");
    run->seed = cull_rep_field(from, "seed");
    run->accuracy = cull_rep_field(from, "accuracy");
    run->best = cull_rep_field(from, "best");
    run->scored = cull_rep_field(from, "scored");
    run->trained = cull_rep_field(from, "trained");
    run->thirds = cull_rep_field(from, "thirds");
    for (int i = 0; i < CULL_REP_PHASES; i++) {
        run->seconds[i] = cull_rep_field(seconds, cull_rep_phase_names[i]);
        run->joules[i] = cull_rep_field(joules, cull_rep_phase_names[i]);
    }
}

static void decode_versus(const json_t *from, cull_rep_versus *out)
{
    *out = (cull_rep_versus){.control = cull_rep_word(from, "control"),
                             .kind = cull_rep_word(from, "kind"),
                             .verdict = cull_rep_word(from, "verdict"),
                             .sentence = cull_rep_word(from, "sentence"),
                             .pairs = cull_rep_field(from, "pairs"),
                             .difference = cull_rep_field(from, "difference"),
                             .sd = cull_rep_field(from, "sd"),
                             .low = cull_rep_field(from, "low"),
                             .high = cull_rep_field(from, "high"),
                             .level = cull_rep_field(from, "level"),
                             .p = cull_rep_field(from, "p"),
                             .p_holm = cull_rep_field(from, "p_holm"),
                             .wilcoxon = cull_rep_field(from, "wilcoxon"),
                             .more_seeds = cull_rep_field(from, "more_seeds")};
}

static bool known_status(const char *status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (strcmp(status, statuses[i]) == 0) return true;
    return false;
}

/* The least and the largest accuracy of finished runs. */
static void span(cull_rep_arm *arm)
{
    arm->low = arm->high = NAN;
    for (size_t i = 0; i < arm->runs; i++) {
        const cull_rep_run *run = &arm->run[i];

        if (strcmp(run->status, "finished") != 0 || isnan(run->accuracy)) continue;
        arm->finished++;
        if (!(arm->low <= run->accuracy)) arm->low = run->accuracy;
        if (!(arm->high >= run->accuracy)) arm->high = run->accuracy;
    }
}

static void decode_factors(const json_t *list, cull_rep_arm *arm)
{
    size_t count = length_of(list, CULL_REP_FACTORS);

    for (size_t i = 0; i < CULL_REP_FACTORS; i++) {
        const json_t *pair = i < count ? json_array_get(list, i) : NULL;

        arm->factor[i] = cull_rep_field(pair, "factor");
        arm->to_error[i] = cull_rep_field(pair, "cost");
    }
}

static cull_status decode_arm(const char *name, const json_t *from, cull_rep_arm *arm,
                              cull_rep_problems *problems)
{
    cull_status   status = CULL_OK;
    const json_t *runs = json_object_get(from, "runs"), *versus = json_object_get(from, "versus");

    arm->name = cull_rep_word(from, "name");
    arm->role = cull_rep_word(from, "role");
    arm->strategy = cull_rep_word(from, "strategy");
    arm->options = json_object_get(from, "options");
    if (!arm->options && strcmp(arm->role, "arm") == 0)
        TRY(cull_rep_problem(problems,
                             "%s: %.80s says nothing of its options, as older comparisons do; cull "
                             "compare --resume writes it anew",
                             name, arm->name));
    arm->uniform = cull_rep_flag(from, "uniform");
    arm->pass = cull_rep_word(from, "pass");
    arm->verdict = cull_rep_word(from, "verdict");
    arm->keep = cull_rep_field(from, "keep");
    arm->cost = cull_rep_field(from, "cost");
    arm->counted = cull_rep_field(from, "counted");
    arm->predicted = cull_rep_field(from, "predicted_saving");
    arm->measured = cull_rep_field(from, "measured_saving");
    arm->mean = cull_rep_field(from, "mean");
    arm->sd = cull_rep_field(from, "sd");
    arm->best = cull_rep_field(from, "best_mean");
    arm->pareto = cull_rep_flag(from, "pareto");
    decode_factors(json_object_get(from, "to_error"), arm);
    TRY(cull_base_alloc(length_of(runs, MOST_RUNS), sizeof *arm->run, "runs", &arm->run));
    for (size_t i = 0; i < length_of(runs, MOST_RUNS); i++) {
        decode_run(json_array_get(runs, i), &arm->run[i]);
        arm->runs++;
        if (!known_status(arm->run[i].status))
            TRY(cull_rep_problem(problems, "%s: a run of %.80s has no known status", name,
                                 arm->name));
    }
    TRY(cull_base_alloc(length_of(versus, MOST_VERSUS), sizeof *arm->versus, "controls",
                        &arm->versus));
    for (size_t i = 0; i < length_of(versus, MOST_VERSUS); i++)
        decode_versus(json_array_get(versus, i), &arm->versus[arm->controls++]);
    span(arm);
done:
    return status;
}

static json_t *object_of(const json_t *root, const char *key)
{
    json_t *value = json_object_get(root, key);

    return json_is_object(value) ? value : NULL;
}

static void decode_head(cull_rep_comparison *out)
{
    out->title = cull_rep_word(out->root, "title");
    out->created = cull_rep_word(out->root, "created");
    out->verdict = cull_rep_word(out->root, "verdict");
    out->command = cull_rep_word(out->root, "command");
    out->finished = cull_rep_flag(out->root, "finished");
    out->margin = cull_rep_field(out->root, "margin");
    out->classes = cull_rep_field(out->root, "classes");
    out->threads = cull_rep_field(out->root, "threads");
    out->jobs = cull_rep_field(out->root, "jobs");
    out->seeds = json_array_size(json_object_get(out->root, "seeds"));
    out->machine = object_of(out->root, "machine");
    out->recipe = object_of(out->root, "recipe");
    out->costs = object_of(out->root, "costs");
    out->problems = json_object_get(out->root, "problems");
}

cull_status cull_rep_comparison_decode(const char *name, const void *data, size_t bytes,
                                       cull_rep_comparison *out, cull_rep_problems *problems)
{
    cull_status  status = CULL_OK;
    json_error_t error = {0};
    json_t      *arms = NULL;
    size_t       count = 0;

    out->root = json_loadb(data, bytes, 0, &error);
    if (!out->root && json_error_code(&error) == json_error_out_of_memory)
        FAIL(CULL_NO_MEMORY, "no memory for %s", name);
    if (!out->root)
        FAIL(CULL_BAD_FILE, "%s: line %d is no JSON: %.100s", name, error.line, error.text);
    arms = json_object_get(out->root, "arms");
    if (!json_is_object(out->root) || !json_is_array(arms))
        FAIL(CULL_BAD_FILE, "%s: is no comparison: it has no list of arms", name);
    if (cull_rep_field(out->root, "version") != 1)
        FAIL(CULL_BAD_FILE, "%s: is of another version than 1, the one read here", name);
    decode_head(out);
    count = length_of(arms, MOST_ARMS);
    if (count < json_array_size(arms))
        TRY(cull_rep_problem(problems, "%s: %zu arms, the first %zu are shown", name,
                             json_array_size(arms), count));
    TRY(cull_base_alloc(count, sizeof *out->arm, "arms", &out->arm));
    while (out->arms < count) {
        out->arms++;
        TRY(decode_arm(name, json_array_get(arms, out->arms - 1), &out->arm[out->arms - 1],
                       problems));
    }
    cull_rep_name_series(out);
    cull_rep_styles(out);
done:
    return status;
}

/* A relative path that stays below the comparison. */
static bool stays_inside(const char *path)
{
    if (path[0] == '/' || path[0] == '\0') return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return false;
    }
    return true;
}

static cull_status read_run(const char *folder, const cull_rep_arm *arm, cull_rep_run *run,
                            cull_rep_problems *problems)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    int         length = 0;

    /* What has no end of its own has no curve either; why is in the comparison. */
    if (strcmp(run->status, "finished") != 0 || strcmp(arm->role, "early-stop") == 0) goto done;
    length = snprintf(path, sizeof path, "%s/%s", folder, run->folder);
    if (!stays_inside(run->folder) || length < 0 || (size_t)length >= sizeof path) {
        TRY(cull_rep_problem(problems, "%.80s: '%.80s' is no folder of this comparison", arm->name,
                             run->folder));
        goto done;
    }
    TRY(cull_rep_run_read(path, NULL, run, problems));
done:
    return status;
}

cull_status cull_rep_comparison_read(const char *folder, cull_rep_comparison *out,
                                     cull_rep_problems *problems)
{
    cull_status status = CULL_OK;
    char        name[CULL_DATA_PATH];
    void       *data = NULL;
    size_t      bytes = 0;

    (void)snprintf(name, sizeof name, "%.900s/comparison.json", folder);
    TRY(cull_rep_file(folder, "comparison.json", &data, &bytes));
    if (!data) FAIL(CULL_IO, "%s: is not there", name);
    TRY(cull_rep_comparison_decode(name, data, bytes, out, problems));
    out->folder = folder;
    for (size_t i = 0; i < out->arms; i++)
        for (size_t j = 0; j < out->arm[i].runs; j++)
            TRY(read_run(folder, &out->arm[i], &out->arm[i].run[j], problems));
done:
    cull_bytes_release(data);
    return status;
}

static bool has_trait(const cull_rep_arm *arm, unsigned trait)
{
    const cull_strategy *found = cull_strategy_of(arm->strategy);

    return found && (found->traits & trait);
}

static bool is_full(const cull_rep_arm *arm)
{
    return has_trait(arm, CULL_KEEPS_ALL) || strcmp(arm->role, "full") == 0 ||
           strcmp(arm->role, "shortened") == 0 || strcmp(arm->role, "early-stop") == 0;
}

bool cull_rep_is_uniform(const cull_rep_arm *arm)
{
    return arm->uniform || has_trait(arm, CULL_UNIFORM) || strcmp(arm->role, "same-m") == 0 ||
           strcmp(arm->role, "whole-budget") == 0;
}

bool cull_rep_is_of_batches(const cull_rep_arm *arm)
{
    const cull_strategy *found = cull_strategy_of(arm->strategy);

    return cull_rep_is_uniform(arm) && found && found->runs == CULL_RUNS_STEP;
}

void cull_rep_styles(cull_rep_comparison *c)
{
    enum { COLOURS = 6, MARKERS = 6, OTHERS = 4 };
    static const int others[OTHERS] = {1, 3, 4, 2}; /* 0 and 5 are those of the controls */
    int              next = 0, uniform = 0;

    for (size_t i = 0; i < c->arms; i++) {
        cull_rep_arm       *arm = &c->arm[i];
        const cull_rep_arm *like = NULL;

        arm->style.hollow = strcmp(arm->pass, "reuse") == 0 || strcmp(arm->role, "arm") != 0;
        if (is_full(arm)) {
            bool short_run = strcmp(arm->role, "shortened") == 0;
            bool stopped = strcmp(arm->role, "early-stop") == 0;
            arm->style = (cull_rep_style){1, stopped ? 2 : short_run ? 4 : 1, short_run || stopped};
            continue;
        }
        for (size_t j = 0; j < i && !like; j++)
            if (!is_full(&c->arm[j]) && strcmp(arm->series, c->arm[j].series) == 0 &&
                cull_rep_is_uniform(arm) == cull_rep_is_uniform(&c->arm[j]))
                like = &c->arm[j];
        if (like) {
            arm->style.colour = like->style.colour;
            arm->style.marker = like->style.marker;
        } else if (cull_rep_is_uniform(arm)) {
            arm->style.marker = strcmp(arm->series, arm->strategy) != 0 ? others[uniform++ % OTHERS]
                                : cull_rep_is_of_batches(arm)           ? 0
                                                                        : 5;
        } else {
            arm->style.colour = 2 + next % COLOURS;
            arm->style.marker = (next + 1 + next / COLOURS) % MARKERS;
            next++;
        }
    }
}

void cull_rep_comparison_clear(cull_rep_comparison *c)
{
    for (size_t i = 0; i < c->arms; i++) {
        for (size_t j = 0; j < c->arm[i].runs; j++)
            cull_rep_metrics_clear(&c->arm[i].run[j].metrics);
        cull_base_free(c->arm[i].run);
        cull_base_free(c->arm[i].versus);
    }
    cull_base_free(c->arm);
    json_decref(c->root);
    *c = (cull_rep_comparison){0};
}
