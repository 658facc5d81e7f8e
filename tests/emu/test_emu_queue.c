/*
 * tests/emu/test_emu_queue.c - memory, order, marks and recordings of the CUDA backend, and what it
 * says when the device fails, over the imitation of the runtime.
 */
#include "far/on_far.h"

#include "emu.h"
#include "train/recorder.h"

/* As cmocka's tests want it: a device for each. */
static cull_backend *device(void **state)
{
    return *state;
}

static void it_is_told_what_it_is(void **state)
{
    cull_backend *b = device(state);

    assert_string_equal("emu:0, emulated", cull_backend_describe(b));
    assert_string_equal("0000:00:00.0", b->bus);
    assert_false(cull_backend_on_host(b));
    assert_string_equal("cpu", cull_backend_host(b)->class->name);
    assert_true(cull_backend_records(b));
}

/* ---- uploads ---- */

static unsigned char byte_at(size_t i, int round)
{
    return (unsigned char)(i * 31 + i / 251 + 7 * (size_t)round);
}

/* More than the staging memory holds, in pieces that end anywhere; what was lent is free at once.
 */
static void uploads_of_any_size_arrive(void **state)
{
    static const size_t sizes[] = {
        1, 15, 16, 17, (1 << 20) - 16, 1 << 20, (1 << 20) + 1, 5000000, 3, (2 << 20) - 1, 100};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    cull_backend  *b = device(state);
    unsigned char *from = malloc(5000000), *there[SIZES];

    for (int k = 0; k < SIZES; k++) {
        there[k] = take(b, sizes[k]);
        for (size_t i = 0; i < sizes[k]; i++) from[i] = byte_at(i, k);
        assert_ok(cull_backend_upload(b, there[k], from, sizes[k]));
        memset(from, 0xff, sizes[k]);
    }
    for (int k = 0; k < SIZES; k++) {
        assert_ok(cull_backend_download(b, from, there[k], sizes[k]));
        for (size_t i = 0; i < sizes[k]; i++)
            if (from[i] != byte_at(i, k)) fail_msg("byte %zu of %zu differs", i, sizes[k]);
        cull_backend_release(b, there[k]);
    }
    assert_ok(cull_backend_upload(b, NULL, NULL, 0));
    assert_ok(cull_backend_copy(b, NULL, NULL, 0));
    assert_ok(cull_backend_fill(b, NULL, 0, 0));
    free(from);
}

/* Many small ones, between which others of the queue's calls stand. */
static void uploads_keep_their_place_in_the_order(void **state)
{
    enum { COUNT = 3000, EACH = 1000 };
    cull_backend *b = device(state);
    char         *a = take(b, EACH), *sums = take(b, COUNT), piece[EACH], here[COUNT];

    for (int i = 0; i < COUNT; i++) {
        memset(piece, i % 127, sizeof piece);
        assert_ok(cull_backend_upload(b, a, piece, sizeof piece));
        assert_ok(cull_backend_copy(b, sums + i, a + i % EACH, 1));
    }
    assert_ok(cull_backend_download(b, here, sums, COUNT));
    for (int i = 0; i < COUNT; i++) assert_int_equal(i % 127, here[i]);
    cull_backend_release(b, a);
    cull_backend_release(b, sums);
}

/* ---- recordings ---- */

static cull_recording *record_steps(cull_backend *b, char *a, cull_mark **mark)
{
    cull_recording *recording = NULL;

    assert_ok(b->class->queue->record(b));
    assert_ok(cull_backend_copy(b, a + 8, a, 8)); /* what was there goes one place on */
    assert_ok(cull_backend_mark(b, mark));
    assert_ok(cull_backend_fill(b, a, 7, 8));
    assert_ok(b->class->queue->recorded(b, &recording));
    return recording;
}

static void a_recording_is_done_when_it_is_replayed(void **state)
{
    cull_backend   *b = device(state);
    char           *a = take(b, 16), one = 1;
    cull_mark      *before = NULL, *inside = NULL;
    cull_recording *recording = NULL;
    double          first = 0, second = 0;
    size_t          replays = emu_replays();

    assert_ok(cull_backend_mark(b, &before));
    assert_ok(cull_backend_mark(b, &inside)); /* one that is passed again in there */
    recording = record_steps(b, a, &inside);
    assert_bytes(b, a, 0, 16);
    assert_ok(cull_backend_upload(b, a + 7, &one, 1));
    assert_ok(b->class->queue->replay(b, recording));
    assert_bytes(b, a, 7, 8);
    assert_bytes(b, a + 15, 1, 1);
    assert_ok(cull_backend_elapsed(b, before, inside, &first));
    assert_ok(b->class->queue->replay(b, recording));
    assert_ok(cull_backend_elapsed(b, before, inside, &second));
    assert_true(second > first && first > 0);
    assert_ok(b->class->queue->replay(b, recording));
    b->class->queue->forget(b, recording); /* what was asked for is done all the same */
    assert_bytes(b, a, 7, 16);
    assert_int_equal(3, emu_replays() - replays);
    b->class->queue->unmark(b, before);
    b->class->queue->unmark(b, inside);
    cull_backend_release(b, a);
}

static void what_waits_in_a_recording_fails_and_the_next_one_does_not(void **state)
{
    cull_backend   *b = device(state);
    char           *a = take(b, 16), here = 0;
    void           *more = NULL;
    cull_recording *recording = NULL;
    cull_mark      *mark = NULL;

    for (int k = 0; k < 3; k++) {
        assert_ok(b->class->queue->record(b));
        assert_ok(cull_backend_fill(b, a, 7, 8));
        if (k == 0) assert_fails(CULL_DEVICE, "when stream is capturing", cull_backend_wait(b));
        if (k == 1)
            assert_fails(CULL_DEVICE, "cudaMalloc: operation not permitted",
                         cull_backend_allocate(b, 1, 8, "a test", &more));
        if (k == 2)
            assert_fails(CULL_DEVICE, "cudaMemcpyAsync",
                         cull_backend_download(b, &here, a, sizeof here));
        assert_fails(CULL_DEVICE, "previous error during capture",
                     b->class->queue->recorded(b, &recording));
        assert_null(recording);
        assert_bytes(b, a, 0, 16);
    }
    recording = record_steps(b, a, &mark);
    assert_ok(b->class->queue->replay(b, recording));
    assert_bytes(b, a, 7, 8);
    b->class->queue->forget(b, recording);
    b->class->queue->unmark(b, mark);
    cull_backend_release(b, a);
}

static void a_step_that_fails_while_it_is_recorded_is_told_as_it_failed(void **state)
{
    cull_backend *b = device(state);
    cull_recorder r = {.backend = b};
    cull_recorded kind = {0};
    void         *more = NULL;

    assert_ok(cull_recorder_begin(&r));
    assert_true(cull_backend_allocate(b, 1, 8, "a test", &more) != CULL_OK);
    assert_ok(cull_recorder_end(&r, &kind, true));
    assert_non_null(strstr(cull_last_error(), "cudaMalloc: operation not permitted"));
    assert_ok(cull_recorder_begin(&r)); /* the stream is as before */
    assert_true(cull_fail_about(CULL_BAD_ARGUMENT, "x", "a step's own") != CULL_OK);
    assert_ok(cull_recorder_end(&r, &kind, true));
    assert_string_equal("a step's own", cull_last_error());
    assert_string_equal("x", cull_last_subject());
    assert_null(kind.recording);
}

/* ---- a stream of the caller's ---- */

/* The imitation does the stream that was asked last first, unless an event says otherwise. */
static void a_stream_that_is_followed_is_in_order_with_the_backend(void **state)
{
    cull_backend *b = device(state);
    char         *a = take(b, 8), *c = take(b, 8), *d = take(b, 8), fours[8], here[8];
    cudaStream_t  theirs = NULL;

    memset(fours, 4, sizeof fours);
    assert_ok(cull_backend_wait(b)); /* new arrays are made zeros in our own stream */
    assert_int_equal(cudaSuccess, cudaStreamCreateWithFlags(&theirs, cudaStreamNonBlocking));
    for (int round = 0; round < 3; round++) {
        assert_ok(cull_backend_fill(b, c, 1, 8)); /* our own, before */
        assert_int_equal(cudaSuccess, cudaMemsetAsync(a, 2 + round, 8, theirs));
        assert_ok(cull_backend_follow(b, theirs));
        assert_ok(cull_backend_copy(b, d, a, 4)); /* what they wrote */
        assert_ok(cull_backend_copy(b, d + 4, c, 4));
        assert_ok(cull_backend_upload(b, c, fours, 8));
        assert_ok(cull_backend_leave(b));
        assert_int_equal(cudaSuccess, cudaMemsetAsync(a, 9, 8, theirs)); /* they go on at once */
        assert_ok(cull_backend_copy(b, c, d, 2));                        /* and so do we */
        assert_ok(cull_backend_download(b, here, c, 8));
        assert_int_equal(2 + round, here[0]);
        assert_int_equal(4, here[2]);
        assert_bytes(b, d, 2 + round, 4);
        assert_bytes(b, d + 4, 1, 4);
        assert_bytes(b, a, 9, 8);
    }
    assert_int_equal(cudaSuccess, cudaStreamDestroy(theirs)); /* it is not missed */
    assert_ok(cull_backend_fill(b, a, 3, 8));
    assert_bytes(b, a, 3, 8);
    assert_ok(cull_backend_follow(b, NULL)); /* the default stream is one too */
    assert_ok(cull_backend_fill(b, a, 5, 8));
    assert_ok(cull_backend_leave(b));
    assert_ok(cull_backend_leave(b));
    assert_bytes(b, a, 5, 8);
    cull_backend_release(b, a);
    cull_backend_release(b, c);
    cull_backend_release(b, d);
}

static int current_device(void)
{
    int device = -1;

    assert_int_equal(cudaSuccess, cudaGetDevice(&device));
    return device;
}

/* Of several devices a thread has one that its own calls mean: whoever lends a stream keeps it. */
static void the_device_of_the_caller_is_left_to_him(void **state)
{
    cull_backend *b = NULL;
    char         *a = NULL, here[8];

    (void)state;
    assert_int_equal(0, setenv("CULL_EMU_DEVICES", "2", 1));
    assert_int_equal(cudaSuccess, cudaSetDevice(1));
    assert_ok(cull_backend_open("emu", 1, &b));
    assert_int_equal(1, current_device());
    assert_ok(cull_backend_follow(b, NULL));
    assert_int_equal(0, current_device());
    a = take(b, 8);
    assert_ok(cull_backend_fill(b, a, 3, 8));
    assert_ok(cull_backend_leave(b));
    assert_int_equal(1, current_device());
    assert_ok(cull_memory_download(b, here, a, 8)); /* without a stream of his */
    assert_int_equal(1, current_device());
    cull_memory_release(b, a);
    assert_int_equal(1, current_device());
    cull_backend_close(b);
    assert_int_equal(1, current_device());
    assert_int_equal(cudaSuccess, cudaSetDevice(0));
    assert_int_equal(0, unsetenv("CULL_EMU_DEVICES"));
}

static void what_cannot_be_followed_is_said(void **state)
{
    cull_backend *b = device(state);
    char         *a = take(b, 8);
    cudaStream_t  theirs = NULL;
    cudaGraph_t   graph = NULL;

    assert_int_equal(cudaSuccess, cudaStreamCreateWithFlags(&theirs, cudaStreamNonBlocking));
    assert_int_equal(cudaSuccess, cudaStreamBeginCapture(theirs, cudaStreamCaptureModeRelaxed));
    assert_fails(CULL_UNSUPPORTED, "outside of the capture", cull_backend_follow(b, theirs));
    assert_int_equal(cudaSuccess, cudaStreamEndCapture(theirs, &graph)); /* nothing is spoiled */
    assert_int_equal(cudaSuccess, cudaGraphDestroy(graph));
    assert_ok(cull_backend_follow(b, theirs));
    assert_fails(CULL_BAD_ARGUMENT, "leave that first", cull_backend_follow(b, theirs));
    assert_ok(cull_backend_leave(b));
    assert_fails(CULL_BAD_ARGUMENT, "a backend", cull_backend_follow(NULL, theirs));
    emu_lose_device(1);
    assert_fails(CULL_DEVICE, "illegal memory access", cull_backend_follow(b, theirs));
    emu_lose_device(0);
    assert_ok(cull_backend_follow(b, theirs));
    emu_lose_device(1);
    assert_fails(CULL_DEVICE, "illegal memory access", cull_backend_leave(b));
    emu_lose_device(0);
    assert_ok(cull_backend_fill(b, a, 6, 8)); /* on its own stream again */
    assert_int_equal(cudaSuccess, cudaStreamDestroy(theirs));
    assert_bytes(b, a, 6, 8);
    cull_backend_release(b, a);
}

/* ---- failures ---- */

static void a_device_that_is_not_there_is_said_with_what_to_do(void **state)
{
    static const char *const lacks[][2] = {
        {"driver", "there is no CUDA driver on this machine"},
        {"newer driver", "knows CUDA 12.2, and this build is of 13.0: install a newer driver"},
        {"device", "it sees no device: look at nvidia-smi"},
        {"code", "emulated is of compute capability 9.0, for which this build has no code: build "
                 "with CULL_CUDA_ARCHITECTURES=90"}};
    cull_backend *b = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        emu_lack(lacks[i][0]);
        assert_fails(CULL_UNSUPPORTED, lacks[i][1], cull_backend_open("emu", 1, &b));
        assert_null(b);
    }
    emu_lack(NULL);
}

static void memory_that_ends_is_said(void **state)
{
    cull_backend *b = device(state);
    void         *a = NULL;

    emu_fail_malloc(1);
    assert_fails(CULL_NO_MEMORY, "no memory for a test: 80 bytes on emu",
                 cull_backend_allocate(b, 10, 8, "a test", &a));
    emu_fail_malloc(0);
    assert_null(a);
    a = take(b, 80);
    assert_bytes(b, a, 0, 80);
    cull_backend_release(b, a);
}

/* Of every kind that there is, prepared with the first, second, ... array failing. */
static void operations_survive_memory_that_ends(void **state)
{
    cull_backend *b = device(state);

    for (int kind = 0; kind < CULL_OP_KINDS; kind++) {
        cull_op_desc desc = {
            .kind = (cull_op_kind)kind, .rows = 300, .width = 20, .classes = 5, .picks = 30};
        cull_status status = b->class->op[kind] ? CULL_NO_MEMORY : CULL_OK;

        for (size_t nth = 1; status != CULL_OK; nth++) {
            cull_op *op = NULL;

            emu_fail_malloc(nth);
            status = cull_op_ready(b, &desc, &op);
            emu_fail_malloc(0);
            if (status != CULL_OK && (status != CULL_NO_MEMORY || op))
                fail_msg("kind %d: %s", kind, cull_last_error());
            cull_op_destroy(op);
        }
    }
    assert_ok(cull_backend_wait(b));
}

static void a_lost_device_is_told_by_every_call(void **state)
{
    cull_backend   *b = device(state);
    char           *a = take(b, 16), here[8] = {0};
    void           *more = NULL;
    cull_mark      *mark = NULL, *other = NULL;
    cull_recording *recording = record_steps(b, a, &mark);
    double          seconds = 0;

    emu_lose_device(1);
#define LOST(call) assert_fails(CULL_DEVICE, "an illegal memory access was encountered", call)
    LOST(cull_backend_allocate(b, 1, 8, "a test", &more));
    LOST(cull_backend_upload(b, a, here, 8));
    LOST(cull_backend_download(b, here, a, 8));
    LOST(cull_backend_copy(b, a, a + 8, 8));
    LOST(cull_backend_fill(b, a, 1, 8));
    LOST(cull_backend_wait(b));
    LOST(cull_backend_mark(b, &other));
    LOST(cull_backend_elapsed(b, mark, mark, &seconds));
    LOST(b->class->queue->record(b));
    LOST(b->class->queue->replay(b, recording));
    assert_null(other);
    b->class->queue->forget(b, recording);
    b->class->queue->unmark(b, mark);
    cull_backend_release(b, a);
    emu_lose_device(0);
}

/* Whatever call it is lost at, opening says so, and what was made until then has ended. */
static void opening_survives_a_device_that_is_lost(void **state)
{
    cull_status status = CULL_DEVICE;

    (void)state;
    for (size_t nth = 1; status != CULL_OK; nth++) {
        cull_backend *b = NULL;

        emu_lose_device(nth);
        status = cull_backend_open("emu", 1, &b);
        emu_lose_device(0);
        if (status != CULL_OK)
            assert_string_equal(nth == 1 ? "CULL_UNSUPPORTED" : "CULL_DEVICE",
                                status == CULL_UNSUPPORTED ? "CULL_UNSUPPORTED"
                                : status == CULL_DEVICE    ? "CULL_DEVICE"
                                                           : cull_last_error());
        assert_true((b != NULL) == (status == CULL_OK));
        cull_backend_close(b);
    }
}

static int open_device(void **state)
{
    return cull_backend_open("emu", 2, (cull_backend **)state) != CULL_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_what_it_is),
        cmocka_unit_test(uploads_of_any_size_arrive),
        cmocka_unit_test(uploads_keep_their_place_in_the_order),
        cmocka_unit_test(a_recording_is_done_when_it_is_replayed),
        cmocka_unit_test(what_waits_in_a_recording_fails_and_the_next_one_does_not),
        cmocka_unit_test(a_step_that_fails_while_it_is_recorded_is_told_as_it_failed),
        cmocka_unit_test(a_stream_that_is_followed_is_in_order_with_the_backend),
        cmocka_unit_test(the_device_of_the_caller_is_left_to_him),
        cmocka_unit_test(what_cannot_be_followed_is_said),
        cmocka_unit_test(a_device_that_is_not_there_is_said_with_what_to_do),
        cmocka_unit_test(memory_that_ends_is_said),
        cmocka_unit_test(operations_survive_memory_that_ends),
        cmocka_unit_test(a_lost_device_is_told_by_every_call),
        cmocka_unit_test(opening_survives_a_device_that_is_lost),
    };
    return cmocka_run_group_tests(tests, open_device, close_far);
}
