/* select/state.c - a selector's history as bytes: saved, checked, restored whole or not at all. */
#include <string.h>

#include "select/frame.h"

static const char magic[8] = {'C', 'U', 'L', 'L', 'S', 'E', 'L', '2'};
/* Its fingerprint is of the options as they were written, which says nothing here. */
static const char earlier[8] = {'C', 'U', 'L', 'L', 'S', 'E', 'L', '1'};

/* What a saved state belongs to: strategy, options by value, setting. */
static uint64_t fingerprint(const cull_selector *s)
{
    uint64_t parts[] = {cull_base_hash(s->name, strlen(s->name)),
                        cull_values_hash(s->values),
                        s->setting.pool,
                        s->setting.batch,
                        s->setting.epochs,
                        s->setting.steps,
                        s->setting.seed};

    return cull_base_hash(parts, sizeof parts);
}

static cull_status save_parts(const cull_selector *s, cull_writer *writer)
{
    cull_status status = CULL_OK;
    uint64_t    head[3] = {fingerprint(s), s->decided.made, s->decided.epoch};

    if (s->strategy->state_size && !s->strategy->save && s->plugin)
        FAIL(CULL_UNSUPPORTED, "%s has a state but cannot save it", s->name);
    TRY(cull_write(writer, magic, sizeof magic));
    TRY(cull_write(writer, head, sizeof head));
    if (s->self.base.losses) TRY(cull_sel_losses_save(s->self.base.losses, writer));
    if (s->strategy->save) TRY(s->strategy->save(&s->self.base, writer));
done:
    return status;
}

cull_status cull_selector_save(const cull_selector *selector, void **bytes, size_t *size)
{
    cull_status status = CULL_OK;
    cull_writer writer = {0};
    uint64_t    hash = 0;

    if (!selector || !bytes || !size)
        FAIL(CULL_BAD_ARGUMENT, "save: a selector and places for bytes and size are needed");
    TRY(save_parts(selector, &writer));
    hash = cull_base_hash(writer.data, writer.size);
    TRY(cull_write(&writer, &hash, sizeof hash));
    *bytes = writer.data;
    *size = writer.size;
    writer = (cull_writer){0};
done:
    cull_writer_clear(&writer);
    return status;
}

void cull_bytes_release(void *bytes)
{
    cull_base_free(bytes);
}

static cull_status open_state(const cull_selector *s, const void *bytes, size_t size,
                              cull_reader *reader, uint64_t head[3])
{
    cull_status status = CULL_OK;
    uint64_t    hash = 0;
    char        start[sizeof magic];

    if (size < sizeof magic + 3 * sizeof *head + sizeof hash)
        FAIL(CULL_BAD_STATE, "saved state of %zu bytes is too short to be one", size);
    size -= sizeof hash;
    memcpy(&hash, (const char *)bytes + size, sizeof hash);
    *reader = (cull_reader){bytes, size, 0};
    TRY(cull_read(reader, start, sizeof start));
    if (memcmp(start, earlier, sizeof earlier) == 0)
        FAIL(CULL_BAD_STATE, "the selector's state was saved by an earlier version, and this one "
                             "cannot read it");
    if (memcmp(start, magic, sizeof magic) != 0)
        FAIL(CULL_BAD_STATE, "these bytes are not a selector's saved state");
    if (hash != cull_base_hash(bytes, size)) FAIL(CULL_BAD_STATE, "saved state is damaged");
    TRY(cull_read(reader, head, 3 * sizeof *head));
    if (head[0] != fingerprint(s))
        FAIL(CULL_BAD_STATE, "saved state is of another strategy, options or setting than %s",
             s->name);
    if (head[1] > 1) FAIL(CULL_BAD_STATE, "saved state says neither yes nor no to a decision");
done:
    return status;
}

/* Restored into a twin, which takes over only when everything was read. */
cull_status cull_selector_restore(cull_selector *selector, const void *bytes, size_t size)
{
    cull_status    status = CULL_OK;
    cull_selector *s = selector;
    cull_sel_self  self = {0}, before;
    cull_reader    reader = {0};
    uint64_t       head[3] = {0};

    if (!s || !bytes) FAIL(CULL_BAD_ARGUMENT, "restore: a selector and bytes are needed");
    TRY(open_state(s, bytes, size, &reader, head));
    TRY(cull_sel_state_make(s, &self));
    if (self.base.losses) TRY(cull_sel_losses_restore(self.base.losses, &reader));
    if (s->strategy->restore) TRY(s->strategy->restore(&self.base, &reader));
    if (reader.at != reader.size)
        FAIL(CULL_BAD_STATE, "saved state has %zu bytes too many", reader.size - reader.at);
    before = s->self;
    s->self = self;
    s->decided = (cull_sel_decision){head[1] != 0, head[2]};
    self = before;
done:
    if (s) cull_sel_state_drop(s, &self);
    return status;
}
