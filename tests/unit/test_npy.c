/* tests/unit/test_npy.c - properties of the .npy reader and writer. */
#include "data/npy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "support.h"
#include "tensor/tensor.h"

enum { ROOM = 1 << 17 };

static unsigned char file[ROOM];

/* A file of this version with this header text and `payload` bytes 0, 1, 2 ... behind it. */
static size_t make(int version, const char *text, size_t payload)
{
    size_t length = strlen(text), at = version == 1 ? 10 : 12;

    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[7] = 0;
    for (size_t i = 8; i < at; i++) file[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(file + at, text, length);
    for (size_t i = 0; i < payload; i++) file[at + length + i] = (unsigned char)i;
    return at + length + payload;
}

static cull_status read_bytes(const void *bytes, size_t size, cull_tensor *out)
{
    cull_data_source source = cull_data_source_memory("x.npy", bytes, size);
    cull_data_stream part = cull_data_part(&source, 0, size);

    return cull_data_npy_read(&part, out);
}

static cull_status look_at_bytes(const void *bytes, size_t size, cull_tensor *out)
{
    cull_data_source source = cull_data_source_memory("x.npy", bytes, size);
    cull_data_stream part = cull_data_part(&source, 0, size);

    return cull_data_npy_look(&part, out);
}

static cull_status read_texts(const void *bytes, size_t size, cull_tensor *out)
{
    cull_data_source source = cull_data_source_memory("x.npy", bytes, size);
    cull_data_stream part = cull_data_part(&source, 0, size);

    return cull_data_npy_letters(&part, out);
}

static void texts_are_read_where_they_are_wanted_and_nowhere_else(void **state)
{
    static const struct {
        const char *header, *sentence;
    } wrong[] = {
        {"{'descr': '<U0', 'fortran_order': False, 'shape': (2,), }", "texts of up to 1024"},
        {"{'descr': '<U', 'fortran_order': False, 'shape': (2,), }", "texts of up to 1024"},
        {"{'descr': '>U3', 'fortran_order': False, 'shape': (2,), }", "only little-endian"},
        {"{'descr': '<U1025', 'fortran_order': False, 'shape': (2,), }", "texts of up to 1024"},
        {"{'descr': '<U99999999999999999999', 'fortran_order': False, 'shape': (2,), }",
         "texts of up to 1024"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (6,), }", "texts of up to 1024"},
        {"{'descr': '<U3', 'fortran_order': False, 'shape': (2, 1), }", "2 dimensions of texts"},
        {"{'descr': '<U3', 'fortran_order': False, 'shape': (3,), }", "the header promises 36"}};
    const int32_t letters[2][3] = {{'a', 0x1f404, 'b'}, {'c', 0, 0}};
    cull_tensor   view = cull_matrix((void *)(uintptr_t)letters, CULL_I32, 2, 3), back = {0};
    size_t        head = cull_data_npy_letters_header(&view, (char *)file);

    (void)state;
    memcpy(file + head, letters, sizeof letters);
    assert_ok(read_texts(file, head + sizeof letters, &back));
    assert_int_equal(2, back.dims);
    assert_int_equal(3, back.shape[1]);
    assert_memory_equal(letters, back.data, sizeof letters);
    cull_base_free_aligned(back.data);
    assert_fails(CULL_BAD_FILE, "elements of type '<U3'",
                 read_bytes(file, head + sizeof letters, &back));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(CULL_BAD_FILE, wrong[i].sentence,
                     read_texts(file, make(1, wrong[i].header, 24), &back));
}

static void what_is_written_is_read_back(void **state)
{
    static const cull_dtype types[] = {CULL_F32, CULL_F64, CULL_I32, CULL_I64, CULL_U8};
    unsigned char           data[8 * 24];

    (void)state;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 7);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (int dims = 1; dims <= 4; dims++) {
            static const int64_t shape[] = {4, 3, 2, 1};
            cull_tensor          t = {.data = data, .dtype = types[i], .dims = dims}, back = {0};
            uint64_t             bytes = 0;
            size_t               head = 0;

            for (int d = dims - 1; d >= 0; d--) {
                t.shape[d] = shape[d];
                t.stride[d] = d == dims - 1 ? 1 : t.stride[d + 1] * t.shape[d + 1];
            }
            assert_ok(cull_data_npy_bytes(&t, "t", &bytes));
            head = cull_data_npy_header(&t, (char *)file);
            assert_int_equal(0, head % 64);
            assert_int_equal('\n', file[head - 1]);
            cull_data_npy_pack(&t, file + head);
            assert_memory_equal(file + head, data, bytes);
            assert_ok(read_bytes(file, head + bytes, &back));
            assert_int_equal(t.dtype, back.dtype);
            assert_int_equal(dims, back.dims);
            assert_memory_equal(t.shape, back.shape, sizeof t.shape);
            assert_memory_equal(t.stride, back.stride, sizeof t.stride);
            assert_memory_equal(data, back.data, bytes);
            assert_int_equal(0, (uintptr_t)back.data % 64);
            cull_base_free_aligned(back.data);
        }
    }
}

static void every_version_and_spelling_of_a_header_is_read(void **state)
{
    static const char *const texts[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
        "{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}",
        "{\"fortran_order\":False,\"descr\":\"=f4\",\"shape\":(2,3)}\n",
        " \t{ 'descr' : '<f4' ,\n 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , } \n\n",
    };

    (void)state;
    for (int version = 1; version <= 3; version++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            cull_tensor t = {0};
            assert_ok(read_bytes(file, make(version, texts[i], 24), &t));
            assert_int_equal(CULL_F32, t.dtype);
            assert_int_equal(2, t.dims);
            assert_int_equal(2, t.shape[0]);
            assert_int_equal(3, t.shape[1]);
            assert_int_equal(3, t.stride[0]);
            assert_int_equal(1, t.stride[1]);
            assert_int_equal(23, ((unsigned char *)t.data)[23]);
            cull_base_free_aligned(t.data);
        }
    }
}

static void fortran_order_becomes_c_order(void **state)
{
    cull_tensor t = {0};

    (void)state;
    assert_ok(read_bytes(
        file, make(1, "{'descr':'|u1','fortran_order':True,'shape':(2, 3, 4)}", 24), &t));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                assert_int_equal(
                    i + 2 * j + 6 * k,
                    ((unsigned char *)t.data)[i * t.stride[0] + j * t.stride[1] + k * t.stride[2]]);
    assert_int_equal(12, t.stride[0]);
    assert_int_equal(1, t.stride[2]);
    cull_base_free_aligned(t.data);
    assert_ok(
        read_bytes(file, make(1, "{'descr':'<i4','fortran_order':True,'shape':(6,)}", 24), &t));
    assert_int_equal(0x07060504, ((int32_t *)t.data)[1]);
    cull_base_free_aligned(t.data);
}

static void put_element(size_t at, const void *element, size_t bytes)
{
    memcpy(file + at, element, bytes);
}

static void narrow_types_become_wider_ones(void **state)
{
    static const int8_t   i1[] = {-128, 0, 127};
    static const int16_t  i2[] = {-32768, 0, 32767};
    static const uint16_t u2[] = {65535, 0, 1};
    static const uint32_t u4[] = {4294967295, 0, 1};
    static const uint64_t u8[] = {9223372036854775807u, 0, 1};
    static const uint8_t  b1[] = {1, 0, 7};
    static const struct {
        const char *descr;
        const void *data;
        size_t      bytes;
        cull_dtype  dtype;
        int64_t     first, last;
    } cases[] = {{"|i1", i1, 3, CULL_I32, -128, 127},     {"<i2", i2, 6, CULL_I32, -32768, 32767},
                 {"<u2", u2, 6, CULL_I32, 65535, 1},      {"<u4", u4, 12, CULL_I64, 4294967295, 1},
                 {"=u8", u8, 24, CULL_I64, INT64_MAX, 1}, {"|b1", b1, 3, CULL_U8, 1, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cull_tensor t = {0}, look = {0};
        char        text[128];
        size_t      size = 0;

        (void)snprintf(text, sizeof text, "{'descr':'%s','fortran_order':False,'shape':(3,)}",
                       cases[i].descr);
        size = make(1, text, cases[i].bytes);
        put_element(size - cases[i].bytes, cases[i].data, cases[i].bytes);
        assert_ok(read_bytes(file, size, &t));
        assert_int_equal(cases[i].dtype, t.dtype);
        assert_true(cull_tensor_get(&t, 0) == (double)cases[i].first);
        assert_true(cull_tensor_get(&t, 1) == 0);
        assert_true(cull_tensor_get(&t, 2) == (double)cases[i].last);
        cull_base_free_aligned(t.data);
        assert_ok(look_at_bytes(file, size, &look));
        assert_null(look.data);
        assert_int_equal(cases[i].dtype, look.dtype);
        assert_int_equal(3, look.shape[0]);
        if (cases[i].descr[1] != 'u' || cases[i].bytes != 24) continue;
        file[size - 1] = 0x80;
        assert_fails(CULL_BAD_FILE, "type 'u8' is beyond 2^63", read_bytes(file, size, &t));
    }
}

/* By its definition: (-1)^sign fraction/1024 2^(exponent-15), with a leading 1 but for exponent 0.
 */
static void every_half_float_becomes_its_float(void **state)
{
    cull_tensor  t = {0};
    const float *x = NULL;
    size_t       size = make(1, "{'descr':'<f2','fortran_order':True,'shape':(16, 2048)}", 65536);

    (void)state;
    for (int upper = 0; upper < 2; upper++) {
        for (unsigned i = 0; i < 32768; i++) {
            uint16_t half = (uint16_t)(i | (unsigned)upper << 15);
            put_element(size - 65536 + 2 * (size_t)i, &half, 2);
        }
        assert_ok(read_bytes(file, size, &t));
        x = t.data;
        for (int i = 0; i < 32768; i++) {
            float  is = x[i % 16 * 2048 + i / 16]; /* Fortran: the first index is the fastest */
            int    exponent = i >> 10;
            double want = ldexp((i & 1023) + (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);

            assert_int_equal(upper, signbit(is) != 0);
            if (exponent == 31)
                assert_true(i & 1023 ? isnan(is) : isinf(is));
            else
                assert_true((double)fabsf(is) == want);
        }
        cull_base_free_aligned(t.data);
    }
}

static void an_empty_array_is_present_and_empty(void **state)
{
    cull_tensor t = {0};

    (void)state;
    assert_ok(
        read_bytes(file, make(1, "{'descr':'<f8','fortran_order':False,'shape':(0, 5)}", 0), &t));
    assert_non_null(t.data);
    assert_int_equal(0, t.shape[0]);
    assert_int_equal(5, t.shape[1]);
    cull_base_free_aligned(t.data);
    assert_ok(
        read_bytes(file, make(1, "{'descr':'<f8','fortran_order':True,'shape':(5, 0)}", 0), &t));
    cull_base_free_aligned(t.data);
}

static void a_broken_header_is_refused_with_its_reason(void **state)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "lacks a '{'"},
        {"{", "quoted word"},
        {"{}", "lacks 'descr'"},
        {"{'descr': '<f4', 'shape': (1,)}", "lacks 'fortran_order'"},
        {"{'descr': '<f4', 'fortran_order': False}", "lacks 'shape'"},
        {"{'descr': '<f4', 'descr': '<f4'}", "'descr' twice"},
        {"{'descr': '<f4', 'colour': 'red'}", "unknown key 'colour'"},
        {"{'descr' '<f4'}", "lacks a ':'"},
        {"{'descr': '<f4' 'shape': (1,)}", "lacks a comma"},
        {"{'descr': '<f4", "does not end"},
        {"{'descr': '<\\x664'}", "does not end"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "big-endian"},
        {"{'descr': '>i8', 'fortran_order': False, 'shape': (1,)}", "big-endian"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "Python objects"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "records"},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}", "'<f3'"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}", "'|f4'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "'<c8'; floats (f2, f4, f8)"},
        {"{'descr': '<U8', 'fortran_order': False, 'shape': (1,)}", "'<U8'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "'<c8'"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "type ''"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': Fals", "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "lacks a '('"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "no dimension"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "negative"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}", "shape lacks a comma"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", "whole number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "whole number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1)}", "more than 4"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "2^63"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}", "2^62"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807, 9)}", "2^62"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "text behind"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "4 bytes of elements, the "
                                                                    "header promises 8"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}", "promises 3"},
    };
    cull_tensor t = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(CULL_BAD_FILE, cases[i].reason,
                     read_bytes(file, make(1, cases[i].text, 4), &t));
    assert_null(t.data);
}

static void a_broken_beginning_is_refused(void **state)
{
    size_t      size = make(1, "{'descr':'|u1','fortran_order':False,'shape':(3,)}", 3);
    cull_tensor t = {0};

    (void)state;
    file[1] = 'M';
    assert_fails(CULL_BAD_FILE, "does not begin", read_bytes(file, size, &t));
    file[1] = 'N';
    file[6] = 4;
    assert_fails(CULL_BAD_FILE, "version 4.0", read_bytes(file, size, &t));
    file[6] = 1;
    file[7] = 1;
    assert_fails(CULL_BAD_FILE, "version 1.1", read_bytes(file, size, &t));
    size = make(2, "", 0);
    file[10] = 0xff;
    assert_fails(CULL_BAD_FILE, "65536 at most", read_bytes(file, size, &t));
}

static void a_file_of_any_other_length_is_refused(void **state)
{
    size_t      size = make(2, "{'descr':'<f8','fortran_order':False,'shape':(2, 2)}\n", 32);
    cull_tensor t = {0};

    (void)state;
    for (size_t cut = 0; cut < size; cut++)
        assert_fails(CULL_BAD_FILE, "x.npy: ", read_bytes(file, cut, &t));
    assert_fails(CULL_BAD_FILE, "33 bytes of elements", read_bytes(file, size + 1, &t));
    assert_ok(read_bytes(file, size, &t));
    cull_base_free_aligned(t.data);
}

static void a_view_that_cannot_be_written_is_refused(void **state)
{
    double      x = 0;
    uint64_t    bytes = 0;
    cull_tensor t = cull_vector(&x, CULL_F64, 1);

    (void)state;
    t.dims = 5;
    assert_fails(CULL_BAD_ARGUMENT, "5 dimensions", cull_data_npy_bytes(&t, "t", &bytes));
    t = cull_vector(NULL, CULL_F64, 1);
    assert_fails(CULL_BAD_ARGUMENT, "no data", cull_data_npy_bytes(&t, "t", &bytes));
    t = cull_vector(&x, (cull_dtype)9, 1);
    assert_fails(CULL_BAD_ARGUMENT, "unknown type", cull_data_npy_bytes(&t, "t", &bytes));
    t = cull_vector(&x, CULL_F64, 1);
    t.shape[0] = -1;
    assert_fails(CULL_BAD_ARGUMENT, "negative", cull_data_npy_bytes(&t, "t", &bytes));
    t.shape[0] = INT64_MAX;
    assert_fails(CULL_TOO_LARGE, "2^62", cull_data_npy_bytes(&t, "t", &bytes));
}

static void survives_every_allocation_failure(void **state)
{
    size_t      size = make(1, "{'descr':'<f4','fortran_order':True,'shape':(2, 3)}", 24);
    cull_status status = CULL_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != CULL_OK; n++) {
        cull_tensor t = {0};
        fail_nth_alloc(n);
        status = read_bytes(file, size, &t);
        fail_nth_alloc(0);
        assert_true(status == CULL_OK || status == CULL_NO_MEMORY);
        assert_true(status == CULL_OK || !t.data);
        assert_true(n < 10);
        cull_base_free_aligned(t.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(texts_are_read_where_they_are_wanted_and_nowhere_else),
        cmocka_unit_test(every_version_and_spelling_of_a_header_is_read),
        cmocka_unit_test(fortran_order_becomes_c_order),
        cmocka_unit_test(narrow_types_become_wider_ones),
        cmocka_unit_test(every_half_float_becomes_its_float),
        cmocka_unit_test(an_empty_array_is_present_and_empty),
        cmocka_unit_test(a_broken_header_is_refused_with_its_reason),
        cmocka_unit_test(a_broken_beginning_is_refused),
        cmocka_unit_test(a_file_of_any_other_length_is_refused),
        cmocka_unit_test(a_view_that_cannot_be_written_is_refused),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
