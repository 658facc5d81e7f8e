/* data/set_file.c - set.json read and written. */
#include "data/set_file.h"

#include <stdlib.h>
#include <string.h>

#include "data/categories.h"
#include "data/json_text.h"
#include "data/reader.h"
#include "data/vocabulary.h"

enum { VERSION = 1, SHAPE = 3, DIGITS = 17 };

const char *const cull_data_set_arrays[2][2] = {
    [CULL_DATA_TRAIN] = {"x.npy", "y.npy"}, [CULL_DATA_TEST] = {"x_test.npy", "y_test.npy"}};

static const char *const roles[] = {[CULL_DATA_TRAIN] = "train", [CULL_DATA_TEST] = "test"};
static const char *const targets[] = {
    [CULL_TARGET_CLASS] = "class", [CULL_TARGET_CLASSES] = "classes", [CULL_TARGET_REAL] = "real"};

enum { TARGETS = sizeof targets / sizeof *targets };

/* Examples of int32 are numbers of word pieces. */
static cull_status take_vocabulary(const char *file, const json_t *root, cull_dataset *into)
{
    cull_status status = CULL_OK;
    uint64_t    pieces = 0;

    TRY(cull_data_json_count(file, root, "vocabulary", CULL_VOCABULARY_MOST, &pieces));
    if (pieces < 1) FAIL(CULL_BAD_FILE, "%s: \"vocabulary\" is 0", file);
    if (into->channels != 1 || into->width != 1)
        FAIL(CULL_BAD_FILE, "%s: \"shape\" of texts is 1, their length and 1", file);
    into->vocabulary = (size_t)pieces;
done:
    return status;
}

static cull_status take_shape(const char *file, const json_t *root, cull_dataset *into)
{
    cull_status   status = CULL_OK;
    const json_t *list = NULL;
    const char   *type = NULL;
    size_t        side[SHAPE] = {0};
    cull_dtype    dtype = CULL_U8;

    TRY(cull_data_json_string(file, root, "dtype", &type));
    if (strcmp(type, cull_dtype_name(CULL_F32)) == 0)
        dtype = CULL_F32;
    else if (strcmp(type, cull_dtype_name(CULL_I32)) == 0)
        dtype = CULL_I32;
    else if (strcmp(type, cull_dtype_name(CULL_U8)) != 0)
        FAIL(CULL_BAD_FILE,
             "%s: \"dtype\" is '%.32s'; uint8, float32 and, of texts, int32 are read", file, type);
    TRY(cull_data_json_list(file, root, "shape", SHAPE, SHAPE, &list));
    for (size_t i = 0; i < SHAPE; i++) {
        const json_t *length = json_array_get(list, i);
        json_int_t    value = json_integer_value(length);
        if (!json_is_integer(length) || value < 1 || value > CULL_DATA_MOST_ROW)
            FAIL(CULL_BAD_FILE, "%s: \"shape\" is not channels, height and width", file);
        side[i] = (size_t)value;
    }
    /* Room for its constants is taken only where they are there. */
    TRY(cull_data_json_list(file, root, "mean", side[0], side[0], &list));
    TRY(cull_data_shape(into, file, dtype, side[0], side[1], side[2]));
    if (dtype == CULL_I32) TRY(take_vocabulary(file, root, into));
done:
    return status;
}

static cull_status take_numbers(const char *file, const json_t *root, const char *key, size_t count,
                                double *out)
{
    cull_status   status = CULL_OK;
    const json_t *list = NULL;

    TRY(cull_data_json_list(file, root, key, count, count, &list));
    for (size_t i = 0; i < count; i++) {
        if (!json_is_number(json_array_get(list, i)))
            FAIL(CULL_BAD_FILE, "%s: \"%s\" holds something else than numbers", file, key);
        out[i] = json_number_value(json_array_get(list, i));
    }
done:
    return status;
}

static cull_status take_constants(const char *file, const json_t *root, cull_dataset *into)
{
    cull_status   status = CULL_OK;
    const json_t *published = json_object_get(root, "published");

    TRY(take_numbers(file, root, "mean", into->channels, into->mean));
    TRY(take_numbers(file, root, "deviation", into->channels, into->deviation));
    for (size_t c = 0; c < into->channels; c++)
        if (!(into->deviation[c] > 0))
            FAIL(CULL_BAD_FILE, "%s: a deviation of %g; inputs are divided by it", file,
                 into->deviation[c]);
    if (published && !json_is_boolean(published))
        FAIL(CULL_BAD_FILE, "%s: \"published\" is neither true nor false", file);
    into->published = json_is_true(published);
    into->stored = true;
done:
    return status;
}

/* Where they are there, there must be `count` of them. */
static cull_status take_names(const char *file, const json_t *root, const char *key, size_t count,
                              cull_texts *out)
{
    cull_status   status = CULL_OK;
    const json_t *list = NULL;

    if (!json_object_get(root, key)) goto done;
    TRY(cull_data_json_list(file, root, key, count, count, &list));
    for (size_t k = 0; k < count; k++) {
        const char *name = json_string_value(json_array_get(list, k));
        if (!name || !*name || !cull_text_clean(name, strlen(name)))
            FAIL(CULL_BAD_FILE, "%s: name %zu of \"%s\" is no text", file, k, key);
        TRY(cull_texts_add(out, name, strlen(name)));
    }
done:
    return status;
}

/* Who has a name looks for it: one that comes twice would be the first of them. */
static cull_status check_names(const char *file, const cull_texts *names)
{
    cull_status status = CULL_OK;
    size_t      twice = 0;
    char        shown[CULL_TEXT_SHOWN];

    TRY(cull_categories_twice(names, &twice));
    if (twice < names->count)
        FAIL(CULL_BAD_FILE, "%s: two classes are called '%s'", file,
             cull_text_show(names->text[twice], strlen(names->text[twice]), shown));
done:
    return status;
}

static cull_status take_target(const char *file, const json_t *root, cull_dataset *into)
{
    cull_status status = CULL_OK;
    const char *kind = NULL;
    size_t      k = 0;
    uint64_t    width = 1, classes = 0;

    TRY(cull_data_json_string(file, root, "target", &kind));
    while (k < TARGETS && strcmp(kind, targets[k]) != 0) k++;
    if (k == TARGETS)
        FAIL(CULL_BAD_FILE, "%s: \"target\" is '%.32s'; there are class, classes and real", file,
             kind);
    if (k != CULL_TARGET_CLASS)
        TRY(cull_data_json_count(file, root, "width", CULL_DATA_MOST_CLASSES, &width));
    if (width < 1) FAIL(CULL_BAD_FILE, "%s: \"width\" is 0", file);
    cull_data_aim(into, (cull_target_kind)k, (size_t)width);
    TRY(cull_data_json_count(file, root, "classes", CULL_DATA_MOST_CLASSES, &classes));
    into->classes = (size_t)classes;
    if (k == CULL_TARGET_CLASS && into->classes < 1)
        FAIL(CULL_BAD_FILE, "%s: \"classes\" is 0", file);
    if (k != CULL_TARGET_CLASS && into->classes != into->target.width)
        FAIL(CULL_BAD_FILE, "%s: \"classes\" is %zu, but targets have a \"width\" of %zu", file,
             into->classes, into->target.width);
    TRY(take_names(file, root, "class_names", into->classes, &into->class_names));
    TRY(check_names(file, &into->class_names));
    TRY(take_names(file, root, "label_names", into->target.width, &into->label_names));
    TRY(take_names(file, root, "feature_names", into->channels, &into->feature_names));
done:
    return status;
}

cull_status cull_data_set_file_read(const cull_data_source *source, cull_dataset *into,
                                    uint64_t count[2])
{
    cull_status status = CULL_OK;
    const char *file = source->name;
    json_t     *root = NULL;
    uint64_t    version = 0;

    TRY(cull_data_json_read(source, &root));
    TRY(cull_data_json_count(file, root, "cull_set", UINT32_MAX, &version));
    if (version != VERSION)
        FAIL(CULL_BAD_FILE, "%s: version %llu; this library reads %d", file,
             (unsigned long long)version, VERSION);
    TRY(take_shape(file, root, into));
    TRY(take_constants(file, root, into));
    TRY(take_target(file, root, into));
    for (int role = CULL_DATA_TRAIN; role <= CULL_DATA_TEST; role++) {
        count[role] = 0;
        if (json_object_get(root, roles[role]))
            TRY(cull_data_json_count(file, root, roles[role], UINT32_MAX - 1, &count[role]));
    }
done:
    json_decref(root);
    return status;
}

static json_t *list_numbers(const double *values, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < count; i++)
        if (json_array_append_new(list, json_real(values[i]))) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static cull_status put_names(const char *path, const char *key, const cull_texts *names,
                             json_t *root)
{
    cull_status status = CULL_OK;
    json_t     *list = NULL;

    if (!names->count) goto done;
    list = json_array();
    if (!list) FAIL(CULL_NO_MEMORY, "no memory for names");
    for (size_t k = 0; k < names->count; k++)
        if (json_array_append_new(list, json_string(names->text[k])))
            FAIL(CULL_BAD_FILE, "%s: name %zu of \"%s\" is no UTF-8; rename it", path, k, key);
    if (json_object_set(root, key, list)) FAIL(CULL_NO_MEMORY, "no memory for names");
done:
    json_decref(list);
    return status;
}

/* All but the names; NULL: no memory. */
static json_t *describe(const cull_dataset *set, const char *from, const uint64_t count[2])
{
    json_t *root =
        json_pack("{s:i, s:o*, s:s, s:[I,I,I], s:o, s:o, s:b, s:s, s:I, s:I}", "cull_set", VERSION,
                  "made_from", json_string(from), "dtype", cull_dtype_name(set->dtype), "shape",
                  (json_int_t)set->channels, (json_int_t)set->height, (json_int_t)set->width,
                  "mean", list_numbers(set->mean, set->channels), "deviation",
                  list_numbers(set->deviation, set->channels), "published", set->published,
                  "target", targets[set->target.kind], "width", (json_int_t)set->target.width,
                  "classes", (json_int_t)set->classes);

    if (root && set->vocabulary &&
        json_object_set_new(root, "vocabulary", json_integer((json_int_t)set->vocabulary))) {
        json_decref(root);
        root = NULL;
    }
    for (int role = CULL_DATA_TRAIN; root && role <= CULL_DATA_TEST; role++)
        if (count[role] &&
            json_object_set_new(root, roles[role], json_integer((json_int_t)count[role]))) {
            json_decref(root);
            root = NULL;
        }
    return root;
}

cull_status cull_data_set_file_write(const char *path, const cull_dataset *set, const char *from,
                                     const uint64_t count[2])
{
    cull_status status = CULL_OK;
    json_t     *root = describe(set, from, count);
    char       *text = NULL;

    if (!root) FAIL(CULL_NO_MEMORY, "no memory for %s", path);
    TRY(put_names(path, "class_names", &set->class_names, root));
    if (set->label_names.count == set->target.width)
        TRY(put_names(path, "label_names", &set->label_names, root));
    if (set->feature_names.count == set->channels)
        TRY(put_names(path, "feature_names", &set->feature_names, root));
    text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS));
    if (!text) FAIL(CULL_NO_MEMORY, "no memory for %s", path);
    TRY(cull_file_write(path, text, strlen(text)));
done:
    free(text);
    json_decref(root);
    return status;
}
