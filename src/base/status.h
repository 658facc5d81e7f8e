/* base/status.h - how a failure travels: a status; its sentence and subject, kept per thread. */
#ifndef CULL_BASE_STATUS_H
#define CULL_BASE_STATUS_H

#include "cull.h"

/* Needs a local `status` and a label `done`. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        if ((status = (expr)) != CULL_OK) goto done;                                               \
    } while (0)
#define LEAVE(expr)                                                                                \
    do {                                                                                           \
        status = (expr);                                                                           \
        goto done;                                                                                 \
    } while (0)
#define FAIL(code, ...)                LEAVE(cull_fail((code), __VA_ARGS__))
#define FAIL_ABOUT(code, subject, ...) LEAVE(cull_fail_about((code), (subject), __VA_ARGS__))
/* A wrong option, in a sentence that begins with its key; both are literals. */
#define FAIL_OPTION(key, ...) FAIL_ABOUT(CULL_BAD_OPTION, key, key ": " __VA_ARGS__)

#endif
