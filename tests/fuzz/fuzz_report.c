/* fuzz/fuzz_report.c - any bytes as comparison.json, run.json, metrics.jsonl or probe.jsonl: a page
 * that is whole and holds no markup of theirs, or a sentence. The first byte says which:
 * 0 metrics, 1 a comparison, 2 a run, 3 a probe. */
#include <stdlib.h>

#include "fuzz.h"
#include "report/page.h"

static void check_page(cull_rep_page *page)
{
    static const char end[] = "</html>\n";

    cull_rep_put_problems(page);
    cull_rep_page_end(page);
    if (page->html.status != CULL_OK) abort();
    if (strlen(page->html.data) != page->html.size) abort(); /* a zero inside */
    if (strcmp(page->html.data + page->html.size - strlen(end), end) != 0) abort();
    if (strstr(page->html.data, "<script") || strstr(page->html.data, "<x")) abort();
}

static void try_comparison(cull_rep_page *page, const uint8_t *data, size_t size)
{
    cull_rep_comparison c = {0};

    if (cull_records_comparison_decode("fuzz", data, size, &c.is) != CULL_OK ||
        cull_rep_comparison_dress("fuzz", &c, &page->problems) != CULL_OK) {
        if (cull_last_error()[0] == '\0') abort();
    } else {
        cull_rep_page_begin(page, c.is.title);
        if (cull_rep_gather_problems(page, &c) != CULL_OK) abort();
        if (cull_rep_put_comparison(page, &c) != CULL_OK) abort();
        check_page(page);
    }
    cull_rep_comparison_clear(&c);
}

static void try_run(cull_rep_page *page, const uint8_t *info, size_t info_size,
                    const uint8_t *lines, size_t size)
{
    cull_rep_single s = {.folder = "fuzz"};

    if (cull_records_run_decode(info, info_size, lines, size, &s.run.record) != CULL_OK) abort();
    if ((s.run.record.state == CULL_RECORDS_CORRUPT) != (s.run.record.why[0] != '\0') &&
        s.run.record.state != CULL_RECORDS_FAILED)
        abort();
    if (s.run.record.root) {
        cull_rep_page_begin(page, "fuzz");
        if (cull_rep_put_runs(page, &s, 1) != CULL_OK) abort();
        check_page(page);
    }
    cull_rep_single_clear(&s);
}

static void try_probe(cull_rep_page *page, const uint8_t *lines, size_t size)
{
    cull_rep_probed p = {.folder = "fuzz"};

    if (cull_records_probes_decode("fuzz", lines, size, &p.probes, &page->problems) != CULL_OK)
        abort();
    cull_rep_page_begin(page, "fuzz");
    if (cull_rep_put_probed(page, &p) != CULL_OK) abort();
    check_page(page);
    cull_records_probes_clear(&p.probes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t info[] = "{\"status\":\"finished\",\"test\":0.5,\"best\":0.5,\"scored\":0,"
                                  "\"trained\":1,\"thirds\":3}";
    cull_rep_page        page = {.gnuplot = "/no/gnuplot", .level = 1, .unable = true};

    if (size == 0) return 0;
    switch (data[0] % 4) {
    case 3: try_probe(&page, data + 1, size - 1); break;
    case 0: try_run(&page, info, sizeof info - 1, data + 1, size - 1); break;
    case 1: try_comparison(&page, data + 1, size - 1); break;
    default: try_run(&page, data + 1, size - 1, (const uint8_t *)"", 0); break;
    }
    cull_rep_page_clear(&page);
    return 0;
}
