/* base/options.c - parsing, bounds and lookup of text options. */
#include "base/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/number.h"

struct value {
    const cull_option_spec *spec;
    char                   *text; /* as given, or the default */
    double                  number;
    bool                    given;
};

struct cull_values {
    size_t        count;
    struct value *value;
    char         *description;
};

/* Does a table before number `t` have the key? Then it hides this one's. */
static bool is_hidden(const cull_option_tables *tables, size_t t, const char *key)
{
    for (size_t before = 0; before < t; before++)
        for (const cull_option_spec *spec = tables->table[before]; spec && spec->key; spec++)
            if (strcmp(spec->key, key) == 0) return true;
    return false;
}

const cull_option_spec *cull_base_option_at(const cull_option_tables *tables, size_t i)
{
    for (size_t t = 0; t < CULL_OPTION_TABLES; t++) {
        for (const cull_option_spec *spec = tables->table[t]; spec && spec->key; spec++) {
            if (is_hidden(tables, t, spec->key)) continue;
            if (i == 0) return spec;
            i--;
        }
    }
    return NULL;
}

/* A word that ends so may have a colon and a whole number behind it. */
#define NUMBERED "[:n]"

static bool matches(const char *word, size_t length, const char *text)
{
    size_t tail = sizeof NUMBERED - 1, digits = 0;

    if (length > tail && memcmp(word + length - tail, NUMBERED, tail) == 0) {
        length -= tail;
        if (strncmp(text, word, length) == 0 && text[length] == ':') {
            digits = strspn(text + length + 1, "0123456789");
            return digits > 0 && digits <= 3 && !text[length + 1 + digits];
        }
    }
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* Is `text` one of the words of "a|b|c"? */
static bool is_word(const char *words, const char *text)
{
    for (const char *at = words; at && *at;) {
        size_t word = strcspn(at, "|");
        if (matches(at, word, text)) return true;
        at += word + (at[word] == '|');
    }
    return false;
}

/* What follows a word that ends in a colon; NULL: the text begins with none of those. */
static const char *behind_word(const char *words, const char *text)
{
    for (const char *at = words; at && *at;) {
        size_t word = strcspn(at, "|");

        if (word > 0 && at[word - 1] == ':' && strncmp(at, text, word) == 0) return text + word;
        at += word + (at[word] == '|');
    }
    return NULL;
}

static cull_status parse_number(const char *owner, const cull_option_spec *spec, const char *text,
                                double *out)
{
    cull_status status = CULL_OK;
    bool        whole = spec->type == CULL_OPTION_INT;

    if (!cull_base_read_number(text, out) || (whole && *out != floor(*out)))
        FAIL_ABOUT(CULL_BAD_OPTION, spec->key, "%s: %s=%s is not a%s number%s%s", owner, spec->key,
                   text, whole ? " whole" : "", spec->words ? " nor one of " : "",
                   spec->words ? spec->words : "");
    if (*out < spec->low || *out > spec->high)
        FAIL_ABOUT(CULL_BAD_OPTION, spec->key, "%s: %s=%s is outside %g to %g", owner, spec->key,
                   text, spec->low, spec->high);
done:
    return status;
}

static cull_status check_text(const char *owner, const cull_option_spec *spec, const char *text)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return cull_fail_about(CULL_BAD_OPTION, spec->key, "%s: %s holds a control character",
                                   owner, spec->key);
    return CULL_OK;
}

const char *cull_list_next(const char **rest, size_t *length)
{
    const char *item = *rest;

    *length = 0;
    if (!item) return NULL;
    for (int depth = 0; item[*length] && (depth > 0 || item[*length] != ','); ++*length)
        depth += (item[*length] == '[') - (item[*length] == ']');
    *rest = item[*length] ? item + *length + 1 : NULL;
    return item;
}

/* Of numbers there may be none. */
static const char *items_of(const char *text)
{
    return text[0] ? text : NULL;
}

/* The next number of a list; false at its end. Numbers too long to be any are cut, and fail. */
static bool next_item(const char **rest, char item[64])
{
    size_t      length = 0;
    const char *next = cull_list_next(rest, &length);

    if (next) (void)snprintf(item, 64, "%.*s", (int)(length < 63 ? length : 63), next);
    return next != NULL;
}

static cull_status check_list(const char *owner, const cull_option_spec *spec, const char *text)
{
    cull_status status = CULL_OK;
    const char *at = items_of(text);
    char        item[64];
    double      number = 0;

    while (next_item(&at, item)) TRY(parse_number(owner, spec, item, &number));
done:
    return status;
}

size_t cull_values_list(const cull_values *values, const char *key, double *out, size_t room)
{
    const char *at = items_of(cull_value_text(values, key));
    char        item[64];
    size_t      count = 0;

    while (next_item(&at, item)) {
        if (count < room) (void)cull_base_read_number(item, &out[count]);
        count++;
    }
    return count;
}

static cull_status parse(const char *owner, const cull_option_spec *spec, const char *text,
                         double *number)
{
    cull_status status = CULL_OK;
    const char *behind = NULL;

    switch (spec->type) {
    case CULL_OPTION_BOOL:
        *number = strcmp(text, "true") == 0;
        if (*number == 0 && strcmp(text, "false") != 0)
            FAIL_ABOUT(CULL_BAD_OPTION, spec->key, "%s: %s=%s is neither true nor false", owner,
                       spec->key, text);
        break;
    case CULL_OPTION_CHOICE:
        if (!is_word(spec->words, text))
            FAIL_ABOUT(CULL_BAD_OPTION, spec->key, "%s: %s=%s is not one of %s", owner, spec->key,
                       text, spec->words);
        break;
    case CULL_OPTION_TEXT:
    case CULL_OPTION_LAYERS: TRY(check_text(owner, spec, text)); break;
    case CULL_OPTION_LIST: TRY(check_list(owner, spec, text)); break;
    case CULL_OPTION_INT:
    case CULL_OPTION_REAL:
        behind = behind_word(spec->words, text);
        if (behind || !is_word(spec->words, text))
            TRY(parse_number(owner, spec, behind ? behind : text, number));
        if (behind || is_word(spec->words, text)) *number = NAN;
        break;
    }
done:
    return status;
}

static struct value *find(const cull_values *values, const char *key)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->value[i].spec->key, key) == 0) return &values->value[i];
    return NULL;
}

static cull_status set_text(struct value *value, const char *text)
{
    cull_status status = CULL_OK;
    size_t      bytes = strlen(text) + 1;
    char       *copy = NULL;

    TRY(cull_base_alloc(bytes, 1, "an option", &copy));
    memcpy(copy, text, bytes);
    cull_base_free(value->text);
    value->text = copy;
done:
    return status;
}

static cull_status take(const char *owner, cull_values *values, const cull_option *option)
{
    cull_status   status = CULL_OK;
    struct value *value = NULL;

    if (!option->key || !option->value)
        FAIL(CULL_BAD_OPTION, "%s: an option without a key or a value", owner);
    value = find(values, option->key);
    if (!value)
        FAIL_ABOUT(CULL_UNKNOWN_OPTION, option->key, "%s: no option is called '%s'", owner,
                   option->key);
    if (value->given)
        FAIL_ABOUT(CULL_BAD_OPTION, option->key, "%s: %s is given twice", owner, option->key);
    value->given = true;
    TRY(set_text(value, option->value));
done:
    return status;
}

static cull_status describe(cull_values *values)
{
    cull_status status = CULL_OK;
    size_t      bytes = 1, at = 0;

    for (size_t i = 0; i < values->count; i++)
        bytes += strlen(values->value[i].spec->key) + strlen(values->value[i].text) + 2;
    TRY(cull_base_alloc(bytes, 1, "the options", &values->description));
    for (size_t i = 0; i < values->count; i++)
        at += (size_t)snprintf(values->description + at, bytes - at, "%s%s=%s", i ? " " : "",
                               values->value[i].spec->key, values->value[i].text);
done:
    return status;
}

cull_status cull_values_create(const char *owner, const cull_option_tables *tables,
                               const cull_option *options, size_t count, cull_values **out)
{
    cull_status  status = CULL_OK;
    cull_values *values = NULL;
    size_t       specs = 0;

    while (cull_base_option_at(tables, specs)) specs++;
    TRY(cull_base_alloc(1, sizeof *values, "the options", &values));
    TRY(cull_base_alloc(specs, sizeof *values->value, "the options", &values->value));
    values->count = specs;
    for (size_t i = 0; i < specs; i++) {
        values->value[i].spec = cull_base_option_at(tables, i);
        TRY(set_text(&values->value[i], values->value[i].spec->fallback));
    }
    for (size_t i = 0; i < count; i++) TRY(take(owner, values, &options[i]));
    for (size_t i = 0; i < specs; i++) {
        struct value *value = &values->value[i];
        TRY(parse(owner, value->spec, value->text, &value->number));
    }
    TRY(describe(values));
    *out = values;
    values = NULL;
done:
    cull_values_destroy(values);
    return status;
}

cull_status cull_values_check(const char *owner, const cull_option_tables *tables,
                              const cull_option *option)
{
    cull_status             status = CULL_OK;
    const cull_option_spec *spec = NULL;

    for (size_t i = 0; (spec = cull_base_option_at(tables, i)); i++)
        if (strcmp(spec->key, option->key) == 0) break;
    if (!spec)
        FAIL_ABOUT(CULL_UNKNOWN_OPTION, option->key, "%s: no option is called '%s'", owner,
                   option->key);
    TRY(parse(owner, spec, option->value, &(double){0}));
done:
    return status;
}

void cull_values_destroy(cull_values *values)
{
    if (!values) return;
    for (size_t i = 0; i < values->count; i++) cull_base_free(values->value[i].text);
    cull_base_free(values->value);
    cull_base_free(values->description);
    cull_base_free(values);
}

/* The value behind a text of this option: 0.3 and 0.30 are one. */
static uint64_t hash_text(const cull_option_spec *spec, const char *text)
{
    uint64_t    part[2] = {0};
    bool        numeric = spec->type == CULL_OPTION_INT || spec->type == CULL_OPTION_REAL;
    const char *at = items_of(text);
    char        item[64];
    double      number = 0;

    if (numeric && cull_base_read_number(text, &number)) {
        number += 0; /* one zero, not two */
        return cull_base_hash(&number, sizeof number);
    }
    if (spec->type != CULL_OPTION_LIST) return cull_base_hash(text, strlen(text));
    while (next_item(&at, item)) {
        (void)cull_base_read_number(item, &number);
        number += 0;
        part[1] = cull_base_hash(&number, sizeof number);
        part[0] = cull_base_hash(part, sizeof part);
    }
    return part[0];
}

uint64_t cull_values_hash(const cull_values *values)
{
    uint64_t part[3] = {0};

    for (size_t i = 0; i < values->count; i++) {
        const struct value *value = &values->value[i];

        part[1] = cull_base_hash(value->spec->key, strlen(value->spec->key));
        part[2] = hash_text(value->spec, value->text);
        part[0] = cull_base_hash(part, sizeof part);
    }
    return part[0];
}

bool cull_values_given(const cull_values *values, const char *key)
{
    const struct value *value = find(values, key);

    return value && value->given &&
           hash_text(value->spec, value->text) != hash_text(value->spec, value->spec->fallback);
}

bool cull_values_has(const cull_values *values, const char *key)
{
    return find(values, key) != NULL;
}

const char *cull_values_describe(const cull_values *values)
{
    return values->description;
}

double cull_value_real(const cull_values *values, const char *key)
{
    const struct value *value = find(values, key);
    return value ? value->number : NAN;
}

int64_t cull_value_int(const cull_values *values, const char *key)
{
    double number = cull_value_real(values, key);

    if (!(fabs(number) < 0x1p63)) return number < 0 ? INT64_MIN : number > 0 ? INT64_MAX : 0;
    return (int64_t)number;
}

bool cull_value_bool(const cull_values *values, const char *key)
{
    return cull_value_int(values, key) != 0;
}

const char *cull_value_text(const cull_values *values, const char *key)
{
    const struct value *value = find(values, key);
    return value ? value->text : "";
}

bool cull_value_is(const cull_values *values, const char *key, const char *word)
{
    return strcmp(cull_value_text(values, key), word) == 0;
}
