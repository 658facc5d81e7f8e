/*
 * nn/models/bert.c - BERT with a classifier (Devlin et al. 2019), as transformers'
 * BertForSequenceClassification: sums, then norms; the first position through a layer with tanh
 * to the classifier. Parameters have that library's names.
 *
 * Only the first position of the last block is looked at, so nothing else of it is computed beyond
 * its attention: what comes out, and every gradient, is the same.
 */
#include "nn/models/models.h"

enum { HEAD = 32, INNER = 4 }; /* of transformer-L-W: features of a head, widths of the middle */

/* What is built: the folder's network, or transformer-L-W's. */
struct builder {
    cull_model      *m;
    const cull_bert *of;
    double           dropout;
};

static int dense(const struct builder *b, int x, const char *prefix, const char *part, int64_t out)
{
    cull_model_name name;

    x = cull_model_dense(b->m, x, cull_model_join(&name, prefix, part), &(cull_dense){.out = out});
    if (x <= 0) return x;
    b->m->node[x].init = CULL_INIT_NORMAL;
    b->m->node[x].init_value = CULL_BERT_DEVIATION;
    return x;
}

static int norm(const struct builder *b, int x, const char *prefix, const char *part)
{
    cull_model_name name;

    return cull_model_norm(b->m, x, cull_model_join(&name, prefix, part),
                           &(cull_norm){.over = CULL_NORM_LAYER, .epsilon = b->of->epsilon});
}

static int embeddings(const struct builder *b)
{
    const char      *prefix = "bert.embeddings";
    const cull_bert *of = b->of;
    int              x = cull_model_embed(b->m, 0, "bert.embeddings.word_embeddings",
                                          &(cull_embed){.tokens = of->tokens, .width = of->width});

    if (of->kinds)
        x = cull_model_positions(b->m, x, "bert.embeddings.token_type_embeddings",
                                 &(cull_positions){.rows = of->kinds, .same = true});
    x = cull_model_positions(b->m, x, "bert.embeddings.position_embeddings",
                             &(cull_positions){.rows = of->positions});
    return cull_model_dropout(b->m, norm(b, x, prefix, "LayerNorm"), b->dropout);
}

static int block(const struct builder *b, int x, int number, bool last)
{
    const cull_bert *of = b->of;
    char             prefix[32];
    int              y = 0;

    (void)snprintf(prefix, sizeof prefix, "bert.encoder.layer.%d", number);
    y = dense(b, x, prefix, "attention.self", 3 * of->width);
    if (y > 0) b->m->node[y].parts = "query,key,value";
    y = cull_model_attention(b->m, y, 0,
                             &(cull_attention){.heads = of->heads, .dropout = b->dropout});
    if (last) {
        x = cull_model_take(b->m, x);
        y = cull_model_take(b->m, y);
    }
    y = dense(b, y, prefix, "attention.output.dense", of->width);
    y = cull_model_add(b->m, cull_model_dropout(b->m, y, b->dropout), x);
    x = norm(b, y, prefix, "attention.output.LayerNorm");
    y = dense(b, x, prefix, "intermediate.dense", of->inner);
    y = dense(b, cull_model_activate(b->m, y, of->activation), prefix, "output.dense", of->width);
    y = cull_model_add(b->m, cull_model_dropout(b->m, y, b->dropout), x);
    return norm(b, y, prefix, "output.LayerNorm");
}

static int build(cull_model *m, const cull_bert *of, const cull_model_options *options)
{
    struct builder b = {m, of, options->dropout};
    int            x = embeddings(&b);

    for (int i = 0; i < of->layers && m->trouble == CULL_OK; i++)
        x = block(&b, x, i, i == of->layers - 1);
    x = cull_model_activate(m, dense(&b, x, "bert", "pooler.dense", of->width), CULL_TANH);
    return dense(&b, cull_model_dropout(m, x, b.dropout), "", "classifier",
                 (int64_t)options->classes);
}

int cull_model_bert(cull_model *m, const cull_model_options *options)
{
    return build(m, options->bert, options);
}

int cull_model_transformer(cull_model *m, const cull_model_options *options)
{
    cull_bert of = {.tokens = options->tokens,
                    .width = options->widen,
                    .layers = options->depth,
                    .heads = options->widen / HEAD,
                    .inner = (int64_t)INNER * options->widen,
                    .positions = options->height,
                    .epsilon = options->norm_epsilon,
                    .activation = CULL_GELU};

    return build(m, &of, options);
}
