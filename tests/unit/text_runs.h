/*
 * tests/unit/text_runs.h - a few texts of made-up words, whose lengths differ, and runs of a small
 * transformer on them.
 */
#ifndef CULL_TESTS_UNIT_TEXT_RUNS_H
#define CULL_TESTS_UNIT_TEXT_RUNS_H

#include "unit/policy_support.h"

enum { TEXTS = 90, TESTS = 30, LENGTH = 160, WORDS = 8 };

struct library {
    char folder[64], vocabulary[600], train[600], test[600];
};

static inline void write_texts(const char *path, size_t count, uint64_t seed)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (size_t i = 0; i < count; i++) {
        size_t words = 1 + (size_t)(170 * random_uniform(seed, i) * random_uniform(seed + 1, i));
        int    label = (int)(i % 2);

        (void)fprintf(file, "{\"label\": %d, \"text\": \"", label);
        for (size_t k = 0; k < words; k++) {
            size_t word = (size_t)(WORDS * random_uniform(seed + 2, i * 1000 + k));

            /* two words tell the classes apart, mostly */
            if (word < 2 && random_uniform(seed + 3, i * 1000 + k) < .8) word = (size_t)label;
            (void)fprintf(file, "w%zu ", word);
        }
        (void)fprintf(file, "\"}\n");
    }
    assert_int_equal(0, fclose(file));
}

static inline int make_library(void **state)
{
    static const char pieces[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nw\n##0\n##1\nw2\nw3\nw4\nw5\nw6\nw7\n"
                                 "w0\nw1\n";
    struct library   *l = calloc(1, sizeof *l);

    assert_non_null(l);
    strcpy(l->folder, FOLDER_TEMPLATE);
    assert_non_null(mkdtemp(l->folder));
    (void)snprintf(l->vocabulary, sizeof l->vocabulary, "%s/vocab.txt", l->folder);
    (void)snprintf(l->train, sizeof l->train, "%s/train.jsonl", l->folder);
    (void)snprintf(l->test, sizeof l->test, "%s/test.jsonl", l->folder);
    put_file(l->vocabulary, pieces, sizeof pieces - 1);
    write_texts(l->train, TEXTS, 1);
    write_texts(l->test, TESTS, 50);
    *state = l;
    return 0;
}

static inline int remove_library(void **state)
{
    struct library *l = *state;

    remove_folder(l->folder);
    free(l);
    return 0;
}

static const char text_recipe[] = "data: {length: 160}\n"
                                  "model: {name: transformer-1-32}\n"
                                  "optim: {name: adamw, lr: 0.003}\n"
                                  "train: {epochs: 2, batch: 8, threads: 1, log: 2}\n";

static inline cull_status try_texts(const struct library *l, const char *changes, cull_recipe **out)
{
    char        words[1024];
    cull_option option[24] = {
        {"data.name", l->train}, {"data.test", l->test}, {"data.tokenizer", l->vocabulary}};
    size_t count = 3;

    (void)snprintf(words, sizeof words, "%s", changes);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        option[count++] = (cull_option){word, equals + 1};
    }
    return cull_recipe_parse("test", text_recipe, strlen(text_recipe), option, count, out);
}

static inline cull_recipe *texts_of(const struct library *l, const char *changes)
{
    cull_recipe *recipe = NULL;

    assert_ok(try_texts(l, changes, &recipe));
    return recipe;
}

static inline void check_bytes(const char *one, const char *other, const char *name,
                               const char *what)
{
    void  *a = NULL, *b = NULL;
    size_t m = 0, n = 0;

    assert_ok(cull_file_read(path_in(one, name), &a, &m));
    assert_ok(cull_file_read(path_in(other, name), &b, &n));
    if (m != n || memcmp(a, b, n) != 0) fail_msg("%s: %s differs", what, name);
    cull_bytes_release(a);
    cull_bytes_release(b);
}

static inline bool stops(void *context)
{
    return ++*(size_t *)context == 4;
}

/* A run in a folder; stopped and resumed where that is asked for. */
static inline cull_run_result run_in(const struct library *l, const char *folder,
                                     const char *changes, bool stopped)
{
    size_t           steps = 0;
    cull_recipe     *recipe = texts_of(l, changes);
    cull_run_result  result = {0};
    cull_run_options options = {
        .folder = path_in(l->folder, folder), .stop = stopped ? stops : NULL, .context = &steps};
    cull_status status = cull_train(recipe, &options, &result);

    if (status != CULL_OK) fail_msg("%s: %s", changes, cull_last_error());
    if (stopped) {
        assert_int_equal(CULL_RUN_STOPPED, result.end);
        options.stop = NULL;
        options.resume = true;
        status = cull_train(recipe, &options, &result);
        if (status != CULL_OK) fail_msg("%s, resumed: %s", changes, cull_last_error());
    }
    cull_recipe_close(recipe);
    return result;
}

#endif
