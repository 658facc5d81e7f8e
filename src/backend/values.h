/*
 * backend/values.h - plain values that operations are given and leave in a backend's memory.
 *
 * They are the same to the bit wherever an operation runs, so this header is also C++ for the
 * compilers of devices, which cannot read backend.h.
 */
#ifndef CULL_BACKEND_VALUES_H
#define CULL_BACKEND_VALUES_H

#include "cull.h"

/*
 * What changes from step to step and is no array: one small block of a backend's memory, uploaded
 * before a step and read by operations when they run, so that a recorded step is another one each
 * time.
 */
typedef struct cull_moment {
    uint64_t step, epoch; /* what randomness is counted by                     */
    uint64_t updates;     /* of the optimizer, this one included: AdamW's t    */
    double   rate;        /* of the optimizer                                  */
    uint64_t slot;        /* of the ring that `summary` writes to              */
} cull_moment;

/* What may be found wrong while operations run, when nobody can be told at once. */
typedef enum cull_wrong {
    CULL_WRONG_NOTHING,
    CULL_WRONG_LOSS,     /* of training: no longer finite                       */
    CULL_WRONG_GRADIENT, /* its norm is not finite                              */
    CULL_WRONG_SIGNAL    /* a signal that a selector reads: `which` tells which */
} cull_wrong;

/*
 * The error word, in a backend's memory: the first thing that went wrong since it was zeroed. An
 * operation that finds something writes it where nothing is written yet; `update` changes nothing
 * while something is. So no broken step reaches the weights, however late it is read.
 */
typedef struct cull_trouble {
    uint64_t what;        /* cull_wrong                               */
    uint64_t which;       /* CULL_SIGNAL_*, and the CULL_TROUBLE_* below */
    uint64_t row;         /* of the batch                             */
    uint64_t place;       /* of the example                           */
    uint64_t step, epoch; /* of the moment block; 0 where there is none */
    double   found, most; /* of a label: what it is, and the largest there may be */
} cull_trouble;

enum {
    CULL_TROUBLE_TARGET = 1 << 16,  /* of the target block                               */
    CULL_TROUBLE_PLACE = 1 << 17,   /* not a signal but the place: outside of the pool   */
    CULL_TROUBLE_SQUARE = 1 << 18,  /* the square of the row's gradient is beyond doubles */
    CULL_TROUBLE_APART = 1 << 19,   /* gradients too large or too far apart to be matched */
    CULL_TROUBLE_NEGATIVE = 1 << 20 /* a loss that rows were to be drawn by */
};

/* ---- of gather_all ---- */

/* One of several arrays of which the same rows are taken. */
typedef struct cull_gathered {
    const void *from; /* [held] rows of `bytes` each */
    void       *to;   /* [rows]                      */
    size_t      bytes;
} cull_gathered;

/* ---- of update ---- */

/* Saved states know a rule by its number. */
typedef enum cull_optim_rule { CULL_OPTIM_SGD, CULL_OPTIM_ADAMW, CULL_OPTIM_ADAM } cull_optim_rule;

enum { CULL_OPTIM_BUFFERS = 2, CULL_OPTIM_CHUNK = 16384 }; /* weights that one task looks at */

typedef struct cull_optim_options {
    cull_optim_rule rule;
    double          momentum; /* sgd, 0 <= momentum < 1                                  */
    bool            nesterov; /* sgd, only with momentum                                 */
    double          weight_decay;
    double          beta1, beta2, epsilon; /* adam, adamw                                */
    double          clip;                  /* most norm of the whole gradient; 0: any    */
} cull_optim_options;

/* Weights from `at` to the next range's beginning share one decay. */
typedef struct cull_optim_range {
    uint64_t at;
    double   decay;
} cull_optim_range;

/* ---- of resize ---- */
typedef struct cull_resize {
    size_t channels, height, width, to_height, to_width;
    bool   channels_last, to_channels_last; /* (n, h, w, c); else (n, c, h, w) */
} cull_resize;

/* ---- of losses ---- */

/* What outputs x are held against their target t by, example by example; W outputs. */
typedef enum cull_loss_kind {
    CULL_LOSS_CROSS_ENTROPY, /* log sum exp x - x_t; t is a class, int32                      */
    CULL_LOSS_SQUARED,       /* 1/W sum (x - t)^2; t is W numbers of the values' type         */
    CULL_LOSS_BINARY         /* 1/W sum log(1 + exp x) - t x; t is W of 0 or 1, uint8         */
} cull_loss_kind;

typedef struct cull_loss {
    cull_loss_kind kind;
    double         smoothing; /* of cross-entropy's labels */
} cull_loss;

/* Bytes of an example's target, of a network of so many outputs that computes in dtype. */
static inline size_t cull_loss_target(cull_loss_kind kind, size_t outputs, cull_dtype dtype)
{
    if (kind == CULL_LOSS_CROSS_ENTROPY) return sizeof(int32_t);
    return kind == CULL_LOSS_BINARY ? outputs : outputs * cull_dtype_size(dtype);
}

/* p is softmax less target, which leaves the target's own output fewer bits than the others: what
 * lies within them of the largest is as large, and the first of those is the network's choice. Else
 * one that tells no class from another would be right every time, or never. */
#define CULL_AS_LARGE_F32 (1. / (1 << 24))
#define CULL_AS_LARGE_F64 (1. / ((uint64_t)1 << 53))

/* ---- of summary ---- */
typedef struct cull_seen {
    double   loss;           /* the sum                                      */
    uint64_t count, correct; /* examples; 0 correct where nobody asked, or targets are no class */
} cull_seen;

/* Of chance: a weight too small for a double would leave the draw to row order; it is this times
 * the percentile. */
#define CULL_CHANCE_LEAST 1e-290

/* ---- of record and recall ---- */

typedef enum cull_predict {
    CULL_PREDICT_LAST,    /* the loss last recorded                                         */
    CULL_PREDICT_AVERAGE, /* s + 1/2 (loss - s), s the first loss to begin with             */
    CULL_PREDICT_TREND    /* last loss + slope * epochs since, at least 0                   */
} cull_predict;

/* Losses by place. */
typedef struct cull_ledger {
    size_t       pool;
    cull_predict predict;
    uint8_t     *known; /* [pool] 0: nothing, 1: a loss, 2: a slope too */
    double      *value; /* [pool] last loss, or the average             */
    double      *slope; /* [pool] per epoch; trend only                 */
    uint64_t    *epoch; /* [pool] when `value` was seen; trend only     */
} cull_ledger;

/* ---- of sample ---- */

#define CULL_SAMPLE_KEPT 0.9      /* of the moving average, from one time to the next */
#define CULL_SAMPLE_MOST 0x1p1000 /* of a squared norm, whose root is then finite too */

/* How uneven scores were, and the latest draw. */
typedef struct cull_sampled {
    double   tau;           /* moving average of sqrt(n sum g^2), g = s / sum s; from 0 */
    uint64_t drew, drew_at; /* 1: there was one; its step                     */
} cull_sampled;

/* ---- of match ---- */

typedef enum cull_match_weights {
    CULL_WEIGHTS_MEAN,   /* scaled to a mean of 1                                           */
    CULL_WEIGHTS_SOLVED, /* m times the solver's: the length of the gradient is matched too */
    CULL_WEIGHTS_UNIT    /* 1: the picks count alone                                        */
} cull_match_weights;

/* What became of a subset, as cull_subset says it. */
typedef struct cull_outcome {
    uint32_t count, picked, flags;
} cull_outcome;

/* Facility location: gradients are told apart by squares, which must stay numbers. */
#define CULL_FACILITY_MOST 0x1p400

#endif
