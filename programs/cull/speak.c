/* speak.c - complaints with a hint, and JSON on stdout. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

enum { MOST_HINT = 512 };

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

int complain_last(int end, const char *hint)
{
    return complain(end, hint, "%s", cull_last_error());
}

int complain_by(const remedy *r, cull_status status)
{
    while (r->hint && r->status != status) r++;
    return r->hint ? complain_last(r->end, r->hint) : END_WELL;
}

int complain_status(cull_status status)
{
    static const char   options[] = "See cull select --list for every strategy and its options.";
    static const char   fewer[] = "Give fewer examples at once, or a smaller budget.";
    static const remedy remedies[] = {
        {CULL_BAD_OPTION, END_USAGE, options},
        {CULL_UNKNOWN_OPTION, END_USAGE, options},
        {CULL_UNKNOWN_STRATEGY, END_USAGE, options},
        {CULL_NO_MEMORY, END_FAILED, fewer},
        {CULL_TOO_LARGE, END_FAILED, fewer},
        {CULL_NOT_FINITE, END_FAILED, "Repair or leave out that example: none is ever guessed."},
        {CULL_BAD_FILE, END_FAILED,
         "Write it with numpy.save or numpy.savez; docs/formats.md says what is read."},
        {CULL_IO, END_FAILED, "Check the path, its permissions and the space left."},
        {CULL_BAD_STATE, END_FAILED,
         "Give the strategy, options, --pool, --batch, --epochs, --steps and --seed it was saved "
         "with, or remove the file to start anew."},
        {CULL_DEVICE, END_FAILED, "See cull doctor; --backend cpu needs no device."},
        {CULL_BAD_ARGUMENT, END_FAILED,
         "See cull select --help for the shape and type of each array."},
        {CULL_OK, END_FAILED, NULL}};
    int end = complain_by(remedies, status);

    if (end || status == CULL_OK) return end;
    return complain_last(END_FAILED, "See cull doctor for what this machine can do.");
}

int end_output(int end)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return end;
    return complain(END_FAILED, "Check what reads the output, and the space left.",
                    "standard output cannot be written: %s", strerror(errno));
}

int complain_near(const search *s, const char *before, const char *where, const char *format, ...)
{
    char    hint[MOST_HINT];
    va_list args;
    int     end = END_USAGE;

    if (s->best)
        (void)snprintf(hint, sizeof hint, "Did you mean %s%s? See %s.", before, s->best, where);
    else
        (void)snprintf(hint, sizeof hint, "See %s.", where);
    va_start(args, format);
    end = complain_list(END_USAGE, hint, format, args);
    va_end(args);
    return end;
}

int complain_set(void)
{
    search s = nearest_set(cull_last_subject());

    return complain_near(&s, "", "cull data list", "%s", cull_last_error());
}

int complain_weights(const char *folder, const cull_run_record *run)
{
    if (strcmp(run->status, "missing") == 0)
        return complain(END_FAILED, "Give the folder of a run.", "%s: there is no run.json",
                        folder);
    if (run->why[0])
        return complain(END_FAILED, "Give the folder of a run that is whole.", "%s: %s", folder,
                        run->why);
    return complain(END_FAILED,
                    "Resume the run until its first checkpoint is there; one of train.keep=none "
                    "keeps no weights.",
                    "%s/run.json names no weights", folder);
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_numbers(const double *values, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) (void)json_array_append_new(array, json_number(values[i]));
    return array;
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
