/* cmd_data.c - cull data: which data sets there are, what is in one, one in another form. */
#include <stdlib.h>
#include <string.h>

#include "data/data_parts.h"

/* Flags that become parts of a request. */
struct words {
    const char *layout, *fit, *missing;
    uint64_t    size, length;
};

static const command self = {
    .name = "data",
    .usage = "usage: cull data list [--root DIR] [--json]\n"
             "       cull data info SET [--size PIXELS] [--tokenizer PATH] [--loss NAME]\n"
             "                          [--root DIR] [--json]\n"
             "       cull data convert SET -o DIR|FILE.npz [--role train|test] [--root DIR]\n\n"
             "list prints every set that is known by name, and where its files were found, or\n"
             "from where they are to be had; info reads one and says what is in it; convert\n"
             "writes it anew: as a folder of arrays, training and test set, which is mapped\n"
             "when it is used and so may be larger than memory, or as a .npz file of one of\n"
             "them. SET is a name that list prints, or a path: a folder of pictures or of\n"
             "arrays, a .csv table, a .npz or .npy file, tar archives, MDS shards; of texts, a\n"
             "folder, a .csv table or a .jsonl file, and with --tokenizer. Named sets are looked\n"
             "for below --root or $CULL_DATA; docs/formats.md says what is read.\n\n",
};

static void print_listing(const cull_data_listing *line)
{
    (void)printf("%-14s %s\n%-14s ", line->name, line->doc, "");
    if (line->train && line->test)
        (void)printf("in %s\n", line->folder);
    else if (line->folder[0])
        (void)printf("in %s, without its %s files; to have them:\n%-14s %s\n", line->folder,
                     line->train ? "test" : "training", "", line->get);
    else
        (void)printf("not found; to have it:\n%-14s %s\n", "", line->get);
}

/* Where those folders are looked for. */
static void print_root(const char *given)
{
    const char *root = given ? given : getenv("CULL_DATA");

    if (root && *root)
        (void)printf("\nThe folders are looked for in %s (%s).", root,
                     given ? "--root" : "CULL_DATA");
    else
        (void)printf("\nCULL_DATA is not set: export CULL_DATA=DIR, the folder that holds these.");
    (void)printf(" Data of your own needs\nno name: give its path to cull data info, or as "
                 "data.name=PATH.\n");
}

static int list(const data_arguments *a)
{
    cull_data_listing line = {0};
    json_t           *all = a->json ? json_array() : NULL;

    for (size_t i = 0; cull_data_list(a->request.root, i, &line); i++) {
        if (all)
            (void)json_array_append_new(all, json_pack("{s:s, s:s, s:b, s:b, s:s, s:s}", "name",
                                                       line.name, "doc", line.doc, "train",
                                                       line.train, "test", line.test, "folder",
                                                       line.folder, "get", line.get));
        else
            print_listing(&line);
    }
    if (a->json) return print_json(all);
    print_root(a->request.root);
    return end_output(END_WELL);
}

/* A word of the recipe's key for it, as its place among the key's words: the enumerations of cull.h
 * are in that order. */
static int take_word(const char *flag_name, const char *key, const char *word, int *out)
{
    const cull_option_spec *spec = cull_recipe_option(key);
    const char             *next = spec->words;
    size_t                  length = word ? strlen(word) : 0;

    for (int i = 0; word && next; i++) {
        size_t one = strcspn(next, "|");
        if (one == length && strncmp(next, word, one) == 0) {
            *out = i;
            return END_WELL;
        }
        next = next[one] ? next + one + 1 : NULL;
    }
    if (!word) return END_WELL;
    return complain(END_USAGE, "See cull data --help.", "%s is one of %s, not '%s'", flag_name,
                    spec->words, word);
}

static int take_request(const struct words *w, const char *loss, cull_data_request *r)
{
    const cull_option_spec *size = cull_recipe_option("data.size");
    const cull_option_spec *length = cull_recipe_option("data.length");
    int                     layout = 0, fit = 0, missing = 0, kind = 0, end = END_WELL;

    end = take_word("--layout", "data.layout", w->layout, &layout);
    if (end == END_WELL) end = take_word("--fit", "data.fit", w->fit, &fit);
    if (end == END_WELL) end = take_word("--missing", "data.missing", w->missing, &missing);
    if (end == END_WELL) end = take_word("--loss", "model.loss", loss, &kind);
    if (end != END_WELL) return end;
    if ((double)w->size > size->high)
        return complain(END_USAGE, "See cull data --help.", "--size is %.0f at most, not %llu",
                        size->high, (unsigned long long)w->size);
    if ((double)w->length > length->high)
        return complain(END_USAGE, "See cull data --help.", "--length is %.0f at most, not %llu",
                        length->high, (unsigned long long)w->length);
    r->length = (size_t)w->length;
    r->layout = (cull_data_layout)layout;
    r->fit = (cull_data_fit)fit;
    r->missing = (cull_data_missing)missing;
    r->target = kind == 1   ? CULL_TARGET_REAL
                : kind == 2 ? CULL_TARGET_CLASSES
                            : CULL_TARGET_CLASS; /* as the key's words are */
    r->side = (size_t)w->size;
    return END_WELL;
}

static int dispatch(data_arguments *a, const struct words *w, char *const *words, size_t count)
{
    static const char        see[] = "See cull data --help.";
    static const char *const known[] = {"list", "info", "convert"};
    search                   s = {.wrong = count ? words[0] : ""};
    int                      end = take_request(w, a->loss, &a->request);

    if (end != END_WELL) return end;
    if (count == 2) a->request.name = words[1];
    if (count && strcmp(words[0], "convert") != 0 && (a->out || a->role))
        return complain(END_USAGE, see, "%s is for cull data convert", a->out ? "-o" : "--role");
    if (count && strcmp(words[0], "convert") == 0 && a->json)
        return complain(END_USAGE, see, "--json is for cull data list and info");
    if (count == 1 && strcmp(words[0], "list") == 0) return list(a);
    if (count == 2 && strcmp(words[0], "info") == 0) return tell_of_set(a);
    if (count == 2 && strcmp(words[0], "convert") == 0) return convert_set(a);
    if (count == 0) return complain(END_USAGE, see, "say list, info or convert");
    if (count == 1 && (strcmp(words[0], "info") == 0 || strcmp(words[0], "convert") == 0))
        return complain(END_USAGE, see, "%s what? No data set is given", words[0]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) try_word(&s, known[i]);
    if (s.best && strcmp(s.best, words[0]) == 0) /* then a word is too many */
        return complain(END_USAGE, see, "'%s' is not understood",
                        words[strcmp(words[0], "list") == 0 ? 1 : 2]);
    return complain_near(&s, "cull data ", "cull data --help", "'%s' is not understood", words[0]);
}

int cmd_data(int argc, char **argv)
{
    data_arguments a = {0};
    struct words   w = {0};
    flag           flags[] = {
                  {"--root", FLAG_TEXT, "DIR", "the folder that holds the sets' folders", &a.request.root, 0},
                  {"--layout", FLAG_TEXT, "WORD", "of an array of images: auto, nchw or nhwc", &w.layout, 0},
                  {"--size", FLAG_NUMBER, "N", "pictures become squares of so many pixels", &w.size, 0},
                  {"--fit", FLAG_TEXT, "WORD", "and how: cover, stretch or centre", &w.fit, 0},
                  {"--label", FLAG_TEXT, "NAME", "the column to be learned", &a.request.label, 0},
                  {"--missing", FLAG_TEXT, "WORD", "of a table's empty cells: refuse, or the mean",
                   &w.missing, 0},
                  {"--text", FLAG_TEXT, "NAME", "the column or field that holds a text", &a.request.text, 0},
                  {"--tokenizer", FLAG_TEXT, "PATH",
                   "what cuts texts into pieces: vocab.txt, tokenizer.json, a folder", &a.request.tokenizer,
                   0},
                  {"--length", FLAG_NUMBER, "N", "most tokens of a text", &w.length, 0},
                  {"--loss", FLAG_TEXT, "NAME",
                   "what is learned, as model.loss: numbers by squared-error, ...", &a.loss, 0},
                  {"--role", FLAG_TEXT, "NAME", "convert: train or test alone", &a.role, 0},
                  {"-o", FLAG_TEXT, "PATH", "convert: where to", &a.out, 0},
                  {"--json", FLAG_SWITCH, NULL, "as JSON", &a.json, 0},
                  {.name = NULL}};
    size_t count = 0;
    int    end = take_line(&self, flags, argc, argv, &count);

    return end == GO_ON ? dispatch(&a, &w, argv, count) : end;
}
