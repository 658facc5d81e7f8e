/* select_inputs.h - the arrays of cull select: which there are, and reading them. */
#ifndef CULL_SELECT_INPUTS_H
#define CULL_SELECT_INPUTS_H

#include "program.h"

enum {
    IN_LOSS,
    IN_H,
    IN_P,
    IN_LABELS,
    IN_IRREDUCIBLE,
    IN_PLACES,
    IN_UNSEEN,
    IN_TARGET_H,
    IN_TARGET_P,
    IN_TARGET_LABELS,
    IN_TARGET_LOGITS,
    INPUTS
};

/* One kind of array: its flag, its name in a --signals file, and which signal it is. */
typedef struct input_kind {
    const char *flag, *array;
    unsigned    signal; /* CULL_SIGNAL_*, 0: none          */
    bool        target; /* of the target block             */
    size_t      at;     /* of its view in struct inputs    */
} input_kind;

extern const input_kind input_kinds[INPUTS];

typedef struct inputs {
    cull_arrays *file[INPUTS];
    cull_arrays *all; /* the --signals file */
    uint32_t    *place;
    uint8_t     *unseen;
    bool         trained; /* `all` is an --observe file: a .npy of losses, or places named as a
                             subset names them, will do too */
    cull_tensor  places, unseen_array; /* as they were read */
    cull_signals signals;              /* views of all that */
} inputs;

/* Read the files named (NULL: not given) into in->signals. `count` stands in for the number
 * of examples when no array says it; 0: then that is a complaint. Returns an exit status. */
int  inputs_read(inputs *in, const char *const path[INPUTS], const char *all, size_t count);
void inputs_clear(inputs *in);

/* Kinds as sets, a bit each: those of these signals; those that were read; those that the --signals
 * file holds. */
unsigned inputs_of(unsigned signals, unsigned target);
unsigned inputs_given(const inputs *in);
unsigned inputs_held(const inputs *in);
/* Their flags, as "--h and --p", or their names, as "h and p"; false: there are none. */
bool inputs_words(unsigned kinds, bool flags, char *out, size_t room);

#endif
