/*
 * lab/compare/compare_data.c - the data of a comparison: what is to be known of it, and whether it
 * is still what the comparison began with.
 */
#include <stdio.h>

#include "lab/compare/compare.h"

static const char *const keys[] = {[CULL_DATA_TRAIN] = "data.name", [CULL_DATA_TEST] = "data.test"};

/* Runs name the files by their whole paths. */
static cull_status add_warning(cull_comparison *c, const char *text)
{
    for (size_t i = 0; i < c->warnings.count; i++)
        if (cull_records_texts_alike(c->warnings.text[i], text)) return CULL_OK;
    return cull_texts_add(&c->warnings, text, strlen(text));
}

/* What cannot be read is left to the runs to tell: they may all be finished. */
cull_status cull_compare_look(cull_comparison *c)
{
    cull_status     status = CULL_OK;
    cull_train_sets sets = {0};

    status = cull_train_open_data(&c->arms.arm[0].recipe->setup, &sets);
    if (status == CULL_OK) {
        memcpy(c->print, sets.print, sizeof c->print);
        c->warnings = sets.warnings;
        sets.warnings = (cull_texts){0};
    } else if (status != CULL_BAD_OPTION && status != CULL_NO_MEMORY) {
        status = CULL_OK;
    }
    cull_train_close_data(&sets);
    return status;
}

cull_status cull_compare_check_data(cull_comparison *c, const cull_records_costs *begun)
{
    cull_status       status = CULL_OK;
    const char *const then[] = {
        [CULL_DATA_TRAIN] = begun->fingerprint, [CULL_DATA_TEST] = begun->test_fingerprint};

    for (int role = CULL_DATA_TRAIN; role <= CULL_DATA_TEST; role++) {
        const char *differs = NULL;

        if (!then[role][0]) continue; /* an older one, or split off */
        if (!c->print[role][0]) (void)snprintf(c->print[role], CULL_DATA_PRINT, "%s", then[role]);
        differs = cull_data_print_difference(then[role], c->print[role]);
        if (differs)
            FAIL_ABOUT(CULL_DIFFERS, keys[role],
                       "%s: the data has changed since the comparison was begun: %s has %s now",
                       c->folder, role == CULL_DATA_TEST ? "the test set" : "the training set",
                       differs);
    }
done:
    return status;
}

void cull_compare_doubt_data(const cull_comparison *c, cull_records_run *run)
{
    const char *const its[] = {[CULL_DATA_TRAIN] = run->info.data.fingerprint,
                               [CULL_DATA_TEST] = run->info.data.test_fingerprint};
    char              why[CULL_RECORDS_WHY];

    if (run->state == CULL_RECORDS_MISSING || run->state >= CULL_RECORDS_FAILED) return;
    for (int role = CULL_DATA_TRAIN; role <= CULL_DATA_TEST; role++) {
        const char *differs = NULL;

        if (its[role][0] && c->print[role][0])
            differs = cull_data_print_difference(c->print[role], its[role]);
        if (!differs) continue;
        (void)snprintf(why, sizeof why, "%s had %s than the comparison's; skipped",
                       role == CULL_DATA_TEST ? "its test set" : "its training set", differs);
        cull_records_run_doubt(run, why);
    }
}

cull_status cull_compare_gather_warnings(cull_comparison *c)
{
    cull_status         status = CULL_OK;
    cull_records_texts *out = &c->value.is.warnings;

    for (size_t i = 0; i < c->arms.count * c->seeds; i++) {
        const cull_records_texts *its = &c->run[i].record.info.warnings;

        for (size_t k = 0; k < its->count; k++) TRY(add_warning(c, its->text[k]));
    }
    *out = (cull_records_texts){0};
    for (size_t i = 0; i < c->warnings.count; i++) cull_records_texts_add(out, c->warnings.text[i]);
done:
    return status;
}

const char *cull_comparison_warning(const cull_comparison *c, size_t i)
{
    return i < c->warnings.count ? c->warnings.text[i] : NULL;
}
