/*
 * data/tar.h - tar archives: which files there are, and where in the archive each lies.
 *
 * Headers are gone through once, from one to the next; what they are about is not read. ustar, pax
 * (path, size) and GNU's long names are understood.
 */
#ifndef CULL_DATA_TAR_H
#define CULL_DATA_TAR_H

#include "data/source.h"

typedef struct cull_tar_member {
    size_t   name;     /* where it begins in the list's text */
    uint64_t at, size; /* of the content                     */
    uint32_t archive;  /* of those that were listed          */
} cull_tar_member;

/* Plain files of one archive or more, in their order. */
typedef struct cull_tar_list {
    cull_tar_member *member; /* [count] */
    size_t           count, room;
    char            *text; /* names, each ended by a zero; a leading "./" is cut off */
    size_t           text_size, text_room;
} cull_tar_list;

/* Add the files of an archive, whose number is `archive`. What is no file (folders, links, devices)
 * and what hides (a name that begins with a dot) is passed over. CULL_BAD_FILE, with the place of
 * the header, when a checksum is wrong, something reaches past the end, or a file has holes. */
cull_status cull_data_tar_list(const cull_data_source *source, uint32_t archive,
                               cull_tar_list *list);
void        cull_data_tar_clear(cull_tar_list *list);

const char *cull_data_tar_name(const cull_tar_list *list, size_t i);

#endif
