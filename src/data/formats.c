/* data/formats.c - the formats that sets of one's own are read from. */
#include <string.h>

#include "data/format.h"

/* Any folder may be one of pictures: that is asked last. */
static const cull_data_format *const formats[] = {
    &cull_data_arrays_format,       &cull_data_csv_format,     &cull_data_json_lines_format,
    &cull_data_array_folder_format, &cull_data_tar_format,     &cull_data_mds_format,
    &cull_data_text_folder_format,  &cull_data_pictures_format};

enum { FORMATS = sizeof formats / sizeof *formats };

const cull_data_format *cull_data_format_at(size_t i)
{
    return i < FORMATS ? formats[i] : NULL;
}

const cull_data_format *cull_data_format_of(const char *path)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->fits(path)) return formats[i];
    return NULL;
}

bool cull_data_ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);

    return length >= tail && cull_text_is(text + length - tail, tail, ending);
}
