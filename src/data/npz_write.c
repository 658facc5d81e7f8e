/* data/npz_write.c - a set as a .npz file, a block of examples at a time. */
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "data/channels.h"
#include "data/convert.h"
#include "data/npy.h"
#include "data/reader.h"
#include "data/unicode.h"
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

/* Behind a header that is made. */
static cull_status write_elements(cull_data_sink *sink, const char *header, size_t length,
                                  const void *data, size_t bytes, cull_data_member *member)
{
    cull_status status = CULL_OK;

    member->size = length + bytes;
    member->crc = (uint32_t)crc32_z(0, (const unsigned char *)header, length);
    member->crc = (uint32_t)crc32_z(member->crc, data, bytes);
    TRY(cull_data_zip_begin_member(sink, member));
    TRY(cull_data_sink_write(sink, header, length));
    TRY(cull_data_sink_write(sink, data, bytes));
done:
    return status;
}

static cull_status write_array(cull_data_sink *sink, cull_tensor view, size_t bytes,
                               cull_data_member *member)
{
    char   header[CULL_DATA_NPY_HEADER];
    size_t length = cull_data_npy_header(&view, header);

    return write_elements(sink, header, length, view.data, bytes, member);
}

/* Characters of UTF-8; `out`, where it is not NULL, gets them. */
static size_t letters_of(const char *text, int32_t *out)
{
    size_t bytes = strlen(text), count = 0;

    for (size_t at = 0, used = 0; at < bytes; at += used, count++) {
        uint32_t letter = cull_unicode_next(text + at, bytes - at, &used);
        if (out) out[count] = (int32_t)letter;
    }
    return count;
}

/* As numpy keeps texts: each as long as the longest, filled up with zeros. */
static cull_status write_names(cull_data_sink *sink, const cull_texts *names,
                               cull_data_member *member)
{
    cull_status status = CULL_OK;
    char        header[CULL_DATA_NPY_HEADER];
    cull_tensor view = {0};
    size_t      longest = 1;
    int32_t    *letters = NULL;

    for (size_t k = 0; k < names->count; k++)
        if (letters_of(names->text[k], NULL) > longest) longest = letters_of(names->text[k], NULL);
    TRY(cull_base_alloc(names->count, longest * sizeof *letters, "names of classes", &letters));
    for (size_t k = 0; k < names->count; k++)
        (void)letters_of(names->text[k], letters + k * longest);
    view = cull_matrix(letters, CULL_I32, names->count, longest);
    TRY(write_elements(sink, header, cull_data_npy_letters_header(&view, header), letters,
                       names->count * longest * sizeof *letters, member));
done:
    cull_base_free(letters);
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
    char             names[] = CULL_DATA_CLASS_NAMES ".npy", vocabulary[] = "vocabulary.npy";
    cull_data_member member[5] = {{.name = x}, {.name = y}};
    int64_t          pieces = (int64_t)set->vocabulary;
    size_t           count = 2;

    TRY(cull_data_sink_open(path, &sink));
    TRY(write_x(&sink, set, way, &member[0]));
    TRY(write_array(&sink, cull_data_targets_view(set), set->count * cull_data_target_bytes(set),
                    &member[1]));
    if (set->vocabulary) {
        member[count].name = vocabulary;
        TRY(write_array(&sink, cull_vector(&pieces, CULL_I64, 1), sizeof pieces, &member[count++]));
    } else if (must_say_layout(set)) {
        member[count].name = layout;
        TRY(write_array(&sink, cull_vector("nchw", CULL_U8, 4), 4, &member[count++]));
    }
    if (cull_data_labels(set) && set->class_names.count) {
        member[count].name = names;
        TRY(write_names(&sink, &set->class_names, &member[count++]));
    }
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
