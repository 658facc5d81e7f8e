/* records/judge/sentence.c - words behind words, in the room there is. */
#include "records/judge/sentence.h"

#include <stdarg.h>
#include <stdio.h>

void cull_sentence_say(cull_sentence *s, const char *format, ...)
{
    va_list args;
    int     length = 0;

    va_start(args, format);
    length = vsnprintf(s->out + s->length, s->room - s->length, format, args);
    va_end(args);
    if (length > 0) s->length += (size_t)length;
    if (s->length >= s->room) s->length = s->room - 1;
}
