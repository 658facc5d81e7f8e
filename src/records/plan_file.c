/* records/plan_file.c - plan.json and costs.json: what a comparison will run, and by which table.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "records/comparison.h"
#include "records/comparison_fields.h"

#define P(key, kind, member)                                                                       \
    {                                                                                              \
        key, CULL_FIELD_##kind, offsetof(cull_records_plan, member)                                \
    }
#define A(key, kind, member)                                                                       \
    {                                                                                              \
        key, CULL_FIELD_##kind, offsetof(cull_records_planned, member)                             \
    }

static const cull_records_field plan_head[] = {
    P("title", TEXT, title),      P("created", TEXT, created), P("strategies", TEXT, strategies),
    P("keep", TEXT, keep),        P("pass", TEXT, pass),       P("seeds", COUNT, seeds),
    P("threads", COUNT, threads), P("jobs", COUNT, jobs),      P("margin", NUMBER, margin),
};
static const cull_records_field planned[] = {
    A("cost", NUMBER, cost), A("counted", NUMBER, counted), A("guess", BOOL, guess),
    A("runs", COUNT, runs),  A("seconds", NUMBER, seconds),
};
static const cull_records_field plan_sums[] = {
    P("runs", COUNT, runs),
    P("seconds", NUMBER, seconds),
    P("bytes", NUMBER, bytes),
    P("waited", NUMBER, waited),
};

cull_status cull_records_plan_put(const cull_records_plan *plan, cull_json *json)
{
    cull_json_reset(json);
    cull_json_open(json, NULL, '{');
    cull_json_count(json, "version", CULL_RECORDS_VERSION);
    cull_records_put(json, CULL_FIELDS(plan_head), plan);
    cull_json_open(json, "arms", '[');
    for (size_t i = 0; i < plan->arms; i++) {
        const cull_records_planned *arm = &plan->arm[i];

        cull_json_open(json, NULL, '{');
        cull_records_put(json, cull_records_who_fields, CULL_RECORDS_WHO, &arm->who);
        cull_records_put(json, CULL_FIELDS(planned), arm);
        cull_json_open(json, "controls", '{');
        for (size_t k = 0; k < arm->controls; k++)
            cull_json_text(json, arm->control[k].kind, arm->control[k].name);
        cull_json_close(json, '}');
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

    TRY(cull_records_load_version(path, &out->root));
    cull_records_take(out->root, CULL_FIELDS(plan_head), out);
    cull_records_take(out->root, CULL_FIELDS(plan_sums), out);
done:
    return status;
}

void cull_records_plan_clear(cull_records_plan *plan)
{
    cull_base_free(plan->arm);
    cull_records_list_clear(&plan->problems);
    json_decref(plan->root);
    *plan = (cull_records_plan){0};
}

/* ---- costs.json ---- */

#define C(key, kind, member)                                                                       \
    {                                                                                              \
        key, CULL_FIELD_##kind, offsetof(cull_records_costs, member)                               \
    }
#define O(key, kind, member)                                                                       \
    {                                                                                              \
        key, CULL_FIELD_##kind, offsetof(cull_records_own, member)                                 \
    }

static const cull_records_field costs_head[] = {
    C("threads", COUNT, threads),
    C("jobs", COUNT, jobs),
    C("settled", BOOL, settled),
    C("init", TEXT_IF, init),
};
static const cull_records_field table[] = {
    C("pool", COUNT, pool),
    C("validation", COUNT, validation),
    C("test", COUNT, test),
    C("classes", COUNT, classes),
    C("parameters", COUNT, parameters),
    C("start", NUMBER, start),
    C("waited", NUMBER, waited),
    C("load", NUMBER, load),
    C("optim", NUMBER, optim),
};
static const cull_records_field size[] = {
    {"batch", CULL_FIELD_COUNT, offsetof(cull_records_size, batch)},
    {"seconds", CULL_FIELD_NUMBER, offsetof(cull_records_size, seconds)},
};
static const cull_records_field own[] = {
    O("name", TEXT, name),
    O("score", NUMBER, score),
    O("decide", NUMBER, decide),
    O("learn_kept", NUMBER, learn_kept),
    O("pool_score", NUMBER, pool_score),
    O("pool_solve", NUMBER, pool_solve),
    O("share", NUMBER, share),
    O("diverged", BOOL_IF, diverged),
};
/* All of them or none. */
static const cull_records_field counted[] = {
    O("scored", NUMBER, scored),
    O("trained", NUMBER, trained),
    O("thirds", NUMBER, thirds),
};
static const cull_records_field left[] = {
    {"name", CULL_FIELD_TEXT, offsetof(cull_records_left, name)},
    {"why", CULL_FIELD_TEXT, offsetof(cull_records_left, why)},
};

cull_status cull_records_costs_write(const char *path, const cull_records_costs *costs)
{
    cull_status status = CULL_OK;
    cull_json   json = {0};

    cull_json_open(&json, NULL, '{');
    cull_json_count(&json, "version", CULL_RECORDS_VERSION);
    cull_records_put(&json, CULL_FIELDS(costs_head), costs);
    cull_records_put(&json, CULL_FIELDS(table), costs);
    cull_records_put_list(&json, "learn", CULL_FIELDS(size), costs->learn, costs->sizes,
                          sizeof *costs->learn);
    cull_json_open(&json, "arms", '[');
    for (size_t i = 0; i < costs->arms; i++) {
        cull_json_open(&json, NULL, '{');
        cull_records_put(&json, CULL_FIELDS(own), &costs->arm[i]);
        if (!isnan(costs->arm[i].trained))
            cull_records_put(&json, CULL_FIELDS(counted), &costs->arm[i]);
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

/* Every number of the table is there, finite and not negative. */
static bool is_whole(const cull_records_costs *costs, const json_t *arms)
{
    bool whole =
        cull_records_known(CULL_FIELDS(table), costs) && costs->pool >= 1 && costs->sizes > 0;

    for (size_t i = 0; i < costs->sizes; i++)
        whole = whole && cull_records_known(CULL_FIELDS(size), &costs->learn[i]) &&
                costs->learn[i].batch >= 1;
    for (size_t i = 0; i < costs->arms; i++)
        whole = whole && cull_records_known(CULL_FIELDS(own), &costs->arm[i]) &&
                (!json_object_get(json_array_get(arms, i), "trained") ||
                 cull_records_known(CULL_FIELDS(counted), &costs->arm[i]));
    return whole;
}

cull_status cull_records_costs_read(const char *path, cull_records_costs *out)
{
    cull_status   status = CULL_OK;
    const json_t *arms = NULL;

    TRY(cull_records_load_version(path, &out->root));
    cull_records_take(out->root, CULL_FIELDS(costs_head), out);
    cull_records_take(out->root, CULL_FIELDS(table), out);
    arms = json_object_get(out->root, "arms");
    TRY(cull_records_take_list(json_object_get(out->root, "learn"), CULL_FIELDS(size),
                               sizeof *out->learn, SIZE_MAX, &out->learn, &out->sizes));
    TRY(cull_records_take_list(arms, CULL_FIELDS(own), sizeof *out->arm, SIZE_MAX, &out->arm,
                               &out->arms));
    for (size_t i = 0; i < out->arms; i++)
        cull_records_take(json_array_get(arms, i), CULL_FIELDS(counted), &out->arm[i]);
    TRY(cull_records_take_list(json_object_get(out->root, "left_out"), CULL_FIELDS(left),
                               sizeof *out->left, SIZE_MAX, &out->left, &out->lefts));
    if (!is_whole(out, arms)) FAIL(CULL_BAD_FILE, "%s: a number is missing or wrong", path);
done:
    return status;
}

void cull_records_costs_clear(cull_records_costs *costs)
{
    cull_base_free(costs->learn);
    cull_base_free(costs->arm);
    cull_base_free(costs->left);
    json_decref(costs->root);
    *costs = (cull_records_costs){0};
}
