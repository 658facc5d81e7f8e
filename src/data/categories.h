/* data/categories.h - texts that are numbered as they are met. */
#ifndef CULL_DATA_CATEGORIES_H
#define CULL_DATA_CATEGORIES_H

#include "base/texts.h"

typedef struct cull_categories {
    cull_texts texts; /* by number */
    uint32_t  *slot;  /* [slots] number + 1 of the text whose hash falls here; 0: none */
    size_t     slots;
} cull_categories;

void cull_categories_clear(cull_categories *c);

/* The number of a text, which is texts.count where it is none of them. */
size_t cull_categories_find(const cull_categories *c, const char *text, size_t length);

/* The same; one that is new becomes the last. */
cull_status cull_categories_take(cull_categories *c, const char *text, size_t length, size_t *out);

/* The first of a list that stood in it before; texts->count where none did. */
cull_status cull_categories_twice(const cull_texts *texts, size_t *out);

/* The place that each number has in the order of the texts; *out is a new array, released with
 * cull_base_free(). */
cull_status cull_categories_sort(const cull_categories *c, uint32_t **out);

#endif
