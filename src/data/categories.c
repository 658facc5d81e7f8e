/* data/categories.c - a table of hashes over a list of texts. */
#include "data/categories.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

enum { FIRST_SLOTS = 64 };

void cull_categories_clear(cull_categories *c)
{
    cull_texts_clear(&c->texts);
    cull_base_free(c->slot);
    *c = (cull_categories){0};
}

/* The slot that has this text, or an empty one where it would go. */
static size_t find_slot(const cull_categories *c, const char *text, size_t length)
{
    size_t at = (size_t)cull_base_hash(text, length) & (c->slots - 1);

    for (; c->slot[at]; at = (at + 1) & (c->slots - 1)) {
        const char *there = c->texts.text[c->slot[at] - 1];
        if (strncmp(there, text, length) == 0 && there[length] == '\0') break;
    }
    return at;
}

size_t cull_categories_find(const cull_categories *c, const char *text, size_t length)
{
    size_t at = c->slots ? find_slot(c, text, length) : 0;

    return c->slots && c->slot[at] ? c->slot[at] - 1 : c->texts.count;
}

/* At least twice as many slots as texts. */
static cull_status make_room(cull_categories *c)
{
    cull_status status = CULL_OK;
    size_t      slots = c->slots ? 2 * c->slots : FIRST_SLOTS;
    uint32_t   *old = c->slot, *new = NULL;

    if (2 * (c->texts.count + 1) <= c->slots) goto done;
    TRY(cull_base_alloc(slots, sizeof *new, "categories", &new));
    c->slot = new;
    c->slots = slots;
    for (size_t i = 0; i < c->texts.count; i++)
        new[find_slot(c, c->texts.text[i], strlen(c->texts.text[i]))] = (uint32_t)i + 1;
    cull_base_free(old);
done:
    return status;
}

cull_status cull_categories_take(cull_categories *c, const char *text, size_t length, size_t *out)
{
    cull_status status = CULL_OK;

    *out = cull_categories_find(c, text, length);
    if (*out < c->texts.count) goto done;
    TRY(make_room(c));
    TRY(cull_texts_add(&c->texts, text, length));
    c->slot[find_slot(c, text, length)] = (uint32_t)c->texts.count;
done:
    return status;
}

cull_status cull_categories_twice(const cull_texts *texts, size_t *out)
{
    cull_status     status = CULL_OK;
    cull_categories met = {0};
    size_t          number = 0;

    for (*out = 0; *out < texts->count; ++*out) {
        TRY(cull_categories_take(&met, texts->text[*out], strlen(texts->text[*out]), &number));
        if (number < *out) break;
    }
done:
    cull_categories_clear(&met);
    return status;
}

struct met {
    const char *text;
    uint32_t    number;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct met *)a)->text, ((const struct met *)b)->text);
}

cull_status cull_categories_sort(const cull_categories *c, uint32_t **out)
{
    cull_status status = CULL_OK;
    size_t      count = c->texts.count;
    struct met *met = NULL;
    uint32_t   *place = NULL;

    TRY(cull_base_alloc(count, sizeof *met, "categories", &met));
    TRY(cull_base_alloc(count, sizeof *place, "categories", &place));
    for (size_t i = 0; i < count; i++) met[i] = (struct met){c->texts.text[i], (uint32_t)i};
    if (count) qsort(met, count, sizeof *met, by_text);
    for (size_t i = 0; i < count; i++) place[met[i].number] = (uint32_t)i;
    *out = place;
    place = NULL;
done:
    cull_base_free(met);
    cull_base_free(place);
    return status;
}
