/* backend/cpu/nn_product.c - products of large matrices by oneDNN, on the thread that calls. */
#include "backend/cpu/nn_product.h"

#include <dnnl.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>

/* All that can wait: what a thread does wrong itself cannot. */
static void hold_signals(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t         held;

    (void)sigfillset(&held);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) (void)sigdelset(&held, own[i]);
    (void)pthread_sigmask(SIG_BLOCK, &held, before);
}

cull_status cull_cpu_multiply(size_t m, size_t n, size_t k, cull_cpu_matrix a, cull_cpu_matrix b,
                              bool add, float *c, size_t stride)
{
    int           before = omp_get_max_threads();
    dnnl_status_t status = dnnl_success;
    sigset_t      signals;

    omp_set_num_threads(1);
    hold_signals(&signals);
    status = dnnl_sgemm(a.turned ? 'T' : 'N', b.turned ? 'T' : 'N', (dnnl_dim_t)m, (dnnl_dim_t)n,
                        (dnnl_dim_t)k, 1, a.data, (dnnl_dim_t)a.stride, b.data,
                        (dnnl_dim_t)b.stride, add ? 1 : 0, c, (dnnl_dim_t)stride);
    (void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
    omp_set_num_threads(before);
    if (status == dnnl_success) return CULL_OK;
    return cull_fail(status == dnnl_out_of_memory ? CULL_NO_MEMORY : CULL_UNSUPPORTED,
                     "oneDNN cannot multiply %zux%zu by %zux%zu", m, k, k, n);
}
