/* lab/probe/audit_write.c - audit.npz: pictures of the easiest and hardest examples, and the
 * figures. */
#include "base/alloc.h"
#include "lab/probe/audit.h"
#include "records/audit_file.h"

struct shown {
    size_t   count;
    uint8_t *images; /* (count, height, width, channels) */
    int32_t *label, *predicted, *place;
    double  *loss;
    uint8_t *kind, *corrupted;
};

static void clear(struct shown *s)
{
    cull_base_free(s->images);
    cull_base_free(s->label);
    cull_base_free(s->predicted);
    cull_base_free(s->place);
    cull_base_free(s->loss);
    cull_base_free(s->kind);
    cull_base_free(s->corrupted);
}

/* Stored channel by channel, shown pixel by pixel. */
static void turn(const cull_dataset *set, const uint8_t *from, uint8_t *out)
{
    size_t area = set->height * set->width;

    for (size_t pixel = 0; pixel < area; pixel++)
        for (size_t c = 0; c < set->channels; c++)
            out[pixel * set->channels + c] = from[c * area + pixel];
}

static cull_status gather(const cull_audit_work *w, size_t each, struct shown *s)
{
    const cull_dataset *set = w->set;
    cull_status         status = CULL_OK;
    size_t              n = set->count;
    const void         *from = NULL;
    void               *buffer = NULL;

    if (2 * each > n) each = n / 2;
    s->count = 2 * each;
    TRY(cull_base_alloc(s->count, sizeof *s->label, "an audit", &s->label));
    TRY(cull_base_alloc(s->count, sizeof *s->predicted, "an audit", &s->predicted));
    TRY(cull_base_alloc(s->count, sizeof *s->place, "an audit", &s->place));
    TRY(cull_base_alloc(s->count, sizeof *s->loss, "an audit", &s->loss));
    TRY(cull_base_alloc(s->count, 1, "an audit", &s->kind));
    TRY(cull_base_alloc(s->count, 1, "an audit", &s->corrupted));
    if (set->dtype == CULL_U8)
        TRY(cull_base_alloc(s->count, cull_data_row(set), "an audit's pictures", &s->images));
    TRY(cull_base_alloc(1, cull_data_row_bytes(set), "an audit", &buffer));
    for (size_t i = 0; i < s->count; i++) {
        uint32_t place = i < each ? w->order[i] : w->order[n - 1 - (i - each)];

        s->label[i] = cull_data_labels(set)[place];
        s->predicted[i] = w->predicted[place];
        s->place[i] = (int32_t)place;
        s->loss[i] = w->loss[place];
        s->kind[i] = i >= each;
        s->corrupted[i] = (set->marks[place] & CULL_DATA_MARK_LABEL) != 0;
        TRY(cull_data_row_at(set, place, buffer, &from));
        if (s->images) turn(set, from, s->images + i * cull_data_row(set));
    }
done:
    cull_base_free(buffer);
    return status;
}

static cull_tensor pictures(const cull_dataset *set, const struct shown *s)
{
    int64_t h = (int64_t)set->height, w = (int64_t)set->width, c = (int64_t)set->channels;

    return (cull_tensor){.data = s->images,
                         .dtype = CULL_U8,
                         .dims = 4,
                         .shape = {(int64_t)s->count, h, w, c},
                         .stride = {h * w * c, w * c, c, 1}};
}

static size_t list_never(const cull_audit_work *w, int32_t *out)
{
    size_t count = 0;

    for (size_t i = 0; i < w->set->count; i++)
        if (w->times[i] == 0) out[count++] = (int32_t)i;
    return count;
}

cull_status cull_audit_write(const cull_audit_work *w, const cull_audit_result *r, size_t examples,
                             const char *path)
{
    cull_status        status = CULL_OK;
    struct shown       s = {0};
    cull_records_audit audit = {0};
    int32_t           *places = NULL;
    double            *rank = NULL;
    int64_t            times[CULL_AUDIT_BINS] = {0};

    TRY(gather(w, examples, &s));
    if (s.images) audit.images = pictures(w->set, &s);
    audit.label = cull_vector(s.label, CULL_I32, s.count);
    audit.predicted = cull_vector(s.predicted, CULL_I32, s.count);
    audit.place = cull_vector(s.place, CULL_I32, s.count);
    audit.loss = cull_vector(s.loss, CULL_F64, s.count);
    audit.kind = cull_vector(s.kind, CULL_U8, s.count);
    audit.corrupted = cull_vector(s.corrupted, CULL_U8, s.count);
    audit.confidence = cull_vector(r->confidence, CULL_F64, CULL_AUDIT_POINTS);
    audit.tenth = cull_vector(r->tenth, CULL_F64, CULL_AUDIT_TENTHS);
    TRY(cull_base_alloc(w->set->count, sizeof *rank, "an audit", &rank));
    for (size_t i = 0; i < w->set->count; i++)
        rank[w->order[i]] = ((double)i + .5) / (double)w->set->count;
    audit.rank = cull_vector(rank, CULL_F64, w->set->count);
    if (w->times) {
        TRY(cull_base_alloc(w->set->count, sizeof *places, "an audit", &places));
        for (size_t i = 0; i < CULL_AUDIT_BINS; i++) times[i] = (int64_t)r->times[i];
        audit.never = cull_vector(places, CULL_I32, list_never(w, places));
        audit.times = cull_vector(times, CULL_I64, CULL_AUDIT_BINS);
    }
    TRY(cull_records_audit_write(path, &audit));
done:
    cull_base_free(places);
    cull_base_free(rank);
    clear(&s);
    return status;
}
