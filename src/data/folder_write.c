/*
 * data/folder_write.c - sets as arrays of a folder, which is whole or not a set at all.
 *
 * All arrays are written under temporary names. Then set.json appears, which promises them, and
 * then they do, the training inputs last: until those are there, the folder is refused.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "data/convert.h"
#include "data/npy.h"
#include "data/reader.h"
#include "data/set_file.h"

enum { ARRAYS = 4 };

/* In the order in which they take their names: role, and which of inputs (0) and targets (1). */
static const int order[ARRAYS][2] = {
    {CULL_DATA_TEST, 1}, {CULL_DATA_TEST, 0}, {CULL_DATA_TRAIN, 1}, {CULL_DATA_TRAIN, 0}};

struct work {
    const char    *folder;
    bool           made; /* the folder is ours */
    char           path[2][2][CULL_DATA_PATH], set_file[CULL_DATA_PATH];
    cull_data_sink sink[2][2];
    bool           named; /* set.json is there */
};

/* What hides (a file that was being made, say) is nothing. */
static cull_status check_empty(const char *path)
{
    cull_status          status = CULL_OK;
    DIR                 *folder = opendir(path);
    const struct dirent *file = NULL;

    if (!folder) FAIL(CULL_IO, "%s: cannot open: %s", path, strerror(errno));
    while ((file = readdir(folder)))
        if (file->d_name[0] != '.')
            FAIL_ABOUT(CULL_EXISTS, path,
                       "%s: holds %s already; name a folder that is empty or "
                       "not there",
                       path, file->d_name);
done:
    if (folder) (void)closedir(folder);
    return status;
}

static cull_status make_folder(struct work *w)
{
    cull_status status = CULL_OK;
    struct stat info;

    if (stat(w->folder, &info) == 0) {
        if (!S_ISDIR(info.st_mode))
            FAIL_ABOUT(CULL_EXISTS, w->folder,
                       "%s: is a file; name a folder, or a file that ends "
                       "in .npz",
                       w->folder);
        TRY(check_empty(w->folder));
    } else {
        TRY(cull_base_make_folders(w->folder));
        w->made = mkdir(w->folder, 0777) == 0 || errno == EEXIST;
        if (!w->made) FAIL(CULL_IO, "%s: cannot create: %s", w->folder, strerror(errno));
    }
    TRY(cull_base_join(w->folder, CULL_DATA_SET_FILE, w->set_file));
    for (int role = 0; role < 2; role++)
        for (int i = 0; i < 2; i++)
            TRY(cull_base_join(w->folder, cull_data_set_arrays[role][i], w->path[role][i]));
done:
    return status;
}

static cull_status begin_array(struct work *w, int role, int i, cull_tensor view)
{
    cull_status status = CULL_OK;
    char        header[CULL_DATA_NPY_HEADER];
    size_t      length = cull_data_npy_header(&view, header);

    TRY(cull_data_sink_open(w->path[role][i], &w->sink[role][i]));
    TRY(cull_data_sink_write(&w->sink[role][i], header, length));
done:
    return status;
}

static cull_status write_role(struct work *w, int role, const cull_dataset *set, cull_data_way way)
{
    cull_status status = CULL_OK;

    TRY(begin_array(w, role, 0, cull_data_inputs_view(set)));
    way.sink = &w->sink[role][0];
    TRY(cull_data_write_inputs(set, &way));
    TRY(begin_array(w, role, 1, cull_data_targets_view(set)));
    TRY(cull_data_sink_write(&w->sink[role][1], set->target.data,
                             set->count * cull_data_target_bytes(set)));
done:
    return status;
}

static cull_status give_names(struct work *w, cull_dataset *const set[2])
{
    cull_status    status = CULL_OK;
    const uint64_t count[2] = {set[0]->count, set[1] ? set[1]->count : 0};

    TRY(cull_data_set_file_write(w->set_file, set[0], set[0]->name, count));
    w->named = true;
    for (size_t i = 0; i < ARRAYS; i++)
        if (count[order[i][0]]) TRY(cull_data_sink_commit(&w->sink[order[i][0]][order[i][1]]));
done:
    return status;
}

/* As it was before; what has a name already loses it, the promise last. */
static void take_back(struct work *w)
{
    for (size_t i = ARRAYS; i-- > 0;) {
        int role = order[i][0], which = order[i][1];
        cull_data_sink_close(&w->sink[role][which]);
        if (w->named) (void)unlink(w->path[role][which]);
    }
    if (w->named) (void)unlink(w->set_file);
    if (w->made) (void)rmdir(w->folder);
}

cull_status cull_data_folder_write(cull_dataset *const set[2], const char *path,
                                   const cull_data_way way[2])
{
    cull_status status = CULL_OK;
    struct work w = {.folder = path, .sink = {{{.fd = -1}, {.fd = -1}}, {{.fd = -1}, {.fd = -1}}}};
    bool        begun = false;

    TRY(make_folder(&w));
    begun = true;
    for (int role = 0; role < 2; role++)
        if (set[role]) TRY(write_role(&w, role, set[role], way[role]));
    if (way[0].sums) cull_data_settle_images(set[0], way[0].sums, way[0].sums + set[0]->channels);
    TRY(give_names(&w, set));
done:
    if (status && begun) take_back(&w);
    for (size_t i = 0; i < ARRAYS; i++) cull_data_sink_close(&w.sink[order[i][0]][order[i][1]]);
    return status;
}
