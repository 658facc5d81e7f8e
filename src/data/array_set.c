/*
 * data/array_set.c - data sets kept as arrays: .npz and .npy of one's own, and ImageNet-32's
 * batches, as docs/formats.md says.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/array_names.h"
#include "data/categories.h"
#include "data/channels.h"
#include "data/format.h"
#include "data/inspect.h"
#include "data/labels.h"
#include "data/npy.h"
#include "data/tokens.h"
#include "data/vocabulary.h"
#include "tensor/tensor.h"

enum { IMAGENET_ROW = 3 * 32 * 32, IMAGENET_CLASSES = 1000 };

/* Inputs and labels on their way into a set. */
struct pair {
    const char  *path;
    cull_tensor  x, y;       /* y absent: there are no labels */
    cull_arrays *arrays;     /* hold x, and may be taken over; NULL: the caller's */
    bool         turned;     /* images have their channels last, and more than one */
    size_t       vocabulary; /* x are numbers of word pieces below; 0: they are not */
};

void cull_data_copy_numbers(const cull_tensor *x, size_t numbers, cull_dtype as, void *out)
{
    float *to = out;

    switch (x->dtype) {
    case CULL_F64:
        for (size_t i = 0; i < numbers; i++) to[i] = (float)((const double *)x->data)[i];
        break;
    case CULL_I32:
        if (as == CULL_I32) {
            memcpy(to, x->data, numbers * sizeof(int32_t));
            break;
        }
        for (size_t i = 0; i < numbers; i++) to[i] = (float)((const int32_t *)x->data)[i];
        break;
    case CULL_I64:
        for (size_t i = 0; i < numbers; i++) to[i] = (float)((const int64_t *)x->data)[i];
        break;
    case CULL_F32:
    case CULL_U8: memcpy(to, x->data, numbers * cull_dtype_size(x->dtype)); break;
    case CULL_BF16: break; /* no file has them */
    }
}

/* Each of `count` images in its own place. */
static cull_status turn_images(const cull_dataset *set, char *images, size_t count)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_data_row_bytes(set);
    void       *buffer = NULL;

    TRY(cull_base_alloc(1, bytes, "an image", &buffer));
    for (size_t i = 0; i < count; i++) {
        memcpy(buffer, images + i * bytes, bytes);
        cull_data_channels_turn(buffer, set->channels, set->height * set->width,
                                cull_dtype_size(set->dtype), images + i * bytes);
    }
done:
    cull_base_free(buffer);
    return status;
}

/* Images that lie in a mapped file with their channels last: turned when they are asked for. */
struct turned {
    cull_arrays *arrays;
    const char  *images;
    size_t       channels, area, element;
};

static cull_status read_turned(const cull_data_rows *rows, uint32_t row, void *out)
{
    const struct turned *t = rows->self;
    size_t               bytes = t->channels * t->area * t->element;

    cull_data_channels_turn(t->images + row * bytes, t->channels, t->area, t->element, out);
    return CULL_OK;
}

static void close_turned(void *self)
{
    struct turned *t = self;

    cull_arrays_close(t->arrays);
    cull_base_free(t);
}

static void close_arrays(void *self)
{
    cull_arrays_close(self);
}

static cull_status make_turned(struct pair *p, const cull_dataset *set, cull_data_rows **out)
{
    static const cull_data_rows_class class = {
        .read = read_turned, .close = close_turned, .ready = true};
    cull_status    status = CULL_OK;
    struct turned *t = NULL;

    TRY(cull_base_alloc(1, sizeof *t, "a data set", &t));
    *t = (struct turned){.images = p->x.data,
                         .channels = set->channels,
                         .area = set->height * set->width,
                         .element = cull_dtype_size(set->dtype)};
    TRY(cull_data_rows_create(&class, t, NULL, (size_t)p->x.shape[0], out));
    t->arrays = p->arrays;
    t = NULL;
done:
    cull_base_free(t);
    return status;
}

/* The set's rows are x, which lies in the arrays: those become the rows' own. */
static cull_status keep_inputs(struct pair *p, cull_dataset *into)
{
    static const cull_data_rows_class class = {.close = close_arrays};
    cull_status     status = CULL_OK;
    cull_data_rows *rows = NULL;
    size_t          count = (size_t)p->x.shape[0];

    if (p->turned && cull_data_arrays_mapped(p->arrays, &p->x)) {
        TRY(make_turned(p, into, &rows));
    } else {
        if (p->turned) TRY(turn_images(into, p->x.data, count));
        TRY(cull_data_rows_create(&class, p->arrays, p->x.data, count, &rows));
    }
    p->arrays = NULL;
    TRY(cull_data_hold(into, p->path, rows));
done:
    cull_data_rows_release(rows);
    return status;
}

/* Copied, or, where they can be the set's rows as they are and the arrays may be taken, not. */
static cull_status take_inputs(struct pair *p, cull_dataset *into)
{
    cull_status status = CULL_OK;
    size_t      count = (size_t)p->x.shape[0];
    void       *at = p->x.data;

    if (p->arrays && p->x.dtype == into->dtype) {
        TRY(keep_inputs(p, into));
    } else {
        TRY(cull_data_extend(into, p->path, count));
        at = cull_data_end(into);
        cull_data_copy_numbers(&p->x, cull_data_row(into) * count, into->dtype, at);
        if (p->turned) TRY(turn_images(into, at, count));
    }
    for (size_t i = 0; into->dtype == CULL_F32 && i < count; i++) {
        const float *row = (const float *)at + i * cull_data_row(into);
        TRY(cull_data_check_finite(p->path, row, cull_data_row(into), i));
    }
done:
    return status;
}

static cull_status check_pair(const struct pair *p)
{
    cull_status        status = CULL_OK;
    const cull_tensor *x = &p->x, *y = &p->y;

    if (x->dims < 2)
        FAIL(CULL_BAD_FILE,
             "%s: inputs of %d dimension; (N, D), (N, H, W), (N, C, H, W) or (N, H, W, C)", p->path,
             x->dims);
    if (x->shape[0] == 0 || (y->data && x->shape[0] != y->shape[0]))
        FAIL(CULL_BAD_FILE, "%s: %lld inputs and %lld labels", p->path, (long long)x->shape[0],
             (long long)(y->data ? y->shape[0] : 0));
done:
    return status;
}

/* The shape of an example, and whether it is to be turned. */
static cull_status take_shape(struct pair *p, cull_data_layout asked, cull_dataset *into)
{
    cull_status      status = CULL_OK;
    const int64_t   *s = p->x.shape;
    cull_dtype       dtype = p->x.dtype == CULL_U8 ? CULL_U8 : CULL_F32;
    cull_data_layout layout = CULL_LAYOUT_FIRST;
    size_t           size[CULL_MAX_DIMS] = {0};

    for (int d = 0; d < p->x.dims; d++) size[d] = (size_t)s[d];
    if (p->vocabulary) {
        TRY(cull_data_shape(into, p->path, CULL_I32, 1, size[p->x.dims == 2 ? 1 : 2], 1));
        into->vocabulary = p->vocabulary;
        goto done;
    }
    if (p->x.dims == 2 && asked != CULL_LAYOUT_TOLD)
        FAIL_OPTION("data.layout", "%s holds (N, %lld), which has no channels to be found", p->path,
                    (long long)s[1]);
    if (p->x.dims == 4) TRY(cull_data_channels_find(p->path, s, asked, &layout));
    if (p->x.dims == 2)
        TRY(cull_data_shape(into, p->path, dtype, size[1], 1, 1));
    else if (p->x.dims == 3)
        TRY(cull_data_shape(into, p->path, dtype, 1, size[1], size[2]));
    else if (layout == CULL_LAYOUT_FIRST)
        TRY(cull_data_shape(into, p->path, dtype, size[1], size[2], size[3]));
    else
        TRY(cull_data_shape(into, p->path, dtype, size[3], size[1], size[2]));
    p->turned = layout == CULL_LAYOUT_LAST && into->channels > 1;
    if (layout == CULL_LAYOUT_LAST && asked == CULL_LAYOUT_TOLD)
        TRY(cull_data_remark(into,
                             "%s: images of (N, %lld, %lld, %lld) are taken to have their %lld "
                             "channel%s last (data.layout=nhwc)",
                             p->path, (long long)s[1], (long long)s[2], (long long)s[3],
                             (long long)s[3], s[3] == 1 ? "" : "s"));
done:
    return status;
}

static cull_status take_pair(struct pair *p, const cull_data_request *how, cull_dataset *into)
{
    cull_status status = CULL_OK;
    size_t      count = (size_t)p->x.shape[0];

    TRY(check_pair(p));
    if (p->y.data)
        TRY(cull_data_labels_aim(p->path, &p->y, how->target, into));
    else
        cull_data_labels_leave(how->target, into);
    TRY(take_shape(p, how->layout, into));
    TRY(take_inputs(p, into));
    if (p->y.data)
        TRY(cull_data_labels_take(p->path, &p->y, into));
    else
        memset(into->target.data, 0, count * cull_data_target_bytes(into));
    into->count += count;
    if (p->vocabulary) TRY(cull_data_tokens_check(into, p->path));
done:
    return status;
}

static cull_status check_own(const char *name, const cull_tensor *t, const char *what)
{
    cull_status status = CULL_OK;

    if (!t->data || t->dims < 1 || t->dims > CULL_MAX_DIMS)
        FAIL(CULL_BAD_ARGUMENT, "%s: there are no %s", name, what);
    TRY(cull_device_check(t->device, (cull_device){0}, what));
    for (int d = 0; d < t->dims; d++)
        if (t->shape[d] < 1 || t->shape[d] > CULL_DATA_MOST_ROW)
            FAIL(CULL_BAD_ARGUMENT, "%s: %s have %lld in dimension %d", name, what,
                 (long long)t->shape[d], d);
    if (cull_dtype_size(t->dtype) == 0)
        FAIL(CULL_BAD_ARGUMENT, "%s: the %s are of no type that is known", name, what);
    if (!cull_data_npy_dense(t)) FAIL(CULL_BAD_ARGUMENT, "%s: the %s are not dense", name, what);
done:
    return status;
}

cull_status cull_data_take(const cull_data_request *how, const cull_tensor *x, const cull_tensor *y,
                           cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;
    struct pair   pair = {.path = how->name, .x = *x, .y = *y};
    char          why[256];

    TRY(check_own(how->name, x, "inputs"));
    TRY(check_own(how->name, y, "labels"));
    TRY(cull_data_create(how->name, &set));
    status = take_pair(&pair, how, set);
    if (status == CULL_BAD_FILE) {
        (void)snprintf(why, sizeof why, "%s", cull_last_error());
        FAIL(CULL_BAD_ARGUMENT, "%s", why);
    }
    TRY(status);
    TRY(cull_data_measure(set));
    TRY(cull_data_inspect(set));
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

/* The file beside that has the labels. */
static cull_status open_beside(const char *path, cull_arrays **out)
{
    cull_status status = CULL_OK;
    char        beside[CULL_DATA_PATH];
    size_t      length = strlen(path);

    if (!cull_data_ends_with(path, ".npy"))
        FAIL(CULL_BAD_FILE, "%s: a .npy file by another name, so its labels cannot be found", path);
    if ((size_t)snprintf(beside, sizeof beside, "%.*s_labels.npy", (int)(length - 4), path) >=
        sizeof beside)
        FAIL(CULL_BAD_ARGUMENT, "%.64s...: the path is too long", path);
    TRY(cull_arrays_open(beside, out));
done:
    return status;
}

static cull_status read_npy_pair(struct pair *p, const cull_data_request *how, cull_dataset *into)
{
    cull_status  status = CULL_OK;
    cull_arrays *labels = NULL;

    if (how->role == CULL_DATA_TEST) TRY(cull_data_say_no_test(p->path, ""));
    if (!how->unlabelled) TRY(open_beside(p->path, &labels));
    TRY(cull_arrays_get(p->arrays, NULL, &p->x));
    if (labels) TRY(cull_arrays_get(labels, NULL, &p->y));
    TRY(take_pair(p, how, into));
done:
    cull_arrays_close(labels);
    return status;
}

/* What is written by cull_data_write() may say where its channels are. */
static cull_status read_layout(cull_arrays *arrays, const char *path, cull_data_layout *layout)
{
    cull_status      status = CULL_OK;
    cull_tensor      text = {0};
    cull_data_layout says = CULL_LAYOUT_TOLD;
    const char      *name = NULL;
    size_t           i = 0;

    while ((name = cull_arrays_name(arrays, i)) && strcmp(name, "layout") != 0) i++;
    if (!name) goto done;
    TRY(cull_arrays_get(arrays, name, &text));
    if (text.dtype != CULL_U8 || text.dims != 1 || text.shape[0] != 4) goto done;
    if (memcmp(text.data, "nchw", 4) == 0) says = CULL_LAYOUT_FIRST;
    if (memcmp(text.data, "nhwc", 4) == 0) says = CULL_LAYOUT_LAST;
    if (says != CULL_LAYOUT_TOLD && *layout != CULL_LAYOUT_TOLD && *layout != says)
        FAIL_OPTION("data.layout", "%s says itself that it is %.4s", path, (const char *)text.data);
    if (says != CULL_LAYOUT_TOLD) *layout = says;
done:
    return status;
}

/* Inputs of int32 beside how many pieces there are: (N, L), or as they are written. */
static cull_status read_vocabulary(struct pair *p)
{
    cull_status        status = CULL_OK;
    const cull_tensor *x = &p->x;
    cull_tensor        pieces = {0};
    const char        *name = NULL;
    double             count = 0;
    size_t             i = 0;

    while ((name = cull_arrays_name(p->arrays, i)) && strcmp(name, "vocabulary") != 0) i++;
    if (!name || (x->dtype != CULL_I32 && x->dtype != CULL_I64)) goto done;
    status = cull_arrays_get(p->arrays, name, &pieces);
    if (x->dtype == CULL_I64) {
        if (status == CULL_OK && pieces.dims == 1 && pieces.shape[0] == 1)
            FAIL(CULL_BAD_FILE, "%s: inputs of int64 beside a vocabulary; tokens are int32",
                 p->path);
        if (status == CULL_BAD_FILE) status = CULL_OK; /* words: columns count them */
        goto done;
    }
    TRY(status);
    if (pieces.dims != 1 || pieces.shape[0] != 1)
        FAIL(CULL_BAD_FILE, "%s: vocabulary is not one number", p->path);
    count = cull_tensor_get(&pieces, 0);
    if (!(count >= 1 && count <= CULL_VOCABULARY_MOST))
        FAIL(CULL_BAD_FILE, "%s: a vocabulary of %g pieces; 1 to %d are possible", p->path, count,
             CULL_VOCABULARY_MOST);
    if (x->dims != 2 && (x->dims != 4 || x->shape[1] != 1 || x->shape[3] != 1))
        FAIL(CULL_BAD_FILE, "%s: texts are (N, L) or (N, 1, L, 1)", p->path);
    p->vocabulary = (size_t)count;
done:
    return status;
}

/* Classes by name, where the file has an array of as many. One that cannot be used is remarked on.
 */
static cull_status take_names(const cull_arrays *arrays, const char *path, cull_dataset *into)
{
    cull_status status = CULL_OK;
    cull_texts  names = {0};
    size_t      twice = 0;
    char        shown[CULL_TEXT_SHOWN];

    if (!cull_data_labels(into)) goto done;
    status = cull_data_arrays_texts(arrays, CULL_DATA_CLASS_NAMES, &names);
    if (status == CULL_BAD_FILE)
        TRY(cull_data_remark(into, "%s; its classes have no names", cull_last_error()));
    TRY(status == CULL_BAD_FILE ? CULL_OK : status);
    if (names.count == 0) goto done;
    if (names.count < into->classes) {
        TRY(cull_data_remark(into,
                             "%s: " CULL_DATA_CLASS_NAMES " has %zu names for %zu classes, "
                             "which have none therefore",
                             path, names.count, into->classes));
        goto done;
    }
    TRY(cull_categories_twice(&names, &twice));
    if (twice < names.count) {
        TRY(cull_data_remark(into,
                             "%s: " CULL_DATA_CLASS_NAMES " has '%s' twice; its classes have no "
                             "names",
                             path,
                             cull_text_show(names.text[twice], strlen(names.text[twice]), shown)));
        goto done;
    }
    into->class_names = names;
    into->classes = names.count;
    names = (cull_texts){0};
done:
    cull_texts_clear(&names);
    return status;
}

static cull_data_wanted wanted_of(const cull_data_request *how, const cull_dataset *into)
{
    if (how->unlabelled && how->role == CULL_DATA_TEST) return CULL_DATA_WANTED_ANY_TEST;
    if (how->unlabelled) return CULL_DATA_WANTED_ANY;
    if (how->role == CULL_DATA_TEST) return CULL_DATA_WANTED_TEST;
    return into->like ? CULL_DATA_WANTED_ALONE : CULL_DATA_WANTED_TRAIN;
}

static cull_status read_npz_pair(struct pair *p, const cull_data_request *request,
                                 cull_dataset *into)
{
    cull_status       status = CULL_OK;
    cull_data_request how = *request;
    cull_data_pair    names = {0};
    cull_arrays      *arrays = p->arrays; /* the set's from when its inputs were taken */

    TRY(cull_data_names_find(p->arrays, p->path, wanted_of(&how, into), &names));
    if (names.validation)
        TRY(cull_data_remark(into, "%s: holds no test set; its validation set, %.32s, is taken",
                             p->path, names.x));
    if (names.unread)
        TRY(cull_data_remark(into,
                             "%s: its validation set, %.32s, lies beside a test set and is not "
                             "read; data.validation splits one off the training set",
                             p->path, names.unread));
    if (how.unlabelled) names.y = NULL;
    TRY(cull_arrays_get(p->arrays, names.x, &p->x));
    if (names.y) TRY(cull_arrays_get(p->arrays, names.y, &p->y));
    TRY(read_vocabulary(p));
    if (p->x.dims == 4 && !p->vocabulary) TRY(read_layout(p->arrays, p->path, &how.layout));
    TRY(take_pair(p, &how, into));
    if (names.y) TRY(take_names(arrays, p->path, into));
done:
    return status;
}

cull_status cull_data_array_set_take(const cull_data_request *request, cull_arrays **arrays,
                                     cull_dataset *into)
{
    struct pair p = {.path = request->name, .arrays = *arrays};
    cull_status status = read_npz_pair(&p, request, into);

    *arrays = p.arrays;
    return status;
}

cull_status cull_data_array_set_read(const cull_data_request *request, uint64_t map_from,
                                     cull_dataset *into)
{
    cull_status status = CULL_OK;
    struct pair p = {.path = request->name};
    const char *first = NULL;

    TRY(cull_data_arrays_open(p.path, map_from, &p.arrays));
    first = cull_arrays_name(p.arrays, 0);
    TRY(first && first[0] == '\0' ? read_npy_pair(&p, request, into)
                                  : read_npz_pair(&p, request, into));
done:
    cull_arrays_close(p.arrays);
    return status;
}

static bool is_arrays(const char *path)
{
    return cull_data_ends_with(path, ".npz") || cull_data_ends_with(path, ".npy");
}

static cull_status read_arrays(const cull_data_request *request, cull_dataset *into, bool *measured)
{
    (void)measured;
    return cull_data_array_set_read(request, CULL_DATA_MAP_FROM, into);
}

const cull_data_format cull_data_arrays_format = {.doc = "paths ending in .npz or .npy",
                                                  .takes = CULL_DATA_TAKES_LAYOUT |
                                                           CULL_DATA_TAKES_TARGET,
                                                  .fits = is_arrays,
                                                  .read = read_arrays};

cull_status cull_data_imagenet32_parse(const cull_data_source *file, cull_dataset *into)
{
    cull_status  status = CULL_OK;
    struct pair  p = {.path = file->name}; /* arrays open it themselves */
    cull_arrays *arrays = NULL;
    int64_t      top = 0;

    TRY(cull_arrays_open(p.path, &arrays));
    TRY(cull_arrays_get(arrays, "data", &p.x));
    TRY(cull_arrays_get(arrays, "labels", &p.y));
    TRY(check_pair(&p));
    if (p.y.dims != 1) FAIL(CULL_BAD_FILE, "%s: labels are not (N) whole numbers", p.path);
    if (p.x.dtype != CULL_U8 || p.x.dims != 2 || p.x.shape[1] != IMAGENET_ROW)
        FAIL(CULL_BAD_FILE, "%s: data is not (N, 3072) of uint8", p.path);
    TRY(cull_data_shape(into, p.path, CULL_U8, 3, 32, 32));
    TRY(take_inputs(&p, into));
    TRY(cull_data_labels_copy(p.path, &p.y, 1, IMAGENET_CLASSES, into, &top));
    into->count += (size_t)p.x.shape[0];
    into->classes = IMAGENET_CLASSES;
done:
    cull_arrays_close(arrays);
    return status;
}
