/* records/card.c - inputs and outputs as texts of a file's metadata, and back. */
#include "records/card.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tensor/tensor.h"

#define SHAPE  "cull.input"
#define DTYPE  "cull.dtype"
#define PIECES "cull.vocabulary"
#define TARGET "cull.target"
#define COUNT  "cull.outputs"
#define MEAN   "cull.mean"
#define SPREAD "cull.deviation"
#define NAMES  "cull.classes"
#define INPUTS "cull.features"
#define LABELS "cull.labels"
#define MIDDLE "cull.target_mean"
#define WIDTH  "cull.target_deviation"

static const char *const targets[] = {
    [CULL_TARGET_CLASS] = "class", [CULL_TARGET_CLASSES] = "classes", [CULL_TARGET_REAL] = "real"};
enum { TARGETS = sizeof targets / sizeof *targets };

/* An array of JSON as a text of it: metadata holds no other values. */
static void put_array(cull_json *json, const char *key, const double *number,
                      const cull_texts *texts, size_t count)
{
    cull_json array = {0};

    cull_json_open(&array, NULL, '[');
    for (size_t i = 0; i < count; i++) {
        if (number)
            cull_json_number(&array, NULL, number[i]);
        else
            cull_json_text(&array, NULL, texts->text[i]);
    }
    cull_json_close(&array, ']');
    if (array.status == CULL_OK) array.status = cull_write(&array.bytes, "", 1);
    if (json->status == CULL_OK) json->status = array.status;
    if (json->status == CULL_OK) cull_json_text(json, key, (const char *)array.bytes.data);
    cull_json_clear(&array);
}

void cull_card_put(cull_json *json, const cull_card *card)
{
    char text[80];

    if (card->channels == 0 || card->channels > CULL_CARD_MOST) return;
    (void)snprintf(text, sizeof text, "%zux%zux%zu", card->channels, card->height, card->width);
    cull_json_text(json, SHAPE, text);
    cull_json_text(json, DTYPE, cull_dtype_name(card->dtype));
    if (card->vocabulary) {
        (void)snprintf(text, sizeof text, "%zu", card->vocabulary);
        cull_json_text(json, PIECES, text);
    }
    cull_json_text(json, TARGET, targets[card->target]);
    (void)snprintf(text, sizeof text, "%zu", card->outputs);
    cull_json_text(json, COUNT, text);
    put_array(json, MEAN, card->mean, NULL, card->channels);
    put_array(json, SPREAD, card->deviation, NULL, card->channels);
    if (card->target_mean) {
        put_array(json, MIDDLE, card->target_mean, NULL, card->outputs);
        put_array(json, WIDTH, card->target_deviation, NULL, card->outputs);
    }
    if (card->class_names.count)
        put_array(json, NAMES, NULL, &card->class_names, card->class_names.count);
    if (card->feature_names.count)
        put_array(json, INPUTS, NULL, &card->feature_names, card->feature_names.count);
    if (card->label_names.count)
        put_array(json, LABELS, NULL, &card->label_names, card->label_names.count);
}

static cull_status complain(const char *path, const char *key)
{
    return cull_fail(CULL_BAD_FILE, "%s: '%s' in its metadata is not as cull writes it", path, key);
}

static cull_status parse_array(const char *path, const json_t *metadata, const char *key,
                               size_t count, json_t **out)
{
    const char *text = cull_records_word(metadata, key);

    *out = json_loads(text, 0, NULL);
    if (json_is_array(*out) && (count == SIZE_MAX || json_array_size(*out) == count))
        return CULL_OK;
    return complain(path, key);
}

static cull_status take_numbers(const char *path, const json_t *metadata, const char *key,
                                size_t count, double **out)
{
    cull_status status = CULL_OK;
    json_t     *array = NULL;

    TRY(parse_array(path, metadata, key, count, &array));
    TRY(cull_base_alloc(count, sizeof **out, "normalisation", out));
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        (*out)[i] = json_number_value(value);
        if (!json_is_number(value) || !isfinite((*out)[i])) TRY(complain(path, key));
    }
done:
    json_decref(array);
    return status;
}

/* Means and deviations, which are above 0. */
static cull_status take_constants(const char *path, const json_t *metadata, const char *mean_key,
                                  const char *deviation_key, size_t count, double **mean,
                                  double **deviation)
{
    cull_status status = CULL_OK;

    TRY(take_numbers(path, metadata, mean_key, count, mean));
    TRY(take_numbers(path, metadata, deviation_key, count, deviation));
    for (size_t i = 0; i < count; i++)
        if ((*deviation)[i] <= 0) TRY(complain(path, deviation_key));
done:
    return status;
}

/* count SIZE_MAX: however many there are. */
static cull_status take_names(const char *path, const json_t *metadata, const char *key,
                              size_t count, cull_texts *out)
{
    cull_status status = CULL_OK;
    json_t     *array = NULL;

    if (!json_object_get(metadata, key)) goto done;
    TRY(parse_array(path, metadata, key, count, &array));
    count = json_array_size(array);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(array, i));
        if (!name) TRY(complain(path, key));
        TRY(cull_texts_add(out, name, strlen(name)));
    }
done:
    json_decref(array);
    return status;
}

/* "3x32x32": `count` numbers above 0, of at most 7 digits. */
static bool take_product(const char *text, size_t count, size_t *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t digits = strspn(text, "0123456789");

        if (digits < 1 || digits > 7 || text[digits] != (i + 1 < count ? 'x' : '\0')) return false;
        out[i] = (size_t)strtoul(text, NULL, 10);
        if (out[i] == 0) return false;
        text += digits + 1;
    }
    return true;
}

static cull_status take_sizes(const char *path, const json_t *metadata, cull_card *out)
{
    cull_status status = CULL_OK;
    const char *dtype = cull_records_word(metadata, DTYPE);
    const char *target = cull_records_word(metadata, TARGET);
    size_t      kind = 0, shape[3] = {0};

    if (!take_product(cull_records_word(metadata, SHAPE), 3, shape) || shape[0] > CULL_CARD_MOST)
        TRY(complain(path, SHAPE));
    if (!take_product(cull_records_word(metadata, COUNT), 1, &out->outputs))
        TRY(complain(path, COUNT));
    out->channels = shape[0];
    out->height = shape[1];
    out->width = shape[2];
    out->dtype = strcmp(dtype, cull_dtype_name(CULL_U8)) == 0    ? CULL_U8
                 : strcmp(dtype, cull_dtype_name(CULL_I32)) == 0 ? CULL_I32
                                                                 : CULL_F32;
    if (strcmp(dtype, cull_dtype_name(out->dtype)) != 0) TRY(complain(path, DTYPE));
    if (out->dtype == CULL_I32 &&
        !take_product(cull_records_word(metadata, PIECES), 1, &out->vocabulary))
        TRY(complain(path, PIECES));
    while (kind < TARGETS && strcmp(target, targets[kind]) != 0) kind++;
    if (kind == TARGETS) TRY(complain(path, TARGET));
    out->target = (cull_target_kind)kind;
done:
    return status;
}

cull_status cull_card_take(const char *path, const json_t *metadata, cull_card *out)
{
    cull_status status = CULL_OK;
    cull_card   card = {0};

    if (!json_object_get(metadata, SHAPE)) goto done;
    TRY(take_sizes(path, metadata, &card));
    TRY(take_constants(path, metadata, MEAN, SPREAD, card.channels, &card.mean, &card.deviation));
    if (json_object_get(metadata, MIDDLE))
        TRY(take_constants(path, metadata, MIDDLE, WIDTH, card.outputs, &card.target_mean,
                           &card.target_deviation));
    TRY(take_names(path, metadata, NAMES, card.outputs, &card.class_names));
    TRY(take_names(path, metadata, INPUTS, card.channels, &card.feature_names));
    TRY(take_names(path, metadata, LABELS, SIZE_MAX, &card.label_names));
    *out = card;
    card = (cull_card){0};
done:
    cull_card_clear(&card);
    return status;
}

static cull_status copy_numbers(const double *from, size_t count, double **out)
{
    cull_status status = CULL_OK;

    TRY(cull_base_alloc(count, sizeof **out, "normalisation", out));
    memcpy(*out, from, count * sizeof **out);
done:
    return status;
}

cull_status cull_card_copy(const cull_card *card, cull_card *out)
{
    cull_status status = CULL_OK;

    *out = *card;
    out->mean = out->deviation = out->target_mean = out->target_deviation = NULL;
    out->class_names = out->feature_names = out->label_names = (cull_texts){0};
    TRY(copy_numbers(card->mean, card->channels, &out->mean));
    TRY(copy_numbers(card->deviation, card->channels, &out->deviation));
    if (card->target_mean) TRY(copy_numbers(card->target_mean, card->outputs, &out->target_mean));
    if (card->target_mean)
        TRY(copy_numbers(card->target_deviation, card->outputs, &out->target_deviation));
    TRY(cull_texts_copy(&out->class_names, &card->class_names));
    TRY(cull_texts_copy(&out->feature_names, &card->feature_names));
    TRY(cull_texts_copy(&out->label_names, &card->label_names));
done:
    if (status != CULL_OK) cull_card_clear(out);
    return status;
}

void cull_card_clear(cull_card *card)
{
    cull_base_free(card->mean);
    cull_base_free(card->deviation);
    cull_base_free(card->target_mean);
    cull_base_free(card->target_deviation);
    cull_texts_clear(&card->class_names);
    cull_texts_clear(&card->feature_names);
    cull_texts_clear(&card->label_names);
    *card = (cull_card){0};
}

/* ---- fitting ---- */

#define NEAR .01 /* of a deviation: results hardly change by as much */
#define REST "; name examples that were not trained on by data.test"

struct fitting {
    const char *weights, *set;
};

static cull_status fit_names(const struct fitting *f, const char *what, const cull_texts *was,
                             const cull_texts *is)
{
    for (size_t i = 0; i < was->count && i < is->count; i++)
        if (strcmp(was->text[i], is->text[i]) != 0)
            return cull_fail(
                CULL_BAD_ARGUMENT,
                "%s: %s %zu of %s is '%.64s', but the weights were trained on '%.64s'" REST,
                f->weights, what, i, f->set, is->text[i], was->text[i]);
    return CULL_OK;
}

static cull_status fit_constants(const struct fitting *f, const char *what, size_t count,
                                 const double *mean[2], const double *deviation[2])
{
    for (size_t i = 0; i < count && mean[0] && mean[1]; i++) {
        double most = NEAR * deviation[0][i];

        if (fabs(mean[0][i] - mean[1][i]) > most || fabs(deviation[0][i] - deviation[1][i]) > most)
            return cull_fail(CULL_BAD_ARGUMENT,
                             "%s: %s %zu of %s has mean %.4g and deviation %.4g, but the weights "
                             "were trained with mean %.4g and deviation %.4g" REST,
                             f->weights, what, i, f->set, mean[1][i], deviation[1][i], mean[0][i],
                             deviation[0][i]);
    }
    return CULL_OK;
}

cull_status cull_card_fit(const char *weights, const cull_card *was, const char *set,
                          const cull_card *is)
{
    cull_status    status = CULL_OK;
    struct fitting f = {weights, set};
    const double  *mean[2] = {was->mean, is->mean}, *scale[2] = {was->deviation, is->deviation};
    const double  *middle[2] = {was->target_mean, is->target_mean};
    const double  *width[2] = {was->target_deviation, is->target_deviation};

    if (was->channels != is->channels || was->outputs != is->outputs) goto done;
    TRY(fit_names(&f, "class", &was->class_names, &is->class_names));
    TRY(fit_names(&f, "feature", &was->feature_names, &is->feature_names));
    TRY(fit_names(&f, "label", &was->label_names, &is->label_names));
    TRY(fit_constants(&f, "channel", was->channels, mean, scale));
    TRY(fit_constants(&f, "target", was->outputs, middle, width));
done:
    return status;
}
