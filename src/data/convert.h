/* data/convert.h - open sets as files. */
#ifndef CULL_DATA_CONVERT_H
#define CULL_DATA_CONVERT_H

#include "data/write_rows.h"

/* x and y of a set as a .npz file. `way` is what else is done with the inputs. */
cull_status cull_data_npz_write(const cull_dataset *set, const char *path, cull_data_way way);

/* Sets by role, which agree on shape and classes, as arrays of a folder and set.json; the second
 * may be NULL. The first one's constants are set.json's: where its way has sums, they are given to
 * it when all images were seen. CULL_EXISTS when the folder holds something. */
cull_status cull_data_folder_write(cull_dataset *const set[2], const char *path,
                                   const cull_data_way way[2]);

#endif
