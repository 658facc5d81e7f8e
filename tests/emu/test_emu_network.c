/*
 * tests/emu/test_emu_network.c - what of a network crosses between the host and a device that has
 * its convolutions' weights in an order of its own: files, states and tensors are the host's, so
 * that any backend goes on with them.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "nn/nn.h"
#include "tensor/tensor.h"
#include "train/network/network.h"

enum { EXAMPLES = 6, OUTPUTS = 4, WIDE = 6, DEEP = 3, NUMBERS = DEEP * WIDE * WIDE };

/* ---- networks ---- */

struct pair {
    cull_backend *backend;
    cull_network *network;
};

static cull_model *conv_model(void)
{
    cull_model *m = NULL;
    int         x = 0;

    assert_ok(cull_model_create("crossing", DEEP, WIDE, WIDE, &m));
    x = cull_model_conv(m, 0, "conv1", &(cull_conv){.out = 8, .kernel = 3, .pad = 1});
    x = cull_model_activate(m, cull_model_batchnorm(m, x, "bn"), CULL_RELU);
    x = cull_model_conv(m, x, "conv2",
                        &(cull_conv){.out = 16, .kernel = 2, .width = {.kernel = 3}});
    x = cull_model_dense(m, cull_model_flatten(m, x), "logits", &(cull_dense){.out = OUTPUTS});
    assert_ok(cull_model_finish(m, x));
    return m;
}

static struct pair open_network(const char *name, const char *precision)
{
    cull_option options[] = {{"optim.momentum", "0.9"}, {"train.precision", precision}};
    cull_model *m = conv_model();
    struct pair p = {0};

    assert_ok(cull_backend_open(name, 1, &p.backend));
    assert_ok(cull_network_create(m, p.backend, options, 2, &p.network));
    cull_model_destroy(m);
    return p;
}

static void close_network(struct pair *p)
{
    cull_network_destroy(p->network);
    cull_backend_close(p->backend);
}

static void take_step(struct pair *p, int step)
{
    float         inputs[EXAMPLES][NUMBERS];
    int32_t       label[EXAMPLES];
    cull_key      key = cull_key_make(7, "examples");
    cull_examples e = {.inputs = cull_matrix(inputs, CULL_F32, EXAMPLES, NUMBERS),
                       .label = cull_vector(label, CULL_I32, EXAMPLES)};

    for (uint32_t i = 0; i < EXAMPLES; i++) {
        label[i] = (int32_t)(i % OUTPUTS);
        for (uint32_t j = 0; j < NUMBERS; j++)
            inputs[i][j] = (float)cull_key_uniform(key, (uint64_t)step, i * NUMBERS + j);
    }
    assert_ok(cull_network_learn(p->network, &e, NULL, NULL));
    assert_ok(cull_network_step(p->network, .05));
}

static void assert_same_state(const struct pair *a, const struct pair *b)
{
    void  *one = NULL, *other = NULL;
    size_t m = 0, n = 0;

    assert_ok(cull_network_save(a->network, &one, &m));
    assert_ok(cull_network_save(b->network, &other, &n));
    assert_int_equal(m, n);
    assert_memory_equal(one, other, m);
    cull_bytes_release(one);
    cull_bytes_release(other);
}

static void hand_over(const struct pair *from, struct pair *to)
{
    void  *state = NULL;
    size_t size = 0;

    assert_ok(cull_network_save(from->network, &state, &size));
    assert_ok(cull_network_restore(to->network, state, size));
    cull_bytes_release(state);
}

static void states_are_the_hosts(void **state)
{
    struct pair ref = open_network("ref", "float32"), emu = open_network("emu", "float32"),
                again = open_network("emu", "float32");

    (void)state;
    assert_same_state(&ref, &emu); /* as they begin */
    for (int i = 0; i < 3; i++) take_step(&emu, i);
    hand_over(&emu, &ref);
    assert_same_state(&ref, &emu);
    hand_over(&ref, &again);
    assert_same_state(&again, &emu);
    take_step(&emu, 3);
    take_step(&again, 3);
    assert_same_state(&again, &emu);
    close_network(&ref);
    close_network(&emu);
    close_network(&again);
}

/* Every element of a tensor as PyTorch counts them, wherever it lies. */
static double element(const struct pair *p, const cull_tensor *t, int64_t i)
{
    int64_t at = 0;
    float   x = 0;

    for (int d = t->dims - 1; d >= 0; d--) {
        at += i % t->shape[d] * t->stride[d];
        i /= t->shape[d];
    }
    assert_ok(cull_backend_download(p->backend, &x, (const float *)t->data + at, sizeof x));
    return (double)x;
}

static void tensors_are_told_as_they_lie(void **state)
{
    struct pair ref = open_network("ref", "float32"), emu = open_network("emu", "float32");
    const char *name = NULL;

    (void)state;
    for (size_t k = 0; (name = cull_network_parameter_at(emu.network, k)); k++) {
        cull_tensor here = {0}, there = {0};
        int64_t     count = 1;

        assert_ok(cull_network_parameter(ref.network, name, &here));
        assert_ok(cull_network_parameter(emu.network, name, &there));
        assert_memory_equal(here.shape, there.shape, sizeof here.shape);
        for (int d = 0; d < here.dims; d++) count *= here.shape[d];
        for (int64_t i = 0; i < count; i++)
            assert_true(element(&ref, &here, i) == element(&emu, &there, i));
    }
    close_network(&ref);
    close_network(&emu);
}

/* The narrow copy of the weights follows them, whoever wrote them. */
static void what_is_narrow_follows(void **state)
{
    struct pair  one = open_network("emu", "bfloat16"), other = open_network("emu", "bfloat16");
    cull_params *p = NULL;

    (void)state;
    for (int i = 0; i < 3; i++) take_step(&one, i);
    hand_over(&one, &other);
    for (int i = 0; i < 2; i++) {
        size_t    count = 0;
        float    *wide = NULL;
        uint16_t *narrow = NULL;

        p = i ? other.network->params : one.network->params;
        count = p->count;
        wide = calloc(count, sizeof *wide);
        narrow = calloc(count, sizeof *narrow);
        assert_non_null(p->narrow);
        assert_ok(cull_backend_download(p->backend, wide, p->value, count * sizeof *wide));
        assert_ok(cull_backend_download(p->backend, narrow, p->narrow, count * sizeof *narrow));
        for (size_t k = 0; k < count; k++) assert_int_equal(cull_bf16_of(wide[k]), narrow[k]);
        free(wide);
        free(narrow);
    }
    take_step(&one, 3);
    take_step(&other, 3);
    assert_same_state(&one, &other);
    close_network(&one);
    close_network(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_the_hosts),
        cmocka_unit_test(tensors_are_told_as_they_lie),
        cmocka_unit_test(what_is_narrow_follows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
