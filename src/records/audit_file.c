/* records/audit_file.c - audit.npz, written after an audit and read for a page. */
#include "records/audit_file.h"

#include <unistd.h>

#include "base/path.h"
#include "records/files.h"
#include "tensor/tensor.h"

enum { WHOLE = 1, SHOWN = 2 }; /* holds whole numbers; is read back */

static const struct column {
    const char *name;
    unsigned    is;
    size_t      at;
} columns[] = {
    {"images", 0, offsetof(cull_records_audit, images)},
    {"label", WHOLE | SHOWN, offsetof(cull_records_audit, label)},
    {"predicted", WHOLE | SHOWN, offsetof(cull_records_audit, predicted)},
    {"place", WHOLE, offsetof(cull_records_audit, place)},
    {"loss", SHOWN, offsetof(cull_records_audit, loss)},
    {"kind", WHOLE | SHOWN, offsetof(cull_records_audit, kind)},
    {"corrupted", WHOLE | SHOWN, offsetof(cull_records_audit, corrupted)},
    {"confidence", 0, offsetof(cull_records_audit, confidence)},
    {"tenth", 0, offsetof(cull_records_audit, tenth)},
    {"rank", 0, offsetof(cull_records_audit, rank)},
    {"never", WHOLE, offsetof(cull_records_audit, never)},
    {"times", WHOLE, offsetof(cull_records_audit, times)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

cull_status cull_records_audit_write(const char *path, const cull_records_audit *audit)
{
    cull_array array[COLUMNS] = {{0}};
    size_t     count = 0;

    for (size_t i = 0; i < COLUMNS; i++) {
        const cull_tensor *t = (const void *)((const char *)audit + columns[i].at);

        if (cull_tensor_present(t)) array[count++] = (cull_array){columns[i].name, *t};
    }
    return cull_arrays_write(path, array, count);
}

static cull_status get_column(const char *path, const struct column *column,
                              cull_records_audit *out)
{
    cull_status  status = CULL_OK;
    cull_tensor *t = (void *)((char *)out + column->at);

    TRY(cull_arrays_get(out->file, column->name, t));
    if (t->dims != 1 || t->shape[0] != out->images.shape[0])
        FAIL(CULL_BAD_FILE, "%s: '%s' is no vector of %lld", path, column->name,
             (long long)out->images.shape[0]);
    if ((column->is & WHOLE) && cull_tensor_is_float(t))
        FAIL(CULL_BAD_FILE, "%s: '%s' does not hold whole numbers", path, column->name);
done:
    return status;
}

cull_status cull_records_audit_read(const char *folder, cull_records_audit *out)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];

    *out = (cull_records_audit){0};
    TRY(cull_base_join(folder, "audit.npz", path));
    if (access(path, F_OK) != 0) goto done;
    TRY(cull_arrays_open(path, &out->file));
    if (!cull_records_has_array(out->file, "images")) goto done; /* features: nothing to look at */
    TRY(cull_arrays_get(out->file, "images", &out->images));
    if (out->images.dtype != CULL_U8 || out->images.dims != 4)
        FAIL(CULL_BAD_FILE, "%s: 'images' is no uint8 array (n, height, width, channels)", path);
    for (size_t i = 0; i < COLUMNS; i++)
        if (columns[i].is & SHOWN) TRY(get_column(path, &columns[i], out));
done:
    return status;
}

cull_records_example cull_records_audit_at(const cull_records_audit *audit, size_t i)
{
    return (cull_records_example){.label = cull_tensor_get(&audit->label, i),
                                  .predicted = cull_tensor_get(&audit->predicted, i),
                                  .loss = cull_tensor_get(&audit->loss, i),
                                  .kind = cull_tensor_get(&audit->kind, i),
                                  .corrupted = cull_tensor_get(&audit->corrupted, i) != 0,
                                  .pixels = cull_tensor_row(&audit->images, i)};
}

void cull_records_audit_clear(cull_records_audit *audit)
{
    cull_arrays_close(audit->file);
    *audit = (cull_records_audit){0};
}
