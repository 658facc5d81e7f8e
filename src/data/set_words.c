/* data/set_words.c - words of names that say which set is meant. */
#include "data/set_words.h"

#include "base/texts.h"

cull_set_word cull_data_set_word(const char *text, size_t length)
{
    static const struct {
        const char   *text;
        cull_set_word word;
    } words[] = {{"train", CULL_SET_TRAIN},   {"training", CULL_SET_TRAIN}, {"test", CULL_SET_TEST},
                 {"testing", CULL_SET_TEST},  {"val", CULL_SET_VAL},        {"valid", CULL_SET_VAL},
                 {"validation", CULL_SET_VAL}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (cull_text_is(text, length, words[i].text)) return words[i].word;
    return CULL_SET_NEITHER;
}

static bool is_letter(char c)
{
    c = cull_text_small(c);
    return c >= 'a' && c <= 'z';
}

cull_set_word cull_data_set_word_in(const char *name)
{
    cull_set_word word = CULL_SET_NEITHER;

    while (*name && word == CULL_SET_NEITHER) {
        size_t length = 0;
        while (is_letter(name[length])) length++;
        word = cull_data_set_word(name, length);
        name += length ? length : 1;
    }
    return word;
}
