/* tests/unit/test_group.c - a group of one, and that the interface serves two processes. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/group.h"
#include "support.h"

enum { PAIR = 2, MOST = 16 };

/* What one of two processes, joined by two pipes, has of them. */
struct pipes {
    int in, out;
};

static cull_status move_all(const struct pipes *p, bool send, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t done = send ? write(p->out, (char *)data + at, bytes - at)
                            : read(p->in, (char *)data + at, bytes - at);

        if (done <= 0) return cull_fail(CULL_IO, "the other process is gone");
        at += (size_t)done;
    }
    return CULL_OK;
}

/* Rank 0 speaks first, so that two long messages do not wait for each other. */
static cull_status pair_gather(const cull_group *g, const void *mine, size_t bytes, void *all)
{
    cull_status status = CULL_OK;
    char       *place = all;

    memcpy(place + g->rank * bytes, mine, bytes);
    for (size_t turn = 0; turn < PAIR; turn++)
        TRY(move_all(g->context, turn == g->rank, place + turn * bytes, bytes));
done:
    return status;
}

static cull_status pair_reduce(const cull_group *g, double *values, size_t count)
{
    cull_status status = CULL_OK;
    double      all[PAIR * MOST];

    assert_true(count <= MOST);
    TRY(pair_gather(g, values, count * sizeof *values, all));
    for (size_t i = 0; i < count; i++) values[i] = all[i] + all[count + i];
done:
    return status;
}

static cull_status pair_broadcast(const cull_group *g, size_t from, void *data, size_t bytes)
{
    return move_all(g->context, from == g->rank, data, bytes);
}

static bool same(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* What every member must see, whatever the group: true when all of it is so. */
static bool meets(const cull_group *g)
{
    double rank = (double)g->rank, n = (double)g->size;
    double values[] = {1, rank, 0.1 + rank},
           sums[] = {n, n * (n - 1) / 2, g->size == 1 ? .1 : .1 + 1.1};
    uint32_t mine[] = {7 + (uint32_t)g->rank, 9}, all[2 * PAIR] = {0};
    uint64_t word = 77;

    if (g->all_reduce(g, values, 3) != CULL_OK || !same(values, sums, 3)) return false;
    if (g->all_gather(g, mine, sizeof mine, all) != CULL_OK) return false;
    for (size_t r = 0; r < g->size; r++)
        if (all[2 * r] != 7 + r || all[2 * r + 1] != 9) return false;
    for (size_t from = 0; from < g->size; from++) {
        word = g->rank == from ? 3 + from : 0;
        if (g->broadcast(g, from, &word, sizeof word) != CULL_OK || word != 3 + from) return false;
    }
    return true;
}

static void one_process_has_what_all_have(void **state)
{
    double   values[] = {.5, -2};
    uint8_t  all[2] = {0};
    uint32_t word = 5;

    (void)state;
    assert_int_equal(0, cull_group_one.rank);
    assert_int_equal(1, cull_group_one.size);
    assert_true(meets(&cull_group_one));
    assert_ok(cull_group_one.all_reduce(&cull_group_one, values, 2));
    assert_true(values[0] == .5 && values[1] == -2);
    assert_ok(cull_group_one.all_gather(&cull_group_one, "ab", 2, all));
    assert_memory_equal("ab", all, 2);
    assert_ok(cull_group_one.all_gather(&cull_group_one, NULL, 0, NULL));
    assert_ok(cull_group_one.broadcast(&cull_group_one, 0, &word, sizeof word));
    assert_int_equal(5, word);
    assert_fails(CULL_BAD_ARGUMENT, "rank 1 of a group of 1",
                 cull_group_one.broadcast(&cull_group_one, 1, &word, sizeof word));
}

static cull_group pair_of(size_t rank, struct pipes *pipes)
{
    return (cull_group){.rank = rank,
                        .size = PAIR,
                        .context = pipes,
                        .all_reduce = pair_reduce,
                        .all_gather = pair_gather,
                        .broadcast = pair_broadcast};
}

static void two_processes_meet(void **state)
{
    int   down[2], up[2], end = 0;
    pid_t child = 0;

    (void)state;
    assert_int_equal(0, pipe(down));
    assert_int_equal(0, pipe(up));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct pipes pipes = {.in = down[0], .out = up[1]};
        cull_group   group = pair_of(1, &pipes);

        (void)close(down[1]);
        (void)close(up[0]);
        _exit(meets(&group) && meets(&group) ? 0 : 1);
    } else {
        struct pipes pipes = {.in = up[0], .out = down[1]};
        cull_group   group = pair_of(0, &pipes);
        double       lost = 1;

        (void)close(down[0]);
        (void)close(up[1]);
        assert_true(meets(&group) && meets(&group));
        assert_int_equal(child, waitpid(child, &end, 0));
        assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
        assert_fails(CULL_IO, "gone", group.broadcast(&group, 1, &lost, sizeof lost));
        (void)close(pipes.in);
        (void)close(pipes.out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_has_what_all_have),
        cmocka_unit_test(two_processes_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
