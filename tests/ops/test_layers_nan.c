/*
 * tests/ops/test_layers_nan.c - a NaN that enters a layer comes out of it, on every backend.
 *
 * A clip or a maximum written with the wrong comparison turns NaN into a number, and a network
 * that has diverged then looks sound. One element at a time is made NaN; every output that depends
 * on it must be NaN, and no other. What depends on it is what changes when it becomes very large or
 * very small.
 */
#include "ops/layer_inputs.h"

#define FAR 1e6

/* Where one input reaches few outputs, through a comparison or behind one. */
static bool compares(const struct layer_case *t)
{
    return t->d.kind == CULL_LAYER_ACTIVATE || t->d.kind == CULL_LAYER_POOL ||
           (t->d.kind == CULL_LAYER_BATCHNORM && t->statistics == CULL_STATS_RUNNING);
}

static void outputs_with(struct layer_run *run, struct layer_data *in, size_t at, double value,
                         struct layer_data *out)
{
    double before = in->t[X][at];

    in->t[X][at] = value;
    layer_forward(run, in, out);
    in->t[X][at] = before;
}

static void check_element(struct layer_run *run, struct layer_data *in, size_t at,
                          struct layer_data out[3], const char *who)
{
    size_t reached = 0;

    outputs_with(run, in, at, FAR, &out[0]);
    outputs_with(run, in, at, -FAR, &out[1]);
    outputs_with(run, in, at, NAN, &out[2]);
    for (size_t i = 0; i < out[0].count[Y]; i++) {
        bool depends = out[0].t[Y][i] != out[1].t[Y][i];

        reached += depends;
        if (!isnan(out[2].t[Y][i]) == depends)
            fail_msg("%s on %s, block %d: NaN in element %zu: element %zu of y is %g", run->t->name,
                     who, (int)run->d.x.block, at, i, out[2].t[Y][i]);
    }
    if (!reached && run->d.kind == CULL_LAYER_ACTIVATE)
        fail_msg("%s on %s: element %zu changes nothing", run->t->name, who, at);
}

/* False where the backend declines the type or the layout. */
static bool check_case(cull_backend *backend, const struct layer_case *t, cull_dtype dtype,
                       int layout, struct layer_data *in)
{
    cull_layer_desc   d = complete_case(t, dtype);
    struct layer_data out[3] = {layer_data_make(&d), layer_data_make(&d), layer_data_make(&d)};
    struct layer_run  run;
    cull_status       status = CULL_OK;

    set_layout(backend, layout, &d);
    status = layer_open(backend, t, &d, &run);
    for (size_t i = 0; status == CULL_OK && i < in->count[X]; i += 1 + in->count[X] / 101)
        check_element(&run, in, i, out, backend->class->name);
    layer_close(&run);
    for (int k = 0; k < 3; k++) layer_data_clear(&out[k]);
    return status == CULL_OK;
}

static void check_all(cull_backend *ref, cull_backend *backend, cull_dtype dtype)
{
    int checked = 0;

    for (int k = 0; k < LAYER_CASES; k++) {
        struct layer_data in = {0};

        if (!compares(&layer_cases[k]) || !has_layer(backend, layer_cases[k].d.kind)) continue;
        in = make_input(ref, &layer_cases[k]);
        for (int layout = 0; layout < LAYOUTS; layout++)
            checked += check_case(backend, &layer_cases[k], dtype, layout, &in);
        layer_data_clear(&in);
    }
    print_message("%s: %d cases and layouts\n", backend->class->name, checked);
    assert_true(checked > 0 || !has_layer(backend, CULL_LAYER_ACTIVATE));
}

static void nan_comes_out_of_ref(void **state)
{
    check_all(*state, *state, CULL_F64);
    check_all(*state, *state, CULL_F32);
}

static void nan_comes_out_of_other_backends(void **state)
{
    for (size_t i = 0; i < OTHERS; i++) {
        cull_backend *backend = open_other(others[i], 1);

        if (backend)
            check_all(*state, backend, CULL_F32);
        else
            print_message("%s: skipped, it has no layers\n", others[i]);
        if (backend && !cull_backend_on_host(backend)) check_all(*state, backend, CULL_BF16);
        cull_backend_close(backend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_comes_out_of_ref),
        cmocka_unit_test(nan_comes_out_of_other_backends),
    };
    return cmocka_run_group_tests(tests, open_ref, close_ref);
}
