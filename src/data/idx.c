/*
 * data/idx.c - MNIST's format, plain or packed with gzip: images (N, H, W) in one file, labels
 * (N) in another, as docs/formats.md says.
 */
#include "data/reader.h"
#include "data/stream.h"

enum { UNSIGNED_BYTE = 8, IMAGE_DIMS = 3, CLASSES = 10, SOME = 4096 };

/* Read the header of a file with `dims` dimensions and check the size it promises. */
static cull_status read_header(cull_data_stream *file, uint32_t dims, uint32_t shape[IMAGE_DIMS])
{
    cull_status   status = CULL_OK;
    const char   *name = file->source->name;
    unsigned char bytes[4 + 4 * IMAGE_DIMS] = {0};
    uint64_t      promised = 1;

    if (!file->packed && file->source->size < 4 + 4 * dims)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, too short for an idx file", name,
             (unsigned long long)file->source->size);
    TRY(cull_data_stream_read(file, bytes, 4 + 4 * (size_t)dims));
    if (bytes[0] || bytes[1]) FAIL(CULL_BAD_FILE, "%s: does not begin as an idx file does", name);
    if (bytes[2] != UNSIGNED_BYTE)
        FAIL(CULL_BAD_FILE, "%s: elements of type %02x; unsigned bytes (08) are read", name,
             bytes[2]);
    if (bytes[3] != dims)
        FAIL(CULL_BAD_FILE, "%s: %d dimensions where %u are wanted", name, bytes[3], dims);
    for (uint32_t d = 0; d < dims; d++) {
        const unsigned char *b = bytes + 4 + 4 * (size_t)d;
        shape[d] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        if (shape[d] == 0) FAIL(CULL_BAD_FILE, "%s: a dimension is 0", name);
        if (__builtin_mul_overflow(promised, shape[d], &promised) || promised >> 62)
            FAIL(CULL_BAD_FILE, "%s: the dimensions are beyond 2^62 bytes", name);
    }
    promised += 4 + 4 * (uint64_t)dims;
    if (!file->packed && promised != file->source->size)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, header promises %llu", name,
             (unsigned long long)file->source->size, (unsigned long long)promised);
    if (!cull_data_stream_can_hold(file, promised - 4 - 4 * (uint64_t)dims))
        FAIL(CULL_BAD_FILE, "%s: header promises %llu bytes, more than %llu can unpack to", name,
             (unsigned long long)promised, (unsigned long long)file->source->size);
done:
    return status;
}

static cull_status read_labels(cull_data_stream *file, size_t count, int32_t *labels)
{
    cull_status   status = CULL_OK;
    unsigned char bytes[SOME];

    for (size_t at = 0; at < count; at += SOME) {
        size_t some = count - at < SOME ? count - at : SOME;
        TRY(cull_data_stream_read(file, bytes, some));
        for (size_t i = 0; i < some; i++) {
            if (bytes[i] >= CLASSES)
                FAIL(CULL_BAD_FILE, "%s: label %d of example %zu; 0 to 9 are labels",
                     file->source->name, bytes[i], at + i);
            labels[at + i] = bytes[i];
        }
    }
    TRY(cull_data_stream_finish(file));
done:
    return status;
}

cull_status cull_data_idx_parse(const cull_data_source *files, cull_dataset *into)
{
    cull_status      status = CULL_OK;
    const char      *images = files[0].name, *labels = files[1].name;
    cull_data_stream file[2] = {{0}};
    uint32_t         shape[IMAGE_DIMS] = {0}, labelled[IMAGE_DIMS] = {0};

    TRY(cull_data_stream_open(&files[0], &file[0]));
    TRY(cull_data_stream_open(&files[1], &file[1]));
    TRY(read_header(&file[0], IMAGE_DIMS, shape));
    TRY(read_header(&file[1], 1, labelled));
    if (shape[0] != labelled[0])
        FAIL(CULL_BAD_FILE, "%s: %u images, but %u labels in %s", images, shape[0], labelled[0],
             labels);
    TRY(cull_data_shape(into, images, CULL_U8, 1, shape[1], shape[2]));
    TRY(cull_data_extend(into, images, shape[0]));
    TRY(cull_data_stream_read(&file[0], cull_data_end(into), shape[0] * cull_data_row_bytes(into)));
    TRY(cull_data_stream_finish(&file[0]));
    TRY(read_labels(&file[1], shape[0], cull_data_labels(into) + into->count));
    into->count += shape[0];
    into->classes = CLASSES;
done:
    for (int i = 0; i < 2; i++) cull_data_stream_end(&file[i]);
    return status;
}
