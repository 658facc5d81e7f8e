/* doctor_parts.h - what cull doctor looks at. */
#ifndef CULL_DOCTOR_PARTS_H
#define CULL_DOCTOR_PARTS_H

#include "program.h"

/* ---- doctor_tests.c: small problems whose answers are known ---- */

typedef struct doctor_test {
    const char *name;
    bool (*passes)(cull_backend *backend);
} doctor_test;

const doctor_test *doctor_test_at(size_t i); /* i = 0, 1, ... until NULL */

/* ---- doctor_findings.c: what is not as it should be ---- */

enum { MOST_FINDINGS = 16, MOST_FINDING = 320 };

typedef struct finding {
    char what[MOST_FINDING], fix[MOST_FINDING];
} finding;

typedef struct findings {
    size_t  count;
    finding at[MOST_FINDINGS];
} findings;

void doctor_look(findings *out);

/* The program of this name on the PATH. */
bool doctor_finds(const char *program);
/* The shared object of oneDNN that is loaded; "" where none is told. */
void doctor_dnnl(char *out, size_t room);
/* Cores that this process may use, by affinity and by the quota of its group. */
double doctor_cores(void);

#endif
