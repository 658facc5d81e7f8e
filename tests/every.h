/*
 * tests/every.h - every built-in strategy, plain and under each modifier it takes, driven through a
 * small run the way a trainer would: ask what it needs, bring it, select, train, tell it what
 * training saw.
 */
#ifndef CULL_TESTS_EVERY_H
#define CULL_TESTS_EVERY_H

#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "base/bytes.h"

enum { POOL = 72, BATCH = 24, STEPS = POOL / BATCH, EPOCHS = 6, D = 5, C = 3, TARGETS = 20 };

/* One strategy under one modifier. */
struct kind {
    const cull_strategy *strategy;
    char                 name[64], options[64];
};

/* Room for the signals of one call. */
struct seen {
    float    loss[POOL], h[POOL * D], p[POOL * C], irreducible[POOL];
    int32_t  label[POOL];
    uint32_t place[POOL];
};

static float   target_h[TARGETS * D], target_p[TARGETS * C], target_logits[TARGETS * C];
static int32_t target_label[TARGETS];

static inline bool next_kind(struct kind *kind, size_t *at)
{
    static const struct {
        const char *word;
        unsigned    trait;
    } modifiers[] = {{"", 0},
                     {" stale", CULL_TAKES_STALE},
                     {" remembered", CULL_TAKES_REMEMBERED},
                     {" remembered", CULL_TAKES_REMEMBERED}}; /* with its looks at the pool */
    enum { WAYS = sizeof modifiers / sizeof *modifiers };

    for (;; (*at)++) {
        size_t m = *at % WAYS;

        kind->strategy = cull_strategy_at(*at / WAYS);
        if (!kind->strategy) return false;
        if (modifiers[m].trait && !(kind->strategy->traits & modifiers[m].trait)) continue;
        if (m == WAYS - 1 && strcmp(kind->strategy->name, "sb") != 0) continue;
        (void)snprintf(kind->name, sizeof kind->name, "%s%s", kind->strategy->name,
                       modifiers[m].word);
        kind->options[0] = '\0';
        if (strcmp(kind->name, "kath18 remembered") == 0)
            (void)snprintf(kind->options, sizeof kind->options, "score=loss");
        if (m == WAYS - 1)
            (void)snprintf(kind->options, sizeof kind->options, "percentile=pool trim=0.2");
        (*at)++;
        return true;
    }
}

static inline cull_selector *open_kind(const struct kind *kind, cull_backend *backend)
{
    cull_setting setting = {
        .pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = 17, .backend = backend};
    return make_selector(kind->name, kind->options, &setting);
}

static inline int fill_target(void **state)
{
    (void)state;
    for (size_t i = 0; i < TARGETS * D; i++) target_h[i] = (float)random_normal(1, i);
    for (size_t i = 0; i < TARGETS * C; i++) {
        target_p[i] = (float)random_normal(2, i);
        target_logits[i] = (float)random_normal(3, i);
    }
    for (size_t i = 0; i < TARGETS; i++) target_label[i] = (int32_t)(i % C);
    return 0;
}

/* All signals of the places in s->place; losses fall with the epochs, a few stay large. */
static inline cull_signals look(struct seen *s, size_t count, uint64_t step, uint64_t epoch)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t place = s->place[i];
        double   size = place % 19 == 0 ? 40 : exp(-0.3 * (double)epoch) + 0.01;

        s->loss[i] = (float)(size * (0.1 + random_uniform(4, place * 100 + epoch)));
        s->irreducible[i] = (float)random_uniform(5, place);
        s->label[i] = (int32_t)(place % C);
        for (size_t j = 0; j < D; j++) s->h[i * D + j] = (float)random_normal(6, place * D + j);
        for (size_t j = 0; j < C; j++)
            s->p[i * C + j] = (float)(size * random_normal(7, place * C + j));
    }
    return (cull_signals){.count = count,
                          .place = s->place,
                          .step = step,
                          .epoch = epoch,
                          .loss = cull_vector(s->loss, CULL_F32, count),
                          .h = cull_matrix(s->h, CULL_F32, count, D),
                          .p = cull_matrix(s->p, CULL_F32, count, C),
                          .label = cull_vector(s->label, CULL_I32, count),
                          .irreducible = cull_vector(s->irreducible, CULL_F32, count),
                          .target = {.count = TARGETS,
                                     .h = cull_matrix(target_h, CULL_F32, TARGETS, D),
                                     .p = cull_matrix(target_p, CULL_F32, TARGETS, C),
                                     .label = cull_vector(target_label, CULL_I32, TARGETS),
                                     .logits = cull_matrix(target_logits, CULL_F32, TARGETS, C)}};
}

/* What lies elsewhere than on the host, of one call. */
struct there {
    cull_backend *backend;
    void         *block[16];
    size_t        blocks;
};

static inline const void *put(struct there *t, const void *from, size_t bytes)
{
    void *to = NULL;

    assert_ok(cull_backend_allocate(t->backend, bytes, 1, "a test", &to));
    assert_ok(cull_backend_upload(t->backend, to, from, bytes));
    t->block[t->blocks++] = to;
    return to;
}

static inline void put_tensor(struct there *t, cull_tensor *x)
{
    size_t width = x->dims == 2 ? (size_t)x->shape[1] : 1;

    x->data =
        (void *)(uintptr_t)put(t, x->data, (size_t)x->shape[0] * width * cull_dtype_size(x->dtype));
    x->device = cull_backend_device(t->backend);
}

/* The same signals, on a backend; their blocks end with take_away(). */
static inline cull_signals put_signals(struct there *t, cull_signals s)
{
    cull_tensor *arrays[] = {&s.loss,         &s.h,        &s.p,        &s.label,
                             &s.irreducible,  &s.target.h, &s.target.p, &s.target.label,
                             &s.target.logits};

    s.place = put(t, s.place, s.count * sizeof *s.place);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) put_tensor(t, arrays[i]);
    s.device = cull_backend_device(t->backend);
    return s;
}

static inline void take_away(struct there *t)
{
    for (size_t i = 0; i < t->blocks; i++) cull_backend_release(t->backend, t->block[i]);
    t->blocks = 0;
}

/* A backend's subset as the host sees it; ends with cull_subset_clear(). */
static inline cull_subset bring_subset(const cull_subset *s)
{
    cull_subset here = {0};
    size_t      numbers = s->count * sizeof *s->index;

    assert_non_null(s->backend);
    assert_ok(cull_subset_resize(&here, s->count));
    here.groups = s->groups;
    here.picked = s->picked;
    here.flags = s->flags;
    assert_ok(cull_backend_download(s->backend, here.index, s->index, numbers));
    assert_ok(cull_backend_download(s->backend, here.place, s->place, numbers));
    assert_ok(cull_backend_download(s->backend, here.group, s->group, numbers));
    assert_ok(cull_backend_download(s->backend, here.weight, s->weight, 2 * numbers));
    return here;
}

/* What a call gave, mixed into one number. */
static inline uint64_t digest(uint64_t before, const cull_subset *subset)
{
    uint64_t part[7] = {before, subset->count, subset->groups, subset->flags};

    part[4] = cull_base_hash(subset->place, subset->count * sizeof *subset->place);
    part[5] = cull_base_hash(subset->weight, subset->count * sizeof *subset->weight);
    part[6] = cull_base_hash(subset->group, subset->count * sizeof *subset->group);
    return cull_base_hash(part, sizeof part);
}

static inline void assert_sound(const struct kind *kind, const cull_subset *subset, size_t count)
{
    for (size_t i = 0; i < subset->count; i++) {
        assert_true(subset->place[i] < POOL);
        assert_true(subset->index[i] < count || subset->index[i] == CULL_NO_ROW);
        assert_true(isfinite(subset->weight[i]) && subset->weight[i] >= 0);
        assert_true(subset->group[i] < subset->groups || subset->group[i] == 0);
        if (i && subset->group[i] == subset->group[i - 1] &&
            !(kind->strategy->traits & CULL_SAMPLES))
            assert_true(subset->index[i] > subset->index[i - 1]);
    }
    assert_true(subset->picked <= subset->count);
}

/* One step as a trainer takes it, with all arrays on a backend (NULL: on the host); the status of
 * the first call that fails. */
static inline cull_status take_step_at(cull_backend *backend, const struct kind *kind,
                                       cull_selector *selector, uint64_t now, cull_subset *subset,
                                       uint64_t *mix)
{
    static struct seen s;
    cull_status        status = CULL_OK;
    uint64_t           epoch = now / STEPS, step = now % STEPS;
    struct there       there = {.backend = backend};
    cull_subset        here = {0}, *got = subset;
    cull_needs         needs = {0};
    cull_signals       signals;
    size_t             count = 0;

    TRY(cull_selector_needs(selector, now, epoch, &needs));
    count = needs.action == CULL_TRAIN_ALL || needs.action == CULL_SELECT_BATCH ? needs.candidates
                                                                                : POOL;
    for (size_t i = 0; i < count; i++)
        s.place[i] = count == POOL ? (uint32_t)i : (uint32_t)((step * BATCH + i) * 5 % POOL);
    signals = look(&s, count, now, epoch);
    if (needs.action == CULL_SELECT_BATCH || needs.action == CULL_SELECT_POOL) {
        if (backend) signals = put_signals(&there, signals);
        TRY(cull_select(selector, &signals, 0, subset));
        if (backend) {
            here = bring_subset(subset);
            got = &here;
        }
        assert_sound(kind, got, count);
        *mix = digest(*mix, got);
        count = got->count < BATCH ? got->count : BATCH;
        for (size_t i = 0; i < count; i++) s.place[i] = got->place[i];
    } else if (count > BATCH) {
        count = BATCH;
    }
    if (count == 0) goto done;
    take_away(&there);
    signals = look(&s, count, now, epoch);
    if (backend) signals = put_signals(&there, signals);
    TRY(cull_observe(selector, &signals));
done:
    take_away(&there);
    cull_subset_clear(&here);
    return status;
}

static inline uint64_t run_at(cull_backend *backend, const struct kind *kind,
                              cull_selector *selector, uint64_t from)
{
    cull_subset subset = {0}, here = {0};
    uint64_t    mix = 1;

    for (uint64_t now = from; now < STEPS * EPOCHS; now++)
        assert_ok(take_step_at(backend, kind, selector, now, &subset, &mix));
    assert_ok(cull_flush(selector, &subset));
    if (subset.backend) here = bring_subset(&subset);
    mix = digest(mix, subset.backend ? &here : &subset);
    cull_subset_clear(&here);
    cull_subset_clear(&subset);
    return mix;
}

#endif
