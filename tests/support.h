/* tests/support.h - what the unit tests share: failing allocations, seeded random data. */
#ifndef CULL_TESTS_SUPPORT_H
#define CULL_TESTS_SUPPORT_H

/* cmocka wants these before its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/status.h"

/* Make the nth allocation from now on fail (1: the next); 0: none. */
void fail_nth_alloc(size_t n);

/* Did the planned failure happen? */
bool alloc_has_failed(void);

/* Uniform in (0, 1) and standard normal, from a seed and a counter. */
double random_uniform(uint64_t seed, uint64_t i);
double random_normal(uint64_t seed, uint64_t i);

/* A malloc'ed array of n standard normals, as float or double. */
float  *normals_f32(uint64_t seed, size_t n);
double *normals_f64(uint64_t seed, size_t n);

/* A selector from options written "key=value key=value"; the status is cull_selector_create's. */
cull_status try_selector(const char *strategy, const char *options, const cull_setting *setting,
                         cull_selector **out);

/* The same where it must succeed. */
cull_selector *make_selector(const char *strategy, const char *options,
                             const cull_setting *setting);

/* A `ref` backend on one thread for what needs any; the tests' own, never closed. */
cull_backend *plain_backend(void);

/* assert_int_equal(CULL_OK, expr) that shows the sentence when it fails. */
#define assert_ok(expr)                                                                            \
    do {                                                                                           \
        cull_status assert_status_ = (expr);                                                       \
        if (assert_status_ != CULL_OK)                                                             \
            fail_msg("%s: %s: %s", #expr, cull_status_name(assert_status_), cull_last_error());    \
    } while (0)

/* The call fails with this status and its sentence contains this text. */
#define assert_fails(code, text, expr)                                                             \
    do {                                                                                           \
        cull_status assert_status_ = (expr);                                                       \
        if (assert_status_ != (code) || !strstr(cull_last_error(), (text)))                        \
            fail_msg("%s: %s: '%s', expected %s with '%s'", #expr,                                 \
                     cull_status_name(assert_status_), cull_last_error(), cull_status_name(code),  \
                     (text));                                                                      \
    } while (0)

/* The status that a sentence about options comes with. */
cull_status option_status(const char *sentence);

#endif
