/*
 * backend/cuda/nn_cache.c - known ways as text, one line a problem:
 *
 *     ABOUT, PROBLEM <tab> own NUMBER
 *     ABOUT, PROBLEM <tab> library NUMBER ENGINE KNOBS TYPE=VALUE ... WORDS in hexadecimal
 */
#include "backend/cuda/nn_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum { MOST_BYTES = 4 << 20, MOST_PATH = 1024 };

/* ---- where it is ---- */
static bool make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    return true;
}

/* false: nothing is kept. */
static bool find_path(char path[MOST_PATH])
{
    const char *said = getenv("CULL_CUDA_CACHE"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int         length = 0;

    if (said)
        length = snprintf(path, MOST_PATH, "%s", said);
    else if (cache && *cache)
        length = snprintf(path, MOST_PATH, "%s/cull/cuda", cache);
    else if (home && *home)
        length = snprintf(path, MOST_PATH, "%s/.cache/cull/cuda", home);
    return length > 0 && length < MOST_PATH - 32;
}

static cull_status copy_text(const char *text, char **out)
{
    cull_status status = CULL_OK;
    size_t      length = strlen(text) + 1;

    TRY(cull_base_alloc(length, 1, "known convolutions", out));
    memcpy(*out, text, length);
done:
    return status;
}

/* The whole file, behind what is there; a missing, long or odd one is as good as empty. */
static cull_status read_file(const char *path, char **text, size_t *length)
{
    cull_status status = CULL_OK;
    FILE       *file = fopen(path, "rb");
    char       *data = NULL;
    long        bytes = 0;

    *text = NULL;
    *length = 0;
    if (!file || fseek(file, 0, SEEK_END) != 0 || (bytes = ftell(file)) < 0 || bytes > MOST_BYTES ||
        fseek(file, 0, SEEK_SET) != 0)
        goto done;
    TRY(cull_base_alloc((size_t)bytes + 1, 1, "known convolutions", &data));
    *length = fread(data, 1, (size_t)bytes, file);
    if (strlen(data) != *length) *length = strlen(data);
    *text = data;
done:
    if (file) (void)fclose(file);
    return status;
}

cull_status cull_nn_cache_open(const char *about, cull_nn_cache *out)
{
    cull_status status = CULL_OK;
    char        path[MOST_PATH];

    TRY(copy_text(about, &out->about));
    if (!find_path(path)) goto done;
    TRY(copy_text(path, &out->path));
    TRY(read_file(path, &out->text, &out->length));
done:
    return status;
}

void cull_nn_cache_clear(cull_nn_cache *cache)
{
    cull_base_free(cache->path);
    cull_base_free(cache->about);
    cull_base_free(cache->text);
    cull_base_free(cache->recalled);
    *cache = (cull_nn_cache){0};
}

/* ---- a line ---- */

static const char *about_of(const cull_nn_cache *cache)
{
    return cache->about ? cache->about : "";
}

/* Behind the tab of the line that begins so, or NULL. */
static const char *find_line(const char *text, const char *about, const char *problem)
{
    char   head[CULL_NN_LINE];
    size_t length = 0;

    (void)snprintf(head, sizeof head, "%s, %s\t", about, problem);
    length = strlen(head);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, head, length) == 0) return line + length;
    }
    return NULL;
}

/* The next number of a line; *at moves behind it, or becomes NULL. */
static uint64_t read_number(const char **at, int base)
{
    char              *end = NULL;
    unsigned long long number = 0;

    if (!*at) return 0;
    while (**at == ' ' || **at == '=') (*at)++;
    number = strtoull(*at, &end, base);
    *at = end != *at && (*end == ' ' || *end == '=' || *end == '\n') ? end : NULL;
    return number;
}

static bool read_way(const char *at, cull_nn_way *out)
{
    *out = (cull_nn_way){.kind = CULL_WAY_OWN};
    if (strncmp(at, "library ", 8) == 0)
        out->kind = CULL_WAY_LIBRARY;
    else if (strncmp(at, "own ", 4) != 0)
        return false;
    at = strchr(at, ' ');
    out->number = (int)read_number(&at, 10);
    if (out->kind == CULL_WAY_OWN) return at && out->number >= 0;
    out->choice.engine = (int64_t)read_number(&at, 10);
    out->choice.knobs = (int32_t)read_number(&at, 10);
    if (out->choice.knobs < 0 || out->choice.knobs > CULL_CHOICE_KNOBS) return false;
    for (int i = 0; i < out->choice.knobs; i++) {
        out->choice.type[i] = (int32_t)read_number(&at, 10);
        out->choice.value[i] = (int64_t)read_number(&at, 10);
    }
    for (int i = 0; i < CULL_CHOICE_WORDS; i++) out->choice.word[i] = read_number(&at, 16);
    return at && *at == '\n' && out->number >= 0 && out->choice.engine >= 0;
}

bool cull_nn_cache_find(const cull_nn_cache *cache, const char *problem, cull_nn_way *out)
{
    const char *at = cache->text ? find_line(cache->text, about_of(cache), problem) : NULL;

    return at && read_way(at, out);
}

bool cull_nn_cache_recalls(const cull_nn_cache *cache, const char *problem, cull_nn_way *out)
{
    const char *at = cache->recalled ? find_line(cache->recalled, about_of(cache), problem) : NULL;

    return at && read_way(at, out);
}

cull_status cull_nn_cache_recall(cull_nn_cache *cache, const char *text, size_t bytes)
{
    cull_status status = CULL_OK;
    char       *copy = NULL;

    TRY(cull_base_alloc(bytes + 1, 1, "known convolutions", &copy));
    memcpy(copy, text, bytes);
    cull_base_free(cache->recalled);
    cache->recalled = copy;
done:
    return status;
}

void cull_nn_cache_line(const cull_nn_cache *cache, const char *problem, const cull_nn_way *way,
                        char line[CULL_NN_LINE])
{
    const int          room = CULL_NN_LINE;
    const cull_choice *choice = &way->choice;
    int                at = snprintf(line, CULL_NN_LINE, "%s, %s\t%s %d", about_of(cache), problem,
                      way->kind == CULL_WAY_OWN ? "own" : "library", way->number);

    if (way->kind == CULL_WAY_LIBRARY) {
        at += snprintf(line + at, (size_t)(room - at), " %lld %d", (long long)choice->engine,
                       (int)choice->knobs);
        for (int i = 0; i < choice->knobs && at < room; i++)
            at += snprintf(line + at, (size_t)(room - at), " %d=%lld", (int)choice->type[i],
                           (long long)choice->value[i]);
        for (int i = 0; i < CULL_CHOICE_WORDS && at < room; i++)
            at += snprintf(line + at, (size_t)(room - at), " %llx",
                           (unsigned long long)choice->word[i]);
    }
    if (at < room) at += snprintf(line + at, (size_t)(room - at), "\n");
    if (at >= room) *line = '\0';
}

/* ---- adding one ---- */
static void write_file(const char *path, const char *text, size_t length, const char *line)
{
    char  part[MOST_PATH + 32];
    FILE *file = NULL;
    bool  whole = false;

    (void)snprintf(part, sizeof part, "%s.%ld", path, (long)getpid());
    file = fopen(part, "wb");
    if (!file) return;
    whole = fwrite(text, 1, length, file) == length && fputs(line, file) >= 0;
    whole = fclose(file) == 0 && whole;
    if (!whole || rename(part, path) != 0) (void)remove(part);
}

void cull_nn_cache_add(cull_nn_cache *cache, const char *problem, const cull_nn_way *way)
{
    char   line[CULL_NN_LINE];
    char  *text = NULL;
    size_t length = 0;

    if (!cache->path || !make_folder(cache->path)) return;
    cull_nn_cache_line(cache, problem, way, line);
    if (read_file(cache->path, &text, &length) != CULL_OK) return;
    while (length > 0 && text[length - 1] != '\n') length--; /* a line that was torn off */
    if (!text || !find_line(text, cache->about, problem))
        write_file(cache->path, text ? text : "", length, line);
    cull_base_free(text);
}
