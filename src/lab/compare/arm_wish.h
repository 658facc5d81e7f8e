/* lab/compare/arm_wish.h - lists of strategies and shares, taken apart. */
#ifndef CULL_LAB_ARM_WISH_H
#define CULL_LAB_ARM_WISH_H

#include "lab/compare/arms.h"

enum { CULL_ARM_KEEPS = 64, CULL_ARM_TEXT = 256 };

/* The strategies of a list; *out is a new array of *count, given back with cull_arms_forget(). */
cull_status cull_arm_read(const char *list, cull_arm_asked **out, size_t *count);
/* The next of a list with commas between; false at its end. */
bool        cull_arm_next(const char **rest, char *out, size_t room);
cull_status cull_arm_read_keeps(const char *text, double keep[CULL_ARM_KEEPS], size_t *count);

#endif
