/* data/cells.c - arrays and pictures inside of containers become rows. */
#include "data/cells.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/channels.h"
#include "data/npy.h"
#include "data/reader.h"

enum { SHAPE_TEXT = 100, COLOURS = 3 };

/* ---- arrays ---- */

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

static cull_status look_at_array(cull_cells *cells, const cull_cell *cell)
{
    cull_status status = CULL_OK;
    cull_tensor t = {0};

    TRY(read_array(cell, &t));
    if (t.dims > 3)
        FAIL(CULL_BAD_FILE, "%s: an array of %d axes; (D), (H, W), (C, H, W) or (H, W, C)",
             cell->name, t.dims);
    cells->array = t;
    cells->array.data = NULL;
done:
    cull_base_free_aligned(t.data);
    return status;
}

static void describe(const cull_tensor *t, char out[SHAPE_TEXT])
{
    int at = snprintf(out, SHAPE_TEXT, "%s", cull_dtype_name(t->dtype));

    for (int d = 0; d < t->dims && at < SHAPE_TEXT; d++)
        at += snprintf(out + at, SHAPE_TEXT - (size_t)at, "%s%lld", d ? ", " : " (",
                       (long long)t->shape[d]);
    if (at < SHAPE_TEXT) (void)snprintf(out + at, SHAPE_TEXT - (size_t)at, ")");
}

static cull_status check_same(const cull_cells *cells, const cull_cell *cell, const cull_tensor *t)
{
    char               here[SHAPE_TEXT], there[SHAPE_TEXT];
    const cull_tensor *first = &cells->array;

    if (t->dtype == first->dtype && t->dims == first->dims &&
        memcmp(t->shape, first->shape, (size_t)t->dims * sizeof *t->shape) == 0)
        return CULL_OK;
    describe(t, here);
    describe(first, there);
    return cull_fail(CULL_BAD_FILE, "%s: an array of %s where %s has %s", cell->name, here,
                     cells->first, there);
}

/* Of three axes, which one counts channels. */
static cull_status find_channels(cull_cells *cells, const cull_data_request *r, cull_dataset *into)
{
    cull_status      status = CULL_OK;
    const int64_t   *s = cells->array.shape;
    const int64_t    images[CULL_MAX_DIMS] = {1, s[0], s[1], s[2]};
    cull_data_layout layout = CULL_LAYOUT_FIRST;

    TRY(cull_data_channels_find(r->name, images, r->layout, &layout));
    cells->turned = layout == CULL_LAYOUT_LAST;
    if (cells->turned && r->layout == CULL_LAYOUT_TOLD)
        TRY(cull_data_remark(into,
                             "%s: images of (%lld, %lld, %lld) are taken to have their %lld "
                             "channel%s last (data.layout=nhwc)",
                             r->name, (long long)s[0], (long long)s[1], (long long)s[2],
                             (long long)s[2], s[2] == 1 ? "" : "s"));
done:
    return status;
}

static cull_status settle_arrays(cull_cells *cells, const cull_data_request *r, cull_dataset *into)
{
    cull_status status = CULL_OK;
    int         dims = cells->array.dims;
    cull_dtype  dtype = cells->array.dtype == CULL_U8 ? CULL_U8 : CULL_F32;
    size_t      s[CULL_MAX_DIMS] = {0};

    if (r->side || r->fit != CULL_FIT_COVER)
        FAIL_OPTION("data.size", "%s holds arrays, which are not scaled", r->name);
    if (r->layout != CULL_LAYOUT_TOLD && dims != 3)
        FAIL_OPTION("data.layout", "%s holds arrays of %d axes, none of which counts channels",
                    r->name, dims);
    if (dims == 3) TRY(find_channels(cells, r, into));
    for (int d = 0; d < dims; d++) s[d] = (size_t)cells->array.shape[d];
    if (dims == 1)
        TRY(cull_data_shape(into, r->name, dtype, s[0], 1, 1));
    else if (dims == 2)
        TRY(cull_data_shape(into, r->name, dtype, 1, s[0], s[1]));
    else if (cells->turned)
        TRY(cull_data_shape(into, r->name, dtype, s[2], s[0], s[1]));
    else
        TRY(cull_data_shape(into, r->name, dtype, s[0], s[1], s[2]));
done:
    return status;
}

static cull_status make_array(const cull_cells *cells, const cull_cell *cell, void *out)
{
    cull_status status = CULL_OK;
    cull_tensor t = {0};
    size_t      count = cells->channels * cells->area, element = cull_dtype_size(cells->dtype);
    void       *flat = NULL;

    TRY(read_array(cell, &t));
    TRY(check_same(cells, cell, &t));
    if (cells->turned) {
        TRY(cull_base_alloc(count, element, "an example", &flat));
        cull_data_copy_numbers(&t, count, CULL_F32, flat);
        cull_data_channels_turn(flat, cells->channels, cells->area, element, out);
    } else {
        cull_data_copy_numbers(&t, count, CULL_F32, out);
    }
done:
    cull_base_free(flat);
    cull_base_free_aligned(t.data);
    return status;
}

/* ---- pictures ---- */

static cull_picture_file file_of(const cull_cell *cell)
{
    return (cull_picture_file){
        .name = cell->name, .data = cell->data, .size = cell->bytes, .kind = cell->picture};
}

static cull_status look_at_picture(cull_cells *cells, const cull_cell *cell,
                                   const cull_data_request *r)
{
    cull_status       status = CULL_OK;
    cull_picture_file file = file_of(cell);
    cull_picture_head head = {0};
    size_t            width = 0, height = 0;

    TRY(cull_data_picture_look(&file, &head));
    cull_data_picture_upright(&head, &width, &height);
    if (cells->seen && !r->side && (width != cells->width || height != cells->height))
        FAIL_ABOUT(CULL_BAD_OPTION, "data.size",
                   "%s: has %zux%zu pixels, %s has %zux%zu; set data.size to what all shall be "
                   "scaled to",
                   cell->name, width, height, cells->first, cells->width, cells->height);
    cells->width = width;
    cells->height = height;
    cells->colour = cells->colour || !head.grey;
done:
    return status;
}

static cull_status settle_pictures(cull_cells *cells, const cull_data_request *r,
                                   cull_dataset *into)
{
    cull_status status = CULL_OK;
    size_t width = r->side ? r->side : cells->width, height = r->side ? r->side : cells->height;
    size_t channels = r->channels ? r->channels : into->like ? into->like->channels : 0;

    if (r->layout != CULL_LAYOUT_TOLD)
        FAIL_OPTION("data.layout", "%s holds pictures, which say themselves", r->name);
    if (r->fit != CULL_FIT_COVER && !r->side)
        FAIL_OPTION("data.fit", "nothing is scaled without data.size");
    if (channels != 1 && channels != COLOURS) channels = cells->colour ? COLOURS : 1;
    TRY(cull_data_shape(into, r->name, CULL_U8, channels, height, width));
    cells->frame = (cull_picture_frame){.channels = into->channels,
                                        .height = height,
                                        .width = width,
                                        .scaled = r->side != 0,
                                        .fit = r->fit};
done:
    return status;
}

/* ---- either ---- */

cull_status cull_data_cells_look(cull_cells *cells, const cull_cell *cell,
                                 const cull_data_request *request)
{
    cull_status status = CULL_OK;
    bool        picture = cell->kind == CULL_CELL_PICTURE;

    if (cells->seen && picture != (cells->kind == CULL_CELL_PICTURE))
        FAIL(CULL_BAD_FILE, "%s: is %s, and %s is not", cell->name,
             picture ? "a picture" : "an array", cells->first);
    if (picture)
        TRY(look_at_picture(cells, cell, request));
    else if (!cells->seen)
        TRY(look_at_array(cells, cell));
    if (!cells->seen) (void)snprintf(cells->first, sizeof cells->first, "%s", cell->name);
    if (!cells->seen) cells->kind = cell->kind;
    cells->seen = true;
done:
    return status;
}

bool cull_data_cells_grey(const cull_cells *cells, const cull_data_request *r,
                          const cull_dataset *into)
{
    return cells->kind == CULL_CELL_PICTURE && !cells->colour && !r->channels && !r->unlabelled &&
           !into->like;
}

cull_status cull_data_cells_settle(cull_cells *cells, const cull_data_request *request,
                                   cull_dataset *into)
{
    cull_status status = CULL_OK;

    TRY(cells->kind == CULL_CELL_PICTURE ? settle_pictures(cells, request, into)
                                         : settle_arrays(cells, request, into));
    cells->channels = into->channels;
    cells->area = into->height * into->width;
    cells->dtype = into->dtype;
done:
    return status;
}

cull_status cull_data_cells_make(const cull_cells *cells, const cull_cell *cell, void *out)
{
    cull_picture_file file = file_of(cell);

    if ((cell->kind == CULL_CELL_PICTURE) != (cells->kind == CULL_CELL_PICTURE))
        return cull_fail(CULL_BAD_FILE, "%s: is not what %s is", cell->name, cells->first);
    if (cell->kind != CULL_CELL_PICTURE) return make_array(cells, cell, out);
    return cull_data_picture_make(&file, &cells->frame, out);
}
