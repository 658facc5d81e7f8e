/* train/folder/record.c - what a run leaves to read, moment by moment: its books as the records'
 * lines have them. */
#include <math.h>

#include "train/books.h"

cull_status cull_books_open_logs(cull_books *b, const char *folder, const cull_progress *at)
{
    return cull_records_logs_open(&b->logs, folder, cull_train_yardstick(b->of), at->metrics,
                                  at->events);
}

cull_status cull_books_sync_logs(cull_books *b, cull_progress *at)
{
    return cull_records_logs_sync(&b->logs, &at->metrics, &at->events);
}

static cull_records_line line_of(const cull_books *b, const cull_progress *at,
                                 cull_records_event event, double epoch)
{
    cull_records_line line = {.event = event,
                              .step = (double)at->step,
                              .epoch = epoch,
                              .rate = at->rate,
                              .so_far = cull_meter_work(&b->meter, b->proxied)};

    line.so_far.updates = (double)b->optim->steps;
    return line;
}

cull_status cull_books_log_step(cull_books *b, const cull_progress *at, size_t met, size_t kept)
{
    cull_records_line line = line_of(b, at, CULL_RECORDS_STEP, (double)at->epoch + 1);

    /* A step may train nothing: the selector is still collecting. */
    line.loss = kept ? b->loss : NAN;
    line.met = (double)met;
    line.kept = (double)kept;
    return cull_records_logs_add(&b->logs, &line);
}

cull_status cull_books_log_epoch(cull_books *b, const cull_progress *at)
{
    cull_seen         sums = {at->loss, at->seen, at->correct};
    cull_records_line line = {0};

    cull_meter_settle(&b->meter);
    line = line_of(b, at, CULL_RECORDS_EPOCH, (double)at->epoch + 1);
    line.loss = at->loss / (double)at->seen;
    line.accuracy = cull_train_judged(b->of, &sums, b->variance);
    line.met = (double)b->tally.pool;
    line.kept = (double)at->seen;
    return cull_records_logs_add(&b->logs, &line);
}

cull_status cull_books_log_evaluation(cull_books *b, const cull_progress *at, double epochs,
                                      bool test, const cull_evaluation *evaluation, bool best)
{
    cull_records_line line = {0};

    cull_meter_settle(&b->meter);
    line = line_of(b, at, CULL_RECORDS_EVALUATE, epochs);
    line.set = test ? CULL_RECORDS_TEST : CULL_RECORDS_VALIDATION;
    line.loss = evaluation->loss;
    line.accuracy = evaluation->accuracy;
    line.best = best;
    line.seconds_evaluation = evaluation->seconds;
    return cull_records_logs_add(&b->logs, &line);
}
