/* records/probe_lines.c - probe.jsonl, written as a probe goes on and read back. */
#include "records/probe_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "records/fields.h"

enum { MOST_PROBES = 1000000 };

// clang-format off
#define F(kind, name)           CULL_FIELD(cull_records_probe, #name, kind, name)
#define P(key, kind, member)    CULL_FIELD(cull_records_probe, key, kind, pick.member)

static const cull_records_field picked[] = {
    F(NUMBER, keep), P("batch", SIZE, batch), P("kept", SIZE, kept),
    P("corrupted", SIZE, corrupted),
};
static const cull_records_field last_layer[] = {P("last_m", NUMBER, last[CULL_PROBE_OF_BATCH])};
static const cull_records_field of_gradients[] = {
    P("error", NUMBER, data[0].error), P("error_m", NUMBER, data[1].error),
    P("cosine", NUMBER, data[0].cosine), P("sign", NUMBER, data[0].sign),
    P("batch_error", NUMBER, whole[0].error), P("batch_error_m", NUMBER, whole[1].error),
    P("batch_cosine", NUMBER, whole[0].cosine), P("batch_sign", NUMBER, whole[0].sign),
    P("relative", NUMBER, relative[0]), P("relative_m", NUMBER, relative[1]),
    P("last", NUMBER, last[0]), P("last_m", NUMBER, last[1]), F(NUMBER, full), F(TRUTH, win),
};
// clang-format on

cull_status cull_records_probe_open(cull_records_probe_log *log, const char *folder)
{
    return cull_records_log_open(&log->log, folder, "probe.jsonl", 0);
}

void cull_records_probe_close(cull_records_probe_log *log)
{
    cull_records_log_close(&log->log);
    cull_json_clear(&log->json);
}

static void begin_line(cull_json *json, const char *kind, const char *strategy)
{
    cull_json_reset(json);
    cull_json_open(json, NULL, '{');
    cull_json_text(json, "kind", kind);
    cull_json_text(json, "strategy", strategy);
}

cull_status cull_records_probe_add(cull_records_probe_log *log, const cull_records_probe *probe,
                                   bool gradients)
{
    begin_line(&log->json, "probe", probe->strategy);
    cull_records_put(&log->json, CULL_FIELDS(picked), probe);
    if (gradients)
        cull_records_put(&log->json, CULL_FIELDS(of_gradients), probe);
    else
        cull_records_put(&log->json, CULL_FIELDS(last_layer), probe);
    return cull_records_log_line(&log->log, &log->json);
}

static void put_spread(cull_json *json, const char *key, const cull_spread *s)
{
    cull_json_open(json, key, '{');
    cull_json_number(json, "mean", s->mean);
    cull_json_number(json, "sd", s->deviation);
    cull_json_number(json, "q05", s->low);
    cull_json_number(json, "q25", s->quarter);
    cull_json_number(json, "q50", s->median);
    cull_json_number(json, "q75", s->three_quarters);
    cull_json_number(json, "q95", s->high);
    cull_json_close(json, '}');
}

static void put_rate(cull_json *json, const char *key, const cull_rate *rate)
{
    cull_json_open(json, key, '{');
    cull_json_number(json, "hits", rate->hits);
    cull_json_number(json, "trials", rate->trials);
    cull_json_number(json, "rate", rate->rate);
    cull_json_number(json, "low", rate->low);
    cull_json_number(json, "high", rate->high);
    cull_json_close(json, '}');
}

static void put_gradients(cull_json *json, const cull_probe_result *result,
                          const cull_probe_arm *arm)
{
    static const char *const way[CULL_PROBE_WAYS] = {"trained", "of_batch"};

    cull_json_number(json, "full", result->full);
    cull_json_count(json, "data_batches", result->data_batches);
    put_spread(json, "whole_error", &result->whole_error);
    for (int w = 0; w < CULL_PROBE_WAYS; w++) {
        cull_json_open(json, way[w], '{');
        put_spread(json, "error", &arm->error[w]);
        cull_json_number(json, "relative", arm->error[w].mean / result->full);
        put_spread(json, "cosine", &arm->cosine[w]);
        put_spread(json, "sign", &arm->sign[w]);
        put_rate(json, "wins", &arm->wins[w]);
        put_spread(json, "batch_error", &arm->batch_error[w]);
        put_spread(json, "batch_cosine", &arm->batch_cosine[w]);
        put_spread(json, "batch_sign", &arm->batch_sign[w]);
        put_rate(json, "batch_wins", &arm->batch_wins[w]);
        put_spread(json, "batch_relative", &arm->relative[w]);
        put_spread(json, "last_relative", &arm->last[w]);
        put_rate(json, "last_wins", &arm->last_wins[w]);
        cull_json_close(json, '}');
    }
}

cull_status cull_records_probe_add_arm(cull_records_probe_log *log, const cull_probe_result *result,
                                       const cull_probe_arm *arm)
{
    cull_json *json = &log->json;

    begin_line(json, "probe-arm", arm->strategy);
    cull_json_number(json, "keep", arm->keep);
    cull_json_number(json, "kept", arm->kept);
    cull_json_count(json, "batches", result->batches);
    put_rate(json, "corrupted", &arm->corrupted);
    cull_json_number(json, "corrupted_weight", arm->corrupted_weight);
    put_rate(json, "base", &result->base);
    if (result->data_batches) put_gradients(json, result, arm);
    if (!result->data_batches) put_spread(json, "last_relative", &arm->last[CULL_PROBE_OF_BATCH]);
    cull_json_number(json, "weight_bin", CULL_PROBE_BIN);
    cull_json_open(json, "weights", '[');
    for (size_t i = 0; i < CULL_PROBE_BINS; i++) cull_json_count(json, NULL, arm->weight[i]);
    cull_json_close(json, ']');
    return cull_records_log_line(&log->log, &log->json);
}

/* ---- reading ---- */

static cull_status add_probe(const json_t *line, cull_records_probes *out)
{
    cull_status        status = CULL_OK;
    cull_records_probe probe = {0};

    if (strcmp(cull_records_word(line, "kind"), "probe") != 0) goto done;
    (void)snprintf(probe.strategy, sizeof probe.strategy, "%s",
                   cull_records_word(line, "strategy"));
    cull_records_take(line, CULL_FIELDS(picked), &probe);
    cull_records_take(line, CULL_FIELDS(of_gradients), &probe);
    if (!probe.strategy[0] || (isnan(probe.pick.data[0].error) && probe.pick.kept == SIZE_MAX))
        goto done;
    if (out->count >= MOST_PROBES) goto done;
    TRY(cull_records_room(out->count, &out->room, sizeof *out->probe, "probes", &out->probe));
    out->probe[out->count++] = probe;
done:
    return status;
}

cull_status cull_records_probes_decode(const char *name, const void *data, size_t bytes,
                                       cull_records_probes *out, cull_records_list *problems)
{
    cull_status        status = CULL_OK;
    cull_records_lines lines = {.at = data, .end = data ? (const char *)data + bytes : NULL};

    while (cull_records_next(&lines))
        if (lines.line) TRY(add_probe(lines.line, out));
    TRY(lines.status);
    if (lines.broken == 1)
        TRY(cull_records_say(problems, "%s: line %zu is no JSON; skipped", name, lines.first));
    if (lines.broken > 1)
        TRY(cull_records_say(problems, "%s: %zu lines from line %zu on are no JSON; skipped", name,
                             lines.broken, lines.first));
done:
    cull_records_lines_clear(&lines);
    return status;
}

cull_status cull_records_probes_read(const char *folder, cull_records_probes *out, bool *there,
                                     cull_records_list *problems)
{
    cull_status status = CULL_OK;
    char        name[CULL_DATA_PATH];
    void       *data = NULL;
    size_t      bytes = 0;

    (void)snprintf(name, sizeof name, "%.900s/probe.jsonl", folder);
    TRY(cull_records_file(folder, "probe.jsonl", &data, &bytes));
    if (data) *there = true;
    TRY(cull_records_probes_decode(name, data, bytes, out, problems));
done:
    cull_bytes_release(data);
    return status;
}

void cull_records_probes_clear(cull_records_probes *probes)
{
    cull_base_free(probes->probe);
    *probes = (cull_records_probes){0};
}
