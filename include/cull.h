/*
 * cull.h - decide which training examples are worth backpropagating.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A selector looks at what a forward pass saw of M examples (per-example losses;
 * the inputs H and output gradients P of the last linear layer) and returns a
 * weighted subset of m of them to train on. This header is the public API,
 * in the order the values flow; cull_lab.h adds instruments for looking into runs:
 *
 *     statuses, memory, tensors      the ground
 *     arrays on disk                 .npy and .npz files
 *     backend                        where the arithmetic runs
 *     signals                        what the forward pass saw        (in)
 *     subset                         which examples, at which weight  (out)
 *     selector                       needs -> select -> observe, and its state
 *     options and strategies         what there is, and how to write another
 *     solvers                        orthogonal matching pursuit, facility location
 *     devices, for bindings          their streams and memory (experimental)
 *     plug-ins                       what a strategy in a shared object calls
 *     diagnosis                      how good a subset is
 *     data sets                      what there is to train on
 *     models                         a network of one's own, layer by layer
 *     networks                       score -> select -> learn -> step, and predict
 *     recipes and runs               from a recipe to a trained network
 *     comparisons                    which strategy pays, at the same cost
 *     reports                        a page about runs and comparisons
 *
 * A complete program: keep the hardest 30 % of a batch, Selective-Backprop's way.
 *
 *     #include <cull.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         float loss[128];                    // from your forward pass
 *         for (int i = 0; i < 128; i++) loss[i] = (float)i;
 *
 *         cull_option   options[] = {{"keep", "0.3"}};
 *         cull_setting  setting = {.pool = 128, .batch = 128, .seed = 1};
 *         cull_selector *selector = NULL;
 *         cull_subset    subset = {0};
 *         cull_signals   signals = {.count = 128, .loss = cull_vector(loss, CULL_F32, 128)};
 *
 *         if (cull_selector_create("sb", options, 1, &setting, &selector) ||
 *             cull_select(selector, &signals, 0, &subset))
 *             return fprintf(stderr, "%s\n", cull_last_error()), 1;
 *         for (size_t i = 0; i < subset.count; i++)
 *             printf("%u %g\n", subset.index[i], subset.weight[i]);
 *         cull_subset_clear(&subset);
 *         cull_selector_destroy(selector);
 *         return 0;
 *     }
 *
 * Conventions. Every call that can fail returns a cull_status; the sentence behind
 * it is cull_last_error(). Nothing here prints, exits or aborts. destroy, close and
 * clear accept NULL or zeros. Arrays in a cull_tensor are borrowed and never written
 * unless a comment says so. An object is used by one thread at a time; distinct
 * objects are independent, also where they share a backend, which any number of
 * threads may use at once. The same seed and inputs give the same subset, bit for
 * bit, whatever the thread count.
 *
 * Sizes. A struct that begins with `size` may grow, at its end, in a later version. size is its
 * sizeof as the caller knows it; 0 stands for what this header says, so that a program compiled
 * with the header of the very library it runs with may leave it out. A binding, and a program that
 * is to run with a later library, sets it: of a struct that is shorter than the library's the rest
 * is taken for zeros, and results are written as far as it goes; of one that is longer the rest has
 * to be zeros (else CULL_BAD_ARGUMENT names the struct). Arrays of such structs go by the size of
 * the first. A struct for results, too, is zeroed, with its size set or not, before a call sees it.
 * The others are as they are for good (cull_tensor and cull_device, cull_target, cull_option,
 * cull_strategy_text, cull_array, cull_key, cull_window, cull_allocator), or belong to the
 * interface of strategies, which has a number (CULL_STRATEGY_ABI).
 */
#ifndef CULL_H
#define CULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CULL_VERSION_MAJOR 0
#define CULL_VERSION_MINOR 1
#define CULL_VERSION_PATCH 0

#if defined(__GNUC__)
#define CULL_API               __attribute__((visibility("default")))
#define CULL_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define CULL_API
#define CULL_PRINTF(at, first)
#endif

/* ---- statuses ----------------------------------------------------------------- */

#define CULL_STATUS_MAP(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(NO_MEMORY, 1, "out of memory")                                                               \
    X(BAD_ARGUMENT, 2, "argument outside its documented range")                                    \
    X(BAD_OPTION, 3, "option mistyped, out of bounds or against another")                          \
    X(NOT_FINITE, 4, "a signal is NaN or infinite")                                                \
    X(UNKNOWN_OPTION, 5, "no option is called so")                                                 \
    X(UNKNOWN_STRATEGY, 6, "no strategy is called so")                                             \
    X(UNKNOWN_MODEL, 7, "no model is called so")                                                   \
    X(UNKNOWN_SET, 8, "no set of examples is called so")                                           \
    X(NO_SAVING, 9, "it would cost no less than training on all examples")                         \
    X(BAD_FILE, 10, "file does not follow its format")                                             \
    X(IO, 11, "the system could not read or write")                                                \
    X(EXISTS, 12, "what would be made is there already")                                           \
    X(BUSY, 13, "another process is at work there")                                                \
    X(DIFFERS, 14, "what is there was begun with other options")                                   \
    X(NOT_FOUND, 15, "what was looked for is not on this machine")                                 \
    X(STOPPED, 16, "the caller asked to stop")                                                     \
    X(UNSUPPORTED, 20, "this device cannot run this operation")                                    \
    X(BAD_STATE, 21, "saved state does not belong to this object")                                 \
    X(TOO_LARGE, 22, "the work would exceed the memory limit")                                     \
    X(DEVICE, 23, "a device failed, or lost what it held")

typedef enum cull_status {
#define CULL_STATUS_ENUM(name, number, text) CULL_##name = number,
    CULL_STATUS_MAP(CULL_STATUS_ENUM)
#undef CULL_STATUS_ENUM
} cull_status;

CULL_API const char *cull_version(void);
CULL_API const char *cull_status_name(cull_status status); /* "BAD_ARGUMENT" */
CULL_API const char *cull_status_text(cull_status status); /* the general sentence */

/* The sentence of this thread's latest failure, or "" before any. Valid until the
 * next call of this library on the same thread that fails. */
CULL_API const char *cull_last_error(void);

/* What that failure is about, for a program that helps: the option's key, the wrong name or the
 * file, as its status says (UNKNOWN_*: the name; EXISTS, BUSY: the folder; DIFFERS: the key). ""
 * where nothing is named. Valid as long as the sentence, which nobody has to take apart. */
CULL_API const char *cull_last_subject(void);

/* For strategies outside the library: keep a sentence, with or without a subject, and return
 * `status`. */
CULL_API cull_status cull_fail(cull_status status, const char *format, ...) CULL_PRINTF(2, 3);
CULL_API cull_status cull_fail_about(cull_status status, const char *subject, const char *format,
                                     ...) CULL_PRINTF(3, 4);

/* ---- memory -------------------------------------------------------------------- */

/* Replace malloc for all of the library. Set before any other call; NULL restores
 * the C library's. The three functions behave as malloc, realloc and free. */
typedef struct cull_allocator {
    void *(*allocate)(void *context, size_t bytes);
    void *(*reallocate)(void *context, void *data, size_t bytes);
    void (*release)(void *context, void *data);
    void *context;
} cull_allocator;

CULL_API void cull_allocator_set(const cull_allocator *allocator);

/* ---- tensors ------------------------------------------------------------------- */

/* BF16: the upper half of a float32; networks on a device compute in it. */
typedef enum cull_dtype {
    CULL_F32 = 1,
    CULL_F64,
    CULL_I32,
    CULL_I64,
    CULL_U8,
    CULL_BF16
} cull_dtype;

enum { CULL_MAX_DIMS = 4 };

/* Where an array lies, in DLPack's numbering. All zeros is the host, and so is DLPack's 1. */
typedef struct cull_device {
    int32_t kind;   /* 0 or 1: the host; 2: CUDA; others as DLPack numbers them */
    int32_t number; /* of the devices of that kind; nothing on the host         */
} cull_device;

enum { CULL_DEVICE_HOST = 0, CULL_DEVICE_CUDA = 2 };

/* A view of an array: borrowed, never freed here. data == NULL means absent. A call that gets one
 * from a device whose memory it does not read returns CULL_UNSUPPORTED, naming both. */
typedef struct cull_tensor {
    void       *data;
    cull_dtype  dtype;
    int         dims;
    int64_t     shape[CULL_MAX_DIMS];
    int64_t     stride[CULL_MAX_DIMS]; /* in elements */
    cull_device device;
} cull_tensor;

/* Views of dense row-major arrays on the host. The data is only read, whatever the cast says. */
CULL_API cull_tensor cull_vector(const void *data, cull_dtype dtype, size_t count);
CULL_API cull_tensor cull_matrix(const void *data, cull_dtype dtype, size_t rows, size_t columns);
/* (count, channels, height, width). */
CULL_API cull_tensor cull_images(const void *data, cull_dtype dtype, size_t count, size_t channels,
                                 size_t height, size_t width);

CULL_API size_t      cull_dtype_size(cull_dtype dtype); /* bytes of one element; 0 if unknown */
CULL_API const char *cull_dtype_name(cull_dtype dtype); /* "float32" */

/*
 * View a DLPack tensor.
 *
 * dltensor  a DLTensor, or a DLManagedTensor, which begins with one. Borrowed: it
 *           must outlive the view, and its deleter stays with the caller.
 * out       the view, with the device that the memory lies on. Rows may be strided; the last
 *           dimension must be dense. Nothing is read of the memory itself, nor is it waited for.
 *
 * Returns CULL_UNSUPPORTED for more than CULL_MAX_DIMS dimensions, or a type other than the
 * six above (one lane).
 */
CULL_API cull_status cull_tensor_from_dlpack(const void *dltensor, cull_tensor *out);

/* ---- arrays on disk -------------------------------------------------------------- */

/* In libcull; libcull_select leaves files to its host. The formats are numpy's .npy and
 * .npz, as docs/formats.md says: hostile files end in one sentence, not in a crash. */
typedef struct cull_arrays cull_arrays;

/*
 * Open a file of arrays, told by its content: .npy holds one without a name (""), .npz
 * any number. An array is read when it is first asked for.
 *
 * get       a dense view, valid until close. name NULL: the file's only array. What cull_dtype
 *           has no type for is widened: half floats, bool, other integers.
 *           CULL_BAD_ARGUMENT when there is none of that name (or more than one);
 *           CULL_BAD_FILE when its bytes are not what the format asks for.
 */
CULL_API cull_status cull_arrays_open(const char *path, cull_arrays **out);
CULL_API cull_status cull_arrays_get(cull_arrays *arrays, const char *name, cull_tensor *out);
CULL_API const char *cull_arrays_name(const cull_arrays *arrays, size_t i); /* NULL at the end */
CULL_API void        cull_arrays_close(cull_arrays *arrays);

typedef struct cull_array {
    const char *name;
    cull_tensor tensor; /* any strides */
} cull_array;

/* Write a .npz file of arrays, or a file of any bytes (a selector's saved state): under a
 * temporary name, synced, then renamed, so that a failure leaves what was there before. */
CULL_API cull_status cull_arrays_write(const char *path, const cull_array *arrays, size_t count);
CULL_API cull_status cull_file_write(const char *path, const void *data, size_t bytes);

/* All of a file. *data is a new block of *bytes, released with cull_bytes_release(). */
CULL_API cull_status cull_file_read(const char *path, void **data, size_t *bytes);

/* ---- backend ------------------------------------------------------------------- */

/* Where the arithmetic runs: "cpu" (fast), "ref" (plain loops, the definition of right), or
 * "cuda", a device, whose number may stand behind a colon. Owns its threads, which work for one
 * caller at a time; whoever calls meanwhile, from a thread of his own, works alone and gets the
 * same; one on a device has one caller at a time. Closed when nobody uses it. */
typedef struct cull_backend cull_backend;

/* threads 0: as many as there are cores. CULL_UNSUPPORTED for an unknown name, and where there is
 * no such device, or what it needs is not installed: the sentence says what. */
CULL_API cull_status cull_backend_open(const char *name, unsigned threads, cull_backend **out);
CULL_API void        cull_backend_close(cull_backend *backend);
CULL_API const char *cull_backend_describe(const cull_backend *backend); /* "cpu avx2 2 threads" */

/* What a backend's device has. Zeros and empty texts for the processor's. */
typedef struct cull_backend_facts {
    size_t size;        /* sizeof, or 0                                                    */
    size_t free, total; /* bytes of its memory; `free` with what this process has and does
                           not use                                                         */
    char versions[112]; /* "driver 13.0, runtime 13.0, cuDNN 9.14.0"                       */
    char bus[16];       /* its address, "0000:1b:00.0"                                     */
} cull_backend_facts;

CULL_API cull_status cull_backend_look(cull_backend *backend, cull_backend_facts *out);

/* ---- signals: what the forward pass saw ---------------------------------------- */

enum {
    CULL_SIGNAL_LOSS = 1,         /* per-example loss, unweighted                     */
    CULL_SIGNAL_H = 2,            /* inputs of the last linear layer                  */
    CULL_SIGNAL_P = 4,            /* gradient of the summed loss w.r.t. the logits    */
    CULL_SIGNAL_LABEL = 8,        /* class of each example                            */
    CULL_SIGNAL_IRREDUCIBLE = 16, /* loss of a model trained on other data            */
    CULL_SIGNAL_LOGITS = 32       /* only in the target block                         */
};

/* What to match instead of the training gradient: a clean validation set. */
typedef struct cull_target {
    size_t      count;  /* 0: no target block                 */
    cull_tensor h;      /* (count, D)  float                  */
    cull_tensor p;      /* (count, C)  float                  */
    cull_tensor label;  /* (count)     int32 or int64         */
    cull_tensor logits; /* (count, C)  float                  */
} cull_target;

/* Borrowed for the length of a call; absent arrays have data == NULL. Floats may be
 * float32, float64 or bfloat16, labels int32, int64 or uint8, rows strided. All of them lie on one
 * device: the host, or that of the selector's backend. */
typedef struct cull_signals {
    size_t          size;       /* sizeof, or 0 */
    size_t          count;      /* examples: M of a batch, or N of the pool           */
    const uint32_t *place;      /* [count] place in the pool, each < setting.pool;
                                   NULL: 0 .. count-1 (the whole pool, where losses or
                                   examples are kept by place)                        */
    uint64_t       step, epoch; /* when: what randomness and rhythm are counted by    */
    cull_tensor    loss;        /* (count)                                            */
    cull_tensor    h;           /* (count, D)                                         */
    cull_tensor    p;           /* (count, C)                                         */
    cull_tensor    label;       /* (count)                                            */
    cull_tensor    irreducible; /* (count)                                            */
    const uint8_t *unseen;      /* [count] 1: no loss is known yet, loss[i] is ignored
                                   and the rule puts the example first; NULL: none    */
    cull_target target;
    cull_device device; /* of all arrays, as every tensor says of itself too  */

    /* Signals of a network are borrowed from it until its next pass: it counts its passes here,
     * and what came of pass `lent` is refused (CULL_BAD_ARGUMENT) when another has overwritten
     * it. NULL: the arrays are the caller's own. Whoever copies them all sets NULL. */
    const uint64_t *passes;
    uint64_t        lent;
} cull_signals;

/* ---- subset: which examples, at which weight ----------------------------------- */

#define CULL_NO_ROW UINT32_MAX

enum {
    CULL_SUBSET_FILLED = 1,   /* the rule ended short; random examples fill the rest   */
    CULL_SUBSET_FALLBACK = 2, /* no positive weight at all: a random subset, weights 1 */
    CULL_SUBSET_SHORT = 4,    /* fewer than the budget, or than the whole minibatches
                                 nearest to it: `short=accept`, or nothing was left to pick */
    CULL_SUBSET_LATE = 8      /* of a training step that waits for nothing: `picked` and the other
                                 flags are not known yet                                */
};

/* The only thing a selector produces. The training loss is (1/count) sum w*loss over
 * each training batch, never normalised again. Zero it, or pass an earlier result,
 * whose arrays are reused and grown; end it with cull_subset_clear(). */
typedef struct cull_subset {
    size_t    size;               /* sizeof, or 0 */
    size_t    count;              /* examples chosen                                             */
    size_t    room;               /* capacity of the arrays                                      */
    uint32_t *index;              /* [count] row of the signals, ascending, so that keeping all
                                     is bit-identical to full training; repeats only when the
                                     strategy samples with replacement; CULL_NO_ROW where the
                                     example was carried over from earlier signals               */
    uint32_t *place;              /* [count] its place in the pool                               */
    double   *weight;             /* [count] >= 0                                                */
    uint32_t *group;              /* [count] which training batch it belongs to, 0 .. groups-1;
                                     within a group rows ascend. All 0 while groups <= 1         */
    size_t        groups;         /* 0: any batching will do; else whole training batches        */
    size_t        picked;         /* of count, those the rule itself picked (rest: filled)       */
    unsigned      flags;          /* CULL_SUBSET_*                                               */
    cull_device   device;         /* where the four arrays lie: where the signals did            */
    cull_backend *backend;        /* whose memory they are, to be cleared before it is closed;
                                     NULL: the host's                                         */
    struct cull_outcome *outcome; /* theirs too: where what is late is told */
} cull_subset;

CULL_API void cull_subset_clear(cull_subset *subset);

/* For strategies: give the arrays room for `count`, which also becomes the count.
 * Weights are set to 1, groups to 0, index and place left for the caller to fill; all is
 * left where the arrays are a backend's. */
CULL_API cull_status cull_subset_resize(cull_subset *subset, size_t count);

/* ---- selector ------------------------------------------------------------------- */

typedef struct cull_selector cull_selector;

/* One option, both sides as text, as a recipe or a command line has them. */
typedef struct cull_option {
    const char *key, *value;
} cull_option;

/* The run that a selector serves. */
typedef struct cull_setting {
    size_t        size;   /* sizeof, or 0 */
    size_t        pool;   /* N, examples in the training set, 1 .. 2^32-2              */
    size_t        batch;  /* base batch size, 1 .. pool; 0: the pool is one batch      */
    uint64_t      epochs; /* of the whole run; 0: unknown (windows and infobatch need it) */
    uint64_t      steps;  /* per epoch, all alike; 0: what batches and candidates make */
    uint64_t      seed;
    cull_backend *backend; /* borrowed, outlives the selector; NULL: "cpu", one thread  */
} cull_setting;

/*
 * Make a selector.
 *
 * strategy  a name that cull_strategy_at() lists, with a modifier behind it if wanted
 *           ("sb", "sb remembered", "top-loss stale"), or the path of a shared object
 *           (a name with a slash; see "writing a strategy").
 * options   `count` pairs, checked whole against the strategy's table: a repeated key, a
 *           value of the wrong type or out of bounds, or values that contradict each other
 *           are CULL_BAD_OPTION, an unknown key is CULL_UNKNOWN_OPTION; both name the key.
 * setting   copied.
 *
 * CULL_UNKNOWN_STRATEGY when there is none of that name.
 */
CULL_API cull_status cull_selector_create(const char *strategy, const cull_option *options,
                                          size_t count, const cull_setting *setting,
                                          cull_selector **out);
CULL_API void        cull_selector_destroy(cull_selector *selector);

/* The strategy's name with its modifier, and its options resolved: "keep=0.3 beta=auto ...".
 * Owned by the selector. */
CULL_API const char *cull_selector_name(const cull_selector *selector);
CULL_API const char *cull_selector_options(const cull_selector *selector);

/* How many epochs the run has: setting.epochs, except under a warm start, which
 * trades kappa*T epochs on the subset for kappa*T*keep full ones. */
CULL_API uint64_t cull_selector_epochs(const cull_selector *selector);

typedef enum cull_action {
    CULL_TRAIN_ALL,    /* train `candidates` examples; nothing to select               */
    CULL_SELECT_BATCH, /* bring `candidates` examples and their signals to cull_select */
    CULL_SELECT_POOL,  /* the same with all of the pool; train the subset in batches   */
    CULL_KEEP_SUBSET   /* go on training the subset of the last CULL_SELECT_POOL       */
} cull_action;

typedef struct cull_needs {
    size_t      size; /* sizeof, or 0 */
    cull_action action;
    unsigned    signals;    /* CULL_SIGNAL_* to score; 0: no scoring pass              */
    unsigned    target;     /* CULL_SIGNAL_* of the target block                       */
    unsigned    observe;    /* CULL_SIGNAL_* of what is trained, for cull_observe      */
    bool        running;    /* score with BatchNorm's running averages (pool signals)  */
    size_t      candidates; /* examples to bring                                       */
    size_t      budget;     /* how many of them will be kept, of whole minibatches about;
                               0: the rule decides                                     */
} cull_needs;

/* Asked before each step: what the selector wants then. It changes with stale epochs,
 * kath18's switch, windows and warm starts, and must be asked anew each time. */
CULL_API cull_status cull_selector_needs(const cull_selector *selector, uint64_t step,
                                         uint64_t epoch, cull_needs *out);

/* What a selector that has seen nothing yet may ask for in the course of the run: signals, target
 * and observe as in cull_selector_needs(), but of every step, also where the first are trained
 * plainly. What is not among them it never reads. */
CULL_API cull_status cull_selector_reads(const cull_selector *selector, cull_needs *out);

/*
 * Choose a weighted subset.
 *
 * signals   what the forward pass saw; borrowed for the length of the call. On the host or on
 *           the selector's backend (CULL_UNSUPPORTED elsewhere), and so is the subset then.
 * budget    most examples to choose, 1 .. signals->count; 0: the selector's own `keep`.
 *           Where whole minibatches are chosen (`scope=batch`), about as many: the number
 *           of minibatches nearest to it, at least one, so up to half a batch more.
 *           A step outside the window keeps everything, whatever the budget.
 * out       the result; its count is 0 on failure.
 *
 * Returns CULL_BAD_ARGUMENT when the budget is out of range, a shape is wrong or a
 * signal the strategy needs is absent; CULL_NOT_FINITE naming the example when one is
 * NaN or infinite. A failed call leaves the selector's history as it was.
 */
CULL_API cull_status cull_select(cull_selector *selector, const cull_signals *signals,
                                 size_t budget, cull_subset *out);

/* Tell the selector what training then saw: the signals named in needs.observe, of the
 * examples that were trained. Does nothing for strategies that remember nothing. */
CULL_API cull_status cull_observe(cull_selector *selector, const cull_signals *trained);

/* The end of the run: what the selector still holds (sb-stream's last, short batch), where out
 * lay before; on the host if it was zeroed. out->count is 0 when there is nothing. */
CULL_API cull_status cull_flush(cull_selector *selector, cull_subset *out);

/*
 * Save and restore a selector's history, so that a resumed run continues bit for bit.
 *
 * save      *bytes is a new block of *size bytes, released with cull_bytes_release().
 * restore   into a selector made with the same strategy, options and setting;
 *           CULL_BAD_STATE, and an unchanged selector, when it was not, or when the
 *           bytes are damaged.
 */
CULL_API cull_status cull_selector_save(const cull_selector *selector, void **bytes, size_t *size);
CULL_API cull_status cull_selector_restore(cull_selector *selector, const void *bytes, size_t size);
CULL_API void        cull_bytes_release(void *bytes);

/* max(1, floor(keep*count)), safe against keep*count falling just short of an integer. */
CULL_API size_t cull_budget(double keep, size_t count);

/* Share `total` among classes in proportion to size[], by largest remainder: the shares
 * add up to min(total, sum of size) and none exceeds its size. Sizes add up to below 2^32. */
CULL_API void cull_budget_split(size_t total, const size_t *size, size_t classes, size_t *share);

/* ---- options and strategies ------------------------------------------------------ */

typedef enum cull_option_type {
    CULL_OPTION_INT,
    CULL_OPTION_REAL,   /* with `words`: a number or one of them; behind one that ends in a
                           colon stands a number, "absolute:0.5"  */
    CULL_OPTION_CHOICE, /* one of `words`                        */
    CULL_OPTION_BOOL,   /* true or false                         */
    CULL_OPTION_TEXT,   /* any text without control characters; with `words`: what it names,
                           one of set, model, strategy, file, folder */
    CULL_OPTION_LIST,   /* numbers with commas between, or none  */
    CULL_OPTION_LAYERS  /* of recipes: a list of layers, or none */
} cull_option_type;

/* One line of an option table. */
typedef struct cull_option_spec {
    const char      *key; /* NULL ends a table                        */
    cull_option_type type;
    const char      *fallback;  /* default, as text                    */
    double           low, high; /* bounds of a number, both inclusive */
    const char      *words;     /* "a|b|c", or NULL                   */
    const char      *doc;       /* one line                           */
} cull_option_spec;

/* Checked options. The getters take a key of the table and cannot fail. */
typedef struct cull_values cull_values;
CULL_API double            cull_value_real(const cull_values *values, const char *key);
CULL_API int64_t           cull_value_int(const cull_values *values, const char *key);
CULL_API bool              cull_value_bool(const cull_values *values, const char *key);
CULL_API const char *cull_value_text(const cull_values *values, const char *key); /* as given */
CULL_API bool        cull_value_is(const cull_values *values, const char *key, const char *word);

typedef enum cull_runs {
    CULL_RUNS_STEP,   /* every step, over the batch                      */
    CULL_RUNS_EPOCH,  /* every epoch, over the pool                      */
    CULL_RUNS_PERIOD, /* every `period` epochs, over the pool            */
    CULL_RUNS_ONCE    /* once, over the pool                             */
} cull_runs;

enum {
    CULL_TAKES_STALE = 1,      /* may be driven by stored losses between scoring epochs */
    CULL_TAKES_REMEMBERED = 2, /* may be driven by the losses of training steps         */
    CULL_NO_BUDGET = 4,        /* how many are kept follows from the rule, not `keep`   */
    CULL_SAMPLES = 8,          /* keeping all is not exactly full training: always ask  */
    CULL_COMES_SHORT = 16,     /* may keep fewer than the budget                        */
    CULL_HOST_SIGNALS = 32,    /* reads signals and writes subsets on the host: where they
                                  lie elsewhere, they are copied. Plug-ins always do    */
    CULL_UNIFORM = 64,         /* chooses without looking: what others are held against */
    CULL_KEEPS_ALL = 128,      /* nothing is chosen: full training                      */
    CULL_KEEPS_BY_POWER = 256  /* no budget: an example is kept with the chance percentile^beta,
                                  so about 1/(1+beta) of them                           */
};

/* What every call of a strategy is handed. */
typedef struct cull_self {
    const cull_setting *setting; /* batch filled in, and the backend whose arrays are handed in */
    const cull_values  *values;
    void               *state; /* state_size bytes, zero before create   */
    /* What the modifiers keep by place, for rules of the library; NULL: losses are scored. */
    struct cull_sel_losses  *losses;
    const struct cull_calls *call; /* the library, as a shared object reaches it */
    /* What its operations are told, and tell, when they run; for rules of the library. */
    const struct cull_sel_watch *watch;
} cull_self;

typedef struct cull_writer cull_writer;
typedef struct cull_reader cull_reader;
CULL_API cull_status       cull_write(cull_writer *writer, const void *data, size_t bytes);
CULL_API cull_status       cull_read(cull_reader *reader, void *data, size_t bytes);

#define CULL_STRATEGY_ABI    3 /* an object made for another interface is refused */
#define CULL_STRATEGY_SYMBOL "cull_strategy_plugin" /* a `const cull_strategy` */

/*
 * Writing a strategy: fill in this struct. Hooks marked optional may be NULL. The
 * frame around it checks shapes, finiteness and the budget, returns everything with
 * weights 1 when the budget is the whole count (unless CULL_SAMPLES), applies windows,
 * modifiers and rhythm, fills in out->place from out->index, and sorts by row.
 *
 * As a shared object: export it under CULL_STRATEGY_SYMBOL, link nothing, call the library
 * through self->call (see "plug-ins"), and pass the object's path as the strategy's name.
 * examples/strategy_median.c is one.
 */
typedef struct cull_strategy {
    uint32_t                abi; /* CULL_STRATEGY_ABI */
    const char             *name;
    const char             *doc; /* one line */
    cull_runs               runs;
    unsigned                traits;  /* CULL_TAKES_*, CULL_UNIFORM and the others   */
    unsigned                signals; /* CULL_SIGNAL_* the rule always reads         */
    const cull_option_spec *options; /* own options; shared ones are added. May be NULL */
    size_t                  state_size;

    /* Check options against each other and the setting, allocate. Optional. On failure
     * destroy is called. */
    cull_status (*create)(cull_self *self);
    void (*destroy)(cull_self *self); /* optional */
    /* Adjust needs that the frame filled in from the fields above. Optional. */
    void (*needs)(const cull_self *self, uint64_t step, uint64_t epoch, cull_needs *needs);
    /* The rule. Write out->index (any order), out->weight, and group/groups if any. */
    cull_status (*decide)(cull_self *self, const cull_signals *signals, size_t budget,
                          cull_subset *out);
    cull_status (*observe)(cull_self *self, const cull_signals *trained); /* optional */
    cull_status (*flush)(cull_self *self, cull_subset *out);              /* optional */
    cull_status (*save)(const cull_self *self, cull_writer *writer);      /* with restore */
    cull_status (*restore)(cull_self *self, cull_reader *reader);
} cull_strategy;

/* The built-in strategies, in the order of METHODS: i = 0, 1, ... until NULL. */
CULL_API const cull_strategy *cull_strategy_at(size_t i);
CULL_API const cull_strategy *cull_strategy_find(const char *name); /* NULL: none */

/* Every option of a strategy, shared ones included: i = 0, 1, ... until NULL. */
CULL_API const cull_option_spec *cull_strategy_option_at(const cull_strategy *strategy, size_t i);
CULL_API const cull_option_spec *cull_strategy_option(const cull_strategy *strategy,
                                                      const char *key); /* NULL: it has none */

/*
 * A strategy as a user writes it: "sb", "sb remembered", "top-loss+stale keep=0.1 every=2", or the
 * path of a plug-in (with a slash) with its options. Words stand between blanks, a list in brackets
 * is one word; those without '=' come first. A zeroed struct is ended by
 * cull_strategy_text_clear().
 */
typedef struct cull_strategy_text {
    char        *name;     /* "sb"; of a plug-in its path. Owned, with the letters of all others */
    const char  *modifier; /* "stale", "remembered", or "": none                                */
    cull_option *option;   /* [options] as given, in their order; owned, to be changed at will  */
    size_t       options;
} cull_strategy_text;

/* CULL_BAD_OPTION: no name, another modifier, or one behind an option. Whether the strategy and its
 * options exist is not looked at. */
CULL_API cull_status cull_strategy_text_read(const char *text, cull_strategy_text *out);
CULL_API void        cull_strategy_text_clear(cull_strategy_text *text);
/* The value that is given to an option, or NULL. */
CULL_API const char *cull_strategy_text_value(const cull_strategy_text *text, const char *key);
/* As it is written, one blank between words; returns its length, as snprintf() does. */
CULL_API size_t cull_strategy_text_write(const cull_strategy_text *text, char *out, size_t room);

/* The built-in strategy that a text begins with, whatever follows its name; NULL: none, or a
 * plug-in. */
CULL_API const cull_strategy *cull_strategy_of(const char *text);

/* The next item of a list with commas between, *length letters from where it returns; commas in
 * brackets do not count. NULL at the end, where *rest, at first the list, is NULL too. An empty
 * list has one empty item. */
CULL_API const char *cull_list_next(const char **rest, size_t *length);

/* Counter-based randomness: the same key and counters give the same number anywhere. */
typedef struct cull_key {
    uint32_t word[2];
} cull_key;

CULL_API cull_key cull_key_make(uint64_t seed, const char *stream);
/* Uniform in the open interval (0, 1), from step and place (or any two counters). */
CULL_API double cull_key_uniform(cull_key key, uint64_t step, uint64_t place);

/* ---- solvers ---------------------------------------------------------------------- */

typedef enum cull_pick {
    CULL_PICK_ABS,    /* largest |correlation|                              */
    CULL_PICK_SIGNED, /* largest correlation                                */
    CULL_PICK_SAMPLE  /* drawn with probability ~ |correlation| (divbs)     */
} cull_pick;

typedef struct cull_omp_options {
    size_t    size;        /* sizeof, or 0 */
    double    ridge;       /* lambda, relative to the mean of diag K; 0: none            */
    double    tolerance;   /* stop when the residual's norm is below this times |b|; 1e-6 */
    bool      nonnegative; /* refit under weights >= 0 after each pick                   */
    cull_pick pick;
    cull_key  key; /* of CULL_PICK_SAMPLE                                        */
    uint64_t  step;
    size_t    memory;   /* bytes one problem may take beyond its input; 0: 1 GiB      */
    bool      absolute; /* ridge is added to K as it is                               */
} cull_omp_options;

typedef enum cull_omp_stop {
    CULL_OMP_BUDGET,     /* as many picks as asked for             */
    CULL_OMP_FIT,        /* residual within tolerance              */
    CULL_OMP_DEPENDENT,  /* every atom left depends on those picked */
    CULL_OMP_NO_GAIN,    /* no correlation (or no positive one) left */
    CULL_OMP_ZERO_TARGET /* the target is zero                     */
} cull_omp_stop;

/*
 * Orthogonal matching pursuit towards a target b, over n atoms given by their Gram
 * matrix, explicit or as last-layer gradients g_i = p_i (x) [h_i; 1], whose Gram matrix
 * K = P P^T o (H H^T + 1) is then made column by column and never stored.
 */
typedef struct cull_omp_problem {
    size_t size;   /* sizeof, or 0 */
    size_t count;  /* n atoms                                                         */
    size_t budget; /* most picks, 1 .. n                                              */

    /* explicit: k present                                                            */
    cull_tensor   k;     /* (n, n) symmetric, float32 or float64                         */
    const double *t;     /* [n] inner products of atoms and b                            */
    double        b2;    /* |b|^2; 0 or less: not known, then only the other rules stop  */
    double        noise; /* relative error of k's entries, where they were made with fewer digits
                            than they are solved with; what it explains is nothing. 0: exact */

    /* from the last layer: k absent                                                  */
    cull_tensor     h, p;   /* (N, D), (N, C)                                         */
    const uint32_t *row;    /* [n] rows of h and p that are atoms; NULL: 0 .. n-1     */
    int32_t         column; /* -1: all classes; c: only row c of the gradient, D+1 numbers */
    const double   *b;      /* the target, (C, D+1) or with a column (D+1), bias last;
                               NULL: the atoms' mean                                  */

    /* results                                                                        */
    uint32_t     *index;  /* [budget] atoms in the order picked; the caller's       */
    double       *weight; /* [budget] their weights, not normalised; the caller's   */
    size_t        picked;
    double        residual; /* |r| / |b| (regularised error under ridge); NaN: b2 unknown */
    double        ridge;    /* what the options' ridge came to: lambda times the mean of diag K */
    cull_omp_stop stop;
} cull_omp_problem;

/* Solve `count` independent problems, in parallel over the backend's threads. Atoms
 * with weight zero (nonnegative) are not among the picked. CULL_TOO_LARGE when one
 * needs more than options->memory. backend NULL: "cpu" on one thread.
 *
 * All arrays of a problem (here and of facility location) lie together: on the host, or on the
 * backend's device, which its tensors then say. What is told of a problem is on the host always. */
CULL_API cull_status cull_omp(cull_backend *backend, cull_omp_problem *problems, size_t count,
                              const cull_omp_options *options);

/* K (n, n) and, where not NULL, t = row means of K and b2 = mean of t, from H and P of
 * n examples of either dtype, in double: near gradients differ in the last digits of K. With a
 * target, t and b2 are towards its mean gradient. K and t lie where H does, b2 on the host. */
CULL_API cull_status cull_gram(cull_backend *backend, const cull_tensor *h, const cull_tensor *p,
                               const cull_target *target, double *k, double *t, double *b2);

typedef enum cull_greedy {
    CULL_GREEDY_LAZY,
    CULL_GREEDY_NAIVE,
    CULL_GREEDY_STOCHASTIC
} cull_greedy;

typedef struct cull_facility_options {
    size_t      size; /* sizeof, or 0 */
    cull_greedy greedy;
    double      sample; /* stochastic: look at (n/k) ln(1/sample) candidates a pick; 0: .01 */
    cull_key    key;
    uint64_t    step;
    size_t      memory; /* bytes of similarities held at once; 0: 512 MiB; beyond it they
                           are made again, block by block */
} cull_facility_options;

/* Facility location: choose atoms so that every atom has a near one, by unsquared
 * gradient distance (similarity = largest distance - distance). */
typedef struct cull_facility_problem {
    size_t          size;       /* sizeof, or 0 */
    size_t          count;      /* n atoms                                        */
    size_t          budget;     /* picks, 1 .. n                                  */
    cull_tensor     similarity; /* (n, n) >= 0; absent: from h and p          */
    cull_tensor     h, p;
    const uint32_t *row;    /* [n] rows of h and p that are atoms; NULL: all  */
    uint32_t       *index;  /* [budget] in the order picked; the caller's     */
    double         *weight; /* [budget] atoms represented, 0 by a duplicate of an
                               earlier pick; adds up to n                     */
    double value;           /* sum of best similarities                       */
} cull_facility_problem;

CULL_API cull_status cull_facility(cull_backend *backend, cull_facility_problem *problems,
                                   size_t count, const cull_facility_options *options);

/* ---- devices, for bindings ------------------------------------------------------------ */

/*
 * Experimental: what a binding needs where signals lie on a device, beside tensors that say so. It
 * may be another with any version. On the host the same calls work, and there are no streams.
 *
 * follow    from now on, work goes to a stream of the caller's (a cudaStream_t; NULL is one, the
 *           legacy default), behind all that was asked of the backend and of the stream before.
 *           CULL_UNSUPPORTED while it is captured into a graph: decisions wait for what they find.
 * leave     back to the backend's own, behind that. The stream need not exist any longer. Also
 *           where nothing was followed.
 *
 * So between the two nobody waits for what the caller's kernels write, nor they for the backend.
 */
CULL_API cull_status cull_backend_follow(cull_backend *backend, void *stream);
CULL_API cull_status cull_backend_leave(cull_backend *backend);

/* Experimental: arrays in a backend's memory, zeroed and from a 64-byte border on, in the order of
 * its work. upload: from the host, which may be written to again at once; download: to the host,
 * and waits. They end before the backend does. */
CULL_API cull_status cull_memory_allocate(cull_backend *backend, size_t bytes, void **out);
CULL_API void cull_memory_release(cull_backend *backend, void *data); /* NULL is fine; waits */
CULL_API cull_status cull_memory_upload(cull_backend *backend, void *to, const void *from,
                                        size_t bytes);
CULL_API cull_status cull_memory_download(cull_backend *backend, void *to, const void *from,
                                          size_t bytes);

/* Experimental: a subset in the types that other libraries' arrays have. [count] of each, where the
 * subset lies; NULL: not wanted. */
typedef struct cull_subset_arrays {
    size_t     size;  /* sizeof, or 0                                                     */
    int64_t   *index; /* -1 for CULL_NO_ROW, as in the two below                          */
    int64_t   *place;
    int64_t   *group;
    void      *weight; /* of dtype; may be the subset's own, if that is CULL_F64           */
    cull_dtype dtype;  /* CULL_F32 or CULL_F64                                             */
    double     scale;  /* weights are multiplied by it; 0: 1                               */
} cull_subset_arrays;

CULL_API cull_status cull_subset_give(const cull_subset *subset, const cull_subset_arrays *to);

/* Experimental: integers (count) as places, on a backend whose memory `from` and `to` are. What is
 * no place becomes CULL_NO_ROW, which is in no pool. */
CULL_API cull_status cull_places_take(cull_backend *backend, const cull_tensor *from, uint32_t *to);

/* ---- plug-ins ------------------------------------------------------------------------ */

/*
 * What a strategy in a shared object may call, as self->call: each is the function of that
 * name, of the library that loaded the object. Named directly they would have to be found in
 * the process's global scope, where they are not when the host opened the library with
 * RTLD_LOCAL (as ctypes does) or linked it statically, and where another library's may be.
 * Members are only ever added, at the end.
 */
typedef struct cull_calls {
    cull_status (*fail)(cull_status status, const char *format, ...) CULL_PRINTF(2, 3);
    cull_status (*subset_resize)(cull_subset *subset, size_t count);

    double (*value_real)(const cull_values *values, const char *key);
    int64_t (*value_int)(const cull_values *values, const char *key);
    bool (*value_bool)(const cull_values *values, const char *key);
    const char *(*value_text)(const cull_values *values, const char *key);
    bool (*value_is)(const cull_values *values, const char *key, const char *word);

    cull_status (*write)(cull_writer *writer, const void *data, size_t bytes);
    cull_status (*read)(cull_reader *reader, void *data, size_t bytes);

    cull_key (*key_make)(uint64_t seed, const char *stream);
    double (*key_uniform)(cull_key key, uint64_t step, uint64_t place);

    size_t (*budget)(double keep, size_t count);
    void (*budget_split)(size_t total, const size_t *size, size_t classes, size_t *share);

    cull_status (*omp)(cull_backend *backend, cull_omp_problem *problems, size_t count,
                       const cull_omp_options *options);
    cull_status (*gram)(cull_backend *backend, const cull_tensor *h, const cull_tensor *p,
                        const cull_target *target, double *k, double *t, double *b2);
    cull_status (*facility)(cull_backend *backend, cull_facility_problem *problems, size_t count,
                            const cull_facility_options *options);
} cull_calls;

/* ---- diagnosis --------------------------------------------------------------------- */

typedef struct cull_diagnosis {
    size_t  size;      /* sizeof, or 0 */
    double  error;     /* |(1/m) sum w g - gbar|^2, gbar the mean over all; NaN: no H, P */
    double  full;      /* |gbar|^2                                                       */
    double  cosine;    /* between the two; NaN when one is zero                          */
    double  effective; /* (sum w)^2 / sum w^2, the effective sample size                 */
    double  overlap;   /* shared places / places of the smaller subset; NaN: no other    */
    size_t  classes;   /* entries of the two arrays; 0: no labels                        */
    size_t *available; /* [classes] examples of each class among the signals             */
    size_t *chosen;    /* [classes] and in the subset                                    */
} cull_diagnosis;

/* other may be NULL. out is zeroed or an earlier result; end it with
 * cull_diagnosis_clear(). The subset must come from these signals. */
CULL_API cull_status cull_diagnose(cull_backend *backend, const cull_signals *signals,
                                   const cull_subset *subset, const cull_subset *other,
                                   cull_diagnosis *out);
CULL_API void        cull_diagnosis_clear(cull_diagnosis *diagnosis);

/* ---- data sets ---------------------------------------------------------------------- */

/* In libcull, as all that follows. Names, files and formats are in docs/formats.md. */
typedef enum cull_data_role { CULL_DATA_TRAIN, CULL_DATA_TEST } cull_data_role;

enum {
    CULL_DATA_NAME = 64,  /* room for a set's name, with its end */
    CULL_DATA_PATH = 1024 /* room for a path, with its end       */
};

/* One line of what there is. */
typedef struct cull_data_listing {
    size_t      size; /* sizeof, or 0 */
    const char *name;
    const char *doc; /* one line */
    bool        train, test;
    char        folder[CULL_DATA_PATH]; /* where they were found; "" when neither was */
    const char *get; /* what to do to have them: from where, and into which folder of the root */
} cull_data_listing;

/* The sets known by name, i = 0, 1, ... until false. root: the folder that holds the sets'
 * folders; NULL: $CULL_DATA. Looks for files, does not read them. */
CULL_API bool cull_data_list(const char *root, size_t i, cull_data_listing *out);

/* What is to be learned of an example. */
typedef enum cull_target_kind {
    CULL_TARGET_CLASS,   /* int32, width 1: 0 .. classes-1           */
    CULL_TARGET_CLASSES, /* uint8, 1 for each of `width` that it has */
    CULL_TARGET_REAL     /* float32, `width` of them                 */
} cull_target_kind;

/* What one set holds. */
typedef struct cull_data_summary {
    size_t     size; /* sizeof, or 0 */
    char       name[CULL_DATA_NAME];
    size_t     count, classes, channels, height, width;
    cull_dtype dtype;     /* CULL_U8: images; CULL_F32: features; CULL_I32: tokens      */
    bool       published; /* normalised by known constants, not by measured ones        */
    double     mean[4], deviation[4]; /* of the first channels, what inputs are normalised with */
    size_t     fewest, most;          /* examples of the smallest and the largest class */
    bool       stored; /* the constants came with the files, from when those were made   */

    /* NULL, or lists that end with NULL; the summary's own. */
    char **class_names; /* of every class, where the files name them     */
    char **remarks;     /* what a person should know of the files        */

    /* of texts, which are numbers of word pieces below `vocabulary`; 0: these are none */
    size_t   vocabulary, longest; /* longest: tokens of the longest text, cut where it was */
    uint64_t tokens;              /* of all texts together                                 */
    /* What is learned. Of targets that are no class `classes` counts the numbers or labels, and of
     * the first of them these are mean and deviation. */
    cull_target_kind target;
    double           target_mean[4], target_deviation[4];
    char           **label_names; /* of the columns that are learned, as class_names */
} cull_data_summary;

/* Release what a summary holds; zeros are fine. */
CULL_API void cull_data_summary_clear(cull_data_summary *summary);

/* Where an array of images has its channels. */
typedef enum cull_data_layout {
    CULL_LAYOUT_TOLD,  /* where the array itself tells           */
    CULL_LAYOUT_FIRST, /* (N, C, H, W)                           */
    CULL_LAYOUT_LAST   /* (N, H, W, C)                           */
} cull_data_layout;

/* How a picture becomes a square. */
typedef enum cull_data_fit {
    CULL_FIT_COVER,   /* the shorter side is scaled to it, and the middle taken */
    CULL_FIT_STRETCH, /* both sides are scaled to it                            */
    CULL_FIT_CENTRE   /* the middle is taken as it is                           */
} cull_data_fit;

/* What becomes of cells of a table that have no value. */
typedef enum cull_data_missing {
    CULL_MISSING_REFUSED, /* none may be there                                           */
    CULL_MISSING_MEAN     /* the mean of their column's; of categories, none             */
} cull_data_missing;

/* A set, and how its files are to be read. What is zero, or NULL, is as the files have it; what a
 * format has no use for is refused (CULL_BAD_OPTION; the subject is the recipe's key for it). */
typedef struct cull_data_request {
    size_t           size; /* sizeof, or 0 */
    const char      *name; /* one that cull_data_list() names, or a path                      */
    cull_data_role   role; /* which of its two sets                                           */
    const char      *root; /* the folder that holds the named sets' folders; NULL: $CULL_DATA */
    cull_target_kind target;
    cull_data_layout layout;
    size_t           side;  /* pictures become squares of so many pixels                     */
    cull_data_fit    fit;   /* and how                                                       */
    const char      *label; /* the column or field that is to be learned                     */
    bool unlabelled; /* what is read is predicted only: labels are not looked at, and are 0   */
    cull_data_missing missing;
    size_t channels;  /* of pictures, 1 or 3; 0: 1 where all are grey. Others have what they have */
    const char *text; /* the column or field that holds a text; NULL: "text"              */
    const char *tokenizer; /* a vocab.txt, a tokenizer.json or a folder that holds one: texts
                              become numbers of its word pieces                                 */
    size_t length;         /* so many of them at most, and -1 behind; 0: 512                    */
} cull_data_request;

/* How far a conversion is. */
typedef struct cull_data_progress {
    size_t         size;    /* sizeof, or 0 */
    cull_data_role role;    /* what is being written ...      */
    uint64_t       done;    /* ... of which so many are done, */
    uint64_t       count;   /* of so many examples            */
    bool           reading; /* they are decoded, and none is written yet */
} cull_data_progress;

typedef struct cull_data_conversion {
    size_t   size;     /* sizeof, or 0 */
    bool     one_role; /* of both sets, which a folder is given, the request's alone */
    unsigned threads;  /* that decode; 0: as many as there are cores                 */
    bool (*tell)(void *context, const cull_data_progress *progress); /* often, by one thread at a
                                                                        time; false: stop.
                                                                        Optional     */
    void *context;
    /* Told what a person should know of the files, a sentence at a time, as cull_run_options' warn
     * is, before anything is written. Optional. */
    void (*warn)(void *context, const char *warning);
} cull_data_conversion;

/*
 * Read a set and say what is in it; a test set's mean and deviation are its own here, while
 * training normalises it as the training set. What the summary holds ends with
 * cull_data_summary_clear().
 *
 * CULL_UNKNOWN_SET for an unknown name, CULL_NOT_FOUND when its files are nowhere, CULL_IO when a
 * path's is not there, CULL_BAD_FILE when one does not follow its format; about "data.test" when
 * the test set is asked for and there is none.
 */
CULL_API cull_status cull_data_summarise(const cull_data_request *request, cull_data_summary *out);

/*
 * Write a set anew, an example at a time, so that it may be larger than memory.
 *
 * path      ends in .npz: a file of the request's role. Else a folder, which must hold nothing yet
 *           and is given both sets where there are both: arrays that are mapped when they are used,
 *           and set.json with the constants, which are measured on the way (docs/formats.md).
 *           Nothing half-made is left behind.
 * options   NULL: as zeros.
 *
 * As above; CULL_EXISTS, about path, when the folder holds something, or path is the source or lies
 * in it; CULL_STOPPED.
 */
CULL_API cull_status cull_data_convert(const cull_data_request *request, const char *path,
                                       const cull_data_conversion *options);

/* ---- models -------------------------------------------------------------------------- */

/*
 * A model describes a network and holds no weights. Its nodes are numbered in the order they
 * are added; node 0 is the input. A call that adds a layer takes the numbers of the nodes it
 * reads and returns its own, or -1 after a failure; the first failure is kept, later calls do
 * nothing, and cull_model_finish() tells it. So only that one call needs a check:
 *
 *     cull_model *m = NULL;
 *     cull_model_create("small", 1, 28, 28, &m);
 *     int x = cull_model_conv(m, 0, "conv", &(cull_conv){.out = 8, .kernel = 5, .pad = 2});
 *     x = cull_model_pool(m, cull_model_activate(m, x, CULL_RELU), &(cull_pool){.kernel = 2});
 *     x = cull_model_dense(m, cull_model_flatten(m, x), "logits", &(cull_dense){.out = 10});
 *     status = cull_model_finish(m, x);
 */
typedef struct cull_model cull_model;

typedef enum cull_activation {
    CULL_RELU,
    CULL_RELU6,
    CULL_GELU,      /* exact, by erf       */
    CULL_GELU_TANH, /* nearly so, by tanh  */
    CULL_TANH
} cull_activation;
typedef enum cull_pooling { CULL_POOL_MAX, CULL_POOL_AVERAGE, CULL_POOL_GLOBAL } cull_pooling;

/* How the weights of a layer begin, drawn from the seed of the network. */
typedef enum cull_init {
    CULL_INIT_TORCH, /* uniform within 1/sqrt(fan_in), the bias too, as PyTorch's layers */
    CULL_INIT_HE_IN, /* normal, sqrt(2/fan_in); the bias as above                        */
    CULL_INIT_HE_OUT /* normal, sqrt(2/fan_out); the bias zero                           */
} cull_init;

/* Layers with settings. Zeros are the usual choice. */
typedef struct cull_dense {
    size_t    size; /* sizeof, or 0 */
    int64_t   out;  /* features */
    bool      no_bias;
    cull_init init;
} cull_dense;

/* A window along one axis. */
typedef struct cull_window {
    int64_t kernel, stride, pad, dilation; /* 0 means what it means in the layer itself */
} cull_window;

typedef struct cull_conv {
    size_t  size;       /* sizeof, or 0 */
    int64_t out;        /* channels                                                       */
    int64_t kernel;     /* height, and width where `width` does not say otherwise         */
    int64_t stride;     /* 0: 1                                                           */
    int64_t pad;        /* zeros on each side, fewer than the kernel reaches over         */
    int64_t dilation;   /* pixels from tap to tap, so that the kernel reaches over
                           (kernel - 1) dilation + 1; 0: 1                                */
    cull_window width;  /* all four numbers of the width; kernel 0: those of the height   */
    int64_t     groups; /* 0: 1; as many as channels: depthwise                           */
    bool        no_bias;
    cull_init   init;
} cull_conv;

typedef struct cull_pool {
    size_t       size;    /* sizeof, or 0 */
    cull_pooling pooling; /* the global one averages each channel and reads no more fields */
    int64_t      kernel;  /* 1 to 15: height, and width where `width` does not say otherwise */
    int64_t      stride;  /* 0: kernel                                                  */
    int64_t      pad;     /* at most half of kernel; not counted in an average          */
    cull_window  width;   /* as in cull_conv; without dilation                          */
} cull_pool;

/* What a norm takes its mean and variance over: the batch and the pixels, one each channel; the
 * channels of a group and the pixels of each example; or all of an example, in a sequence all of a
 * position. */
typedef enum cull_normed { CULL_NORM_BATCH, CULL_NORM_GROUP, CULL_NORM_LAYER } cull_normed;

/* epsilon and momentum are as PyTorch's: y = gamma (x - mean) / sqrt(variance + epsilon) + beta,
 * and average = (1 - momentum) average + momentum new. */
typedef struct cull_norm {
    size_t      size; /* sizeof, or 0 */
    cull_normed over;
    int64_t     groups;   /* of CULL_NORM_GROUP; divides the channels                      */
    double      epsilon;  /* 0: 1e-5                                                       */
    double      momentum; /* of CULL_NORM_BATCH's running averages, up to 1; 0: 0.1        */
} cull_norm;

/* A table of rows, one for each token. */
typedef struct cull_embed {
    size_t  size;      /* sizeof, or 0 */
    int64_t tokens;    /* how many there are: 0 to tokens - 1                                     */
    int64_t width;     /* features of each                                                      */
    double  deviation; /* of the normal law that its weights are drawn from; 0: 0.02            */
} cull_embed;

/* A table of rows, one for each position, which are added to a sequence. */
typedef struct cull_positions {
    size_t  size; /* sizeof, or 0 */
    int64_t rows; /* at least as many as the sequence has positions                             */
    bool    same; /* the first row is added at every position                                   */
    double  deviation; /* as above */
} cull_positions;

typedef struct cull_attention {
    size_t  size;    /* sizeof, or 0 */
    int64_t heads;   /* divide the width                                                         */
    double  dropout; /* that a weight is left out                                                */
} cull_attention;

/*
 * Begin a model of inputs (channels, height, width); features are (D, 1, 1), and sequences of up to
 * L tokens (1, L, 1).
 *
 * name      of the model, copied: up to 31 letters, digits, '.', '_' and '-'.
 * out       a new model, ended with cull_model_destroy(). NULL on failure; the calls below
 *           take NULL and do nothing, and cull_model_finish() then fails.
 */
CULL_API cull_status cull_model_create(const char *name, int64_t channels, int64_t height,
                                       int64_t width, cull_model **out);
CULL_API void        cull_model_destroy(cull_model *model);

/* Layers with parameters have a name, copied: unique in the model, up to 63 letters, digits, '.',
 * '_' and '-'. Weights files call its tensors NAME.weight, NAME.bias and so on. */
CULL_API int cull_model_dense(cull_model *model, int x, const char *name, const cull_dense *layer);
CULL_API int cull_model_conv(cull_model *model, int x, const char *name, const cull_conv *layer);
CULL_API int cull_model_norm(cull_model *model, int x, const char *name, const cull_norm *layer);
/* The same with the usual epsilon and momentum. */
CULL_API int cull_model_batchnorm(cull_model *model, int x, const char *name);
CULL_API int cull_model_groupnorm(cull_model *model, int x, const char *name, int64_t groups);
CULL_API int cull_model_layernorm(cull_model *model, int x, const char *name);
CULL_API int cull_model_activate(cull_model *model, int x, cull_activation activation);
CULL_API int cull_model_pool(cull_model *model, int x, const cull_pool *layer);
CULL_API int cull_model_add(cull_model *model, int x, int x2);    /* of one shape          */
CULL_API int cull_model_concat(cull_model *model, int x, int x2); /* channels of x, then x2's */
CULL_API int cull_model_dropout(cull_model *model, int x, double probability);
CULL_API int cull_model_flatten(cull_model *model, int x); /* (C, H, W) to C*H*W features */
/* ResNet's without parameters: every stride-th pixel, zero channels on both sides. */
CULL_API int cull_model_shortcut(cull_model *model, int x, int64_t channels, int64_t stride);

/*
 * Sequences: (width, positions, 1). Tokens are int32, negative ones are padding, of which nothing
 * is seen. Dense layers and layer norms look at each position alone, and so do activations, sums
 * and dropout; no other layer takes a sequence but these:
 *
 * embed      rows of a table for the tokens of an input, which nothing read before.
 * positions  adds rows of a table by position.
 * attention  from x of 3 width features, queries, keys and values behind each other, to width;
 *            `tokens` says what is padding.
 * take       the first position's features.
 */
CULL_API int cull_model_embed(cull_model *model, int tokens, const char *name,
                              const cull_embed *layer);
CULL_API int cull_model_positions(cull_model *model, int x, const char *name,
                                  const cull_positions *layer);
CULL_API int cull_model_attention(cull_model *model, int x, int tokens,
                                  const cull_attention *layer);
CULL_API int cull_model_take(cull_model *model, int x);

/*
 * End the description. Afterwards nothing can be added, and the model is only read.
 *
 * logits    the dense layer that was added last; its outputs are the classes.
 *
 * CULL_BAD_ARGUMENT, or whatever came first while building, with its sentence: a shape that
 * does not fit, a node that is not there, a name given twice, a node that leads nowhere.
 */
CULL_API cull_status cull_model_finish(cull_model *model, int logits);

/* One of the models that recipes name ("lenet5", "resnet20", "wrn-16-4"), finished.
 * CULL_UNKNOWN_MODEL: no such name; CULL_BAD_ARGUMENT: it does not fit these inputs. */
CULL_API cull_status cull_model_named(const char *name, int64_t channels, int64_t height,
                                      int64_t width, size_t classes, cull_model **out);

/* The models that recipes name, i = 0, 1, ... until NULL; of a family, one of its names. */
CULL_API const char *cull_model_name_at(size_t i);

/* The first layers of a model: for images of some 32 pixels, or for those of some 224. */
typedef enum cull_stem { CULL_STEM_CIFAR, CULL_STEM_IMAGENET } cull_stem;

/* A model that recipes name, by the settings that their section `model` has. Zeros are the usual
 * choice. */
typedef struct cull_named {
    size_t  size; /* sizeof, or 0 */
    int64_t channels, height, width;
    size_t  classes;
    double  dropout;         /* probability: wrn-D-K (between a block's convolutions),
                                mobilenetv2 (before the last layer) and transformer-L-W    */
    cull_stem stem;          /* of resnet18, 34 and 50 and of the mobilenets               */
    double    norm_epsilon;  /* of every norm, as in cull_norm                             */
    double    norm_momentum; /* of every norm over the batch                               */
    int64_t   mlp_width;     /* of mlp: units of each hidden layer, up to 2^20; 0: 256     */
    int64_t   mlp_depth;     /* and how many hidden layers, up to 1000; 0: 2               */
    int64_t   tokens;        /* of transformer-L-W: how many there are. Inputs are then
                                (1, positions, 1); 0: images                               */
} cull_named;

/* cull_model_named() with more settings. CULL_BAD_OPTION also names one that the model has not. */
CULL_API cull_status cull_model_named_with(const char *name, const cull_named *with,
                                           cull_model **out);

/* Of a finished model: how many numbers it learns, and how many classes it tells apart. */
CULL_API size_t cull_model_parameters(const cull_model *model);
CULL_API size_t cull_model_classes(const cull_model *model);

/* (channels, height, width) of a node. CULL_BAD_ARGUMENT when it is not there. */
CULL_API cull_status cull_model_shape(const cull_model *model, int node, int64_t shape[3]);

/* ---- networks ------------------------------------------------------------------------ */

/* A model with weights and an optimizer, for a training loop of one's own or to predict. The
 * first batch of each size is prepared (tens of milliseconds for large models); sixteen sizes
 * stay prepared, and a step at one of them allocates nothing. */
typedef struct cull_network cull_network;

/*
 * Make a network with start weights.
 *
 * model     finished; copied.
 * backend   borrowed, outlives the network; NULL: "cpu" on all cores, for float64 "ref".
 * options   `count` pairs, with the keys and defaults of recipes: train.seed, model.loss,
 *           model.smoothing and optim.*, except optim.lr, which every step is given; and dtype,
 *           float32 or float64: weights, passes, gradients and steps are all in it.
 *           CULL_BAD_OPTION names one that is wrong.
 *
 * CULL_UNSUPPORTED when the backend has no networks of this dtype; "cpu" has none in float64.
 */
CULL_API cull_status cull_network_create(const cull_model *model, cull_backend *backend,
                                         const cull_option *options, size_t count,
                                         cull_network **out);
CULL_API void        cull_network_destroy(cull_network *network);

/* Examples as the caller has them, on the host; borrowed for the length of a call. */
typedef struct cull_examples {
    size_t      size;      /* sizeof, or 0 */
    cull_tensor inputs;    /* [count] rows of channels * height * width numbers, in this order,
                              each row dense, however many dimensions the view has: float32 or
                              float64 as the network reads them, or uint8, of which 255 is 1 */
    cull_tensor     label; /* (count) int32, int64 or uint8                                  */
    const uint32_t *place; /* [count] place in the pool; NULL: 0 .. count-1                  */
    uint64_t        step, epoch;
    cull_tensor     target; /* in place of labels, (count, outputs), or (count) of one output:
                               float32 or float64 with model.loss=squared-error; with
                               binary-cross-entropy int32, int64 or uint8, each 0 or 1       */
} cull_examples;

/*
 * Forward: what a selector asks for.
 *
 * wanted    CULL_SIGNAL_LOSS, _H, _P and _LABEL, as in cull_needs.signals; 0: no forward pass,
 *           only count, places, step and epoch are set.
 * running   BatchNorm's running averages in place of the batch's own, as in cull_needs.running.
 * out       borrows the network's memory, on the device of its backend, until it scores, learns
 *           or predicts again.
 *
 * CULL_NOT_FINITE names an example whose inputs are not; CULL_BAD_ARGUMENT a shape or a label
 * that the model does not have.
 */
CULL_API cull_status cull_network_score(cull_network *network, const cull_examples *examples,
                                        unsigned wanted, bool running, cull_signals *out);

/* How examples are scored, for the call below; zeros are the ordinary way. */
typedef struct cull_scoring {
    size_t size;    /* sizeof, or 0 */
    bool   running; /* as above                                                             */
    bool   int8;    /* convolutions in 8 bits where the backend gains by it: the scoring
                       alone, as score.precision=int8 does it                               */
    bool keep;      /* the pass is a training pass, to be gone back through: its activations
                       are kept, BatchNorm goes by the batch and its averages move on, and
                       dropout drops. Alone: neither of the two above goes with it          */
} cull_scoring;

/* The same in another way. CULL_UNSUPPORTED for int8 where the backend, or float64, has none. A
 * pass that is kept always runs, also when nothing is wanted of it. */
CULL_API cull_status cull_network_score_as(cull_network *network, const cull_examples *examples,
                                           unsigned wanted, const cull_scoring *scoring,
                                           cull_signals *out);

/*
 * Forward and backward over the chosen rows: the gradient of (1/count) sum w*loss, which takes
 * the place of the one before. BatchNorm's averages move on.
 *
 * subset    of signals of these examples, on the host or where the network's backend is; NULL: all
 *           of them, weights 1. CULL_BAD_ARGUMENT when a row is not among the examples, or the
 *           subset is in more than one group: those are training batches, and each is learned by
 *           itself.
 * trained   loss, H, P and label of what was trained, for cull_observe(); borrowed as above.
 *           May be NULL.
 *
 * CULL_NOT_FINITE when a loss is not: there is then no gradient to step with.
 */
CULL_API cull_status cull_network_learn(cull_network *network, const cull_examples *examples,
                                        const cull_subset *subset, cull_signals *trained);

/* The same, but BatchNorm's averages stay: a look at a gradient that leaves no other trace. */
CULL_API cull_status cull_network_look(cull_network *network, const cull_examples *examples,
                                       const cull_subset *subset, cull_signals *trained);

/*
 * Backward alone, through rows of the pass that cull_network_score_as() has kept, for two thirds
 * of the work of cull_network_learn(). Without BatchNorm the gradient is the same; with it, that
 * of METHODS' rule for kept rows: statistics are those of all that was scored.
 *
 * subset    as in cull_network_learn(); NULL: all rows.
 * trained   likewise.
 *
 * CULL_BAD_ARGUMENT when there is no kept pass: none was made, or the network has since scored,
 * learned otherwise, predicted, stepped or read weights. Any number of subsets may be learned from
 * one pass, each giving its own gradient.
 */
CULL_API cull_status cull_network_learn_kept(cull_network *network, const cull_subset *subset,
                                             cull_signals *trained);

/* One step of the optimizer with the latest gradient, which is then used up. */
CULL_API cull_status cull_network_step(cull_network *network, double rate);

/* What the network learns, tensor by tensor, i = 0, 1, ... until NULL: "conv1.weight", as weights
 * files call it. Owned by the network. */
CULL_API const char *cull_network_parameter_at(const cull_network *network, size_t i);

/*
 * A parameter, and its part of the latest gradient (the mean over the batch, before any clipping).
 *
 * name      as above; NULL: all of them as one vector, one tensor behind the other in that order.
 * out       a view of the network's own memory, of its dtype and to be read only: the gradient
 *           until the network learns or steps, the parameter as long as the network lives, with
 *           whatever it then holds. Shapes are those of weights files. It lies on the device of
 *           the network's backend, as out->device says: memory that is not the host's must be
 *           copied to it by that device's own means before it is read.
 *
 * CULL_BAD_ARGUMENT for a name that is not there, and for a gradient that is not: nothing was
 * learned yet, or a step has used it up.
 */
CULL_API cull_status cull_network_parameter(const cull_network *network, const char *name,
                                            cull_tensor *out);
CULL_API cull_status cull_network_gradient(const cull_network *network, const char *name,
                                           cull_tensor *out);

/*
 * Run the network on examples without labels, any number of them, by BatchNorm's running averages.
 *
 * inputs         as in cull_examples.
 * logits         [count * classes], the caller's; NULL: not wanted. With model.loss=squared-error
 *                the numbers themselves, as the data counts them.
 * probabilities  their softmax, the same; with binary-cross-entropy each label's own.
 * CULL_BAD_ARGUMENT where there are none, with squared-error.
 */
CULL_API cull_status cull_network_predict(cull_network *network, const cull_tensor *inputs,
                                          float *logits, float *probabilities);

/*
 * Logits by the statistics that are asked for.
 *
 * running   true: BatchNorm's averages, as above. false: the statistics of these very inputs,
 *           which then are one batch; the averages stay as they are.
 * out       (count, classes) of float32 or float64, dense: the caller's, and written to.
 *
 * CULL_BAD_ARGUMENT when its shape is another.
 */
CULL_API cull_status cull_network_logits(cull_network *network, const cull_tensor *inputs,
                                         bool running, const cull_tensor *out);

/* Weights and running averages as a .safetensors file. read: CULL_BAD_FILE, and an unchanged
 * network, when the file's tensors are not the model's; the optimizer begins anew. */
CULL_API cull_status cull_network_write(const cull_network *network, const char *path);
CULL_API cull_status cull_network_read(cull_network *network, const char *path);

/*
 * Save and restore all of a network: weights, averages and the optimizer, so that a loop goes on
 * bit for bit.
 *
 * save      *bytes is a new block of *size bytes, released with cull_bytes_release().
 * restore   CULL_BAD_STATE, and an unchanged network, when the bytes are damaged or of another
 *           model or optimizer.
 */
CULL_API cull_status cull_network_save(const cull_network *network, void **bytes, size_t *size);
CULL_API cull_status cull_network_restore(cull_network *network, const void *bytes, size_t size);

/* ---- recipes and runs ----------------------------------------------------------------- */

/* All that decides a run, from a YAML file; docs/recipes.md lists the keys. */
typedef struct cull_recipe cull_recipe;

/*
 * Read a recipe and check it whole.
 *
 * path      a YAML file; NULL: defaults alone.
 * changes   `count` pairs that replace what the file says.
 *
 * CULL_BAD_OPTION, with file and line, for a repeated key, a value of the wrong type or out of
 * bounds, and for YAML that is none or more than a tree of values; CULL_UNKNOWN_OPTION,
 * CULL_UNKNOWN_STRATEGY and CULL_UNKNOWN_MODEL, the same way, for what nobody knows; CULL_IO when
 * the file cannot be read. Their subject is the key, or the name that is not known.
 */
CULL_API cull_status cull_recipe_open(const char *path, const cull_option *changes, size_t count,
                                      cull_recipe **out);
CULL_API void        cull_recipe_close(cull_recipe *recipe);

/* Every key with its value, as YAML that cull_recipe_open() reads; and one value as text, NULL
 * for an unknown key. Owned by the recipe. */
CULL_API const char *cull_recipe_text(const cull_recipe *recipe);
CULL_API const char *cull_recipe_value(const cull_recipe *recipe, const char *key);

/* The table that recipes are checked against: i = 0, 1, ... until NULL. Keys are dotted. By its
 * key: NULL where there is none. */
CULL_API const cull_option_spec *cull_recipe_option_at(size_t i);
CULL_API const cull_option_spec *cull_recipe_option(const char *key);

/* The layers that model.layers may list: i = 0, 1, ... until NULL. Of one by its name: what it
 * does, its options (i = 0, 1, ... until NULL; one whose default is empty and that is no text is
 * needed), and which of them a value without a name is, or NULL. */
CULL_API const char             *cull_recipe_layer_at(size_t i);
CULL_API const char             *cull_recipe_layer_doc(const char *layer);
CULL_API const cull_option_spec *cull_recipe_layer_option_at(const char *layer, size_t i);
CULL_API const char             *cull_recipe_layer_alone(const char *layer);

/*
 * Train a model or data of the program's own as the recipe says. What is given takes the place of
 * model.name and model.layers, data.name (CULL_DATA_TRAIN) and data.test (CULL_DATA_TEST), which
 * then begin with "own/"; a run's folder tells them from others, and a run is not resumed with
 * other ones.
 *
 * model     finished; copied.
 * x, y      (N, D), (N, H, W), (N, C, H, W) or (N, H, W, C) of any type, uint8 being images, and
 *           (N) labels, whole numbers, or what the recipe's model.loss is of: (N) or (N, W)
 *           numbers, or (N, W) of 0 and 1; both dense, borrowed until the recipe is closed.
 *           Channels are on the axis that has 1, 3 or 4 of them, or where data.layout says. Inputs
 *           are normalised by their own mean and deviation, test inputs by those of training.
 *
 * CULL_BAD_ARGUMENT for a model that is not finished, and for arrays that are not as above,
 * CULL_BAD_OPTION when data.layout must be said; an unchanged recipe then.
 */
CULL_API cull_status cull_recipe_set_model(cull_recipe *recipe, const cull_model *model);
CULL_API cull_status cull_recipe_set_data(cull_recipe *recipe, cull_data_role role,
                                          const cull_tensor *x, const cull_tensor *y);

/*
 * The network that a recipe trains, with weights that a run of it left: for predictions, or to
 * train on in a loop of one's own. Inputs are given as the data set has them and normalised as the
 * run did: as the file of weights says, or, where it says nothing, as the recipe does, for which
 * the data set is read.
 *
 * weights   a .safetensors file; NULL: as the recipe begins. CULL_BAD_FILE when its tensors are
 *           not the model's.
 */
CULL_API cull_status cull_network_open(const cull_recipe *recipe, const char *weights,
                                       cull_network **out);

typedef enum cull_run_end {
    CULL_RUN_GOES_ON, /* not ended                                    */
    CULL_RUN_EPOCHS,  /* all epochs are trained                       */
    CULL_RUN_TARGET,  /* the accuracy asked for was reached           */
    CULL_RUN_BUDGET,  /* the time or work allowed is used up          */
    CULL_RUN_STOPPED  /* the caller asked for it; can be resumed      */
} cull_run_end;

/* What is told while a run goes on: after every step, and after every epoch. */
typedef struct cull_run_news {
    size_t      size; /* sizeof, or 0 */
    bool        epoch_end;
    uint64_t    step, steps, epoch, epochs; /* done, and of the whole run               */
    double      loss, rate;                 /* of the step; at the end of an epoch its mean */
    double      seconds, trained;           /* so far: time, and examples               */
    const char *watched;                    /* "validation" or "test": what best, target
                                               and the two figures below are about      */
    double      accuracy, watched_loss;     /* latest; NaN: not evaluated yet           */
    bool        best;                       /* at the end of an epoch: the best so far  */
    const char *metric;                     /* what `accuracy` is, as cull_evaluation has it */
} cull_run_news;

/* What a run is about to do, and at what cost: shares of what training on everything would take,
 * for as many epochs as the recipe says. NaN: not known, or not yet. Texts are borrowed for the
 * length of the call. */
typedef struct cull_run_outlook {
    size_t      size;                             /* sizeof, or 0                    */
    const char *data;                             /* the set's name                  */
    size_t      train, validation, test;          /* examples                        */
    size_t      classes, channels, height, width; /* features: (D, 1, 1)             */
    const char *model, *strategy;
    uint64_t    parameters, batch, steps, epochs; /* steps: of the whole run, about  */
    uint64_t    done;           /* steps of an earlier sitting                               */
    double      keep;           /* share that is kept where something is chosen; NaN: the rule
                                   decides                                                   */
    double           counted;   /* work, forward 1/3 and backward 2/3 of an example          */
    double           predicted; /* time, by what the first steps took                        */
    double           seconds;   /* of the whole run, evaluations left out, likewise          */
    cull_target_kind target;    /* what `classes` counts: classes, labels or numbers  */
    const char      *backend;   /* what the run computes on, as cull_backend_describe() has it  */
    const char      *chosen;    /* why train.backend=auto chose it; "": it was asked for        */
    const char      *precision; /* as train.precision has it                                    */

    /* Bytes of a device's memory that the run takes before its first step, and what is left of how
     * much; zeros where it is the host's. */
    size_t device_data, device_parameters, device_plans, device_free, device_total;
} cull_run_outlook;

typedef struct cull_run_options {
    size_t      size;   /* sizeof, or 0 */
    const char *folder; /* where the run's files are; made if need be                   */
    bool        resume; /* go on where the run in the folder stopped; one that is not
                           there begins                                                 */
    void (*tell)(void *context, const cull_run_news *news); /* optional                 */
    bool (*stop)(void *context); /* asked after every step; true: write the checkpoint
                                    and end. Optional                                   */
    void *context;
    /* Told before the first step, and once more as soon as steps have shown what they take; not
     * for a run that had ended. Optional. */
    void (*foresee)(void *context, const cull_run_outlook *outlook);
    /* Told, before the first step, what a person should know of the data: a sentence at a time,
     * as run.json has them. Optional. */
    void (*warn)(void *context, const char *warning);
} cull_run_options;

typedef struct cull_run_result {
    size_t       size; /* sizeof, or 0 */
    cull_run_end end;
    bool         resumed; /* went on from a checkpoint */
    uint64_t     step, epoch, parameters;
    const char  *watched;
    double       accuracy, loss;  /* latest on the watched set                       */
    double       best;            /* highest accuracy there,                         */
    uint64_t     best_epoch;      /* after so many epochs; 0: never evaluated        */
    double       test, test_loss; /* at the end; NaN while the run can be resumed    */
    double       seconds;         /* of training and evaluating, all sittings        */
    uint64_t     scored, trained; /* examples                                        */
    char         weights[64], best_weights[64]; /* files in the folder                   */
    const char  *metric; /* what accuracy, best and test are, as cull_evaluation has it */
} cull_run_result;

/*
 * Train as a recipe says.
 *
 * What the data is probably not meant to be is told to options->warn: labels from 1 on, a class
 * without examples, one class alone or nearly so, inputs that never change, test examples that are
 * trained on too. What cannot be meant is refused (CULL_BAD_OPTION about data.test): a test set
 * that is the training set, or is normalised otherwise.
 *
 * Everything is checked and read before the folder is touched. A run that ends without
 * failing leaves a checkpoint; so does every epoch. The same recipe on the same machine gives
 * the same weights, bit for bit, also when it was killed and resumed in between.
 *
 * CULL_BAD_OPTION     the recipe cannot be followed
 * CULL_DIFFERS        a resumed run has another recipe, or its data has changed; the subject is the
 *                     key
 * CULL_EXISTS         the folder already holds a run, and resume is false
 * CULL_BUSY           another process is training there
 * CULL_UNKNOWN_SET, CULL_NOT_FOUND   of the data, as cull_data_summarise() has them
 * CULL_NOT_FINITE     the loss diverged; the latest checkpoint stays
 * CULL_IO, CULL_BAD_FILE, CULL_BAD_STATE, CULL_NO_MEMORY as their sentence says
 */
CULL_API cull_status cull_train(const cull_recipe *recipe, const cull_run_options *options,
                                cull_run_result *out);

/* What a run's folder is worth, as comparisons and pages take it. */
typedef struct cull_run_record {
    size_t      size;   /* sizeof, or 0 */
    const char *status; /* running, stopped, finished, failed; corrupt: not to be believed;
                           missing: there is no run                                     */
    char why[240];      /* of failed and corrupt: one sentence                           */
    char weights[64], best_weights[64]; /* files in the folder; "": none             */
} cull_run_record;

/* Fails for want of memory, or when the name is too long: what the folder holds is the record's. */
CULL_API cull_status cull_run_read(const char *folder, cull_run_record *out);

typedef struct cull_evaluation {
    size_t size; /* sizeof, or 0 */
    size_t count;
    double accuracy, loss; /* the share of examples classified right, or what `metric` says,
                              and their mean loss                                         */
    double      seconds;
    const char *metric; /* by the recipe's loss: "accuracy", "r2" or "map"; of each 1 is
                            perfect, and higher is better                                 */
} cull_evaluation;

/* A metric as people write it: "R²" of "r2". NULL: there is none of this key. */
CULL_API const char *cull_metric_name(const char *metric);

/*
 * Evaluate weights on a set of a recipe: "test", "validation" or "train" (as it is trained on,
 * without augmentation).
 *
 * weights   a .safetensors file. CULL_BAD_FILE when its tensors are not the model's.
 *
 * CULL_UNKNOWN_SET when the recipe has no such set.
 */
CULL_API cull_status cull_evaluate(const cull_recipe *recipe, const char *weights, const char *set,
                                   cull_evaluation *out);

/* What a network says of some examples of a set. */
typedef struct cull_predicted {
    size_t           size;        /* sizeof, or 0 */
    size_t           from, count; /* examples from .. from + count - 1 of the set         */
    size_t           outputs;     /* of the network: classes, or numbers                  */
    cull_target_kind target;
    const float     *output;       /* (count, outputs) probabilities; numbers as they are where
                                      the target is real                                   */
    const int32_t     *best;       /* [count] the class of the highest probability         */
    const char *const *class_name; /* [outputs] of classes, or of the columns that numbers were
                                      learned from; NULL where they have none               */
    const char *const *name;       /* [count] what the examples' source calls them, or NULL */
    size_t             warnings;
    const char *const *warning; /* what a person should know of the files, a sentence each; the
                                   same every time                                         */
} cull_predicted;

/*
 * Say of every example of a set what it is.
 *
 * weights   a .safetensors file that a run of the recipe left. Where it says how inputs are
 *           normalised, the recipe's own data is not read.
 * data      any set; what is zero there is as the recipe has it, where files of this kind have a
 *           use for it. Of two sets `role` tells which. Labels are not looked at.
 * tell      is handed the examples in their order, some at a time; false: no more of them.
 *
 * CULL_BAD_ARGUMENT when the examples are not of the shape that was trained on.
 */
CULL_API cull_status cull_predict_set(const cull_recipe *recipe, const char *weights,
                                      const cull_data_request *data,
                                      bool (*tell)(void *context, const cull_predicted *some),
                                      void *context);

/* Which examples a run chose. */
typedef struct cull_chosen {
    size_t   size; /* sizeof, or 0 */
    size_t   count;
    int64_t *place;  /* [count] in the training set, ascending                              */
    int64_t *origin; /* [count] the same example among all of the source's files            */
    double  *weight; /* [count] mean 1 where the run drew them step by step                 */
    char   **name;   /* [count] what the source calls them; NULL: it only numbers them      */
} cull_chosen;

/*
 * The subset that a run ended with: the latest that its strategy chose from the whole pool, or, of
 * one that chooses in every step, the examples that were trained.
 *
 * share     0: all of these; else so much of the training set, those first that were trained most
 *           often, then those of the larger loss. Not for a subset that was chosen as a whole.
 * names     look them up, for which the data set is read.
 * out       zeroed; ended with cull_chosen_clear().
 *
 * CULL_NOT_FOUND for a folder without a run that has ended; with names, CULL_DIFFERS when the data
 * set has changed since, and the examples would be called as others are.
 */
CULL_API cull_status cull_run_chosen(const char *folder, double share, bool names,
                                     cull_chosen *out);
CULL_API void        cull_chosen_clear(cull_chosen *chosen);

/* ---- comparisons ------------------------------------------------------------------------ */

/*
 * Is a strategy better than uniform choice at the same cost? docs/compare.md says what is run and
 * how it is judged. The library makes the list of runs, prices them and judges what came of them;
 * whoever calls it measures and trains, in processes of its own:
 *
 *     create -> folder -> measure until nothing is left -> begin -> train every run -> judge
 */
typedef struct cull_comparison cull_comparison;

typedef struct cull_compare_options {
    size_t             size;   /* sizeof, or 0 */
    const char        *recipe; /* path; trains all examples                                  */
    const cull_option *changes;
    size_t             count;
    const char        *strategies; /* "random,sb,sb remembered,sb score.precision=int8"      */
    const char        *keep;       /* "0.1,0.3"                                              */
    const char        *pass;       /* "separate,reuse", where a strategy scores every batch  */
    uint64_t           seeds;      /* 1, 2, ...                                              */
    unsigned           threads;    /* of a run                                               */
    unsigned           jobs;       /* runs at once; 0: 1 on a device, else as cores allow    */
    double             margin;     /* points of what runs are judged by (accuracy, R², mAP: by
                                      the recipe's loss) that count as no difference         */
    bool        anyway;            /* also what cannot save anything                         */
    const char *command;           /* that would repeat it, for the record; NULL: not known  */
} cull_compare_options;

/* Everything is checked; texts are copied. Runs keep no weights (train.keep=none) where neither the
 * changes nor the recipe ask for some. CULL_BAD_OPTION names what is wrong, as do the finer
 * statuses of cull_recipe_open(); CULL_NO_SAVING when no arm is left that could save anything. An
 * arm that cannot be where others of the list can is left out and named among the plan's problems.
 */
CULL_API cull_status cull_comparison_create(const cull_compare_options *options,
                                            cull_comparison           **out);
CULL_API void        cull_comparison_destroy(cull_comparison *comparison);
CULL_API unsigned    cull_comparison_jobs(const cull_comparison *comparison);

/*
 * Take a folder for this comparison alone, until it is destroyed. With resume, what was measured
 * there holds, and so does the plan, which must be of the same recipe and options (more seeds may
 * be asked for, and another margin).
 *
 * CULL_EXISTS when it holds a comparison and resume is false, CULL_BUSY when another process is at
 * it, CULL_DIFFERS, naming the key, when it holds another one, CULL_BAD_ARGUMENT when it holds a
 * run.
 */
CULL_API cull_status cull_comparison_folder(cull_comparison *comparison, const char *folder,
                                            bool resume);

/* Seconds, as medians of steps; loading on the same thread. */
typedef struct cull_measured {
    size_t size;                        /* sizeof, or 0 */
    size_t pool, validation, test;      /* examples of the sets                  */
    size_t classes, parameters;         /* numbers                               */
    size_t steps;                       /* that were measured                    */
    size_t diverged;                    /* 1: at weights that were kept as they were */
    double start;                       /* reading the data, making the network  */
    double load;                        /* an example                            */
    double score, decide, learn, optim; /* a step                                */
    double pool_score, pool_solve;      /* a choice from the pool                */
    double scored, trained;             /* examples a step                       */
    double waited; /* share of the time that other programs had; 0 with several threads */
    double tokens; /* of texts, of an example in its batch on the mean; else 0. Seconds are then
                      those of steps of mean length                                       */
    double guess;  /* what one answer to all test examples gets, as a run is judged; a share */
} cull_measured;

/* Run steps of a recipe for about so many seconds and keep nothing of them. Where the loss is soon
 * no longer finite, steps take as long at the first weights, and are measured there. */
CULL_API cull_status cull_measure(const cull_recipe *recipe, double seconds, cull_measured *out);

/* The recipes that are to be measured next, i = 0, 1, ... until NULL; owned by the comparison.
 * When all of them are handed in, others may follow; when there are none, the plan is made. */
CULL_API const cull_recipe *cull_comparison_unmeasured(const cull_comparison *comparison, size_t i);
/* One of them cannot be measured: its arm is left out of the comparison and named, with `why`,
 * among the problems. Its measurement is handed in with the others and not looked at.
 * CULL_BAD_ARGUMENT, and nothing is changed, where it is full training, a size that controls are
 * made of, or the last arm to judge. */
CULL_API cull_status cull_comparison_leave_out(cull_comparison *comparison, size_t i,
                                               const char *why);
/* CULL_NOT_FINITE when full training diverged. all: [count][processes], what each of the processes
 * that measured at once saw. */
CULL_API cull_status cull_comparison_measured(cull_comparison *comparison, const cull_measured *all,
                                              size_t count, size_t processes);

/* The plan as JSON: arms, controls, runs, what they will take. Owned by the comparison. */
CULL_API const char *cull_comparison_plan(const cull_comparison *comparison);

/* Write the folder's files (not the runs'), and make the runs' folders. */
CULL_API cull_status cull_comparison_begin(cull_comparison *comparison);

/* One run of the plan. Paths begin with the folder. */
typedef struct cull_compare_run {
    size_t      size;       /* sizeof, or 0 */
    const char *name, *why; /* why: a sentence where status is failed or corrupt */
    const char *status;     /* finished, running, missing, failed or corrupt     */
    uint64_t    seed;
    char        recipe[CULL_DATA_PATH]; /* the file to train, with train.seed=SEED           */
    char        folder[CULL_DATA_PATH];
    double      seconds; /* that it will take                                 */
} cull_compare_run;

/* The runs in the order they are best done, i = 0, 1, ... until false. While an arm's cost is known
 * by its own runs only (sb-stream, infobatch, kath18), these are the arms' runs alone; when all of
 * those are judged, the controls are made and the list is another. Texts last until then. */
CULL_API bool cull_comparison_run(const cull_comparison *comparison, size_t i,
                                  cull_compare_run *out);

/* Look at every run's folder, judge, and write comparison.json. Damaged folders are named in it
 * and left out. */
CULL_API cull_status cull_comparison_judge(cull_comparison *comparison);
/* What comparison.json holds; NULL before it was judged. Owned by the comparison. */
CULL_API const char *cull_comparison_text(const cull_comparison *comparison);

/* An arm or a control, as it is planned, and as it came out once it is judged; what is not known is
 * NaN. Texts last as those of the runs do. */
typedef struct cull_compare_arm {
    size_t      size; /* sizeof, or 0 */
    const char *name;
    const char *role;    /* full, arm, same-m, whole-budget, shortened or early-stop      */
    const char *verdict; /* of arms: as in comparison.json; "": not judged                */
    bool        uniform; /* uniform choice, which others are held against                 */
    bool        guess;   /* its cost is known by its own runs only, which are not all done */
    bool        pareto;  /* nobody is as cheap and as good, and better at one of the two   */
    size_t      runs;
    double      cost, counted;   /* shares of full training's: time by the table, counted work */
    double      mean, sd;        /* test accuracy, or what the metric is, percent        */
    double      best, low, high; /* the maxima of the runs: their mean, least, largest   */
    double      difference;      /* points above uniform choice with the same budget     */
    double      wilcoxon;        /* p of the signed-rank test on that                    */
    double      more_seeds;      /* that would about decide it                           */
    const char *sentence;        /* what was found                                       */
    double      to_error[3];     /* cost to 1.1, 1.2 and 1.4 times full training's error */
    double      seconds[5];      /* to load, score, select, learn, optimize: means       */
    double      joules;          /* of all five                                          */
} cull_compare_arm;

/* i = 0, 1, ... until false, the full run first; none before there is a plan. */
CULL_API bool cull_comparison_arm(const cull_comparison *comparison, size_t i,
                                  cull_compare_arm *out);

/* All of it. False before there is a plan. */
typedef struct cull_compare_outlook {
    size_t      size;            /* sizeof, or 0 */
    const char *title, *verdict; /* "": not judged                                       */
    size_t      runs;
    unsigned    threads, jobs;
    double      seconds, bytes; /* that the runs will take                               */
    double      waited;         /* share of the time that others had while it was measured */
    const char *advice;         /* what to do, in a few sentences; "": not judged          */
    const char *metric;         /* what means and differences are of, as cull_evaluation has it;
                                   "": there is no plan yet                              */
    double tokens; /* of texts, whose work is counted and matched in tokens, those that fill a
                      batch up counted: so many are an example; 0: examples are counted  */
} cull_compare_outlook;

CULL_API bool cull_comparison_outlook(const cull_comparison *comparison, cull_compare_outlook *out);
/* Sentences on what is left out, failed or damaged, i = 0, 1, ... until NULL. */
CULL_API const char *cull_comparison_problem(const cull_comparison *comparison, size_t i);
/* Sentences on the data, as cull_run_options' warn is told them, i = 0, 1, ... until NULL: from the
 * beginning, where the data can be read then. */
CULL_API const char *cull_comparison_warning(const cull_comparison *comparison, size_t i);

/* A comparison as it was judged last, read from its folder. CULL_IO or CULL_BAD_FILE: it holds
 * none, or one of another version. Texts are the record's. */
typedef struct cull_compare_record cull_compare_record;

CULL_API cull_status cull_compare_record_open(const char *folder, cull_compare_record **out);
CULL_API void        cull_compare_record_close(cull_compare_record *record);
CULL_API bool        cull_compare_record_arm(const cull_compare_record *record, size_t i,
                                             cull_compare_arm *out);
CULL_API const char *cull_compare_record_verdict(const cull_compare_record *record);

/* ---- reports ---------------------------------------------------------------------------- */

typedef struct cull_report_options {
    size_t      size;    /* sizeof, or 0 */
    const char *output;  /* the page to write, replaced by one rename                      */
    const char *gnuplot; /* the program that draws; NULL: gnuplot, where the system finds it */
} cull_report_options;

typedef struct cull_report_result {
    size_t size;              /* sizeof, or 0 */
    size_t comparisons, runs; /* that the page is about                                  */
    size_t probes;            /* and these                                               */
    size_t skipped;           /* folders that could not be read; named on the page       */
    size_t figures, undrawn;  /* drawn; not drawn, for want of gnuplot                   */
    size_t problems;          /* sentences about damaged or missing files on the page    */
    char   why[256];          /* the first of what was skipped or not drawn, else ""     */
    bool   no_gnuplot;        /* what was not drawn: gnuplot is not installed            */
} cull_report_result;

/*
 * One HTML page about comparisons and runs: verdict, tables, figures. It needs no other file and
 * no network; docs/report.md says what is on it.
 *
 * folders   `count` folders of comparisons (comparison.json), of single runs (run.json) or of
 *           probes (probe.jsonl), or with such folders below them.
 *
 * Damaged or missing parts are named on the page and left out. CULL_IO or CULL_BAD_FILE, and no
 * page, when no folder can be read; CULL_IO when the page cannot be written. Starts gnuplot, once
 * for each figure.
 */
CULL_API cull_status cull_report(const char *const *folders, size_t count,
                                 const cull_report_options *options, cull_report_result *out);

#ifdef __cplusplus
}
#endif

#endif
