/* report/shown.c - folders as a page shows them. */
#include "report/shown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"

cull_status cull_rep_forgive(cull_status status, cull_records_list *problems)
{
    if (status == CULL_OK || status == CULL_NO_MEMORY) return status;
    return cull_records_say(problems, "%.500s", cull_last_error());
}

/* What may lie beside a run's records. */
static cull_status read_beside(const char *folder, cull_rep_run *run, cull_records_list *problems)
{
    cull_status status = CULL_OK;
    bool        there = false;

    TRY(cull_rep_forgive(cull_records_probes_read(folder, &run->probes, &there, problems),
                         problems));
    TRY(cull_rep_forgive(cull_records_picks_read(folder, &run->record.info, &run->picks),
                         problems));
done:
    return status;
}

static void clear_run(cull_rep_run *run)
{
    cull_records_run_clear(&run->record);
    cull_records_probes_clear(&run->probes);
}

/* ---- a comparison ---- */

/* The least and the largest accuracy of finished runs. */
static void span_accuracies(cull_rep_arm *arm)
{
    arm->low = arm->high = NAN;
    for (size_t i = 0; i < arm->is->runs; i++) {
        double accuracy = arm->is->run[i].accuracy;

        if (!cull_rep_finished(arm, i) || isnan(accuracy)) continue;
        arm->finished++;
        if (!(arm->low <= accuracy)) arm->low = accuracy;
        if (!(arm->high >= accuracy)) arm->high = accuracy;
    }
}

static bool is_known(const char *status)
{
    for (int i = CULL_RECORDS_MISSING; i <= CULL_RECORDS_CORRUPT; i++)
        if (strcmp(status, cull_records_state_name((cull_records_state)i)) == 0) return true;
    return false;
}

/* As it was told then, but older ones say that selection pays also where it is not what to do. */
static void take_verdict(cull_rep_comparison *c)
{
    static const char pays[] = "Selection pays here";

    (void)snprintf(c->verdict, sizeof c->verdict, "%s", c->is.verdict);
    if (strncmp(c->is.verdict, pays, sizeof pays - 1) == 0)
        cull_advise_verdict(&c->is, c->by, c->verdict);
}

/* What is told from the records, by what is known of the runs. */
static void weigh(cull_rep_comparison *c, cull_adjusted *adjusted)
{
    for (size_t i = 0; i < c->arms && isnan(c->is.test); i++)
        for (size_t j = 0; j < c->arm[i].is->runs && isnan(c->is.test); j++)
            if (c->arm[i].run[j].there) c->is.test = c->arm[i].run[j].record.info.data.test;
    cull_against_adjust(&c->is, adjusted);
    for (size_t i = 0; i < c->arms; i++) {
        c->arm[i].full = cull_against_full(&c->is, c->by, c->arm[i].is);
        c->arm[i].adjusted = adjusted[i];
    }
    cull_advise(&c->is, c->by, &c->advice);
    take_verdict(c);
}

static cull_status weigh_all(cull_rep_comparison *c)
{
    cull_status    status = CULL_OK;
    cull_adjusted *adjusted = NULL;

    TRY(cull_base_alloc(c->arms, sizeof *adjusted, "intervals", &adjusted));
    weigh(c, adjusted);
done:
    cull_base_free(adjusted);
    return status;
}

cull_status cull_rep_comparison_dress(const char *name, cull_rep_comparison *out,
                                      cull_records_list *problems)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(out->is.arms, sizeof *out->arm, "arms", &out->arm));
    while (out->arms < out->is.arms) {
        cull_rep_arm *arm = &out->arm[out->arms];

        arm->is = &out->is.arm[out->arms++];
        TRY(cull_base_alloc(arm->is->runs, sizeof *arm->run, "runs", &arm->run));
        for (size_t i = 0; i < arm->is->runs; i++)
            if (!is_known(arm->is->run[i].status))
                TRY(cull_records_say(problems, "%s: a run of %.80s has no known status", name,
                                     arm->is->name));
        span_accuracies(arm);
    }
    cull_rep_name_series(out);
    cull_rep_styles(out);
    out->by = cull_rep_yardstick(out->is.metric);
    TRY(weigh_all(out));
done:
    return status;
}

/* A relative path that stays below the comparison. */
static bool stays_inside(const char *path)
{
    if (path[0] == '/' || path[0] == '\0') return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return false;
    }
    return true;
}

/* A run that was finished when it was judged: is it still? */
static cull_status read_run(const char *folder, const cull_rep_arm *arm, size_t i,
                            cull_records_list *problems)
{
    cull_status       status = CULL_OK;
    const char       *name = arm->is->run[i].folder;
    cull_rep_run     *run = &arm->run[i];
    cull_records_run *record = &run->record;
    char              path[CULL_DATA_PATH];

    /* What has no end of its own has no curve either; why is in the comparison. */
    if (!cull_rep_finished(arm, i) || strcmp(arm->is->role, "early-stop") == 0) goto done;
    if (!stays_inside(name) || cull_base_join(folder, name, path) != CULL_OK) {
        TRY(cull_records_say(problems, "%.80s: '%.80s' is no folder of this comparison",
                             arm->is->name, name));
        goto done;
    }
    TRY(cull_records_run_read(path, record));
    run->there = record->state == CULL_RECORDS_FINISHED;
    if (run->there)
        TRY(read_beside(path, run, problems));
    else if (record->why[0])
        TRY(cull_records_say(problems, "%.200s: %s", name, record->why));
    else
        TRY(cull_records_say(problems, "%.200s: is %s; it was finished when it was judged", name,
                             cull_records_state_name(record->state)));
done:
    return status;
}

cull_status cull_rep_comparison_read(const char *folder, cull_rep_comparison *out,
                                     cull_records_list *problems)
{
    cull_status status = CULL_OK;

    TRY(cull_records_comparison_read(folder, &out->is));
    TRY(cull_rep_comparison_dress(folder, out, problems));
    out->folder = folder;
    for (size_t i = 0; i < out->arms; i++)
        for (size_t j = 0; j < out->arm[i].is->runs; j++)
            TRY(read_run(folder, &out->arm[i], j, problems));
    TRY(weigh_all(out));
done:
    if (status != CULL_OK) cull_rep_comparison_clear(out);
    return status;
}

void cull_rep_comparison_clear(cull_rep_comparison *c)
{
    for (size_t i = 0; i < c->arms; i++) {
        for (size_t j = 0; c->arm[i].run && j < c->arm[i].is->runs; j++)
            clear_run(&c->arm[i].run[j]);
        cull_base_free(c->arm[i].run);
    }
    cull_base_free(c->arm);
    cull_records_comparison_clear(&c->is);
    *c = (cull_rep_comparison){0};
}

/* ---- a run, a probe ---- */

/* recipe.yaml, shown as it is. */
static cull_status read_recipe(const char *folder, cull_rep_single *out,
                               cull_records_list *problems)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(cull_rep_forgive(cull_records_file(folder, "recipe.yaml", &data, &bytes), problems));
    if (!data) goto done;
    TRY(cull_base_alloc(bytes + 1, 1, "a recipe", &out->recipe));
    memcpy(out->recipe, data, bytes);
done:
    cull_bytes_release(data);
    return status;
}

cull_status cull_rep_single_read(const char *folder, cull_rep_single *out,
                                 cull_records_list *problems)
{
    cull_status       status = CULL_OK;
    cull_records_run *record = &out->run.record;

    out->folder = folder;
    TRY(cull_records_run_read(folder, record));
    if (record->state == CULL_RECORDS_MISSING) FAIL(CULL_IO, "%.900s: holds no run", folder);
    if (!record->root) FAIL(CULL_BAD_FILE, "%.700s: %s", folder, record->why);
    if (record->state == CULL_RECORDS_CORRUPT)
        TRY(cull_records_say(problems, "%.700s: %s", folder, record->why));
    out->run.there = true;
    for (int i = 0; i < CULL_PHASES; i++)
        if (isnan(record->info.work.seconds_by[i]))
            record->info.work.seconds_by[i] = record->curves.latest.seconds_by[i];
    TRY(read_beside(folder, &out->run, problems));
    TRY(read_recipe(folder, out, problems));
done:
    if (status != CULL_OK) cull_rep_single_clear(out);
    return status;
}

void cull_rep_single_clear(cull_rep_single *single)
{
    clear_run(&single->run);
    cull_base_free(single->recipe);
    *single = (cull_rep_single){0};
}

cull_status cull_rep_probed_read(const char *folder, cull_rep_probed *out,
                                 cull_records_list *problems)
{
    cull_status status = CULL_OK;
    bool        there = false;

    out->folder = folder;
    TRY(cull_records_probes_read(folder, &out->probes, &there, problems));
    if (!out->probes.count)
        FAIL(CULL_BAD_FILE, "%.900s/probe.jsonl: no line is about a minibatch", folder);
done:
    if (status != CULL_OK) cull_records_probes_clear(&out->probes);
    return status;
}
