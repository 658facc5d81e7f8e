/* data/tar_parts.c - files of an archive, put together as examples. */
#include "data/tar_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/texts.h"
#include "data/reader.h"

enum { OTHER, INPUT, LABEL };

/* A file, and what it may be part of. */
struct part {
    const cull_tar_list *list;
    size_t               member;
    const char          *name;
    size_t               key; /* bytes of the name before the ending that pairs are told by */
    int                  kind;
};

static const char *const inputs[] = {"jpg", "jpeg", "png", "webp", "npy", NULL};
static const char *const labels[] = {"cls", "label", "class", "y", NULL};

static bool is_one_of(const char *ending, const char *const *words)
{
    for (; *words; words++)
        if (cull_text_is(ending, strlen(ending), *words)) return true;
    return false;
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

/* ---- which set ---- */

/* Bytes of the folders that all inputs share, the last slash included. */
static size_t shared_folders(const cull_tar_list *list)
{
    const char *first = NULL;
    size_t      shared = 0;

    for (size_t i = 0; i < list->count; i++) {
        const char *name = cull_data_tar_name(list, i);
        size_t      same = 0;
        if (!is_one_of(ending_of(name, false), inputs)) continue;
        if (!first) {
            first = name;
            shared = (size_t)(last_part(name) - name);
        }
        while (same < shared && name[same] == first[same]) same++;
        while (same && first[same - 1] != '/') same--;
        shared = same;
    }
    return shared;
}

/* The folder that a name begins with, or nothing. */
static size_t first_folder(const char *name)
{
    const char *slash = strchr(name, '/');

    return slash ? (size_t)(slash - name) : 0;
}

/* Which of the sets' folders there are; false: some input lies elsewhere. */
static bool find_sets(const cull_tar_list *list, size_t shared, bool there[4])
{
    static const char *const names[] = {"train", "test", "val", "validation"};
    bool                     any = false;

    for (size_t i = 0; i < list->count; i++) {
        const char *name = cull_data_tar_name(list, i);
        size_t      set = 0;
        if (!is_one_of(ending_of(name, false), inputs)) continue;
        name += shared;
        while (set < 4 && !cull_text_is(name, first_folder(name), names[set])) set++;
        if (set == 4) return false;
        there[set] = any = true;
    }
    return any;
}

/* The folder of the set that is wanted, behind those that all share; NULL: the archive is one set.
 * CULL_BAD_FILE when there is none. */
static cull_status choose_set(const cull_tar_list *list, const cull_data_request *r, size_t shared,
                              cull_dataset *into, const char **out)
{
    static const char *const names[] = {"train", "test", "val", "validation"};
    cull_status              status = CULL_OK;
    bool                     there[4] = {false};
    bool                     split = find_sets(list, shared, there);
    size_t                   set = 0;

    *out = NULL;
    if (!split) {
        if (r->role == CULL_DATA_TEST) TRY(cull_data_no_test(r->name));
        goto done;
    }
    if (r->role == CULL_DATA_TEST || (into->like && (there[1] || there[2] || there[3]))) set = 1;
    while (set && set < 4 && !there[set]) set++;
    if (set == 4) TRY(cull_data_no_test(r->name));
    if (set == 0 && !there[0])
        FAIL(CULL_BAD_FILE, "%s: holds no training set; there is no folder train/", r->name);
    if (set == 1 && (there[2] || there[3]))
        TRY(cull_data_remark(into, "%s: its test set is taken, its validation set is left out",
                             r->name));
    *out = names[set];
done:
    return status;
}

/* ---- the files of a set ---- */

static uint32_t archive_of(const struct part *p)
{
    return p->list->member[p->member].archive;
}

static int by_key(const void *a, const void *b)
{
    const struct part *p = a, *q = b;
    int                order = 0;

    if (archive_of(p) != archive_of(q)) return archive_of(p) < archive_of(q) ? -1 : 1;
    order = strncmp(p->name, q->name, p->key < q->key ? p->key : q->key);
    if (order) return order;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
    return p->member < q->member ? -1 : p->member > q->member;
}

static int by_input(const void *a, const void *b)
{
    const cull_tar_example *x = a, *y = b;

    return x->input < y->input ? -1 : x->input > y->input;
}

static bool is_label(const char *ending, const cull_data_request *r)
{
    return r->label ? strcmp(ending, r->label) == 0 : is_one_of(ending, labels);
}

/* Are there labels as files? */
static bool has_labels(const cull_tar_list *list, const cull_data_request *r)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_label(ending_of(cull_data_tar_name(list, i), true), r)) return true;
    return false;
}

/* The files of a set that are parts of examples, one way or the other. */
static cull_status find_parts(const cull_tar_list *list, const cull_data_request *r, size_t shared,
                              const char *set, bool pairs, struct part **out, size_t *count)
{
    cull_status  status = CULL_OK;
    struct part *part = NULL;
    size_t       found = 0;

    TRY(cull_base_alloc(list->count, sizeof *part, "an archive's examples", &part));
    for (size_t i = 0; i < list->count; i++) {
        const char *name = cull_data_tar_name(list, i), *ending = ending_of(name, pairs);
        int         kind = is_one_of(ending, inputs) ? INPUT : OTHER;
        if (pairs && is_label(ending, r)) kind = LABEL;
        if (kind == OTHER) continue;
        if (set && (strlen(name) < shared ||
                    !cull_text_is(name + shared, first_folder(name + shared), set)))
            continue;
        part[found++] = (struct part){.list = list,
                                      .member = i,
                                      .name = name,
                                      .key = (size_t)(ending - 1 - name),
                                      .kind = kind};
    }
    *out = part;
    *count = found;
done:
    return status;
}

static bool same_example(const struct part *p, const struct part *q)
{
    return p->key == q->key && archive_of(p) == archive_of(q) &&
           memcmp(p->name, q->name, p->key) == 0;
}

/* `count` files of one key, inputs first, must be one of each; what is missing or there twice is
 * named. */
static cull_status take_pair(const char *path, const struct part *part, size_t count, bool may_lack,
                             cull_tar_example *out)
{
    cull_status status = CULL_OK;

    for (size_t i = 1; i < count; i++)
        if (part[i].kind == part[i - 1].kind)
            FAIL(CULL_BAD_FILE, "%s: both %.200s and %.200s are %s of one example", path,
                 part[i - 1].name, part[i].name, part[i].kind == INPUT ? "inputs" : "labels");
    if (part[0].kind == LABEL)
        FAIL(CULL_BAD_FILE, "%s: %.200s is a label without its input", path, part[0].name);
    if (count == 1 && !may_lack)
        FAIL(CULL_BAD_FILE, "%s: %.200s has no label beside it (%.*s.cls)", path, part[0].name,
             part[0].key < 200 ? (int)part[0].key : 200, part[0].name);
    *out = (cull_tar_example){.input = part[0].member,
                              .label = count == 2 ? part[1].member : SIZE_MAX};
done:
    return status;
}

static cull_status pair_up(const char *path, struct part *part, size_t count, bool may_lack,
                           cull_tar_examples *out)
{
    cull_status status = CULL_OK;

    qsort(part, count, sizeof *part, by_key);
    for (size_t i = 0, next = 0; i < count; i = next) {
        for (next = i + 1; next < count && same_example(&part[i], &part[next]);) next++;
        TRY(take_pair(path, part + i, next - i, may_lack, &out->example[out->count++]));
    }
    qsort(out->example, out->count, sizeof *out->example, by_input);
done:
    return status;
}

/* Where the folders that all share leave none, as all are of one class, the last of those is it. */
static size_t keep_class(const struct part *part, size_t count, size_t shared)
{
    for (size_t i = 0; i < count; i++)
        if (first_folder(part[i].name + shared)) return shared;
    if (shared) shared--;
    while (shared && part[0].name[shared - 1] != '/') shared--;
    return shared;
}

/* The class is the first folder behind those that all share. */
static cull_status name_classes(const char *path, const struct part *part, size_t count,
                                size_t shared, bool may_lack, cull_tar_examples *out)
{
    cull_status status = CULL_OK;

    shared = keep_class(part, count, shared);
    for (size_t i = 0; i < count; i++) {
        const char *name = part[i].name + shared;
        size_t      length = first_folder(name);
        if (length == 0 && !may_lack)
            FAIL(CULL_BAD_FILE,
                 "%s: %.200s lies in no folder of a class, and there are no labels (.cls)", path,
                 part[i].name);
        out->example[out->count++] = (cull_tar_example){.input = part[i].member,
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
    cull_status  status = CULL_OK;
    size_t       shared = shared_folders(list), count = 0;
    bool         pairs = has_labels(list, r);
    const char  *set = NULL;
    struct part *part = NULL;

    if (r->label && !pairs)
        FAIL_OPTION("data.label", "no file of %s ends in .%.64s", r->name, r->label);
    TRY(choose_set(list, r, shared, into, &set));
    TRY(find_parts(list, r, shared, set, pairs, &part, &count));
    if (count == 0)
        FAIL(CULL_BAD_FILE, "%s: holds no file that ends in jpg, jpeg, png, webp or npy", r->name);
    TRY(cull_base_alloc(count, sizeof *out->example, "an archive's examples", &out->example));
    if (set) shared += strlen(set) + 1;
    if (pairs)
        TRY(pair_up(r->name, part, count, r->unlabelled, out));
    else
        TRY(name_classes(r->name, part, count, shared, r->unlabelled, out));
    out->folders = !pairs;
done:
    cull_base_free(part);
    return status;
}
