/* data/cell.c - arrays inside of containers become rows. */
#include "data/cell.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/channels.h"
#include "data/npy.h"
#include "data/reader.h"

enum { SHAPE_TEXT = 100 };

/* The elements in memory, on a border that any type has; ends with cull_base_free_aligned(). */
static cull_status read_numbers(const cull_cell *cell, cull_tensor *out)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      count = cell->bytes / cell->form->bytes;

    TRY(cull_base_alloc_aligned(count, cull_dtype_size(cell->form->dtype), "an example", &data));
    if (!cell->form->widen)
        memcpy(data, cell->data, cell->bytes);
    else if (!cell->form->widen(cell->data, count, data))
        FAIL(CULL_BAD_FILE, "%s: holds a number beyond 2^63", cell->name);
    *out = (cull_tensor){.data = data, .dtype = cell->form->dtype, .dims = cell->dims};
    memcpy(out->shape, cell->shape, sizeof out->shape);
    data = NULL;
done:
    cull_base_free_aligned(data);
    return status;
}

static cull_status read_array(const cull_cell *cell, cull_tensor *out)
{
    cull_data_source source = cull_data_source_memory(cell->name, cell->data, cell->bytes);
    cull_data_stream whole = cull_data_part(&source, 0, source.size);

    if (cell->kind == CULL_CELL_NPY) return cull_data_npy_read(&whole, out);
    return read_numbers(cell, out);
}

static void describe(const cull_tensor *t, char out[SHAPE_TEXT])
{
    int at = snprintf(out, SHAPE_TEXT, "%s", cull_dtype_name(t->dtype));

    for (int d = 0; d < t->dims && at < SHAPE_TEXT; d++)
        at += snprintf(out + at, SHAPE_TEXT - (size_t)at, "%s%lld", d ? ", " : " (",
                       (long long)t->shape[d]);
    if (at < SHAPE_TEXT) (void)snprintf(out + at, SHAPE_TEXT - (size_t)at, ")");
}

/* Of three axes, which one counts channels. */
static cull_status find_channels(const cull_cell *cell, const cull_tensor *t,
                                 const cull_data_request *request, cull_dataset *into,
                                 cull_cell_frame *out)
{
    cull_status      status = CULL_OK;
    const int64_t    images[CULL_MAX_DIMS] = {1, t->shape[0], t->shape[1], t->shape[2]};
    cull_data_layout layout = CULL_LAYOUT_FIRST;

    TRY(cull_data_channels_find(cell->name, images, request->layout, &layout));
    out->turned = layout == CULL_LAYOUT_LAST;
    if (out->turned && request->layout == CULL_LAYOUT_TOLD)
        TRY(cull_data_remark(into,
                             "%s: images of (%lld, %lld, %lld) are taken to have their %lld "
                             "channel%s last (data.layout=nhwc)",
                             request->name, (long long)images[1], (long long)images[2],
                             (long long)images[3], (long long)images[3], images[3] == 1 ? "" : "s"));
done:
    return status;
}

cull_status cull_data_cell_look(const cull_cell *cell, const cull_data_request *request,
                                cull_dataset *into, cull_cell_frame *out)
{
    cull_status status = CULL_OK;
    cull_tensor t = {0};
    size_t      s[CULL_MAX_DIMS] = {0};

    *out = (cull_cell_frame){0};
    TRY(read_array(cell, &t));
    if (t.dims < 1 || t.dims > 3)
        FAIL(CULL_BAD_FILE, "%s: an array of %d axes; (D), (H, W), (C, H, W) or (H, W, C)",
             cell->name, t.dims);
    out->dtype = t.dtype;
    out->dims = t.dims;
    memcpy(out->shape, t.shape, sizeof out->shape);
    out->to = t.dtype == CULL_U8 ? CULL_U8 : CULL_F32;
    if (t.dims == 3) TRY(find_channels(cell, &t, request, into, out));
    for (int d = 0; d < t.dims; d++) s[d] = (size_t)t.shape[d];
    if (t.dims == 1)
        TRY(cull_data_shape(into, cell->name, out->to, s[0], 1, 1));
    else if (t.dims == 2)
        TRY(cull_data_shape(into, cell->name, out->to, 1, s[0], s[1]));
    else if (out->turned)
        TRY(cull_data_shape(into, cell->name, out->to, s[2], s[0], s[1]));
    else
        TRY(cull_data_shape(into, cell->name, out->to, s[0], s[1], s[2]));
    out->channels = into->channels;
    out->area = into->height * into->width;
done:
    cull_base_free_aligned(t.data);
    return status;
}

static cull_status check_same(const cull_cell *cell, const cull_tensor *t,
                              const cull_cell_frame *frame)
{
    char        here[SHAPE_TEXT], first[SHAPE_TEXT];
    cull_tensor was = {.dtype = frame->dtype, .dims = frame->dims};

    if (t->dtype == frame->dtype && t->dims == frame->dims &&
        memcmp(t->shape, frame->shape, (size_t)t->dims * sizeof *t->shape) == 0)
        return CULL_OK;
    memcpy(was.shape, frame->shape, sizeof was.shape);
    describe(t, here);
    describe(&was, first);
    return cull_fail(CULL_BAD_FILE, "%s: an array of %s, the first is %s", cell->name, here, first);
}

/* As the row's type. */
static void copy_numbers(const cull_tensor *t, size_t count, void *out)
{
    float *to = out;

    switch (t->dtype) {
    case CULL_F64:
        for (size_t i = 0; i < count; i++) to[i] = (float)((const double *)t->data)[i];
        break;
    case CULL_I64:
        for (size_t i = 0; i < count; i++) to[i] = (float)((const int64_t *)t->data)[i];
        break;
    case CULL_I32:
        for (size_t i = 0; i < count; i++) to[i] = (float)((const int32_t *)t->data)[i];
        break;
    case CULL_F32:
    case CULL_U8: memcpy(out, t->data, count * cull_dtype_size(t->dtype));
    }
}

cull_status cull_data_cell_make(const cull_cell *cell, const cull_cell_frame *frame, void *out)
{
    cull_status status = CULL_OK;
    cull_tensor t = {0};
    size_t      count = frame->channels * frame->area, element = cull_dtype_size(frame->to);
    void       *flat = NULL;

    TRY(read_array(cell, &t));
    TRY(check_same(cell, &t, frame));
    if (frame->turned) {
        TRY(cull_base_alloc(count, element, "an example", &flat));
        copy_numbers(&t, count, flat);
        cull_data_channels_turn(flat, frame->channels, frame->area, element, out);
    } else {
        copy_numbers(&t, count, out);
    }
done:
    cull_base_free(flat);
    cull_base_free_aligned(t.data);
    return status;
}
