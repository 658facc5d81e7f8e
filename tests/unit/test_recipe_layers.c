/* test_recipe_layers.c - networks in a recipe: what a list of layers may say, what is refused with
 * file, line and layer, its text, and the models it makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "lab/recipe/recipe.h"
#include "support.h"

static cull_status read_recipe(const char *yaml, cull_recipe **out)
{
    return cull_recipe_parse("r.yaml", yaml, strlen(yaml), NULL, 0, out);
}

static cull_status read_change(const char *layers, cull_recipe **out)
{
    cull_option change = {"model.layers", layers};

    return cull_recipe_parse("r.yaml", NULL, 0, &change, 1, out);
}

static cull_status build(const cull_recipe *recipe, int64_t channels, int64_t side, size_t classes,
                         cull_model **out)
{
    cull_model_options options = recipe->setup.model_options;

    options.channels = channels;
    options.height = options.width = side;
    options.classes = classes;
    return cull_nn_model_by_list(recipe->setup.layers, &options, out);
}

/* A change, for inputs of so many channels and pixels and four classes. */
static cull_status build_change(const char *layers, int64_t channels, int64_t side,
                                cull_model **out)
{
    cull_recipe *recipe = NULL;
    cull_status  status = read_change(layers, &recipe);

    if (status == CULL_OK) status = build(recipe, channels, side, 4, out);
    cull_recipe_close(recipe);
    return status;
}

static const char lenet[] = "model:\n"
                            "  layers:\n"
                            "    - conv: {channels: 6, kernel: 5, padding: same, name: conv1}\n"
                            "    - relu\n"
                            "    - maxpool: 2\n"
                            "    - conv: {channels: 16, kernel: 5, name: conv2}\n"
                            "    - relu\n"
                            "    - maxpool: 2\n"
                            "    - flatten\n"
                            "    - dense: {width: 120, name: fc1}\n"
                            "    - relu\n"
                            "    - dense: {width: 84, name: fc2}\n"
                            "    - relu\n"
                            "    - dense: {name: fc3}\n";

/* ---- what a list says ---- */

static void layers_are_the_same_in_blocks_in_flow_and_as_json(void **state)
{
    static const char block[] = "model:\n"
                                "  layers:\n"
                                "  - conv:\n"
                                "      kernel: [3, 1]\n"
                                "      channels: 1.2e1\n"
                                "      stride: [2, 2]\n"
                                "      padding: same # not with a stride\n"
                                "  - flatten:\n"
                                "  - dense\n";
    static const char right[] = "model:\n"
                                "  layers:\n"
                                "  - conv:\n"
                                "      kernel: [3, 1]\n"
                                "      channels: 1.2e1\n"
                                "      padding: same\n"
                                "      dilation: [2, 2]\n"
                                "      groups: 1\n"
                                "      bias: false\n"
                                "  - 'dropout': 0.50\n"
                                "  - flatten:\n"
                                "  - dense: {init: he-in}\n";
    static const char one[] = "[conv: {channels: 12, kernel: [3, 1], padding: [2, 0], dilation: 2, "
                              "bias: false}, dropout: 0.5, flatten, dense: {init: he-in}]";
    static const char json[] =
        "[{\"conv\":{\"bias\":false,\"channels\":12,\"kernel\":[3,1],\"padding\":[2,0],"
        "\"dilation\":2}},{\"dropout\":0.5},\"flatten\",{\"dense\":{\"init\":\"he-in\"}}]";
    cull_recipe *a = NULL, *b = NULL, *c = NULL;

    (void)state;
    assert_fails(CULL_BAD_OPTION, "r.yaml:3: model.layers[0], conv: padding=same keeps the extent",
                 read_recipe(block, &a));
    assert_ok(read_recipe(right, &a));
    assert_ok(read_change(one, &b));
    assert_ok(read_change(json, &c));
    assert_string_equal(one, cull_recipe_value(a, "model.layers"));
    assert_string_equal(cull_recipe_text(a), cull_recipe_text(b));
    assert_string_equal(cull_recipe_text(a), cull_recipe_text(c));
    assert_string_equal("layers", cull_recipe_value(a, "model.name"));
    cull_recipe_close(a);
    cull_recipe_close(b);
    cull_recipe_close(c);
}

/* Options at their defaults go, numbers have one form, and the text is read as the same again. */
static void a_list_has_one_text(void **state)
{
    static const struct {
        const char *given, *text;
    } cases[] = {
        {"[flatten,dense]", "[flatten, dense]"},
        {"[ flatten: {} , dense: ~ ]", "[flatten, dense]"},
        {"[flatten, dense: classes]", "[flatten, dense]"},
        {"[flatten, dense: {width: classes, bias: true, init: torch}]", "[flatten, dense]"},
        {"[flatten, dense: {width: 1e1}, dense]", "[flatten, dense: 10, dense]"},
        {"[flatten, dense: {bias: false, width: 7}, dense]",
         "[flatten, dense: {width: 7, bias: false}, dense]"},
        {"[maxpool: [2, 2], flatten, dense]", "[maxpool: 2, flatten, dense]"},
        {"[avgpool: {kernel: [2, 3], stride: 0}, flatten, dense]",
         "[avgpool: [2, 3], flatten, dense]"},
        {"[batchnorm: {epsilon: 0.001, momentum: 1e-1}, flatten, dense]",
         "[batchnorm: {epsilon: 0.001, momentum: 0.1}, flatten, dense]"},
        {"[batchnorm: {epsilon: model.norm_epsilon}, flatten, dense]",
         "[batchnorm, flatten, dense]"},
        {"[groupnorm: {groups: 2}, layernorm, relu6, gelu, flatten, dense]",
         "[groupnorm: 2, layernorm, relu6, gelu, flatten, dense]"},
        {"[shortcut: {stride: 2, channels: 8}, globalpool, dense]",
         "[shortcut: {channels: 8, stride: 2}, globalpool, dense]"},
        {"[residual: [relu, residual: [gelu]], add: [[], [relu]], concat: [[gelu], []], flatten, "
         "dense: {name: out}]",
         "[residual: [relu, residual: [gelu]], add: [[], [relu]], concat: [[gelu], []], flatten, "
         "dense: {name: out}]"},
        {"- flatten\n- dense\n", "[flatten, dense]"},
        {"none", "none"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe *a = NULL, *b = NULL;

        assert_ok(read_change(cases[i].given, &a));
        assert_string_equal(cases[i].text, cull_recipe_value(a, "model.layers"));
        assert_ok(read_recipe(cull_recipe_text(a), &b));
        assert_null(cull_recipe_difference(a, b));
        assert_string_equal(cull_recipe_text(a), cull_recipe_text(b));
        cull_recipe_close(a);
        cull_recipe_close(b);
    }
}

static void wrong_layers_name_line_and_layer(void **state)
{
    static const struct {
        const char *layers, *text;
    } cases[] = {
        {" []\n", "r.yaml:2: model.layers is empty; a network ends in a dense layer"},
        {" flatten\n", "r.yaml:2: model.layers takes a list of layers, as [flatten, dense]"},
        {" {dense: 3}\n", "r.yaml:2: model.layers takes a list of layers, each after a dash"},
        {" ~\n", "r.yaml:2: model.layers has no value"},
        {"\n  - flatten\n  - linear: 10\n",
         "r.yaml:4: model.layers[1]: no layer is called 'linear'; there are conv, dense, "},
        {"\n  - conv: {channels: 4}\n", "r.yaml:3: model.layers[0], conv: needs kernel: its side"},
        {"\n  - conv\n", "r.yaml:3: model.layers[0], conv: needs channels: how many it makes"},
        {"\n  - conv:\n      channels: 4\n      kernl: 3\n",
         "r.yaml:5: model.layers[0], conv: no option is called 'kernl'; there are channels, "
         "kernel"},
        {"\n  - conv:\n      channels: 4\n      kernel: three\n",
         "r.yaml:5: model.layers[0], conv: kernel=three is not a whole number"},
        {"\n  - conv: {channels: 4, channels: 5}\n", "conv: channels is given twice"},
        {"\n  - conv: {channels: 4.5, kernel: 3}\n", "channels=4.5 is not a whole number"},
        {"\n  - conv: {channels: 4, kernel: 0}\n", "kernel=0 is outside 1 to 4096"},
        {"\n  - conv: {channels: 4, kernel: [1, 2, 3]}\n", "kernel=[1,2,3] is not one number or"},
        {"\n  - conv: {channels: 4, kernel: [[1]]}\n", "conv: kernel is one number or two"},
        {"\n  - conv: {channels: 4, kernel: []}\n", "conv: kernel= is not a whole number"},
        {"\n  - conv: {channels: [4], kernel: 3}\n", "conv: channels takes one value"},
        {"\n  - conv: {channels: 4, kernel: 3, bias: 1}\n", "bias=1 is neither true nor false"},
        {"\n  - conv: {channels: 4, kernel: 3, init: xavier}\n",
         "init=xavier is not one of torch|"},
        {"\n  - conv: {channels: '4', kernel: 3}\n", "channels=\"4\" is a text in quotes"},
        {"\n  - conv: {channels: , kernel: 3}\n", "conv: channels has no value"},
        {"\n  - conv: {channels: 4, kernel: 2, padding: same}\n", "a kernel with a middle"},
        {"\n  - conv: {channels: 4, kernel: 3, padding: 3}\n", "padding=3 with kernel=3"},
        {"\n  - conv: {channels: 4, kernel: 3, groups: 3}\n", "groups=3 does not divide channels"},
        {"\n  - conv: {channels: 1e9, kernel: 3}\n", "channels=1e9 is outside 1 to 1.67772e+07"},
        {"\n  - conv: 4\n", "conv: takes its options by name, as {channels: ...}"},
        {"\n  - maxpool: {kernel: 2, padding: same}\n", "padding=same is not a whole number"},
        {"\n  - maxpool: {kernel: 2, padding: 2}\n", "padding=2 is more than half of kernel=2"},
        {"\n  - maxpool: 16\n", "maxpool: kernel=16 is outside 1 to 15"},
        {"\n  - relu: 3\n", "relu: has no options; the word alone will do"},
        {"\n  - relu: {slope: 3}\n", "relu: has no options, and so no 'slope'"},
        {"\n  - dropout: 1\n", "dropout: probability=1 is outside 0 to 0.999"},
        {"\n  - dropout\n", "dropout: needs probability: that a number is left out"},
        {"\n  - dense: {name: 2fc}\n", "name='2fc' is not a letter followed by"},
        {"\n  - dense: {name: 'null'}\n", "name='null' is not a letter followed by"},
        {"\n  - dense: {name: \"a\\nb\"}\n", "name holds a control character"},
        {"\n  - dense: {\"\\0\": 1}\n", "an option holds a control character"},
        {"\n  - dense: {? [a] : 1}\n", "dense: an option is a word with a value"},
        {"\n  - dense: {x: {a: b}}\n", "dense: no option is called 'x'"},
        {"\n  - [relu]\n", "r.yaml:3: model.layers[0]: a layer is a word, as relu, or one with a"},
        {"\n  -\n", "r.yaml:3: model.layers[0]: a layer is a word"},
        {"\n  - ? [relu]\n", "model.layers[0]: a layer is a word"},
        {"\n  - conv:\n    channels: 3\n", "r.yaml:3: model.layers[0], conv: needs channels"},
        {"\n  - dense:\n    width: 3\n",
         "r.yaml:3: model.layers[0], dense: 'width' stands beside it; a layer has a dash"},
        {"\n  - flatten\n  - dense: 3\n  - relu\n",
         "r.yaml:5: model.layers[2], relu: is the last layer; the last one is dense"},
        {"\n  - flatten\n  - dense\n  - relu\n  - dense\n",
         "r.yaml:4: model.layers[1], dense: needs width: only the last layer's is known"},
        {"\n  - residual: [dense]\n  - dense\n",
         "r.yaml:3: model.layers[0][0], dense: needs width"},
        {"\n  - residual: [flatten, dense: 3]\n", "residual: is the last layer"},
        {"\n  - residual: []\n", "r.yaml:3: model.layers[0], residual: holds no layers"},
        {"\n  - residual\n", "residual: takes a list of layers"},
        {"\n  - concat: 3\n", "concat: takes a list of branches, each a list of layers"},
        {"\n  - residual: 3\n", "residual: takes a list of layers"},
        {"\n  - residual: {a: 1}\n", "residual: takes a list of layers"},
        {"\n  - add: [relu, gelu]\n", "r.yaml:3: model.layers[0][0]: a branch is a list of layers"},
        {"\n  - add: [[relu]]\n", "add: takes two branches or more"},
        {"\n  - add: [[], []]\n", "add: takes two branches or more, as [[], [relu]], of which one"},
        {"\n  - concat: [[relu],\n     [gelu, reul]]\n",
         "r.yaml:4: model.layers[0][1][1]: no layer is called 'reul'"},
        {"\n  - dense: {width: 3, name: a}\n  - dense: {name: a}\n",
         "r.yaml:4: model.layers[1], dense: another layer is called 'a' too"},
        {"\n  - &x relu\n", "r.yaml:3: anchors and tags are not for recipes"},
        {"\n  - *x\n", "r.yaml:3: aliases are not for recipes"},
        {" [flatten, dense\n", "not YAML"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe *recipe = NULL;
        char         yaml[300];

        (void)snprintf(yaml, sizeof yaml, "model:\n  layers:%s", cases[i].layers);
        assert_fails(CULL_BAD_OPTION, cases[i].text, read_recipe(yaml, &recipe));
        assert_null(recipe);
    }
}

static void wrong_layers_of_a_command_line_say_so(void **state)
{
    static const struct {
        const char *layers, *text;
    } cases[] = {
        {"", "command line: model.layers takes a list of layers"},
        {"[]", "command line: model.layers is empty"},
        {"relu", "command line: model.layers takes a list of layers, as [flatten, dense]"},
        {"[flatten, relu]", "command line: model.layers[1], relu: is the last layer"},
        {"[flatten", "command line: not YAML"},
        {"[flatten, dense] [dense]", "command line: not YAML"},
        {"--- [flatten, dense]\n--- [dense]", "command line: model.layers: a second document"},
        {"[flatten, dense: \x01]", "command line: not YAML"},
        {"[flatten, d\xe9nse]", "command line: not YAML"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe *recipe = NULL;

        assert_fails(CULL_BAD_OPTION, cases[i].text, read_change(cases[i].layers, &recipe));
        assert_null(recipe);
    }
}

/* A text of so many pieces between two ends; released by the caller. */
static char *repeat(const char *begin, const char *piece, size_t count, const char *end)
{
    char *text = calloc(strlen(begin) + count * strlen(piece) + strlen(end) + 1, 1), *at = text;

    at += sprintf(at, "%s", begin);
    for (size_t i = 0; i < count; i++) at += sprintf(at, "%s", piece);
    (void)sprintf(at, "%s", end);
    return text;
}

static void what_is_deep_or_long_beyond_use_is_refused(void **state)
{
    cull_recipe *recipe = NULL;
    cull_model  *m = NULL;
    char        *most = repeat("[flatten, ", "relu, ", 998, "dense]");
    char        *more = repeat("[flatten, ", "relu, ", 999, "dense]");
    char        *deep = repeat("", "[residual: ", 30000, "");
    char        *lists = repeat("", "[", 30000, "");
    char        *deepest = repeat("", "[residual: ", 8, "[relu]");
    char        *name = repeat("[flatten, dense: {name: ", "n", 5000, "}]");
    char        *value = repeat("[flatten, dense: {width: ", "1", 5000, "}]");
    char        *wide = repeat("[flatten, ", "dense: 16777216, ", 3, "dense]");

    (void)state;
    assert_ok(read_change(most, &recipe));
    assert_int_equal(1000, recipe->setup.layers->count);
    cull_recipe_close(recipe);
    recipe = NULL;
    assert_fails(CULL_BAD_OPTION, "more than 1000 layers", read_change(more, &recipe));
    assert_fails(CULL_BAD_OPTION, "more than 9 lists inside", read_change(deep, &recipe));
    assert_fails(CULL_BAD_OPTION, "a layer is a word", read_change(lists, &recipe));
    assert_fails(CULL_BAD_OPTION, "not YAML", read_change(deepest, &recipe)); /* deep enough */
    assert_fails(CULL_BAD_OPTION, "is too long", read_change(name, &recipe));
    assert_fails(CULL_BAD_OPTION, "is too long", read_change(value, &recipe));
    assert_null(recipe);
    assert_fails(CULL_BAD_OPTION, "model.layers[1], dense: with it the network has",
                 build_change(wide, 1, 28, &m));
    assert_fails(
        CULL_BAD_OPTION, "model.layers[0], conv: 16777216x4096x4096 is more than 2^31-1",
        build_change("[conv: {channels: 16777216, kernel: 1}, flatten, dense]", 1, 4096, &m));
    assert_fails(CULL_BAD_OPTION, "model.layers[1], conv: more than 2^40 weights",
                 build_change("[conv: {channels: 65536, kernel: 1}, conv: {channels: 16777216, "
                              "kernel: [9, 9], padding: same}, flatten, dense]",
                              1, 1, &m));
    assert_null(m);
    free(most);
    free(more);
    free(deep);
    free(lists);
    free(deepest);
    free(name);
    free(value);
    free(wide);
}

static void a_name_and_layers_are_two_networks(void **state)
{
    static const char file[] = "model:\n  name: resnet20\n  layers: [flatten, dense]\n";
    static const char usual[] = "model:\n  name: lenet5\n  layers: [flatten, dense]\n";
    static const char named[] = "model:\n  name: layers\n  layers: [flatten, dense]\n";
    cull_option       name = {"model.name", "lenet5"}, none = {"model.layers", "none"};
    cull_option       both[] = {{"model.name", "mlp"}, {"model.layers", "none"}};
    cull_recipe      *recipe = NULL;

    (void)state;
    assert_fails(CULL_BAD_OPTION, "r.yaml:2: model.name=resnet20 and model.layers are two networks",
                 read_recipe(file, &recipe));
    assert_fails(CULL_BAD_OPTION, "r.yaml:1: model.name=layers: model.layers lists the layers",
                 read_recipe("model: {name: layers}\n", &recipe));
    /* what was said last is not passed over */
    assert_fails(CULL_BAD_OPTION, "command line: model.name=lenet5 and model.layers are two",
                 cull_recipe_parse("r.yaml", named, strlen(named), &name, 1, &recipe));
    assert_null(recipe);
    assert_ok(read_recipe(usual, &recipe));
    assert_string_equal("layers", recipe->setup.model);
    cull_recipe_close(recipe);
    assert_ok(cull_recipe_parse("r.yaml", usual, strlen(usual), &none, 1, &recipe));
    assert_string_equal("lenet5", recipe->setup.model);
    assert_null(recipe->setup.layers);
    cull_recipe_close(recipe);
    assert_ok(cull_recipe_parse("r.yaml", named, strlen(named), both, 2, &recipe));
    assert_string_equal("mlp", recipe->setup.model);
    cull_recipe_close(recipe);
}

static void settings_of_named_models_are_none_of_a_lists(void **state)
{
    static const struct {
        const char *yaml, *text;
    } cases[] = {
        {"model:\n  dropout: 0.1\n  layers: [flatten, dense]\n", "r.yaml:2: model.dropout: model."},
        {"model:\n  stem: imagenet\n  layers: [flatten, dense]\n",
         "r.yaml:2: model.stem: model.la"},
        {"model:\n  width: 8\n  layers: [flatten, dense]\n", "r.yaml:2: model.width: model.layers"},
        {"model:\n  depth: 8\n  layers: [flatten, dense]\n", "r.yaml:2: model.depth: model.layers"},
        {"model:\n  norm_epsilon: 0.1\n  layers: [flatten, dense]\n", "model.layers has no norms"},
        {"model:\n  norm_momentum: 1\n  layers: [flatten, dense]\n", "model.layers has no norms"},
    };
    static const char norms[] = "model:\n"
                                "  norm_epsilon: 0.1\n"
                                "  norm_momentum: 0.3\n"
                                "  layers:\n"
                                "  - batchnorm\n"
                                "  - batchnorm: {epsilon: 1e-5, momentum: 0.2}\n"
                                "  - flatten\n"
                                "  - layernorm\n"
                                "  - dense\n";
    cull_recipe      *recipe = NULL;
    cull_model       *m = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(CULL_BAD_OPTION, cases[i].text, read_recipe(cases[i].yaml, &recipe));
    assert_ok(read_recipe(norms, &recipe));
    assert_ok(build(recipe, 2, 4, 3, &m));
    assert_true(m->node[1].desc.epsilon == 0.1 && m->node[1].desc.momentum == 0.3);
    assert_true(m->node[2].desc.epsilon == 1e-5 && m->node[2].desc.momentum == 0.2);
    assert_true(m->node[4].desc.epsilon == 0.1);
    cull_model_destroy(m);
    cull_recipe_close(recipe);
}

/* ---- the models ---- */

static void check_text(const char *layers, int64_t channels, int64_t side, const char *text)
{
    cull_model *m = NULL;
    cull_writer out = {0};
    cull_status status = build_change(layers, channels, side, &m);

    if (status != CULL_OK) fail_msg("%s: %s", layers, cull_last_error());
    assert_ok(cull_nn_model_text(m, &out));
    assert_string_equal(text, (const char *)out.data);
    cull_writer_clear(&out);
    cull_model_destroy(m);
}

/* For texts of six positions and nine different tokens. */
static cull_status build_for_texts(const char *layers, int64_t tokens, cull_model **out)
{
    cull_recipe *recipe = NULL;
    cull_status  status = read_change(layers, &recipe);

    if (status == CULL_OK) {
        cull_model_options options = recipe->setup.model_options;

        options.channels = options.width = 1;
        options.height = 6;
        options.tokens = tokens;
        options.classes = 4;
        status = cull_nn_model_by_list(recipe->setup.layers, &options, out);
    }
    cull_recipe_close(recipe);
    return status;
}

static void a_transformer_can_be_a_list(void **state)
{
    static const char layers[] =
        "[embed: 8, positions, residual: [layernorm, dense: 24, attention: {heads: 2, dropout: "
        "0.25}, dense: 8], residual: [layernorm, dense: 32, gelu, dense: 8], first, tanh, dense]";
    cull_model *m = NULL;
    cull_writer out = {0};

    (void)state;
    assert_ok(build_for_texts(layers, 9, &m));
    assert_ok(cull_nn_model_text(m, &out));
    assert_string_equal("0 input: 1x6x1\n"
                        "1 embed 0 of 0: 8x6x1 rows 9\n"
                        "2 positions 1 of 1: 8x6x1 rows 6\n"
                        "3 layernorm 2.0 of 2: 8x6x1\n"
                        "4 dense 2.1 of 3: 24x6x1 init torch\n"
                        "5 attention of 4,0: 8x6x1 heads 2 probability 0.25\n"
                        "6 dense 2.3 of 5: 8x6x1 init torch\n"
                        "7 add of 2,6: 8x6x1\n"
                        "8 layernorm 3.0 of 7: 8x6x1\n"
                        "9 dense 3.1 of 8: 32x6x1 init torch\n"
                        "10 gelu of 9: 32x6x1\n"
                        "11 dense 3.3 of 10: 8x6x1 init torch\n"
                        "12 add of 7,11: 8x6x1\n"
                        "13 take of 12: 8x1x1\n"
                        "14 tanh of 13: 8x1x1\n"
                        "15 dense 6 of 14: 4x1x1 init torch\n",
                        (const char *)out.data);
    cull_writer_clear(&out);
    cull_model_destroy(m);
    m = NULL;
    assert_fails(CULL_BAD_OPTION, "model.layers[0], embed: the inputs are no texts",
                 build_for_texts(layers, 0, &m));
    assert_fails(CULL_BAD_OPTION, "model.layers[1], attention: attention of 3 heads takes queries",
                 build_for_texts("[embed: 8, attention: 3, first, dense]", 9, &m));
    assert_fails(CULL_BAD_OPTION, "logits of every position; take one position first",
                 build_for_texts("[embed: 8, dense]", 9, &m));
    assert_null(m);
}

static void every_layer_does_what_it_says(void **state)
{
    (void)state;
    check_text(
        "[conv: {channels: 6, kernel: [3, 2], stride: [1, 2], padding: [2, 1], dilation: "
        "[2, 1], groups: 2, bias: false, init: he-out}, relu6, flatten, dense: {bias: false, "
        "init: he-in, name: out}]",
        2, 8,
        "0 input: 2x8x8\n"
        "1 conv 0 of 0: 6x8x5 kernel 3x2 stride 1x2 pad 2x1 dilation 2x1 groups 2 no-bias "
        "init he-out\n"
        "2 relu6 of 1: 6x8x5\n"
        "3 flatten of 2: 240x1x1\n"
        "4 dense out of 3: 4x1x1 no-bias init he-in\n");
    check_text("[maxpool: {kernel: 3, stride: 2, padding: 1}, avgpool: [1, 2], groupnorm: {groups: "
               "2, epsilon: 0.01}, layernorm, dropout: 0.25, gelu, globalpool, dense: 4]",
               2, 8,
               "0 input: 2x8x8\n"
               "1 max-pool of 0: 2x4x4 kernel 3 stride 2 pad 1 max\n"
               "2 average-pool of 1: 2x4x2 kernel 1x2 stride 1x2 pad 0 average\n"
               "3 groupnorm 2 of 2: 2x4x2 groups 2 epsilon 0.01\n"
               "4 layernorm 3 of 3: 2x4x2\n"
               "5 dropout of 4: 2x4x2 probability 0.25\n"
               "6 gelu of 5: 2x4x2\n"
               "7 average-pool of 6: 2x1x1 global\n"
               "8 dense 7 of 7: 4x1x1 init torch\n");
    check_text("[shortcut: {channels: 4, stride: 2}, residual: [batchnorm, residual: [relu]], add: "
               "[[], [relu], [conv: {channels: 4, kernel: 1}]], concat: [[gelu], []], flatten, "
               "dense]",
               2, 4,
               "0 input: 2x4x4\n"
               "1 shortcut of 0: 4x2x2 stride 2\n"
               "2 batchnorm 1.0 of 1: 4x2x2\n"
               "3 relu of 2: 4x2x2\n"
               "4 add of 2,3: 4x2x2\n"
               "5 add of 1,4: 4x2x2\n"
               "6 relu of 5: 4x2x2\n"
               "7 add of 5,6: 4x2x2\n"
               "8 conv 2.2.0 of 5: 4x2x2 kernel 1 stride 1 pad 0 groups 1 init torch\n"
               "9 add of 7,8: 4x2x2\n"
               "10 gelu of 9: 4x2x2\n"
               "11 concat of 10,9: 8x2x2\n"
               "12 flatten of 11: 32x1x1\n"
               "13 dense 5 of 12: 4x1x1 init torch\n");
}

static void what_does_not_fit_the_data_names_layer_and_shapes(void **state)
{
    static const struct {
        const char *layers, *text;
    } cases[] = {
        {"[conv: {channels: 2, kernel: 9}, flatten, dense]",
         "model.layers[0], conv: a convolution 9x9, stride 1, padding 0, of 8x8, which is smaller; "
         "inputs are 3x8x8"},
        {"[maxpool: 4, avgpool: 3, flatten, dense]",
         "model.layers[1], avgpool: pooling 3x3, stride 3, padding 0, of 2x2, which is smaller"},
        {"[relu, dense]", "model.layers[1], dense: a dense layer takes features, not 8x8 images: "
                          "flatten first"},
        {"[residual: [maxpool: 2], flatten, dense]",
         "model.layers[0], residual: a sum of 3x8x8 and 3x4x4"},
        {"[concat: [[relu], [gelu, maxpool: 2]], flatten, dense]",
         "model.layers[0], concat: a concatenation of 3x8x8 and 3x4x4"},
        {"[residual: [relu, residual: [conv: {channels: 2, kernel: 1}]], flatten, dense]",
         "model.layers[0][1], residual: a sum of 3x8x8 and 2x8x8"},
        {"[groupnorm: 2, flatten, dense]",
         "model.layers[0], groupnorm: group norm of 3 channels in 2 groups"},
        {"[conv: {channels: 4, kernel: 1, groups: 2}, flatten, dense]",
         "model.layers[0], conv: a convolution from 3 to 4 channels in 2 groups"},
        {"[shortcut: 4, flatten, dense]", "model.layers[0], shortcut: a shortcut from 3 to 4 chan"},
        {"[flatten, dense: 5]", "model.layers[1], dense: width=5, but the data asks for 4 outputs"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_model *m = NULL;

        assert_fails(CULL_BAD_OPTION, cases[i].text, build_change(cases[i].layers, 3, 8, &m));
        assert_string_equal("model.layers", cull_last_subject());
        assert_null(m);
    }
}

/* Weights after some steps on a backend, of one of the two LeNet-5s. */
static void train_lenet(const cull_model *model, const char *backend, float *out, size_t count)
{
    static float             x[5][16 * 784];
    static const cull_option options[] = {{"optim.momentum", "0.9"}, {"train.seed", "4"}};
    cull_network            *network = NULL;
    cull_backend            *on = NULL;
    int32_t                  label[16];
    size_t                   at = 0;

    for (size_t i = 0; i < sizeof x / sizeof **x; i++)
        x[i / (16 * 784)][i % (16 * 784)] = (float)random_normal(1, i);
    for (int32_t i = 0; i < 16; i++) label[i] = i % 10;
    assert_ok(cull_backend_open(backend, 2, &on));
    assert_ok(cull_network_create(model, on, options, 2, &network));
    for (size_t step = 0; step < 5; step++) {
        cull_examples batch = {.inputs = {.data = x[step],
                                          .dtype = CULL_F32,
                                          .dims = 4,
                                          .shape = {16, 1, 28, 28},
                                          .stride = {784, 784, 28, 1}},
                               .label = cull_vector(label, CULL_I32, 16),
                               .step = step};
        assert_ok(cull_network_learn(network, &batch, NULL, NULL));
        assert_ok(cull_network_step(network, 0.05));
    }
    for (size_t i = 0; cull_network_parameter_at(network, i); i++) {
        cull_tensor t = {0};
        size_t      numbers = 1;

        assert_ok(cull_network_parameter(network, cull_network_parameter_at(network, i), &t));
        for (int d = 0; d < t.dims; d++) numbers *= (size_t)t.shape[d];
        memcpy(out + at, t.data, numbers * sizeof *out);
        at += numbers;
    }
    assert_int_equal(count, at);
    cull_network_destroy(network);
    cull_backend_close(on);
}

/* Layer for layer the same network, by its names too: the same start, the same steps. */
static void a_list_that_is_lenet5_is_lenet5_to_the_last_bit(void **state)
{
    static const char *const backends[] = {"ref", "cpu"};
    cull_recipe             *recipe = NULL;
    cull_model              *listed = NULL, *named = NULL;
    cull_writer              text[2] = {{0}};
    size_t                   count = 0;

    (void)state;
    assert_ok(read_recipe(lenet, &recipe));
    assert_ok(build(recipe, 1, 28, 10, &listed));
    assert_ok(cull_model_named("lenet5", 1, 28, 28, 10, &named));
    assert_ok(cull_nn_model_text(listed, &text[0]));
    assert_ok(cull_nn_model_text(named, &text[1]));
    assert_string_equal((const char *)text[1].data, (const char *)text[0].data);
    count = cull_model_parameters(named);
    assert_int_equal(61706, count);
    for (size_t b = 0; b < 2; b++) {
        float *one = calloc(count, sizeof *one), *two = calloc(count, sizeof *two);

        train_lenet(listed, backends[b], one, count);
        train_lenet(named, backends[b], two, count);
        assert_memory_equal(one, two, count * sizeof *one);
        free(one);
        free(two);
    }
    for (int i = 0; i < 2; i++) cull_writer_clear(&text[i]);
    cull_model_destroy(listed);
    cull_model_destroy(named);
    cull_recipe_close(recipe);
}

/* ---- around them ---- */

static void a_difference_is_told_by_its_layer(void **state)
{
    static const struct {
        const char *one, *two, *what, *a, *b;
    } cases[] = {
        {"[relu, residual: [relu], flatten, dense]", "[relu, residual: [gelu], flatten, dense]",
         "model.layers[1]", "residual: [relu]", "residual: [gelu]"},
        {"[flatten, dense]", "[flatten, dense: 7, dense]", "model.layers[1]", "dense", "dense: 7"},
        {"[flatten, dense: 7, dense: 10]", "[flatten, dense: 7]", "model.layers[2]", "dense: 10",
         "nothing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_recipe          *a = NULL, *b = NULL;
        cull_recipe_differing by;

        assert_ok(read_change(cases[i].one, &a));
        assert_ok(read_change(cases[i].two, &b));
        assert_string_equal("model.layers", cull_recipe_difference(a, b));
        assert_ok(cull_recipe_differ_by(a, b, "model.layers", &by));
        assert_string_equal(cases[i].what, by.what);
        assert_string_equal(cases[i].a, by.a);
        assert_string_equal(cases[i].b, by.b);
        cull_recipe_close(a);
        cull_recipe_close(b);
    }
}

static void a_model_of_a_programs_own_takes_the_place_of_layers(void **state)
{
    cull_recipe *recipe = NULL;
    cull_model  *m = NULL;

    (void)state;
    assert_ok(read_change("[flatten, dense]", &recipe));
    assert_ok(cull_model_named("lenet5", 1, 28, 28, 10, &m));
    assert_ok(cull_recipe_set_model(recipe, m));
    assert_string_equal("own/lenet5", cull_recipe_value(recipe, "model.name"));
    assert_string_equal("none", cull_recipe_value(recipe, "model.layers"));
    assert_null(recipe->setup.layers);
    cull_model_destroy(m);
    cull_recipe_close(recipe);
}

static void the_table_of_layers_is_sound(void **state)
{
    const char *name = NULL;

    (void)state;
    for (size_t i = 0; (name = cull_recipe_layer_at(i)); i++) {
        const cull_option_spec *spec = NULL;
        const char             *alone = cull_recipe_layer_alone(name);
        bool                    found = !alone;

        assert_non_null(cull_recipe_layer_doc(name));
        for (size_t k = 0; (spec = cull_recipe_layer_option_at(name, k)); k++) {
            assert_non_null(spec->doc);
            assert_true(k < CULL_LIST_OPTIONS);
            found = found || strcmp(spec->key, alone) == 0;
        }
        assert_true(found);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(name, cull_recipe_layer_at(k));
    }
    assert_null(cull_recipe_layer_doc("linear"));
    assert_null(cull_recipe_layer_alone("linear"));
    assert_null(cull_recipe_layer_option_at("linear", 0));
}

static void reading_and_building_survive_failing_allocations(void **state)
{
    static const char layers[] = "[conv: {channels: 2, kernel: 3, name: c}, residual: [batchnorm, "
                                 "relu], add: [[], [relu]], flatten, dense]";
    cull_status       status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_recipe *recipe = NULL;
        cull_model  *m = NULL;

        fail_nth_alloc(n);
        status = read_change(layers, &recipe);
        if (status == CULL_OK) status = build(recipe, 1, 5, 3, &m);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || (status == CULL_NO_MEMORY && !m));
        cull_model_destroy(m);
        cull_recipe_close(recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_the_same_in_blocks_in_flow_and_as_json),
        cmocka_unit_test(a_list_has_one_text),
        cmocka_unit_test(wrong_layers_name_line_and_layer),
        cmocka_unit_test(wrong_layers_of_a_command_line_say_so),
        cmocka_unit_test(what_is_deep_or_long_beyond_use_is_refused),
        cmocka_unit_test(a_name_and_layers_are_two_networks),
        cmocka_unit_test(settings_of_named_models_are_none_of_a_lists),
        cmocka_unit_test(every_layer_does_what_it_says),
        cmocka_unit_test(a_transformer_can_be_a_list),
        cmocka_unit_test(what_does_not_fit_the_data_names_layer_and_shapes),
        cmocka_unit_test(a_list_that_is_lenet5_is_lenet5_to_the_last_bit),
        cmocka_unit_test(a_difference_is_told_by_its_layer),
        cmocka_unit_test(a_model_of_a_programs_own_takes_the_place_of_layers),
        cmocka_unit_test(the_table_of_layers_is_sound),
        cmocka_unit_test(reading_and_building_survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
