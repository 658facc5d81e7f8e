/*
 * base/sized.h - public structs as callers of other versions know them: shorter or longer.
 *
 * Each begins with `size_t size` and grows only at its end; a new member begins past the old
 * sizeof, not in its padding, which callers leave as it is. A public call reads through SIZED what
 * it was handed: where the sizes agree, or none is given, that is one comparison and no copy.
 */
#ifndef CULL_BASE_SIZED_H
#define CULL_BASE_SIZED_H

#include "base/status.h"

/* Let `given`, which may be NULL, point to a struct as long as the library's: itself, or `room`, a
 * local of the type, that then holds the same. Needs a local `status` and a label `done`. */
#define SIZED(type, given, room)                                                                   \
    do {                                                                                           \
        if ((given) && (given)->size && (given)->size != sizeof(type)) {                           \
            TRY(cull_sized_read(#type, (given), sizeof(type), &(room)));                           \
            (given) = &(room);                                                                     \
        }                                                                                          \
    } while (0)

/* The same for what a call only fills in, which ends with cull_sized_give(). Room is used wherever
 * a size is set, so that it stays what the caller set. */
#define SIZED_RESULT(type, out, room)                                                              \
    do {                                                                                           \
        if ((out) && (out)->size) {                                                                \
            TRY(cull_sized_read(#type, (out), sizeof(type), &(room)));                             \
            (out) = &(room);                                                                       \
        }                                                                                          \
    } while (0)

/* The same by hand: *room is what the caller handed over, its size 0; `here` is the sizeof in this
 * library. CULL_BAD_ARGUMENT when the caller says more than is known here. */
cull_status cull_sized_read(const char *name, const void *given, size_t here, void *room);

/* Hand a result back, as far as the caller's struct goes. Nothing to do where SIZED let them be
 * one. */
void cull_sized_give(void *given, const void *result, size_t here);

/* Zero a caller's struct as far as it goes, except for its size. */
void cull_sized_clear(void *given, size_t here);

/* Arrays: *out is a new array (released with cull_base_free), or NULL where the caller's own is as
 * the library has it. */
cull_status cull_sized_read_all(const char *name, const void *given, size_t count, size_t here,
                                void *out);
void        cull_sized_give_all(void *given, const void *results, size_t count, size_t here);

#endif
