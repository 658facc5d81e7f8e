/* select/calls.c - the library as strategies in shared objects reach it: a table, not symbols. */
#include "select/select.h"

const cull_calls cull_sel_calls = {
    .fail = cull_fail,
    .subset_resize = cull_subset_resize,
    .value_real = cull_value_real,
    .value_int = cull_value_int,
    .value_bool = cull_value_bool,
    .value_text = cull_value_text,
    .value_is = cull_value_is,
    .write = cull_write,
    .read = cull_read,
    .key_make = cull_key_make,
    .key_uniform = cull_key_uniform,
    .budget = cull_budget,
    .budget_split = cull_budget_split,
    .omp = cull_omp,
    .gram = cull_gram,
    .facility = cull_facility,
};
