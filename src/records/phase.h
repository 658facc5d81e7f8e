/* records/phase.h - the phases that a run's time and energy are told by. */
#ifndef CULL_RECORDS_PHASE_H
#define CULL_RECORDS_PHASE_H

typedef enum cull_phase {
    CULL_PHASE_LOAD,       /* waiting for a batch            */
    CULL_PHASE_SCORE,      /* forward only, for a selector   */
    CULL_PHASE_SELECT,     /* the selector's own work        */
    CULL_PHASE_LEARN,      /* forward and backward           */
    CULL_PHASE_OPTIM,      /* new weights                    */
    CULL_PHASE_EVALUATE,   /* validation and test            */
    CULL_PHASE_CHECKPOINT, /* records and checkpoints        */
    CULL_PHASES,
    CULL_PHASES_OF_COST = CULL_PHASE_EVALUATE /* those before: evaluation is no cost */
} cull_phase;

const char *cull_phase_name(cull_phase phase);

#endif
