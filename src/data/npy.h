/* data/npy.h - one array in numpy's .npy form, from a stream and to bytes. */
#ifndef CULL_DATA_NPY_H
#define CULL_DATA_NPY_H

#include "data/stream.h"

enum {
    CULL_DATA_NPY_HEADER = 256,  /* more than any header that is written */
    CULL_DATA_NPY_LETTERS = 1024 /* of a text                            */
};

/* Is this how a .npy file begins? */
bool cull_data_npy_begins(const unsigned char *bytes, size_t count);

/*
 * Read the array that fills the rest of a stream exactly. out->data is in C order: where it lies in
 * a mapped file (cull_data_source_holds), only to be read, or else on a 64-byte border, and ends
 * with cull_base_free_aligned(); out is untouched on failure. The size promised is compared with
 * stream->left before it is allocated. Types that cull_dtype has not become wider ones: half floats
 * float32, bool uint8, 8 and 16 bits int32, uint32 and uint64 int64.
 */
cull_status cull_data_npy_read(cull_data_stream *stream, cull_tensor *out);

/* The same of an array (N) of texts, as an int32 (N, L) of characters, each text filled up with
 * zeros. CULL_BAD_FILE when it is none. */
cull_status cull_data_npy_letters(cull_data_stream *stream, cull_tensor *out);

/* The same without its elements, and without their memory. */
cull_status cull_data_npy_look(cull_data_stream *stream, cull_tensor *out);

/* How many bytes the elements take; CULL_BAD_ARGUMENT for a view that no .npy file can
 * hold, CULL_TOO_LARGE past 2^62. `name` begins the sentence. */
cull_status cull_data_npy_bytes(const cull_tensor *tensor, const char *name, uint64_t *bytes);

/* Everything before the elements; returns how many bytes that is. The view was checked by
 * cull_data_npy_bytes. */
size_t cull_data_npy_header(const cull_tensor *tensor, char out[CULL_DATA_NPY_HEADER]);

/* The same of texts, whose characters are an int32 (N, L). */
size_t cull_data_npy_letters_header(const cull_tensor *letters, char out[CULL_DATA_NPY_HEADER]);

/* Do the elements of a view lie as a .npy file has them? */
bool cull_data_npy_dense(const cull_tensor *tensor);

/* Copy the elements of any view, last dimension fastest, to dst. */
void cull_data_npy_pack(const cull_tensor *tensor, void *dst);

#endif
