/*
 * data/format.h - a kind of files that a set of one's own may lie in.
 *
 * A format is one file of this room that ends in such a struct, and a row in formats.c.
 */
#ifndef CULL_DATA_FORMAT_H
#define CULL_DATA_FORMAT_H

#include "data/reader.h"

/* What a format can do with a request beyond name and role. */
enum {
    CULL_DATA_TAKES_LAYOUT = 1,
    CULL_DATA_TAKES_SIDE = 2, /* and fit */
    CULL_DATA_TAKES_LABEL = 4,
    CULL_DATA_TAKES_TARGET = 8, /* others than a class */
    CULL_DATA_TAKES_MISSING = 16,
    CULL_DATA_TAKES_TEXT = 32,  /* a column or field that holds it */
    CULL_DATA_TAKES_PIECES = 64 /* a tokenizer, and how long texts become */
};

typedef struct cull_data_format {
    const char *doc;   /* how a path of it is told, behind "there are ..." */
    unsigned    takes; /* CULL_DATA_TAKES_* */

    /* Is this a path of it? By its name and what lies there; little is read. */
    bool (*fits)(const char *path);

    /* Read what is asked for into an empty set: shape, examples, classes and their names; mean and
     * deviation where the files have them (*measured = true), else they are measured. */
    cull_status (*read)(const cull_data_request *request, cull_dataset *into, bool *measured);
} cull_data_format;

/* The first that fits, or NULL. */
const cull_data_format *cull_data_format_of(const char *path);

/* All of them, i = 0, 1, ... until NULL. */
const cull_data_format *cull_data_format_at(size_t i);

/* Capitals or not; the ending has none. */
bool cull_data_ends_with(const char *text, const char *ending);

extern const cull_data_format cull_data_arrays_format, cull_data_array_folder_format;
extern const cull_data_format cull_data_csv_format;
extern const cull_data_format cull_data_tar_format, cull_data_mds_format;
extern const cull_data_format cull_data_pictures_format;
extern const cull_data_format cull_data_text_folder_format, cull_data_json_lines_format;

#endif
