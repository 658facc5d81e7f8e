/*
 * examples/example_network.c - the guide's loop in batches, with all that a selector may ask for.
 *
 *     cc -std=c17 example_network.c $(pkg-config --cflags --libs cull) -o example_network
 *     ./example_network ["sb remembered"]     any strategy with `keep` that chooses from each batch
 */
#include <cull.h>
#include <stdio.h>

enum { POOL = 600, BATCH = 60, EPOCHS = 10, CLASSES = 3 };

struct points {
    float    at[POOL][2];
    int32_t  label[POOL];
    uint32_t place[POOL];
};

/* Three clouds that touch, in the plane. */
static void make_points(struct points *p)
{
    cull_key key = cull_key_make(1, "points");

    for (uint32_t i = 0; i < POOL; i++) {
        p->place[i] = i;
        p->label[i] = (int32_t)(i % CLASSES);
        p->at[i][0] = (float)(2.2 * cull_key_uniform(key, i, 0) + 2 * (p->label[i] == 1));
        p->at[i][1] = (float)(2.2 * cull_key_uniform(key, i, 1) + 2 * (p->label[i] == 2));
    }
}

static cull_status make_network(cull_network **out)
{
    cull_model *m = NULL;
    cull_status status = cull_model_create("points", 2, 1, 1, &m);
    int         x = cull_model_dense(m, 0, "hidden", &(cull_dense){.out = 16});

    x = cull_model_activate(m, x, CULL_RELU);
    x = cull_model_dense(m, x, "logits", &(cull_dense){.out = CLASSES});
    if (!status) status = cull_model_finish(m, x);
    if (!status) status = cull_network_create(m, NULL, NULL, 0, out);
    cull_model_destroy(m);
    return status;
}

/* Ask, score, choose, learn, tell: one step of the run. */
static cull_status train(cull_network *network, cull_selector *selector, const struct points *p,
                         unsigned step, cull_subset *subset)
{
    unsigned      at = step * BATCH % POOL, epoch = step * BATCH / POOL;
    cull_needs    needs = {0};
    cull_signals  seen = {0}, trained = {0};
    cull_examples batch = {.inputs = cull_matrix(p->at[at], CULL_F32, BATCH, 2),
                           .label = cull_vector(p->label + at, CULL_I32, BATCH),
                           .place = p->place + at,
                           .step = step,
                           .epoch = epoch};
    cull_status   status = cull_selector_needs(selector, step, epoch, &needs);

    if (!status) status = cull_network_score(network, &batch, needs.signals, needs.running, &seen);
    if (!status) status = cull_select(selector, &seen, 0, subset);
    if (!status) status = cull_network_learn(network, &batch, subset, &trained);
    if (!status) status = cull_network_step(network, 0.05);
    if (!status && needs.observe) status = cull_observe(selector, &trained);
    return status;
}

static cull_status count_right(cull_network *network, const struct points *p, unsigned *right)
{
    static float share[POOL][CLASSES];
    cull_tensor  all = cull_matrix(p->at, CULL_F32, POOL, 2);
    cull_status  status = cull_network_predict(network, &all, NULL, share[0]);

    for (unsigned i = 0; !status && i < POOL; i++) *right += share[i][p->label[i]] > 0.5f;
    return status;
}

int main(int argc, char **argv)
{
    static struct points points;
    const char          *strategy = argc > 1 ? argv[1] : "sb remembered";
    cull_option          keep = {"keep", "0.3"};
    cull_setting         setting = {.pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = 1};
    cull_network        *network = NULL;
    cull_selector       *selector = NULL;
    cull_subset          subset = {0};
    size_t               trained = 0;
    unsigned             right = 0;
    cull_status          status = cull_selector_create(strategy, &keep, 1, &setting, &selector);

    make_points(&points);
    if (!status) status = make_network(&network);
    for (unsigned step = 0; !status && step < EPOCHS * POOL / BATCH; step++) {
        status = train(network, selector, &points, step, &subset);
        trained += subset.count;
    }
    if (!status) status = count_right(network, &points, &right);
    if (status)
        fprintf(stderr, "%s\n", cull_last_error());
    else
        printf("%s: %zu of %d examples trained, %u of %d points right\n",
               cull_selector_name(selector), trained, EPOCHS * POOL, right, POOL);
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    cull_network_destroy(network);
    return status || right < POOL * 9 / 10;
}
