/* info_set.c - cull data info: what is in a set, and what inputs are normalised with. */
#include <string.h>

#include "data/data_parts.h"

enum { CHANNELS = sizeof(((cull_data_summary *)0)->mean) / sizeof(double), NAMES_SHOWN = 12 };

static const char *const roles[] = {"train", "test"};

bool lacks_test(cull_status status)
{
    return status == CULL_BAD_FILE && strcmp(cull_last_subject(), "data.test") == 0;
}

int complain_data(cull_status status)
{
    if (status == CULL_UNKNOWN_SET) return complain_set();
    if (status == CULL_BAD_OPTION)
        return complain_last(END_USAGE, "The flags --size, --fit, --layout, --label, --text, "
                                        "--tokenizer and --length stand for the keys data.size, "
                                        "data.fit and so on.");
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
    json_t *json = json_pack(
        "{s:s, s:I, s:I, s:[I,I,I], s:s, s:b, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "role",
        roles[role], "count", (json_int_t)s->count, "classes", (json_int_t)s->classes, "shape",
        (json_int_t)s->channels, (json_int_t)s->height, (json_int_t)s->width, "dtype",
        cull_dtype_name(s->dtype), "published", train->published, "normalised",
        normalised_by(role, train), "fewest", (json_int_t)s->fewest, "most", (json_int_t)s->most,
        "mean", json_numbers(train->mean, told), "deviation", json_numbers(train->deviation, told),
        "class_names", list_texts(s->class_names), "remarks", list_texts(s->remarks));

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

static void print_summary(cull_data_role role, const cull_data_summary *s,
                          const cull_data_summary *train)
{
    (void)printf("%-5s %zu examples", roles[role], s->count);
    if (s->most) (void)printf(" of %zu classes (%zu to %zu each)", s->classes, s->fewest, s->most);
    if (s->vocabulary) {
        print_texts(s);
    } else {
        (void)printf(", %zux%zux%zu %s\n", s->channels, s->height, s->width,
                     cull_dtype_name(s->dtype));
        print_normalisation(role, train);
    }
    if (role == CULL_DATA_TRAIN) print_names(s->class_names);
    for (char *const *r = s->remarks; r && *r; r++) (void)printf("      %s\n", *r);
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
        status = cull_data_summarise(&r, &s[role]);
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
