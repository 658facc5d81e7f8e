/* report/find.c - walks down folders until something is there to be shown. */
#include "report/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"

enum { MOST_LOOKED = 20000 };

struct walk {
    cull_rep_finds    *out;
    cull_records_list *notes;
    size_t             looked, met; /* folders; those with something in them, met before or not */
    bool               deeper;      /* some lie deeper than is looked */
};

static bool holds(const char *folder, const char *name)
{
    char path[CULL_DATA_PATH];

    return cull_base_join(folder, name, path) == CULL_OK && access(path, F_OK) == 0;
}

/* What a folder is; false: none of these. */
static cull_status recognise(const char *folder, cull_rep_kind *kind, bool *is,
                             cull_records_list *notes)
{
    static const char *const names[] = {"comparison.json", "run.json", "probe.jsonl"};
    cull_status              status = CULL_OK;

    *is = false;
    for (int i = CULL_REP_PROBE; i >= CULL_REP_COMPARISON; i--)
        if (holds(folder, names[i])) {
            *kind = (cull_rep_kind)i;
            *is = true;
        }
    if (*is && *kind == CULL_REP_COMPARISON && holds(folder, "run.json"))
        TRY(cull_records_say(
            notes, "%.700s: holds comparison.json and run.json; shown as a comparison", folder));
    if (!*is && holds(folder, "plan.json"))
        TRY(cull_records_say(notes,
                             "%.700s: a comparison that was begun and never judged; what runs it "
                             "has are shown by themselves",
                             folder));
done:
    return status;
}

static cull_status add(struct walk *w, const char *folder, cull_rep_kind kind,
                       const struct stat *about)
{
    cull_status     status = CULL_OK;
    cull_rep_finds *out = w->out;
    cull_rep_found *one = NULL;
    size_t          bytes = strlen(folder) + 1;

    w->met++;
    for (size_t i = 0; i < out->count; i++)
        if (out->found[i].device == about->st_dev && out->found[i].inode == about->st_ino)
            return CULL_OK;
    TRY(cull_records_room(out->count, &out->room, sizeof *out->found, "folders", &out->found));
    one = &out->found[out->count];
    *one = (cull_rep_found){.kind = kind, .device = about->st_dev, .inode = about->st_ino};
    TRY(cull_base_alloc(bytes, 1, "a folder's name", &one->folder));
    memcpy(one->folder, folder, bytes);
    out->count++;
done:
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders in a folder, by name. */
static cull_status list_folders(const char *folder, cull_records_list *out)
{
    cull_status          status = CULL_OK;
    DIR                 *open = opendir(folder);
    const struct dirent *entry = NULL;

    if (!open) FAIL(CULL_IO, "%.700s: cannot be looked into: %s", folder, strerror(errno));
    while ((entry = readdir(open))) {
        char        path[CULL_DATA_PATH];
        struct stat about = {0};

        if (entry->d_name[0] == '.' || cull_base_join(folder, entry->d_name, path) != CULL_OK ||
            lstat(path, &about) != 0 || !S_ISDIR(about.st_mode))
            continue;
        TRY(cull_records_say(out, "%s", entry->d_name));
    }
    if (out->count) qsort(out->text, out->count, sizeof *out->text, by_name);
done:
    if (open) (void)closedir(open);
    return status;
}

static cull_status look(struct walk *w, const char *folder, int depth);

static cull_status look_below(struct walk *w, const char *folder, int depth)
{
    cull_status       status = CULL_OK;
    cull_records_list names = {0};

    status = list_folders(folder, &names);
    if (status == CULL_IO && depth > 0)
        TRY(cull_records_say(w->notes, "%.800s", cull_last_error()));
    else
        TRY(status);
    if (depth == CULL_REP_DEPTH && names.count) w->deeper = true;
    for (size_t i = 0; i < names.count && depth < CULL_REP_DEPTH; i++) {
        char path[CULL_DATA_PATH];

        if (cull_base_join(folder, names.text[i], path) == CULL_OK) TRY(look(w, path, depth + 1));
    }
done:
    cull_records_list_clear(&names);
    return status;
}

static bool has_enough(const struct walk *w)
{
    return w->out->count >= CULL_REP_FOUND || w->looked >= MOST_LOOKED;
}

static cull_status look(struct walk *w, const char *folder, int depth)
{
    cull_status   status = CULL_OK;
    cull_rep_kind kind = CULL_REP_COMPARISON;
    bool          is = false;
    struct stat   about = {0};

    if (has_enough(w) || stat(folder, &about) != 0) goto done;
    w->looked++;
    TRY(recognise(folder, &kind, &is, w->notes));
    if (is)
        TRY(add(w, folder, kind, &about));
    else
        TRY(look_below(w, folder, depth));
done:
    return status;
}

cull_status cull_rep_find(const char *folder, cull_rep_finds *out, cull_records_list *notes)
{
    cull_status status = CULL_OK;
    struct walk w = {.out = out, .notes = notes};
    struct stat about = {0};

    if (stat(folder, &about) != 0) FAIL(CULL_IO, "%.300s: %s", folder, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        FAIL(CULL_IO, "%.300s: is no folder; give the one it lies in", folder);
    TRY(look(&w, folder, 0));
    if (has_enough(&w))
        TRY(cull_records_say(notes,
                             "%.300s: holds more than a page shows; %zu folders of it are here, "
                             "the others are left out",
                             folder, w.met));
    if (w.met == 0)
        FAIL(CULL_IO,
             "%.300s: nothing in it or below it%s is a comparison, a run or a probe: there is no "
             "comparison.json, run.json or probe.jsonl",
             folder, w.deeper ? ", down to six levels," : "");
done:
    return status;
}

void cull_rep_finds_clear(cull_rep_finds *finds)
{
    for (size_t i = 0; i < finds->count; i++) cull_base_free(finds->found[i].folder);
    cull_base_free(finds->found);
    *finds = (cull_rep_finds){0};
}
