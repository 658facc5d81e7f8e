/* data/sets.c - the data sets known by name: where their files are looked for and who reads them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/sized.h"
#include "data/format.h"
#include "data/inspect.h"

enum { MOST_FILES = 10, FOLDERS = 2, MOST_CHANNELS = 3 };

struct known {
    const char     *name, *doc;
    const char     *folder[FOLDERS]; /* below the root, in the order they are tried */
    const char     *package;         /* a folder outside the root, or NULL          */
    const char     *file[2][MOST_FILES];
    bool            gzip; /* each file may also be there with .gz */
    size_t          each; /* files of one part; 0: 1 */
    cull_data_parse parse;
    double          mean[MOST_CHANNELS], deviation[MOST_CHANNELS]; /* zeros: measured */
    const char     *advice; /* what to do when it is not there */
};

/* Means and deviations are the sets' own over their training images, to four digits. */
static const struct known sets[] = {
    {.name = "mnist",
     .doc = "handwritten digits, 28x28 grey, 60000 + 10000 of 10 classes",
     .folder = {"mnist", "MNIST/raw"},
     .file = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
              {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}},
     .gzip = true,
     .each = 2,
     .parse = cull_data_idx_parse,
     .mean = {.1307},
     .deviation = {.3081},
     .advice =
         "get the four .gz files of https://ossci-datasets.s3.amazonaws.com/mnist/ into mnist/"},
    {.name = "fashion-mnist",
     .doc = "clothes, 28x28 grey, 60000 + 10000 of 10 classes",
     .folder = {"fashion-mnist", "FashionMNIST/raw"},
     .package = "/usr/share/datasets/fashion-mnist",
     .file = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
              {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}},
     .gzip = true,
     .each = 2,
     .parse = cull_data_idx_parse,
     .mean = {.2860},
     .deviation = {.3530},
     .advice =
         "apt-get install dataset-fashion-mnist (Debian), or get the four .gz files of "
         "https://github.com/zalandoresearch/fashion-mnist (data/fashion) into fashion-mnist/"},
    {.name = "cifar10",
     .doc = "photographs, 32x32 colour, 50000 + 10000 of 10 classes",
     .folder = {"cifar-10-batches-bin", "cifar10"},
     .file = {{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
               "data_batch_5.bin"},
              {"test_batch.bin"}},
     .parse = cull_data_cifar10_parse,
     .mean = {.4914, .4822, .4465},
     .deviation = {.2470, .2435, .2616},
     .advice = "unpack https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz, which makes "
               "cifar-10-batches-bin/"},
    {.name = "cifar100",
     .doc = "photographs, 32x32 colour, 50000 + 10000 of 100 classes",
     .folder = {"cifar-100-binary", "cifar100"},
     .file = {{"train.bin"}, {"test.bin"}},
     .parse = cull_data_cifar100_parse,
     .mean = {.5071, .4865, .4409},
     .deviation = {.2673, .2564, .2762},
     .advice = "unpack https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz, which makes "
               "cifar-100-binary/"},
    {.name = "svhn",
     .doc = "house numbers, 32x32 colour, 73257 + 26032 of 10 classes",
     .folder = {"svhn", "SVHN"},
     .file = {{"train_32x32.mat"}, {"test_32x32.mat"}},
     .parse = cull_data_svhn_parse,
     .mean = {.4377, .4438, .4728},
     .deviation = {.1980, .2010, .1970},
     .advice = "get train_32x32.mat and test_32x32.mat of "
               "http://ufldl.stanford.edu/housenumbers/ into svhn/"},
    {.name = "svhn-extra",
     .doc = "svhn with the 531131 extra images in its training set",
     .folder = {"svhn", "SVHN"},
     .file = {{"train_32x32.mat", "extra_32x32.mat"}, {"test_32x32.mat"}},
     .parse = cull_data_svhn_parse,
     .mean = {.4377, .4438, .4728},
     .deviation = {.1980, .2010, .1970},
     .advice = "get train_32x32.mat, extra_32x32.mat and test_32x32.mat of "
               "http://ufldl.stanford.edu/housenumbers/ into svhn/"},
    {.name = "imagenet32",
     .doc = "ImageNet at 32x32, 1281167 + 50000 of 1000 classes",
     .folder = {"imagenet32"},
     .file = {{"train_data_batch_1.npz", "train_data_batch_2.npz", "train_data_batch_3.npz",
               "train_data_batch_4.npz", "train_data_batch_5.npz", "train_data_batch_6.npz",
               "train_data_batch_7.npz", "train_data_batch_8.npz", "train_data_batch_9.npz",
               "train_data_batch_10.npz"},
              {"val_data.npz"}},
     .parse = cull_data_imagenet32_parse,
     .advice = "unpack Imagenet32_train_npz.zip and Imagenet32_val_npz.zip of "
               "https://image-net.org/download-images (with an account there) into "
               "imagenet32/"},
};
enum { SETS = sizeof sets / sizeof *sets };

/* Where the files of one set were found, or the first that was not. */
struct found {
    char        path[MOST_FILES][CULL_DATA_PATH];
    size_t      count;
    const char *missing;
};

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0 && !cull_base_is_folder(path);
}

static const char *resolve_root(const char *root)
{
    const char *named = getenv("CULL_DATA");

    if (root && *root) return root;
    return named && *named ? named : NULL;
}

/* Folder i of those to try; false when there is none, or its name is too long to be used. */
static bool folder_at(const struct known *set, const char *root, size_t i, char out[CULL_DATA_PATH])
{
    int length = -1;

    if (i < FOLDERS && root && set->folder[i])
        length = snprintf(out, CULL_DATA_PATH, "%s/%s", root, set->folder[i]);
    else if (i == FOLDERS && set->package)
        length = snprintf(out, CULL_DATA_PATH, "%s", set->package);
    return length > 0 && length < CULL_DATA_PATH;
}

static bool find_files(const struct known *set, cull_data_role role, const char *folder,
                       struct found *out)
{
    out->count = 0;
    out->missing = NULL;
    for (size_t i = 0; i < MOST_FILES && set->file[role][i]; i++) {
        static const char *const endings[] = {"", ".gz"};
        bool                     there = false;
        for (size_t e = 0; !there && e < (set->gzip ? 2 : 1); e++) {
            int length = snprintf(out->path[i], CULL_DATA_PATH, "%s/%s%s", folder,
                                  set->file[role][i], endings[e]);
            there = length < CULL_DATA_PATH && is_there(out->path[i]);
        }
        if (!there) {
            out->missing = set->file[role][i];
            return false;
        }
        out->count++;
    }
    return true;
}

static cull_status say_missing(const struct known *set, cull_data_role role, const char *root,
                               const char *missing)
{
    char   tried[320] = "", folder[CULL_DATA_PATH];
    size_t at = 0;

    for (size_t i = 0; i <= FOLDERS && at < sizeof tried; i++)
        if (folder_at(set, root, i, folder)) {
            int put = snprintf(tried + at, sizeof tried - at, "%s%s", at ? ", " : "", folder);
            at += put > 0 ? (size_t)put : 0;
        }
    if (!root && at == 0)
        return cull_fail_about(CULL_NOT_FOUND, set->name,
                               "%s: no folder to look in; set CULL_DATA to the one that holds %s/ "
                               "(%s)",
                               set->name, set->folder[0], set->advice);
    return cull_fail_about(CULL_NOT_FOUND, set->name, "%s: no %s%s in %s; %s%s", set->name,
                           missing ? missing : set->file[role][0], set->gzip ? " or .gz" : "",
                           tried, set->advice, root ? "" : ", or set CULL_DATA");
}

static void normalise_as_published(const struct known *known, cull_dataset *set)
{
    for (size_t c = 0; c < set->channels && c < MOST_CHANNELS; c++) {
        set->mean[c] = known->mean[c];
        set->deviation[c] = known->deviation[c];
    }
    set->published = true;
}

cull_status cull_data_read(const char *const *paths, size_t count, size_t each,
                           cull_data_parse parse, cull_dataset *into)
{
    cull_status      status = CULL_OK;
    cull_data_source file[2] = {{.fd = -1}, {.fd = -1}};

    for (size_t i = 0; i + each <= count; i += each) {
        for (size_t k = 0; k < each; k++) TRY(cull_data_source_open(paths[i + k], &file[k]));
        TRY(parse(file, into));
        for (size_t k = 0; k < each; k++) cull_data_source_close(&file[k]);
    }
done:
    for (size_t k = 0; k < each; k++) cull_data_source_close(&file[k]);
    return status;
}

static cull_status open_known(const struct known *known, cull_data_role role, const char *root,
                              cull_dataset *into, bool *measured)
{
    cull_status   status = CULL_OK;
    struct found *found = NULL;
    const char   *paths[MOST_FILES] = {0}, *missing = NULL;
    char          folder[CULL_DATA_PATH];
    bool          there = false;

    TRY(cull_base_alloc(1, sizeof *found, "looking for a data set", &found));
    for (size_t i = 0; !there && i <= FOLDERS; i++) {
        if (!folder_at(known, root, i, folder)) continue;
        there = find_files(known, role, folder, found);
        if (!there && (!missing || found->count > 0)) missing = found->missing;
    }
    if (!there) TRY(say_missing(known, role, root, missing));
    for (size_t i = 0; i < found->count; i++) paths[i] = found->path[i];
    TRY(cull_data_read(paths, found->count, known->each ? known->each : 1, known->parse, into));
    *measured = known->deviation[0] > 0;
    if (*measured) normalise_as_published(known, into);
done:
    cull_base_free(found);
    return status;
}

static cull_status say_unknown(const char *name)
{
    char                    all[512] = "";
    size_t                  at = 0;
    const cull_data_format *format = NULL;
    bool                    there = is_there(name);

    if (!there && strchr(name, '/')) /* a path, as nobody would call a set */
        return cull_fail(CULL_IO, "%s: cannot open: %s", name, strerror(ENOENT));
    for (size_t i = 0; i < SETS && !there && at < sizeof all; i++) {
        int put = snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "", sets[i].name);
        at += put > 0 ? (size_t)put : 0;
    }
    for (size_t i = 0; (format = cull_data_format_at(i)) && at < sizeof all; i++) {
        const char *join = !at ? "" : cull_data_format_at(i + 1) ? ", " : " and ";
        int         put = snprintf(all + at, sizeof all - at, "%s%s", join, format->doc);
        at += put > 0 ? (size_t)put : 0;
    }
    if (there)
        return cull_fail(CULL_BAD_FILE, "%s: is no file of a kind that is read: %s", name, all);
    return cull_fail_about(CULL_UNKNOWN_SET, name, "no data set is called '%.64s'; there are %s",
                           name, all);
}

static const struct known *find_known(const char *name)
{
    for (size_t i = 0; i < SETS; i++)
        if (strcmp(sets[i].name, name) == 0) return &sets[i];
    return NULL;
}

bool cull_data_is_known(const char *name)
{
    return find_known(name) != NULL;
}

/* What is asked for and cannot be given would silently be something else. */
static cull_status check_request(const cull_data_request *r, unsigned takes)
{
    cull_status status = CULL_OK;

    if (r->layout != CULL_LAYOUT_TOLD && !(takes & CULL_DATA_TAKES_LAYOUT))
        FAIL_OPTION("data.layout", "%s says itself where its channels are", r->name);
    if (r->side && !(takes & CULL_DATA_TAKES_SIDE))
        FAIL_OPTION("data.size", "%s holds no pictures to be scaled", r->name);
    if (r->fit != CULL_FIT_COVER && !(takes & CULL_DATA_TAKES_SIDE))
        FAIL_OPTION("data.fit", "%s holds no pictures to be scaled", r->name);
    if (r->label && !(takes & CULL_DATA_TAKES_LABEL))
        FAIL_OPTION("data.label", "%s has no columns to choose from", r->name);
    if (r->missing != CULL_MISSING_REFUSED && !(takes & CULL_DATA_TAKES_MISSING))
        FAIL_OPTION("data.missing", "%s is no table with cells that may be missing", r->name);
    if (r->tokenizer && !(takes & CULL_DATA_TAKES_PIECES))
        FAIL_OPTION("data.tokenizer", "%s holds no texts to be cut into pieces", r->name);
    if (r->length && !(takes & CULL_DATA_TAKES_PIECES))
        FAIL_OPTION("data.length", "%s holds no texts to be cut into pieces", r->name);
    if (r->text && !(takes & CULL_DATA_TAKES_TEXT))
        FAIL_OPTION("data.text", "%s has no columns or fields to choose from", r->name);
    if (r->target != CULL_TARGET_CLASS && !(takes & CULL_DATA_TAKES_TARGET))
        FAIL_OPTION("model.loss", "%s has a class for each example, and this loss wants others",
                    r->name);
done:
    return status;
}

/* The last part of a path, or all of a name. */
static cull_status create_set(const char *path, cull_dataset **out)
{
    cull_status status = CULL_OK;
    size_t      length = strlen(path), first = 0;
    char        name[CULL_DATA_NAME];

    while (length > 1 && path[length - 1] == '/') length--;
    for (size_t i = 0; i + 1 < length; i++)
        if (path[i] == '/') first = i + 1;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length - first), path + first);
    TRY(cull_data_create(name, out));
done:
    return status;
}

cull_status cull_data_open_plain(const cull_data_request *request, const cull_dataset *train,
                                 const cull_data_once *once, bool *measured, cull_dataset **out)
{
    cull_status             status = CULL_OK;
    const struct known     *known = find_known(request->name);
    const cull_data_format *format = NULL;
    cull_dataset           *set = NULL;

    *measured = false;
    if (!known) format = cull_data_format_of(request->name);
    if (!known && !format) TRY(say_unknown(request->name));
    TRY(check_request(request, format ? format->takes : 0));
    TRY(create_set(request->name, &set));
    set->like = train;
    set->once = once;
    if (known)
        TRY(open_known(known, request->role, resolve_root(request->root), set, measured));
    else
        TRY(format->read(request, set, measured));
    set->like = NULL;
    set->once = NULL;
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

cull_status cull_data_open_test(const cull_data_request *request, const cull_dataset *train,
                                cull_dataset **out)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;
    bool          measured = false;

    TRY(cull_data_open_plain(request, train, NULL, &measured, &set));
    if (!measured) TRY(cull_data_measure(set));
    if (!request->unlabelled) TRY(cull_data_inspect(set));
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

cull_status cull_data_open(const cull_data_request *request, cull_dataset **out)
{
    return cull_data_open_test(request, NULL, out);
}

static bool list_set(const char *root, size_t i, cull_data_listing *out)
{
    char         folder[CULL_DATA_PATH];
    struct found found; /* 10 paths */

    if (i >= SETS) return false;
    *out = (cull_data_listing){.name = sets[i].name, .doc = sets[i].doc, .get = sets[i].advice};
    for (size_t f = 0; f <= FOLDERS && !out->train && !out->test; f++) {
        if (!folder_at(&sets[i], resolve_root(root), f, folder)) continue;
        out->train = find_files(&sets[i], CULL_DATA_TRAIN, folder, &found);
        out->test = find_files(&sets[i], CULL_DATA_TEST, folder, &found);
        if (out->train || out->test) memcpy(out->folder, folder, sizeof folder);
    }
    return true;
}

bool cull_data_list(const char *root, size_t i, cull_data_listing *out)
{
    cull_data_listing line;

    if (cull_sized_read("cull_data_listing", out, sizeof line, &line) != CULL_OK) return false;
    if (!list_set(root, i, &line)) return false;
    cull_sized_give(out, &line, sizeof line);
    return true;
}
