/* cmd_report.c - cull report: one page about runs and comparisons. */
#include <stdio.h>
#include <string.h>

#include "flags.h"

static const command self = {
    .name = "report",
    .usage = "usage: cull report DIR... [-o report.html]\n\n"
             "Writes one HTML page about the comparisons (cull compare), runs (cull train) and\n"
             "probes (cull probe) in the folders and below them: what to do, then tables and\n"
             "figures. The page needs no other file.\n"
             "What is damaged or missing is named on it and left out. Figures need gnuplot;\n"
             "without it the page is written all the same, and the exit status is 1.\n\n",
};

static int complain_report(cull_status status)
{
    static const remedy remedies[] = {
        {CULL_BAD_ARGUMENT, END_USAGE, "See cull report --help."},
        {CULL_IO, END_FAILED,
         "Give folders that cull compare, cull train or cull probe wrote, and a page that can be "
         "written."},
        {CULL_BAD_FILE, END_FAILED,
         "Run what wrote the folder again (cull compare and cull train with --resume), which "
         "writes the file anew."},
        {CULL_OK, END_FAILED, NULL}};
    int end = complain_by(remedies, status);

    return end ? end : complain_status(status);
}

/* "2 comparisons, "; nothing of none */
static void say_count(size_t count, const char *word)
{
    if (count) (void)printf("%zu %s%s, ", count, word, count == 1 ? "" : "s");
}

static int say(const cull_report_result *r, const char *output, bool json)
{
    if (json) {
        json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "page", output,
                              "comparisons", (json_int_t)r->comparisons, "runs",
                              (json_int_t)r->runs, "probes", (json_int_t)r->probes, "skipped",
                              (json_int_t)r->skipped, "figures", (json_int_t)r->figures, "undrawn",
                              (json_int_t)r->undrawn, "problems", (json_int_t)r->problems);
        return print_json(o);
    }
    (void)printf("%s: ", output);
    say_count(r->comparisons, "comparison");
    say_count(r->runs, "run");
    say_count(r->probes, "probe");
    (void)printf("%zu figure%s", r->figures, r->figures == 1 ? "" : "s");
    if (r->problems)
        (void)printf(", %zu %s named at its end", r->problems,
                     r->problems == 1 ? "problem" : "problems");
    (void)printf("\n");
    return end_output(END_WELL);
}

static int report(const char *const *folders, size_t count, const char *output, bool json)
{
    cull_report_options options = {.output = output};
    cull_report_result  result = {0};
    cull_status         status = cull_report(folders, count, &options, &result);
    int                 end = END_WELL;

    if (status != CULL_OK) return complain_report(status);
    end = say(&result, output, json);
    if (!end && result.undrawn)
        end = complain(END_FAILED,
                       result.no_gnuplot ? "Install gnuplot (Debian: apt-get install gnuplot-nox)."
                                         : "The rest of the page is whole.",
                       "%zu %s missing on the page: %s", result.undrawn,
                       result.undrawn == 1 ? "figure is" : "figures are", result.why);
    else if (!end && result.skipped)
        end =
            complain(END_FAILED, "Leave out what no cull compare, cull train or cull probe wrote.",
                     "%zu folder%s skipped: %s", result.skipped,
                     result.skipped == 1 ? " was" : "s were", result.why);
    return end;
}

int cmd_report(int argc, char **argv)
{
    const char *output = "report.html";
    bool        json = false;
    flag        flags[] = {{"-o", FLAG_TEXT, "FILE.html", "the page (report.html)", &output, 0},
                           {"--json", FLAG_SWITCH, NULL, "say what is on it as JSON", &json, 0},
                           {.name = NULL}};
    size_t      count = 0;
    int         end = take_line(&self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    if (count == 0)
        return complain(END_USAGE, "Give the folder of a comparison, a run or a probe.",
                        "no folder is given");
    return report((const char *const *)(void *)argv, count, output, json);
}
