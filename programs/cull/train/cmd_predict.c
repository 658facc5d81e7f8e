/* cmd_predict.c - cull predict: what saved weights say of every example of a set. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "train/saved_weights.h"
#include "write_table.h"

struct arguments {
    const char *recipe, *out, *role;
    bool        best, all;
    changes     change;
    checkpoint  found;
};

static const command self = {
    .name = "predict",
    .usage =
        "usage: cull predict CHECKPOINT DATA [key=value ...] [-o FILE.csv|FILE.npz] [--all]\n\n"
        "Says of every example of DATA what it is, and how probable: a line of CSV each, on\n"
        "standard output or in a file. CHECKPOINT is a run's folder, of which the latest\n"
        "weights are taken (--best: the best), or a .safetensors file; DATA whatever cull data\n"
        "info reads, with or without labels. Inputs are normalised as in training, of which\n"
        "nothing but the checkpoint and its recipe is needed.\n\n",
};

/* What is kept until a .npz file can be written. */
struct kept {
    int32_t *class;
    float *probability, *output;
    size_t count, outputs;
    bool   classes; /* one each: else outputs are all there is to tell */
};

struct telling {
    const struct arguments *a;
    table                   table;  /* CSV */
    struct kept             kept;   /* .npz */
    bool                    arrays; /* which of the two */
    bool                    begun;
    int                     end;
};

static void put_head(struct telling *t, const cull_predicted *p)
{
    char number[32];

    table_word(&t->table, p->name ? "file" : "row");
    if (p->target == CULL_TARGET_CLASS) {
        table_word(&t->table, "class");
        table_word(&t->table, "probability");
    }
    for (size_t k = 0; (t->a->all || p->target != CULL_TARGET_CLASS) && k < p->outputs; k++) {
        (void)snprintf(number, sizeof number, "%s%zu", p->target == CULL_TARGET_REAL ? "y" : "p",
                       k);
        table_word(&t->table, p->class_name ? p->class_name[k] : number);
    }
    table_end(&t->table);
}

static void put_row(struct telling *t, const cull_predicted *p, size_t i)
{
    const float *output = p->output + i * p->outputs;
    int32_t      best = p->best[i];

    if (p->name)
        table_word(&t->table, p->name[i]);
    else
        table_count(&t->table, p->from + i);
    if (p->target == CULL_TARGET_CLASS) {
        if (p->class_name)
            table_word(&t->table, p->class_name[best]);
        else
            table_count(&t->table, (size_t)best);
        table_number(&t->table, (double)output[best]);
    }
    for (size_t k = 0; (t->a->all || p->target != CULL_TARGET_CLASS) && k < p->outputs; k++)
        table_number(&t->table, (double)output[k]);
    table_end(&t->table);
}

static bool grow(void *pointer, size_t bytes)
{
    void *old = NULL, *new = NULL;

    memcpy(&old, pointer, sizeof old);
    new = realloc(old, bytes ? bytes : 1);
    if (new) memcpy(pointer, &new, sizeof new);
    return new != NULL;
}

static bool keep(struct kept *k, const cull_predicted *p, bool all)
{
    size_t count = k->count + p->count;

    k->outputs = p->outputs;
    k->classes = p->target == CULL_TARGET_CLASS;
    if (!grow(&k->class, count * sizeof *k->class) ||
        !grow(&k->probability, count * sizeof *k->probability) ||
        (all && !grow(&k->output, count * p->outputs * sizeof *k->output)))
        return false;
    for (size_t i = 0; i < p->count; i++) {
        k->class[k->count + i] = p->best[i];
        k->probability[k->count + i] = p->output[i * p->outputs + (size_t)p->best[i]];
    }
    if (all)
        memcpy(k->output + k->count * p->outputs, p->output,
               p->count * p->outputs * sizeof *k->output);
    k->count = count;
    return true;
}

static bool tell(void *context, const cull_predicted *p)
{
    struct telling *t = context;
    bool            whole = t->a->all || p->target != CULL_TARGET_CLASS, first = !t->begun;

    for (size_t i = 0; first && i < p->warnings; i++) say_warning(NULL, p->warning[i]);
    t->begun = true;
    if (t->arrays) {
        if (keep(&t->kept, p, whole)) return true;
        t->end = complain(END_FAILED, "Write a .csv file: it needs no memory.", "no memory");
        return false;
    }
    if (first) put_head(t, p);
    for (size_t i = 0; i < p->count; i++) put_row(t, p, i);
    return table_goes_on(&t->table);
}

static int write_arrays(const struct kept *k, const char *path)
{
    cull_array arrays[3] = {{"class", cull_vector(k->class, CULL_I32, k->count)},
                            {"probability", cull_vector(k->probability, CULL_F32, k->count)},
                            {"output", cull_matrix(k->output, CULL_F32, k->count, k->outputs)}};

    size_t first = k->classes ? 0 : 2, count = k->output ? 3 : 2;

    if (cull_arrays_write(path, arrays + first, count - first) == CULL_OK) return END_WELL;
    return complain_last(END_FAILED, "Check the path, its permissions and the space left.");
}

static int predict(struct arguments *a, const cull_recipe *recipe, const char *data)
{
    struct telling    t = {.a = a, .arrays = a->out && table_is(a->out, ".npz")};
    cull_data_request request = {.name = data};
    cull_status       status = CULL_OK;

    if (strcmp(a->role, "test") == 0) request.role = CULL_DATA_TEST;
    if (!t.arrays && (t.end = table_open(&t.table, a->out))) return t.end;
    status = cull_predict_set(recipe, a->found.weights, &request, tell, &t);
    if (status == CULL_IO)
        t.end =
            complain_last(END_FAILED, "Check both paths; cull data info DATA says what is in it.");
    else if (status != CULL_OK)
        t.end = complain_run(status);
    if (!t.end && t.arrays) t.end = write_arrays(&t.kept, a->out);
    if (!t.arrays) t.end = table_close(&t.table, t.end);
    free(t.kept.class);
    free(t.kept.probability);
    free(t.kept.output);
    return t.end;
}

static int check(const struct arguments *a, size_t words)
{
    static const char see[] = "See cull predict --help.";

    if (words == 0)
        return complain(END_USAGE, "Give a run's folder or a .safetensors file.",
                        "no checkpoint is given");
    if (words == 1)
        return complain(END_USAGE, "Give what cull data info reads: a folder, a file or a set.",
                        "no data is given");
    if (strcmp(a->role, "train") != 0 && strcmp(a->role, "test") != 0)
        return complain(END_USAGE, see, "--role is train or test, not '%s'", a->role);
    if (a->out && !table_is(a->out, ".csv") && !table_is(a->out, ".npz"))
        return complain(END_USAGE, "Name it .csv or .npz.", "%s: predictions are CSV or .npz",
                        a->out);
    return END_WELL;
}

int cmd_predict(int argc, char **argv)
{
    struct arguments a = {.role = "train"};
    flag             flags[] = {
                    {"-o", FLAG_TEXT, "FILE", "where to, .csv or .npz (CSV on standard output)", &a.out, 0},
                    {"--all", FLAG_SWITCH, NULL, "the probability of every class", &a.all, 0},
                    {"--best", FLAG_SWITCH, NULL, "the best weights of a run, not the latest", &a.best, 0},
                    {"--role", FLAG_TEXT, "train|test", "of a set with both: which (train)", &a.role, 0},
                    {"--recipe", FLAG_TEXT, "FILE", "another recipe than the folder's", &a.recipe, 0},
                    {.name = NULL}};
    cull_recipe *recipe = NULL;
    size_t       count = 0;
    int          end = take_line(&self, flags, argc, argv, &count);

    if (end != GO_ON) return end;
    end = check(&a, count);
    if (!end)
        end = take_changes(self.name, "Changes", argv + 2, count - 2, &a.change,
                           &(const char *){argv[1]});
    if (!end && same_file(a.out, argv[1]))
        end = complain(END_USAGE, "Give another name to what is written.",
                       "%s is an input and would be written over", a.out);
    if (!end) end = open_checkpoint(argv[0], a.recipe, a.best, &a.change, &a.found, &recipe);
    if (!end) end = predict(&a, recipe, argv[1]);
    cull_recipe_close(recipe);
    clear_changes(&a.change);
    return end;
}
