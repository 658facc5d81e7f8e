/* data_parts.h - what the parts of cull data share. */
#ifndef CULL_DATA_PARTS_H
#define CULL_DATA_PARTS_H

#include "flags.h"

typedef struct data_arguments {
    const char       *out, *role, *loss; /* NULL: not given */
    bool              json;
    cull_data_request request; /* which set, and how its files are read */
} data_arguments;

/* What is in both sets; a set anew. Exit statuses. */
int tell_of_set(const data_arguments *a);
int convert_set(const data_arguments *a);

/* A failure of the library over a data set: its sentence, and a hint. */
int complain_data(cull_status status);

/* Was it that there is no test set? Asked after a failure of a request for one. */
bool lacks_test(cull_status status);

#endif
