/*
 * reproduce_train.c - figures made of trained networks: every run of every arm, seed by seed, so
 * that all arms have as many. A run that was stopped goes on where it was; one that is there, for
 * this figure or another of the paper, is not done again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compare/compare_parts.h"
#include "reproduce/reproduce_parts.h"

struct course {
    const reproduction *r;
    progress            bar;
    size_t              done, all, begun, failed;
    double              start; /* when this sitting began */
};

static void tell(void *context, const cull_run_news *news)
{
    progress_tell(&((struct course *)context)->bar, news);
}

static bool stop(void *context)
{
    return must_end(((struct course *)context)->r);
}

static void say_done(const struct course *c, const cull_figure_arm *arm, uint64_t seed,
                     const cull_run_result *result)
{
    char left[40];

    compare_clock((compare_now() - c->start) / (double)(c->done - c->begun) *
                      (double)(c->all - c->done),
                  left, sizeof left);
    (void)printf("%zu of %zu: %s", c->done, c->all, arm->series);
    if (!isnan(arm->keep)) (void)printf(" keep %g", arm->keep);
    if (arm->value[0]) (void)printf(" at %s", arm->value);
    (void)printf(", seed %llu: %.2f", (unsigned long long)seed, 100 * result->test);
    if (c->done < c->all) (void)printf(", about %s left", left);
    (void)printf("\n");
    (void)fflush(stdout);
}

/* What diverges is named, and the others go on. */
static int say_failed(struct course *c, cull_status status, const char *folder)
{
    if (status != CULL_NOT_FINITE) return complain_run(status);
    c->failed++;
    (void)fprintf(stderr, "cull: %s: %s.\nThe other runs go on.\n", folder, cull_last_error());
    return END_WELL;
}

static int train_run(struct course *c, const cull_figure *figure, size_t arm, uint64_t seed)
{
    char             folder[CULL_DATA_PATH];
    cull_recipe     *recipe = NULL;
    cull_run_options options = {
        .folder = folder, .resume = true, .tell = tell, .stop = stop, .context = c};
    cull_run_result result = {0};
    cull_run_record record = {0};
    cull_status     status = cull_figure_run(figure, arm, seed, &recipe, folder);
    int             end = END_WELL;

    if (status == CULL_OK) status = cull_run_read(folder, &record);
    if (status == CULL_OK && strcmp(record.status, "finished") == 0) goto done;
    if (status == CULL_OK && strcmp(record.status, "corrupt") == 0) {
        c->failed++;
        end = complain(END_WELL, "Remove it to have the run done again.", "%s: %s", folder,
                       record.why);
        goto done;
    }
    if (status != CULL_OK) {
        end = complain_run(status);
        goto done;
    }
    status = cull_train(recipe, &options, &result);
    progress_end(&c->bar);
    if (status != CULL_OK) {
        end = say_failed(c, status, folder);
    } else if (result.end != CULL_RUN_STOPPED) {
        c->done++;
        say_done(c, cull_figure_arm_at(figure, arm), seed, &result);
    }
done:
    cull_recipe_close(recipe);
    return end;
}

static int train_all(struct course *c, const cull_figure *figure)
{
    int end = END_WELL;

    for (uint64_t seed = 1; seed <= cull_figure_seeds(figure); seed++)
        for (size_t arm = 0; !end && cull_figure_arm_at(figure, arm) && !must_end(c->r); arm++)
            end = train_run(c, figure, arm, seed);
    return end;
}

int reproduce_train(const reproduction *r, bool *done)
{
    struct course c = {.r = r,
                       .bar = {.terminal = isatty(STDERR_FILENO) != 0, .quiet = true},
                       .start = compare_now()};
    cull_figure  *figure = NULL;
    cull_status status = cull_figure_open(r->entry, &r->state.scale, r->recipes, r->root, &figure);
    int         end = END_WELL;

    if (status == CULL_OK) status = cull_figure_count(figure, &c.done, &c.all);
    if (status != CULL_OK) return complain_run(status);
    c.begun = c.done;
    if (c.done) (void)printf("%zu of %zu runs are there already\n", c.done, c.all);
    end = train_all(&c, figure);
    *done = c.done == c.all;
    if (!end && !*done)
        (void)printf("%zu of %zu runs are done; the same command goes on%s\n", c.done, c.all,
                     c.failed ? " with those that did not fail" : "");
    if (!end && c.failed) end = END_FAILED;
    cull_figure_close(figure);
    return end;
}
