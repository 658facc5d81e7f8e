/*
 * tests/plugins/host.c - a program that knows the library only by dlopen, as ctypes and plug-in
 * hosts do, and runs a strategy of a shared object in it.
 *
 *     plugin_host MEDIAN DIRECT LIBRARY[:global] ...
 *
 * Each library is opened with RTLD_LOCAL unless it says otherwise, all of them before the first
 * is used. In each the median strategy selects, saves, restores, and fails with a sentence, which
 * that library has and the others have not.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cull.h"

enum { ROWS = 40, KEPT = 10, MOST_LIBRARIES = 4 };

#define CHECK(holds)                                                                               \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #holds, lib->last_error());             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The functions used here, each as dlsym finds it. */
typedef struct library {
    const char                        *path;
    bool                               global;
    __typeof__(&cull_last_error)       last_error;
    __typeof__(&cull_vector)           vector;
    __typeof__(&cull_selector_create)  create;
    __typeof__(&cull_selector_destroy) destroy;
    __typeof__(&cull_select)           select;
    __typeof__(&cull_selector_save)    save;
    __typeof__(&cull_selector_restore) restore;
    __typeof__(&cull_bytes_release)    release;
    __typeof__(&cull_subset_clear)     clear;
} library;

/* A function pointer from dlsym, in the way POSIX has it. */
static void find(void *handle, const char *name, void *out)
{
    void *symbol = dlsym(handle, name);

    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    memcpy(out, &symbol, sizeof symbol);
}

static void open_library(library *lib)
{
    void *handle = dlopen(lib->path, RTLD_NOW | (lib->global ? RTLD_GLOBAL : RTLD_LOCAL));

    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    find(handle, "cull_last_error", &lib->last_error);
    find(handle, "cull_vector", &lib->vector);
    find(handle, "cull_selector_create", &lib->create);
    find(handle, "cull_selector_destroy", &lib->destroy);
    find(handle, "cull_select", &lib->select);
    find(handle, "cull_selector_save", &lib->save);
    find(handle, "cull_selector_restore", &lib->restore);
    find(handle, "cull_bytes_release", &lib->release);
    find(handle, "cull_subset_clear", &lib->clear);
}

/* FNV-1a over 64 bits, which ends a saved state. */
static void sign(unsigned char *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i + sizeof hash < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    memcpy(bytes + size - sizeof hash, &hash, sizeof hash);
}

/* The state ends with the centre, the number of calls and the hash: a centre that is no number. */
static void spoil(unsigned char *bytes, size_t size)
{
    double nothing = (double)NAN;

    memcpy(bytes + size - 24, &nothing, sizeof nothing);
    sign(bytes, size);
}

static cull_selector *open_median(const library *lib, const char *path)
{
    cull_option    option = {"keep", "0.25"};
    cull_setting   setting = {.pool = ROWS, .seed = 1};
    cull_selector *selector = NULL;

    CHECK(lib->create(path, &option, 1, &setting, &selector) == CULL_OK);
    return selector;
}

static void use(const library *lib, const char *path)
{
    cull_selector *first = open_median(lib, path), *second = open_median(lib, path);
    cull_subset    subset = {0};
    double         loss[ROWS];
    unsigned char *bytes = NULL;
    size_t         size = 0;
    cull_signals   signals = {.count = ROWS};

    for (size_t i = 0; i < ROWS; i++) loss[i] = (double)i;
    signals.loss = lib->vector(loss, CULL_F64, ROWS);
    CHECK(lib->select(first, &signals, 0, &subset) == CULL_OK);
    CHECK(subset.count == KEPT);
    for (size_t i = 0; i < KEPT; i++) CHECK(subset.index[i] == (ROWS - KEPT) / 2 + i);
    CHECK(lib->save(first, (void **)&bytes, &size) == CULL_OK);
    CHECK(lib->restore(second, bytes, size) == CULL_OK);
    spoil(bytes, size);
    CHECK(lib->restore(second, bytes, size) == CULL_BAD_STATE);
    CHECK(strstr(lib->last_error(), "median: the saved centre is not finite"));
    lib->release(bytes);
    lib->clear(&subset);
    lib->destroy(first);
    lib->destroy(second);
}

/* What calls the library by name is refused, with a reason: it is not found, or, in a global
 * scope, the object is of an interface whose structs and arrays have other sizes. */
static void use_direct(const library *lib, const char *path, bool global)
{
    cull_setting   setting = {.pool = ROWS};
    cull_selector *selector = NULL;

    CHECK(lib->create(path, NULL, 0, &setting, &selector) == CULL_BAD_FILE);
    CHECK(!selector);
    CHECK(strstr(lib->last_error(), global ? "strategy interface 1, this is 3" : "self->call"));
}

int main(int argc, char **argv)
{
    library libs[MOST_LIBRARIES] = {{0}}, *lib = libs;
    int     count = argc - 3;
    bool    global = false;

    if (count < 1 || count > MOST_LIBRARIES) return fprintf(stderr, "which library?\n"), 2;
    for (int i = 0; i < count; i++) {
        char *mark = strstr(argv[i + 3], ":global");

        if (mark) *mark = '\0';
        libs[i] = (library){.path = argv[i + 3], .global = mark != NULL};
        global |= libs[i].global;
        open_library(&libs[i]);
    }
    for (int i = 0; i < count; i++) {
        use(&libs[i], argv[1]);
        for (int j = i + 1; j < count; j++) {
            lib = &libs[j];
            CHECK(lib->last_error()[0] == '\0'); /* nobody else has heard of it */
        }
    }
    for (int i = 0; i < count; i++) use_direct(&libs[i], argv[2], global);
    printf("%d: well\n", count);
    return 0;
}
