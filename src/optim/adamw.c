/*
 * optim/adamw.c - Adam with decoupled weight decay, as torch.optim.AdamW.
 *
 *     w = w (1 - rate decay)
 *     m = m + (1 - beta1) (g - m)             v = beta2 v + (1 - beta2) g^2
 *     w = w - rate / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
 */
#include <math.h>

#include "optim/optim.h"

/* What is the same for all weights of a step, worked out in double. */
struct factors {
    double shrink, beta1, beta2, rate, root, epsilon;
};

#define ADAMW_RULE(name, T, ROOT)                                                                  \
    static void name(const struct factors *f, size_t count, T *restrict w, const T *restrict g,    \
                     T *restrict m, T *restrict v)                                                 \
    {                                                                                              \
        T shrink = (T)f->shrink, take1 = (T)(1 - f->beta1), beta2 = (T)f->beta2;                   \
        T take2 = (T)(1 - f->beta2), rate = (T)f->rate, root = (T)f->root;                         \
        T epsilon = (T)f->epsilon;                                                                 \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            m[i] += take1 * (g[i] - m[i]);                                                         \
            v[i] = beta2 * v[i] + take2 * g[i] * g[i];                                             \
            w[i] = w[i] * shrink - rate * (m[i] / (ROOT(v[i]) / root + epsilon));                  \
        }                                                                                          \
    }

ADAMW_RULE(adamw_f32, float, sqrtf)
ADAMW_RULE(adamw_f64, double, sqrt)

void cull_optim_adamw(const cull_optim *optim, double rate, double decay, size_t from, size_t to,
                      void *value, const void *gradient)
{
    const cull_optim_options *o = &optim->options;
    double                    t = (double)optim->steps;
    struct factors            f = {.shrink = 1 - rate * decay,
                                   .beta1 = o->beta1,
                                   .beta2 = o->beta2,
                                   .rate = rate / (1 - pow(o->beta1, t)),
                                   .root = sqrt(1 - pow(o->beta2, t)),
                                   .epsilon = o->epsilon};

    if (optim->dtype == CULL_F32)
        adamw_f32(&f, to - from, (float *)value + from, (const float *)gradient + from,
                  (float *)optim->buffer[0] + from, (float *)optim->buffer[1] + from);
    else
        adamw_f64(&f, to - from, (double *)value + from, (const double *)gradient + from,
                  (double *)optim->buffer[0] + from, (double *)optim->buffer[1] + from);
}
