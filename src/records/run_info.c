/* records/run_info.c - run.json: what a run was, in one list of fields for both directions. */
#include "base/path.h"
#include "records/fields.h"
#include "records/run.h"

// clang-format off
#define F(kind, name)        CULL_FIELD(cull_records_info, #name, kind, name)
#define IN(part, kind, name) CULL_FIELD(cull_records_info, #name, kind, part.name)
#define END                  CULL_OBJECT(NULL, CLOSE)

/* Where energy is not counted, its key holds a text that says why. */
static const cull_records_field fields[] = {
    F(TEXT, status), F(TEXT_IF, why), F(TEXT, written), F(TEXT, version), F(COUNT, seed),
    CULL_OBJECT("init", OPEN_IF), IN(init, TEXT, file), IN(init, TEXT, hash), END,
    CULL_OBJECT("machine", OPEN), IN(machine, TEXT_IF, system), IN(machine, TEXT_IF, release),
    IN(machine, TEXT_IF, processor), IN(machine, COUNT, cores), IN(machine, TEXT, backend),
    IN(machine, TEXT_IF, chosen), IN(machine, TEXT_IF, precision), IN(machine, COUNT, planned), END,
    CULL_OBJECT("data", OPEN), IN(data, TEXT, name), IN(data, COUNT, train),
    IN(data, COUNT, validation), IN(data, COUNT, test), IN(data, COUNT, classes),
    IN(data, COUNT, dropped), IN(data, COUNT, relabelled), IN(data, COUNT, wrong),
    IN(data, COUNT, copies), IN(data, TEXT_IF, fingerprint), IN(data, TEXT_IF, test_fingerprint),
    END, F(TEXTS_IF, warnings),
    F(TEXT, model), F(COUNT, parameters), F(TEXT, strategy), F(TEXT, options),
    CULL_OBJECT("score", OPEN), IN(score, TEXT, pass), IN(score, TEXT, norm),
    IN(score, TEXT, precision), IN(score, NUMBER, scale), IN(score, BOOL, augment),
    IN(score, BOOL, pipelined), IN(score, TEXT, proxy), END,
    F(TEXT, watched), F(TEXT, metric), F(COUNT, step), F(COUNT, epoch), F(NUMBER, accuracy), F(NUMBER, best),
    F(COUNT, best_epoch), F(NUMBER, test), IN(work, COUNT, scored), IN(work, COUNT, trained),
    IN(work, COUNT, thirds), IN(work, COUNT, proxy_thirds), IN(work, COUNT, tokens_scored),
    IN(work, COUNT, tokens_trained), IN(work, COUNT, token_thirds), IN(work, COUNT, subsets),
    IN(work, COUNT, subsets_filled), IN(work, COUNT, subsets_short),
    IN(work, COUNT, subsets_fallback), IN(work, COUNT, filled), IN(work, NUMBER, seconds),
    CULL_FIELD(cull_records_info, "seconds_by_phase", PHASES, work.seconds_by),
    CULL_FIELD(cull_records_info, "joules_by_phase", PHASES_IF, work.joules_by),
    CULL_FIELD(cull_records_info, "joules_by_phase", TEXT_IF, no_energy),
    CULL_OBJECT("pipeline", OPEN_IF), IN(pipeline, NUMBER, seconds_busy),
    IN(pipeline, NUMBER, seconds_waited), IN(pipeline, NUMBER, overlap), END,
    F(TEXT, weights), F(TEXT, best_weights),
};
// clang-format on

enum { COUNT = sizeof fields / sizeof *fields };

static void name_fields(const char *key, cull_records_field out[COUNT])
{
    const cull_yardstick *measure = cull_yardstick_find(key);

    if (!measure) measure = &cull_yardstick_accuracy;
    cull_records_name(fields, COUNT, measure->key, out);
}

cull_status cull_records_info_write(const char *folder, const cull_records_info *info)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    cull_json   json = {0};

    cull_records_field named[COUNT];

    name_fields(info->metric, named);
    cull_json_open(&json, NULL, '{');
    cull_records_put(&json, CULL_FIELDS(named), info);
    cull_json_text(&json, "better", cull_yardstick_way(cull_yardstick_find(info->metric)));
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
    cull_records_field named[COUNT];

    name_fields(cull_records_word(root, "metric"), named);
    cull_records_take(root, CULL_FIELDS(named), out);
    out->work.cost = out->work.thirds / 3;
}

double cull_records_spent(const cull_records_work *work)
{
    double sum = 0;

    for (int i = 0; i < CULL_PHASES_OF_COST; i++) sum += work->seconds_by[i];
    return sum;
}
