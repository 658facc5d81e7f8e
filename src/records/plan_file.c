/* records/plan_file.c - plan.json and costs.json: what a comparison will run, and by which table.
 */
#include "base/alloc.h"
#include "records/comparison_fields.h"

// clang-format off
#define P(kind, name) CULL_FIELD(cull_records_plan, #name, kind, name)
#define A(key, kind, member) CULL_FIELD(cull_records_arm, key, kind, member)

static const cull_records_field plan_head[] = {
    P(TEXT, title), P(TEXT, created), P(TEXT, strategies), P(TEXT, keep), P(TEXT, pass),
    P(COUNT, seeds), P(COUNT, threads), P(COUNT, jobs), P(NUMBER, margin),
};
static const cull_records_field planned[] = {
    A("cost", NUMBER, cost), A("counted", NUMBER, counted), A("guess", BOOL, guess),
    A("runs", COUNT, planned), A("seconds", NUMBER, expect),
};
static const cull_records_field plan_sums[] = {
    P(COUNT, runs), P(NUMBER, seconds), P(NUMBER, bytes), P(NUMBER, waited),
};
// clang-format on

cull_status cull_records_plan_put(const cull_records_plan *plan, cull_json *json)
{
    cull_records_begin(json);
    cull_records_put(json, CULL_FIELDS(plan_head), plan);
    cull_json_open(json, "arms", '[');
    for (size_t i = 0; i < plan->arms; i++) {
        cull_json_open(json, NULL, '{');
        cull_records_put_who(json, &plan->arm[i]);
        cull_records_put(json, CULL_FIELDS(planned), &plan->arm[i]);
        cull_records_put_controls(json, &plan->arm[i]);
        cull_json_close(json, '}');
    }
    cull_json_close(json, ']');
    cull_records_put(json, CULL_FIELDS(plan_sums), plan);
    cull_records_put_problems(json, &plan->problems);
    return cull_records_end(json);
}

cull_status cull_records_plan_read(const char *path, cull_records_plan *out)
{
    cull_status status = CULL_OK;

    TRY(cull_records_load(path, &out->root));
    cull_records_take(out->root, CULL_FIELDS(plan_head), out);
    cull_records_take(out->root, CULL_FIELDS(plan_sums), out);
done:
    return status;
}

void cull_records_plan_clear(cull_records_plan *plan)
{
    json_decref(plan->root);
    *plan = (cull_records_plan){0};
}

/* ---- costs.json ---- */

// clang-format off
#define C(kind, name) CULL_FIELD(cull_records_costs, #name, kind, name)
#define T(kind, name) CULL_FIELD(cull_records_costs, #name, kind, table.name)
#define O(kind, name) CULL_FIELD(struct cull_records_own, #name, kind, costs.name)

static const cull_records_field costs_head[] = {
    C(COUNT, threads), C(COUNT, jobs), C(BOOL, settled), C(TEXT_IF, init),
    C(TEXT_IF, fingerprint), C(TEXT_IF, test_fingerprint),
};
static const cull_records_field table[] = {
    T(SIZE, pool), T(SIZE, validation), T(SIZE, test), T(SIZE, classes), T(SIZE, parameters),
    T(NUMBER, start), T(NUMBER, waited), T(NUMBER, load), T(NUMBER, optim),
};
static const cull_records_field of_texts[] = {T(NUMBER, tokens)};
static const cull_records_field guess[] = {T(NUMBER, guess)}; /* which older ones have not */
static const cull_records_field size[] = {
    CULL_FIELD(struct cull_cost_size, "batch", SIZE, batch),
    CULL_FIELD(struct cull_cost_size, "seconds", NUMBER, seconds),
};
static const cull_records_field own[] = {
    CULL_FIELD(struct cull_records_own, "name", TEXT, name), O(NUMBER, score), O(NUMBER, decide),
    O(NUMBER, learn_kept), O(NUMBER, pool_score), O(NUMBER, pool_solve), O(NUMBER, share),
    O(BOOL_IF, diverged),
};
/* All of them or none. */
static const cull_records_field counted[] = {
    O(NUMBER, scored), O(NUMBER, trained), O(NUMBER, thirds),
};
/* Of texts, besides; else as many as trained. */
static const cull_records_field counted_texts[] = {
    O(NUMBER, examples),
};
static const cull_records_field left[] = {
    CULL_FIELD(struct cull_records_left, "name", TEXT, name),
    CULL_FIELD(struct cull_records_left, "why", TEXT, why),
};
// clang-format on

cull_status cull_records_costs_write(const char *path, const cull_records_costs *costs)
{
    cull_status status = CULL_OK;
    cull_json   json = {0};

    cull_records_begin(&json);
    cull_records_put(&json, CULL_FIELDS(costs_head), costs);
    cull_records_put(&json, CULL_FIELDS(table), costs);
    cull_records_put(&json, CULL_FIELDS(guess), costs);
    if (costs->table.tokens > 0) cull_records_put(&json, CULL_FIELDS(of_texts), costs);
    cull_records_put_list(&json, "learn", CULL_FIELDS(size), costs->table.learn, costs->table.sizes,
                          sizeof *costs->table.learn);
    cull_json_open(&json, "arms", '[');
    for (size_t i = 0; i < costs->arms; i++) {
        cull_json_open(&json, NULL, '{');
        cull_records_put(&json, CULL_FIELDS(own), &costs->arm[i]);
        if (costs->arm[i].costs.counted)
            cull_records_put(&json, CULL_FIELDS(counted), &costs->arm[i]);
        if (costs->arm[i].costs.counted && costs->table.tokens > 0)
            cull_records_put(&json, CULL_FIELDS(counted_texts), &costs->arm[i]);
        cull_json_close(&json, '}');
    }
    cull_json_close(&json, ']');
    cull_records_put_list(&json, "left_out", CULL_FIELDS(left), costs->left, costs->lefts,
                          sizeof *costs->left);
    TRY(cull_records_end(&json));
    TRY(cull_file_write(path, json.bytes.data, json.bytes.size - 1));
done:
    cull_json_clear(&json);
    return status;
}

/* Every number is there, finite and not negative; sizes ascend. */
static bool take_sizes(const json_t *list, cull_costs *out)
{
    size_t before = 0;

    out->sizes = json_array_size(list);
    if (out->sizes == 0 || out->sizes > CULL_COST_SIZES) return false;
    for (size_t i = 0; i < out->sizes; before = out->learn[i++].batch) {
        cull_records_take(json_array_get(list, i), CULL_FIELDS(size), &out->learn[i]);
        if (!cull_records_known(CULL_FIELDS(size), &out->learn[i]) || out->learn[i].batch <= before)
            return false;
    }
    return true;
}

static bool take_own(const json_t *from, struct cull_records_own *out)
{
    out->costs.known = true;
    out->costs.counted = json_object_get(from, "trained") != NULL;
    if (out->costs.counted) cull_records_take(from, CULL_FIELDS(counted), out);
    out->costs.examples = out->costs.trained;
    if (json_object_get(from, "examples")) cull_records_take(from, CULL_FIELDS(counted_texts), out);
    return cull_records_known(CULL_FIELDS(own), out) &&
           cull_records_known(CULL_FIELDS(counted), out) &&
           cull_records_known(CULL_FIELDS(counted_texts), out);
}

cull_status cull_records_costs_read(const char *path, cull_records_costs *out)
{
    cull_status   status = CULL_OK;
    const json_t *arms = NULL;
    bool          whole = false;

    TRY(cull_records_load(path, &out->root));
    cull_records_take(out->root, CULL_FIELDS(costs_head), out);
    cull_records_take(out->root, CULL_FIELDS(table), out);
    cull_records_take(out->root, CULL_FIELDS(of_texts), out);
    if (!(out->table.tokens > 0)) out->table.tokens = 0;
    cull_records_take(out->root, CULL_FIELDS(guess), out);
    if (!(out->table.guess > 0)) out->table.guess = 0;
    arms = json_object_get(out->root, "arms");
    TRY(cull_records_take_list(arms, CULL_FIELDS(own), sizeof *out->arm, SIZE_MAX, &out->arm,
                               &out->arms));
    TRY(cull_records_take_list(json_object_get(out->root, "left_out"), CULL_FIELDS(left),
                               sizeof *out->left, SIZE_MAX, &out->left, &out->lefts));
    whole = cull_records_known(CULL_FIELDS(table), out) && out->table.pool > 0 &&
            take_sizes(json_object_get(out->root, "learn"), &out->table);
    for (size_t i = 0; whole && i < out->arms; i++)
        whole = take_own(json_array_get(arms, i), &out->arm[i]);
    if (!whole) FAIL(CULL_BAD_FILE, "%s: a number is missing or wrong", path);
done:
    return status;
}

void cull_records_costs_clear(cull_records_costs *costs)
{
    cull_base_free(costs->arm);
    cull_base_free(costs->left);
    json_decref(costs->root);
    *costs = (cull_records_costs){0};
}
