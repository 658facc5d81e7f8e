/* lab/compare/arm_price.c - what an arm costs: by the table, then by what its runs did. */
#include <math.h>
#include <string.h>

#include "lab/compare/arms.h"

cull_priced cull_arm_priced(const cull_recipe *recipe)
{
    const char *rounding = cull_recipe_value(recipe, "select.rounding");

    return (cull_priced){.setup = &recipe->setup,
                         .alternate = rounding && strcmp(rounding, "alternate") == 0};
}

/* What its runs did beyond, or short of, what was expected of them. */
static void correct(const cull_costs *costs, cull_arm *arm)
{
    const cull_arm_costs *own = &arm->own;
    cull_price           *p = &arm->price;
    bool                  whole = p->collects || p->pool; /* batches */
    double size = whole ? (double)arm->recipe->setup.batch : p->trained / (double)p->steps;
    double learn = cull_costs_learn(costs, size) / size;
    double score = own->score > 0 ? own->score : learn / 3;

    p->seconds += (own->trained - p->trained) * (learn + costs->optim / size) +
                  (own->scored - p->scored) * score +
                  (fmax(own->scored, own->trained) - fmax(p->scored, p->trained)) * costs->load;
    if (arm->recipe->setup.score.reuse) /* forward passes that were used again */
        p->seconds -= (own->scored + 3 * own->trained - own->thirds) * learn / 3;
    p->scored = own->scored;
    p->trained = own->trained;
    p->thirds = own->thirds;
}

cull_status cull_arm_price(const cull_costs *costs, cull_arm *arm)
{
    cull_status status = CULL_OK;
    cull_priced run = cull_arm_priced(arm->recipe);

    run.own = arm->own;
    TRY(cull_costs_price(costs, &run, NULL, 0, NULL, &arm->price));
    if (arm->own.counted) correct(costs, arm);
done:
    return status;
}
