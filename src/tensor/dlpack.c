/* tensor/dlpack.c - borrowing a DLPack tensor. The layout is the one DLPack fixes. */
#include "tensor/tensor.h"

enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4 };

struct dl_tensor {
    void       *data;
    cull_device device;
    int32_t     dims;
    struct {
        uint8_t  code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

static cull_status dtype_of(const struct dl_tensor *dl, cull_dtype *out)
{
    static const struct {
        uint8_t    code, bits;
        cull_dtype dtype;
    } known[] = {{DL_FLOAT, 32, CULL_F32}, {DL_FLOAT, 64, CULL_F64}, {DL_INT, 32, CULL_I32},
                 {DL_INT, 64, CULL_I64},   {DL_UINT, 8, CULL_U8},    {DL_BFLOAT, 16, CULL_BF16}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (dl->dtype.lanes == 1 && known[i].code == dl->dtype.code &&
            known[i].bits == dl->dtype.bits) {
            *out = known[i].dtype;
            return CULL_OK;
        }
    }
    return cull_fail(CULL_UNSUPPORTED, "DLPack type code %d, %d bits, %d lanes is not taken",
                     dl->dtype.code, dl->dtype.bits, dl->dtype.lanes);
}

cull_status cull_tensor_from_dlpack(const void *dltensor, cull_tensor *out)
{
    cull_status             status = CULL_OK;
    const struct dl_tensor *dl = dltensor;
    cull_tensor             view = {0};
    int64_t                 dense = 1;

    if (!dl || !out) FAIL(CULL_BAD_ARGUMENT, "a DLPack tensor and a place for its view are needed");
    if (dl->dims < 1 || dl->dims > CULL_MAX_DIMS)
        FAIL(CULL_UNSUPPORTED, "DLPack tensor has %d dimensions, 1 to %d are taken", dl->dims,
             CULL_MAX_DIMS);
    TRY(dtype_of(dl, &view.dtype));
    view.device = dl->device;
    view.dims = dl->dims;
    view.data = dl->data ? (char *)dl->data + dl->byte_offset : NULL;
    for (int i = dl->dims - 1; i >= 0; i--) {
        view.shape[i] = dl->shape[i];
        /* of an extent of one the stride is never taken, and may be anything */
        view.stride[i] = dl->strides && view.shape[i] > 1 ? dl->strides[i] : dense;
        if (view.shape[i] < 0) FAIL(CULL_BAD_ARGUMENT, "DLPack tensor has a negative extent");
        if (__builtin_mul_overflow(dense, view.shape[i], &dense))
            FAIL(CULL_BAD_ARGUMENT, "DLPack tensor has more elements than can be counted");
    }
    if (dl->dims > 1 && view.stride[dl->dims - 1] != 1)
        FAIL(CULL_UNSUPPORTED, "DLPack tensor's last dimension is not dense (stride %lld)",
             (long long)view.stride[dl->dims - 1]);
    *out = view;
done:
    return status;
}
