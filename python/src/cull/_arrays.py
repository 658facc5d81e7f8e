"""Arrays of the caller, numpy's or torch's, as the library's views of them.

A view borrows: whoever fills one in gets back the array that has to live as long as the view, which is the caller's
own unless it had to be copied. torch is never imported here; a tensor is known by its class, whose module the caller
has imported.
"""
from __future__ import annotations

import sys
from typing import Any

import numpy

from . import _abi, _device
from ._library import CullUnsupportedError, CullValueError

Array = Any  # a numpy.ndarray, a torch.Tensor, or what has __dlpack__ or __array__

_FLOATS = {numpy.dtype("float32"): _abi.CULL_F32, numpy.dtype("float64"): _abi.CULL_F64}
_LABELS = {numpy.dtype("int32"): _abi.CULL_I32, numpy.dtype("int64"): _abi.CULL_I64, numpy.dtype("uint8"): _abi.CULL_U8}
_torch_types: dict[str, tuple[dict[Any, int], dict[Any, int]]] = {}


def torch_of(array: Array) -> Any:
    """The module torch where array is one of its tensors, else None."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else None


def _types_of(torch: Any) -> tuple[dict[Any, int], dict[Any, int]]:
    found = _torch_types.get("torch")
    if found is None:
        found = _torch_types["torch"] = (
            {torch.float32: _abi.CULL_F32, torch.float64: _abi.CULL_F64},
            {torch.int32: _abi.CULL_I32, torch.int64: _abi.CULL_I64, torch.uint8: _abi.CULL_U8})
    return found


def _refuse_device(name: str, device: object) -> None:
    raise CullUnsupportedError(f"{name} is on {device}, and arrays on the host and on CUDA devices are read here: give it "
                               f"{name}.cpu()", "UNSUPPORTED", name)


def _wrong_type(name: str, kind: object, integral: bool) -> CullValueError:
    wanted = "int32, int64 or uint8" if integral else "float32 or float64"
    return CullValueError(f"{name} is of type {kind}, not {wanted}", "BAD_ARGUMENT", name)


def _host_tensor(torch: Any, array: Any, name: str, integral: bool) -> Any:
    """A tensor the library can read: itself, or where its type or layout demand it a copy."""
    if array.device.type != "cpu":
        _refuse_device(name, array.device)
    if array.layout is not torch.strided:
        raise CullValueError(f"{name} is a sparse tensor: give it {name}.to_dense()", "BAD_ARGUMENT", name)
    array = array.detach()
    if array.dtype not in _types_of(torch)[integral]:
        if integral and not array.dtype.is_floating_point and not array.dtype.is_complex and array.dtype != torch.bool:
            array = array.to(torch.int64)
        elif not integral and array.dtype in (torch.float16, torch.bfloat16):
            array = array.to(torch.float32)
        else:
            raise _wrong_type(name, str(array.dtype).replace("torch.", ""), integral)
    return array.resolve_neg().contiguous()


def _host_array(array: Any, name: str, integral: bool) -> numpy.ndarray:
    if not isinstance(array, numpy.ndarray):
        array = _foreign(array, name)
    if array.dtype not in (_LABELS if integral else _FLOATS):
        kind = array.dtype.kind
        if integral and kind in "iu" and array.dtype.itemsize < 8:
            array = array.astype(numpy.int64)
        elif integral and kind in "iu":
            array = _narrow(array, name)
        elif not integral and kind == "f" and array.dtype.itemsize <= 8:
            array = array.astype(numpy.float32 if array.dtype.itemsize == 2 else array.dtype.newbyteorder("="))
        else:
            raise _wrong_type(name, array.dtype, integral)
    return numpy.asarray(array, order="C")


def _narrow(array: numpy.ndarray, name: str) -> numpy.ndarray:
    """Integers of another order of bytes, or unsigned ones of 64 bits, as int64."""
    if array.size and int(array.max()) > numpy.iinfo(numpy.int64).max:
        raise CullValueError(f"{name} has numbers above 2^63", "BAD_ARGUMENT", name)
    return array.astype(numpy.int64)


def _foreign(array: Any, name: str) -> numpy.ndarray:
    """Arrays of other libraries: by DLPack where they lie on the host, else as numpy makes one of them."""
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        kind, number = array.__dlpack_device__()
        if kind != 1:
            _refuse_device(name, f"device {number} of DLPack's kind {kind}")
        try:
            return numpy.from_dlpack(array)
        except (AttributeError, BufferError, RuntimeError, TypeError):
            pass  # a numpy without it, or an array that this numpy does not take so (a read-only one)
    made = numpy.asarray(array)
    if made.dtype == object:
        raise CullValueError(f"{name} is no array: {type(array).__name__}", "BAD_ARGUMENT", name)
    return made


class View:
    """One of the library's views, filled in again and again."""

    __slots__ = ("tensor", "name", "dims", "integral", "seen", "_shape", "_stride", "_known")

    def __init__(self, tensor: _abi.cull_tensor, name: str, dims: int, integral: bool = False) -> None:
        self.tensor, self.name, self.dims, self.integral = tensor, name, dims, integral
        self._shape, self._stride = tensor.shape, tensor.stride
        self._known: tuple[int, ...] | None = None
        self.seen: _device.Seen | None = None  # where it lies on a device
        tensor.dims = dims

    def set(self, array: Array) -> Any:
        """Look at an array. Returns what must outlive that: the array, or its copy."""
        tensor = self.tensor
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(array, torch.Tensor):
            types = _types_of(torch)[self.integral]
            if array.dtype not in types or not array.is_contiguous() or array.device.type != "cpu" or array.is_neg():
                if array.device.type == "cuda":
                    return self._set_there(array)
                array = _host_tensor(torch, array, self.name, self.integral)
            shape = array.shape
            tensor.dtype = types[array.dtype]
            tensor.data = self._pointer(array)
        else:
            known = _LABELS if self.integral else _FLOATS
            if type(array) is not numpy.ndarray or array.dtype not in known or not array.flags.c_contiguous:
                if _device.lies_there(array):
                    return self._set_there(array)
                array = _host_array(array, self.name, self.integral)
            shape = array.shape
            tensor.dtype = known[array.dtype]
            tensor.data = array.__array_interface__["data"][0]
        if self.seen is not None:
            self.seen, tensor.device.kind, tensor.device.number = None, 0, 0
        if shape != self._known:
            self._reshape(shape)
        return array

    def _set_there(self, array: Array) -> Any:
        """The same of an array on a device."""
        seen = _device.see(array, self.name, self.integral)
        tensor = self.tensor
        self._reshape(seen.shape)
        if self.dims == 2:
            self._stride[0] = max(seen.strides[0], seen.shape[1])
        elif seen.shape[0] > 1:
            self._stride[0] = seen.strides[0]
        self._known = None  # strides may be others
        tensor.dtype, tensor.data = seen.dtype, seen.data
        tensor.device.kind, tensor.device.number = _device.CUDA, seen.ordinal
        self.seen = seen
        return seen

    def _pointer(self, array: Any) -> int:
        try:
            return array.data_ptr()
        except RuntimeError as why:
            raise CullValueError(f"{self.name} is a tensor without memory to read (sparse?): {why}",
                                 "BAD_ARGUMENT", self.name) from None

    def _reshape(self, shape: Any) -> None:
        if len(shape) != self.dims:
            self.clear()
            raise CullValueError(f"{self.name} has {len(shape)} dimension{'s' * (len(shape) != 1)}, not {self.dims}",
                                 "BAD_ARGUMENT", self.name)
        self._shape[0], self._stride[0] = shape[0], 1
        if self.dims == 2:
            self._shape[1] = self._stride[0] = shape[1]
            self._stride[1] = 1
        self._known = tuple(shape)

    def clear(self) -> None:
        self.tensor.data = None
        if self.seen is not None:
            self.seen, self.tensor.device.kind, self.tensor.device.number = None, 0, 0


def as_numpy(array: Array, name: str) -> numpy.ndarray:
    """An array of numbers on the host; a tensor shares its memory, if it is there."""
    torch = torch_of(array)
    if torch is not None:
        if array.device.type == "cuda":
            array = array.cpu()
        if array.device.type != "cpu":
            _refuse_device(name, array.device)
        if array.dtype == torch.bfloat16:
            raise CullValueError(f"{name} is of type bfloat16, which numpy does not have: give it {name}.float()",
                                 "BAD_ARGUMENT", name)
        try:
            return array.detach().resolve_neg().numpy()
        except (RuntimeError, TypeError) as why:
            raise CullValueError(f"{name} cannot be read: {why}", "BAD_ARGUMENT", name) from None
    return array if isinstance(array, numpy.ndarray) else _foreign(array, name)


def rows_of(array: Array, name: str) -> int:
    """How many examples an array is of; 1 where it has no dimension, for `View` to refuse."""
    if hasattr(array, "shape"):
        shape = array.shape
    elif _device.lies_there(array):
        shape = _device.see(array, name, name == "labels").shape
    else:
        shape = _foreign(array, name).shape
    return shape[0] if len(shape) else 1


def places_of(array: Array, name: str = "places") -> numpy.ndarray:
    """Places in the pool as the library counts them (a copy, but of uint32)."""
    made = as_numpy(array, name)
    if made.ndim != 1:
        raise CullValueError(f"{name} has {made.ndim} dimensions, not 1", "BAD_ARGUMENT", name)
    if made.dtype.kind not in "iu":
        raise CullValueError(f"{name} is of type {made.dtype}, not one of integers", "BAD_ARGUMENT", name)
    if made.dtype == numpy.uint32:
        return numpy.asarray(made, order="C")
    # any number that is negative or has more than 32 bits leaves a high bit behind
    if made.size and int(numpy.bitwise_or.reduce(made)) >> 32:
        raise CullValueError(f"{name} has {int(made.min())} to {int(made.max())}, not places in a pool", "BAD_ARGUMENT",
                             name)
    return made.astype(numpy.uint32)
