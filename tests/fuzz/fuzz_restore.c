/*
 * fuzz/fuzz_restore.c - any bytes as a saved state.
 *
 * As they are, they fail the checksum; so they are also laid over a true state, whose head
 * stays and whose checksum is made right again: then the strategies themselves must judge.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "fuzz_selector.h"

enum { HEAD = 16 }; /* magic and fingerprint */

/* After any restore, failed or not, the selector still works. */
static void use(cull_selector *selector, const cull_setting *setting)
{
    static const double  loss[MOST_POOL] = {3, 1, 2};
    static const float   matrix[MOST_POOL * 2] = {1, 2, 3, -1};
    static const uint8_t label[MOST_POOL] = {0, 1};
    cull_subset          subset = {0};
    cull_signals         signals = {.count = setting->pool};
    void                *bytes = NULL;
    size_t               size = 0;

    signals.loss = signals.irreducible = cull_vector(loss, CULL_F64, setting->pool);
    signals.h = signals.p = cull_matrix(matrix, CULL_F32, setting->pool, 2);
    signals.label = cull_vector(label, CULL_U8, setting->pool);
    signals.target = (cull_target){setting->pool, signals.h, signals.p, signals.label, signals.h};
    (void)cull_select(selector, &signals, 0, &subset);
    for (size_t i = 0; i < subset.count; i++)
        if (subset.place[i] >= setting->pool || !(subset.weight[i] >= 0)) abort();
    (void)cull_observe(selector, &signals);
    (void)cull_flush(selector, &subset);
    if (cull_selector_save(selector, &bytes, &size) != CULL_OK) abort();
    cull_bytes_release(bytes);
    cull_subset_clear(&subset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes   b = {data, size};
    cull_setting   setting = {0};
    cull_selector *selector = fuzz_selector(&b, &setting);
    void          *saved = NULL;
    unsigned char *forged = NULL;
    size_t         bytes = 0, body = 0;
    uint64_t       hash = 0;

    if (!selector) goto done;
    if (b.left && cull_selector_restore(selector, b.data, b.left) == CULL_OK) abort();
    if (cull_selector_save(selector, &saved, &bytes) != CULL_OK || bytes < HEAD + sizeof hash)
        abort();
    /* As long as the true one, or as long as the input. */
    body = take_below(&b, 2) ? b.left : bytes - HEAD - sizeof hash;
    forged = malloc(HEAD + body + sizeof hash);
    if (forged) {
        memcpy(forged, saved, HEAD);
        take_bytes(&b, forged + HEAD, body);
        hash = cull_base_hash(forged, HEAD + body);
        memcpy(forged + HEAD + body, &hash, sizeof hash);
        (void)cull_selector_restore(selector, forged, HEAD + body + sizeof hash);
        use(selector, &setting);
    }
    free(forged);
    cull_bytes_release(saved);
done:
    cull_selector_destroy(selector);
    cull_backend_close(setting.backend);
    return 0;
}
