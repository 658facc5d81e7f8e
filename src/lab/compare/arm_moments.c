/* lab/compare/arm_moments.c - when the runs of a comparison are looked at, beside their rhythm. */
#include <math.h>

#include "base/number.h"
#include "lab/compare/arms.h"

/* ---- what the base asks for ---- */

/* After how many epochs a run ends; how much is chosen from says nothing about that. */
static cull_status end_of(const cull_recipe *recipe, double *out)
{
    const cull_train_setup *s = &recipe->setup;
    cull_status             status = CULL_OK;
    cull_selector          *selector = NULL;
    cull_setting            setting = {.pool = cull_arm_looked(s),
                                       .batch = s->batch,
                                       .epochs = cull_train_epochs(s),
                                       .seed = s->seed};

    TRY(cull_selector_create(s->strategy, s->select, s->selects, &setting, &selector));
    *out = cull_train_length(s, selector);
done:
    cull_selector_destroy(selector);
    return status;
}

cull_status cull_arm_moments_left(const cull_recipe *recipe, char out[CULL_ARM_MOMENTS], bool *all)
{
    const cull_train_setup *s = &recipe->setup;
    cull_status             status = CULL_OK;
    const char             *text = cull_recipe_value(recipe, "train.evaluate_at");
    size_t                  kept = 0, length = 0;
    double                  end = 0;

    *all = true;
    if (s->moments == 0) goto done;
    TRY(end_of(recipe, &end));
    while (kept < s->moments && s->moment[kept] <= end) kept++;
    *all = kept == s->moments || strlen(text) >= CULL_ARM_MOMENTS;
    if (*all) goto done;
    for (size_t i = 0; i < kept; i++) length += (i > 0) + strcspn(text + length + (i > 0), ",");
    memcpy(out, text, length);
    out[length] = '\0';
done:
    return status;
}

/* ---- the full run ---- */

/* Moments ascend, each once. */
struct moments {
    double at[CULL_TRAIN_MOMENTS];
    size_t count;
};

static void add_moment(struct moments *m, double at)
{
    size_t place = m->count;

    for (size_t i = 0; i < m->count; i++)
        if (fabs(m->at[i] - at) <= 1e-7 * at) return;
    if (m->count == CULL_TRAIN_MOMENTS) return;
    for (; place > 0 && m->at[place - 1] > at; place--) m->at[place] = m->at[place - 1];
    m->at[place] = at;
    m->count++;
}

/* Wherever an arm's budget ends; then where the base asks for it, as far as there is room. */
cull_status cull_arms_watch(const cull_arm_base *base, const cull_costs *costs, cull_arms *arms)
{
    cull_status    status = CULL_OK;
    cull_arm      *full = &arms->arm[0];
    struct moments m = {.count = 0};
    char           text[CULL_ARM_MOMENTS] = "";
    size_t         length = 0, count = 0;
    cull_option    more[CULL_ARM_SCORING + 1];
    cull_recipe   *recipe = NULL, *asked = NULL;

    TRY(cull_arm_recipe(base, NULL, 0, &asked));
    for (size_t i = 1; i < arms->count; i++)
        if (arms->arm[i].role == CULL_ROLE_EARLY_STOP)
            add_moment(&m, arms->arm[i].share * (double)full->recipe->setup.epochs);
    for (size_t i = 0; i < asked->setup.moments; i++) add_moment(&m, asked->setup.moment[i]);
    for (size_t i = 0; i < m.count && length < sizeof text - 2 * CULL_NUMBER_ROOM; i++) {
        if (length) text[length++] = ',';
        length += cull_base_write_number(m.at[i], 8, text + length);
    }
    count = cull_arm_unscored(more);
    if (m.count) more[count++] = (cull_option){"train.evaluate_at", text};
    TRY(cull_arm_recipe(base, more, count, &recipe));
    cull_recipe_close(full->recipe);
    full->recipe = recipe;
    TRY(cull_arm_price(costs, full));
done:
    cull_recipe_close(asked);
    return status;
}
