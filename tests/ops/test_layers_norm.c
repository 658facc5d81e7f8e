/*
 * tests/ops/test_layers_norm.c - norms over many rows, where a device cuts them among blocks.
 *
 * Values lie far from zero beside their spread, so that sums of squares would cancel, and in two
 * heaps, so that no ReLU's kink is near. Whatever is not `ref` must agree with it, must give the
 * same bits every time, and the same when the passes are recorded and replayed.
 */
#include "ops/layer_inputs.h"

/* Errors as a share of the tensor's largest element. Statistics are float32: a mean about 100 is
 * off by up to 4e-6, and so is each x^; dgamma has that times the sum of dy. */
#define NEAR_ERROR   4e-6
#define FAR_ERROR    5e-5
#define DOUBLE_ERROR 1e-12
#define NARROW_ERROR 0x1p-8

/* clang-format off */
static const struct layer_case norms[] = {
    {"batchnorm of 64 over 6000", NORM(BATCHNORM, 5, 64, 30, 40, 1), .statistics = CULL_STATS_UPDATE},
    {"batchnorm and relu of 64 over 6000", FUSED(5, 64, 30, 40, false), .statistics = CULL_STATS_UPDATE},
    {"batchnorm, add and relu of 64 over 6000", FUSED(5, 64, 30, 40, true), .accumulate2 = true},
    {"batchnorm and relu of kept rows of 64", FUSED(4, 64, 30, 40, false), .row_weight = true, .accumulate = true},
    {"batchnorm and relu of 64 over 1200", FUSED(3, 64, 20, 20, false), .statistics = CULL_STATS_UPDATE},
    {"batchnorm, add and relu of kept rows of 64 over 1600", FUSED(4, 64, 20, 20, true), .row_weight = true, .accumulate2 = true},
    {"batchnorm of 16 over 9999", NORM(BATCHNORM, 3, 16, 101, 33, 1)},
    {"batchnorm, add and relu of 24 over 5415", FUSED(5, 24, 57, 19, true), .row_weight = true},
    {"batchnorm and relu of 17 over 2005", FUSED(5, 17, 401, 1, false), .statistics = CULL_STATS_UPDATE},
    {"batchnorm and relu of 200 over 1000", FUSED(4, 200, 10, 25, false)},
    {"batchnorm of 72 over 1001, first", NORM(BATCHNORM, 1, 72, 91, 11, 1), .first = true},
    {"batchnorm and relu of 1 over 3000", FUSED(3, 1, 100, 10, false)},
    {"groupnorm of 64 in 32", NORM(GROUPNORM, 3, 64, 20, 21, 32)},
    {"groupnorm of 40 in 5", NORM(GROUPNORM, 5, 40, 20, 21, 5), .accumulate = true},
    {"groupnorm of 96 in 2", NORM(GROUPNORM, 2, 96, 9, 11, 2)},
    {"layernorm of 16 by 300", NORM(LAYERNORM, 4, 16, 20, 15, 1)},
    {"layernorm of 768 features", NORM(LAYERNORM, 5, 768, 1, 1, 1)},
};
/* For devices that are larger than the imitation: so many that only all blocks together have room. */
static const struct layer_case many[] = {
    {"batchnorm, add and relu of 16 over 90000", FUSED(9, 16, 100, 100, true), .statistics = CULL_STATS_UPDATE, .accumulate2 = true},
};
/* clang-format on */

static struct layer_data make_heaps(const struct layer_case *t, cull_dtype dtype, double centre)
{
    cull_layer_desc   d = complete_case(t, CULL_F64);
    struct layer_data in = layer_data_make(&d);

    fill_normal(&in, X, 5, 0, 0.1);
    for (size_t i = 0; i < in.count[X]; i++)
        in.t[X][i] = (double)(float)(in.t[X][i] + centre + (random_normal(7, i) < 0 ? -1 : 1));
    fill_normal(&in, X2, 5, 0, 0.05);
    fill_normal(&in, W, 5, 1, 0.05);
    fill_normal(&in, B, 5, 0, 0.05);
    fill_normal(&in, RUNNING, 5, 2, 0.1);
    fill_normal(&in, DY, 5, 0.05, 1);
    fill_normal(&in, DX, 5, 0, 1);
    fill_normal(&in, DX2, 5, 0, 1);
    if (dtype == CULL_BF16) round_to_bf16(&d, &in);
    return in;
}

static double tolerance(const struct layer_run *run, int tensor, double centre)
{
    if (run->d.dtype == CULL_F64) return DOUBLE_ERROR;
    if (layer_dtype(&run->d, tensor) == CULL_BF16) return NARROW_ERROR;
    return centre > 0 ? FAR_ERROR : NEAR_ERROR;
}

static void compare(const struct layer_run *run, const struct layer_data *right,
                    const struct layer_data *ours, double centre)
{
    for (int i = Y; i < TENSORS; i++) {
        double largest = 0, error = 0;

        for (size_t j = 0; j < right->count[i]; j++) {
            largest = fmax(largest, fabs(right->t[i][j]));
            if (!(fabs(right->t[i][j] - ours->t[i][j]) <= error))
                error = fabs(right->t[i][j] - ours->t[i][j]);
        }
        if (!(error <= tolerance(run, i, centre) * largest))
            fail_msg("%s on %s, %s: tensor %d off by %.2g of %.2g", run->t->name,
                     run->backend->class->name, cull_dtype_name(run->d.dtype), i, error, largest);
    }
}

/* Each way of meeting, where a device has it: by itself, as a cluster, with all. */
static void note_way(const char *implementation, bool seen[3])
{
    static const char *const ways[3] = {"own, a block a slab", "own, a cluster a slab",
                                        "own, together"};

    for (size_t i = 0; i < 3; i++) seen[i] |= strcmp(implementation, ways[i]) == 0;
}

static void same_bits(const struct layer_run *run, const struct layer_data *a,
                      const struct layer_data *b, const char *when)
{
    for (int i = Y; i < TENSORS; i++)
        if (memcmp(a->t[i], b->t[i], a->count[i] * sizeof(double)) != 0)
            fail_msg("%s on %s, %s: tensor %d is another one %s", run->t->name,
                     run->backend->class->name, cull_dtype_name(run->d.dtype), i, when);
}

/* Both passes as a recorded step; what they wrote comes out as after layer_run. */
static void replay(struct layer_run *run, const struct layer_data *in, struct layer_data *out)
{
    cull_recording *recording = NULL;

    for (int i = 0; i < TENSORS; i++) spoil(run, i);
    for (int i = X; i <= DY; i++) layer_put(run, i, in->t[i]);
    if (run->t->accumulate) layer_put(run, DX, in->t[DX]);
    if (run->t->accumulate2) layer_put(run, DX2, in->t[DX2]);
    layer_upload(run);
    assert_ok(run->backend->class->queue->record(run->backend));
    assert_ok(run->op->class->forward(run->op, &run->args));
    assert_ok(run->op->class->backward(run->op, &run->args));
    assert_ok(run->backend->class->queue->recorded(run->backend, &recording));
    assert_ok(run->backend->class->queue->replay(run->backend, recording));
    layer_download(run);
    run->backend->class->queue->forget(run->backend, recording);
    for (int i = Y; i < TENSORS; i++)
        if (!(i == DX && run->t->first)) layer_get(run, i, out->t[i]);
    layer_get(run, RUNNING, out->t[RUNNING]);
}

static void check_norm(cull_backend *ref, cull_backend *backend, const struct layer_case *t,
                       cull_dtype dtype, double centre, bool seen[3])
{
    cull_layer_desc   d = complete_case(t, dtype), wide = complete_case(t, CULL_F64);
    struct layer_data in = make_heaps(t, dtype, centre), right = layer_data_make(&wide);
    struct layer_data out[2] = {layer_data_make(&wide), layer_data_make(&wide)};
    struct layer_run  run;

    assert_ok(layer_open(ref, t, &wide, &run));
    layer_run(&run, &in, &right, false);
    layer_close(&run);
    set_layout(backend, 4, &d);
    assert_ok(layer_open(backend, t, &d, &run));
    note_way(run.op->implementation, seen);
    layer_run(&run, &in, &out[0], false);
    compare(&run, &right, &out[0], centre);
    layer_run(&run, &in, &out[1], false);
    same_bits(&run, &out[0], &out[1], "the second time");
    if (cull_backend_records(backend)) {
        replay(&run, &in, &out[1]);
        same_bits(&run, &out[0], &out[1], "when it is replayed");
    }
    layer_close(&run);
    for (int i = 0; i < 2; i++) layer_data_clear(&out[i]);
    layer_data_clear(&right);
    layer_data_clear(&in);
}

static void check_norms(cull_backend *ref, cull_backend *backend, const struct layer_case *cases,
                        size_t count, bool seen[3])
{
    static const cull_dtype all[] = {CULL_F32, CULL_BF16, CULL_F64}; /* the host's: the first */
    int                     types = cull_backend_on_host(backend) ? 1 : 3;

    for (size_t k = 0; k < count; k++) {
        check_norm(ref, backend, &cases[k], CULL_F32, 0, seen);
        for (int j = 0; j < types; j++) check_norm(ref, backend, &cases[k], all[j], 100, seen);
    }
}

static void norms_over_many_rows_agree_with_ref(void **state)
{
    for (size_t i = 0; i < OTHERS; i++) {
        cull_backend *backend = open_other(others[i], 2);
        bool          seen[3] = {false, false, false};

        if (!backend) {
            print_message("%s: skipped, it has no layers\n", others[i]);
            continue;
        }
        check_norms(*state, backend, norms, sizeof norms / sizeof *norms, seen);
        if (strcmp(others[i], "cuda") == 0)
            check_norms(*state, backend, many, sizeof many / sizeof *many, seen);
        if (!cull_backend_on_host(backend)) assert_true(seen[0] && seen[1] && seen[2]);
        cull_backend_close(backend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(norms_over_many_rows_agree_with_ref)};

    (void)setenv("CULL_EMU_PROCESSORS", "8", 1); /* enough for several slabs to be clusters */
    return cmocka_run_group_tests(tests, open_ref, close_ref);
}
