/*
 * cull_lab.h - instruments: what a strategy's picks do, and what the papers' claims come to here.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What stands here is experimental: it takes a recipe apart to look inside, nothing in cull.h needs
 * it, and it may change from one version to the next while cull.h does not. It is in libcull.
 *
 *     timing                         where the time of a step goes
 *     probes                         the gradients of what strategies pick
 *     audits                         every example of a set, from easy to hard
 *     reproductions                  the papers' figures and tables
 *     papers                         a page of them, with what became of each claim
 *
 * The conventions are those of cull.h, but structs carry no size: a program that uses them is
 * compiled with the header of the library it runs with.
 */
#ifndef CULL_LAB_H
#define CULL_LAB_H

#include "cull.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- timing ---------------------------------------------------------------------------- */

typedef struct cull_bench_result {
    size_t batch, rounds;
    /* Median seconds of a batch: made by the loader's code on one thread; forward only;
     * forward and backward; the optimizer; and of the last three the spread (max - min). */
    double load, score, learn, optim;
    double score_spread, learn_spread, optim_spread;
    size_t parameters;
} cull_bench_result;

/* Where the time of a step of this recipe goes, over `rounds` steps after a warm one. Trains
 * nothing that is kept. */
CULL_API cull_status cull_bench(const cull_recipe *recipe, size_t rounds, cull_bench_result *out);

/* ---- probes ---------------------------------------------------------------------------- */

/* Figures of many batches. low and high are at 5 and 95 % of them. */
typedef struct cull_spread {
    double mean, deviation, low, quarter, median, three_quarters, high;
} cull_spread;

/* hits of trials, with the 95 % interval of Wilson; NaN where there were no trials. */
typedef struct cull_rate {
    double hits, trials; /* a draw is half a hit */
    double rate, low, high;
} cull_rate;

/* One gradient held against another. */
typedef struct cull_probe_gap {
    double error;  /* |a - b|^2                                                       */
    double cosine; /* NaN when one is zero                                            */
    double sign;   /* share of parameters whose sign agrees, zero being its own sign  */
} cull_probe_gap;

/* A subset's gradient is taken twice: with its own rows alone in the network, as it is trained;
 * and with all rows of the batch there, so that BatchNorm normalises by the statistics of all.
 * Without BatchNorm the two are the same. */
enum { CULL_PROBE_TRAINED, CULL_PROBE_OF_BATCH, CULL_PROBE_WAYS };

enum { CULL_PROBE_NAME = 128, CULL_PROBE_BINS = 25 };
#define CULL_PROBE_BIN 0.25 /* width of a bin of weights; the last bin is open */

/* What one arm chose of one batch. */
typedef struct cull_probe_pick {
    size_t         batch, kept, corrupted;
    double         weight, corrupted_weight; /* sums                                  */
    cull_probe_gap data[CULL_PROBE_WAYS];    /* against the gradient of all the data  */
    cull_probe_gap whole[CULL_PROBE_WAYS];   /* against the gradient of its batch     */
    double relative[CULL_PROBE_WAYS]; /* that error as a share of |gradient of the batch|^2 */
    double last[CULL_PROBE_WAYS];     /* the same over the parameters of the last layer   */
} cull_probe_pick;

typedef struct cull_probe_arm {
    char             strategy[CULL_PROBE_NAME]; /* as it was asked for                  */
    double           keep, kept;                /* kept: examples a batch, the mean     */
    cull_probe_pick *pick;                      /* [batches]                            */
    cull_spread      error[CULL_PROBE_WAYS], cosine[CULL_PROBE_WAYS], sign[CULL_PROBE_WAYS];
    cull_spread      batch_error[CULL_PROBE_WAYS], batch_cosine[CULL_PROBE_WAYS];
    cull_spread      batch_sign[CULL_PROBE_WAYS];
    cull_rate wins[CULL_PROBE_WAYS]; /* batches with a smaller error than `random` at this keep,
                                        against all the data; no trials: random is no arm */
    cull_rate   batch_wins[CULL_PROBE_WAYS]; /* and against the batch                     */
    cull_spread relative[CULL_PROBE_WAYS], last[CULL_PROBE_WAYS];
    cull_rate   last_wins[CULL_PROBE_WAYS]; /* below `random`'s, over the last layer     */
    cull_rate   corrupted;                  /* of the picks, those with a wrong label    */
    double      corrupted_weight;           /* their share of the weight                 */
    size_t      weight[CULL_PROBE_BINS];    /* picks by weight                           */
} cull_probe_arm;

typedef struct cull_probe_result {
    size_t          parameters, batch, batches;
    size_t          data_batches; /* whose mean is the gradient of all the data; 0: not taken */
    bool            batchnorm;
    double          full;        /* |gradient of all the data|^2                         */
    cull_spread     whole;       /* |gradient of a batch|^2                              */
    cull_spread     whole_error; /* of the whole batches' gradients, against all the data */
    cull_rate       base;        /* wrong labels among all that was there to pick        */
    size_t          arms;
    cull_probe_arm *arm; /* strategies in the order asked for, keeps within them          */
} cull_probe_result;

typedef struct cull_probe_options {
    const char        *weights;  /* a .safetensors file; NULL: as the recipe begins              */
    const char *const *strategy; /* [strategies] "sb", "sb beta=balles", ...                    */
    size_t             strategies;
    const double      *keep; /* [keeps] of (0, 1]                                          */
    size_t             keeps;
    size_t             batches; /* minibatches to look at; 0: 200                             */
    bool               picks;   /* only picks, and the last layer's error: no gradients,
                                   which is much faster                                       */
    bool        exact;          /* strategies read their signals as float64, whatever they are */
    const char *folder;         /* probe.jsonl goes there, line by line; NULL: nowhere        */
    void (*tell)(void *context, size_t done, size_t all); /* in gradient passes; optional   */
    bool (*stop)(void *context); /* asked after each batch; true: sum up what there is. Optional */
    void *context;
    void (*warn)(void *context, const char *warning); /* as of cull_run_options; optional */
} cull_probe_options;

/*
 * How well the gradient of what a strategy picks stands for the batch and for the data set.
 *
 * Over the first minibatches of the recipe's run, inputs augmented as there, at fixed weights: each
 * is scored (BatchNorm by the batch), every strategy picks at every keep, and the true gradient of
 * the picks, over all parameters, is held against that of the whole batch and that of all the data:
 * the mean over all whole minibatches of one epoch, BatchNorm by the batch. Weights and running
 * averages are left as they are.
 *
 * CULL_BAD_OPTION when a strategy does not choose from a minibatch what a scoring pass can tell it.
 * out ends with cull_probe_clear().
 */
CULL_API cull_status cull_probe(const cull_recipe *recipe, const cull_probe_options *options,
                                cull_probe_result *out);
CULL_API void        cull_probe_clear(cull_probe_result *result);

/* ---- audits ---------------------------------------------------------------------------- */

enum { CULL_AUDIT_POINTS = 101, CULL_AUDIT_TENTHS = 10, CULL_AUDIT_BINS = 41 };

typedef struct cull_audit_options {
    const char   *weights;   /* a .safetensors file; NULL: as the recipe begins                   */
    const char   *set;       /* "train" (as NULL), "validation" or "test"                         */
    const char   *selection; /* a run's selection.npz, of the training set; NULL: none            */
    size_t        examples;  /* easiest and hardest examples to show, each; 0: 24                 */
    const char   *path;      /* a .npz file to write, which docs/formats.md describes; NULL: none */
    const double *hard;      /* [hards] how hard each example of the set is, which the easiest and
                                the hardest then are by; NULL: its loss                           */
    size_t hards;
} cull_audit_options;

typedef struct cull_audit_result {
    size_t count;
    double accuracy, loss;
    double confidence[CULL_AUDIT_POINTS]; /* in the true class, at 0, 1, .. 100 % of the examples,
                                             ascending                                         */
    double    tenth[CULL_AUDIT_TENTHS];   /* share classified right of each tenth by confidence */
    cull_rate wrong_hard; /* wrong labels among the hardest tenth; base: among all              */
    cull_rate base;

    /* with a selection */
    bool      selected;
    size_t    never, most;            /* examples never trained; most times of one            */
    size_t    width;                  /* counts to a bin; the last bin holds the most too      */
    size_t    times[CULL_AUDIT_BINS]; /* examples by how often they were trained              */
    cull_rate wrong_picks;            /* of all that was trained, what had a wrong label      */
} cull_audit_result;

/*
 * Look at every example of a set by the network's running averages, without augmentation: how sure
 * it is of the true class, which examples are the easiest and the hardest, and, where a run's
 * selection is given, how often each was trained.
 *
 * CULL_BAD_FILE when the selection is not of this training set, CULL_UNKNOWN_SET when the recipe
 * has no such set, CULL_BAD_ARGUMENT when `hard` is not of so many examples.
 */
CULL_API cull_status cull_audit(const cull_recipe *recipe, const cull_audit_options *options,
                                cull_audit_result *out);

/* ---- reproductions --------------------------------------------------------------------- */

/* How a figure or table of a paper is done again. */
typedef enum cull_reproduction_kind {
    CULL_REPRODUCE_TRAIN, /* runs of the strategies, and of full training                  */
    CULL_REPRODUCE_PROBE, /* gradients of what strategies pick, at start weights           */
    CULL_REPRODUCE_WATCH, /* runs that are looked at as they go                            */
    CULL_REPRODUCE_TIME,  /* parts of a step, timed                                        */
    CULL_REPRODUCE_NOT    /* needs what is not built; `missing` says what                  */
} cull_reproduction_kind;

/* What runs are looked at for. */
typedef enum cull_reproduction_look {
    CULL_LOOK_NOT,
    CULL_LOOK_GRADIENTS,  /* epoch by epoch: gradients of the picks                          */
    CULL_LOOK_CHANCES,    /* epoch by epoch: how the chance of being picked moves            */
    CULL_LOOK_LOSSES,     /* at some epochs: the losses of all examples, as a distribution   */
    CULL_LOOK_SELECTIONS, /* at the end: the chance of being picked by loss, for each beta   */
    CULL_LOOK_CONFIDENCE, /* at the end: confidence in the true class, from hard to easy     */
    CULL_LOOK_ACCURACY,   /* at the end: accuracy by tenths of that confidence               */
    CULL_LOOK_EXAMPLES    /* epoch by epoch: whose loss is the lowest, and the highest       */
} cull_reproduction_look;

/* What of a series a claim is about. */
typedef enum cull_claim_of {
    CULL_CLAIM_NONE,
    CULL_CLAIM_BEST,    /* the maximum along training, in points                           */
    CULL_CLAIM_END,     /* the result at the end                                           */
    CULL_CLAIM_SPEED,   /* seconds of full training / its own                              */
    CULL_CLAIM_ENERGY,  /* joules likewise                                                 */
    CULL_CLAIM_SOONER,  /* seconds of full training until `target` times the error that it ends
                           at / its own; 0: it never comes there                           */
    CULL_CLAIM_UPDATES, /* updates likewise                                                */
    CULL_CLAIM_TRAINED, /* examples that were trained until then: its own / full training's  */
    CULL_CLAIM_FRONT,   /* left is a group: its share of the frontier, in percent          */
    CULL_CLAIM_RANKS,   /* p of the signed-rank test between the two, at the end           */
    CULL_CLAIM_WINS,    /* of a probe: minibatches with an error below random's, in percent */
    CULL_CLAIM_POINTS,  /* of points.jsonl: y                                              */
    CULL_CLAIM_BARS,    /* of points.jsonl: the height of a bar that is called "SERIES VALUE" */
    CULL_CLAIM_TUNED    /* the maximum, of each side at the value at which it is highest   */
} cull_claim_of;

typedef enum cull_claim_way {
    CULL_CLAIM_ABOVE, /* by more than the margin, which may be below 0 */
    CULL_CLAIM_BELOW, /* the same downwards                            */
    CULL_CLAIM_WITHIN /* no further than the margin from it            */
} cull_claim_way;

/* A claim, or a part of one, as something that numbers decide: left less right, or less `to`, seed
 * by seed, and the 95 % interval of its mean. It holds when the interval lies where it should, does
 * not when it lies wholly outside, and is undecided else, and where there is one pair alone. */
typedef struct cull_claim {
    cull_claim_of of;
    const char   *left, *right; /* series; right NULL: `to` is what left is held against    */
    const char   *at;           /* at this share or value (points: in this panel); NULL: the mean of
                                   those that both sides have */
    cull_claim_way way;
    double         margin, to, target;
} cull_claim;

enum { CULL_CLAIMS = 4 };

typedef struct cull_reproduction {
    const char            *name;   /* "balles2023/fig1"                                     */
    const char            *number; /* "Figure 1"                                            */
    const char            *title;  /* one line                                              */
    const char            *claim;  /* the paper's, in plain sentences                       */
    cull_reproduction_kind kind;
    cull_reproduction_look look;
    const char            *recipe;     /* below recipes/reproduce/; NULL: none              */
    const char            *changes;    /* "key=value key=value" to it; NULL: none           */
    const char            *strategies; /* commas between; full training is always there     */
    const char            *keep;       /* "0.1,0.3"; NULL: the strategies decide            */
    const char            *vary;       /* "key=a,b,c": done for each value, in which '+' is a
                                          comma and blanks begin another change; NULL: once.
                                          Keys of select are the strategies' alone          */
    bool        full_once, picks_once; /* at the first value alone               */
    const char *groups;                /* "sb=SB and Stale-SB,kath18=Kath18" by how a series begins;
                                          NULL: every series is its own                         */
    unsigned    seeds;                 /* of the paper                                          */
    int         drawing;               /* cull_drawing                                         */
    const char *missing;               /* what is not there; NULL: nothing                     */
    const char *x, *y;                 /* axes; NULL: as the drawing has it. "a; b": of the first
                                          picture and of the second; the last counts on    */
    double     target;                 /* of CULL_DRAW_PHASES                                  */
    cull_claim rule[CULL_CLAIMS];
} cull_reproduction;

/* i = 0, 1, ... until NULL; and by name, NULL: none. Those of a paper follow each other, in its
 * order. */
CULL_API const cull_reproduction *cull_reproduction_at(size_t i);
CULL_API const cull_reproduction *cull_reproduction_find(const char *name);

/* How far a figure is scaled down. */
typedef struct cull_reproduction_scale {
    double   epochs;  /* share of the paper's; 1: all                             */
    double   subset;  /* share of the training examples; 1                        */
    uint64_t seeds;   /* 0: the paper's                                           */
    uint64_t batches; /* of a probe, or of a look at gradients; 0: cull_reproduction_batches() */
} cull_reproduction_scale;

/* Minibatches that an entry looks at where nothing is said; 0: at none. */
CULL_API uint64_t cull_reproduction_batches(const cull_reproduction *entry);

/* An arm of a figure. Figures that ask for the same runs have the same folder. */
enum { CULL_FIGURE_NAME = 160 };
typedef struct cull_figure_arm {
    char               series[CULL_FIGURE_NAME], group[CULL_FIGURE_NAME], value[CULL_FIGURE_NAME];
    double             x, keep; /* keep NaN: none */
    bool               full;
    char               folder[CULL_DATA_PATH]; /* its runs are FOLDER/seed-N */
    const cull_recipe *recipe;                 /* of seed 1 */
} cull_figure_arm;

/*
 * What a figure asks for: every strategy at every share and value, and full training; who would be
 * the same run is one arm. Of runs that are looked at, those; of what is probed or timed, full
 * training of each value, which is never run and tells what it will take.
 *
 * recipes   the folder that the papers' recipes lie in
 * root      the folder of the paper's runs
 *
 * CULL_BAD_OPTION and what cull_recipe_open() says; CULL_BAD_ARGUMENT when the entry is not built.
 */
typedef struct cull_figure cull_figure;
CULL_API cull_status       cull_figure_open(const cull_reproduction       *entry,
                                            const cull_reproduction_scale *scale, const char *recipes,
                                            const char *root, cull_figure **out);
CULL_API void              cull_figure_close(cull_figure *figure);
/* i = 0, 1, ... until NULL, full training first. */
CULL_API const cull_figure_arm *cull_figure_arm_at(const cull_figure *figure, size_t i);
CULL_API uint64_t               cull_figure_seeds(const cull_figure *figure);
/* A run's recipe, owned by the caller, and its folder. */
CULL_API cull_status cull_figure_run(const cull_figure *figure, size_t arm, uint64_t seed,
                                     cull_recipe **recipe, char folder[CULL_DATA_PATH]);
/* Which of its runs are finished; of how many. */
CULL_API cull_status cull_figure_count(const cull_figure *figure, size_t *finished, size_t *of);

/* What steps of full training of one set-up cost, measured on so much of its training set. */
typedef struct cull_figure_costs {
    char          setup[CULL_FIGURE_NAME]; /* model, set and batch */
    double        subset;
    cull_measured is;
} cull_figure_costs;

/* The arms' set-ups, i = 0, 1, ... until false: a name, and a recipe to measure. */
CULL_API bool cull_figure_setup(const cull_figure *figure, size_t i, char out[CULL_FIGURE_NAME],
                                const cull_recipe **recipe);
/* Seconds that a run of an arm will take by these, looks at it included, or what is done in its
 * place; what choosing itself takes is not in it. NaN: its set-up is not among them. */
CULL_API cull_status cull_figure_price(const cull_figure *figure, size_t arm,
                                       const cull_figure_costs *costs, size_t count, double *out);

/* A point of a figure that no run's own files hold; numbers that are not known are NaN, texts "".
 * docs/formats.md says what they are in points.jsonl. */
enum { CULL_POINT_NAME = 128, CULL_POINT_WORDS = 64 };
typedef struct cull_point {
    char   panel[CULL_POINT_WORDS]; /* which of several pictures                 */
    char   series[CULL_POINT_NAME]; /* which line of it, or which part of a bar  */
    char   value[CULL_POINT_NAME];  /* what stands below a bar, or in place of x */
    double x, y, low, high;
} cull_point;

/* Write points to FOLDER/points.jsonl, behind those that are there; one at the same place of the
 * same line takes the other's place. anew: without those that are there. */
CULL_API cull_status cull_points_write(const char *folder, const cull_point *point, size_t count,
                                       bool anew);

/* ---- papers ---------------------------------------------------------------------------- */

/* How a figure is drawn: as its paper draws it. Results are of the test set. "Along training" is a
 * point for each look at it; a run's seconds and joules are those of the phases that are cost. */
typedef enum cull_drawing {
    CULL_DRAW_BY_KEEP,  /* maximum of each run over the share kept: its mean, and a band from the
                           least to the most; accuracy at the end thinner; full training level  */
    CULL_DRAW_BY_VALUE, /* the same over what is swept: numbers, or words in their order        */
    CULL_DRAW_UPDATES,  /* error along training over updates of the weights                     */
    CULL_DRAW_TIME,     /* error along training over seconds                                    */
    CULL_DRAW_COURSE,   /* the result itself along training, accuracy, over seconds             */
    CULL_DRAW_PHASES,   /* a bar an arm: seconds by phase until `target` times the error that full
                           training ends at; forward and backward apart                         */
    CULL_DRAW_FRONTIER, /* error over seconds, every point along training of every run; those that
                           no other beats at both stand out. Each group's share of them: a table */
    CULL_DRAW_SPEEDUP,  /* points of accuracy below full training over its seconds / the arm's;
                           both axes by logarithms, small shares right                          */
    CULL_DRAW_ENERGY,   /* the same over joules                                                 */
    CULL_DRAW_TARGETS,  /* a table: how many times sooner than full training an arm comes to 1.1,
                           1.2 and 1.4 times the error that training ends at                    */
    CULL_DRAW_RANKS,    /* a table: series against series, p of the signed-rank test over pairs of
                           runs with the same x and seed                                        */
    CULL_DRAW_ERRORS,   /* probe.jsonl: histograms of the squared error, a panel for each share */
    CULL_DRAW_LINES,    /* points.jsonl: lines, side by side for each panel                     */
    CULL_DRAW_BARS,     /* points.jsonl: a bar for each value, made of its series               */
    CULL_DRAW_EXAMPLES  /* audit.npz: pictures, the easiest and the hardest                     */
} cull_drawing;

/* What became of a paper's claim here. */
typedef enum cull_held {
    CULL_HELD_NONE, /* it was not judged: there is no run yet, or no rule */
    CULL_HELD,
    CULL_HELD_NOT,
    CULL_HELD_OPEN /* undecided */
} cull_held;

/* Runs that are one point of a figure, or one line: they differ in their seed alone. */
typedef struct cull_paper_arm {
    const char *series;      /* "full", or a strategy with its options: points of one are joined */
    const char *group;       /* whose share of the frontier it is: "SB and Stale-SB"         */
    double      x;           /* the share kept, or the value that is swept; NaN: no number   */
    const char *value;       /* that value in words: "mobilenetv2"; "": none is swept        */
    bool        full;        /* full training: what the others are held against              */
    const char *const *run;  /* [runs] folders of finished runs, by seed                     */
    const unsigned    *seed; /* [runs] ascending                                             */
    size_t             runs;
} cull_paper_arm;

typedef struct cull_paper_figure {
    const char  *name;   /* of the entry: "jiang2019/fig6-svhn"                       */
    const char  *number; /* "Figure 6", "Table 1"                                     */
    const char  *title;  /* one line: what is shown, of what                          */
    const char  *claim;  /* the paper's, in our words                                 */
    cull_drawing drawing;
    const char  *x, *y;           /* what the axes are of; "": as the drawing has it; "a; b": of
                                     pictures one after the other, the last counts on          */
    double                target; /* of CULL_DRAW_PHASES                                       */
    const cull_paper_arm *arm;    /* [arms] those with a finished run, full training first     */
    size_t                arms;
    const char           *folder;   /* of probe.jsonl, points.jsonl or audit.npz; "": none     */
    size_t                runs, of; /* finished, of all that it asks for                       */
    cull_held             held;
    const char           *finding; /* sentences with the numbers the claim was judged by       */
    const char           *scale;   /* a sentence: at what scale ours was run                   */
    const char           *missing; /* a sentence: why there is no figure; "": there is one     */
} cull_paper_figure;

typedef struct cull_paper {
    const char              *name;   /* "jiang2019"                              */
    const char              *title;  /* authors, title, year                     */
    const char              *setup;  /* sentences on machine and version; ""     */
    const cull_paper_figure *figure; /* [figures] in the paper's order           */
    size_t                   figures;
} cull_paper;

/* What was begun of a figure below `root`, the folder of its paper: how it was scaled, and, where
 * it has no runs of its own, whether it is done. */
typedef struct cull_figure_state {
    bool                    begun, done;
    cull_reproduction_scale scale;
    char                    folder[CULL_DATA_PATH];   /* of its own files */
    char                    network[160], recipe[20]; /* what it is of, in words, and a hash of all
                                                         that its recipe says; "": not known */
} cull_figure_state;

CULL_API cull_status cull_figure_read(const cull_reproduction *entry, const char *root,
                                      cull_figure_state *out);
/* A figure that was not begun, whose runs are all there as another figure of its paper left them,
 * is begun at that one's scale: *whose; NULL: there is none, and nothing is changed. */
CULL_API cull_status cull_figure_shared(const cull_reproduction *entry, const char *recipes,
                                        const char *root, cull_figure_state *state,
                                        const cull_reproduction **whose);
/* Fills in what a recipe, with all changes, is of; true: what was begun is of the same, or does not
 * say. */
CULL_API bool cull_figure_take(const cull_reproduction *entry, const cull_recipe *recipe,
                               cull_figure_state *state);
/* Note how it is scaled, and that it is done; makes its folder. */
CULL_API cull_status cull_figure_note(const cull_reproduction *entry, const char *root,
                                      const cull_figure_state *state);

/*
 * All figures of a paper as their runs below `root` stand, with their claims judged. Damaged runs
 * count as missing. CULL_NOT_FOUND: there is no such paper.
 */
typedef struct cull_paper_book cull_paper_book;
CULL_API cull_status       cull_paper_open(const char *name, const char *recipes, const char *root,
                                           cull_paper_book **out);
CULL_API void              cull_paper_close(cull_paper_book *book);
CULL_API const cull_paper *cull_paper_of(const cull_paper_book *book);

/*
 * One HTML page about a paper: figure by figure, its claim beside our drawing, what became of the
 * claim, and at what scale. Folders that cannot be read are named on the page and left out; a
 * figure without any run has its sentence alone.
 *
 * options and result are those of cull_report(); out->runs counts folders that were read.
 */
CULL_API cull_status cull_report_paper(const cull_paper *paper, const cull_report_options *options,
                                       cull_report_result *out);

#ifdef __cplusplus
}
#endif

#endif
