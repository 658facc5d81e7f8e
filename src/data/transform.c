/* data/transform.c - augmentation as recipes ask for it, checked and described for a backend. */
#include "data/transform.h"

#include <string.h>

#include "base/alloc.h"

cull_status cull_data_augment_check(const cull_data_augment *augment, cull_data_form form,
                                    const cull_dataset *set)
{
    cull_status status = CULL_OK;
    bool        flat = set->height * set->width == 1 || set->dtype == CULL_I32;

    if ((set->dtype == CULL_I32) != (form.dtype == CULL_I32))
        FAIL(CULL_BAD_ARGUMENT, "%s: %s, and the network reads %s", set->name,
             set->dtype == CULL_I32 ? "texts are tokens" : "examples are numbers",
             form.dtype == CULL_I32 ? "tokens: texts are needed" : "numbers");
    if (form.dtype != CULL_I32 && form.dtype != CULL_F32 && form.dtype != CULL_F64 &&
        form.dtype != CULL_BF16)
        FAIL(CULL_BAD_ARGUMENT, "examples are handed over as float32, float64 or bfloat16");
    if (!augment) goto done;
    if (flat && (augment->pad || augment->flip || augment->cutout))
        FAIL(CULL_BAD_ARGUMENT, "%s: %s needs images, and these are features", set->name,
             augment->pad    ? "crop"
             : augment->flip ? "flip"
                             : "cutout");
    if (augment->pad > CULL_AUGMENT_MOST_SIDE || augment->cutout > CULL_AUGMENT_MOST_SIDE)
        FAIL(CULL_BAD_ARGUMENT, "%s: a padding of %zu or a cutout of %zu; %d is the most",
             set->name, augment->pad, augment->cutout, CULL_AUGMENT_MOST_SIDE);
    if (augment->reflect && (augment->pad >= set->height || augment->pad >= set->width))
        FAIL(CULL_BAD_ARGUMENT, "%s: a reflected padding of %zu around %zu x %zu pixels", set->name,
             augment->pad, set->height, set->width);
done:
    return status;
}

cull_augment_desc cull_data_describe(const cull_dataset *set, const cull_data_augment *augment,
                                     cull_data_form form)
{
    cull_augment_desc desc = {.channels = set->channels,
                              .height = set->height,
                              .width = set->width,
                              .from = set->dtype,
                              .to = form.dtype,
                              .channels_last = form.channels_last,
                              .mean = set->mean,
                              .deviation = set->deviation};

    if (!augment) return desc;
    desc.pad = augment->pad;
    desc.reflect = augment->reflect;
    desc.flip = augment->flip;
    desc.cutout = augment->cutout;
    desc.move = cull_key_make(augment->seed, "crop and flip");
    desc.hole = cull_key_make(augment->seed, "cutout");
    return desc;
}

cull_status cull_data_make(const cull_dataset *set, const cull_augment_desc *desc,
                           const uint32_t *places, size_t count, uint64_t epoch, bool augmented,
                           size_t length, void *buffer, void *out)
{
    cull_status status = CULL_OK;
    size_t      bytes = cull_augment_numbers(desc, length) * cull_dtype_size(desc->to);
    const void *raw = NULL;

    for (size_t i = 0; set->rows->class->ahead && i < count; i++)
        set->rows->class->ahead(set->rows, set->origin[places[i]]);
    for (size_t i = 0; i < count; i++) {
        TRY(cull_data_row_at(set, places[i], buffer, &raw));
        if (desc->from == CULL_I32)
            memcpy((char *)out + i * bytes, raw, bytes);
        else
            cull_augment_row(desc, raw, places[i], epoch, augmented, (char *)out + i * bytes);
    }
done:
    return status;
}

cull_status cull_data_transform(const cull_dataset *set, const cull_data_augment *augment,
                                cull_data_form form, uint64_t epoch, const uint32_t *places,
                                size_t count, void *out)
{
    cull_status       status = CULL_OK;
    cull_augment_desc desc = cull_data_describe(set, augment, form);
    void             *buffer = NULL;

    if (!cull_data_base(set))
        TRY(cull_base_alloc(1, cull_data_row_bytes(set), "an example", &buffer));
    TRY(cull_data_make(set, &desc, places, count, epoch, augment != NULL, 0, buffer, out));
done:
    cull_base_free(buffer);
    return status;
}
