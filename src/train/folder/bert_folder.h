/*
 * train/folder/bert_folder.h - a pretrained BERT as transformers leaves one in a folder: its sizes
 * in config.json, its weights in model.safetensors.
 */
#ifndef CULL_TRAIN_BERT_FOLDER_H
#define CULL_TRAIN_BERT_FOLDER_H

#include "nn/nn.h"

enum { CULL_BERT_LAYERS = 100 };

/* A config.json as bytes, `path` beginning the sentence of a CULL_BAD_FILE. */
cull_status cull_bert_parse(const char *path, const void *data, size_t bytes, cull_bert *out);

/* CULL_BAD_OPTION, about model.path, names the key that is missing or not what can be built. What
 * the file says of dropout and classes is not read: runs say these. */
cull_status cull_bert_read(const char *folder, cull_bert *out);

/*
 * Weights of a model of these sizes, as float32 from F32 or BF16. A file's names may lack the
 * prefix "bert.", and a norm's numbers be called gamma and beta, as they were once; the classifier
 * keeps its own start where the file has none; what is no part of the encoder is not read. *hash is
 * the file's.
 *
 * CULL_BAD_OPTION, about model.path, names the first tensor that is missing, of another shape or
 * type, not finite, or of an encoder that these sizes are not all of; parameters are then as they
 * were.
 */
cull_status cull_bert_begin(const char *folder, const cull_model *model, cull_params *params,
                            uint64_t *hash);

#endif
