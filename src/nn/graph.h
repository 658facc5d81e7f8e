/* nn/graph.h - what the layer files share while a model is built. */
#ifndef CULL_NN_GRAPH_H
#define CULL_NN_GRAPH_H

#include "nn/nn.h"

/* Add a node prepared by a layer file: class, inputs, name and desc set. Runs class->shape, lays
 * out the parameters, copies the node. Its number, or -1 with model->trouble set. */
int cull_nn_graph_add(cull_model *model, const cull_node *node, const char *name);

/* Keep the first failure of building and the sentence behind it. */
void cull_nn_graph_trouble(cull_model *model, cull_status status);

/* A node of one or two inputs to begin with. */
cull_node cull_nn_graph_node(const cull_node_class *class, cull_layer_kind kind, int x, int x2);

/* Output extent of a window sliding over `in`, or 0 when it does not fit. */
int64_t cull_nn_graph_slide(int64_t in, int64_t kernel, int64_t stride, int64_t pad);

#endif
