/*
 * backend/layer.h - the operations of networks, as a device implements them.
 *
 * A layer operation is prepared once for one batch size (create chooses algorithms and
 * allocates) and then run forward and backward, allocating nothing. Activations are four
 * dimensions in a layout told by one number, `block`:
 *
 *     memory is (n, c/block, h, w, block)      block 1: NCHW, block c: NHWC, 8 or 16 between
 *
 * so the batch is outermost in every layout and a row of any tensor is one copy. Parameters
 * and their gradients are always in the canonical order given here, whatever the device
 * keeps for itself, but for convolutions where the table says weights_last. Values, parameters and
 * statistics may be of different types; the host's backends have one for all (float32; `ref` also
 * float64). On a device values may be bfloat16, with parameters, their gradients and statistics in
 * float32, and the loss, its p and its gradient too: then the last dense layer's y is float32.
 *
 *     dense      y = x W^T + b             x (n, I) W (O, I) b (O) or none
 *     conv       cross-correlation         W (O, C/groups, KH, KW) b (O) or none; zero padding;
 *                                          taps `dilation` pixels apart
 *     batchnorm  y = gamma x^ + beta       x^ = (x - mean) rstd over n, h, w, one per channel
 *                fused: y = relu(gamma x^ + beta [+ x2]); backward then reads x and y
 *     groupnorm  the same over the channels of a group and h, w, of each example
 *     layernorm  the same over c, h, w of each example, gamma and beta (c, h, w)
 *     activate   relu, relu6, gelu (exact by erf, or by tanh), tanh
 *     pool       max, average (padding not counted); `global`: average over h, w
 *     add        y = x + x2
 *     concat     channels of x, then of x2
 *     shortcut   every stride-th pixel, zero channels on both sides: y[c + (C' - C)/2] = x[c]
 *     dropout    y = x mask / (1 - p), the mask drawn from (key, step, place, element)
 *     loss       one of cull_loss_kind, with per-example weights; p is the gradient of an example's
 *                own loss
 *     convert    the same values in another layout
 *
 * A sequence is an image of h positions, w 1 and c features with block c on every backend, so
 * (n, positions, features) in memory. What looks at one position at a time does not know of them: a
 * plan prepares a dense layer or a layer norm over n sequences for n h rows of c features, and
 * activate, add and dropout for n rows of h c features (so that a mask does not depend on how far
 * sequences are padded). Tokens are int32, (n, positions), with c and block 1. A negative one is
 * padding: behind the tokens of its example, or anywhere.
 *
 *     embed      y[t] = w[x[t]], zero at padding           x tokens, w (V, D), V rows
 *                no dx; dw of a token that is not there is zero, and its sums are in one order
 *     positions  y[t] = x[t] + w[t], or + w[0] everywhere  w (P, D), P rows, at least as many as h
 *                with `same` (the one type that all tokens have)
 *     attention  of `groups` heads, which are as many equal parts of the D features of y. x holds
 *                q, k and v behind each other in every position, D features each; x2 the tokens.
 *                s_qk = q k scale, scale = 1/sqrt(D/heads), over positions k that are no padding
 *                state_q = log sum_k exp s_qk         a head's row, in whatever type and order
 *                y_q = sum_k m_qk exp(s_qk - state_q) v_k       zero where q is padding
 *                m_qk = 0 or 1/(1 - p), p the probability, drawn as dropout does it, from
 *                element (head CULL_MOST_POSITIONS + q) CULL_MOST_POSITIONS + k of the example
 *                backward reads x, x2, y and state; there is no dx2
 *     take       y = x[0]                                  y (n, D) of x (n, positions, D)
 *
 * A token that w has no row for fails on the host, before anything is read; where the host does not
 * see it, it counts as padding.
 */
#ifndef CULL_BACKEND_LAYER_H
#define CULL_BACKEND_LAYER_H

#include "backend/backend.h"

typedef struct cull_image {
    int64_t n, c, h, w;
    int64_t block; /* divides c */
} cull_image;

static inline int64_t cull_image_row(const cull_image *image)
{
    return image->c * image->h * image->w;
}

enum {
    CULL_MOST_POSITIONS = 1 << 12, /* of a sequence; the number of an attention's element has it */
    CULL_MOST_HEADS = 1 << 10
};

typedef enum cull_layer_kind {
    CULL_LAYER_DENSE,
    CULL_LAYER_CONV,
    CULL_LAYER_BATCHNORM,
    CULL_LAYER_GROUPNORM,
    CULL_LAYER_LAYERNORM,
    CULL_LAYER_ACTIVATE,
    CULL_LAYER_POOL,
    CULL_LAYER_ADD,
    CULL_LAYER_CONCAT,
    CULL_LAYER_SHORTCUT,
    CULL_LAYER_DROPOUT,
    CULL_LAYER_LOSS,
    CULL_LAYER_CONVERT,
    CULL_LAYER_EMBED,
    CULL_LAYER_POSITIONS,
    CULL_LAYER_ATTENTION,
    CULL_LAYER_TAKE,
    CULL_LAYER_KINDS
} cull_layer_kind;

/* What an operation is prepared for. Fields a kind does not name are ignored. */
typedef struct cull_layer_desc {
    cull_layer_kind kind;
    cull_dtype      dtype;                  /* of values                                 */
    cull_dtype      parameters, statistics; /* of those; 0: as the values                */
    cull_dtype      output;                 /* dense: of y and dy; 0: as the values      */
    bool            tf32;       /* products of float32 may be of ten bits of each factor       */
    bool            repeatable; /* only algorithms that give the same bits every time          */
    cull_image      x, x2, y;   /* x2: second input of add and concat        */
    bool            bias;       /* dense, conv                               */
    int64_t         kernel[2], stride[2], pad[2]; /* conv, pool: height, width                 */
    int64_t         dilation[2];                  /* conv; 0 is made 1 by cull_layer_create    */
    int64_t         groups;                       /* conv, groupnorm; attention: heads         */
    int64_t         rows;                         /* embed, positions: of w                    */
    bool            same;                         /* positions: w[0] everywhere                */
    cull_activation activation;
    cull_pooling    pooling;
    double          epsilon;        /* norms                                     */
    double          momentum;       /* batchnorm: share of the new in the average */
    bool            fused_relu;     /* batchnorm                                 */
    bool            fused_add;      /* batchnorm with fused_relu: x2 is added first */
    double          probability;    /* dropout; attention: of each weight        */
    cull_loss       loss;           /* loss                                      */
    bool            learn;          /* backward will be run too                  */
    bool            input_gradient; /* and dx is wanted                          */
    bool            int8;           /* conv: x is never negative and 8 bits will do */
    bool            beside;         /* backward may leave dw and db to be made beside what comes
                                       after it: x and dy stay as they are until the join */
} cull_layer_desc;

/* Where BatchNorm takes its statistics from. */
typedef enum cull_statistics {
    CULL_STATS_BATCH,  /* this batch; running averages untouched        */
    CULL_STATS_UPDATE, /* this batch; running averages updated          */
    CULL_STATS_RUNNING /* the running averages                          */
} cull_statistics;

typedef struct cull_layer_args {
    const void *x, *x2; /* inputs; tokens are int32                                      */
    void       *y;      /* output                                                        */
    const void *w, *b;  /* parameters: weight and bias, or gamma and beta                */
    const void *narrow; /* w in the values' type, where parameters are wider; else NULL  */
    void       *state;  /* what backward needs besides x and y: op's state_row elements a
                           row (rows can be gathered), e.g. the places of maxima; NULL in
                           forward where backward will not be run                         */
    void *stats;        /* [stats] batchnorm: mean (c), rstd (c); group/layer norm: per row */
    void *running;      /* batchnorm: mean (c), variance (c), unbiased as PyTorch's      */

    cull_statistics statistics; /* batchnorm forward                                     */
    const double   *row_weight; /* batchnorm backward under reuse: w_i of METHODS' rule;
                                   NULL: plain BatchNorm                                 */
    const void *dy;             /* backward: in                                          */
    void       *dx, *dx2;       /* out; overwritten, or added to where accumulate says so */
    void       *dw, *db;        /* out; overwritten                                      */
    bool        accumulate, accumulate2; /* dx += , dx2 +=                                */

    cull_key           key; /* dropout, attention                                        */
    uint64_t           step;
    const cull_moment *now;   /* its step in place of that one; NULL: none                 */
    const uint32_t    *place; /* [n] dropout, attention                                     */

    const void   *target; /* loss: [n] rows of cull_loss_target() bytes                 */
    const double *weight; /* loss: [n], NULL: 1                                         */
    double        scale;  /* loss: dx_i = scale weight_i p_i                            */
    double       *loss;   /* loss: [n] per example, unweighted                          */
    void         *p;      /* loss: (n, outputs) its gradient, unweighted; or NULL       */
} cull_layer_args;

/* Which of an operation's inputs, 0 or 1, are tokens; -1: none. */
static inline int cull_layer_tokens(cull_layer_kind kind)
{
    return kind == CULL_LAYER_EMBED ? 0 : (kind == CULL_LAYER_ATTENTION ? 1 : -1);
}

/* Does backward of an activation read x? Else it reads y. */
static inline bool cull_activation_reads_x(cull_activation activation)
{
    return activation == CULL_GELU || activation == CULL_GELU_TANH;
}

/* The step that a mask is drawn from. */
static inline uint64_t cull_layer_step(const cull_layer_args *args)
{
    return args->now ? args->now->step : args->step;
}

typedef struct cull_layer_op cull_layer_op;

/* One kind of operation on one backend. loss writes loss, p and (learn) dx in forward;
 * backward may then be NULL. */
typedef struct cull_layer_class {
    cull_status (*create)(cull_backend *backend, const cull_layer_desc *desc, cull_layer_op **out);
    cull_status (*forward)(cull_layer_op *op, const cull_layer_args *args);
    cull_status (*backward)(cull_layer_op *op, const cull_layer_args *args);
    void (*destroy)(cull_layer_op *op);
} cull_layer_class;

/* An operation begins with this; create fills in the sizes, and the class where it is another than
 * the one that was asked. */
struct cull_layer_op {
    const cull_layer_class *class;
    cull_backend   *backend;
    cull_layer_desc desc;
    size_t          state_row;      /* bytes of `state` for one row; 0: none                    */
    size_t          stats;          /* elements of `stats`; 0: none                             */
    bool            stats_by_row;   /* stats are per row (stats/n each) and can be gathered  */
    const char     *implementation; /* name of the algorithm, for tests and `cull bench`   */
};

/* Which layouts a device likes: whether a convolution can have its sides in blocks, or beside
 * blocks its input in NCHW; and the block for c channels inside a model all of whose convolutions
 * can, with outputs that are multiples of `common` (1 where one of them cannot). */
struct cull_layer_table {
    const cull_layer_class *layer[CULL_LAYER_KINDS];
    bool (*blocks)(cull_backend *backend, const cull_layer_desc *conv); /* NULL: always */
    int64_t (*block)(cull_backend *backend, int64_t c, int64_t common);
    bool fuses; /* plans should fuse batchnorm, add and relu */
    /* Of layers whose weights' gradients are better made beside the rest of the way back, which
     * they do not wait for; and what is asked for after the join comes after them. NULL, both:
     * none. */
    bool (*beside)(cull_backend *backend, const cull_layer_desc *desc);
    cull_status (*join)(cull_backend *backend);
    /* What is asked for between the two comes behind all that was asked for so far, and goes on
     * beside what is asked for after them, until the join. turns NULL: it cannot. */
    bool (*turns)(cull_backend *backend);
    cull_status (*turn_aside)(cull_backend *backend);
    void (*turn_back)(cull_backend *backend);
    bool weights_last; /* a convolution's weights are (O, KH, KW, C/groups) in memory here */
    bool int8;         /* convolutions can be asked for in 8 bits   */
    /* Where operations have several ways to be computed: those that are known, and those to be
     * taken from now on, as cull_layer_ways() and cull_layer_recall() say. NULL, both: one each. */
    cull_status (*ways)(cull_backend *backend, const char **text, size_t *bytes);
    cull_status (*recall)(cull_backend *backend, const char *text, size_t bytes);
    bool mixes; /* values can be bfloat16 over float32 parameters, products TF32 */
};

/* CULL_UNSUPPORTED when the backend has no networks, or not this dtype. */
cull_status cull_layer_create(cull_backend *backend, const cull_layer_desc *desc,
                              cull_layer_op **out);
void        cull_layer_destroy(cull_layer_op *op); /* NULL is fine */
/* For the loss on the host: CULL_BAD_ARGUMENT names the first example with a label beyond the
 * classes, or one that is neither 0 nor 1. */
cull_status cull_layer_check_targets(const cull_layer_desc *desc, const cull_layer_args *args);
/* For embed on the host: CULL_BAD_ARGUMENT names the first example with a token beyond the rows. */
cull_status cull_layer_check_tokens(const cull_layer_desc *desc, const cull_layer_args *args);
bool        cull_layer_blocks(cull_backend *backend, const cull_layer_desc *conv);
int64_t     cull_layer_block(cull_backend *backend, int64_t c, int64_t common);
bool        cull_layer_fuses(const cull_backend *backend);
bool        cull_layer_int8(const cull_backend *backend);
bool        cull_layer_beside(cull_backend *backend, const cull_layer_desc *desc);
cull_status cull_layer_join(cull_backend *backend);
bool        cull_layer_turns(cull_backend *backend);
cull_status cull_layer_turn_aside(cull_backend *backend);
void        cull_layer_turn_back(cull_backend *backend); /* also when that failed */
bool        cull_layer_mixes(const cull_backend *backend);
bool        cull_layer_weights_last(const cull_backend *backend);

/* Which way each problem is computed that was met so far, as text, so that a run that goes on later
 * takes the same: borrowed until the backend is next asked for anything. Nothing (*bytes 0) where
 * there is one way. */
cull_status cull_layer_ways(cull_backend *backend, const char **text, size_t *bytes);
/* Operations made from now on take these ways, where this device can and its libraries are those of
 * then. */
cull_status cull_layer_recall(cull_backend *backend, const char *text, size_t bytes);

#endif
