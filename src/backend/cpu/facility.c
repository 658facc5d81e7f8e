/* backend/cpu/facility.c - facility location on the host. */
#include "backend/cpu/cpu.h"
#include "backend/ref/ref.h"

cull_status cull_ref_facility_run(cull_op *op, const cull_op_args *args);

const cull_op_class cull_cpu_facility = {cull_ref_create, cull_ref_facility_run, cull_ref_destroy};
