/* lab/probe/audit_write.c - audit.npz: pictures of the easiest and hardest examples, and the
 * figures. */
#include "base/alloc.h"
#include "lab/probe/audit.h"
#include "records/audit_file.h"

/* A vector of its own. */
static cull_status make_vector(size_t count, cull_dtype dtype, cull_tensor *out)
{
    cull_status status = CULL_OK;
    void       *data = NULL;

    TRY(cull_base_alloc(count, cull_dtype_size(dtype), "an audit", &data));
    *out = cull_vector(data, dtype, count);
done:
    return status;
}

/* Stored channel by channel, shown pixel by pixel. */
static void turn(const cull_dataset *set, const uint8_t *from, uint8_t *out)
{
    size_t area = set->height * set->width;

    for (size_t pixel = 0; pixel < area; pixel++)
        for (size_t c = 0; c < set->channels; c++)
            out[pixel * set->channels + c] = from[c * area + pixel];
}

/* Rows in `pixels`, which u8 sets have, as pictures. */
static cull_tensor pictures(const cull_dataset *set, uint8_t *pixels, size_t count)
{
    int64_t h = (int64_t)set->height, w = (int64_t)set->width, c = (int64_t)set->channels;

    return (cull_tensor){.data = pixels,
                         .dtype = CULL_U8,
                         .dims = 4,
                         .shape = {(int64_t)count, h, w, c},
                         .stride = {h * w * c, w * c, c, 1}};
}

static cull_status gather(const cull_audit_work *w, size_t each, cull_records_audit *a)
{
    const cull_dataset *set = w->set;
    cull_status         status = CULL_OK;
    size_t              n = set->count, count = 2 * (2 * each > n ? n / 2 : each);
    const uint32_t     *by = w->by ? w->by : w->order;
    const void         *from = NULL;
    void               *buffer = NULL;
    uint8_t            *pixels = NULL;

    TRY(make_vector(count, CULL_I32, &a->label));
    TRY(make_vector(count, CULL_I32, &a->predicted));
    TRY(make_vector(count, CULL_I32, &a->place));
    TRY(make_vector(count, CULL_F64, &a->loss));
    TRY(make_vector(count, CULL_U8, &a->kind));
    TRY(make_vector(count, CULL_U8, &a->corrupted));
    if (set->dtype == CULL_U8) {
        TRY(cull_base_alloc(count, cull_data_row(set), "an audit's pictures", &pixels));
        a->images = pictures(set, pixels, count);
    }
    TRY(cull_base_alloc(1, cull_data_row_bytes(set), "an audit", &buffer));
    for (size_t i = 0; i < count; i++) {
        bool     hard = i >= count / 2;
        uint32_t place = hard ? by[n - 1 - (i - count / 2)] : by[i];

        ((int32_t *)a->label.data)[i] = cull_data_labels(set)[place];
        ((int32_t *)a->predicted.data)[i] = w->predicted[place];
        ((int32_t *)a->place.data)[i] = (int32_t)place;
        ((double *)a->loss.data)[i] = w->loss[place];
        ((uint8_t *)a->kind.data)[i] = hard;
        ((uint8_t *)a->corrupted.data)[i] = (set->marks[place] & CULL_DATA_MARK_LABEL) != 0;
        TRY(cull_data_row_at(set, place, buffer, &from));
        if (pixels) turn(set, from, pixels + i * cull_data_row(set));
    }
done:
    cull_base_free(buffer);
    return status;
}

/* Places of what was never trained; and how often others were. */
static cull_status list_times(const cull_audit_work *w, const cull_audit_result *r,
                              cull_records_audit *a)
{
    cull_status status = CULL_OK;
    int32_t    *never = NULL;
    size_t      count = 0;

    TRY(make_vector(CULL_AUDIT_BINS, CULL_I64, &a->times));
    for (size_t i = 0; i < CULL_AUDIT_BINS; i++)
        ((int64_t *)a->times.data)[i] = (int64_t)r->times[i];
    TRY(make_vector(w->set->count, CULL_I32, &a->never));
    never = a->never.data;
    for (size_t i = 0; i < w->set->count; i++)
        if (w->times[i] == 0) never[count++] = (int32_t)i;
    a->never = cull_vector(never, CULL_I32, count);
done:
    return status;
}

cull_status cull_audit_write(const cull_audit_work *w, const cull_audit_result *r, size_t examples,
                             const char *path)
{
    cull_status        status = CULL_OK;
    cull_records_audit a = {.confidence = cull_vector(r->confidence, CULL_F64, CULL_AUDIT_POINTS),
                            .tenth = cull_vector(r->tenth, CULL_F64, CULL_AUDIT_TENTHS)};
    cull_tensor *const own[] = {&a.images, &a.label,     &a.predicted, &a.place, &a.loss,
                                &a.kind,   &a.corrupted, &a.rank,      &a.never, &a.times};

    TRY(gather(w, examples, &a));
    TRY(make_vector(w->set->count, CULL_F64, &a.rank));
    for (size_t i = 0; i < w->set->count; i++)
        ((double *)a.rank.data)[w->order[i]] = ((double)i + .5) / (double)w->set->count;
    if (w->times) TRY(list_times(w, r, &a));
    TRY(cull_records_audit_write(path, &a));
done:
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) cull_base_free(own[i]->data);
    return status;
}
