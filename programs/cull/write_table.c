/* write_table.c - CSV as programs read it back (RFC 4180, with plain line ends). */
#include "write_table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int table_open(table *t, const char *path)
{
    t->path = path;
    t->to = stdout;
    if (!path) return END_WELL;
    (void)snprintf(t->part, sizeof t->part, "%.1100s.part-%ld", path, (long)getpid());
    t->to = fopen(t->part, "w");
    if (t->to) return END_WELL;
    return complain(END_FAILED, "Check the path, its permissions and the space left.", "%s: %s",
                    path, strerror(errno));
}

static void begin_field(table *t)
{
    if (t->inside) (void)fputc(',', t->to);
    t->inside = true;
}

void table_word(table *t, const char *word)
{
    begin_field(t);
    if (!strpbrk(word, ",\"\r\n")) {
        (void)fputs(word, t->to);
        return;
    }
    (void)fputc('"', t->to);
    for (; *word; word++) {
        if (*word == '"') (void)fputc('"', t->to);
        (void)fputc(*word, t->to);
    }
    (void)fputc('"', t->to);
}

void table_count(table *t, size_t count)
{
    begin_field(t);
    (void)fprintf(t->to, "%zu", count);
}

void table_number(table *t, double number)
{
    begin_field(t);
    (void)fprintf(t->to, "%.9g", number);
}

void table_end(table *t)
{
    (void)fputc('\n', t->to);
    t->inside = false;
}

bool table_goes_on(const table *t)
{
    return !ferror(t->to);
}

int table_close(table *t, int end)
{
    bool failed = false;

    if (!t->path) return end ? end : end_output(END_WELL);
    failed = ferror(t->to) != 0;
    failed = fclose(t->to) != 0 || failed;
    if (!end && !failed) failed = rename(t->part, t->path) != 0;
    if (end || failed) (void)unlink(t->part);
    if (end || !failed) return end;
    return complain(END_FAILED, "Check the path, its permissions and the space left.",
                    "%s: cannot be written: %s", t->path, strerror(errno));
}

bool table_is(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);

    return length > tail && strcmp(path + length - tail, ending) == 0;
}
