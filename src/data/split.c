/* data/split.c - the stratified split: so many of each class, which ones by the seed; of targets
 * that are no classes, so many of all. */
#include "data/split.h"

#include <math.h>

#include "base/alloc.h"
#include "data/order.h"
#include "data/strata.h"

/* taken[place] becomes 1 for share[c] places of each class. */
static void take_shares(const cull_data_strata *strata, const size_t *share, cull_key key,
                        uint32_t *scratch, uint32_t *chosen, uint8_t *taken)
{
    for (size_t c = 0; c < strata->classes; c++) {
        cull_data_choose(key, c, strata->size[c], share[c], scratch, chosen);
        for (size_t i = 0; i < share[c]; i++)
            taken[strata->member[strata->start[c] + chosen[i]]] = 1;
    }
}

/* The places with taken == which, ascending; returns how many. */
static size_t list_places(const uint8_t *taken, size_t count, uint8_t which, uint32_t *out)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        if (taken[i] == which) out[at++] = (uint32_t)i;
    return at;
}

/* what: the set that is split off, also the name of the stream that draws it. */
static cull_status split(cull_dataset *train, const char *what, double fraction, uint64_t seed,
                         cull_dataset **out)
{
    cull_status      status = CULL_OK;
    cull_data_strata strata = {0};
    size_t          *share = NULL, count = train->count, total = 0;
    uint32_t        *scratch = NULL, *chosen = NULL;
    uint8_t         *taken = NULL;

    if (!(fraction > 0 && fraction < 1))
        FAIL(CULL_BAD_ARGUMENT, "%s: a %s split of %g; above 0 and below 1 is possible",
             train->name, what, fraction);
    total = cull_data_share(fraction, count);
    if (total >= count)
        FAIL(CULL_BAD_ARGUMENT, "%s: a %s split of %g leaves none of %zu to train on", train->name,
             what, fraction, count);
    TRY(cull_data_strata_init(&strata, train));
    TRY(cull_base_alloc(strata.classes, sizeof *share, "a split", &share));
    TRY(cull_base_alloc(count, sizeof *scratch, "a split", &scratch));
    TRY(cull_base_alloc(count, sizeof *chosen, "a split", &chosen));
    TRY(cull_base_alloc(count, sizeof *taken, "a split", &taken));
    cull_budget_split(total, strata.size, strata.classes, share);
    take_shares(&strata, share, cull_key_make(seed, what), scratch, chosen, taken);
    total = list_places(taken, count, 1, chosen);
    TRY(cull_data_gather(train, chosen, total, out));
    cull_data_keep(train, chosen, list_places(taken, count, 0, chosen));
done:
    cull_data_strata_clear(&strata);
    cull_base_free(share);
    cull_base_free(scratch);
    cull_base_free(chosen);
    cull_base_free(taken);
    return status;
}

cull_status cull_data_split(cull_dataset *train, double fraction, uint64_t seed,
                            cull_dataset **validation)
{
    return split(train, "validation", fraction, seed, validation);
}

cull_status cull_data_split_test(cull_dataset *train, double fraction, cull_dataset **test)
{
    return split(train, "test", fraction, 0, test);
}
