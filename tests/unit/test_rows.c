/* tests/unit/test_rows.c - properties of where examples lie: sets share rows, map or make them, and
 * nobody can tell. */
#include "data/rows.h"

#include "base/rng.h"
#include "counted.h"
#include "data/corrupt.h"
#include "data/loader.h"
#include "data/order.h"
#include "data/split.h"
#include "data/strata.h"
#include "files.h"

enum { COUNT = 600, CLASSES = 7, C = 2, H = 3, W = 5, ROW = C * H * W };

static char folder[] = FOLDER_TEMPLATE;

/* ---- a set that is copied at every turn, as the definition of what the real ones hold ---- */

struct copy {
    size_t    count;
    uint8_t  *rows;
    int32_t  *label;
    uint32_t *origin;
    uint8_t  *marks;
};

static struct copy copy_room(size_t count)
{
    struct copy c = {count, malloc(count * ROW + 1), malloc((count + 1) * sizeof(int32_t)),
                     malloc((count + 1) * sizeof(uint32_t)), malloc(count + 1)};

    assert_true(c.rows && c.label && c.origin && c.marks);
    return c;
}

static void copy_clear(struct copy *c)
{
    free(c->rows);
    free(c->label);
    free(c->origin);
    free(c->marks);
}

static struct copy copy_of(const cull_dataset *set)
{
    struct copy c = copy_room(set->count);

    memcpy(c.rows, cull_data_base(set), set->count * ROW);
    memcpy(c.label, cull_data_labels(set), set->count * sizeof *c.label);
    memcpy(c.origin, set->origin, set->count * sizeof *c.origin);
    memcpy(c.marks, set->marks, set->count);
    return c;
}

/* The examples at `place`, copied. */
static struct copy copy_some(const struct copy *from, const uint32_t *place, size_t count)
{
    struct copy c = copy_room(count);

    for (size_t i = 0; i < count; i++) {
        memcpy(c.rows + i * ROW, from->rows + (size_t)place[i] * ROW, ROW);
        c.label[i] = from->label[place[i]];
        c.origin[i] = from->origin[place[i]];
        c.marks[i] = from->marks[place[i]];
    }
    return c;
}

/* Keep those that are not out, which go to *left if it is there. */
static void copy_divide(struct copy *c, const uint8_t *out, struct copy *left)
{
    uint32_t    in[COUNT], gone[COUNT];
    size_t      ins = 0, outs = 0;
    struct copy old = *c;

    for (uint32_t i = 0; i < c->count; i++)
        if (out[i])
            gone[outs++] = i;
        else
            in[ins++] = i;
    *c = copy_some(&old, in, ins);
    if (left) *left = copy_some(&old, gone, outs);
    copy_clear(&old);
}

/* Which members of class k are drawn: out[place] becomes 1. */
static void copy_draw(const struct copy *c, cull_key key, int32_t k, size_t wanted, uint8_t *out)
{
    uint32_t member[COUNT], scratch[COUNT], chosen[COUNT];
    size_t   size = 0;

    for (uint32_t i = 0; i < c->count; i++)
        if (c->label[i] == k) member[size++] = i;
    cull_data_choose(key, (uint64_t)k, size, wanted, scratch, chosen);
    for (size_t i = 0; i < wanted; i++) out[member[chosen[i]]] = 1;
}

static void copy_sizes(const struct copy *c, size_t size[CLASSES])
{
    memset(size, 0, CLASSES * sizeof *size);
    for (size_t i = 0; i < c->count; i++) size[c->label[i]]++;
}

static void copy_split(struct copy *c, double fraction, uint64_t seed, struct copy *left)
{
    uint8_t out[COUNT] = {0};
    size_t  size[CLASSES], share[CLASSES];

    copy_sizes(c, size);
    cull_budget_split(cull_data_share(fraction, c->count), size, CLASSES, share);
    for (int32_t k = 0; k < CLASSES; k++)
        copy_draw(c, cull_key_make(seed, "validation"), k, share[k], out);
    copy_divide(c, out, left);
}

static void copy_corrupt(struct copy *c, const cull_data_corruption *asked)
{
    uint8_t     out[COUNT] = {0};
    size_t      size[CLASSES], cuts = cull_data_share(asked->imbalance, CLASSES), wrong = 0;
    uint32_t    scratch[COUNT], chosen[COUNT], place[4 * COUNT];
    struct copy old = {0};

    copy_sizes(c, size);
    if (asked->imbalance > 0) {
        cull_data_choose(cull_key_make(asked->seed, "imbalance classes"), 0, CLASSES, cuts, scratch,
                         chosen);
        for (size_t i = 0; i < cuts; i++) {
            size_t n = size[chosen[i]];
            copy_draw(c, cull_key_make(asked->seed, "imbalance"), (int32_t)chosen[i],
                      n - cull_data_share(asked->imbalance_keep, n), out);
        }
        copy_divide(c, out, NULL);
    }
    if (asked->label_noise > 0) {
        wrong = cull_data_share(asked->label_noise, c->count);
        cull_data_choose(cull_key_make(asked->seed, "label noise"), 0, c->count, wrong, scratch,
                         chosen);
    }
    for (size_t i = 0; i < wrong; i++) {
        int32_t *label = &c->label[chosen[i]];
        int32_t  drawn = (int32_t)cull_base_below(cull_key_make(asked->seed, "wrong labels"), 0,
                                                  c->origin[chosen[i]], CLASSES - 1);
        *label = drawn >= *label ? drawn + 1 : drawn;
        c->marks[chosen[i]] |= CULL_DATA_MARK_LABEL;
    }
    if (asked->duplicates < 2) return;
    old = *c;
    for (size_t i = 0; i < asked->duplicates * old.count; i++) place[i] = (uint32_t)(i % old.count);
    *c = copy_some(&old, place, asked->duplicates * old.count);
    for (size_t i = old.count; i < c->count; i++) c->marks[i] |= CULL_DATA_MARK_COPY;
    copy_clear(&old);
}

static void assert_holds(const struct copy *expected, const cull_dataset *set)
{
    assert_int_equal(expected->count, set->count);
    assert_memory_equal(expected->label, cull_data_labels(set),
                        set->count * sizeof *expected->label);
    assert_memory_equal(expected->origin, set->origin, set->count * sizeof *expected->origin);
    assert_memory_equal(expected->marks, set->marks, set->count);
    for (size_t i = 0; i < set->count; i++) {
        uint8_t     buffer[ROW];
        const void *row = NULL;
        assert_ok(cull_data_row_at(set, i, buffer, &row));
        assert_memory_equal(expected->rows + i * ROW, row, ROW);
    }
}

/* ---- a decoder: row r is pseudo-random bytes of r; one row may be damaged ---- */

struct decoder {
    uint32_t damaged;
    size_t   closed;
};

static cull_status decode(const cull_data_rows *rows, uint32_t row, void *out)
{
    const struct decoder *d = rows->self;

    if (row == d->damaged) return cull_fail(CULL_BAD_FILE, "row %u is damaged", row);
    for (size_t j = 0; j < ROW; j++)
        ((uint8_t *)out)[j] = (uint8_t)(256 * random_uniform(1, row * (size_t)ROW + j));
    return CULL_OK;
}

static void decoder_close(void *self)
{
    ((struct decoder *)self)->closed++;
}

/* As random_set() of the same sizes, but made row by row. */
static cull_dataset *decoded_set(struct decoder *decoder)
{
    static const cull_data_rows_class class = {.read = decode, .close = decoder_close};
    cull_data_rows *rows = NULL;
    cull_dataset   *set = NULL;

    assert_ok(cull_data_create("random", &set));
    assert_ok(cull_data_shape(set, "random", CULL_U8, C, H, W));
    assert_ok(cull_data_rows_create(&class, decoder, NULL, COUNT, &rows));
    assert_ok(cull_data_hold(set, "random", rows));
    cull_data_rows_release(rows);
    for (size_t i = 0; i < COUNT; i++) cull_data_labels(set)[i] = (int32_t)(i % CLASSES);
    set->count = COUNT;
    set->classes = CLASSES;
    return set;
}

static cull_dataset *memory_set(void)
{
    return random_set(CULL_U8, COUNT, CLASSES, C, H, W);
}

/* ---- tests ---- */

static void cutting_up_and_doubling_copies_no_row(void **state)
{
    cull_data_corruption asked = {.duplicates = 3, .label_noise = .1, .imbalance = .3, .seed = 2};
    cull_dataset        *train = random_set(CULL_U8, 500, CLASSES, 3, 32, 32), *left[2] = {0};
    cull_dataset        *whole = random_set(CULL_U8, 500, CLASSES, 3, 32, 32);
    const void          *base = cull_data_base(train);
    size_t               rows = 500 * cull_data_row_bytes(train);

    (void)state;
    begin_counting();
    assert_ok(cull_data_split(train, .2, 1, &left[0]));
    assert_ok(cull_data_split(train, .5, 1, &left[1]));
    assert_ok(cull_data_corrupt(&train, &asked, NULL));
    assert_true(end_counting() < rows / 10);
    assert_ptr_equal(base, cull_data_base(train));
    assert_ptr_equal(base, cull_data_base(left[0]));
    assert_int_equal(3, train->rows->holders);
    cull_data_close(left[1]);
    cull_data_close(train);
    assert_int_equal(1, left[0]->rows->holders);
    for (size_t i = 0; i < left[0]->count; i++) /* and what it holds is still there */
        assert_memory_equal(row_of(whole, left[0]->origin[i]), row_of(left[0], i),
                            cull_data_row_bytes(whole));
    cull_data_close(whole);
    cull_data_close(left[0]);
}

static void chains_hold_what_copying_would_have_made(void **state)
{
    static const cull_data_corruption wishes[] = {
        {.imbalance_keep = .1},
        {.imbalance = .5, .imbalance_keep = .2},
        {.label_noise = .3, .imbalance_keep = .1},
        {.duplicates = 3, .imbalance_keep = .1},
        {.imbalance = .3, .imbalance_keep = .4, .label_noise = .2, .duplicates = 2}};

    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++)
        for (size_t w = 0; w < sizeof wishes / sizeof *wishes; w++)
            for (int made = 0; made < 2; made++) {
                struct decoder       decoder = {.damaged = COUNT};
                cull_data_corruption asked = wishes[w];
                cull_dataset *train = made ? decoded_set(&decoder) : memory_set(), *left[2] = {0};
                cull_dataset *whole = memory_set();
                struct copy   copy = copy_of(whole), other[2] = {{0}};

                asked.seed = seed;
                assert_ok(cull_data_split(train, .15, seed, &left[0]));
                copy_split(&copy, .15, seed, &other[0]);
                assert_ok(cull_data_split(train, .4, seed, &left[1]));
                copy_split(&copy, .4, seed, &other[1]);
                assert_ok(cull_data_corrupt(&train, &asked, NULL));
                copy_corrupt(&copy, &asked);
                assert_holds(&copy, train);
                for (int i = 0; i < 2; i++) {
                    assert_holds(&other[i], left[i]);
                    copy_clear(&other[i]);
                    cull_data_close(left[i]);
                }
                copy_clear(&copy);
                cull_data_close(train);
                cull_data_close(whole);
                assert_int_equal(made, decoder.closed);
            }
}

static void what_is_made_row_by_row_is_as_if_it_lay_in_memory(void **state)
{
    const char         *path = path_in(folder, "made.npz");
    struct decoder      decoder = {.damaged = COUNT};
    cull_dataset       *set = memory_set(), *made = decoded_set(&decoder), *back = NULL;
    cull_data_augment   augment = {.pad = 1, .flip = true, .cutout = 2, .seed = 3};
    cull_data_form      form = {CULL_F32, true};
    uint32_t            places[] = {3, 599, 0, 17};
    float               out[2][4 * ROW];
    cull_loader_options options = {.augment = &augment, .form = form, .batch = 4, .depth = 3};
    cull_loader        *loader = NULL;
    cull_data_batch     batch = {0};

    (void)state;
    assert_null(cull_data_base(made));
    assert_ok(cull_data_measure(made));
    assert_memory_equal(set->mean, made->mean, C * sizeof *set->mean);
    assert_memory_equal(set->deviation, made->deviation, C * sizeof *set->deviation);
    assert_ok(cull_data_transform(set, &augment, form, 5, places, 4, out[0]));
    assert_ok(cull_data_transform(made, &augment, form, 5, places, 4, out[1]));
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    options.set = made;
    for (options.threads = 0; options.threads < 3; options.threads++) {
        assert_ok(cull_data_loader_create(&options, &loader));
        assert_ok(cull_data_loader_submit(loader, places, 4, 5, true));
        assert_ok(cull_data_loader_take(loader, &batch));
        assert_memory_equal(out[0], batch.inputs.data, sizeof out[0]);
        cull_data_loader_destroy(loader);
    }
    assert_ok(cull_data_write(made, path));
    assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &back));
    assert_same_set(set, back);
    cull_data_close(back);
    cull_data_close(made);
    cull_data_close(set);
    assert_int_equal(1, decoder.closed);
}

static void a_row_that_cannot_be_made_is_told_of(void **state)
{
    struct decoder      decoder = {.damaged = 17};
    cull_dataset       *set = decoded_set(&decoder);
    uint32_t            places[] = {16, 17, 18};
    float               out[3 * ROW];
    cull_loader_options options = {.set = set, .form = {CULL_F32, false}, .batch = 3, .depth = 4};
    cull_loader        *loader = NULL;
    cull_data_batch     batch = {0};

    (void)state;
    set->deviation[0] = set->deviation[1] = 1;
    assert_fails(CULL_BAD_FILE, "row 17 is damaged", cull_data_measure(set));
    assert_fails(CULL_BAD_FILE, "row 17 is damaged",
                 cull_data_transform(set, NULL, options.form, 0, places, 3, out));
    assert_fails(CULL_BAD_FILE, "row 17 is damaged",
                 cull_data_write(set, path_in(folder, "damaged.npz")));
    for (options.threads = 0; options.threads < 3; options.threads++) {
        assert_ok(cull_data_loader_create(&options, &loader));
        assert_ok(cull_data_loader_submit(loader, places, 3, 0, false));
        assert_ok(cull_data_loader_submit(loader, places, 1, 0, false));
        assert_fails(CULL_BAD_FILE, "row 17 is damaged", cull_data_loader_take(loader, &batch));
        assert_int_equal(0, batch.count);
        assert_ok(cull_data_loader_take(loader, &batch));
        assert_int_equal(1, batch.count);
        cull_data_loader_destroy(loader);
    }
    cull_data_close(set);
}

/* The set of a file, mapped or read; *bytes is what was allocated for it. */
static cull_status open_array_set(cull_data_layout layout, const char *path, bool map,
                                  cull_dataset **out, size_t *bytes)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;

    begin_counting();
    TRY(cull_data_create("random", &set));
    TRY(cull_data_array_set_read(&(cull_data_request){.name = path, .layout = layout},
                                 map ? 0 : UINT64_MAX, set));
    TRY(cull_data_measure(set));
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    *bytes = end_counting();
    return status;
}

/* As numpy writes one: the header and the elements, nothing else. */
static const char *put_npy(const char *name, const char *header, const void *data, size_t bytes)
{
    const char *path = path_in(folder, name);
    char        begin[128];
    FILE       *file = fopen(path, "wb");

    assert_non_null(file);
    memset(begin, ' ', sizeof begin);
    memcpy(begin, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(begin + 10, header, strlen(header));
    begin[127] = '\n';
    assert_int_equal(sizeof begin, fwrite(begin, 1, sizeof begin, file));
    assert_int_equal(bytes, fwrite(data, 1, bytes, file));
    assert_int_equal(0, fclose(file));
    return path;
}

static void a_mapped_file_is_not_copied(void **state)
{
    cull_dataset *set = memory_set(), *mapped = NULL, *part = NULL;
    size_t        bytes = 0, rows = COUNT * (size_t)ROW;

    (void)state;
    (void)put_npy("own_labels.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (600,), }",
                  cull_data_labels(set), COUNT * sizeof(int32_t));
    assert_ok(open_array_set(
        CULL_LAYOUT_FIRST,
        put_npy("own.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (600, 2, 3, 5), }",
                cull_data_base(set), rows),
        true, &mapped, &bytes));
    assert_true(bytes < rows); /* labels, origins and marks are most of it */
    assert_same_set(set, mapped);
    assert_ok(cull_data_split(mapped, .3, 1, &part));
    assert_int_equal(2, part->rows->holders);
    cull_data_close(mapped);
    for (size_t i = 0; i < part->count; i++)
        assert_memory_equal(row_of(set, part->origin[i]), row_of(part, i), ROW);
    cull_data_close(part);
    assert_ok(cull_data_write(set, path_in(folder, "own.npz")));
    assert_ok(open_array_set(CULL_LAYOUT_TOLD, path_in(folder, "own.npz"), true, &mapped, &bytes));
    assert_same_set(set, mapped);
    cull_data_close(mapped);
    cull_data_close(set);
}

/* Floats off their border, columns first and doubles cannot be used as they lie. */
static void what_cannot_be_used_as_it_lies_is_copied(void **state)
{
    cull_dataset *set = random_set(CULL_F32, 60, 3, 4, 1, 1), *back = NULL;
    float        *x = cull_data_base(set), turned[240];
    double        wide[240] = {0};
    uint8_t       y[60];
    size_t        bytes[4] = {0}, least = SIZE_MAX, copied = 0, unused = 0;

    (void)state;
    for (size_t i = 0; i < 60; i++) y[i] = (uint8_t)cull_data_labels(set)[i];
    for (size_t i = 0; i < 4; i++) { /* what lies before moves them by one byte each time */
        cull_array arrays[] = {{"before", cull_vector(wide, CULL_U8, 1 + i)},
                               {"x", cull_matrix(x, CULL_F32, 60, 4)},
                               {"y", cull_vector(y, CULL_U8, 60)}};
        assert_ok(cull_arrays_write(path_in(folder, "floats.npz"), arrays, 3));
        assert_ok(open_array_set(CULL_LAYOUT_TOLD, path_in(folder, "floats.npz"), true, &back,
                                 &bytes[i]));
        least = bytes[i] < least ? bytes[i] : least;
        assert_int_equal(0, (uintptr_t)cull_data_base(back) % sizeof(float));
        assert_same_set(set, back);
        cull_data_close(back);
    }
    for (size_t i = 0; i < 4; i++) copied += bytes[i] > least + 60 * cull_data_row_bytes(set);
    assert_int_equal(3, copied);
    for (size_t i = 0; i < 240; i++) {
        turned[i % 4 * 60 + i / 4] = x[i];
        wide[i] = (double)x[i];
    }
    (void)put_npy("t_labels.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (60,), }",
                  cull_data_labels(set), 60 * sizeof(int32_t));
    for (int way = 0; way < 2; way++) {
        const char *path =
            way ? put_npy("t.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (60, 4), }",
                          wide, sizeof wide)
                : put_npy("t.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (60, 4), }",
                          turned, sizeof turned);
        assert_ok(open_array_set(CULL_LAYOUT_TOLD, path, true, &back, &unused));
        assert_same_set(set, back);
        cull_data_close(back);
    }
    cull_data_close(set);
}

/* Cut at every length and with every byte changed, a file is judged alike both ways. */
static void a_mapped_file_is_refused_where_a_read_one_is(void **state)
{
    cull_dataset *set = random_set(CULL_F32, 3, 2, 2, 1, 1), *opened[2] = {0};
    const char   *path = path_in(folder, "hostile.npz");
    void         *bytes = NULL;
    unsigned char changed[4096];
    size_t        size = 0, unused = 0, refused = 0;

    (void)state;
    assert_ok(cull_data_write(set, path));
    assert_ok(cull_file_read(path, &bytes, &size));
    assert_true(size < sizeof changed);
    for (size_t i = 0; i < 2 * size; i++) {
        cull_status status[2];
        memcpy(changed, bytes, size);
        changed[i % size] ^= 0x21;
        put_file(path, i < size ? changed : bytes, i < size ? size : i - size);
        for (int map = 0; map < 2; map++)
            status[map] = open_array_set(CULL_LAYOUT_TOLD, path, map, &opened[map], &unused);
        assert_int_equal(status[0], status[1]);
        refused += status[0] != CULL_OK;
        if (status[0] == CULL_OK) assert_same_set(opened[0], opened[1]);
        for (int map = 0; map < 2 && status[0] == CULL_OK; map++) cull_data_close(opened[map]);
    }
    assert_true(refused > size);
    cull_bytes_release(bytes);
    cull_data_close(set);
}

static void other_targets_are_carried_and_refused_where_classes_are_meant(void **state)
{
    static const uint32_t places[] = {4, 0};
    cull_data_corruption  noise = {.label_noise = .5}, twice = {.duplicates = 2};
    cull_dataset         *set = NULL, *part = NULL;

    (void)state;
    for (int kind = CULL_TARGET_CLASSES; kind <= CULL_TARGET_REAL; kind++) {
        const char *why = kind == CULL_TARGET_REAL ? "target is real numbers; one class is known"
                                                   : "target is several classes; one class";
        assert_ok(cull_data_create("other", &set));
        assert_ok(cull_data_shape(set, "other", CULL_F32, 2, 1, 1));
        cull_data_aim(set, (cull_target_kind)kind, 3);
        assert_ok(cull_data_extend(set, "other", 5));
        assert_int_equal(kind == CULL_TARGET_REAL ? 12 : 3, cull_data_target_bytes(set));
        for (size_t i = 0; i < 5 * cull_data_target_bytes(set); i++)
            ((uint8_t *)set->target.data)[i] = (uint8_t)i;
        set->count = 5;
        set->classes = 3;
        assert_null(cull_data_labels(set));
        assert_ok(cull_data_gather(set, places, 2, &part));
        assert_memory_equal(cull_data_target_at(set, 4), cull_data_target_at(part, 0),
                            cull_data_target_bytes(set));
        assert_memory_equal(cull_data_target_at(set, 0), cull_data_target_at(part, 1),
                            cull_data_target_bytes(set));
        assert_ok(cull_data_adopt(part, set));
        cull_data_close(part);
        assert_fails(CULL_UNSUPPORTED, why, cull_data_corrupt(&set, &noise, NULL));
        assert_ok(cull_data_corrupt(&set, &twice, NULL));
        assert_int_equal(10, set->count);
        assert_memory_equal(cull_data_target_at(set, 3), cull_data_target_at(set, 8),
                            cull_data_target_bytes(set));
        cull_data_close(set);
    }
}

/* Read, split and harmed. */
static cull_status try_to_prepare(void *context)
{
    cull_data_request    request = {.name = context};
    cull_data_corruption asked = {.duplicates = 2, .imbalance = .2, .label_noise = .1};
    cull_dataset        *train = NULL, *left = NULL;
    cull_status          status = cull_data_create("random", &train);

    if (status == CULL_OK) status = cull_data_array_set_read(&request, 0, train);
    if (status == CULL_OK) status = cull_data_split(train, .2, 1, &left);
    if (status == CULL_OK) status = cull_data_corrupt(&train, &asked, NULL);
    cull_data_close(train);
    cull_data_close(left);
    return status;
}

static void survives_every_allocation_failure(void **state)
{
    cull_dataset *set = memory_set();
    char          path[512];

    (void)state;
    (void)snprintf(path, sizeof path, "%s", path_in(folder, "again.npz"));
    assert_ok(cull_data_write(set, path));
    assert_survives(try_to_prepare, path);
    cull_data_close(set);
}

static int set_up(void **state)
{
    (void)state;
    return !mkdtemp(folder);
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutting_up_and_doubling_copies_no_row),
        cmocka_unit_test(chains_hold_what_copying_would_have_made),
        cmocka_unit_test(what_is_made_row_by_row_is_as_if_it_lay_in_memory),
        cmocka_unit_test(a_row_that_cannot_be_made_is_told_of),
        cmocka_unit_test(a_mapped_file_is_not_copied),
        cmocka_unit_test(what_cannot_be_used_as_it_lies_is_copied),
        cmocka_unit_test(a_mapped_file_is_refused_where_a_read_one_is),
        cmocka_unit_test(other_targets_are_carried_and_refused_where_classes_are_meant),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
