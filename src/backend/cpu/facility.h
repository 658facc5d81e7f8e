/*
 * backend/cpu/facility.h - the parts of facility location on the host.
 *
 * facility.c shares out problems and memory, facility_near.c knows how near atoms are to each
 * other, facility_greedy.c picks. What is computed is in backend/facility.h.
 */
#ifndef CULL_BACKEND_CPU_FACILITY_H
#define CULL_BACKEND_CPU_FACILITY_H

#include "backend/cpu/cpu.h"
#include "backend/facility.h"

enum {
    CULL_NEAR_STRIP = 48,   /* rows of S made at a time                              */
    CULL_NEAR_COLUMNS = 256 /* and columns: a task's room is two such blocks of double */
};

/*
 * S (n, n): all of it, or as many rows as fit the memory limit, the longest unused making
 * room for new ones. Arrays are sized for the largest problem of a call.
 */
typedef struct cull_near {
    const cull_facility_problem *problem;
    const cull_products         *products;
    cull_team                   *team; /* NULL: inside a task, so alone       */
    size_t                       n;
    double                      *h, *p;    /* (n, ldh), (n, ldp) gathered; none if S is given */
    size_t                       ldh, ldp; /* a few more than D and C, to spread over caches */
    int                          exponent; /* P, or S as given, is divided by 2^exponent     */
    double                       scale;    /* its inverse                                    */
    double                      *norm;     /* [n] K_ii                                       */
    double                      *chosen;   /* (STRIP, ldh + ldp) rows being made             */
    double                      *room;     /* (threads, 2, STRIP, COLUMNS)                   */
    double                      *sum;      /* [n] row sums of S, unless all of it is held    */
    float                       *least;    /* [n] least of each row or strip                 */
    double                       floor;    /* where every best begins                        */
    const float                 *all;      /* S, or NULL: only some rows are held            */
    size_t                       ld;       /* distance between rows of `all`                 */
    float                       *held;     /* (slots, n)                                     */
    size_t                       slots;    /* n when all is held                             */
    uint32_t                    *slot_of;  /* [n] where a row is held, or UINT32_MAX         */
    uint32_t                    *atom_of;  /* [slots] whose row that is                      */
    uint64_t                    *used;     /* [slots] number of the call that last asked     */
    uint64_t                     call;
    size_t                       hand; /* the next slot to give away                     */
} cull_near;

/* Gather, measure, and find the floor. */
void cull_cpu_near_prepare(cull_near *near);

/* Make sure that these rows are there: at most cull_cpu_near_batch() of them. */
void   cull_cpu_near_need(cull_near *near, const uint32_t *atom, size_t count);
size_t cull_cpu_near_batch(const cull_near *near);

/* A row asked for by the latest call of cull_cpu_near_need. */
static inline const float *cull_cpu_near_row(const cull_near *near, uint32_t atom)
{
    return near->all ? near->all + atom * near->ld : near->held + near->slot_of[atom] * near->n;
}

/* What the picking keeps, [n] each. */
typedef struct cull_picker {
    double   *best, *gain; /* gain: as last computed, a bound from above later  */
    uint32_t *owner;
    uint32_t *candidate; /* not yet picked; a heap by gain in lazy greedy     */
    uint32_t *fresh;     /* number of the pick that gain was computed for     */
} cull_picker;

void cull_cpu_pick(cull_near *near, cull_picker *picker, cull_facility_problem *problem,
                   const cull_facility_options *options);

#endif
