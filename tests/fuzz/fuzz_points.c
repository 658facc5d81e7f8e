/* fuzz/fuzz_points.c - any bytes as points.jsonl: points that are somewhere, or a problem's
 * sentence; and as figure.json: a scale that can be, or none. */
#include <math.h>
#include <stdlib.h>

#include "fuzz.h"
#include "records/figure_info.h"
#include "records/points.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cull_records_points points = {0};
    cull_records_list   problems = {0};
    cull_records_figure figure = {0};
    bool                there = false;

    if (cull_records_points_decode("fuzz", data, size, &points, &problems) != CULL_OK) abort();
    for (size_t i = 0; i < points.count; i++) {
        const cull_records_point *p = &points.point[i];

        if (!isfinite(p->y) || (isnan(p->x) && !p->value[0])) abort();
        if (!memchr(p->series, 0, sizeof p->series) || !memchr(p->panel, 0, sizeof p->panel))
            abort();
    }
    if (problems.count > 1) abort();
    if (cull_records_figure_decode(data, size, &figure, &there) != CULL_OK) abort();
    if (there && !(figure.epochs > 0 && figure.epochs <= 1 && figure.subset > 0 &&
                   figure.subset <= 1 && figure.seeds >= 0 && figure.batches >= 0))
        abort();
    cull_records_points_clear(&points);
    cull_records_list_clear(&problems);
    return 0;
}
