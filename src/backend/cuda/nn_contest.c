/* backend/cuda/nn_contest.c - which of several ways to compute a problem is taken. */
#include <math.h>

#include "backend/cuda/nn_state.h"
#include "base/alloc.h"

struct trial {
    cull_nn_contest   *contest;
    const cull_nn_way *way;
    void              *room;
};

static cull_status run_once(void *context)
{
    const struct trial *trial = context;

    return trial->contest->run(trial->contest->context, trial->way, trial->room);
}

static void end_plans(cull_nn_way *way)
{
    cull_plan_destroy(way->plan);
    cull_plan_destroy(way->adding);
    way->plan = way->adding = NULL;
}

/* Scratch for a way, and for the one that a library's is held against. */
static size_t room_for(const cull_nn_contest *contest, const cull_nn_way *way)
{
    size_t own = contest->room(contest->context, way), trusted = 0;

    if (way->kind == CULL_WAY_LIBRARY) trusted = contest->room(contest->context, &contest->trusted);
    return (own > trusted ? own : trusted) + 1;
}

/* Does a way compute what it should? One that cannot be run does not. */
static cull_status look_at(cull_nn_contest *contest, const cull_nn_way *way, void *room,
                           bool *right)
{
    cull_status status = CULL_OK;
    double      apart = (double)INFINITY;

    *right = way->kind == CULL_WAY_OWN;
    if (*right) goto done;
    status = cull_nn_check(contest, way, room, &apart);
    if (status != CULL_OK && status != CULL_NO_MEMORY)
        status = cull_backend_wait(contest->backend); /* a device that is lost says so again */
    TRY(status);
    *right = apart <= contest->apart;
    if (!*right)
        cull_nn_say(contest->nn, "%s: %s is off by %.2g\n", contest->problem,
                    way->plan ? cull_plan_name(way->plan) : "", apart);
done:
    return status;
}

/* way->seconds: INFINITY where it cannot be run, or is wrong. Its plans are there until
 * end_plans(). */
static cull_status try_way(cull_nn_contest *contest, cull_kit *kit, size_t *bytes, void **room,
                           cull_nn_way *way)
{
    cull_status  status = CULL_OK;
    struct trial trial = {contest, way, NULL};
    bool         right = false;

    way->seconds = (double)INFINITY;
    if (way->kind == CULL_WAY_LIBRARY) {
        status = contest->prepare(contest->context, way);
        if (status == CULL_NO_MEMORY) goto done;
        if (status != CULL_OK) return CULL_OK; /* what cannot be planned is no way */
    }
    TRY(cull_kit_grow(kit, room_for(contest, way), 1, "scratch of convolutions", bytes, room));
    trial.room = *room;
    TRY(look_at(contest, way, *room, &right));
    if (!right) goto done;
    TRY(cull_nn_time(contest->backend, run_once, &trial, &way->seconds));
done:
    return status;
}

static void say(const cull_nn_contest *contest, const cull_nn_way *way, const char *what)
{
    cull_nn_say(contest->nn, "%s: %s %d, %s, %.2f us, room %zu, %s\n", contest->problem,
                way->kind == CULL_WAY_OWN ? "own" : "library", way->number,
                way->plan ? cull_plan_name(way->plan) : "", 1e6 * way->seconds,
                contest->room(contest->context, way), what);
}

/* Where nothing is timed the first that can be run wins. */
static cull_status find_best(cull_nn_contest *contest, cull_kit *kit, cull_nn_way *best)
{
    cull_status status = CULL_OK;
    size_t      bytes = 0;
    void       *room = NULL;

    *best = (cull_nn_way){.seconds = (double)INFINITY};
    for (size_t i = 0; i < contest->entries; i++) {
        cull_nn_way *way = &contest->entry[i];
        bool         last = contest->resort && i + 1 == contest->entries;

        if (last && isfinite(best->seconds)) break;
        status = try_way(contest, kit, &bytes, &room, way);
        say(contest, way, isfinite(way->seconds) ? "tried" : "cannot be run");
        if (status == CULL_OK && way->seconds < best->seconds) {
            end_plans(best);
            *best = *way;
        } else {
            end_plans(way);
        }
        if (status != CULL_OK || (contest->repeatable && isfinite(best->seconds))) break;
    }
    if (status != CULL_OK) end_plans(best);
    return status;
}

/* What was recalled or the file says, if that can still be done. */
static cull_status take_read(cull_nn_contest *contest, cull_kit *kit, cull_nn_way *way)
{
    cull_status status = CULL_OK;
    size_t      bytes = 0;
    void       *room = NULL;

    TRY(try_way(contest, kit, &bytes, &room, way));
    say(contest, way, "as was kept");
done:
    if (!isfinite(way->seconds)) end_plans(way);
    return status;
}

/* A way that was kept is one of those that there are; what a library knows of it may differ. */
static bool takes_part(const cull_nn_contest *contest, const cull_nn_way *way)
{
    for (size_t i = 0; i < contest->entries; i++)
        if (contest->entry[i].kind == way->kind && contest->entry[i].number == way->number)
            return true;
    return false;
}

/* Its plans are the state's then, or ended. */
static cull_status keep(cull_nn_contest *contest, const cull_nn_way *way)
{
    cull_status status = cull_nn_keep_plan(contest->nn, way->plan);

    if (status != CULL_OK)
        cull_plan_destroy(way->adding);
    else
        status = cull_nn_keep_plan(contest->nn, way->adding);
    if (status == CULL_OK) status = cull_nn_learn_way(contest->nn, contest->problem, way);
    return status;
}

cull_status cull_nn_choose(cull_nn_contest *contest, cull_nn_way *out)
{
    cull_status        status = CULL_OK;
    const cull_nn_way *known = cull_nn_known(contest->nn, contest->problem);
    cull_nn_way        best = {.seconds = (double)INFINITY};
    cull_kit           kit = {.backend = contest->backend};
    bool               read = false;

    if (known || (contest->entries == 1 && contest->entry[0].kind == CULL_WAY_OWN)) {
        *out = known ? *known : contest->entry[0];
        return CULL_OK;
    }
    TRY(contest->open(contest->context, &kit));
    read = cull_nn_read(contest->nn, contest->problem, !contest->repeatable, &best);
    best.seconds = (double)INFINITY;
    read = read && takes_part(contest, &best);
    if (read) TRY(take_read(contest, &kit, &best));
    if (!isfinite(best.seconds)) {
        read = false;
        TRY(find_best(contest, &kit, &best));
    }
    if (!isfinite(best.seconds))
        FAIL(CULL_UNSUPPORTED, "no way was found to compute %s", contest->problem);
    if (best.plan && contest->finish) status = contest->finish(contest->context, &best);
    if (status != CULL_OK) end_plans(&best);
    TRY(status);
    if (read || contest->repeatable) best.seconds = 0; /* nothing that the file should be told */
    TRY(keep(contest, &best));
    *out = best;
done:
    cull_kit_clear(&kit);
    cull_base_free(contest->want);
    contest->want = NULL;
    return status;
}
