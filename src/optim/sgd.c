/*
 * optim/sgd.c - stochastic gradient descent with momentum, as torch.optim.SGD without dampening.
 *
 *     d = g + decay w           b = momentum b + d, the first time b = d (b starts as 0)
 *     w = w - rate (d + momentum b) with Nesterov, w - rate b without
 */
#include "optim/optim.h"

#define SGD_RULE(name, T)                                                                          \
    static void name(const cull_optim_options *o, T rate, T decay, size_t count, T *restrict w,    \
                     const T *restrict g, T *restrict b)                                           \
    {                                                                                              \
        T momentum = (T)o->momentum;                                                               \
                                                                                                   \
        if (!b)                                                                                    \
            for (size_t i = 0; i < count; i++) w[i] -= rate * (g[i] + decay * w[i]);               \
        else if (o->nesterov)                                                                      \
            for (size_t i = 0; i < count; i++) {                                                   \
                T d = g[i] + decay * w[i];                                                         \
                b[i] = momentum * b[i] + d;                                                        \
                w[i] -= rate * (d + momentum * b[i]);                                              \
            }                                                                                      \
        else                                                                                       \
            for (size_t i = 0; i < count; i++) {                                                   \
                b[i] = momentum * b[i] + (g[i] + decay * w[i]);                                    \
                w[i] -= rate * b[i];                                                               \
            }                                                                                      \
    }

SGD_RULE(sgd_f32, float)
SGD_RULE(sgd_f64, double)

void cull_optim_sgd(const cull_optim *optim, double rate, double decay, size_t from, size_t to,
                    void *value, const void *gradient)
{
    void *buffer = optim->buffer[0];

    if (optim->dtype == CULL_F32)
        sgd_f32(&optim->options, (float)rate, (float)decay, to - from, (float *)value + from,
                (const float *)gradient + from, buffer ? (float *)buffer + from : NULL);
    else
        sgd_f64(&optim->options, rate, decay, to - from, (double *)value + from,
                (const double *)gradient + from, buffer ? (double *)buffer + from : NULL);
}
