/* lab/compare/arm_wish.c - what a user asks for, as text: strategies with their options, shares to
 * keep. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "lab/compare/arms.h"

/* What is otherwise the same for all, given for this one: taken out of the options. */
static cull_status take_own(cull_arm_asked *a, const char *key, const char **out)
{
    cull_strategy_text *what = &a->what;
    cull_status         status = CULL_OK;
    size_t              kept = 0;

    for (size_t i = 0; i < what->options; i++) {
        if (strcmp(what->option[i].key, key) != 0) {
            what->option[kept++] = what->option[i];
            continue;
        }
        if (*out) FAIL_ABOUT(CULL_BAD_OPTION, key, "%s: %s is given twice", a->strategy, key);
        *out = what->option[i].value;
    }
    what->options = kept;
done:
    return status;
}

static cull_status read_one(const char *item, size_t length, cull_arm_asked *a)
{
    cull_status status = CULL_OK;
    char        text[CULL_ARM_TEXT];

    if (length >= sizeof text)
        FAIL(CULL_BAD_OPTION, "'%.40s...': a strategy has at most %zu letters, options included",
             item, sizeof text - 1);
    memcpy(text, item, length);
    text[length] = '\0';
    if (!text[strspn(text, " \t")])
        FAIL(CULL_BAD_OPTION, "a strategy is missing between two commas");
    TRY(cull_strategy_text_read(text, &a->what));
    if (a->what.options > CULL_ARM_OPTIONS - 4) FAIL(CULL_BAD_OPTION, "too many options");
    (void)snprintf(a->strategy, sizeof a->strategy, "%s%s%s", a->what.name,
                   a->what.modifier[0] ? " " : "", a->what.modifier);
    TRY(take_own(a, "keep", &a->keep));
    TRY(take_own(a, "score.pass", &a->pass));
done:
    return status;
}

cull_status cull_arm_read(const char *list, cull_arm_asked **out, size_t *count)
{
    cull_status     status = CULL_OK;
    cull_arm_asked *all = NULL;
    const char     *item = NULL;
    size_t          room = 1, n = 0, length = 0;

    for (const char *at = list; *at; at++) room += *at == ',';
    TRY(cull_base_alloc(room, sizeof *all, "a comparison", &all));
    for (; (item = cull_list_next(&list, &length)); n++) TRY(read_one(item, length, &all[n]));
    *out = all;
    *count = n;
    all = NULL;
done:
    cull_arms_forget(all, room);
    return status;
}

void cull_arms_forget(cull_arm_asked *asked, size_t count)
{
    for (size_t i = 0; asked && i < count; i++) cull_strategy_text_clear(&asked[i].what);
    cull_base_free(asked);
}

bool cull_arm_next(const char **rest, char *out, size_t room)
{
    size_t      length = 0;
    const char *item = cull_list_next(rest, &length);

    if (item) (void)snprintf(out, room, "%.*s", (int)(length < room ? length : room - 1), item);
    return item != NULL;
}

cull_status cull_arm_read_keeps(const char *text, double keep[CULL_ARM_KEEPS], size_t *count)
{
    cull_status status = CULL_OK;
    char        item[64];

    *count = 0;
    while (cull_arm_next(&text, item, sizeof item)) {
        if (*count == CULL_ARM_KEEPS)
            FAIL_ABOUT(CULL_BAD_OPTION, "keep", "more than %d shares to keep", CULL_ARM_KEEPS);
        if (!cull_base_read_number(item, &keep[*count]) || !(keep[*count] > 0) || keep[*count] > 1)
            FAIL_OPTION("keep", "'%s' is no share above 0 and up to 1", item);
        (*count)++;
    }
done:
    return status;
}
