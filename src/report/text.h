/*
 * report/text.h - text that grows, and what makes text of files safe inside HTML.
 *
 * The first failure stays in `status` and later calls do nothing, so that writers need not look
 * after every piece.
 */
#ifndef CULL_REPORT_TEXT_H
#define CULL_REPORT_TEXT_H

#include "base/status.h"

enum {
    CULL_REP_NAME = 120,    /* characters shown of a name                  */
    CULL_REP_SENTENCE = 600 /* and of a sentence; what is cut ends in "…" */
};

typedef struct cull_rep_text {
    char       *data; /* ends in a zero once anything was put */
    size_t      size, room;
    cull_status status;
} cull_rep_text;

/* As it is: our own words only. */
void cull_rep_put(cull_rep_text *text, const char *words);
void cull_rep_bytes(cull_rep_text *text, const void *data, size_t bytes);
void cull_rep_print(cull_rep_text *text, const char *format, ...) CULL_PRINTF(2, 3);

/* Words of a file: <>&"' escaped, control characters as spaces, bytes that are no UTF-8 as "?",
 * at most `most` characters. NULL: nothing. */
void cull_rep_escape(cull_rep_text *text, const char *words, size_t most);

/* The same of a sentence that terminals show too: "%" keeps to its number, and minus signs and
 * apostrophes are true ones. */
void cull_rep_sentence(cull_rep_text *text, const char *words, size_t most);

/* At most so many characters, and bytes as there is room for; what is left out of the middle shows
 * as "…", for names differ at their ends. */
void cull_rep_shorten(const char *words, size_t most, char *out, size_t room);

/* A number with so many digits behind the point and a true minus sign; "–" when not finite. */
void cull_rep_number(cull_rep_text *text, double value, int digits);
/* The same with its sign always there. */
void cull_rep_signed(cull_rep_text *text, double value, int digits);
/* Tenths, and of less than ten three digits that say something. */
void cull_rep_seconds(cull_rep_text *text, double seconds);
/* 60000 as "60,000", 3 as "3". */
void cull_rep_count(cull_rep_text *text, double value);

void cull_rep_text_clear(cull_rep_text *text);

#endif
