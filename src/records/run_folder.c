/* records/run_folder.c - what a run's folder is worth: decided here for verdicts and pages alike.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/sized.h"
#include "records/fields.h"
#include "records/files.h"
#include "records/run.h"

static const char *const names[] = {"missing",  "running", "stopped",
                                    "finished", "failed",  "corrupt"};

const char *cull_records_state_name(cull_records_state state)
{
    return names[state];
}

void cull_records_run_doubt(cull_records_run *run, const char *why)
{
    run->state = CULL_RECORDS_CORRUPT;
    (void)snprintf(run->why, sizeof run->why, "%s", why);
}

static bool has_outcome(const cull_records_info *info)
{
    const cull_yardstick *metric = cull_yardstick_find(info->metric);

    return cull_yardstick_can_be(metric, info->test) && cull_yardstick_can_be(metric, info->best) &&
           info->work.scored >= 0 && info->work.trained > 0 && info->work.thirds > 0;
}

/* By run.json alone. */
static void judge_info(cull_records_run *run)
{
    const char *word = run->info.status;
    int         state = CULL_RECORDS_RUNNING;

    while (state <= CULL_RECORDS_FAILED && strcmp(word, names[state]) != 0) state++;
    run->state = (cull_records_state)state;
    if (!word[0])
        cull_records_run_doubt(run, "run.json has no status; skipped");
    else if (state > CULL_RECORDS_FAILED)
        cull_records_run_doubt(run, "run.json has a status that is not known here; skipped");
    else if (!cull_yardstick_find(run->info.metric))
        cull_records_run_doubt(run, "run.json has a metric that is not known here; skipped");
    else if (state == CULL_RECORDS_FAILED)
        (void)snprintf(run->why, sizeof run->why, "%s",
                       run->info.why[0] ? run->info.why : "failed");
    else if (state == CULL_RECORDS_FINISHED && !has_outcome(&run->info))
        cull_records_run_doubt(run, "run.json lacks its outcome; skipped");
}

/* By metrics.jsonl as well. */
static void judge_lines(cull_records_run *run, bool there)
{
    char why[80];

    if (run->state != CULL_RECORDS_FINISHED) return;
    (void)snprintf(why, sizeof why, "metrics.jsonl line %zu %s; skipped", run->curves.broken,
                   run->curves.lacks ? "lacks its result" : "is no JSON");
    if (!there)
        cull_records_run_doubt(run, "metrics.jsonl is missing; skipped");
    else if (run->curves.broken)
        cull_records_run_doubt(run, why);
}

cull_status cull_records_run_decode(const void *info, size_t info_bytes, const void *lines,
                                    size_t line_bytes, cull_records_run *out)
{
    cull_status status = CULL_OK;

    *out = (cull_records_run){.state = CULL_RECORDS_MISSING};
    if (info) status = cull_records_parse("run.json", info, info_bytes, 0, &out->root);
    cull_records_info_take(out->root, &out->info);
    if (status == CULL_BAD_FILE) {
        cull_records_run_doubt(out, "run.json is no JSON; skipped");
        status = CULL_OK;
    }
    TRY(status);
    if (out->root) judge_info(out);
    TRY(cull_records_curves_decode(lines, line_bytes, &out->curves));
    judge_lines(out, lines != NULL);
done:
    return status;
}

/* What cannot be read is as good as not there: *data stays NULL. */
static cull_status load_file(const char *folder, const char *name, void **data, size_t *bytes,
                             bool *unread)
{
    cull_status status = cull_records_file(folder, name, data, bytes);

    *unread = status == CULL_IO || status == CULL_TOO_LARGE;
    return *unread ? CULL_OK : status;
}

cull_status cull_records_run_read(const char *folder, cull_records_run *out)
{
    cull_status status = CULL_OK;
    void       *info = NULL, *lines = NULL;
    size_t      info_bytes = 0, line_bytes = 0;
    bool        no_info = false, no_lines = false; /* lines: as missing */
    char        path[CULL_DATA_PATH];

    *out = (cull_records_run){.state = CULL_RECORDS_MISSING};
    TRY(cull_base_join(folder, "metrics.jsonl", path));
    TRY(load_file(folder, "run.json", &info, &info_bytes, &no_info));
    TRY(load_file(folder, "metrics.jsonl", &lines, &line_bytes, &no_lines));
    TRY(cull_records_run_decode(info, info_bytes, lines, line_bytes, out));
    if (no_info) cull_records_run_doubt(out, "run.json cannot be read; skipped");
done:
    cull_bytes_release(info);
    cull_bytes_release(lines);
    return status;
}

void cull_records_run_clear(cull_records_run *run)
{
    cull_records_curves_clear(&run->curves);
    json_decref(run->root);
    *run = (cull_records_run){0};
}

cull_status cull_run_read(const char *folder, cull_run_record *out)
{
    cull_status      status = CULL_OK;
    cull_records_run run = {0};
    cull_run_record  record;

    TRY(cull_sized_read("cull_run_record", out, sizeof record, &record));
    TRY(cull_records_run_read(folder, &run));
    record = (cull_run_record){.status = cull_records_state_name(run.state)};
    (void)snprintf(record.why, sizeof record.why, "%s", run.why);
    (void)snprintf(record.weights, sizeof record.weights, "%.63s", run.info.weights);
    (void)snprintf(record.best_weights, sizeof record.best_weights, "%.63s", run.info.best_weights);
    cull_sized_give(out, &record, sizeof record);
done:
    cull_records_run_clear(&run);
    return status;
}
