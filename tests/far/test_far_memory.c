/*
 * tests/far/test_far_memory.c - the memory of the tests' own backends: arrays are apart and keep
 * what is theirs, and whoever touches them from outside does not live to tell.
 */
#include "far/on_far.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void arrays_begin_as_zeros_and_hold_what_was_uploaded(void **state)
{
    cull_backend *far = *state;
    double        x[N], y[N] = {0};
    double       *a = take(far, BYTES), *b = NULL;

    assert_false(cull_backend_on_host(far));
    assert_string_equal(far->class->host, cull_backend_host(far)->class->name);
    assert_bytes(far, a, 0, BYTES);
    for (int i = 0; i < N; i++) x[i] = random_normal(1, (uint64_t)i);
    assert_ok(cull_backend_upload(far, a, x, BYTES));
    b = put(far, x, BYTES);
    memset(x, 1, sizeof x); /* theirs are copies */
    assert_ok(cull_backend_copy(far, b + 10, a, 10 * sizeof *a));
    assert_ok(cull_backend_fill(far, a + 5, 0x11, 3 * sizeof *a));
    assert_ok(cull_backend_download(far, y, b, BYTES));
    for (int i = 0; i < N; i++)
        assert_true(y[i] == random_normal(1, (uint64_t)(i >= 10 && i < 20 ? i - 10 : i)));
    assert_bytes(far, a + 5, 0x11, 3 * sizeof *a);
    cull_backend_release(far, a);
    cull_backend_release(far, b);
}

static void what_is_not_its_memory_is_refused(void **state)
{
    cull_backend *far = *state;
    double        here[N] = {0};
    double       *a = take(far, BYTES), *b = take(far, BYTES);
    cull_op      *rank = ready(far, CULL_OP_RANK), *gain = ready(far, CULL_OP_GAIN);
    cull_tensor   h = cull_matrix(here, CULL_F64, 10, 2);

    assert_fails(CULL_BAD_ARGUMENT, "upload", cull_backend_upload(far, here, here, 8));
    assert_fails(CULL_BAD_ARGUMENT, "upload", cull_backend_upload(far, a + N, here, 8));
    assert_fails(CULL_BAD_ARGUMENT, "download", cull_backend_download(far, here, a + 1, BYTES));
    assert_fails(CULL_BAD_ARGUMENT, "copy", cull_backend_copy(far, here, a, 8));
    assert_fails(CULL_BAD_ARGUMENT, "copy", cull_backend_copy(far, a, here, 8));
    assert_fails(CULL_BAD_ARGUMENT, "fill", cull_backend_fill(far, a, 0, BYTES + 1));
    assert_fails(CULL_BAD_ARGUMENT, "not this backend's",
                 cull_op_run(rank, &(cull_op_args){.rank = {N, here, a}}));
    assert_fails(CULL_BAD_ARGUMENT, "not this backend's",
                 cull_op_run(rank, &(cull_op_args){.rank = {N, a, here}}));
    assert_fails(CULL_BAD_ARGUMENT, "not this backend's",
                 cull_op_run(gain, &(cull_op_args){.gain = {&h, NULL, NULL, 10, 2, a, b}}));
    cull_backend_release(far, b);
    assert_fails(CULL_BAD_ARGUMENT, "upload", cull_backend_upload(far, b, here, 8));
    assert_ok(cull_backend_wait(far));
    cull_backend_release(far, a);
    cull_op_destroy(rank);
    cull_op_destroy(gain);
}

/* ---- the allocator against a model ---- */

enum { ARRAYS = 40, ROUNDS = 2000 };

struct array {
    char  *data;
    size_t bytes;
    int    byte;
};

static void check_apart(const struct array *arrays, size_t which)
{
    const struct array *a = arrays + which;

    for (size_t i = 0; i < ARRAYS; i++)
        if (i != which && arrays[i].data)
            assert_true(arrays[i].data + arrays[i].bytes < a->data ||
                        a->data + a->bytes < arrays[i].data);
}

static void arrays_lie_apart_and_keep_what_is_theirs(void **state)
{
    cull_backend *far = *state;
    struct array  arrays[ARRAYS] = {0};
    char         *first = take(far, 1);

    cull_backend_release(far, first);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        size_t        which = (size_t)(random_uniform(11, i) * ARRAYS);
        struct array *a = arrays + which;

        if (a->data) {
            assert_bytes(far, a->data, a->byte, a->bytes);
            cull_backend_release(far, a->data);
            *a = (struct array){0};
        } else {
            a->bytes = (size_t)exp(9.5 * random_uniform(12, i)) - 1;
            a->byte = (int)(i % 251);
            a->data = take(far, a->bytes);
            check_apart(arrays, which);
            assert_bytes(far, a->data, 0, a->bytes);
            assert_ok(cull_backend_fill(far, a->data, a->byte, a->bytes));
        }
    }
    for (size_t i = 0; i < ARRAYS; i++) cull_backend_release(far, arrays[i].data);
    assert_ptr_equal(first, take(far, 100)); /* all of it can be had again */
    cull_backend_release(far, first);
    assert_fails(CULL_NO_MEMORY, "no memory for too much",
                 cull_backend_allocate(far, (size_t)1 << 40, 1, "too much", &first));
    assert_null(first);
}

/* ---- what ends a process ---- */

static int ending_of(void (*act)(cull_backend *far, void *data), cull_backend *far, void *data)
{
    int   ending = 0;
    pid_t child = fork();

    if (child == 0) {
        const struct rlimit none = {0, 0};

        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGSEGV, SIG_DFL); /* which the sanitizers have taken, and cmocka */
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(STDERR_FILENO);
        act(far, data);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(child, waitpid(child, &ending, 0));
    return ending;
}

static void assert_ended_by(int number, int ending)
{
    if (!WIFSIGNALED(ending) || WTERMSIG(ending) != number)
        fail_msg("ended with %#x, not by signal %d", (unsigned)ending, number);
}

static void read_it(cull_backend *far, void *data)
{
    (void)far;
    (void)*(volatile char *)data;
}

static void write_it(cull_backend *far, void *data)
{
    (void)far;
    *(volatile char *)data = 1;
}

static void download_it(cull_backend *far, void *data)
{
    char here = 0;

    if (cull_backend_fill(far, data, 9, 1) != CULL_OK ||
        cull_backend_download(far, &here, data, 1) != CULL_OK || here != 9)
        _exit(1);
}

static void read_it_after_a_download(cull_backend *far, void *data)
{
    download_it(far, data);
    read_it(far, data);
}

static void upload_from_it(cull_backend *far, void *data)
{
    (void)cull_backend_upload(far, data, (char *)data + 8, 8);
}

static void wait_in_a_recording(cull_backend *far, void *data)
{
    (void)data;
    if (far->class->queue->record(far) == CULL_OK) (void)cull_backend_wait(far);
}

static void upload_in_a_recording(cull_backend *far, void *data)
{
    char bytes[4] = {0};

    (void)far->class->queue->record(far);
    (void)cull_backend_upload(far, data, bytes, sizeof bytes);
}

static void allocate_in_a_recording(cull_backend *far, void *data)
{
    void *more = data;

    (void)far->class->queue->record(far);
    (void)cull_backend_allocate(far, 1, 8, "a test", &more);
}

static void download_in_a_recording(cull_backend *far, void *data)
{
    char here = 0;

    if (far->class->queue->record(far) == CULL_OK) (void)cull_backend_download(far, &here, data, 1);
}

static void release_something_else(cull_backend *far, void *data)
{
    cull_backend_release(far, (char *)data + 64);
}

/* Percentiles of one row more than there is room for. */
static void write_behind_it(cull_backend *far, void *data)
{
    cull_op *rank = ready(far, CULL_OP_RANK);
    double  *x = take(far, BYTES + 8);

    if (cull_op_run(rank, &(cull_op_args){.rank = {N + 1, x, data}}) == CULL_OK)
        cull_backend_release(far, data);
}

static void touching_its_memory_from_outside_is_fatal(void **state)
{
    cull_backend *far = *state;
    double       *a = take(far, BYTES);

    assert_ended_by(SIGSEGV, ending_of(read_it, far, a));
    assert_ended_by(SIGSEGV, ending_of(write_it, far, a));
    assert_ended_by(SIGSEGV, ending_of(upload_from_it, far, a));
    assert_ended_by(SIGSEGV, ending_of(read_it_after_a_download, far, a));
    assert_int_equal(0, ending_of(download_it, far, a));
    assert_bytes(far, a, 0, BYTES); /* a child's memory is its own */
    cull_backend_release(far, a);
    assert_ended_by(SIGSEGV, ending_of(read_it, far, a));
}

static void misuse_is_fatal(void **state)
{
    cull_backend *far = *state;
    double       *a = take(far, BYTES);

    assert_ended_by(SIGABRT, ending_of(wait_in_a_recording, far, a));
    assert_ended_by(SIGABRT, ending_of(download_in_a_recording, far, a));
    assert_ended_by(SIGABRT, ending_of(upload_in_a_recording, far, a));
    assert_ended_by(SIGABRT, ending_of(allocate_in_a_recording, far, a));
    assert_ended_by(SIGABRT, ending_of(release_something_else, far, a));
    assert_ended_by(SIGABRT, ending_of(write_behind_it, far, a));
    cull_backend_release(far, a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_begin_as_zeros_and_hold_what_was_uploaded),
        cmocka_unit_test(what_is_not_its_memory_is_refused),
        cmocka_unit_test(arrays_lie_apart_and_keep_what_is_theirs),
        cmocka_unit_test(touching_its_memory_from_outside_is_fatal),
        cmocka_unit_test(misuse_is_fatal),
    };
    const struct CMUnitTest emus[] = {
        cmocka_unit_test(arrays_begin_as_zeros_and_hold_what_was_uploaded),
        cmocka_unit_test(arrays_lie_apart_and_keep_what_is_theirs),
        cmocka_unit_test(touching_its_memory_from_outside_is_fatal),
    };
    int failed = cmocka_run_group_tests(tests, open_far, close_far);

    if (has_emu()) failed += cmocka_run_group_tests(emus, open_emu, close_far);
    return failed;
}
