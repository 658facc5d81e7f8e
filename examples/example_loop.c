/*
 * examples/example_loop.c - a training loop of one's own, with a selector in it.
 *
 * A softmax classifier on made-up points, trained on the 30 % of each batch that
 * Selective-Backprop picks. Losses are remembered from training, so nothing is scored:
 *
 *     cc -std=c17 example_loop.c $(pkg-config --cflags --libs cull_select) -lm -o example_loop
 *     ./example_loop ["sb remembered"]     any strategy that reads losses alone
 */
#include <cull.h>
#include <math.h>
#include <stdio.h>

enum { POOL = 600, BATCH = 60, STEPS = POOL / BATCH, EPOCHS = 10, CLASSES = 3, INPUTS = 3 };

struct model {
    double weight[CLASSES][INPUTS];
};

/* Points around three centres, with a constant as the third input, the bias. */
static void make_points(double x[POOL][INPUTS], int label[POOL])
{
    static const double centre[CLASSES][2] = {{0, 2}, {2, -1}, {-2, -1}};
    cull_key            key = cull_key_make(1, "points");

    for (uint64_t i = 0; i < POOL; i++) {
        label[i] = (int)(i % CLASSES);
        for (uint64_t j = 0; j < 2; j++)
            x[i][j] = centre[label[i]][j] + 3 * (cull_key_uniform(key, i, j) - 0.5);
        x[i][2] = 1;
    }
}

/* Forward: the loss of one example, and the gradient p = softmax - one-hot of its logits. */
static double forward(const struct model *m, const double *x, int label, double p[CLASSES])
{
    double sum = 0, wanted = 0;

    for (int c = 0; c < CLASSES; c++) {
        p[c] = 0;
        for (int j = 0; j < INPUTS; j++) p[c] += m->weight[c][j] * x[j];
        p[c] = exp(p[c]);
        sum += p[c];
    }
    wanted = p[label] / sum;
    for (int c = 0; c < CLASSES; c++) p[c] = p[c] / sum - (c == label);
    return -log(wanted);
}

/* One step of gradient descent on (1/m) sum w*loss; keeps the losses it saw on the way. */
static void train(struct model *m, double x[POOL][INPUTS], const int *label, const cull_subset *s,
                  double *loss)
{
    double gradient[CLASSES][INPUTS] = {{0}}, p[CLASSES];

    for (size_t i = 0; i < s->count; i++) {
        uint32_t at = s->place[i];
        loss[i] = forward(m, x[at], label[at], p);
        for (int c = 0; c < CLASSES; c++)
            for (int j = 0; j < INPUTS; j++) gradient[c][j] += s->weight[i] * p[c] * x[at][j];
    }
    for (int c = 0; c < CLASSES; c++)
        for (int j = 0; j < INPUTS; j++) m->weight[c][j] -= 0.5 * gradient[c][j] / (double)s->count;
}

/* Ask, choose, train, tell: one step of the run. */
static cull_status step(cull_selector *selector, struct model *m, double x[POOL][INPUTS],
                        const int *label, uint64_t now, cull_subset *subset)
{
    uint64_t     epoch = now / STEPS;
    uint32_t     place[BATCH];
    double       loss[BATCH], p[CLASSES];
    cull_needs   needs = {0};
    cull_signals seen = {.count = BATCH, .place = place, .step = now, .epoch = epoch};
    cull_status  status = cull_selector_needs(selector, now, epoch, &needs);

    if (status) return status;
    for (uint32_t i = 0; i < BATCH; i++) place[i] = (uint32_t)(now % STEPS) * BATCH + i;
    if (needs.signals & CULL_SIGNAL_LOSS) {
        for (size_t i = 0; i < BATCH; i++) loss[i] = forward(m, x[place[i]], label[place[i]], p);
        seen.loss = cull_vector(loss, CULL_F64, BATCH);
    }
    status = cull_select(selector, &seen, 0, subset);
    if (status) return status;
    train(m, x, label, subset, loss);
    if (!needs.observe) return CULL_OK;
    seen.count = subset->count;
    seen.place = subset->place;
    seen.loss = cull_vector(loss, CULL_F64, subset->count);
    return cull_observe(selector, &seen);
}

static double accuracy(const struct model *m, double x[POOL][INPUTS], const int *label)
{
    size_t right = 0;

    for (size_t i = 0; i < POOL; i++) {
        double p[CLASSES];
        (void)forward(m, x[i], label[i], p);
        right += p[label[i]] > -0.5; /* a probability above one half */
    }
    return (double)right / POOL;
}

int main(int argc, char **argv)
{
    static double  x[POOL][INPUTS];
    static int     label[POOL];
    const char    *strategy = argc > 1 ? argv[1] : "sb remembered";
    cull_option    options[] = {{"keep", "0.3"}};
    cull_setting   setting = {.pool = POOL, .batch = BATCH, .epochs = EPOCHS, .seed = 1};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    struct model   model = {{{0}}};
    size_t         trained = 0;
    cull_status    status = cull_selector_create(strategy, options, 1, &setting, &selector);

    make_points(x, label);
    for (uint64_t now = 0; !status && now < EPOCHS * STEPS; now++) {
        status = step(selector, &model, x, label, now, &subset);
        trained += subset.count;
    }
    if (status)
        fprintf(stderr, "%s\n", cull_last_error());
    else
        printf("%s: %zu of %d examples trained, accuracy %.3f\n", cull_selector_name(selector),
               trained, POOL * EPOCHS, accuracy(&model, x, label));
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    return status || accuracy(&model, x, label) < 0.9;
}
