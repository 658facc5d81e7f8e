/* report/probes.h - gradient errors gathered over runs, by kept share and strategy. */
#ifndef CULL_REPORT_PROBES_H
#define CULL_REPORT_PROBES_H

#include "report/page.h"

typedef struct cull_rep_probe_group {
    const char    *strategy; /* borrowed */
    double         keep;
    cull_rep_style style;
    size_t         batches; /* minibatches that were looked at               */
    double        *error;   /* [count] > 0, ascending; of those with gradients */
    size_t         count, room;
    size_t         wins, contests;    /* below uniform's error, of those compared         */
    double         cosine, full;      /* sums over the errors                             */
    double         picked, corrupted; /* examples, and those of them with a changed label */
} cull_rep_probe_group;

typedef struct cull_rep_probes {
    cull_rep_probe_group *group; /* ascending by keep */
    size_t                count;
} cull_rep_probes;

/* `c`, where not NULL, says how its strategies are drawn. */
cull_status cull_rep_probes_add(cull_rep_probes *probes, const cull_records_probes *from,
                                const cull_rep_comparison *c);
void        cull_rep_probes_clear(cull_rep_probes *probes);

/* Figures and table of what was gathered; nothing where nothing was. */
cull_status cull_rep_draw_probes(cull_rep_page *page, const cull_rep_probe_group *groups,
                                 size_t count);
cull_status cull_rep_put_probes(cull_rep_page *page, cull_rep_probes *probes);

#endif
