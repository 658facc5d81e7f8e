/*
 * lab/reproduce/figure_arms.c - a figure's arms.
 *
 * A run's folder is named after all that its recipe says, so that figures which ask for the same
 * run find it there, and the same figure at another scale does not.
 */
#include "lab/reproduce/figure_arms.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/path.h"

enum { TEXT = CULL_FIGURE_VALUE, MOST_ARMS = 512, LIST = 1024 };

/* A later change of the same key takes the place of the earlier. */
static cull_status set(cull_figure_changes *c, const char *key, size_t length, const char *value)
{
    cull_status status = CULL_OK;
    size_t      at = 0;

    while (at < c->count &&
           (strlen(c->of[at].key) != length || memcmp(c->of[at].key, key, length) != 0))
        at++;
    if (at == CULL_FIGURE_CHANGES || length >= CULL_RECIPE_KEY || strlen(value) >= TEXT)
        FAIL(CULL_BAD_OPTION, "%.60s: too many changes, or one that is too long", key);
    if (at == c->count) c->count++;
    memcpy(c->of[at].key, key, length);
    c->of[at].key[length] = '\0';
    memcpy(c->of[at].value, value, strlen(value) + 1);
done:
    return status;
}

static cull_status set_number(cull_figure_changes *c, const char *key, double value)
{
    char text[40];

    (void)snprintf(text, sizeof text, "%.9g", value);
    return set(c, key, strlen(key), text);
}

/* "key=value key=value"; of keys of select only, or of others only. */
static cull_status set_all(cull_figure_changes *c, const char *text, bool others, bool select)
{
    cull_status status = CULL_OK;
    char        copy[LIST], *rest = NULL;

    if (strlen(text) >= sizeof copy) FAIL(CULL_BAD_OPTION, "%.60s: too many changes", text);
    memcpy(copy, text, strlen(text) + 1);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t key = strcspn(word, "=");
        bool   of_select = strncmp(word, "select.", strlen("select.")) == 0;

        if (!word[key]) FAIL(CULL_BAD_OPTION, "'%.60s' is no change", word);
        if (of_select ? select : others) TRY(set(c, word, key, word + key + 1));
    }
done:
    return status;
}

static cull_status open_recipe(const char *path, const cull_figure_changes *c, cull_recipe **out)
{
    cull_option option[CULL_FIGURE_CHANGES];

    for (size_t i = 0; i < c->count; i++) option[i] = (cull_option){c->of[i].key, c->of[i].value};
    return cull_recipe_open(path, option, c->count, out);
}

/* ---- scale ---- */

/* "60,120,160" with every number scaled. */
static cull_status scale_list(cull_figure_changes *c, const char *key, const char *list, double by)
{
    cull_status status = CULL_OK;
    char        text[TEXT] = "", *end = NULL;
    size_t      length = 0;

    for (const char *at = list; *at; at = *end == ',' ? end + 1 : end) {
        double value = strtod(at, &end);

        if (end == at) break;
        if (length + 24 > sizeof text) FAIL(CULL_BAD_OPTION, "%s: a list of too many", key);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%.6g", length ? "," : "",
                                   value * by);
    }
    if (length) TRY(set(c, key, strlen(key), text));
done:
    return status;
}

static double number_of(const cull_recipe *recipe, const char *key)
{
    const char *value = cull_recipe_value(recipe, key);

    return value ? strtod(value, NULL) : 0;
}

/* Epochs, and what is counted in them. */
static cull_status scale_epochs(cull_figure_changes *c, const cull_recipe *recipe, double by)
{
    cull_status status = CULL_OK;
    double      epochs = number_of(recipe, "train.epochs");

    TRY(set_number(c, "train.epochs", fmax(1, round(epochs * by))));
    TRY(scale_list(c, "schedule.milestones", cull_recipe_value(recipe, "schedule.milestones"), by));
    if (number_of(recipe, "schedule.warmup") > 0)
        TRY(set_number(c, "schedule.warmup", number_of(recipe, "schedule.warmup") * by));
    if (number_of(recipe, "select.period") > 0)
        TRY(set_number(c, "select.period",
                       fmax(1, round(number_of(recipe, "select.period") * by))));
done:
    return status;
}

/* Checked as the paper has it, then scaled. */
static cull_status open_scaled(const cull_figure *f, cull_figure_changes *c, cull_recipe **out)
{
    cull_status  status = CULL_OK;
    cull_recipe *whole = NULL;

    TRY(open_recipe(f->path, c, &whole));
    if (f->scale.epochs != 1) TRY(scale_epochs(c, whole, f->scale.epochs));
    if (f->scale.subset != 1) TRY(set_number(c, "data.subset", f->scale.subset));
    TRY(open_recipe(f->path, c, out));
done:
    cull_recipe_close(whole);
    return status;
}

/* ---- arms ---- */

static void append(char *out, size_t room, const char *letters, size_t length)
{
    size_t at = strlen(out);

    for (size_t i = 0; i < length && at + 1 < room; i++)
        out[at++] =
            isalnum((unsigned char)letters[i]) || strchr("=.-", letters[i]) ? letters[i] : '-';
    out[at] = '\0';
}

static cull_status name_folder(const cull_figure *f, cull_figure_part *part)
{
    enum { SHORT = 64 };
    char        name[SHORT + 32] = "", hash[16], keep[24];
    const char *text = cull_recipe_text(part->recipe);

    append(name, SHORT, part->is.series, strlen(part->is.series));
    if (!isnan(part->is.keep)) {
        (void)snprintf(keep, sizeof keep, "-%g", part->is.keep);
        append(name, SHORT, keep, strlen(keep));
    }
    (void)snprintf(hash, sizeof hash, "-%08" PRIx32,
                   (uint32_t)(cull_base_hash(text, strlen(text)) >> 16));
    append(name, sizeof name, hash, strlen(hash));
    if (snprintf(part->is.folder, sizeof part->is.folder, "%s/runs/%s", f->root, name) >=
        CULL_DATA_PATH - 40)
        return cull_fail(CULL_IO, "%.100s...: the name is too long", f->root);
    return CULL_OK;
}

/* "sb=SB and Stale-SB,kath18=Kath18" by how a series begins; the first that fits. */
static void name_group(const char *groups, cull_figure_arm *arm)
{
    const char *item = NULL;
    size_t      length = 0;

    (void)snprintf(arm->group, sizeof arm->group, "%s", arm->series);
    while (groups && (item = cull_list_next(&groups, &length))) {
        const char *equals = memchr(item, '=', length);
        size_t      begins = equals ? (size_t)(equals - item) : 0;

        if (!begins || strncmp(arm->series, item, begins) != 0) continue;
        (void)snprintf(arm->group, sizeof arm->group, "%.*s", (int)(length - begins - 1),
                       equals + 1);
        return;
    }
}

/* One that would be the same run as another is that one. */
static cull_status add_part(cull_figure *f, cull_figure_part *part)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < f->parts; i++)
        if (strcmp(cull_recipe_text(f->part[i].recipe), cull_recipe_text(part->recipe)) == 0) {
            cull_recipe_close(part->recipe);
            part->recipe = NULL;
            return CULL_OK;
        }
    if (f->parts == MOST_ARMS) FAIL(CULL_BAD_OPTION, "%s: too many arms", f->entry->name);
    if (f->parts == f->room) {
        size_t room = f->room ? 2 * f->room : 16;
        TRY(cull_base_grow(room, sizeof *f->part, "a figure", &f->part));
        f->room = room;
    }
    TRY(name_folder(f, part));
    name_group(f->entry->groups, &part->is);
    part->is.recipe = part->recipe;
    f->part[f->parts++] = *part;
    part->recipe = NULL;
done:
    return status;
}

/* What is asked for, once its value is chosen. */
struct asked {
    const char *vary;        /* "key=a key=b" of this value; NULL: nothing varies */
    char        value[TEXT]; /* "0.316"; "": nothing varies                       */
    bool        first;       /* of the values                                     */
};

/* The strategy's name and modifier, its options as keys of the recipe. */
static cull_status set_strategy(cull_figure_changes *c, const char *strategy, bool *keeps,
                                double *keep)
{
    cull_status          status = CULL_OK;
    cull_strategy_text   text = {0};
    const cull_strategy *found = NULL;
    char                 word[TEXT], key[CULL_RECIPE_KEY];

    TRY(cull_strategy_text_read(strategy, &text));
    found = cull_strategy_of(strategy);
    for (size_t i = 0; i < text.options; i++) {
        (void)snprintf(key, sizeof key, "select.%.50s", text.option[i].key);
        TRY(set(c, key, strlen(key), text.option[i].value));
        if (strcmp(text.option[i].key, "keep") == 0) *keep = strtod(text.option[i].value, NULL);
    }
    *keeps = found && cull_strategy_option(found, "keep") && isnan(*keep);
    text.options = 0;
    (void)cull_strategy_text_write(&text, word, sizeof word);
    TRY(set(c, "select.strategy", strlen("select.strategy"), word));
done:
    cull_strategy_text_clear(&text);
    return status;
}

/* The number that stands for a value on an axis: itself, where it is one; of "absolute:0.5" .5. */
static double axis_of(const char *value)
{
    const char *colon = strchr(value, ':');
    const char *begin = colon ? colon + 1 : value;
    char       *end = NULL;
    double      x = strtod(begin, &end);

    return end == begin || *end ? NAN : x;
}

static cull_status add_arm(cull_figure *f, const struct asked *a, const char *strategy, double keep)
{
    cull_status          status = CULL_OK;
    cull_figure_part     part = {.is = {.keep = NAN, .x = NAN, .full = strategy == NULL}};
    cull_figure_changes *c = &part.changes;
    bool                 keeps = false, by_keep = f->entry->drawing == CULL_DRAW_BY_KEEP;
    const char          *written = strategy ? strategy : "full";

    TRY(set(c, "train.keep", strlen("train.keep"), "latest")); /* enough to go on by */
    if (f->entry->changes) TRY(set_all(c, f->entry->changes, true, strategy != NULL));
    TRY(set_strategy(c, written, &keeps, &part.is.keep));
    if (a->vary) TRY(set_all(c, a->vary, true, strategy != NULL));
    if (keeps && !isnan(keep)) {
        TRY(set_number(c, "select.keep", keep));
        part.is.keep = keep;
    }
    (void)snprintf(part.is.series, sizeof part.is.series, "%.150s", written);
    if (strategy || !f->entry->vary || strncmp(f->entry->vary, "select.", strlen("select.")) != 0)
        (void)snprintf(part.is.value, sizeof part.is.value, "%s", a->value);
    part.is.x = part.is.value[0] && !by_keep ? axis_of(part.is.value) : part.is.keep;
    if (a->value[0] && keeps && !by_keep && f->entry->keep && strchr(f->entry->keep, ','))
        (void)snprintf(part.is.series + strlen(part.is.series),
                       sizeof part.is.series - strlen(part.is.series), " keep=%g", keep);
    TRY(open_scaled(f, c, &part.recipe));
    TRY(add_part(f, &part));
done:
    cull_recipe_close(part.recipe);
    return status;
}

/* Item i of a list with commas between; false: there are fewer. */
static bool item_of(const char *list, size_t i, char out[TEXT])
{
    const char *item = NULL;
    size_t      length = 0;

    do item = list ? cull_list_next(&list, &length) : NULL;
    while (item && i-- > 0);
    if (item) (void)snprintf(out, TEXT, "%.*s", (int)length, item);
    return item != NULL;
}

static cull_status add_strategy(cull_figure *f, const struct asked *a, const char *strategy)
{
    cull_status status = CULL_OK;
    char        keep[TEXT];
    size_t      k = 0;

    for (; item_of(f->entry->keep, k, keep); k++) TRY(add_arm(f, a, strategy, strtod(keep, NULL)));
    if (k == 0) TRY(add_arm(f, a, strategy, NAN));
done:
    return status;
}

/* Runs that are looked at: where gradients are, one on everything; where exponents are, one of the
 * first; else one of each. */
static cull_status add_watched(cull_figure *f, const struct asked *a)
{
    cull_status status = CULL_OK;
    char        strategy[TEXT];

    if (f->entry->look == CULL_LOOK_GRADIENTS) return add_arm(f, a, NULL, NAN);
    for (size_t s = 0; item_of(f->entry->strategies, s, strategy) &&
                       !(s && f->entry->look == CULL_LOOK_SELECTIONS);
         s++)
        TRY(add_arm(f, a, strcmp(strategy, "full") == 0 ? NULL : strategy, NAN));
done:
    return status;
}

/* A value of what varies: "60+120+160" is the change key=60,120,160, "a key2=b" is two. */
static cull_status add_value(cull_figure *f, struct asked *a)
{
    cull_status status = CULL_OK;
    char        strategy[TEXT];

    if (f->entry->kind == CULL_REPRODUCE_WATCH) return add_watched(f, a);
    if (f->entry->kind != CULL_REPRODUCE_TRAIN) return add_arm(f, a, NULL, NAN);
    if (a->first || !f->entry->full_once) TRY(add_arm(f, a, NULL, NAN));
    for (size_t s = 0;
         (a->first || !f->entry->picks_once) && item_of(f->entry->strategies, s, strategy); s++)
        TRY(add_strategy(f, a, strategy));
done:
    return status;
}

static cull_status add_values(cull_figure *f)
{
    cull_status  status = CULL_OK;
    const char  *vary = f->entry->vary;
    char         value[TEXT], change[LIST];
    struct asked a = {.first = true};
    size_t       key = vary ? strcspn(vary, "=") : 0;

    if (!vary) return add_value(f, &a);
    for (size_t i = 0; item_of(vary + key + 1, i, value); i++) {
        (void)snprintf(a.value, sizeof a.value, "%.*s", (int)strcspn(value, " "), value);
        (void)snprintf(change, sizeof change, "%.*s=%s", (int)key, vary, value);
        for (char *letter = change; *letter; letter++)
            if (*letter == '+') *letter = ',';
        a.vary = change;
        a.first = i == 0;
        TRY(add_value(f, &a));
    }
done:
    return status;
}

static int full_first(const void *a, const void *b)
{
    const cull_figure_part *p = a, *q = b;

    return q->is.full - p->is.full;
}

cull_status cull_figure_open(const cull_reproduction *entry, const cull_reproduction_scale *scale,
                             const char *recipes, const char *root, cull_figure **out)
{
    cull_status  status = CULL_OK;
    cull_figure *f = NULL;

    if (entry->kind == CULL_REPRODUCE_NOT)
        FAIL(CULL_BAD_ARGUMENT, "%s is not built: %s", entry->name, entry->missing);
    if (!(scale->epochs > 0 && scale->epochs <= 1 && scale->subset > 0 && scale->subset <= 1))
        FAIL(CULL_BAD_OPTION, "a figure is scaled by shares above 0 and up to 1");
    TRY(cull_base_alloc(1, sizeof *f, "a figure", &f));
    f->entry = entry;
    f->scale = *scale;
    f->seeds = scale->seeds && entry->kind == CULL_REPRODUCE_TRAIN ? scale->seeds : entry->seeds;
    if (snprintf(f->root, sizeof f->root, "%s", root) >= CULL_DATA_PATH - 200)
        FAIL(CULL_IO, "%.100s...: the name is too long", root);
    TRY(cull_base_join(recipes, entry->recipe, f->path));
    TRY(add_values(f));
    for (size_t i = 1; i < f->parts; i++) /* a stable sort: there may be several full ones */
        for (size_t j = i; j > 0 && full_first(&f->part[j - 1], &f->part[j]) > 0; j--) {
            cull_figure_part other = f->part[j];
            f->part[j] = f->part[j - 1];
            f->part[j - 1] = other;
        }
    *out = f;
    f = NULL;
done:
    cull_figure_close(f);
    return status;
}

void cull_figure_close(cull_figure *f)
{
    if (!f) return;
    for (size_t i = 0; i < f->parts; i++) cull_recipe_close(f->part[i].recipe);
    cull_base_free(f->part);
    cull_base_free(f);
}

const cull_figure_arm *cull_figure_arm_at(const cull_figure *f, size_t i)
{
    return i < f->parts ? &f->part[i].is : NULL;
}

uint64_t cull_figure_seeds(const cull_figure *f)
{
    return f->seeds;
}

/* ---- runs ---- */

cull_status cull_figure_folder(const cull_figure_arm *arm, uint64_t seed, char out[CULL_DATA_PATH])
{
    if (snprintf(out, CULL_DATA_PATH, "%.*s/seed-%" PRIu64, CULL_DATA_PATH - 40, arm->folder,
                 seed) >= CULL_DATA_PATH)
        return cull_fail(CULL_IO, "%.100s...: the name is too long", arm->folder);
    return CULL_OK;
}

cull_status cull_figure_run(const cull_figure *f, size_t arm, uint64_t seed, cull_recipe **recipe,
                            char folder[CULL_DATA_PATH])
{
    cull_status         status = CULL_OK;
    cull_figure_changes c;

    if (arm >= f->parts || seed < 1 || seed > f->seeds)
        FAIL(CULL_BAD_ARGUMENT, "%s has no such run", f->entry->name);
    TRY(cull_figure_folder(&f->part[arm].is, seed, folder));
    c = f->part[arm].changes;
    TRY(set_number(&c, "train.seed", (double)seed));
    TRY(open_recipe(f->path, &c, recipe));
done:
    return status;
}

cull_status cull_figure_count(const cull_figure *f, size_t *finished, size_t *of)
{
    cull_status     status = CULL_OK;
    cull_run_record record;
    char            folder[CULL_DATA_PATH];

    *finished = 0;
    *of = f->parts * f->seeds;
    for (size_t i = 0; i < f->parts; i++)
        for (uint64_t seed = 1; seed <= f->seeds; seed++) {
            record = (cull_run_record){0};
            TRY(cull_figure_folder(&f->part[i].is, seed, folder));
            TRY(cull_run_read(folder, &record));
            *finished += strcmp(record.status, "finished") == 0;
        }
done:
    return status;
}
