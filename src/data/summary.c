/* data/summary.c - data sets as the public API has them: what is in one, and one in another form.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "data/channels.h"
#include "data/dataset.h"
#include "data/strata.h"

enum { CHANNELS = sizeof(((cull_data_summary *)0)->mean) / sizeof(double) };

cull_status cull_data_summarise(const cull_data_request *request, cull_data_summary *out)
{
    cull_status       status = CULL_OK;
    cull_dataset     *set = NULL;
    cull_data_strata  strata = {0};
    cull_data_request request_room;
    cull_data_summary room, *given = out;

    SIZED(cull_data_request, request, request_room);
    SIZED_RESULT(cull_data_summary, out, room);
    TRY(cull_data_open(request, &set));
    TRY(cull_data_strata_init(&strata, set));
    *out = (cull_data_summary){.count = set->count,
                               .classes = set->classes,
                               .channels = set->channels,
                               .height = set->height,
                               .width = set->width,
                               .dtype = set->dtype,
                               .published = set->published,
                               .fewest = set->count};
    memcpy(out->name, set->name, sizeof out->name);
    for (size_t c = 0; c < set->channels && c < CHANNELS; c++) {
        out->mean[c] = set->mean[c];
        out->deviation[c] = set->deviation[c];
    }
    for (size_t k = 0; k < strata.classes; k++) {
        if (strata.size[k] < out->fewest) out->fewest = strata.size[k];
        if (strata.size[k] > out->most) out->most = strata.size[k];
    }
    cull_sized_give(given, out, sizeof *out);
done:
    cull_data_strata_clear(&strata);
    cull_data_close(set);
    return status;
}

/* The examples one behind the other: where they lie so already, or a copy that is the caller's. */
static cull_status line_up(const cull_dataset *set, void **copy, const void **out)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_data_row_bytes(set), in_order = 0;
    const void *row = NULL;

    while (in_order < set->count && set->origin[in_order] == in_order) in_order++;
    *out = cull_data_base(set);
    if (*out && in_order == set->count) goto done;
    TRY(cull_base_alloc(set->count, bytes, "the inputs of a data set", copy));
    for (size_t i = 0; i < set->count; i++) {
        char *to = (char *)*copy + i * bytes;
        TRY(cull_data_row_at(set, i, to, &row));
        if (row != to) memcpy(to, row, bytes);
    }
    *out = *copy;
done:
    return status;
}

cull_status cull_data_write(const cull_dataset *set, const char *path)
{
    cull_status status = CULL_OK;
    size_t      row = cull_data_row(set);
    void       *copy = NULL;
    const void *inputs = NULL;
    size_t      count = 2;
    cull_array  arrays[] = {{.name = "x"},
                            {"y", cull_vector(set->target.data, CULL_I32, set->count)},
                            {"layout", cull_vector("nchw", CULL_U8, 4)}};

    TRY(cull_data_check_labels(set));
    TRY(line_up(set, &copy, &inputs));
    arrays[0].tensor = cull_matrix(inputs, set->dtype, set->count, row);
    if (set->height * set->width > 1) {
        arrays[0].tensor =
            cull_images(inputs, set->dtype, set->count, set->channels, set->height, set->width);
        if (cull_data_channels_tell(arrays[0].tensor.shape) != CULL_LAYOUT_FIRST) count++;
    }
    TRY(cull_arrays_write(path, arrays, count));
done:
    cull_base_free(copy);
    return status;
}

cull_status cull_data_convert(const cull_data_request *request, const char *path)
{
    cull_status       status = CULL_OK;
    cull_dataset     *set = NULL;
    cull_data_request room;

    SIZED(cull_data_request, request, room);
    TRY(cull_data_open(request, &set));
    TRY(cull_data_write(set, path));
done:
    cull_data_close(set);
    return status;
}
