/* tests/unit/test_report_paper.c - a paper's page: what it refuses, what it leaves out, how it
 * fails. tests/report/test_papers.py holds every number on it against where it comes from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

#include "cull_lab.h"
#include "report/view.h"

enum { KINDS = CULL_DRAW_EXAMPLES + 1, ARMS = 5, LOOKS = 6 };

struct place {
    char              folder[64], output[128];
    char              name[ARMS][96];
    const char       *run[ARMS][1];
    cull_paper_arm    arm[ARMS];
    cull_paper_figure figure[KINDS];
    cull_paper        paper;
};

static const unsigned seed[] = {1};

/* A run that ends at this accuracy, in percent, after so many seconds. */
static void put_run(const char *folder, double accuracy, double seconds)
{
    char   info[900], lines[LOOKS * 400];
    size_t length = 0;

    (void)snprintf(info, sizeof info,
                   "{\"status\":\"finished\",\"seed\":1,\"test\":%.4f,\"accuracy\":%.4f,"
                   "\"best\":%.4f,\"scored\":100,\"trained\":80,\"thirds\":340,\"seconds\":%g,"
                   "\"seconds_by_phase\":{\"load\":%g,\"score\":%g,\"select\":0,\"learn\":%g,"
                   "\"optim\":0},\"joules_by_phase\":{\"load\":1,\"score\":1,\"select\":1,"
                   "\"learn\":%g,\"optim\":1}}",
                   accuracy / 100, accuracy / 100, accuracy / 100, seconds, .1 * seconds,
                   .2 * seconds, .7 * seconds, seconds);
    for (int i = 1; i <= LOOKS; i++)
        length += (size_t)snprintf(
            lines + length, sizeof lines - length,
            "{\"kind\":\"evaluate\",\"step\":%d,\"epoch\":%d,\"set\":\"test\",\"loss\":1,"
            "\"accuracy\":%.6f,\"scored\":%d,\"trained\":%d,\"thirds\":%d,\"updates\":%d,"
            "\"seconds_load\":%g,\"seconds_score\":%g,\"seconds_select\":0,\"seconds_learn\":%g,"
            "\"seconds_optim\":0}\n",
            i, i, accuracy / 100 * i / LOOKS, 16 * i, 13 * i, 50 * i, i, .1 * seconds * i / LOOKS,
            .2 * seconds * i / LOOKS, .7 * seconds * i / LOOKS);
    put_file(path_in(folder, "run.json"), info, strlen(info));
    put_file(path_in(folder, "metrics.jsonl"), lines, length);
}

static void put_beside(const char *folder)
{
    static const char points[] =
        "{\"kind\":\"point\",\"panel\":\"p\",\"series\":\"sb\",\"value\":\"v\",\"y\":1}\n"
        "{\"kind\":\"point\",\"panel\":\"p\",\"series\":\"full\",\"value\":\"w\",\"y\":2}\n"
        "{\"kind\":\"point\",\"panel\":\"q\",\"series\":\"sb\",\"x\":1,\"y\":1}\n"
        "{\"kind\":\"point\",\"panel\":\"q\",\"series\":\"sb\",\"x\":2,\"y\":3,\"low\":2,"
        "\"high\":4}\n";
    static const char probe[] =
        "{\"kind\":\"probe\",\"strategy\":\"sb\",\"keep\":0.3,\"error\":2.5,\"win\":true}\n";
    uint8_t     pixels[2 * 4 * 4] = {0};
    int32_t     whole[2] = {0, 1};
    double      loss[2] = {.1, 2};
    cull_tensor images = {.dtype = CULL_U8, .dims = 4, .shape = {2, 4, 4, 1}, .data = pixels};

    put_file(path_in(folder, "points.jsonl"), points, sizeof points - 1);
    put_file(path_in(folder, "probe.jsonl"), probe, sizeof probe - 1);
    assert_ok(cull_arrays_write(path_in(folder, "audit.npz"),
                                (cull_array[]){{"images", images},
                                               {"label", cull_vector(whole, CULL_I32, 2)},
                                               {"predicted", cull_vector(whole, CULL_I32, 2)},
                                               {"loss", cull_vector(loss, CULL_F64, 2)},
                                               {"kind", cull_vector(whole, CULL_I32, 2)},
                                               {"corrupted", cull_vector(whole, CULL_I32, 2)}},
                                6));
}

/* A figure of each kind, all of the same arms. */
static int set_up(void **state)
{
    static const char *const series[ARMS] = {"full", "random", "random", "sb", "sb"};
    static const double      x[ARMS] = {NAN, .1, .3, .1, .3};
    struct place            *p = calloc(1, sizeof *p);
    char                     command[128], name[16];

    assert_non_null(p);
    (void)snprintf(p->folder, sizeof p->folder, "%s", FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(p->folder));
    (void)snprintf(p->output, sizeof p->output, "%s", path_in(p->folder, "page.html"));
    for (int i = 0; i < ARMS; i++) {
        (void)snprintf(name, sizeof name, "run-%d", i);
        (void)snprintf(p->name[i], sizeof p->name[i], "%s", path_in(p->folder, name));
        (void)snprintf(command, sizeof command, "mkdir %s", p->name[i]);
        assert_int_equal(0, system(command));
        put_run(p->name[i], 90 - 2 * i, 100 - 20 * i);
        p->run[i][0] = p->name[i];
        p->arm[i] = (cull_paper_arm){series[i], "", x[i], "", i == 0, p->run[i], seed, 1};
    }
    put_beside(p->folder);
    for (int i = 0; i < KINDS; i++)
        p->figure[i] = (cull_paper_figure){.name = "made/fig",
                                           .number = "Figure 1",
                                           .title = "title",
                                           .claim = "claim",
                                           .drawing = (cull_drawing)i,
                                           .x = "",
                                           .y = "",
                                           .target = 1.2,
                                           .arm = p->arm,
                                           .arms = ARMS,
                                           .folder = p->folder,
                                           .runs = ARMS,
                                           .of = ARMS,
                                           .held = (cull_held)(i % 4),
                                           .finding = "finding",
                                           .scale = "scale",
                                           .missing = ""};
    p->paper = (cull_paper){"made", "A paper", "", p->figure, KINDS};
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    remove_folder(p->folder);
    free(p);
    return 0;
}

static cull_status draw(const struct place *p, const char *gnuplot, cull_report_result *result)
{
    cull_report_options options = {.output = p->output, .gnuplot = gnuplot};

    return cull_report_paper(&p->paper, &options, result);
}

/* The page as text; the caller frees it. */
static char *read_page(const struct place *p)
{
    void  *data = NULL;
    size_t bytes = 0;
    char  *text = NULL;

    assert_ok(cull_file_read(p->output, &data, &bytes));
    text = malloc(bytes + 1);
    assert_non_null(text);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    cull_bytes_release(data);
    return text;
}

static void without_gnuplot_a_page_has_its_tables(void **state)
{
    const struct place *p = *state;
    cull_report_result  result = {0};
    char               *text = NULL;

    assert_ok(draw(p, "/no", &result));
    assert_true(result.no_gnuplot && result.figures == 0 && result.undrawn >= 10);
    assert_int_equal(ARMS, result.runs);
    text = read_page(p);
    assert_non_null(strstr(text, "gnuplot is not installed"));
    assert_non_null(strstr(text, "Speed-up to errors"));
    assert_non_null(strstr(text, "Signed-rank tests between strategies"));
    assert_non_null(strstr(text, "Shares of the frontier"));
    assert_non_null(strstr(text, "data:image/png"));
    free(text);
}

/* Full training that begins as good as the target makes nobody look sooner. */
static void a_target_at_the_first_look_is_no_speed_up(void **state)
{
    static const char look[] =
        "{\"kind\":\"evaluate\",\"step\":1,\"epoch\":1,\"set\":\"test\",\"loss\":1,\"accuracy\":0."
        "9,"
        "\"scored\":16,\"trained\":13,\"thirds\":50,\"updates\":1,\"seconds_load\":1,"
        "\"seconds_score\":1,\"seconds_select\":0,\"seconds_learn\":1,\"seconds_optim\":0}\n";
    const struct place *p = *state;
    cull_report_result  result = {0};
    char               *text = NULL, *table = NULL, *ends = NULL;

    for (int turn = 0; turn < 2; turn++) {
        if (turn) put_file(path_in(p->name[0], "metrics.jsonl"), look, sizeof look - 1);
        assert_ok(draw(p, "/no", &result));
        text = read_page(p);
        table = strstr(text, "Speed-up to errors");
        assert_non_null(table);
        ends = strstr(table, "</table>");
        assert_non_null(ends);
        *ends = '\0';
        if (turn)
            assert_null(strstr(table, "×</span>"));
        else
            assert_non_null(strstr(table, "×</span>"));
        free(text);
    }
}

/* Nothing will come of it here: that is another sentence than that nothing is there yet. */
static void without_a_counter_the_figure_of_energy_says_so(void **state)
{
    static const char info[] =
        "{\"status\":\"finished\",\"seed\":1,\"test\":0.9,\"accuracy\":0.9,"
        "\"best\":0.9,\"scored\":100,\"trained\":80,\"thirds\":340,\"seconds\":9,"
        "\"seconds_by_phase\":{\"load\":1,\"score\":1,\"select\":0,\"learn\":7,\"optim\":0},"
        "\"joules_by_phase\":\"not available here: no counter\"}";
    const struct place *p = *state;
    cull_report_result  result = {0};
    char               *text = NULL;

    for (int i = 0; i < ARMS; i++) put_file(path_in(p->name[i], "run.json"), info, sizeof info - 1);
    assert_ok(draw(p, "/no", &result));
    text = read_page(p);
    assert_non_null(strstr(text, "Energy is not available here: no counter."));
    free(text);
}

/* A series keeps its style all over a page; a seventh does not come beside the first in its colour.
 */
static void series_of_one_figure_differ_in_colour(void **state)
{
    static const char *const series[] = {"sb",       "gradmatch", "kath18",
                                         "top-loss", "craig",     "glister"};
    cull_paper_arm           arm[2][6] = {{{.series = "sb"}}};
    cull_paper_figure        figure[2] = {{.arm = arm[0], .arms = 6}, {.arm = arm[1], .arms = 2}};
    cull_paper               paper = {.figure = figure, .figures = 2};
    cull_rep_names           names = {0};
    cull_rep_style           first, last;

    (void)state;
    for (int i = 0; i < 6; i++) arm[0][i].series = series[i];
    arm[1][0].series = "sb beta=3"; /* before, and beside, the first of all */
    arm[1][1].series = "sb";
    assert_ok(cull_rep_names_gather(&paper, &names));
    assert_int_equal(7, names.count);
    assert_ok(cull_rep_names_style(&names, "sb", 0, &first));
    assert_ok(cull_rep_names_style(&names, "sb beta=3", 0, &last));
    assert_int_not_equal(first.colour, last.colour);
    cull_rep_names_clear(&names);
}

static void a_run_that_is_damaged_is_named_once(void **state)
{
    const struct place *p = *state;
    cull_report_result  result = {0};
    char               *text = NULL, *first = NULL;

    put_file(path_in(p->name[4], "metrics.jsonl"), "{", 1);
    assert_ok(draw(p, "/no", &result));
    assert_int_equal(ARMS - 1, result.runs);
    assert_int_equal(1, result.problems);
    text = read_page(p);
    first = strstr(text, "run-4: ");
    assert_non_null(first);
    assert_null(strstr(first + 1, "run-4: "));
    free(text);
}

static void a_page_is_not_written_over_what_it_is_about(void **state)
{
    struct place       *p = *state;
    cull_report_result  result = {0};
    cull_report_options nowhere = {.output = NULL};

    (void)snprintf(p->output, sizeof p->output, "%s", path_in(p->name[2], "run.json"));
    assert_fails(CULL_BAD_ARGUMENT, "is what the page is about", draw(p, "/no", &result));
    (void)snprintf(p->output, sizeof p->output, "%s", path_in(p->folder, "points.jsonl"));
    assert_fails(CULL_BAD_ARGUMENT, "is what the page is about", draw(p, "/no", &result));
    assert_fails(CULL_BAD_ARGUMENT, "a file to write",
                 cull_report_paper(&p->paper, &nowhere, &result));
    assert_fails(CULL_BAD_ARGUMENT, "needs a paper", cull_report_paper(NULL, &nowhere, &result));
}

static void survives_every_allocation_failure(void **state)
{
    const struct place *p = *state;
    cull_status         status = CULL_NO_MEMORY;
    cull_report_result  result = {0};

    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = draw(p, "/no", &result);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true((status == CULL_OK) == (access(p->output, F_OK) == 0));
    }
    assert_false(alloc_has_failed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_gnuplot_a_page_has_its_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_target_at_the_first_look_is_no_speed_up, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_a_counter_the_figure_of_energy_says_so, set_up,
                                        tear_down),
        cmocka_unit_test(series_of_one_figure_differ_in_colour),
        cmocka_unit_test_setup_teardown(a_run_that_is_damaged_is_named_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_is_not_written_over_what_it_is_about, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(survives_every_allocation_failure, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
