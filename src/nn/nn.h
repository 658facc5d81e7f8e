/*
 * nn/nn.h - models as graphs of layers, and plans that run them.
 *
 * A model is described once: nodes in topological order, each a layer with its input nodes,
 * shapes of one example, and where its parameters lie in the model's blocks. It holds no
 * activations. A plan prepares a model for one backend, batch size and mode; then a step
 * allocates nothing and chooses nothing. Plans share the parameters.
 *
 *     score             forward only: losses, H, P; keeps nothing
 *     score-int8        the same, its convolutions in 8 bits where inputs are never negative and
 *                       the backend gains by it; all else as it was
 *     score-bf16        the same with values in bfloat16, whatever training computes in
 *     learn             forward and backward
 *     score-and-keep    forward at M, keeping what backward will need
 *     learn-from-kept   backward at m through rows gathered from a score-and-keep plan
 */
#ifndef CULL_NN_NN_H
#define CULL_NN_NN_H

#include "backend/layer.h"

/* The usual norm: PyTorch's. */
#define CULL_NORM_EPSILON  1e-5
#define CULL_NORM_MOMENTUM 0.1

/* The usual MLP: two hidden layers of 256 units. */
enum { CULL_MLP_WIDTH = 256, CULL_MLP_DEPTH = 2 };

enum { CULL_NODE_INPUTS = 2, CULL_NODE_PARAMS = 2, CULL_MODEL_INPUTS = 3, CULL_MODEL_PLACE = 96 };

/* What backward needs of a node's tensors; learn-from-kept gathers exactly these. */
enum {
    CULL_KEEP_X = 1,
    CULL_KEEP_Y = 2,
    CULL_KEEP_STATE = 4,
    CULL_KEEP_STATS = 8,
    CULL_KEEP_X2 = 16
};

typedef struct cull_node_class cull_node_class;

typedef struct cull_node {
    const cull_node_class *class; /* NULL: an input of the model                */
    cull_dtype  dtype;            /* of what it gives; 0: what the plan computes in */
    char        name[64];         /* "layer1.0.conv1", as in the checkpoint     */
    const char *parts;            /* "query,key,value": equal parts of its rows, each with a name
                                     of its own behind the node's; NULL: it is one           */
    bool            sequence;     /* it gives features of every position, not an image    */
    int             inputs, input[CULL_NODE_INPUTS]; /* numbers of earlier nodes             */
    cull_layer_desc desc;   /* sizes without n and block                  */
    int             params; /* 0, 1 (weight) or 2 (weight, bias)          */
    size_t          param_at[CULL_NODE_PARAMS], param_count[CULL_NODE_PARAMS];
    size_t          running_at, running_count; /* in the model's block of running averages   */
    int             init;                      /* cull_init, or one of the enum below         */
    double          init_value;
} cull_node;

/* How a weight starts, beyond cull_init: what only our own models use. */
enum {
    CULL_INIT_NORMAL = 16, /* normal, init_value; bias zero                                */
    CULL_INIT_ONE,         /* norms: gamma 1 (or init_value if not 0), beta 0              */
    CULL_INIT_UNIFORM      /* weight as CULL_INIT_TORCH; bias zero                         */
};

/* What a layer makes of a sequence, as layer.h says. */
typedef enum cull_node_positions {
    CULL_POSITIONS_NONE,    /* it takes images alone           */
    CULL_POSITIONS_EACH,    /* each position is a row of its own */
    CULL_POSITIONS_POINT,   /* each number alone               */
    CULL_POSITIONS_BEGIN,   /* it makes one, of tokens         */
    CULL_POSITIONS_BETWEEN, /* it takes one and gives one      */
    CULL_POSITIONS_END      /* it takes one and gives features */
} cull_node_positions;

/* A kind of layer: one file each. */
struct cull_node_class {
    const char         *name;
    unsigned            keeps; /* CULL_KEEP_* */
    cull_node_positions positions;
    /* Infer node->desc.y from the inputs' shapes, count parameters and running averages, check.
     * in[i] is the shape of input i (n = 0, block = 1). */
    cull_status (*shape)(cull_node *node, const cull_image *in);
};

struct cull_model {
    char        name[48];
    cull_image  input; /* n = 0, block = 1 */
    size_t      classes;
    int         nodes, room;
    cull_node  *node;   /* node 0 is the first input (class NULL)                */
    int         inputs; /* of the model                                          */
    int         input_node[CULL_MODEL_INPUTS];
    int         last_dense; /* H is its input, its output are the logits             */
    size_t      param_count, running_count;
    double      epsilon, momentum; /* of norms that do not say; 0: the usual */
    int64_t     tokens;            /* of a list of layers: how many inputs have */
    cull_status trouble;           /* first failure while building; later calls do nothing  */
    char        why[256];          /* and its sentence                                      */

    char place[CULL_MODEL_PLACE]; /* of the layer being added, for sentences; "": its node  */
};

/* ---- building (graph.c and one file per layer) ---- */
cull_status cull_nn_model_create(const char *name, int64_t channels, int64_t height, int64_t width,
                                 cull_model **out);
void        cull_nn_model_destroy(cull_model *model);
/* A model that shares nothing with this one, which is finished. */
cull_status cull_nn_model_copy(const cull_model *model, cull_model **out);
/* The same model for sequences of so many positions, no more than it was made for: its parameters
 * lie where the model's do, so that plans of both share them. CULL_BAD_ARGUMENT where it takes no
 * sequences, or one of its layers has parameters by the length. */
cull_status cull_nn_model_at(const cull_model *model, int64_t positions, cull_model **out);
/* Every node as one line of text, so that two models can be told apart: in *out, ended by a zero,
 * released with cull_writer_clear(). */
cull_status cull_nn_model_text(const cull_model *model, cull_writer *out);
/* A further input, of its own type (tokens are int32): its node. */
int cull_nn_input(cull_model *m, int64_t channels, int64_t height, int64_t width, cull_dtype dtype);
/* The logits: the last dense node. Says the first thing that went wrong while building. */
cull_status cull_nn_model_finish(cull_model *m, int logits);

/* ---- models/ ---- */

#define CULL_BERT_DEVIATION 0.02 /* of the normal law that its own weights are drawn from */

/* The sizes of a BERT, as a folder of transformers' says them (train/folder/bert_folder.h). */
typedef struct cull_bert {
    int64_t         tokens, width, layers, heads, inner, positions;
    int64_t         kinds; /* of tokens, of which all are the first; 0: it has none */
    double          epsilon;
    cull_activation activation;
} cull_bert;

typedef struct cull_model_options {
    int64_t channels, height, width;
    size_t  classes;
    int     depth, widen;                  /* wideresnet-d-k, densenet depth and growth,
                                               transformer's blocks and width */
    int64_t          mlp_width, mlp_depth; /* its hidden layers; 0: the usual */
    double           dropout;
    bool             imagenet_stem;
    double           norm_epsilon, norm_momentum; /* 0: the usual */
    cull_activation  activation; /* in place of every ReLU (golden tests use GELU) */
    int64_t          tokens;     /* how many different ones inputs have; 0: inputs are images */
    const cull_bert *bert;       /* of "bert"; NULL: none is known */
} cull_model_options;

/* "mlp", "lenet5", "resnet20", "resnet56", "resnet18", "resnet34", "resnet50", "wrn-16-4",
 * "densenet-bc-100-12", "mobilenetv1", "mobilenetv2", "bert", "transformer-4-128".
 * CULL_UNKNOWN_MODEL: no such name. */
cull_status cull_nn_model_by_name(const char *name, const cull_model_options *options,
                                  cull_model **out);
/* Is every option one that the model has, and within its bounds? CULL_BAD_OPTION names the first
 * that is not: "dropout: ...". A name nobody knows has all of them. */
cull_status cull_nn_model_check_options(const char *name, const cull_model_options *options);
/* Leave out what the model has not: for a proxy, whose options were written for another. */
void        cull_nn_model_fit_options(const char *name, cull_model_options *options);
const char *cull_nn_model_name_at(size_t i); /* every name, NULL at the end */
/* Are its inputs tokens? */
bool cull_nn_model_reads_tokens(const char *name);

/* ---- parameters (params.c, params_host.c) ---- */

/* How networks compute with their parameters. */
typedef struct cull_arithmetic {
    cull_dtype values;     /* CULL_BF16: values between layers are; 0: as the parameters          */
    bool       tf32;       /* products of float32 may be of ten bits of each factor               */
    bool       repeatable; /* only algorithms that give the same bits every time                  */
} cull_arithmetic;

/* Where a convolution's weight lies, which is in an order of the backend's own. */
typedef struct cull_turned {
    size_t at, outputs, channels, taps; /* (outputs, taps, channels) there; else channels first */
} cull_turned;

/* Blocks of a backend's memory. */
typedef struct cull_params {
    cull_backend   *backend;
    cull_dtype      dtype;
    cull_arithmetic arithmetic;
    size_t          count; /* of values and of gradients */
    void           *value, *gradient;
    void           *narrow; /* [count] values in bfloat16, where plans read them; else NULL */
    size_t          running_count;
    void           *running; /* BatchNorm's averages: per node mean (c), variance (c) */
    size_t          turns;
    cull_turned    *turned; /* [turns] weights of another order than the host's */
} cull_params;

cull_status cull_nn_params_create(cull_backend *backend, const cull_model *model, cull_dtype dtype,
                                  cull_params **out);
void        cull_nn_params_destroy(cull_params *params);
/* Plans over the parameters compute like this from now on; before the first of them is made.
 * CULL_UNSUPPORTED where the backend cannot. */
cull_status cull_nn_params_compute(cull_params *params, cull_arithmetic arithmetic);
/* Also plans of another arithmetic than the training's: the narrow copy is kept from now on. */
cull_status cull_nn_params_narrow(cull_params *params);
/* Start values from the seed, node by node. */
cull_status cull_nn_params_init(cull_params *params, const cull_model *model, uint64_t seed);

/* Values and averages where the host can read and write them, weights in the order of layer.h:
 * themselves, or copies, which go back by return. Whatever borrow left, also by failing, ends with
 * drop. The gradient is not among them. */
cull_status cull_nn_params_borrow(const cull_params *params, cull_params *host);
cull_status cull_nn_params_return(cull_params *params, const cull_params *host);
void        cull_nn_params_drop(const cull_params *params, cull_params *host);
/* Values and averages of another network of the same model, wherever they lie. */
cull_status cull_nn_params_copy(cull_params *to, const cull_params *from);

/* Another block of the backend's that lies as the values do (a gradient, an optimizer's momenta):
 * to the host and back, in the host's order. */
cull_status cull_nn_params_download(const cull_params *params, const void *block, void *host);
cull_status cull_nn_params_upload(const cull_params *params, void *block, const void *host);
/* Is the order of such a block the host's own? */
static inline bool cull_nn_params_straight(const cull_params *params)
{
    return params->turns == 0;
}

/* ---- plans (plan.c, plan_steps.c, plan_memory.c, plan_room.c) ---- */
typedef enum cull_plan_mode {
    CULL_PLAN_SCORE,
    CULL_PLAN_LEARN,
    CULL_PLAN_SCORE_AND_KEEP,
    CULL_PLAN_LEARN_FROM_KEPT,
    CULL_PLAN_SCORE_INT8, /* CULL_UNSUPPORTED where the backend cannot, as the next */
    CULL_PLAN_SCORE_BF16
} cull_plan_mode;

typedef struct cull_plan cull_plan;

/* Memory for activations that several plans of one mode use in turn: what one left there is gone
 * when another ran, and signals that it lent are refused then. It grows by a new block, which the
 * plans that come later share; so whoever makes the largest first has one. Into zeros but for the
 * backend; plans must have ended before it does. */
typedef struct cull_plan_room {
    cull_backend *backend;
    char         *block;
    size_t        bytes, all; /* of the block; and of all so far */
    cull_kit      kit;        /* of them                         */
    uint64_t      runs;       /* of all plans in it, so far      */
} cull_plan_room;

void cull_nn_plan_room_clear(cull_plan_room *room);

/* The first batchnorm that sees one value a channel of an example, by its name; NULL: none. */
const char *cull_nn_lone_norm(const cull_model *model);
/* Do batches of so many have statistics to be normalised by? CULL_BAD_ARGUMENT names the norm. */
cull_status cull_nn_check_statistics(const cull_model *model, size_t batch);

/* room: where its activations lie; NULL: in memory of its own. */
cull_status cull_nn_plan_create_in(cull_plan_room *room, const cull_model *model,
                                   cull_params *params, cull_backend *backend, cull_plan_mode mode,
                                   size_t batch, cull_loss loss, cull_plan **out);
cull_status cull_nn_plan_create(const cull_model *model, cull_params *params, cull_backend *backend,
                                cull_plan_mode mode, size_t batch, cull_loss loss, cull_plan **out);
void        cull_nn_plan_destroy(cull_plan *plan);

/*
 * What a step is given: arrays of the backend's memory, which the plan reads where they are and
 * which stay until it was waited for, or for kept rows until they were gone back through. The count
 * is exactly the plan's batch: a short last batch has a plan of its own, since BatchNorm must not
 * see rows that are not there.
 */
typedef struct cull_batch {
    size_t        count;
    size_t        length; /* positions of each sequence, for who looks for a plan; 0: the model's */
    const void   *inputs; /* (count, C, H, W) or (count, H, W, C) as cull_nn_plan_input says */
    const void   *more[CULL_MODEL_INPUTS - 1]; /* further inputs of a model that has them    */
    const void   *target;                      /* as the plan's loss has them */
    const double *weight;                      /* NULL: 1 */
    const uint32_t    *place;                  /* NULL: 0 .. count-1 */
    uint64_t           step, epoch;
    const cull_moment *now; /* the same where a recorded step reads them; NULL: they are fixed */
    cull_key           key; /* of dropout         */
} cull_batch;

/* What cull_layer_block() is to go by in this model: the divisor that all convolution outputs have
 * in common, or 1 where one cannot have blocks of channels or the input would: batches come in NCHW
 * or NHWC. */
int64_t cull_nn_plan_common(const cull_model *model, cull_backend *backend);

/* The layout in which a plan of this model reads its inputs there; n = 0. */
cull_image cull_nn_model_input(const cull_model *model, cull_backend *backend);
/* What a plan of this mode computes in: its inputs and H; all else is as the parameters are. */
cull_dtype cull_nn_plan_values(const cull_params *params, cull_plan_mode mode);
/* The layout in which the plan reads a batch's inputs, and their type; tokens are int32. */
cull_image cull_nn_plan_input(const cull_plan *plan);
cull_dtype cull_nn_plan_dtype(const cull_plan *plan);

/* Forward. *signals (loss, H, P, label, place) borrow the plan's memory, and the batch's, until the
 * plan's next run. There are labels where targets are classes. */
cull_status cull_nn_score(cull_plan *plan, const cull_batch *batch, cull_statistics statistics,
                          unsigned wanted, cull_signals *signals);
/*
 * What whoever learns may do while a plan still goes back, where the backend can do something
 * beside: once what is left has nothing more to do with the later weights, whose gradients are made
 * then or on their way. Both are given what the pass lends; what they ask for comes behind it.
 *
 * known   losses are there, and all that was asked for so far: the last chance to say that they
 *         are wrong
 * later   weights `from` and all behind them may be changed; it goes on beside the rest
 */
typedef struct cull_nn_meanwhile {
    void *context;
    cull_status (*known)(void *context, const cull_plan *plan, const cull_signals *trained);
    cull_status (*later)(void *context, size_t from);
} cull_nn_meanwhile;

/* For its next passes; borrowed. Whether there is such a moment is the plan's to know. */
void cull_nn_plan_meanwhile(cull_plan *plan, const cull_nn_meanwhile *meanwhile);

/* Forward and backward: gradients of (1/count) sum w loss into params->gradient. */
cull_status cull_nn_learn(cull_plan *plan, const cull_batch *batch, cull_signals *trained);
/* Backward through rows of `kept` (a score-and-keep plan that has just run, whose batch is still
 * there). The subset lies on the plan's backend. */
cull_status cull_nn_learn_kept(cull_plan *plan, cull_plan *kept, const cull_subset *subset,
                               cull_signals *trained);
/* The plan's latest pass was done again by a recording, in another step: what it lent then is lent
 * anew. */
void cull_nn_repeated(cull_plan *plan, uint64_t step, uint64_t epoch, cull_signals *signals);

/* Learn-from-kept: BatchNorm's statistics are constants on the way back (A = B = 0 in METHODS'
 * rule), in place of what the kept rows say. */
void cull_nn_plan_constants(cull_plan *plan);

/* (batch, classes) of the latest forward pass, on the backend, until the plan's next run. */
const void *cull_nn_plan_logits(const cull_plan *plan);
/* Targets of the latest run, the batch's or gathered, and the loss they are of. */
const void *cull_nn_plan_target(const cull_plan *plan);
cull_loss   cull_nn_plan_loss(const cull_plan *plan);
/* Of activations and gradients; what operations keep of their own is not counted. */
size_t cull_nn_plan_bytes(const cull_plan *plan);

/* Implementation name of every operation: i = 0, 1, ... until NULL. For tests. */
const char *cull_nn_plan_implementation(const cull_plan *plan, size_t i);

#endif
