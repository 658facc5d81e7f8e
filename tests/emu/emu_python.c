/*
 * tests/emu/emu_python.c - what the Python tests do with the imitated device beside the library:
 * arrays on it, streams of a caller's own, and counts of what was copied.
 *
 * It is exported by the module of the imitation (emu.cmake), which is opened in place of the one
 * for devices where CULL_MODULES says so.
 */
#include "cull.h"
#include "emu_inside.h"
#include "far/far.h"

CULL_API void  *emu_py_allocate(size_t bytes);
CULL_API void   emu_py_release(void *data);
CULL_API int    emu_py_copy(void *to, const void *from, size_t bytes, void *stream);
CULL_API int    emu_py_fetch(void *to, const void *from, size_t bytes);
CULL_API int    emu_py_order(void *stream, void *behind);
CULL_API int    emu_py_wait(void);
CULL_API void  *emu_py_stream(void);
CULL_API void   emu_py_end_stream(void *stream);
CULL_API size_t emu_py_fetched(void);
CULL_API size_t emu_py_waits(void);
CULL_API int    emu_py_capture(void *stream, int begin);

/* The device's memory is that of `far`, which the module does not have. */
void far_insist(bool holds, const char *what)
{
    emu_insist(holds, what);
}

void *emu_py_allocate(size_t bytes)
{
    void *data = NULL;

    return cudaMalloc(&data, bytes ? bytes : 1) == cudaSuccess ? data : NULL;
}

void emu_py_release(void *data)
{
    (void)cudaFree(data);
}

/* From the host or on the device, when the stream comes to it. */
int emu_py_copy(void *to, const void *from, size_t bytes, void *stream)
{
    return (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

int emu_py_fetch(void *to, const void *from, size_t bytes)
{
    return (int)cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}

void *emu_py_stream(void)
{
    cudaStream_t stream = NULL;

    (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return stream;
}

void emu_py_end_stream(void *stream)
{
    (void)cudaStreamDestroy(stream);
}

/* What a stream is asked for from now on comes behind what the other was asked for. */
int emu_py_order(void *stream, void *behind)
{
    static cudaEvent_t event; /* ending one would wait */
    cudaError_t        error = cudaSuccess;

    if (!event) error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(event, behind);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, event, 0);
    return (int)error;
}

int emu_py_wait(void)
{
    return (int)cudaDeviceSynchronize();
}

/* The largest copy to the host since this was asked last. */
size_t emu_py_fetched(void)
{
    return emu_fetched();
}

size_t emu_py_waits(void)
{
    return emu_waits();
}

int emu_py_capture(void *stream, int begin)
{
    cudaGraph_t graph = NULL;
    cudaError_t error = cudaSuccess;

    if (begin) return (int)cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    error = cudaStreamEndCapture(stream, &graph);
    if (graph) (void)cudaGraphDestroy(graph);
    return (int)error;
}
