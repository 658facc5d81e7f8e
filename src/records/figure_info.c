/* records/figure_info.c - figure.json, written and read. */
#include "records/figure_info.h"

#include <stdio.h>

#include "base/path.h"
#include "records/fields.h"
#include "records/files.h"

/* As it stands in the file; texts are borrowed. */
struct file {
    double      epochs, subset, seeds, batches;
    bool        done;
    const char *network, *recipe;
};

// clang-format off
#define F(kind, name) CULL_FIELD(struct file, #name, kind, name)

static const cull_records_field fields[] = {
    F(NUMBER, epochs), F(NUMBER, subset), F(COUNT, seeds), F(COUNT, batches), F(BOOL, done),
    F(TEXT_IF, network), F(TEXT_IF, recipe),
};
// clang-format on

cull_status cull_records_figure_write(const char *folder, const cull_records_figure *figure)
{
    cull_status status = CULL_OK;
    cull_json   json = {0};
    char        path[CULL_DATA_PATH];
    struct file file = {figure->epochs, figure->subset,  figure->seeds, figure->batches,
                        figure->done,   figure->network, figure->recipe};

    cull_json_open(&json, NULL, '{');
    cull_records_put(&json, CULL_FIELDS(fields), &file);
    cull_json_close(&json, '}');
    cull_json_line(&json);
    TRY(json.status);
    TRY(cull_base_join(folder, "figure.json", path));
    TRY(cull_base_make_folders(path));
    TRY(cull_file_write(path, json.bytes.data, json.bytes.size));
done:
    cull_json_clear(&json);
    return status;
}

static bool is_share(double value)
{
    return value > 0 && value <= 1;
}

static bool is_count(double value)
{
    return value >= 0 && value <= 1e6;
}

cull_status cull_records_figure_decode(const void *data, size_t bytes, cull_records_figure *out,
                                       bool *there)
{
    json_t     *root = NULL;
    struct file file = {0};
    cull_status status = cull_records_parse("figure.json", data, bytes, 0, &root);

    *out = (cull_records_figure){0};
    if (status == CULL_BAD_FILE) return CULL_OK;
    TRY(status);
    cull_records_take(root, CULL_FIELDS(fields), &file);
    out->epochs = file.epochs;
    out->subset = file.subset;
    out->seeds = file.seeds;
    out->batches = file.batches;
    out->done = file.done;
    (void)snprintf(out->network, sizeof out->network, "%s", file.network);
    (void)snprintf(out->recipe, sizeof out->recipe, "%s", file.recipe);
    *there = is_share(out->epochs) && is_share(out->subset) && is_count(out->seeds) &&
             is_count(out->batches);
done:
    json_decref(root);
    return status;
}

cull_status cull_records_figure_read(const char *folder, cull_records_figure *out, bool *there)
{
    cull_status status = CULL_OK;
    void       *data = NULL;
    size_t      bytes = 0;

    *out = (cull_records_figure){0};
    TRY(cull_records_file(folder, "figure.json", &data, &bytes));
    if (data) TRY(cull_records_figure_decode(data, bytes, out, there));
done:
    cull_bytes_release(data);
    return status;
}
