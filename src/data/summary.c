/* data/summary.c - data sets as the public API has them: what is in one, and one in another form.
 */
#include <string.h>

#include "base/sized.h"
#include "data/dataset.h"
#include "data/strata.h"

enum { CHANNELS = sizeof(((cull_data_summary *)0)->mean) / sizeof(double) };

cull_status cull_data_summarise(const char *name, cull_data_role role, const char *root,
                                cull_data_summary *out)
{
    cull_status       status = CULL_OK;
    cull_dataset     *set = NULL;
    cull_data_strata  strata = {0};
    cull_data_summary room, *given = out;

    SIZED_RESULT(cull_data_summary, out, room);
    TRY(cull_data_open(name, role, root, &set));
    TRY(cull_data_strata_init(&strata, set));
    *out = (cull_data_summary){.count = set->count,
                               .classes = set->classes,
                               .channels = set->channels,
                               .height = set->height,
                               .width = set->width,
                               .dtype = set->dtype,
                               .published = set->published,
                               .fewest = set->count};
    memcpy(out->name, set->name, sizeof out->name);
    for (size_t c = 0; c < set->channels && c < CHANNELS; c++) {
        out->mean[c] = set->mean[c];
        out->deviation[c] = set->deviation[c];
    }
    for (size_t k = 0; k < strata.classes; k++) {
        if (strata.size[k] < out->fewest) out->fewest = strata.size[k];
        if (strata.size[k] > out->most) out->most = strata.size[k];
    }
    cull_sized_give(given, out, sizeof *out);
done:
    cull_data_strata_clear(&strata);
    cull_data_close(set);
    return status;
}

cull_status cull_data_convert(const char *name, cull_data_role role, const char *root,
                              const char *path)
{
    cull_status   status = CULL_OK;
    cull_dataset *set = NULL;

    TRY(cull_data_open(name, role, root, &set));
    TRY(cull_data_write(set, path));
done:
    cull_data_close(set);
    return status;
}
