/*
 * data/tar_parts.c - files of archives, put together as examples.
 *
 *     which files are inputs -> which are labels -> which set is wanted -> examples of it
 */
#include "data/tar_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/texts.h"
#include "data/reader.h"
#include "data/set_words.h"

enum { WORDS = 4 };

/* A file, and what it may be part of. */
struct part {
    size_t      member;
    uint32_t    archive;
    size_t      key; /* bytes of the name before the ending                   */
    const char *name;
    int         label; /* which of the endings of labels it has; -1: an input */
};

/* What is known before examples are put together. */
struct search {
    const cull_tar_list     *list;
    const cull_data_request *request;
    cull_dataset            *into;
    struct part             *part; /* [count] inputs, and what may be labels */
    size_t                   count;
    bool                     pairs;
    int                      label;  /* ending of labels, where those are files  */
    size_t                   shared; /* bytes of the folders that all inputs share */
    cull_set_word            set;    /* NEITHER: all that there is */
};

enum { NAMED = 0, TEXTS = 5, JSON = 6, LABELS = 7 };

/* From the one that says most to those that may be something else; the first is one that is none of
 * them and data.label names. */
static const char *const labels[LABELS] = {NULL, "cls", "label", "class", "y", "txt", "json"};

static bool is_input(const char *ending)
{
    static const char *const inputs[] = {"jpg", "jpeg", "png", "webp", "npy"};

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (cull_text_is(ending, strlen(ending), inputs[i])) return true;
    return false;
}

static int label_of(const char *ending, const cull_data_request *r)
{
    for (int i = NAMED + 1; i < LABELS; i++)
        if (cull_text_is(ending, strlen(ending), labels[i])) return i;
    return r->label && strcmp(ending, r->label) == 0 ? NAMED : -1;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

/* Behind the last dot, or behind the first: where files are told to belong together by their keys,
 * as WebDataset has them, an ending may have dots of its own. */
static const char *ending_of(const char *name, bool first)
{
    const char *last = last_part(name);
    const char *dot = first ? strchr(last, '.') : strrchr(last, '.');

    return dot ? dot + 1 : "";
}

bool cull_data_tar_is_array(const char *name)
{
    const char *ending = ending_of(name, false);

    return cull_text_is(ending, strlen(ending), "npy");
}

void cull_data_tar_parts_clear(cull_tar_examples *examples)
{
    cull_base_free(examples->example);
    *examples = (cull_tar_examples){0};
}

/* ---- inputs and labels ---- */

/* All files that may be parts of examples; first: labels too, and keys end at the first dot. */
static cull_status find_parts(struct search *s, bool first)
{
    cull_status status = CULL_OK;

    cull_base_free(s->part);
    s->part = NULL;
    s->count = 0;
    TRY(cull_base_alloc(s->list->count, sizeof *s->part, "an archive's examples", &s->part));
    for (size_t i = 0; i < s->list->count; i++) {
        const char *name = cull_data_tar_name(s->list, i), *ending = ending_of(name, first);
        int         label = first ? label_of(ending, s->request) : -1;
        if (label < 0 && !is_input(ending)) continue;
        s->part[s->count++] = (struct part){.member = i,
                                            .archive = s->list->member[i].archive,
                                            .key = (size_t)(ending - 1 - name),
                                            .name = name,
                                            .label = label};
    }
done:
    return status;
}

static int by_key(const void *a, const void *b)
{
    const struct part *p = a, *q = b;
    int                order = 0;

    if (p->archive != q->archive) return p->archive < q->archive ? -1 : 1;
    order = memcmp(p->name, q->name, p->key < q->key ? p->key : q->key);
    if (order) return order;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    if (p->label != q->label) return p->label < q->label ? -1 : 1;
    return p->member < q->member ? -1 : p->member > q->member;
}

static bool same_key(const struct part *p, const struct part *q)
{
    return p->key == q->key && p->archive == q->archive && memcmp(p->name, q->name, p->key) == 0;
}

/* Which endings of labels stand beside an input. Inputs come first of a key. */
static void find_labels(const struct search *s, bool there[LABELS])
{
    for (size_t i = 0, first = 0; i < s->count; i++) {
        if (!same_key(&s->part[i], &s->part[first])) first = i;
        if (s->part[i].label >= 0 && s->part[first].label < 0) there[s->part[i].label] = true;
    }
}

/* Are labels files, and which? Only files that are parts of examples are left. */
static cull_status choose_labels(struct search *s, cull_tar_examples *out)
{
    cull_status status = CULL_OK;
    const char *asked = s->request->label;
    int         named = asked ? label_of(asked, s->request) : NAMED + 1;
    bool        there[LABELS] = {false};
    size_t      kept = 0;

    TRY(find_parts(s, true));
    if (s->count) qsort(s->part, s->count, sizeof *s->part, by_key);
    find_labels(s, there);
    if (asked && !there[named] && !there[JSON] && !s->request->unlabelled)
        FAIL_OPTION("data.label", "no file beside an input of %s ends in .%.64s", s->request->name,
                    asked);
    s->label = asked && !there[named] ? JSON : named;
    while (s->label < LABELS && !there[s->label]) s->label++;
    s->pairs = s->label < LABELS;
    if (!s->pairs) TRY(find_parts(s, false));
    for (size_t i = 0; i < s->count; i++)
        if (s->part[i].label < 0 || s->part[i].label == s->label) s->part[kept++] = s->part[i];
    s->count = kept;
    if (kept == 0)
        FAIL(CULL_BAD_FILE, "%s: holds no file that ends in jpg, jpeg, png, webp or npy",
             s->request->name);
    out->folders = !s->pairs;
    out->json = s->label == JSON;
    out->key = s->label != named ? asked : NULL;
done:
    return status;
}

/* ---- which set ---- */

/* The folder that a name begins with, or nothing. */
static size_t first_folder(const char *name)
{
    const char *slash = strchr(name, '/');

    return slash ? (size_t)(slash - name) : 0;
}

/* Bytes of the folders that all inputs share, the last slash included, but not of one that is
 * called as a set is. */
static size_t shared_folders(const struct search *s)
{
    const char *first = NULL;
    size_t      shared = 0;

    for (size_t i = 0; i < s->count; i++) {
        const char *name = s->part[i].name;
        size_t      same = 0;
        if (s->part[i].label >= 0) continue;
        if (!first) shared = (size_t)(last_part(name) - name);
        if (!first) first = name;
        while (same < shared && name[same] == first[same]) same++;
        while (same && first[same - 1] != '/') same--;
        shared = same;
    }
    for (size_t at = 0; at < shared; at += first_folder(first + at) + 1)
        if (cull_data_set_word(first + at, first_folder(first + at))) return at;
    return shared;
}

/* Which set a file belongs to: its first folder is called so, and where classes are folders there
 * is one behind it. A class may be called train too. */
static cull_set_word set_of(const struct search *s, const struct part *p)
{
    const char   *name = p->name;
    cull_set_word word = CULL_SET_NEITHER;

    if (strlen(name) <= s->shared) return word; /* a label that lies elsewhere */
    name += s->shared;
    word = cull_data_set_word(name, first_folder(name));
    return s->pairs || first_folder(name + first_folder(name) + 1) ? word : CULL_SET_NEITHER;
}

/* The one that is wanted of those that are there. */
static cull_status choose_set(struct search *s)
{
    cull_status              status = CULL_OK;
    const cull_data_request *r = s->request;
    size_t                   count[WORDS] = {0};
    bool                     tested = false;

    s->shared = shared_folders(s);
    for (size_t i = 0; i < s->count; i++)
        if (s->part[i].label < 0) count[set_of(s, &s->part[i])]++;
    tested = count[CULL_SET_TEST] + count[CULL_SET_VAL] > 0;
    s->set = CULL_SET_NEITHER;
    if (r->role == CULL_DATA_TEST || s->into->like) {
        if (tested) s->set = count[CULL_SET_TEST] ? CULL_SET_TEST : CULL_SET_VAL;
        if (s->set == CULL_SET_VAL)
            TRY(cull_data_remark(s->into, "%s: holds no test set; its validation set is taken",
                                 r->name));
        if (tested || r->unlabelled) goto done;
        if (r->role == CULL_DATA_TEST)
            TRY(cull_data_say_no_test(
                r->name, count[CULL_SET_TRAIN] ? " (test/ or val/ beside train/)" : ""));
        if (count[CULL_SET_TRAIN])
            FAIL(CULL_BAD_FILE, "%s: holds a training set, train/, and no test set (test/ or val/)",
                 r->name);
        goto done;
    }
    if (count[CULL_SET_TRAIN]) s->set = CULL_SET_TRAIN;
    if (tested && !count[CULL_SET_TRAIN] && !r->unlabelled)
        FAIL(CULL_BAD_FILE, "%s: holds a test set and no train/", r->name);
    if (count[CULL_SET_TRAIN] && count[CULL_SET_NEITHER])
        TRY(cull_data_remark(s->into, "%s: %zu inputs lie beside train/ and are not read", r->name,
                             count[CULL_SET_NEITHER]));
done:
    return status;
}

/* Files of other sets go; what is left has the folder of its own behind `shared`. */
static void keep_set(struct search *s)
{
    size_t kept = 0;

    if (s->set == CULL_SET_NEITHER) return;
    for (size_t i = 0; i < s->count; i++)
        if (set_of(s, &s->part[i]) == s->set) s->part[kept++] = s->part[i];
    s->count = kept;
}

/* ---- examples ---- */

static int by_input(const void *a, const void *b)
{
    const cull_tar_example *x = a, *y = b;

    return x->input < y->input ? -1 : x->input > y->input;
}

/* `count` files of one key, inputs first, are one of each; what is missing or there twice is named,
 * but a text or JSON that stands alone, which may be anything. */
static cull_status take_pair(const struct search *s, const struct part *part, size_t count,
                             cull_tar_examples *out)
{
    cull_status status = CULL_OK;
    const char *path = s->request->name;

    for (size_t i = 1; i < count; i++)
        if (part[i].label == part[i - 1].label)
            FAIL(CULL_BAD_FILE, "%s: both %.200s and %.200s are %s of one example", path,
                 part[i - 1].name, part[i].name, part[i].label < 0 ? "inputs" : "labels");
    if (part[0].label == TEXTS || part[0].label == JSON) goto done;
    if (part[0].label >= 0)
        FAIL(CULL_BAD_FILE, "%s: %.200s is a label without its input", path, part[0].name);
    if (count == 1 && !s->request->unlabelled)
        FAIL(CULL_BAD_FILE, "%s: %.200s has no label beside it (%.*s.%.64s)", path, part[0].name,
             part[0].key < 200 ? (int)part[0].key : 200, part[0].name,
             s->label == NAMED ? s->request->label : labels[s->label]);
    out->example[out->count++] = (cull_tar_example){
        .input = part[0].member, .label = count == 2 ? part[1].member : SIZE_MAX};
done:
    return status;
}

static cull_status pair_up(const struct search *s, cull_tar_examples *out)
{
    cull_status status = CULL_OK;

    for (size_t i = 0, next = 0; i < s->count; i = next) {
        for (next = i + 1; next < s->count && same_key(&s->part[i], &s->part[next]);) next++;
        TRY(take_pair(s, s->part + i, next - i, out));
    }
    if (out->count) qsort(out->example, out->count, sizeof *out->example, by_input);
done:
    return status;
}

/* Where folders of classes begin: behind those that all share, or, where all files are of one
 * class, so that its folder is shared too, before it. */
static size_t classes_at(const struct search *s)
{
    size_t at = s->shared;

    for (size_t i = 0; i < s->count; i++)
        if (first_folder(s->part[i].name + at)) return at;
    if (at) at--;
    while (at && s->part[0].name[at - 1] != '/') at--;
    return at;
}

static cull_status name_classes(const struct search *s, cull_tar_examples *out)
{
    cull_status status = CULL_OK;
    size_t      at = classes_at(s), length = 0;

    for (size_t i = 0; i < s->count; i++) {
        const char *name = s->part[i].name + at;
        if (s->set != CULL_SET_NEITHER) name += first_folder(name) + 1;
        length = first_folder(name);
        if (length == 0 && !s->request->unlabelled)
            FAIL(CULL_BAD_FILE,
                 "%s: %.200s lies in no folder of a class, and there are no labels (.cls, .txt or "
                 ".json) beside inputs",
                 s->request->name, s->part[i].name);
        out->example[out->count++] = (cull_tar_example){.input = s->part[i].member,
                                                        .label = SIZE_MAX,
                                                        .class_name = length ? name : NULL,
                                                        .class_length = length};
    }
done:
    return status;
}

cull_status cull_data_tar_parts(const cull_tar_list *list, const cull_data_request *r,
                                cull_dataset *into, cull_tar_examples *out)
{
    cull_status   status = CULL_OK;
    struct search s = {.list = list, .request = r, .into = into};

    TRY(choose_labels(&s, out));
    TRY(choose_set(&s));
    keep_set(&s);
    TRY(cull_base_alloc(s.count, sizeof *out->example, "an archive's examples", &out->example));
    TRY(s.pairs ? pair_up(&s, out) : name_classes(&s, out));
done:
    cull_base_free(s.part);
    return status;
}
