/* nn/graph.h - what the layer files share while a model is built. */
#ifndef CULL_NN_GRAPH_H
#define CULL_NN_GRAPH_H

#include "base/sized.h"
#include "nn/nn.h"

/* Add a node prepared by a layer file: class, inputs, name and desc set. Runs class->shape, lays
 * out the parameters, copies the node. Its number, or -1 with model->trouble set. */
int cull_nn_graph_add(cull_model *model, const cull_node *node, const char *name);

/* What sentences about the layer that is being added begin with: "small: node 3, conv2", or the
 * place that the model was told. */
enum { CULL_GRAPH_PLACE = 128 };
void cull_nn_graph_place(const cull_model *model, const char *name, char out[CULL_GRAPH_PLACE]);

/* Keep the first failure of building and the sentence behind it. */
void cull_nn_graph_trouble(cull_model *model, cull_status status);

/* May the model be added to? And a layer of this name? If not, that is kept. */
bool cull_nn_graph_open(cull_model *model);
bool cull_nn_graph_takes(cull_model *model, const char *name);

/* CULL_MOST_POOL: the place of a maximum is one byte. */
enum { CULL_MOST_SIDE = 1 << 12, CULL_MOST_CHANNELS = 1 << 24, CULL_MOST_POOL = 15 };

/* Sizes before anything is multiplied: of a weight, `taps` for each pair of channels; of a window.
 */
cull_status cull_nn_graph_weight(const cull_model *model, int x, const char *name, int64_t out,
                                 double taps, int init);
cull_status cull_nn_graph_check_window(const cull_model *model, cull_window height,
                                       cull_window width);

/* A node of one or two inputs to begin with. */
cull_node cull_nn_graph_node(const cull_node_class *class, cull_layer_kind kind, int x, int x2);

/* What the two axes of a window are, zeros made the usual choice: height, then width. */
void cull_nn_graph_window(cull_layer_desc *desc, cull_window height, cull_window width);

/* Output extents of the window over `in`; 0 where it does not fit. Every number of the window is
 * small enough to be multiplied. */
void cull_nn_graph_slide(cull_layer_desc *desc, const cull_image *in);

/* "stride 1x2", or one number where both axes agree. Returns its length. */
int cull_nn_graph_axes(char *out, size_t room, const char *what, const int64_t number[2]);

enum { CULL_WINDOW_TEXT = 128 };

/* "3x5, stride 1, padding 1x2, dilation 2", for sentences; the kernel in full. */
void cull_nn_graph_window_text(const cull_layer_desc *desc, char out[CULL_WINDOW_TEXT]);

#endif
