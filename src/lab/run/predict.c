/*
 * lab/run/predict.c - what saved weights say of a set.
 *
 * Examples go through the network as they lie in their set, in batches of one size, so that what
 * is said of one does not depend on how many there are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "data/adopt_names.h"
#include "data/format.h"
#include "lab/recipe/recipe.h"
#include "train/network/network.h"

enum { AT_ONCE = 256 };

/* Room for the examples of one batch, and for what is said of them. */
struct room {
    char        *inputs;
    float       *output;
    int32_t     *best;
    const char **name;
};

static void clear_room(struct room *r)
{
    cull_base_free(r->inputs);
    cull_base_free(r->output);
    cull_base_free(r->best);
    cull_base_free(r->name);
}

static cull_status make_room(const cull_dataset *set, size_t outputs, struct room *r)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(AT_ONCE, cull_data_row_bytes(set), "examples to predict", &r->inputs));
    TRY(cull_base_alloc(AT_ONCE * outputs, sizeof *r->output, "predictions", &r->output));
    TRY(cull_base_alloc(AT_ONCE, sizeof *r->best, "predictions", &r->best));
    TRY(cull_base_alloc(AT_ONCE, sizeof *r->name, "predictions", &r->name));
done:
    return status;
}

/* Who trains on pictures that were made one size beforehand need not know how that is asked for. */
static void say_size(const cull_dataset *set, const cull_card *card, char out[80])
{
    bool square = card->height == card->width && card->dtype == CULL_U8 && set->dtype == CULL_U8 &&
                  set->channels == card->channels;

    out[0] = '\0';
    if (square && cull_data_name_at(set, 0))
        (void)snprintf(out, 80, "; data.size=%zu makes pictures so", card->width);
}

static cull_status check_set(const cull_dataset *set, const cull_card *card)
{
    cull_status status = CULL_OK;
    char        size[80];

    say_size(set, card, size);
    if (set->channels != card->channels || set->height != card->height ||
        set->width != card->width || set->dtype != card->dtype)
        FAIL(CULL_BAD_ARGUMENT,
             "%s: examples of %zux%zux%zu %s, but the network was trained on %zux%zux%zu %s%s",
             set->name, set->channels, set->height, set->width, cull_dtype_name(set->dtype),
             card->channels, card->height, card->width, cull_dtype_name(card->dtype), size);
    if (set->vocabulary != card->vocabulary)
        FAIL(CULL_BAD_ARGUMENT,
             "%s: tokens of %zu pieces, but the network was trained on those of %zu", set->name,
             set->vocabulary, card->vocabulary);
done:
    return status;
}

static void find_best(const float *output, size_t count, size_t outputs, int32_t *best)
{
    for (size_t i = 0; i < count; i++) {
        const float *row = output + i * outputs;
        best[i] = 0;
        for (size_t k = 1; k < outputs; k++)
            if (row[k] > row[best[i]]) best[i] = (int32_t)k;
    }
}

static cull_status read_rows(const cull_dataset *set, size_t from, size_t count, struct room *r)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_data_row_bytes(set);
    const void *row = NULL;

    for (size_t i = 0; i < count; i++) {
        char *to = r->inputs + i * bytes;
        TRY(cull_data_row_at(set, from + i, to, &row));
        if (row != to) memcpy(to, row, bytes);
        r->name[i] = cull_data_name_at(set, from + i);
    }
done:
    return status;
}

/* Softmax for one class, numbers as they are for reals. */
static cull_status say(cull_network *n, const cull_dataset *set, size_t count, struct room *r)
{
    cull_tensor inputs =
        cull_images(r->inputs, set->dtype, count, set->channels, set->height, set->width);
    bool real = n->card.target == CULL_TARGET_REAL;

    return cull_network_predict(n, &inputs, real ? r->output : NULL, real ? NULL : r->output);
}

static cull_status predict(cull_network *n, cull_dataset                      *set,
                           bool (*tell)(void *, const cull_predicted *), void *context)
{
    cull_status    status = CULL_OK;
    struct room    room = {0};
    bool           more = true;
    cull_predicted some = {.outputs = n->model->classes, .target = n->card.target};
    bool           real = some.target == CULL_TARGET_REAL;

    const cull_texts *names = real ? &n->card.label_names : &n->card.class_names;

    TRY(check_set(set, &n->card));
    TRY(cull_data_match_features(set, &n->card.feature_names));
    TRY(make_room(set, some.outputs, &room));
    if (names->count == some.outputs) some.class_name = (const char *const *)names->text;
    some.output = room.output;
    some.best = room.best;
    some.warning = (const char *const *)set->remarks.text;
    some.warnings = set->remarks.count;
    for (; more && some.from < set->count; some.from += some.count) {
        some.count = set->count - some.from < AT_ONCE ? set->count - some.from : AT_ONCE;
        TRY(read_rows(set, some.from, some.count, &room));
        TRY(say(n, set, some.count, &room));
        find_best(room.output, some.count, some.outputs, room.best);
        some.name = room.name[0] ? room.name : NULL;
        more = tell(context, &some);
    }
done:
    clear_room(&room);
    return status;
}

/* What these files could be asked for. */
static unsigned takes_of(const char *name)
{
    const cull_data_format *format = cull_data_is_known(name) ? NULL : cull_data_format_of(name);

    return format ? format->takes : 0;
}

/* What the caller leaves open is as the network was trained, where these files have a use for it:
 * who learned from pictures may be shown arrays. Labels are nobody's concern. */
static cull_data_request complete(const cull_data_request *asked, const cull_data_request *trained)
{
    cull_data_request r = *asked;
    unsigned          takes = takes_of(r.name);

    if (!r.root) r.root = trained->root;
    if (takes & CULL_DATA_TAKES_LAYOUT && r.layout == CULL_LAYOUT_TOLD) r.layout = trained->layout;
    if (takes & CULL_DATA_TAKES_SIDE && !r.side) {
        r.side = trained->side;
        r.fit = trained->fit;
    }
    if (takes & CULL_DATA_TAKES_MISSING && r.missing == CULL_MISSING_REFUSED)
        r.missing = trained->missing;
    if (!r.text) r.text = trained->text;
    if (!r.tokenizer) r.tokenizer = trained->tokenizer;
    r.target = takes & CULL_DATA_TAKES_TARGET ? trained->target : CULL_TARGET_CLASS;
    r.unlabelled = true;
    return r;
}

/* Texts become as many tokens as were trained on; what is stored as tokens is that already. */
static void fit_texts(const cull_card *card, cull_data_request *r)
{
    unsigned takes = takes_of(r->name);
    bool     texts = takes & CULL_DATA_TAKES_PIECES;

    if (!texts || !card->vocabulary) r->tokenizer = NULL;
    if (!(takes & CULL_DATA_TAKES_TEXT) || !card->vocabulary) r->text = NULL;
    r->length = texts && card->vocabulary ? card->height : 0;
}

/* A table is written in numbers as the one that was trained on was: by a set that says what the
 * card says, and holds nothing. */
static cull_status open_like(const cull_data_request *request, const cull_card *card,
                             cull_dataset **out)
{
    cull_dataset like = {.classes = card->outputs,
                         .channels = card->channels,
                         .height = card->height,
                         .width = card->width,
                         .dtype = card->dtype,
                         .vocabulary = card->vocabulary,
                         .target = {.kind = card->target, .width = card->outputs},
                         .mean = card->mean,
                         .deviation = card->deviation,
                         .class_names = card->class_names,
                         .feature_names = card->feature_names,
                         .label_names = card->label_names};

    bool texts =
        card->vocabulary && request->tokenizer && takes_of(request->name) & CULL_DATA_TAKES_TEXT;

    if (!card->feature_names.count && !texts) return cull_data_open(request, out);
    return cull_data_open_test(request, &like, out);
}

/* Training asked for what these files have no use for, and nobody else did: they say themselves
 * where their channels are, or what of them is a picture. */
static bool let_go(const cull_data_request *asked, cull_data_request *r)
{
    const char *subject = cull_last_subject();
    bool        layout = strcmp(subject, "data.layout") == 0 && r->layout != asked->layout;
    bool        side = strcmp(subject, "data.size") == 0 && r->side != asked->side;

    if (layout) r->layout = asked->layout;
    if (side) r->side = asked->side;
    if (side) r->fit = asked->fit;
    return layout || side;
}

cull_status cull_predict_set(const cull_recipe *recipe, const char *weights,
                             const cull_data_request *data,
                             bool (*tell)(void *context, const cull_predicted *some), void *context)
{
    cull_status       status = CULL_OK;
    cull_network     *network = NULL;
    cull_dataset     *set = NULL;
    cull_data_request data_room, request;

    SIZED(cull_data_request, data, data_room);
    request = complete(data, &recipe->setup.files);
    TRY(cull_network_open(recipe, weights, &network));
    fit_texts(&network->card, &request);
    if (!request.channels) request.channels = network->card.channels;
    status = open_like(&request, &network->card, &set);
    while (status == CULL_BAD_OPTION && let_go(data, &request))
        status = open_like(&request, &network->card, &set);
    TRY(status);
    TRY(predict(network, set, tell, context));
done:
    cull_data_close(set);
    cull_network_destroy(network);
    return status;
}
