/*
 * lab/compare/arms.h - who takes part in a comparison: the arms asked for and the controls they
 * need.
 *
 *     full           all examples, always there
 *     same-m         uniform choice of as many examples as the arm trains
 *     whole-budget   uniform choice of as many more as the arm's cost allows, same steps
 *     shortened      full training on a schedule that is over at the arm's cost
 *     early-stop     the full run's accuracy when it had cost as much; not a run of its own
 *
 * Arms whose costs lie within 3 % share a control, made for the larger cost. Who is the same run is
 * run once: an arm may be another's control.
 */
#ifndef CULL_LAB_ARMS_H
#define CULL_LAB_ARMS_H

#include "lab/compare/costs.h"
#include "lab/recipe/recipe.h"

typedef enum cull_role {
    CULL_ROLE_ARM,
    CULL_ROLE_FULL,
    CULL_ROLE_SAME_M,
    CULL_ROLE_WHOLE_BUDGET,
    CULL_ROLE_SHORTENED,
    CULL_ROLE_EARLY_STOP,
    CULL_ROLES
} cull_role;

const char *cull_role_name(cull_role role);

enum {
    CULL_ARM_NAME = 192,
    CULL_ARM_WHY = 400,
    CULL_ARM_MOST = 512,
    CULL_ARM_OPTIONS = 24,
    CULL_ARM_BATCHES = 10,
    CULL_ARM_SCORING = 16 /* more than a recipe has keys of scoring */
};
#define CULL_ARM_SHARE .03 /* costs this near share a control */

/* One strategy of the list that a user asked for. */
typedef struct cull_arm_asked {
    cull_strategy_text what;                    /* its options but for those below   */
    char               strategy[CULL_ARM_NAME]; /* name and modifier                 */
    const char        *keep, *pass;             /* its own; NULL: as all             */
} cull_arm_asked;

typedef struct cull_arm {
    cull_role             role;
    char                  name[CULL_ARM_NAME], folder[CULL_ARM_NAME], strategy[CULL_ARM_NAME];
    const char           *pass;    /* "separate", "reuse" or "none": no scoring pass          */
    double                keep;    /* NaN: none                                               */
    cull_recipe          *recipe;  /* owned; NULL: early stop, which has no run               */
    bool                  uniform; /* needs no uniform control, and gets no verdict           */
    const cull_arm_asked *asked;   /* of the list; NULL: full training and controls     */
    cull_arm_costs        own;
    cull_price            price;
    double                share;               /* shortened, early stop: of the full run's cost */
    size_t                control[CULL_ROLES]; /* by role; SIZE_MAX: none                      */
} cull_arm;

/* What all arms have in common; texts are borrowed. */
typedef struct cull_arm_base {
    const char        *path; /* of the recipe; NULL: defaults */
    const cull_option *changes;
    size_t             count;
    unsigned           threads; /* 0: as the recipe says */
} cull_arm_base;

/* An arm that was asked for and cannot be. */
typedef struct cull_arm_left {
    char        name[CULL_ARM_NAME], why[CULL_ARM_WHY], subject[CULL_RECIPE_KEY];
    cull_status status;
} cull_arm_left;

typedef struct cull_arms {
    cull_arm       *arm; /* [count] the full run first */
    size_t          count, room;
    cull_arm_left  *left; /* [lefts] */
    size_t          lefts, left_room;
    cull_arm_asked *asked; /* [wishes] the list of strategies */
    size_t          wishes;
} cull_arms;

/* What a user asks for, as text with commas between. */
typedef struct cull_arm_wish {
    const char *strategies, *keep, *pass;
    bool        anyway; /* also what cannot save anything */
} cull_arm_wish;

/*
 * The full run and every strategy x keep x pass, each with its recipe checked; no controls yet.
 *
 * A strategy is its name with a modifier behind a space or '+', then its options: "sb",
 * "sb remembered", "grad-match period=1", and the recipe's keys of scoring: "sb
 * score.precision=int8". Those without an option `keep` make one arm, as do those without a
 * scoring pass for all passes; one with a `keep` or `score.pass` of its own makes that arm alone.
 *
 * An arm that cannot be (with this pass or share), or cannot save anything, is left out and its
 * name noted with the reason. Who scores nothing has the defaults of all keys of scoring.
 *
 * CULL_UNKNOWN_STRATEGY, CULL_UNKNOWN_OPTION, CULL_BAD_OPTION: a keep out of (0, 1], for instance.
 * Where no arm but uniform ones is left, the status of the first that was left out.
 */
cull_status cull_arms_open(const cull_arm_base *base, const cull_arm_wish *wish, cull_arms *out);
void        cull_arms_close(cull_arms *arms);

/* Take an arm out, before there are controls; note one that is left out, for the latest failure or
 * for what another process said. */
void        cull_arms_drop(cull_arms *arms, size_t at);
cull_status cull_arms_note_left(cull_arms *arms, const char *name, cull_status because,
                                const char *why);
/* How many arms are there that a verdict is asked for? */
size_t cull_arms_to_judge(const cull_arms *arms);

/* Every key of scoring at its default, for those who score nothing; returns how many. */
size_t cull_arm_unscored(cull_option out[CULL_ARM_SCORING]);
/* The keys of a recipe that say how examples are scored, i = 0, 1, ... until NULL. */
const char *cull_arm_scoring(size_t i);

/* The recipe of an arm as it is measured: no window, no warm start. Owned by the caller. */
cull_status cull_arm_measured_as(const cull_arm_base *base, const cull_arm *arm, cull_recipe **out);
/* Uniform choice of m of a batch of M: whose learning step is measured. */
cull_status cull_arm_uniform_of(const cull_arm_base *base, size_t m, size_t M, cull_recipe **out);

/* Examples of a pool that tells as much as any of what a run does, before anything is measured:
 * several batches, as some choose among those. */
static inline size_t cull_arm_looked(const cull_train_setup *setup)
{
    return CULL_ARM_BATCHES * setup->batch;
}

/* A recipe as it is priced; its own costs are not in it. */
cull_priced cull_arm_priced(const cull_recipe *recipe);
cull_status cull_arm_price(const cull_costs *costs, cull_arm *arm);

/* The keep, no less than the arm's, at which uniform choice costs so much. 1: all. */
cull_status cull_arm_whole_budget(const cull_arm_base *base, const cull_costs *costs,
                                  const cull_arm *arm, double seconds, double *keep);

/* Price all arms and add their controls. What was added before is dropped. */
cull_status cull_arms_control(const cull_arm_base *base, const cull_costs *costs, cull_arms *arms);

/* arm_moments.c: train.evaluate_at of a recipe, less what lies behind the run's end; *all: that is
 * all of it, and out is untouched. */
enum { CULL_ARM_MOMENTS = CULL_TRAIN_MOMENTS * 16 };
cull_status cull_arm_moments_left(const cull_recipe *recipe, char out[CULL_ARM_MOMENTS], bool *all);
/* The full run is looked at wherever an arm's budget ends. */
cull_status cull_arms_watch(const cull_arm_base *base, const cull_costs *costs, cull_arms *arms);

/* Used by controls.c: an arm of this recipe, or the one that is there already. A new one takes the
 * recipe over, and arm->recipe is then NULL. */
cull_status cull_arms_add(cull_arms *arms, cull_arm *arm, size_t *at);
/* The base with more changes. A run that ends before the base's is not looked at behind its end. */
cull_status cull_arm_recipe(const cull_arm_base *base, const cull_option *more, size_t count,
                            cull_recipe **out);

/* arm_wish.c: the strategies of a list; *out is a new array of *count, given back with
 * cull_arms_forget(). */
enum { CULL_ARM_KEEPS = 64, CULL_ARM_TEXT = 256 };
cull_status cull_arm_read(const char *list, cull_arm_asked **out, size_t *count);
void        cull_arms_forget(cull_arm_asked *asked, size_t count); /* NULL is fine */
/* The next of a list with commas between; false at its end. */
bool        cull_arm_next(const char **rest, char *out, size_t room);
cull_status cull_arm_read_keeps(const char *text, double keep[CULL_ARM_KEEPS], size_t *count);

#endif
