/* data/npz_write.c - a set as a .npz file, a block of examples at a time. */
#include <string.h>
#include <zlib.h>

#include "data/channels.h"
#include "data/convert.h"
#include "data/npy.h"
#include "data/zip.h"

/* x, whose checksum is known only when all of it was written; a pipe, where nothing can be written
 * over, is given it before, at the price of a second look. */
static cull_status write_x(cull_data_sink *sink, const cull_dataset *set, cull_data_way way,
                           cull_data_member *member)
{
    cull_status   status = CULL_OK;
    char          header[CULL_DATA_NPY_HEADER];
    cull_tensor   view = cull_data_inputs_view(set);
    size_t        length = cull_data_npy_header(&view, header);
    uint32_t      begun = (uint32_t)crc32_z(0, (const unsigned char *)header, length), crc = begun;
    cull_data_way look = {.crc = &crc, .threads = way.threads};
    bool          again = sink->temporary == NULL;

    member->size = length + (uint64_t)set->count * cull_data_row_bytes(set);
    if (again) TRY(cull_data_write_inputs(set, &look));
    member->crc = again ? crc : 0;
    TRY(cull_data_zip_begin_member(sink, member));
    TRY(cull_data_sink_write(sink, header, length));
    crc = begun;
    way.sink = sink;
    way.crc = &crc;
    TRY(cull_data_write_inputs(set, &way));
    member->crc = crc;
    if (!again) TRY(cull_data_zip_patch_crc(sink, member));
done:
    return status;
}

static cull_status write_array(cull_data_sink *sink, cull_tensor view, size_t bytes,
                               cull_data_member *member)
{
    cull_status status = CULL_OK;
    char        header[CULL_DATA_NPY_HEADER];
    size_t      length = cull_data_npy_header(&view, header);

    member->size = length + bytes;
    member->crc = (uint32_t)crc32_z(0, (const unsigned char *)header, length);
    member->crc = (uint32_t)crc32_z(member->crc, view.data, bytes);
    TRY(cull_data_zip_begin_member(sink, member));
    TRY(cull_data_sink_write(sink, header, length));
    TRY(cull_data_sink_write(sink, view.data, bytes));
done:
    return status;
}

/* Would a reader take this shape for another layout, or ask? */
static bool must_say_layout(const cull_dataset *set)
{
    cull_tensor view = cull_data_inputs_view(set);

    return view.dims == CULL_MAX_DIMS && cull_data_channels_tell(view.shape) != CULL_LAYOUT_FIRST;
}

cull_status cull_data_npz_write(const cull_dataset *set, const char *path, cull_data_way way)
{
    cull_status      status = CULL_OK;
    cull_data_sink   sink = {.fd = -1};
    char             x[] = "x.npy", y[] = "y.npy", layout[] = "layout.npy";
    char             vocabulary[] = "vocabulary.npy";
    cull_data_member member[] = {
        {.name = x}, {.name = y}, {.name = set->vocabulary ? vocabulary : layout}};
    int64_t pieces = (int64_t)set->vocabulary;
    size_t  count = 2;

    TRY(cull_data_check_labels(set));
    TRY(cull_data_sink_open(path, &sink));
    TRY(write_x(&sink, set, way, &member[0]));
    TRY(write_array(&sink, cull_data_targets_view(set), set->count * cull_data_target_bytes(set),
                    &member[1]));
    if (set->vocabulary)
        TRY(write_array(&sink, cull_vector(&pieces, CULL_I64, 1), sizeof pieces, &member[count++]));
    else if (must_say_layout(set))
        TRY(write_array(&sink, cull_vector("nchw", CULL_U8, 4), 4, &member[count++]));
    TRY(cull_data_zip_finish(&sink, member, count));
    TRY(cull_data_sink_commit(&sink));
done:
    cull_data_sink_close(&sink);
    return status;
}

cull_status cull_data_write(const cull_dataset *set, const char *path)
{
    return cull_data_npz_write(set, path, (cull_data_way){.threads = 1});
}
