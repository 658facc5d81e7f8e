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

enum {
    LONGEST = 512,   /* characters; a longer text is no number anybody wrote */
    MOST_DIGITS = 19 /* that any uint64_t can hold */
};

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

/* A number taken apart: digits 10^exponent. */
struct parts {
    uint64_t digits;          /* the first ones            */
    size_t   count;           /* of them, zeros before left out */
    int      exponent;        /* of the last of them       */
    bool     negative, whole; /* whole: all digits are in `digits` */
};

/* Digits from *at on; how many there are. Behind the point each lowers the exponent. */
static size_t take_digits(const char *text, size_t length, size_t *at, bool behind, struct parts *p)
{
    size_t from = *at;

    for (; *at < length && text[*at] >= '0' && text[*at] <= '9'; (*at)++) {
        if (p->count == MOST_DIGITS) {
            p->whole = false;
            continue;
        }
        p->digits = 10 * p->digits + (uint64_t)(text[*at] - '0');
        p->count += p->digits > 0;
        p->exponent -= behind;
    }
    return *at - from;
}

/* Behind an "e"; false when there is no exponent there. Far beyond any it need not be exact. */
static bool take_exponent(const char *text, size_t length, size_t *at, struct parts *p)
{
    bool   less = *at < length && text[*at] == '-';
    size_t from = 0;
    int    exponent = 0;

    if (*at < length && (text[*at] == '-' || text[*at] == '+')) (*at)++;
    for (from = *at; *at < length && text[*at] >= '0' && text[*at] <= '9'; (*at)++)
        if (exponent < 100000) exponent = 10 * exponent + (text[*at] - '0');
    p->exponent += less ? -exponent : exponent;
    return *at > from;
}

static bool take_apart(const char *text, size_t length, struct parts *p)
{
    size_t at = 0, digits = 0;

    *p = (struct parts){.whole = true};
    if (length && (text[0] == '-' || text[0] == '+')) p->negative = text[at++] == '-';
    digits = take_digits(text, length, &at, false, p);
    if (at < length && text[at] == '.') {
        at++;
        digits += take_digits(text, length, &at, true, p);
    }
    if (digits == 0) return false;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (!take_exponent(text, length, &at, p)) return false;
    }
    return at == length;
}

/* Digits below 2^53 and powers of ten up to 10^22 are doubles, so that one product or quotient of
 * them is rounded once, as it should be; what is longer goes the C library's way. */
cull_number cull_base_scan_number(const char *text, size_t length, double *out)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct parts        p;
    char                copy[LONGEST + 1];

    if (!take_apart(text, length, &p) || length > LONGEST) return CULL_NUMBER_NONE;
    if (p.whole && p.digits <= (uint64_t)1 << 53 && p.exponent >= -22 && p.exponent <= 22) {
        double value = (double)p.digits;

        value = p.exponent < 0 ? value / tens[-p.exponent] : value * tens[p.exponent];
        *out = p.negative ? -value : value;
        return CULL_NUMBER_READ;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return cull_base_read_number(copy, out) ? CULL_NUMBER_READ : CULL_NUMBER_BEYOND;
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
