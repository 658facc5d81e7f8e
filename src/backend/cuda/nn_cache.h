/* backend/cuda/nn_cache.h - what contests found, as text: the file that keeps it (nn_state.h says
 * its form), and what a run that goes on was told. */
#ifndef CULL_BACKEND_CUDA_NN_CACHE_H
#define CULL_BACKEND_CUDA_NN_CACHE_H

#include "backend/cuda/nn_state.h"

typedef struct cull_nn_cache {
    char  *path;  /* NULL: none is kept                    */
    char  *about; /* device and versions: what lines begin with; NULL: nothing */
    char  *text;  /* all of the file, as it was when opened, and what was added */
    size_t length;
    char  *recalled; /* of the same form, NULL: nothing */
} cull_nn_cache;

/* Room for the longest line that is written. */
enum { CULL_NN_LINE = CULL_NN_KEY + 256 + 2 * CULL_CHOICE_TEXT };

/* A file that cannot be read is an empty one; only memory can fail. */
cull_status cull_nn_cache_open(const char *about, cull_nn_cache *out);
void        cull_nn_cache_clear(cull_nn_cache *cache);
bool        cull_nn_cache_find(const cull_nn_cache *cache, const char *problem, cull_nn_way *out);
/* The file is written anew, with what others have added meanwhile; where that fails it stays as it
 * was, and nobody is told: the next process looks for itself. */
void cull_nn_cache_add(cull_nn_cache *cache, const char *problem, const cull_nn_way *way);

/* A way as a line; "" where it is too long for one. */
void cull_nn_cache_line(const cull_nn_cache *cache, const char *problem, const cull_nn_way *way,
                        char line[CULL_NN_LINE]);
/* Lines that are believed before the file is, and in place of those of before. */
cull_status cull_nn_cache_recall(cull_nn_cache *cache, const char *text, size_t bytes);
bool cull_nn_cache_recalls(const cull_nn_cache *cache, const char *problem, cull_nn_way *out);

#endif
