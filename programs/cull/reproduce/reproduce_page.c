/* reproduce_page.c - the page of a paper, and its claims as lines. */
#include <stdio.h>
#include <string.h>

#include "reproduce/reproduce_parts.h"

static const char *const ends[] = {"not judged", "held", "not held", "undecided"};

static void print_figure(const cull_paper_figure *f)
{
    if (f->missing[0]) {
        (void)printf("%s: %s\n", f->name, f->missing);
        return;
    }
    (void)printf("\n%s, %s\nthe paper: %s\nhere: %s", f->number, f->title, f->claim, f->scale);
    if (f->runs < f->of) (void)printf(" %zu of %zu runs are there.", f->runs, f->of);
    (void)printf("\n%s%sclaim: %s\n", f->finding, f->finding[0] ? "\n" : "", ends[f->held]);
}

static int write_page(const cull_paper *paper, const char *root)
{
    char                path[CULL_DATA_PATH];
    cull_report_options options = {.output = path};
    cull_report_result  result = {0};
    cull_status         status = CULL_OK;

    if (snprintf(path, sizeof path, "%s/page.html", root) >= (int)sizeof path)
        return complain(END_FAILED, "Give another --out.", "%.100s...: the name is too long", root);
    status = cull_report_paper(paper, &options, &result);
    if (status != CULL_OK) return complain_last(END_FAILED, "The runs are there: run it again.");
    (void)printf("page: %s\n", path);
    if (result.undrawn)
        (void)fprintf(stderr, "cull: %zu figure%s not drawn: %s\n", result.undrawn,
                      result.undrawn == 1 ? " is" : "s are", result.why);
    return END_WELL;
}

int make_page(const char *paper, const char *recipes, const char *root,
              const cull_reproduction *entry)
{
    cull_paper_book  *book = NULL;
    const cull_paper *is = NULL;
    int               end = END_WELL;

    if (cull_paper_open(paper, recipes, root, &book) != CULL_OK)
        return complain_last(END_FAILED, "Run it where recipes/ lies, or name it: --recipes DIR.");
    is = cull_paper_of(book);
    for (size_t i = 0; i < is->figures; i++)
        if (entry ? strcmp(is->figure[i].name, entry->name) == 0 : is->figure[i].scale[0] != '\0')
            print_figure(&is->figure[i]);
    end = write_page(is, root);
    cull_paper_close(book);
    return end;
}
