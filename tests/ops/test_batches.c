/*
 * tests/ops/test_batches.c - batches from stored examples, and images made smaller, on every
 * backend: the same bits as on `ref`.
 */
#include "ops/on_backend.h"

#include <math.h>
#include <stdlib.h>

enum { POOL = 11, COUNT = 7, MOST = 4000 }; /* numbers of the largest example */

/* What examples are, and what is done to them. */
struct kind {
    size_t channels, height, width, pad;
    bool   reflect, flip;
    size_t cutout;
};
static const struct kind kinds[] = {
    {3, 8, 7, 0, false, false, 0},   {3, 8, 8, 2, false, true, 0},  {1, 18, 28, 4, true, true, 9},
    {3, 20, 20, 4, false, true, 16}, {9, 1, 1, 0, false, false, 0}, {5, 1, 1, 1, false, true, 0},
    {700, 2, 2, 1, true, false, 1},  {2, 5, 3, 7, false, true, 3},  {16, 4, 4, 3, true, true, 2},
    {1, 1, 40, 6, false, true, 5},   {4, 6, 6, 0, false, true, 6},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Everything a batch is made from. */
struct batch {
    uint8_t     raw[POOL * MOST * 4];
    uint8_t     held[5 * MOST * 8], out[COUNT * MOST * 8];
    double      mean[1024], deviation[1024];
    uint32_t    place[COUNT], row[POOL], index[COUNT];
    cull_moment now;
};

static struct batch *make_batch(cull_dtype from)
{
    struct batch *b = calloc(1, sizeof *b);

    for (size_t i = 0; i < sizeof b->raw; i++) b->raw[i] = (uint8_t)(i * 97 + i / 251);
    for (size_t i = 0; from == CULL_F32 && i < (size_t)POOL * MOST; i++)
        ((float *)(void *)b->raw)[i] = (float)(i * 37 % 1009) / 77 - 5;
    for (size_t i = 0; i < sizeof b->held; i++) b->held[i] = (uint8_t)(i * 31 + 7);
    for (size_t c = 0; c < 1024; c++) {
        b->mean[c] = random_uniform(2, c);
        b->deviation[c] = .1 + random_uniform(3, c);
    }
    for (size_t i = 0; i < POOL; i++) b->row[i] = (uint32_t)(i * 7 % POOL);
    for (size_t i = 0; i < COUNT; i++) {
        b->place[i] = (uint32_t)(i * 5 % POOL);
        b->index[i] = i % 3 ? CULL_NO_ROW : (uint32_t)(i % 5);
    }
    b->now = (cull_moment){.step = 3, .epoch = (uint64_t)1 << 33 | 5};
    return b;
}

enum { STILL = 1, PACKED = 2, ROWS = 4, HELD = 8, NOW = 16 }; /* how a batch is asked for */

static struct batch *run_batch(cull_backend *backend, const struct kind *k, cull_dtype from,
                               cull_dtype to, bool last, unsigned how)
{
    struct batch *b = make_batch(from);
    cull_op_args  args = {.augment = {.desc = {.channels = k->channels,
                                               .height = k->height,
                                               .width = k->width,
                                               .from = from,
                                               .to = to,
                                               .channels_last = last,
                                               .mean = b->mean,
                                               .deviation = b->deviation,
                                               .pad = k->pad,
                                               .reflect = k->reflect,
                                               .flip = k->flip,
                                               .cutout = k->cutout,
                                               .move = cull_key_make(4, "move"),
                                               .hole = cull_key_make(4, "hole")},
                                      .call = {.count = COUNT,
                                               .places = b->place,
                                               .epoch = 12,
                                               .augmented = !(how & STILL),
                                               .raw = b->raw,
                                               .row = how & ROWS ? b->row : NULL,
                                               .packed = how & PACKED,
                                               .out = b->out},
                                      .now = how & NOW ? &b->now : NULL,
                                      .held = how & HELD ? b->held : NULL,
                                      .index = how & HELD ? b->index : NULL}};

    assert_ok(on_run(backend, CULL_OP_AUGMENT, COUNT, 1, &args));
    return b;
}

static void batches_are_the_same_on_every_backend(void **state)
{
    static const cull_dtype from[] = {CULL_U8, CULL_F32}, to[] = {CULL_F32, CULL_F64, CULL_BF16};
    static const unsigned   how[] = {0, STILL, PACKED, ROWS | NOW, HELD | NOW, HELD | STILL};

    (void)state;
    for (size_t i = 0; i < (size_t)KINDS * 2 * 3 * 2 * 6; i++) {
        const struct kind *k = &kinds[i / 72];
        cull_dtype         f = from[i % 2], t = to[i / 2 % 3];
        unsigned           h = how[i / 12 % 6];
        bool               last = i / 6 % 2;
        struct batch      *want = run_batch(ref, k, f, t, last, h);
        EACH(backend, CULL_OP_AUGMENT)
        {
            struct batch *got = run_batch(backend, k, f, t, last, h);

            if (memcmp(want, got, sizeof *got))
                fail_msg("case %zu: kind %zu, %s to %s, %s last, how %u, backend %s", i, i / 72,
                         cull_dtype_name(f), cull_dtype_name(t), last ? "channels" : "pixels", h,
                         backend->class->name);
            free(got);
        }
        free(want);
    }
}

/* Tokens are copied as they are, the first so many of each row; from other rows of that length
 * where these are there already. */
static void tokens_are_the_beginnings_of_their_rows(void **state)
{
    static const struct {
        size_t stored, length;
    } cases[] = {{40, 0}, {40, 40}, {40, 16}, {7, 3}, {512, 64}, {9, 1}};
    static const unsigned how[] = {STILL, 0, PACKED, ROWS | NOW, HELD | NOW};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 5; i++) {
        size_t   stored = cases[i / 5].stored, length = cases[i / 5].length;
        unsigned h = how[i % 5];

        if (length == 0) length = stored;
        EACH(backend, CULL_OP_AUGMENT)
        {
            struct batch  *b = make_batch(CULL_I32);
            const int32_t *raw = (const void *)b->raw, *held = (const void *)b->held;
            const int32_t *out = (const void *)b->out;
            cull_op_args   args = {.augment = {.desc = {.channels = 1,
                                                        .height = stored,
                                                        .width = 1,
                                                        .from = CULL_I32,
                                                        .to = CULL_I32,
                                                        .mean = b->mean,
                                                        .deviation = b->deviation},
                                               .call = {.count = COUNT,
                                                        .places = b->place,
                                                        .augmented = !(h & STILL),
                                                        .raw = b->raw,
                                                        .row = h & ROWS ? b->row : NULL,
                                                        .length = cases[i / 5].length,
                                                        .packed = h & PACKED,
                                                        .out = b->out},
                                               .now = h & NOW ? &b->now : NULL,
                                               .held = h & HELD ? b->held : NULL,
                                               .index = h & HELD ? b->index : NULL}};

            assert_ok(on_run(backend, CULL_OP_AUGMENT, COUNT, 1, &args));
            for (size_t n = 0; n < COUNT; n++) {
                size_t         row = h & PACKED ? n : h & ROWS ? b->row[b->place[n]] : b->place[n];
                const int32_t *from = raw + row * stored;

                if (h & HELD && b->index[n] != CULL_NO_ROW) from = held + b->index[n] * length;
                assert_memory_equal(from, out + n * length, length * sizeof *from);
            }
            for (size_t n = COUNT * length; n < sizeof b->out / sizeof *out; n++)
                assert_int_equal(0, out[n]);
            free(b);
        }
    }
}

static void images_are_resized_the_same_on_every_backend(void **state)
{
    static const cull_resize cases[] = {
        {3, 32, 32, 16, 16, false, false}, {3, 9, 7, 5, 6, false, true},
        {2, 8, 8, 8, 8, true, false},      {4, 6, 5, 3, 2, true, true},
        {1, 5, 5, 1, 1, false, false},
    };
    enum { IMAGES = 4, ROOM = IMAGES * 3 * 32 * 32 };
    float *from = normals_f32(5, ROOM), *want = calloc(ROOM, sizeof *want);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EACH(backend, CULL_OP_RESIZE)
        {
            float       *got = calloc(ROOM, sizeof *got);
            cull_op_args args = {
                .resize = {.how = cases[i], .from = from, .to = got, .count = IMAGES}};

            assert_ok(on_run(backend, CULL_OP_RESIZE, IMAGES, 1, &args));
            if (backend == ref) memcpy(want, got, ROOM * sizeof *want);
            assert_memory_equal(want, got, ROOM * sizeof *want);
            free(got);
        }
    }
    free(from);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_the_same_on_every_backend),
        cmocka_unit_test(tokens_are_the_beginnings_of_their_rows),
        cmocka_unit_test(images_are_resized_the_same_on_every_backend),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
