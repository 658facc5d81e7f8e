/* report/report.c - the public call: folders in, one page out. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/sized.h"
#include "report/find.h"
#include "report/page.h"

enum { MOST_PROBLEMS = 200, MOST_WHY = 1000 };

/* Everything that was read. */
struct book {
    cull_rep_finds       finds;
    cull_rep_comparison *comparison;
    cull_rep_single     *single;
    cull_rep_probed     *probed;
    size_t               comparisons, singles, probes, skipped;
    cull_status          first;         /* why the first of those was skipped */
    char                 why[MOST_WHY]; /* in words                           */
};

static bool same_file(const char *a, const char *b)
{
    struct stat one = {0}, other = {0};

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

cull_status cull_rep_spare_source(const char *folder, const char *output)
{
    static const char *const names[] = {"comparison.json", "run.json",       "metrics.jsonl",
                                        "probe.jsonl",     "recipe.yaml",    "selection.npz",
                                        "audit.npz",       "corruption.npz", "points.jsonl"};
    cull_status              status = CULL_OK;
    char                     path[CULL_DATA_PATH];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cull_base_join(folder, names[i], path) == CULL_OK && same_file(path, output))
            FAIL(CULL_BAD_ARGUMENT, "%.300s: is what the page is about; give it another name",
                 output);
done:
    return status;
}

static cull_status read_folder(const cull_rep_found *found, struct book *book,
                               cull_records_list *problems)
{
    cull_status status = CULL_OK;

    switch (found->kind) {
    case CULL_REP_COMPARISON:
        TRY(cull_rep_comparison_read(found->folder, &book->comparison[book->comparisons],
                                     problems));
        book->comparisons++;
        break;
    case CULL_REP_RUN:
        TRY(cull_rep_single_read(found->folder, &book->single[book->singles], problems));
        book->singles++;
        break;
    case CULL_REP_PROBE:
        TRY(cull_rep_probed_read(found->folder, &book->probed[book->probes], problems));
        book->probes++;
        break;
    }
done:
    return status;
}

/* What cannot be found or read is skipped and named. */
static cull_status skip(struct book *book, cull_status status, cull_records_list *problems)
{
    if (status == CULL_OK || status == CULL_NO_MEMORY) return status;
    if (book->skipped++ == 0) {
        book->first = status;
        (void)snprintf(book->why, sizeof book->why, "%s", cull_last_error());
    }
    return cull_records_say(problems, "%.900s", cull_last_error());
}

static cull_status read_all(const char *const *folders, size_t count, struct book *book,
                            cull_records_list *problems)
{
    cull_status     status = CULL_OK;
    cull_rep_finds *finds = &book->finds;

    for (size_t i = 0; i < count; i++)
        TRY(skip(book, cull_rep_find(folders[i], finds, problems), problems));
    TRY(cull_base_alloc(finds->count, sizeof *book->comparison, "comparisons", &book->comparison));
    TRY(cull_base_alloc(finds->count, sizeof *book->single, "runs", &book->single));
    TRY(cull_base_alloc(finds->count, sizeof *book->probed, "probes", &book->probed));
    for (size_t i = 0; i < finds->count; i++)
        TRY(skip(book, read_folder(&finds->found[i], book, problems), problems));
    if (book->comparisons + book->singles + book->probes > 0) goto done;
    if (book->skipped > 1)
        FAIL(book->first, "none of %zu folders can be read; the first: %.400s", book->skipped,
             book->why);
    FAIL(book->first, "%.900s", book->why);
done:
    return status;
}

static const char *title_of(const struct book *book)
{
    if (book->comparisons && book->comparison[0].is.title[0]) return book->comparison[0].is.title;
    return book->comparisons ? "cull: a comparison"
           : book->singles   ? "cull: a run"
                             : "cull: a probe";
}

static void put_entry(cull_rep_page *page, size_t *part, const char *title, const char *folder)
{
    cull_rep_print(&page->html, "<li><a href=\"#part-%zu\">", ++*part);
    cull_rep_escape(&page->html, title[0] ? title : "A comparison", CULL_REP_NAME);
    cull_rep_put(&page->html, "</a> <small>");
    cull_rep_escape(&page->html, folder, CULL_REP_SENTENCE);
    cull_rep_put(&page->html, "</small></li>\n");
}

/* "2 comparisons, 1 run", and where each is. */
static void put_contents(cull_rep_page *page, const struct book *book)
{
    static const char *const words[] = {"comparison", "run", "probe"};
    const size_t             count[] = {book->comparisons, book->singles, book->probes};
    bool                     any = false;
    size_t                   part = 0;

    cull_rep_put(&page->html, "<h1>");
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        if (!count[i]) continue;
        cull_rep_print(&page->html, "%s%zu %s%s", any ? ", " : "", count[i], words[i],
                       count[i] == 1 ? "" : "s");
        any = true;
    }
    cull_rep_put(&page->html, "</h1>\n<ul class=\"contents\">");
    for (size_t i = 0; i < book->comparisons; i++)
        put_entry(page, &part, book->comparison[i].is.title, book->comparison[i].folder);
    if (book->singles)
        put_entry(page, &part, book->singles == 1 ? "A run" : "Runs",
                  book->singles == 1 ? book->single[0].folder : "");
    for (size_t i = 0; i < book->probes; i++)
        put_entry(page, &part, "A probe", book->probed[i].folder);
    cull_rep_put(&page->html, "</ul>\n");
}

/* Parts of a page of several have a border and a name that is linked to. */
static void begin_part(cull_rep_page *page, size_t parts, size_t *part)
{
    if (parts > 1)
        cull_rep_print(&page->html, "<section class=\"part\" id=\"part-%zu\">", ++*part);
    else
        cull_rep_put(&page->html, "<section>");
}

static cull_status write_page(const struct book *book, cull_rep_page *page)
{
    cull_status    status = CULL_OK;
    size_t         parts = book->comparisons + (book->singles > 0) + book->probes, part = 0;
    cull_rep_text *html = &page->html;

    cull_rep_page_begin(page, title_of(book));
    page->level = parts > 1 ? 2 : 1;
    for (size_t i = 0; i < book->comparisons; i++)
        TRY(cull_rep_gather_problems(page, &book->comparison[i]));
    if (parts > 1) {
        put_contents(page, book);
        cull_rep_point_to_problems(page);
    }
    for (size_t i = 0; i < book->comparisons; i++) {
        begin_part(page, parts, &part);
        TRY(cull_rep_put_comparison(page, &book->comparison[i]));
        cull_rep_put(html, "</section>\n");
    }
    if (book->singles) {
        begin_part(page, parts, &part);
        TRY(cull_rep_put_runs(page, book->single, book->singles));
        cull_rep_put(html, "</section>\n");
    }
    for (size_t i = 0; i < book->probes; i++) {
        begin_part(page, parts, &part);
        TRY(cull_rep_put_probed(page, &book->probed[i]));
        cull_rep_put(html, "</section>\n");
    }
    cull_rep_put_problems(page);
    cull_rep_page_end(page);
    status = html->status;
done:
    return status;
}

static void clear_book(struct book *book)
{
    for (size_t i = 0; i < book->comparisons; i++) cull_rep_comparison_clear(&book->comparison[i]);
    for (size_t i = 0; i < book->singles; i++) cull_rep_single_clear(&book->single[i]);
    for (size_t i = 0; i < book->probes; i++) cull_records_probes_clear(&book->probed[i].probes);
    cull_base_free(book->comparison);
    cull_base_free(book->single);
    cull_base_free(book->probed);
    cull_rep_finds_clear(&book->finds);
}

cull_status cull_report(const char *const *folders, size_t count,
                        const cull_report_options *options, cull_report_result *out)
{
    cull_status         status = CULL_OK;
    struct book         book = {0};
    cull_rep_page       page = {.problems = {.most = MOST_PROBLEMS}};
    cull_report_options options_room;
    cull_report_result  room, *given = out;

    SIZED(cull_report_options, options, options_room);
    SIZED_RESULT(cull_report_result, out, room);
    page.gnuplot = options && options->gnuplot ? options->gnuplot : "gnuplot";
    *out = (cull_report_result){0};
    if (count == 0 || !options || !options->output)
        FAIL(CULL_BAD_ARGUMENT, "a report needs a folder to read and a file to write");
    TRY(read_all(folders, count, &book, &page.problems));
    for (size_t i = 0; i < book.finds.count; i++)
        TRY(cull_rep_spare_source(book.finds.found[i].folder, options->output));
    TRY(write_page(&book, &page));
    TRY(cull_file_write(options->output, page.html.data, page.html.size));
    out->comparisons = book.comparisons;
    out->runs = book.singles;
    out->probes = book.probes;
    out->skipped = book.skipped;
    out->figures = page.figures;
    out->undrawn = page.undrawn;
    out->no_gnuplot = page.unable;
    out->problems = page.problems.count + page.problems.unsaid;
    (void)snprintf(out->why, sizeof out->why, "%.255s", page.undrawn ? page.why : book.why);
done:
    cull_sized_give(given, out, sizeof *out);
    cull_rep_page_clear(&page);
    clear_book(&book);
    return status;
}
