/* data/tar_files.h - the archives that a set lies in: one, or those of a folder. */
#ifndef CULL_DATA_TAR_FILES_H
#define CULL_DATA_TAR_FILES_H

#include "base/texts.h"
#include "data/dataset.h"
#include "data/source.h"

typedef struct cull_tar_files {
    cull_data_source *source; /* [count] open */
    size_t            count;
    cull_texts        name; /* of each, where this struct keeps them */
} cull_tar_files;

/* Is this an archive, also one that is packed as a whole and refused, or a folder of some? A folder
 * that holds pictures or folders of no archives as well is another's: archives may have been
 * unpacked there. */
bool cull_data_tar_fits(const char *path);

/*
 * Open those of the request's set. In a folder, archives in train/ and test/, or with such words in
 * their names, are of that set; `role` becomes that of the archives themselves, which is training
 * where the folder has told. Ended with clear, after a failure too. CULL_BAD_FILE when one is
 * packed, or there are none.
 */
cull_status cull_data_tar_files_open(cull_data_request *request, cull_dataset *into,
                                     cull_tar_files *out);
void        cull_data_tar_files_clear(cull_tar_files *files);

#endif
