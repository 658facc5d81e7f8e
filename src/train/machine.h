/* train/machine.h - what a run computes on: the backend that its setup asks for, or the best there
 * is. */
#ifndef CULL_TRAIN_MACHINE_H
#define CULL_TRAIN_MACHINE_H

#include "nn/nn.h"
#include "train/setup.h"

enum { CULL_MACHINE_WHY = 256 };

/* Where networks are computed without a device. */
#ifdef CULL_WITHOUT_DNNL
#define CULL_MACHINE_PROCESSOR "ref"
#else
#define CULL_MACHINE_PROCESSOR "cpu"
#endif

/* *why: "" where the setup names its backend, else why `auto` chose as it did. Nothing but the
 * backend's own failures where it is named; a device that auto cannot use is not one. */
cull_status cull_machine_open(const cull_train_setup *setup, cull_backend **out,
                              char why[CULL_MACHINE_WHY]);

/* Can it compute as the setup asks? CULL_BAD_OPTION names the key. why: of cull_machine_open(). */
cull_status cull_machine_check(const cull_train_setup *setup, const cull_backend *backend,
                               const char *why);

/* What networks there are computed in: the setup's, as far as the backend goes. */
cull_arithmetic cull_machine_arithmetic(const cull_train_setup *setup, const cull_backend *backend);

/* How many examples are evaluated at once there. */
size_t cull_train_evaluate_batch(const cull_train_setup *setup, const cull_backend *backend);

/* Where auto chose a device that has no operation for a layer of this model, the processor takes
 * its place: *backend. */
cull_status cull_machine_fit(const cull_train_setup *setup, const cull_model *model,
                             cull_backend **backend, char why[CULL_MACHINE_WHY]);

#endif
