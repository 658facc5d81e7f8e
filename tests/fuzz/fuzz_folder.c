/*
 * fuzz/fuzz_folder.c - what lies in the folders of runs and comparisons beside what fuzz_report
 * has: plan.json and costs.json as any bytes, selection.npz with corruption.npz and audit.npz as
 * any arrays. Read, every number of it is in bounds; or there is a sentence.
 *
 * The first byte says which: 0 a plan, 1 costs, 2 a selection, 3 an audit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "records/audit_file.h"
#include "records/comparison.h"
#include "records/picks.h"

enum { PATH = 64, ARRAYS = 7, MOST = 4096, SIDE = 7 };

/* In memory, where the system has such a place: files are synced as they are written. */
static char folder[PATH] = "/dev/shm/cull-fuzz-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[2 * PATH];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    static const char *const names[] = {"file", "selection.npz", "corruption.npz", "audit.npz"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) (void)unlink(path_of(names[i]));
    (void)rmdir(folder);
}

static void make_folder(void)
{
    static bool made;

    if (made) return;
    if (!mkdtemp(folder)) {
        (void)snprintf(folder, sizeof folder, "/tmp/cull-fuzz-XXXXXX");
        if (!mkdtemp(folder)) abort();
    }
    if (atexit(remove_folder)) abort();
    made = true;
}

static void check(cull_status status)
{
    if (status != CULL_OK && cull_last_error()[0] == '\0') abort();
}

/* Some arrays of these names, whose type, shape and elements the input says. */
static void write_arrays(const char *file, const char *const *names, size_t count,
                         struct bytes *input)
{
    static uint64_t elements[ARRAYS][MOST];
    cull_array      array[ARRAYS];
    size_t          arrays = 0;

    for (size_t i = 0; i < count; i++) {
        uint8_t     how[2 + CULL_MAX_DIMS];
        cull_tensor t = {.data = elements[i]};
        size_t      bytes = 0, all = 1;

        take_bytes(input, how, sizeof how);
        if (how[0] % 8 == 7) continue; /* it is not there */
        t.dtype = (cull_dtype)(CULL_F32 + how[0] % 8 % 5);
        t.dims = 1 + how[1] % CULL_MAX_DIMS;
        for (int d = t.dims - 1; d >= 0; d--) {
            t.stride[d] = (int64_t)all;
            t.shape[d] = how[2 + d] % SIDE;
            all *= how[2 + d] % SIDE ? how[2 + d] % SIDE : 1;
        }
        bytes = all * cull_dtype_size(t.dtype);
        take_bytes(input, elements[i], bytes < sizeof elements[i] ? bytes : sizeof elements[i]);
        array[arrays++] = (cull_array){names[i], t};
    }
    if (cull_arrays_write(path_of(file), array, arrays) != CULL_OK) abort();
}

static void try_selection(struct bytes *input)
{
    static const char *const chosen[] = {"count", "origin"}, *const harmed[] = {"relabelled"};
    uint8_t            how = 0;
    cull_records_info  info = {0};
    cull_records_picks picks = {0};
    double             all = 0;

    take_bytes(input, &how, 1);
    info.data.train = how % SIDE;
    write_arrays("selection.npz", chosen, 2, input);
    write_arrays("corruption.npz", harmed, 1, input);
    check(cull_records_picks_read(folder, &info, &picks));
    if (!picks.there) return;
    for (size_t i = 0; i <= CULL_RECORDS_BINS; i++) all += picks.bin[i];
    if (all != (double)picks.examples || picks.never > picks.examples || picks.median > picks.most)
        abort();
    if (picks.corruption && !(picks.base_rate > 0 && picks.base_rate <= 1 &&
                              picks.picked_rate >= 0 && picks.picked_rate <= 1))
        abort();
}

static void try_audit(struct bytes *input)
{
    static const char *const names[] = {"images", "label",     "predicted", "kind",
                                        "loss",   "corrupted", "other"};
    cull_records_audit       audit = {0};
    cull_status              status = CULL_OK;
    size_t                   pixels = 0, sum = 0;

    write_arrays("audit.npz", names, ARRAYS, input);
    status = cull_records_audit_read(folder, &audit);
    check(status);
    if (status == CULL_OK && audit.images.data) {
        pixels = (size_t)(audit.images.shape[1] * audit.images.shape[2] * audit.images.shape[3]);
        for (size_t i = 0; i < (size_t)audit.images.shape[0]; i++) {
            cull_records_example e = cull_records_audit_at(&audit, i);
            for (size_t k = 0; k < pixels; k++) sum += e.pixels[k];
        }
        if (sum > 255 * pixels * (size_t)audit.images.shape[0]) abort();
    }
    cull_records_audit_clear(&audit);
}

static void try_plan(const char *path)
{
    cull_records_plan plan = {0};

    check(cull_records_plan_read(path, &plan));
    cull_records_plan_clear(&plan);
}

static bool is_time(double x)
{
    return isfinite(x) && x >= 0;
}

static void try_costs(const char *path)
{
    cull_records_costs costs = {0};
    cull_status        status = cull_records_costs_read(path, &costs);

    check(status);
    if (status == CULL_OK) {
        if (!costs.table.pool || costs.table.sizes > CULL_COST_SIZES) abort();
        if (!is_time(costs.table.load) || !is_time(costs.table.optim)) abort();
        for (size_t i = 0; i < costs.table.sizes; i++)
            if (!costs.table.learn[i].batch || !is_time(costs.table.learn[i].seconds)) abort();
        for (size_t i = 0; i < costs.arms; i++)
            if (!is_time(costs.arm[i].costs.score) || !is_time(costs.arm[i].costs.decide)) abort();
    }
    cull_records_costs_clear(&costs);
}

static const char *write_file(const struct bytes *input)
{
    FILE *file = fopen(path_of("file"), "wb");

    if (!file || fwrite(input->data, 1, input->left, file) != input->left || fclose(file)) abort();
    return path_of("file");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = {data, size};
    uint8_t      which = 0;

    if (size == 0) return 0;
    make_folder();
    take_bytes(&input, &which, 1);
    switch (which % 4) {
    case 0: try_plan(write_file(&input)); break;
    case 1: try_costs(write_file(&input)); break;
    case 2: try_selection(&input); break;
    default: try_audit(&input); break;
    }
    return 0;
}
