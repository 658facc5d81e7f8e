/*
 * data/reader.h - what the readers of data sets share: a set that grows file by file.
 *
 * A reader is given files, or bytes that stand for them, and a set; on failure the set is closed by
 * the caller, whatever is in it.
 */
#ifndef CULL_DATA_READER_H
#define CULL_DATA_READER_H

#include "data/dataset.h"
#include "data/source.h"

/* Below this a copy costs less than what befalls a run whose file is rewritten under it. */
enum { CULL_DATA_MAP_FROM = 1 << 28 };

/* An empty set with room for nothing; `name` is cut to CULL_DATA_NAME. */
cull_status cull_data_create(const char *name, cull_dataset **out);

/* What the examples of an empty set will have for a target; without it, a class. */
void cull_data_aim(cull_dataset *set, cull_target_kind kind, size_t width);

/* Fix the shape and type of an empty set, or check that a set that has examples agrees.
 * CULL_BAD_FILE, beginning with `path`, when it does not or a limit is broken. */
cull_status cull_data_shape(cull_dataset *set, const char *path, cull_dtype dtype, size_t channels,
                            size_t height, size_t width);

/* Room in memory for `more` examples behind the last, which stays the last until the reader
 * raises count; their origins are set. */
cull_status cull_data_extend(cull_dataset *set, const char *path, uint64_t more);

/* Where the next example of a set in memory goes. */
void *cull_data_end(const cull_dataset *set);

/* The same for a set that has no examples yet and whose rows are made already: it shares them. */
cull_status cull_data_hold(cull_dataset *set, const char *path, cull_data_rows *rows);

/* CULL_BAD_FILE, about data.test: there is no test set, and what to do. what: "", or behind a blank
 * and in brackets what would be one. */
cull_status cull_data_say_no_test(const char *path, const char *what);

/* What cull_data_measure() counts of images, for who goes through all of them anyway: whole numbers
 * for each channel, so that no order of adding changes the result; then what follows from them. */
void cull_data_add_image(const cull_dataset *set, const uint8_t *row, uint64_t *sum,
                         uint64_t *square);
void cull_data_settle_images(cull_dataset *set, const uint64_t *sum, const uint64_t *square);

/* Numbers of an array as a set of type `as` keeps them: bytes and word pieces as they are, all else
 * as float32. */
void cull_data_copy_numbers(const cull_tensor *x, size_t numbers, cull_dtype as, void *out);

/* The numbers of one example; CULL_BAD_FILE, beginning with `name`, names one that is not. */
cull_status cull_data_check_finite(const char *name, const float *x, size_t numbers,
                                   size_t example);

/* One part of a set, in an open file or two, read into the set behind what is there; count and
 * classes are set. idx takes images and labels, the others one file. */
typedef cull_status (*cull_data_parse)(const cull_data_source *file, cull_dataset *into);

cull_status cull_data_idx_parse(const cull_data_source *files, cull_dataset *into);
cull_status cull_data_cifar10_parse(const cull_data_source *file, cull_dataset *into);
cull_status cull_data_cifar100_parse(const cull_data_source *file, cull_dataset *into);
cull_status cull_data_svhn_parse(const cull_data_source *source, cull_dataset *into);
cull_status cull_data_imagenet32_parse(const cull_data_source *file, cull_dataset *into);

/* A table of comma-separated values, request->name aside; a test set is written in numbers as
 * into->like is. */
cull_status cull_data_csv_parse(const cull_data_source *file, const cull_data_request *request,
                                cull_dataset *into);

/* All parts of a set, of `each` files, 1 or 2. */
cull_status cull_data_read(const char *const *paths, size_t count, size_t each,
                           cull_data_parse parse, cull_dataset *into);

/* cull_arrays_open(), and a file of `map_from` bytes or more is mapped: arrays that can be used as
 * they lie in it are not copied, and are only to be read. */
cull_status cull_data_arrays_open(const char *path, uint64_t map_from, cull_arrays **out);

/* What the file holds, for a sentence: "x (60, 8, 8) uint8, y (60) int64"; cut to the room. */
void cull_data_arrays_describe(const cull_arrays *arrays, char *out, size_t room);

/* The array that names classes. */
#define CULL_DATA_CLASS_NAMES "class_names"

/* The texts of an array (N) of such, which must be plain; none where there is no array of this
 * name. */
cull_status cull_data_arrays_texts(const cull_arrays *arrays, const char *name, cull_texts *out);

/* Does an array of the file lie in its mapping? */
bool cull_data_arrays_mapped(const cull_arrays *arrays, const cull_tensor *array);

/* The .npy files of a folder as arrays of one file, by their names less the ending; all mapped. */
cull_status cull_data_arrays_folder(const char *path, cull_arrays **out);

/* A .npz or .npy set, told by its first bytes; classes are counted. Inputs of bytes or float32 stay
 * in the arrays that were opened, which the set's rows then own. */
cull_status cull_data_array_set_read(const cull_data_request *request, uint64_t map_from,
                                     cull_dataset *into);

/* A folder of pictures. threads: who reads, 0: as many as there are cores. A set of at most
 * `most_bytes` is decoded here; of a larger one each picture is when it is asked for. */
cull_status cull_data_pictures_read(const cull_data_request *request, unsigned threads,
                                    uint64_t most_bytes, cull_dataset *into, bool *measured);

/* The same of named arrays that are open, which may be taken over: *arrays is NULL then. */
cull_status cull_data_array_set_take(const cull_data_request *request, cull_arrays **arrays,
                                     cull_dataset *into);

#endif
