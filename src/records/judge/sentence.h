/* records/judge/sentence.h - sentences that are put together piece by piece. */
#ifndef CULL_RECORDS_SENTENCE_H
#define CULL_RECORDS_SENTENCE_H

#include "base/status.h"

typedef struct cull_sentence {
    char  *out; /* [room], ends in a zero; what does not fit is cut */
    size_t room, length;
} cull_sentence;

void cull_sentence_say(cull_sentence *sentence, const char *format, ...) CULL_PRINTF(2, 3);

#endif
