/* lab/reproduce/reproduce.h - the papers' figures and tables, one table a paper. */
#ifndef CULL_LAB_REPRODUCE_H
#define CULL_LAB_REPRODUCE_H

#include "cull_lab.h"

/* Each ends with an entry without a name; one that names no kind is a comparison. */
extern const cull_reproduction cull_reproduce_balles[];
extern const cull_reproduction cull_reproduce_jiang[];
extern const cull_reproduction cull_reproduce_killamsetty[];

#endif
