/*
 * nn/layer_list.h - a network as a list of layers, the way recipes write it.
 *
 *     conv: {channels: 16, kernel: 3}, relu, residual: [conv: {...}, batchnorm], flatten, dense
 *
 * A list says nothing of shapes: a model is built from it for the inputs that the data has. Layers
 * are counted from 0, as torch.nn.Sequential counts them, and so are those inside of a layer:
 * model.layers[2][1] is the batchnorm above. A layer with weights that has no name of its own is
 * called by that place, "2.1", so that its tensors are those of a torch.nn.Sequential.
 */
#ifndef CULL_NN_LAYER_LIST_H
#define CULL_NN_LAYER_LIST_H

#include "base/options.h"
#include "nn/nn.h"

#define CULL_LIST_KEY "model.layers"

enum {
    CULL_LIST_LAYERS = 1000, /* most layers and branches of a list */
    CULL_LIST_DEPTH = 9,     /* most lists inside each other       */
    CULL_LIST_OPTIONS = 12,  /* more than any layer has            */
    CULL_LIST_VALUE = 80     /* room for a value                   */
};

/* What a layer holds besides options. */
typedef enum cull_list_held {
    CULL_LIST_NOTHING,
    CULL_LIST_ROAD,
    CULL_LIST_BRANCHES
} cull_list_held;

/* What recipes call a layer, what it takes, and how it joins a model. */
typedef struct cull_list_kind {
    const char             *name, *doc;
    const cull_option_spec *option; /* a NULL key ends it; an option whose default is empty, but
                                       for texts, is needed                                       */
    const char    *alone; /* the option that is meant by a value without a name, or NULL */
    cull_list_held holds;
    bool           ends; /* may be the last layer: its width is then the data's */
    /* What its numbers alone tell; `owner` begins the sentence. NULL: nothing. */
    cull_status (*check)(const char *owner, const cull_values *values);
    /* The node that reads x, or -1 as in cull_model_conv(). `outputs` is the last layer's width
     * where none is given. NULL: it joins the ends of what it holds, by `join`. */
    int (*add)(cull_model *model, int x, const char *name, const cull_values *values,
               int64_t outputs);
    int (*join)(cull_model *model, int x, int x2);
} cull_list_kind;

/* Every kind, i = 0, 1, ... until NULL; and by its name, or NULL. */
const cull_list_kind *cull_nn_list_kind_at(size_t i);
const cull_list_kind *cull_nn_list_kind(const char *name);
/* An option of it, or NULL. */
const cull_option_spec *cull_nn_list_option(const cull_list_kind *kind, const char *key);

typedef struct cull_listed {
    const cull_list_kind *kind; /* NULL: a branch of the layer that holds it      */
    cull_values          *values;
    int                   depth; /* 0: in the list; what it holds follows, at + 1 */
    unsigned long         line;  /* where it was written                           */
} cull_listed;

typedef struct cull_layer_list {
    size_t       count, room;
    cull_listed *layer;
} cull_layer_list;

/* Begin a layer, or with kind NULL a branch; CULL_BAD_OPTION when there are too many, or
 * when it lies too deep. */
cull_status cull_nn_list_begin(cull_layer_list *list, const cull_list_kind *kind, int depth,
                               unsigned long line);
/* What is given to a layer, each value in one form; zeros but for the kind to begin with. */
typedef struct cull_list_given {
    const cull_list_kind *kind;
    size_t                count;
    cull_option           option[CULL_LIST_OPTIONS];
    char                  value[CULL_LIST_OPTIONS][CULL_LIST_VALUE];
} cull_list_given;

/* Check an option and add it; `owner` begins the sentence of a CULL_BAD_OPTION. */
cull_status cull_nn_list_give(cull_list_given *given, const char *owner, const char *key,
                              const char *value);
/* The layer begun last has these options. CULL_BAD_OPTION where one lacks or two contradict each
 * other. */
cull_status cull_nn_list_set(cull_layer_list *list, const char *owner, cull_list_given *given);
void        cull_nn_list_clear(cull_layer_list *list);

/* Numbers of a layer and of those that hold it, from the outside in; returns how many. */
int cull_nn_list_find(const cull_layer_list *list, size_t i, size_t out[CULL_LIST_DEPTH]);
/* "model.layers[2][1], batchnorm", for sentences. */
void cull_nn_list_place(const cull_layer_list *list, size_t i, char out[CULL_MODEL_PLACE]);
/* The name that was given to a layer, or "". */
const char *cull_nn_list_name(const cull_listed *layer);

/* A layer with what it holds, and the whole list, in YAML's flow form: options in the order of
 * their table, numbers in one form, nothing that stands at its default. */
cull_status cull_nn_list_put(const cull_layer_list *list, size_t i, cull_writer *out);
cull_status cull_nn_list_text(const cull_layer_list *list, cull_writer *out);
/* The layer behind this one and all it holds. */
size_t cull_nn_list_next(const cull_layer_list *list, size_t i);

/*
 * The network for these inputs, called "layers", with so many classes.
 *
 * CULL_BAD_OPTION, about model.layers, names the layer that does not fit what it is given, or the
 * last one where its width is another.
 */
cull_status cull_nn_model_by_list(const cull_layer_list *list, const cull_model_options *options,
                                  cull_model **out);

#endif
