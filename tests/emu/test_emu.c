/*
 * tests/emu/test_emu.c - the imitation of the CUDA runtime: threads that meet, streams that are
 * captured, failures that are planned.
 */
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"
#include "trial.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t ok_ = (call);                                                                  \
        if (ok_ != cudaSuccess) fail_msg("%s: %s", #call, cudaGetErrorName(ok_));                  \
    } while (0)
#define SAYS(error, call) assert_string_equal(cudaGetErrorName(error), cudaGetErrorName(call))

static cudaStream_t stream;

static int open_stream(void **state)
{
    (void)state;
    return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
}

static int close_stream(void **state)
{
    (void)state;
    return cudaStreamDestroy(stream) != cudaSuccess;
}

static void *take(size_t bytes)
{
    void *data = NULL;

    OK(cudaMalloc(&data, bytes));
    OK(cudaMemsetAsync(data, 0, bytes, stream));
    return data;
}

static void fetch(void *to, const void *from, size_t bytes)
{
    OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
}

static int number_at(const int *there)
{
    int here = 0;

    fetch(&here, there, sizeof here);
    return here;
}

/* ---- threads ---- */

static void a_sum_is_made_by_shuffles_and_a_barrier(void **state)
{
    enum { N = 1000 };
    double  x[N], sum = 0, got = 0;
    double *there = take(sizeof x), *y = take(sizeof got);

    (void)state;
    for (int i = 0; i < N; i++) sum += x[i] = i;
    OK(cudaMemcpyAsync(there, x, sizeof x, cudaMemcpyHostToDevice, stream));
    memset(x, 0, sizeof x);
    for (int k = 0; k < 2; k++) { /* from the first thread on, and from the last */
        OK(trial_sum(stream, there, N, y));
        fetch(&got, y, sizeof got);
        assert_true(got == sum);
    }
    OK(cudaFree(there));
    OK(cudaFree(y));
}

static void lanes_have_what_the_others_gave(void **state)
{
    long long *there = take(64 * TRIAL_WARP * sizeof *there), out[64][TRIAL_WARP];

    (void)state;
    for (int k = 0; k < 2; k++) {
        OK(trial_warp(stream, there));
        fetch(out, there, sizeof out);
        for (int i = 0; i < 64; i++) {
            int             lane = i % 32, base = i - lane;
            const long long right[TRIAL_WARP] = {
                base + 5,
                i / 8 * 8 + 3,
                2 * (lane < 3 ? i : i - 3) + 1,
                2 * (lane + 4 < 32 ? i + 4 : i) + 1,
                (long long)(1ull << (i ^ 9)),
                0x49249249,
                base == 32,
                base == 0,
                base * 32 + 496,
                31,
                2,
                0xffffffff,
                i % 4 < 1 ? i : i - 1,
                i % 4 + 1 < 4 ? i + 1 : i,
                7 + (i ? __builtin_ctz((unsigned)i) + 1 : 0) + 27,
                -5 + 1,
            };

            for (int j = 0; j < TRIAL_WARP; j++)
                if (out[i][j] != right[j])
                    fail_msg("thread %d, value %d: %lld, not %lld", i, j, out[i][j], right[j]);
        }
    }
    OK(cudaFree(there));
}

static void barriers_count_those_that_are_there(void **state)
{
    int *there = take(3 * 96 * sizeof *there), out[96][3];

    (void)state;
    for (unsigned stay = 96; stay > 10; stay -= 32) {
        OK(trial_votes(stream, stay, there));
        fetch(out, there, sizeof out);
        for (unsigned i = 0; i < stay; i++) {
            assert_int_equal(1, out[i][0]);
            assert_int_equal(stay <= 90, out[i][1]);
            assert_int_equal(stay / 2, out[i][2]);
        }
    }
    OK(cudaFree(there));
}

static void blocks_meet_as_often_as_they_like(void **state)
{
    enum { ROUNDS = 4 };
    unsigned *all = take(sizeof *all), *there = take(3 * ROUNDS * sizeof *there), out[ROUNDS][3];

    (void)state;
    for (int k = 0; k < 2; k++) {
        OK(cudaMemsetAsync(all, 0, sizeof *all, stream));
        OK(trial_meet(stream, 3, ROUNDS, all, there));
        fetch(out, there, sizeof out);
        for (unsigned r = 0; r < ROUNDS; r++)
            for (unsigned b = 0; b < 3; b++)
                assert_int_equal(6 * (r + 1) + 1000 * (b + 1), out[r][b]);
    }
    SAYS(cudaErrorCooperativeLaunchTooLarge, trial_meet(stream, 4, 1, all, there));
    OK(cudaFree(all));
    OK(cudaFree(there));
}

static void shared_memory_begins_as_poison(void **state)
{
    int *there = take(400 * sizeof *there), out[400];

    (void)state;
    OK(trial_poison(stream, 4, 4000, there));
    fetch(out, there, sizeof out);
    for (int i = 0; i < 400; i++) assert_int_equal(1, out[i]);
    OK(cudaFree(there));
}

static void every_other_launch_begins_with_the_last(void **state)
{
    unsigned *there = take(120 * sizeof *there), *next = take(sizeof *next), out[2][120];

    (void)state;
    for (int k = 0; k < 2; k++) {
        OK(cudaMemsetAsync(next, 0, sizeof *next, stream));
        OK(trial_order(stream, next, there));
        fetch(out[k], there, sizeof out[k]);
    }
    for (unsigned i = 0; i < 120; i++) assert_int_equal(119, out[0][i] + out[1][i]);
    OK(cudaFree(there));
    OK(cudaFree(next));
}

static void launches_that_cannot_be_fail(void **state)
{
    (void)state;
    OK(trial_launch(stream, 1, 1024, 48 << 10));
    SAYS(cudaErrorInvalidConfiguration, trial_launch(stream, 0, 32, 0));
    SAYS(cudaErrorInvalidConfiguration, trial_launch(stream, 1, 1025, 0));
    SAYS(cudaErrorInvalidValue, trial_launch(stream, 1, 32, (48 << 10) + 1));
    SAYS(cudaErrorInvalidValue, trial_agree((227 << 10) + 1));
    OK(trial_agree(227 << 10));
    OK(trial_launch(stream, 1, 32, 227 << 10));
    SAYS(cudaErrorInvalidValue, cudaGetLastError());
    SAYS(cudaSuccess, cudaGetLastError());
}

/* ---- order ---- */

static void nothing_is_done_before_somebody_waits(void **state)
{
    int         here = 5, *there = take(sizeof here), *pinned = NULL;
    cudaEvent_t before = NULL, after = NULL;
    float       milliseconds = -1;

    (void)state;
    OK(cudaMallocHost((void **)&pinned, sizeof *pinned));
    OK(cudaEventCreate(&before));
    OK(cudaEventCreate(&after));
    OK(cudaEventRecord(before, stream));
    *pinned = 3;
    OK(cudaMemcpyAsync(there, pinned, sizeof here, cudaMemcpyHostToDevice, stream));
    *pinned = 4; /* too early: this is what is copied */
    OK(trial_add(stream, there, 10));
    OK(cudaEventRecord(after, stream));
    SAYS(cudaErrorNotReady, cudaEventElapsedTime(&milliseconds, before, after));
    assert_int_equal(14, number_at(there));
    OK(cudaEventElapsedTime(&milliseconds, before, after));
    assert_true(milliseconds >= 0);
    OK(cudaMemcpyAsync(there, &here, sizeof here, cudaMemcpyHostToDevice, stream));
    here = 6; /* it was copied at the call */
    assert_int_equal(5, number_at(there));
    OK(cudaEventDestroy(before));
    OK(cudaEventDestroy(after));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(there));
}

static void addresses_are_looked_at(void **state)
{
    int here[2] = {0}, *there = take(sizeof here);

    (void)state;
    SAYS(cudaErrorInvalidValue,
         cudaMemcpyAsync(there + 1, here, sizeof here, cudaMemcpyHostToDevice, stream));
    SAYS(cudaErrorInvalidValue,
         cudaMemcpyAsync(there, here, sizeof here, cudaMemcpyDeviceToDevice, stream));
    SAYS(cudaErrorInvalidValue, cudaMemsetAsync(here, 0, 4, stream));
    SAYS(cudaErrorInvalidValue, cudaMemsetAsync(there, 0, 9, stream));
    SAYS(cudaErrorInvalidValue, cudaFree(here));
    OK(cudaFree(NULL));
    OK(cudaFree(there));
}

/* ---- captures ---- */

static cudaGraphExec_t captured(void)
{
    cudaGraph_t     graph = NULL;
    cudaGraphExec_t made = NULL;

    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&made, graph, 0));
    OK(cudaGraphDestroy(graph));
    return made;
}

static void what_is_captured_is_done_when_it_is_launched(void **state)
{
    int            *there = take(sizeof *there);
    cudaGraphExec_t graph = NULL;
    cudaEvent_t     event = NULL;
    size_t          launches = 0;

    (void)state;
    OK(cudaEventCreate(&event));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(trial_add(stream, there, 3));
    OK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    OK(trial_add(stream, there, 4));
    graph = captured();
    assert_int_equal(0, number_at(there));
    launches = emu_launches();
    for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(graph, stream));
    assert_int_equal(21, number_at(there));
    assert_int_equal(6, emu_launches() - launches);
    OK(cudaEventSynchronize(event));
    OK(cudaGraphLaunch(graph, stream));
    OK(cudaGraphExecDestroy(graph));
    assert_int_equal(28, number_at(there));
    OK(cudaEventDestroy(event));
    OK(cudaFree(there));
}

static void what_may_not_be_captured_spoils_the_capture(void **state)
{
    int         here = 0, *there = take(sizeof here), *more = NULL;
    cudaEvent_t event = NULL;
    cudaGraph_t graph = NULL;

    (void)state;
    OK(cudaEventCreate(&event));
    for (int k = 0; k < 8; k++) {
        cudaError_t error = cudaSuccess;

        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        OK(trial_add(stream, there, 1));
        if (k == 0) error = cudaMalloc((void **)&more, 4);
        if (k == 1) error = cudaFree(there);
        if (k == 2) error = cudaStreamSynchronize(stream);
        if (k == 3) error = cudaDeviceSynchronize();
        if (k == 4)
            error = cudaMemcpyAsync(there, &here, sizeof here, cudaMemcpyHostToDevice, stream);
        if (k == 5)
            error = cudaMemcpyAsync(&here, there, sizeof here, cudaMemcpyDeviceToHost, stream);
        if (k == 6) error = cudaMemcpy(&here, there, sizeof here, cudaMemcpyDeviceToHost);
        if (k == 7) error = cudaMallocHost((void **)&more, 4);
        SAYS(cudaErrorStreamCaptureUnsupported, error);
        SAYS(cudaErrorStreamCaptureInvalidated, trial_add(stream, there, 1));
        SAYS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
        assert_null(graph);
    }
    SAYS(cudaErrorIllegalState, cudaStreamEndCapture(stream, &graph));
    assert_int_equal(0, number_at(there)); /* none of it was done */
    OK(cudaEventDestroy(event));
    OK(cudaFree(there));
}

static void streams_join_a_capture_and_must_be_joined(void **state)
{
    int            *there = take(2 * sizeof *there);
    cudaStream_t    other = NULL;
    cudaEvent_t     fork = NULL, join = NULL;
    cudaGraph_t     graph = NULL;
    cudaGraphExec_t made = NULL;

    (void)state;
    OK(cudaStreamCreate(&other));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    for (int joined = 0; joined < 2; joined++) {
        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        OK(trial_add(stream, there, 1));
        OK(cudaEventRecord(fork, stream));
        OK(cudaStreamWaitEvent(other, fork, 0));
        OK(trial_add(other, there, 2));
        OK(cudaEventRecord(join, other));
        if (!joined) OK(trial_add(other, there, 2)); /* behind what is waited for */
        OK(cudaStreamWaitEvent(stream, join, 0));
        if (joined) break;
        SAYS(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(stream, &graph));
    }
    SAYS(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(other, &graph));
    made = captured();
    OK(cudaGraphLaunch(made, stream));
    assert_int_equal(3, number_at(there));
    OK(cudaGraphExecDestroy(made));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(other));
    OK(cudaFree(there));
}

/* ---- planned failures ---- */

static void memory_ends_and_devices_are_lost_when_planned(void **state)
{
    void *a = NULL, *b = NULL;
    int  *there = take(sizeof *there);

    (void)state;
    emu_fail_malloc(2);
    OK(cudaMalloc(&a, 8));
    SAYS(cudaErrorMemoryAllocation, cudaMalloc(&b, 8));
    SAYS(cudaErrorMemoryAllocation, cudaMalloc(&b, 8));
    emu_fail_malloc(0);
    OK(cudaMalloc(&b, 8));
    OK(trial_add(stream, there, 1));
    emu_lose_device(2);
    OK(trial_add(stream, there, 1));
    SAYS(cudaErrorIllegalAddress, trial_add(stream, there, 1));
    SAYS(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
    SAYS(cudaErrorIllegalAddress, cudaFree(a)); /* and it is free all the same */
    SAYS(cudaErrorIllegalAddress, cudaGetLastError());
    SAYS(cudaErrorIllegalAddress, cudaGetLastError()); /* once is not enough */
    emu_lose_device(0);
    OK(cudaGetLastError());
    assert_int_equal(2, number_at(there));
    OK(cudaFree(b));
    OK(cudaFree(there));
}

/* ---- what ends a process ---- */

static cudaError_t touch(cudaStream_t at)
{
    int *there = NULL;

    (void)at;
    (void)cudaMalloc((void **)&there, sizeof *there);
    return *(volatile int *)there ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t stray(cudaStream_t at)
{
    int *there = NULL;

    (void)cudaMalloc((void **)&there, sizeof *there);
    return trial_astray(at, there);
}

static void a_kernel_that_cannot_go_on_ends_the_process(void **state)
{
    static const struct {
        cudaError_t (*act)(cudaStream_t stream);
        int by;
    } acts[] = {{trial_apart, SIGABRT},
                {trial_missing, SIGABRT},
                {trial_behind, SIGABRT},
                {stray, SIGSEGV},
                {touch, SIGSEGV}};

    (void)state;
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        int   ending = 0;
        pid_t child = fork();

        if (child == 0) {
            const struct rlimit none = {0, 0};

            (void)setrlimit(RLIMIT_CORE, &none);
            (void)signal(SIGSEGV, SIG_DFL);
            (void)signal(SIGABRT, SIG_DFL);
            (void)close(STDERR_FILENO);
            (void)acts[i].act(stream);
            (void)cudaStreamSynchronize(stream);
            _exit(0);
        }
        assert_int_equal(child, waitpid(child, &ending, 0));
        if (!WIFSIGNALED(ending) || WTERMSIG(ending) != acts[i].by)
            fail_msg("act %zu ended with %#x", i, (unsigned)ending);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_is_made_by_shuffles_and_a_barrier),
        cmocka_unit_test(lanes_have_what_the_others_gave),
        cmocka_unit_test(barriers_count_those_that_are_there),
        cmocka_unit_test(blocks_meet_as_often_as_they_like),
        cmocka_unit_test(shared_memory_begins_as_poison),
        cmocka_unit_test(every_other_launch_begins_with_the_last),
        cmocka_unit_test(launches_that_cannot_be_fail),
        cmocka_unit_test(nothing_is_done_before_somebody_waits),
        cmocka_unit_test(addresses_are_looked_at),
        cmocka_unit_test(what_is_captured_is_done_when_it_is_launched),
        cmocka_unit_test(what_may_not_be_captured_spoils_the_capture),
        cmocka_unit_test(streams_join_a_capture_and_must_be_joined),
        cmocka_unit_test(memory_ends_and_devices_are_lost_when_planned),
        cmocka_unit_test(a_kernel_that_cannot_go_on_ends_the_process),
    };
    return cmocka_run_group_tests(tests, open_stream, close_stream);
}
