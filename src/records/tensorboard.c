/* records/tensorboard.c - TFRecord framing and the few protobuf fields that a scalar needs. */
#include "records/tensorboard.h"

#include <string.h>

enum { HEAD = 12, FOOT = 4 };

/* Bits in reverse: the polynomial 0x1EDC6F41. */
#define CASTAGNOLI 0x82f63b78u

uint32_t cull_tensorboard_crc(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint32_t             crc = ~0u;

    for (size_t i = 0; i < bytes; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? CASTAGNOLI : 0);
    }
    return ~crc;
}

static uint32_t masked(const void *data, size_t bytes)
{
    uint32_t crc = cull_tensorboard_crc(data, bytes);

    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static size_t put_little(unsigned char *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) out[i] = (unsigned char)(value >> 8 * i);
    return bytes;
}

static size_t put_varint(unsigned char *out, uint64_t value)
{
    size_t length = 0;

    for (; value >= 0x80; value >>= 7) out[length++] = (unsigned char)(value | 0x80);
    out[length++] = (unsigned char)value;
    return length;
}

static size_t put_double(unsigned char *out, unsigned char key, double value)
{
    uint64_t bits = 0;

    memcpy(&bits, &value, sizeof bits);
    out[0] = key;
    return 1 + put_little(out + 1, bits, sizeof bits);
}

static size_t put_bytes(unsigned char *out, unsigned char key, const void *data, size_t bytes)
{
    size_t at = 0;

    out[at++] = key;
    at += put_varint(out + at, bytes);
    memcpy(out + at, data, bytes);
    return at + bytes;
}

/* The event lies at out + HEAD already. */
static size_t frame(unsigned char *out, size_t event)
{
    put_little(out, event, 8);
    put_little(out + 8, masked(out, 8), 4);
    put_little(out + HEAD + event, masked(out + HEAD, event), FOOT);
    return HEAD + event + FOOT;
}

size_t cull_tensorboard_begin(double time, unsigned char out[CULL_TENSORBOARD_RECORD])
{
    static const char version[] = "brain.Event:2";
    size_t            at = HEAD;

    at += put_double(out + at, 0x09, time);                       /* Event.wall_time    */
    at += put_bytes(out + at, 0x1a, version, sizeof version - 1); /* Event.file_version */
    return frame(out, at - HEAD);
}

size_t cull_tensorboard_scalar(double time, uint64_t step, const char *tag, double value,
                               unsigned char out[CULL_TENSORBOARD_RECORD])
{
    unsigned char inner[CULL_TENSORBOARD_RECORD], summary[CULL_TENSORBOARD_RECORD];
    size_t        length = strlen(tag), at = 0, size = 0;
    float         narrow = (float)value;
    uint32_t      bits = 0;

    if (length >= CULL_TENSORBOARD_TAG) length = CULL_TENSORBOARD_TAG - 1;
    memcpy(&bits, &narrow, sizeof bits);
    size = put_bytes(inner, 0x0a, tag, length); /* Summary.Value.tag          */
    inner[size++] = 0x15;                       /* Summary.Value.simple_value */
    size += put_little(inner + size, bits, sizeof bits);
    size = put_bytes(summary, 0x0a, inner, size); /* Summary.value              */
    at = HEAD;
    at += put_double(out + at, 0x09, time); /* Event.wall_time            */
    out[at++] = 0x10;                       /* Event.step                 */
    at += put_varint(out + at, step);
    at += put_bytes(out + at, 0x2a, summary, size); /* Event.summary              */
    return frame(out, at - HEAD);
}
