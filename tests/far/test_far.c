/*
 * tests/far/test_far.c - the tests' own backend keeps to backend.h: order, failures, marks,
 * recordings.
 */
#include "far/on_far.h"

#include <pthread.h>

#include "base/alloc.h"

/* ---- order ---- */

static void operations_read_descriptors_at_the_call_and_arrays_when_they_run(void **state)
{
    cull_backend    *far = *state;
    const double     eye[] = {1, 0, 0, 1}, t[] = {0.5, 2}, later[] = {3, 2};
    double           weight[2] = {0};
    cull_op         *omp = ready(far, CULL_OP_OMP);
    double          *there = put(far, t, sizeof t);
    cull_omp_options options = {.tolerance = 1e-6};
    cull_omp_problem problem = {.count = 2,
                                .budget = 1,
                                .k = cull_matrix(put(far, eye, sizeof eye), CULL_F64, 2, 2),
                                .t = there,
                                .index = take(far, 8),
                                .weight = take(far, 16),
                                .picked = 77};
    cull_omp_problem given = problem;
    cull_op_args     args = {.omp = {&problem, 1, &options}};

    assert_ok(cull_op_run(omp, &args));
    memset(&args, 0xff, sizeof args);
    memset(&options, 0xff, sizeof options);
    problem.budget = 0;
    assert_int_equal(77, problem.picked); /* not yet */
    assert_ok(cull_backend_upload(far, there, later, sizeof later));
    assert_ok(cull_backend_wait(far));
    assert_int_equal(1, problem.picked);
    assert_int_equal(1, problem.budget); /* all of it came back */
    assert_ok(cull_backend_download(far, weight, problem.weight, 8));
    assert_true(weight[0] == 2);
    cull_backend_release(far, given.k.data);
    cull_backend_release(far, there);
    cull_backend_release(far, given.index);
    cull_backend_release(far, given.weight);
    cull_op_destroy(omp);
}

/* ---- failures ---- */

static void a_failure_is_told_once_and_drops_what_follows(void **state)
{
    cull_backend    *far = *state;
    char            *a = take(far, BYTES);
    double          *nan = take(far, sizeof *nan), here = 0;
    void            *room = take(far, 16);
    cull_op         *omp = ready(far, CULL_OP_OMP);
    cull_omp_options options = {0};
    cull_omp_problem problem = {.count = 1,
                                .budget = 1,
                                .k = cull_matrix(nan, CULL_F64, 1, 1),
                                .t = nan,
                                .index = room,
                                .weight = room};
    cull_op_args     args = {.omp = {&problem, 1, &options}};

    assert_ok(cull_backend_fill(far, nan, 0xff, sizeof *nan));
    for (int by = 0; by < 2; by++) { /* told by a download; behind a release, which cannot tell */
        problem.picked = 1;
        assert_ok(cull_backend_fill(far, a, 1, BYTES));
        assert_ok(cull_op_run(omp, &args));
        assert_ok(cull_backend_fill(far, a, 2, BYTES));
        if (by) cull_backend_release(far, take(far, 8));
        assert_ok(cull_backend_fill(far, a, 3, BYTES));
        assert_fails(CULL_NOT_FINITE, "omp problem 0", cull_backend_download(far, &here, nan, 8));
        assert_int_equal(0, problem.picked);
        assert_bytes(far, a, 1, BYTES);
        assert_ok(cull_backend_fill(far, a, 4, BYTES));
        assert_bytes(far, a, 4, BYTES);
    }
    cull_backend_release(far, a);
    cull_backend_release(far, nan);
    cull_backend_release(far, room);
    cull_op_destroy(omp);
}

static cull_status one_of_each(cull_backend *far, double *a, cull_op *rank, cull_op *gram)
{
    cull_status     status = CULL_OK;
    cull_tensor     h = cull_matrix(a, CULL_F64, 2, 2);
    cull_mark      *mark = NULL;
    cull_recording *recording = NULL;
    double          here[N] = {0};
    void           *more = NULL;

    TRY(cull_backend_allocate(far, 5, 8, "a test", &more));
    TRY(cull_backend_upload(far, a, here, BYTES));
    TRY(cull_backend_copy(far, a, a + 50, 8));
    TRY(cull_backend_fill(far, a, 0, 8));
    TRY(cull_op_run(rank, &(cull_op_args){.rank = {20, a, a + 20}}));
    TRY(cull_op_run(gram, &(cull_op_args){.gram = {&h, &h, NULL, a + 20, NULL, NULL}}));
    TRY(far->class->queue->mark(far, &mark));
    TRY(far->class->queue->record(far));
    status = cull_backend_fill(far, a, 0, 8);
    assert_ok(far->class->queue->recorded(far, &recording));
    if (status == CULL_OK) status = far->class->queue->replay(far, recording);
done:
    if (recording) far->class->queue->forget(far, recording);
    if (mark) far->class->queue->unmark(far, mark);
    cull_backend_release(far, more);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_backend *far = NULL;
        cull_op      *rank = NULL, *gram = NULL;
        double       *a = NULL;

        assert_ok(cull_backend_open("far", 1, &far)); /* a fresh one has no room yet */
        rank = ready(far, CULL_OP_RANK);
        gram = ready(far, CULL_OP_GRAM);
        a = take(far, BYTES);
        fail_nth_alloc(n);
        status = one_of_each(far, a, rank, gram);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true(n > 4 || status == CULL_NO_MEMORY);
        assert_ok(cull_backend_wait(far));
        cull_backend_release(far, a);
        cull_op_destroy(rank);
        cull_op_destroy(gram);
        cull_backend_close(far);
    }
    for (size_t n = 1;; n++) {
        cull_backend *far = NULL;

        fail_nth_alloc(n);
        status = cull_backend_open("far", 1, &far);
        fail_nth_alloc(0);
        cull_backend_close(far);
        if (!alloc_has_failed()) break;
        assert_int_equal(CULL_NO_MEMORY, status);
    }
    assert_ok(status);
}

/* ---- marks and recordings ---- */

static void marks_tell_the_time_between_them(void **state)
{
    cull_backend           *far = *state;
    const cull_queue_class *queue = far->class->queue;
    cull_mark              *from = NULL, *to = NULL, *again = NULL;
    double                  seconds = -1, whole = -1;
    double                 *a = take(far, (size_t)1 << 20);

    assert_ok(queue->mark(far, &from));
    assert_ok(cull_backend_fill(far, a, 1, (size_t)1 << 20));
    assert_ok(queue->mark(far, &to));
    assert_ok(queue->elapsed(far, from, to, &seconds));
    assert_true(seconds > 0 && seconds < 10);
    again = to;
    assert_ok(queue->mark(far, &again)); /* the same one, passed again */
    assert_ptr_equal(again, to);
    assert_ok(queue->elapsed(far, from, to, &whole));
    assert_true(whole > seconds);
    queue->unmark(far, from);
    queue->unmark(far, to);
    cull_backend_release(far, a);
}

struct step {
    cull_moment *moment;
    double      *x, *percentile, *keys;
    uint32_t    *index;
    cull_op     *rank, *draw, *top;
};

/* What depends on a moment: its numbers among those that are ranked and drawn from. */
static void ask_for_a_step(cull_backend *far, const struct step *s)
{
    cull_key key = cull_key_make(5, "far");

    assert_ok(cull_backend_copy(far, s->x + 7, &s->moment->rate, sizeof(double)));
    assert_ok(cull_op_run(s->rank, &(cull_op_args){.rank = {N, s->x, s->percentile}}));
    assert_ok(
        cull_op_run(s->draw, &(cull_op_args){.keys = {N, key, 3, NULL, s->percentile, s->keys}}));
    assert_ok(cull_op_run(s->top, &(cull_op_args){.top = {N, 10, s->keys, false, s->index}}));
    assert_ok(cull_backend_copy(far, s->x, s->keys + 50, 5 * sizeof(double)));
}

static void read_step(cull_backend *far, const struct step *s, double keys[N], uint32_t index[10])
{
    assert_ok(cull_backend_download(far, keys, s->keys, BYTES));
    assert_ok(cull_backend_download(far, index, s->index, 10 * sizeof *index));
}

static struct step make_step(cull_backend *far)
{
    double      x[N];
    struct step s = {.rank = ready(far, CULL_OP_RANK),
                     .draw = ready(far, CULL_OP_KEYS),
                     .top = ready(far, CULL_OP_TOP)};

    for (int i = 0; i < N; i++) x[i] = random_normal(2, (uint64_t)i);
    s.moment = take(far, sizeof *s.moment);
    s.x = put(far, x, BYTES);
    s.percentile = take(far, BYTES);
    s.keys = take(far, BYTES);
    s.index = take(far, 10 * sizeof *s.index);
    return s;
}

static void drop_step(cull_backend *far, struct step *s)
{
    cull_backend_release(far, s->moment);
    cull_backend_release(far, s->x);
    cull_backend_release(far, s->percentile);
    cull_backend_release(far, s->keys);
    cull_backend_release(far, s->index);
    cull_op_destroy(s->rank);
    cull_op_destroy(s->draw);
    cull_op_destroy(s->top);
}

static void a_recorded_step_done_again_gives_what_running_it_gives(void **state)
{
    cull_backend   *far = *state;
    struct step     plain = make_step(far), kept = make_step(far);
    cull_recording *recording = NULL;
    double          want[N], got[N], before[N] = {0};
    uint32_t        want_index[10], got_index[10];
    size_t          allocations = 0;

    assert_true(cull_backend_records(far));
    assert_ok(far->class->queue->record(far));
    ask_for_a_step(far, &kept);
    assert_ok(far->class->queue->recorded(far, &recording));
    assert_bytes(far, kept.keys, 0, BYTES); /* nothing was done */
    for (uint64_t i = 0; i < 5; i++) {
        cull_moment moment = {.step = i, .rate = i % 2 ? -9 : 9};

        assert_ok(cull_backend_upload(far, plain.moment, &moment, sizeof moment));
        assert_ok(cull_backend_upload(far, kept.moment, &moment, sizeof moment));
        ask_for_a_step(far, &plain);
        assert_ok(far->class->queue->replay(far, recording));
        read_step(far, &plain, want, want_index);
        read_step(far, &kept, got, got_index);
        assert_memory_equal(want, got, sizeof want);
        assert_memory_equal(want_index, got_index, sizeof want_index);
        assert_memory_not_equal(before, got, sizeof before);
        memcpy(before, got, sizeof before);
        if (i) assert_int_equal(allocations, cull_base_alloc_count());
        allocations = cull_base_alloc_count();
    }
    far->class->queue->forget(far, recording);
    drop_step(far, &plain);
    drop_step(far, &kept);
}

static void a_recording_reads_memory_as_it_is_when_done_again(void **state)
{
    cull_backend           *far = *state;
    const cull_queue_class *queue = far->class->queue;
    char                   *a = take(far, 256), *b = take(far, 256);
    cull_recording         *recording = NULL;
    cull_mark              *from = NULL, *to = NULL;
    double                  seconds = -1;

    assert_ok(queue->record(far));
    assert_ok(queue->mark(far, &from));
    assert_ok(cull_backend_copy(far, b, a, 256));
    assert_ok(queue->mark(far, &to));
    assert_ok(queue->recorded(far, &recording));
    assert_fails(CULL_BAD_ARGUMENT, "not passed", queue->elapsed(far, from, to, &seconds));
    assert_ok(cull_backend_fill(far, a, 7, 256));
    assert_ok(queue->replay(far, recording));
    assert_bytes(far, b, 7, 256);
    assert_ok(queue->elapsed(far, from, to, &seconds));
    assert_true(seconds >= 0);
    cull_backend_release(far, a);
    assert_ok(queue->replay(far, recording));
    assert_bytes(far, b, 0xff, 256); /* what is released is poison */
    queue->forget(far, recording);
    queue->unmark(far, from);
    queue->unmark(far, to);
    cull_backend_release(far, b);
}

/* ---- threads ---- */

struct worker {
    cull_backend *far;
    cull_op      *rank;
    double       *x, *percentile, got[N];
    pthread_t     thread;
};

static void *rank_often(void *argument)
{
    struct worker *w = argument;

    for (int i = 0; i < 200; i++) {
        double x[N];

        for (int j = 0; j < N; j++) x[j] = (double)(j * (i + 1) % N);
        if (cull_backend_upload(w->far, w->x, x, BYTES) != CULL_OK ||
            cull_op_run(w->rank, &(cull_op_args){.rank = {N, w->x, w->percentile}}) != CULL_OK ||
            cull_backend_download(w->far, w->got, w->percentile, BYTES) != CULL_OK)
            return w;
    }
    return NULL;
}

static void two_threads_are_served(void **state)
{
    cull_backend *far = *state;
    struct worker w[2];

    for (int i = 0; i < 2; i++) {
        w[i] = (struct worker){.far = far,
                               .rank = ready(far, CULL_OP_RANK),
                               .x = take(far, BYTES),
                               .percentile = take(far, BYTES)};
        assert_int_equal(0, pthread_create(&w[i].thread, NULL, rank_often, &w[i]));
    }
    for (int i = 0; i < 2; i++) {
        void *failed = NULL;

        assert_int_equal(0, pthread_join(w[i].thread, &failed));
        assert_null(failed);
        for (int j = 0; j < N; j++) assert_true(w[i].got[j] == w[0].got[j]);
        cull_backend_release(far, w[i].x);
        cull_backend_release(far, w[i].percentile);
        cull_op_destroy(w[i].rank);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_read_descriptors_at_the_call_and_arrays_when_they_run),
        cmocka_unit_test(a_failure_is_told_once_and_drops_what_follows),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(marks_tell_the_time_between_them),
        cmocka_unit_test(a_recorded_step_done_again_gives_what_running_it_gives),
        cmocka_unit_test(a_recording_reads_memory_as_it_is_when_done_again),
        cmocka_unit_test(two_threads_are_served),
    };
    return cmocka_run_group_tests(tests, open_far, close_far);
}
