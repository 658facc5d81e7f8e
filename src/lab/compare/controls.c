/* lab/compare/controls.c - the controls of every arm, at its cost. */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "lab/compare/arms.h"

enum { MOST_OPTIONS = 12 + CULL_ARM_SCORING, DIGITS = 6, MOST_MEASURED = 2 * CULL_ARM_OPTIONS };

/* Options of an arm that its uniform control has too. */
struct uniform {
    cull_option option[MOST_OPTIONS];
    size_t      count;
    char        keep[CULL_NUMBER_ROOM], batch[24];
};

static void copy_option(struct uniform *u, const cull_arm *arm, const char *key)
{
    const char *value = cull_recipe_value(arm->recipe, key);

    if (value) u->option[u->count++] = (cull_option){key, value};
}

/* To the digits it is written with: one example more may be one step more. */
static double round_down(double keep)
{
    double unit = pow(10, floor(log10(keep)) + 1 - DIGITS);

    return floor(keep / unit + 1e-6) * unit;
}

/* Does uniform choice of the pool's examples, in ordinary batches, make the same steps? What
 * collects does, and so does what selects when it will: plain steps and its own are alike. */
static bool is_of_pool(const cull_arm *arm)
{
    return arm->price.pool || !arm->price.fixed;
}

/* From the pool as often as the arm, or from each batch in the arm's window. What collects whole
 * batches is held against whole batches: smaller ones would be more steps, and dearer. */
static void describe(struct uniform *u, const cull_arm *arm, double keep, bool whole)
{
    const cull_price *price = &arm->price;
    bool              pool = is_of_pool(arm);

    *u = (struct uniform){0};
    if (whole) keep = round_down(keep);
    (void)cull_base_write_number(keep, whole ? DIGITS : 9, u->keep);
    u->option[u->count++] = (cull_option){"select.strategy", pool ? "adaptive-random" : "random"};
    u->option[u->count++] = (cull_option){"select.keep", u->keep};
    u->count += cull_arm_unscored(u->option + u->count);
    if (pool) {
        if (cull_recipe_value(arm->recipe, "select.period")) {
            copy_option(u, arm, "select.period");
            copy_option(u, arm, "select.warm");
        } else {
            u->option[u->count++] = (cull_option){"select.period", "1"};
        }
        return;
    }
    copy_option(u, arm, "select.start");
    copy_option(u, arm, "select.end");
    copy_option(u, arm, "select.every");
    if (!whole) {
        copy_option(u, arm, "select.mode");
        return;
    }
    u->option[u->count++] = (cull_option){"select.rounding", "alternate"};
    if (price->candidates && price->candidates != arm->recipe->setup.batch) {
        (void)snprintf(u->batch, sizeof u->batch, "%zu", price->candidates);
        u->option[u->count++] = (cull_option){"train.batch", u->batch};
    }
}

/* The share that is trained: of whole minibatches about the one that was asked for. */
static double share_of(const cull_costs *costs, const cull_arm *arm)
{
    size_t budget = arm->price.budget;

    if (!arm->price.pool || budget == cull_budget(arm->keep, costs->pool)) return arm->keep;
    return (double)budget / (double)costs->pool;
}

/* The share of examples, however long, that is trained in all. */
static double same_share(const cull_costs *costs, const cull_arms *arms, const cull_arm *arm)
{
    double trained = arm->own.counted ? arm->own.examples : arm->price.trained;

    if (arm->price.fixed || (arm->price.pool && arm->price.budget)) return share_of(costs, arm);
    return fmin(1, trained / arms->arm[0].price.trained);
}

cull_status cull_arm_whole_budget(const cull_arm_base *base, const cull_costs *costs,
                                  const cull_arm *arm, double seconds, double *keep)
{
    cull_status    status = CULL_OK;
    cull_recipe   *recipe = NULL;
    struct uniform u;
    cull_priced    run = {0};
    double         least = 0;

    if (!arm->price.fixed)
        least =
            fmin(1, arm->price.trained / ((double)costs->pool * (double)arm->recipe->setup.epochs));
    if (arm->price.fixed && arm->price.pool) least = share_of(costs, arm);
    if (arm->price.fixed && !arm->price.pool && arm->price.candidates)
        least = (double)arm->price.budget / (double)arm->price.candidates;
    describe(&u, arm, .5, true);
    TRY(cull_arm_recipe(base, u.option, u.count, &recipe));
    run = cull_arm_priced(recipe);
    TRY(cull_costs_match(costs, &run, least, seconds, keep));
done:
    cull_recipe_close(recipe);
    return status;
}

static cull_status add_uniform(const cull_arm_base *base, const cull_costs *costs, cull_arms *arms,
                               size_t of, cull_role role, double keep, size_t *at)
{
    cull_status    status = CULL_OK;
    struct uniform u;
    cull_arm       c = {.role = role, .keep = keep, .pass = "none", .uniform = true};

    describe(&u, &arms->arm[of], keep, role == CULL_ROLE_WHOLE_BUDGET);
    TRY(cull_arm_recipe(base, u.option, u.count, &c.recipe));
    (void)snprintf(c.strategy, sizeof c.strategy, "%s", u.option[0].value);
    (void)snprintf(c.name, sizeof c.name, "%.60s keep=%s", c.strategy, u.keep);
    (void)snprintf(c.folder, sizeof c.folder, "%.60s-%s", c.strategy, u.keep);
    for (size_t i = 0; i < arms->count; i++) /* other windows, the same keep */
        if (strcmp(arms->arm[i].name, c.name) == 0 &&
            strcmp(cull_recipe_text(arms->arm[i].recipe), cull_recipe_text(c.recipe)) != 0) {
            (void)snprintf(c.name, sizeof c.name, "%.40s keep=%s for %.80s", c.strategy, u.keep,
                           arms->arm[of].name);
            (void)snprintf(c.folder, sizeof c.folder, "%.40s-%s-for-%.80s", c.strategy, u.keep,
                           arms->arm[of].folder);
        }
    TRY(cull_arm_price(costs, &c));
    TRY(cull_arms_add(arms, &c, at));
done:
    cull_recipe_close(c.recipe);
    return status;
}

/* Full training that is over, or looked at, at this share of its cost. */
static cull_status add_full(const cull_arm_base *base, cull_arms *arms, cull_role role,
                            double share, size_t *at)
{
    cull_status status = CULL_OK;
    char        text[CULL_NUMBER_ROOM];
    cull_option more[CULL_ARM_SCORING + 1] = {{"train.shorten", text}};
    size_t      count = 1 + cull_arm_unscored(more + 1);
    cull_arm    c = {.role = role, .keep = 1, .pass = "none", .uniform = true, .share = share};
    cull_price *p = &c.price;

    (void)cull_base_write_number(share, 4, text);
    (void)snprintf(c.strategy, sizeof c.strategy, "full");
    if (role == CULL_ROLE_SHORTENED) TRY(cull_arm_recipe(base, more, count, &c.recipe));
    (void)snprintf(c.name, sizeof c.name, "full %s %s",
                   role == CULL_ROLE_SHORTENED ? "shortened to" : "stopped at", text);
    (void)snprintf(c.folder, sizeof c.folder, "full-%s%s",
                   role == CULL_ROLE_SHORTENED ? "" : "stopped-", text);
    *p = arms->arm[0].price;
    (void)cull_base_read_number(text, &c.share);
    p->seconds *= c.share;
    p->trained *= c.share;
    p->thirds *= c.share;
    p->steps = (uint64_t)llround(c.share * (double)p->steps);
    TRY(cull_arms_add(arms, &c, at));
done:
    cull_recipe_close(c.recipe);
    return status;
}

/* The largest cost of a group makes its controls; the others get the same. */
static void follow_leader(cull_arms *arms, size_t asked, const size_t *leader, cull_role role)
{
    for (size_t i = 1; i < asked; i++)
        arms->arm[i].control[role] = arms->arm[leader[i]].control[role];
}

static cull_status add_full_controls(const cull_arm_base *base, cull_arms *arms, size_t asked,
                                     const size_t *leader)
{
    cull_status status = CULL_OK;
    double      full = arms->arm[0].price.seconds;

    for (size_t i = 1; i < asked; i++) {
        size_t at = 0;
        double part = arms->arm[i].price.seconds / full;

        if (leader[i] != i) continue;
        if (part >= 1) {
            arms->arm[i].control[CULL_ROLE_SHORTENED] = 0; /* costs no less than full training */
            continue;
        }
        TRY(add_full(base, arms, CULL_ROLE_SHORTENED, part, &at));
        arms->arm[i].control[CULL_ROLE_SHORTENED] = at;
        TRY(add_full(base, arms, CULL_ROLE_EARLY_STOP, part, &at));
        arms->arm[i].control[CULL_ROLE_EARLY_STOP] = at;
    }
    follow_leader(arms, asked, leader, CULL_ROLE_SHORTENED);
    follow_leader(arms, asked, leader, CULL_ROLE_EARLY_STOP);
done:
    return status;
}

/* Arms have the same key when their uniform controls differ in nothing but how many they keep. */
static void key_of(const cull_arms *arms, size_t asked, size_t *key)
{
    for (size_t i = 1; i < asked; i++) {
        struct uniform a;

        describe(&a, &arms->arm[i], .5, true);
        key[i] = i;
        for (size_t j = 1; j < i && key[i] == i; j++) {
            struct uniform b;
            bool           same = true;

            describe(&b, &arms->arm[j], .5, true);
            same = a.count == b.count;
            for (size_t k = 0; same && k < a.count; k++)
                same = strcmp(a.option[k].key, b.option[k].key) == 0 &&
                       strcmp(a.option[k].value, b.option[k].value) == 0;
            if (same) key[i] = key[j];
        }
    }
}

static cull_status add_uniform_controls(const cull_arm_base *base, const cull_costs *costs,
                                        cull_arms *arms, size_t asked, const size_t *leader)
{
    cull_status status = CULL_OK;

    for (size_t i = 1; i < asked; i++) {
        size_t at = 0;
        double keep = 0;

        if (arms->arm[i].uniform) continue;
        keep = same_share(costs, arms, &arms->arm[i]);
        if (keep < 1) TRY(add_uniform(base, costs, arms, i, CULL_ROLE_SAME_M, keep, &at));
        arms->arm[i].control[CULL_ROLE_SAME_M] = keep < 1 ? at : 0;
        if (leader[i] != i) continue;
        TRY(cull_arm_whole_budget(base, costs, &arms->arm[i], arms->arm[i].price.seconds, &keep));
        if (keep < 1) TRY(add_uniform(base, costs, arms, i, CULL_ROLE_WHOLE_BUDGET, keep, &at));
        arms->arm[i].control[CULL_ROLE_WHOLE_BUDGET] = keep < 1 ? at : 0;
    }
    follow_leader(arms, asked, leader,
                  CULL_ROLE_WHOLE_BUDGET); /* uniform ones lead themselves: none */
done:
    return status;
}

cull_status cull_arms_control(const cull_arm_base *base, const cull_costs *costs, cull_arms *arms)
{
    cull_status status = CULL_OK;
    size_t      asked = 0, key[CULL_ARM_MOST] = {0}, leader[CULL_ARM_MOST];
    double      cost[CULL_ARM_MOST];

    while (asked < arms->count && arms->arm[asked].role <= CULL_ROLE_FULL) asked++;
    for (size_t i = asked; i < arms->count; i++) cull_recipe_close(arms->arm[i].recipe);
    arms->count = asked;
    for (size_t i = 0; i < asked; i++) {
        /* a guess that was settled had others */
        for (size_t role = 0; role < CULL_ROLES; role++) arms->arm[i].control[role] = SIZE_MAX;
        TRY(cull_arm_price(costs, &arms->arm[i]));
        cost[i] = arms->arm[i].price.seconds;
    }
    cost[0] = NAN; /* full training is in no group */
    key_of(arms, asked, key);
    for (size_t i = 1; i < asked; i++) /* nor is who needs no uniform control */
        if (arms->arm[i].uniform) cost[i] = NAN;
    cull_costs_group(cost, key, asked, CULL_ARM_SHARE, leader);
    TRY(add_uniform_controls(base, costs, arms, asked, leader));
    for (size_t i = 1; i < asked; i++) cost[i] = arms->arm[i].price.seconds;
    memset(key, 0, sizeof key);
    cull_costs_group(cost, key, asked, CULL_ARM_SHARE, leader);
    TRY(add_full_controls(base, arms, asked, leader));
    TRY(cull_arms_watch(base, costs, arms));
done:
    return status;
}

/* ---- what is measured ---- */

cull_status cull_arm_measured_as(const cull_arm_base *base, const cull_arm *arm, cull_recipe **out)
{
    cull_status  status = CULL_OK;
    cull_option  all[MOST_MEASURED];
    size_t       n = 0;
    cull_recipe *r = arm->recipe;
    const char  *scoring = NULL;

    all[n++] = (cull_option){"select.strategy", r->setup.strategy};
    for (size_t i = 0; (scoring = cull_arm_scoring(i)) && n < MOST_MEASURED; i++)
        all[n++] = (cull_option){scoring, cull_recipe_value(r, scoring)};
    for (size_t i = 0; i < r->select.count && n < MOST_MEASURED; i++) {
        const char *key = r->select.spec[i].key, *option = r->select.option[i].key;
        const char *value = r->select.option[i].value;

        if (strcmp(option, "start") == 0 || strcmp(option, "warm") == 0) value = "0";
        if (strcmp(option, "end") == 0 || strcmp(option, "every") == 0) value = "1";
        all[n++] = (cull_option){key, value};
    }
    TRY(cull_arm_recipe(base, all, n, out));
done:
    return status;
}

cull_status cull_arm_uniform_of(const cull_arm_base *base, size_t m, size_t M, cull_recipe **out)
{
    char        keep[CULL_NUMBER_ROOM], batch[24];
    cull_option all[CULL_ARM_SCORING + 3] = {
        {"select.strategy", "random"}, {"select.keep", keep}, {"train.batch", batch}};

    (void)cull_base_write_number((double)m / (double)M, 17, keep);
    (void)snprintf(batch, sizeof batch, "%zu", M);
    return cull_arm_recipe(base, all, 3 + cull_arm_unscored(all + 3), out);
}
