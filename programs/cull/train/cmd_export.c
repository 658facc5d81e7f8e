/* cmd_export.c - cull export: which examples a run chose, for other programs to train on. */
#include <stdlib.h>
#include <string.h>

#include "flags.h"
#include "write_table.h"

struct arguments {
    const char *out, *keep;
    double      share;
};

static const command self = {
    .name = "export",
    .usage =
        "usage: cull export RUN [-o FILE.npz|FILE.csv|FILE.txt] [--keep SHARE]\n\n"
        "Writes which examples a run chose: the subset that it ended with where its strategy\n"
        "chooses from the whole set, else those that it trained; with --keep the share of the\n"
        "set that it trained most often. As text (the default, on standard output) a line each:\n"
        "the file's name where examples are files, else the row in the source's files; as CSV\n"
        "with weights; as .npz 'place', 'weight' and 'origin', as docs/formats.md has them.\n\n",
};

static int write_lines(const cull_chosen *c, const char *path)
{
    table t = {0};
    int   end = table_open(&t, path);
    bool  weighs = path && table_is(path, ".csv");

    if (end) return end;
    if (weighs) {
        table_word(&t, c->name ? "file" : "row");
        table_word(&t, "weight");
        table_end(&t);
    }
    for (size_t i = 0; i < c->count && table_goes_on(&t); i++) {
        if (!c->name)
            table_count(&t, (size_t)c->origin[i]);
        else if (weighs)
            table_word(&t, c->name[i]);
        else
            (void)fputs(c->name[i], t.to);
        if (weighs) table_number(&t, c->weight[i]);
        table_end(&t);
    }
    return table_close(&t, END_WELL);
}

static int write_arrays(const cull_chosen *c, const char *path)
{
    cull_array arrays[] = {{"place", cull_vector(c->place, CULL_I64, c->count)},
                           {"weight", cull_vector(c->weight, CULL_F64, c->count)},
                           {"origin", cull_vector(c->origin, CULL_I64, c->count)}};

    if (cull_arrays_write(path, arrays, 3) == CULL_OK) return END_WELL;
    return complain_last(END_FAILED, "Check the path, its permissions and the space left.");
}

static int export(const struct arguments *a, const char *run)
{
    static const remedy remedies[] = {{CULL_NOT_FOUND, END_FAILED,
                                       "Give the folder of a run that has ended; cull train RUN "
                                       "--resume goes on with one."},
                                      {CULL_BAD_ARGUMENT, END_USAGE, "Leave out --keep."},
                                      {CULL_DIFFERS, END_FAILED,
                                       "Bring back what it was trained on, or write a .npz file, "
                                       "which holds rows and no names."},
                                      {CULL_OK, END_FAILED, NULL}};
    bool                arrays = a->out && table_is(a->out, ".npz");
    cull_chosen         chosen = {0};
    cull_status         status = cull_run_chosen(run, a->share, !arrays, &chosen);
    int                 end = complain_by(remedies, status);

    if (!end && status != CULL_OK) end = complain_status(status);
    if (!end) end = arrays ? write_arrays(&chosen, a->out) : write_lines(&chosen, a->out);
    if (!end && a->out) (void)fprintf(stderr, "%s: %zu examples\n", a->out, chosen.count);
    cull_chosen_clear(&chosen);
    return end;
}

static int check(struct arguments *a, size_t words, char *const *word)
{
    static const char see[] = "See cull export --help.";
    char             *rest = NULL;

    if (words == 0) return complain(END_USAGE, "Give a run's folder.", "no run is given");
    if (words > 1) return complain(END_USAGE, see, "'%s' is not understood", word[1]);
    if (a->keep) {
        a->share = strtod(a->keep, &rest);
        if (rest == a->keep || *rest || !(a->share > 0 && a->share <= 1))
            return complain(END_USAGE, see, "--keep %s: a share lies above 0, up to 1", a->keep);
    }
    if (a->out && !table_is(a->out, ".npz") && !table_is(a->out, ".csv") &&
        !table_is(a->out, ".txt"))
        return complain(END_USAGE, "Name it .npz, .csv or .txt.",
                        "%s: what kind of file is not told by its name", a->out);
    return END_WELL;
}

int cmd_export(int argc, char **argv)
{
    struct arguments a = {0};
    flag             flags[] = {{"-o", FLAG_TEXT, "FILE",
                                 "where to: .npz, .csv or .txt (text on standard output)", &a.out, 0},
                                {"--keep", FLAG_TEXT, "SHARE",
                                 "the examples trained most often, so much of all", &a.keep, 0},
                                {.name = NULL}};
    size_t           count = 0;
    int              end = take_line(&self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    end = check(&a, count, argv);
    return end ? end : export(&a, argv[0]);
}
