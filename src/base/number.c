/*
 * base/number.c - the C library's conversions, with the locale's decimal point put in and out.
 *
 * A host that calls setlocale() may make strtod() stop at a point and printf() write a comma. Its
 * locale is the host's to keep, so only the text is changed.
 */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 512 }; /* characters; a longer text is no number anybody wrote */

static const char *host_point(void)
{
    const char *point = localeconv()->decimal_point;

    return point && *point ? point : ".";
}

bool cull_base_read_number(const char *text, double *out)
{
    const char *point = host_point();
    size_t      length = strlen(text), whole = strcspn(text, ".");
    char        local[LONGEST + 32];
    char       *end = NULL;

    *out = NAN;
    if (length == 0 || length > LONGEST || strlen(point) > 16) return false;
    if (strspn(text, "+-.0123456789eE") != length) return false;
    if (whole < length)
        (void)snprintf(local, sizeof local, "%.*s%s%s", (int)whole, text, point, text + whole + 1);
    else
        (void)snprintf(local, sizeof local, "%s", text);
    *out = strtod(local, &end);
    return end != local && *end == '\0' && isfinite(*out);
}

size_t cull_base_write_number(double value, int digits, char out[CULL_NUMBER_ROOM])
{
    const char *point = host_point();
    size_t      wide = strlen(point);
    char       *at = NULL;

    (void)snprintf(out, CULL_NUMBER_ROOM, "%.*g", digits, value);
    at = strcmp(point, ".") == 0 ? NULL : strstr(out, point);
    if (at) {
        *at = '.';
        memmove(at + 1, at + wide, strlen(at + wide) + 1);
    }
    return strlen(out);
}
