/* data/strata.c - sorting places by class. */
#include "data/strata.h"

#include <math.h>

#include "base/alloc.h"

cull_status cull_data_strata_init(cull_data_strata *strata, const cull_dataset *set)
{
    cull_status    status = CULL_OK;
    size_t         at = 0;
    const int32_t *labels = cull_data_labels(set);

    strata->classes = labels ? set->classes : 1;
    TRY(cull_base_alloc(strata->classes, sizeof *strata->size, "sorting by class", &strata->size));
    TRY(cull_base_alloc(strata->classes, sizeof *strata->start, "sorting by class",
                        &strata->start));
    TRY(cull_base_alloc(set->count, sizeof *strata->member, "sorting by class", &strata->member));
    for (size_t i = 0; i < set->count; i++) strata->size[labels ? labels[i] : 0]++;
    for (size_t c = 0; c < strata->classes; c++) {
        strata->start[c] = at;
        at += strata->size[c];
        strata->size[c] = 0;
    }
    for (size_t i = 0; i < set->count; i++) {
        size_t c = labels ? (size_t)labels[i] : 0;
        strata->member[strata->start[c] + strata->size[c]++] = (uint32_t)i;
    }
done:
    return status;
}

void cull_data_strata_clear(cull_data_strata *strata)
{
    cull_base_free(strata->size);
    cull_base_free(strata->start);
    cull_base_free(strata->member);
    *strata = (cull_data_strata){0};
}

size_t cull_data_share(double fraction, size_t count)
{
    double part = floor(fraction * (double)count + 0.5);

    if (part < 1) return 1;
    return part < (double)count ? (size_t)part : count;
}
