/* nn/window.c - windows that slide over an image, their two axes each with numbers of its own. */
#include <stdio.h>

#include "nn/graph.h"

static bool is_within(int64_t number, int64_t least, int64_t most)
{
    return number >= least && number <= most;
}

static cull_status check_axis(const cull_model *model, const cull_window *w)
{
    if (is_within(w->kernel, 1, CULL_MOST_SIDE) && is_within(w->stride, 0, CULL_MOST_SIDE) &&
        is_within(w->dilation, 0, CULL_MOST_SIDE) &&
        is_within(w->pad, 0, (w->kernel - 1) * (w->dilation ? w->dilation : 1)))
        return CULL_OK;
    return cull_fail(CULL_BAD_ARGUMENT,
                     "%s: node %d: a window of kernel %lld, stride %lld, padding %lld, dilation "
                     "%lld",
                     model->name, model->nodes, (long long)w->kernel, (long long)w->stride,
                     (long long)w->pad, (long long)w->dilation);
}

cull_status cull_nn_graph_check_window(const cull_model *model, cull_window height,
                                       cull_window width)
{
    cull_status status = CULL_OK;

    TRY(check_axis(model, &height));
    if (width.kernel)
        TRY(check_axis(model, &width));
    else if (width.stride || width.pad || width.dilation)
        FAIL(CULL_BAD_ARGUMENT, "%s: node %d: the width of a window has settings but no kernel",
             model->name, model->nodes);
done:
    return status;
}

void cull_nn_graph_window(cull_layer_desc *desc, cull_window height, cull_window width)
{
    cull_window axis[2] = {height, width.kernel ? width : height};

    for (int i = 0; i < 2; i++) {
        desc->kernel[i] = axis[i].kernel;
        desc->stride[i] = axis[i].stride ? axis[i].stride : 1;
        desc->pad[i] = axis[i].pad;
        desc->dilation[i] = axis[i].dilation ? axis[i].dilation : 1;
    }
}

static int64_t slide(const cull_layer_desc *d, int axis, int64_t in)
{
    int64_t reach = (d->kernel[axis] - 1) * d->dilation[axis] + 1;
    int64_t room = in + 2 * d->pad[axis] - reach;

    if (d->kernel[axis] < 1 || d->stride[axis] < 1 || d->dilation[axis] < 1 || d->pad[axis] < 0 ||
        d->pad[axis] >= reach || room < 0)
        return 0;
    return room / d->stride[axis] + 1;
}

void cull_nn_graph_slide(cull_layer_desc *desc, const cull_image *in)
{
    desc->y.h = slide(desc, 0, in->h);
    desc->y.w = slide(desc, 1, in->w);
}

int cull_nn_graph_axes(char *out, size_t room, const char *what, const int64_t number[2])
{
    int at = snprintf(out, room, "%s%lld", what, (long long)number[0]);

    if (number[0] != number[1])
        at += snprintf(out + at, room - (size_t)at, "x%lld", (long long)number[1]);
    return at;
}

void cull_nn_graph_window_text(const cull_layer_desc *desc, char out[CULL_WINDOW_TEXT])
{
    size_t room = CULL_WINDOW_TEXT;
    int    at =
        snprintf(out, room, "%lldx%lld", (long long)desc->kernel[0], (long long)desc->kernel[1]);

    at += cull_nn_graph_axes(out + at, room - (size_t)at, ", stride ", desc->stride);
    at += cull_nn_graph_axes(out + at, room - (size_t)at, ", padding ", desc->pad);
    if (desc->dilation[0] != 1 || desc->dilation[1] != 1)
        (void)cull_nn_graph_axes(out + at, room - (size_t)at, ", dilation ", desc->dilation);
}
