/* backend/cuda/score.cu - score: what rows are chosen by; chance: weights they are drawn by. */
#include <float.h>

#include "backend/cuda/number.cuh"
#include "backend/cuda/score.h"
#include "base/philox.h"

namespace {

enum { BLOCK = 128 };

static __global__ void __launch_bounds__(BLOCK) score(cull_cuda_score_args a)
{
    size_t i = cull_cuda_thread();

    if (i >= a.rows) return;
    double x = cull_number_at(a.loss, i);

    if (a.less.data) x -= cull_number_at(a.less, i);
    if (x != x) x = 0;
    if (a.unseen && a.unseen[i])
        x = DBL_MAX * (0.5 + 0.5 * cull_philox_uniform(a.key, a.now ? *a.now : a.step,
                                                       a.place ? a.place[i] : i));
    else if (a.unseen && x > 0.5 * DBL_MAX)
        x = 0.5 * DBL_MAX;
    a.out[i] = x;
}

static __global__ void __launch_bounds__(BLOCK) chance(cull_cuda_chance_args a)
{
    size_t i = cull_cuda_thread();

    if (i >= a.rows) return;
    size_t place = a.place ? a.place[i] : i;
    bool   stands = place < a.pool;
    double own = a.percentile ? a.percentile[i] : stands ? a.standing[place] : 1;
    double weight = cull_exact_pow(own, a.beta);

    if (!(weight > CULL_CHANCE_LEAST)) weight = CULL_CHANCE_LEAST * own;
    if (a.trim > 0 && stands && !a.fresh[place] && a.standing[place] > 1 - a.trim + 1e-12)
        weight = a.trimmed;
    a.weight[i] = weight;
}

} // namespace

cudaError_t cull_cuda_score_run(cudaStream_t stream, const cull_cuda_score_args *args)
{
    return CULL_LAUNCH(score, cull_cuda_blocks(args->rows, BLOCK), BLOCK, 0, stream, *args);
}

cudaError_t cull_cuda_chance_run(cudaStream_t stream, const cull_cuda_chance_args *args)
{
    return CULL_LAUNCH(chance, cull_cuda_blocks(args->rows, BLOCK), BLOCK, 0, stream, *args);
}
