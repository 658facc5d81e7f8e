/* backend/cuda/nn_cache.h - the file that keeps what contests found: nn_state.h says its form. */
#ifndef CULL_BACKEND_CUDA_NN_CACHE_H
#define CULL_BACKEND_CUDA_NN_CACHE_H

#include "backend/cuda/nn_state.h"

typedef struct cull_nn_cache {
    char  *path;  /* NULL: none is kept                    */
    char  *about; /* device and versions: what lines begin with */
    char  *text;  /* all of the file, as it was when opened, and what was added */
    size_t length;
} cull_nn_cache;

/* A file that cannot be read is an empty one; only memory can fail. */
cull_status cull_nn_cache_open(const char *about, cull_nn_cache *out);
void        cull_nn_cache_clear(cull_nn_cache *cache);
bool        cull_nn_cache_find(const cull_nn_cache *cache, const char *problem, cull_nn_way *out);
/* The file is written anew, with what others have added meanwhile; where that fails it stays as it
 * was, and nobody is told: the next process looks for itself. */
void cull_nn_cache_add(cull_nn_cache *cache, const char *problem, const cull_nn_way *way);

#endif
