/* base/status.h - how a failure travels: a status, and a sentence kept per thread. */
#ifndef CULL_BASE_STATUS_H
#define CULL_BASE_STATUS_H

#include "cull.h"

/* Needs a local `status` and a label `done`. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        if ((status = (expr)) != CULL_OK) goto done;                                               \
    } while (0)
#define FAIL(code, ...)                                                                            \
    do {                                                                                           \
        status = cull_fail((code), __VA_ARGS__);                                                   \
        goto done;                                                                                 \
    } while (0)

#endif
