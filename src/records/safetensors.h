/*
 * records/safetensors.h - named tensors in one file, the form that other tools read too.
 *
 * Eight bytes of length, a JSON header of that length, the tensors' bytes; docs/formats.md says
 * what is accepted.
 */
#ifndef CULL_RECORDS_SAFETENSORS_H
#define CULL_RECORDS_SAFETENSORS_H

#include "base/bytes.h"
#include "records/card.h"

enum { CULL_SAFETENSORS_NAME = 128, CULL_SAFETENSORS_MOST = 4096 };

typedef struct cull_safetensor {
    char        name[CULL_SAFETENSORS_NAME];
    cull_tensor tensor; /* dense; dims 0 is one number */
} cull_safetensor;

/* A whole file as bytes, to be written: in this order, `model` and the card (NULL: none) among the
 * metadata. */
cull_status cull_safetensors_encode(const cull_safetensor *tensors, size_t count, const char *model,
                                    const cull_card *card, cull_writer *out);

typedef struct cull_safetensors {
    size_t           count;
    cull_safetensor *tensor; /* views into the bytes parsed, aligned to nothing */
    cull_card        card;
} cull_safetensors;

/* Check a whole file and list its tensors, which borrow `data`. `path` begins the sentence.
 * *out is zeros, also after a failure; ends with cull_safetensors_clear(). */
cull_status cull_safetensors_parse(const char *path, const void *data, size_t bytes,
                                   cull_safetensors *out);
void        cull_safetensors_clear(cull_safetensors *tensors);

/* NULL: not there. */
const cull_safetensor *cull_safetensors_find(const cull_safetensors *tensors, const char *name);

#endif
