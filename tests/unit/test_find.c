/* tests/unit/test_find.c - what a page is about is found where it lies, once, and nothing else. */
#include "report/find.h"

#include "files.h"

struct place {
    char              folder[64];
    cull_rep_finds    finds;
    cull_records_list notes;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    if (!p) return 1;
    (void)snprintf(p->folder, sizeof p->folder, "%s", FOLDER_TEMPLATE);
    if (!mkdtemp(p->folder)) return 1;
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    cull_rep_finds_clear(&p->finds);
    cull_records_list_clear(&p->notes);
    remove_folder(p->folder);
    free(p);
    return 0;
}

/* FOLDER/NAME with a file in it, all folders made. */
static void put(const struct place *p, const char *name, const char *file)
{
    char command[600];

    (void)snprintf(command, sizeof command, "mkdir -p '%s/%s' && touch '%s/%s/%s'", p->folder, name,
                   p->folder, name, file);
    assert_int_equal(0, system(command));
}

static void assert_found(const struct place *p, size_t i, const char *name, cull_rep_kind kind)
{
    assert_true(i < p->finds.count);
    assert_string_equal(path_in(p->folder, name), p->finds.found[i].folder);
    assert_int_equal(kind, p->finds.found[i].kind);
}

static void what_lies_below_is_found_by_name_and_kind(void **state)
{
    struct place *p = *state;

    put(p, "b/one", "run.json");
    put(p, "b/one", "probe.jsonl"); /* of the run */
    put(p, "a", "comparison.json");
    put(p, "a/runs/full/seed-1", "run.json"); /* of the comparison */
    put(p, "c/1/2/3", "probe.jsonl");
    put(p, ".hidden", "run.json");
    assert_ok(cull_rep_find(p->folder, &p->finds, &p->notes));
    assert_int_equal(3, p->finds.count);
    assert_found(p, 0, "a", CULL_REP_COMPARISON);
    assert_found(p, 1, "b/one", CULL_REP_RUN);
    assert_found(p, 2, "c/1/2/3", CULL_REP_PROBE);
    assert_int_equal(0, p->notes.count);
}

static void a_folder_is_found_once_under_whatever_names(void **state)
{
    struct place *p = *state;
    char          command[400];

    put(p, "a/x", "run.json");
    (void)snprintf(command, sizeof command, "ln -s . '%s/a/loop' && ln -s x '%s/a/y'", p->folder,
                   p->folder);
    assert_int_equal(0, system(command));
    assert_ok(cull_rep_find(path_in(p->folder, "a"), &p->finds, &p->notes));
    assert_ok(cull_rep_find(p->folder, &p->finds, &p->notes));
    assert_ok(
        cull_rep_find(path_in(p->folder, "a/y"), &p->finds, &p->notes)); /* a link that is given */
    assert_int_equal(1, p->finds.count);
    assert_found(p, 0, "a/x", CULL_REP_RUN);
}

static void what_could_be_two_things_is_said(void **state)
{
    struct place *p = *state;

    put(p, "a", "comparison.json");
    put(p, "a", "run.json");
    put(p, "b", "plan.json");
    put(p, "b/runs/sb/seed-1", "run.json");
    assert_ok(cull_rep_find(p->folder, &p->finds, &p->notes));
    assert_int_equal(2, p->finds.count);
    assert_found(p, 0, "a", CULL_REP_COMPARISON);
    assert_found(p, 1, "b/runs/sb/seed-1", CULL_REP_RUN);
    assert_int_equal(2, p->notes.count);
    assert_non_null(strstr(p->notes.text[0], "shown as a comparison"));
    assert_non_null(strstr(p->notes.text[1], "begun and never judged"));
}

static void where_nothing_is_that_is_said(void **state)
{
    struct place *p = *state;

    assert_fails(CULL_IO, "nothing in it or below it is a comparison, a run or a probe",
                 cull_rep_find(p->folder, &p->finds, &p->notes));
    assert_fails(CULL_IO, "No such file", cull_rep_find("/no/where", &p->finds, &p->notes));
    put(p, "a", "run.json");
    assert_fails(CULL_IO, "is no folder; give the one it lies in",
                 cull_rep_find(path_in(p->folder, "a/run.json"), &p->finds, &p->notes));
    assert_int_equal(0, p->finds.count);
}

static void six_levels_down_is_looked_and_no_further(void **state)
{
    struct place *p = *state;

    put(p, "1/2/3/4/5/6/7", "run.json");
    assert_fails(CULL_IO, "down to six levels", cull_rep_find(p->folder, &p->finds, &p->notes));
    put(p, "1/2/3/4/5/6", "run.json");
    assert_ok(cull_rep_find(p->folder, &p->finds, &p->notes));
    assert_found(p, 0, "1/2/3/4/5/6", CULL_REP_RUN);
}

static void more_than_a_page_shows_is_left_out_and_said(void **state)
{
    struct place *p = *state;
    char          command[300];

    (void)snprintf(command, sizeof command,
                   "cd '%s' && mkdir $(seq 1000 1450) && touch $(seq -f %%g/run.json 1000 1450)",
                   p->folder);
    assert_int_equal(0, system(command));
    assert_ok(cull_rep_find(p->folder, &p->finds, &p->notes));
    assert_int_equal(CULL_REP_FOUND, p->finds.count);
    assert_found(p, CULL_REP_FOUND - 1, "1399", CULL_REP_RUN);
    assert_int_equal(1, p->notes.count);
    assert_non_null(strstr(p->notes.text[0], "more than a page shows"));
}

static void survives_every_allocation_failure(void **state)
{
    struct place *p = *state;
    cull_status   status = CULL_NO_MEMORY;

    put(p, "a", "comparison.json");
    put(p, "b/c", "run.json");
    put(p, "d", "plan.json");
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_rep_finds_clear(&p->finds);
        fail_nth_alloc(n);
        status = cull_rep_find(p->folder, &p->finds, &p->notes);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
    }
    assert_int_equal(2, p->finds.count);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_lies_below_is_found_by_name_and_kind),
        IN_FOLDER(a_folder_is_found_once_under_whatever_names),
        IN_FOLDER(what_could_be_two_things_is_said),
        IN_FOLDER(where_nothing_is_that_is_said),
        IN_FOLDER(six_levels_down_is_looked_and_no_further),
        IN_FOLDER(more_than_a_page_shows_is_left_out_and_said),
        IN_FOLDER(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
