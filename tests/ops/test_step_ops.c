/*
 * tests/ops/test_step_ops.c - the operations that learn and keep books (kept, update, summary,
 * tally) on every backend: what comes out, and behind it what it was made of, is the same
 * to the last bit; but devices add the squares of gradients in an order of their own.
 */
#include "ops/on_backend.h"

#include <math.h>
#include <stdlib.h>

enum { HELD = 50, ROWS = 20, CLASSES = 7, PLACES = 64 };
enum { COUNT = 2 * CULL_OPTIM_CHUNK + 1234, CHUNKS = 3, STEPS = 3, RANGES = 7 };

/* All that the operations on rows read and write, so that it can be compared as one. */
struct rows {
    uint32_t    index[ROWS], place[ROWS], from_place[HELD];
    int32_t     count[PLACES], first[PLACES];
    double      target[ROWS * CLASSES], from_target[HELD * CLASSES]; /* or what a loss has */
    double      chosen[ROWS], from_loss[HELD], loss[ROWS], share[ROWS], weights[PLACES];
    double      from_p[HELD * CLASSES], p[ROWS * CLASSES], gradient[ROWS * CLASSES]; /* or floats */
    float       latest[PLACES];
    cull_seen   seen;
    cull_moment now;
    cull_trouble trouble;
    cull_outcome became, told;
};

static void set(double *x, size_t i, cull_dtype dtype, double value)
{
    if (dtype == CULL_F32)
        ((float *)x)[i] = (float)value;
    else
        x[i] = value;
}

/* A class, a truth for each output, or a number for each. */
static void set_target(struct rows *r, size_t i, cull_loss_kind loss, cull_dtype dtype)
{
    for (size_t k = 0; k < CLASSES; k++) {
        if (loss == CULL_LOSS_CROSS_ENTROPY)
            ((int32_t *)r->from_target)[i] = (int32_t)(i % CLASSES);
        else if (loss == CULL_LOSS_BINARY)
            ((uint8_t *)r->from_target)[i * CLASSES + k] = k == i % CLASSES || k == i % 3;
        else
            set(r->from_target, i * CLASSES + k, dtype, random_uniform(5, i * CLASSES + k));
    }
}

static struct rows *make_rows(cull_dtype dtype, cull_loss_kind loss)
{
    struct rows *r = calloc(1, sizeof *r);

    r->now = (cull_moment){.step = 77, .epoch = 3};
    r->became = (cull_outcome){.count = ROWS, .picked = 2, .flags = CULL_SUBSET_FILLED};
    for (size_t i = 0; i < HELD; i++) {
        r->from_place[i] = (uint32_t)(i * 13 % PLACES);
        set_target(r, i, loss, dtype);
        r->from_loss[i] = 3 * random_uniform(1, i);
        for (size_t k = 0; k < CLASSES; k++)
            set(r->from_p, i * CLASSES + k, dtype,
                random_uniform(2, i * CLASSES + k) - (k == i % CLASSES ? 1 : 0));
    }
    for (size_t i = 0; i < ROWS; i++) {
        r->index[i] = (uint32_t)((i * 17 + 5) % HELD);
        r->chosen[i] = 2 * random_uniform(3, i);
    }
    for (size_t i = 0; i < PLACES; i++) r->first[i] = i % 3 ? -1 : 1;
    return r;
}

static cull_op_args kept_args(struct rows *r, cull_dtype dtype, cull_loss_kind loss, bool constants)
{
    return (cull_op_args){.kept = {.rows = ROWS,
                                   .classes = CLASSES,
                                   .dtype = dtype,
                                   .index = r->index,
                                   .chosen = r->chosen,
                                   .constants = constants,
                                   .from_p = r->from_p,
                                   .from_loss = r->from_loss,
                                   .from_target = r->from_target,
                                   .target_bytes = cull_loss_target(loss, CLASSES, dtype),
                                   .from_place = r->from_place,
                                   .p = r->p,
                                   .gradient = r->gradient,
                                   .loss = r->loss,
                                   .share = r->share,
                                   .target = r->target,
                                   .place = r->place}};
}

static cull_op_args summary_args(struct rows *r, cull_dtype dtype, cull_loss_kind loss, bool add)
{
    return (cull_op_args){.summary = {.rows = ROWS,
                                      .classes = CLASSES,
                                      .loss = r->loss,
                                      .p = add ? NULL : r->p,
                                      .dtype = dtype,
                                      .target = r->target,
                                      .place = r->place,
                                      .of = {loss, loss ? 0 : 0.1},
                                      .add = add,
                                      .out = &r->seen,
                                      .now = &r->now,
                                      .trouble = &r->trouble,
                                      .became = add ? NULL : &r->became,
                                      .outcomes = &r->told}};
}

static cull_op_args tally_args(struct rows *r, bool weighted)
{
    return (cull_op_args){.tally = {.rows = ROWS,
                                    .place = r->place,
                                    .loss = r->loss,
                                    .weight = weighted ? r->chosen : NULL,
                                    .now = &r->now,
                                    .count = r->count,
                                    .first = r->first,
                                    .weights = r->weights,
                                    .latest = r->latest}};
}

/* One step's rows, as training has them: kept, gathered, summed up, counted. */
static struct rows *run_rows(cull_backend *backend, cull_dtype dtype, cull_loss_kind loss,
                             bool constants)
{
    struct rows *r = make_rows(dtype, loss);
    cull_op_args kept = kept_args(r, dtype, loss, constants), tally = tally_args(r, constants);
    cull_op_args summary = summary_args(r, dtype, loss, false);
    cull_op_args more = summary_args(r, dtype, loss, true);
    size_t       bytes = CLASSES * cull_dtype_size(dtype);
    cull_op_args gather = {.gather = {.from = r->from_p,
                                      .to = r->gradient,
                                      .index = r->index,
                                      .rows = ROWS,
                                      .held = HELD,
                                      .bytes = bytes}};

    assert_ok(on_run(backend, CULL_OP_KEPT, ROWS, 1, &kept));
    assert_ok(on_run(backend, CULL_OP_SUMMARY, ROWS, 1, &summary));
    assert_ok(on_run(backend, CULL_OP_SUMMARY, ROWS, 2, &more));
    assert_ok(on_run(backend, CULL_OP_TALLY, ROWS, 2, &tally));
    if (constants) {
        assert_ok(on_run(backend, CULL_OP_GATHER, ROWS, 1, &gather));
        assert_memory_equal(r->p, r->gradient, ROWS * bytes); /* kept has gathered the same */
    }
    assert_int_equal(3 * ROWS, r->seen.count);
    assert_int_equal(0, r->trouble.what);
    assert_memory_equal(&r->became, &r->told, sizeof r->told);
    return r;
}

static void rows_are_the_same_on_every_backend(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        cull_dtype     dtype = k & 1 ? CULL_F64 : CULL_F32;
        cull_loss_kind loss = (cull_loss_kind)(k / 4);
        struct rows   *want = run_rows(ref, dtype, loss, k & 2);
        if (loss == CULL_LOSS_CROSS_ENTROPY)
            assert_true(want->seen.correct > 0 && want->seen.correct < ROWS);
        else
            assert_int_equal(0, want->seen.correct);
        EACH(backend, CULL_OP_SUMMARY)
        {
            struct rows *got = run_rows(backend, dtype, loss, k & 2);

            assert_memory_equal(want, got, sizeof *got);
            free(got);
        }
        free(want);
    }
}

/* The same place more than once, as when drawn with replacement. */
static void rows_of_one_place_are_counted_in_their_order(void **state)
{
    enum { MANY = 3000, FEW = 6 };
    struct {
        int32_t count[FEW], first[FEW];
        double  weights[FEW];
        float   latest[FEW];
    } start = {.first = {-1, -1, 2, -1, -1, -1}}, want = start, got;
    uint32_t   *place = calloc(MANY, sizeof *place);
    double     *loss = calloc(MANY, sizeof *loss), *weight = calloc(MANY, sizeof *weight);
    cull_moment now = {.epoch = 7};

    (void)state;

    for (size_t i = 0; i < MANY; i++) {
        place[i] = (uint32_t)(FEW * random_uniform(21, i));
        loss[i] = random_uniform(22, i);
        weight[i] = random_uniform(23, i);
        want.count[place[i]]++;
        want.weights[place[i]] += weight[i];
        want.latest[place[i]] = (float)loss[i];
    }
    for (size_t p = 0; p < FEW; p++) want.first[p] = p == 2 ? 2 : 7;
    EACH(backend, CULL_OP_TALLY)
    {
        cull_op_args args = {.tally = {.rows = MANY,
                                       .place = place,
                                       .loss = loss,
                                       .weight = weight,
                                       .now = &now,
                                       .count = got.count,
                                       .first = got.first,
                                       .weights = got.weights,
                                       .latest = got.latest}};

        got = start;
        assert_ok(on_run(backend, CULL_OP_TALLY, MANY, 1, &args));
        assert_memory_equal(&want, &got, sizeof want);
    }
    free(place);
    free(loss);
    free(weight);
}

/* More rows and classes than one round of anything; of equal outputs the first is the choice. */
static void a_summary_of_many_rows_is_the_same_on_every_backend(void **state)
{
    enum { MANY = 5003, WIDE = 13 };
    double   *loss = calloc(MANY, sizeof *loss);
    float    *p = calloc((size_t)MANY * WIDE, sizeof *p);
    int32_t  *label = calloc(MANY, sizeof *label);
    uint32_t *place = calloc(MANY, sizeof *place);
    cull_seen want = {0};

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        loss[i] = 3 * random_uniform(24, i);
        label[i] = (int32_t)(i % WIDE);
        for (size_t k = 0; k < WIDE; k++)
            p[i * WIDE + k] = (float)(int)(4 * random_uniform(25, i * WIDE + k)) / 4 -
                              (k == i % WIDE ? 1.f : 0.f);
    }
    p[7 * WIDE + 7] = NAN;
    EACH(backend, CULL_OP_SUMMARY)
    {
        cull_seen    got = {.loss = 0.1, .count = 3, .correct = 2};
        cull_op_args args = {.summary = {.rows = MANY,
                                         .classes = WIDE,
                                         .loss = loss,
                                         .p = p,
                                         .dtype = CULL_F32,
                                         .target = label,
                                         .place = place,
                                         .add = true,
                                         .out = &got}};

        assert_ok(on_run(backend, CULL_OP_SUMMARY, MANY, 2, &args));
        if (backend == ref) want = got;
        assert_memory_equal(&want, &got, sizeof want);
        assert_true(got.correct > 100 && got.correct < MANY);
        assert_int_equal(3 + 2 * MANY, got.count);
    }
    free(loss);
    free(p);
    free(label);
    free(place);
}

/* What a network says that tells no class from another is the first class, though softmax less
 * target has fewer bits at the target than elsewhere: else it would be right every time. */
static void a_network_that_knows_nothing_chooses_the_first_class(void **state)
{
    enum { SOME = 10, MOST = 100 };
    static const size_t of[] = {2, 3, 10, MOST};
    float               p[SOME * MOST];
    double              loss[SOME] = {0};
    int32_t             target[SOME];
    uint32_t            place[SOME] = {0};

    (void)state;
    for (size_t c = 0; c < sizeof of / sizeof *of; c++) {
        for (size_t i = 0; i < SOME; i++) {
            target[i] = (int32_t)(i % of[c]);
            for (size_t k = 0; k < of[c]; k++)
                p[i * of[c] + k] = 1.F / (float)of[c] - (k == i % of[c] ? 1.F : 0.F);
        }
        EACH(backend, CULL_OP_SUMMARY)
        {
            cull_seen    got = {.loss = 0};
            cull_op_args args = {.summary = {.rows = SOME,
                                             .classes = of[c],
                                             .loss = loss,
                                             .p = p,
                                             .dtype = CULL_F32,
                                             .target = target,
                                             .place = place,
                                             .out = &got}};

            assert_ok(on_run(backend, CULL_OP_SUMMARY, SOME, 1, &args));
            assert_int_equal((SOME + of[c] - 1) / of[c], got.correct);
        }
    }
}

static void a_loss_that_is_not_finite_is_written_down_with_its_place(void **state)
{
    (void)state;
    EACH(backend, CULL_OP_SUMMARY)
    {
        struct rows *r = run_rows(backend, CULL_F32, CULL_LOSS_CROSS_ENTROPY, false);
        cull_op_args args = summary_args(r, CULL_F32, CULL_LOSS_CROSS_ENTROPY, false);

        r->loss[6] = NAN;
        r->loss[9] = INFINITY;
        assert_ok(on_run(backend, CULL_OP_SUMMARY, ROWS, 1, &args));
        assert_int_equal(CULL_WRONG_LOSS, r->trouble.what);
        assert_int_equal(6, r->trouble.row);
        assert_int_equal(r->place[6], r->trouble.place);
        assert_int_equal(77, r->trouble.step);
        r->loss[2] = NAN; /* what was written first stays */
        assert_ok(on_run(backend, CULL_OP_SUMMARY, ROWS, 1, &args));
        assert_int_equal(6, r->trouble.row);
        free(r);
    }
}

/* ---- update ---- */

struct block {
    double           value[COUNT], gradient[COUNT], buffer[2][COUNT]; /* or floats */
    uint16_t         narrow[COUNT];
    double           partial[CHUNKS], norm;
    cull_optim_range range[RANGES];
    cull_moment      now;
    cull_trouble     trouble;
};

static const cull_optim_options rules[] = {
    {.rule = CULL_OPTIM_SGD, .weight_decay = 0.1},
    {.rule = CULL_OPTIM_SGD, .momentum = 0.9, .clip = 3},
    {.rule = CULL_OPTIM_SGD, .momentum = 0.9, .nesterov = true, .weight_decay = 0.1, .clip = 1e6},
    {.rule = CULL_OPTIM_ADAMW,
     .beta1 = 0.9,
     .beta2 = 0.99,
     .epsilon = 1e-8,
     .weight_decay = 0.01,
     .clip = 3},
    {.rule = CULL_OPTIM_ADAM,
     .beta1 = 0.8,
     .beta2 = 0.9,
     .epsilon = 1e-6,
     .weight_decay = 0.1,
     .clip = 3},
};
enum { RULES = sizeof rules / sizeof *rules };

static struct block *make_block(cull_dtype dtype, double decay)
{
    static const uint64_t at[RANGES] = {
        0, 1000, 1001, 1003, CULL_OPTIM_CHUNK + 7, CULL_OPTIM_CHUNK + 7, COUNT - 1};
    struct block *b = calloc(1, sizeof *b);

    for (size_t r = 0; r < RANGES; r++) b->range[r] = (cull_optim_range){at[r], r % 2 ? 0 : decay};
    for (size_t i = 0; i < COUNT; i++) {
        set(b->value, i, dtype, random_normal(4, i));
        set(b->gradient, i, dtype, random_normal(5, i));
    }
    return b;
}

static cull_status run_part(cull_backend *backend, struct block *b, cull_dtype dtype,
                            const cull_optim_options *rule, cull_trouble *trouble, size_t from,
                            size_t to)
{
    bool         second = rule->rule != CULL_OPTIM_SGD, first = second || rule->momentum > 0;
    cull_op_args args = {
        .update = {.rule = *rule,
                   .dtype = dtype,
                   .count = to,
                   .from = from,
                   .value = b->value,
                   .gradient = b->gradient,
                   .narrow = b->narrow,
                   .buffer = {first ? b->buffer[0] : NULL, second ? b->buffer[1] : NULL},
                   .range = b->range,
                   .ranges = RANGES,
                   .partial = b->partial,
                   .norm = &b->norm,
                   .now = &b->now,
                   .trouble = trouble}};

    return on_run(backend, CULL_OP_UPDATE, 1, 1, &args);
}

static cull_status run_update(cull_backend *backend, struct block *b, cull_dtype dtype,
                              const cull_optim_options *rule, cull_trouble *trouble)
{
    return run_part(backend, b, dtype, rule, trouble, 0, COUNT);
}

static void update(cull_backend *backend, struct block *b, cull_dtype dtype,
                   const cull_optim_options *rule)
{
    assert_ok(run_update(backend, b, dtype, rule, &b->trouble));
}

static struct block *run_updates(cull_backend *backend, cull_dtype dtype,
                                 const cull_optim_options *rule)
{
    struct block *b = make_block(dtype, rule->weight_decay);

    for (uint64_t step = 1; step <= STEPS; step++) {
        b->now = (cull_moment){.step = step, .updates = step, .rate = 0.1 / (double)step};
        update(backend, b, dtype, rule);
    }
    assert_int_equal(0, b->trouble.what);
    return b;
}

static double get(const double *x, size_t i, cull_dtype dtype)
{
    return dtype == CULL_F32 ? (double)((const float *)x)[i] : x[i];
}

/* As make_block() set it. */
static double random_normal_as(uint64_t seed, size_t i, cull_dtype dtype)
{
    return dtype == CULL_F32 ? (double)(float)random_normal(seed, i) : random_normal(seed, i);
}

/* A norm that differs in its last bits may make a factor another float, and no more. */
static void check_clipped(const struct block *want, struct block *got, cull_dtype dtype)
{
    const double near = dtype == CULL_F32 ? 1e-6 : 1e-13;

    for (size_t c = 0; c < CHUNKS; c++)
        assert_true(fabs(want->partial[c] - got->partial[c]) <= 1e-13 * want->partial[c]);
    assert_true(fabs(want->norm - got->norm) <= 1e-13 * want->norm);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(fabs(get(want->value, i, dtype) - get(got->value, i, dtype)) <= near);
        assert_true(fabs(get(want->gradient, i, dtype) - get(got->gradient, i, dtype)) <= near);
        for (size_t k = 0; k < 2; k++)
            assert_true(fabs(get(want->buffer[k], i, dtype) - get(got->buffer[k], i, dtype)) <=
                        near);
        assert_int_equal(cull_bf16_of((float)get(got->value, i, dtype)), got->narrow[i]);
    }
    assert_memory_equal(&want->trouble, &got->trouble, sizeof want->trouble);
}

static void updates_are_the_same_on_every_backend(void **state)
{
    (void)state;
    for (size_t k = 0; k < (size_t)2 * RULES; k++) {
        cull_dtype    dtype = k % 2 ? CULL_F64 : CULL_F32;
        struct block *want = run_updates(ref, dtype, &rules[k / 2]);
        struct block *start = make_block(dtype, rules[k / 2].weight_decay);

        assert_memory_not_equal(want->value, start->value, sizeof want->value);
        EACH(backend, CULL_OP_UPDATE)
        {
            struct block *got = run_updates(backend, dtype, &rules[k / 2]);

            if ((backend == device[0] || backend == device[1]) && rules[k / 2].clip > 0)
                check_clipped(want, got, dtype);
            else
                assert_memory_equal(want, got, sizeof *got);
            free(got);
        }
        free(want);
        free(start);
    }
}

/* The later weights first, from borders and from between them; and no part of a broken step. */
static void parts_of_an_update_make_up_the_whole(void **state)
{
    static const size_t at[] = {1, 1001, 4096, CULL_OPTIM_CHUNK + 7, CULL_OPTIM_CHUNK + 64, COUNT};

    (void)state;
    EACH(backend, CULL_OP_UPDATE)
    {
        for (size_t k = 0; k < 2 * sizeof at / sizeof *at; k++) {
            cull_dtype         dtype = k % 2 ? CULL_F64 : CULL_F32;
            cull_optim_options rule = rules[k / 2 % RULES];
            struct block      *want = NULL, *got = NULL;

            rule.clip = 0;
            want = make_block(dtype, rule.weight_decay);
            got = make_block(dtype, rule.weight_decay);
            want->now = got->now = (cull_moment){.step = 3, .updates = 3, .rate = 0.2};
            update(backend, want, dtype, &rule);
            assert_ok(run_part(backend, got, dtype, &rule, &got->trouble, at[k / 2], COUNT));
            for (size_t i = 0; i < at[k / 2]; i++)
                assert_true(get(got->value, i, dtype) == random_normal_as(4, i, dtype));
            assert_ok(run_part(backend, got, dtype, &rule, &got->trouble, 0, at[k / 2]));
            assert_memory_equal(want, got, sizeof *got);
            got->trouble.what = want->trouble.what = CULL_WRONG_LOSS;
            assert_ok(run_part(backend, got, dtype, &rule, &got->trouble, at[k / 2] / 2, COUNT));
            assert_memory_equal(want, got, sizeof *got);
            free(want);
            free(got);
        }
    }
}

static void no_broken_step_reaches_the_weights(void **state)
{
    (void)state;
    EACH(backend, CULL_OP_UPDATE)
    {
        struct block *b = make_block(CULL_F32, 0), *start = make_block(CULL_F32, 0);

        b->now = (cull_moment){.step = 9, .updates = 9, .rate = 1};
        set(b->gradient, 20000, CULL_F32, NAN);
        update(backend, b, CULL_F32, &rules[1]);
        assert_int_equal(CULL_WRONG_GRADIENT, b->trouble.what);
        assert_int_equal(9, b->trouble.step);
        assert_memory_equal(start->value, b->value, sizeof b->value);
        memcpy(b->gradient, start->gradient, sizeof b->gradient);
        b->now.step = 10; /* sound again, but what is wrong was not told yet */
        update(backend, b, CULL_F32, &rules[1]);
        assert_memory_equal(start->value, b->value, sizeof b->value);
        assert_int_equal(9, b->trouble.step);
        b->trouble = (cull_trouble){0};
        update(backend, b, CULL_F32, &rules[1]);
        assert_memory_not_equal(start->value, b->value, sizeof b->value);
        free(b);
        free(start);
    }
}

static void without_an_error_word_a_broken_norm_fails_the_call(void **state)
{
    (void)state;
    EACH(backend, CULL_OP_UPDATE)
    {
        struct block *b = make_block(CULL_F64, 0), *start = make_block(CULL_F64, 0);

        b->now = (cull_moment){.step = 1, .updates = 1, .rate = 1};
        b->gradient[3] = INFINITY;
        assert_fails(CULL_NOT_FINITE, "no longer finite",
                     run_update(backend, b, CULL_F64, &rules[1], NULL));
        assert_memory_equal(start->value, b->value, sizeof b->value);
        (void)cull_backend_wait(backend);
        free(b);
        free(start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_same_on_every_backend),
        cmocka_unit_test(rows_of_one_place_are_counted_in_their_order),
        cmocka_unit_test(a_summary_of_many_rows_is_the_same_on_every_backend),
        cmocka_unit_test(a_network_that_knows_nothing_chooses_the_first_class),
        cmocka_unit_test(a_loss_that_is_not_finite_is_written_down_with_its_place),
        cmocka_unit_test(updates_are_the_same_on_every_backend),
        cmocka_unit_test(parts_of_an_update_make_up_the_whole),
        cmocka_unit_test(no_broken_step_reaches_the_weights),
        cmocka_unit_test(without_an_error_word_a_broken_norm_fails_the_call),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
