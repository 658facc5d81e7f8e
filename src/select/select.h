/*
 * select/select.h - what the files of this room share.
 *
 * selector.c, decision.c and others are the frame around a strategy; every strategy is one file
 * that fills in a cull_strategy and is listed in CULL_STRATEGY_MAP below.
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

/* strategy_text.c: the strategy that a text without options names, of the list or from a shared
 * object (*plugin then ends with cull_sel_plugin_close()); *modifier: "stale",
 * "remembered" or NULL. CULL_UNKNOWN_STRATEGY, CULL_BAD_OPTION, or what the object's loading says.
 */
cull_status cull_sel_strategy_open(const char *text, const cull_strategy **out, void **plugin,
                                   const char **modifier);

/* Beside the traits of cull.h: works where the signals are and brings parts of what it finds to the
 * host while it decides, so that this cannot be recorded; with whole minibatches it asks for the
 * host altogether. */
enum { CULL_SEL_WAITS = 1 << 16 };

/* options_shared.c: which option tables a strategy has, its own first. */
void cull_sel_tables(const cull_strategy *strategy, cull_option_tables *out);

/*
 * What the operations of a decision are told when they run, and what they tell: in the memory of
 * the backend that the rule works with. Where a pointer is NULL, the signals' own number counts.
 */
typedef struct cull_sel_watch {
    const cull_moment *moment;
    const uint64_t *step, *epoch; /* of signals as a rule sees them: over the pool, step is epoch */
    cull_trouble   *trouble;
} cull_sel_watch;

/* What rules of the library are handed: whatever they make of the backend ends with their state.
 * The losses kept by place are its base's. */
typedef struct cull_sel_self {
    cull_self base; /* first, so that a cull_self * is one of these */
    cull_kit  kit;
    /* What operations wrote that the host goes by, where there is such a thing: this waits. */
    cull_status (*heed)(cull_self *self);
} cull_sel_self;

static inline cull_kit *cull_sel_kit(cull_self *self)
{
    return &((cull_sel_self *)self)->kit;
}

/* watch.c: what a trouble word says of signals, as a status and a sentence. */
cull_status cull_sel_trouble_fail(const cull_trouble *trouble, size_t pool);
/* Of a rule that waits anyway: what was found wrong in its decision until now fails here, and so
 * before it looks into arrays. */
cull_status cull_sel_watch_look(const cull_self *self);
/*
 * A step that waits for nothing: what its decisions find wrong goes into this word, which its
 * owner zeroes and reads, and what they are counted by comes from this block. Both lie in the
 * memory of the selector's backend and outlive its decisions; NULL: as before. Of a strategy that
 * asks for the host neither is used.
 */
void cull_sel_trouble(cull_selector *selector, cull_trouble *trouble);
void cull_sel_moment(cull_selector *selector, const cull_moment *moment);
/* Behind such a step, and before needs are asked again: what of its history the rule must know on
 * the host. Waits where there is something to know. */
cull_status cull_sel_heed(cull_selector *selector);
/* Are decisions and observations then operations alone, the same ones wherever needs are the same,
 * but for the first step of an epoch? Such steps can be recorded. */
bool cull_sel_records(const cull_selector *selector);

/* signals.c: the arrays that signals may have, in the order in which they are looked at; without a
 * name behind the last. */
typedef struct cull_sel_array {
    const char *name;
    unsigned    signal; /* CULL_SIGNAL_*                                             */
    bool        target; /* of the target block                                       */
    size_t      at;     /* where its tensor is in cull_signals                       */
    int         dims;
    bool        integral;
    size_t      wide_as; /* where the array is whose columns it has; 0: as many as it has */
} cull_sel_array;

extern const cull_sel_array cull_sel_arrays[];

static inline bool cull_sel_array_read(const cull_sel_array *array, const cull_needs *read)
{
    return (array->target ? read->target : read->signals) & array->signal;
}

static inline size_t cull_sel_array_rows(const cull_signals *signals, const cull_sel_array *array)
{
    return array->target ? signals->target.count : signals->count;
}

/* Shapes and types of those in `read` (and, of the target block, in its target), wherever they lie.
 */
cull_status cull_sel_check_shapes(const cull_signals *signals, const cull_needs *read, size_t pool);
/* Their ranges, and that they are finite, by CULL_OP_CHECK: told in watch->trouble. */
cull_status cull_sel_check_values(cull_kit *kit, const cull_signals *signals,
                                  const cull_needs *read, size_t pool, const cull_sel_watch *watch);
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
/* Where the rule's operations tell how it went; flags become CULL_SUBSET_LATE. */
cull_status cull_sel_subset_late(cull_subset *subset);
/* Waits for it: count, picked and flags. Nothing where nothing is late. */
cull_status cull_sel_subset_outcome(cull_subset *subset);

/* fetch.c: a copy where `out` lies; one of both is the host. */
cull_status cull_sel_deliver(cull_subset *from, cull_subset *out);
/* What lies in `from` on the host, in `out`, which may be swapped with it. */
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

/* scores.c: what the rows of signals are chosen by, in room that is kept. */
typedef struct cull_sel_scores {
    double *x; /* [rows] */
    size_t  room;
} cull_sel_scores;

/* Losses, less the irreducible ones where wanted; examples no loss is known of above all others, in
 * random order. */
cull_status cull_sel_scores_take(cull_sel_scores *scores, cull_self *self,
                                 const cull_signals *signals, bool reducible);

/* m of the signals' rows by weight (NULL: uniformly), ascending into index[m], as arguments of
 * CULL_OP_DRAW. */
static inline cull_op_args cull_sel_draw(const cull_self *self, const char *stream,
                                         const cull_signals *signals, const double *weight,
                                         size_t m, uint32_t *index)
{
    return (cull_op_args){.draw = {.rows = signals->count,
                                   .m = m,
                                   .place = signals->place,
                                   .weight = weight,
                                   .key = cull_key_make(self->setting->seed, stream),
                                   .step = signals->step,
                                   .now = self->watch->step,
                                   .index = index}};
}

/* losses.c: remembered losses by place, and what they predict. */
typedef struct cull_sel_losses cull_sel_losses;

/* In the memory of a backend, and by its operations. */
cull_status cull_sel_losses_create(cull_backend *backend, size_t pool, cull_predict predict,
                                   cull_sel_losses **out);
void        cull_sel_losses_destroy(cull_sel_losses *losses);
/* Store signals->loss by place, at signals->epoch; rows marked unseen are passed over, and all of
 * them after trouble. */
cull_status cull_sel_losses_record(cull_sel_losses *losses, const cull_signals *signals,
                                   const cull_sel_watch *watch);
/* Fill loss[count] and unseen[count] for these places (NULL: all) at an epoch. */
cull_status cull_sel_losses_recall(cull_sel_losses *losses, const uint32_t *place, size_t count,
                                   uint64_t epoch, const cull_sel_watch *watch, double *loss,
                                   uint8_t *unseen);
/* On the host: the value kept for a place; false when none is known. */
bool cull_sel_losses_at(const cull_sel_losses *losses, size_t place, double *loss);
/* On the host: mean of the known ones, at most the largest of them; false when none is known. */
bool        cull_sel_losses_mean(const cull_sel_losses *losses, double *mean);
cull_status cull_sel_losses_save(const cull_sel_losses *losses, cull_writer *writer);
cull_status cull_sel_losses_restore(cull_sel_losses *losses, cull_reader *reader);

/* standing.c: the percentile of every place by remembered loss, taken at the start of an epoch. */
typedef struct cull_sel_look {
    double  *at;    /* [pool] percentiles                                */
    uint8_t *fresh; /* [pool] 1: never trained by then, ranked the highest */
} cull_sel_look;

typedef struct cull_sel_standing {
    cull_backend *backend; /* whose memory it is */
    size_t        pool;
    bool          taken;
    uint64_t      epoch; /* at whose start */
    cull_sel_look now;

    bool          waits; /* a newer one, to be kept when the call has succeeded */
    uint64_t      next_epoch;
    cull_sel_look next;
    double       *x; /* [pool] what is ranked */
} cull_sel_standing;

/* Of what a rule is handed: it ends with the rule's state. */
cull_status cull_sel_standing_create(cull_self *self, cull_sel_standing *out);
/* *out: of the start of `epoch`: what was kept for it, or else the losses as they are now; valid
 * until the next call. */
cull_status cull_sel_standing_take(cull_sel_standing *standing, cull_self *self, uint64_t epoch,
                                   const cull_sel_look **out);
cull_status cull_sel_standing_keep(cull_sel_standing *standing); /* what was taken last */
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
