/*
 * data/cifar.c - CIFAR-10 and CIFAR-100 in their binary form: records of one or two labels and
 * 3 x 32 x 32 pixels, plane by plane, which is how they stay.
 */
#include <string.h>

#include "base/alloc.h"
#include "data/reader.h"

enum { CHANNELS = 3, SIDE = 32, PIXELS = CHANNELS * SIDE * SIDE, RECORDS = 128, COARSE = 20 };

static cull_status take_record(const char *name, const unsigned char *record, bool hundred,
                               cull_dataset *into)
{
    cull_status status = CULL_OK;
    int         classes = hundred ? 100 : 10;
    size_t      labels = hundred ? 2 : 1;

    if (hundred && record[0] >= COARSE)
        FAIL(CULL_BAD_FILE, "%s: coarse label %d of example %zu; 0 to 19 are labels", name,
             record[0], into->count);
    if (record[labels - 1] >= classes)
        FAIL(CULL_BAD_FILE, "%s: label %d of example %zu; 0 to %d are labels", name,
             record[labels - 1], into->count, classes - 1);
    cull_data_labels(into)[into->count] = record[labels - 1];
    memcpy(cull_data_end(into), record + labels, PIXELS);
    into->count++;
done:
    return status;
}

static cull_status parse_records(const cull_data_source *source, bool hundred, cull_dataset *into)
{
    cull_status    status = CULL_OK;
    size_t         record = PIXELS + (hundred ? 2 : 1);
    uint64_t       left = source->size / record, at = 0;
    unsigned char *chunk = NULL;

    if (source->size == 0 || source->size % record)
        FAIL(CULL_BAD_FILE, "%s: %llu bytes, no whole number of records of %zu bytes", source->name,
             (unsigned long long)source->size, record);
    TRY(cull_data_shape(into, source->name, CULL_U8, CHANNELS, SIDE, SIDE));
    TRY(cull_data_extend(into, source->name, left));
    TRY(cull_base_alloc(RECORDS, record, "reading CIFAR", &chunk));
    while (left > 0) {
        size_t some = left < RECORDS ? (size_t)left : RECORDS;
        TRY(cull_data_source_read(source, at, chunk, some * record));
        for (size_t i = 0; i < some; i++)
            TRY(take_record(source->name, chunk + i * record, hundred, into));
        at += some * record;
        left -= some;
    }
    into->classes = hundred ? 100 : 10;
done:
    cull_base_free(chunk);
    return status;
}

cull_status cull_data_cifar10_parse(const cull_data_source *file, cull_dataset *into)
{
    return parse_records(file, false, into);
}

cull_status cull_data_cifar100_parse(const cull_data_source *file, cull_dataset *into)
{
    return parse_records(file, true, into);
}
