/*
 * tests/unit/test_bert.c - a folder with a pretrained BERT: sizes and weights as they are read,
 * what is wrong with them said, names as they are written.
 */
#include <math.h>

#include "base/alloc.h"
#include "files.h"
#include "tensor/tensor.h"
#include "train/folder/bert_folder.h"
#include "train/folder/weights.h"

#define CONFIG                                                                                     \
    "{\"model_type\": \"bert\", \"vocab_size\": 11, \"hidden_size\": 8, \"num_hidden_layers\": "   \
    "2, "                                                                                          \
    "\"num_attention_heads\": 2, \"intermediate_size\": 12, \"max_position_embeddings\": 6, "      \
    "\"type_vocab_size\": 2, \"layer_norm_eps\": 1e-12, \"hidden_act\": \"gelu\"%s}"

static cull_status parse(const char *text, cull_bert *out)
{
    return cull_bert_parse("config.json", text, strlen(text), out);
}

/* ---- sizes ---- */

static void sizes_are_those_of_the_file(void **state)
{
    char      text[1024];
    cull_bert sizes = {0};

    (void)state;
    (void)snprintf(text, sizeof text, CONFIG, ", \"hidden_dropout_prob\": 0.1, \"other\": null");
    assert_ok(parse(text, &sizes));
    assert_int_equal(11, sizes.tokens);
    assert_int_equal(8, sizes.width);
    assert_int_equal(2, sizes.layers);
    assert_int_equal(2, sizes.heads);
    assert_int_equal(12, sizes.inner);
    assert_int_equal(6, sizes.positions);
    assert_int_equal(2, sizes.kinds);
    assert_true(sizes.epsilon == 1e-12 && sizes.activation == CULL_GELU);
}

/* The file with one value in place of another. */
static void check_wrong(const char *from, const char *to, const char *why)
{
    char      text[1024], wrong[1200];
    cull_bert sizes = {.tokens = 77};
    char     *at = NULL;

    (void)snprintf(text, sizeof text, CONFIG, "");
    at = strstr(text, from);
    assert_non_null(at);
    (void)snprintf(wrong, sizeof wrong, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_fails(CULL_BAD_FILE, why, parse(wrong, &sizes));
    assert_int_equal(77, sizes.tokens);
}

static void what_cannot_be_built_is_said(void **state)
{
    (void)state;
    check_wrong("\"bert\"", "\"roberta\"",
                "config.json: model_type is 'roberta'; bert can be built");
    check_wrong("\"gelu\"", "\"silu\"", "hidden_act is 'silu'; gelu, gelu_new, gelu_pytorch_tanh");
    check_wrong("\"vocab_size\": 11", "\"vocab_size\": 0",
                "vocab_size is not a whole number from 1");
    check_wrong("\"hidden_size\": 8", "\"hidden_size\": 7.5", "hidden_size is not a whole number");
    check_wrong("\"hidden_size\": 8", "\"hidden_size\": 9",
                "hidden_size 9 is no multiple of num_attention_heads 2");
    check_wrong("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 101", "up to 100 can be built");
    check_wrong("\"intermediate_size\"", "\"inner\"", "intermediate_size is not a whole number");
    check_wrong("1e-12", "0", "layer_norm_eps is not a number above 0, up to 1");
    check_wrong("1e-12", "\"small\"", "layer_norm_eps is not a number above 0, up to 1");
    check_wrong("\"gelu\"", "\"gelu\", \"position_embedding_type\": \"relative_key\"",
                "position_embedding_type is 'relative_key'; absolute can be built");
    check_wrong("\"gelu\"", "\"gelu\", \"is_decoder\": true", "is_decoder is true");
    check_wrong("{", "[", "config.json");
}

static void a_folder_that_is_none_is_named(void **state)
{
    cull_bert sizes;

    (void)state;
    assert_fails(CULL_BAD_OPTION, "model.path: /nowhere/at/all/config.json",
                 cull_bert_read("/nowhere/at/all", &sizes));
    assert_string_equal("model.path", cull_last_subject());
}

/* ---- weights ---- */

struct saved {
    char             folder[32];
    cull_model      *model;
    cull_params     *params;
    cull_safetensor *list;
    size_t           count;
};

static struct saved open_saved(void)
{
    struct saved       s = {.folder = FOLDER_TEMPLATE};
    cull_bert          sizes = {0};
    cull_model_options options = {
        .channels = 1, .height = 6, .width = 1, .classes = 3, .tokens = 11, .bert = &sizes};
    char text[1024];

    assert_non_null(mkdtemp(s.folder));
    (void)snprintf(text, sizeof text, CONFIG, "");
    put_file(path_in(s.folder, "config.json"), text, strlen(text));
    assert_ok(cull_bert_read(s.folder, &sizes));
    assert_ok(cull_nn_model_by_name("bert", &options, &s.model));
    assert_ok(cull_nn_params_create(plain_backend(), s.model, CULL_F32, &s.params));
    assert_ok(cull_nn_params_init(s.params, s.model, 3));
    assert_ok(cull_weights_list(s.model, s.params, &s.list, &s.count));
    return s;
}

static void close_saved(struct saved *s)
{
    remove_folder(s->folder);
    cull_base_free(s->list);
    cull_nn_params_destroy(s->params);
    cull_nn_model_destroy(s->model);
}

static void save(const struct saved *s, size_t count)
{
    cull_writer bytes = {0};

    assert_ok(cull_safetensors_encode(s->list, count, "bert", NULL, &bytes));
    put_file(path_in(s->folder, "model.safetensors"), bytes.data, bytes.size);
    cull_writer_clear(&bytes);
}

static cull_safetensor *find(struct saved *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->list[i].name, name) == 0) return &s->list[i];
    fail_msg("no tensor '%s'", name);
    return NULL;
}

/* Into parameters of another seed, which are then the file's. */
static cull_params *load(const struct saved *s)
{
    cull_params *params = NULL;
    uint64_t     hash = 0;

    assert_ok(cull_nn_params_create(plain_backend(), s->model, CULL_F32, &params));
    assert_ok(cull_nn_params_init(params, s->model, 4));
    assert_ok(cull_bert_begin(s->folder, s->model, params, &hash));
    assert_true(hash != 0);
    return params;
}

static void names_and_shapes_are_transformers(void **state)
{
    static const struct {
        const char *name;
        int         dims;
        int64_t     shape[2];
    } some[] = {{"bert.embeddings.word_embeddings.weight", 2, {11, 8}},
                {"bert.embeddings.position_embeddings.weight", 2, {6, 8}},
                {"bert.embeddings.token_type_embeddings.weight", 2, {2, 8}},
                {"bert.embeddings.LayerNorm.weight", 1, {8}},
                {"bert.encoder.layer.0.attention.self.query.weight", 2, {8, 8}},
                {"bert.encoder.layer.1.attention.self.value.bias", 1, {8}},
                {"bert.encoder.layer.1.attention.output.LayerNorm.bias", 1, {8}},
                {"bert.encoder.layer.1.intermediate.dense.weight", 2, {12, 8}},
                {"bert.encoder.layer.1.output.dense.weight", 2, {8, 12}},
                {"bert.pooler.dense.bias", 1, {8}},
                {"classifier.weight", 2, {3, 8}}};
    struct saved s = open_saved();
    size_t       numbers = 0;

    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const cull_tensor *t = &find(&s, some[i].name)->tensor;

        assert_int_equal(some[i].dims, t->dims);
        for (int d = 0; d < t->dims; d++) assert_int_equal(some[i].shape[d], t->shape[d]);
    }
    assert_int_equal(3 + 2 + 2 * 16 + 4, s.count);
    for (size_t i = 0; i < s.count; i++)
        numbers += (size_t)(s.list[i].tensor.shape[0] *
                            (s.list[i].tensor.dims > 1 ? s.list[i].tensor.shape[1] : 1));
    assert_int_equal(s.params->count, numbers);
    close_saved(&s);
}

static void weights_come_back(void **state)
{
    struct saved s = open_saved();
    cull_params *read = NULL;

    (void)state;
    save(&s, s.count);
    read = load(&s);
    assert_memory_equal(s.params->value, read->value, s.params->count * sizeof(float));
    cull_nn_params_destroy(read);
    close_saved(&s);
}

/* An encoder's file: no prefix, no classifier; what is not the model's is not read. */
static void the_prefix_and_the_classifier_may_be_missing(void **state)
{
    struct saved s = open_saved();
    int64_t      places[6] = {0, 1, 2, 3, 4, 5};
    cull_params *read = NULL, *begun = NULL;
    size_t       encoder = s.count - 2;

    (void)state;
    for (size_t i = 0; i < encoder; i++)
        memmove(s.list[i].name, s.list[i].name + 5, strlen(s.list[i].name + 5) + 1);
    (void)snprintf(s.list[encoder].name, sizeof s.list->name, "embeddings.position_ids");
    s.list[encoder].tensor = cull_matrix(places, CULL_I64, 1, 6);
    save(&s, s.count - 1);
    read = load(&s);
    assert_ok(cull_nn_params_create(plain_backend(), s.model, CULL_F32, &begun));
    assert_ok(cull_nn_params_init(begun, s.model, 4));
    assert_memory_equal(s.params->value, read->value, (s.params->count - 27) * sizeof(float));
    assert_memory_equal((float *)begun->value + s.params->count - 27,
                        (float *)read->value + s.params->count - 27, 27 * sizeof(float));
    for (size_t i = 0; i < 24; i++)
        assert_true(fabsf(((float *)read->value)[s.params->count - 27 + i]) < 0.02F * 6);
    cull_nn_params_destroy(read);
    cull_nn_params_destroy(begun);
    close_saved(&s);
}

static void narrow_weights_are_widened(void **state)
{
    struct saved     s = open_saved();
    cull_safetensor *word = find(&s, "bert.embeddings.word_embeddings.weight");
    const float     *wide = word->tensor.data;
    uint16_t         narrow[11 * 8];
    cull_params     *read = NULL;

    (void)state;
    for (size_t i = 0; i < 88; i++) narrow[i] = cull_bf16_of(wide[i]);
    word->tensor = cull_matrix(narrow, CULL_BF16, 11, 8);
    save(&s, s.count);
    read = load(&s);
    for (size_t i = 0; i < 88; i++)
        assert_true(((float *)read->value)[i] == cull_bf16_wide(narrow[i]));
    cull_nn_params_destroy(read);
    close_saved(&s);
}

/* bert-base-uncased itself is published so. */
static void norms_may_have_the_names_of_old(void **state)
{
    struct saved s = open_saved();
    cull_params *read = NULL;
    size_t       renamed = 0;

    (void)state;
    for (size_t i = 0; i < s.count; i++) {
        char *end = strstr(s.list[i].name, "LayerNorm.");

        if (!end) continue;
        end += strlen("LayerNorm.");
        (void)snprintf(end, 6, "%s", strcmp(end, "weight") == 0 ? "gamma" : "beta");
        renamed++;
    }
    assert_int_equal(2 + 2 * 4, renamed);
    save(&s, s.count);
    read = load(&s);
    assert_memory_equal(s.params->value, read->value, s.params->count * sizeof(float));
    cull_nn_params_destroy(read);
    for (size_t i = 0; i < s.count - 2; i++) /* and no prefix */
        memmove(s.list[i].name, s.list[i].name + 5, strlen(s.list[i].name + 5) + 1);
    save(&s, s.count);
    read = load(&s);
    assert_memory_equal(s.params->value, read->value, s.params->count * sizeof(float));
    cull_nn_params_destroy(read);
    close_saved(&s);
}

static void check_refused(struct saved *s, size_t count, const char *why)
{
    cull_params *params = NULL, *before = NULL;
    uint64_t     hash = 0;

    save(s, count);
    assert_ok(cull_nn_params_create(plain_backend(), s->model, CULL_F32, &params));
    assert_ok(cull_nn_params_create(plain_backend(), s->model, CULL_F32, &before));
    assert_ok(cull_nn_params_init(params, s->model, 4));
    assert_ok(cull_nn_params_init(before, s->model, 4));
    assert_fails(CULL_BAD_OPTION, why, cull_bert_begin(s->folder, s->model, params, &hash));
    assert_string_equal("model.path", cull_last_subject());
    assert_memory_equal(before->value, params->value, params->count * sizeof(float));
    cull_nn_params_destroy(params);
    cull_nn_params_destroy(before);
}

static void what_is_wrong_with_weights_is_said(void **state)
{
    struct saved     s = open_saved();
    cull_safetensor *pooler = find(&s, "bert.pooler.dense.weight"), kept = *pooler;
    float           *number = kept.tensor.data;
    double           wide[64] = {0};

    (void)state;
    (void)snprintf(pooler->name, sizeof pooler->name, "bert.pooler.dense.weights");
    check_refused(&s, s.count, "no tensor 'bert.pooler.dense.weight', with 'bert.' or without");
    *pooler = kept;
    pooler->tensor = cull_matrix(number, CULL_F32, 4, 16);
    check_refused(&s, s.count, "bert.pooler.dense.weight is (4, 16), the model's is (8, 8)");
    pooler->tensor = cull_matrix(wide, CULL_F64, 8, 8);
    check_refused(&s, s.count,
                  "bert.pooler.dense.weight is float64; float32 and bfloat16 are read");
    *pooler = kept;
    number[5] = NAN;
    check_refused(&s, s.count, "bert.pooler.dense.weight is not finite");
    number[5] = 0;
    s.list[s.count - 2].tensor.shape[0] = 2;
    check_refused(&s, s.count, "classifier.weight is (2, 8), the model's is (3, 8)");
    s.list[s.count - 2].tensor.shape[0] = 3;
    put_file(path_in(s.folder, "model.safetensors"), "short", 5);
    close_saved(&s);
}

/* Half a network under sizes of its own would train in silence. */
static void an_encoder_that_has_more_than_the_sizes_say_is_refused(void **state)
{
    static const char *const more[] = {"bert.encoder.layer.2.output.dense.weight",
                                       "encoder.layer.0.attention.self.distance_embedding.weight",
                                       "bert.embeddings.others.weight", "pooler.other"};
    static const char *const heads[] = {"cls.predictions.bias", "bert.embeddings.token_type_ids"};
    struct saved             s = open_saved();
    cull_safetensor         *odd = &s.list[s.count - 1];
    char                     why[200];

    (void)state;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        (void)snprintf(odd->name, sizeof odd->name, "%s", more[i]);
        (void)snprintf(why, sizeof why, "model.safetensors: '%s' has no place", more[i]);
        check_refused(&s, s.count, why);
    }
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        (void)snprintf(odd->name, sizeof odd->name, "%s", heads[i]);
        save(&s, s.count);
        cull_nn_params_destroy(load(&s));
    }
    close_saved(&s);
}

static void reading_survives_every_allocation_failure(void **state)
{
    struct saved s = open_saved();
    cull_params *params = NULL;
    cull_status  status = CULL_NO_MEMORY;
    uint64_t     hash = 0;
    cull_bert    sizes;

    (void)state;
    save(&s, s.count);
    assert_ok(cull_nn_params_create(plain_backend(), s.model, CULL_F32, &params));
    for (size_t n = 1; status != CULL_OK; n++) {
        fail_nth_alloc(n);
        status = cull_bert_read(s.folder, &sizes);
        if (status == CULL_OK) status = cull_bert_begin(s.folder, s.model, params, &hash);
        fail_nth_alloc(0);
        if (status != CULL_OK && status != CULL_NO_MEMORY && status != CULL_BAD_OPTION)
            fail_msg("%d: %s", (int)status, cull_last_error());
    }
    cull_nn_params_destroy(params);
    close_saved(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_file),
        cmocka_unit_test(what_cannot_be_built_is_said),
        cmocka_unit_test(a_folder_that_is_none_is_named),
        cmocka_unit_test(names_and_shapes_are_transformers),
        cmocka_unit_test(weights_come_back),
        cmocka_unit_test(the_prefix_and_the_classifier_may_be_missing),
        cmocka_unit_test(narrow_weights_are_widened),
        cmocka_unit_test(norms_may_have_the_names_of_old),
        cmocka_unit_test(what_is_wrong_with_weights_is_said),
        cmocka_unit_test(an_encoder_that_has_more_than_the_sizes_say_is_refused),
        cmocka_unit_test(reading_survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
