/* base/clock.h - a clock that only goes forward, for measuring. */
#ifndef CULL_BASE_CLOCK_H
#define CULL_BASE_CLOCK_H

double cull_base_seconds(void);

#endif
