/* backend/cuda/tableau.h - what a block has in its registers (tableau.cuh). */
#ifndef CULL_BACKEND_CUDA_TABLEAU_H
#define CULL_BACKEND_CUDA_TABLEAU_H

enum {
    CULL_TABLEAU_SIDE = 128,   /* rows at most                                */
    CULL_TABLEAU_THREADS = 512 /* of the block that has one; more leave no room for it */
};

#endif
