/* tests/install/consumer/main.c - keeps the hardest four of eight, and says whether it did. */
#include <cull.h>
#include <stdio.h>

int main(void)
{
    const float    loss[8] = {1, 8, 2, 7, 3, 6, 4, 5};
    cull_setting   setting = {.pool = 8, .batch = 8};
    cull_signals   signals = {.count = 8, .loss = cull_vector(loss, CULL_F32, 8)};
    cull_selector *selector = NULL;
    cull_subset    subset = {0};
    int            right = 0;

    if (cull_selector_create("top-loss", NULL, 0, &setting, &selector) ||
        cull_select(selector, &signals, 4, &subset))
        fprintf(stderr, "%s\n", cull_last_error());
    else
        right = subset.count == 4 && subset.index[0] == 1 && subset.index[1] == 3 &&
                subset.index[2] == 5 && subset.index[3] == 7;
    cull_subset_clear(&subset);
    cull_selector_destroy(selector);
    return right ? 0 : 1;
}
