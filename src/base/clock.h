/* base/clock.h - clocks that only go forward, for measuring. */
#ifndef CULL_BASE_CLOCK_H
#define CULL_BASE_CLOCK_H

double cull_base_seconds(void);

/* The processor time that this process has had, all of its threads together. */
double cull_base_processor_seconds(void);

#endif
