/*
 * data/text_labels.h - labels that are texts: whole numbers where all of them are, else the names
 * of classes, which are numbered in the order of their bytes.
 */
#ifndef CULL_DATA_TEXT_LABELS_H
#define CULL_DATA_TEXT_LABELS_H

#include "data/categories.h"
#include "data/dataset.h"
#include "data/source.h"

enum { CULL_DATA_LABEL = 1024 }; /* bytes that one may have */

/* The label of example i, for which the set has room; blanks around it are no part of it. `met` is
 * zeroed before the first, and ended by cull_categories_clear(). CULL_BAD_FILE, beginning with
 * `name`, when there is none, or none that can be shown. */
cull_status cull_data_text_label(cull_categories *met, const char *name, const char *text,
                                 size_t length, size_t i, cull_dataset *into);

/* The label that a JSON object holds, as text: its member `key`, or, where that is NULL, the one
 * that is called as labels are. CULL_BAD_FILE when there is none, or it is neither text nor a
 * number. */
cull_status cull_data_json_label(const cull_data_source *file, const char *key,
                                 char out[CULL_DATA_LABEL]);

/* Is this a class that has a number: 0 to 65535, written as one writes it? */
bool cull_data_class_number(const char *text, int32_t *out);

/* All labels are there, and the set's count: classes and their names. named: texts are names also
 * where all are numbers; so they are where training named its classes. CULL_BAD_FILE, beginning
 * with `name`, when all are numbers and one is no class. */
cull_status cull_data_text_labels_settle(cull_categories *met, const char *name, bool named,
                                         cull_dataset *into);

#endif
