/* info_set.c - cull data info: what is in a set, and what inputs are normalised with. */
#include <string.h>

#include "data/data_parts.h"

enum {
    CHANNELS = sizeof(((cull_data_summary *)0)->mean) / sizeof(double),
    TARGETS = sizeof(((cull_data_summary *)0)->target_mean) / sizeof(double),
    NAMES_SHOWN = 12
};

static const char *const roles[] = {"train", "test"};

/* As set.json has them. */
static const char *const targets[] = {
    [CULL_TARGET_CLASS] = "class", [CULL_TARGET_CLASSES] = "classes", [CULL_TARGET_REAL] = "real"};

/* How many targets are told of one by one; classes are not. */
static size_t targets_told(const cull_data_summary *s)
{
    if (s->target == CULL_TARGET_CLASS) return 0;
    return s->classes < TARGETS ? s->classes : TARGETS;
}

bool lacks_test(cull_status status)
{
    return status == CULL_BAD_FILE && strcmp(cull_last_subject(), "data.test") == 0;
}

int complain_data(cull_status status)
{
    if (status == CULL_UNKNOWN_SET) return complain_set();
    if (status == CULL_BAD_OPTION)
        return complain_last(END_USAGE, "The flags --size, --fit, --layout, --label, --missing, "
                                        "--text, --tokenizer, --length and --loss stand for "
                                        "data.size, data.fit and so on, and model.loss.");
    if (status == CULL_BAD_ARGUMENT) return complain_last(END_USAGE, "See cull data list.");
    return complain_last(END_FAILED, "docs/formats.md says which files are read, and from where.");
}

/* Whose mean and deviation inputs are normalised with, in a word. */
static const char *normalised_by(cull_data_role role, const cull_data_summary *train)
{
    if (role == CULL_DATA_TEST) return "training";
    if (train->published) return "published";
    return train->stored ? "stored" : "own";
}

static json_t *list_texts(char *const *texts)
{
    json_t *list = json_array();

    for (; texts && *texts; texts++) (void)json_array_append_new(list, json_string(*texts));
    return list;
}

/* `train` is whose constants are used: the set itself, or the training set beside it. */
static json_t *summary_json(cull_data_role role, const cull_data_summary *s,
                            const cull_data_summary *train)
{
    size_t  told = s->channels < CHANNELS ? s->channels : CHANNELS;
    size_t  measured = targets_told(s);
    json_t *json = json_pack(
        "{s:s, s:I, s:I, s:[I,I,I], s:s, s:b, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:s, s:o, s:o, "
        "s:o}",
        "role", roles[role], "count", (json_int_t)s->count, "classes", (json_int_t)s->classes,
        "shape", (json_int_t)s->channels, (json_int_t)s->height, (json_int_t)s->width, "dtype",
        cull_dtype_name(s->dtype), "published", train->published, "normalised",
        normalised_by(role, train), "fewest", (json_int_t)s->fewest, "most", (json_int_t)s->most,
        "mean", json_numbers(train->mean, told), "deviation", json_numbers(train->deviation, told),
        "class_names", list_texts(s->class_names), "remarks", list_texts(s->remarks), "target",
        targets[s->target], "target_names", list_texts(s->label_names), "target_mean",
        json_numbers(s->target_mean, measured), "target_deviation",
        json_numbers(s->target_deviation, measured));

    if (json && s->vocabulary) {
        (void)json_object_set_new(json, "vocabulary", json_integer((json_int_t)s->vocabulary));
        (void)json_object_set_new(json, "tokens", json_integer((json_int_t)s->tokens));
        (void)json_object_set_new(json, "longest", json_integer((json_int_t)s->longest));
    }
    return json;
}

static void print_names(char *const *names)
{
    size_t count = 0;

    if (!names) return;
    (void)printf("      classes");
    for (; names[count]; count++)
        if (count < NAMES_SHOWN) (void)printf("%s %s", count ? "," : "", names[count]);
    if (count > NAMES_SHOWN) (void)printf(" and %zu more", count - NAMES_SHOWN);
    (void)printf("\n");
}

static void print_constants(const cull_data_summary *s)
{
    size_t told = s->channels < CHANNELS ? s->channels : CHANNELS;

    (void)printf("mean");
    for (size_t c = 0; c < told; c++) (void)printf(" %.4f", s->mean[c]);
    (void)printf(", deviation");
    for (size_t c = 0; c < told; c++) (void)printf(" %.4f", s->deviation[c]);
    (void)printf("%s", s->channels > CHANNELS ? " ..." : "");
}

static void print_normalisation(cull_data_role role, const cull_data_summary *train)
{
    (void)printf("      normalised by ");
    if (role == CULL_DATA_TEST) {
        (void)printf("the training set's, as it is in training\n");
        return;
    }
    if (train->published)
        (void)printf("the published ");
    else if (train->stored)
        (void)printf("those in set.json: ");
    else
        (void)printf("its own, over all examples as opened: ");
    print_constants(train);
    (void)printf("\n");
}

static void print_texts(const cull_data_summary *s)
{
    (void)printf(", texts of up to %zu tokens\n", s->height);
    (void)printf("      %.1f tokens each, %zu at most, of a vocabulary of %zu\n",
                 (double)s->tokens / (double)s->count, s->longest, s->vocabulary);
}

/* Numbers by mean and deviation, labels by how many examples have each. */
static void print_targets(const cull_data_summary *s)
{
    size_t told = targets_told(s), names = 0;
    bool   real = s->target == CULL_TARGET_REAL;

    if (told == 0) return;
    while (s->label_names && s->label_names[names]) names++;
    (void)printf("      to tell ");
    for (size_t k = 0; k < told; k++) {
        (void)printf("%s", k ? ", " : "");
        if (names == s->classes)
            (void)printf("%s ", s->label_names[k]);
        else if (s->classes > 1)
            (void)printf("%s%zu ", real ? "y" : "p", k);
        if (real)
            (void)printf("mean %.5g deviation %.5g", s->target_mean[k], s->target_deviation[k]);
        else
            (void)printf("%.3g %%", 100 * s->target_mean[k]);
    }
    (void)printf("%s\n", s->classes > told ? " ..." : "");
}

static void print_summary(cull_data_role role, const cull_data_summary *s,
                          const cull_data_summary *train)
{
    (void)printf("%-5s %zu examples", roles[role], s->count);
    if (s->most)
        (void)printf(" of %zu class%s (%zu to %zu each)", s->classes, s->classes == 1 ? "" : "es",
                     s->fewest, s->most);
    if (s->target == CULL_TARGET_REAL)
        (void)printf(" of %zu number%s", s->classes, s->classes == 1 ? "" : "s");
    if (s->target == CULL_TARGET_CLASSES)
        (void)printf(" of %zu label%s, each 0 or 1", s->classes, s->classes == 1 ? "" : "s");
    if (s->vocabulary) {
        print_texts(s);
    } else {
        (void)printf(", %zux%zux%zu %s\n", s->channels, s->height, s->width,
                     cull_dtype_name(s->dtype));
        print_normalisation(role, train);
    }
    if (role == CULL_DATA_TRAIN && s->target == CULL_TARGET_CLASS) print_names(s->class_names);
    print_targets(s);
    for (char *const *r = s->remarks; r && *r; r++) (void)printf("      %s\n", *r);
}

/* A folder's set.json says itself what is learned of it: where nobody asked, that is told. */
static cull_status summarise(const data_arguments *a, cull_data_request *r, cull_data_summary *out)
{
    cull_status status = cull_data_summarise(r, out);

    for (int target = CULL_TARGET_CLASSES; target <= CULL_TARGET_REAL && !a->loss; target++) {
        if (status != CULL_BAD_OPTION || strcmp(cull_last_subject(), "model.loss") != 0) break;
        r->target = (cull_target_kind)target;
        status = cull_data_summarise(r, out);
    }
    return status;
}

/* There need not be a test set. */
int tell_of_set(const data_arguments *a)
{
    json_t           *all = a->json ? json_array() : NULL;
    cull_data_summary s[2] = {{0}, {0}};
    cull_status       status = CULL_OK;

    for (int role = CULL_DATA_TRAIN; role <= CULL_DATA_TEST; role++) {
        cull_data_request r = a->request;

        r.role = (cull_data_role)role;
        status = summarise(a, &r, &s[role]);
        if (role == CULL_DATA_TEST && lacks_test(status)) {
            status = CULL_OK;
            break;
        }
        if (status != CULL_OK) break;
        if (all)
            (void)json_array_append_new(all, summary_json(r.role, &s[role], &s[0]));
        else
            print_summary(r.role, &s[role], &s[0]);
    }
    cull_data_summary_clear(&s[0]);
    cull_data_summary_clear(&s[1]);
    if (status == CULL_OK) return a->json ? print_json(all) : end_output(END_WELL);
    json_decref(all);
    return complain_data(status);
}
