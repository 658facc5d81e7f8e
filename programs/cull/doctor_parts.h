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

/* ---- doctor_device.c: what computes beside the processor ---- */

enum { MOST_DEVICES = 16 };

typedef struct doctor_device {
    char   name[64], versions[112];
    double free, total; /* bytes */
} doctor_device;

typedef struct doctor_devices {
    bool          known; /* the system has one, whether it can be used or not */
    size_t        count;
    doctor_device at[MOST_DEVICES];
    char          why[512], fix[256]; /* there is none, and what to do about it */
} doctor_devices;

void    doctor_devices_find(doctor_devices *out);
json_t *doctor_devices_json(const doctor_devices *devices);
void    doctor_devices_print(const doctor_devices *devices);

/* ---- doctor_findings.c: what is not as it should be ---- */

enum { MOST_FINDINGS = 16, MOST_FINDING = 320 };

typedef struct finding {
    char what[MOST_FINDING], fix[MOST_FINDING];
} finding;

typedef struct findings {
    size_t  count;
    finding at[MOST_FINDINGS];
} findings;

void doctor_look(const doctor_devices *devices, findings *out);

/* The program of this name on the PATH. */
bool doctor_finds(const char *program);
/* The shared object of oneDNN that is loaded; "" where none is told. */
void doctor_dnnl(char *out, size_t room);
/* Cores that this process may use, by affinity and by the quota of its group. */
double doctor_cores(void);

#endif
