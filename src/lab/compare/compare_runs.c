/* lab/compare/compare_runs.c - what runs left in their folders, believed only where it is whole. */
#include <math.h>
#include <stdio.h>

#include "base/path.h"
#include "lab/compare/compare.h"

bool cull_compared_finished(const cull_compared *run)
{
    return run->record.state == CULL_RECORDS_FINISHED;
}

const char *cull_compared_status(const cull_compared *run)
{
    cull_records_state state = run->record.state;

    return cull_records_state_name(state == CULL_RECORDS_STOPPED ? CULL_RECORDS_RUNNING : state);
}

/* Texts count by their tokens, as so many examples of mean length. */
static void add_work(const cull_comparison *c, const cull_records_work *work,
                     cull_compared_mean *out)
{
    bool   tokens = c->costs.tokens > 0 && isfinite(work->token_thirds);
    double each = tokens ? c->costs.tokens : 1;

    out->scored += (tokens ? work->tokens_scored : work->scored) / each;
    out->trained += (tokens ? work->tokens_trained : work->trained) / each;
    out->thirds += (tokens ? work->token_thirds : work->thirds) / each;
    out->examples += work->trained;
}

void cull_compare_mean(const cull_comparison *c, size_t arm, cull_compared_mean *out)
{
    *out = (cull_compared_mean){0};
    for (uint64_t seed = 1; seed <= c->seeds; seed++) {
        const cull_compared     *run = cull_compared_at(c, arm, seed);
        const cull_records_work *work = &run->record.info.work;

        if (!cull_compared_finished(run)) continue;
        out->accuracy[out->runs++] = 100 * run->accuracy;
        out->best += 100 * run->best;
        out->seconds += cull_records_spent(work);
        add_work(c, work, out);
    }
    if (out->runs == 0) return;
    out->best /= (double)out->runs;
    out->seconds /= (double)out->runs;
    out->scored /= (double)out->runs;
    out->trained /= (double)out->runs;
    out->thirds /= (double)out->runs;
    out->examples /= (double)out->runs;
}

/* The best that a run names is of the set it watched. */
static double best_of(const cull_records_run *run)
{
    const cull_records_curve *test = &run->curves.of[CULL_RECORDS_TEST];
    double                    best = run->info.test;

    if (run->curves.of[CULL_RECORDS_VALIDATION].count == 0) return run->info.best;
    for (size_t i = 0; i < test->count; i++) best = fmax(best, test->look[i].accuracy);
    return best;
}

bool cull_compare_all_finished(const cull_comparison *c)
{
    for (size_t i = 0; i < c->arms.count; i++)
        for (uint64_t seed = 1; c->arms.arm[i].recipe && seed <= c->seeds; seed++)
            if (!cull_compared_finished(cull_compared_at(c, i, seed))) return false;
    return c->settled;
}

/* All begin alike: the file of train.init may have been overwritten since. One that was just begun
 * may not say yet what with. */
static void check_init(const cull_comparison *c, cull_records_run *run)
{
    const char *file = c->arms.arm[0].recipe->setup.init, *hash = run->info.init.hash;
    bool        begun = run->state == CULL_RECORDS_RUNNING || run->state == CULL_RECORDS_STOPPED;
    char        why[CULL_RECORDS_WHY];

    if (run->state != CULL_RECORDS_FINISHED && (!begun || !hash[0])) return;
    if (strcmp(hash, c->init) == 0 || (file && !c->init[0])) return;
    (void)snprintf(
        why, sizeof why, "it began with %.100s of hash %.16s, the comparison's had %s; skipped",
        file ? file : "train.init", hash[0] ? hash : "none", c->init[0] ? c->init : "none");
    cull_records_run_doubt(run, why);
}

cull_status cull_compare_read_runs(cull_comparison *c)
{
    cull_status status = CULL_OK;

    for (size_t arm = 0; arm < c->arms.count; arm++)
        for (uint64_t seed = 1; seed <= c->seeds; seed++) {
            cull_compared *run = cull_compared_at(c, arm, seed);
            char           name[CULL_ARM_NAME + 64], path[CULL_DATA_PATH];

            if (!c->arms.arm[arm].recipe) continue;
            cull_records_run_clear(&run->record);
            (void)snprintf(name, sizeof name, "runs/%s/seed-%llu", c->arms.arm[arm].folder,
                           (unsigned long long)seed);
            TRY(cull_base_join(c->folder, name, path));
            TRY(cull_records_run_read(path, &run->record));
            check_init(c, &run->record);
            cull_compare_doubt_data(c, &run->record);
            run->accuracy = run->record.info.test;
            run->best = best_of(&run->record);
        }
done:
    return status;
}
