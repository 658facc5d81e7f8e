/*
 * records/judge/advice_parts.h - between the rule of advice and its words: who may be advised, and
 * who is.
 */
#ifndef CULL_RECORDS_ADVICE_PARTS_H
#define CULL_RECORDS_ADVICE_PARTS_H

#include "records/judge/advice.h"
#include "records/judge/verdict.h"

enum { CULL_ADVICE_MOST = 512, CULL_ADVICE_HINDRANCE = 200 };

/* The simple ones first. */
typedef enum cull_choice_kind {
    CULL_CHOICE_SHORTENED,
    CULL_CHOICE_STOPPED,
    CULL_CHOICE_UNIFORM,
    CULL_CHOICE_STRATEGY
} cull_choice_kind;

/* Something cheaper than full training. */
typedef struct cull_choice {
    const cull_records_arm *arm;
    cull_choice_kind        kind;
    bool                    may; /* be advised */
    cull_against            full;
} cull_choice;

typedef struct cull_choices {
    const cull_records_comparison *c;
    const cull_yardstick          *by;
    const cull_records_arm        *full;
    cull_choice                    choice[CULL_ADVICE_MOST];
    size_t                         count;
    size_t cheaper; /* arms and controls that cost less than full training */
    /* what the rule found: who keeps up, who gives something up; NULL: nobody */
    const cull_choice *keeper, *saving;
    const char        *why; /* nothing can be advised; NULL: something can */
    char               room[CULL_ADVICE_HINDRANCE];
} cull_choices;

/* advice.c */
void cull_choices_find(const cull_records_comparison *c, const cull_yardstick *by,
                       cull_choices *out);
/* Why an arm whose verdict is better is not what to do. */
cull_verdict_bar cull_choices_bar(const cull_choices *t, const cull_records_arm *arm);
bool             cull_choice_is_arm(const cull_records_arm *arm); /* its role is */
bool cull_choice_is_better(const cull_records_arm *arm);          /* an arm, and its verdict is */
bool cull_choice_is_failed(const cull_records_compared *run);
bool cull_choice_has_failed(const cull_records_arm *arm);
bool cull_choice_keeps_up(const cull_choices *all, const cull_choice *one); /* by itself */
/* One of its kind that costs no less and is not shown to keep up, so that this one is not asked;
 * NULL: there is none. */
const cull_choice *cull_choice_stopped_by(const cull_choices *all, const cull_choice *one);

/* advice_words.c: what the rule found, in words. */
void cull_advice_say(const cull_choices *all, cull_advice *out);
/* Nothing can be advised, and why. */
void cull_advice_say_why_not(const cull_choices *all, const char *why, cull_advice *out);

#endif
