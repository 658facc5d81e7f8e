/*
 * backend/cuda/nn_library.h - cuDNN's convolutions and cuBLASLt's products, in C.
 *
 * A problem is what is to be computed; a choice is one of a library's ways to do it, as numbers
 * that can be kept in a file; a plan is a choice made ready for a problem. Plans are asked for by
 * choice alone, so one that was found by timing and one that was read are the same.
 *
 * Every call returns CULL_OK, or CULL_DEVICE (CULL_NO_MEMORY) with the library's call and what it
 * said. CULL_UNSUPPORTED: the library cannot do this problem, or not by this choice.
 */
#ifndef CULL_BACKEND_CUDA_NN_LIBRARY_H
#define CULL_BACKEND_CUDA_NN_LIBRARY_H

#include "backend/cuda/nn_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The libraries on one device. */
typedef struct cull_library cull_library;
typedef struct cull_plan    cull_plan;

enum { CULL_CHOICE_KNOBS = 48, CULL_CHOICE_WORDS = 8, CULL_CHOICE_TEXT = 768 };
enum { CULL_LIBRARY_ROOM = 256 << 20 }; /* bytes of scratch that a choice may need */

typedef enum cull_direction { CULL_FORWARD, CULL_DATA, CULL_WEIGHTS } cull_direction;

typedef struct cull_conv_problem {
    cull_conv_shape shape;
    cull_direction  direction;
    cull_dtype      values; /* of x, w and y                              */
    cull_dtype      result; /* of what is computed: dw may be float32     */
    bool            tf32;   /* float32: ten bits of each factor will do   */
    bool            repeatable;
    bool            add; /* to what is there                              */
} cull_conv_problem;

/* D (rows, columns) = A B [+ D], D column by column; A (rows, depth), B (depth, columns). What is
 * `turned` lies in memory the other way about. */
typedef struct cull_product_problem {
    int64_t    rows, columns, depth;
    bool       turned_a, turned_b;
    cull_dtype values, result; /* of A and B, and of D */
    bool       bias;           /* [rows] of D's type, added to each column */
    bool       tf32, repeatable;
} cull_product_problem;

/* An engine of cuDNN and its settings, or an algorithm of cuBLASLt as its eight words. */
typedef struct cull_choice {
    int64_t  engine;
    int32_t  knobs;
    int32_t  type[CULL_CHOICE_KNOBS];
    int64_t  value[CULL_CHOICE_KNOBS];
    uint64_t word[CULL_CHOICE_WORDS];
    bool     compiled; /* its kernels are compiled when a plan is made: takes long */
} cull_choice;

/* *out NULL where there are no libraries. */
cull_status cull_library_open(int device, cull_library **out);
void        cull_library_close(cull_library *library); /* NULL is fine; after its plans */
/* Device and versions, on which choices depend. */
const char *cull_library_about(const cull_library *library);

/* Are engines wanted whose kernels are compiled first: not at all, where there are no others, or
 * besides? */
typedef enum cull_compiled {
    CULL_COMPILED_NO,
    CULL_COMPILED_ELSE,
    CULL_COMPILED_TOO
} cull_compiled;

/* Choices that the libraries' heuristics give, the best first, without those that cannot be
 * repeated or round more than they may. */
cull_status cull_library_convs(cull_library *library, const cull_conv_problem *problem,
                               cull_compiled compiled, size_t most, cull_choice *out,
                               size_t *count);
cull_status cull_library_products(cull_library *library, const cull_product_problem *problem,
                                  size_t most, cull_choice *out, size_t *count);

cull_status cull_library_conv(cull_library *library, const cull_conv_problem *problem,
                              const cull_choice *choice, cull_plan **out);
cull_status cull_library_product(cull_library *library, const cull_product_problem *problem,
                                 const cull_choice *choice, cull_plan **out);
void        cull_plan_destroy(cull_plan *plan); /* NULL is fine */

size_t      cull_plan_room(const cull_plan *plan); /* bytes of scratch */
const char *cull_plan_name(const cull_plan *plan);

/* x, w and y (or their gradients) begin on 16-byte borders. */
cull_status cull_plan_conv(const cull_plan *plan, cudaStream_t stream, void *x, void *w, void *y,
                           void *room);
cull_status cull_plan_product(const cull_plan *plan, cudaStream_t stream, const void *a,
                              const void *b, const void *bias, void *d, bool add, void *room);

#ifdef __cplusplus
}
#endif

/* The emulator of the tests has no libraries, and so no choices and no plans. */
#ifdef CULL_EMU
#include "backend/cuda/nn_library_none.h"
#endif

#endif
