/* train/folder/record.c - what a run leaves to read, moment by moment: the trainer's numbers as the
 * records' lines have them. */
#include <math.h>
#include <string.h>

#include "train/train.h"

cull_status cull_record_open(cull_trainer *t)
{
    return cull_records_logs_open(&t->logs, t->run.folder, t->progress.metrics, t->progress.events);
}

cull_status cull_record_sync(cull_trainer *t)
{
    return cull_records_logs_sync(&t->logs, &t->progress.metrics, &t->progress.events);
}

static cull_records_line line_of(const cull_trainer *t, cull_records_event event, double epoch)
{
    return (cull_records_line){.event = event,
                               .step = (double)t->progress.step,
                               .epoch = epoch,
                               .rate = t->progress.rate,
                               .so_far =
                                   cull_meter_work(&t->books.meter, t->setup->score.proxy != NULL)};
}

cull_status cull_record_step(cull_trainer *t, size_t met, size_t kept)
{
    cull_records_line line = line_of(t, CULL_RECORDS_STEP, (double)t->progress.epoch + 1);

    /* A step may train nothing: the selector is still collecting. */
    line.loss = kept ? t->books.loss : NAN;
    line.met = (double)met;
    line.kept = (double)kept;
    return cull_records_logs_add(&t->logs, &line);
}

cull_status cull_record_epoch(cull_trainer *t)
{
    double            seen = (double)t->progress.seen;
    cull_records_line line = {0};

    cull_meter_settle(&t->books.meter);
    line = line_of(t, CULL_RECORDS_EPOCH, (double)t->progress.epoch + 1);
    line.loss = t->progress.loss / seen;
    line.accuracy = (double)t->progress.correct / seen;
    return cull_records_logs_add(&t->logs, &line);
}

cull_status cull_record_evaluation(cull_trainer *t, const char *set,
                                   const cull_evaluation *evaluation, bool best)
{
    cull_position     position = cull_train_position(t);
    cull_records_line line = {0};

    cull_meter_settle(&t->books.meter);
    line = line_of(t, CULL_RECORDS_EVALUATE, cull_position_epochs(&position));
    line.set = strcmp(set, "test") == 0 ? CULL_RECORDS_TEST : CULL_RECORDS_VALIDATION;
    line.loss = evaluation->loss;
    line.accuracy = evaluation->accuracy;
    line.best = best;
    line.seconds_evaluation = evaluation->seconds;
    return cull_records_logs_add(&t->logs, &line);
}
