/* data/npz.c - reading and writing .npz: arrays of data/npy as members of data/zip. */
#include "data/npz.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/npy.h"

enum { MOST_NAME = 512, SUFFIX = 4 };

size_t cull_data_npz_name(const cull_data_member *member)
{
    size_t length = strlen(member->name);

    if (length <= SUFFIX || strcmp(member->name + length - SUFFIX, ".npy") != 0) return 0;
    return length - SUFFIX;
}

/* The member as a stream, whose name has room in `name`; ended also after a failure. */
static cull_status begin_member(const cull_data_zip *zip, const cull_data_member *member,
                                char name[MOST_NAME], cull_data_stream *out)
{
    cull_status status = CULL_OK;

    *out = cull_data_part(zip->source, member->start, member->packed);
    (void)snprintf(name, MOST_NAME, "%s: %s", zip->source->name, member->name);
    out->name = name;
    out->summed = true;
    if (member->method != 0) TRY(cull_data_stream_unpack(out, CULL_DATA_DEFLATE));
    out->left = member->size;
done:
    return status;
}

cull_status cull_data_npz_look(const cull_data_zip *zip, const cull_data_member *member,
                               cull_tensor *out)
{
    cull_status      status = CULL_OK;
    cull_data_stream stream = {0};
    char             name[MOST_NAME];

    TRY(begin_member(zip, member, name, &stream));
    TRY(cull_data_npy_look(&stream, out));
done:
    cull_data_stream_end(&stream);
    return status;
}

static cull_status read_by(cull_status (*read)(cull_data_stream *stream, cull_tensor *out),
                           const cull_data_zip *zip, const cull_data_member *member,
                           cull_tensor *out)
{
    cull_status      status = CULL_OK;
    cull_data_stream stream = {0};
    cull_tensor      view = {0};
    char             name[MOST_NAME];

    TRY(begin_member(zip, member, name, &stream));
    TRY(read(&stream, &view));
    TRY(cull_data_stream_finish(&stream));
    if (stream.crc != member->crc)
        FAIL(CULL_BAD_FILE, "%s: damaged: CRC-32 is %08x, the archive says %08x", name,
             (unsigned)stream.crc, (unsigned)member->crc);
    *out = view;
    view.data = NULL;
done:
    cull_data_stream_end(&stream);
    if (!cull_data_source_holds(zip->source, view.data)) cull_base_free_aligned(view.data);
    return status;
}

cull_status cull_data_npz_read(const cull_data_zip *zip, const cull_data_member *member,
                               cull_tensor *out)
{
    return read_by(cull_data_npy_read, zip, member, out);
}

cull_status cull_data_npz_letters(const cull_data_zip *zip, const cull_data_member *member,
                                  cull_tensor *out)
{
    return read_by(cull_data_npy_letters, zip, member, out);
}

static cull_status write_array(cull_data_sink *sink, const cull_array *array,
                               cull_data_member *member)
{
    cull_status status = CULL_OK;
    char        header[CULL_DATA_NPY_HEADER];
    size_t      length = 0;
    uint64_t    bytes = 0;
    void       *packed = NULL;
    const void *data = array->tensor.data;

    TRY(cull_data_npy_bytes(&array->tensor, array->name, &bytes));
    length = cull_data_npy_header(&array->tensor, header);
    if (!cull_data_npy_dense(&array->tensor)) {
        TRY(cull_base_alloc((size_t)bytes, 1, "an array to be written", &packed));
        cull_data_npy_pack(&array->tensor, packed);
        data = packed;
    }
    member->size = length + bytes;
    member->crc = (uint32_t)crc32_z(0, (const unsigned char *)header, length);
    member->crc = (uint32_t)crc32_z(member->crc, data, (size_t)bytes);
    TRY(cull_data_zip_begin_member(sink, member));
    TRY(cull_data_sink_write(sink, header, length));
    TRY(cull_data_sink_write(sink, data, (size_t)bytes));
done:
    cull_base_free(packed);
    return status;
}

static cull_status name_member(const cull_array *arrays, size_t i, cull_data_member *member)
{
    cull_status status = CULL_OK;
    const char *name = arrays[i].name;
    size_t      length = name ? strlen(name) : 0;

    if (length == 0 || length > MOST_NAME)
        FAIL(CULL_BAD_ARGUMENT, "array %zu has a name of %zu bytes; 1 to %d can be written", i,
             length, MOST_NAME);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            FAIL(CULL_BAD_ARGUMENT, "the name of array %zu has a control character", i);
    for (size_t j = 0; j < i; j++)
        if (strcmp(arrays[j].name, name) == 0)
            FAIL(CULL_BAD_ARGUMENT, "two arrays are called %s", name);
    TRY(cull_base_alloc(length + SUFFIX + 1, 1, "a member's name", &member->name));
    memcpy(member->name, name, length);
    memcpy(member->name + length, ".npy", SUFFIX);
done:
    return status;
}

cull_status cull_arrays_write(const char *path, const cull_array *arrays, size_t count)
{
    cull_status       status = CULL_OK;
    cull_data_sink    sink = {.fd = -1};
    cull_data_member *member = NULL;

    if (count > CULL_DATA_ZIP_MEMBERS)
        FAIL(CULL_BAD_ARGUMENT, "%s: %zu arrays; %d at most", path, count, CULL_DATA_ZIP_MEMBERS);
    TRY(cull_base_alloc(count, sizeof *member, "an archive's directory", &member));
    for (size_t i = 0; i < count; i++) TRY(name_member(arrays, i, &member[i]));
    TRY(cull_data_sink_open(path, &sink));
    for (size_t i = 0; i < count; i++) TRY(write_array(&sink, &arrays[i], &member[i]));
    TRY(cull_data_zip_finish(&sink, member, count));
    TRY(cull_data_sink_commit(&sink));
done:
    cull_data_sink_close(&sink);
    for (size_t i = 0; member && i < count; i++) cull_base_free(member[i].name);
    cull_base_free(member);
    return status;
}
