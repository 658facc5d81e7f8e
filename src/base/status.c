/* base/status.c - status names and texts, and each thread's latest sentence. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

#define STRING(x)                         #x
#define VERSION_TEXT(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)

static _Thread_local char last_error[512];

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

cull_status cull_fail(cull_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return status;
}
