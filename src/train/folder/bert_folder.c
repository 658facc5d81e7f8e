/* train/folder/bert_folder.c - config.json and model.safetensors of a BERT (docs/formats.md). */
#include "train/folder/bert_folder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "records/fields.h"
#include "tensor/tensor.h"
#include "train/folder/weights.h"

#define KEY        "model.path"
#define PREFIX     "bert."
#define CLASSIFIER "classifier."

/* A sentence about the key; what is wrong with the file itself does not know whose file it is. */
static cull_status blame(cull_status status)
{
    char why[512];

    if (status == CULL_OK || status == CULL_NO_MEMORY) return status;
    (void)snprintf(why, sizeof why, "%s", cull_last_error());
    return cull_fail_about(CULL_BAD_OPTION, KEY, KEY ": %s", why);
}

/* ---- config.json ---- */

static cull_status take_count(const char *path, const json_t *config, const char *key, double least,
                              int64_t *out)
{
    cull_status status = CULL_OK;
    double      value = cull_records_number(config, key);

    if (!(value >= least && value <= 1 << 24 && value == floor(value)))
        FAIL(CULL_BAD_FILE, "%s: %s is not a whole number from %g to 2^24", path, key, least);
    *out = (int64_t)value;
done:
    return status;
}

static cull_status take_activation(const char *path, const json_t *config, cull_activation *out)
{
    static const struct {
        const char     *name;
        cull_activation activation;
    } known[] = {
        {"gelu", CULL_GELU}, {"gelu_new", CULL_GELU_TANH}, {"gelu_pytorch_tanh", CULL_GELU_TANH},
        {"relu", CULL_RELU}, {"tanh", CULL_TANH},          {"", CULL_GELU}};
    const char *name = cull_records_word(config, "hidden_act");

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *out = known[i].activation;
            return CULL_OK;
        }
    return cull_fail(CULL_BAD_FILE,
                     "%s: hidden_act is '%.40s'; gelu, gelu_new, gelu_pytorch_tanh, relu and tanh "
                     "can be built",
                     path, name);
}

/* What would be another network under the same keys. */
static cull_status check_kind(const char *path, const json_t *config)
{
    cull_status status = CULL_OK;
    const char *kind = cull_records_word(config, "model_type");
    const char *places = cull_records_word(config, "position_embedding_type");

    if (*kind && strcmp(kind, "bert") != 0)
        FAIL(CULL_BAD_FILE, "%s: model_type is '%.40s'; bert can be built", path, kind);
    if (*places && strcmp(places, "absolute") != 0)
        FAIL(CULL_BAD_FILE, "%s: position_embedding_type is '%.40s'; absolute can be built", path,
             places);
    if (json_is_true(json_object_get(config, "is_decoder")))
        FAIL(CULL_BAD_FILE, "%s: is_decoder is true; an encoder can be built", path);
done:
    return status;
}

static cull_status take_config(const char *path, const json_t *config, cull_bert *out)
{
    cull_status status = CULL_OK;

    TRY(check_kind(path, config));
    TRY(take_count(path, config, "vocab_size", 1, &out->tokens));
    TRY(take_count(path, config, "hidden_size", 1, &out->width));
    TRY(take_count(path, config, "num_hidden_layers", 1, &out->layers));
    TRY(take_count(path, config, "num_attention_heads", 1, &out->heads));
    TRY(take_count(path, config, "intermediate_size", 1, &out->inner));
    TRY(take_count(path, config, "max_position_embeddings", 1, &out->positions));
    TRY(take_count(path, config, "type_vocab_size", 0, &out->kinds));
    TRY(take_activation(path, config, &out->activation));
    out->epsilon = cull_records_number(config, "layer_norm_eps");
    if (!(out->epsilon > 0 && out->epsilon <= 1))
        FAIL(CULL_BAD_FILE, "%s: layer_norm_eps is not a number above 0, up to 1", path);
    if (out->layers > CULL_BERT_LAYERS)
        FAIL(CULL_BAD_FILE, "%s: %lld layers; up to %d can be built", path, (long long)out->layers,
             CULL_BERT_LAYERS);
    if (out->width % out->heads)
        FAIL(CULL_BAD_FILE, "%s: hidden_size %lld is no multiple of num_attention_heads %lld", path,
             (long long)out->width, (long long)out->heads);
done:
    return status;
}

cull_status cull_bert_parse(const char *path, const void *data, size_t bytes, cull_bert *out)
{
    cull_status status = CULL_OK;
    json_t     *config = NULL;
    cull_bert   read = {0};

    TRY(cull_records_parse(path, data, bytes, 0, &config));
    TRY(take_config(path, config, &read));
    *out = read;
done:
    json_decref(config);
    return status;
}

cull_status cull_bert_read(const char *folder, cull_bert *out)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    void       *data = NULL;
    size_t      bytes = 0;

    TRY(cull_base_join(folder, "config.json", path));
    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_bert_parse(path, data, bytes, out));
done:
    cull_bytes_release(data);
    return blame(status);
}

/* ---- model.safetensors ---- */

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* What the files of long ago, bert-base-uncased's among them, call a norm's numbers. */
static void name_of_old(const char *name, char out[sizeof(((cull_safetensor *)0)->name)])
{
    static const char *const norm[][2] = {{"LayerNorm.weight", "LayerNorm.gamma"},
                                          {"LayerNorm.bias", "LayerNorm.beta"}};
    size_t                   length = strlen(name);

    out[0] = '\0';
    for (size_t i = 0; i < 2; i++) {
        size_t end = strlen(norm[i][0]);

        if (length > end && strcmp(name + length - end, norm[i][0]) == 0)
            (void)snprintf(out, sizeof(((cull_safetensor *)0)->name), "%.*s%s", (int)(length - end),
                           name, norm[i][1]);
    }
}

/* Under this name, or without the prefix. */
static const cull_safetensor *find_name(const cull_safetensors *file, const char *name)
{
    const cull_safetensor *found = cull_safetensors_find(file, name);

    if (found || !begins(name, PREFIX)) return found;
    return cull_safetensors_find(file, name + strlen(PREFIX));
}

/* Under its own name, or that of old. */
static const cull_safetensor *find(const cull_safetensors *file, const char *name)
{
    const cull_safetensor *found = find_name(file, name);
    char                   old[sizeof found->name];

    if (found) return found;
    name_of_old(name, old);
    return old[0] ? find_name(file, old) : NULL;
}

/* "(1536, 384)" */
static void describe(const cull_tensor *t, char out[100])
{
    int length = snprintf(out, 100, "(");

    for (int d = 0; d < t->dims; d++)
        length += snprintf(out + length, 100 - (size_t)length, "%s%lld", d ? ", " : "",
                           (long long)t->shape[d]);
    (void)snprintf(out + length, 100 - (size_t)length, ")");
}

static cull_status match(const char *path, const cull_safetensors *file,
                         const cull_safetensor *wanted)
{
    cull_status            status = CULL_OK;
    const cull_safetensor *found = find(file, wanted->name);
    char                   theirs[100], own[100];

    if (!found && begins(wanted->name, CLASSIFIER)) goto done;
    if (!found)
        FAIL(CULL_BAD_FILE, "%s: no tensor '%s', with '" PREFIX "' or without", path, wanted->name);
    if (found->tensor.dims != wanted->tensor.dims ||
        memcmp(found->tensor.shape, wanted->tensor.shape, sizeof wanted->tensor.shape) != 0) {
        describe(&found->tensor, theirs);
        describe(&wanted->tensor, own);
        FAIL(CULL_BAD_FILE, "%s: %s is %s, the model's is %s", path, found->name, theirs, own);
    }
    if (found->tensor.dtype != CULL_F32 && found->tensor.dtype != CULL_BF16)
        FAIL(CULL_BAD_FILE, "%s: %s is %s; float32 and bfloat16 are read", path, found->name,
             cull_dtype_name(found->tensor.dtype));
done:
    return status;
}

/* Of the encoder's numbers; tables of 0, 1, 2, ... are none. */
static bool is_encoders(const char *name)
{
    static const char *const part[] = {"embeddings.", "encoder.", "pooler."};

    if (begins(name, PREFIX)) name += strlen(PREFIX);
    if (strcmp(name, "embeddings.position_ids") == 0) return false;
    if (strcmp(name, "embeddings.token_type_ids") == 0) return false;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (begins(name, part[i])) return true;
    return false;
}

/* An encoder is read whole: what is left of one is another network. */
static cull_status check_all_read(const char *path, const cull_safetensors *file,
                                  const cull_safetensor *wanted, size_t count)
{
    cull_status status = CULL_OK;

    for (size_t t = 0; t < file->count; t++) {
        const cull_safetensor *one = &file->tensor[t];
        bool                   read = !is_encoders(one->name);

        for (size_t i = 0; i < count && !read; i++) read = find(file, wanted[i].name) == one;
        if (!read)
            FAIL(CULL_BAD_FILE, "%s: '%s' has no place in a model of config.json's sizes", path,
                 one->name);
    }
done:
    return status;
}

static size_t count_of(const cull_tensor *t)
{
    size_t count = 1;

    for (int d = 0; d < t->dims; d++) count *= (size_t)t->shape[d];
    return count;
}

/* Element i of what is aligned to nothing. */
static double number_at(const cull_tensor *t, size_t i)
{
    float    wide = 0;
    uint16_t narrow = 0;

    if (t->dtype == CULL_F32) {
        memcpy(&wide, (const char *)t->data + i * sizeof wide, sizeof wide);
        return (double)wide;
    }
    memcpy(&narrow, (const char *)t->data + i * sizeof narrow, sizeof narrow);
    return (double)cull_bf16_wide(narrow);
}

static cull_status check_finite(const char *path, const cull_safetensors *file,
                                const cull_safetensor *wanted)
{
    const cull_safetensor *found = find(file, wanted->name);

    for (size_t i = 0; found && i < count_of(&found->tensor); i++)
        if (!isfinite(number_at(&found->tensor, i)))
            return cull_fail(CULL_BAD_FILE, "%s: %s is not finite", path, found->name);
    return CULL_OK;
}

static void copy(const cull_safetensors *file, const cull_safetensor *to)
{
    const cull_safetensor *from = find(file, to->name);

    for (size_t i = 0; from && i < count_of(&from->tensor); i++) {
        double number = number_at(&from->tensor, i);

        if (to->tensor.dtype == CULL_F32)
            ((float *)to->tensor.data)[i] = (float)number;
        else
            ((double *)to->tensor.data)[i] = number;
    }
}

static cull_status take_weights(const char *path, const cull_safetensors *file,
                                const cull_model *model, cull_params *params)
{
    cull_status      status = CULL_OK;
    cull_params      host = {0};
    cull_safetensor *list = NULL;
    size_t           count = 0;

    TRY(cull_nn_params_borrow(params, &host));
    TRY(cull_weights_list(model, &host, &list, &count));
    for (size_t i = 0; i < count; i++) TRY(match(path, file, &list[i]));
    TRY(check_all_read(path, file, list, count));
    for (size_t i = 0; i < count; i++) TRY(check_finite(path, file, &list[i]));
    for (size_t i = 0; i < count; i++) copy(file, &list[i]);
    TRY(cull_nn_params_return(params, &host));
done:
    cull_base_free(list);
    cull_nn_params_drop(params, &host);
    return status;
}

cull_status cull_bert_begin(const char *folder, const cull_model *model, cull_params *params,
                            uint64_t *hash)
{
    cull_status      status = CULL_OK;
    char             path[CULL_DATA_PATH];
    void            *data = NULL;
    size_t           bytes = 0;
    cull_safetensors file = {0};

    TRY(cull_base_join(folder, "model.safetensors", path));
    TRY(cull_file_read(path, &data, &bytes));
    TRY(cull_safetensors_parse(path, data, bytes, &file));
    TRY(take_weights(path, &file, model, params));
    *hash = cull_base_hash(data, bytes);
done:
    cull_safetensors_clear(&file);
    cull_bytes_release(data);
    return blame(status);
}
