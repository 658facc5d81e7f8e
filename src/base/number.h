/* base/number.h - numbers as text with a point in them, whatever locale the host program set. */
#ifndef CULL_BASE_NUMBER_H
#define CULL_BASE_NUMBER_H

#include "base/status.h"

enum { CULL_NUMBER_ROOM = 40 }; /* room for any number as text, with its end */

/* A whole text as a decimal number: "-0.5", "1e-3". False for anything before, behind or instead
 * of one (hexadecimal, infinities and NaN too), and for one beyond double's range. */
bool cull_base_read_number(const char *text, double *out);

typedef enum cull_number {
    CULL_NUMBER_NONE,  /* no number                                        */
    CULL_NUMBER_READ,  /* a number, to the last bit as strtod() has it     */
    CULL_NUMBER_BEYOND /* written as a number, but beyond double's range   */
} cull_number;

/* The same for `length` bytes without an end, of which there are many to read. */
cull_number cull_base_scan_number(const char *text, size_t length, double *out);

/* As printf's "%.*g"; returns the length. out has room for CULL_NUMBER_ROOM, digits are 1 to 17. */
size_t cull_base_write_number(double value, int digits, char out[CULL_NUMBER_ROOM]);

#endif
