/*
 * tests/far/test_far_select.c - selection where the signals are: on `far` every strategy chooses
 * what it chooses on `ref`, bit for bit; those that need no host wait for nothing, so that their
 * decisions can be recorded.
 */
#include "every.h"

#include <stdlib.h>

#include "select/frame.h"

/* Beside the defaults. */
static const struct {
    const char *name, *options;
} more[] = {
    {"random", "rounding=alternate keep=0.37"},
    {"random", "mode=scaled keep=0.4 start=0.2 end=0.8 every=2"},
    {"top-loss", "keep=0.9"},
    {"top-loss stale", "predict=average"},
    {"top-loss stale", "predict=trend stale-every=3"},
    {"top-loss remembered", "scope=pool"},
    {"sb", "beta=balles"},
    {"sb", "beta=0 mode=scaled"},
    {"sb", "keep=1"},
    {"sb stale", "predict=trend"},
    {"sb remembered", "percentile=pool keep=0.3"},
    {"sb remembered", "trim=0.3 trim-weight=0.2"},
    {"sb remembered", "scope=pool percentile=pool trim=0.1"},
    {"rho", "keep=0.2"},
    {"sb-stream", "history=40 prime=true"},
    {"kath18", "score=gnorm-last variable=false"},
    {"kath18", "score=loss weights=unit"},
    {"gradmatch", "nonnegative=omp keep=0.25"},
    {"gradmatch", "ridge=0.5 pick=signed weights=solved"},
    {"gradmatch", "match=validation keep=0.8"},
    {"gradmatch", "match=validation nonnegative=omp weights=solved keep=0.9"},
    {"gradmatch", "short=accept keep=0.9"},
    {"gradmatch", "mode=scaled"},
    {"divbs", "match=validation keep=0.9"},
    {"divbs", "short=accept keep=0.9"},
    {"infobatch", "r=0.8 delta=0.5"},
    {"grad-match", "scope=all period=2"},
    {"grad-match", "scope=batch period=3 warm=0.3"},
    {"grad-match", "scope=class match=validation period=2"},
    {"craig", "period=2"},
    {"glister", "greedy=r-greedy r=3 period=2"},
    {"adaptive-random", "period=2 warm=0.5"},
};

/* Kinds of test_every, and then those above. */
static bool next(struct kind *kind, size_t *at, size_t *own)
{
    char name[32] = "";

    if (next_kind(kind, at)) return true;
    if (*own >= sizeof more / sizeof *more) return false;
    (void)snprintf(kind->name, sizeof kind->name, "%s", more[*own].name);
    (void)snprintf(kind->options, sizeof kind->options, "%s", more[*own].options);
    memcpy(name, kind->name, strcspn(kind->name, " "));
    kind->strategy = cull_strategy_find(name);
    (*own)++;
    return true;
}

static cull_backend *far_backend, *ref_backend;

static int open_both(void **state)
{
    return fill_target(state) || cull_backend_open("far", 1, &far_backend) != CULL_OK ||
           cull_backend_open("ref", 1, &ref_backend) != CULL_OK;
}

static int close_both(void **state)
{
    (void)state;
    cull_backend_close(far_backend);
    cull_backend_close(ref_backend);
    return 0;
}

/* ---- the same subsets ---- */

static uint64_t whole_run(const struct kind *kind, cull_backend *backend, cull_backend *where)
{
    cull_selector *selector = open_kind(kind, backend);
    uint64_t       mix = run_at(where, kind, selector, 0);

    cull_selector_destroy(selector);
    return mix;
}

static void every_strategy_chooses_there_what_it_chooses_here(void **state)
{
    struct kind kind;

    (void)state;
    for (size_t at = 0, own = 0; next(&kind, &at, &own);) {
        uint64_t here = whole_run(&kind, ref_backend, NULL);

        if (here != whole_run(&kind, far_backend, far_backend))
            fail_msg("%s %s: other subsets on far", kind.name, kind.options);
        if (here != whole_run(&kind, far_backend, NULL)) /* signals on the host, rule where it is */
            fail_msg("%s %s: other subsets of the host's signals", kind.name, kind.options);
    }
}

/* A state is the same bytes wherever it was kept, and a run may go on elsewhere. */
static void a_run_goes_on_where_another_began(void **state)
{
    struct kind kind;

    (void)state;
    for (size_t at = 0, own = 0; next(&kind, &at, &own);) {
        cull_selector *far = open_kind(&kind, far_backend), *ref = open_kind(&kind, ref_backend);
        cull_selector *on_far = open_kind(&kind, far_backend);
        cull_selector *on_ref = open_kind(&kind, ref_backend);
        cull_subset    there = {0}, here = {0};
        uint64_t       mix[2] = {1, 1}, last = 0;
        void          *bytes[2] = {NULL, NULL};
        size_t         size[2] = {0};

        for (uint64_t now = 0; now < 8; now++) {
            assert_ok(take_step_at(far_backend, &kind, far, now, &there, &mix[0]));
            assert_ok(take_step_at(NULL, &kind, ref, now, &here, &mix[1]));
        }
        assert_true(mix[0] == mix[1]);
        assert_ok(cull_selector_save(far, &bytes[0], &size[0]));
        assert_ok(cull_selector_save(ref, &bytes[1], &size[1]));
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        assert_ok(take_step_at(far_backend, &kind, on_far, 0, &there, &mix[0]));
        assert_ok(cull_selector_restore(on_far, bytes[1], size[1]));
        assert_ok(cull_selector_restore(on_ref, bytes[0], size[0]));
        last = run_at(far_backend, &kind, far, 8);
        if (last != run_at(NULL, &kind, ref, 8) || last != run_at(far_backend, &kind, on_far, 8) ||
            last != run_at(NULL, &kind, on_ref, 8))
            fail_msg("%s %s: resumed elsewhere, the run is another", kind.name, kind.options);
        cull_bytes_release(bytes[0]);
        cull_bytes_release(bytes[1]);
        cull_subset_clear(&there);
        cull_subset_clear(&here);
        cull_selector_destroy(far);
        cull_selector_destroy(ref);
        cull_selector_destroy(on_far);
        cull_selector_destroy(on_ref);
    }
}

/* ---- what is wrong ---- */

/* One broken number of each signal, of a place, of labels and of the target block. */
enum { FAULTS = 8 };

static void break_one(int fault, struct seen *s, uint32_t *place, float *target_number)
{
    if (fault == 0) s->loss[9] = NAN;
    if (fault == 1) s->h[9 * D + 2] = INFINITY;
    if (fault == 2) s->p[9 * C + 1] = -INFINITY;
    if (fault == 3) s->irreducible[9] = NAN;
    if (fault == 4) *place = POOL;
    if (fault == 5) s->label[11] = C;
    if (fault == 6) s->h[30 * D] = s->p[30 * C] = 1e38F; /* nothing is wrong with that yet */
    if (fault == 7) *target_number = NAN;
}

static void what_is_wrong_is_told_in_the_same_words(void **state)
{
    static struct seen s;
    struct kind        kind;
    size_t             told = 0;

    (void)state;
    for (size_t at = 0, own = 0; next(&kind, &at, &own);) {
        for (int fault = 0; fault < FAULTS; fault++) {
            cull_selector *far = open_kind(&kind, far_backend);
            cull_selector *ref = open_kind(&kind, ref_backend);
            struct there   there = {.backend = far_backend};
            cull_subset    on_far = {0}, on_ref = {0};
            float          before = target_h[7];
            cull_signals   signals;
            cull_status    status = CULL_OK;
            char           sentence[256] = "";

            for (size_t i = 0; i < POOL; i++) s.place[i] = (uint32_t)(POOL - 1 - i);
            signals = look(&s, POOL, 0, 0);
            break_one(fault, &s, &s.place[5], &target_h[7]);
            status = cull_select(ref, &signals, 0, &on_ref);
            if (status != CULL_OK) {
                (void)snprintf(sentence, sizeof sentence, "%s", cull_last_error());
                told++;
            }
            signals = put_signals(&there, signals);
            assert_int_equal(status, cull_select(far, &signals, 0, &on_far));
            if (status != CULL_OK) {
                assert_string_equal(sentence, cull_last_error());
                assert_int_equal(0, on_far.count);
            }
            target_h[7] = before;
            take_away(&there);
            cull_subset_clear(&on_far);
            cull_subset_clear(&on_ref);
            cull_selector_destroy(far);
            cull_selector_destroy(ref);
        }
    }
    assert_true(told > 100);
}

static void signals_from_a_third_place_are_refused(void **state)
{
    static struct seen s;
    cull_setting       setting = {.pool = POOL, .backend = far_backend};
    cull_selector     *selector = make_selector("sb", "", &setting);
    cull_subset        subset = {0};
    cull_signals       signals;

    (void)state;
    for (size_t i = 0; i < POOL; i++) s.place[i] = (uint32_t)i;
    signals = look(&s, POOL, 0, 0);
    signals.device = (cull_device){CULL_DEVICE_CUDA, 1};
    assert_fails(CULL_UNSUPPORTED, "the signals: on device cuda:1",
                 cull_select(selector, &signals, 0, &subset));
    signals.device = cull_backend_device(far_backend); /* but its losses say otherwise */
    assert_fails(CULL_UNSUPPORTED, "loss: on device host",
                 cull_select(selector, &signals, 0, &subset));
    cull_selector_destroy(selector);
}

/* ---- recorded decisions ---- */

/* A selector on far whose steps somebody owns, with a history of some steps. */
struct owned {
    cull_selector *selector;
    cull_moment   *moment;
    cull_trouble  *trouble;
    cull_subset    subset;
};

static void own(struct owned *o, const struct kind *kind, uint64_t steps)
{
    uint64_t mix = 1;

    *o = (struct owned){.selector = open_kind(kind, far_backend)};
    for (uint64_t now = 0; now < steps; now++)
        assert_ok(take_step_at(far_backend, kind, o->selector, now, &o->subset, &mix));
    assert_ok(cull_backend_allocate(far_backend, 1, sizeof *o->moment, "a test", &o->moment));
    assert_ok(cull_backend_allocate(far_backend, 1, sizeof *o->trouble, "a test", &o->trouble));
    cull_sel_trouble(o->selector, o->trouble);
    cull_sel_moment(o->selector, o->moment);
}

static void disown(struct owned *o)
{
    cull_subset_clear(&o->subset);
    cull_selector_destroy(o->selector);
    cull_backend_release(far_backend, o->moment);
    cull_backend_release(far_backend, o->trouble);
}

static void set_moment(const struct owned *o, uint64_t step, uint64_t epoch)
{
    cull_moment moment = {.step = step, .epoch = epoch};

    assert_ok(cull_backend_upload(far_backend, o->moment, &moment, sizeof moment));
}

static cull_trouble trouble_of(const struct owned *o)
{
    cull_trouble trouble = {0};

    assert_ok(cull_backend_download(far_backend, &trouble, o->trouble, sizeof trouble));
    return trouble;
}

/* The signals of a moment, into the memory of another's. */
static void overwrite(const cull_signals *there, struct seen *s, const cull_signals *here)
{
    size_t n = here->count;

    assert_ok(cull_backend_upload(far_backend, (void *)(uintptr_t)there->place, s->place,
                                  n * sizeof *s->place));
    assert_ok(cull_backend_upload(far_backend, there->loss.data, s->loss, n * sizeof *s->loss));
    assert_ok(cull_backend_upload(far_backend, there->p.data, s->p, n * C * sizeof *s->p));
    assert_ok(cull_backend_upload(far_backend, there->irreducible.data, s->irreducible,
                                  n * sizeof *s->irreducible));
}

/* A moment, and what the signals of it are. */
struct moment {
    uint64_t step, epoch;
};

static cull_signals see(struct seen *s, size_t count, struct moment at)
{
    for (size_t i = 0; i < count; i++) s->place[i] = (uint32_t)((i * 5 + at.step * 7) % POOL);
    return look(s, count, at.step, at.epoch);
}

/*
 * Recorded at one moment and done again at another, of two selectors with one history; the other
 * chooses there afresh. Far ends the process when a recording waits or downloads.
 */
static void record_and_replay(const struct kind *kind, size_t count, struct moment first,
                              struct moment second)
{
    static struct seen      s;
    const cull_queue_class *queue = far_backend->class->queue;
    struct owned            fresh, again;
    struct there            there = {.backend = far_backend};
    cull_recording         *recording = NULL;
    cull_signals            here = see(&s, count, first), on_far;
    cull_subset             a = {0}, b = {0};
    void                   *bytes[2] = {NULL, NULL};
    size_t                  size[2] = {0};

    own(&fresh, kind, first.step);
    own(&again, kind, first.step);
    on_far = put_signals(&there, here);
    set_moment(&fresh, first.step, first.epoch);
    set_moment(&again, first.step, first.epoch);
    assert_ok(cull_select(fresh.selector, &on_far, 0, &fresh.subset));
    assert_ok(cull_select(again.selector, &on_far, 0, &again.subset)); /* grows, and is warm */
    assert_ok(queue->record(far_backend));
    assert_ok(cull_select(again.selector, &on_far, 0, &again.subset));
    assert_ok(queue->recorded(far_backend, &recording));
    here = see(&s, count, second);
    overwrite(&on_far, &s, &here);
    set_moment(&again, second.step, second.epoch);
    assert_ok(queue->replay(far_backend, recording));
    on_far.step = second.step;
    on_far.epoch = second.epoch;
    set_moment(&fresh, second.step, second.epoch);
    assert_ok(cull_select(fresh.selector, &on_far, 0, &fresh.subset));
    assert_int_equal(CULL_WRONG_NOTHING, trouble_of(&again).what);
    assert_ok(cull_sel_subset_outcome(&fresh.subset));
    assert_ok(cull_sel_subset_outcome(&again.subset));
    a = bring_subset(&fresh.subset);
    b = bring_subset(&again.subset);
    if (digest(1, &a) != digest(1, &b))
        fail_msg("%s %s: done again it is another", kind->name, kind->options);
    assert_ok(cull_selector_save(fresh.selector, &bytes[0], &size[0]));
    assert_ok(cull_selector_save(again.selector, &bytes[1], &size[1]));
    assert_int_equal(size[0], size[1]);
    if (!cull_sel_over_pool(fresh.selector)) assert_memory_equal(bytes[0], bytes[1], size[0]);
    cull_bytes_release(bytes[0]);
    cull_bytes_release(bytes[1]);
    queue->forget(far_backend, recording);
    cull_subset_clear(&a);
    cull_subset_clear(&b);
    take_away(&there);
    disown(&fresh);
    disown(&again);
}

static void decisions_wait_for_nothing_and_are_done_again_at_other_moments(void **state)
{
    struct kind kind;
    size_t      tried = 0;

    (void)state;
    for (size_t at = 0, more_at = 0; next(&kind, &at, &more_at);) {
        /* The second step of an epoch: its first looks at the pool. */
        static const struct moment moments[][2] = {{{1, 0}, {2, 0}}, {{7, 2}, {8, 2}}};
        cull_selector             *selector = open_kind(&kind, far_backend);

        assert_true(cull_sel_records(selector) ==
                    (!(kind.strategy->traits & (CULL_HOST_SIGNALS | CULL_SEL_WAITS)) &&
                     !strstr(kind.options, "accept") &&
                     strcmp(kind.name, "kath18 remembered") != 0));
        for (size_t i = 0; i < 2 && cull_sel_records(selector); i++) {
            cull_needs needs = {0}, later = {0};

            assert_ok(
                cull_selector_needs(selector, moments[i][0].step, moments[i][0].epoch, &needs));
            assert_ok(
                cull_selector_needs(selector, moments[i][1].step, moments[i][1].epoch, &later));
            if (needs.action != CULL_SELECT_BATCH || later.action != needs.action) continue;
            if (needs.budget != later.budget) continue;
            record_and_replay(&kind, needs.candidates, moments[i][0], moments[i][1]);
            tried++;
        }
        cull_selector_destroy(selector);
    }
    assert_true(tried >= 40);
}

/* What is kept by epoch, and what runs once an epoch, knows of epochs by the moment alone. */
static void epochs_too_come_from_the_moment(void **state)
{
    static const struct {
        struct kind   kind;
        size_t        count;
        struct moment first, second;
    } cases[] = {
        {{NULL, "top-loss stale", "predict=trend stale-every=3"}, BATCH, {1, 0}, {9, 3}},
        {{NULL, "sb stale", "predict=trend stale-every=3"}, BATCH, {4, 1}, {7, 2}},
        {{NULL, "adaptive-random", "period=1"}, POOL, {3, 1}, {9, 3}},
        {{NULL, "fixed-random", ""}, POOL, {0, 0}, {9, 3}},
        {{NULL, "top-loss remembered", "scope=pool"}, POOL, {3, 1}, {6, 2}},
        {{NULL, "sb remembered", "scope=pool"}, POOL, {3, 1}, {6, 2}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kind kind = cases[i].kind;

        kind.strategy =
            cull_strategy_find("random"); /* of which only what it may repeat is asked */
        record_and_replay(&kind, cases[i].count, cases[i].first, cases[i].second);
    }
}

/* Late, but in the same words, and nothing of it is remembered. */
static void an_owner_reads_what_went_wrong_and_history_has_none_of_it(void **state)
{
    static const char *const names[] = {"top-loss", "sb stale", "rho", "gradmatch", "divbs"};
    static struct seen       s;

    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct kind  kind = {.strategy = cull_strategy_find("sb")};
        struct owned o;
        struct there there = {.backend = far_backend};
        cull_trouble trouble;
        cull_signals signals;
        void        *bytes[2] = {NULL, NULL};
        size_t       size[2] = {0};

        (void)snprintf(kind.name, sizeof kind.name, "%s", names[k]);
        own(&o, &kind, 0);
        set_moment(&o, 31, 0);
        for (size_t i = 0; i < BATCH; i++) s.place[i] = (uint32_t)(i + 20);
        signals = look(&s, BATCH, 31, 0);
        s.loss[9] = s.p[9 * C] = s.irreducible[9] = NAN;
        s.loss[12] = s.p[12 * C] = s.irreducible[12] = NAN; /* the first one counts */
        signals = put_signals(&there, signals);
        assert_ok(cull_selector_save(o.selector, &bytes[0], &size[0]));
        assert_ok(cull_select(o.selector, &signals, 0, &o.subset));
        trouble = trouble_of(&o);
        assert_int_equal(CULL_WRONG_SIGNAL, trouble.what);
        assert_int_equal(31, trouble.step);
        assert_int_equal(0, trouble.epoch);
        assert_fails(CULL_NOT_FINITE, "of example 9 (place 29) is not finite",
                     cull_sel_trouble_fail(&trouble, POOL));
        assert_ok(cull_selector_save(o.selector, &bytes[1], &size[1]));
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        cull_bytes_release(bytes[0]);
        cull_bytes_release(bytes[1]);
        take_away(&there);
        disown(&o);
    }
}

/* ---- memory ---- */

/* A small life with the host's signals, whose copies are the frame's. */
static cull_status live(const struct kind *kind)
{
    cull_status  status = CULL_OK;
    cull_setting setting = {
        .pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = 17, .backend = far_backend};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    void          *bytes = NULL;
    size_t         size = 0;
    uint64_t       mix = 1;

    TRY(try_selector(kind->name, kind->options, &setting, &selector));
    for (uint64_t now = 0; now < 4; now++)
        TRY(take_step_at(NULL, kind, selector, now, &subset, &mix));
    TRY(cull_selector_save(selector, &bytes, &size));
    TRY(cull_selector_restore(selector, bytes, size));
    TRY(take_step_at(NULL, kind, selector, 4, &subset, &mix));
    TRY(cull_flush(selector, &subset));
done:
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
            (void)cull_backend_wait(far_backend); /* which may have a failure to tell of */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_chooses_there_what_it_chooses_here),
        cmocka_unit_test(a_run_goes_on_where_another_began),
        cmocka_unit_test(what_is_wrong_is_told_in_the_same_words),
        cmocka_unit_test(signals_from_a_third_place_are_refused),
        cmocka_unit_test(decisions_wait_for_nothing_and_are_done_again_at_other_moments),
        cmocka_unit_test(epochs_too_come_from_the_moment),
        cmocka_unit_test(an_owner_reads_what_went_wrong_and_history_has_none_of_it),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
