/* train/folder/weights.h - a model's parameters and running averages as named tensors. */
#ifndef CULL_TRAIN_WEIGHTS_H
#define CULL_TRAIN_WEIGHTS_H

#include "nn/nn.h"
#include "records/safetensors.h"

/* Names are the layer's with ".weight", ".bias", ".running_mean", ".running_var" behind, shapes as
 * PyTorch's, strides as they lie. *out is a new array of views into params, released with
 * cull_base_free(). */
cull_status cull_weights_list(const cull_model *model, const cull_params *params,
                              cull_safetensor **out, size_t *count);

/* A file of the parameters as they are now; card NULL: it says nothing of inputs. */
cull_status cull_weights_encode(const cull_model *model, const cull_params *params,
                                const cull_card *card, cull_writer *out);

/* Take every parameter from a file's bytes; tensors that the model does not have are ignored.
 * CULL_BAD_FILE, and untouched parameters, when one is missing or of another shape or type. */
cull_status cull_weights_decode(const char *path, const void *data, size_t bytes,
                                const cull_model *model, cull_params *params);

/* The same from a file. */
cull_status cull_weights_read(const char *path, const cull_model *model, cull_params *params);

/* What a file says of inputs and outputs, all of it checked; ended with cull_card_clear(). */
cull_status cull_weights_card(const char *path, cull_card *out);

/* The weights that a run begins with, as train.init names them: exactly the model's tensors (but
 * for PyTorch's num_batches_tracked), and finite. *hash is the file's. CULL_BAD_OPTION names the
 * first tensor that is missing, of another shape, or too many. */
cull_status cull_weights_begin(const char *path, const cull_model *model, cull_params *params,
                               uint64_t *hash);

#endif
