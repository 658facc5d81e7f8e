/*
 * lab/probe/probe_record.c - probe.jsonl: a line for what each arm picked of each batch, as they
 * come, and a last one for each arm over all of them. docs/reproduce.md names the fields.
 */
#include "base/alloc.h"
#include "lab/probe/probe.h"
#include "records/json.h"
#include "records/log.h"

struct cull_probe_record {
    cull_train_log log;
    cull_json      json;
};

cull_status cull_probe_record_open(const char *folder, cull_probe_record **out)
{
    cull_status        status = CULL_OK;
    cull_probe_record *r = NULL;

    TRY(cull_base_alloc(1, sizeof *r, "a probe's record", &r));
    r->log.fd = -1;
    TRY(cull_train_log_open(&r->log, folder, "probe.jsonl", 0));
    *out = r;
    r = NULL;
done:
    cull_probe_record_close(r);
    return status;
}

void cull_probe_record_close(cull_probe_record *r)
{
    if (!r) return;
    cull_train_log_close(&r->log);
    cull_json_clear(&r->json);
    cull_base_free(r);
}

static void begin(cull_json *json, const char *kind, const cull_probe_arm *arm)
{
    cull_json_reset(json);
    cull_json_open(json, NULL, '{');
    cull_json_text(json, "kind", kind);
    cull_json_text(json, "strategy", arm->strategy);
    cull_json_number(json, "keep", arm->keep);
}

static cull_status finish(cull_probe_record *r)
{
    cull_status status = CULL_OK;

    cull_json_close(&r->json, '}');
    cull_json_line(&r->json);
    TRY(r->json.status);
    TRY(cull_train_log_append(&r->log, r->json.bytes.data, r->json.bytes.size));
done:
    return status;
}

cull_status cull_probe_record_pick(cull_probe_record *r, const cull_probe_result *result,
                                   const cull_probe_arm *arm, const cull_probe_pick *pick)
{
    const cull_probe_gap *data = pick->data, *whole = pick->whole;
    const cull_probe_arm *control = cull_probe_control(result, arm);
    cull_json            *json = &r->json;

    begin(json, "probe", arm);
    cull_json_count(json, "batch", pick->batch);
    cull_json_count(json, "kept", pick->kept);
    cull_json_count(json, "corrupted", pick->corrupted);
    if (!result->data_batches) cull_json_number(json, "last_m", pick->last[CULL_PROBE_OF_BATCH]);
    if (result->data_batches) {
        cull_json_number(json, "error", data[CULL_PROBE_TRAINED].error);
        cull_json_number(json, "error_m", data[CULL_PROBE_OF_BATCH].error);
        cull_json_number(json, "cosine", data[CULL_PROBE_TRAINED].cosine);
        cull_json_number(json, "sign", data[CULL_PROBE_TRAINED].sign);
        cull_json_number(json, "batch_error", whole[CULL_PROBE_TRAINED].error);
        cull_json_number(json, "batch_error_m", whole[CULL_PROBE_OF_BATCH].error);
        cull_json_number(json, "batch_cosine", whole[CULL_PROBE_TRAINED].cosine);
        cull_json_number(json, "batch_sign", whole[CULL_PROBE_TRAINED].sign);
        cull_json_number(json, "relative", pick->relative[CULL_PROBE_TRAINED]);
        cull_json_number(json, "relative_m", pick->relative[CULL_PROBE_OF_BATCH]);
        cull_json_number(json, "last", pick->last[CULL_PROBE_TRAINED]);
        cull_json_number(json, "last_m", pick->last[CULL_PROBE_OF_BATCH]);
        cull_json_number(json, "full", result->full);
        if (control && control != arm)
            cull_json_bool(json, "win", data->error < control->pick[pick->batch].data->error);
    }
    return finish(r);
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

cull_status cull_probe_record_arm(cull_probe_record *r, const cull_probe_result *result,
                                  const cull_probe_arm *arm)
{
    cull_json *json = &r->json;

    begin(json, "probe-arm", arm);
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
    return finish(r);
}
