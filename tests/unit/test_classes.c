/* tests/unit/test_classes.c - rows by class, and the pool cut into minibatches. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "select/classes.h"

enum { POOL = 103, BATCH = 10 };

static void every_row_is_in_its_class_once_and_ascending(void **state)
{
    const uint8_t    small[] = {2, 0, 2, 5, 0, 2};
    const int32_t    medium[] = {2, 0, 2, 5, 0, 2};
    const int64_t    large[] = {2, 0, 2, 5, 0, 2};
    const uint32_t   rows[] = {1, 4, 0, 2, 5, 3};
    const size_t     sizes[] = {2, 0, 3, 0, 0, 1, 0}, starts[] = {0, 2, 2, 5, 5, 5, 6, 6};
    cull_tensor      labels[] = {cull_vector(small, CULL_U8, 6), cull_vector(medium, CULL_I32, 6),
                                 cull_vector(large, CULL_I64, 6)};
    cull_sel_classes classes = {0};
    cull_kit         kit = {.backend = plain_backend()};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_ok(cull_sel_classes_make(&kit, labels + i, 6, 7, &classes));
        assert_int_equal(7, classes.count);
        assert_memory_equal(sizes, classes.size, sizeof sizes);
        assert_memory_equal(starts, classes.start, sizeof starts);
        assert_memory_equal(rows, classes.row, sizeof rows);
        cull_kit_clear(&kit);
    }
}

static void cut(cull_kit *kit, const uint32_t *place, uint64_t seed, uint64_t epoch,
                cull_sel_minibatches *out)
{
    cull_signals signals = {.count = POOL, .place = place, .epoch = epoch};

    assert_ok(cull_sel_minibatches_make(kit, &signals, BATCH, seed, out));
}

static void minibatches_are_whole_ascending_and_cover_the_pool(void **state)
{
    cull_kit             kit = {.backend = plain_backend()};
    cull_sel_minibatches cuts = {0};
    bool                 seen[POOL] = {false};

    (void)state;
    cut(&kit, NULL, 1, 0, &cuts);
    assert_int_equal(11, cuts.count);
    assert_int_equal(BATCH, cuts.batch);
    assert_int_equal(0, cuts.start[0]);
    for (size_t b = 0; b < cuts.count; b++) {
        assert_int_equal(b < 10 ? BATCH : 3, cuts.start[b + 1] - cuts.start[b]);
        for (size_t i = cuts.start[b]; i < cuts.start[b + 1]; i++) {
            assert_true(i == cuts.start[b] || cuts.row[i - 1] < cuts.row[i]);
            assert_false(seen[cuts.row[i]]);
            seen[cuts.row[i]] = true;
        }
    }
    cull_kit_clear(&kit);
}

static void seed_and_epoch_decide_the_cut(void **state)
{
    cull_kit             kit = {.backend = plain_backend()};
    cull_sel_minibatches cuts[4] = {{0}};

    (void)state;
    cut(&kit, NULL, 1, 0, cuts);
    cut(&kit, NULL, 1, 0, cuts + 1);
    cut(&kit, NULL, 2, 0, cuts + 2);
    cut(&kit, NULL, 1, 1, cuts + 3);
    assert_memory_equal(cuts[0].row, cuts[1].row, POOL * sizeof *cuts[0].row);
    assert_memory_not_equal(cuts[0].row, cuts[2].row, POOL * sizeof *cuts[0].row);
    assert_memory_not_equal(cuts[0].row, cuts[3].row, POOL * sizeof *cuts[0].row);
    cull_kit_clear(&kit);
}

/* Row i has place POOL-1-i: the same places share a minibatch. */
static void the_order_of_the_rows_does_not_change_the_cut(void **state)
{
    cull_kit             kit = {.backend = plain_backend()};
    cull_sel_minibatches straight = {0}, reversed = {0};
    uint32_t             place[POOL];

    (void)state;
    for (uint32_t i = 0; i < POOL; i++) place[i] = POOL - 1 - i;
    cut(&kit, NULL, 1, 0, &straight);
    cut(&kit, place, 1, 0, &reversed);
    for (size_t b = 0; b < straight.count; b++) {
        size_t first = straight.start[b], end = straight.start[b + 1];
        for (size_t i = first; i < end; i++)
            assert_int_equal(straight.row[i], place[reversed.row[first + end - 1 - i]]);
    }
    cull_kit_clear(&kit);
}

/* Over many cuts, any two rows meet about as often as chance has it. */
static void the_cut_is_a_fair_shuffle(void **state)
{
    cull_kit             kit = {.backend = plain_backend()};
    cull_sel_minibatches cuts = {0};
    size_t               together = 0, in_first = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        size_t at[2] = {0, 0};
        cut(&kit, NULL, seed, 0, &cuts);
        for (size_t i = 0; i < POOL; i++)
            if (cuts.row[i] < 2) at[cuts.row[i]] = i / BATCH;
        together += at[0] == at[1];
        in_first += at[0] == 0;
        cull_kit_clear(&kit);
    }
    /* expected 4000 (10*90 + 6) / (103*102) = 345 and 4000 * 10/103 = 388; four deviations */
    assert_in_range(together, 273, 417);
    assert_in_range(in_first, 313, 463);
}

static void as_many_are_nearest_as_the_budget_holds_rounded(void **state)
{
    cull_kit             kit = {.backend = plain_backend()};
    cull_sel_minibatches cuts = {0};

    (void)state;
    cut(&kit, NULL, 1, 0, &cuts);
    for (size_t budget = 0; budget <= 2 * POOL; budget++) {
        size_t want = (budget + BATCH / 2) / BATCH;

        want = want < 1 ? 1 : want > 11 ? 11 : want;
        assert_int_equal(want, cull_sel_minibatches_nearest(&cuts, budget));
    }
    cull_kit_clear(&kit);
}

static void picked_minibatches_come_out_whole_with_mean_weight_one(void **state)
{
    cull_kit             kit = {.backend = plain_backend()};
    cull_sel_minibatches cuts = {0};
    cull_subset          subset = {0};
    const uint32_t       index[] = {10, 0, 7};
    const double         weight[] = {4, 1, 2};
    /* 3 rows at 4, 10 at 2, 10 at 1: the mean is 42/23 */
    const double   scaled[] = {23.0 / 42, 2 * 23.0 / 42, 4 * 23.0 / 42};
    const uint32_t order[] = {0, 7, 10};
    double         sum = 0;

    (void)state;
    cut(&kit, NULL, 1, 0, &cuts);
    assert_ok(cull_sel_minibatches_take(&cuts, index, weight, 3, &subset));
    assert_int_equal(23, subset.count);
    assert_int_equal(23, subset.picked);
    assert_int_equal(3, subset.groups);
    for (size_t i = 0; i < 23; i++) {
        size_t g = i / 10;
        assert_int_equal(g, subset.group[i]);
        assert_int_equal(cuts.row[cuts.start[order[g]] + i % 10], subset.index[i]);
        assert_true(subset.weight[i] > 0.999999999 * scaled[g] &&
                    subset.weight[i] < 1.000000001 * scaled[g]);
        sum += subset.weight[i];
    }
    assert_true(sum > 22.999999999 && sum < 23.000000001);
    cull_subset_clear(&subset);
    cull_kit_clear(&kit);
}

static cull_status all(cull_subset *subset)
{
    cull_status          status = CULL_OK;
    const int32_t        label[] = {0, 1, 1};
    cull_tensor          labels = cull_vector(label, CULL_I32, 3);
    cull_signals         signals = {.count = 3};
    cull_sel_classes     classes = {0};
    cull_kit             kit = {.backend = plain_backend()};
    cull_sel_minibatches cuts = {0};

    TRY(cull_sel_classes_make(&kit, &labels, 3, 2, &classes));
    TRY(cull_sel_minibatches_make(&kit, &signals, 1, 1, &cuts));
    TRY(cull_sel_minibatches_take(&cuts, (const uint32_t[]){1, 0}, (const double[]){1, 1}, 2,
                                  subset));
done:
    assert_true(status == CULL_OK || !cuts.row || !subset->count);
    cull_kit_clear(&kit);
    return status;
}

static void every_failing_allocation_is_reported(void **state)
{
    cull_status status = CULL_NO_MEMORY;
    size_t      n = 1;

    (void)state;
    for (; status != CULL_OK; n++) {
        cull_subset subset = {0};
        fail_nth_alloc(n);
        status = all(&subset);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        cull_subset_clear(&subset);
    }
    assert_true(n > 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_in_its_class_once_and_ascending),
        cmocka_unit_test(minibatches_are_whole_ascending_and_cover_the_pool),
        cmocka_unit_test(seed_and_epoch_decide_the_cut),
        cmocka_unit_test(the_order_of_the_rows_does_not_change_the_cut),
        cmocka_unit_test(the_cut_is_a_fair_shuffle),
        cmocka_unit_test(as_many_are_nearest_as_the_budget_holds_rounded),
        cmocka_unit_test(picked_minibatches_come_out_whole_with_mean_weight_one),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
