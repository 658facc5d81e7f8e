/* lab/compare/arms.c - the arms that a user asks for: strategies, shares and passes made recipes.
 */
#include "lab/compare/arms.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/number.h"
#include "lab/compare/arm_wish.h"

enum { MOST_CHANGES = 160 };
enum { NAME_END = 48 }; /* letters of " keep=0.123456789 separate", and more */

const char *cull_role_name(cull_role role)
{
    static const char *const names[CULL_ROLES] = {"arm",          "full",      "same-m",
                                                  "whole-budget", "shortened", "early-stop"};
    return names[role];
}

/* The base's changes but those that are replaced, then the others; returns how many. */
static size_t join(const cull_arm_base *base, const cull_option *more, size_t count,
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

cull_status cull_arm_recipe(const cull_arm_base *base, const cull_option *more, size_t count,
                            cull_recipe **out)
{
    cull_status  status = CULL_OK;
    cull_option  all[MOST_CHANGES];
    char         threads[16], moments[CULL_ARM_MOMENTS];
    size_t       n = 0;
    bool         fits = true;
    cull_recipe *recipe = NULL;

    if (base->count + count + 2 > MOST_CHANGES)
        FAIL(CULL_BAD_OPTION, "%zu changes to a recipe are too many", base->count);
    n = join(base, more, count, all);
    if (base->threads) {
        (void)snprintf(threads, sizeof threads, "%u", base->threads);
        all[n++] = (cull_option){"train.threads", threads};
    }
    TRY(cull_recipe_open(base->path, all, n, &recipe));
    if (count > 0) TRY(cull_arm_moments_left(recipe, moments, &fits));
    if (!fits) {
        size_t at = 0;

        cull_recipe_close(recipe);
        recipe = NULL;
        while (at < n && strcmp(all[at].key, "train.evaluate_at") != 0) at++;
        n += at == n;
        all[at] = (cull_option){"train.evaluate_at", moments};
        TRY(cull_recipe_open(base->path, all, n, &recipe));
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

cull_status cull_arms_add(cull_arms *arms, const cull_arm *arm, size_t *at)
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
    for (size_t i = 0; i < CULL_ROLES; i++) arms->arm[*at].control[i] = SIZE_MAX;
done:
    return status;
}

/* The recipe is the comparison's from here on, or gone where the same is there already. */
static cull_status add_owned(cull_arms *arms, cull_arm *arm)
{
    size_t      before = arms->count, at = 0;
    cull_status status = cull_arms_add(arms, arm, &at);

    if (arms->count == before) cull_recipe_close(arm->recipe);
    arm->recipe = NULL;
    return status;
}

void cull_arms_close(cull_arms *arms)
{
    for (size_t i = 0; i < arms->count; i++) cull_recipe_close(arms->arm[i].recipe);
    cull_base_free(arms->arm);
    cull_base_free(arms->left);
    *arms = (cull_arms){0};
}

cull_status cull_arms_note_left(cull_arms *arms, const char *name, const char *why)
{
    cull_status status = CULL_OK;

    if (arms->lefts == arms->left_room) {
        size_t room = arms->left_room ? 2 * arms->left_room : 8;
        TRY(cull_base_grow(room, sizeof *arms->left, "a comparison", &arms->left));
        arms->left_room = room;
    }
    (void)snprintf(arms->left[arms->lefts].name, CULL_ARM_NAME, "%s", name);
    (void)snprintf(arms->left[arms->lefts].why, CULL_ARM_WHY, "%s", why);
    arms->lefts++;
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
    char   what[CULL_ARM_NAME - NAME_END];
    size_t at = 0, length = 0;

    for (size_t i = 0; i <= a->options && length < sizeof what; i++) {
        const cull_option *o = i ? &a->option[i - 1] : NULL;

        length +=
            o ? (size_t)snprintf(what + length, sizeof what - length, " %s=%.40s", o->key, o->value)
              : (size_t)snprintf(what, sizeof what, "%s", a->strategy);
    }
    (void)snprintf(arm->name, sizeof arm->name, "%s%s%.24s%s%.16s", what, keep ? " keep=" : "",
                   keep ? keep : "", strcmp(arm->pass, "none") != 0 ? " " : "",
                   strcmp(arm->pass, "none") != 0 ? arm->pass : "");
    for (const char *from = arm->name; *from; from++) {
        if (strncmp(from, "keep=", 5) == 0) from += 5;
        arm->folder[at++] =
            (char)(isalnum((unsigned char)*from) || *from == '.' || *from == '_' ? *from : '-');
    }
    arm->folder[at] = '\0';
}

static bool takes(const cull_recipe *recipe, const char *key)
{
    return cull_recipe_value(recipe, key) != NULL;
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
    return cull_fail(CULL_BAD_OPTION,
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

static bool names(const cull_arm_asked *a, const char *key)
{
    for (size_t i = 0; i < a->options; i++)
        if (strcmp(a->option[i].key, key) == 0) return true;
    return false;
}

/* pass: "separate", "reuse" or "none". What the base says of scoring is not for those who do none,
 * nor what it says of reuse for those who reuse nothing. */
static void mean(const cull_arm_asked *a, const char *keep, const char *pass, struct meant *out)
{
    *out = (struct meant){0};
    out->option[out->count++] = (cull_option){"select.strategy", a->strategy};
    if (strcmp(pass, "none") == 0)
        out->count += cull_arm_unscored(out->option + out->count);
    else
        out->option[out->count++] = (cull_option){"score.pass", pass};
    if (strcmp(pass, "separate") == 0 && !names(a, "reuse.batchnorm"))
        out->option[out->count++] = (cull_option){"reuse.batchnorm", "kept"};
    if (keep) out->option[out->count++] = (cull_option){"select.keep", keep};
    for (size_t i = 0; i < a->options; i++) {
        (void)snprintf(out->key[i], sizeof out->key[i], "%s%.50s",
                       is_of_scoring(a->option[i].key) ? "" : "select.", a->option[i].key);
        out->option[out->count++] = (cull_option){out->key[i], a->option[i].value};
    }
}

/* One arm, or a word on why it cannot be: others of its strategy may. */
static cull_status add_pass(const cull_arm_base *base, const cull_arm_wish *wish, cull_arms *arms,
                            const cull_arm_asked *a, const char *keep, const char *pass)
{
    cull_status  status = CULL_OK;
    struct meant m;
    cull_arm     arm = {.role = CULL_ROLE_ARM, .keep = NAN, .pass = pass};
    cull_price   look = {0};
    char         why[CULL_ARM_WHY];

    mean(a, keep, pass, &m);
    if (keep) (void)cull_base_read_number(keep, &arm.keep);
    (void)snprintf(arm.strategy, sizeof arm.strategy, "%s", a->strategy);
    arm.uniform = strstr(a->strategy, "random") != NULL && !strchr(a->strategy, '/');
    name_arm(a, keep, &arm);
    status = cull_arm_recipe(base, m.option, m.count, &arm.recipe);
    if (status == CULL_OK) status = look_at(arm.recipe, &look);
    if (status == CULL_OK) status = check_saving(&arm, wish, &look);
    if (status == CULL_BAD_OPTION) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        status = cull_arms_note_left(arms, arm.name, why);
        goto done;
    }
    TRY(status);
    arm.price = look; /* until there is a table, for its candidates */
    TRY(add_owned(arms, &arm));
done:
    cull_recipe_close(arm.recipe);
    return status;
}

/* What a strategy of the list does, whatever it keeps. */
struct look {
    bool keeps, steps, pool; /* takes a share; scores batches; scores the pool */
};

/* A strategy's own sentences begin with its name, or without its modifier; others do not. */
static bool names_it(const char *why, const char *strategy)
{
    size_t length = strcspn(why, ":");

    return strncmp(why, strategy, length) == 0 &&
           (strategy[length] == '\0' || strategy[length] == ' ');
}

/* It must be possible by itself, with one pass at least. */
static cull_status open_alone(const cull_arm_base *base, const cull_arm_asked *a, cull_recipe **out)
{
    struct meant m;
    char         why[CULL_ARM_WHY];
    cull_status  status = CULL_OK;

    mean(a, NULL, "separate", &m);
    status = cull_arm_recipe(base, m.option, m.count, out);
    if (status != CULL_BAD_OPTION) return status;
    (void)snprintf(why, sizeof why, "%s", cull_last_error());
    mean(a, NULL, "reuse", &m);
    status = cull_arm_recipe(base, m.option, m.count, out);
    if (status != CULL_BAD_OPTION) return status;
    if (names_it(why, a->strategy)) return cull_fail(status, "%s", why);
    return cull_fail(status, "%s: %s", a->strategy, why);
}

static cull_status look_alone(const cull_arm_base *base, const cull_arm_asked *a, struct look *out)
{
    cull_status  status = CULL_OK;
    cull_recipe *recipe = NULL;
    cull_price   look = {0};

    TRY(open_alone(base, a, &recipe));
    TRY(look_at(recipe, &look));
    out->keeps = takes(recipe, "select.keep");
    /* one that selects at no step yet may score when it begins to */
    out->steps =
        !look.pool && (look.scoring > 0 || (!look.fixed && !strstr(a->strategy, "remembered")));
    out->pool = look.scoring > 0 && look.pool;
    for (size_t i = 0; i < a->options; i++)
        if (is_of_scoring(a->option[i].key) && !out->steps && !out->pool)
            FAIL(CULL_BAD_OPTION, "%s scores nothing, so %s has no effect", a->strategy,
                 a->option[i].key);
    if (a->pass && !out->steps)
        FAIL(CULL_BAD_OPTION, "%s scores no batches, so score.pass has no effect", a->strategy);
    if (a->keep && !out->keeps)
        FAIL(CULL_BAD_OPTION, "%s decides how many it keeps, so keep has no effect", a->strategy);
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
                FAIL(CULL_BAD_OPTION, "pass: '%s' is neither separate nor reuse", pass);
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
    size_t       count = cull_arm_unscored(unscored);

    (void)snprintf(arm.name, sizeof arm.name, "full");
    (void)snprintf(arm.folder, sizeof arm.folder, "full");
    (void)snprintf(arm.strategy, sizeof arm.strategy, "full");
    TRY(cull_arm_recipe(base, NULL, 0, &asked));
    if (strcmp(cull_recipe_value(asked, "select.strategy"), "full") != 0)
        FAIL(CULL_BAD_OPTION,
             "select.strategy: a comparison's recipe trains all examples; what is compared with it "
             "stands in the list of strategies");
    TRY(cull_arm_moments_left(asked, moments, &fits));
    if (!fits)
        FAIL(CULL_BAD_OPTION, "train.evaluate_at: %g lies behind the run's end",
             asked->setup.moment[asked->setup.moments - 1]);
    TRY(cull_arm_recipe(base, unscored, count, &arm.recipe));
    TRY(add_owned(arms, &arm));
done:
    cull_recipe_close(asked);
    cull_recipe_close(arm.recipe);
    return status;
}

cull_status cull_arms_open(const cull_arm_base *base, const cull_arm_wish *wish, cull_arms *out)
{
    cull_status status = CULL_OK;
    cull_arms   arms = {0};
    const char *rest = wish->strategies;

    TRY(add_full(base, &arms));
    for (;;) {
        cull_arm_asked a;
        bool           there = false;

        TRY(cull_arm_read(&rest, &a, &there));
        if (!there) break;
        if (strcmp(a.strategy, "full") == 0) continue; /* always there */
        TRY(add_strategy(base, wish, &arms, &a));
    }
    if (arms.lefts && cull_arms_to_judge(&arms) == 0)
        FAIL(CULL_BAD_OPTION, "%s: %s", arms.left[0].name, arms.left[0].why);
    *out = arms;
    arms = (cull_arms){0};
done:
    cull_arms_close(&arms);
    return status;
}
