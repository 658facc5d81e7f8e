/* bench/bench_sb.c - one whole `sb` decision through cull_select, on one thread. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "common.h"

enum { ROUNDS = 401, CALLS = 50, MOST = 1280 };

/* Right, then fast: m distinct rows in order, unit weights, the hard ones preferred. */
static int is_right(const cull_subset *subset, size_t m, const float *loss, size_t rows)
{
    double mean = 0, kept = 0;

    if (subset->count != m) return 0;
    for (size_t i = 0; i < rows; i++) mean += (double)loss[i] / (double)rows;
    for (size_t i = 0; i < m; i++) {
        if (i && subset->index[i] <= subset->index[i - 1]) return 0;
        if (subset->weight[i] != 1) return 0;
        kept += (double)loss[subset->index[i]] / (double)m;
    }
    return kept > mean;
}

static int measure(size_t rows)
{
    static float   loss[MOST];
    static double  seconds[ROUNDS];
    cull_option    options[] = {{"keep", "0.3"}};
    cull_setting   setting = {.pool = rows, .seed = 1};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    cull_signals   signals = {.count = rows, .loss = cull_vector(loss, CULL_F32, rows)};
    cull_key       key = cull_key_make(1, "bench");
    char           name[32];
    int            failed = 1;

    for (size_t i = 0; i < rows; i++) loss[i] = (float)-log(cull_key_uniform(key, 0, i));
    if (cull_selector_create("sb", options, 1, &setting, &selector)) goto done;
    if (cull_select(selector, &signals, 0, &subset)) goto done;
    if (!is_right(&subset, cull_budget(0.3, rows), loss, rows)) goto done;
    for (size_t round = 0; round < ROUNDS; round++) {
        double start = cull_base_seconds();
        for (size_t call = 0; call < CALLS; call++) {
            signals.step++;
            if (cull_select(selector, &signals, 0, &subset)) goto done;
        }
        seconds[round] = (cull_base_seconds() - start) / CALLS;
    }
    (void)snprintf(name, sizeof name, "sb M=%zu", rows);
    bench_tell(name, seconds, ROUNDS);
    failed = 0;
done:
    if (failed) fprintf(stderr, "sb M=%zu: wrong or failed: %s\n", rows, cull_last_error());
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    return failed;
}

int main(void)
{
    return measure(128) || measure(1280);
}
