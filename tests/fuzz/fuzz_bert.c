/* fuzz/fuzz_bert.c - bytes as the config.json of a BERT: refused with a sentence, or sizes of which
 * a model can be described. */
#include <stdlib.h>

#include "fuzz.h"
#include "train/folder/bert_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cull_bert          sizes = {0};
    cull_model_options options = {
        .channels = 1, .height = 1, .width = 1, .classes = 2, .tokens = 1, .bert = &sizes};
    cull_model *model = NULL;
    cull_status status = cull_bert_parse("fuzz", data, size, &sizes);

    if (status != CULL_OK) {
        if (sizes.tokens || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    if (sizes.tokens < 1 || sizes.layers < 1 || sizes.width % sizes.heads) abort();
    status = cull_nn_model_by_name("bert", &options, &model);
    if ((status == CULL_OK) != (model != NULL)) abort();
    if (status != CULL_OK && cull_last_error()[0] == '\0') abort();
    cull_nn_model_destroy(model);
    return 0;
}
