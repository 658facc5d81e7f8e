/*
 * data/tokenizer_json.c - tokenizer.json, as the `tokenizers` library writes it, where it is one of
 * word pieces; docs/formats.md says what is read and what is refused.
 *
 * Truncation and padding are its user's: they are not looked at.
 */
#include <string.h>

#include "base/alloc.h"
#include "data/json_text.h"
#include "data/wordpiece_parts.h"

enum { MOST_MARKS = 1000, MOST_MARK = 1000, TEMPLATE = 3 };

/* "type" of a part that may be null or missing: "" then. */
static const char *type_of(const json_t *part)
{
    const char *type = json_string_value(json_object_get(part, "type"));

    return type ? type : "";
}

/* true, false, or null, which leaves *out. */
static cull_status take_flag(const char *file, const json_t *object, const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);

    if (!value || json_is_null(value)) return CULL_OK;
    if (!json_is_boolean(value))
        return cull_fail(CULL_BAD_FILE, "%s: \"%s\" is neither true nor false", file, key);
    *out = json_is_true(value);
    return CULL_OK;
}

static cull_status take_normaliser(const char *file, const json_t *root,
                                   cull_wordpiece_rules *rules)
{
    cull_status   status = CULL_OK;
    const json_t *part = json_object_get(root, "normalizer");

    if (strcmp(type_of(part), "BertNormalizer") != 0)
        FAIL(CULL_BAD_FILE, "%s: its normalizer is '%.40s'; BertNormalizer is read", file,
             type_of(part));
    rules->clean = rules->chinese = rules->lower = true;
    TRY(take_flag(file, part, "clean_text", &rules->clean));
    TRY(take_flag(file, part, "handle_chinese_chars", &rules->chinese));
    TRY(take_flag(file, part, "lowercase", &rules->lower));
    rules->accents = rules->lower; /* null: as small letters are made */
    TRY(take_flag(file, part, "strip_accents", &rules->accents));
    part = json_object_get(root, "pre_tokenizer");
    if (strcmp(type_of(part), "BertPreTokenizer") != 0)
        FAIL(CULL_BAD_FILE, "%s: its pre_tokenizer is '%.40s'; BertPreTokenizer is read", file,
             type_of(part));
done:
    return status;
}

/* Numbers are whole and below the most that there may be. */
static cull_status take_number(const char *file, const json_t *value, const char *of, int32_t *out)
{
    json_int_t number = json_integer_value(value);

    if (!json_is_integer(value) || number < 0 || number >= CULL_VOCABULARY_MOST)
        return cull_fail(CULL_BAD_FILE, "%s: the number of '%.40s' is none of 0 to %d", file, of,
                         CULL_VOCABULARY_MOST - 1);
    *out = (int32_t)number;
    return CULL_OK;
}

static cull_status add_pieces(const char *file, json_t *pieces, cull_wordpiece *w)
{
    cull_status       status = CULL_OK;
    const char       *text = NULL;
    json_t           *value = NULL;
    const cull_piece *before = NULL;
    size_t            bytes = 0, at = 0, all = json_object_size(pieces);
    unsigned char    *taken = NULL;

    json_object_foreach(pieces, text, value) bytes += strlen(text);
    TRY(cull_vocabulary_room(&w->pieces, all, bytes));
    TRY(cull_base_alloc(CULL_VOCABULARY_MOST / 8, 1, "a vocabulary", &taken));
    json_object_foreach(pieces, text, value)
    {
        size_t  length = strlen(text);
        int32_t number = 0;

        TRY(take_number(file, value, text, &number));
        if (taken[number / 8] & 1u << number % 8)
            FAIL(CULL_BAD_FILE, "%s: two pieces have the number %d", file, number);
        taken[number / 8] |= (unsigned char)(1u << number % 8);
        memcpy(w->pieces.bytes + at, text, length);
        cull_vocabulary_add(&w->pieces, w->pieces.bytes + at, length, number, &before);
        at += length;
    }
done:
    cull_base_free(taken);
    return status;
}

static cull_status take_model(const char *file, const json_t *root, cull_wordpiece *w)
{
    cull_status   status = CULL_OK;
    const json_t *model = json_object_get(root, "model");
    json_t       *pieces = json_object_get(model, "vocab");
    const char   *type = json_string_value(json_object_get(model, "type"));
    const char   *prefix = json_string_value(json_object_get(model, "continuing_subword_prefix"));
    const char   *unknown = json_string_value(json_object_get(model, "unk_token"));
    uint64_t      most = 100;

    if (!type || strcmp(type, "WordPiece") != 0)
        FAIL(CULL_BAD_FILE, "%s: its model is '%.40s'; WordPiece, BERT's, is read", file,
             type ? type : "");
    if (!json_is_object(pieces)) FAIL(CULL_BAD_FILE, "%s: its model has no \"vocab\"", file);
    if (prefix && strcmp(prefix, "##") != 0)
        FAIL(CULL_BAD_FILE, "%s: pieces inside a word begin with '%.40s'; ## is read", file,
             prefix);
    if (json_object_get(model, "max_input_chars_per_word"))
        TRY(cull_data_json_count(file, model, "max_input_chars_per_word", CULL_WORDPIECE_MOST_WORD,
                                 &most));
    w->rules.most_word = (size_t)most;
    TRY(add_pieces(file, pieces, w));
    w->unknown = cull_wordpiece_find(w, unknown ? unknown : "[UNK]");
    if (w->unknown < 0)
        FAIL(CULL_BAD_FILE, "%s: '%.40s', for words that are not known, is no piece", file,
             unknown ? unknown : "[UNK]");
done:
    return status;
}

/* One that is looked for in normalised text, or takes white space with it, is another thing. */
static cull_status check_added(const char *file, const json_t *added, const char *text)
{
    static const char *const odd[] = {"single_word", "lstrip", "rstrip", "normalized"};
    cull_status              status = CULL_OK;

    if (!text || !*text || strlen(text) > MOST_MARK)
        FAIL(CULL_BAD_FILE, "%s: a token of \"added_tokens\" has no text of 1 to %d bytes", file,
             MOST_MARK);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        bool is = false;

        TRY(take_flag(file, added, odd[i], &is));
        if (is)
            FAIL(CULL_BAD_FILE, "%s: added token '%.40s' is \"%s\", which is not done here", file,
                 text, odd[i]);
    }
done:
    return status;
}

static cull_status add_marks(const char *file, const json_t *root, cull_wordpiece *w)
{
    cull_status   status = CULL_OK;
    const json_t *list = NULL, *added = NULL;
    size_t        bytes = 0;

    if (!json_object_get(root, "added_tokens")) goto done;
    TRY(cull_data_json_list(file, root, "added_tokens", 0, MOST_MARKS, &list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_object_get(json_array_get(list, i), "content"));

        TRY(check_added(file, json_array_get(list, i), text));
        bytes += strlen(text);
    }
    TRY(cull_wordpiece_room(w, json_array_size(list), bytes));
    for (size_t i = 0; i < json_array_size(list); i++) {
        int32_t     number = 0;
        const char *text = NULL;

        added = json_array_get(list, i);
        text = json_string_value(json_object_get(added, "content"));
        TRY(take_number(file, json_object_get(added, "id"), text, &number));
        cull_wordpiece_add(w, text, strlen(text), number);
        if ((size_t)number >= w->pieces.count) w->pieces.count = (size_t)number + 1;
    }
done:
    return status;
}

/* ---- what stands before and behind a text ---- */

static cull_status end_by_name(const char *file, const char *name, const cull_wordpiece *w,
                               int32_t *out)
{
    *out = -1;
    for (size_t m = 0; name && m < w->marks; m++)
        if (w->mark[m].length == strlen(name) &&
            memcmp(w->mark[m].text, name, w->mark[m].length) == 0)
            *out = w->mark[m].number;
    if (name && *out < 0) *out = cull_wordpiece_find(w, name);
    if (*out >= 0) return CULL_OK;
    return cull_fail(CULL_BAD_FILE, "%s: '%.40s', which a text begins or ends with, is no piece",
                     file, name ? name : "");
}

/* The name of a special token in a template; NULL: it is none. */
static const char *special_of(const json_t *step)
{
    return json_string_value(json_object_get(json_object_get(step, "SpecialToken"), "id"));
}

static cull_status take_ends(const char *file, const json_t *root, cull_wordpiece *w)
{
    cull_status   status = CULL_OK;
    const json_t *part = json_object_get(root, "post_processor"), *single = NULL;
    const char   *first = "[CLS]", *last = "[SEP]";

    if (strcmp(type_of(part), "BertProcessing") == 0) {
        first = json_string_value(json_array_get(json_object_get(part, "cls"), 0));
        last = json_string_value(json_array_get(json_object_get(part, "sep"), 0));
    } else if (strcmp(type_of(part), "TemplateProcessing") == 0) {
        TRY(cull_data_json_list(file, part, "single", TEMPLATE, TEMPLATE, &single));
        first = special_of(json_array_get(single, 0));
        last = special_of(json_array_get(single, 2));
        if (!json_object_get(json_array_get(single, 1), "Sequence")) first = NULL;
    } else if (part && !json_is_null(part)) {
        FAIL(CULL_BAD_FILE,
             "%s: its post_processor is '%.40s'; TemplateProcessing and BertProcessing are read",
             file, type_of(part));
    }
    if (!first || !last)
        FAIL(CULL_BAD_FILE, "%s: its post_processor puts no token before and behind a text", file);
    TRY(end_by_name(file, first, w, &w->first));
    TRY(end_by_name(file, last, w, &w->last));
done:
    return status;
}

cull_status cull_tokenizer_json_parse(const cull_data_source *source, cull_wordpiece **out)
{
    cull_status     status = CULL_OK;
    json_t         *root = NULL;
    cull_wordpiece *w = NULL;

    TRY(cull_data_json_read(source, &root));
    TRY(cull_base_alloc(1, sizeof *w, "a tokenizer", &w));
    TRY(take_normaliser(source->name, root, &w->rules));
    TRY(take_model(source->name, root, w));
    TRY(add_marks(source->name, root, w));
    TRY(take_ends(source->name, root, w));
    *out = w;
    w = NULL;
done:
    cull_wordpiece_close(w);
    json_decref(root);
    return status;
}

cull_status cull_tokenizer_config_parse(const cull_data_source *source, cull_wordpiece_rules *rules)
{
    cull_status status = CULL_OK;
    const char *file = source->name;
    json_t     *root = NULL;

    TRY(cull_data_json_read(source, &root));
    TRY(take_flag(file, root, "do_lower_case", &rules->lower));
    rules->accents = rules->lower;
    TRY(take_flag(file, root, "strip_accents", &rules->accents));
    TRY(take_flag(file, root, "tokenize_chinese_chars", &rules->chinese));
done:
    json_decref(root);
    return status;
}
