/* tests/unit/test_compare_data.c - a comparison's data: warned of once, and the same throughout. */
#include "compare_support.h"

enum { COUNT = 120, SIDE = 6 };

static const char *info_of(const cull_compare_run *run)
{
    static char path[CULL_DATA_PATH + 16];

    (void)snprintf(path, sizeof path, "%s/run.json", run->folder);
    return path;
}

static void write_set(const char *folder, uint64_t seed, size_t test)
{
    cull_dataset *set = random_set(CULL_U8, COUNT + test, 4, 1, SIDE, SIDE);
    size_t        row = (size_t)SIDE * SIDE;
    cull_array    arrays[] = {
           {"x_train", cull_matrix(cull_data_base(set), CULL_U8, COUNT, row)},
           {"y_train", cull_vector(cull_data_labels(set), CULL_I32, COUNT)},
           {"x_test", cull_matrix(row_of(set, COUNT), CULL_U8, test, row)},
           {"y_test", cull_vector(cull_data_labels(set) + COUNT, CULL_I32, test)},
    };

    for (size_t i = 0; i < (COUNT + test) * row; i++)
        ((uint8_t *)cull_data_base(set))[i] = (uint8_t)(256 * random_uniform(seed, i));
    for (size_t i = 0; i < COUNT; i++)
        if (cull_data_labels(set)[i] == 2) cull_data_labels(set)[i] = 3;
    assert_ok(cull_arrays_write(path_in(folder, "set.npz"), arrays, 4));
    cull_data_close(set);
}

static cull_status open_comparison(const char *folder, uint64_t seeds, cull_comparison **out)
{
    char                 name[200];
    cull_option          own[4];
    cull_compare_options o = options("random,sb");

    (void)snprintf(name, sizeof name, "%s/set.npz", folder);
    memcpy(own, changes, sizeof own);
    own[2].value = "20";
    own[3].value = name;
    o.changes = own;
    o.seeds = seeds;
    return cull_comparison_create(&o, out);
}

static cull_comparison *begin_there(const char *folder)
{
    cull_comparison *c = NULL;
    char             there[200];

    (void)snprintf(there, sizeof there, "%s/there", folder);
    assert_ok(open_comparison(folder, 3, &c));
    assert_ok(cull_comparison_folder(c, there, false));
    measure_all(c);
    assert_ok(cull_comparison_begin(c));
    return c;
}

static void the_data_is_warned_of_from_the_beginning(void **state)
{
    static const char       said[] = "{\"status\":\"running\",\"warnings\":[\"seen by a run\","
                                     "\"set.npz: class 2 has no example\"]}";
    cull_comparison        *c = NULL;
    cull_records_comparison read = {0};
    cull_compare_run        run = {0};
    char                    there[200];

    (void)snprintf(there, sizeof there, "%s/there", (const char *)*state);
    write_set(*state, 1, 40);
    c = begin_there(*state);
    assert_string_equal("set.npz: class 2 has no example", cull_comparison_warning(c, 0));
    assert_null(cull_comparison_warning(c, 1));
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, "finished", accuracy_of(&run));
    assert_true(cull_comparison_run(c, 0, &run));
    put_file(info_of(&run), said, strlen(said));
    json_decref(judge(c));
    json_decref(judge(c)); /* and none is doubled */
    assert_ok(cull_records_comparison_read(there, &read));
    assert_int_equal(2, read.warnings.count);
    assert_string_equal("set.npz: class 2 has no example", read.warnings.text[0]);
    assert_string_equal("seen by a run", read.warnings.text[1]);
    assert_string_equal("seen by a run", cull_comparison_warning(c, 1));
    cull_records_comparison_clear(&read);
    cull_comparison_destroy(c);
}

static void a_comparison_goes_on_with_its_own_data_only(void **state)
{
    static const struct {
        uint64_t    seed;
        size_t      test;
        const char *says, *key;
    } cases[] = {{2, 40, "the training set has other inputs now", "data.name"},
                 {1, 39, "the test set has another number of examples now", "data.test"},
                 {1, 40, NULL, NULL}};
    cull_comparison *c = NULL;
    char             there[200], path[200];

    (void)snprintf(there, sizeof there, "%s/there", (const char *)*state);
    (void)snprintf(path, sizeof path, "%s/set.npz", (const char *)*state);
    write_set(*state, 1, 40);
    cull_comparison_destroy(begin_there(*state));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_set(*state, cases[i].seed, cases[i].test);
        assert_ok(open_comparison(*state, 5, &c));
        if (cases[i].says)
            assert_fails(CULL_DIFFERS, cases[i].says, cull_comparison_folder(c, there, true));
        else
            assert_ok(cull_comparison_folder(c, there, true));
        if (cases[i].key) assert_string_equal(cases[i].key, cull_last_subject());
        cull_comparison_destroy(c);
    }
    assert_int_equal(0, unlink(path)); /* what is not there any more is left to the runs */
    assert_ok(open_comparison(*state, 5, &c));
    assert_null(cull_comparison_warning(c, 0));
    assert_ok(cull_comparison_folder(c, there, true));
    cull_comparison_destroy(c);
}

static void a_run_on_other_data_is_not_believed(void **state)
{
    cull_comparison *c = NULL;
    cull_compare_run run = {0};
    json_t          *info = NULL, *data = NULL;

    write_set(*state, 1, 40);
    c = begin_there(*state);
    for (size_t i = 0; cull_comparison_run(c, i, &run); i++)
        leave_run(c, &run, "finished", accuracy_of(&run));
    assert_true(cull_comparison_run(c, 0, &run));
    info = json_load_file(info_of(&run), 0, NULL);
    data = json_object();
    assert_int_equal(0, json_object_set_new(data, "fingerprint", json_string(c->print[0])));
    assert_int_equal(0, json_object_set(info, "data", data));
    assert_int_equal(0, json_dump_file(info, info_of(&run), 0));
    json_decref(judge(c));
    assert_int_equal(0, c->value.is.problems.count);
    assert_int_equal(0, json_object_set_new(data, "fingerprint", json_string("120 and no more")));
    assert_int_equal(0, json_dump_file(info, info_of(&run), 0));
    assert_problem(c, "its training set had inputs of another shape than the comparison's; skipped",
                   NULL);
    json_decref(data);
    json_decref(info);
    cull_comparison_destroy(c);
}

static void what_cannot_be_meant_is_refused_at_once(void **state)
{
    cull_comparison     *c = NULL;
    char                 name[200];
    cull_option          own[] = {{"data.name", name}, {"data.test", name}, {"model.name", "mlp"}};
    cull_compare_options o = options("sb");
    cull_dataset        *set = random_set(CULL_U8, COUNT, 4, 1, SIDE, SIDE);

    /* x and y alone, which may be either set: a file with both gives its test arrays */
    (void)snprintf(name, sizeof name, "%s/set.npz", (const char *)*state);
    assert_ok(cull_data_write(set, name));
    cull_data_close(set);
    o.changes = own;
    o.count = 3;
    assert_fails(CULL_BAD_OPTION, "data.test: set.npz is the training set",
                 cull_comparison_create(&o, &c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_data_is_warned_of_from_the_beginning),
        IN_FOLDER(a_comparison_goes_on_with_its_own_data_only),
        IN_FOLDER(a_run_on_other_data_is_not_believed),
        IN_FOLDER(what_cannot_be_meant_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
