/* tests/files.h - what tests of data sets share: a folder of their own, and small sets. */
#ifndef CULL_TESTS_FILES_H
#define CULL_TESTS_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/reader.h"
#include "support.h"

#define FOLDER_TEMPLATE "/tmp/cull_test_XXXXXX"

/* A path below the test's folder; one of four buffers, in turn. */
static inline const char *path_in(const char *folder, const char *name)
{
    static char     path[4][512];
    static unsigned turn;
    char           *out = path[turn++ % 4];

    (void)snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static inline void put_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(bytes, fwrite(data, 1, bytes, file));
    assert_int_equal(0, fclose(file));
}

static inline void remove_folder(const char *folder)
{
    char command[600];

    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(0, system(command));
}

/* Where a set's example lies. */
static inline void *row_of(const cull_dataset *set, size_t place)
{
    return (char *)cull_data_base(set) + set->origin[place] * cull_data_row_bytes(set);
}

/* A set by its name or path, as its files have it. */
static inline cull_status open_set(const char *name, cull_data_role role, const char *root,
                                   cull_dataset **out)
{
    return cull_data_open(&(cull_data_request){.name = name, .role = role, .root = root}, out);
}

/* Try something with its first allocation failing, its second, and so on until all succeed: every
 * time memory is all that is said to lack, or all went well. It ends what it made. */
static inline void assert_survives(cull_status (*attempt)(void *context), void *context)
{
    cull_status status = CULL_NO_MEMORY;

    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = attempt(context);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
    }
}

/* A set of random pixels (or, as float32, normals) and labels i % classes. */
static inline cull_dataset *random_set(cull_dtype dtype, size_t count, size_t classes,
                                       size_t channels, size_t height, size_t width)
{
    cull_dataset *set = NULL;
    size_t        numbers = count * channels * height * width;

    assert_ok(cull_data_create("random", &set));
    assert_ok(cull_data_shape(set, "random", dtype, channels, height, width));
    assert_ok(cull_data_extend(set, "random", count));
    for (size_t i = 0; i < numbers; i++) {
        if (dtype == CULL_U8)
            ((uint8_t *)cull_data_base(set))[i] = (uint8_t)(256 * random_uniform(1, i));
        else
            ((float *)cull_data_base(set))[i] = (float)(3 + 2 * random_normal(1, i));
    }
    for (size_t i = 0; i < count; i++) cull_data_labels(set)[i] = (int32_t)(i % classes);
    set->count = count;
    set->classes = classes;
    assert_ok(cull_data_measure(set));
    return set;
}

/* As a file, and all but the last example as another: a test set may not be the training set. */
static inline void write_both(cull_dataset *set, const char *train, const char *test)
{
    assert_ok(cull_data_write(set, train));
    set->count--;
    assert_ok(cull_data_write(set, test));
    set->count++;
}

/* Everything that a set holds, compared. */
static inline void assert_same_set(const cull_dataset *a, const cull_dataset *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->width, b->width);
    for (size_t i = 0; i < a->count; i++)
        assert_memory_equal(row_of(a, i), row_of(b, i), cull_data_row_bytes(a));
    assert_memory_equal(cull_data_labels(a), cull_data_labels(b),
                        a->count * sizeof *cull_data_labels(a));
    assert_memory_equal(a->origin, b->origin, a->count * sizeof *a->origin);
    assert_memory_equal(a->marks, b->marks, a->count);
    assert_memory_equal(a->mean, b->mean, a->channels * sizeof *a->mean);
    assert_memory_equal(a->deviation, b->deviation, a->channels * sizeof *a->deviation);
}

#endif
