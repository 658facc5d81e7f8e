/* tests/tars.h - tar archives made in memory, honest and other ones. */
#ifndef CULL_TESTS_TARS_H
#define CULL_TESTS_TARS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

struct tar {
    char  *data;
    size_t size;
};

static inline void tar_append(struct tar *t, const void *data, size_t bytes)
{
    size_t padded = (bytes + 511) / 512 * 512;

    t->data = realloc(t->data, t->size + padded + 1);
    assert_non_null(t->data);
    memset(t->data + t->size, 0, padded);
    if (bytes) memcpy(t->data + t->size, data, bytes);
    t->size += padded;
}

/* The sum of a header that was changed. */
static inline void tar_sum(char *header)
{
    unsigned sum = 0;

    memset(header + 148, ' ', 8);
    for (size_t i = 0; i < 512; i++) sum += (unsigned char)header[i];
    (void)snprintf(header + 148, 8, "%06o", sum);
}

/* One member; a name of more than 100 bytes is cut. */
static inline void tar_add(struct tar *t, char kind, const char *name, const void *data,
                           size_t bytes)
{
    char header[512] = {0};

    memcpy(header, name, strlen(name) < 100 ? strlen(name) : 100);
    (void)snprintf(header + 124, 12, "%011zo", bytes);
    header[156] = kind;
    memcpy(header + 257, "ustar\00000", 8);
    tar_sum(header);
    tar_append(t, header, sizeof header);
    tar_append(t, data, bytes);
}

static inline void tar_end(struct tar *t)
{
    static const char zeros[1024];

    tar_append(t, zeros, sizeof zeros);
}

/* A .npy file of bytes (rows, columns), each `value`. */
static inline size_t tar_npy(char out[256], int rows, int columns, int value)
{
    char text[118];

    memset(text, ' ', sizeof text);
    text[117] = '\n';
    (void)memcpy(text, "{'descr': '|u1', 'fortran_order': False, 'shape': (", 51);
    (void)snprintf(text + 51, 20, "%d, %d)}", rows, columns);
    text[strlen(text)] = ' ';
    memcpy(out, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(out + 10, text, sizeof text);
    memset(out + 128, value, (size_t)(rows * columns));
    return 128 + (size_t)(rows * columns);
}

/* NAME.npy of 2x3 bytes and, where it is not NULL, NAME.cls. */
static inline void tar_pair(struct tar *t, const char *name, int value, const char *label)
{
    char file[128], npy[256];

    (void)snprintf(file, sizeof file, "%s.npy", name);
    tar_add(t, '0', file, npy, tar_npy(npy, 2, 3, value));
    (void)snprintf(file, sizeof file, "%s.cls", name);
    if (label) tar_add(t, '0', file, label, strlen(label));
}

#endif
