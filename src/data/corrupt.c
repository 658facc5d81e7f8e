/*
 * data/corrupt.c - imbalance, label noise and duplicates: planned first, then done, so that a
 * failure on the way leaves the set as it was.
 */
#include "data/corrupt.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "data/order.h"
#include "data/strata.h"

static const double default_keep = 0.1;

/* What is going to be done, in places of the set as it is. */
struct plan {
    uint32_t *kept;   /* [count] places, ascending                              */
    uint32_t *noisy;  /* [record's relabels] positions in kept                  */
    uint32_t *copied; /* [count * duplicates] places of the new set's examples  */
    size_t    count;
    uint32_t *scratch; /* room for every place */
};

static cull_status check_asked(const cull_dataset *set, const cull_data_corruption *asked)
{
    cull_status status = CULL_OK;
    const char *name = set->name;

    if (!(asked->imbalance >= 0 && asked->imbalance <= 1))
        FAIL(CULL_BAD_ARGUMENT, "%s: imbalance %g; 0 to 1 is possible", name, asked->imbalance);
    if (!(asked->imbalance_keep >= 0 && asked->imbalance_keep <= 1))
        FAIL(CULL_BAD_ARGUMENT, "%s: imbalance_keep %g; 0 to 1 is possible", name,
             asked->imbalance_keep);
    if (!(asked->label_noise >= 0 && asked->label_noise <= 1))
        FAIL(CULL_BAD_ARGUMENT, "%s: label_noise %g; 0 to 1 is possible", name, asked->label_noise);
    if (asked->noise != CULL_DATA_FLIP && asked->noise != CULL_DATA_REDRAW)
        FAIL(CULL_BAD_ARGUMENT, "%s: noise is neither flip nor redraw", name);
    if (asked->label_noise > 0 && set->classes < 2)
        FAIL(CULL_BAD_ARGUMENT, "%s: label_noise with a single class", name);
    if (asked->imbalance > 0 || asked->label_noise > 0) TRY(cull_data_check_labels(set));
done:
    return status;
}

/* Which of the class's members go: dropped[place] becomes 1. */
static void cut_class(const cull_data_strata *strata, const cull_data_cut_class *cut, uint64_t seed,
                      uint32_t *scratch, uint32_t *chosen, uint8_t *dropped)
{
    size_t          c = (size_t)cut->label, gone = cut->before - cut->after;
    const uint32_t *member = strata->member + strata->start[c];

    cull_data_choose(cull_key_make(seed, "imbalance"), c, cut->before, gone, scratch, chosen);
    for (size_t i = 0; i < gone; i++) dropped[member[chosen[i]]] = 1;
}

static void list_kept(const cull_dataset *set, const uint8_t *dropped, struct plan *plan,
                      cull_data_record *record)
{
    size_t gone = 0;

    plan->count = 0;
    for (size_t i = 0; i < set->count; i++)
        if (!dropped[i])
            plan->kept[plan->count++] = (uint32_t)i;
        else
            record->dropped[gone++] = set->origin[i];
}

static cull_status plan_imbalance(const cull_dataset *set, struct plan *plan,
                                  cull_data_record *record)
{
    cull_status      status = CULL_OK;
    cull_data_strata strata = {0};
    uint8_t         *dropped = NULL;
    uint32_t        *classes = NULL;
    size_t           cuts = cull_data_share(record->asked.imbalance, set->classes);

    TRY(cull_base_alloc(set->count, sizeof *dropped, "an imbalance", &dropped));
    if (record->asked.imbalance > 0) {
        TRY(cull_data_strata_init(&strata, set));
        TRY(cull_base_alloc(2 * set->classes, sizeof *classes, "an imbalance", &classes));
        TRY(cull_base_alloc(cuts, sizeof *record->cut, "an imbalance", &record->cut));
        cull_data_choose(cull_key_make(record->asked.seed, "imbalance classes"), 0, set->classes,
                         cuts, classes + set->classes, classes);
        for (size_t i = 0; i < cuts; i++) {
            size_t before = strata.size[classes[i]];
            size_t after = before ? cull_data_share(record->asked.imbalance_keep, before) : 0;
            record->cut[i] = (cull_data_cut_class){(int32_t)classes[i], before, after};
            record->drops += before - after;
            cut_class(&strata, &record->cut[i], record->asked.seed, plan->scratch, plan->kept,
                      dropped);
        }
        record->cuts = cuts;
    }
    TRY(cull_base_alloc(record->drops, sizeof *record->dropped, "an imbalance", &record->dropped));
    list_kept(set, dropped, plan, record);
done:
    cull_data_strata_clear(&strata);
    cull_base_free(dropped);
    cull_base_free(classes);
    return status;
}

/* Drawn by origin, so that the same example goes wrong the same way whatever was cut. */
static int32_t wrong_label(const cull_data_corruption *asked, cull_key key, uint32_t origin,
                           int32_t label, size_t classes)
{
    int32_t drawn = 0;

    if (asked->noise == CULL_DATA_REDRAW) return (int32_t)cull_base_below(key, 0, origin, classes);
    drawn = (int32_t)cull_base_below(key, 0, origin, classes - 1);
    return drawn >= label ? drawn + 1 : drawn;
}

static cull_status plan_noise(const cull_dataset *set, struct plan *plan, cull_data_record *record)
{
    cull_status status = CULL_OK;
    cull_key    key = cull_key_make(record->asked.seed, "wrong labels");
    size_t      count = cull_data_share(record->asked.label_noise, plan->count);

    if (record->asked.label_noise <= 0) goto done;
    TRY(cull_base_alloc(count, sizeof *plan->noisy, "label noise", &plan->noisy));
    TRY(cull_base_alloc(count, sizeof *record->relabelled, "label noise", &record->relabelled));
    cull_data_choose(cull_key_make(record->asked.seed, "label noise"), 0, plan->count, count,
                     plan->scratch, plan->noisy);
    for (size_t i = 0; i < count; i++) {
        uint32_t place = plan->kept[plan->noisy[i]], origin = set->origin[place];
        int32_t  before = cull_data_labels(set)[place];
        int32_t  after = wrong_label(&record->asked, key, origin, before, set->classes);
        record->relabelled[i] = (cull_data_relabelled){origin, before, after};
        record->wrong += before != after;
    }
    record->relabels = count;
done:
    return status;
}

/* A new set with every kept example `duplicates` times: all of them, then all again. */
static cull_status make_copies(const cull_dataset *set, struct plan *plan, size_t times,
                               cull_dataset **out)
{
    cull_status status = CULL_OK;
    size_t      total = 0;

    if (__builtin_mul_overflow(plan->count, times, &total) || total > UINT32_MAX - 1)
        FAIL(CULL_BAD_ARGUMENT, "%s: duplicates %zu times %zu examples; 2^32-2 is the most",
             set->name, times, plan->count);
    TRY(cull_base_alloc(total, sizeof *plan->copied, "duplicates", &plan->copied));
    for (size_t i = 0; i < total; i++) plan->copied[i] = plan->kept[i % plan->count];
    TRY(cull_data_gather(set, plan->copied, total, out));
    for (size_t i = plan->count; i < total; i++) (*out)->marks[i] |= CULL_DATA_MARK_COPY;
done:
    return status;
}

static void relabel(cull_dataset *set, const struct plan *plan, const cull_data_record *record)
{
    for (size_t first = 0; first < set->count; first += plan->count)
        for (size_t i = 0; i < record->relabels; i++) {
            const cull_data_relabelled *r = &record->relabelled[i];
            size_t                      place = first + plan->noisy[i];
            cull_data_labels(set)[place] = r->after;
            if (r->before != r->after) set->marks[place] |= CULL_DATA_MARK_LABEL;
        }
}

cull_status cull_data_corrupt(cull_dataset **set, const cull_data_corruption *asked,
                              cull_data_record *record)
{
    cull_status      status = CULL_OK;
    cull_dataset    *old = *set, *copies = NULL;
    struct plan      plan = {0};
    cull_data_record made = {.asked = *asked, .count = old->count};

    TRY(check_asked(old, asked));
    if (made.asked.imbalance_keep <= 0) made.asked.imbalance_keep = default_keep;
    if (made.asked.duplicates == 0) made.asked.duplicates = 1;
    TRY(cull_base_alloc(old->count, sizeof *plan.kept, "a corruption", &plan.kept));
    TRY(cull_base_alloc(old->count, sizeof *plan.scratch, "a corruption", &plan.scratch));
    TRY(plan_imbalance(old, &plan, &made));
    TRY(plan_noise(old, &plan, &made));
    if (made.asked.duplicates > 1) {
        TRY(make_copies(old, &plan, made.asked.duplicates, &copies));
        made.copies = copies->count - plan.count;
        cull_data_close(old);
        *set = copies;
    } else {
        cull_data_keep(old, plan.kept, plan.count);
    }
    relabel(*set, &plan, &made);
    made.count_after = (*set)->count;
    if (record) {
        *record = made;
        made = (cull_data_record){0};
    }
done:
    cull_data_record_clear(&made);
    cull_base_free(plan.kept);
    cull_base_free(plan.noisy);
    cull_base_free(plan.copied);
    cull_base_free(plan.scratch);
    return status;
}

void cull_data_record_clear(cull_data_record *record)
{
    cull_base_free(record->cut);
    cull_base_free(record->dropped);
    cull_base_free(record->relabelled);
    *record = (cull_data_record){0};
}
