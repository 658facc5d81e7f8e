/* train/folder/run_state.c - the state file: fixed fields, parts with a length, a checksum. */
#include "train/folder/run_state.h"

#include <string.h>

static const char magic[8] = "CULLRUN";

enum { BEFORE_TOKENS = 4 }; /* a version that is still read */

static cull_status put_part(cull_writer *out, const cull_reader *part)
{
    cull_status status = CULL_OK;
    uint64_t    size = part->size;

    TRY(cull_write(out, &size, sizeof size));
    TRY(cull_write(out, part->data, part->size));
done:
    return status;
}

/* The fields in the order of the file; one list for both directions. */
// clang-format off
#define FIELDS(X, p, m)                                                                            \
    X(p.step) X(p.epoch) X(p.batch) X(p.at) X(p.moments) X(p.rate) X(p.end) X(p.metrics)           \
    X(p.events) X(p.seen) X(p.correct) X(p.loss) X(p.best_epoch) X(p.best) X(p.accuracy) X(p.watched) X(p.test)   \
    X(p.test_loss) X(p.init_hash)                                                                  \
    X(p.weights_hash) X(p.best_hash) X(p.weights) X(p.best_weights)                                \
    X(m.scored) X(m.trained) X(m.thirds) X(m.proxy) X(m.subsets) X(m.subsets_filled)               \
    X(m.subsets_short) X(m.subsets_fallback) X(m.filled) X(m.seconds) X(m.joules)
#define TOKENS(X, m) X(m.tokens_scored) X(m.tokens_trained) X(m.token_thirds) /* from version 5 on */
#define PARTS(X) X(optim) X(selector) X(subset) X(tally) X(scorer) X(ways)
// clang-format on

cull_status cull_run_state_encode(const cull_run_state *state, cull_writer *out)
{
    cull_status status = CULL_OK;
    uint64_t    version = CULL_STATE_VERSION, hash = 0;
    size_t      begin = out->size;

    TRY(cull_write(out, magic, sizeof magic));
    TRY(cull_write(out, &version, sizeof version));
#define PUT(field) TRY(cull_write(out, &state->field, sizeof state->field));
    FIELDS(PUT, progress, meter)
    TOKENS(PUT, meter)
#undef PUT
#define PUT_PART(part) TRY(put_part(out, &state->part));
    PARTS(PUT_PART)
#undef PUT_PART
    hash = cull_base_hash(out->data + begin, out->size - begin);
    TRY(cull_write(out, &hash, sizeof hash));
done:
    return status;
}

static cull_status take_part(const char *path, cull_reader *in, cull_reader *part)
{
    cull_status status = CULL_OK;
    uint64_t    size = 0;

    TRY(cull_read(in, &size, sizeof size));
    if (size > in->size - in->at)
        FAIL(CULL_BAD_STATE, "%s: a part of %llu bytes, %zu are left", path,
             (unsigned long long)size, in->size - in->at);
    *part = (cull_reader){in->data + in->at, (size_t)size, 0};
    in->at += (size_t)size;
done:
    return status;
}

static bool ends(const char *name)
{
    return memchr(name, '\0', CULL_STATE_NAME) != NULL && !strchr(name, '/');
}

cull_status cull_run_state_decode(const char *path, const void *data, size_t bytes,
                                  cull_run_state *out)
{
    cull_status    status = CULL_OK;
    cull_reader    in = {data, bytes, 0};
    cull_run_state state = {0};
    char           head[sizeof magic];
    uint64_t       version = 0, hash = 0;

    if (bytes < sizeof head + sizeof version + sizeof hash ||
        memcmp(data, magic, sizeof magic) != 0)
        FAIL(CULL_BAD_STATE, "%s: not a state file", path);
    in.size -= sizeof hash;
    memcpy(&hash, (const char *)data + in.size, sizeof hash);
    TRY(cull_read(&in, head, sizeof head));
    TRY(cull_read(&in, &version, sizeof version));
    if (version != BEFORE_TOKENS && version != CULL_STATE_VERSION)
        FAIL(CULL_BAD_STATE, "%s: version %llu, this program reads %d and %d", path,
             (unsigned long long)version, BEFORE_TOKENS, CULL_STATE_VERSION);
    if (hash != cull_base_hash(data, in.size)) FAIL(CULL_BAD_STATE, "%s: damaged", path);
#define TAKE(field) TRY(cull_read(&in, &state.field, sizeof state.field));
    FIELDS(TAKE, progress, meter)
    if (version > BEFORE_TOKENS) {
        TOKENS(TAKE, meter)
    }
#undef TAKE
    if (!ends(state.progress.weights) || !ends(state.progress.best_weights))
        FAIL(CULL_BAD_STATE, "%s: a weights file of an impossible name", path);
#define TAKE_PART(part) TRY(take_part(path, &in, &state.part));
    PARTS(TAKE_PART)
#undef TAKE_PART
    if (in.at != in.size) FAIL(CULL_BAD_STATE, "%s: %zu bytes too long", path, in.size - in.at);
    *out = state;
done:
    return status;
}
