/* tests/unit/test_models.c - every model has the size of its reference implementation. */
#include <string.h>

#include "nn/nn.h"
#include "support.h"

static const struct {
    const char *name;
    int64_t     channels, extent;
    bool        imagenet;
    size_t      classes, parameters;
} known[] = {
    {"lenet5", 1, 28, false, 10, 61706},          {"resnet20", 3, 32, false, 10, 269722},
    {"resnet56", 3, 32, false, 10, 853018},       {"resnet18", 3, 32, false, 10, 11173962},
    {"resnet18", 3, 224, true, 1000, 11689512},   {"resnet34", 3, 224, true, 1000, 21797672},
    {"resnet50", 3, 224, true, 1000, 25557032},   {"wrn-16-4", 3, 32, false, 10, 2748890},
    {"wrn-28-10", 3, 32, false, 10, 36479194},    {"densenet-bc-100-12", 3, 32, false, 10, 769162},
    {"mobilenetv1", 3, 32, false, 10, 3217226},   {"mobilenetv2", 3, 32, false, 10, 2236682},
    {"mobilenetv2", 3, 224, true, 1000, 3504872},
};

static cull_model *make(const char *name, int64_t channels, int64_t extent, bool imagenet,
                        size_t classes)
{
    cull_model_options options = {.channels = channels,
                                  .height = extent,
                                  .width = extent,
                                  .classes = classes,
                                  .imagenet_stem = imagenet};
    cull_model        *model = NULL;

    assert_ok(cull_nn_model_by_name(name, &options, &model));
    return model;
}

static void parameters_are_as_many_as_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cull_model *model = make(known[i].name, known[i].channels, known[i].extent,
                                 known[i].imagenet, known[i].classes);

        print_message("%s %zu\n", known[i].name, model->param_count);
        assert_int_equal(known[i].parameters, model->param_count);
        assert_int_equal(known[i].classes, model->classes);
        cull_nn_model_destroy(model);
    }
}

static void every_listed_name_builds(void **state)
{
    const char *name = NULL;

    (void)state;
    for (size_t i = 0; (name = cull_nn_model_name_at(i)); i++)
        if (!cull_nn_model_reads_tokens(name)) cull_nn_model_destroy(make(name, 3, 32, false, 10));
}

/* The sizes of MiniLM-L6-H384, of which transformers counts 22,713,216 and 2 (384 + 1) more. */
static const cull_bert minilm = {.tokens = 30522,
                                 .width = 384,
                                 .layers = 6,
                                 .heads = 12,
                                 .inner = 1536,
                                 .positions = 512,
                                 .kinds = 2,
                                 .epsilon = 1e-12,
                                 .activation = CULL_GELU};

static void models_of_texts_count_their_parameters(void **state)
{
    cull_model_options options = {.channels = 1,
                                  .height = 256,
                                  .width = 1,
                                  .classes = 2,
                                  .dropout = .1,
                                  .tokens = 30522,
                                  .bert = &minilm};
    cull_model        *model = NULL;

    (void)state;
    assert_ok(cull_nn_model_by_name("bert", &options, &model));
    assert_int_equal(22713216 + 770, model->param_count);
    assert_string_equal("bert.encoder.layer.5.attention.output.LayerNorm",
                        model->node[model->nodes - 11].name);
    cull_nn_model_destroy(model);
    model = NULL;
    options.height = 64;
    options.tokens = 1000;
    assert_ok(cull_nn_model_by_name("transformer-2-64", &options, &model));
    assert_int_equal(1000 * 64 + 64 * 64 + 2 * (12 * 64 * 64 + 13 * 64) + 128 + 64 * 65 + 2 * 65,
                     model->param_count);
    cull_nn_model_destroy(model);
}

static void texts_and_images_are_not_mistaken(void **state)
{
    cull_model_options options = {.channels = 1, .height = 600, .width = 1, .classes = 2};
    cull_model        *model = NULL;

    (void)state;
    assert_fails(CULL_BAD_ARGUMENT, "transformer-2-64 reads texts, and these inputs are none",
                 cull_nn_model_by_name("transformer-2-64", &options, &model));
    assert_fails(CULL_BAD_OPTION, "'transformer-2-60': 1 to 100 blocks and a width of 32, 64, ...",
                 cull_nn_model_by_name("transformer-2-60", &options, &model));
    assert_fails(CULL_BAD_OPTION, "bert is read from a folder of transformers', and none is named",
                 cull_nn_model_by_name("bert", &options, &model));
    options.tokens = 30523;
    assert_fails(CULL_BAD_ARGUMENT, "mlp reads images, and these inputs are texts",
                 cull_nn_model_by_name("mlp", &options, &model));
    options.bert = &minilm;
    assert_fails(CULL_BAD_ARGUMENT, "bert knows 30522 tokens, and these texts have 30523",
                 cull_nn_model_by_name("bert", &options, &model));
    options.tokens = 30522;
    assert_fails(CULL_BAD_ARGUMENT, "a sequence of 600 positions, and rows for 512",
                 cull_nn_model_by_name("bert", &options, &model));
    assert_null(model);
}

static void wrong_names_and_shapes_are_refused(void **state)
{
    cull_model_options options = {.channels = 3, .height = 32, .width = 32, .classes = 10};
    cull_model        *model = NULL;

    (void)state;
    assert_fails(CULL_UNKNOWN_MODEL, "resnet19",
                 cull_nn_model_by_name("resnet19", &options, &model));
    assert_fails(CULL_BAD_OPTION, "6n+4", cull_nn_model_by_name("wrn-17-4", &options, &model));
    assert_fails(CULL_BAD_OPTION, "6n+4", cull_nn_model_by_name("wrn-16-4x", &options, &model));
    options.height = options.width = 4;
    assert_fails(CULL_BAD_ARGUMENT, "of", cull_nn_model_by_name("lenet5", &options, &model));
    options.classes = 0;
    assert_fails(CULL_BAD_OPTION, "classes", cull_nn_model_by_name("mlp", &options, &model));
    assert_null(model);
}

static void building_survives_every_allocation_failure(void **state)
{
    cull_model_options options = {.channels = 3, .height = 32, .width = 32, .classes = 10};
    cull_status        status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_model *model = NULL;

        fail_nth_alloc(n);
        status = cull_nn_model_by_name("resnet18", &options, &model);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || (status == CULL_NO_MEMORY && !model));
        cull_nn_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_as_many_as_published),
        cmocka_unit_test(every_listed_name_builds),
        cmocka_unit_test(models_of_texts_count_their_parameters),
        cmocka_unit_test(texts_and_images_are_not_mistaken),
        cmocka_unit_test(wrong_names_and_shapes_are_refused),
        cmocka_unit_test(building_survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
