/*
 * data/mds.c - MDS shards, opened, unpacked and kept.
 *
 *     uint32 n | uint32 offset[n + 1] | text | samples       a shard; offsets are from its
 * beginning uint32 size of each cell that varies | cells           a sample
 *
 * Plain shards are mapped. A packed one is unpacked whole by the first who wants it while others
 * wait; those that nobody uses go, the longest unused first, when there is no room.
 */
#include "data/mds.h"

#include <pthread.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/path.h"

/* zstd codes a block of 128 KiB in no fewer than 3 bytes. */
enum { WORD = 4, MOST_BLOCK = 1 << 17, LEAST_BLOCK = 3 };

struct shard {
    char                *path;
    cull_data_source     source; /* of a plain one; a packed one is opened when it is wanted */
    bool                 plain;
    bool                 fixed; /* mapped, and there for good */
    const unsigned char *data;  /* NULL: not here yet */
    void                *owned; /* where it was read or unpacked */
    unsigned             users;
    bool                 coming; /* somebody brings it */
    uint64_t             used;   /* when, on the clock of borrowings */
};

struct cull_mds {
    char             folder_path[CULL_DATA_PATH];
    cull_data_folder folder;
    cull_mds_index   index;
    struct shard    *shard;
    uint64_t         most_kept, kept, clock;
    pthread_mutex_t  lock;
    pthread_cond_t   came;
};

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

const cull_mds_index *cull_mds_index_of(const cull_mds *mds)
{
    return &mds->index;
}

/* ---- opening ---- */

/* A plain file where there is one: it may have been unpacked already. */
static cull_status open_shard(cull_mds *mds, size_t i)
{
    cull_status           status = CULL_OK;
    const cull_mds_shard *info = &mds->index.shard[i];
    struct shard         *s = &mds->shard[i];
    bool                  plain = !info->packed || cull_data_folder_has(&mds->folder, info->raw);
    uint64_t              promised = plain ? info->raw_bytes : info->packed_bytes;
    cull_data_source      source = {.fd = -1};
    char                  path[CULL_DATA_PATH];

    TRY(cull_data_folder_open(&mds->folder, plain ? info->raw : info->packed, path, &source));
    if (source.size != promised)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, the index promises %llu", path,
             (unsigned long long)source.size, (unsigned long long)promised);
    TRY(cull_base_alloc(strlen(path) + 1, 1, "shards", &s->path));
    memcpy(s->path, path, strlen(path));
    s->plain = plain;
    if (!plain) goto done;
    if (source.size) cull_data_source_map(&source);
    source.name = s->path;
    s->source = source;
    s->data = source.memory;
    s->fixed = s->data != NULL;
    source = (cull_data_source){.fd = -1};
done:
    cull_data_source_close(&source);
    return status;
}

cull_status cull_mds_open(const cull_data_folder *folder, uint64_t most_kept, cull_mds **out)
{
    cull_status      status = CULL_OK;
    cull_mds        *mds = NULL;
    cull_data_source index = {.fd = -1};
    char             path[CULL_DATA_PATH];

    TRY(cull_base_alloc(1, sizeof *mds, "shards", &mds));
    pthread_mutex_init(&mds->lock, NULL);
    pthread_cond_init(&mds->came, NULL);
    mds->most_kept = most_kept;
    mds->folder = *folder;
    if (strlen(folder->path) >= sizeof mds->folder_path)
        FAIL(CULL_IO, "%.100s...: the name is too long", folder->path);
    memcpy(mds->folder_path, folder->path, strlen(folder->path) + 1);
    mds->folder.path = mds->folder_path;
    TRY(cull_data_folder_open(folder, "index.json", path, &index));
    TRY(cull_mds_index_read(&index, &mds->index));
    TRY(cull_base_alloc(mds->index.shards, sizeof *mds->shard, "shards", &mds->shard));
    for (size_t i = 0; i < mds->index.shards; i++) mds->shard[i].source.fd = -1;
    for (size_t i = 0; i < mds->index.shards; i++) TRY(open_shard(mds, i));
    *out = mds;
    mds = NULL;
done:
    cull_data_source_close(&index);
    cull_mds_close(mds);
    return status;
}

void cull_mds_close(cull_mds *mds)
{
    if (!mds) return;
    for (size_t i = 0; mds->shard && i < mds->index.shards; i++) {
        cull_base_free(mds->shard[i].owned);
        cull_base_free(mds->shard[i].path);
        cull_data_source_close(&mds->shard[i].source);
    }
    cull_base_free(mds->shard);
    cull_mds_index_clear(&mds->index);
    pthread_cond_destroy(&mds->came);
    pthread_mutex_destroy(&mds->lock);
    cull_base_free(mds);
}

bool cull_mds_crowded(const cull_mds *mds)
{
    uint64_t packed = 0;

    for (size_t i = 0; i < mds->index.shards; i++)
        if (!mds->shard[i].fixed) packed += mds->index.shard[i].raw_bytes;
    return packed > mds->most_kept;
}

/* ---- bringing a shard ---- */

/* What the frame says of itself is believed only where it is what the index promises. */
static cull_status check_packed(const struct shard *s, const cull_mds_shard *info,
                                const void *packed, size_t bytes)
{
    cull_status        status = CULL_OK;
    unsigned long long content = ZSTD_getFrameContentSize(packed, bytes);

    if (content == ZSTD_CONTENTSIZE_ERROR)
        FAIL(CULL_BAD_FILE, "%s: is not packed with zstd", s->path);
    if (content != ZSTD_CONTENTSIZE_UNKNOWN && content > info->raw_bytes)
        FAIL(CULL_BAD_FILE, "%s: unpacks to %llu bytes, the index promises %llu", s->path, content,
             (unsigned long long)info->raw_bytes);
    if (info->raw_bytes / MOST_BLOCK > bytes / LEAST_BLOCK)
        FAIL(CULL_BAD_FILE, "%s: %zu bytes cannot unpack to %llu", s->path, bytes,
             (unsigned long long)info->raw_bytes);
done:
    return status;
}

static cull_status unpack(const struct shard *s, const cull_mds_shard *info,
                          const cull_data_source *source, void **out)
{
    cull_status status = CULL_OK;
    void       *packed = NULL, *data = NULL;
    size_t      bytes = (size_t)source->size, got = 0;

    TRY(cull_base_grow(bytes, 1, "a packed shard", &packed));
    TRY(cull_data_source_read(source, 0, packed, bytes));
    TRY(check_packed(s, info, packed, bytes));
    TRY(cull_base_grow((size_t)info->raw_bytes, 1, "an unpacked shard", &data));
    got = ZSTD_decompress(data, (size_t)info->raw_bytes, packed, bytes);
    if (ZSTD_isError(got))
        FAIL(CULL_BAD_FILE, "%s: the packed data is damaged: %s", s->path, ZSTD_getErrorName(got));
    if (got != info->raw_bytes)
        FAIL(CULL_BAD_FILE, "%s: unpacks to %zu bytes, the index promises %llu", s->path, got,
             (unsigned long long)info->raw_bytes);
    *out = data;
    data = NULL;
done:
    cull_base_free(data);
    cull_base_free(packed);
    return status;
}

static cull_status read_plain(const struct shard *s, const cull_mds_shard *info, void **out)
{
    cull_status status = CULL_OK;
    void       *data = NULL;

    TRY(cull_base_grow((size_t)info->raw_bytes, 1, "a shard", &data));
    TRY(cull_data_source_read(&s->source, 0, data, (size_t)info->raw_bytes));
    *out = data;
    data = NULL;
done:
    cull_base_free(data);
    return status;
}

/* Without the lock: nobody else touches a shard that is coming. */
static cull_status bring(cull_mds *mds, size_t i, void **out)
{
    cull_status           status = CULL_OK;
    const cull_mds_shard *info = &mds->index.shard[i];
    const struct shard   *s = &mds->shard[i];
    cull_data_source      opened = {.fd = -1};
    char                  path[CULL_DATA_PATH];

    if (s->plain) {
        TRY(read_plain(s, info, out));
        goto done;
    }
    TRY(cull_data_folder_open(&mds->folder, info->packed, path, &opened));
    if (opened.size != info->packed_bytes)
        FAIL(CULL_IO, "%s: became another file while it was used", s->path);
    TRY(unpack(s, info, &opened, out));
done:
    cull_data_source_close(&opened);
    return status;
}

/* With the lock: let go of what nobody uses until `bytes` more have room, or nothing is left. */
static void make_room(cull_mds *mds, uint64_t bytes)
{
    while (mds->kept && mds->kept + bytes > mds->most_kept) {
        struct shard *oldest = NULL;
        size_t        at = 0;
        for (size_t i = 0; i < mds->index.shards; i++) {
            struct shard *s = &mds->shard[i];
            if (!s->owned || s->users || (oldest && s->used >= oldest->used)) continue;
            oldest = s;
            at = i;
        }
        if (!oldest) return;
        cull_base_free(oldest->owned);
        oldest->owned = NULL;
        oldest->data = NULL;
        mds->kept -= mds->index.shard[at].raw_bytes;
    }
}

/* A user more of a shard, which is there then. Its bytes count from when they are sent for. */
static cull_status hold(cull_mds *mds, size_t i, const unsigned char **data)
{
    cull_status   status = CULL_OK;
    struct shard *s = &mds->shard[i];
    uint64_t      bytes = mds->index.shard[i].raw_bytes;

    if (s->fixed) {
        *data = s->data;
        return CULL_OK;
    }
    pthread_mutex_lock(&mds->lock);
    while (!s->data && s->coming) pthread_cond_wait(&mds->came, &mds->lock);
    if (!s->data) {
        void *owned = NULL;
        s->coming = true;
        make_room(mds, bytes);
        mds->kept += bytes;
        pthread_mutex_unlock(&mds->lock);
        status = bring(mds, i, &owned);
        pthread_mutex_lock(&mds->lock);
        s->coming = false;
        s->data = s->owned = owned;
        if (!owned) mds->kept -= bytes;
        pthread_cond_broadcast(&mds->came);
    }
    if (s->data) s->users++;
    s->used = ++mds->clock;
    *data = s->data;
    pthread_mutex_unlock(&mds->lock);
    return status;
}

static void let_go(cull_mds *mds, size_t i)
{
    if (mds->shard[i].fixed) return;
    pthread_mutex_lock(&mds->lock);
    mds->shard[i].users--;
    pthread_mutex_unlock(&mds->lock);
}

/* ---- samples ---- */

static size_t shard_of(const cull_mds_index *index, size_t sample)
{
    size_t low = 0, high = index->shards - 1;

    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (index->shard[middle].first <= sample)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static cull_status damaged(const cull_mds_sample *sample, const char *what)
{
    return cull_fail(CULL_BAD_FILE, "%s: sample %zu: %s", sample->file, sample->number, what);
}

/* Where a sample begins and ends. */
static cull_status find_sample(const cull_mds_shard *info, const unsigned char *data,
                               const cull_mds_sample *out, uint32_t *begin, uint32_t *end)
{
    cull_status    status = CULL_OK;
    uint64_t       head = WORD * ((uint64_t)info->samples + 2);
    const uint64_t at = WORD * ((uint64_t)out->number + 1);

    if (info->raw_bytes < head || get32(data) != info->samples)
        FAIL(CULL_BAD_FILE, "%s: does not begin as a shard of %u samples does", out->file,
             info->samples);
    *begin = get32(data + at);
    *end = get32(data + at + WORD);
    if (*begin < head || *begin > *end || *end > info->raw_bytes)
        TRY(damaged(out, "reaches past the shard"));
done:
    return status;
}

static cull_status cut_cells(const cull_mds_index *index, const unsigned char *data, uint32_t begin,
                             uint32_t end, cull_mds_sample *out)
{
    cull_status status = CULL_OK;
    uint64_t    at = begin;

    for (size_t c = 0; c < index->columns; c++) {
        out->bytes[c] = index->column[c].size;
        if (out->bytes[c]) continue;
        if (end - at < WORD) TRY(damaged(out, "is too short for its columns"));
        out->bytes[c] = get32(data + at);
        at += WORD;
    }
    for (size_t c = 0; c < index->columns; c++) {
        if (out->bytes[c] > end - at) TRY(damaged(out, "is too short for its columns"));
        out->cell[c] = data + at;
        at += out->bytes[c];
    }
    if (at != end) TRY(damaged(out, "is longer than its columns"));
done:
    return status;
}

cull_status cull_mds_borrow(cull_mds *mds, size_t sample, cull_mds_sample *out)
{
    cull_status          status = CULL_OK;
    size_t               i = shard_of(&mds->index, sample);
    const unsigned char *data = NULL;
    uint32_t             begin = 0, end = 0;

    *out = (cull_mds_sample){
        .file = mds->shard[i].path, .number = sample - mds->index.shard[i].first, .shard = i};
    TRY(hold(mds, i, &data));
    TRY(find_sample(&mds->index.shard[i], data, out, &begin, &end));
    TRY(cut_cells(&mds->index, data, begin, end, out));
done:
    if (status && data) let_go(mds, i);
    return status;
}

void cull_mds_give_back(cull_mds *mds, const cull_mds_sample *sample)
{
    let_go(mds, sample->shard);
}
