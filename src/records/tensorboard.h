/*
 * records/tensorboard.h - event files that TensorBoard reads: scalars, one record each.
 *
 * A record is its length (8 bytes), the masked CRC-32C of the length (4), a protobuf Event and the
 * masked CRC-32C of that (4); docs/formats.md has the fields.
 */
#ifndef CULL_RECORDS_TENSORBOARD_H
#define CULL_RECORDS_TENSORBOARD_H

#include "records/log.h"

#define CULL_TENSORBOARD_FILE "events.out.tfevents.cull"

enum { CULL_TENSORBOARD_TAG = 64, CULL_TENSORBOARD_RECORD = 160 };

/* CRC-32C (Castagnoli) of some bytes. */
uint32_t cull_tensorboard_crc(const void *data, size_t bytes);

/* The record that begins a file, and one scalar; each returns its length in out. Tags longer than
 * CULL_TENSORBOARD_TAG - 1 are cut. */
size_t cull_tensorboard_begin(double time, unsigned char out[CULL_TENSORBOARD_RECORD]);
size_t cull_tensorboard_scalar(double time, uint64_t step, const char *tag, double value,
                               unsigned char out[CULL_TENSORBOARD_RECORD]);

#endif
