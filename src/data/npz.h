/* data/npz.h - named arrays in an archive, as numpy's .npz. */
#ifndef CULL_DATA_NPZ_H
#define CULL_DATA_NPZ_H

#include "data/zip.h"

/* The length of a member's name without ".npy"; 0: the member is no array. */
size_t cull_data_npz_name(const cull_data_member *member);

/* Unpack one array; as cull_data_npy_read. */
cull_status cull_data_npz_read(const cull_data_zip *zip, const cull_data_member *member,
                               cull_tensor *out);

/* As cull_data_npy_letters. */
cull_status cull_data_npz_letters(const cull_data_zip *zip, const cull_data_member *member,
                                  cull_tensor *out);

/* As cull_data_npy_look: no more of the member is unpacked than its header. */
cull_status cull_data_npz_look(const cull_data_zip *zip, const cull_data_member *member,
                               cull_tensor *out);

#endif
