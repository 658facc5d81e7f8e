/*
 * train/network/network_state.c - a network as a file of weights, and as bytes with all that it
 * remembers.
 *
 *     saved    magic, hash of what follows, size of the weights, weights, optimizer
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "train/folder/weights.h"
#include "train/network/network.h"

#define MAGIC "cullnet1"

enum { FRONT = 16 }; /* bytes of magic and hash */

cull_status cull_network_write(const cull_network *n, const char *path)
{
    cull_status status = CULL_OK;
    cull_writer bytes = {0};

    TRY(cull_weights_encode(n->model, n->params, &n->card, &bytes));
    TRY(cull_file_write(path, bytes.data, bytes.size));
done:
    cull_writer_clear(&bytes);
    return status;
}

/* Other weights are there: what was learned and kept of the old ones is gone. */
static void begin_with(cull_network *n, cull_optim **optim)
{
    cull_optim_destroy(n->optim);
    n->optim = *optim;
    *optim = NULL;
    n->learned = false;
    n->kept = 0;
}

cull_status cull_network_read(cull_network *n, const char *path)
{
    cull_status status = CULL_OK;
    cull_optim *optim = NULL;

    TRY(cull_network_optim(n, &optim));
    TRY(cull_weights_read(path, n->model, n->params));
    begin_with(n, &optim);
done:
    cull_optim_destroy(optim);
    return status;
}

cull_status cull_network_save(const cull_network *n, void **out, size_t *size)
{
    cull_status status = CULL_OK;
    cull_writer bytes = {0}, weights = {0};
    uint64_t    hash = 0, length = 0;

    TRY(cull_weights_encode(n->model, n->params, &n->card, &weights));
    length = weights.size;
    TRY(cull_write(&bytes, MAGIC, 8));
    TRY(cull_write(&bytes, &hash, sizeof hash));
    TRY(cull_write(&bytes, &length, sizeof length));
    TRY(cull_write(&bytes, weights.data, weights.size));
    TRY(cull_optim_save(n->optim, &bytes));
    hash = cull_base_hash(bytes.data + FRONT, bytes.size - FRONT);
    memcpy(bytes.data + 8, &hash, sizeof hash);
    *out = bytes.data;
    *size = bytes.size;
    bytes = (cull_writer){0};
done:
    cull_writer_clear(&bytes);
    cull_writer_clear(&weights);
    return status;
}

cull_status cull_network_restore(cull_network *n, const void *bytes, size_t size)
{
    cull_status status = CULL_OK;
    cull_reader reader = {bytes, size, 0};
    cull_optim *optim = NULL;
    char        magic[8] = "", why[256];
    uint64_t    hash = 0, length = 0;

    TRY(cull_read(&reader, magic, sizeof magic));
    TRY(cull_read(&reader, &hash, sizeof hash));
    if (memcmp(magic, MAGIC, sizeof magic) != 0 ||
        hash != cull_base_hash((const char *)bytes + FRONT, size - FRONT))
        FAIL(CULL_BAD_STATE, "the state of a network is damaged");
    TRY(cull_read(&reader, &length, sizeof length));
    if (length > reader.size - reader.at) FAIL(CULL_BAD_STATE, "the state of a network is short");
    TRY(cull_network_optim(n, &optim));
    reader.at += (size_t)length;
    TRY(cull_optim_restore(optim, &reader));
    status = cull_weights_decode("state", reader.data + FRONT + sizeof length, (size_t)length,
                                 n->model, n->params);
    if (status == CULL_BAD_FILE) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(CULL_BAD_STATE, "%s", why);
    }
    TRY(status);
    begin_with(n, &optim);
done:
    cull_optim_destroy(optim);
    return status;
}
