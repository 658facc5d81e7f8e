/*
 * tests/unit/test_sized.c - public structs of callers who know them shorter or longer than the
 * library does.
 *
 * Every case makes one public call with one struct at `given`. Bytes that a shorter struct does not
 * have are 0xab: as a pointer, an enumeration or a share they would be refused or crash, and as
 * part of a result they must stay.
 */
// clang-format off
#include "policy_support.h"
#include "compare_support.h"
// clang-format on

#include <stdlib.h>
#include <string.h>

#include "base/sized.h"

enum { BEYOND = 64, ROOM = 4096, UNKNOWN = 0xab };

static struct {
    const char      *folder;
    cull_recipe     *recipe;
    cull_selector   *selector;
    cull_network    *network;
    cull_comparison *comparison;
    char             weights[256];
} with;

static float   pixels[4] = {1, 2, 3, 4};
static uint8_t classes[2] = {0, 1};

static cull_signals losses(void)
{
    return (cull_signals){.count = 4, .loss = cull_vector(pixels, CULL_F32, 4)};
}

static cull_examples two(void)
{
    return (cull_examples){.inputs = cull_matrix(pixels, CULL_F32, 2, 2),
                           .label = cull_vector(classes, CULL_U8, 2)};
}

/* ---- signals, subsets, selectors ---- */

static void fill_signals(void *s)
{
    *(cull_signals *)s = losses();
}

static cull_status select_by(void *s)
{
    cull_subset subset = {0};
    cull_status status = cull_select(with.selector, s, 2, &subset);

    cull_subset_clear(&subset);
    return status;
}

static cull_status observe(void *s)
{
    return cull_observe(with.selector, s);
}

static cull_status diagnose_signals(void *s)
{
    uint32_t       row = 0;
    double         weight = 1;
    cull_subset    subset = {.count = 1, .index = &row, .place = &row, .weight = &weight};
    cull_diagnosis diagnosis = {0};

    return cull_diagnose(NULL, s, &subset, &subset, &diagnosis);
}

static cull_status score(void *s)
{
    cull_examples examples = two();

    return cull_network_score(with.network, &examples, CULL_SIGNAL_LOSS, false, s);
}

static cull_status learn(void *s)
{
    cull_examples examples = two();

    return cull_network_learn(with.network, &examples, NULL, s);
}

static cull_status learn_kept(void *s)
{
    cull_examples examples = two();
    cull_signals  seen = {0};

    assert_ok(
        cull_network_score_as(with.network, &examples, 0, &(cull_scoring){.keep = true}, &seen));
    return cull_network_learn_kept(with.network, NULL, s);
}

static bool signals_of_two(const void *s)
{
    const cull_signals *signals = s;

    return signals->count == 2 && signals->loss.data && signals->loss.shape[0] == 2;
}

static cull_status select_into(void *s)
{
    cull_signals signals = losses();

    return cull_select(with.selector, &signals, 2, s);
}

static cull_status resize(void *s)
{
    return cull_subset_resize(s, 2);
}

static cull_status flush(void *s)
{
    return cull_flush(with.selector, s);
}

static bool subset_of_two(const void *s)
{
    const cull_subset *subset = s;

    return subset->count == 2 && subset->weight[1] == 1 && subset->picked == 2;
}

static void clear_subset(void *s)
{
    cull_subset_clear(s);
    assert_int_equal(0, ((cull_subset *)s)->room);
    assert_null(((cull_subset *)s)->index);
}

static void fill_subset(void *s)
{
    static uint32_t row[] = {0, 1}, group[] = {0, 0};
    static double   weight[] = {1, 2};

    *(cull_subset *)s =
        (cull_subset){.count = 2, .index = row, .place = row, .weight = weight, .group = group};
}

static cull_status learn_subset(void *s)
{
    cull_examples examples = two();

    return cull_network_look(with.network, &examples, s, NULL);
}

static cull_status learn_kept_subset(void *s)
{
    cull_examples examples = two();
    cull_signals  seen = {0};

    assert_ok(
        cull_network_score_as(with.network, &examples, 0, &(cull_scoring){.keep = true}, &seen));
    return cull_network_learn_kept(with.network, s, NULL);
}

static cull_status diagnose_subset(void *s)
{
    cull_signals   signals = losses();
    cull_diagnosis diagnosis = {0};

    return cull_diagnose(NULL, &signals, s, s, &diagnosis);
}

static cull_status diagnose(void *s)
{
    cull_signals signals = losses();
    cull_subset  subset = {0};

    fill_subset(&subset);
    return cull_diagnose(NULL, &signals, &subset, NULL, s);
}

static bool is_diagnosed(const void *s)
{
    return fabs(((const cull_diagnosis *)s)->effective - 9. / 5) < 1e-12;
}

static void clear_diagnosis(void *s)
{
    cull_diagnosis_clear(s);
    assert_true(((cull_diagnosis *)s)->effective == 0);
}

static void fill_setting(void *s)
{
    *(cull_setting *)s = (cull_setting){.pool = 4};
}

static cull_status create_selector(void *s)
{
    cull_selector *selector = NULL;
    cull_status    status = cull_selector_create("sb", NULL, 0, s, &selector);

    cull_selector_destroy(selector);
    return status;
}

static cull_status needs(void *s)
{
    return cull_selector_needs(with.selector, 0, 0, s);
}

static cull_status reads(void *s)
{
    return cull_selector_reads(with.selector, s);
}

static bool needs_losses(const void *s)
{
    return ((const cull_needs *)s)->signals == CULL_SIGNAL_LOSS &&
           ((const cull_needs *)s)->candidates == 4;
}

/* ---- solvers ---- */

static double   gram[] = {2, 0, 0, 1}, inner[] = {1, 3};
static uint32_t picks[4];
static double   weights[4];

static void fill_omp(void *s)
{
    *(cull_omp_problem *)s = (cull_omp_problem){.count = 2,
                                                .budget = 1,
                                                .k = cull_matrix(gram, CULL_F64, 2, 2),
                                                .t = inner,
                                                .index = picks,
                                                .weight = weights};
}

static cull_status omp(void *s)
{
    return cull_omp(NULL, s, 1, &(cull_omp_options){.tolerance = 1e-6});
}

static cull_status omp_options(void *s)
{
    cull_omp_problem problem;

    fill_omp(&problem);
    return cull_omp(NULL, &problem, 1, s);
}

static bool is_solved(const void *s)
{
    return ((const cull_omp_problem *)s)->picked == 1 && picks[0] == 1;
}

static void fill_facility(void *s)
{
    *(cull_facility_problem *)s =
        (cull_facility_problem){.count = 2,
                                .budget = 1,
                                .similarity = cull_matrix(gram, CULL_F64, 2, 2),
                                .index = picks,
                                .weight = weights};
}

static cull_status facility(void *s)
{
    return cull_facility(NULL, s, 1, NULL);
}

static cull_status facility_options(void *s)
{
    cull_facility_problem problem;

    fill_facility(&problem);
    return cull_facility(NULL, &problem, 1, s);
}

/* ---- data sets, models, networks ---- */

static cull_status list(void *s)
{
    return cull_data_list(NULL, 0, s) ? CULL_OK : CULL_BAD_ARGUMENT;
}

static bool is_named(const void *s)
{
    return ((const cull_data_listing *)s)->name && ((const cull_data_listing *)s)->doc;
}

static cull_status summarise(void *s)
{
    return cull_data_summarise(&(cull_data_request){.name = path_in(with.folder, "train.npz")}, s);
}

static char asked_for[256];

static void fill_request(void *s)
{
    (void)snprintf(asked_for, sizeof asked_for, "%s", path_in(with.folder, "train.npz"));
    *(cull_data_request *)s = (cull_data_request){.name = asked_for};
}

static cull_status request(void *s)
{
    cull_data_summary summary = {0};

    return cull_data_summarise(s, &summary);
}

static cull_status convert(void *s)
{
    const char *path = path_in(with.folder, "written.npz");
    cull_status status = CULL_OK;

    status =
        cull_data_convert(&(cull_data_request){.name = path_in(with.folder, "train.npz")}, path, s);
    (void)unlink(path);
    return status;
}

static bool is_summed_up(const void *s)
{
    return ((const cull_data_summary *)s)->count == COUNT;
}

static cull_status finish(cull_model *m, int x)
{
    cull_status status =
        cull_model_finish(m, cull_model_dense(m, x, "logits", &(cull_dense){.out = 2}));

    cull_model_destroy(m);
    return status;
}

static cull_model *images(void)
{
    cull_model *m = NULL;

    assert_ok(cull_model_create("sizes", 2, 6, 6, &m));
    return m;
}

static void fill_dense(void *s)
{
    *(cull_dense *)s = (cull_dense){.out = 3};
}

static cull_status dense(void *s)
{
    cull_model *m = images();

    return finish(m, cull_model_dense(m, cull_model_flatten(m, 0), "hidden", s));
}

static void fill_conv(void *s)
{
    *(cull_conv *)s = (cull_conv){.out = 3, .kernel = 3};
}

static cull_status conv(void *s)
{
    cull_model *m = images();

    return finish(m, cull_model_flatten(m, cull_model_conv(m, 0, "conv", s)));
}

static void fill_pool(void *s)
{
    *(cull_pool *)s = (cull_pool){.kernel = 2};
}

static cull_status pool(void *s)
{
    cull_model *m = images();

    return finish(m, cull_model_flatten(m, cull_model_pool(m, 0, s)));
}

static cull_status norm(void *s)
{
    cull_model *m = images();

    return finish(m, cull_model_flatten(m, cull_model_norm(m, 0, "norm", s)));
}

static void fill_named(void *s)
{
    *(cull_named *)s = (cull_named){.channels = 1, .height = 28, .width = 28, .classes = 10};
}

static cull_status named(void *s)
{
    cull_model *m = NULL;
    cull_status status = cull_model_named_with("lenet5", s, &m);

    cull_model_destroy(m);
    return status;
}

static void fill_examples(void *s)
{
    *(cull_examples *)s = two();
}

static cull_status score_examples(void *s)
{
    cull_signals seen = {0};

    return cull_network_score(with.network, s, CULL_SIGNAL_LOSS, false, &seen);
}

static cull_status learn_examples(void *s)
{
    return cull_network_learn(with.network, s, NULL, NULL);
}

static cull_status score_as(void *s)
{
    cull_examples examples = two();
    cull_signals  seen = {0};

    return cull_network_score_as(with.network, &examples, CULL_SIGNAL_LOSS, s, &seen);
}

/* ---- runs, comparisons, reports ---- */

static void look_at_news(void *context, const cull_run_news *news)
{
    assert_int_equal(sizeof *news, news->size);
    ++*(int *)context;
}

static cull_status run_in(const char *name, cull_run_options *options, cull_run_result *result)
{
    remove_folder(path_in(with.folder, name));
    options->folder = path_in(with.folder, name);
    return cull_train(with.recipe, options, result);
}

static cull_status run_options(void *s)
{
    cull_run_result result = {0};

    return run_in("again", s, &result);
}

static cull_status run_result(void *s)
{
    int              news = 0;
    cull_run_options options = {.tell = look_at_news, .context = &news};
    cull_status      status = run_in("again", &options, s);

    assert_true(status != CULL_OK || news > 2);
    return status;
}

static bool has_run(const void *s)
{
    return ((const cull_run_result *)s)->epoch == 1 &&
           ((const cull_run_result *)s)->trained == COUNT;
}

static cull_status evaluate(void *s)
{
    return cull_evaluate(with.recipe, with.weights, "test", s);
}

static cull_status choose_of_run(void *s)
{
    return cull_run_chosen(path_in(with.folder, "run"), 0, false, s);
}

static bool is_chosen(const void *s)
{
    return ((const cull_chosen *)s)->count > 0;
}

static void clear_chosen(void *s)
{
    cull_chosen_clear(s);
}

static bool is_evaluated(const void *s)
{
    return ((const cull_evaluation *)s)->count == COUNT && ((const cull_evaluation *)s)->loss > 0;
}

static void fill_compare(void *s)
{
    *(cull_compare_options *)s = options("sb,random");
}

static cull_status compare(void *s)
{
    cull_comparison *c = NULL;
    cull_status      status = cull_comparison_create(s, &c);

    cull_comparison_destroy(c);
    return status;
}

static cull_status measure(void *s)
{
    return cull_measure(with.recipe, 1e-3, s);
}

static bool is_measured(const void *s)
{
    return ((const cull_measured *)s)->pool == COUNT && ((const cull_measured *)s)->learn > 0;
}

static cull_status compare_run(void *s)
{
    return cull_comparison_run(with.comparison, 0, s) ? CULL_OK : CULL_BAD_ARGUMENT;
}

static bool is_planned(const void *s)
{
    return ((const cull_compare_run *)s)->seed == 1 && ((const cull_compare_run *)s)->name;
}

static void fill_report(void *s)
{
    static char output[128];

    (void)snprintf(output, sizeof output, "%s/page.html", with.folder);
    *(cull_report_options *)s = (cull_report_options){.output = output, .gnuplot = "/no/gnuplot"};
}

static cull_status report_options(void *s)
{
    const char        *folder = path_in(with.folder, "run");
    cull_report_result result = {0};

    return cull_report(&folder, 1, s, &result);
}

static cull_status report_result(void *s)
{
    const char         *folder = path_in(with.folder, "run");
    cull_report_options report = {0};

    fill_report(&report);
    return cull_report(&folder, 1, &report, s);
}

static bool is_reported(const void *s)
{
    return ((const cull_report_result *)s)->runs == 1;
}

/* ---- every struct ---- */

static void fill_nothing(void *s)
{
    (void)s;
}

static const struct sized {
    const char *name;
    size_t      here, shorter;
    void (*fill)(void *s);
    cull_status (*call)(void *s);
    bool (*holds)(const void *s); /* of results: what a shorter struct must hold, too */
    void (*clear)(void *s);
} cases[] = {
#define CASE(type, unknown) #type, sizeof(type), offsetof(type, unknown)
    {CASE(cull_signals, passes), fill_signals, select_by, NULL, NULL},
    {CASE(cull_signals, passes), fill_signals, observe, NULL, NULL},
    {CASE(cull_signals, passes), fill_signals, diagnose_signals, NULL, NULL},
    {CASE(cull_signals, passes), fill_nothing, score, signals_of_two, NULL},
    {CASE(cull_signals, passes), fill_nothing, learn, signals_of_two, NULL},
    {CASE(cull_signals, passes), fill_nothing, learn_kept, signals_of_two, NULL},
    {CASE(cull_subset, device), fill_nothing, select_into, subset_of_two, clear_subset},
    {CASE(cull_subset, device), fill_nothing, resize, subset_of_two, clear_subset},
    {CASE(cull_subset, device), fill_nothing, flush, NULL, clear_subset},
    {CASE(cull_subset, device), fill_subset, learn_subset, NULL, NULL},
    {CASE(cull_subset, device), fill_subset, learn_kept_subset, NULL, NULL},
    {CASE(cull_subset, device), fill_subset, diagnose_subset, NULL, NULL},
    {CASE(cull_diagnosis, available), fill_nothing, diagnose, is_diagnosed, clear_diagnosis},
    {CASE(cull_setting, backend), fill_setting, create_selector, NULL, NULL},
    {CASE(cull_needs, budget), fill_nothing, needs, needs_losses, NULL},
    {CASE(cull_needs, budget), fill_nothing, reads, needs_losses, NULL},
    {CASE(cull_omp_problem, stop), fill_omp, omp, is_solved, NULL},
    {CASE(cull_omp_options, pick), fill_nothing, omp_options, NULL, NULL},
    {CASE(cull_facility_problem, value), fill_facility, facility, NULL, NULL},
    {CASE(cull_facility_options, sample), fill_nothing, facility_options, NULL, NULL},
    {CASE(cull_data_listing, train), fill_nothing, list, is_named, NULL},
    {CASE(cull_data_request, target), fill_request, request, NULL, NULL},
    {CASE(cull_data_summary, fewest), fill_nothing, summarise, is_summed_up, NULL},
    {CASE(cull_data_conversion, tell), fill_nothing, convert, NULL, NULL},
    {CASE(cull_dense, init), fill_dense, dense, NULL, NULL},
    {CASE(cull_conv, init), fill_conv, conv, NULL, NULL},
    {CASE(cull_pool, width), fill_pool, pool, NULL, NULL},
    {CASE(cull_norm, epsilon), fill_nothing, norm, NULL, NULL},
    {CASE(cull_named, dropout), fill_named, named, NULL, NULL},
    {CASE(cull_examples, place), fill_examples, score_examples, NULL, NULL},
    {CASE(cull_examples, place), fill_examples, learn_examples, NULL, NULL},
    {CASE(cull_scoring, int8), fill_nothing, score_as, NULL, NULL},
    {CASE(cull_run_options, tell), fill_nothing, run_options, NULL, NULL},
    {CASE(cull_run_result, weights), fill_nothing, run_result, has_run, NULL},
    {CASE(cull_evaluation, seconds), fill_nothing, evaluate, is_evaluated, NULL},
    {CASE(cull_chosen, name), fill_nothing, choose_of_run, is_chosen, clear_chosen},
    {CASE(cull_compare_options, command), fill_compare, compare, NULL, NULL},
    {CASE(cull_measured, waited), fill_nothing, measure, is_measured, NULL},
    {CASE(cull_compare_run, seconds), fill_nothing, compare_run, is_planned, NULL},
    {CASE(cull_report_options, gnuplot), fill_report, report_options, NULL, NULL},
    {CASE(cull_report_result, why), fill_nothing, report_result, is_reported, NULL},
};

static void write_size(void *s, size_t size)
{
    memcpy(s, &size, sizeof size);
}

/* One call of a caller who takes the struct for `size` bytes and `beyond` for what it is not. */
static void call(const struct sized *c, size_t size, size_t known, int beyond)
{
    _Alignas(max_align_t) unsigned char s[ROOM] = {0};
    size_t                              kept = 0;

    c->fill(s);
    memset(s + known, beyond, sizeof s - known);
    write_size(s, size);
    if (c->call(s) != CULL_OK) fail_msg("%s of %zu bytes: %s", c->name, size, cull_last_error());
    if (c->holds && !c->holds(s)) fail_msg("%s of %zu bytes holds something else", c->name, size);
    for (int cleared = 0; cleared < 2; cleared++) {
        memcpy(&kept, s, sizeof kept);
        if (size) assert_int_equal(size, kept);
        for (size_t i = known; i < sizeof s; i++) assert_int_equal(beyond, s[i]);
        if (c->clear) c->clear(s);
    }
}

static void refuse(const struct sized *c, size_t size, size_t at)
{
    _Alignas(max_align_t) unsigned char s[ROOM] = {0};

    c->fill(s);
    s[at] = 1;
    write_size(s, size);
    assert_fails(CULL_BAD_ARGUMENT, c->name, c->call(s));
    assert_int_equal(1, s[at]);
}

static int set_up(void **state)
{
    struct world   *w = NULL;
    cull_run_result run = {0};
    cull_option     keep = {"keep", "0.5"};
    cull_model     *model = NULL;

    if (make_world(state)) return 1;
    w = *state;
    with.folder = w->folder;
    with.recipe = recipe_of(w, "train.epochs=1 data.workers=0 augment.crop=0 augment.flip=false");
    assert_ok(
        cull_train(with.recipe, &(cull_run_options){.folder = path_in(w->folder, "run")}, &run));
    (void)snprintf(with.weights, sizeof with.weights, "%s/run/%s", w->folder, run.weights);
    assert_ok(
        cull_selector_create("top-loss", &keep, 1, &(cull_setting){.pool = 4}, &with.selector));
    assert_ok(cull_model_create("small", 2, 1, 1, &model));
    assert_ok(
        cull_model_finish(model, cull_model_dense(model, 0, "logits", &(cull_dense){.out = 2})));
    assert_ok(cull_network_create(model, NULL, NULL, 0, &with.network));
    cull_model_destroy(model);
    with.comparison = begin("sb,random", path_in(w->folder, "comparison"));
    return 0;
}

static int tear_down(void **state)
{
    cull_comparison_destroy(with.comparison);
    cull_network_destroy(with.network);
    cull_selector_destroy(with.selector);
    cull_recipe_close(with.recipe);
    return remove_world(state);
}

static void structs_are_read_and_written_as_far_as_both_sides_know(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sized *c = &cases[i];

        call(c, 0, c->here, UNKNOWN);
        call(c, c->here, c->here, UNKNOWN);
        call(c, c->here + BEYOND, c->here, 0);
        call(c, c->shorter, c->shorter, UNKNOWN);
    }
}

static void what_is_asked_for_beyond_the_library_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuse(&cases[i], cases[i].here + BEYOND, cases[i].here);
        refuse(&cases[i], cases[i].here + BEYOND, cases[i].here + BEYOND - 1);
        refuse(&cases[i], sizeof(size_t) - 1, cases[i].here + BEYOND);
    }
}

static void arrays_step_by_the_size_of_their_first(void **state)
{
    static const size_t stride[] = {offsetof(cull_omp_problem, stop),
                                    sizeof(cull_omp_problem) + BEYOND};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        _Alignas(max_align_t) unsigned char all[ROOM] = {0};
        size_t copied = stride[k] < sizeof(cull_omp_problem) ? stride[k] : sizeof(cull_omp_problem);

        for (size_t i = 0; i < 3; i++) {
            cull_omp_problem one;

            fill_omp(&one);
            one.size = stride[k];
            one.index = picks + i;
            one.weight = weights + i;
            memcpy(all + i * stride[k], &one, copied);
        }
        memset(picks, UNKNOWN, sizeof picks);
        memset(all + 3 * stride[k], UNKNOWN, sizeof all - 3 * stride[k]);
        assert_ok(cull_omp(NULL, (cull_omp_problem *)(void *)all, 3,
                           &(cull_omp_options){.tolerance = 1e-6}));
        for (size_t i = 0; i < 3; i++) {
            size_t picked = 0;

            memcpy(&picked, all + i * stride[k] + offsetof(cull_omp_problem, picked),
                   sizeof picked);
            assert_int_equal(1, picked);
            assert_int_equal(1, picks[i]);
        }
        for (size_t i = 3 * stride[k]; i < sizeof all; i++) assert_int_equal(UNKNOWN, all[i]);
    }
}

static void measurements_of_another_size_make_the_same_plan(void **state)
{
    enum { STRIDE = sizeof(cull_measured) + 2 * sizeof(double) };
    cull_comparison *plain = make("sb,random"), *c = make("sb,random");

    (void)state;
    measure_all(plain);
    while (cull_comparison_unmeasured(c, 0)) {
        _Alignas(max_align_t) unsigned char all[64 * STRIDE] = {0};
        size_t                              count = 0;

        for (; cull_comparison_unmeasured(c, count); count++) {
            cull_measured m = measured(cull_comparison_unmeasured(c, count));

            m.size = STRIDE;
            memcpy(all + count * STRIDE, &m, sizeof m);
        }
        all[count * STRIDE - 1] = 1;
        assert_fails(CULL_BAD_ARGUMENT, "cull_measured",
                     cull_comparison_measured(c, (cull_measured *)(void *)all, count, 1));
        all[count * STRIDE - 1] = 0;
        assert_ok(cull_comparison_measured(c, (cull_measured *)(void *)all, count, 1));
    }
    assert_string_equal(cull_comparison_plan(plain), cull_comparison_plan(c));
    cull_comparison_destroy(plain);
    cull_comparison_destroy(c);
}

static cull_status solve_longer(void)
{
    _Alignas(max_align_t) unsigned char all[ROOM] = {0};

    fill_omp(all);
    write_size(all, sizeof(cull_omp_problem) + BEYOND);
    return omp(all);
}

static void failing_allocations_are_survived(void **state)
{
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = solve_longer();
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_are_read_and_written_as_far_as_both_sides_know),
        cmocka_unit_test(what_is_asked_for_beyond_the_library_is_refused),
        cmocka_unit_test(arrays_step_by_the_size_of_their_first),
        cmocka_unit_test(measurements_of_another_size_make_the_same_plan),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
