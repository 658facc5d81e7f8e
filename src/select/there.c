/* select/there.c - solvers' arrays on a device, looked over by its check operation. */
#include "select/there.h"

#include <float.h>

static cull_status begin(cull_sel_looks *looks)
{
    if (looks->word) return CULL_OK;
    return cull_kit_allocate(&looks->kit, 1, sizeof *looks->word, "a word", &looks->word);
}

static cull_status look(cull_sel_looks *looks, cull_op_args args)
{
    cull_status status = CULL_OK;

    TRY(begin(looks));
    args.check.trouble = looks->word;
    TRY(cull_kit_run(&looks->kit, CULL_OP_CHECK, 0, &args));
done:
    return status;
}

cull_status cull_sel_look_rows(cull_sel_looks *looks, const uint32_t *row, size_t count,
                               size_t rows)
{
    return look(looks, (cull_op_args){.check = {.rows = count, .place = row, .pool = rows}});
}

cull_status cull_sel_look_values(cull_sel_looks *looks, const cull_tensor *x, double low,
                                 double high, uint64_t which)
{
    return look(
        looks,
        (cull_op_args){
            .check = {
                .rows = (size_t)x->shape[0], .x = *x, .low = low, .high = high, .which = which}});
}

cull_status cull_sel_look_end(cull_sel_looks *looks, cull_trouble *out)
{
    cull_status   status = CULL_OK;
    cull_backend *backend = looks->kit.backend;

    *out = (cull_trouble){0};
    if (!looks->word) return CULL_OK;
    TRY(cull_backend_download(backend, out, looks->word, sizeof *out));
    if (out->what) TRY(cull_backend_fill(backend, looks->word, 0, sizeof *out));
done:
    return status;
}

cull_status cull_sel_look_last_layer(cull_sel_looks *looks, const cull_tensor *h,
                                     const cull_tensor *p, const uint32_t *row, size_t count,
                                     double most, const char *problem)
{
    cull_status  status = CULL_OK;
    cull_trouble trouble = {0};

    if (row) TRY(cull_sel_look_rows(looks, row, count, (size_t)h->shape[0]));
    TRY(cull_sel_look_values(looks, h, -most, most, CULL_SIGNAL_H));
    TRY(cull_sel_look_values(looks, p, -DBL_MAX, DBL_MAX, CULL_SIGNAL_P));
    TRY(cull_sel_look_end(looks, &trouble));
    if (!trouble.what) return CULL_OK;
    if (trouble.which & CULL_TROUBLE_PLACE)
        FAIL(CULL_BAD_ARGUMENT, "%s: row %llu of %lld asked for", problem,
             (unsigned long long)trouble.place, (long long)h->shape[0]);
    FAIL(CULL_NOT_FINITE, "%s: %s of example %llu is not finite%s", problem,
         trouble.which & CULL_SIGNAL_P ? "p" : "h", (unsigned long long)trouble.row,
         most < DBL_MAX ? ", or too large" : "");
done:
    return status;
}
