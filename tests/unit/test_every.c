/* tests/unit/test_every.c - what holds for every built-in strategy, whatever its rule. */
#include "every.h"

#include <stdlib.h>

static cull_status take_step(const struct kind *kind, cull_selector *selector, uint64_t now,
                             cull_subset *subset, uint64_t *mix)
{
    return take_step_at(NULL, kind, selector, now, subset, mix);
}

static uint64_t run_all(const struct kind *kind, cull_selector *selector, uint64_t from)
{
    return run_at(NULL, kind, selector, from);
}

static void the_catalog_is_in_order_and_complete(void **state)
{
    static const char *const names[] = {"full",      "random",          "top-loss",    "sb",
                                        "sb-stream", "kath18",          "gradmatch",   "divbs",
                                        "rho",       "infobatch",       "grad-match",  "craig",
                                        "glister",   "adaptive-random", "fixed-random"};
    size_t                   count = sizeof names / sizeof *names;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const cull_strategy *strategy = cull_strategy_at(i);

        assert_non_null(strategy);
        assert_string_equal(names[i], strategy->name);
        assert_ptr_equal(strategy, cull_strategy_find(names[i]));
        assert_int_equal(CULL_STRATEGY_ABI, strategy->abi);
        assert_true(strlen(strategy->doc) > 10);
        assert_true((strategy->save == NULL) == (strategy->restore == NULL));
        for (size_t k = 0; cull_strategy_option_at(strategy, k); k++) {
            const cull_option_spec *spec = cull_strategy_option_at(strategy, k);

            assert_true(spec->fallback && spec->doc && strlen(spec->doc) > 5);
            for (size_t j = 0; j < k; j++)
                assert_string_not_equal(spec->key, cull_strategy_option_at(strategy, j)->key);
        }
    }
    assert_null(cull_strategy_at(count));
    assert_null(cull_strategy_find("nothing"));
    assert_null(cull_strategy_find(NULL));
}

static void any_thread_count_gives_the_same_subsets(void **state)
{
    struct kind kind;

    (void)state;
    for (size_t at = 0; next_kind(&kind, &at);) {
        static const unsigned threads[] = {1, 2, 4};
        uint64_t              mix[3] = {0};

        for (size_t t = 0; t < 3; t++) {
            cull_backend  *backend = NULL;
            cull_selector *selector = NULL;

            assert_ok(cull_backend_open("cpu", threads[t], &backend));
            selector = open_kind(&kind, backend);
            mix[t] = run_all(&kind, selector, 0);
            cull_selector_destroy(selector);
            cull_backend_close(backend);
        }
        if (mix[0] != mix[1] || mix[0] != mix[2]) fail_msg("%s: threads matter", kind.name);
    }
}

static void a_resumed_run_continues_bit_for_bit(void **state)
{
    struct kind kind;

    (void)state;
    for (size_t at = 0; next_kind(&kind, &at);) {
        for (uint64_t cut = 1; cut < STEPS * EPOCHS; cut += 2) {
            cull_selector *first = open_kind(&kind, NULL), *second = open_kind(&kind, NULL);
            cull_subset    subset = {0};
            uint64_t       mix = 1;
            void          *bytes = NULL, *again = NULL;
            size_t         size = 0, size_again = 0;

            for (uint64_t now = 0; now < cut; now++)
                assert_ok(take_step(&kind, first, now, &subset, &mix));
            assert_ok(cull_selector_save(first, &bytes, &size));
            /* Restored over another history, which must leave no trace. */
            for (uint64_t now = 0; now < 4; now++)
                assert_ok(take_step(&kind, second, now, &subset, &mix));
            assert_ok(cull_selector_restore(second, bytes, size));
            assert_ok(cull_selector_save(second, &again, &size_again));
            assert_int_equal(size, size_again);
            assert_memory_equal(bytes, again, size);
            if (run_all(&kind, first, cut) != run_all(&kind, second, cut))
                fail_msg("%s: resumed at step %d, the run is another", kind.name, (int)cut);
            cull_bytes_release(bytes);
            cull_bytes_release(again);
            cull_subset_clear(&subset);
            cull_selector_destroy(first);
            cull_selector_destroy(second);
        }
    }
}

static void damaged_and_foreign_states_are_refused_and_change_nothing(void **state)
{
    struct kind kind;

    (void)state;
    for (size_t at = 0; next_kind(&kind, &at);) {
        cull_setting   other = {.pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = 18};
        cull_selector *selector = open_kind(&kind, NULL);
        cull_selector *foreign = make_selector(kind.name, kind.options, &other);
        cull_subset    subset = {0};
        uint64_t       mix = 1;
        char          *bytes = NULL, *again = NULL;
        size_t         size = 0, size_again = 0;

        for (uint64_t now = 0; now < 5; now++)
            assert_ok(take_step(&kind, selector, now, &subset, &mix));
        assert_ok(cull_selector_save(selector, (void **)&bytes, &size));
        assert_fails(CULL_BAD_STATE, "another strategy",
                     cull_selector_restore(foreign, bytes, size));
        for (size_t i = 0; i < size; i += 1 + size / 40) {
            bytes[i] ^= 4;
            assert_int_equal(CULL_BAD_STATE, cull_selector_restore(selector, bytes, size));
            bytes[i] ^= 4;
            assert_int_equal(CULL_BAD_STATE, cull_selector_restore(selector, bytes, i));
        }
        assert_ok(cull_selector_save(selector, (void **)&again, &size_again));
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, again, size);
        cull_bytes_release(bytes);
        cull_bytes_release(again);
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
        cull_selector_destroy(foreign);
    }
}

/* Damage that its author signed: whatever a strategy restores, it must not trip over it. */
static void a_state_with_a_forged_hash_never_breaks_a_strategy(void **state)
{
    struct kind kind;

    (void)state;
    for (size_t at = 0; next_kind(&kind, &at);) {
        cull_selector *selector = open_kind(&kind, NULL);
        cull_subset    subset = {0};
        uint64_t       mix = 1, hash = 0;
        char          *bytes = NULL;
        size_t         size = 0;

        for (uint64_t now = 0; now < 5; now++)
            assert_ok(take_step(&kind, selector, now, &subset, &mix));
        assert_ok(cull_selector_save(selector, (void **)&bytes, &size));
        for (size_t i = 16; i + 8 < size; i += 1 + size / 200) {
            char before = bytes[i];

            bytes[i] = (char)(i % 3 ? ~before : before + 1);
            hash = cull_base_hash(bytes, size - 8);
            memcpy(bytes + size - 8, &hash, 8);
            cull_status status = cull_selector_restore(selector, bytes, size);
            assert_true(status == CULL_OK || status == CULL_BAD_STATE);
            for (uint64_t now = 5; now < 8; now++)
                assert_ok(take_step(&kind, selector, now, &subset, &mix));
            bytes[i] = before;
        }
        cull_bytes_release(bytes);
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
}

/* A whole small life; the status of the first call that fails. */
static cull_status live(const struct kind *kind)
{
    cull_status    status = CULL_OK;
    cull_setting   setting = {.pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = 17};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    void          *bytes = NULL;
    size_t         size = 0;
    uint64_t       mix = 1;

    TRY(try_selector(kind->name, kind->options, &setting, &selector));
    for (uint64_t now = 0; now < 4; now++) TRY(take_step(kind, selector, now, &subset, &mix));
    TRY(cull_selector_save(selector, &bytes, &size));
    TRY(cull_selector_restore(selector, bytes, size));
    TRY(take_step(kind, selector, 4, &subset, &mix));
    TRY(cull_flush(selector, &subset));
done:
    if (status != CULL_OK) assert_true(selector == NULL || subset.count <= POOL);
    cull_bytes_release(bytes);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    struct kind kind;

    (void)state;
    for (size_t at = 0; next_kind(&kind, &at);) {
        cull_status status = CULL_NO_MEMORY;

        for (size_t n = 1; status != CULL_OK; n++) {
            fail_nth_alloc(n);
            status = live(&kind);
            fail_nth_alloc(0);
            if (status != (alloc_has_failed() ? CULL_NO_MEMORY : CULL_OK))
                fail_msg("%s: allocation %d: %s", kind.name, (int)n, cull_last_error());
        }
    }
}

/* The call that failed is made again: the result and the history are those of a run in which
 * nothing ever failed. */
static void a_failed_select_leaves_the_history_as_it_was(void **state)
{
    struct kind kind;

    (void)state;
    for (size_t at = 0; next_kind(&kind, &at);) {
        bool failed = true;

        for (size_t n = 1; failed; n++) {
            cull_selector *selector = open_kind(&kind, NULL), *twin = open_kind(&kind, NULL);
            cull_subset    subset = {0}, other = {0};
            uint64_t       mix = 1, mix_twin = 1;
            void          *bytes[2] = {NULL, NULL};
            size_t         size[2] = {0};

            for (uint64_t now = 0; now < 4; now++)
                assert_ok(take_step(&kind, twin, now, &other, &mix_twin));
            fail_nth_alloc(n);
            for (uint64_t now = 0; now < 4; now++) {
                if (take_step(&kind, selector, now, &subset, &mix) != CULL_OK) {
                    assert_int_equal(0, subset.count);
                    fail_nth_alloc(0);
                    assert_ok(take_step(&kind, selector, now, &subset, &mix));
                }
            }
            fail_nth_alloc(0);
            failed = alloc_has_failed();
            if (mix != mix_twin) fail_msg("%s: allocation %d changed the run", kind.name, (int)n);
            assert_ok(cull_selector_save(selector, &bytes[0], &size[0]));
            assert_ok(cull_selector_save(twin, &bytes[1], &size[1]));
            assert_int_equal(size[0], size[1]);
            assert_memory_equal(bytes[0], bytes[1], size[0]);
            cull_bytes_release(bytes[0]);
            cull_bytes_release(bytes[1]);
            cull_subset_clear(&subset);
            cull_subset_clear(&other);
            cull_selector_destroy(selector);
            cull_selector_destroy(twin);
        }
    }
}

static cull_status select_some(const struct kind *kind, struct seen *s, size_t count,
                               cull_subset *subset)
{
    cull_selector *selector = open_kind(kind, NULL);
    cull_signals   signals = look(s, count, 0, 0);
    cull_status    status = CULL_OK;

    status = cull_select(selector, &signals, 0, subset);
    cull_selector_destroy(selector);
    return status;
}

static void one_example_is_a_choice(void **state)
{
    static struct seen s;
    struct kind        kind;
    cull_subset        subset = {0};

    (void)state;
    s.place[0] = 5;
    for (size_t at = 0; next_kind(&kind, &at);) {
        assert_ok(select_some(&kind, &s, 1, &subset));
        if (strncmp(kind.name, "sb-stream", 9) == 0) continue; /* it may wait for a batch */
        assert_int_equal(1, subset.count);
        assert_int_equal(0, subset.index[0]);
        assert_int_equal(5, subset.place[0]);
        assert_true(subset.weight[0] == 1);
    }
    cull_subset_clear(&subset);
}

/* All losses equal, all gradients zero: a defined choice with finite weights, twice the same. */
static void signals_that_say_nothing_still_give_a_subset(void **state)
{
    static struct seen s;
    struct kind        kind;

    (void)state;
    for (size_t i = 0; i < POOL; i++) s.place[i] = (uint32_t)i;
    for (size_t at = 0; next_kind(&kind, &at);) {
        cull_subset subset[2] = {{0}, {0}};

        for (size_t k = 0; k < 2; k++) {
            cull_selector *selector = open_kind(&kind, NULL);
            cull_signals   signals = look(&s, POOL, 0, 0);

            for (size_t i = 0; i < POOL; i++) s.loss[i] = s.irreducible[i] = 1;
            memset(s.h, 0, sizeof s.h);
            memset(s.p, 0, sizeof s.p);
            assert_ok(cull_select(selector, &signals, 0, &subset[k]));
            assert_sound(&kind, &subset[k], POOL);
            cull_selector_destroy(selector);
        }
        if (digest(1, &subset[0]) != digest(1, &subset[1])) fail_msg("%s differs", kind.name);
        if (!(kind.strategy->traits & CULL_NO_BUDGET)) assert_true(subset[0].count > 0);
        cull_subset_clear(&subset[0]);
        cull_subset_clear(&subset[1]);
    }
}

/* Every signal a strategy asks for is checked, and the example named. */
static void a_broken_number_is_an_error_that_names_its_example(void **state)
{
    static struct seen s;
    struct kind        kind;

    (void)state;
    for (size_t i = 0; i < POOL; i++) s.place[i] = (uint32_t)(POOL - 1 - i);
    for (size_t at = 0; next_kind(&kind, &at);) {
        for (int which = 0; which < 4; which++) {
            static const unsigned bit[] = {CULL_SIGNAL_LOSS, CULL_SIGNAL_H, CULL_SIGNAL_P,
                                           CULL_SIGNAL_IRREDUCIBLE};
            float *const          at_row9[] = {&s.loss[9], &s.h[9 * D + 2], &s.p[9 * C + 1],
                                               &s.irreducible[9]};
            cull_selector        *selector = open_kind(&kind, NULL);
            cull_subset           subset = {0};
            cull_needs            needs = {0};
            cull_signals          signals = look(&s, POOL, 0, 0);

            *at_row9[which] = which % 2 ? (float)INFINITY : (float)NAN;
            assert_ok(cull_selector_needs(selector, 0, 0, &needs));
            if (needs.signals & bit[which]) {
                assert_fails(CULL_NOT_FINITE, "example 9 (place 62) is not finite",
                             cull_select(selector, &signals, 0, &subset));
                assert_int_equal(0, subset.count);
            } else {
                assert_ok(cull_select(selector, &signals, 0, &subset));
            }
            cull_subset_clear(&subset);
            cull_selector_destroy(selector);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_catalog_is_in_order_and_complete),
        cmocka_unit_test(any_thread_count_gives_the_same_subsets),
        cmocka_unit_test(a_resumed_run_continues_bit_for_bit),
        cmocka_unit_test(damaged_and_foreign_states_are_refused_and_change_nothing),
        cmocka_unit_test(a_state_with_a_forged_hash_never_breaks_a_strategy),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_failed_select_leaves_the_history_as_it_was),
        cmocka_unit_test(one_example_is_a_choice),
        cmocka_unit_test(signals_that_say_nothing_still_give_a_subset),
        cmocka_unit_test(a_broken_number_is_an_error_that_names_its_example),
    };
    return cmocka_run_group_tests(tests, fill_target, NULL);
}
