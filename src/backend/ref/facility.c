/* backend/ref/facility.c - facility location as backend/facility.h defines it, all pairs held. */
#include "backend/facility.h"

#include "backend/ref/ref.h"
#include "base/alloc.h"

struct space {
    float    *near;      /* (n, n) S                               */
    double   *best;      /* [n]                                    */
    uint32_t *owner;     /* [n] number of the pick that owns it    */
    uint32_t *candidate; /* [n] the first `left` are not yet picked */
    size_t    left;
};

static double dot(const cull_tensor *a, double scale, size_t i, size_t j)
{
    cull_tensor x = cull_vector(cull_tensor_row(a, i), a->dtype, (size_t)a->shape[1]);
    cull_tensor y = cull_vector(cull_tensor_row(a, j), a->dtype, (size_t)a->shape[1]);
    double      sum = 0;

    for (size_t l = 0; l < (size_t)a->shape[1]; l++)
        sum += scale * cull_tensor_get(&x, l) * (scale * cull_tensor_get(&y, l));
    return sum;
}

static double gram(const cull_facility_problem *problem, double scale, size_t i, size_t j)
{
    size_t a = cull_facility_row(problem, i), b = cull_facility_row(problem, j);

    return dot(&problem->p, scale, a, b) * (dot(&problem->h, 1, a, b) + 1);
}

/* Fills S and returns the floor. */
static double measure(const cull_facility_problem *problem, double scale, float *near)
{
    size_t n = problem->count;
    double floor = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            float *s = near + i * n + j;
            if (cull_tensor_present(&problem->similarity)) {
                cull_tensor row = cull_vector(cull_tensor_row(&problem->similarity, i),
                                              problem->similarity.dtype, n);
                *s = (float)(scale * cull_tensor_get(&row, j));
                continue;
            }
            double square = gram(problem, scale, i, i) + gram(problem, scale, j, j) -
                            2 * gram(problem, scale, i, j);
            *s = -(float)sqrt(square > 0 ? square : 0);
            if ((double)*s < floor) floor = (double)*s;
        }
    }
    return floor;
}

static double gain(const struct space *space, size_t n, size_t i)
{
    double sum = 0;

    for (size_t j = 0; j < n; j++) {
        double more = (double)space->near[i * n + j] - space->best[j];
        sum += more > 0 ? more : 0;
    }
    return sum;
}

/* The place in `candidate` of the next pick, among its first `looked`. */
static size_t choose(const struct space *space, size_t n, size_t looked)
{
    size_t chosen = 0;
    double most = -1;

    for (size_t c = 0; c < looked; c++) {
        double g = gain(space, n, space->candidate[c]);
        if (g > most || (g == most && space->candidate[c] < space->candidate[chosen])) {
            most = g;
            chosen = c;
        }
    }
    return chosen;
}

static void take(struct space *space, cull_facility_problem *problem, size_t pick, size_t place)
{
    size_t   n = problem->count;
    uint32_t atom = space->candidate[place];

    problem->index[pick] = atom;
    problem->weight[pick] = 0;
    space->candidate[place] = space->candidate[--space->left];
    for (size_t j = 0; j < n; j++) {
        double s = (double)space->near[atom * n + j];
        if (s <= space->best[j]) continue;
        space->best[j] = s;
        space->owner[j] = (uint32_t)pick;
    }
}

static void greedy(struct space *space, cull_facility_problem *problem,
                   const cull_facility_options *options)
{
    size_t n = problem->count;
    int    exponent = cull_facility_exponent(problem);
    double floor = measure(problem, ldexp(1, -exponent), space->near);
    size_t sample = cull_facility_sample_size(n, problem->budget, options->sample);

    space->left = n;
    for (size_t j = 0; j < n; j++) {
        space->best[j] = floor;
        space->owner[j] = 0;
        space->candidate[j] = (uint32_t)j;
    }
    for (size_t pick = 0; pick < problem->budget; pick++) {
        size_t looked = space->left;
        if (options->greedy == CULL_GREEDY_STOCHASTIC) {
            looked = sample < space->left ? sample : space->left;
            cull_facility_sample(options, n, pick, space->candidate, space->left, looked);
        }
        take(space, problem, pick, choose(space, n, looked));
    }
    problem->value = 0;
    for (size_t j = 0; j < n; j++) {
        problem->weight[space->owner[j]] += 1;
        problem->value += space->best[j] - floor;
    }
    problem->value = ldexp(problem->value, exponent);
}

static cull_status solve(cull_facility_problem *problem, const cull_facility_options *options)
{
    cull_status  status = CULL_OK;
    struct space space = {0};
    size_t       n = problem->count;

    if (n > SIZE_MAX / n) FAIL(CULL_TOO_LARGE, "facility location: %zu atoms are too many", n);
    TRY(cull_base_alloc(n * n, sizeof *space.near, "similarities", &space.near));
    TRY(cull_base_alloc(n, sizeof *space.best, "facility location", &space.best));
    TRY(cull_base_alloc(n, sizeof *space.owner, "facility location", &space.owner));
    TRY(cull_base_alloc(n, sizeof *space.candidate, "facility location", &space.candidate));
    greedy(&space, problem, options);
done:
    cull_base_free(space.candidate);
    cull_base_free(space.owner);
    cull_base_free(space.best);
    cull_base_free(space.near);
    return status;
}

static cull_status run(cull_op *op, const cull_op_args *args)
{
    cull_status status = CULL_OK;

    (void)op;
    for (size_t i = 0; i < args->facility.count; i++)
        TRY(solve(args->facility.problems + i, args->facility.options));
done:
    return status;
}

const cull_op_class cull_ref_facility = {cull_host_create, run, cull_host_destroy};
