/* data/set_words.h - what people call the sets that lie side by side. */
#ifndef CULL_DATA_SET_WORDS_H
#define CULL_DATA_SET_WORDS_H

#include <stddef.h>

typedef enum cull_set_word {
    CULL_SET_NEITHER,
    CULL_SET_TRAIN,
    CULL_SET_TEST,
    CULL_SET_VAL
} cull_set_word;

/* "train" or "training"; "test" or "testing"; "val", "valid" or "validation"; capitals or not. */
cull_set_word cull_data_set_word(const char *text, size_t length);

/* The first such word among those that a name is made of: "digits-val-0001.tar". */
cull_set_word cull_data_set_word_in(const char *name);

#endif
