/* select/selector.c - the frame around a strategy: made, named, ended. */
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "select/frame.h"

/* Epochs and steps are counted in doubles too. */
#define MOST_MOMENTS (UINT64_C(1) << 53)

static cull_status take_options(cull_selector *s, const char *modifier, const cull_option *options,
                                size_t count)
{
    cull_status        status = CULL_OK;
    cull_option       *all = NULL;
    cull_option_tables tables;

    if (count && !options) FAIL(CULL_BAD_ARGUMENT, "%zu options promised, none given", count);
    cull_sel_tables(s->strategy, &tables);
    TRY(cull_base_alloc(count + 1, sizeof *all, "the options", &all));
    if (count) memcpy(all, options, count * sizeof *all);
    if (modifier) all[count] = (cull_option){"losses", modifier};
    TRY(cull_values_create(s->name, &tables, all, count + (modifier != NULL), &s->values));
done:
    cull_base_free(all);
    return status;
}

/* Atoms that are minibatches are made and compared on the host. */
static bool cuts_the_pool(const cull_selector *s)
{
    return s->strategy->traits & CULL_SEL_WAITS && cull_value_is(s->values, "scope", "batch");
}

static cull_status take_setting(cull_selector *s, const cull_setting *setting)
{
    cull_status status = CULL_OK;

    if (!setting || setting->pool < 1 || setting->pool >= UINT32_MAX)
        FAIL(CULL_BAD_ARGUMENT, "the pool has %zu examples, 1 to %u are taken",
             setting ? setting->pool : 0, UINT32_MAX - 1);
    if (setting->batch > setting->pool)
        FAIL(CULL_BAD_ARGUMENT, "the batch of %zu is larger than the pool of %zu", setting->batch,
             setting->pool);
    if (setting->epochs > MOST_MOMENTS || setting->steps > MOST_MOMENTS)
        FAIL(CULL_BAD_ARGUMENT, "%llu epochs of %llu steps are more than can be counted",
             (unsigned long long)setting->epochs, (unsigned long long)setting->steps);
    s->setting = *setting;
    if (s->setting.batch == 0) s->setting.batch = setting->pool;
    if (!s->setting.backend) {
        TRY(cull_backend_open("cpu", 1, &s->backend));
        s->setting.backend = s->backend;
    }
    s->home = s->setting.backend;
    if (s->plugin || s->strategy->traits & CULL_HOST_SIGNALS || cuts_the_pool(s))
        s->setting.backend = cull_backend_host(s->home);
done:
    return status;
}

cull_status cull_sel_state_make(const cull_selector *s, cull_sel_self *out)
{
    cull_status  status = CULL_OK;
    cull_predict predict = CULL_PREDICT_LAST;
    cull_self   *self = &out->base;

    if (s->source == CULL_LOSSES_STALE) {
        if (cull_value_is(s->values, "predict", "average")) predict = CULL_PREDICT_AVERAGE;
        if (cull_value_is(s->values, "predict", "trend")) predict = CULL_PREDICT_TREND;
    }
    *self = (cull_self){&s->setting, s->values, NULL, NULL, &cull_sel_calls, &s->watch};
    out->kit.backend = s->setting.backend;
    if (s->source != CULL_LOSSES_SCORED)
        TRY(cull_sel_losses_create(s->setting.backend, s->setting.pool, predict, &self->losses));
    TRY(cull_base_alloc(s->strategy->state_size, 1, "a strategy's state", &self->state));
    if (s->strategy->create) TRY(s->strategy->create(self));
done:
    return status;
}

void cull_sel_state_drop(const cull_selector *s, cull_sel_self *self)
{
    if (self->base.state && s->strategy->destroy) s->strategy->destroy(&self->base);
    cull_base_free(self->base.state);
    cull_sel_losses_destroy(self->base.losses);
    cull_kit_clear(&self->kit);
    *self = (cull_sel_self){0};
}

cull_status cull_selector_create(const char *strategy, const cull_option *options, size_t count,
                                 const cull_setting *setting, cull_selector **out)
{
    cull_status    status = CULL_OK;
    cull_selector *s = NULL;
    const char    *modifier = NULL;
    cull_setting   room;

    if (!out) FAIL(CULL_BAD_ARGUMENT, "a place for the selector is needed");
    SIZED(cull_setting, setting, room);
    TRY(cull_base_alloc(1, sizeof *s, "a selector", &s));
    TRY(cull_sel_strategy_open(strategy, &s->strategy, &s->plugin, &modifier));
    (void)snprintf(s->name, sizeof s->name, "%.40s", s->strategy->name);
    TRY(take_options(s, modifier, options, count));
    TRY(take_setting(s, setting));
    TRY(cull_sel_rhythm(s));
    s->kit.backend = s->setting.backend;
    TRY(cull_kit_ready(&s->kit, CULL_OP_CHECK, 0));
    TRY(cull_kit_allocate(&s->kit, 1, sizeof *s->word, "an error word", &s->word));
    TRY(cull_sel_state_make(s, &s->self));
    *out = s;
    s = NULL;
done:
    cull_selector_destroy(s);
    return status;
}

void cull_selector_destroy(cull_selector *selector)
{
    cull_selector *s = selector;

    if (!s) return;
    if (s->strategy) cull_sel_state_drop(s, &s->self);
    cull_kit_clear(&s->kit);
    cull_sel_load_clear(&s->fetched);
    cull_subset_clear(&s->made);
    cull_values_destroy(s->values);
    cull_backend_close(s->backend);
    cull_sel_plugin_close(s->plugin);
    cull_base_free(s);
}

const char *cull_selector_name(const cull_selector *selector)
{
    return selector->name;
}

const char *cull_selector_options(const cull_selector *selector)
{
    return cull_values_describe(selector->values);
}
