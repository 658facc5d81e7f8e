/* tests/ops/test_gather.c - rows of one array, and of many at once, on every backend. */
#include "ops/on_backend.h"

#include <stdlib.h>

static void a_row_that_is_not_there_is_told(void **state)
{
    cull_backend *const backends[] = {ref, three, far};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint32_t     index[] = {1, 4};
        float        from[4] = {0}, to[2];
        cull_op_args args = {.gather = {from, to, index, 2, 4, sizeof *from}};

        assert_fails(CULL_BAD_ARGUMENT, "row 4 of 4",
                     on_run(backends[i], CULL_OP_GATHER, 2, 1, &args));
        assert_ok(cull_backend_wait(backends[i])); /* once */
    }
}

/* Nobody can be told when it is found there. */
static void a_row_that_is_not_there_is_zeros_on_a_device(void **state)
{
    uint32_t     index[] = {3, 4, CULL_NO_ROW};
    float        from[4] = {1, 2, 3, 4}, to[3] = {9, 9, 9};
    cull_op_args args = {.gather = {from, to, index, 3, 4, sizeof *from}};

    (void)state;
    EACH_DEVICE(backend, CULL_OP_GATHER)
    {
        assert_ok(on_run(backend, CULL_OP_GATHER, 3, 1, &args));
        assert_true(to[0] == 4 && to[1] == 0 && to[2] == 0);
    }
}

/* Arrays of one gather_all: how wide a row is, and how far from a border it begins. */
static const struct {
    size_t bytes, from, to;
} arrays[] = {{4, 0, 0},    {64, 0, 0},   {64, 4, 0},  {30, 0, 2},     {7, 1, 3},
              {24, 8, 16},  {0, 0, 0},    {1, 0, 0},   {40000, 0, 0},  {16384, 16, 16},
              {1000, 4, 8}, {2048, 0, 8}, {16, 16, 0}, {99999, 0, 13}, {1 << 20, 0, 0}};
enum { ARRAYS = sizeof arrays / sizeof *arrays, TIMES = 7, TAKEN = 11, OF = 17 };

/* The rows of array a as they should be, and room for them before and behind which stays zeros. */
static void check_taken(const unsigned char *from, const unsigned char *to, size_t a,
                        const uint32_t *index)
{
    size_t bytes = arrays[a].bytes, ahead = arrays[a].to;

    for (size_t i = 0; i < ahead; i++) assert_int_equal(0, to[i]);
    for (size_t i = 0; i < TAKEN; i++)
        assert_memory_equal(from + arrays[a].from + index[i] * bytes, to + ahead + i * bytes,
                            bytes);
    for (size_t i = 0; i < 16; i++) assert_int_equal(0, to[ahead + TAKEN * bytes + i]);
}

/* Every array TIMES over, which is more than any device takes at once. */
static void gather_all_on(cull_backend *backend)
{
    static const uint32_t index[TAKEN] = {16, 0, 3, 3, 9, 12, 1, 15, 16, 7, 2};
    unsigned char        *from = calloc(OF + 1, 1 << 20), *to = malloc((OF + 1) << 20);
    unsigned char        *from_there = NULL, *to_there[ARRAYS * TIMES] = {0};
    uint32_t             *index_there = NULL;
    cull_gathered         list[ARRAYS * TIMES];
    cull_kit              kit = {.backend = backend};

    for (size_t i = 0; i < (size_t)(OF + 1) << 20; i++) from[i] = (unsigned char)(i * 31 + i / 255);
    assert_ok(cull_kit_allocate(&kit, OF + 1, 1 << 20, "a test", &from_there));
    assert_ok(cull_backend_upload(backend, from_there, from, (size_t)(OF + 1) << 20));
    assert_ok(cull_kit_allocate(&kit, TAKEN, sizeof *index, "a test", &index_there));
    assert_ok(cull_backend_upload(backend, index_there, index, sizeof index));
    for (size_t k = 0; k < (size_t)ARRAYS * TIMES; k++) {
        size_t a = k % ARRAYS, bytes = k < ARRAYS || arrays[a].bytes < 99 ? arrays[a].bytes : 12;

        assert_ok(cull_kit_allocate(&kit, TAKEN * bytes + 32, 1, "a test", &to_there[k]));
        list[k] = (cull_gathered){from_there + arrays[a].from, to_there[k] + arrays[a].to, bytes};
    }
    assert_ok(cull_kit_run(&kit, CULL_OP_GATHER_ALL, 0,
                           &(cull_op_args){.gather_all = {.list = list,
                                                          .count = ARRAYS * TIMES,
                                                          .index = index_there,
                                                          .rows = TAKEN,
                                                          .held = OF}}));
    for (size_t k = 0; k < (size_t)ARRAYS * TIMES; k++) {
        size_t a = k % ARRAYS;

        assert_ok(cull_backend_download(backend, to, to_there[k], TAKEN * list[k].bytes + 32));
        if (list[k].bytes == arrays[a].bytes) check_taken(from, to, a, index);
    }
    cull_kit_clear(&kit);
    free(from);
    free(to);
}

static void rows_of_any_size_and_border_are_gathered_at_once(void **state)
{
    (void)state;
    EACH(backend, CULL_OP_GATHER_ALL)
    gather_all_on(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_is_not_there_is_told),
        cmocka_unit_test(a_row_that_is_not_there_is_zeros_on_a_device),
        cmocka_unit_test(rows_of_any_size_and_border_are_gathered_at_once),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
