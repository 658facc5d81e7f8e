/* lab/probe/audit.h - inside an audit: every example of a set, seen once. */
#ifndef CULL_LAB_AUDIT_H
#define CULL_LAB_AUDIT_H

#include "cull_lab.h"
#include "lab/recipe/recipe.h"

typedef struct cull_audit_work {
    cull_trainer       *t;
    cull_resident      *at; /* where its backend reads it */
    const cull_dataset *set;
    double             *loss, *confidence; /* [count] by place                    */
    int32_t            *predicted;         /* [count]                             */
    uint32_t           *order;             /* [count] places, ascending by loss   */
    uint32_t           *by;                /* [count] places, ascending by how hard they are said
                                              to be; NULL: as by loss                       */
    double *times;                         /* [count] how often trained; or NULL  */
} cull_audit_work;

/* audit_write.c: the .npz file, with the `examples` easiest and hardest. */
cull_status cull_audit_write(const cull_audit_work *work, const cull_audit_result *result,
                             size_t examples, const char *path);

#endif
