/*
 * data/npy.c - reading and writing .npy, as docs/formats.md says.
 *
 * Reading: magic, version, length, then a Python dict literal of three keys, then the
 * elements. Everything is checked before anything of the promised size is allocated.
 */
#include "data/npy.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/npy_form.h"
#include "tensor/tensor.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are copied as they lie");

enum { MAGIC = 6, PREFIX = 10, MOST_TEXT = 1 << 16, BORDER = 64, SOME = 1024 };

static const char *const codes[] = {[CULL_F32] = "f4", [CULL_F64] = "f8", [CULL_I32] = "i4",
                                    [CULL_I64] = "i8", [CULL_U8] = "u1",  [CULL_BF16] = NULL};

static const char     magic[] = "\x93NUMPY";
static const uint64_t most_bytes = (uint64_t)1 << 62;

/* The header text being read, and what it has said so far. */
struct header {
    const char *name; /* of the file */
    const char *begin, *next, *end;
    bool        has[3]; /* of keys[] */
    bool        fortran;
    cull_tensor view;    /* dtype: as it will be in memory */
    bool        texts;   /* texts are wanted, and nothing else */
    int64_t     letters; /* of each text */

    const cull_npy_form *form;
};

bool cull_data_npy_begins(const unsigned char *bytes, size_t count)
{
    return count >= MAGIC && memcmp(bytes, magic, MAGIC) == 0;
}

static void skip_space(struct header *h)
{
    while (h->next < h->end && (*h->next == ' ' || (*h->next >= '\t' && *h->next <= '\r')))
        h->next++;
}

/* Is c next, spaces aside? Then step over it. */
static bool take(struct header *h, char c)
{
    skip_space(h);
    if (h->next == h->end || *h->next != c) return false;
    h->next++;
    return true;
}

static cull_status expect(struct header *h, char c)
{
    if (take(h, c)) return CULL_OK;
    return cull_fail(CULL_BAD_FILE, "%s: the header lacks a '%c' at its character %td", h->name, c,
                     h->next - h->begin);
}

/* A quoted string without escapes; it stays where it is. */
static cull_status take_string(struct header *h, const char **text, size_t *length)
{
    cull_status status = CULL_OK;
    char        quote = '\'';

    if (!take(h, quote)) {
        quote = '"';
        if (!take(h, quote)) FAIL(CULL_BAD_FILE, "%s: the header lacks a quoted word", h->name);
    }
    *text = h->next;
    while (h->next < h->end && *h->next != quote && *h->next != '\\' && *h->next != '\n') h->next++;
    if (h->next == h->end || *h->next != quote)
        FAIL(CULL_BAD_FILE, "%s: a quoted word in the header does not end", h->name);
    *length = (size_t)(h->next - *text);
    h->next++;
done:
    return status;
}

/* "<U12": texts of 12 characters, each a number of 4 bytes. */
static cull_status parse_texts(struct header *h, const char *text, size_t length)
{
    h->letters = 0;
    for (size_t i = 2; i < length && h->letters <= CULL_DATA_NPY_LETTERS; i++)
        h->letters = text[i] >= '0' && text[i] <= '9' ? 10 * h->letters + (text[i] - '0')
                                                      : CULL_DATA_NPY_LETTERS + 1;
    if (length < 3 || (text[0] != '<' && text[0] != '=') || text[1] != 'U' || h->letters < 1 ||
        h->letters > CULL_DATA_NPY_LETTERS)
        return cull_fail(CULL_BAD_FILE, "%s: elements of type '%.*s'; texts of up to %d are wanted",
                         h->name, length < 32 ? (int)length : 32, text, CULL_DATA_NPY_LETTERS);
    h->form = cull_data_npy_form("<i4", 3);
    h->view.dtype = h->form->dtype;
    return CULL_OK;
}

static cull_status parse_descr(struct header *h)
{
    cull_status status = CULL_OK;
    const char *text = NULL;
    size_t      length = 0;

    skip_space(h);
    if (h->next < h->end && *h->next == '[')
        FAIL(CULL_BAD_FILE, "%s: an array of records; only plain numbers are read", h->name);
    TRY(take_string(h, &text, &length));
    if (length >= 2 && text[1] == 'O')
        FAIL(CULL_BAD_FILE, "%s: an array of Python objects; those are never read", h->name);
    if (length == 3 && text[0] == '>' && text[2] != '1')
        FAIL(CULL_BAD_FILE, "%s: big-endian ('%.3s'); only little-endian is read", h->name, text);
    if (h->texts) return parse_texts(h, text, length);
    h->form = cull_data_npy_form(text, length);
    if (!h->form && length >= 2 && (text[1] == 'U' || text[1] == 'S'))
        FAIL(CULL_BAD_FILE,
             "%s: elements of type '%.*s', texts, where numbers are wanted; classes are numbered, "
             "and "
             "an array class_names may name them",
             h->name, length < 32 ? (int)length : 32, text);
    if (!h->form)
        FAIL(CULL_BAD_FILE,
             "%s: elements of type '%.*s'; floats (f2, f4, f8), integers (i1 to i8, u1 to u8) and "
             "b1 are read",
             h->name, length < 32 ? (int)length : 32, text);
    h->view.dtype = h->form->dtype;
done:
    return status;
}

static cull_status parse_order(struct header *h)
{
    size_t left = 0;

    skip_space(h);
    left = (size_t)(h->end - h->next);
    if (left >= 4 && memcmp(h->next, "True", 4) == 0) {
        h->next += 4;
        h->fortran = true;
        return CULL_OK;
    }
    if (left >= 5 && memcmp(h->next, "False", 5) == 0) {
        h->next += 5;
        return CULL_OK;
    }
    return cull_fail(CULL_BAD_FILE, "%s: fortran_order is neither True nor False", h->name);
}

static cull_status parse_length(struct header *h, int64_t *out)
{
    cull_status status = CULL_OK;
    int64_t     value = 0;

    skip_space(h);
    if (h->next < h->end && *h->next == '-')
        FAIL(CULL_BAD_FILE, "%s: a dimension is negative", h->name);
    if (h->next == h->end || *h->next < '0' || *h->next > '9')
        FAIL(CULL_BAD_FILE, "%s: a dimension is not a whole number", h->name);
    for (; h->next < h->end && *h->next >= '0' && *h->next <= '9'; h->next++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *h->next - '0', &value))
            FAIL(CULL_BAD_FILE, "%s: a dimension is beyond 2^63", h->name);
    *out = value;
done:
    return status;
}

static cull_status parse_shape(struct header *h)
{
    cull_status status = CULL_OK;
    bool        comma = true;

    TRY(expect(h, '('));
    while (!take(h, ')')) {
        if (!comma) FAIL(CULL_BAD_FILE, "%s: the shape lacks a comma", h->name);
        if (h->view.dims == CULL_MAX_DIMS)
            FAIL(CULL_BAD_FILE, "%s: more than %d dimensions", h->name, CULL_MAX_DIMS);
        TRY(parse_length(h, &h->view.shape[h->view.dims++]));
        comma = take(h, ',');
    }
    if (h->view.dims == 0) FAIL(CULL_BAD_FILE, "%s: no dimension, 1 to 4 are read", h->name);
    if (h->view.dims == 1 && !comma) FAIL(CULL_BAD_FILE, "%s: the shape is no tuple", h->name);
done:
    return status;
}

static const struct {
    const char *name;
    cull_status (*parse)(struct header *h);
} keys[] = {{"descr", parse_descr}, {"fortran_order", parse_order}, {"shape", parse_shape}};
enum { KEYS = sizeof keys / sizeof *keys };

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static cull_status parse_entry(struct header *h)
{
    cull_status status = CULL_OK;
    const char *key = NULL;
    size_t      length = 0, k = 0;

    TRY(take_string(h, &key, &length));
    while (k < KEYS && !is_word(key, length, keys[k].name)) k++;
    if (k == KEYS)
        FAIL(CULL_BAD_FILE, "%s: the header has an unknown key '%.*s'", h->name,
             length < 32 ? (int)length : 32, key);
    if (h->has[k]) FAIL(CULL_BAD_FILE, "%s: the header has '%s' twice", h->name, keys[k].name);
    TRY(expect(h, ':'));
    TRY(keys[k].parse(h));
    h->has[k] = true;
done:
    return status;
}

static cull_status parse_header(struct header *h)
{
    cull_status status = CULL_OK;
    bool        comma = true;

    TRY(expect(h, '{'));
    while (!take(h, '}')) {
        if (!comma) FAIL(CULL_BAD_FILE, "%s: the header lacks a comma", h->name);
        TRY(parse_entry(h));
        comma = take(h, ',');
    }
    skip_space(h);
    if (h->next != h->end) FAIL(CULL_BAD_FILE, "%s: text behind the header's '}'", h->name);
    for (size_t k = 0; k < KEYS; k++)
        if (!h->has[k]) FAIL(CULL_BAD_FILE, "%s: the header lacks '%s'", h->name, keys[k].name);
done:
    return status;
}

/* Strides of a dense array: last dimension fastest, or first. */
static void set_strides(cull_tensor *view, bool fortran)
{
    int64_t step = 1;

    for (int i = 0; i < view->dims; i++) {
        int d = fortran ? i : view->dims - 1 - i;
        view->stride[d] = step;
        step *= view->shape[d] > 0 ? view->shape[d] : 1;
    }
}

/* Overflow is looked for over the dimensions that are not 0, so that strides are safe too. */
static cull_status count_bytes(const cull_tensor *view, size_t element, const char *name,
                               cull_status code, uint64_t *bytes)
{
    cull_status status = CULL_OK;
    uint64_t    total = element;
    bool        empty = false;

    for (int d = 0; d < view->dims; d++) {
        uint64_t length = (uint64_t)view->shape[d];
        if (length == 0) {
            empty = true;
            continue;
        }
        if (__builtin_mul_overflow(total, length, &total) || total > most_bytes)
            FAIL(code, "%s: the shape is beyond 2^62 bytes", name);
    }
    *bytes = empty ? 0 : total;
done:
    return status;
}

static cull_status read_text(cull_data_stream *stream, char **text, size_t *length)
{
    cull_status   status = CULL_OK;
    unsigned char prefix[PREFIX + 2] = {0};
    int           version = 0;

    if (stream->left < PREFIX)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, too short for a .npy file", stream->name,
             (unsigned long long)stream->left);
    TRY(cull_data_stream_read(stream, prefix, PREFIX));
    if (!cull_data_npy_begins(prefix, PREFIX))
        FAIL(CULL_BAD_FILE, "%s: does not begin as a .npy file does", stream->name);
    version = prefix[6];
    if (version < 1 || version > 3 || prefix[7] != 0)
        FAIL(CULL_BAD_FILE, "%s: .npy version %d.%d; 1.0, 2.0 and 3.0 are read", stream->name,
             version, prefix[7]);
    *length = (size_t)prefix[8] | (size_t)prefix[9] << 8;
    if (version > 1) {
        TRY(cull_data_stream_read(stream, prefix + PREFIX, 2));
        *length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    }
    if (*length > MOST_TEXT)
        FAIL(CULL_BAD_FILE, "%s: a header of %zu bytes; %d at most", stream->name, *length,
             MOST_TEXT);
    TRY(cull_base_alloc(*length, 1, "a .npy header", text));
    TRY(cull_data_stream_read(stream, *text, *length));
done:
    return status;
}

/* Fortran order to C order, in place of the old data. */
static cull_status reorder(cull_tensor *view, uint64_t bytes)
{
    cull_status status = CULL_OK;
    void       *data = NULL;

    TRY(cull_base_alloc_aligned((size_t)bytes, 1, "an array", &data));
    cull_data_npy_pack(view, data);
    cull_base_free_aligned(view->data);
    view->data = data;
    set_strides(view, false);
done:
    return status;
}

/* All but the elements, whose number of bytes must be what is left. */
static cull_status read_header(cull_data_stream *stream, struct header *h, uint64_t *bytes)
{
    cull_status status = CULL_OK;
    char       *text = NULL;
    size_t      length = 0;

    h->name = stream->name;
    TRY(read_text(stream, &text, &length));
    h->begin = h->next = text;
    h->end = text + length;
    TRY(parse_header(h));
    if (h->texts && h->view.dims != 1)
        FAIL(CULL_BAD_FILE, "%s: %d dimensions of texts; 1 is read", h->name, h->view.dims);
    if (h->texts) h->view.shape[h->view.dims++] = h->letters;
    TRY(count_bytes(&h->view, h->form->bytes, h->name, CULL_BAD_FILE, bytes));
    if (*bytes != stream->left)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes of elements, the header promises %llu", h->name,
             (unsigned long long)stream->left, (unsigned long long)*bytes);
    set_strides(&h->view, h->fortran);
done:
    cull_base_free(text);
    return status;
}

cull_status cull_data_npy_look(cull_data_stream *stream, cull_tensor *out)
{
    cull_status   status = CULL_OK;
    uint64_t      bytes = 0;
    struct header h = {0};

    TRY(read_header(stream, &h, &bytes));
    *out = h.view;
done:
    return status;
}

/* The elements as they are, or as the wider type that stands for theirs. */
static cull_status read_elements(cull_data_stream *stream, const cull_npy_form *form, size_t count,
                                 void *to)
{
    cull_status   status = CULL_OK;
    unsigned char some[SOME * 8];

    if (!form->widen) TRY(cull_data_stream_read(stream, to, count * form->bytes));
    for (size_t at = 0; form->widen && at < count; at += SOME) {
        size_t next = count - at < SOME ? count - at : SOME;
        TRY(cull_data_stream_read(stream, some, next * form->bytes));
        if (!form->widen(some, next, (char *)to + at * cull_dtype_size(form->dtype)))
            FAIL(CULL_BAD_FILE, "%s: an element of type '%s' is beyond 2^63", stream->name,
                 form->code);
    }
done:
    return status;
}

static cull_status read_as(cull_data_stream *stream, bool texts, cull_tensor *out)
{
    cull_status   status = CULL_OK;
    uint64_t      bytes = 0;
    size_t        count = 0, size = 0;
    struct header h = {.texts = texts};
    void         *data = NULL;
    bool          turned = false; /* elements lie in another order */

    TRY(read_header(stream, &h, &bytes));
    turned = h.fortran && h.view.dims > 1;
    size = cull_dtype_size(h.view.dtype);
    count = (size_t)(bytes / h.form->bytes);
    if (!turned && !h.form->widen) data = cull_data_stream_view(stream, (size_t)bytes, size);
    if (!data) {
        TRY(cull_base_alloc_aligned(count, size, "an array", &h.view.data));
        TRY(read_elements(stream, h.form, count, h.view.data));
        if (turned) TRY(reorder(&h.view, (uint64_t)count * size));
        data = h.view.data;
    }
    *out = h.view;
    out->data = data;
    h.view.data = NULL;
done:
    cull_base_free_aligned(h.view.data);
    return status;
}

cull_status cull_data_npy_read(cull_data_stream *stream, cull_tensor *out)
{
    return read_as(stream, false, out);
}

cull_status cull_data_npy_letters(cull_data_stream *stream, cull_tensor *out)
{
    return read_as(stream, true, out);
}

cull_status cull_data_npy_bytes(const cull_tensor *tensor, const char *name, uint64_t *bytes)
{
    cull_status status = CULL_OK;

    if (!tensor->data || cull_dtype_size(tensor->dtype) == 0)
        FAIL(CULL_BAD_ARGUMENT, "%s: no data, or of an unknown type", name);
    if (!codes[tensor->dtype])
        FAIL(CULL_UNSUPPORTED, "%s: files have no %s", name, cull_dtype_name(tensor->dtype));
    TRY(cull_device_check(tensor->device, (cull_device){0}, name));
    if (tensor->dims < 1 || tensor->dims > CULL_MAX_DIMS)
        FAIL(CULL_BAD_ARGUMENT, "%s: %d dimensions; 1 to %d can be written", name, tensor->dims,
             CULL_MAX_DIMS);
    for (int d = 0; d < tensor->dims; d++)
        if (tensor->shape[d] < 0) FAIL(CULL_BAD_ARGUMENT, "%s: a dimension is negative", name);
    TRY(count_bytes(tensor, cull_dtype_size(tensor->dtype), name, CULL_TOO_LARGE, bytes));
done:
    return status;
}

/* Of elements `code`, which may be followed by a number (0: none); shape has `dims` sides. */
static size_t put_header(const char *code, int64_t number, const int64_t *shape, int dims,
                         char out[CULL_DATA_NPY_HEADER])
{
    size_t at = PREFIX, size = 0;
    char   digits[24] = "";

    if (number) (void)snprintf(digits, sizeof digits, "%lld", (long long)number);
    at += (size_t)snprintf(out + at, CULL_DATA_NPY_HEADER - at,
                           "{'descr': '%c%s%s', 'fortran_order': False, 'shape': (",
                           strcmp(code, "u1") == 0 ? '|' : '<', code, digits);
    for (int d = 0; d < dims; d++)
        at += (size_t)snprintf(out + at, CULL_DATA_NPY_HEADER - at, "%s%lld", d ? ", " : "",
                               (long long)shape[d]);
    at += (size_t)snprintf(out + at, CULL_DATA_NPY_HEADER - at, "%s), }", dims == 1 ? "," : "");
    size = (at + 1 + BORDER - 1) / BORDER * BORDER;
    memset(out + at, ' ', size - at - 1);
    out[size - 1] = '\n';
    memcpy(out, magic, MAGIC);
    out[6] = 1;
    out[7] = 0;
    out[8] = (char)((size - PREFIX) & 0xff);
    out[9] = (char)((size - PREFIX) >> 8);
    return size;
}

size_t cull_data_npy_header(const cull_tensor *tensor, char out[CULL_DATA_NPY_HEADER])
{
    return put_header(codes[tensor->dtype], 0, tensor->shape, tensor->dims, out);
}

size_t cull_data_npy_letters_header(const cull_tensor *letters, char out[CULL_DATA_NPY_HEADER])
{
    return put_header("U", letters->shape[1], letters->shape, 1, out);
}

bool cull_data_npy_dense(const cull_tensor *t)
{
    int64_t step = 1;

    for (int d = t->dims - 1; d >= 0; d--) {
        if (t->shape[d] > 1 && t->stride[d] != step) return false;
        step *= t->shape[d] > 0 ? t->shape[d] : 1;
    }
    return true;
}

void cull_data_npy_pack(const cull_tensor *tensor, void *dst)
{
    size_t         size = cull_dtype_size(tensor->dtype);
    unsigned char *next = dst;
    int64_t        at[CULL_MAX_DIMS] = {0};
    int            d = 0;

    for (int i = 0; i < tensor->dims; i++)
        if (tensor->shape[i] == 0) return;
    while (d >= 0) {
        int64_t offset = 0;
        for (int i = 0; i < tensor->dims; i++) offset += at[i] * tensor->stride[i];
        memcpy(next, (const char *)tensor->data + offset * (int64_t)size, size);
        next += size;
        for (d = tensor->dims - 1; d >= 0 && ++at[d] == tensor->shape[d]; d--) at[d] = 0;
    }
}
