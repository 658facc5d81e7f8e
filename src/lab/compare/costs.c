/* lab/compare/costs.c - pricing runs by the table, and matching one run's price with another. */
#include "lab/compare/costs.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/number.h"
#include "select/frame.h"

bool cull_costs_add(cull_costs *costs, size_t batch, double seconds)
{
    size_t at = 0;

    while (at < costs->sizes && costs->learn[at].batch < batch) at++;
    if (at == costs->sizes || costs->learn[at].batch != batch) {
        if (costs->sizes == CULL_COST_SIZES) return false;
        for (size_t i = costs->sizes++; i > at; i--) costs->learn[i] = costs->learn[i - 1];
    }
    costs->learn[at].batch = batch;
    costs->learn[at].seconds = seconds;
    return true;
}

void cull_costs_smooth(cull_costs *costs)
{
    size_t first[CULL_COST_SIZES + 1], blocks = 0; /* where each block of equal sizes begins */
    double mean[CULL_COST_SIZES];

    for (size_t i = 0; i < costs->sizes; i++) {
        first[blocks] = i;
        mean[blocks++] = costs->learn[i].seconds;
        while (blocks > 1 && mean[blocks - 2] > mean[blocks - 1]) {
            double left = (double)(first[blocks - 1] - first[blocks - 2]);
            double right = (double)(i + 1 - first[blocks - 1]);

            mean[blocks - 2] =
                (left * mean[blocks - 2] + right * mean[blocks - 1]) / (left + right);
            blocks--;
        }
    }
    first[blocks] = costs->sizes;
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = first[b]; i < first[b + 1]; i++) costs->learn[i].seconds = mean[b];
}

double cull_costs_learn(const cull_costs *costs, double m)
{
    size_t at = 1;
    double x0 = 0, x1 = 0, y0 = 0, y1 = 0;

    if (costs->sizes == 0) return 0;
    if (costs->sizes == 1) return costs->learn[0].seconds * m / (double)costs->learn[0].batch;
    while (at + 1 < costs->sizes && (double)costs->learn[at].batch < m) at++;
    x0 = (double)costs->learn[at - 1].batch;
    x1 = (double)costs->learn[at].batch;
    y0 = costs->learn[at - 1].seconds;
    y1 = costs->learn[at].seconds;
    return fmax(0, y0 + (y1 - y0) * (m - x0) / (x1 - x0));
}

struct pricing {
    const cull_costs  *costs;
    const cull_priced *run;
    cull_sel_course    course;
    double             keep;
    cull_price        *price;
    const uint64_t    *mark;
    size_t             marks, next;
    double            *at;
};

static void count_step(struct pricing *p, double seconds, double trained, double thirds)
{
    cull_price *price = p->price;

    price->seconds += seconds;
    price->trained += trained;
    price->thirds += thirds;
    price->steps++;
    while (p->next < p->marks && p->mark[p->next] <= price->steps)
        p->at[p->next++] = price->seconds;
}

static void train_plainly(struct pricing *p, double count)
{
    const cull_costs *c = p->costs;

    count_step(p, count * c->load + cull_costs_learn(c, count) + c->optim, count, 3 * count);
}

/* How many of a step's candidates are trained, on the mean where numbers alternate. */
static double kept_of(const struct pricing *p, const cull_sel_step *step)
{
    if (step->learns == 0) return p->run->own.share * (double)step->count;
    return p->run->alternate ? fmax(1, p->keep * (double)step->count) : (double)step->learns;
}

/* Forward passes of candidates, and of the validation examples that a target is made of. A proxy's
 * are none of the model's work. */
static double count_scoring(struct pricing *p, const cull_needs *needs, double candidates,
                            size_t targets)
{
    bool   scored = (needs->signals & CULL_SIGNAL_FORWARD) != 0;
    double passes = (scored ? candidates : 0) + (needs->target ? (double)targets : 0);

    p->price->scoring += scored;
    p->price->signals |= needs->signals & CULL_SIGNAL_FORWARD;
    p->price->scored += passes;
    p->price->target = p->price->target || needs->target;
    if (!p->run->setup->score.proxy) p->price->thirds += passes;
    return passes;
}

static void select_step(struct pricing *p, const cull_sel_step *step)
{
    const cull_costs     *c = p->costs;
    const cull_arm_costs *own = &p->run->own;
    const cull_needs     *needs = &step->needs;
    size_t                batch = p->run->setup->batch;
    double                n = (double)step->count, m = kept_of(p, step), learn = 0;
    bool                  scored = (needs->signals & CULL_SIGNAL_FORWARD) != 0;
    bool                  reused = scored && p->run->setup->score.reuse;
    double                seconds = own->decide + (scored ? n : m) * c->load;

    if (needs->candidates > p->price->candidates) {
        p->price->candidates = needs->candidates;
        p->price->budget = needs->budget;
    }
    seconds +=
        own->score * count_scoring(p, needs, n, c->validation < batch ? c->validation : batch);
    if (step->learns == 0) {
        /* What is kept collects until a training batch is full. */
        learn = m / (double)batch * (cull_costs_learn(c, (double)batch) + c->optim);
        p->price->fixed = false;
        p->price->collects = true;
    } else {
        learn = (reused ? own->learn_kept : cull_costs_learn(c, m)) + c->optim;
    }
    count_step(p, seconds + learn, m, (reused ? 2 : 3) * m);
}

/* What comes before the steps of an epoch on a subset of the pool. */
static void begin_subset(struct pricing *p, const cull_needs *needs)
{
    const cull_arm_costs *own = &p->run->own;
    double                pool = (double)p->costs->pool;
    bool                  scored = (needs->signals & CULL_SIGNAL_FORWARD) != 0;

    p->price->pool = true;
    if (needs->action == CULL_SELECT_POOL) {
        p->price->seconds += own->pool_solve + (scored ? own->pool_score : 0);
        (void)count_scoring(p, needs, pool, p->costs->validation);
    }
    p->price->budget = p->course.count;
    if (p->course.count == 0) {
        p->price->fixed = false;
        p->course.count = (size_t)llround(own->share * pool);
    }
}

static void price_epoch(struct pricing *p, uint64_t epoch)
{
    cull_sel_course *c = &p->course;
    cull_needs       needs = {0};
    cull_sel_step    step = {0};

    cull_sel_course_epoch(c, epoch, &needs);
    if (cull_sel_over_subset(&needs)) begin_subset(p, &needs);
    for (; cull_sel_course_peek(c, &step); cull_sel_course_pass(c, step.count)) {
        if (step.needs.action == CULL_SELECT_BATCH)
            select_step(p, &step);
        else
            train_plainly(p, (double)step.count);
    }
}

/* The options with another keep; text has room for the number. */
static cull_status replace_keep(const cull_priced *run, char *text, cull_option **out)
{
    cull_status  status = CULL_OK;
    cull_option *all = NULL;

    TRY(cull_base_alloc(run->setup->selects + 1, sizeof *all, "a price", &all));
    for (size_t i = 0; i < run->setup->selects; i++) {
        all[i] = run->setup->select[i];
        if (run->keep > 0 && strcmp(all[i].key, "keep") == 0) {
            (void)cull_base_write_number(run->keep, 17, text);
            all[i].value = text;
        }
    }
    *out = all;
done:
    return status;
}

cull_status cull_costs_price(const cull_costs *costs, const cull_priced *run, const uint64_t *mark,
                             size_t marks, double *at, cull_price *out)
{
    const cull_train_setup *s = run->setup;
    cull_status             status = CULL_OK;
    char                    text[CULL_NUMBER_ROOM];
    cull_option            *options = NULL;
    cull_selector          *selector = NULL;
    cull_price              price = {.fixed = true};
    cull_setting            setting = {
                   .pool = costs->pool, .batch = s->batch, .epochs = s->epochs, .seed = s->seed};
    struct pricing p = {
        .costs = costs, .run = run, .price = &price, .mark = mark, .marks = marks, .at = at};

    if (setting.batch > setting.pool) setting.batch = setting.pool;
    TRY(replace_keep(run, text, &options));
    TRY(cull_selector_create(s->strategy, options, s->selects, &setting, &selector));
    p.keep = selector->keep;
    p.course =
        (cull_sel_course){.selector = selector, .drop_short = s->drop_short, .imagined = true};
    for (uint64_t epoch = 0; epoch < cull_selector_epochs(selector); epoch++)
        price_epoch(&p, epoch);
    while (p.next < marks) at[p.next++] = price.seconds;
    /* It selects by what it will have seen: nobody can tell when it begins. */
    if (!price.pool && price.candidates == 0 && p.keep < 1) price.fixed = false;
    /* Nor how long the texts are that are chosen of the whole pool. */
    if (price.pool && costs->tokens > 0) price.fixed = false;
    *out = price;
done:
    cull_selector_destroy(selector);
    cull_base_free(options);
    return status;
}

cull_status cull_costs_match(const cull_costs *costs, const cull_priced *run, double least,
                             double seconds, double *keep)
{
    cull_status status = CULL_OK;
    cull_priced tried = *run;
    cull_price  price = {0};
    double      low = least, high = 1;

    tried.keep = 1;
    TRY(cull_costs_price(costs, &tried, NULL, 0, NULL, &price));
    if (price.seconds <= seconds) low = 1;
    /* 2^-40 of the pool is less than an example */
    for (int i = 0; i < 40 && low < 1; i++) {
        tried.keep = (low + high) / 2;
        TRY(cull_costs_price(costs, &tried, NULL, 0, NULL, &price));
        if (price.seconds <= seconds)
            low = tried.keep;
        else
            high = tried.keep;
    }
    *keep = low > 0 ? low : high;
done:
    return status;
}

void cull_costs_group(const double *cost, const size_t *key, size_t count, double within,
                      size_t *leader)
{
    for (size_t i = 0; i < count; i++) leader[i] = SIZE_MAX;
    for (;;) {
        size_t top = SIZE_MAX;

        for (size_t i = 0; i < count; i++)
            if (leader[i] == SIZE_MAX &&
                (top == SIZE_MAX || isnan(cost[top]) || cost[i] > cost[top]))
                top = i;
        if (top == SIZE_MAX) return;
        leader[top] = top;
        for (size_t i = 0; i < count; i++)
            if (leader[i] == SIZE_MAX && key[i] == key[top] && cost[i] * (1 + within) >= cost[top])
                leader[i] = top;
    }
}
