/* records/comparison_file.c - comparison.json: who took part, what came of it, and the verdict. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/comparison_fields.h"
#include "records/yardstick.h"

enum { VERSION = 1, MOST_ARMS = 512, MOST_RUNS = 1000, MOST_TIMES = 4096 };

// clang-format off
#define C(kind, name) CULL_FIELD(cull_records_comparison, #name, kind, name)
#define M(kind, name) CULL_FIELD(cull_records_comparison, #name, kind, machine.name)
#define A(kind, name) CULL_FIELD(cull_records_arm, #name, kind, name)
#define R(kind, name) CULL_FIELD(cull_records_compared, #name, kind, name)
#define V(kind, name) CULL_FIELD(cull_records_versus, #name, kind, name)

static const cull_records_field who[] = {
    A(TEXT, name), A(TEXT, folder), A(TEXT, role), A(TEXT, strategy), A(NUMBER, keep),
    A(TEXT, pass), A(BOOL, uniform),
};
static const cull_records_field head[] = {
    C(TEXT, title), C(TEXT, created), C(TEXT_NULL, command), C(BOOL, finished),
    CULL_OBJECT("machine", OPEN), M(TEXT, cpu), M(COUNT, cores), M(TEXT, backend),
    M(TEXT, version), CULL_OBJECT(NULL, CLOSE), C(COUNT, threads), C(COUNT, jobs),
};
static const cull_records_field rules[] = {
    C(NUMBER, margin), C(TEXT, metric), C(COUNT, classes), C(COUNT, test), C(NUMBER, guess),
    C(TEXT_IF, matched), C(COUNT, tokens),
};
static const cull_records_field step[] = {C(NUMBER, full_step)};
static const cull_records_field times[] = {
    CULL_FIELD(cull_records_time, "what", TEXT, what),
    CULL_FIELD(cull_records_time, "seconds", NUMBER, seconds),
};
static const cull_records_field verdict[] = {C(TEXT, verdict), C(TEXT, advice)};
static const cull_records_field figures[] = {
    A(NUMBER, cost), A(NUMBER, counted),
    CULL_FIELD(cull_records_arm, "predicted_saving", NUMBER, predicted),
    CULL_FIELD(cull_records_arm, "measured_saving", NUMBER, measured), A(NUMBER, mean),
    A(NUMBER, sd), CULL_FIELD(cull_records_arm, "best_mean", NUMBER, best),
};
static const cull_records_field noticed[] = {C(TEXTS_IF, warnings)};
static const cull_records_field judged[] = {A(TEXT, verdict)};
static const cull_records_field frontier[] = {A(BOOL, pareto)};
static const cull_records_field run[] = {
    R(COUNT, seed), R(TEXT, folder), R(TEXT, status), R(TEXT_NULL, why), R(NUMBER, accuracy),
    R(NUMBER, best), R(NUMBER, scored), R(NUMBER, trained), R(NUMBER, thirds), R(PHASES, seconds),
    R(PHASES_NULL, joules),
};
static const cull_records_field versus[] = {
    V(TEXT, control), V(TEXT, kind), V(COUNT, pairs), V(NUMBER, difference), V(NUMBER, sd),
    V(NUMBER, low), V(NUMBER, high), V(NUMBER, level), V(NUMBER, p), V(NUMBER, p_holm),
    V(NUMBER, wilcoxon),
};
/* Of the comparison that the verdict is on. */
static const cull_records_field primary[] = {
    V(TEXT, verdict), V(NUMBER, more_seeds), V(TEXT, sentence),
};
// clang-format on

const cull_records_versus *cull_records_primary(const cull_records_arm *arm)
{
    for (size_t i = 0; i < arm->controls; i++)
        if (strcmp(arm->versus[i].kind, "whole-budget") == 0) return &arm->versus[i];
    return NULL;
}

/* ---- writing ---- */

void cull_records_begin(cull_json *json)
{
    cull_json_reset(json);
    cull_json_open(json, NULL, '{');
    cull_json_count(json, "version", VERSION);
}

cull_status cull_records_end(cull_json *json)
{
    cull_json_close(json, '}');
    cull_json_line(json);
    if (json->status == CULL_OK) json->status = cull_write(&json->bytes, "", 1);
    return json->status;
}

void cull_records_put_problems(cull_json *json, const cull_records_list *problems)
{
    cull_json_open(json, "problems", '[');
    for (size_t i = 0; i < problems->count; i++) cull_json_text(json, NULL, problems->text[i]);
    cull_json_close(json, ']');
}

void cull_records_put_controls(cull_json *json, const cull_records_arm *arm)
{
    cull_json_open(json, "controls", '{');
    for (size_t i = 0; i < arm->controls; i++)
        cull_json_text(json, arm->versus[i].kind, arm->versus[i].control);
    cull_json_close(json, '}');
}

static void put_versus(cull_json *json, const cull_records_arm *arm)
{
    cull_json_open(json, "versus", '[');
    for (size_t i = 0; i < arm->controls; i++) {
        cull_json_open(json, NULL, '{');
        cull_records_put(json, CULL_FIELDS(versus), &arm->versus[i]);
        if (arm->versus[i].verdict[0])
            cull_records_put(json, CULL_FIELDS(primary), &arm->versus[i]);
        cull_json_close(json, '}');
    }
    cull_json_close(json, ']');
}

static void put_pairs(cull_json *json, const char *key, const cull_option *pair, size_t count)
{
    cull_json_open(json, key, '{');
    for (size_t i = 0; i < count; i++) cull_json_text(json, pair[i].key, pair[i].value);
    cull_json_close(json, '}');
}

void cull_records_put_who(cull_json *json, const cull_records_arm *arm)
{
    cull_records_put(json, CULL_FIELDS(who), arm);
    put_pairs(json, "options", arm->option, arm->options);
}

enum { RUN_FIELDS = sizeof run / sizeof *run };

static void name_run(const char *key, cull_records_field out[RUN_FIELDS])
{
    const cull_yardstick *measure = cull_yardstick_find(key);

    if (!measure) measure = &cull_yardstick_accuracy;
    cull_records_name(run, RUN_FIELDS, measure->key, out);
}

static void put_arm(cull_json *json, const char *metric, const cull_records_arm *arm)
{
    cull_records_field named[RUN_FIELDS];

    name_run(metric, named);
    cull_json_open(json, NULL, '{');
    cull_records_put_who(json, arm);
    cull_records_put(json, CULL_FIELDS(figures), arm);
    cull_records_put_list(json, "runs", CULL_FIELDS(named), arm->run, arm->runs, sizeof *arm->run);
    if (arm->verdict[0]) {
        cull_records_put(json, CULL_FIELDS(judged), arm);
        cull_records_put_controls(json, arm);
        put_versus(json, arm);
    }
    cull_json_open(json, "to_error", '[');
    for (size_t i = 0; i < CULL_RECORDS_FACTORS && !isnan(arm->factor[i]); i++) {
        cull_json_open(json, NULL, '{');
        cull_json_number(json, "factor", arm->factor[i]);
        cull_json_number(json, "cost", arm->to_error[i]);
        cull_json_close(json, '}');
    }
    cull_json_close(json, ']');
    cull_records_put(json, CULL_FIELDS(frontier), arm);
    cull_json_close(json, '}');
}

cull_status cull_records_comparison_put(const cull_records_comparison *c, cull_json *json)
{
    cull_records_begin(json);
    cull_records_put(json, CULL_FIELDS(head), c);
    put_pairs(json, "recipe", c->recipe, c->pairs);
    cull_json_open(json, "seeds", '[');
    for (size_t seed = 1; seed <= c->seeds; seed++) cull_json_count(json, NULL, seed);
    cull_json_close(json, ']');
    cull_records_put(json, CULL_FIELDS(rules), c);
    cull_json_text(json, "better", cull_yardstick_way(cull_yardstick_find(c->metric)));
    cull_json_open(json, "costs", '{');
    cull_records_put(json, CULL_FIELDS(step), c);
    cull_records_put_list(json, "rows", CULL_FIELDS(times), c->time, c->times, sizeof *c->time);
    cull_json_close(json, '}');
    cull_records_put(json, CULL_FIELDS(verdict), c);
    cull_json_open(json, "arms", '[');
    for (size_t i = 0; i < c->arms; i++) put_arm(json, c->metric, &c->arm[i]);
    cull_json_close(json, ']');
    cull_records_put_problems(json, &c->problems);
    cull_records_put(json, CULL_FIELDS(noticed), c);
    return cull_records_end(json);
}

/* ---- reading ---- */

static cull_status check_version(const char *name, const json_t *root)
{
    if (cull_records_number(root, "version") == VERSION) return CULL_OK;
    return cull_fail(CULL_BAD_FILE, "%s: is of another version than %d, the one read here", name,
                     VERSION);
}

cull_status cull_records_load(const char *path, json_t **out)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_records_parse(path, data, bytes, 0, out));
    TRY(check_version(path, *out));
done:
    cull_bytes_release(data);
    return status;
}

static cull_status take_pairs(json_t *object, cull_option **out, size_t *count)
{
    cull_status status = CULL_OK;
    const char *key = NULL;
    json_t     *value = NULL;

    TRY(cull_base_alloc(json_object_size(object), sizeof **out, "options", out));
    json_object_foreach(object, key, value)
    {
        if (json_is_string(value))
            (*out)[(*count)++] = (cull_option){key, json_string_value(value)};
    }
done:
    return status;
}

static cull_status take_arm(const json_t *from, const char *metric, cull_records_arm *arm)
{
    cull_status        status = CULL_OK;
    const json_t      *to_error = json_object_get(from, "to_error");
    cull_records_field named[RUN_FIELDS];

    name_run(metric, named);
    cull_records_take(from, CULL_FIELDS(who), arm);
    TRY(take_pairs(json_object_get(from, "options"), &arm->option, &arm->options));
    cull_records_take(from, CULL_FIELDS(figures), arm);
    cull_records_take(from, CULL_FIELDS(judged), arm);
    cull_records_take(from, CULL_FIELDS(frontier), arm);
    for (size_t i = 0; i < CULL_RECORDS_FACTORS; i++) {
        arm->factor[i] = cull_records_number(json_array_get(to_error, i), "factor");
        arm->to_error[i] = cull_records_number(json_array_get(to_error, i), "cost");
    }
    TRY(cull_records_take_list(json_object_get(from, "runs"), CULL_FIELDS(named), sizeof *arm->run,
                               MOST_RUNS, &arm->run, &arm->runs));
    TRY(cull_records_take_list(json_object_get(from, "versus"), CULL_FIELDS(versus),
                               sizeof *arm->versus, CULL_RECORDS_VERSUS, &arm->versus,
                               &arm->controls));
    for (size_t i = 0; i < arm->controls; i++)
        cull_records_take(json_array_get(json_object_get(from, "versus"), i), CULL_FIELDS(primary),
                          &arm->versus[i]);
done:
    return status;
}

static cull_status take_arms(const char *name, const json_t *arms, cull_records_comparison *out)
{
    cull_status status = CULL_OK;
    size_t      count = json_array_size(arms);

    if (count > MOST_ARMS) {
        TRY(cull_records_say(&out->problems, "%s: %zu arms, the first %d are read", name, count,
                             MOST_ARMS));
        count = MOST_ARMS;
    }
    TRY(cull_base_alloc(count, sizeof *out->arm, "arms", &out->arm));
    while (out->arms < count) {
        const json_t     *from = json_array_get(arms, out->arms);
        cull_records_arm *arm = &out->arm[out->arms++];

        TRY(take_arm(from, out->metric, arm));
        if (strcmp(arm->role, "arm") == 0 && !json_is_object(json_object_get(from, "options")))
            TRY(cull_records_say(&out->problems,
                                 "%s: %.80s says nothing of its options, as older comparisons do; "
                                 "cull compare --resume writes it anew",
                                 name, arm->name));
    }
done:
    return status;
}

cull_status cull_records_comparison_decode(const char *name, const void *data, size_t bytes,
                                           cull_records_comparison *out)
{
    cull_status   status = CULL_OK;
    const json_t *problems = NULL, *words = NULL;
    size_t        i = 0;

    TRY(cull_records_parse(name, data, bytes, 0, &out->root));
    if (!json_is_array(json_object_get(out->root, "arms")))
        FAIL(CULL_BAD_FILE, "%s: is no comparison: it has no list of arms", name);
    TRY(check_version(name, out->root));
    cull_records_take(out->root, CULL_FIELDS(head), out);
    cull_records_take(out->root, CULL_FIELDS(rules), out);
    cull_records_take(out->root, CULL_FIELDS(verdict), out);
    cull_records_take(out->root, CULL_FIELDS(noticed), out);
    cull_records_take(json_object_get(out->root, "costs"), CULL_FIELDS(step), out);
    out->seeds = json_array_size(json_object_get(out->root, "seeds"));
    TRY(take_pairs(json_object_get(out->root, "recipe"), &out->recipe, &out->pairs));
    TRY(cull_records_take_list(json_object_get(json_object_get(out->root, "costs"), "rows"),
                               CULL_FIELDS(times), sizeof *out->time, MOST_TIMES, &out->time,
                               &out->times));
    problems = json_object_get(out->root, "problems");
    json_array_foreach(problems, i, words)
    {
        if (json_is_string(words))
            TRY(cull_records_say(&out->problems, "%s", json_string_value(words)));
    }
    TRY(take_arms(name, json_object_get(out->root, "arms"), out));
done:
    return status;
}

cull_status cull_records_comparison_read(const char *folder, cull_records_comparison *out)
{
    cull_status status = CULL_OK;
    char        name[CULL_DATA_PATH];
    void       *data = NULL;
    size_t      bytes = 0;

    (void)snprintf(name, sizeof name, "%.900s/comparison.json", folder);
    TRY(cull_records_file(folder, "comparison.json", &data, &bytes));
    if (!data) FAIL(CULL_IO, "%s: is not there", name);
    TRY(cull_records_comparison_decode(name, data, bytes, out));
done:
    cull_bytes_release(data);
    return status;
}

void cull_records_comparison_clear(cull_records_comparison *c)
{
    for (size_t i = 0; i < c->arms; i++) {
        cull_base_free(c->arm[i].option);
        cull_base_free(c->arm[i].run);
        cull_base_free(c->arm[i].versus);
    }
    cull_base_free(c->arm);
    cull_base_free(c->recipe);
    cull_base_free(c->time);
    cull_records_list_clear(&c->problems);
    json_decref(c->root);
    *c = (cull_records_comparison){0};
}
