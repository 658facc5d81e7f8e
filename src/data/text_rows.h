/*
 * data/text_rows.h - texts on their way to being the rows of a set: numbers of word pieces, as many
 * for each, -1 behind its own.
 *
 * Texts are gathered for a while and then cut into pieces by several threads; what comes out does
 * not depend on them.
 */
#ifndef CULL_DATA_TEXT_ROWS_H
#define CULL_DATA_TEXT_ROWS_H

#include "base/threads.h"
#include "data/picture_list.h"
#include "data/reader.h"
#include "data/wordpiece.h"

enum {
    CULL_TEXT_LENGTH = 512,  /* tokens of a text where nothing else is said */
    CULL_TEXT_LEAST = 2,     /* what a text of nothing has                  */
    CULL_TEXT_MOST = 1 << 26 /* bytes of a text                             */
};

typedef struct cull_text_maker {
    const char     *name;   /* begins sentences; borrowed         */
    size_t          length; /* tokens of a row                    */
    cull_wordpiece *pieces;
    cull_team      *team;  /* NULL: too few texts came yet        */
    char           *bytes; /* of the texts that wait             */
    size_t          used, room;
    size_t         *end; /* [waiting] where each ends in them  */
    size_t          waiting;
    int32_t        *row; /* (count + waiting, length)          */
    size_t          count, rows_room;
    size_t         *whole;               /* [waiting] tokens of the whole text */
    size_t          empty, cut, longest; /* what is to be told */
} cull_text_maker;

/* Are the keys there that a set of texts needs? Into zeros, which clear ends, also after a failure.
 * CULL_BAD_OPTION about data.tokenizer or data.length. */
cull_status cull_data_texts_begin(const cull_data_request *request, cull_text_maker *m);
void        cull_data_texts_clear(cull_text_maker *m);

/* One more, copied. */
cull_status cull_data_texts_add(cull_text_maker *m, const char *text, size_t bytes);

/* Shape, rows, what a person should know of them; targets and count are the reader's. files: where
 * each lies, taken over; NULL: they have no names. */
cull_status cull_data_texts_end(cull_text_maker *m, cull_picture_list *files, cull_dataset *into);

#endif
