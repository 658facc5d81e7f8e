/*
 * data/picture_set.c - a folder of pictures as a data set, as docs/formats.md says.
 *
 *     list the files -> look at every header -> what all of them become -> decode every picture
 *
 * Whoever trains shall not meet a damaged picture after an hour, so each is decoded once before a
 * set is open: into memory where they all fit, else to be checked and measured, and again whenever
 * it is asked for. Threads share the files out; what is found does not depend on who looks.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/threads.h"
#include "data/format.h"
#include "data/kept_rows.h"
#include "data/labels.h"
#include "data/picture_file.h"
#include "data/picture_list.h"

enum {
    PREFIX = 1 << 16, /* holds most headers */
    SENTENCE = 512,
    SUBJECT = 64,
    COLOURS = 3
};

/* What is known of a file. */
struct seen {
    cull_picture_head head;
    bool              picture; /* else it is left out */
    bool              bad;
};

/* What the rows of a set are made from. */
struct pictures {
    cull_picture_list  list;
    cull_picture_frame frame;
    uint8_t           *base; /* all of them; NULL: made when asked for */
};

/* Work on every file, by several threads. */
struct job {
    struct pictures    *pictures;
    struct seen        *seen;    /* [count] */
    const cull_dataset *set;     /* where examples are measured              */
    uint8_t            *scratch; /* a row for each worker                    */
    uint64_t           *sums;    /* sum and square of each channel, likewise */
    cull_status (*work)(struct job *job, size_t i, unsigned worker);

    /* Failures: the first in the list's order is told. */
    pthread_mutex_t       lock;
    const cull_data_once *once; /* who is told how far it is; NULL: nobody */
    size_t                done;
    bool                  stopped;
    size_t                failures, first;
    cull_status           status;
    char                  sentence[SENTENCE], subject[SUBJECT];
};

/* ---- files ---- */

/* The first bytes of a file, up to `most` of them; *all says whether those are all. */
static cull_status load(const char *path, size_t most, cull_picture_file *out, bool *all)
{
    cull_status      status = CULL_OK;
    cull_data_source source = {.fd = -1};
    unsigned char   *data = NULL;
    size_t           size = 0;

    TRY(cull_data_source_open(path, &source));
    if (source.size > CULL_PICTURE_MOST_BYTES)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes; a picture has at most 2^30", path,
             (unsigned long long)source.size);
    size = source.size < most ? (size_t)source.size : most;
    TRY(cull_base_grow(size, 1, "a picture's file", &data));
    TRY(cull_data_source_read(&source, 0, data, size));
    *out = (cull_picture_file){.name = path, .data = data, .size = size};
    *all = size == source.size;
    data = NULL;
done:
    cull_base_free(data);
    cull_data_source_close(&source);
    return status;
}

static void unload(cull_picture_file *file)
{
    cull_base_free((void *)(uintptr_t)file->data);
    *file = (cull_picture_file){0};
}

static cull_status look_at(struct job *job, size_t i, unsigned worker)
{
    const cull_picture_list *list = &job->pictures->list;
    struct seen             *seen = &job->seen[i];
    cull_status              status = CULL_OK;
    cull_picture_file        file = {0};
    char                     path[CULL_DATA_PATH];
    bool                     all = false;

    (void)worker;
    TRY(cull_data_picture_whole(list, i, path));
    TRY(load(path, PREFIX, &file, &all));
    seen->picture = cull_data_picture_kind(&file) || cull_data_picture_named(path);
    if (!seen->picture) goto done;
    status = cull_data_picture_look(&file, &seen->head);
    if (status == CULL_BAD_FILE && !all) {
        unload(&file);
        TRY(load(path, SIZE_MAX, &file, &all));
        TRY(cull_data_picture_look(&file, &seen->head));
    }
done:
    unload(&file);
    return status;
}

static cull_status make_row(const struct pictures *p, size_t i, uint8_t *out)
{
    cull_status       status = CULL_OK;
    cull_picture_file file = {0};
    char              path[CULL_DATA_PATH];
    bool              all = false;

    TRY(cull_data_picture_whole(&p->list, i, path));
    TRY(load(path, SIZE_MAX, &file, &all));
    TRY(cull_data_picture_make(&file, &p->frame, out));
done:
    unload(&file);
    return status;
}

/* Into memory, or to see that it can be done and what comes out. */
static cull_status decode(struct job *job, size_t i, unsigned worker)
{
    cull_status status = CULL_OK;
    size_t      row = cull_data_row(job->set);
    uint64_t   *sums = job->sums + (size_t)worker * 2 * COLOURS;
    uint8_t    *base = job->pictures->base;
    uint8_t    *out = base ? base + i * row : job->scratch + worker * row;

    TRY(make_row(job->pictures, i, out));
    cull_data_add_image(job->set, out, sums, sums + COLOURS);
done:
    return status;
}

/* ---- all files ---- */

static void keep_failure(struct job *job, size_t i, cull_status status)
{
    job->seen[i].bad = true;
    pthread_mutex_lock(&job->lock);
    if (job->failures++ == 0 || i < job->first) {
        job->first = i;
        job->status = status;
        (void)snprintf(job->sentence, sizeof job->sentence, "%s", cull_last_error());
        (void)snprintf(job->subject, sizeof job->subject, "%s", cull_last_subject());
    }
    pthread_mutex_unlock(&job->lock);
}

static bool is_stopped(struct job *job)
{
    bool stopped = false;

    pthread_mutex_lock(&job->lock);
    stopped = job->stopped;
    pthread_mutex_unlock(&job->lock);
    return stopped;
}

/* One example more; those that others were at when it was stopped do not count. */
static void tell(struct job *job)
{
    const cull_data_once *once = job->once;

    pthread_mutex_lock(&job->lock);
    if (!job->stopped)
        job->stopped = !once->tell(once->context, ++job->done, job->pictures->list.count);
    pthread_mutex_unlock(&job->lock);
}

static void run_task(void *context, size_t i, unsigned worker)
{
    struct job *job = context;
    cull_status status = CULL_OK;

    if (job->once && is_stopped(job)) return;
    status = job->work(job, i, worker);
    if (status) keep_failure(job, i, status);
    if (job->once) tell(job);
}

/* The first failure, and the names of the others as far as there is room. */
static cull_status tell_failures(const struct job *job)
{
    const cull_picture_list *list = &job->pictures->list;
    char                     others[SENTENCE / 2] = "";
    size_t                   at = 0;

    if (job->failures == 0) return CULL_OK;
    for (size_t i = job->first + 1; i < list->count && at < sizeof others; i++) {
        int put = 0;
        if (!job->seen[i].bad) continue;
        put = snprintf(others + at, sizeof others - at, "%s%s", at ? ", " : "",
                       cull_data_picture_path(list, i));
        at += put > 0 ? (size_t)put : 0;
    }
    if (job->failures == 1) return cull_fail_about(job->status, job->subject, "%s", job->sentence);
    return cull_fail_about(job->status, job->subject, "%s; %zu more cannot be read: %s%s",
                           job->sentence, job->failures - 1, others,
                           at < sizeof others ? "" : "...");
}

static cull_status run_job(struct job *job, cull_team *team,
                           cull_status (*work)(struct job *job, size_t i, unsigned worker))
{
    job->work = work;
    pthread_mutex_init(&job->lock, NULL);
    cull_team_run(team, job->pictures->list.count, run_task, job);
    pthread_mutex_destroy(&job->lock);
    if (job->stopped)
        return cull_fail(CULL_STOPPED, "%s: stopped after %zu examples", job->pictures->list.root,
                         job->done);
    return tell_failures(job);
}

/* ---- what there is, and what becomes of it ---- */

/* Files that are no pictures go; but if most are none, this is no such folder. */
static cull_status leave_out(cull_picture_list *list, struct seen *seen, cull_dataset *into)
{
    cull_status status = CULL_OK;
    const char *first = NULL;
    size_t      files = list->count, kept = 0;

    for (size_t i = 0; i < files; i++) {
        if (!first && !seen[i].picture) first = cull_data_picture_path(list, i);
        if (!seen[i].picture) continue;
        list->entry[kept] = list->entry[i];
        seen[kept++] = seen[i];
    }
    list->count = kept;
    if (kept == 0)
        FAIL(CULL_BAD_FILE, "%s: no JPEG, PNG or WebP picture lies in its folders", list->root);
    if (files - kept > kept)
        FAIL(CULL_BAD_FILE, "%s: %zu of its %zu files are no JPEG, PNG or WebP pictures, as %.200s",
             list->root, files - kept, files, first);
    if (first)
        TRY(cull_data_remark(into, "%s: %zu files are no pictures and are left out, as %.200s",
                             list->root, files - kept, first));
done:
    return status;
}

static bool has_colour(const cull_picture_list *list, const struct seen *seen)
{
    for (size_t i = 0; i < list->count; i++)
        if (seen[i].picture && !seen[i].bad && !seen[i].head.grey) return true;
    return false;
}

static cull_status look_at_all(struct pictures *p, cull_team *team, struct seen **seen)
{
    cull_status status = CULL_OK;
    struct job  job = {.pictures = p};

    TRY(cull_base_alloc(p->list.count, sizeof **seen, "a folder of pictures", seen));
    job.seen = *seen;
    TRY(run_job(&job, team, look_at));
done:
    return status;
}

/* The folder's other set, whose examples must be of the same shape. If something is wrong with it,
 * that is told when it is opened. */
static cull_status other_has_colour(const cull_data_request *r, cull_team *team, bool *out)
{
    cull_status       status = CULL_OK;
    struct pictures   other = {0};
    struct seen      *seen = NULL;
    cull_picture_want want = r->role == CULL_DATA_TEST ? CULL_PICTURES_TRAIN : CULL_PICTURES_TEST;

    status = cull_data_picture_list_read(r->name, want, false, &other.list);
    if (status == CULL_OK) status = look_at_all(&other, team, &seen);
    if (seen) *out = has_colour(&other.list, seen);
    cull_base_free(seen);
    cull_data_picture_list_clear(&other.list);
    return status == CULL_NO_MEMORY ? status : CULL_OK;
}

/* As asked for, as what was trained on has, or as all pictures of both sets need. */
static cull_status choose_channels(const cull_data_request *r, struct pictures *p,
                                   const struct seen *seen, cull_team *team,
                                   const cull_dataset *like)
{
    cull_status status = CULL_OK;
    bool        colour = has_colour(&p->list, seen);

    p->frame.channels = r->channels ? r->channels : like ? like->channels : 0;
    if (p->frame.channels != 1 && p->frame.channels != COLOURS) {
        if (!colour && !r->unlabelled) TRY(other_has_colour(r, team, &colour));
        p->frame.channels = colour ? COLOURS : 1;
    }
done:
    return status;
}

/* All pictures have the size of the first, or will have one that is asked for. */
static cull_status choose_size(const cull_data_request *r, struct pictures *p,
                               const struct seen *seen)
{
    cull_status              status = CULL_OK;
    const cull_picture_list *list = &p->list;
    size_t                   w = r->side, h = r->side, width = 0, height = 0;

    if (!r->side) cull_data_picture_upright(&seen[0].head, &w, &h);
    for (size_t i = 1; i < list->count && !r->side; i++) {
        cull_data_picture_upright(&seen[i].head, &width, &height);
        if (width != w || height != h)
            FAIL_ABOUT(CULL_BAD_OPTION, "data.size",
                       "%s: %.100s has %zux%zu pixels, %.100s has %zux%zu; set data.size to what "
                       "all shall be scaled to",
                       list->root, cull_data_picture_path(list, 0), w, h,
                       cull_data_picture_path(list, i), width, height);
    }
    p->frame.height = h;
    p->frame.width = w;
    p->frame.scaled = r->side != 0;
    p->frame.fit = r->fit;
done:
    return status;
}

/* ---- rows ---- */

static cull_status read_row(const cull_data_rows *rows, uint32_t row, void *out)
{
    return make_row(rows->self, row, out);
}

static const char *name_row(const cull_data_rows *rows, uint32_t row)
{
    const struct pictures *p = rows->self;

    return cull_data_picture_path(&p->list, row);
}

static void close_pictures(void *self)
{
    struct pictures *p = self;

    if (!p) return;
    cull_data_picture_list_clear(&p->list);
    cull_base_free(p->base);
    cull_base_free(p);
}

static const cull_data_rows_class picture_rows = {
    .read = read_row, .close = close_pictures, .name = name_row};

/* Labels and classes; the examples themselves are still to be made. *p becomes the rows'. */
static cull_status hold(struct pictures **p, cull_dataset *into)
{
    cull_status              status = CULL_OK;
    const cull_picture_list *list = &(*p)->list;
    cull_data_rows          *rows = NULL;

    TRY(cull_data_rows_create(&picture_rows, *p, (*p)->base, list->count, &rows));
    *p = NULL;
    TRY(cull_data_hold(into, list->root, rows));
    for (size_t i = 0; i < list->count; i++)
        cull_data_labels(into)[i] = (int32_t)list->entry[i].class;
    TRY(cull_texts_copy(&into->class_names, &list->classes));
    into->classes = list->classes.count ? list->classes.count : CULL_DATA_FEWEST_CLASSES;
    into->count = list->count;
done:
    cull_data_rows_release(rows);
    return status;
}

static const cull_data_once *told(const cull_dataset *set)
{
    return set->once && set->once->tell ? set->once : NULL;
}

/* Every picture once: into base, or only looked at. Either way the constants are then known. */
static cull_status decode_all(struct pictures *p, struct seen *seen, cull_team *team,
                              cull_dataset *into)
{
    cull_status status = CULL_OK;
    struct job  job = {.pictures = p, .seen = seen, .set = into, .once = told(into)};
    size_t      workers = cull_team_size(team);

    if (!p->base) TRY(cull_base_grow(workers, cull_data_row(into), "a picture", &job.scratch));
    TRY(cull_base_alloc(workers * 2 * COLOURS, sizeof *job.sums, "measuring a data set",
                        &job.sums));
    TRY(run_job(&job, team, decode));
    for (size_t k = 2 * COLOURS; k < workers * 2 * COLOURS; k++)
        job.sums[k % (2 * COLOURS)] += job.sums[k];
    cull_data_settle_images(into, job.sums, job.sums + COLOURS);
done:
    cull_base_free(job.sums);
    cull_base_free(job.scratch);
    return status;
}

static cull_picture_want want_of(const cull_data_request *r, const cull_dataset *into)
{
    if (r->role == CULL_DATA_TEST) return CULL_PICTURES_TEST;
    return into->like ? CULL_PICTURES_ALONE : CULL_PICTURES_TRAIN;
}

cull_status cull_data_pictures_read(const cull_data_request *r, unsigned threads,
                                    uint64_t most_bytes, cull_dataset *into, bool *measured)
{
    cull_status      status = CULL_OK;
    struct pictures *p = NULL, *kept = NULL;
    struct seen     *seen = NULL;
    cull_team       *team = NULL;

    if (r->fit != CULL_FIT_COVER && !r->side)
        FAIL_OPTION("data.fit", "nothing is scaled without data.size");
    TRY(cull_team_create(threads, &team));
    TRY(cull_base_alloc(1, sizeof *p, "a folder of pictures", &p));
    kept = p;
    TRY(cull_data_picture_list_read(r->name, want_of(r, into), r->unlabelled, &p->list));
    for (size_t i = 0; i < p->list.remarks.count; i++)
        TRY(cull_data_remark(into, "%s", p->list.remarks.text[i]));
    TRY(look_at_all(p, team, &seen));
    TRY(leave_out(&p->list, seen, into));
    TRY(choose_channels(r, p, seen, team, into->like));
    TRY(choose_size(r, p, seen));
    TRY(cull_data_shape(into, p->list.root, CULL_U8, p->frame.channels, p->frame.height,
                        p->frame.width));
    if (p->list.count <= most_bytes / cull_data_row(into))
        TRY(cull_base_grow(p->list.count, cull_data_row(into), "the pictures of a data set",
                           &p->base));
    TRY(hold(&p, into));
    TRY(decode_all(kept, seen, team, into));
    if (!cull_data_base(into)) TRY(cull_data_remark_unkept(into, r->name));
    *measured = true;
done:
    cull_base_free(seen);
    close_pictures(p);
    cull_team_destroy(team);
    return status;
}

/* ---- the format ---- */

static cull_status read_pictures(const cull_data_request *request, cull_dataset *into,
                                 bool *measured)
{
    return cull_data_pictures_read(request, 0, cull_data_most_kept(), into, measured);
}

const cull_data_format cull_data_pictures_format = {
    .doc = "folders that hold one folder of pictures for each class",
    .takes = CULL_DATA_TAKES_SIDE,
    .fits = cull_base_is_folder,
    .read = read_pictures};
