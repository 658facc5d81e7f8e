/* tests/plugins/empty.c - a shared object without a strategy. */
extern const int cull_nothing_here;
const int        cull_nothing_here = 0;
