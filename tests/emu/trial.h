/* tests/emu/trial.h - kernels to try the imitation with (trial.cu). */
#ifndef CULL_TESTS_EMU_TRIAL_H
#define CULL_TESTS_EMU_TRIAL_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* y = the sum of x[n], by shuffles and a barrier. */
cudaError_t trial_sum(cudaStream_t stream, const double *x, size_t n, double *y);
/* out[lane][...]: what each lane has of every shuffle, vote and reduction; 64 threads, 16 a thread.
 */
enum { TRIAL_WARP = 16 };
cudaError_t trial_warp(cudaStream_t stream, long long *out);
/* any, all and count of a barrier of 96 threads, of which those from `stay` on leave before it. */
cudaError_t trial_votes(cudaStream_t stream, unsigned stay, int *out);
/* Each block adds its number, then all read the sum: `rounds` times. */
cudaError_t trial_meet(cudaStream_t stream, unsigned blocks, unsigned rounds, unsigned *sum,
                       unsigned *out);
/* What fresh shared memory holds, static and asked for: 1 where it is poison. */
cudaError_t trial_poison(cudaStream_t stream, unsigned blocks, size_t shared, int *out);
/* The order that threads came in. */
cudaError_t trial_order(cudaStream_t stream, unsigned *next, unsigned *out);
cudaError_t trial_launch(cudaStream_t stream, unsigned blocks, unsigned threads, size_t shared);
cudaError_t trial_agree(int shared);
cudaError_t trial_add(cudaStream_t stream, int *x, int by);
/* What ends the process. */
cudaError_t trial_apart(cudaStream_t stream);   /* threads at different barriers       */
cudaError_t trial_missing(cudaStream_t stream); /* a lane that waits for another place */
cudaError_t trial_behind(cudaStream_t stream);  /* writes behind its shared memory     */
cudaError_t trial_astray(cudaStream_t stream, int *x);

#ifdef __cplusplus
}
#endif

#endif
