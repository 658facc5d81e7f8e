/*
 * tests/ops/test_choose_there.c - whole decisions on devices: what a strategy chooses there is what
 * it chooses on the host, bit for bit, from signals that lie there or here, and when it was
 * recorded and is done again. Those that match gradients are not among them: they come near.
 */
#include "every.h"

#include "ops/on_device.h"
#include "select/frame.h"

static cull_backend *host, *device[2];

static int open_all(void **state)
{
    static const char *const names[] = {"emu", "cuda"};

    for (size_t i = 0; i < 2; i++)
        if (is_tested(names[i])) (void)cull_backend_open(names[i], 1, &device[i]);
    return fill_target(state) || cull_backend_open("cpu", 1, &host) != CULL_OK;
}

static int close_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) cull_backend_close(device[i]);
    cull_backend_close(host);
    return 0;
}

/* Beside the defaults. */
static const struct {
    const char *name, *options;
} more[] = {
    {"random", "rounding=alternate keep=0.37"},
    {"top-loss stale", "predict=average"},
    {"top-loss stale", "predict=trend stale-every=3"},
    {"top-loss remembered", "scope=pool"},
    {"sb", "beta=balles"},
    {"sb", "beta=0 mode=scaled"},
    {"sb stale", "predict=trend"},
    {"sb remembered", "percentile=pool keep=0.3"},
    {"sb remembered", "trim=0.3 trim-weight=0.2"},
    {"sb remembered", "scope=pool percentile=pool trim=0.1"},
    {"rho", "keep=0.2"},
    {"sb-stream", "history=40 prime=true"},
    {"kath18", "score=gnorm-last variable=false"},
    {"kath18", "score=loss weights=unit"},
    {"infobatch", "r=0.8 delta=0.5"},
    {"adaptive-random", "period=2 warm=0.5"},
};

static bool matches_gradients(const char *name)
{
    static const char *const names[] = {"gradmatch", "divbs", "grad-match", "craig", "glister"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(name, names[i])) return true;
    return false;
}

static bool next(struct kind *kind, size_t *at, size_t *own)
{
    char name[32] = "";

    while (next_kind(kind, at))
        if (!matches_gradients(kind->name)) return true;
    if (*own >= sizeof more / sizeof *more) return false;
    (void)snprintf(kind->name, sizeof kind->name, "%s", more[*own].name);
    (void)snprintf(kind->options, sizeof kind->options, "%s", more[*own].options);
    memcpy(name, kind->name, strcspn(kind->name, " "));
    kind->strategy = cull_strategy_find(name);
    (*own)++;
    return true;
}

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
        uint64_t here = whole_run(&kind, host, NULL);

        for (size_t i = 0; i < 2; i++) {
            if (!device[i]) continue;
            if (here != whole_run(&kind, device[i], device[i]))
                fail_msg("%s %s: other subsets on %s", kind.name, kind.options,
                         device[i]->class->name);
            if (here != whole_run(&kind, device[i], NULL))
                fail_msg("%s %s: other subsets of the host's signals on %s", kind.name,
                         kind.options, device[i]->class->name);
        }
    }
}

/* A selector that somebody owns the steps of, in whose words. */
struct owned {
    cull_backend  *backend;
    cull_selector *selector;
    cull_moment   *moment;
    cull_trouble  *trouble;
    cull_subset    subset;
};

static void own(struct owned *o, const struct kind *kind)
{
    uint64_t mix = 1;

    o->selector = open_kind(kind, o->backend);
    for (uint64_t now = 0; now < STEPS + 1; now++)
        assert_ok(take_step_at(o->backend, kind, o->selector, now, &o->subset, &mix));
    assert_ok(cull_backend_allocate(o->backend, 1, sizeof *o->moment, "a test", &o->moment));
    assert_ok(cull_backend_allocate(o->backend, 1, sizeof *o->trouble, "a test", &o->trouble));
    cull_sel_trouble(o->selector, o->trouble);
    cull_sel_moment(o->selector, o->moment);
}

static void disown(struct owned *o)
{
    cull_subset_clear(&o->subset);
    cull_selector_destroy(o->selector);
    cull_backend_release(o->backend, o->moment);
    cull_backend_release(o->backend, o->trouble);
}

static void set_moment(const struct owned *o, uint64_t step)
{
    cull_moment moment = {.step = step, .epoch = 1};

    assert_ok(cull_backend_upload(o->backend, o->moment, &moment, sizeof moment));
}

static uint64_t digest_of(const struct owned *o)
{
    cull_subset here = bring_subset(&o->subset);
    uint64_t    mix = digest(1, &here);

    cull_subset_clear(&here);
    return mix;
}

/* Of one step's signals, recorded; then at other steps, of which the moment block alone tells. */
static void record_and_replay(cull_backend *backend, const struct kind *kind)
{
    static struct seen      s;
    const cull_queue_class *queue = backend->class->queue;
    struct owned            o = {.backend = backend};
    struct there            there = {.backend = backend};
    cull_selector          *here = open_kind(kind, host);
    cull_recording         *recording = NULL;
    cull_subset             subset = {0};
    cull_signals            on_host, on_device;
    uint64_t                mix = 1;

    for (uint64_t now = 0; now < STEPS + 1; now++)
        assert_ok(take_step_at(NULL, kind, here, now, &subset, &mix));
    own(&o, kind);
    for (size_t i = 0; i < BATCH; i++) s.place[i] = (uint32_t)(i * 5 % POOL);
    on_host = look(&s, BATCH, STEPS + 1, 1);
    on_device = put_signals(&there, on_host);
    set_moment(&o, STEPS + 1);
    assert_ok(cull_select(o.selector, &on_device, 0, &o.subset)); /* grows, and is warm */
    assert_ok(queue->record(backend));
    assert_ok(cull_select(o.selector, &on_device, 0, &o.subset));
    assert_ok(queue->recorded(backend, &recording));
    for (uint64_t now = STEPS + 1; now < STEPS + 4; now++) {
        on_host.step = now;
        assert_ok(cull_select(here, &on_host, 0, &subset));
        set_moment(&o, now);
        assert_ok(queue->replay(backend, recording));
        if (digest(1, &subset) != digest_of(&o))
            fail_msg("%s %s: done again on %s it is another", kind->name, kind->options,
                     backend->class->name);
    }
    queue->forget(backend, recording);
    cull_subset_clear(&subset);
    cull_selector_destroy(here);
    take_away(&there);
    disown(&o);
}

static void recorded_decisions_are_those_of_the_host(void **state)
{
    struct kind kind;
    size_t      tried = 0;

    (void)state;
    for (size_t at = 0, more_at = 0; next(&kind, &at, &more_at);)
        for (size_t i = 0; i < 2; i++) {
            cull_selector *selector = device[i] ? open_kind(&kind, device[i]) : NULL;
            cull_needs     needs = {0};

            if (!selector) continue;
            assert_ok(cull_selector_needs(selector, STEPS + 1, 1, &needs));
            if (cull_sel_records(selector) && needs.action == CULL_SELECT_BATCH &&
                needs.candidates == BATCH) {
                record_and_replay(device[i], &kind);
                tried++;
            }
            cull_selector_destroy(selector);
        }
    assert_true(tried >= 8 || !(device[0] || device[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_chooses_there_what_it_chooses_here),
        cmocka_unit_test(recorded_decisions_are_those_of_the_host),
    };
    open_or_skip();
    return cmocka_run_group_tests(tests, open_all, close_all);
}
