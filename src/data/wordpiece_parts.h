/* data/wordpiece_parts.h - what a tokenizer is made of, for those who read one. */
#ifndef CULL_DATA_WORDPIECE_PARTS_H
#define CULL_DATA_WORDPIECE_PARTS_H

#include "data/source.h"
#include "data/vocabulary.h"
#include "data/wordpiece.h"

enum { CULL_WORDPIECE_MOST_WORD = 1000 };

/* What is done to a text before it is split; BERT's uncased models do all of it. */
typedef struct cull_wordpiece_rules {
    bool   clean;     /* control characters go, white space is a blank          */
    bool   chinese;   /* Chinese characters are words of their own              */
    bool   accents;   /* decomposed, and nonspacing marks go                    */
    bool   lower;     /* small letters                                          */
    size_t most_word; /* characters of a word that is looked up, at most CULL_WORDPIECE_MOST_WORD */
} cull_wordpiece_rules;

/* A text that stands for a number wherever it stands. */
typedef struct cull_wordpiece_mark {
    const char *text; /* of the tokenizer's own */
    size_t      length;
    int32_t     number;
} cull_wordpiece_mark;

struct cull_wordpiece {
    cull_vocabulary      pieces;
    cull_wordpiece_rules rules;
    cull_wordpiece_mark *mark; /* [marks] the longest first     */
    size_t               marks;
    char                *mark_bytes;
    bool                 begins[256];          /* does one begin with it?    */
    int32_t              unknown, first, last; /* [UNK], [CLS], [SEP] */
};

/* Room for so many marks, of so many bytes together; one more of them. */
cull_status cull_wordpiece_room(cull_wordpiece *w, size_t marks, size_t bytes);
void        cull_wordpiece_add(cull_wordpiece *w, const char *text, size_t length, int32_t number);

/* A tokenizer.json, as docs/formats.md says. */
cull_status cull_tokenizer_json_parse(const cull_data_source *source, cull_wordpiece **out);

/* What a tokenizer_config.json beside a vocabulary says of its rules. */
cull_status cull_tokenizer_config_parse(const cull_data_source *source,
                                        cull_wordpiece_rules   *rules);

#endif
