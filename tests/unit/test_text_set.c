/* tests/unit/test_text_set.c - texts as data sets: folders, tables and JSON lines, and tokenizers
 * as they are published. */
#include "base/bytes.h"
#include "data/corrupt.h"
#include "data/format.h"
#include "data/inspect.h"
#include "data/split.h"
#include "data/text_table.h"
#include "data/tokens.h"
#include "data/wordpiece_parts.h"
#include "files.h"

enum { LENGTH = 8, PIECES = 15 };

static char folder[] = FOLDER_TEMPLATE;
static char vocabulary[600];

static const char pieces[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\nfilm\n##s\nthe\n.\n,\n"
                             "Good\n\xc3\xa9t\xc3\xa9\nete\n";

/* By their lines. */
enum { PAD, UNK, CLS, SEP, MASK, GOOD, BAD, FILM, S, THE, POINT, COMMA, CAPITAL, ACCENTS, PLAIN };

/* A tokenizer.json with these pieces; %s: members of its normalizer, and of all of it. */
static const char json[] =
    "{\"version\": \"1.0\", \"truncation\": {\"max_length\": 3}, \"padding\": {\"length\": 9},"
    "\"added_tokens\": [{\"id\": 2, \"content\": \"[CLS]\", \"single_word\": false,"
    "\"normalized\": false, \"special\": true}, {\"id\": 3, \"content\": \"[SEP]\"},"
    "{\"id\": 15, \"content\": \"[NEW]\"}, {\"id\": 16, \"content\": \"[NEW]S\"}],"
    "\"normalizer\": {\"type\": \"BertNormalizer\"%s},"
    "\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"},"
    "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": ["
    "{\"SpecialToken\": {\"id\": \"[CLS]\", \"type_id\": 0}},"
    "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}},"
    "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 0}}]}%s,"
    "\"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\","
    "\"continuing_subword_prefix\": \"##\", \"max_input_chars_per_word\": 100, \"vocab\": {"
    "\"[PAD]\": 0, \"[UNK]\": 1, \"[CLS]\": 2, \"[SEP]\": 3, \"[MASK]\": 4, \"good\": 5,"
    "\"bad\": 6, \"film\": 7, \"##s\": 8, \"the\": 9, \".\": 10, \",\": 11, \"Good\": 12,"
    "\"\\u00e9t\\u00e9\": 13, \"ete\": 14}}}";

static cull_data_request request_of(const char *name)
{
    return (cull_data_request){.name = name, .tokenizer = vocabulary, .length = LENGTH};
}

static void assert_row(const cull_dataset *set, size_t place, const int32_t *tokens, size_t count)
{
    const int32_t *row = row_of(set, place);

    assert_int_equal(count, cull_data_tokens(row, set->height));
    assert_memory_equal(tokens, row, count * sizeof *tokens);
    for (size_t i = count; i < set->height; i++) assert_int_equal(-1, row[i]);
}
#define ROW(set, place, ...)                                                                       \
    assert_row(set, place, (const int32_t[]){__VA_ARGS__},                                         \
               sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static void assert_remark(const cull_dataset *set, const char *text)
{
    for (size_t i = 0; i < set->remarks.count; i++)
        if (strstr(set->remarks.text[i], text)) return;
    fail_msg("no remark has '%s'", text);
}

/* ---- tokenizers ---- */

static cull_status parse_json(const char *normaliser, const char *rest, cull_wordpiece **out)
{
    char             text[4096];
    cull_data_source source = {0};

    (void)snprintf(text, sizeof text, json, normaliser, rest);
    source = cull_data_source_memory("t.json", text, strlen(text));
    return cull_tokenizer_json_parse(&source, out);
}

static void assert_tokens(const cull_wordpiece *w, const char *text, const int32_t *tokens,
                          size_t wanted)
{
    int32_t out[32];
    size_t  count = 0;

    assert_ok(cull_wordpiece_encode(w, text, strlen(text), 32, out, &count, NULL));
    assert_int_equal(wanted, count);
    assert_memory_equal(tokens, out, count * sizeof *out);
}
#define TOKENS(w, text, ...)                                                                       \
    assert_tokens(w, text, (const int32_t[]){__VA_ARGS__},                                         \
                  sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static void a_tokenizer_of_json_is_the_vocabulary_with_its_rules(void **state)
{
    cull_wordpiece *w = NULL;

    (void)state;
    assert_ok(parse_json("", "", &w));
    assert_int_equal(17, cull_wordpiece_count(w));
    TOKENS(w, "Good films.", CLS, GOOD, FILM, S, POINT, SEP);
    TOKENS(w, "\xc3\x89t\xc3\xa9", CLS, PLAIN, SEP);
    TOKENS(w, "the[NEW]Sgood[NEW] [MASK]", CLS, THE, 16, GOOD, 15, UNK, UNK, UNK, SEP);
    cull_wordpiece_close(w);
    assert_ok(parse_json(",\"lowercase\": false", "", &w));
    TOKENS(w, "Good \xc3\xa9t\xc3\xa9", CLS, CAPITAL, ACCENTS, SEP);
    cull_wordpiece_close(w);
    assert_ok(parse_json(",\"lowercase\": true, \"strip_accents\": false", "", &w));
    TOKENS(w, "Good \xc3\x89T\xc3\x89", CLS, GOOD, ACCENTS, SEP);
    cull_wordpiece_close(w);
}

static void tokenizers_of_other_kinds_are_refused_with_what_they_are(void **state)
{
    static const struct {
        const char *from, *to, *said;
    } swaps[] = {
        {"BertNormalizer", "NFC", "its normalizer is 'NFC'"},
        {"BertPreTokenizer", "Whitespace", "its pre_tokenizer is 'Whitespace'"},
        {"TemplateProcessing", "ByteLevel", "its post_processor is 'ByteLevel'"},
        {"WordPiece", "BPE", "its model is 'BPE'"},
        {"\"##\"", "\"@@\"", "begin with '@@'"},
        {"\"bad\": 6", "\"bad\": 5", "two pieces have the number 5"},
        {"\"bad\": 6", "\"bad\": -6", "the number of 'bad' is none"},
        {"\"bad\": 6", "\"bad\": 6.5", "the number of 'bad' is none"},
        {"\"[UNK]\",", "\"<unk>\",", "'<unk>', for words that are not known, is no piece"},
        {"\"normalized\": false", "\"normalized\": true", "'[CLS]' is \"normalized\""},
        {"{\"id\": \"[SEP]\"", "{\"id\": \"</s>\"", "'</s>', which a text begins or ends with"},
        {"\"Sequence\"", "\"Sequel\"", "puts no token before and behind"},
        {": 100,", ": 1001,", "max_input_chars_per_word"},
    };
    cull_wordpiece *w = NULL;

    (void)state;
    assert_int_equal(CULL_BAD_FILE, parse_json(",\"lowercase\": 1", "", &w));
    assert_non_null(strstr(cull_last_error(), "\"lowercase\" is neither true nor false"));
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++) {
        char             text[4096], other[4096];
        const char      *at = NULL;
        cull_data_source source = {0};

        (void)snprintf(text, sizeof text, json, "", "");
        at = strstr(text, swaps[i].from);
        assert_non_null(at);
        (void)snprintf(other, sizeof other, "%.*s%s%s", (int)(at - text), text, swaps[i].to,
                       at + strlen(swaps[i].from));
        source = cull_data_source_memory("t.json", other, strlen(other));
        assert_int_equal(CULL_BAD_FILE, cull_tokenizer_json_parse(&source, &w));
        if (!strstr(cull_last_error(), swaps[i].said))
            fail_msg("'%s' does not say '%s'", cull_last_error(), swaps[i].said);
    }
    assert_null(w);
}

static void a_folder_may_hold_either_and_say_how(void **state)
{
    static const char config[] = "{\"do_lower_case\": false}";
    cull_wordpiece   *w = NULL;
    char              text[4096];
    const char       *model = path_in(folder, "model");

    (void)state;
    assert_int_equal(0, mkdir(model, 0777));
    assert_int_equal(CULL_BAD_FILE, cull_wordpiece_open(model, &w));
    assert_non_null(strstr(cull_last_error(), "holds no tokenizer"));
    put_file(path_in(folder, "model/vocab.txt"), pieces, sizeof pieces - 1);
    assert_ok(cull_wordpiece_open(model, &w));
    TOKENS(w, "Good", CLS, GOOD, SEP);
    cull_wordpiece_close(w);
    put_file(path_in(folder, "model/tokenizer_config.json"), config, sizeof config - 1);
    assert_ok(cull_wordpiece_open(model, &w));
    TOKENS(w, "Good", CLS, CAPITAL, SEP);
    cull_wordpiece_close(w);
    (void)snprintf(text, sizeof text, json, "", "");
    put_file(path_in(folder, "model/tokenizer.json"), text, strlen(text));
    assert_ok(cull_wordpiece_open(model, &w)); /* it goes before the others */
    assert_int_equal(17, cull_wordpiece_count(w));
    TOKENS(w, "Good", CLS, GOOD, SEP);
    cull_wordpiece_close(w);
    assert_ok(cull_wordpiece_open(path_in(folder, "model/tokenizer.json"), &w));
    cull_wordpiece_close(w);
}

/* ---- folders ---- */

static void make_folders(const char *root)
{
    static const char *const names[] = {"",           "/train",       "/test",     "/train/neg",
                                        "/train/pos", "/train/unsup", "/test/pos", "/test/neg"};
    static const struct {
        const char *name, *text;
    } files[] = {{"/README", "read me"},
                 {"/words.txt", "good bad"},
                 {"/train/urls.txt", "good"},
                 {"/train/neg/0_1.txt", "bad film."},
                 {"/train/neg/1_1.txt", ""},
                 {"/train/pos/0_9.txt", "the good films, the good film"},
                 {"/train/pos/1_9.txt", "good"},
                 {"/train/pos/notes", "nothing"},
                 {"/train/unsup/0_0.txt", "the"},
                 {"/test/neg/0_1.txt", "bad"},
                 {"/test/pos/0_9.txt", "good good"}};
    char path[700];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s%s", root, names[i]);
        (void)mkdir(path, 0777);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "%s%s", root, files[i].name);
        put_file(path, files[i].text, strlen(files[i].text));
    }
}

static void folders_of_texts_have_their_classes_names(void **state)
{
    char              root[600];
    cull_data_request r;
    cull_dataset     *train = NULL, *test = NULL;

    (void)state;
    (void)snprintf(root, sizeof root, "%s/reviews", folder);
    make_folders(root);
    r = request_of(root);
    assert_ptr_equal(&cull_data_text_folder_format, cull_data_format_of(root));
    assert_ok(cull_data_open(&r, &train));
    assert_int_equal(4, train->count);
    assert_int_equal(2, train->classes);
    assert_int_equal(CULL_I32, train->dtype);
    assert_int_equal(PIECES, train->vocabulary);
    assert_int_equal(LENGTH, train->height);
    assert_int_equal(1, train->channels * train->width);
    assert_string_equal("neg", train->class_names.text[0]);
    assert_string_equal("pos", train->class_names.text[1]);
    ROW(train, 0, CLS, BAD, FILM, POINT, SEP);
    ROW(train, 1, CLS, SEP);
    ROW(train, 2, CLS, THE, GOOD, FILM, S, COMMA, THE, SEP);
    ROW(train, 3, CLS, GOOD, SEP);
    assert_int_equal(1, cull_data_labels(train)[3]);
    assert_int_equal(0, cull_data_labels(train)[1]);
    assert_string_equal("train/pos/0_9.txt", cull_data_name_at(train, 2));
    assert_remark(train, "1 of 4 texts have no word in them");
    assert_remark(train, "1 of 4 texts have more than 8 tokens, the longest 10");
    assert_remark(train, "unsup/ is no class and is not read");
    assert_remark(train, "1 files do not end in .txt");
    r.role = CULL_DATA_TEST;
    assert_ok(cull_data_open(&r, &test));
    assert_int_equal(2, test->count);
    assert_ok(cull_data_adopt(test, train));
    ROW(test, 1, CLS, GOOD, GOOD, SEP);
    cull_data_close(test);
    r.unlabelled = true;
    assert_ok(cull_data_open(&r, &test));
    assert_int_equal(2, test->count);
    cull_data_close(test);
    cull_data_close(train);
}

/* Of one class alone nothing can be learned, but it may be tested. */
static void a_test_set_may_be_of_one_class(void **state)
{
    char              root[600], one[600];
    cull_data_request r;
    cull_dataset     *train = NULL, *test = NULL;

    (void)state;
    (void)snprintf(root, sizeof root, "%s/reviews", folder);
    (void)snprintf(one, sizeof one, "%s/one", folder);
    make_folders(root);
    assert_int_equal(0, mkdir(one, 0777));
    assert_int_equal(0, mkdir(path_in(folder, "one/pos"), 0777));
    put_file(path_in(folder, "one/pos/1.txt"), "good", 4);
    r = request_of(root);
    assert_ok(cull_data_open(&r, &train));
    r.name = one;
    assert_fails(CULL_BAD_FILE, "holds one class alone, 'pos'", cull_data_open(&r, &test));
    assert_ok(cull_data_open_test(&r, train, &test));
    assert_ok(cull_data_adopt(test, train));
    assert_int_equal(1, cull_data_labels(test)[0]);
    cull_data_close(train);
    cull_data_close(test);
}

static void keys_that_texts_need_and_others_refuse(void **state)
{
    char              root[600];
    cull_data_request r;
    cull_dataset     *set = NULL;

    (void)state;
    (void)snprintf(root, sizeof root, "%s/reviews", folder);
    make_folders(root);
    r = (cull_data_request){.name = root};
    assert_int_equal(CULL_BAD_OPTION, cull_data_open(&r, &set));
    assert_string_equal("data.tokenizer", cull_last_subject());
    r = request_of(root);
    r.length = 1;
    assert_int_equal(CULL_BAD_OPTION, cull_data_open(&r, &set));
    assert_string_equal("data.length", cull_last_subject());
    r = request_of(root);
    r.text = "review";
    assert_int_equal(CULL_BAD_OPTION, cull_data_open(&r, &set));
    assert_string_equal("data.text", cull_last_subject());
    r = request_of("x.npz");
    r.length = 0;
    assert_int_equal(CULL_BAD_OPTION, cull_data_open(&r, &set));
    assert_string_equal("data.tokenizer", cull_last_subject());
}

/* ---- tables and JSON lines ---- */

typedef cull_status (*parser)(const cull_data_source *, const cull_data_request *, cull_dataset *);

static cull_status parse(parser by, const char *text, size_t bytes, const cull_data_request *r,
                         const cull_dataset *like, cull_dataset **out)
{
    cull_status      status = CULL_OK;
    cull_data_source source = cull_data_source_memory("t", text, bytes);
    cull_dataset    *set = NULL;

    TRY(cull_data_create("t", &set));
    set->like = like;
    TRY(by(&source, r, set));
    set->like = NULL;
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static const char table[] = "id,text,label\n1,\"good, the \"\"film\"\"\",yes\n2,bad,no\n3,,no\n";
static const char lines[] =
    "{\"text\": \"good, the \\\"film\\\"\", \"label\": \"yes\", \"id\": 1}\n"
    "\n  {\"label\": \"no\", \"text\": \"bad\"}\r\n"
    "{\"text\": \"\", \"label\": \"no\"}";

static void tables_and_json_lines_hold_the_same_texts(void **state)
{
    cull_data_request r = request_of("t");
    cull_dataset     *a = NULL, *b = NULL, *again = NULL;

    (void)state;
    assert_ok(parse(cull_data_csv_texts_parse, table, strlen(table), &r, NULL, &a));
    assert_ok(parse(cull_data_json_lines_parse, lines, strlen(lines), &r, NULL, &b));
    assert_same_set(a, b);
    assert_int_equal(3, a->count);
    ROW(a, 0, CLS, GOOD, COMMA, THE, UNK, FILM, UNK, SEP);
    ROW(a, 1, CLS, BAD, SEP);
    ROW(a, 2, CLS, SEP);
    assert_int_equal(1, cull_data_labels(a)[0]);
    assert_string_equal("yes", b->class_names.text[1]);
    assert_remark(a, "column 'id' is neither text nor label");
    assert_ok(parse(cull_data_json_lines_parse, lines, strlen(lines), &r, a, &again));
    assert_ok(cull_data_adopt(again, a));
    assert_same_set(a, again);
    cull_data_close(a);
    cull_data_close(b);
    cull_data_close(again);
}

static void texts_to_be_predicted_may_have_any_label(void **state)
{
    static const char rows[] = "text,label\ngood,\nbad,maybe\n";
    static const char objects[] = "{\"text\": \"good\", \"label\": null}\n"
                                  "{\"text\": \"bad\", \"label\": [1]}\n";
    cull_data_request r = request_of("t");
    cull_dataset     *train = NULL, *set = NULL;

    (void)state;
    assert_ok(parse(cull_data_csv_texts_parse, table, strlen(table), &r, NULL, &train));
    r.unlabelled = true;
    for (int i = 0; i < 2; i++) {
        const char *text = i ? objects : rows;

        assert_ok(parse(i ? cull_data_json_lines_parse : cull_data_csv_texts_parse, text,
                        strlen(text), &r, train, &set));
        assert_true(set->unlabelled);
        assert_int_equal(2, set->count);
        assert_int_equal(0, cull_data_labels(set)[1]);
        cull_data_close(set);
    }
    cull_data_close(train);
}

static void labels_of_json_may_be_numbers(void **state)
{
    static const char text[] = "{\"t\": \"good\", \"c\": 2, \"p\": 1.5, \"q\": -1}\n"
                               "{\"t\": \"bad\", \"c\": true, \"p\": 0, \"q\": 1e3}\n";
    cull_data_request r = request_of("t");
    cull_dataset     *set = NULL;

    (void)state;
    r.text = "t";
    r.label = "c";
    assert_ok(parse(cull_data_json_lines_parse, text, strlen(text), &r, NULL, &set));
    assert_int_equal(3, set->classes);
    assert_int_equal(2, cull_data_labels(set)[0]);
    assert_int_equal(1, cull_data_labels(set)[1]);
    cull_data_close(set);
    r.label = "p, q";
    r.target = CULL_TARGET_REAL;
    assert_ok(parse(cull_data_json_lines_parse, text, strlen(text), &r, NULL, &set));
    assert_int_equal(2, set->target.width);
    assert_true(((const float *)set->target.data)[0] == 1.5f);
    assert_true(((const float *)set->target.data)[3] == 1000.f);
    cull_data_close(set);
}

static void wrong_lines_are_told_with_their_number(void **state)
{
    static const struct {
        bool        json;
        const char *text, *label, *column, *said;
        cull_status status;
    } cases[] = {
        {true, "", NULL, NULL, "is empty", CULL_BAD_FILE},
        {true, "[1]", NULL, NULL, "line 1 is no JSON object", CULL_BAD_FILE},
        {true, "{\"text\": \"a\", \"label\": 0}\n{\"text\": \"a\", ", NULL, NULL,
         "line 2 is no JSON object: ", CULL_BAD_FILE},
        {true, "{\"text\": \"a\", \"text\": \"b\"}", NULL, NULL, "line 1", CULL_BAD_FILE},
        {true, "{\"text\": 1, \"label\": 0}", NULL, NULL, "has no text \"text\"", CULL_BAD_OPTION},
        {true, "{\"text\": \"a\"}", NULL, NULL, "has no label, class, target or y",
         CULL_BAD_OPTION},
        {true, "{\"text\": \"a\", \"label\": 0}\n\n{\"text\": \"b\"}", NULL, NULL,
         "line 3, column 'label'", CULL_BAD_FILE},
        {true, "{\"text\": \"a\", \"label\": [0]}", NULL, NULL,
         "\"label\" is neither a text nor a number", CULL_BAD_FILE},
        {true, "{\"text\": \"a\", \"label\": \"b\\u0000c\"}", NULL, NULL,
         "\"label\" holds a zero character", CULL_BAD_FILE},
        {true, "{\"text\": \"a\", \"label\": 0}", "label, y", NULL, "a class is one",
         CULL_BAD_OPTION},
        {true, "{\"text\": \"a\", \"label\": 0}", "text", NULL,
         "\"text\" of t holds the texts; name the field to be learned", CULL_BAD_OPTION},
        {true, "{\"text\": \"a\", \"label\": 0}", "label ,label", NULL, "names \"label\" twice",
         CULL_BAD_OPTION},
        {false, "text,label\na,b,c\n", NULL, NULL, "stands in quotes", CULL_BAD_FILE},
        {false, "review,label\na,0\n", NULL, NULL, "has no column 'text'", CULL_BAD_OPTION},
        {false, "label,review\n0,a\n", NULL, "label", "column 'label' of t holds the texts",
         CULL_BAD_OPTION},
        {false, "text,label\n", NULL, NULL, "has no rows", CULL_BAD_FILE},
        {false, "text,label\na,\n", NULL, NULL, "is no label", CULL_BAD_FILE},
    };
    cull_dataset *set = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_data_request r = request_of("t");

        r.label = cases[i].label;
        r.text = cases[i].column;
        assert_int_equal(
            cases[i].status,
            parse(cases[i].json ? cull_data_json_lines_parse : cull_data_csv_texts_parse,
                  cases[i].text, strlen(cases[i].text), &r, NULL, &set));
        if (!strstr(cull_last_error(), cases[i].said))
            fail_msg("'%s' does not say '%s'", cull_last_error(), cases[i].said);
    }
    assert_null(set);
}

/* Nothing, one word, a million of them, and one word of a million letters. */
static void texts_of_any_size_have_a_result(void **state)
{
    enum { WORDS = 1000000 };
    char             *text = malloc(40 + 5 * (size_t)WORDS);
    size_t            at = 0;
    cull_data_request r = request_of("t");
    cull_dataset     *set = NULL;

    (void)state;
    assert_non_null(text);
    at += (size_t)sprintf(text, "{\"label\":0,\"text\":\"");
    for (size_t i = 0; i < WORDS; i++) at += (size_t)sprintf(text + at, "good ");
    at += (size_t)sprintf(text + at, "\"}\n");
    assert_ok(parse(cull_data_json_lines_parse, text, at, &r, NULL, &set));
    ROW(set, 0, CLS, GOOD, GOOD, GOOD, GOOD, GOOD, GOOD, SEP);
    assert_remark(set, "the longest 1000002");
    cull_data_close(set);
    for (size_t i = 0; i < at; i++)
        if (text[i] == ' ') text[i] = 'x';
    assert_ok(parse(cull_data_json_lines_parse, text, at, &r, NULL, &set));
    ROW(set, 0, CLS, UNK, SEP);
    cull_data_close(set);
    free(text);
}

/* ---- as any other set ---- */

static cull_dataset *many(size_t count)
{
    char             *text = malloc(64 * count);
    size_t            at = 0;
    cull_data_request r = request_of("t");
    cull_dataset     *set = NULL;

    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        at += (size_t)sprintf(text + at, "{\"text\":\"%s%s film\",\"label\":%zu}\n",
                              i % 3 ? "the " : "", i % 2 ? "good" : "bad", i % 2);
    assert_ok(parse(cull_data_json_lines_parse, text, at, &r, NULL, &set));
    free(text);
    return set;
}

static void sets_of_texts_are_split_cut_and_harmed_as_others(void **state)
{
    cull_dataset        *set = many(200), *part = NULL;
    cull_data_corruption harm = {.label_noise = .25, .seed = 3};
    cull_data_record     record = {0};
    char                 print[CULL_DATA_PRINT], other[CULL_DATA_PRINT];

    (void)state;
    assert_ok(cull_data_look(set));
    cull_data_print(set, print);
    assert_non_null(strstr(print, "200 int32:1x8x1 class:2:"));
    assert_ok(cull_data_split(set, .2, 1, &part));
    assert_int_equal(40, part->count);
    assert_int_equal(160, set->count);
    assert_int_equal(PIECES, part->vocabulary);
    assert_ok(cull_data_adopt(part, set));
    assert_ok(cull_data_corrupt(&set, &harm, &record));
    assert_int_equal(160, set->count);
    assert_int_equal(PIECES, set->vocabulary);
    ROW(set, 0, CLS, set->origin[0] % 2 ? GOOD : BAD, FILM, SEP);
    assert_ok(cull_data_look(part));
    cull_data_print(part, other);
    assert_non_null(cull_data_print_difference(print, other));
    part->vocabulary++;
    assert_int_equal(CULL_BAD_ARGUMENT, cull_data_adopt(part, set));
    cull_data_record_clear(&record);
    cull_data_close(part);
    cull_data_close(set);
}

static void converted_texts_are_the_same_set(void **state)
{
    char              from[600], to[600], file[600];
    cull_data_request r;
    cull_dataset     *set = NULL, *again = NULL;

    (void)state;
    (void)snprintf(from, sizeof from, "%s/reviews", folder);
    (void)snprintf(to, sizeof to, "%s/tokens", folder);
    (void)snprintf(file, sizeof file, "%s/tokens.npz", folder);
    make_folders(from);
    r = request_of(from);
    assert_ok(cull_data_open(&r, &set));
    assert_ok(cull_data_convert(&r, to, NULL));
    assert_ok(open_set(to, CULL_DATA_TRAIN, NULL, &again));
    assert_int_equal(PIECES, again->vocabulary);
    assert_same_set(set, again);
    cull_data_close(again);
    assert_ok(open_set(to, CULL_DATA_TEST, NULL, &again));
    assert_int_equal(2, again->count);
    cull_data_close(again);
    assert_ok(cull_data_convert(&r, file, NULL));
    assert_ok(open_set(file, CULL_DATA_TRAIN, NULL, &again));
    assert_int_equal(PIECES, again->vocabulary);
    assert_same_set(set, again);
    cull_data_close(again);
    ((int32_t *)row_of(set, 0))[1] = PIECES;
    assert_int_equal(CULL_BAD_FILE, cull_data_tokens_check(set, "t"));
    ((int32_t *)row_of(set, 0))[1] = -1;
    assert_int_equal(CULL_BAD_FILE, cull_data_tokens_check(set, "t"));
    ((int32_t *)row_of(set, 0))[0] = -1;
    assert_int_equal(CULL_BAD_FILE, cull_data_tokens_check(set, "t"));
    cull_data_close(set);
}

/* ---- memory ---- */

static cull_status read_folder(void)
{
    char              root[600];
    cull_data_request r;
    cull_dataset     *set = NULL;
    cull_status       status = CULL_OK;

    (void)snprintf(root, sizeof root, "%s/reviews", folder);
    r = request_of(root);
    status = cull_data_open(&r, &set);
    cull_data_close(set);
    return status;
}

static cull_status read_lines(void)
{
    cull_data_request r = request_of("t");
    cull_dataset     *set = NULL;
    cull_status status = parse(cull_data_json_lines_parse, lines, strlen(lines), &r, NULL, &set);

    cull_data_close(set);
    return status;
}

static cull_status read_table(void)
{
    cull_data_request r = request_of("t");
    cull_dataset     *set = NULL;
    cull_status status = parse(cull_data_csv_texts_parse, table, strlen(table), &r, NULL, &set);

    cull_data_close(set);
    return status;
}

static cull_status read_tokenizer(void)
{
    cull_wordpiece *w = NULL;
    cull_status     status = parse_json("", "", &w);

    cull_wordpiece_close(w);
    return status;
}

static void survives_every_allocation_failure(void **state)
{
    cull_status (*const work[])(void) = {read_folder, read_lines, read_table, read_tokenizer};
    char root[600];

    (void)state;
    (void)snprintf(root, sizeof root, "%s/reviews", folder);
    make_folders(root);
    for (size_t w = 0; w < sizeof work / sizeof *work; w++) {
        cull_status status = CULL_NO_MEMORY;

        for (size_t n = 1; status != CULL_OK; n++) {
            fail_nth_alloc(n);
            status = work[w]();
            fail_nth_alloc(0);
            assert_true(status == CULL_OK ? !alloc_has_failed() : status == CULL_NO_MEMORY);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return 1;
    (void)snprintf(vocabulary, sizeof vocabulary, "%s/vocab.txt", folder);
    put_file(vocabulary, pieces, sizeof pieces - 1);
    return 0;
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
        cmocka_unit_test(a_tokenizer_of_json_is_the_vocabulary_with_its_rules),
        cmocka_unit_test(tokenizers_of_other_kinds_are_refused_with_what_they_are),
        cmocka_unit_test(a_folder_may_hold_either_and_say_how),
        cmocka_unit_test(folders_of_texts_have_their_classes_names),
        cmocka_unit_test(a_test_set_may_be_of_one_class),
        cmocka_unit_test(keys_that_texts_need_and_others_refuse),
        cmocka_unit_test(tables_and_json_lines_hold_the_same_texts),
        cmocka_unit_test(texts_to_be_predicted_may_have_any_label),
        cmocka_unit_test(labels_of_json_may_be_numbers),
        cmocka_unit_test(wrong_lines_are_told_with_their_number),
        cmocka_unit_test(texts_of_any_size_have_a_result),
        cmocka_unit_test(sets_of_texts_are_split_cut_and_harmed_as_others),
        cmocka_unit_test(converted_texts_are_the_same_set),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
