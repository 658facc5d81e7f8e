/* tests/unit/test_csv_set.c - tables as data sets: columns, categories, labels, and their faults.
 */
#include <math.h>
#include <zlib.h>

#include "data/format.h"
#include "files.h"

static char folder[] = FOLDER_TEMPLATE;

static cull_status parse(const char *text, const cull_data_request *request,
                         const cull_dataset *like, cull_dataset **out)
{
    cull_status      status = CULL_OK;
    cull_data_source source = cull_data_source_memory("t.csv", text, strlen(text));
    cull_dataset    *set = NULL;

    TRY(cull_data_create("t.csv", &set));
    set->like = like;
    TRY(cull_data_csv_parse(&source, request, set));
    TRY(cull_data_measure(set));
    set->like = NULL;
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static cull_status read_table(const char *text, cull_dataset **out)
{
    return parse(text, &(cull_data_request){0}, NULL, out);
}

static void assert_row(const cull_dataset *set, size_t place, const float *numbers)
{
    float       buffer[64];
    const void *row = NULL;

    assert_true(set->channels <= 64);
    assert_ok(cull_data_row_at(set, place, buffer, &row));
    assert_memory_equal(numbers, row, set->channels * sizeof *numbers);
}

static void assert_remark(const cull_dataset *set, const char *text)
{
    for (size_t i = 0; i < set->remarks.count; i++)
        if (strstr(set->remarks.text[i], text)) return;
    fail_msg("no remark has '%s'; the first of %zu is '%s'", text, set->remarks.count,
             set->remarks.count ? set->remarks.text[0] : "");
}

static void numbers_and_categories_become_features(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    assert_ok(read_table("size,colour,label,old\n"
                         "1.5,red,1,yes\n"
                         "-2e1,blue,0,no\n"
                         "0,red,1,no\n",
                         &set));
    assert_int_equal(3, set->count);
    assert_int_equal(5, set->channels);
    assert_int_equal(CULL_F32, set->dtype);
    assert_int_equal(2, set->classes);
    assert_int_equal(0, set->class_names.count);
    assert_null(cull_data_base(set)); /* categories are made when they are asked for */
    assert_row(set, 0, (const float[]){1.5f, 0, 1, 0, 1});
    assert_row(set, 1, (const float[]){-20, 1, 0, 1, 0});
    assert_row(set, 2, (const float[]){0, 0, 1, 1, 0});
    assert_int_equal(1, cull_data_labels(set)[0]);
    assert_int_equal(0, cull_data_labels(set)[1]);
    assert_int_equal(5, set->feature_names.count);
    assert_string_equal("size", set->feature_names.text[0]);
    assert_string_equal("colour=blue", set->feature_names.text[1]);
    assert_string_equal("colour=red", set->feature_names.text[2]);
    assert_string_equal("old=yes", set->feature_names.text[4]);
    assert_string_equal("label", set->label_names.text[0]);
    assert_int_equal(0, set->remarks.count);
    cull_data_close(set);
}

static void numbers_alone_lie_as_they_are(void **state)
{
    static const float rows[] = {1, 2, 3, 4, 5, 6};
    cull_dataset      *set = NULL;

    (void)state;
    assert_ok(read_table("y,a,b\n0,1,2\n3,3,4\n1,5,6\n", &set));
    assert_memory_equal(rows, cull_data_base(set), sizeof rows);
    assert_int_equal(4, set->classes);
    assert_int_equal(3, cull_data_labels(set)[1]);
    cull_data_close(set);
    assert_ok(read_table(",a,b,y\n0,1,2,0\n1,3,4,1\n2,5,6,1\n", &set));
    assert_memory_equal(rows, cull_data_base(set), sizeof rows);
    assert_int_equal(2, set->channels);
    assert_remark(set, "column 1, which has no name and counts the rows, is left out");
    cull_data_close(set);
    assert_ok(read_table("a,b,y,\n1,2,0,\n3,4,1,\n5,6,1,\n", &set));
    assert_memory_equal(rows, cull_data_base(set), sizeof rows);
    assert_remark(set, "column 4, which has no name and nothing in it, is left out");
    cull_data_close(set);
}

static void the_label_is_found(void **state)
{
    static const struct {
        const char *header, *asked, *found;
    } cases[] = {
        {"a,b,c", NULL, "c"}, {"a,Label,c", NULL, "Label"},   {"CLASS,b,target", NULL, "CLASS"},
        {"y,b,c", NULL, "y"}, {"y,b,target", NULL, "target"}, {"y,b,label", "b", "b"},
        {"a,b,", NULL, "b"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_dataset *set = NULL;
        char          text[128];

        (void)snprintf(text, sizeof text, "%s\n0,1,%s\n1,0,%s\n0,0,%s\n", cases[i].header,
                       i == 6 ? "" : "1", i == 6 ? "" : "0", i == 6 ? "" : "1");
        assert_ok(parse(text, &(cull_data_request){.label = cases[i].asked}, NULL, &set));
        assert_string_equal(cases[i].found, set->label_names.text[0]);
        assert_int_equal(i == 0 || i == 6,
                         set->remarks.count && strstr(set->remarks.text[0], "the last column"));
        cull_data_close(set);
    }
}

static void labels_are_numbers_or_names(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    assert_ok(read_table("a,y\n1,owl\n2,cat\n3,owl\n4,dog\n", &set));
    assert_int_equal(3, set->classes);
    assert_string_equal("cat", set->class_names.text[0]);
    assert_string_equal("owl", set->class_names.text[2]);
    assert_int_equal(2, cull_data_labels(set)[0]);
    assert_int_equal(0, cull_data_labels(set)[1]);
    assert_int_equal(1, cull_data_labels(set)[3]);
    cull_data_close(set);
    assert_ok(read_table("a,y\n1,-1\n2,1\n3,1\n", &set));
    assert_int_equal(2, set->classes);
    assert_string_equal("-1", set->class_names.text[0]);
    assert_int_equal(1, cull_data_labels(set)[2]);
    cull_data_close(set);
    assert_ok(read_table("a,y\n1,2.0\n2,1e0\n3,2\n", &set));
    assert_int_equal(3, set->classes);
    assert_int_equal(0, set->class_names.count);
    assert_int_equal(2, cull_data_labels(set)[0]);
    assert_int_equal(1, cull_data_labels(set)[1]);
    cull_data_close(set);
}

static void other_targets_have_columns_of_their_own(void **state)
{
    static const float real[] = {1.5f, 7, -2, 8};
    cull_data_request  request = {.target = CULL_TARGET_REAL, .label = "p, q"};
    cull_dataset      *set = NULL;

    (void)state;
    assert_ok(parse("q,a,p\n7,1,1.5\n8,2,-2\n", &request, NULL, &set));
    assert_int_equal(1, set->channels);
    assert_int_equal(2, set->target.width);
    assert_int_equal(2, set->classes);
    assert_memory_equal(real, set->target.data, sizeof real);
    assert_string_equal("p", set->label_names.text[0]);
    cull_data_close(set);
    request = (cull_data_request){.target = CULL_TARGET_CLASSES, .label = "cat,dog,owl"};
    assert_ok(parse("a,dog,cat,owl\n1,0,1,0\n2,1,1,0\n", &request, NULL, &set));
    assert_memory_equal("\1\0\0\1\1\0", set->target.data, 6);
    assert_string_equal("owl", set->class_names.text[2]);
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "line 2, column 'owl': '2' is neither 0 nor 1",
                 parse("a,dog,cat,owl\n1,0,1,2\n", &request, NULL, &set));
    request.target = CULL_TARGET_CLASS;
    assert_fails(CULL_BAD_OPTION, "data.label: 3 columns; a class is one",
                 parse("a,dog,cat,owl\n1,0,1,2\n", &request, NULL, &set));
    request.label = "a,cow";
    assert_fails(CULL_BAD_OPTION, "data.label: t.csv has no column 'cow'",
                 parse("a,dog,cat,owl\n1,0,1,2\n", &request, NULL, &set));
    request.label = "a,a";
    assert_fails(CULL_BAD_OPTION, "data.label: names column 'a' twice",
                 parse("a,dog,cat,owl\n1,0,1,2\n", &request, NULL, &set));
    request = (cull_data_request){.target = CULL_TARGET_REAL};
    assert_fails(CULL_BAD_FILE, "line 2, column 'y': 'x' is no number",
                 parse("a,y\n1,x\n", &request, NULL, &set));
}

/* Columns in another order, fewer categories, another first label: all is as it was trained on. */
static void a_test_table_is_read_as_the_training_table_was(void **state)
{
    cull_data_request request = {0};
    cull_dataset     *train = NULL, *test = NULL;

    (void)state;
    assert_ok(read_table("size,colour,kind\n1,red,owl\n2,blue,cat\n3,green,dog\n", &train));
    assert_ok(
        parse("kind,extra,colour,size\nowl,9,green,5\ndog,8,red,6\n", &request, train, &test));
    assert_int_equal(4, test->channels);
    assert_row(test, 0, (const float[]){5, 0, 1, 0});
    assert_row(test, 1, (const float[]){6, 0, 0, 1});
    assert_int_equal(2, cull_data_labels(test)[0]);
    assert_int_equal(1, cull_data_labels(test)[1]);
    assert_remark(test, "column 'extra' was not trained on and is left out");
    assert_ok(cull_data_adopt(test, train));
    assert_int_equal(2, cull_data_labels(test)[0]);
    cull_data_close(test);
    assert_fails(CULL_BAD_FILE,
                 "line 2, column 'colour': 'pink' is none of the categories trained on",
                 parse("size,colour,kind\n1,pink,owl\n", &request, train, &test));
    assert_fails(CULL_BAD_FILE, "line 3, column 'kind': 'cow' is none of the classes trained on",
                 parse("size,colour,kind\n1,red,owl\n1,red,cow\n", &request, train, &test));
    assert_fails(CULL_BAD_FILE,
                 "line 2, column 'size': 'big' is no number, as all were that were trained on",
                 parse("size,colour,kind\nbig,red,owl\n", &request, train, &test));
    assert_fails(CULL_BAD_FILE, "has no column for 'colour=blue', which was trained on",
                 parse("size,kind\n1,owl\n", &request, train, &test));
    assert_fails(CULL_BAD_FILE, "has no column 'kind', which was learned",
                 parse("size,colour\n1,red\n", &request, train, &test));
    request.unlabelled = true;
    assert_ok(parse("size,colour\n1,red\n", &request, train, &test));
    assert_true(test->unlabelled);
    assert_int_equal(0, cull_data_labels(test)[0]);
    assert_int_equal(3, test->classes);
    cull_data_close(test);
    assert_ok(parse("kind,size,colour\n,1,red\ncow,2,blue\n", &request, train, &test));
    assert_int_equal(0, cull_data_labels(test)[1]); /* nobody minds what labels there are */
    assert_int_equal(0, test->remarks.count);
    cull_data_close(test);
    cull_data_close(train);
}

static void numbers_trained_on_stay_numbers(void **state)
{
    cull_data_request request = {0};
    cull_dataset     *train = NULL, *test = NULL;

    (void)state;
    assert_ok(read_table("a,b,y\n1,2,0\n3,4,1\n5,6,2\n", &train));
    assert_ok(parse("y,b,a\n2,20,10\n", &request, train, &test));
    assert_memory_equal(((const float[]){10, 20}), cull_data_base(test), 8);
    assert_int_equal(2, cull_data_labels(test)[0]);
    cull_data_close(test);
    assert_fails(CULL_BAD_FILE, "line 2, column 'y': 'two' is no class; 0 and up were trained on",
                 parse("y,b,a\ntwo,20,10\n", &request, train, &test));
    cull_data_close(train);
    assert_ok(read_table("a,y\n1,A\n3,1\n", &train)); /* names: "1" is class 0, not 1 */
    assert_ok(parse("a,y\n7,1\n", &request, train, &test));
    assert_int_equal(0, cull_data_labels(test)[0]);
    cull_data_close(test);
    cull_data_close(train);
    train = random_set(CULL_F32, 4, 3, 2, 1, 1); /* arrays have no names */
    assert_ok(parse("b,a,y\n1,2,2\n", &request, train, &test));
    assert_ok(cull_data_adopt(test, train));
    cull_data_close(test);
    cull_data_close(train);
}

static void what_is_missing_is_counted_or_filled_in(void **state)
{
    static const char text[] = "a,b,c,y\n,1,red,0\n4,NA,,1\n2,3,blue,0\n?,null,nan,1\n";
    cull_data_request request = {.missing = CULL_MISSING_MEAN};
    cull_dataset     *train = NULL, *test = NULL;

    (void)state;
    assert_fails(CULL_BAD_FILE,
                 "t.csv: 6 values are missing, the first in line 2, column 'a'; fill in what is "
                 "missing, leave rows or columns out, or set data.missing=mean",
                 read_table(text, &train));
    assert_ok(parse(text, &request, NULL, &train));
    assert_row(train, 0, (const float[]){3, 1, 0, 1});
    assert_row(train, 1, (const float[]){4, 2, 0, 0});
    assert_row(train, 3, (const float[]){3, 2, 0, 0});
    assert_true(train->mean[0] == 3 && train->mean[1] == 2);
    assert_remark(train, "6 values were missing and made the mean of the column's");
    assert_ok(parse("a,b,c,y\n,100,red,1\n", &request, train, &test));
    assert_row(test, 0, (const float[]){3, 100, 0, 1}); /* the training set's mean */
    cull_data_close(test);
    cull_data_close(train);
    assert_fails(CULL_BAD_FILE, "line 3, column 'y': '?' is no label",
                 parse("a,y\n1,0\n2,?\n", &request, NULL, &train));
    assert_ok(parse("a,b,y\n1,,0\n2,NA,1\n", &request, NULL, &train));
    assert_int_equal(1, train->channels);
    assert_remark(train, "column 'b' is empty and left out");
    cull_data_close(train);
}

/* 40 rows of "%d" in a first column that is made by `cell`, and a second of numbers. */
static const char *many_rows(const char *cell, int rows, int period)
{
    static char text[1 << 16];
    size_t      at = (size_t)snprintf(text, sizeof text, "name,size,y\n");

    for (int i = 0; i < rows; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, cell, i % period);
        at += (size_t)snprintf(text + at, sizeof text - at, ",%d,%d\n", i * i, i % 2);
    }
    return text;
}

static void columns_that_say_nothing_are_said(void **state)
{
    cull_dataset *set = NULL;

    (void)state;
    assert_ok(read_table(many_rows("n%d", 40, 40), &set));
    assert_int_equal(1, set->channels);
    assert_non_null(cull_data_base(set));
    assert_true(((const float *)cull_data_base(set))[39] == 39 * 39);
    assert_remark(set, "column 'name' has another text in every row and is left out");
    cull_data_close(set);
    assert_ok(read_table(many_rows("n%d", 2000, 2000), &set));
    assert_int_equal(1, set->channels);
    assert_remark(set, "column 'name' has another text in every row and is left out");
    cull_data_close(set);
    assert_ok(read_table(many_rows("n%d", 40, 39), &set));
    assert_int_equal(40, set->channels);
    cull_data_close(set);
    assert_ok(read_table(many_rows("n%d", 20, 20), &set)); /* too few to tell */
    assert_int_equal(21, set->channels);
    cull_data_close(set);
    assert_fails(
        CULL_BAD_FILE, "column 'name' has more than 1024 different texts, too many",
        read_table(strcat((char *)(uintptr_t)many_rows("n%d", 1024, 1023), "x,1,0\ny,2,1\n"),
                   &set));
    assert_ok(read_table(many_rows("%d", 40, 40), &set));
    assert_int_equal(2, set->channels);
    assert_remark(set, "column 'name' counts the rows and is an input like the others");
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "no column is left to learn from",
                 read_table(",y\n0,0\n1,1\n2,0\n", &set));
    assert_fails(CULL_BAD_FILE, "column 1 has no name; give it one",
                 read_table(",a,y\n0,1,0\n1,2,1\ntwo,3,0\n", &set));
}

/* What seemed numbers for many rows is read once more, as categories. */
static void a_text_among_numbers_makes_categories_of_few(void **state)
{
    cull_dataset *set = NULL;
    char          text[1 << 12];

    (void)state;
    assert_fails(CULL_BAD_FILE, "1 value is missing, the first in line 3, column 'floor'",
                 read_table("floor,y\n1,0\n,1\n2,1\nG,0\n1,1\n", &set));
    assert_ok(read_table("floor,size,y\n1,7,0\n2,8,1\nG,9,0\n1,1,1\n", &set));
    assert_int_equal(4, set->channels);
    assert_row(set, 0, (const float[]){1, 0, 0, 7});
    assert_row(set, 2, (const float[]){0, 0, 1, 9});
    assert_row(set, 3, (const float[]){1, 0, 0, 1});
    assert_int_equal(0, cull_data_labels(set)[2]);
    assert_remark(set, "column 'floor' has numbers, but a text in line 4, and is read as 3 "
                       "categories");
    cull_data_close(set);
    (void)snprintf(text, sizeof text, "%sunknown,5,1\n", many_rows("%d.5", 40, 35));
    assert_fails(CULL_BAD_FILE,
                 "column 'name' has numbers, and texts as well ('unknown'; the first in line 42): "
                 "mend them, or write NA where a number is missing",
                 read_table(text, &set));
    assert_fails(CULL_BAD_FILE,
                 "column 'a' has numbers with a decimal comma ('1,5'); write a point",
                 read_table("a;y\n1,5;0\n2;1\n3,5;1\n", &set));
    assert_ok(read_table("a;y\n\"1,2\";0\nnone of them;1\n", &set)); /* a text beside them */
    cull_data_close(set);
}

static void wrong_tables_are_told_with_line_and_column(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "t.csv: is empty"},
        {"a,y\n", "names columns, but has no rows"},
        {"1,2\n3,4\n", "line 1 has numbers alone; the first line must name the columns"},
        {"a,a,y\n1,2,0\n", "two columns are called 'a'"},
        {"a=b,a,y\n1,2,0\n", "column 'a=b' is called as a category of another column would be"},
        {"a,b,y\n1,2,0\n1,2\n", "line 3 has 2 fields, where the first line names 3 columns"},
        {"a,y\n1,0\n1,2,0\n", "line 3 has 3 fields, where the first line names 2 columns"},
        {"y\n1\n", "has one column alone; , ; or tab stand between"},
        {"a,y\n1e39,0\n", "line 2, column 'a': '1e39' is beyond the range of float32"},
        {"a,y\n1e999,0\n", "line 2, column 'a': '1e999' is beyond the range of float32"},
        {"a,y\n1,0\n-inf,1\n", "line 3, column 'a': '-inf' is not finite"},
        {"a,y\n1,0.5\n2,1.5\n", "line 2, column 'y': '0.5' is no class; real numbers are learned"},
        {"a,y\n1,x\n2,x\n", "column 'y' has one class only; data.label names another"},
        {"a,,y\n1,2,0\n1,5,1\n", "column 2 has no name; give it one in the first line"},
        {"a,y\n\"x\ny\",0\nz,1\n", "column 'a' has categories with control characters"},
        {"a,y\n\xff,0\nz,1\n", "or that are not UTF-8"},
        {"a\x1b,y\n1,0\n", "the name of column 1 has control characters"},
        {"a,y\n1,\"x\t\"\n2,z\n", "column 'y' has classes with control characters"},
        {",\n1,2\n", "no column has a name"},
    };
    cull_dataset *set = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(CULL_BAD_FILE, cases[i].sentence, read_table(cases[i].text, &set));
}

static void files_may_be_packed(void **state)
{
    static const char text[] = "a,y\n1,0\n2,1\n";
    const char       *path = path_in(folder, "t.csv.gz");
    cull_dataset     *set = NULL;
    gzFile            file = gzopen(path, "wb");
    char              bytes[512];
    FILE             *again = NULL;
    size_t            size = 0;

    (void)state;
    assert_int_equal(sizeof text - 1, gzwrite(file, text, sizeof text - 1));
    assert_int_equal(Z_OK, gzclose(file));
    assert_ok(open_set(path, CULL_DATA_TRAIN, NULL, &set));
    assert_int_equal(2, set->count);
    assert_string_equal("t.csv.gz", set->name);
    cull_data_close(set);
    assert_fails(CULL_BAD_FILE, "holds no test set", open_set(path, CULL_DATA_TEST, NULL, &set));
    again = fopen(path, "rb");
    size = fread(bytes, 1, sizeof bytes, again);
    (void)fclose(again);
    put_file(path, bytes, size - 3);
    assert_fails(CULL_BAD_FILE, "the packed data is cut short",
                 open_set(path, CULL_DATA_TRAIN, NULL, &set));
    put_file(path_in(folder, "t.tsv"), "a\ty\n1\t0\n2\t1\n", 12);
    assert_ok(open_set(path_in(folder, "t.tsv"), CULL_DATA_TRAIN, NULL, &set));
    cull_data_close(set);
    assert_fails(
        CULL_BAD_OPTION, "data.missing: ",
        cull_data_open(&(cull_data_request){.name = "mnist", .missing = CULL_MISSING_MEAN}, &set));
}

/* A table, the same as a test table, and a part of that. */
static cull_status try_to_parse(void *context)
{
    cull_data_request request = {.missing = CULL_MISSING_MEAN};
    cull_dataset     *train = NULL, *test = NULL, *part = NULL;
    cull_status       status = parse(context, &request, NULL, &train);

    if (status == CULL_OK) status = parse(context, &request, train, &test);
    if (status == CULL_OK) status = cull_data_gather(test, (const uint32_t[]){1}, 1, &part);
    cull_data_close(train);
    cull_data_close(test);
    cull_data_close(part);
    return status;
}

static void survives_every_allocation_failure(void **state)
{
    char texts[][80] = {"size,colour,kind,\n1,red,owl,\n,blue,cat,\n3,green,dog,\n",
                        "a,b,y\n1,2,0\nx,4,1\n1,4,1\n", ",a,y\n0,1,0\n1,2,2\n"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_survives(try_to_parse, texts[i]);
}

static int set_up(void **state)
{
    (void)state;
    return !mkdtemp(folder);
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_categories_become_features),
        cmocka_unit_test(numbers_alone_lie_as_they_are),
        cmocka_unit_test(the_label_is_found),
        cmocka_unit_test(labels_are_numbers_or_names),
        cmocka_unit_test(other_targets_have_columns_of_their_own),
        cmocka_unit_test(a_test_table_is_read_as_the_training_table_was),
        cmocka_unit_test(numbers_trained_on_stay_numbers),
        cmocka_unit_test(what_is_missing_is_counted_or_filled_in),
        cmocka_unit_test(columns_that_say_nothing_are_said),
        cmocka_unit_test(a_text_among_numbers_makes_categories_of_few),
        cmocka_unit_test(wrong_tables_are_told_with_line_and_column),
        cmocka_unit_test(files_may_be_packed),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
