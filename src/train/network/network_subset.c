/* train/network/network_subset.c - subsets as a caller has them, checked, and brought to where they
 * are read.
 */
#include <math.h>

#include "tensor/tensor.h"
#include "train/network/network.h"

static cull_status check_rows(const cull_subset *subset, size_t count)
{
    cull_status status = CULL_OK;

    for (size_t i = 0; i < subset->count; i++) {
        if (subset->index[i] >= count)
            FAIL(CULL_BAD_ARGUMENT, "row %u of the subset is not among %zu examples",
                 subset->index[i], count);
        if (!(subset->weight[i] >= 0 && isfinite(subset->weight[i])))
            FAIL(CULL_NOT_FINITE, "the weight of row %u is not a number from 0 on",
                 subset->index[i]);
    }
done:
    return status;
}

static bool lies_on_host(const cull_subset *subset)
{
    return cull_device_same(subset->device, (cull_device){0});
}

cull_status cull_network_read_subset(cull_network *n, const cull_subset *subset, size_t count,
                                     cull_subset *out)
{
    cull_status  status = CULL_OK;
    cull_subset *copy = &n->chosen;

    if (subset->count < 1 || subset->count > CULL_NETWORK_MOST)
        FAIL(CULL_BAD_ARGUMENT, "a subset of %zu examples is not to be learned", subset->count);
    if (!lies_on_host(subset))
        TRY(cull_device_check(subset->device, cull_backend_device(n->backend), "the subset"));
    if (subset->groups > 1)
        FAIL(CULL_BAD_ARGUMENT, "a subset in %zu groups: each is a training batch of its own",
             subset->groups);
    *out = *subset;
    if (!lies_on_host(subset)) {
        TRY(cull_subset_resize(copy, subset->count));
        TRY(cull_backend_download(n->backend, copy->index, subset->index,
                                  subset->count * sizeof *subset->index));
        TRY(cull_backend_download(n->backend, copy->weight, subset->weight,
                                  subset->count * sizeof *subset->weight));
        *out = *copy;
    }
    TRY(check_rows(out, count));
done:
    return status;
}

cull_status cull_network_place_subset(cull_network *n, const cull_subset *subset, size_t count,
                                      cull_subset *out)
{
    cull_status status = CULL_OK;
    cull_subset here = {0};

    if (subset) {
        TRY(cull_network_read_subset(n, subset, count, &here));
    } else {
        TRY(cull_subset_resize(&n->chosen, count));
        for (size_t i = 0; i < count; i++) n->chosen.index[i] = (uint32_t)i;
        here = n->chosen;
    }
    *out = subset ? *subset : here;
    if (cull_device_same(out->device, cull_backend_device(n->backend))) goto done;
    TRY(cull_subset_resize(&n->placed, here.count));
    TRY(cull_backend_upload(n->backend, n->placed.index, here.index,
                            here.count * sizeof *here.index));
    TRY(cull_backend_upload(n->backend, n->placed.weight, here.weight,
                            here.count * sizeof *here.weight));
    *out = n->placed;
done:
    return status;
}
