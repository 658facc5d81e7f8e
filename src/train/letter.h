/*
 * train/letter.h - what differs from one step to the next, in one block that is sent at once: the
 * moment, the places of the examples that are met and their weights, those of a step's target.
 *
 * Operations of a step read it where it lies, so that a recorded one is another each time. On the
 * host it lies where it is written.
 */
#ifndef CULL_TRAIN_LETTER_H
#define CULL_TRAIN_LETTER_H

#include "backend/backend.h"

typedef struct cull_letter {
    cull_backend *backend;
    size_t        examples, aims; /* there is room for so many                    */
    size_t        bytes;
    char         *here, *there; /* on the host and on the backend; there, one may be the other */
    size_t        from, to;     /* written since it was sent; to 0: nothing                  */
} cull_letter;

/* Room for so many; where it grows it lies elsewhere, and what was in it is gone. Into a zeroed
 * struct but for the backend, which clear ends. */
cull_status cull_letter_room(cull_letter *letter, size_t examples, size_t aims);
void        cull_letter_clear(cull_letter *letter);

/* Where its parts lie on the backend. */
cull_moment *cull_letter_moment(const cull_letter *letter);
uint32_t    *cull_letter_places(const cull_letter *letter);
uint32_t    *cull_letter_aims(const cull_letter *letter);
double      *cull_letter_weights(const cull_letter *letter);

/* A part from its beginning on; the backend has it when the letter is sent. */
void cull_letter_write(cull_letter *letter, const void *part, const void *from, size_t bytes);
cull_status cull_letter_send(cull_letter *letter);

#endif
