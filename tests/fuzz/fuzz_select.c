/*
 * fuzz/fuzz_select.c - any strategy, options, sizes and signals through the public calls.
 *
 * The input chooses the strategy, then up to eight steps of needs, select, observe, flush,
 * save and restore. Signals hold whatever bits the input holds, NaN and infinity included;
 * strides and shapes vary, some wrongly. A subset that comes back must be well-formed.
 */
#include <math.h>
#include <stdlib.h>

#include "fuzz_selector.h"

enum { MOST_COLUMNS = 5, MOST_STEPS = 8, GAP = 2 };

/* Room for any of the arrays, so that no view can reach outside. */
struct room {
    double   loss[MOST_POOL * 2], irreducible[MOST_POOL * 2];
    float    h[MOST_POOL * (MOST_COLUMNS + GAP)];
    double   p[MOST_POOL * (MOST_COLUMNS + GAP)];
    float    target_h[MOST_POOL * (MOST_COLUMNS + GAP)];
    double   target_p[MOST_POOL * (MOST_COLUMNS + GAP)], logits[MOST_POOL * (MOST_COLUMNS + GAP)];
    int64_t  label[MOST_POOL];
    uint8_t  target_label[MOST_POOL], unseen[MOST_POOL];
    uint32_t place[MOST_POOL];
};

/* Mostly small multiples of 1/8, so that ties and dependence happen; a few bytes stand for
 * what breaks arithmetic, one for any bits at all. */
static double take_number(struct bytes *b)
{
    static const double hostile[] = {NAN, INFINITY, -INFINITY, 1e300, 1e-300, 1e30, -0.0};
    uint8_t             kind = 0;
    double              any = 0;

    take_bytes(b, &kind, 1);
    if (kind < 0xf8) return ((double)kind - 100) / 8;
    if (kind < 0xff) return hostile[kind - 0xf8];
    take_bytes(b, &any, sizeof any);
    return any;
}

static void fill_doubles(struct bytes *b, double *out, size_t count)
{
    for (size_t i = 0; i < count; i++) out[i] = take_number(b);
}

static void fill_floats(struct bytes *b, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double x = take_number(b);
        out[i] = fabs(x) < 1e38 ? (float)x : x > 0 ? INFINITY : NAN;
    }
}

static cull_tensor matrix(struct bytes *b, void *data, cull_dtype dtype, size_t rows,
                          size_t columns)
{
    cull_tensor t = cull_matrix(data, dtype, rows, columns);
    size_t      odd = take_below(b, 32);

    t.stride[0] += (int64_t)take_below(b, GAP + 1);
    if (odd == 1) t.data = NULL;
    if (odd == 2) t.dims = 1;
    if (odd == 3) t.stride[1] = 0;
    if (odd == 4) t.shape[0] -= 1;
    if (odd == 5) t.shape[1] = 0;
    if (odd == 6) t.dtype = CULL_I32;
    return t;
}

static cull_tensor vector(struct bytes *b, void *data, cull_dtype dtype, size_t rows)
{
    cull_tensor t = cull_vector(data, dtype, rows);
    size_t      odd = take_below(b, 32);

    if (dtype == CULL_F64) t.stride[0] += (int64_t)take_below(b, 2);
    if (odd == 1) t.data = NULL;
    if (odd == 2) t.dims = 2;
    if (odd == 3) t.stride[0] = 0;
    if (odd == 4) t.shape[0] += 1;
    return t;
}

static void fill_signals(struct bytes *b, struct room *r, const cull_setting *setting,
                         cull_signals *s)
{
    size_t rows = setting->pool - take_below(b, setting->pool + 1),
           wide = 1 + take_below(b, MOST_COLUMNS);
    size_t classes = 1 + take_below(b, MOST_COLUMNS), targets = take_below(b, 8);

    *s = (cull_signals){.count = rows, .step = take_below(b, 40), .epoch = take_below(b, 12)};
    fill_doubles(b, r->loss, rows * 2);
    fill_doubles(b, r->irreducible, rows * 2);
    fill_floats(b, r->h, rows * (wide + GAP));
    fill_doubles(b, r->p, rows * (classes + GAP));
    fill_floats(b, r->target_h, targets * (wide + GAP));
    fill_doubles(b, r->target_p, targets * (classes + GAP));
    fill_doubles(b, r->logits, targets * (classes + GAP));
    for (size_t i = 0; i < rows; i++) {
        r->label[i] = (int64_t)take_below(b, classes + (i == 7)) - (i == 9);
        r->unseen[i] = take_below(b, 4) == 1;
        r->place[i] = (uint32_t)take_below(b, setting->pool + (i == 11));
    }
    for (size_t i = 0; i < targets; i++) r->target_label[i] = (uint8_t)take_below(b, classes);
    s->loss = vector(b, r->loss, CULL_F64, rows);
    s->irreducible = vector(b, r->irreducible, CULL_F64, rows);
    s->h = matrix(b, r->h, CULL_F32, rows, wide);
    s->p = matrix(b, r->p, CULL_F64, rows, classes);
    s->label = vector(b, r->label, CULL_I64, rows);
    if (take_below(b, 4) == 1) s->place = r->place;
    if (take_below(b, 4) == 1) s->unseen = r->unseen;
    s->target.count = targets;
    s->target.h = matrix(b, r->target_h, CULL_F32, targets, wide);
    s->target.p = matrix(b, r->target_p, CULL_F64, targets, classes);
    s->target.logits = matrix(b, r->logits, CULL_F64, targets, classes);
    s->target.label = vector(b, r->target_label, CULL_U8, targets);
}

/* What any caller may rely on. */
static void check_subset(const cull_subset *s, size_t rows, size_t pool)
{
    if (s->picked > s->count) abort();
    for (size_t i = 0; i < s->count; i++) {
        if (s->index[i] != CULL_NO_ROW && s->index[i] >= rows) abort();
        if (s->place[i] >= pool || !(s->weight[i] >= 0) || isinf(s->weight[i])) abort();
        if (s->groups && s->group[i] >= s->groups) abort();
    }
}

static void save_and_restore(cull_selector *selector)
{
    void  *bytes = NULL, *again = NULL;
    size_t size = 0, size_again = 0;

    if (cull_selector_save(selector, &bytes, &size) != CULL_OK ||
        cull_selector_restore(selector, bytes, size) != CULL_OK ||
        cull_selector_save(selector, &again, &size_again) != CULL_OK || size != size_again ||
        memcmp(bytes, again, size) != 0)
        abort();
    cull_bytes_release(bytes);
    cull_bytes_release(again);
}

static void step(struct bytes *b, struct room *room, cull_selector *selector,
                 const cull_setting *setting, cull_subset *subset)
{
    cull_signals   signals = {0};
    cull_needs     needs = {0};
    cull_diagnosis diagnosis = {0};

    fill_signals(b, room, setting, &signals);
    if (cull_selector_needs(selector, signals.step, signals.epoch, &needs) != CULL_OK) abort();
    switch (take_below(b, 8)) {
    case 1: (void)cull_observe(selector, &signals); break;
    case 2:
        if (cull_flush(selector, subset) != CULL_OK) abort();
        check_subset(subset, 0, setting->pool);
        break;
    case 3: save_and_restore(selector); break;
    default:
        if (cull_select(selector, &signals, take_below(b, 2) ? take_below(b, MOST_POOL) : 0,
                        subset) != CULL_OK) {
            if (subset->count || cull_last_error()[0] == '\0') abort();
            break;
        }
        check_subset(subset, signals.count, setting->pool);
        if (take_below(b, 2)) (void)cull_diagnose(NULL, &signals, subset, subset, &diagnosis);
        cull_diagnosis_clear(&diagnosis);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes   b = {data, size};
    cull_setting   setting = {0};
    cull_selector *selector = fuzz_selector(&b, &setting);
    cull_subset    subset = {0};
    struct room   *room = selector ? calloc(1, sizeof *room) : NULL;

    for (int i = 0; room && i < MOST_STEPS && b.left; i++)
        step(&b, room, selector, &setting, &subset);
    free(room);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    cull_backend_close(setting.backend);
    return 0;
}
