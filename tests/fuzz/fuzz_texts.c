/*
 * fuzz/fuzz_texts.c - any bytes as JSON lines or as a table of texts: a set of tokens, or a
 * sentence. A set is read once more as its own test set, and must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/text_table.h"
#include "data/tokens.h"
#include "fuzz.h"

static char vocabulary[] = "/tmp/cull_fuzz_XXXXXX";

static void forget(void)
{
    (void)unlink(vocabulary);
}

static void make_vocabulary(void)
{
    static const char pieces[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\nb\n##b\n.\n";
    int               file = mkstemp(vocabulary);

    if (file < 0 || write(file, pieces, sizeof pieces - 1) != (ssize_t)sizeof pieces - 1) abort();
    (void)close(file);
    (void)atexit(forget);
}

static cull_status parse(const struct bytes *input, const cull_data_request *request, bool json,
                         const cull_dataset *like, cull_dataset **out)
{
    cull_data_source file = cull_data_source_memory("fuzz", input->data, input->left);
    cull_status      status = CULL_OK;
    cull_dataset    *set = NULL;

    TRY(cull_data_create("fuzz", &set));
    set->like = like;
    TRY((json ? cull_data_json_lines_parse : cull_data_csv_texts_parse)(&file, request, set));
    set->like = NULL;
    *out = set;
    set = NULL;
done:
    cull_data_close(set);
    return status;
}

static void check(const cull_dataset *set)
{
    if (set->count == 0 || cull_data_tokens_check(set, "fuzz") != CULL_OK) abort();
    if (set->class_names.count && set->class_names.count != set->classes) abort();
    for (size_t i = 0; cull_data_labels(set) && i < set->count; i++)
        if (cull_data_labels(set)[i] < 0 || (size_t)cull_data_labels(set)[i] >= set->classes)
            abort();
}

static void compare(const cull_dataset *a, const cull_dataset *b)
{
    if (a->count != b->count || a->classes < b->classes) abort();
    if (memcmp(a->target.data, b->target.data, a->count * cull_data_target_bytes(a)) != 0) abort();
    if (memcmp(cull_data_base(a), cull_data_base(b), a->count * cull_data_row_bytes(a)) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool              begun;
    static const char *const labels[] = {NULL, "y", "a,b", "y,label"};
    struct bytes             input = {data, size};
    size_t                   how = take_below(&input, 256);
    bool                     json = how / 64 % 2;
    cull_data_request        request = {.name = "fuzz",
                                        .target = (cull_target_kind)(how % 3),
                                        .label = labels[how / 4 % 4],
                                        .unlabelled = how / 16 % 4 == 3,
                                        .text = how / 128 % 2 ? "t" : NULL,
                                        .tokenizer = vocabulary,
                                        .length = 2 + how % 5};
    cull_dataset            *set = NULL, *again = NULL;

    if (!begun) make_vocabulary();
    begun = true;
    if (parse(&input, &request, json, NULL, &set) != CULL_OK) {
        if (set || cull_last_error()[0] == '\0') abort();
        return 0;
    }
    check(set);
    if (parse(&input, &request, json, set, &again) != CULL_OK) abort();
    compare(set, again);
    cull_data_close(set);
    cull_data_close(again);
    return 0;
}
