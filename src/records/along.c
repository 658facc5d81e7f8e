/* records/along.c - what had been spent at each look of a run, targets and frontiers. */
#include "records/along.h"

#include <math.h>
#include <stdlib.h>

double cull_along_error(const cull_yardstick *by, const cull_records_line *look)
{
    return cull_yardstick_error(by, by->scale * look->accuracy);
}

double cull_along_seconds(const cull_records_line *look)
{
    double spent = cull_records_spent(&look->so_far);

    return isnan(spent) ? look->so_far.seconds : spent;
}

double cull_along_joules(const cull_records_line *look)
{
    double sum = 0;

    for (int i = 0; i < CULL_PHASES_OF_COST; i++) sum += look->so_far.joules_by[i];
    return sum > 0 ? sum : NAN; /* 0: nothing is counted */
}

double cull_along_updates(const cull_records_line *look)
{
    return look->so_far.updates;
}

const cull_records_line *cull_along_reach(const cull_records_run *run, const cull_yardstick *by,
                                          double error)
{
    const cull_records_curve *curve = &run->curves.of[CULL_RECORDS_TEST];

    for (size_t i = 0; i < curve->count; i++)
        if (cull_along_error(by, &curve->look[i]) <= error) return &curve->look[i];
    return NULL;
}

/* By x, then y. */
static int compare_points(const void *a, const void *b)
{
    const cull_along_point *p = a, *q = b;

    if (p->x < q->x || p->x > q->x) return p->x < q->x ? -1 : 1;
    if (p->y < q->y || p->y > q->y) return p->y < q->y ? -1 : 1;
    return p->whose < q->whose ? -1 : p->whose > q->whose;
}

void cull_along_front(cull_along_point *point, size_t count)
{
    double least = INFINITY;

    if (count > 0) qsort(point, count, sizeof *point, compare_points);
    for (size_t i = 0; i < count; i++) {
        point[i].front = point[i].y < least;
        least = fmin(least, point[i].y);
    }
}

double cull_along_share(const cull_along_point *point, size_t count, size_t whose)
{
    double all = 0, mine = 0;

    for (size_t i = 0; i < count; i++) {
        all += point[i].front;
        mine += point[i].front && point[i].whose == whose;
    }
    return all > 0 ? mine / all : NAN;
}
