/* cmd_data.c - cull data: which data sets there are, what is in one, one in another form. */
#include <stdlib.h>
#include <string.h>

#include "flags.h"

struct arguments {
    const char *root, *out, *role_name, *layout, *fit, *label;
    uint64_t    size;
    bool        json;
};

static const command self = {
    .name = "data",
    .usage =
        "usage: cull data list [--root DIR] [--json]\n"
        "       cull data info SET [--size PIXELS] [--root DIR] [--json]\n"
        "       cull data convert SET -o FILE.npz [--role train|test] [--root DIR]\n\n"
        "list prints every set that is known by name, and where its files were found, or\n"
        "from where they are to be had; info reads one and says what is in it; convert\n"
        "writes it as a .npz file that is read faster. SET is a name that list prints, or a\n"
        "path: a folder of pictures, a .csv table, a .npz or .npy file. Named sets are looked\n"
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

static int list(const struct arguments *a)
{
    cull_data_listing line = {0};
    json_t           *all = a->json ? json_array() : NULL;

    for (size_t i = 0; cull_data_list(a->root, i, &line); i++) {
        if (all)
            (void)json_array_append_new(all, json_pack("{s:s, s:s, s:b, s:b, s:s, s:s}", "name",
                                                       line.name, "doc", line.doc, "train",
                                                       line.train, "test", line.test, "folder",
                                                       line.folder, "get", line.get));
        else
            print_listing(&line);
    }
    if (a->json) return print_json(all);
    print_root(a->root);
    return end_output(END_WELL);
}

static int complain_data(cull_status status)
{
    if (status == CULL_UNKNOWN_SET) return complain_set();
    if (status == CULL_BAD_ARGUMENT) return complain_last(END_USAGE, "See cull data list.");
    return complain_last(END_FAILED, "docs/formats.md says which files are read, and from where.");
}

static json_t *summary_json(const char *role, const cull_data_summary *s)
{
    size_t told = s->channels < 4 ? s->channels : 4;

    return json_pack("{s:s, s:I, s:I, s:[I,I,I], s:s, s:b, s:I, s:I, s:o, s:o}", "role", role,
                     "count", (json_int_t)s->count, "classes", (json_int_t)s->classes, "shape",
                     (json_int_t)s->channels, (json_int_t)s->height, (json_int_t)s->width, "dtype",
                     cull_dtype_name(s->dtype), "published", s->published, "fewest",
                     (json_int_t)s->fewest, "most", (json_int_t)s->most, "mean",
                     json_numbers(s->mean, told), "deviation", json_numbers(s->deviation, told));
}

static void print_summary(const char *role, const cull_data_summary *s)
{
    (void)printf("%-5s %zu examples of %zu classes (%zu to %zu each), %zux%zux%zu %s\n", role,
                 s->count, s->classes, s->fewest, s->most, s->channels, s->height, s->width,
                 cull_dtype_name(s->dtype));
    (void)printf("      normalised by %s mean", s->published ? "the published" : "its own");
    for (size_t c = 0; c < s->channels && c < 4; c++) (void)printf(" %.4f", s->mean[c]);
    (void)printf(", deviation");
    for (size_t c = 0; c < s->channels && c < 4; c++) (void)printf(" %.4f", s->deviation[c]);
    (void)printf("%s\n", s->channels > 4 ? " ..." : "");
}

static const char *const layouts[] = {
    [CULL_LAYOUT_TOLD] = "auto", [CULL_LAYOUT_FIRST] = "nchw", [CULL_LAYOUT_LAST] = "nhwc"};
static const char *const fits[] = {
    [CULL_FIT_COVER] = "cover", [CULL_FIT_STRETCH] = "stretch", [CULL_FIT_CENTRE] = "centre"};

static cull_data_request request_of(const struct arguments *a, const char *name,
                                    cull_data_role role)
{
    cull_data_request r = {
        .name = name, .role = role, .root = a->root, .side = (size_t)a->size, .label = a->label};

    for (size_t i = 0; i < 3; i++) {
        if (a->layout && strcmp(a->layout, layouts[i]) == 0) r.layout = (cull_data_layout)i;
        if (a->fit && strcmp(a->fit, fits[i]) == 0) r.fit = (cull_data_fit)i;
    }
    return r;
}

/* A file of arrays need not hold a test set; a set known by name has both. */
static int info(const struct arguments *a, const char *name)
{
    static const char *const roles[] = {"train", "test"};
    json_t                  *all = a->json ? json_array() : NULL;

    for (int role = CULL_DATA_TRAIN; role <= CULL_DATA_TEST; role++) {
        cull_data_summary s = {0};
        cull_data_request r = request_of(a, name, (cull_data_role)role);
        cull_status       status = cull_data_summarise(&r, &s);

        if (status == CULL_BAD_ARGUMENT && role == CULL_DATA_TEST) break;
        if (status == CULL_BAD_FILE && role == CULL_DATA_TEST &&
            (strchr(name, '.') || strcmp(cull_last_subject(), "data.test") == 0))
            break;
        if (status != CULL_OK) {
            json_decref(all);
            return complain_data(status);
        }
        if (all)
            (void)json_array_append_new(all, summary_json(roles[role], &s));
        else
            print_summary(roles[role], &s);
    }
    return a->json ? print_json(all) : end_output(END_WELL);
}

static int convert(const struct arguments *a, const char *name)
{
    cull_status       status = CULL_OK;
    cull_data_request r = request_of(a, name, CULL_DATA_TRAIN);

    if (!a->out)
        return complain(END_USAGE, "Name the file with -o FILE.npz.", "no output is given");
    if (strcmp(a->role_name, "test") != 0 && strcmp(a->role_name, "train") != 0)
        return complain(END_USAGE, "See cull data --help.", "--role is train or test, not '%s'",
                        a->role_name);
    if (strcmp(a->role_name, "test") == 0) r.role = CULL_DATA_TEST;
    status = cull_data_convert(&r, a->out);
    if (status == CULL_IO || status == CULL_NOT_FOUND)
        return complain_last(END_FAILED, "Check both paths, their permissions and the space left.");
    return status == CULL_OK ? END_WELL : complain_data(status);
}

/* A word of a few, by its place among them. */
static int check_word(const char *name, const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; word && i < count; i++)
        if (strcmp(word, words[i]) == 0) return END_WELL;
    if (!word) return END_WELL;
    return complain(END_USAGE, "See cull data --help.", "%s is not '%s'", name, word);
}

static int dispatch(const struct arguments *a, char *const *words, size_t count)
{
    static const char        see[] = "See cull data --help.";
    static const char *const known[] = {"list", "info", "convert"};
    search                   s = {.wrong = count ? words[0] : ""};

    if (count == 1 && strcmp(words[0], "list") == 0) return list(a);
    if (count == 2 && strcmp(words[0], "info") == 0) return info(a, words[1]);
    if (count == 2 && strcmp(words[0], "convert") == 0) return convert(a, words[1]);
    if (count == 0) return complain(END_USAGE, see, "say list, info or convert");
    if (count == 1 && (strcmp(words[0], "info") == 0 || strcmp(words[0], "convert") == 0))
        return complain(END_USAGE, see, "%s what? No data set is given", words[0]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) try_word(&s, known[i]);
    if (count > 1) s = (search){0};
    return complain_near(&s, "cull data ", "cull data --help", "'%s' is not understood",
                         count > 2 ? words[2] : words[count - 1]);
}

int cmd_data(int argc, char **argv)
{
    struct arguments a = {.role_name = "train"};
    flag             flags[] = {
                    {"--root", FLAG_TEXT, "DIR", "the folder that holds the sets' folders", &a.root, 0},
                    {"--role", FLAG_TEXT, "train|test", "convert: which of its sets (train)", &a.role_name, 0},
                    {"-o", FLAG_TEXT, "FILE", "convert: where to", &a.out, 0},
                    {"--size", FLAG_NUMBER, "PIXELS", "pictures as squares, as data.size", &a.size, 0},
                    {"--fit", FLAG_TEXT, "cover|stretch|centre", "and how, as data.fit", &a.fit, 0},
                    {"--layout", FLAG_TEXT, "nchw|nhwc", "of arrays of images, as data.layout", &a.layout, 0},
                    {"--label", FLAG_TEXT, "COLUMN", "of a table, as data.label", &a.label, 0},
                    {"--json", FLAG_SWITCH, NULL, "as JSON", &a.json, 0},
                    {.name = NULL}};
    size_t count = 0;
    int    end = take_line(&self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    end = check_word("--layout", a.layout, layouts, 3);
    if (!end) end = check_word("--fit", a.fit, fits, 3);
    return end ? end : dispatch(&a, argv, count);
}
