/*
 * backend/cpu/kernel_name.h - names in kernels that are compiled once for each instruction set:
 * they end with it.
 */
#ifndef CULL_BACKEND_CPU_KERNEL_NAME_H
#define CULL_BACKEND_CPU_KERNEL_NAME_H

#define KERNEL_PASTE(name, set)  name##set
#define KERNEL_EXPAND(name, set) KERNEL_PASTE(name, set)
#define KERNEL_NAME(name)        KERNEL_EXPAND(name, CULL_KERNELS)

#endif
