/* nn/models/models.h - one builder per family; models.c finds them by name. */
#ifndef CULL_NN_MODELS_MODELS_H
#define CULL_NN_MODELS_MODELS_H

#include <stdio.h>

#include "nn/nn.h"

/* Adds the whole network to a fresh model and returns the logits' node. */
typedef int (*cull_model_builder)(cull_model *m, const cull_model_options *options);

int cull_model_mlp(cull_model *m, const cull_model_options *options);
int cull_model_lenet(cull_model *m, const cull_model_options *options);
int cull_model_resnet_cifar(cull_model *m, const cull_model_options *options);
int cull_model_resnet(cull_model *m, const cull_model_options *options);
int cull_model_wideresnet(cull_model *m, const cull_model_options *options);
int cull_model_densenet(cull_model *m, const cull_model_options *options);
int cull_model_mobilenet1(cull_model *m, const cull_model_options *options);
int cull_model_mobilenet2(cull_model *m, const cull_model_options *options);
int cull_model_bert(cull_model *m, const cull_model_options *options);
int cull_model_transformer(cull_model *m, const cull_model_options *options);

/* The last layer; init: one of nn.h's too. */
int cull_model_logits(cull_model *m, int x, const char *name, const cull_model_options *options,
                      int init);
/* A convolution without a bias, padded so that with stride 1 it keeps the extent. */
int cull_model_kernel(cull_model *m, int x, const char *name, int64_t out, int64_t kernel,
                      int64_t stride, cull_init init);

/* "layer1.0" and "conv2" become "layer1.0.conv2"; valid until the buffer's next use. */
typedef struct cull_model_name {
    char text[64];
} cull_model_name;

static inline const char *cull_model_join(cull_model_name *name, const char *prefix,
                                          const char *part)
{
    (void)snprintf(name->text, sizeof name->text, "%.31s%s%.31s", prefix, *prefix ? "." : "", part);
    return name->text;
}

#endif
