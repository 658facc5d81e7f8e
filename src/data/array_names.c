/* data/array_names.c - names of arrays, taken apart. */
#include "data/array_names.h"

#include <stdio.h>
#include <string.h>

#include "base/texts.h"
#include "data/reader.h"

enum { ROOM = 64, SHOWN = 240 };

static const char *const inputs[] = {"x",     "images", "data",  "inputs",  "features", "samples",
                                     "image", "imgs",   "input", "feature", "sample",   NULL};
static const char *const labels[] = {"y", "labels", "target", "targets", "label", NULL};

/* Words that say which set an array belongs to; "" is none. */
static const char *const trained[] = {"train", "training", NULL};
static const char *const tested[] = {"test", "testing", NULL};
static const char *const watched[] = {"val", "valid", "validation", NULL};
static const char *const neither[] = {"", NULL};

/* The letters and digits of a name, small; false when there is no room for them. */
static bool squeeze(const char *name, char out[ROOM])
{
    size_t at = 0;

    for (; *name; name++) {
        char c = *name;
        if (c == '_' || c == '-' || c == '.' || c == '/' || c == ' ') continue;
        if (at + 1 == ROOM) return false;
        out[at++] = cull_text_small(c);
    }
    out[at] = '\0';
    return true;
}

/* Is this `stem` with `word` behind or before it? */
static bool is_called(const char *name, const char *stem, const char *word)
{
    char   is[ROOM];
    size_t s = strlen(stem), w = strlen(word);

    if (!squeeze(name, is) || strlen(is) != s + w) return false;
    return (memcmp(is, stem, s) == 0 && memcmp(is + s, word, w) == 0) ||
           (memcmp(is, word, w) == 0 && memcmp(is + w, stem, s) == 0);
}

/* The array of this name; among several spellings the plain one, else the first. */
static const char *find(const cull_arrays *arrays, const char *stem, const char *word)
{
    char        plain[ROOM];
    const char *name = NULL, *found = NULL;

    (void)snprintf(plain, sizeof plain, "%s%s%s", stem, *word ? "_" : "", word);
    for (size_t i = 0; (name = cull_arrays_name(arrays, i)); i++) {
        if (strcmp(name, plain) == 0) return name;
        if (!found && is_called(name, stem, word)) found = name;
    }
    return found;
}

static bool find_pair(const cull_arrays *arrays, const char *x, const char *y, const char *word,
                      cull_data_pair *out)
{
    out->x = find(arrays, x, word);
    out->y = out->x ? find(arrays, y, word) : NULL;
    return out->y != NULL;
}

/* Inputs and labels of one set: x and y, data and labels, or else any of one and any of the other.
 */
static bool find_set(const cull_arrays *arrays, const char *const *words, cull_data_pair *out)
{
    *out = (cull_data_pair){0};
    for (; *words; words++) {
        if (find_pair(arrays, "x", "y", *words, out)) return true;
        if (find_pair(arrays, "data", "labels", *words, out)) return true;
        for (const char *const *x = inputs; *x; x++)
            for (const char *const *y = labels; *y; y++)
                if (find_pair(arrays, *x, *y, *words, out)) return true;
    }
    return false;
}

/* Inputs alone. */
static bool find_inputs(const cull_arrays *arrays, const char *const *words, cull_data_pair *out)
{
    *out = (cull_data_pair){0};
    for (; *words; words++)
        for (const char *const *x = inputs; *x; x++)
            if ((out->x = find(arrays, *x, *words))) return true;
    return false;
}

enum { SETS = 4 };

static bool find_any(const cull_arrays *arrays, const char *const *const sets[SETS],
                     cull_data_pair *out)
{
    for (size_t s = 0; s < SETS; s++)
        if (find_set(arrays, sets[s], out) || find_inputs(arrays, sets[s], out)) return true;
    return false;
}

static bool find_wanted(const cull_arrays *arrays, cull_data_wanted wanted, cull_data_pair *out)
{
    static const char *const *const train_first[SETS] = {trained, neither, tested, watched};
    static const char *const *const test_first[SETS] = {tested, watched, neither, trained};

    if (wanted == CULL_DATA_WANTED_ANY) return find_any(arrays, train_first, out);
    if (wanted == CULL_DATA_WANTED_ANY_TEST) return find_any(arrays, test_first, out);
    if (wanted == CULL_DATA_WANTED_TRAIN)
        return find_set(arrays, trained, out) || find_set(arrays, neither, out);
    if (find_set(arrays, tested, out)) return true;
    if (find_set(arrays, watched, out)) {
        out->validation = true;
        return true;
    }
    return wanted == CULL_DATA_WANTED_ALONE && find_set(arrays, neither, out);
}

/* A validation set, where a test set is there too. */
static const char *find_unread(const cull_arrays *arrays)
{
    cull_data_pair pair = {0};

    return find_set(arrays, tested, &pair) && find_set(arrays, watched, &pair) ? pair.x : NULL;
}

cull_status cull_data_names_find(const cull_arrays *arrays, const char *path,
                                 cull_data_wanted wanted, cull_data_pair *out)
{
    cull_status status = CULL_OK;
    char        held[SHOWN];

    if (find_wanted(arrays, wanted, out)) {
        if (wanted == CULL_DATA_WANTED_TRAIN) out->unread = find_unread(arrays);
        goto done;
    }
    if (wanted == CULL_DATA_WANTED_TEST) TRY(cull_data_say_no_test(path, " (x_test and y_test)"));
    if (wanted == CULL_DATA_WANTED_ALONE && find_set(arrays, trained, out))
        FAIL_OPTION("data.test",
                    "%s holds a training set, %.32s and %.32s, and no test set (x_test and y_test, "
                    "or x and y); name another file",
                    path, out->x, out->y);
    cull_data_arrays_describe(arrays, held, sizeof held);
    if (wanted >= CULL_DATA_WANTED_ANY)
        FAIL(CULL_BAD_FILE, "%s: no array is called x, images, data or alike; it holds %s", path,
             held);
    FAIL(CULL_BAD_FILE,
         "%s: no two arrays are called x and y, images and labels, data and target or alike%s; it "
         "holds %s",
         path,
         wanted == CULL_DATA_WANTED_TRAIN ? ", with or without _train" : ", with or without _test",
         held);
done:
    return status;
}
