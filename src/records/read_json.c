/* records/read_json.c - fields of JSON objects, problems found on the way, and whole files. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "records/records.h"

enum { MOST_PROBLEMS = 200, MOST_PROBLEM = 1024, MOST_BYTES = 256 << 20 };

/* Nothing that is measured is larger; and what is smaller stays finite in sums and products. */
#define MOST_NUMBER 1e30

const char *const cull_rep_phase_names[CULL_REP_PHASES] = {"load", "score", "select", "learn",
                                                           "optim"};

cull_status cull_rep_problem(cull_rep_problems *problems, const char *format, ...)
{
    cull_status status = CULL_OK;
    char        words[MOST_PROBLEM];
    char       *copy = NULL;
    va_list     args;

    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (problems->count == MOST_PROBLEMS) {
        problems->unsaid++;
        goto done;
    }
    if (problems->count == problems->room) {
        size_t room = 2 * problems->room + 8;
        TRY(cull_base_grow(room, sizeof *problems->text, "a list of problems", &problems->text));
        problems->room = room;
    }
    TRY(cull_base_alloc(strlen(words) + 1, 1, "a problem", &copy));
    memcpy(copy, words, strlen(words) + 1);
    problems->text[problems->count++] = copy;
done:
    return status;
}

void cull_rep_problems_clear(cull_rep_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) cull_base_free(problems->text[i]);
    cull_base_free((void *)problems->text);
    *problems = (cull_rep_problems){0};
}

double cull_rep_field(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double        number = json_is_number(value) ? json_number_value(value) : NAN;

    return fabs(number) < MOST_NUMBER ? number : NAN;
}

const char *cull_rep_word(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));

    return word ? word : "";
}

bool cull_rep_flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

cull_status cull_rep_file(const char *folder, const char *name, void **data, size_t *bytes)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    struct stat info = {0};
    int         length = snprintf(path, sizeof path, "%s/%s", folder, name);

    *data = NULL;
    *bytes = 0;
    if (length < 0 || (size_t)length >= sizeof path)
        FAIL(CULL_IO, "%.80s…: the name is too long", folder);
    if (stat(path, &info)) {
        if (errno != ENOENT && errno != ENOTDIR) FAIL(CULL_IO, "%s: %s", path, strerror(errno));
        goto done;
    }
    if (!S_ISREG(info.st_mode)) FAIL(CULL_IO, "%s: is no file", path);
    if (info.st_size > MOST_BYTES)
        FAIL(CULL_TOO_LARGE, "%s: %lld bytes, more than a report reads", path,
             (long long)info.st_size);
    TRY(cull_file_read(path, data, bytes));
done:
    return status;
}
