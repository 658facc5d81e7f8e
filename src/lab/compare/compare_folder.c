/* lab/compare/compare_folder.c - a comparison's folder: whose it is, what lies in it, which runs it
 * has. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/path.h"
#include "base/sized.h"
#include "lab/compare/compare.h"

static cull_status lock_folder(cull_comparison *c)
{
    cull_status  status = CULL_OK;
    char         path[CULL_DATA_PATH];
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    TRY(cull_base_join(c->folder, "lock", path));
    TRY(cull_base_make_folders(path));
    c->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (c->lock < 0) FAIL(CULL_IO, "%s: cannot create: %s", path, strerror(errno));
    if (fcntl(c->lock, F_SETLK, &whole))
        FAIL_ABOUT(CULL_BUSY, c->folder, "%s: another comparison is at work here", c->folder);
done:
    return status;
}

/* ---- the plan that is there ---- */

static cull_status check_word(const cull_comparison *c, const char *key, const char *there,
                              const char *mine)
{
    if (strcmp(there, mine) == 0) return CULL_OK;
    return cull_fail_about(CULL_DIFFERS, key, "%s: the comparison there has %s=%s, this one %s",
                           c->folder, key, there[0] ? there : "none", mine);
}

static cull_status check_count(const cull_comparison *c, const char *key, double there,
                               uint64_t mine, bool more)
{
    if (there == (double)mine || (more && there > 0 && there < (double)mine)) return CULL_OK;
    return cull_fail_about(CULL_DIFFERS, key, "%s: the comparison there has %s=%.0f, this one %llu",
                           c->folder, key, there, (unsigned long long)mine);
}

static cull_status check_recipe(const cull_comparison *c)
{
    cull_status           status = CULL_OK;
    char                  path[CULL_DATA_PATH];
    cull_recipe          *there = NULL, *mine = NULL;
    const char           *key = NULL;
    cull_recipe_differing by;

    TRY(cull_base_join(c->folder, "recipe.yaml", path));
    TRY(cull_recipe_open(path, NULL, 0, &there));
    TRY(cull_arm_recipe(&c->base, NULL, 0, &mine));
    key = cull_recipe_difference(there, mine);
    if (key) {
        TRY(cull_recipe_differ_by(there, mine, key, &by));
        FAIL_ABOUT(CULL_DIFFERS, key, "%s: the comparison there has %s=%s, this one %s", c->folder,
                   by.what, by.a, by.b);
    }
done:
    cull_recipe_close(there);
    cull_recipe_close(mine);
    return status;
}

static const char *init_of(const cull_comparison *c)
{
    return c->arms.arm[0].recipe->setup.init;
}

/* The hash of the weights that runs will begin with; "" without any. What cannot be read is left to
 * the runs to tell: they may all be finished. */
static cull_status hash_init(const cull_comparison *c, char out[CULL_COMPARE_HASH])
{
    cull_status status = CULL_OK;
    void       *bytes = NULL;
    size_t      size = 0;

    out[0] = '\0';
    if (!init_of(c)) goto done;
    status = cull_file_read(init_of(c), &bytes, &size);
    if (status == CULL_OK)
        (void)snprintf(out, CULL_COMPARE_HASH, "%016" PRIx64, cull_base_hash(bytes, size));
    if (status == CULL_IO) status = CULL_OK;
done:
    cull_bytes_release(bytes);
    return status;
}

static cull_status check_init(const cull_comparison *c)
{
    cull_status status = CULL_OK;
    char        now[CULL_COMPARE_HASH];

    TRY(hash_init(c, now));
    if (c->init[0] && now[0] && strcmp(c->init, now) != 0)
        FAIL_ABOUT(CULL_DIFFERS, "train.init",
                   "%s: the comparison there has train.init=%s of hash %s, this one %s", c->folder,
                   init_of(c), c->init, now);
done:
    return status;
}

static cull_status check_plan(cull_comparison *c, const char *path)
{
    cull_status       status = CULL_OK;
    cull_records_plan plan = {0};

    TRY(cull_records_plan_read(path, &plan));
    TRY(check_recipe(c));
    TRY(check_word(c, "strategies", plan.strategies, c->wish.strategies));
    TRY(check_word(c, "keep", plan.keep, c->wish.keep));
    TRY(check_word(c, "pass", plan.pass, c->wish.pass));
    TRY(check_count(c, "threads", plan.threads, c->threads, false));
    TRY(check_count(c, "jobs", plan.jobs, c->jobs, false));
    TRY(check_count(c, "seeds", plan.seeds, c->seeds, true));
    if (plan.created[0]) (void)snprintf(c->created, sizeof c->created, "%.31s", plan.created);
done:
    cull_records_plan_clear(&plan);
    return status;
}

cull_status cull_comparison_folder(cull_comparison *c, const char *folder, bool resume)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];

    if (c->lock >= 0) FAIL(CULL_BAD_ARGUMENT, "%s: a comparison has one folder", folder);
    if (snprintf(c->folder, sizeof c->folder, "%s", folder) >= CULL_DATA_PATH - 300)
        FAIL(CULL_IO, "%.100s...: the name is too long", folder);
    TRY(cull_base_join(c->folder, "metrics.jsonl", path));
    if (access(path, F_OK) == 0)
        FAIL(CULL_BAD_ARGUMENT, "%s holds a run, whose recipe a comparison would replace", folder);
    TRY(lock_folder(c));
    TRY(cull_base_join(c->folder, "plan.json", path));
    if (access(path, F_OK) != 0) goto done; /* nothing there to go on with */
    if (!resume) FAIL_ABOUT(CULL_EXISTS, folder, "%s already holds a comparison", folder);
    TRY(check_plan(c, path));
    TRY(cull_base_join(c->folder, "costs.json", path));
    TRY(cull_costs_read(c, path));
    TRY(check_init(c));
    TRY(cull_compare_make_plan(c));
done:
    return status;
}

/* ---- files ---- */

static cull_status write_recipe(const cull_comparison *c, const cull_recipe *recipe,
                                const char *name)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];

    TRY(cull_base_join(c->folder, name, path));
    TRY(cull_base_make_folders(path));
    TRY(cull_file_write(path, cull_recipe_text(recipe), strlen(cull_recipe_text(recipe))));
done:
    return status;
}

/* Is it known that this one will be run, as it stands? */
static bool is_run(const cull_comparison *c, const cull_arm *arm)
{
    return arm->recipe && (c->settled || arm->role == CULL_ROLE_ARM);
}

/* Its recipe, and a folder for each of its runs. */
static cull_status write_arm(const cull_comparison *c, const cull_arm *arm)
{
    cull_status status = CULL_OK;
    char        name[CULL_ARM_NAME + 64], path[CULL_DATA_PATH];

    (void)snprintf(name, sizeof name, "runs/%s/recipe.yaml", arm->folder);
    TRY(write_recipe(c, arm->recipe, name));
    for (uint64_t seed = 1; seed <= c->seeds; seed++) {
        (void)snprintf(name, sizeof name, "runs/%s/seed-%llu/", arm->folder,
                       (unsigned long long)seed);
        TRY(cull_base_join(c->folder, name, path));
        TRY(cull_base_make_folders(path));
    }
done:
    return status;
}

/* plan.json last: a folder with one is whole. */
cull_status cull_compare_write_files(const cull_comparison *c)
{
    cull_status  status = CULL_OK;
    char         path[CULL_DATA_PATH];
    cull_recipe *base = NULL;

    TRY(cull_arm_recipe(&c->base, NULL, 0, &base));
    TRY(write_recipe(c, base, "recipe.yaml"));
    for (size_t i = 0; i < c->arms.count; i++)
        if (is_run(c, &c->arms.arm[i])) TRY(write_arm(c, &c->arms.arm[i]));
    TRY(cull_base_join(c->folder, "costs.json", path));
    TRY(cull_costs_write(c, path));
    TRY(cull_base_join(c->folder, "plan.json", path));
    TRY(cull_file_write(path, c->plan.bytes.data, strlen(cull_comparison_plan(c))));
done:
    cull_recipe_close(base);
    return status;
}

cull_status cull_comparison_begin(cull_comparison *c)
{
    cull_status status = CULL_OK;

    if (!c->planned || c->lock < 0)
        FAIL(CULL_BAD_ARGUMENT, "a comparison begins with a folder and a plan");
    if (!c->init[0]) TRY(hash_init(c, c->init));
    TRY(cull_compare_write_files(c));
    TRY(cull_compare_read_runs(c));
    TRY(cull_compare_settle(c));
done:
    return status;
}

/* ---- runs ---- */

/* Seed by seed, so that pairs are complete early; within a seed the longest first, so that none is
 * left over at the end. */
static size_t arm_in_order(const cull_comparison *c, size_t rank, size_t runs)
{
    for (size_t i = 0; i < c->arms.count; i++) {
        size_t before = 0;
        double mine = cull_compare_run_seconds(c, i);

        if (!is_run(c, &c->arms.arm[i])) continue;
        for (size_t j = 0; j < c->arms.count; j++) {
            double other = cull_compare_run_seconds(c, j);
            before += is_run(c, &c->arms.arm[j]) && (other > mine || (!(other < mine) && j < i));
        }
        if (before == rank % runs) return i;
    }
    return 0;
}

bool cull_comparison_run(const cull_comparison *c, size_t i, cull_compare_run *out)
{
    size_t           runs = 0, arm = 0;
    cull_compare_run run;
    cull_compared   *there = NULL;
    char             name[CULL_ARM_NAME + 64];

    if (cull_sized_read("cull_compare_run", out, sizeof run, &run) != CULL_OK) return false;
    for (size_t k = 0; k < c->arms.count; k++) runs += is_run(c, &c->arms.arm[k]);
    if (!c->planned || i >= runs * c->seeds) return false;
    arm = arm_in_order(c, i, runs);
    run = (cull_compare_run){.name = c->arms.arm[arm].name, .seed = 1 + i / runs};
    there = cull_compared_at(c, arm, run.seed);
    run.status = cull_compared_status(there);
    run.why = there->record.why;
    run.seconds = cull_compare_run_seconds(c, arm);
    (void)snprintf(name, sizeof name, "runs/%s/recipe.yaml", c->arms.arm[arm].folder);
    if (cull_base_join(c->folder, name, run.recipe) != CULL_OK) return false;
    (void)snprintf(name, sizeof name, "runs/%s/seed-%llu", c->arms.arm[arm].folder,
                   (unsigned long long)run.seed);
    if (cull_base_join(c->folder, name, run.folder) != CULL_OK) return false;
    cull_sized_give(out, &run, sizeof run);
    return true;
}
