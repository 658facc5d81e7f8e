"""As much of torch as the package asks of a tensor on a device, over the imitated one: for tests where torch has none.

Tensors are in the memory of `emulated`, written in the stream that is current; what torch would do by a kernel (a cast,
a copy) goes to it as well.
"""
import types

import emulated
import numpy

strided = "strided"
version = types.SimpleNamespace(hip=None)


class dtype:
    def __init__(self, name, numpys=None):
        self.name, self.numpy = name, numpys or name
        self.is_floating_point = "float" in name
        self.is_complex = False

    def __repr__(self):
        return f"torch.{self.name}"


float16, float32, float64 = dtype("float16"), dtype("float32"), dtype("float64")
bfloat16, bool_ = dtype("bfloat16", "uint16"), dtype("bool")
int32, int64, uint8, int16 = dtype("int32"), dtype("int64"), dtype("uint8"), dtype("int16")
globals()["bool"] = bool_
_of = {t.numpy: t for t in (float16, float32, float64, int32, int64, uint8, int16, bool_)}
current = emulated.Stream()    # torch's current stream


class _C:
    @staticmethod
    def _cuda_getCurrentRawStream(_):
        return current.handle


class Device:
    def __init__(self, name):
        self.type, _, number = name.partition(":")
        self.index = int(number or 0)


class Tensor:
    layout = strided

    def __init__(self, array, kind=None, device="cuda:0", owner=None):
        self.array, self.dtype, self.device = array, kind or _of[array.dtype.name], Device(device)
        self.shape = array.shape
        self.owner = owner or (emulated.OnDevice(array, current) if self.device.type == "cuda" else array)

    def data_ptr(self):
        return self.owner.at if self.device.type == "cuda" else self.array.ctypes.data

    def dim(self):
        return len(self.shape)

    def stride(self, at=None):
        steps = tuple(s // self.array.itemsize for s in self.array.strides)
        return steps if at is None else steps[at]

    def detach(self):
        return self

    resolve_neg = detach

    def is_neg(self):
        return False

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def contiguous(self):
        return self if self.is_contiguous() else Tensor(numpy.ascontiguousarray(self.array))

    def to(self, what):
        if isinstance(what, str):
            return Tensor(self.array, self.dtype, what)
        if what is self.dtype:
            return self
        return Tensor((self.numpy() if self.device.type == "cuda" else self.array).astype(what.numpy), what, self.device.type)

    def ne(self, value):
        return Tensor(self.array != value)

    def reshape(self, *shape):
        return Tensor(self.array.reshape(shape), self.dtype, self.device.type, self.owner)

    def numpy(self):
        return self.owner.numpy().reshape(self.shape)

    def __len__(self):
        return self.shape[0]


def empty(count, dtype, device):
    return Tensor(numpy.zeros(count, dtype.numpy), dtype, device)


def from_numpy(array):
    return Tensor(array, None, "cpu")


def narrow(array):
    """A tensor of bfloat16: of floats the upper halves."""
    return Tensor((array.astype("float32").view("uint32") >> 16).astype("uint16"), bfloat16)
