/* base/status.c - status names and texts, and each thread's latest failure. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/texts.h"

#define STRING(x)                         #x
#define VERSION_TEXT(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)

static _Thread_local char last_error[512], last_subject[256];

const char *cull_version(void)
{
    return VERSION_TEXT(CULL_VERSION_MAJOR, CULL_VERSION_MINOR, CULL_VERSION_PATCH);
}

const char *cull_status_name(cull_status status)
{
    switch (status) {
#define CASE(name, number, text)                                                                   \
    case CULL_##name: return #name;
        CULL_STATUS_MAP(CASE)
#undef CASE
    }
    return "UNKNOWN";
}

const char *cull_status_text(cull_status status)
{
    switch (status) {
#define CASE(name, number, text)                                                                   \
    case CULL_##name: return text;
        CULL_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *cull_last_error(void)
{
    return last_error;
}

const char *cull_last_subject(void)
{
    return last_subject;
}

/* By way of another array: arguments may point into the sentence before. Names of files may hold
 * anything, which no terminal and no record shall meet. */
CULL_PRINTF(2, 0) static void keep(const char *subject, const char *format, va_list args)
{
    char sentence[sizeof last_error] = "", about[sizeof last_subject];

    (void)vsnprintf(sentence, sizeof sentence, format, args);
    (void)snprintf(about, sizeof about, "%s", subject);
    cull_text_tame(sentence);
    memcpy(last_error, sentence, sizeof sentence);
    memcpy(last_subject, about, sizeof about);
}

cull_status cull_fail(cull_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep("", format, args);
    va_end(args);
    return status;
}

cull_status cull_fail_about(cull_status status, const char *subject, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(subject, format, args);
    va_end(args);
    return status;
}
