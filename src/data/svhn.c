/*
 * data/svhn.c - SVHN's cropped digits: X (32, 32, 3, N) and y in a .mat file.
 *
 * MATLAB keeps rows fastest, so each plane of an image lies there mirrored along its diagonal:
 * pixel (h, w) is at h + 32 w.
 */
#include <string.h>

#include "base/alloc.h"
#include "data/mat.h"
#include "data/reader.h"

enum { CHANNELS = 3, SIDE = 32, PLANE = SIDE * SIDE, PIXELS = CHANNELS * PLANE, CLASSES = 10 };

/* What one file has said so far. */
struct parts {
    bool     has_x, has_y;
    uint64_t images, digits;
    uint8_t *y; /* [digits], 0 .. 9 */
};

static void turn_planes(const unsigned char *src, unsigned char *dst)
{
    for (int c = 0; c < CHANNELS; c++)
        for (int h = 0; h < SIDE; h++)
            for (int w = 0; w < SIDE; w++)
                dst[c * PLANE + h * SIDE + w] = src[c * PLANE + w * SIDE + h];
}

static cull_status read_images(cull_data_mat *mat, const cull_data_matrix *x, struct parts *parts,
                               cull_dataset *into)
{
    cull_status    status = CULL_OK;
    const char    *path = mat->source->name;
    unsigned char  image[PIXELS];
    unsigned char *next = NULL;

    if (parts->has_x) FAIL(CULL_BAD_FILE, "%s: X is there twice", path);
    if (x->kind != CULL_DATA_MX_UINT8 || x->complex || x->type != CULL_DATA_MI_UINT8)
        FAIL(CULL_BAD_FILE, "%s: X is not of uint8 numbers", path);
    if (x->dims < 3 || x->dims > 4 || x->shape[0] != SIDE || x->shape[1] != SIDE ||
        x->shape[2] != CHANNELS)
        FAIL(CULL_BAD_FILE, "%s: X is not (32, 32, 3, N)", path);
    parts->has_x = true;
    parts->images = x->dims == 4 ? x->shape[3] : 1;
    if (x->bytes != parts->images * PIXELS)
        FAIL(CULL_BAD_FILE, "%s: X has %llu bytes, its shape promises %llu", path,
             (unsigned long long)x->bytes, (unsigned long long)parts->images * PIXELS);
    if (!cull_data_stream_can_hold(&mat->content, x->bytes))
        FAIL(CULL_BAD_FILE, "%s: X promises %llu bytes, more than there can be", path,
             (unsigned long long)x->bytes);
    TRY(cull_data_shape(into, path, CULL_U8, CHANNELS, SIDE, SIDE));
    TRY(cull_data_extend(into, path, parts->images));
    next = cull_data_end(into);
    for (uint64_t i = 0; i < parts->images; i++, next += PIXELS) {
        TRY(cull_data_mat_read(mat, image, PIXELS));
        turn_planes(image, next);
    }
    TRY(cull_data_mat_finish(mat, x));
done:
    return status;
}

static size_t stored_size(int type)
{
    static const uint8_t size[] = {
        [CULL_DATA_MI_INT8] = 1,   [CULL_DATA_MI_UINT8] = 1, [CULL_DATA_MI_INT16] = 2,
        [CULL_DATA_MI_UINT16] = 2, [CULL_DATA_MI_INT32] = 4, [CULL_DATA_MI_UINT32] = 4,
        [CULL_DATA_MI_DOUBLE] = 8};

    return type > 0 && (size_t)type < sizeof size ? size[type] : 0;
}

/* A digit from how it is stored, or -1. Only 1 to 10 count, so a whole number is one when
 * its first byte is in range and the others are 0, signed or not. */
static int digit_of(const unsigned char *bytes, int type)
{
    double value = 0;

    if (type == CULL_DATA_MI_DOUBLE) {
        memcpy(&value, bytes, sizeof value);
        for (int digit = 1; digit <= CLASSES; digit++)
            if (value == digit) return digit % CLASSES;
        return -1;
    }
    for (size_t i = 1; i < stored_size(type); i++)
        if (bytes[i]) return -1;
    return bytes[0] >= 1 && bytes[0] <= CLASSES ? bytes[0] % CLASSES : -1;
}

static cull_status read_digits(cull_data_mat *mat, const cull_data_matrix *y, struct parts *parts)
{
    cull_status   status = CULL_OK;
    const char   *path = mat->source->name;
    size_t        size = stored_size(y->type);
    unsigned char bytes[sizeof(double)];

    if (parts->has_y) FAIL(CULL_BAD_FILE, "%s: y is there twice", path);
    if (y->kind < CULL_DATA_MX_DOUBLE || y->kind > CULL_DATA_MX_LAST_NUMERIC || y->complex || !size)
        FAIL(CULL_BAD_FILE, "%s: y is not of plain numbers", path);
    if (y->dims != 2 || (y->shape[0] != 1 && y->shape[1] != 1))
        FAIL(CULL_BAD_FILE, "%s: y is not (N, 1)", path);
    parts->has_y = true;
    parts->digits = (uint64_t)y->shape[0] * y->shape[1];
    if (y->bytes != parts->digits * size)
        FAIL(CULL_BAD_FILE, "%s: y has %llu bytes, its shape promises %llu", path,
             (unsigned long long)y->bytes, (unsigned long long)(parts->digits * size));
    if (!mat->has_small && !cull_data_stream_can_hold(&mat->content, y->bytes))
        FAIL(CULL_BAD_FILE, "%s: y promises %llu bytes, more than there can be", path,
             (unsigned long long)y->bytes);
    TRY(cull_base_alloc((size_t)parts->digits, 1, "the labels of a data set", &parts->y));
    for (uint64_t i = 0; i < parts->digits; i++) {
        int digit = 0;
        TRY(cull_data_mat_read(mat, bytes, size));
        digit = digit_of(bytes, y->type);
        if (digit < 0)
            FAIL(CULL_BAD_FILE, "%s: y of example %llu is not in 1 to 10", path,
                 (unsigned long long)i);
        parts->y[i] = (uint8_t)digit;
    }
    TRY(cull_data_mat_finish(mat, y));
done:
    return status;
}

cull_status cull_data_svhn_parse(const cull_data_source *source, cull_dataset *into)
{
    cull_status      status = CULL_OK;
    cull_data_mat    mat = {0};
    cull_data_matrix matrix = {0};
    struct parts     parts = {0};
    int32_t         *labels = NULL;
    bool             more = true;

    TRY(cull_data_mat_begin(source, &mat));
    for (;;) {
        TRY(cull_data_mat_next(&mat, &matrix, &more));
        if (!more) break;
        if (strcmp(matrix.name, "X") == 0) TRY(read_images(&mat, &matrix, &parts, into));
        if (strcmp(matrix.name, "y") == 0) TRY(read_digits(&mat, &matrix, &parts));
    }
    if (!parts.has_x || !parts.has_y)
        FAIL(CULL_BAD_FILE, "%s: holds no %s", source->name, parts.has_x ? "y" : "X");
    if (parts.images != parts.digits || parts.images == 0)
        FAIL(CULL_BAD_FILE, "%s: %llu images and %llu labels", source->name,
             (unsigned long long)parts.images, (unsigned long long)parts.digits);
    labels = cull_data_labels(into) + into->count;
    for (uint64_t i = 0; i < parts.digits; i++) labels[i] = parts.y[i];
    into->count += (size_t)parts.images;
    into->classes = CLASSES;
done:
    cull_data_mat_end(&mat);
    cull_base_free(parts.y);
    return status;
}
