/* lab/compare/costs_file.c - costs.json: the table, frozen in the comparison's folder. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/compare/compare.h"

static void put_arm(cull_json *json, const cull_arm *arm)
{
    cull_json_open(json, NULL, '{');
    cull_json_text(json, "name", arm->name);
    cull_json_number(json, "score", arm->own.score);
    cull_json_number(json, "decide", arm->own.decide);
    cull_json_number(json, "learn_kept", arm->own.learn_kept);
    cull_json_number(json, "pool_score", arm->own.pool_score);
    cull_json_number(json, "pool_solve", arm->own.pool_solve);
    cull_json_number(json, "share", arm->own.share);
    if (arm->own.diverged) cull_json_bool(json, "diverged", true);
    if (arm->own.counted) {
        cull_json_number(json, "scored", arm->own.scored);
        cull_json_number(json, "trained", arm->own.trained);
        cull_json_number(json, "thirds", arm->own.thirds);
    }
    cull_json_close(json, '}');
}

cull_status cull_costs_write(const cull_comparison *c, const char *path)
{
    cull_status       status = CULL_OK;
    const cull_costs *k = &c->costs;
    cull_json         json = {0};

    cull_json_open(&json, NULL, '{');
    cull_json_count(&json, "version", CULL_COMPARE_VERSION);
    cull_json_count(&json, "threads", c->threads);
    cull_json_count(&json, "jobs", c->jobs);
    cull_json_bool(&json, "settled", c->settled);
    if (c->init[0]) cull_json_text(&json, "init", c->init);
    cull_json_count(&json, "pool", k->pool);
    cull_json_count(&json, "validation", k->validation);
    cull_json_count(&json, "test", k->test);
    cull_json_count(&json, "classes", k->classes);
    cull_json_count(&json, "parameters", k->parameters);
    cull_json_number(&json, "start", k->start);
    cull_json_number(&json, "waited", k->waited);
    cull_json_number(&json, "load", k->load);
    cull_json_number(&json, "optim", k->optim);
    cull_json_open(&json, "learn", '[');
    for (size_t i = 0; i < k->sizes; i++) {
        cull_json_open(&json, NULL, '{');
        cull_json_count(&json, "batch", k->learn[i].batch);
        cull_json_number(&json, "seconds", k->learn[i].seconds);
        cull_json_close(&json, '}');
    }
    cull_json_close(&json, ']');
    cull_json_open(&json, "arms", '[');
    for (size_t i = 0; i < c->arms.count; i++)
        if (c->arms.arm[i].own.known) put_arm(&json, &c->arms.arm[i]);
    cull_json_close(&json, ']');
    cull_json_open(&json, "left_out", '[');
    for (size_t i = 0; i < c->arms.lefts; i++) {
        cull_json_open(&json, NULL, '{');
        cull_json_text(&json, "name", c->arms.left[i].name);
        cull_json_text(&json, "why", c->arms.left[i].why);
        cull_json_close(&json, '}');
    }
    cull_json_close(&json, ']');
    cull_json_close(&json, '}');
    cull_json_line(&json);
    TRY(json.status);
    TRY(cull_file_write(path, json.bytes.data, json.bytes.size));
done:
    cull_json_clear(&json);
    return status;
}

/* A number that is there, finite and not negative; all of the table is. */
static bool read_number(const json_t *object, const char *key, double *out)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_number(value)) return false;
    *out = json_number_value(value);
    return *out >= 0 && *out < 1e18;
}

static bool read_count(const json_t *object, const char *key, size_t *out)
{
    double number = 0;
    bool   there = read_number(object, key, &number);

    *out = (size_t)number;
    return there;
}

static bool read_shared(const json_t *root, cull_costs *k)
{
    size_t        i = 0, batch = 0;
    const json_t *item = NULL;
    double        seconds = 0;

    if (!read_count(root, "pool", &k->pool) || !read_count(root, "test", &k->test) ||
        !read_count(root, "validation", &k->validation) ||
        !read_count(root, "classes", &k->classes) ||
        !read_count(root, "parameters", &k->parameters) || !read_number(root, "start", &k->start) ||
        !read_number(root, "waited", &k->waited) || !read_number(root, "load", &k->load) ||
        !read_number(root, "optim", &k->optim) || k->pool == 0)
        return false;
    json_array_foreach(json_object_get(root, "learn"), i, item)
    {
        if (!read_count(item, "batch", &batch) || !read_number(item, "seconds", &seconds) ||
            batch == 0 || !cull_costs_add(k, batch, seconds))
            return false;
    }
    return k->sizes > 0;
}

static bool read_arm(const json_t *arms, cull_arm *arm)
{
    size_t          i = 0;
    const json_t   *item = NULL;
    cull_arm_costs *own = &arm->own;

    json_array_foreach(arms, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));

        if (!name || strcmp(name, arm->name) != 0) continue;
        own->known = true;
        own->diverged = json_is_true(json_object_get(item, "diverged"));
        own->counted = json_object_get(item, "trained") != NULL;
        if (own->counted && (!read_number(item, "scored", &own->scored) ||
                             !read_number(item, "trained", &own->trained) ||
                             !read_number(item, "thirds", &own->thirds)))
            return false;
        return read_number(item, "score", &own->score) &&
               read_number(item, "decide", &own->decide) &&
               read_number(item, "learn_kept", &own->learn_kept) &&
               read_number(item, "pool_score", &own->pool_score) &&
               read_number(item, "pool_solve", &own->pool_solve) &&
               read_number(item, "share", &own->share);
    }
    return false;
}

/* What could not be measured is not in the table, and is left out again. */
static cull_status leave_out(cull_comparison *c, const json_t *list)
{
    cull_status   status = CULL_OK;
    size_t        i = 0;
    const json_t *item = NULL;

    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *why = json_string_value(json_object_get(item, "why"));

        for (size_t k = c->arms.count; name && why && k-- > 1;)
            if (strcmp(c->arms.arm[k].name, name) == 0 && !c->arms.arm[k].uniform) {
                TRY(cull_arms_note_left(&c->arms, name, CULL_BAD_OPTION, why));
                cull_arms_drop(&c->arms, k);
            }
    }
    if (cull_arms_to_judge(&c->arms) == 0)
        FAIL(CULL_BAD_FILE, "%s: its costs leave no arm", c->folder);
done:
    return status;
}

cull_status cull_costs_read(cull_comparison *c, const char *path)
{
    cull_status  status = CULL_OK;
    json_error_t error;
    json_t      *root = NULL;
    void        *bytes = NULL;
    size_t       size = 0;
    cull_costs   costs = {0};
    const char  *init = NULL;

    TRY(cull_file_read(path, &bytes, &size));
    root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) FAIL(CULL_BAD_FILE, "%s:%d: %s", path, error.line, error.text);
    if (json_integer_value(json_object_get(root, "version")) != CULL_COMPARE_VERSION)
        FAIL(CULL_BAD_FILE, "%s: of another version", path);
    if (!read_shared(root, &costs)) FAIL(CULL_BAD_FILE, "%s: a number is missing or wrong", path);
    TRY(leave_out(c, json_object_get(root, "left_out")));
    for (size_t i = 0; i < c->arms.count; i++)
        if (!c->arms.arm[i].uniform && !read_arm(json_object_get(root, "arms"), &c->arms.arm[i]))
            FAIL(CULL_BAD_FILE, "%s: the costs of %s are missing or wrong", path,
                 c->arms.arm[i].name);
    init = json_string_value(json_object_get(root, "init"));
    if (init) (void)snprintf(c->init, sizeof c->init, "%s", init);
    c->costs = costs;
    c->settled = json_is_true(json_object_get(root, "settled"));
done:
    json_decref(root);
    cull_bytes_release(bytes);
    return status;
}
