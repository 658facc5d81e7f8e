/*
 * nn/plan_memory.c - one arena for everything a plan touches.
 *
 * Every buffer has a life in the plan's time (see plan.h) and is put at the lowest offset where no
 * buffer alive at the same time lies, largest first.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "nn/plan.h"

enum { ALIGN = 64 };

struct buffer {
    size_t bytes, at;
    int    first, last; /* times, inclusive; last < first: not needed */
    char **home;        /* where its address goes                     */
    void **home2;       /* of states and statistics                   */
};

struct layout {
    struct buffer *buffer;
    size_t         count;
};

static void live(struct buffer *b, int time)
{
    if (time < b->first) b->first = time;
    if (time > b->last) b->last = time;
}

static int backward_time(const cull_plan *plan, int step)
{
    return 2 * plan->steps - step;
}

/* Lives of values: from the step that writes to the last that reads, forward or backward. */
static void live_values(cull_plan *plan, struct buffer *value, struct buffer *gradient)
{
    int loss = plan->steps, end = 2 * plan->steps + 1;
    int h = plan->value[plan->model->node[plan->model->last_dense].input[0]].home;

    for (int s = 0; s < plan->steps; s++) {
        const cull_step *step = &plan->step[s];
        int              out = plan->value[step->out].home;

        if (cull_plan_forwards(plan->mode)) live(&value[out], s);
        for (int k = 0; k < step->inputs; k++) {
            int in = plan->value[step->in[k]].home;

            if (cull_plan_forwards(plan->mode)) live(&value[in], s);
            if (cull_plan_learns(plan->mode) && plan->value[in].carries)
                live(&gradient[in], backward_time(plan, s));
        }
        if (cull_plan_learns(plan->mode) && plan->value[out].carries)
            live(&gradient[out], backward_time(plan, s));
        if (step->keeps & CULL_KEEP_X && cull_plan_learns(plan->mode))
            live(&value[plan->value[step->in[0]].home],
                 backward_time(plan, step->desc.beside ? 0 : s));
        if (step->keeps & CULL_KEEP_X2 && cull_plan_learns(plan->mode))
            live(&value[plan->value[step->in[1]].home], backward_time(plan, s));
        if (step->desc.beside) live(&gradient[out], backward_time(plan, 0));
        if (step->keeps & CULL_KEEP_Y && cull_plan_learns(plan->mode))
            live(&value[out], backward_time(plan, s));
    }
    live(&value[h], end); /* H is a signal; learn-from-kept has gathered it, as dense reads it */
    if (cull_plan_forwards(plan->mode))
        live(&value[plan->value[plan->model->last_dense].home], loss);
    if (cull_plan_learns(plan->mode))
        live(&gradient[plan->value[plan->model->last_dense].home], loss);
    for (int v = 0; v < plan->values; v++) {
        bool outlives = plan->mode == CULL_PLAN_SCORE_AND_KEEP && plan->value[v].kept;
        bool gathered = plan->mode == CULL_PLAN_LEARN_FROM_KEPT && plan->value[v].kept;

        if (outlives) live(&value[v], end);
        if (gathered) live(&value[v], 0);
    }
}

static int by_size(const void *a, const void *b)
{
    const struct buffer *const *x = a, *const *y = b;

    if ((*x)->bytes != (*y)->bytes) return (*x)->bytes < (*y)->bytes ? 1 : -1;
    return (*x)->first != (*y)->first ? ((*x)->first > (*y)->first ? 1 : -1)
                                      : (*x > *y) - (*x < *y);
}

/* The lowest offset free of the buffers already placed that live at the same time. */
static size_t lowest(struct buffer *const *placed, size_t count, const struct buffer *b)
{
    size_t at = 0;
    bool   moved = true;

    while (moved) {
        moved = false;
        for (size_t i = 0; i < count; i++) {
            const struct buffer *other = placed[i];
            bool                 together = other->first <= b->last && b->first <= other->last;

            if (!together || at >= other->at + other->bytes || other->at >= at + b->bytes) continue;
            at = other->at + other->bytes;
            moved = true;
        }
    }
    return at;
}

static cull_status place(struct layout *layout, size_t *total)
{
    cull_status     status = CULL_OK;
    struct buffer **order = NULL;
    size_t          count = 0;

    TRY(cull_base_alloc(layout->count, sizeof(struct buffer *), "a plan", &order));
    for (size_t i = 0; i < layout->count; i++) {
        struct buffer *b = &layout->buffer[i];
        if (b->last < b->first || b->bytes == 0) continue;
        b->bytes = (b->bytes + ALIGN - 1) / ALIGN * ALIGN;
        order[count++] = b;
    }
    qsort(order, count, sizeof(struct buffer *), by_size);
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        order[i]->at = lowest(order, i, order[i]);
        if (order[i]->at + order[i]->bytes > *total) *total = order[i]->at + order[i]->bytes;
    }
done:
    cull_base_free(order);
    return status;
}

static size_t value_bytes(const cull_plan *plan, int v)
{
    return (size_t)(plan->value[v].image.n * cull_image_row(&plan->value[v].image)) *
           plan->value[v].size;
}

/* Statistics and states of a step: written forward, read backward; kept ones outlive the run. */
static void live_step(const cull_plan *plan, int s, struct buffer *b)
{
    live(b, cull_plan_forwards(plan->mode) ? s : 0);
    if (cull_plan_learns(plan->mode)) live(b, backward_time(plan, s));
    if (plan->mode == CULL_PLAN_SCORE_AND_KEEP) live(b, 2 * plan->steps + 1);
}

static void list_buffers(cull_plan *plan, struct layout *layout)
{
    struct buffer *value = layout->buffer, *gradient = value + plan->values;
    struct buffer *stats = gradient + plan->values, *state = stats + plan->steps;

    for (size_t i = 0; i < layout->count; i++)
        layout->buffer[i] = (struct buffer){.first = 2 * plan->steps + 2, .last = -1};
    for (int v = 0; v < plan->values; v++) {
        bool input = !plan->model->node[v].class && cull_plan_forwards(plan->mode);

        gradient[v].bytes = value_bytes(plan, v);
        value[v].bytes = input ? 0 : gradient[v].bytes; /* inputs are read where the batch lies */
        value[v].home = &plan->value[v].data;
        gradient[v].home = &plan->value[v].gradient;
    }
    live_values(plan, value, gradient);
    for (int s = 0; s < plan->steps; s++) {
        cull_step *step = &plan->step[s];

        step->stats_bytes = step->op->stats * cull_dtype_size(plan->wide);
        stats[s].bytes = step->stats_bytes;
        stats[s].home2 = &step->args.stats;
        state[s].bytes = step->op->state_row * plan->batch;
        state[s].home2 = &step->args.state;
        if (stats[s].bytes) live_step(plan, s, &stats[s]);
        if (state[s].bytes && cull_plan_keeps(plan->mode)) live_step(plan, s, &state[s]);
    }
}

/* Does an earlier step (later in backward) also write this value's gradient? The one that writes
 * first overwrites; the others add. */
static bool written_before(const cull_plan *plan, int s, int k)
{
    int home = plan->value[plan->step[s].in[k]].home;

    for (int other = s; other < plan->steps; other++)
        for (int j = 0; j < plan->step[other].inputs; j++)
            if ((other > s || j < k) && plan->value[plan->step[other].in[j]].home == home)
                return true;
    return false;
}

static void set_arguments(cull_plan *plan)
{
    for (int s = 0; s < plan->steps; s++) {
        cull_step       *step = &plan->step[s];
        cull_layer_args *a = &step->args;
        cull_value      *in = cull_plan_home(plan, step->in[0]);
        cull_value      *in2 = step->inputs > 1 ? cull_plan_home(plan, step->in[1]) : NULL;
        cull_value      *out = cull_plan_home(plan, step->out);
        char            *values = plan->params->value, *gradients = plan->params->gradient;
        const size_t    *at = step->node->param_at, size = cull_dtype_size(plan->params->dtype);

        a->x = in->data;
        a->x2 = in2 ? in2->data : NULL;
        a->y = out->data;
        if (step->node->params > 0) {
            a->w = values + at[0] * size;
            a->dw = gradients + at[0] * size;
            if (plan->values_in == CULL_BF16)
                a->narrow = (char *)plan->params->narrow + at[0] * cull_dtype_size(CULL_BF16);
        }
        if (step->node->params > 1) {
            a->b = values + at[1] * size;
            a->db = gradients + at[1] * size;
        }
        if (step->node->running_count)
            a->running = (char *)plan->params->running + step->node->running_at * size;
        if (!cull_plan_learns(plan->mode)) continue;
        a->dy = out->gradient;
        a->dx = in->carries ? in->gradient : NULL;
        a->dx2 = in2 && in2->carries ? in2->gradient : NULL;
        a->accumulate = a->dx && written_before(plan, s, 0);
        a->accumulate2 = a->dx2 && written_before(plan, s, 1);
    }
}

/* The arrays of one entry an example. */
static cull_status make_arrays(cull_plan *plan)
{
    cull_status status = CULL_OK;
    cull_kit   *kit = &plan->kit;
    size_t      n = plan->batch, size = cull_dtype_size(plan->wide);
    uint32_t   *order = NULL;

    TRY(cull_kit_allocate(kit, n, sizeof *plan->loss, "a plan", &plan->loss));
    TRY(cull_kit_allocate(kit, n * plan->model->classes, size, "a plan", &plan->p));
    TRY(cull_kit_allocate(kit, n, sizeof *plan->order, "a plan", &plan->order));
    TRY(cull_base_alloc(n, sizeof *order, "a plan", &order));
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    TRY(cull_backend_upload(plan->backend, plan->order, order, n * sizeof *order));
    if (plan->mode != CULL_PLAN_LEARN_FROM_KEPT) goto done;
    TRY(cull_kit_allocate(kit, n, sizeof *plan->share, "a plan", &plan->share));
    TRY(cull_kit_allocate(kit, n, plan->target_bytes, "a plan", &plan->own_target));
    TRY(cull_kit_allocate(kit, n, sizeof *plan->own_place, "a plan", &plan->own_place));
done:
    cull_base_free(order);
    return status;
}

cull_status cull_plan_make_memory(cull_plan *plan)
{
    cull_status   status = CULL_OK;
    struct layout layout = {NULL, 2 * (size_t)plan->values + 2 * (size_t)plan->steps};
    size_t        total = 0;

    TRY(make_arrays(plan));
    TRY(cull_base_alloc(layout.count, sizeof *layout.buffer, "a plan", &layout.buffer));
    list_buffers(plan, &layout);
    TRY(place(&layout, &total));
    if (plan->room)
        TRY(cull_plan_room_take(plan->room, total, &plan->arena));
    else
        TRY(cull_kit_allocate(&plan->kit, total, 1, "a plan's activations", &plan->arena));
    plan->bytes =
        (plan->room ? 0 : total) + plan->batch * plan->model->classes * cull_dtype_size(plan->wide);
    for (size_t i = 0; i < layout.count; i++) {
        struct buffer *b = &layout.buffer[i];
        if (b->last < b->first || b->bytes == 0) continue;
        if (b->home) *b->home = plan->arena + b->at;
        if (b->home2) *b->home2 = plan->arena + b->at;
    }
    set_arguments(plan);
done:
    cull_base_free(layout.buffer);
    return status;
}
