/* lab/arms.c - the arms that a user asks for: strategies, shares and passes made recipes. */
#include "lab/arms.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/number.h"

enum { MOST_CHANGES = 160, MOST_KEEPS = 64, DUMMY_BATCHES = 10 };
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
    *arms = (cull_arms){0};
}

/* How examples are scored may differ between arms; it is said as in a recipe. */
static bool is_of_scoring(const char *key)
{
    return strncmp(key, "score.", strlen("score.")) == 0;
}

const char *cull_arm_scoring(size_t i)
{
    const cull_option_spec *spec = NULL;

    for (size_t at = 0; (spec = cull_recipe_option_at(at)); at++)
        if (is_of_scoring(spec->key) && i-- == 0) return spec->key;
    return NULL;
}

/* ---- what is asked for ---- */

/* One strategy of the list, taken apart; the options point into text. */
struct asked {
    char        text[256], strategy[CULL_ARM_NAME];
    cull_option option[CULL_ARM_OPTIONS];
    size_t      options;
};

static cull_status take_words(struct asked *a)
{
    cull_status status = CULL_OK;
    char       *rest = a->text, *word = NULL;

    while ((word = strtok_r(rest, " \t", &rest))) {
        char  *equals = strchr(word, '=');
        size_t length = strlen(a->strategy);

        if (!equals) {
            if (a->options)
                FAIL(CULL_BAD_OPTION, "'%s': a modifier stands before the options", word);
            (void)snprintf(a->strategy + length, sizeof a->strategy - length, "%s%s",
                           length ? " " : "", word);
            continue;
        }
        if (a->options == CULL_ARM_OPTIONS - 4) FAIL(CULL_BAD_OPTION, "too many options");
        *equals = '\0';
        if (strcmp(word, "keep") == 0)
            FAIL(CULL_BAD_OPTION, "%s: keep is given once for all, as --keep", a->strategy);
        if (strcmp(word, "score.pass") == 0)
            FAIL(CULL_BAD_OPTION, "%s: score.pass is given once for all, as --pass", a->strategy);
        a->option[a->options++] = (cull_option){word, equals + 1};
    }
    if (!a->strategy[0]) FAIL(CULL_BAD_OPTION, "a strategy is missing between two commas");
    for (char *at = a->strategy; *at && !strchr(a->strategy, '/'); at++)
        if (*at == '+') *at = ' ';
done:
    return status;
}

/* The next of a list with commas between; false at its end. */
static bool next_item(const char **rest, char *out, size_t room)
{
    size_t length = 0;

    if (!*rest) return false;
    length = strcspn(*rest, ",");
    (void)snprintf(out, room, "%.*s", (int)(length < room ? length : room - 1), *rest);
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return true;
}

static cull_status read_keeps(const char *text, double *keep, size_t *count)
{
    cull_status status = CULL_OK;
    char        item[64];

    *count = 0;
    while (next_item(&text, item, sizeof item)) {
        if (*count == MOST_KEEPS) FAIL(CULL_BAD_OPTION, "more than %d shares to keep", MOST_KEEPS);
        if (!cull_base_read_number(item, &keep[*count]) || !(keep[*count] > 0) || keep[*count] > 1)
            FAIL(CULL_BAD_OPTION, "keep: '%s' is no share above 0 and up to 1", item);
        (*count)++;
    }
done:
    return status;
}

/* ---- arms ---- */

/* Room is left for the share and the pass, which tell arms of one strategy apart. */
static void name_arm(const struct asked *a, const char *keep, cull_arm *arm)
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

/* What a run does, before anything is measured: a pool of a few batches tells as much. */
static cull_status look_at(const cull_recipe *recipe, cull_price *out)
{
    cull_costs  costs = {.pool = DUMMY_BATCHES * recipe->setup.batch};
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
                     "%s cannot save anything: scoring %.0f examples costs %.0f/3 and training "
                     "%.0f %% of them %.0f, together %.1f of the %.0f that full training costs",
                     arm->name, batch, batch, 100 * arm->keep, floor(arm->keep * batch),
                     batch / 3 + floor(arm->keep * batch), batch);
}

/* The changes to a recipe that a strategy of the list means. */
struct meant {
    cull_option option[CULL_ARM_OPTIONS];
    char        key[CULL_ARM_OPTIONS][CULL_RECIPE_KEY];
    size_t      count;
};

static void mean(const struct asked *a, const char *keep, bool reuse, struct meant *out)
{
    *out = (struct meant){0};
    out->option[out->count++] = (cull_option){"select.strategy", a->strategy};
    out->option[out->count++] = (cull_option){"score.pass", reuse ? "reuse" : "separate"};
    if (keep) out->option[out->count++] = (cull_option){"select.keep", keep};
    for (size_t i = 0; i < a->options; i++) {
        (void)snprintf(out->key[i], sizeof out->key[i], "%s%.50s",
                       is_of_scoring(a->option[i].key) ? "" : "select.", a->option[i].key);
        out->option[out->count++] = (cull_option){out->key[i], a->option[i].value};
    }
}

static cull_status add_pass(const cull_arm_base *base, const cull_arm_wish *wish, cull_arms *arms,
                            const struct asked *a, const char *keep, const char *pass)
{
    cull_status  status = CULL_OK;
    struct meant m;
    cull_arm     arm = {.role = CULL_ROLE_ARM, .keep = NAN, .pass = pass};
    cull_price   look = {0};
    char         why[400];

    mean(a, keep, strcmp(pass, "reuse") == 0, &m);
    if (keep) (void)cull_base_read_number(keep, &arm.keep);
    (void)snprintf(arm.strategy, sizeof arm.strategy, "%s", a->strategy);
    arm.uniform = strstr(a->strategy, "random") != NULL && !strchr(a->strategy, '/');
    name_arm(a, keep, &arm);
    status = cull_arm_recipe(base, m.option, m.count, &arm.recipe);
    if (status != CULL_OK) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(status, "%s: %s", arm.name, why);
    }
    TRY(look_at(arm.recipe, &look));
    TRY(check_saving(&arm, wish, &look));
    arm.price = look; /* until there is a table, for its candidates */
    TRY(add_owned(arms, &arm));
done:
    cull_recipe_close(arm.recipe);
    return status;
}

static cull_status scores(const cull_arm_base *base, const struct asked *a, bool *keeps,
                          bool *scores_steps, bool *scores_pool)
{
    cull_status  status = CULL_OK;
    cull_recipe *recipe = NULL;
    struct meant m;
    cull_price   look = {0};

    mean(a, NULL, false, &m);
    TRY(cull_arm_recipe(base, m.option, m.count, &recipe));
    TRY(look_at(recipe, &look));
    *keeps = takes(recipe, "select.keep");
    /* one that selects at no step yet may score when it begins to */
    *scores_steps =
        !look.pool && (look.scoring > 0 || (!look.fixed && !strstr(a->strategy, "remembered")));
    *scores_pool = look.scoring > 0 && look.pool;
    for (size_t i = 0; i < a->options; i++)
        if (is_of_scoring(a->option[i].key) && !*scores_steps && !*scores_pool)
            FAIL(CULL_BAD_OPTION, "%s scores nothing, so %s has no effect", a->strategy,
                 a->option[i].key);
done:
    cull_recipe_close(recipe);
    return status;
}

static cull_status add_strategy(const cull_arm_base *base, const cull_arm_wish *wish,
                                cull_arms *arms, const struct asked *a)
{
    cull_status status = CULL_OK;
    double      keep[MOST_KEEPS];
    size_t      keeps = 0;
    bool        kept = false, steps = false, pool = false;
    char        text[CULL_NUMBER_ROOM], pass[16];

    TRY(scores(base, a, &kept, &steps, &pool));
    TRY(read_keeps(wish->keep, keep, &keeps));
    for (size_t i = 0; i < (kept ? keeps : 1); i++) {
        const char *rest = wish->pass;

        if (kept) (void)cull_base_write_number(keep[i], 9, text);
        if (!steps) {
            TRY(add_pass(base, wish, arms, a, kept ? text : NULL, pool ? "separate" : "none"));
            continue;
        }
        while (next_item(&rest, pass, sizeof pass)) {
            bool reuse = strcmp(pass, "reuse") == 0;
            if (!reuse && strcmp(pass, "separate") != 0)
                FAIL(CULL_BAD_OPTION, "pass: '%s' is neither separate nor reuse", pass);
            TRY(add_pass(base, wish, arms, a, kept ? text : NULL, reuse ? "reuse" : "separate"));
        }
    }
done:
    return status;
}

static cull_status add_full(const cull_arm_base *base, cull_arms *arms)
{
    cull_status status = CULL_OK;
    cull_arm    arm = {.role = CULL_ROLE_FULL, .keep = 1, .pass = "none", .uniform = true};
    char        moments[CULL_ARM_MOMENTS];
    bool        fits = true;

    (void)snprintf(arm.name, sizeof arm.name, "full");
    (void)snprintf(arm.folder, sizeof arm.folder, "full");
    (void)snprintf(arm.strategy, sizeof arm.strategy, "full");
    TRY(cull_arm_recipe(base, NULL, 0, &arm.recipe));
    if (strcmp(cull_recipe_value(arm.recipe, "select.strategy"), "full") != 0)
        FAIL(CULL_BAD_OPTION,
             "select.strategy: a comparison's recipe trains all examples; what is compared with it "
             "stands in the list of strategies");
    TRY(cull_arm_moments_left(arm.recipe, moments, &fits));
    if (!fits)
        FAIL(CULL_BAD_OPTION, "train.evaluate_at: %g lies behind the run's end",
             arm.recipe->setup.moment[arm.recipe->setup.moments - 1]);
    TRY(add_owned(arms, &arm));
done:
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
        struct asked a = {0};

        if (rest && strcspn(rest, ",") >= sizeof a.text)
            FAIL(CULL_BAD_OPTION,
                 "'%.40s...': a strategy has at most %zu letters, options included", rest,
                 sizeof a.text - 1);
        if (!next_item(&rest, a.text, sizeof a.text)) break;
        TRY(take_words(&a));
        if (strcmp(a.strategy, "full") == 0) continue; /* always there */
        TRY(add_strategy(base, wish, &arms, &a));
    }
    *out = arms;
    arms = (cull_arms){0};
done:
    cull_arms_close(&arms);
    return status;
}
