/*
 * tests/ops/test_pool_select.c - strategies over the pool whose signals lie on a device: they
 * choose what they choose on the host, with weights that differ by rounding.
 */
#include "gradients.h"
#include "ops/on_backend.h"

enum { N = 150, D = 9, C = 4, TARGETS = 40, K = 45 };

static const struct {
    const char *strategy, *options;
} cases[] = {
    {"grad-match", ""},
    {"grad-match", "ridge=0.01"},
    {"grad-match", "ridge=0 tolerance=0.01"},
    {"grad-match", "pick=signed short=accept"},
    {"grad-match", "scope=class"},
    {"grad-match", "scope=class ridge=0.02 match=validation"},
    {"grad-match", "match=validation"},
    {"grad-match", "scope=all"},
    {"grad-match", "scope=all nonnegative=omp"},
    {"grad-match", "scope=batch"},
    {"craig", ""},
    {"craig", "greedy=naive"},
    {"craig", "greedy=stochastic sample=0.2"},
    {"craig", "scope=batch"},
    {"glister", ""},
    {"glister", "greedy=r-greedy r=4"},
    {"glister", "greedy=naive eta=0.1"},
};
enum { CASES = sizeof cases / sizeof *cases };

struct place {
    cull_backend *backend;
    cull_kit      kit;
};

static void move(struct place *there, cull_tensor *t)
{
    size_t width = t->dims == 2 ? (size_t)t->shape[1] : 1;
    size_t bytes = (size_t)t->shape[0] * width * cull_dtype_size(t->dtype);
    void  *data = NULL;

    assert_ok(cull_kit_allocate(&there->kit, bytes, 1, "a test", &data));
    assert_ok(cull_backend_upload(there->backend, data, t->data, bytes));
    t->data = data;
    t->device = cull_backend_device(there->backend);
}

static void move_all(struct place *there, cull_signals *s, const uint32_t *place)
{
    uint32_t *copy = NULL;

    move(there, &s->h);
    move(there, &s->p);
    move(there, &s->label);
    move(there, &s->target.h);
    move(there, &s->target.p);
    move(there, &s->target.label);
    move(there, &s->target.logits);
    assert_ok(cull_kit_allocate(&there->kit, N, sizeof *copy, "a test", &copy));
    assert_ok(cull_backend_upload(there->backend, copy, place, N * sizeof *copy));
    s->place = copy;
    s->device = cull_backend_device(there->backend);
}

struct chosen {
    size_t   count, picked;
    unsigned flags;
    uint32_t index[N];
    double   weight[N];
};

static cull_status choose(struct place *where, size_t k, const cull_signals *signals,
                          struct chosen *out)
{
    cull_status    status = CULL_OK;
    cull_backend  *backend = where->backend;
    cull_setting   setting = {.pool = 2 * N, .batch = 10, .seed = 5, .backend = backend};
    cull_selector *selector = NULL;
    cull_subset    subset = {.backend = cull_backend_on_host(backend) ? NULL : backend,
                             .device = cull_backend_device(backend)};

    TRY(try_selector(cases[k].strategy, cases[k].options, &setting, &selector));
    TRY(cull_select(selector, signals, K, &subset));
    out->count = subset.count;
    out->picked = subset.picked;
    out->flags = subset.flags;
    TRY(cull_backend_download(backend, out->index, subset.index,
                              subset.count * sizeof *out->index));
    TRY(cull_backend_download(backend, out->weight, subset.weight,
                              subset.count * sizeof *out->weight));
done:
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    return status;
}

static void assert_chosen(size_t k, const struct chosen *want, const struct chosen *got)
{
    if (want->count != got->count || want->picked != got->picked || want->flags != got->flags)
        fail_msg("%s %s: %zu of which %zu picked, flags %x, not %zu, %zu, %x", cases[k].strategy,
                 cases[k].options, got->count, got->picked, got->flags, want->count, want->picked,
                 want->flags);
    for (size_t i = 0; i < want->count; i++) {
        if (want->index[i] != got->index[i])
            fail_msg("%s %s: row %u, not %u", cases[k].strategy, cases[k].options, got->index[i],
                     want->index[i]);
        if (!(fabs(want->weight[i] - got->weight[i]) < 1e-7))
            fail_msg("%s %s: row %u weighs %.10g, not %.10g", cases[k].strategy, cases[k].options,
                     want->index[i], got->weight[i], want->weight[i]);
    }
}

static void narrow(cull_tensor *t, size_t count)
{
    double *from = t->data;
    float  *to = t->data;

    for (size_t i = 0; i < count; i++) to[i] = (float)from[i];
    t->dtype = CULL_F32;
}

static void choices_are_those_of_the_host(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2 * (size_t)CASES; k++) {
        struct place  here = {.backend = one};
        struct data   data = data_make(k + 1, N, D, C), target = data_make(k + 100, TARGETS, D, C);
        cull_signals  signals = data.signals;
        struct chosen want, got;
        uint32_t      place[N];

        for (size_t i = 0; i < N; i++) place[i] = (uint32_t)(2 * N - 1 - i);
        if (k % 2) {
            narrow(&signals.h, (size_t)N * D);
            narrow(&signals.p, (size_t)N * C);
        }
        signals.place = place;
        signals.epoch = 3;
        as_target(&target, &signals.target);
        signals.target.logits = target.signals.p;
        assert_ok(choose(&here, k / 2, &signals, &want));
        EACH_DEVICE(backend, CULL_OP_OMP)
        {
            struct place there = {.backend = backend, .kit.backend = backend};
            cull_signals moved = signals;

            memset(&got, 0xff, sizeof got);
            move_all(&there, &moved, place);
            assert_ok(choose(&there, k / 2, &moved, &got));
            assert_chosen(k / 2, &want, &got);
            cull_kit_clear(&there.kit);
        }
        data_free(&data);
        data_free(&target);
    }
}

/* Broken signals are told by name, as on the host, though the rule asks for them where they lie. */
static void broken_signals_are_named(void **state)
{
    (void)state;
    EACH_DEVICE(backend, CULL_OP_OMP)
    {
        for (size_t k = 0; k < CASES; k++) {
            struct place  there = {.backend = backend, .kit.backend = backend};
            struct data   data = data_make(3, N, D, C), target = data_make(4, TARGETS, D, C);
            cull_signals  signals = data.signals;
            struct chosen got;
            uint32_t      place[N];

            for (size_t i = 0; i < N; i++) place[i] = (uint32_t)i;
            if (k % 2)
                data.label[7] = C;
            else
                data.h[17 * D + 2] = (double)NAN;
            as_target(&target, &signals.target);
            signals.target.logits = target.signals.p;
            move_all(&there, &signals, place);
            if (k % 2 == 0)
                assert_fails(CULL_NOT_FINITE, "h of example 17 (place 17) is not finite",
                             choose(&there, k, &signals, &got));
            else if (!strstr(cases[k].options, "all") && !strstr(cases[k].options, "batch") &&
                     strcmp(cases[k].strategy, "glister") != 0)
                assert_fails(CULL_BAD_ARGUMENT, "label of example 7 is 4, outside 0 to 3",
                             choose(&there, k, &signals, &got));
            cull_kit_clear(&there.kit);
            data_free(&data);
            data_free(&target);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_those_of_the_host),
        cmocka_unit_test(broken_signals_are_named),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
