/* train/setup.h - all that decides a run, as a recipe says it. */
#ifndef CULL_TRAIN_SETUP_H
#define CULL_TRAIN_SETUP_H

#include <string.h>

#include "data/corrupt.h"
#include "data/transform.h"
#include "nn/layer_list.h"
#include "optim/optim.h"

enum { CULL_TRAIN_MOMENTS = 256 };

/* How candidates are scored; METHODS, "The scoring pass". */
typedef struct cull_score_setup {
    bool        reuse;       /* the scoring pass is the training pass              */
    bool        constants;   /* reuse: statistics do not go backward               */
    bool        running;     /* by BatchNorm's averages                            */
    bool        int8;        /* convolutions in 8 bits where they gain by it       */
    bool        bf16;        /* values in bfloat16                                 */
    bool        clean;       /* without augmentation                               */
    double      scale;       /* of height and width; 1: as they are                */
    bool        pipelined;   /* ahead, by weights one step old                     */
    const char *proxy;       /* the model that scores; NULL: the one that is trained */
    const char *irreducible; /* a file of losses, by origin; NULL: none            */
} cull_score_setup;

static inline cull_plan_mode cull_score_mode(const cull_score_setup *score)
{
    if (score->reuse) return CULL_PLAN_SCORE_AND_KEEP;
    if (score->bf16) return CULL_PLAN_SCORE_BF16;
    return score->int8 ? CULL_PLAN_SCORE_INT8 : CULL_PLAN_SCORE;
}

/* Is this name that of a model which a program brings, not of one we know? */
#define CULL_TRAIN_OWN "own/"
static inline bool cull_train_is_own(const char *name)
{
    return strncmp(name, CULL_TRAIN_OWN, sizeof CULL_TRAIN_OWN - 1) == 0;
}

/* And of its arrays? They are called by a hash: all else behind "own/" lies in a folder of that
 * name, as anybody may have. */
enum { CULL_TRAIN_HASH = 16 };
static inline bool cull_train_is_own_data(const char *name)
{
    const char *hash = name + sizeof CULL_TRAIN_OWN - 1;

    return cull_train_is_own(name) && strlen(hash) == CULL_TRAIN_HASH &&
           strspn(hash, "0123456789abcdef") == CULL_TRAIN_HASH;
}

/* The name of a model that is a list of layers. */
#define CULL_TRAIN_LAYERS "layers"

/* Arrays of a program's own, borrowed. */
typedef struct cull_own_data {
    cull_tensor x, y;
} cull_own_data;

/* All that decides a run. Texts are borrowed for as long as the trainer lives. */
typedef struct cull_train_setup {
    const char          *data, *test; /* test NULL: none given                                   */
    cull_data_request    files;       /* how both are read; name and role are filled in          */
    double               split;       /* share of the set that becomes the test set; 0: none */
    double               validation;  /* share of the training set split off; 0: none   */
    double               subset;      /* share of the rest that is used; 0 or 1: all    */
    cull_data_corruption corruption;
    cull_data_augment    augment;
    bool                 augments;
    unsigned             workers; /* threads that load */

    const cull_layer_list *layers; /* the model as a list, in place of the named; NULL: none */

    const cull_model  *own_model;   /* a program's own, in place of the named; NULL: none        */
    cull_own_data      own_data[2]; /* by cull_data_role; absent where data says no "own/"      */
    const char        *model, *model_path; /* a folder of its sizes and weights; NULL: none  */
    cull_model_options model_options;      /* shape and classes are the data's */
    cull_loss          loss;

    cull_optim_options optim;
    bool               decay_all; /* false: biases and norms are not decayed               */
    cull_schedule      schedule;  /* steps are filled in                                   */
    double             warmup;    /* epochs                                                */

    bool count_trained; /* the schedule goes by examples trained, not met    */

    cull_arithmetic    arithmetic;
    const char        *strategy, *backend;
    const cull_option *select; /* [selects] the strategy's options */
    size_t             selects;
    cull_score_setup   score;
    size_t             batch, evaluate_batch;
    bool               drop_short;
    bool               keeps, keeps_best; /* weights: the latest; also the best */
    uint64_t           epochs, seed;
    const char        *init; /* a file of weights to begin with, or model_path; NULL: drawn from
                            the seed */
    unsigned threads;
    uint64_t log_every;                          /* steps; 0: none                      */
    uint64_t evaluate_every;                     /* epochs; the last is always          */
    uint64_t checkpoint_every, checkpoint_steps; /* epochs; steps, 0: none              */
    double   target, most_seconds, most_cost;    /* 0: none                             */
    double   shorten;                            /* share of the steps that are run     */
    double   moment[CULL_TRAIN_MOMENTS];         /* epochs of further evaluations       */
    size_t   moments;
} cull_train_setup;

#endif
