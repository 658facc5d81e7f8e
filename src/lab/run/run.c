/* lab/run/run.c - runs as the public API has them: a recipe, a folder, and what comes of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/sized.h"
#include "lab/recipe/recipe.h"
#include "lab/run/outlook.h"

/* The folder and those above it. */
static cull_status make_folder(const char *folder)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    struct stat info = {0};

    TRY(cull_base_join(folder, "", path));
    TRY(cull_base_make_folders(path));
    if (stat(folder, &info) || !S_ISDIR(info.st_mode)) FAIL(CULL_IO, "%s: is not a folder", folder);
done:
    return status;
}

/* One run at a time: the folder is locked until *fd is closed, also by being killed. Where a file
 * system has no such locks, that of the logs remains. */
static cull_status lock_folder(const char *folder, int *fd)
{
    cull_status status = CULL_OK;

    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0) FAIL(CULL_IO, "%s: cannot open: %s", folder, strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        FAIL_ABOUT(CULL_BUSY, folder, "%s: another process is training there", folder);
done:
    return status;
}

/* Is there a run? A resumed one must be of the same recipe. */
static cull_status look(const cull_recipe *recipe, const cull_run_options *options, bool *there)
{
    static const char *const files[] = {"recipe.yaml", "state", "metrics.jsonl"};
    cull_status              status = CULL_OK;
    char                     path[CULL_DATA_PATH];
    cull_recipe             *old = NULL;
    const char              *key = NULL;
    cull_recipe_differing    by;

    *there = false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        TRY(cull_base_join(options->folder, files[i], path));
        *there = *there || access(path, F_OK) == 0;
    }
    if (!*there) goto done;
    if (!options->resume)
        FAIL_ABOUT(CULL_EXISTS, options->folder, "%s already holds a run", options->folder);
    TRY(cull_base_join(options->folder, "recipe.yaml", path));
    TRY(cull_recipe_open(path, NULL, 0, &old));
    key = cull_recipe_difference(old, recipe);
    if (key) {
        TRY(cull_recipe_differ_by(old, recipe, key, &by));
        FAIL_ABOUT(CULL_DIFFERS, key, "%s: the run has %s=%s, the recipe %s", options->folder,
                   by.what, by.a, by.b);
    }
    TRY(cull_base_join(options->folder, "model.txt", path));
    TRY(cull_recipe_match_model(recipe, path));
done:
    cull_recipe_close(old);
    return status;
}

/* What the folder says of its recipe. One that is there already is the same, but its files may lie
 * elsewhere by now. */
static cull_status note_recipe(const cull_recipe *recipe, const char *folder, bool there)
{
    cull_status status = CULL_OK;
    char        path[CULL_DATA_PATH];
    void       *old = NULL;
    size_t      bytes = 0;

    TRY(cull_base_join(folder, "model.txt", path));
    if (!there) TRY(cull_recipe_note_model(recipe, path));
    TRY(cull_base_join(folder, "recipe.yaml", path));
    if (there) TRY(cull_file_read(path, &old, &bytes));
    if (!there || bytes != strlen(recipe->text) || memcmp(old, recipe->text, bytes) != 0)
        TRY(cull_file_write(path, recipe->text, strlen(recipe->text)));
done:
    cull_bytes_release(old);
    return status;
}

static void tell_warnings(const cull_run_options *options, const cull_texts *warnings)
{
    for (size_t i = 0; options->warn && i < warnings->count; i++)
        options->warn(options->context, warnings->text[i]);
}

cull_status cull_train(const cull_recipe *recipe, const cull_run_options *options,
                       cull_run_result *out)
{
    cull_status      status = CULL_OK;
    cull_trainer    *trainer = NULL;
    char             path[CULL_DATA_PATH];
    bool             there = false;
    int              fd = -1;
    cull_run_options options_room, watched;
    cull_run_result  room, *given = out;
    cull_outlook     outlook;

    SIZED(cull_run_options, options, options_room);
    SIZED_RESULT(cull_run_result, out, room);
    TRY(look(recipe, options, &there));
    TRY(cull_trainer_create(&recipe->setup, true, &trainer));
    TRY(cull_base_join(options->folder, "state", path));
    if (access(path, F_OK) != 0) TRY(cull_trainer_begin(trainer));
    TRY(make_folder(options->folder));
    TRY(lock_folder(options->folder, &fd));
    TRY(look(recipe, options, &there)); /* another may have begun while the data was read */
    TRY(note_recipe(recipe, options->folder, there));
    watched = cull_outlook_open(recipe, options, trainer, &outlook);
    tell_warnings(options, &trainer->sets.warnings);
    TRY(cull_trainer_run(trainer, &watched, out));
    cull_sized_give(given, out, sizeof *out);
done:
    cull_trainer_destroy(trainer);
    if (fd >= 0) (void)close(fd);
    return status;
}

cull_status cull_evaluate(const cull_recipe *recipe, const char *weights, const char *set,
                          cull_evaluation *out)
{
    cull_status     status = CULL_OK;
    cull_trainer   *t = NULL;
    cull_resident  *chosen = NULL;
    cull_evaluation room, *given = out;

    SIZED_RESULT(cull_evaluation, out, room);
    TRY(cull_trainer_create(&recipe->setup, false, &t));
    if (strcmp(set, "test") == 0) chosen = &t->sets.test_at;
    if (strcmp(set, "train") == 0) chosen = &t->sets.train_at;
    if (strcmp(set, "validation") == 0 && t->sets.validation) chosen = &t->sets.validation_at;
    if (!chosen) FAIL_ABOUT(CULL_UNKNOWN_SET, set, "%s: the recipe has no set of this name", set);
    TRY(cull_learner_load(&t->learner, weights, t->sets.train->name));
    TRY(cull_learner_evaluate(&t->learner, chosen, t->sets.form,
                              strcmp(set, "train") == 0 ? "training" : set, out));
    cull_sized_give(given, out, sizeof *out);
done:
    cull_trainer_destroy(t);
    return status;
}
