/* lab/compare/arm_wish.h - lists of strategies and shares, taken apart. */
#ifndef CULL_LAB_ARM_WISH_H
#define CULL_LAB_ARM_WISH_H

#include "lab/compare/arms.h"

enum { CULL_ARM_KEEPS = 64, CULL_ARM_TEXT = 256 };

/* One strategy of the list; all point into text. */
typedef struct cull_arm_asked {
    char        text[CULL_ARM_TEXT], strategy[CULL_ARM_NAME];
    const char *keep, *pass; /* its own; NULL: as all */
    cull_option option[CULL_ARM_OPTIONS];
    size_t      options;
} cull_arm_asked;

/* The next strategy of a list; *there is false at its end. The struct must stay where it is. */
cull_status cull_arm_read(const char **rest, cull_arm_asked *out, bool *there);
/* The next of a list with commas between; false at its end. */
bool        cull_arm_next(const char **rest, char *out, size_t room);
cull_status cull_arm_read_keeps(const char *text, double keep[CULL_ARM_KEEPS], size_t *count);

#endif
