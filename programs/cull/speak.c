/* speak.c - complaints with a hint, JSON on stdout, and the nearest word to a wrong one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

enum { MOST_WORD = 32, MOST_STRATEGIES = 128 };

int complain_list(int end, const char *hint, const char *format, va_list args)
{
    (void)fputs("cull: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fprintf(stderr, ".\n%s\n", hint);
    return end;
}

int complain(int end, const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    end = complain_list(end, hint, format, args);
    va_end(args);
    return end;
}

int complain_status(cull_status status)
{
    switch (status) {
    case CULL_OK: return END_FAILED;
    case CULL_BAD_OPTION:
    case CULL_UNKNOWN_OPTION:
    case CULL_UNKNOWN_STRATEGY:
        return complain(END_USAGE, "See cull select --list for every strategy and its options.",
                        "%s", cull_last_error());
    case CULL_NO_MEMORY:
    case CULL_TOO_LARGE:
        return complain(END_FAILED, "Give fewer examples at once, or a smaller budget.", "%s",
                        cull_last_error());
    case CULL_NOT_FINITE:
        return complain(END_FAILED, "Repair or leave out that example: none is ever guessed.", "%s",
                        cull_last_error());
    case CULL_BAD_FILE:
        return complain(END_FAILED,
                        "Write it with numpy.save or numpy.savez; docs/formats.md says what is "
                        "read.",
                        "%s", cull_last_error());
    case CULL_IO:
        return complain(END_FAILED, "Check the path, its permissions and the space left.", "%s",
                        cull_last_error());
    case CULL_BAD_STATE:
        return complain(END_FAILED,
                        "Give the strategy, options, --pool, --batch, --epochs, --steps and --seed "
                        "it was saved with, or remove the file to start anew.",
                        "%s", cull_last_error());
    case CULL_BAD_ARGUMENT:
        return complain(END_FAILED, "See cull select --help for the shape and type of each array.",
                        "%s", cull_last_error());
    default:
        return complain(END_FAILED, "See cull doctor for what this machine can do.", "%s",
                        cull_last_error());
    }
}

int end_output(int end)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return end;
    return complain(END_FAILED, "Check what reads the output, and the space left.",
                    "standard output cannot be written: %s", strerror(errno));
}

/* Edits (insert, delete, replace) that turn a into b; both shorter than MOST_WORD. */
static size_t distance(const char *a, const char *b)
{
    size_t row[MOST_WORD + 1] = {0}, width = strlen(b);

    for (size_t j = 0; j <= width; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[width];
}

const char *nearest(const char *wrong, const char *const *words)
{
    const char *best = NULL;
    size_t      least = strlen(wrong) / 3 + 2;

    for (; strlen(wrong) < MOST_WORD && *words; words++) {
        size_t edits = strlen(*words) < MOST_WORD ? distance(wrong, *words) : least;
        if (edits >= least) continue;
        least = edits;
        best = *words;
    }
    return best;
}

const char *nearest_strategy(const char *wrong)
{
    const char          *names[MOST_STRATEGIES] = {NULL};
    const cull_strategy *strategy = NULL;

    for (size_t i = 0; i + 1 < MOST_STRATEGIES && (strategy = cull_strategy_at(i)); i++)
        names[i] = strategy->name;
    return nearest(wrong, names);
}

int complain_weights(const char *folder, const cull_run_record *run)
{
    if (strcmp(run->status, "missing") == 0)
        return complain(END_FAILED, "Give the folder of a run.", "%s: there is no run.json",
                        folder);
    if (run->why[0])
        return complain(END_FAILED, "Give the folder of a run that is whole.", "%s: %s", folder,
                        run->why);
    return complain(END_FAILED, "Resume the run until its first checkpoint is there.",
                    "%s/run.json names no weights", folder);
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

int print_json(json_t *value)
{
    int failed = 0;

    if (!value) return complain(END_FAILED, "Give fewer examples at once.", "no memory for JSON");
    failed = json_dumpf(value, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(value);
    if (!failed) (void)putchar('\n');
    return end_output(END_WELL);
}
