/*
 * backend/cpu/kernels_conv.c - the sums of a convolution's weight gradient (kernels_layer.h).
 *
 * A block of WIDTH by WIDTH sums stays in registers, one vector for each channel of x, while all
 * pixels pass by; where channels do not mix, a vector of sums does.
 */
#include <string.h>

#include "backend/cpu/kernel_name.h"
#include "backend/cpu/kernels_layer.h"

#if defined(__AVX512F__)
enum { WIDTH = 16 };
#else
enum { WIDTH = 8 };
#endif
typedef float vector __attribute__((vector_size(WIDTH * sizeof(float))));

static void outer(const cull_conv_walk *walk, const float *x, const float *dy, float *sum)
{
    vector s[WIDTH] = {{0}}, v;

    for (size_t n = 0; n < walk->images; n++) {
        for (size_t p = 0; p < walk->lines; p++) {
            const float *a = x + n * walk->x_image + p * walk->x_line;
            const float *b = dy + n * walk->dy_image + p * walk->dy_line;

            for (size_t q = 0; q < walk->count; q++, a += walk->x_step, b += walk->dy_step) {
                memcpy(&v, b, sizeof v);
                for (int i = 0; i < WIDTH; i++) s[i] += a[i] * v;
            }
        }
    }
    for (int i = 0; i < WIDTH; i++) {
        memcpy(&v, sum + i * WIDTH, sizeof v);
        v += s[i];
        memcpy(sum + i * WIDTH, &v, sizeof v);
    }
}

static void inner_strip(const cull_conv_walk *walk, const float *x, const float *dy, float *sum)
{
    vector s = {0}, v, u;

    for (size_t n = 0; n < walk->images; n++) {
        for (size_t p = 0; p < walk->lines; p++) {
            const float *a = x + n * walk->x_image + p * walk->x_line;
            const float *b = dy + n * walk->dy_image + p * walk->dy_line;

            for (size_t q = 0; q < walk->count; q++, a += walk->x_step, b += walk->dy_step) {
                memcpy(&v, a, sizeof v);
                memcpy(&u, b, sizeof u);
                s += v * u;
            }
        }
    }
    memcpy(&v, sum, sizeof v);
    v += s;
    memcpy(sum, &v, sizeof v);
}

static float inner_one(const cull_conv_walk *walk, const float *x, const float *dy)
{
    float s = 0;

    for (size_t n = 0; n < walk->images; n++)
        for (size_t p = 0; p < walk->lines; p++)
            for (size_t q = 0; q < walk->count; q++)
                s += x[n * walk->x_image + p * walk->x_line + q * walk->x_step] *
                     dy[n * walk->dy_image + p * walk->dy_line + q * walk->dy_step];
    return s;
}

static void inner(const cull_conv_walk *walk, size_t channels, const float *x, const float *dy,
                  float *sum)
{
    size_t c = 0;

    for (; c + WIDTH <= channels; c += WIDTH) inner_strip(walk, x + c, dy + c, sum + c);
    for (; c < channels; c++) sum[c] += inner_one(walk, x + c, dy + c);
}

const cull_conv_loops KERNEL_NAME(cull_conv_loops_) = {WIDTH, outer, inner};
