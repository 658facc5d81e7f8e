/* doctor_tests.c - problems that are small enough to be solved each time: does this build compute?
 */
#include <math.h>

#include "doctor_parts.h"

enum { SAMPLE = 8, IMAGES = 4, PIXELS = 28 * 28, CLASSES = 10 };

#define TOLERANCE 1e-4 /* of a probability after one step, float on two backends */

/* The target is 3 times atom 2 plus 1 times atom 0 of three: pursuit must find exactly that. */
static bool pursuit_works(cull_backend *backend)
{
    static const double k[9] = {2, 0, 0, 0, 1, 0, 0, 0, 4}, t[3] = {2, 0, 12};
    uint32_t            index[2] = {0};
    double              weight[2] = {0};
    cull_omp_problem    problem = {.count = 3,
                                   .budget = 2,
                                   .k = cull_matrix(k, CULL_F64, 3, 3),
                                   .t = t,
                                   .b2 = 38,
                                   .index = index,
                                   .weight = weight};
    cull_omp_options    options = {.tolerance = 1e-6};

    if (cull_omp(backend, &problem, 1, &options) != CULL_OK || problem.picked != 2) return false;
    return index[0] == 2 && index[1] == 0 && fabs(weight[0] - 3) < 1e-12 &&
           fabs(weight[1] - 1) < 1e-12;
}

/* Half of eight by Selective-Backprop: four different rows, ascending, and the same twice. */
static bool draw_works(cull_backend *backend)
{
    static const float loss[SAMPLE] = {.1f, .9f, .4f, .7f, .2f, .8f, .3f, .6f};
    cull_option        option = {"keep", "0.5"};
    cull_setting       setting = {.pool = SAMPLE, .seed = 1, .backend = backend};
    cull_signals       signals = {.count = SAMPLE, .loss = cull_vector(loss, CULL_F32, SAMPLE)};
    uint32_t           first[SAMPLE] = {0};
    bool               good = true;

    for (int round = 0; round < 2 && good; round++) {
        cull_selector *selector = NULL;
        cull_subset    subset = {0};
        good = cull_selector_create("sb", &option, 1, &setting, &selector) == CULL_OK &&
               cull_select(selector, &signals, 0, &subset) == CULL_OK && subset.count == SAMPLE / 2;
        for (size_t i = 0; good && i < subset.count; i++) {
            if (i > 0) good = subset.index[i] > subset.index[i - 1];
            if (round == 1) good = good && subset.index[i] == first[i];
            first[i] = subset.index[i];
        }
        cull_subset_clear(&subset);
        cull_selector_destroy(selector);
    }
    return good;
}

/* What LeNet-5 says of a few images after one step on them. */
static bool train_lenet(cull_backend *backend, float share[IMAGES][CLASSES])
{
    static float   image[IMAGES][PIXELS];
    static int32_t label[IMAGES];
    cull_key       key = cull_key_make(1, "doctor");
    cull_model    *model = NULL;
    cull_network  *network = NULL;
    cull_examples  examples = {.inputs = cull_matrix(image, CULL_F32, IMAGES, PIXELS),
                               .label = cull_vector(label, CULL_I32, IMAGES)};
    bool           good = false;

    for (uint32_t i = 0; i < IMAGES; i++) {
        label[i] = (int32_t)i;
        for (uint32_t p = 0; p < PIXELS; p++) image[i][p] = (float)cull_key_uniform(key, p, i);
    }
    good = cull_model_named("lenet5", 1, 28, 28, CLASSES, &model) == CULL_OK &&
           cull_network_create(model, backend, NULL, 0, &network) == CULL_OK &&
           cull_network_learn(network, &examples, NULL, NULL) == CULL_OK &&
           cull_network_step(network, .1) == CULL_OK &&
           cull_network_predict(network, &examples.inputs, NULL, share[0]) == CULL_OK;
    cull_network_destroy(network);
    cull_model_destroy(model);
    return good;
}

/* A step of a network, by oneDNN and by plain loops. */
static bool network_works(cull_backend *backend)
{
    float         fast[IMAGES][CLASSES] = {{0}}, plain[IMAGES][CLASSES] = {{0}};
    cull_backend *ref = NULL;
    bool          good = cull_backend_open("ref", 1, &ref) == CULL_OK && train_lenet(ref, plain);

#ifdef CULL_WITHOUT_DNNL
    backend = ref; /* the processor has no other */
#endif
    good = good && train_lenet(backend, fast);

    for (size_t i = 0; good && i < IMAGES; i++)
        for (size_t c = 0; c < CLASSES; c++)
            good = good && fabs((double)fast[i][c] - (double)plain[i][c]) < TOLERANCE;
    cull_backend_close(ref);
    return good;
}

const doctor_test *doctor_test_at(size_t i)
{
    static const doctor_test tests[] = {
        {"pursuit", pursuit_works}, {"draw", draw_works}, {"network", network_works}};

    return i < sizeof tests / sizeof *tests ? &tests[i] : NULL;
}
