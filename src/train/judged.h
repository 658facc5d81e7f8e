/*
 * train/judged.h - the figure that a set is judged by, of each loss.
 *
 *     accuracy   examples classified right / examples
 *     R²         1 - squared error / variance of the targets, all outputs together
 *     mAP        mean over the labels of their average precision, the mean over a label's true
 *                examples of the share of true ones among those ranked as high; examples of one
 *                score share a rank. Labels that hold for no example have none and do not count
 *
 * mAP goes by ranks alone: a choice of examples that makes labels look more frequent than they are
 * moves every score, and would move a figure that goes by a threshold.
 */
#ifndef CULL_TRAIN_JUDGED_H
#define CULL_TRAIN_JUDGED_H

#include "backend/backend.h"
#include "data/dataset.h"
#include "records/yardstick.h"

/* Which figure that is, and what targets a loss is of. */
const cull_yardstick *cull_train_yardstick(cull_loss_kind loss);
cull_target_kind      cull_train_target(cull_loss_kind loss);

/* How much there is to explain in a set's targets, where the loss is of real numbers; else 0. */
double cull_train_variance(cull_loss_kind loss, const cull_dataset *set);

/* The figure by sums over examples, where these tell it; else NaN. variance: of the targets that
 * the sums are over. */
double cull_train_judged(cull_loss_kind loss, const cull_seen *sums, double variance);

/* mAP of scores (count, labels), in the order of the set. */
cull_status cull_train_precision(const cull_dataset *set, const float *score, double *out);

/* What the best single answer to all of a set's examples gets, as a share: the most frequent class,
 * the mean of the numbers, all labels alike. Who has learnt nothing does no better. */
cull_status cull_train_guess(cull_loss_kind loss, const cull_dataset *set, double *out);

/* Has the figure a meaning on this set? CULL_BAD_OPTION says why not; which: "test". */
cull_status cull_train_check_judged(cull_loss_kind loss, const cull_dataset *set,
                                    const char *which);

#endif
