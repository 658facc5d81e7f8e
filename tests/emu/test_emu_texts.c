/*
 * tests/emu/test_emu_texts.c - a transformer on texts of several lengths by the CUDA backend, over
 * the imitation of the runtime: runs come out near those on `ref`, and what was stopped and goes on
 * leaves what one in one go leaves, to the bit.
 */
#include "emu.h"
#include "unit/text_runs.h"

/* Of the loss at the end; bfloat16 rounds to 2^-9, and a choice may fall another way for it. */
#define NEAR      1e-3
#define NEAR_BF16 2e-2

#define FEW  "data.subset=0.25 data.length=128 "
#define BF16 " train.precision=bfloat16"

static const char *const kinds[] = {
    FEW "model.dropout=0.2 optim.clip=0.5",
    FEW "select.strategy=sb select.keep=0.4 score.pass=reuse model.dropout=0.2" BF16,
    FEW "select.strategy=gradmatch select.keep=0.4 score.pass=reuse",
    FEW "select.strategy=sb-stream select.history=40",
    FEW "select.strategy=grad-match select.keep=0.8 select.period=5 train.epochs=5",
};
enum { KINDS = sizeof kinds / sizeof *kinds, RESUMED = 2 };

static void runs_come_out_near_those_on_ref(void **state)
{
    const struct library *l = *state;

    for (size_t k = 0; k < KINDS; k++) {
        const char     *narrow = strstr(kinds[k], BF16);
        int             plain = narrow ? (int)(narrow - kinds[k]) : (int)strlen(kinds[k]);
        char            words[900];
        size_t          replays = 0;
        cull_run_result right, got;

        (void)snprintf(words, sizeof words, "train.backend=ref %.*s", plain, kinds[k]);
        right = run_in(l, "ref", words, false);
        (void)snprintf(words, sizeof words, "train.backend=emu %s", kinds[k]);
        replays = emu_replays();
        got = run_in(l, "emu", words, false);
        if (!(fabs(got.loss - right.loss) <= (narrow ? NEAR_BF16 : NEAR) * fabs(right.loss)))
            fail_msg("%s: loss %g, on ref %g", kinds[k], got.loss, right.loss);
        if (emu_replays() == replays) fail_msg("%s: no step as it was recorded", kinds[k]);
        remove_folder(path_in(l->folder, "ref"));
        remove_folder(path_in(l->folder, "emu"));
    }
}

static void a_run_that_goes_on_leaves_the_same(void **state)
{
    const struct library *l = *state;

    for (size_t k = 0; k < RESUMED; k++) {
        char            words[900], one[128], other[128];
        cull_run_result a, b;

        (void)snprintf(words, sizeof words, "train.backend=emu %s", kinds[k]);
        (void)snprintf(one, sizeof one, "%s/one", l->folder);
        (void)snprintf(other, sizeof other, "%s/other", l->folder);
        a = run_in(l, "one", words, false);
        b = run_in(l, "other", words, true);
        assert_string_equal(a.weights, b.weights);
        check_bytes(one, other, a.weights, kinds[k]);
        check_bytes(one, other, "selection.npz", kinds[k]);
        remove_folder(one);
        remove_folder(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_come_out_near_those_on_ref),
        cmocka_unit_test(a_run_that_goes_on_leaves_the_same),
    };
    return cmocka_run_group_tests(tests, make_library, remove_library);
}
