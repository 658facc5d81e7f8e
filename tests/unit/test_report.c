/* tests/unit/test_report.c - what a report reads, what it makes safe, and how it fails. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "files.h"
#include "report/figure.h"
#include "report/picture.h"

#define HOSTILE "<script>alert(1)</script>&\\\"' \\u202e"

static const char comparison[] =
    "{\"version\":1,\"title\":\"T\",\"finished\":true,\"seeds\":[1,2],\"margin\":0.5,"
    "\"verdict\":\"Better by far.\",\"command\":\"cull compare a.yaml -o 'x <y>'\","
    "\"machine\":{\"cpu\":\"C\"},\"recipe\":{\"a\":1,\"b\":[1,2]},"
    "\"costs\":{\"rows\":[{\"what\":\"learn\",\"seconds\":0.5}]},\"arms\":["
    "{\"name\":\"full\",\"role\":\"full\",\"strategy\":\"full\",\"keep\":1,\"cost\":1,\"mean\":90,"
    "\"runs\":[{\"seed\":1,\"folder\":\"runs/full/seed-1\",\"status\":\"finished\",\"accuracy\":90,"
    "\"seconds\":{\"load\":1,\"score\":0,\"select\":0,\"learn\":8,\"optim\":1}}]},"
    "{\"name\":\"sb\",\"role\":\"arm\",\"strategy\":\"sb\",\"options\":{},\"keep\":0.3,"
    "\"pass\":\"separate\","
    "\"cost\":0.64,\"mean\":89.5,\"sd\":0.1,\"pareto\":true,"
    "\"runs\":[{\"seed\":1,\"folder\":\"runs/sb/seed-1\",\"status\":\"finished\",\"accuracy\":89,"
    "\"seconds\":{\"load\":1,\"score\":2,\"select\":0,\"learn\":3,\"optim\":0.5}},"
    "{\"seed\":2,\"folder\":\"../out\",\"status\":\"finished\",\"accuracy\":90},"
    "{\"seed\":3,\"folder\":\"runs/sb/seed-3\",\"status\":\"failed\",\"why\":\"diverged\"}],"
    "\"versus\":[{\"control\":\"u\",\"kind\":\"whole-budget\",\"difference\":0.4,\"low\":-0.1,"
    "\"high\":0.9,\"level\":0.95,\"p\":0.04,\"p_holm\":0.08,\"verdict\":\"undecided\","
    "\"more_seeds\":7}],\"to_error\":[{\"factor\":1.1,\"cost\":null}]}],"
    "\"problems\":[\"" HOSTILE "\",\"runs/sb/seed-30: odd\"]}";

static const char metrics[] =
    "{\"kind\":\"evaluate\",\"step\":5,\"epoch\":0.5,\"set\":\"test\",\"accuracy\":0.5,\"loss\":1,"
    "\"thirds\":30,"
    "\"seconds_load\":1,\"seconds_score\":1,\"seconds_select\":0,\"seconds_learn\":2,"
    "\"seconds_optim\":1}\n"
    "{\"kind\":\"evaluate\",\"step\":10,\"epoch\":1,\"set\":\"test\",\"accuracy\":0.9,\"loss\":"
    "null,"
    "\"thirds\":60}\n"
    "{\"kind\":\"epoch\",\"epoch\":1,\"accuracy\":0.8,\"loss\":0.7}\n";
static const char half_a_line[] = "{\"kind\":\"evaluate\",\"epoch\":1,\"se\n";
static const char probe[] =
    "{\"kind\":\"probe\",\"strategy\":\"sb\",\"keep\":0.3,\"error\":2.5,\"win\":true}\n";

static const char run[] = "{\"status\":\"finished\",\"seed\":1,\"model\":\"m\",\"strategy\":\"sb\","
                          "\"data\":{\"name\":\"d\",\"train\":4,\"validation\":0,\"dropped\":0,"
                          "\"copies\":0},\"epoch\":2,\"test\":0.9,\"accuracy\":0.9,\"best\":0.9,"
                          "\"scored\":0,\"trained\":8,\"thirds\":24}";

struct place {
    char folder[64];
};

static void put_text(const char *path, const char *text)
{
    put_file(path, text, strlen(text));
}

static cull_status report(const char *const *folders, size_t count, const char *output,
                          const char *gnuplot, cull_report_result *result)
{
    cull_report_options options = {.output = output, .gnuplot = gnuplot};

    return cull_report(folders, count, &options, result);
}

static void put_run(const char *folder)
{
    put_text(path_in(folder, "run.json"), run);
    put_text(path_in(folder, "metrics.jsonl"), metrics);
    put_text(path_in(folder, "probe.jsonl"), probe);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    char          command[256];
    int32_t       count[] = {0, 3, 1, 4};
    int64_t       dropped[1] = {0}, relabelled[] = {3, 1, 2, 1, 5, 5};

    assert_non_null(p);
    (void)snprintf(p->folder, sizeof p->folder, "%s", FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(p->folder));
    (void)snprintf(command, sizeof command,
                   "mkdir -p %s/c/runs/full/seed-1 %s/c/runs/sb/seed-1 %s/r", p->folder, p->folder,
                   p->folder);
    assert_int_equal(0, system(command));
    put_text(path_in(p->folder, "c/comparison.json"), comparison);
    put_run(path_in(p->folder, "c/runs/full/seed-1"));
    put_run(path_in(p->folder, "c/runs/sb/seed-1"));
    put_run(path_in(p->folder, "r"));
    put_text(path_in(p->folder, "r/recipe.yaml"), "a: <b>\n");
    assert_ok(cull_arrays_write(path_in(p->folder, "r/selection.npz"),
                                &(cull_array){"count", cull_vector(count, CULL_I32, 4)}, 1));
    assert_ok(
        cull_arrays_write(path_in(p->folder, "r/corruption.npz"),
                          (cull_array[]){{"dropped", cull_vector(dropped, CULL_I64, 0)},
                                         {"relabelled", cull_matrix(relabelled, CULL_I64, 2, 3)}},
                          2));
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

/* The page as text; the caller frees it. */
static char *read_page(const char *path)
{
    void  *data = NULL;
    size_t bytes = 0;
    char  *text = NULL;

    assert_ok(cull_file_read(path, &data, &bytes));
    text = malloc(bytes + 1);
    assert_non_null(text);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    cull_bytes_release(data);
    return text;
}

static void words_of_files_cannot_become_markup(void **state)
{
    cull_rep_text t = {0};

    (void)state;
    cull_rep_escape(&t, "<a href='x'>\"&\n\x01\xe2\x80\xae", 100);
    assert_string_equal("&lt;a href=&#39;x&#39;&gt;&quot;&amp;   ", t.data);
    cull_rep_text_clear(&t);
    cull_rep_escape(&t, "1\u2030 5\u2032\u200b\u2066\u061c\ufeff\u00ad.", 100);
    assert_string_equal("1\u2030 5\u2032     .", t.data);
    cull_rep_text_clear(&t);
    cull_rep_escape(&t, "abcdef", 3);
    assert_string_equal("abc…", t.data);
    cull_rep_text_clear(&t);
    cull_rep_escape(&t, "ä\xc3", 100); /* cut in the middle of a character */
    assert_string_equal("ä?", t.data);
    cull_rep_text_clear(&t);
    cull_rep_escape(&t, "\xed\xa0\x80\xc0\xaf\xf8", 100); /* a surrogate, a long form, no UTF-8 */
    assert_null(strpbrk(t.data, "\xed\xc0\xf8/"));
    cull_rep_text_clear(&t);
}

static void numbers_read_well(void **state)
{
    static const struct {
        double      value;
        int         digits;
        const char *plain, *with_sign;
    } cases[] = {{1.005, 1, "1.0", "+1.0"}, {-0.04, 1, "0.0", "0.0"}, {-2.5, 2, "−2.50", "−2.50"},
                 {NAN, 2, "–", "–"},        {INFINITY, 0, "–", "–"},  {0, 0, "0", "0"}};
    cull_rep_text t = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_rep_number(&t, cases[i].value, cases[i].digits);
        assert_string_equal(cases[i].plain, t.data);
        cull_rep_text_clear(&t);
        cull_rep_signed(&t, cases[i].value, cases[i].digits);
        assert_string_equal(cases[i].with_sign, t.data);
        cull_rep_text_clear(&t);
    }
    cull_rep_count(&t, 1234567);
    assert_string_equal("1,234,567", t.data);
    cull_rep_text_clear(&t);
}

static void short_times_are_no_zeros(void **state)
{
    static const struct {
        double      seconds;
        const char *words;
    } cases[] = {{123.456, "123.5"}, {10, "10.0"},         {5.236, "5.24"}, {0.25, "0.250"},
                 {0.0253, "0.0253"}, {0.00123, "0.00123"}, {0, "0.0"},      {NAN, "–"}};
    cull_rep_text t = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_rep_seconds(&t, cases[i].seconds);
        assert_string_equal(cases[i].words, t.data);
        cull_rep_text_clear(&t);
    }
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void a_picture_unpacks_to_its_pixels(void **state)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { HEIGHT = 5, WIDTH = 7, ROW = 3 * WIDTH };
    uint8_t       pixels[HEIGHT * ROW], file[2048], rows[HEIGHT * (ROW + 1)];
    uLongf        unpacked = sizeof rows;
    size_t        bytes = 0;
    const char   *at = NULL;
    cull_rep_text t = {0};

    (void)state;
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(256 * random_uniform(3, i));
    assert_ok(cull_rep_png(&t, pixels, HEIGHT, WIDTH, 3));
    at = strchr(t.data, ',') + 1;
    for (; *at && *at != '='; at += 4) {
        uint32_t four = 0;
        for (int j = 0; j < 4; j++)
            four = four << 6 | (at[j] == '=' ? 0u : (uint32_t)(strchr(letters, at[j]) - letters));
        for (int j = 2; j >= 0; j--) file[bytes++] = (uint8_t)(four >> (8 * j));
    }
    assert_memory_equal("\x89PNG\r\n\x1a\n", file, 8);
    assert_int_equal(WIDTH, get32(file + 16));
    assert_int_equal(HEIGHT, get32(file + 20));
    assert_int_equal(get32(file + 29), crc32(crc32(0, NULL, 0), file + 12, 17));
    assert_memory_equal("IDAT", file + 37, 4);
    assert_int_equal(Z_OK, uncompress(rows, &unpacked, file + 41, get32(file + 33)));
    assert_int_equal(sizeof rows, unpacked);
    for (size_t y = 0; y < HEIGHT; y++) {
        assert_int_equal(0, rows[y * (ROW + 1)]);
        assert_memory_equal(pixels + y * ROW, rows + y * (ROW + 1) + 1, ROW);
    }
    cull_rep_text_clear(&t);
}

static void a_comparison_is_read_as_it_was_written(void **state)
{
    const struct place        *p = *state;
    cull_rep_comparison        c = {0};
    cull_records_list          problems = {0};
    const cull_records_versus *v = NULL;
    const cull_records_curve  *curve = NULL;
    char                       lines[sizeof metrics + sizeof half_a_line];

    (void)snprintf(lines, sizeof lines, "%s%s", metrics, half_a_line);
    put_text(path_in(p->folder, "c/runs/sb/seed-1/metrics.jsonl"), lines);
    assert_ok(cull_rep_comparison_read(path_in(p->folder, "c"), &c, &problems));
    assert_int_equal(2, c.arms);
    assert_int_equal(2, c.is.seeds);
    assert_string_equal("Better by far.", c.is.verdict);
    assert_int_equal(3, c.arm[1].is->runs);
    assert_int_equal(2, c.arm[1].finished);
    assert_true(c.arm[1].low == 89 && c.arm[1].high == 90);
    assert_true(isnan(c.arm[1].is->run[1].seconds[0]) && isnan(c.arm[1].is->run[2].accuracy));
    v = cull_records_primary(c.arm[1].is);
    assert_non_null(v);
    assert_true(v->difference == 0.4 && v->more_seeds == 7 && isnan(v->wilcoxon));
    assert_true(c.arm[1].is->factor[0] == 1.1 && isnan(c.arm[1].is->to_error[0]));
    curve = &c.arm[0].run[0].record.curves.of[CULL_RECORDS_TEST];
    assert_int_equal(2, curve->count);
    assert_true(cull_records_spent(&curve->look[0].so_far) == 5);
    assert_int_equal(1, c.arm[0].run[0].probes.count);
    /* A broken last line, and a folder outside: neither is shown. */
    assert_int_equal(2, problems.count);
    assert_string_equal("runs/sb/seed-1: metrics.jsonl line 4 is no JSON; skipped",
                        problems.text[0]);
    assert_non_null(strstr(problems.text[1], "'../out' is no folder of this comparison"));
    assert_true(c.arm[0].run[0].there && !c.arm[1].run[0].there && !c.arm[1].run[1].there);
    assert_true(c.arm[0].style.colour == 1 && c.arm[1].style.colour == 2);
    cull_rep_comparison_clear(&c);
    cull_records_list_clear(&problems);
}

/* A comparison's file, as a page shows it. */
static cull_status read_text(const char *text, size_t bytes, cull_rep_comparison *c,
                             cull_records_list *problems)
{
    cull_status status = CULL_OK;

    TRY(cull_records_comparison_decode("x", text, bytes, &c->is));
    TRY(cull_rep_comparison_dress("x", c, problems));
done:
    return status;
}

static void what_is_no_comparison_is_refused_with_a_sentence(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {{"", "is no JSON"},
                 {"[1]", "no JSON object"},
                 {"{\"version\":1}", "no list of arms"},
                 {"{\"version\":2,\"arms\":[]}", "another version"},
                 {"{\"version\":1,\"arms\":[{\"name\":", "line 1 is no JSON"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_rep_comparison c = {0};
        cull_records_list   problems = {0};

        assert_fails(CULL_BAD_FILE, cases[i].sentence,
                     read_text(cases[i].text, strlen(cases[i].text), &c, &problems));
        cull_rep_comparison_clear(&c);
        cull_records_list_clear(&problems);
    }
}

static void every_cut_of_a_comparison_is_read_or_refused(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < sizeof comparison; bytes += 7) {
        cull_rep_comparison c = {0};
        cull_records_list   problems = {0};

        assert_int_equal(CULL_BAD_FILE, read_text(comparison, bytes, &c, &problems));
        cull_rep_comparison_clear(&c);
        cull_records_list_clear(&problems);
    }
}

static void an_audit_counts_what_was_picked(void **state)
{
    const struct place *p = *state;
    cull_records_picks  audit = {0};
    cull_records_run    record = {0};

    assert_ok(cull_records_run_read(path_in(p->folder, "r"), &record));
    assert_ok(cull_records_picks_read(path_in(p->folder, "r"), &record.info, &audit));
    assert_true(audit.there && audit.corruption);
    assert_int_equal(4, audit.examples);
    assert_int_equal(1, audit.never);
    assert_int_equal(4, audit.most);
    assert_int_equal(1, audit.median); /* of 0 1 3 4, the lower middle */
    /* Example 3 has a wrong label; that of example 1 was drawn again and came out the same. */
    assert_true(audit.base_rate == 0.25 && audit.picked_rate == 0.5);
    assert_true(audit.bin[0] == 1 && audit.bin[1] == 1 && audit.bin[2] == 0 && audit.bin[4] == 1);
    /* With examples split off, places are not those of the file: nothing is claimed. */
    record.info.data.validation = 1;
    audit = (cull_records_picks){0};
    assert_ok(cull_records_picks_read(path_in(p->folder, "r"), &record.info, &audit));
    assert_true(audit.there && !audit.corruption);
    cull_records_run_clear(&record);
}

static void an_origin_maps_places_to_the_file(void **state)
{
    const struct place *p = *state;
    int32_t             count[] = {5, 0, 0};
    int64_t             origin[] = {3, 7, 0};
    cull_records_picks  audit = {0};
    cull_records_info   info = {0};

    assert_ok(cull_arrays_write(path_in(p->folder, "r/selection.npz"),
                                (cull_array[]){{"count", cull_vector(count, CULL_I32, 3)},
                                               {"origin", cull_vector(origin, CULL_I64, 3)}},
                                2));
    assert_ok(cull_records_picks_read(path_in(p->folder, "r"), &info, &audit));
    assert_true(audit.corruption && audit.picked_rate == 1);
    assert_true(fabs(audit.base_rate - 1.0 / 3) < 1e-15);
}

static void all_copies_of_an_example_have_its_wrong_label(void **state)
{
    const struct place *p = *state;
    int32_t             count[] = {2, 1, 3, 4, 0, 0}, origin[] = {3, 7, 3, 7, 3, 1};
    cull_records_picks  audit = {0};
    cull_records_info   info = {0};

    assert_ok(cull_arrays_write(path_in(p->folder, "r/selection.npz"),
                                (cull_array[]){{"count", cull_vector(count, CULL_I32, 6)},
                                               {"origin", cull_vector(origin, CULL_I32, 6)}},
                                2));
    assert_ok(cull_records_picks_read(path_in(p->folder, "r"), &info, &audit));
    /* Three copies of example 3; that of example 1 was drawn again and came out the same. */
    assert_true(audit.corruption && audit.base_rate == 0.5 && audit.picked_rate == 0.5);
}

static void sentences_of_terminals_are_set_for_a_page(void **state)
{
    cull_rep_text t = {0};

    (void)state;
    cull_rep_sentence(&t, "-1 sb's 5 % <b> (-0.5 to -x) a-1 - 2", 100);
    assert_string_equal("−1 sb’s 5\u00a0% &lt;b&gt; (−0.5 to -x) a-1 - 2", t.data);
    cull_rep_text_clear(&t);
    cull_rep_sentence(&t, "12345", 3);
    assert_string_equal("123…", t.data);
    cull_rep_text_clear(&t);
}

static void columns_that_hold_nothing_are_left_out_and_tables_without_rows(void **state)
{
    static const cull_rep_column columns[] = {
        {"Name", NULL, true}, {"Known", "k", false}, {"Never", "n", false}, {"Once", "o", false}};
    cull_rep_page page = {.level = 1};

    (void)state;
    cull_rep_table_begin(&page, "T", columns, 4, true);
    cull_rep_table_end(&page);
    assert_null(page.html.data);
    cull_rep_table_begin(&page, "T", columns, 4, true);
    for (int i = 0; i < 2; i++) {
        if (i) cull_rep_row_class(&page, "advised");
        cull_rep_put(cull_rep_cell(&page), i ? "b" : "–"); /* the first column stays */
        cull_rep_number(cull_rep_cell(&page), i, 1);
        cull_rep_number(cull_rep_cell(&page), NAN, 1);
        if (i)
            cull_rep_put(cull_rep_cell(&page), "x");
        else
            (void)cull_rep_cell(&page);
    }
    cull_rep_table_end(&page);
    assert_non_null(
        strstr(page.html.data, ">Known</th><th scope=\"col\" role=\"columnheader\">Once"));
    assert_null(strstr(page.html.data, "Never"));
    assert_non_null(strstr(page.html.data, "<td class=\"n none\" role=\"cell\" data-label=\"Once\">"
                                           "<span></span></td></tr>\n<tr class=\"advised\""));
    assert_non_null(strstr(page.html.data, "<span>1.0</span></td>"));
    cull_rep_page_clear(&page);
}

static void figures_take_the_colours_of_the_page(void **state)
{
    static const char svg[] =
        "<?xml?><svg viewBox=\"0 0 1 1\"><title>Gnuplot</title><g id=\"gnuplot_canvas\"><defs>"
        "<circle id='gpDot'/></defs>"
        "<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" "
        "stroke-linecap=\"butt\" stroke-linejoin=\"miter\">\n</g>\n"
        "<path stroke='rgb(  1,   2,  16)' d='M0,0'/><path stroke='rgb(9,9,9)'/>"
        "<use xlink:href='#gpPt6' transform='translate(1,1) scale(5)' color='white'/>"
        "<use xlink:href='#gpPt5' transform='translate(1,1)' color='rgb(1,2,3)'/>"
        "<text fill=\"black\">~k0~</text><g id=\"gnuplot_plot_1\" ><title>$d0 using 1:2</title>"
        "</g></g>\n</svg>";
    cull_rep_figure f = {0};
    cull_rep_text   t = {0};

    (void)state;
    cull_rep_figure_begin(&f, "x", "y", 0);
    assert_int_equal(0, cull_rep_figure_label(&f, "<b>", true));
    (void)cull_rep_figure_plot(&f, "<b>");
    assert_ok(cull_rep_svg(&t, &f, "a \"picture\"", svg));
    assert_non_null(strstr(t.data, "aria-label=\"a &quot;picture&quot;\""));
    assert_non_null(strstr(t.data, "stroke='var(--k16)'"));
    assert_non_null(strstr(t.data, "rgb(9,9,9)"));
    assert_non_null(strstr(t.data, "<text fill=\"currentColor\">&lt;b&gt;</text>"));
    assert_non_null(strstr(t.data, "<title>&lt;b&gt;</title>"));
    assert_null(strstr(t.data, "gnuplot"));
    assert_null(strstr(t.data, "miter"));
    assert_null(strstr(t.data, "white")); /* nor what would hide marks behind it */
    assert_null(strstr(t.data, "gpPt6"));
    assert_non_null(
        strstr(t.data, "<use href='#gpPt5' transform='translate(1,1)' color='var(--k3)'/>"));
    cull_rep_text_clear(&t);
    assert_fails(CULL_BAD_FILE, "no picture", cull_rep_svg(&t, &f, "", "<svg></svg>"));
    cull_rep_text_clear(&t);
    cull_rep_figure_clear(&f);
}

/* A program that draws the same picture whatever it is asked. */
#define DRAWING                                                                                    \
    "#!/bin/sh\necho '<svg><g id=\"gnuplot_canvas\"><defs></defs><path d=\"M0,0\"/></g></svg>'\n"

static void put_program(const char *path, const char *script)
{
    put_text(path, script);
    assert_int_equal(0, chmod(path, 0755));
}

static void a_page_has_verdict_table_and_figures(void **state)
{
    const struct place *p = *state;
    const char         *folders[] = {path_in(p->folder, "c"), path_in(p->folder, "r")};
    const char         *program = path_in(p->folder, "draw");
    cull_report_result  result = {0};
    char                output[128];
    char               *page = NULL;

    (void)snprintf(output, sizeof output, "%s/page.html", p->folder);
    put_program(program, DRAWING);
    assert_ok(report(folders, 2, output, program, &result));
    assert_int_equal(1, result.comparisons);
    assert_int_equal(1, result.runs);
    assert_int_equal(0, result.undrawn);
    assert_true(result.figures >= 8);
    page = read_page(output);
    assert_non_null(strstr(page, "<p class=\"verdict\">What to do cannot be said yet: "));
    assert_non_null(strstr(page, "<b>Does selection pay?</b> Better by far.</p>"));
    assert_non_null(strstr(page, "undecided"));
    assert_non_null(strstr(page, "about 7 more seeds"));
    assert_non_null(strstr(page, "<code>cull compare a.yaml -o &#39;x &lt;y&gt;&#39;</code>"));
    assert_non_null(strstr(page, "diverged"));
    assert_non_null(strstr(page, "a: &lt;b&gt;"));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "http:"));
    assert_null(strstr(page, "https"));
    assert_non_null(strstr(page, "default-src 'none'"));
    free(page);
}

/* Counts in the latest line that tells them; those that cannot be are none. */
static void subsets_that_were_filled_up_are_told(void **state)
{
    static const char line[] =
        "{\"kind\":\"epoch\",\"epoch\":%d,\"loss\":1,\"accuracy\":0.5,\"subsets\":%d,"
        "\"subsets_filled\":%d,\"subsets_short\":0,\"subsets_fallback\":%d,\"filled\":%d}\n";
    const struct place *p = *state;
    char                comparisons[128], runs[128], output[128], lines[800];
    const char         *folders[] = {comparisons, runs};
    cull_report_result  result = {0};
    char               *page = NULL, *table = NULL;

    (void)snprintf(comparisons, sizeof comparisons, "%s/c", p->folder);
    (void)snprintf(runs, sizeof runs, "%s/r", p->folder);
    (void)snprintf(output, sizeof output, "%s/page.html", p->folder);
    assert_ok(report(folders, 2, output, "/no/gnuplot", &result));
    page = read_page(output);
    assert_null(strstr(page, "filled up"));
    free(page);

    for (int i = 0; i < 3; i++)
        (void)snprintf(lines + (i ? strlen(lines) : 0), 260, line, i + 1, 20 * (i + 1),
                       i == 2 ? 99 : 8 * (i + 1), i, 12 * (i + 1));
    put_text(path_in(p->folder, "r/metrics.jsonl"), lines);
    put_text(path_in(p->folder, "c/runs/sb/seed-1/metrics.jsonl"), lines);
    for (size_t k = 0; k < 2; k++) { /* in a comparison, and of a run */
        assert_ok(report(folders + k, 1, output, "/no/gnuplot", &result));
        page = read_page(output);
        table = strstr(page, "aria-label=\"What was filled up\"");
        assert_non_null(table);
        assert_non_null(strstr(table, ">40<"));
        assert_non_null(strstr(table, "16 <small>(40.0 %)"));
        assert_non_null(strstr(table, ">1.5<"));
        assert_non_null(strstr(table, "1 <small>(2.5 %)"));
        free(page);
    }
}

static void without_a_program_that_draws_the_page_says_so(void **state)
{
    const struct place *p = *state;
    const char         *folder = path_in(p->folder, "c"), *program = path_in(p->folder, "draw");
    cull_report_result  result = {0};
    char                output[128];
    char               *page = NULL;

    (void)snprintf(output, sizeof output, "%s/page.html", p->folder);
    assert_ok(report(&folder, 1, output, "/no/gnuplot", &result));
    assert_int_equal(0, result.figures);
    assert_true(result.undrawn >= 4);
    assert_string_equal("gnuplot is not installed", result.why);
    page = read_page(output);
    assert_non_null(strstr(page, "were not drawn: gnuplot is not installed"));
    assert_non_null(strstr(page, "Better by far."));
    free(page);

    put_program(program, "#!/bin/sh\necho 'line 7: <odd>' >&2\nexit 3\n");
    assert_ok(report(&folder, 1, output, program, &result));
    assert_non_null(strstr(result.why, "status 3: line 7"));
    put_program(program, "#!/bin/sh\necho nothing\n");
    assert_ok(report(&folder, 1, output, program, &result));
    assert_non_null(strstr(result.why, "no picture"));
}

static void one_figure_that_fails_leaves_the_others(void **state)
{
    const struct place *p = *state;
    const char         *folder = path_in(p->folder, "c"), *program = path_in(p->folder, "draw");
    cull_report_result  result = {0};
    char                output[128], script[512];

    (void)snprintf(output, sizeof output, "%s/page.html", p->folder);
    (void)snprintf(
        script, sizeof script,
        "#!/bin/sh\nif mkdir %s/once; then printf 'no  such\\n range\\n' >&2; exit 1; fi\n"
        "echo '<svg><g id=\"gnuplot_canvas\"><defs></defs></g></svg>'\n",
        p->folder);
    put_program(program, script);
    assert_ok(report(&folder, 1, output, program, &result));
    assert_int_equal(1, result.undrawn);
    assert_true(result.figures >= 3);
    assert_string_equal("gnuplot ended with status 1: no such range", result.why);
}

static void a_page_takes_no_place_of_what_it_is_about(void **state)
{
    const struct place *p = *state;
    const char         *folders[] = {path_in(p->folder, "r"), path_in(p->folder, "c/../r")};
    cull_report_result  result = {0};
    char                output[128];

    (void)snprintf(output, sizeof output, "%s/r/../r/metrics.jsonl", p->folder);
    assert_fails(CULL_BAD_ARGUMENT, "is what the page is about",
                 report(folders, 1, output, "/no", &result));
    (void)snprintf(output, sizeof output, "%s/r/page.html", p->folder);
    assert_ok(report(folders, 2, output, "/no", &result));
    assert_int_equal(1, result.runs); /* one folder under two names */
    assert_int_equal(0, result.skipped);
}

static void a_folder_with_a_probe_alone_is_reported(void **state)
{
    static const char lines[] =
        "{\"kind\":\"probe\",\"strategy\":\"random\",\"keep\":0.3,\"error\":2,\"full\":1}\n"
        "{\"kind\":\"probe\",\"strategy\":\"<x>\",\"keep\":0.3,\"error\":1,\"full\":1,"
        "\"cosine\":0.5,\"win\":true,\"kept\":4,\"corrupted\":1}\n"
        "{\"kind\":\"probe-arm\",\"strategy\":\"<x>\",\"keep\":0.3}\n";
    const struct place *p = *state;
    const char        *folder = path_in(p->folder, "c/runs"), *program = path_in(p->folder, "draw");
    cull_status        status = CULL_NO_MEMORY;
    cull_report_result result = {0};
    char               output[128];
    char              *page = NULL;

    (void)snprintf(output, sizeof output, "%s/page.html", p->folder);
    put_program(program, DRAWING);
    put_text(path_in(p->folder, "c/runs/probe.jsonl"), lines);
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = report(&folder, 1, output, "/no", &result);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    assert_ok(report(&folder, 1, output, program, &result));
    assert_int_equal(1, result.probes);
    assert_int_equal(0, result.runs + result.comparisons);
    assert_int_equal(1, result.figures);
    page = read_page(output);
    assert_non_null(
        strstr(page, "best is &lt;x&gt; at ρ = 0.3: a smaller error on 100 % of 1 minibatch.<"));
    assert_non_null(strstr(page, "25.0 % <small>(4.6 to 69.9)</small>")); /* Wilson's, 1 of 4 */
    free(page);
    put_text(path_in(p->folder, "c/runs/probe.jsonl"), "{\"kind\":\"probe-arm\"}\n");
    assert_fails(CULL_BAD_FILE, "no line is about a minibatch",
                 report(&folder, 1, output, program, &result));
}

/* An arm that keeps a share, of an accuracy that all have. */
#define ARM_WITH(name, strategy, options, keep, pass)                                              \
    "{\"name\":\"" name "\",\"role\":\"arm\",\"strategy\":\"" strategy "\",\"options\":{" options  \
    "},\"keep\":" keep ",\"pass\":\"" pass "\",\"mean\":90}"
#define ARM(name, strategy, keep, pass) ARM_WITH(name, strategy, "", keep, pass)
#define NORM                            "\"score.norm\":\"running\""
#define COMPARISON                      "{\"version\":1,\"arms\":["

static void decode(const char *text, cull_rep_comparison *c)
{
    cull_records_list problems = {0};

    assert_ok(read_text(text, strlen(text), c, &problems));
    assert_int_equal(0, problems.count);
}

/* What the program that draws is asked for accuracy against share; the caller frees it. */
static char *ask_for_keep(const struct place *p, const cull_rep_comparison *c)
{
    char          script[512];
    cull_rep_page page = {.gnuplot = path_in(p->folder, "draw")};

    (void)snprintf(script, sizeof script,
                   "#!/bin/sh\ncat > %s/asked\n"
                   "echo '<svg><g id=\"gnuplot_canvas\"><defs></defs></g></svg>'\n",
                   p->folder);
    put_program(page.gnuplot, script);
    assert_ok(cull_rep_draw_keep(&page, c));
    assert_int_equal(1, page.figures);
    cull_rep_text_clear(&page.html);
    return read_page(path_in(p->folder, "asked"));
}

static void arms_that_differ_in_options_alone_have_names_lines_and_styles_of_their_own(void **state)
{
    static const char *const arms[] = {
        COMPARISON,
        ARM("sb keep=0.25 separate", "sb", "0.25", "separate"),
        ",",
        ARM("sb keep=0.5 separate", "sb", "0.5", "separate"),
        ",",
        ARM_WITH("sb score.norm=running keep=0.25 separate", "sb", NORM, "0.25", "separate"),
        ",",
        ARM_WITH("sb score.norm=running keep=0.5 reuse", "sb", NORM, "0.5", "reuse"),
        ",",
        ARM_WITH("grad-match period=1 keep=0.5 separate", "grad-match", "\"period\":\"1\"", "0.5",
                 "separate"),
        "]}"};
    static const struct {
        const char *name, *row, *series;
    } expect[] = {{"sb 0.25", "sb 0.25", "sb"},
                  {"sb 0.5", "sb 0.5", "sb"},
                  {"sb score.norm=running 0.25", "sb score…=running 0.25", "sb score.norm=running"},
                  {"sb score.norm=running 0.5 reuse", "sb sco…nning 0.5 reuse",
                   "sb score.norm=running reuse"},
                  {"grad-match 0.5", "grad-match 0.5", "grad-match"}};
    cull_rep_comparison c = {0};
    char                name[CULL_REP_NAME], text[2048] = "";
    char               *asked = NULL;

    for (size_t i = 0; i < sizeof arms / sizeof *arms; i++) strcat(text, arms[i]);
    decode(text, &c);
    for (size_t i = 0; i < c.arms; i++) {
        cull_rep_arm_name(&c.arm[i], CULL_REP_NAME, name);
        assert_string_equal(expect[i].name, name);
        cull_rep_arm_name(&c.arm[i], CULL_REP_LABEL, name);
        assert_string_equal(expect[i].row, name);
        cull_rep_series_name(&c.arm[i], name);
        assert_string_equal(expect[i].series, name);
    }
    assert_int_equal(c.arm[0].style.colour, c.arm[1].style.colour);
    assert_int_equal(c.arm[2].style.colour, c.arm[3].style.colour);
    assert_int_not_equal(c.arm[0].style.colour, c.arm[2].style.colour);
    assert_int_not_equal(c.arm[0].style.marker, c.arm[2].style.marker);
    asked = ask_for_keep(*state, &c);
    assert_non_null(strstr(asked, "$d3 <<")); /* sb, sb with an option in two passes, grad-match */
    assert_null(strstr(asked, "$d4 <<"));
    free(asked);
    cull_rep_comparison_clear(&c);
}

static void comparisons_without_options_are_named(void **state)
{
    static const char   text[] = COMPARISON "{\"name\":\"sb\",\"role\":\"arm\"}]}";
    cull_rep_comparison c = {0};
    cull_records_list   problems = {0};

    (void)state;
    assert_ok(read_text(text, strlen(text), &c, &problems));
    assert_int_equal(1, c.is.problems.count);
    assert_non_null(strstr(c.is.problems.text[0], "x: sb says nothing of its options"));
    cull_records_list_clear(&problems);
    cull_rep_comparison_clear(&c);
}

/* By the trait of the strategy, or as the comparison says of a plug-in. */
static void uniform_choice_is_known_by_what_it_is(void **state)
{
    static const char text[] =
        COMPARISON    ARM("fixed-random", "fixed-random", "0.1", "none") "," ARM(
               "a", "not-random", "0.1", "none") ",{\"name\":\"b\",\"role\":\"arm\",\"strategy\":\"./"
                                              "b.so\",\"options\":{},\"uniform\":true}]}";
    cull_rep_comparison c = {0};

    (void)state;
    decode(text, &c);
    assert_true(cull_rep_is_uniform(&c.arm[0]) && !cull_rep_is_of_batches(&c.arm[0]));
    assert_false(cull_rep_is_uniform(&c.arm[1]));
    assert_true(cull_rep_is_uniform(&c.arm[2]));
    cull_rep_comparison_clear(&c);
}

static void uniform_choices_of_different_options_are_told_apart(void **state)
{
    static const char text[] =
        COMPARISON ARM("adaptive-random keep=0.1", "adaptive-random", "0.1", "none") "," ARM_WITH(
            "adaptive-random warm=0.5 keep=0.1", "adaptive-random", "\"warm\":\"0.5\"", "0.1",
            "none") "," ARM("random keep=0.1", "random", "0.1", "none") "]}";
    cull_rep_comparison c = {0};
    char                name[CULL_REP_NAME];

    (void)state;
    decode(text, &c);
    cull_rep_series_name(&c.arm[1], name);
    assert_string_equal("uniform (adaptive-random warm=0.5)", name);
    for (size_t i = 0; i < c.arms; i++) {
        assert_int_equal(0, c.arm[i].style.colour);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(c.arm[i].style.marker, c.arm[j].style.marker);
    }
    cull_rep_comparison_clear(&c);
}

static void uniform_sampling_alone_is_drawn_at_its_shares(void **state)
{
    static const char text[] = COMPARISON ARM("random keep=0.1", "random", "0.1", "none") "," ARM(
        "random keep=0.5", "random", "0.5", "none") "]}";
    cull_rep_comparison c = {0};
    char               *asked = NULL;

    decode(text, &c);
    asked = ask_for_keep(*state, &c);
    assert_non_null(strstr(asked, "$d0 << EOD\n10 90 90 90\n50 90 90 90\nEOD"));
    free(asked);
    cull_rep_comparison_clear(&c);
}

static void long_names_lose_their_middle(void **state)
{
    static const struct {
        const char *words;
        size_t      most, room;
        const char *expect;
    } cases[] = {{"abcdef", 6, 7, "abcdef"},      {"abcdef", 5, 99, "ab…ef"},
                 {"abcdef", 4, 99, "ab…f"},       {"abcdefghij", 99, 8, "ab…ij"},
                 {"äöüäöü", 5, 99, "äö…öü"},      {"äöüäöü", 99, 9, "ä…ü"},
                 {"\x80\x80\x80\x80", 9, 4, "…"}, {"", 5, 4, ""}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[100];

        cull_rep_shorten(cases[i].words, cases[i].most, out, cases[i].room);
        assert_string_equal(cases[i].expect, out);
    }
}

static void folders_that_cannot_be_read_are_named(void **state)
{
    const struct place *p = *state;
    const char         *folders[] = {path_in(p->folder, "r"), path_in(p->folder, "nothing")};
    cull_report_result  result = {0};
    char                output[128];
    char               *page = NULL;

    (void)snprintf(output, sizeof output, "%s/page.html", p->folder);
    assert_fails(CULL_IO, "nothing: No such file", report(folders + 1, 1, output, "/no", &result));
    assert_int_equal(-1, access(output, F_OK));
    assert_ok(report(folders, 2, output, "/no", &result));
    assert_int_equal(1, result.skipped);
    page = read_page(output);
    assert_non_null(strstr(page, "nothing: No such file"));
    free(page);
    assert_fails(CULL_BAD_ARGUMENT, "a folder to read", report(folders, 0, output, "/no", &result));
}

static void a_page_that_cannot_be_written_leaves_the_old_one(void **state)
{
    const struct place *p = *state;
    const char         *folder = path_in(p->folder, "r");
    cull_report_result  result = {0};
    char                output[128];

    (void)snprintf(output, sizeof output, "%s/none/page.html", p->folder);
    assert_fails(CULL_IO, "none/page.html", report(&folder, 1, output, "/no", &result));
    assert_fails(CULL_IO, "/dev/full", report(&folder, 1, "/dev/full", "/no", &result));
}

static void survives_every_allocation_failure(void **state)
{
    const struct place *p = *state;
    const char         *folders[] = {path_in(p->folder, "c"), path_in(p->folder, "r")};
    cull_status         status = CULL_NO_MEMORY;
    cull_report_result  result = {0};
    char                output[128];

    (void)snprintf(output, sizeof output, "%s/page.html", p->folder);
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = report(folders, 2, output, "/no", &result);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true((status == CULL_OK) == (access(output, F_OK) == 0));
    }
    assert_false(alloc_has_failed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_files_cannot_become_markup),
        cmocka_unit_test(numbers_read_well),
        cmocka_unit_test(short_times_are_no_zeros),
        cmocka_unit_test(a_picture_unpacks_to_its_pixels),
        cmocka_unit_test_setup_teardown(a_comparison_is_read_as_it_was_written, set_up, tear_down),
        cmocka_unit_test(what_is_no_comparison_is_refused_with_a_sentence),
        cmocka_unit_test(every_cut_of_a_comparison_is_read_or_refused),
        cmocka_unit_test_setup_teardown(an_audit_counts_what_was_picked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_origin_maps_places_to_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_copies_of_an_example_have_its_wrong_label, set_up,
                                        tear_down),
        cmocka_unit_test(sentences_of_terminals_are_set_for_a_page),
        cmocka_unit_test(columns_that_hold_nothing_are_left_out_and_tables_without_rows),
        cmocka_unit_test(figures_take_the_colours_of_the_page),
        cmocka_unit_test_setup_teardown(a_page_has_verdict_table_and_figures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(subsets_that_were_filled_up_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_program_that_draws_the_page_says_so, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_figure_that_fails_leaves_the_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_takes_no_place_of_what_it_is_about, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_folder_with_a_probe_alone_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            arms_that_differ_in_options_alone_have_names_lines_and_styles_of_their_own, set_up,
            tear_down),
        cmocka_unit_test(comparisons_without_options_are_named),
        cmocka_unit_test(uniform_choice_is_known_by_what_it_is),
        cmocka_unit_test(uniform_choices_of_different_options_are_told_apart),
        cmocka_unit_test_setup_teardown(uniform_sampling_alone_is_drawn_at_its_shares, set_up,
                                        tear_down),
        cmocka_unit_test(long_names_lose_their_middle),
        cmocka_unit_test_setup_teardown(folders_that_cannot_be_read_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_that_cannot_be_written_leaves_the_old_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(survives_every_allocation_failure, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
