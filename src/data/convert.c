/* data/convert.c - a set in another form, as the public API has it. */
#include "data/convert.h"

#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/sized.h"
#include "data/format.h"
#include "data/inspect.h"

/* What is told of one set. */
struct teller {
    const cull_data_conversion *options;
    cull_data_progress          progress;
};

static bool tell(void *context, uint64_t done)
{
    struct teller *t = context;

    t->progress.done = done;
    return t->options->tell(t->options->context, &t->progress);
}

static bool tell_reading(void *context, uint64_t done, uint64_t count)
{
    struct teller *t = context;

    t->progress.count = count;
    return tell(t, done);
}

static cull_status open_once(const cull_data_request *request, const cull_data_conversion *options,
                             bool *measured, cull_dataset **out)
{
    struct teller  teller = {options, {.role = request->role, .reading = true}};
    cull_data_once once = {options->tell ? tell_reading : NULL, &teller};

    return cull_data_open_plain(request, NULL, &once, measured, out);
}

/* Both sets may say the same. */
static void warn(const cull_data_conversion *options, cull_dataset *const set[2])
{
    for (int role = CULL_DATA_TRAIN; options->warn && role <= CULL_DATA_TEST; role++)
        for (size_t i = 0; set[role] && i < set[role]->remarks.count; i++) {
            const char *text = set[role]->remarks.text[i];
            bool        again = role == CULL_DATA_TEST &&
                         cull_texts_find(&set[0]->remarks, text) < set[0]->remarks.count;

            if (!again) options->warn(options->context, text);
        }
}

/* There need not be a test set. */
static cull_status open_test(const cull_data_request *request, const cull_data_conversion *options,
                             cull_dataset **out)
{
    cull_status       status = CULL_OK;
    cull_data_request test = *request;
    bool              measured = false;

    test.role = CULL_DATA_TEST;
    status = open_once(&test, options, &measured, out);
    if (status == CULL_BAD_FILE && strcmp(cull_last_subject(), "data.test") == 0) return CULL_OK;
    TRY(status);
    TRY(cull_data_inspect(*out));
done:
    return status;
}

static cull_data_way way_of(const cull_data_conversion *options, struct teller *teller,
                            cull_data_role role, const cull_dataset *set)
{
    *teller = (struct teller){options, {.role = role, .count = set ? set->count : 0}};
    return (cull_data_way){
        .threads = options->threads, .tell = options->tell ? tell : NULL, .context = teller};
}

/* Images are measured on the way; of features, the mean is known before the deviation is begun. */
static cull_status convert_folder(const cull_data_request *request, const char *path,
                                  const cull_data_conversion *options)
{
    cull_status   status = CULL_OK;
    cull_dataset *set[2] = {NULL, NULL};
    cull_data_way way[2];
    struct teller teller[2];
    uint64_t     *sums = NULL;
    bool          measured = false;

    TRY(open_once(request, options, &measured, &set[0]));
    if (!measured && set[0]->dtype != CULL_U8) {
        TRY(cull_data_measure(set[0]));
        measured = true;
    }
    TRY(cull_data_inspect(set[0]));
    if (!options->one_role && request->role == CULL_DATA_TRAIN)
        TRY(open_test(request, options, &set[1]));
    if (set[1]) TRY(cull_data_adopt(set[1], set[0]));
    warn(options, set);
    way[0] = way_of(options, &teller[0], request->role, set[0]);
    way[1] = way_of(options, &teller[1], CULL_DATA_TEST, set[1]);
    if (!measured) {
        TRY(cull_base_alloc(2 * set[0]->channels, sizeof *sums, "measuring a data set", &sums));
        way[0].sums = sums;
    }
    TRY(cull_data_folder_write(set, path, way));
done:
    cull_base_free(sums);
    cull_data_close(set[0]);
    cull_data_close(set[1]);
    return status;
}

static cull_status convert_npz(const cull_data_request *request, const char *path,
                               const cull_data_conversion *options)
{
    cull_status   status = CULL_OK;
    cull_dataset *set[2] = {NULL, NULL};
    struct teller teller;
    bool          measured = false;

    TRY(open_once(request, options, &measured, &set[0]));
    TRY(cull_data_inspect(set[0]));
    warn(options, set);
    TRY(cull_data_npz_write(set[0], path, way_of(options, &teller, request->role, set[0])));
done:
    cull_data_close(set[0]);
    return status;
}

/* What is read must not be written over, nor have what is written for a part of it. */
static cull_status check_apart(const char *source, const char *path)
{
    if (cull_data_is_known(source) || !cull_base_lies_in(path, source)) return CULL_OK;
    return cull_fail_about(CULL_EXISTS, path, "%s: %s %s, which is converted", path,
                           cull_base_is_folder(source) ? "lies in" : "is", source);
}

cull_status cull_data_convert(const cull_data_request *request, const char *path,
                              const cull_data_conversion *options)
{
    cull_status          status = CULL_OK;
    cull_data_request    request_room;
    cull_data_conversion room, none = {0};

    SIZED(cull_data_request, request, request_room);
    SIZED(cull_data_conversion, options, room);
    if (!options) options = &none;
    if (cull_data_ends_with(path, ".npy"))
        FAIL(CULL_BAD_ARGUMENT,
             "%s: inputs and labels are two arrays; name a file that ends in "
             ".npz, or a folder",
             path);
    TRY(check_apart(request->name, path));
    TRY((cull_data_ends_with(path, ".npz") ? convert_npz : convert_folder)(request, path, options));
done:
    return status;
}
