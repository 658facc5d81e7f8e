/* tests/unit/test_pairs.c - an arm and its controls begin alike: whatever a seed decides, it
 * decides for all of them. */
#include "lab/compare/arms.h"

#include <string.h>

#include "files.h"

enum { COUNT = 200, CLASSES = 4, SIDE = 8, EPOCHS = 2 };

struct world {
    char folder[64], train[128], test[128];
};

static int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    cull_dataset *set = random_set(CULL_U8, COUNT, CLASSES, 1, SIDE, SIDE);

    assert_non_null(w);
    strcpy(w->folder, FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(w->folder));
    (void)snprintf(w->train, sizeof w->train, "%s", path_in(w->folder, "train.npz"));
    (void)snprintf(w->test, sizeof w->test, "%s", path_in(w->folder, "test.npz"));
    write_both(set, w->train, w->test);
    cull_data_close(set);
    *state = w;
    return 0;
}

static int remove_world(void **state)
{
    struct world *w = *state;

    remove_folder(w->folder);
    free(w);
    return 0;
}

/* Pixels of every example as the first epochs augment them. */
static void *pictures_of(const cull_trainer *t, uint64_t epoch)
{
    size_t   count = t->sets.train->count, row = SIDE * SIDE * sizeof(float);
    uint32_t place[4 * COUNT];
    void    *out = calloc(count, row);

    assert_true(out && count <= 4 * COUNT);
    for (size_t i = 0; i < count; i++) place[i] = (uint32_t)i;
    assert_ok(cull_data_transform(t->sets.train, &t->setup->augment,
                                  (cull_data_form){.dtype = CULL_F32}, epoch, place, count, out));
    return out;
}

static void assert_alike(cull_trainer *a, cull_trainer *b)
{
    size_t rows = a->sets.train->count;

    assert_int_equal(rows, b->sets.train->count);
    assert_int_equal(a->learner.params->count, b->learner.params->count);
    assert_memory_equal(a->learner.params->value, b->learner.params->value,
                        a->learner.params->count * sizeof(float));
    assert_memory_equal(cull_data_labels(a->sets.train), cull_data_labels(b->sets.train),
                        rows * sizeof *cull_data_labels(a->sets.train));
    for (size_t i = 0; i < rows; i++)
        assert_memory_equal(row_of(a->sets.train, i), row_of(b->sets.train, i), SIDE * SIDE);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        void *one = pictures_of(a, epoch), *other = pictures_of(b, epoch);

        assert_memory_equal(one, other, rows * SIDE * SIDE * sizeof(float));
        free(one);
        free(other);
        cull_data_order_epoch(&a->feed.order, epoch, NULL, 0);
        cull_data_order_epoch(&b->feed.order, epoch, NULL, 0);
        assert_memory_equal(a->feed.order.place, b->feed.order.place,
                            rows * sizeof *a->feed.order.place);
    }
}

/* The full run, the arms and their controls, with this seed. */
static cull_arms arms_of(const struct world *w, const char *seed)
{
    cull_option changes[] = {
        {"data.name", w->train},     {"data.test", w->test},  {"data.validation", "0.2"},
        {"data.label_noise", "0.2"}, {"model.name", "mlp"},   {"augment.crop", "1"},
        {"augment.flip", "true"},    {"augment.cutout", "2"}, {"train.batch", "16"},
        {"train.epochs", "2"},       {"train.seed", seed}};
    cull_arm_base base = {.changes = changes, .count = 11, .threads = 1};
    cull_arm_wish wish = {.strategies = "sb,sb remembered,grad-match period=1,sb mode=scaled",
                          .keep = "0.25",
                          .pass = "separate"};
    cull_costs    costs = {.pool = 160, .test = COUNT, .load = 1e-5, .optim = 5e-4};
    cull_arms     arms = {0};

    assert_true(cull_costs_add(&costs, 8, 9e-3) && cull_costs_add(&costs, 16, 17e-3));
    assert_ok(cull_arms_open(&base, &wish, &arms));
    for (size_t i = 1; i < arms.count; i++)
        arms.arm[i].own = (cull_arm_costs){.known = true, .score = 3e-4, .decide = 2e-4};
    assert_ok(cull_arms_control(&base, &costs, &arms));
    return arms;
}

static void arms_and_controls_share_all_that_a_seed_decides(void **state)
{
    cull_arms     arms = arms_of(*state, "2"), others = arms_of(*state, "3");
    cull_trainer *full = NULL, *other = NULL;
    size_t        roles[CULL_ROLES] = {0};

    assert_ok(cull_trainer_create(&arms.arm[0].recipe->setup, true, &full));
    for (size_t i = 1; i < arms.count; i++) {
        cull_trainer *t = NULL;

        if (!arms.arm[i].recipe) continue;
        assert_ok(cull_trainer_create(&arms.arm[i].recipe->setup, true, &t));
        assert_alike(full, t);
        cull_trainer_destroy(t);
        roles[arms.arm[i].role]++;
    }
    assert_true(roles[CULL_ROLE_ARM] == 4 && roles[CULL_ROLE_SAME_M] &&
                roles[CULL_ROLE_SHORTENED] && roles[CULL_ROLE_WHOLE_BUDGET]);
    assert_ok(cull_trainer_create(&others.arm[0].recipe->setup, true, &other));
    assert_memory_not_equal(full->learner.params->value, other->learner.params->value,
                            full->learner.params->count * sizeof(float));
    assert_memory_not_equal(cull_data_labels(full->sets.train), cull_data_labels(other->sets.train),
                            full->sets.train->count * sizeof *cull_data_labels(full->sets.train));
    cull_trainer_destroy(full);
    cull_trainer_destroy(other);
    cull_arms_close(&arms);
    cull_arms_close(&others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arms_and_controls_share_all_that_a_seed_decides, make_world,
                                        remove_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
