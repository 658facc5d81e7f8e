/* bench/common.h - what the benchmarks share: medians, and a network to be timed. */
#ifndef CULL_BENCH_COMMON_H
#define CULL_BENCH_COMMON_H

#include "nn/nn.h"
#include "optim/optim.h"

enum { BENCH_CLASSES = 10 };

/* Ascending, so that x[0] is the least and x[count / 2] the median. */
void bench_sort(double *x, size_t count);

/* Sorts the seconds of `rounds` calls and prints one JSON line: median, least, and what nine of
 * ten stayed within. */
void bench_tell(const char *name, double *seconds, size_t rounds);

/* oneDNN's threads wait without spinning: the runtime reads that from the environment when it is
 * loaded, so the program sets it and starts itself again. */
void bench_wait_passively(char **argv);

/* A model with all that a plain step of SGD takes, and a batch of made-up examples. */
struct bench_network {
    cull_backend *backend;
    cull_model   *model;
    cull_params  *params;
    cull_optim   *optim;
    size_t        row; /* numbers of an example */
    float        *inputs;
    int32_t      *label;
};

/* Into a zeroed struct, which clear ends, also after a failure. */
cull_status bench_network_make(const char *model, size_t batch, unsigned threads,
                               struct bench_network *out);
void        bench_network_clear(struct bench_network *network);

#endif
