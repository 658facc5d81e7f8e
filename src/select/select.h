/*
 * select/select.h - what the files of this room share.
 *
 * selector.c is the frame around a strategy; every strategy is one file that fills in a
 * cull_strategy and is listed in CULL_STRATEGY_MAP below.
 */
#ifndef CULL_SELECT_SELECT_H
#define CULL_SELECT_SELECT_H

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/options.h"
#include "base/rng.h"
#include "tensor/tensor.h"

/* In the order of METHODS: minibatch strategies, then pool strategies. A new one is a line
 * here and a file that defines `const cull_strategy cull_strategy_NAME`. */
#define CULL_STRATEGY_MAP(X)                                                                       \
    X(full)                                                                                        \
    X(random)                                                                                      \
    X(top_loss)                                                                                    \
    X(sb)                                                                                          \
    X(sb_stream)                                                                                   \
    X(kath18)                                                                                      \
    X(gradmatch)                                                                                   \
    X(divbs)                                                                                       \
    X(rho)                                                                                         \
    X(infobatch)                                                                                   \
    X(grad_match)                                                                                  \
    X(craig)                                                                                       \
    X(glister)                                                                                     \
    X(adaptive_random)                                                                             \
    X(fixed_random)

#define CULL_STRATEGY_DECLARE(name) extern const cull_strategy cull_strategy_##name;
CULL_STRATEGY_MAP(CULL_STRATEGY_DECLARE)
#undef CULL_STRATEGY_DECLARE

/* options_shared.c: which option tables a strategy has, its own first. */
void cull_sel_tables(const cull_strategy *strategy, cull_option_tables *out);

/* signals.c: shapes and types of the signals in `read` (and, of the target block, in its target),
 * wherever they lie; then, on the host, ranges and finiteness: before a rule sees them. */
cull_status cull_sel_check_shapes(const cull_signals *signals, const cull_needs *read, size_t pool);
cull_status cull_sel_check_values(const cull_signals *signals, const cull_needs *read, size_t pool);
/* For what (losses, examples) is kept by place: fewer than the pool has must say which they are. */
cull_status cull_sel_check_places(const char *name, const char *what, const cull_signals *signals,
                                  size_t pool);
/* Which of the signals are there, outside the target block. */
unsigned cull_sel_present(const cull_signals *signals);

static inline uint32_t cull_sel_place(const cull_signals *signals, size_t row)
{
    return signals->place ? signals->place[row] : (uint32_t)row;
}

/* subset.c: the arrays are to be of this backend; if they are another's, they are cleared. */
void cull_sel_subset_aim(cull_subset *subset, cull_backend *backend);
/* Everything, weights 1. */
cull_status cull_sel_subset_all(cull_subset *subset, size_t count);
/* Sort by group, then row; stable for repeats. */
void cull_sel_subset_sort(cull_subset *subset);
/* Scale the weights so that they add up to `sum`; they must not all be zero. */
void cull_sel_subset_scale(cull_subset *subset, double sum);

/* fetch.c: what lies in `from` on the host, in `out`, which may be swapped with it. */
cull_status cull_sel_subset_bring(cull_subset *from, cull_subset *out);
/* Entries from .. *to are one training batch. */
cull_status cull_sel_subset_group(const cull_subset *subset, size_t from, size_t *to);
/* fetch.c: signals brought from one backend's memory to another's, one of the two on the host. */
typedef struct cull_sel_load {
    cull_backend *home, *work; /* from where, to where */
    void         *block;       /* where they lie then  */
    size_t        room;
} cull_sel_load;

/* What is read of them is then at `work`, until the next call; what was there already stays where
 * it is. */
cull_status cull_sel_carry(cull_sel_load *load, const cull_needs *read, cull_signals *signals);
void        cull_sel_load_clear(cull_sel_load *load);

/* draw.c: weighted sampling without replacement, with its operations kept ready. */
typedef struct cull_sel_draw {
    cull_op *keys, *top;
    double  *key;
    size_t   room;
} cull_sel_draw;

/* m of `rows` by weight (NULL: uniformly), ascending rows into index[m]. Rows are told apart
 * by place[] (NULL: the row itself). When fewer than m weights are positive, the lowest rows
 * of weight zero complete the draw. */
cull_status cull_sel_draw_run(cull_sel_draw *draw, cull_backend *backend, cull_key key,
                              uint64_t step, const uint32_t *place, const double *weight,
                              size_t rows, size_t m, uint32_t *index);
void        cull_sel_draw_clear(cull_sel_draw *draw);

/* scores.c: per-example scores with a place for examples no loss is known of. */
/* Give unseen rows scores above all others, in random order; scores stay finite. */
void cull_sel_unseen_first(double *score, const uint8_t *unseen, size_t rows, cull_key key,
                           uint64_t step, const uint32_t *place);

/* Room for at least `count` doubles, kept between calls. */
cull_status cull_sel_room(double **data, size_t *room, size_t count);

/* losses.c: remembered losses by place, and what they predict. */
typedef enum cull_sel_predict {
    CULL_PREDICT_LAST,
    CULL_PREDICT_AVERAGE,
    CULL_PREDICT_TREND
} cull_sel_predict;
typedef struct cull_sel_losses cull_sel_losses;

cull_status cull_sel_losses_create(size_t pool, cull_sel_predict predict, cull_sel_losses **out);
void        cull_sel_losses_destroy(cull_sel_losses *losses);
/* Store signals->loss by place, at signals->epoch; rows marked unseen are passed over. */
void cull_sel_losses_record(cull_sel_losses *losses, const cull_signals *signals);
/* Fill loss[count] and unseen[count] for the places of signals at signals->epoch. */
void cull_sel_losses_recall(const cull_sel_losses *losses, const cull_signals *signals,
                            double *loss, uint8_t *unseen);
/* The value kept for a place; false when none is known. */
bool cull_sel_losses_at(const cull_sel_losses *losses, size_t place, double *loss);
/* Mean of the known ones, at most the largest of them; false when none is known. */
bool        cull_sel_losses_mean(const cull_sel_losses *losses, double *mean);
cull_status cull_sel_losses_save(const cull_sel_losses *losses, cull_writer *writer);
cull_status cull_sel_losses_restore(cull_sel_losses *losses, cull_reader *reader);

/* standing.c: the percentile of every place by remembered loss, taken at the start of an epoch. */
typedef struct cull_sel_standing {
    size_t   pool;
    bool     taken;
    uint64_t epoch; /* at whose start */
    double  *at;    /* [pool] percentiles; below 0: never trained by then, the size is the rank */

    bool     waits; /* a newer one, to be kept when the call has succeeded */
    uint64_t next_epoch;
    double  *next, *score;
    uint8_t *unseen;
    cull_op *rank;
} cull_sel_standing;

/* Into a zeroed struct, which cull_sel_standing_clear() ends, also after a failure. */
cull_status cull_sel_standing_create(size_t pool, cull_sel_standing *out);
void        cull_sel_standing_clear(cull_sel_standing *standing);
/* *out: [pool], of the start of `epoch`: what was kept for it, or else the losses as they are now;
 * valid until the next call. */
cull_status cull_sel_standing_take(cull_sel_standing *standing, const cull_sel_losses *losses,
                                   cull_backend *backend, cull_key key, uint64_t epoch,
                                   const double **out);
void        cull_sel_standing_keep(cull_sel_standing *standing); /* what was taken last */
cull_status cull_sel_standing_save(const cull_sel_standing *standing, cull_writer *writer);
cull_status cull_sel_standing_restore(cull_sel_standing *standing, cull_reader *reader);

/* rhythm.c: when a selector runs, and how much it is brought and keeps. */
/* A minibatch strategy's full-sized call: `candidates` examples of which `budget` are kept. */
void cull_sel_plan(const cull_self *self, size_t *candidates, size_t *budget);
/* How many full epochs precede how many subset epochs, under a warm start of kappa. */
void cull_sel_warm_start(uint64_t epochs, double keep, double kappa, uint64_t *full,
                         uint64_t *subset);

/* calls.c */
extern const cull_calls cull_sel_calls;

/* plugin.c: a strategy from a shared object; *handle ends with cull_sel_plugin_close(). */
cull_status cull_sel_plugin_open(const char *path, void **handle, const cull_strategy **out);
void        cull_sel_plugin_close(void *handle);

#endif
