/* records/run_info.c - run.json: what a run was, in one list of fields for both directions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "records/fields.h"
#include "records/run.h"

#define F(key, kind, member)                                                                       \
    {                                                                                              \
        key, CULL_FIELD_##kind, offsetof(cull_records_info, member)                                \
    }

static const cull_records_field head[] = {
    F("status", TEXT, status),   F("why", TEXT_IF, why), F("written", TEXT, written),
    F("version", TEXT, version), F("seed", COUNT, seed),
};
static const cull_records_field init[] = {
    F("file", TEXT_IF, init_file),
    F("hash", TEXT_IF, init_hash),
};
static const cull_records_field machine[] = {
    F("system", TEXT_IF, machine.system),       F("release", TEXT_IF, machine.release),
    F("processor", TEXT_IF, machine.processor), F("cores", COUNT, machine.cores),
    F("backend", TEXT, machine.backend),
};
static const cull_records_field data[] = {
    F("name", TEXT, data.name),
    F("train", COUNT, data.train),
    F("validation", COUNT, data.validation),
    F("test", COUNT, data.test),
    F("classes", COUNT, data.classes),
    F("dropped", COUNT, data.dropped),
    F("relabelled", COUNT, data.relabelled),
    F("wrong", COUNT, data.wrong),
    F("copies", COUNT, data.copies),
};
static const cull_records_field what[] = {
    F("model", TEXT, model),
    F("parameters", COUNT, parameters),
    F("strategy", TEXT, strategy),
    F("options", TEXT, options),
};
/* What decides which examples are picked besides the rule: never implied. */
static const cull_records_field score[] = {
    F("pass", TEXT, score.pass),           F("norm", TEXT, score.norm),
    F("precision", TEXT, score.precision), F("scale", NUMBER, score.scale),
    F("augment", BOOL, score.augment),     F("pipelined", BOOL, score.pipelined),
    F("proxy", TEXT, score.proxy),
};
static const cull_records_field outcome[] = {
    F("watched", TEXT, watched),
    F("step", COUNT, step),
    F("epoch", COUNT, epoch),
    F("accuracy", NUMBER, accuracy),
    F("best", NUMBER, best),
    F("best_epoch", COUNT, best_epoch),
    F("test", NUMBER, test),
    F("scored", COUNT, work.scored),
    F("trained", COUNT, work.trained),
    F("thirds", COUNT, work.thirds),
    F("proxy_thirds", COUNT, work.proxy_thirds),
    F("subsets", COUNT, work.subsets),
    F("subsets_filled", COUNT, work.subsets_filled),
    F("subsets_short", COUNT, work.subsets_short),
    F("subsets_fallback", COUNT, work.subsets_fallback),
    F("filled", COUNT, work.filled),
    F("seconds", NUMBER, work.seconds),
    F("seconds_by_phase", PHASES, work.seconds_by),
};
/* Where energy is not counted, the key holds a text that says why. */
static const cull_records_field energy = F("joules_by_phase", PHASES, work.joules_by);
static const cull_records_field no_energy = F("joules_by_phase", TEXT, no_energy);
static const cull_records_field pipeline[] = {
    F("seconds_busy", NUMBER, pipeline.seconds_busy),
    F("seconds_waited", NUMBER, pipeline.seconds_waited),
    F("overlap", NUMBER, pipeline.overlap),
};
static const cull_records_field files[] = {
    F("weights", TEXT, weights),
    F("best_weights", TEXT, best_weights),
};

static void put_object(cull_json *json, const char *key, const cull_records_field *fields,
                       size_t count, const cull_records_info *info)
{
    cull_json_open(json, key, '{');
    cull_records_put(json, fields, count, info);
    cull_json_close(json, '}');
}

cull_status cull_records_info_write(const char *folder, const cull_records_info *info)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    cull_json   json = {0};

    cull_json_open(&json, NULL, '{');
    cull_records_put(&json, CULL_FIELDS(head), info);
    if (info->init_hash[0]) put_object(&json, "init", CULL_FIELDS(init), info);
    put_object(&json, "machine", CULL_FIELDS(machine), info);
    put_object(&json, "data", CULL_FIELDS(data), info);
    cull_records_put(&json, CULL_FIELDS(what), info);
    put_object(&json, "score", CULL_FIELDS(score), info);
    cull_records_put(&json, CULL_FIELDS(outcome), info);
    cull_records_put(&json, info->no_energy[0] ? &no_energy : &energy, 1, info);
    if (!isnan(info->pipeline.overlap)) put_object(&json, "pipeline", CULL_FIELDS(pipeline), info);
    cull_records_put(&json, CULL_FIELDS(files), info);
    cull_json_close(&json, '}');
    cull_json_line(&json);
    TRY(json.status);
    TRY(cull_base_join(folder, "run.json", path));
    TRY(cull_file_write(path, json.bytes.data, json.bytes.size));
done:
    cull_json_clear(&json);
    return status;
}

void cull_records_info_take(const json_t *root, cull_records_info *out)
{
    cull_records_take(root, CULL_FIELDS(head), out);
    cull_records_take(json_object_get(root, "init"), CULL_FIELDS(init), out);
    cull_records_take(json_object_get(root, "machine"), CULL_FIELDS(machine), out);
    cull_records_take(json_object_get(root, "data"), CULL_FIELDS(data), out);
    cull_records_take(root, CULL_FIELDS(what), out);
    cull_records_take(json_object_get(root, "score"), CULL_FIELDS(score), out);
    cull_records_take(root, CULL_FIELDS(outcome), out);
    cull_records_take(root, &energy, 1, out);
    cull_records_take(root, &no_energy, 1, out);
    cull_records_take(json_object_get(root, "pipeline"), CULL_FIELDS(pipeline), out);
    cull_records_take(root, CULL_FIELDS(files), out);
    out->work.cost = out->work.thirds / 3;
}

double cull_records_spent(const cull_records_work *work)
{
    double sum = 0;

    for (int i = 0; i < CULL_PHASES_OF_COST; i++) sum += work->seconds_by[i];
    return sum;
}
