/*
 * tests/ops/test_layers.c - layer operations over one table (layer_cases.h).
 *
 * On `ref` in double every gradient is checked against central differences of sum(dy y), or of the
 * weighted loss; `ref` in float32 must be those numbers rounded; and every other backend must agree
 * with `ref` in each layout it takes, `far` to the last bit, devices with values in bfloat16 too.
 * With --perf the table is timed instead.
 */
#include "ops/layer_inputs.h"

#include <stdio.h>

#include "base/clock.h"

/* Central differences of step 1e-5 leave 1e-10 of curvature and 1e-10 of rounding. */
#define STEP             1e-5
#define DIFFERENCE_ERROR 1e-8
#define REUSE_ERROR      1e-13

/* Errors allowed in float32, as a share of the tensor's largest element. */
#define MOVED_ERROR   0.0  /* nothing is computed                                        */
#define SUMMED_ERROR  2e-7 /* two terms, or the few of a window                          */
#define GELU_ERROR    1e-6 /* erf by another formula                                     */
#define LOSS_ERROR    1e-6 /* exponentials and one sum                                   */
#define PRODUCT_ERROR 1e-6 /* sums of up to 150 products, in any order                   */
#define NORM_ERROR    2e-6 /* a sum, a centred sum of squares, a root                    */
#define ATTEND_ERROR  4e-6 /* two products with exponentials between them               */
#define GROUPED_ERROR 4e-6 /* the same over as few as 9 numbers: rstd amplifies rounding */

/* With values of 8 bits, which ref is given too: what goes out is rounded, by 2^-9 of itself, and a
 * gradient of weights or a sum that it is added to may have been rounded on the way. */
#define BF16_ERROR 0x1p-8

static double tolerance_f32(const cull_layer_desc *d, const struct layer_case *t)
{
    bool adds = t->accumulate || t->accumulate2;

    switch (d->kind) {
    case CULL_LAYER_DENSE:
    case CULL_LAYER_CONV: return PRODUCT_ERROR;
    case CULL_LAYER_BATCHNORM: return NORM_ERROR;
    case CULL_LAYER_GROUPNORM:
    case CULL_LAYER_LAYERNORM: return GROUPED_ERROR;
    case CULL_LAYER_ACTIVATE: return d->activation >= CULL_GELU ? GELU_ERROR : SUMMED_ERROR;
    case CULL_LAYER_ATTENTION: return ATTEND_ERROR;
    case CULL_LAYER_LOSS: return LOSS_ERROR;
    case CULL_LAYER_CONCAT:
    case CULL_LAYER_SHORTCUT:
    case CULL_LAYER_TAKE:
    case CULL_LAYER_CONVERT: return adds ? SUMMED_ERROR : MOVED_ERROR;
    default: return SUMMED_ERROR;
    }
}

static double tolerance(const cull_layer_desc *d, const struct layer_case *t, int tensor)
{
    bool product = d->kind == CULL_LAYER_DENSE || d->kind == CULL_LAYER_CONV;
    bool rounds = layer_dtype(d, tensor) == CULL_BF16 || (product && tensor != Y);

    /* before the bias is added; attention's slopes, and the outputs they are made of, before they
     * are multiplied */
    bool twice = (d->kind == CULL_LAYER_CONV && tensor == Y && d->bias) ||
                 (d->kind == CULL_LAYER_ATTENTION && tensor == DX);

    return tolerance_f32(d, t) + (d->dtype == CULL_BF16 && rounds ? (1 + twice) * BF16_ERROR : 0);
}

/* ---- finite differences ---- */
static double objective(struct layer_run *r, const struct layer_data *in, struct layer_data *out)
{
    double sum = 0;

    layer_forward(r, in, out);
    for (size_t i = 0; i < out->count[Y]; i++) sum += in->t[DY][i] * out->t[Y][i];
    for (size_t i = 0; i < out->count[LOSSES]; i++)
        sum += r->args.scale * (r->args.weight ? r->rows.weight[i] : 1) * out->t[LOSSES][i];
    return sum;
}

static void check_differences(struct layer_run *r, struct layer_data *in, int tensor, int gradient,
                              const double *slopes, bool accumulated)
{
    struct layer_data out = layer_data_make(&r->d);
    size_t            count = in->count[tensor], stride = count > 96 ? count / 61 : 1;

    for (size_t i = 0; i < count; i += stride) {
        double at = in->t[tensor][i], ahead = 0, behind = 0, slope = slopes[i];

        in->t[tensor][i] = at + STEP;
        ahead = objective(r, in, &out);
        in->t[tensor][i] = at - STEP;
        behind = objective(r, in, &out);
        in->t[tensor][i] = at;
        if (accumulated) slope -= in->t[gradient][i];
        if (!(fabs((ahead - behind) / (2 * STEP) - slope) <= DIFFERENCE_ERROR * (1 + fabs(slope))))
            fail_msg("%s: tensor %d, element %zu: %.12g, differences say %.12g", r->t->name, tensor,
                     i, slope, (ahead - behind) / (2 * STEP));
    }
    layer_data_clear(&out);
}

static void gradients_match_finite_differences(void **state)
{
    cull_backend *ref = *state;

    for (int k = 0; k < LAYER_CASES; k++) {
        const struct layer_case *t = &layer_cases[k];
        cull_layer_desc          d = complete_case(t, CULL_F64);
        struct layer_data        in, out;
        struct layer_run         run;

        if (d.x.n > MOST_ROWS) continue; /* one loop for any number, and a sum too long for this */
        in = make_input(ref, t);
        out = layer_data_make(&d);
        assert_ok(layer_open(ref, t, &d, &run));
        layer_run(&run, &in, &out, false);
        if (t->statistics != CULL_STATS_RUNNING) {
            if (!t->row_weight && !t->first)
                check_differences(&run, &in, X, DX, out.t[DX], t->accumulate);
            if (!holds_tokens(&d, X2))
                check_differences(&run, &in, X2, DX2, out.t[DX2], t->accumulate2);
            check_differences(&run, &in, W, DW, out.t[DW], false);
            check_differences(&run, &in, B, DB, out.t[DB], false);
        }
        layer_close(&run);
        layer_data_clear(&in);
        layer_data_clear(&out);
    }
}

/* METHODS' rule for kept rows, from x, dz and the statistics alone. */
static void check_reuse(const struct layer_run *r, const struct layer_data *in,
                        const struct layer_data *out)
{
    const cull_layer_desc *d = &r->d;
    size_t                 area = (size_t)(d->x.h * d->x.w), c = (size_t)d->x.c;

    for (size_t i = 0; i < in->count[X]; i++) {
        size_t channel = i / area % c, row = i / (area * c);
        double mean = out->t[STATS][channel], rstd = out->t[STATS][c + channel], a = 0, b = 0;
        double dx = 0, members = (double)d->x.n * (double)area;

        for (size_t j = 0; j < in->count[X]; j++) {
            double dz = d->fused_relu && out->t[Y][j] <= 0 ? 0 : in->t[DY][j];
            if (j / area % c != channel) continue;
            a += dz / members;
            b += dz * (in->t[X][j] - mean) * rstd / members;
            if (j == i) dx = dz;
        }
        dx -= r->rows.weight[row] * (a + (in->t[X][i] - mean) * rstd * b);
        dx = in->t[W][channel] * rstd * dx + (r->t->accumulate ? in->t[DX][i] : 0);
        if (!(fabs(dx - out->t[DX][i]) <= REUSE_ERROR * (1 + fabs(dx))))
            fail_msg("%s: element %zu: %.15g, the rule says %.15g", r->t->name, i, out->t[DX][i],
                     dx);
    }
}

static void kept_rows_follow_the_rule_of_reuse(void **state)
{
    for (int k = 0; k < LAYER_CASES; k++) {
        const struct layer_case *t = &layer_cases[k];
        cull_layer_desc          d = complete_case(t, CULL_F64);
        struct layer_data        in, out;
        struct layer_run         run;

        if (!t->row_weight) continue;
        in = make_input(*state, t);
        out = layer_data_make(&d);
        assert_ok(layer_open(*state, t, &d, &run));
        layer_run(&run, &in, &out, false);
        check_reuse(&run, &in, &out);
        layer_close(&run);
        layer_data_clear(&in);
        layer_data_clear(&out);
    }
}

/* ---- float32 on ref: the double result, rounded once ---- */
static void float_is_double_rounded(void **state)
{
    for (int k = 0; k < LAYER_CASES; k++) {
        const struct layer_case *t = &layer_cases[k];
        cull_layer_desc          d = complete_case(t, CULL_F64), d32 = complete_case(t, CULL_F32);
        struct layer_data        in = make_input(*state, t);
        struct layer_data        out = layer_data_make(&d), out32 = layer_data_make(&d);
        struct layer_run         run;

        assert_ok(layer_open(*state, t, &d, &run));
        layer_run(&run, &in, &out, true);
        layer_close(&run);
        assert_ok(layer_open(*state, t, &d32, &run));
        layer_run(&run, &in, &out32, false);
        layer_close(&run);
        for (int i = Y; i < LOSSES; i++)
            for (size_t j = 0; j < out.count[i]; j++)
                if ((float)out.t[i][j] != (float)out32.t[i][j])
                    fail_msg("%s: tensor %d, element %zu: %.9g, not %.9g", t->name, i, j,
                             out32.t[i][j], out.t[i][j]);
        assert_memory_equal(out.t[LOSSES], out32.t[LOSSES], out.count[LOSSES] * sizeof(double));
        layer_data_clear(&in);
        layer_data_clear(&out);
        layer_data_clear(&out32);
    }
}

/* ---- losses ---- */

/* Logits so large that an exponential overflows, or that 1 - sigmoid rounds to zero. */
static void binary_losses_neither_overflow_nor_lose_a_tail(void **state)
{
    static const struct layer_case wide = {"", OTHER_LOSS(BINARY, 2, 3)};
    static const double x[] = {1000, -1000, 60, 1000, 60, -60}; /* truths are 0 1 0, 0 1 0 */
    static const double loss[] = {2060. / 3, 1000. / 3};
    cull_layer_desc     d = complete_case(&wide, CULL_F64);
    struct layer_data   in = layer_data_make(&d), out = layer_data_make(&d);
    struct layer_run    run;

    memcpy(in.t[X], x, sizeof x);
    assert_ok(layer_open(*state, &wide, &d, &run));
    layer_forward(&run, &in, &out);
    for (int i = 0; i < 2; i++) assert_true(fabs(out.t[LOSSES][i] - loss[i]) <= 1e-15 * loss[i]);
    assert_true(out.t[P][0] == 1. / 3 && out.t[P][1] == -1. / 3 && out.t[P][2] > 0.333);
    assert_true(fabs(out.t[P][4] + exp(-60.) / 3) < 1e-12 * exp(-60.));
    assert_true(fabs(out.t[P][5] - exp(-60.) / 3) < 1e-12 * exp(-60.));
    layer_close(&run);
    layer_data_clear(&in);
    layer_data_clear(&out);
}

static void a_target_that_cannot_be_is_named(void **state)
{
    static const struct layer_case cases[] = {{"", LOSS(5, 3, 0)}, {"", OTHER_LOSS(BINARY, 5, 3)}};
    static const char *const       why[] = {
              "example 2 (place 106) has label 3, the model knows 0 to 2",
              "example 4 (place 112) has 2 for label 1; 0 and 1 are possible"};

    for (int k = 0; k < 4; k++) {
        const struct layer_case *t = &cases[k % 2];
        cull_layer_desc          d = complete_case(t, CULL_F32);
        cull_backend            *cpu = NULL;
        struct layer_run         run;

        assert_ok(cull_backend_open("cpu", 1, &cpu));
        if (!cpu->layers) { /* a build without oneDNN */
            cull_backend_close(cpu);
            assert_ok(cull_backend_open("ref", 1, &cpu));
        }
        assert_ok(layer_open(k < 2 ? *state : cpu, t, &d, &run));
        run.rows.label[2] = 3;
        run.rows.truth[13] = 2;
        layer_upload(&run);
        assert_fails(CULL_BAD_ARGUMENT, why[k % 2], run.op->class->forward(run.op, &run.args));
        layer_close(&run);
        cull_backend_close(cpu);
    }
}

/* ---- other backends ---- */
static void compare(const struct layer_case *t, const cull_layer_desc *d, const char *who,
                    const struct layer_data *right, const struct layer_data *ours)
{
    for (int i = Y; i < TENSORS; i++) {
        double largest = 0, error = 0;

        for (size_t j = 0; j < right->count[i]; j++) {
            largest = fmax(largest, fabs(right->t[i][j]));
            if (!(fabs(right->t[i][j] - ours->t[i][j]) <= error))
                error = fabs(right->t[i][j] - ours->t[i][j]);
        }
        if (!(error <= tolerance(d, t, i) * largest))
            fail_msg("%s on %s, %s, blocks %d %d %d: tensor %d off by %.2g of %.2g", t->name, who,
                     d->dtype == CULL_BF16 ? "bfloat16" : "float32", (int)d->x.block,
                     (int)d->x2.block, (int)d->y.block, i, error, largest);
    }
}

/* A case in one layout; false where the backend declines it. */
static bool agrees(cull_backend *backend, const struct layer_case *t, cull_dtype dtype, int layout,
                   const struct layer_data *in, const struct layer_data *right)
{
    cull_layer_desc   d = complete_case(t, dtype);
    struct layer_data out = layer_data_make(&d);
    struct layer_run  run;
    cull_status       status = CULL_OK;

    set_layout(backend, layout, &d);
    if (d.kind == CULL_LAYER_DENSE && layout == 5) d.output = CULL_F32; /* the last */
    status = layer_open(backend, t, &d, &run);
    if (status != CULL_UNSUPPORTED || must_take(layout, &d)) assert_ok(status);
    if (status == CULL_OK) {
        layer_run(&run, in, &out, false);
        compare(t, &d, backend->class->name, right, &out);
    }
    layer_close(&run);
    layer_data_clear(&out);
    return status == CULL_OK;
}

static void check_backend(cull_backend *ref, cull_backend *backend, cull_dtype dtype)
{
    int taken[LAYOUTS] = {0};

    for (int k = 0; k < LAYER_CASES; k++) {
        const struct layer_case *t = &layer_cases[k];
        cull_layer_desc          d = complete_case(t, CULL_F64);
        struct layer_data        in, right;
        struct layer_run         run;

        if (!has_layer(backend, d.kind)) continue;
        if (dtype == CULL_BF16 && d.kind == CULL_LAYER_LOSS) continue; /* which reads float32 */
        in = make_input_for(ref, t, dtype);
        right = layer_data_make(&d);
        assert_ok(layer_open(ref, t, &d, &run));
        layer_run(&run, &in, &right, false);
        layer_close(&run);
        for (int layout = 0; layout < LAYOUTS; layout++)
            taken[layout] += agrees(backend, t, dtype, layout, &in, &right);
        layer_data_clear(&in);
        layer_data_clear(&right);
    }
    print_message("%s, %s, of %d cases: NCHW %d, NHWC %d, blocks of 8 %d, of 16 %d, its own %d, "
                  "%d\n",
                  backend->class->name, dtype == CULL_BF16 ? "bfloat16" : "float32", LAYER_CASES,
                  taken[0], taken[1], taken[2], taken[3], taken[4], taken[5]);
}

static void other_backends_agree_with_ref(void **state)
{
    for (size_t i = 0; i < OTHERS; i++) {
        cull_backend *backend = open_other(others[i], 2);

        if (!backend)
            print_message("%s: skipped, it has no layers\n", others[i]);
        else
            check_backend(*state, backend, CULL_F32);
        if (backend && !cull_backend_on_host(backend)) check_backend(*state, backend, CULL_BF16);
        cull_backend_close(backend);
    }
}

/* ---- what layers of kernels of our own must take ---- */

/* Arrays that begin one element further on, where no vector may begin. */
static void move_on(struct layer_run *r, void *first[TENSORS])
{
    for (int i = 0; i < TENSORS; i++) {
        size_t size = layer_size(&r->d, i);

        first[i] = NULL;
        if (!r->bytes[i] || !image_of(&r->d, i)) continue;
        cull_backend_release(r->backend, r->there[i]);
        assert_ok(cull_backend_allocate(r->backend, r->bytes[i] + size, 1, "a tensor", &first[i]));
        r->there[i] = (char *)first[i] + size;
    }
    set_arguments(r);
}

static bool is_own(const struct layer_case *t)
{
    return t->d.kind != CULL_LAYER_DENSE && t->d.kind != CULL_LAYER_CONV &&
           t->d.kind != CULL_LAYER_LOSS && t->d.kind != CULL_LAYER_DROPOUT;
}

static void check_further_on(cull_backend *ref, cull_backend *backend, const struct layer_case *t,
                             cull_dtype dtype)
{
    cull_layer_desc   d = complete_case(t, dtype), wide = complete_case(t, CULL_F64);
    struct layer_data in = make_input_for(ref, t, dtype);
    struct layer_data right = layer_data_make(&wide), out = layer_data_make(&wide);
    struct layer_run  run;
    void             *first[TENSORS];

    assert_ok(layer_open(ref, t, &wide, &run));
    layer_run(&run, &in, &right, false);
    layer_close(&run);
    set_layout(backend, 4, &d);
    assert_ok(layer_open(backend, t, &d, &run));
    move_on(&run, first);
    layer_run(&run, &in, &out, false);
    compare(t, &d, "a device, further on", &right, &out);
    for (int i = 0; i < TENSORS; i++)
        if (first[i]) run.there[i] = first[i];
    layer_close(&run);
    layer_data_clear(&in);
    layer_data_clear(&right);
    layer_data_clear(&out);
}

static void arrays_on_devices_begin_anywhere(void **state)
{
    for (size_t i = 0; i < OTHERS; i++) {
        cull_backend *backend = open_other(others[i], 1);

        for (int k = 0; backend && !cull_backend_on_host(backend) && k < LAYER_CASES; k++) {
            if (!is_own(&layer_cases[k]) || !has_layer(backend, layer_cases[k].d.kind)) continue;
            check_further_on(*state, backend, &layer_cases[k], CULL_BF16);
            check_further_on(*state, backend, &layer_cases[k], CULL_F32);
        }
        cull_backend_close(backend);
    }
}

/* A value joined with itself has one gradient, to which both sides add. */
static void check_joined(cull_backend *ref, cull_backend *backend, const struct layer_case *t,
                         cull_dtype dtype)
{
    cull_backend     *both[] = {ref, backend};
    struct layer_data in = make_input_for(ref, t, dtype);
    struct layer_data out[2];

    for (int k = 0; k < 2; k++) {
        cull_layer_desc  d = complete_case(t, k ? dtype : CULL_F64);
        struct layer_run run;

        out[k] = layer_data_make(&d);
        set_layout(both[k], 4, &d);
        assert_ok(layer_open(both[k], t, &d, &run));
        run.args.dx2 = run.args.dx;
        layer_run(&run, &in, &out[k], false);
        memset(out[k].t[DX2], 0, out[k].count[DX2] * sizeof(double));
        if (k) compare(t, &d, "a backend, joined", &out[0], &out[1]);
        layer_close(&run);
    }
    layer_data_clear(&in);
    for (int k = 0; k < 2; k++) layer_data_clear(&out[k]);
}

static void both_gradients_may_be_one(void **state)
{
    static const struct layer_case joined[] = {
        {"add of itself", ADD(2, 8, 3, 5), .accumulate2 = true},
        {"add of itself, of 7, accumulating", ADD(2, 7, 3, 5), .accumulate = true,
         .accumulate2 = true},
        {"concat of itself", CONCAT(2, 8, 8, 3, 5), .accumulate2 = true},
        {"concat of itself, of 5, accumulating", CONCAT(2, 5, 5, 3, 5), .accumulate = true,
         .accumulate2 = true},
        {"batchnorm, itself added", FUSED(2, 16, 3, 5, true), .accumulate2 = true},
        {"batchnorm of 7, itself added, accumulating", FUSED(2, 7, 3, 5, true), .accumulate = true,
         .accumulate2 = true},
    };

    for (size_t i = 0; i < OTHERS; i++) {
        cull_backend *backend = open_other(others[i], 1);

        for (size_t k = 0; backend && k < sizeof joined / sizeof *joined; k++) {
            check_joined(*state, backend, &joined[k], CULL_F32);
            if (!cull_backend_on_host(backend))
                check_joined(*state, backend, &joined[k], CULL_BF16);
        }
        cull_backend_close(backend);
    }
}

/* ---- what holds on every backend ---- */
static void check_threads(const struct layer_case *t, const char *name, cull_dtype dtype,
                          const struct layer_data *in)
{
    cull_layer_desc   d = complete_case(t, dtype);
    struct layer_data out[2] = {layer_data_make(&d), layer_data_make(&d)};

    for (unsigned k = 0; k < 2; k++) {
        cull_backend    *backend = NULL;
        struct layer_run run;

        assert_ok(cull_backend_open(name, 1 + 2 * k, &backend));
        set_layout(backend, 4, &d);
        d.repeatable = true;
        assert_ok(layer_open(backend, t, &d, &run));
        layer_run(&run, in, &out[k], false);
        layer_close(&run);
        cull_backend_close(backend);
    }
    for (int i = 0; i < TENSORS; i++)
        if (memcmp(out[0].t[i], out[1].t[i], out[0].count[i] * sizeof(double)) != 0)
            fail_msg("%s on %s: tensor %d depends on the threads", t->name, name, i);
    layer_data_clear(&out[0]);
    layer_data_clear(&out[1]);
}

static void threads_change_nothing(void **state)
{
    for (int k = 0; k < LAYER_CASES; k++) {
        struct layer_data in = make_input(*state, &layer_cases[k]);

        check_threads(&layer_cases[k], "ref", CULL_F64, &in);
        for (size_t i = 0; i < OTHERS; i++) {
            cull_backend *backend = open_other(others[i], 1);

            if (backend && has_layer(backend, layer_cases[k].d.kind))
                check_threads(&layer_cases[k], others[i], CULL_F32, &in);
            cull_backend_close(backend);
        }
        layer_data_clear(&in);
    }
}

static void fail_each_allocation(cull_backend *backend, const struct layer_case *t)
{
    cull_layer_desc d = complete_case(t, CULL_F32);
    cull_status     status = CULL_NO_MEMORY;

    set_layout(backend, 4, &d);
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_layer_op *op = NULL;

        fail_nth_alloc(n);
        status = cull_layer_create(backend, &d, &op);
        fail_nth_alloc(0);
        if (status != CULL_OK && (status != CULL_NO_MEMORY || op))
            fail_msg("%s on %s: %s", t->name, backend->class->name, cull_last_error());
        cull_layer_destroy(op);
    }
}

static void preparing_survives_every_allocation_failure(void **state)
{
    for (int k = 0; k < LAYER_CASES; k++) fail_each_allocation(*state, &layer_cases[k]);
    for (size_t i = 0; i < OTHERS; i++) {
        cull_backend *backend = open_other(others[i], 1);

        for (int k = 0; backend && k < LAYER_CASES; k++)
            if (has_layer(backend, layer_cases[k].d.kind))
                fail_each_allocation(backend, &layer_cases[k]);
        cull_backend_close(backend);
    }
}

static void check_far(cull_backend *ref, cull_backend *far, const struct layer_case *t,
                      cull_dtype dtype)
{
    cull_layer_desc   d = complete_case(t, dtype);
    struct layer_data in = make_input(ref, t);
    struct layer_data out[2] = {layer_data_make(&d), layer_data_make(&d)};

    for (int k = 0; k < 2; k++) {
        struct layer_run run;

        assert_ok(layer_open(k ? far : ref, t, &d, &run));
        layer_run(&run, &in, &out[k], false);
        layer_close(&run);
    }
    for (int i = 0; i < TENSORS; i++)
        if (memcmp(out[0].t[i], out[1].t[i], out[0].count[i] * sizeof(double)) != 0)
            fail_msg("%s: tensor %d is not ref's on far", t->name, i);
    layer_data_clear(&in);
    layer_data_clear(&out[0]);
    layer_data_clear(&out[1]);
}

static void far_equals_ref_to_the_last_bit(void **state)
{
    cull_backend *far = NULL;

    assert_ok(cull_backend_open("far", 1, &far));
    for (int k = 0; k < LAYER_CASES; k++) {
        check_far(*state, far, &layer_cases[k], CULL_F32);
        check_far(*state, far, &layer_cases[k], CULL_F64);
        fail_each_allocation(far, &layer_cases[k]);
    }
    cull_backend_close(far);
}

/* ---- --perf ---- */
static double best_of(struct layer_run *run, bool backward)
{
    double best = INFINITY;

    assert_ok(cull_backend_wait(run->backend));
    for (int round = 0; round < 7; round++) {
        double start = cull_base_seconds();

        for (int i = 0; i < 20; i++) {
            if (backward)
                assert_ok(run->op->class->backward(run->op, &run->args));
            else
                assert_ok(run->op->class->forward(run->op, &run->args));
        }
        assert_ok(cull_backend_wait(run->backend));
        best = fmin(best, (cull_base_seconds() - start) / 20);
    }
    return best * 1e6;
}

static void time_case(cull_backend *ref, const char *name, cull_backend *backend,
                      const struct layer_case *t)
{
    cull_layer_desc   d = complete_case(t, CULL_F32);
    struct layer_data in = make_input(ref, t), out = layer_data_make(&d);
    struct layer_run  run;
    bool              both = d.kind != CULL_LAYER_LOSS && t->statistics != CULL_STATS_RUNNING;

    set_layout(backend, 4, &d);
    assert_ok(layer_open(backend, t, &d, &run));
    layer_run(&run, &in, &out, false);
    (void)printf("{\"case\":\"%s\",\"backend\":\"%s\",\"implementation\":\"%s\","
                 "\"forward_us\":%.2f,\"backward_us\":%.2f}\n",
                 t->name, name, run.op->implementation, best_of(&run, false),
                 both ? best_of(&run, true) : 0);
    layer_close(&run);
    layer_data_clear(&in);
    layer_data_clear(&out);
}

static void the_table_is_timed(void **state)
{
    for (int k = 0; k < LAYER_CASES; k++) {
        time_case(*state, "ref", *state, &layer_cases[k]);
        for (size_t i = 0; i < OTHERS; i++) {
            cull_backend *backend = open_other(others[i], 1);

            if (backend && has_layer(backend, layer_cases[k].d.kind))
                time_case(*state, others[i], backend, &layer_cases[k]);
            cull_backend_close(backend);
        }
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_finite_differences),
        cmocka_unit_test(kept_rows_follow_the_rule_of_reuse),
        cmocka_unit_test(float_is_double_rounded),
        cmocka_unit_test(binary_losses_neither_overflow_nor_lose_a_tail),
        cmocka_unit_test(a_target_that_cannot_be_is_named),
        cmocka_unit_test(other_backends_agree_with_ref),
        cmocka_unit_test(arrays_on_devices_begin_anywhere),
        cmocka_unit_test(both_gradients_may_be_one),
        cmocka_unit_test(far_equals_ref_to_the_last_bit),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(preparing_survives_every_allocation_failure),
    };
    const struct CMUnitTest perf[] = {cmocka_unit_test(the_table_is_timed)};

    if (count > 1 && strcmp(arguments[1], "--perf") == 0)
        return cmocka_run_group_tests(perf, open_ref, close_ref);
    return cmocka_run_group_tests(tests, open_ref, close_ref);
}
