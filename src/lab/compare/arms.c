/* lab/compare/arms.c - the arms that a user asks for: strategies, shares and passes made recipes.
 */
#include "lab/compare/arms.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/number.h"

enum { MOST_CHANGES = 160 };
enum { NAME_END = 48 }; /* letters of " keep=0.123456789 separate", and more */

const char *cull_role_name(cull_role role)
{
    static const char *const names[CULL_ROLES] = {"arm",          "full",      "same-m",
                                                  "whole-budget", "shortened", "early-stop"};
    return names[role];
}

/* The base's changes but those that are replaced, then the others; returns how many. */
static size_t join_changes(const cull_arm_base *base, const cull_option *more, size_t count,
                           cull_option *all)
{
    size_t n = 0;

    for (size_t i = 0; i < base->count; i++) {
        bool replaced = base->threads && strcmp(base->changes[i].key, "train.threads") == 0;
        for (size_t k = 0; k < count; k++)
            replaced = replaced || strcmp(base->changes[i].key, more[k].key) == 0;
        if (!replaced) all[n++] = base->changes[i];
    }
    for (size_t k = 0; k < count; k++) all[n++] = more[k];
    return n;
}

/* The base with more changes, as it stands; moments: train.evaluate_at instead of its own. */
static cull_status open_changed(const cull_arm_base *base, const cull_option *more, size_t count,
                                const char *moments, cull_recipe **out)
{
    cull_status status = CULL_OK;
    cull_option all[MOST_CHANGES];
    char        threads[16];
    size_t      n = 0, at = 0;

    if (base->count + count + 2 > MOST_CHANGES)
        FAIL(CULL_BAD_OPTION, "%zu changes to a recipe are too many", base->count);
    n = join_changes(base, more, count, all);
    if (base->threads) {
        (void)snprintf(threads, sizeof threads, "%u", base->threads);
        all[n++] = (cull_option){"train.threads", threads};
    }
    if (moments) {
        while (at < n && strcmp(all[at].key, "train.evaluate_at") != 0) at++;
        n += at == n;
        all[at] = (cull_option){"train.evaluate_at", moments};
    }
    TRY(cull_recipe_open(base->path, all, n, out));
done:
    return status;
}

cull_status cull_arm_recipe(const cull_arm_base *base, const cull_option *more, size_t count,
                            cull_recipe **out)
{
    cull_status  status = CULL_OK;
    char         moments[CULL_ARM_MOMENTS];
    bool         fits = true;
    cull_recipe *recipe = NULL;

    TRY(open_changed(base, more, count, NULL, &recipe));
    if (count > 0) TRY(cull_arm_moments_left(recipe, moments, &fits));
    if (!fits) {
        cull_recipe_close(recipe);
        recipe = NULL;
        TRY(open_changed(base, more, count, moments, &recipe));
    }
    *out = recipe;
    recipe = NULL;
done:
    cull_recipe_close(recipe);
    return status;
}

static bool is_taken(const cull_arms *arms, const cull_arm *arm)
{
    for (size_t i = 0; i < arms->count; i++)
        if (strcmp(arms->arm[i].name, arm->name) == 0 ||
            strcmp(arms->arm[i].folder, arm->folder) == 0)
            return true;
    return false;
}

/* Long options are cut short in names, and folders have few signs: others may be called the same.
 */
static void tell_apart(const cull_arms *arms, cull_arm *arm)
{
    enum { ROOM = 12 };
    size_t name = strlen(arm->name), folder = strlen(arm->folder);

    if (name > sizeof arm->name - ROOM) name = sizeof arm->name - ROOM;
    if (folder > sizeof arm->folder - ROOM) folder = sizeof arm->folder - ROOM;
    for (unsigned n = 2; is_taken(arms, arm); n++) {
        (void)snprintf(arm->name + name, ROOM, " (%u)", n);
        (void)snprintf(arm->folder + folder, ROOM, "-%u", n);
    }
}

cull_status cull_arms_add(cull_arms *arms, cull_arm *arm, size_t *at)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; arm->recipe && i < arms->count; i++)
        if (arms->arm[i].recipe &&
            strcmp(cull_recipe_text(arms->arm[i].recipe), cull_recipe_text(arm->recipe)) == 0) {
            *at = i;
            return CULL_OK;
        }
    if (arms->count == CULL_ARM_MOST) FAIL(CULL_BAD_OPTION, "more than %d arms", CULL_ARM_MOST);
    if (arms->count == arms->room) {
        size_t room = arms->room ? 2 * arms->room : 16;
        TRY(cull_base_grow(room, sizeof *arms->arm, "a comparison", &arms->arm));
        arms->room = room;
    }
    *at = arms->count;
    arms->arm[*at] = *arm;
    tell_apart(arms, &arms->arm[*at]);
    arms->count++;
    arm->recipe = NULL;
    for (size_t i = 0; i < CULL_ROLES; i++) arms->arm[*at].control[i] = SIZE_MAX;
done:
    return status;
}

void cull_arms_close(cull_arms *arms)
{
    for (size_t i = 0; i < arms->count; i++) cull_recipe_close(arms->arm[i].recipe);
    cull_base_free(arms->arm);
    cull_base_free(arms->left);
    cull_arms_forget(arms->asked, arms->wishes);
    *arms = (cull_arms){0};
}

static void keep_reason(cull_arm_left *left, cull_status status, const char *why)
{
    left->status = status;
    (void)snprintf(left->why, sizeof left->why, "%s", why);
    (void)snprintf(left->subject, sizeof left->subject, "%.63s", cull_last_subject());
}

cull_status cull_arms_note_left(cull_arms *arms, const char *name, cull_status because,
                                const char *why)
{
    cull_status status = CULL_OK;

    if (arms->lefts == arms->left_room) {
        size_t room = arms->left_room ? 2 * arms->left_room : 8;
        TRY(cull_base_grow(room, sizeof *arms->left, "a comparison", &arms->left));
        arms->left_room = room;
    }
    (void)snprintf(arms->left[arms->lefts].name, CULL_ARM_NAME, "%s", name);
    keep_reason(&arms->left[arms->lefts++], because, why);
done:
    return status;
}

size_t cull_arms_to_judge(const cull_arms *arms)
{
    size_t count = 0;

    for (size_t i = 0; i < arms->count; i++)
        count += arms->arm[i].role == CULL_ROLE_ARM && !arms->arm[i].uniform;
    return count;
}

void cull_arms_drop(cull_arms *arms, size_t at)
{
    cull_recipe_close(arms->arm[at].recipe);
    arms->count--;
    memmove(&arms->arm[at], &arms->arm[at + 1], (arms->count - at) * sizeof *arms->arm);
}

/* How examples are scored may differ between arms; it is said as in a recipe. */
static bool is_of_scoring(const char *key)
{
    return strncmp(key, "score.", strlen("score.")) == 0 ||
           strncmp(key, "reuse.", strlen("reuse.")) == 0;
}

size_t cull_arm_unscored(cull_option out[CULL_ARM_SCORING])
{
    const cull_option_spec *spec = NULL;
    size_t                  count = 0;

    for (size_t at = 0; count < CULL_ARM_SCORING && (spec = cull_recipe_option_at(at)); at++)
        if (is_of_scoring(spec->key)) out[count++] = (cull_option){spec->key, spec->fallback};
    return count;
}

const char *cull_arm_scoring(size_t i)
{
    const cull_option_spec *spec = NULL;

    for (size_t at = 0; (spec = cull_recipe_option_at(at)); at++)
        if (is_of_scoring(spec->key) && i-- == 0) return spec->key;
    return NULL;
}

/* ---- arms ---- */

/* Room is left for the share and the pass, which tell arms of one strategy apart. */
static void name_arm(const cull_arm_asked *a, const char *keep, cull_arm *arm)
{
    char what[CULL_ARM_NAME - NAME_END], pass[18] = "";

    if (strcmp(arm->pass, "none") != 0) (void)snprintf(pass, sizeof pass, " %.16s", arm->pass);
    (void)cull_strategy_text_write(&a->what, what, sizeof what);
    (void)snprintf(arm->name, sizeof arm->name, "%s%s%.24s%s", what, keep ? " keep=" : "",
                   keep ? keep : "", pass);
    (void)snprintf(arm->folder, sizeof arm->folder, "%s%s%.24s%s", what, keep ? " " : "",
                   keep ? keep : "", pass);
    for (char *at = arm->folder; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '.' && *at != '_') *at = '-';
}

/* What a run does, before anything is measured. */
static cull_status look_at(const cull_recipe *recipe, cull_price *out)
{
    cull_costs  costs = {.pool = cull_arm_looked(&recipe->setup)};
    cull_priced run = cull_arm_priced(recipe);

    run.own.share = .5;
    return cull_costs_price(&costs, &run, NULL, 0, NULL, out);
}

static bool scores_for_less(const cull_arm *arm)
{
    const cull_score_setup *score = &arm->recipe->setup.score;

    return score->int8 || score->proxy || score->scale < 1;
}

/* A separate scoring pass costs a third of every candidate. */
static cull_status check_saving(const cull_arm *arm, const cull_arm_wish *wish,
                                const cull_price *look)
{
    double batch = (double)look->candidates;

    if (wish->anyway || look->pool || look->scoring < look->steps ||
        strcmp(arm->pass, "separate") != 0 || !(arm->keep >= 2. / 3) || scores_for_less(arm))
        return CULL_OK;
    return cull_fail_about(
        CULL_NO_SAVING, "keep",
        "it cannot save anything: scoring %.0f examples costs %.0f/3 and training "
        "%.0f %% of them %.0f, together %.1f of the %.0f that full training costs",
        batch, batch, 100 * arm->keep, floor(arm->keep * batch),
        batch / 3 + floor(arm->keep * batch), batch);
}

/* The changes to a recipe that a strategy of the list means. */
struct meant {
    cull_option option[CULL_ARM_OPTIONS + CULL_ARM_SCORING];
    char        key[CULL_ARM_OPTIONS][CULL_RECIPE_KEY];
    size_t      count;
};

/* pass: "separate", "reuse" or "none". What the base says of scoring is not for those who do none,
 * nor what it says of reuse for those who reuse nothing. */
static void mean(const cull_arm_asked *a, const char *keep, const char *pass, struct meant *out)
{
    const cull_strategy_text *what = &a->what;

    *out = (struct meant){0};
    out->option[out->count++] = (cull_option){"select.strategy", a->strategy};
    if (strcmp(pass, "none") == 0)
        out->count += cull_arm_unscored(out->option + out->count);
    else
        out->option[out->count++] = (cull_option){"score.pass", pass};
    if (strcmp(pass, "separate") == 0 && !cull_strategy_text_value(what, "reuse.batchnorm"))
        out->option[out->count++] = (cull_option){"reuse.batchnorm", "kept"};
    if (keep) out->option[out->count++] = (cull_option){"select.keep", keep};
    for (size_t i = 0; i < what->options; i++) {
        (void)snprintf(out->key[i], sizeof out->key[i], "%s%.50s",
                       is_of_scoring(what->option[i].key) ? "" : "select.", what->option[i].key);
        out->option[out->count++] = (cull_option){out->key[i], what->option[i].value};
    }
}

/* It contradicts itself or what it is compared by: no reason to end the others. */
static bool cannot_be(cull_status status)
{
    return status == CULL_BAD_OPTION || status == CULL_UNKNOWN_OPTION || status == CULL_NO_SAVING;
}

/* One arm, or a word on why it cannot be: others of its strategy may. */
static cull_status add_pass(const cull_arm_base *base, const cull_arm_wish *wish, cull_arms *arms,
                            const cull_arm_asked *a, const char *keep, const char *pass)
{
    cull_status  status = CULL_OK;
    struct meant m;
    cull_arm     arm = {.role = CULL_ROLE_ARM, .keep = NAN, .pass = pass, .asked = a};
    cull_price   look = {0};
    size_t       at = 0;

    mean(a, keep, pass, &m);
    if (keep) (void)cull_base_read_number(keep, &arm.keep);
    (void)snprintf(arm.strategy, sizeof arm.strategy, "%s", a->strategy);
    name_arm(a, keep, &arm);
    status = cull_arm_recipe(base, m.option, m.count, &arm.recipe);
    if (status == CULL_OK) status = look_at(arm.recipe, &look);
    if (status == CULL_OK) status = check_saving(&arm, wish, &look);
    if (cannot_be(status)) {
        status = cull_arms_note_left(arms, arm.name, status, cull_last_error());
        goto done;
    }
    TRY(status);
    arm.uniform = arm.recipe->select.strategy->traits & CULL_UNIFORM;
    arm.price = look; /* until there is a table, for its candidates */
    TRY(cull_arms_add(arms, &arm, &at));
done:
    cull_recipe_close(arm.recipe);
    return status;
}

/* What a strategy of the list does, whatever it keeps. */
struct look {
    bool keeps, steps, pool; /* takes a share; scores batches; scores the pool */
};

/* It must be possible by itself, with one pass at least; the first says why not. */
static cull_status open_alone(const cull_arm_base *base, const cull_arm_asked *a, cull_recipe **out)
{
    static const char *const passes[] = {"separate", "reuse"};
    struct meant             m;
    cull_arm_left            first = {.status = CULL_OK};
    cull_status              status = CULL_OK;

    for (size_t i = 0; i < 2; i++) {
        mean(a, NULL, passes[i], &m);
        status = open_changed(base, m.option, m.count, NULL, out);
        if (!cannot_be(status)) break;
        if (i == 0) keep_reason(&first, status, cull_last_error());
    }
    if (status == CULL_OK || status == CULL_NO_MEMORY) return status;
    if (!first.status) keep_reason(&first, status, cull_last_error());
    return cull_fail_about(first.status, first.subject, "%s: %s", a->strategy, first.why);
}

static cull_status look_alone(const cull_arm_base *base, const cull_arm_asked *a, struct look *out)
{
    cull_status  status = CULL_OK;
    cull_recipe *recipe = NULL;
    cull_price   look = {0};

    TRY(open_alone(base, a, &recipe));
    TRY(look_at(recipe, &look));
    out->keeps = cull_recipe_value(recipe, "select.keep") != NULL;
    /* one that selects at no step yet may score when it begins to */
    out->steps = !look.pool &&
                 (look.scoring > 0 || (!look.fixed && strcmp(a->what.modifier, "remembered") != 0));
    out->pool = look.scoring > 0 && look.pool;
    for (size_t i = 0; i < a->what.options; i++)
        if (is_of_scoring(a->what.option[i].key) && !out->steps && !out->pool)
            FAIL_ABOUT(CULL_BAD_OPTION, a->what.option[i].key,
                       "%s scores nothing, so %s has no effect", a->strategy,
                       a->what.option[i].key);
    if (a->pass && !out->steps)
        FAIL_ABOUT(CULL_BAD_OPTION, "score.pass",
                   "%s scores no batches, so score.pass has no effect", a->strategy);
    if (a->keep && !out->keeps)
        FAIL_ABOUT(CULL_BAD_OPTION, "keep", "%s decides how many it keeps, so keep has no effect",
                   a->strategy);
done:
    cull_recipe_close(recipe);
    return status;
}

static cull_status add_strategy(const cull_arm_base *base, const cull_arm_wish *wish,
                                cull_arms *arms, const cull_arm_asked *a)
{
    cull_status status = CULL_OK;
    double      keep[CULL_ARM_KEEPS];
    size_t      keeps = 0;
    struct look look = {0};
    char        text[CULL_NUMBER_ROOM], pass[16];

    TRY(look_alone(base, a, &look));
    TRY(cull_arm_read_keeps(a->keep ? a->keep : wish->keep, keep, &keeps));
    for (size_t i = 0; i < (look.keeps ? keeps : 1); i++) {
        const char *rest = a->pass ? a->pass : wish->pass, *kept = look.keeps ? text : NULL;

        if (kept) (void)cull_base_write_number(keep[i], 9, text);
        if (!look.steps) {
            TRY(add_pass(base, wish, arms, a, kept, look.pool ? "separate" : "none"));
            continue;
        }
        while (cull_arm_next(&rest, pass, sizeof pass)) {
            bool reuse = strcmp(pass, "reuse") == 0;
            if (!reuse && strcmp(pass, "separate") != 0)
                FAIL_OPTION("pass", "'%s' is neither separate nor reuse", pass);
            TRY(add_pass(base, wish, arms, a, kept, reuse ? "reuse" : "separate"));
        }
    }
done:
    return status;
}

static cull_status add_full(const cull_arm_base *base, cull_arms *arms)
{
    cull_status  status = CULL_OK;
    cull_arm     arm = {.role = CULL_ROLE_FULL, .keep = 1, .pass = "none", .uniform = true};
    cull_recipe *asked = NULL;
    char         moments[CULL_ARM_MOMENTS];
    bool         fits = true;
    cull_option  unscored[CULL_ARM_SCORING];
    size_t       count = cull_arm_unscored(unscored), at = 0;

    (void)snprintf(arm.name, sizeof arm.name, "full");
    (void)snprintf(arm.folder, sizeof arm.folder, "full");
    (void)snprintf(arm.strategy, sizeof arm.strategy, "full");
    TRY(cull_arm_recipe(base, NULL, 0, &asked));
    if (!(asked->select.strategy->traits & CULL_KEEPS_ALL))
        FAIL_ABOUT(
            CULL_BAD_OPTION, "select.strategy",
            "select.strategy: a comparison's recipe trains all examples; what is compared with it "
            "stands in the list of strategies");
    TRY(cull_arm_moments_left(asked, moments, &fits));
    if (!fits)
        FAIL_OPTION("train.evaluate_at", "%g lies behind the run's end",
                    asked->setup.moment[asked->setup.moments - 1]);
    TRY(cull_arm_recipe(base, unscored, count, &arm.recipe));
    TRY(cull_arms_add(arms, &arm, &at));
done:
    cull_recipe_close(asked);
    cull_recipe_close(arm.recipe);
    return status;
}

cull_status cull_arms_open(const cull_arm_base *base, const cull_arm_wish *wish, cull_arms *out)
{
    cull_status          status = CULL_OK;
    cull_arms            arms = {0};
    const cull_strategy *found = NULL;

    TRY(add_full(base, &arms));
    TRY(cull_arm_read(wish->strategies, &arms.asked, &arms.wishes));
    for (size_t i = 0; i < arms.wishes; i++) {
        found = cull_strategy_of(arms.asked[i].strategy);
        if (found && (found->traits & CULL_KEEPS_ALL)) continue; /* always there */
        TRY(add_strategy(base, wish, &arms, &arms.asked[i]));
    }
    if (arms.lefts && cull_arms_to_judge(&arms) == 0)
        FAIL_ABOUT(arms.left[0].status, arms.left[0].subject, "%s: %s", arms.left[0].name,
                   arms.left[0].why);
    *out = arms;
    arms = (cull_arms){0};
done:
    cull_arms_close(&arms);
    return status;
}
