/* fuzz/fuzz_layers.h - a recipe's layers, if any, made a model: one with its classes, or a sentence
 * about them. */
#ifndef CULL_TESTS_FUZZ_LAYERS_H
#define CULL_TESTS_FUZZ_LAYERS_H

#include <stdlib.h>

#include "fuzz.h"
#include "lab/recipe/recipe.h"

static inline void build_layers(const cull_recipe *recipe)
{
    cull_model_options options = recipe->setup.model_options;
    cull_model        *model = NULL;

    if (!recipe->setup.layers) return;
    options.channels = 2;
    options.height = 9;
    options.width = 7;
    options.classes = 3;
    if (cull_nn_model_by_list(recipe->setup.layers, &options, &model) == CULL_OK) {
        if (model->classes != 3) abort();
    } else if (model || strcmp(cull_last_subject(), "model.layers") != 0) {
        abort();
    }
    cull_nn_model_destroy(model);
}

#endif
