"""Arrays on a CUDA device: seen where they lie, worked on in their own stream, with room for results beside them.

torch's tensors are known by their class; all others by DLPack or by `__cuda_array_interface__`. A `Place` says where the
arrays of one call lie and whose kind its results are of, and a `Device` is the library's backend there, which has one
caller at a time.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from typing import Any, Iterator, NamedTuple

import numpy

from . import _abi
from ._library import CullError, CullUnsupportedError, CullValueError, backend as open_backend, check, lib

Array = Any
CUDA = _abi.CULL_DEVICE_CUDA
_LEGACY = 1     # the default stream, by DLPack's number and CUDA's own
_DLPACK_CUDA = (2, 13)    # device memory, and managed
_INTERFACE = "__cuda_array_interface__"
_FLOATS = {"<f4": _abi.CULL_F32, "<f8": _abi.CULL_F64}
_LABELS = {"<i4": _abi.CULL_I32, "<i8": _abi.CULL_I64, "|u1": _abi.CULL_U8}


class Device:
    """The library's backend on one device, opened when a first array of it comes."""

    _open: dict[tuple[int, int], Device] = {}
    _opening = threading.Lock()

    def __init__(self, ordinal: int) -> None:
        self.ordinal, self.name = ordinal, f"cuda:{ordinal}"
        self.backend = open_backend(self.name, 1)
        self.lock = threading.RLock()

    @classmethod
    def of(cls, ordinal: int, name: str = "") -> Device:
        """The device of that number; `name` is the array that asks for it. Its context does not outlive a fork."""
        key = (os.getpid(), ordinal)
        found = cls._open.get(key)
        if found is not None:
            return found
        with cls._opening:
            if key not in cls._open:
                try:
                    cls._open[key] = Device(ordinal)
                except CullUnsupportedError as why:
                    if not name:
                        raise
                    raise CullUnsupportedError(f"{name} is on cuda:{ordinal}, which cannot be used here: {why}. Or give it "
                                               f"{name}.cpu()", "UNSUPPORTED", name) from None
            return cls._open[key]

    @contextlib.contextmanager
    def turn(self, streams: list[int]) -> Iterator[None]:
        """This thread's turn on the device: work goes to the last of these streams, behind what all of them have; and
        what they are asked for later comes behind it. None given: the backend's own."""
        with self.lock:
            for stream in streams[:-1]:
                self._visit(stream)
            if streams:
                check(lib.cull_backend_follow(self.backend, streams[-1]))
            try:
                yield
            finally:
                left = lib.cull_backend_leave(self.backend) if streams else 0
            check(left)
            for stream in streams[:-1]:
                self._visit(stream)

    def _visit(self, stream: int) -> None:
        check(lib.cull_backend_follow(self.backend, stream))
        check(lib.cull_backend_leave(self.backend))

    def wait(self) -> None:
        """All that was asked for is done."""
        with self.lock:
            check(lib.cull_memory_download(self.backend, None, None, 0))


def why_not(ordinal: int) -> str:
    """Why this device cannot be used, in a sentence; empty: it can."""
    try:
        Device.of(ordinal)
    except CullError as why:
        return str(why)
    return ""


class DeviceArray:
    """Numbers on a CUDA device, as results are where arrays of neither numpy nor torch were given.

    Other libraries take it by `__cuda_array_interface__` (cupy.asarray, numba.cuda.as_cuda_array, torch.as_tensor);
    `numpy()` copies it to the host.

    shape, dtype   as numpy has them; device: "cuda:0"
    """

    __slots__ = ("shape", "dtype", "device", "_at", "_owner", "_device", "_stream", "__weakref__")

    def __init__(self, device: Device, shape: tuple[int, ...], dtype: Any) -> None:
        self._device, self.device, self.dtype, self.shape = device, device.name, numpy.dtype(dtype), shape
        self._stream: int | None = None
        self._owner: Any = None
        out = ctypes.c_void_p()
        check(lib.cull_memory_allocate(device.backend, int(numpy.prod(shape)) * self.dtype.itemsize, ctypes.byref(out)))
        self._at = out.value or 0

    def __del__(self, release: Any = lib.cull_memory_release) -> None:
        if getattr(self, "_at", 0) and self._owner is None:
            with self._device.lock:
                release(self._device.backend, self._at)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._at if 0 not in self.shape else 0, False),
                "strides": None, "version": 3, "stream": self._stream}

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: slice) -> DeviceArray:
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise TypeError("a DeviceArray gives its neighbours alone, a[i:j]: take numpy(), or hand it to a library of "
                            "your device")
        first, last, _ = part.indices(len(self))
        row = int(numpy.prod(self.shape[1:]))
        return self._view((max(0, last - first), *self.shape[1:]), first * row)

    def _view(self, shape: tuple[int, ...], first: int) -> DeviceArray:
        view = object.__new__(DeviceArray)
        view._device, view.device, view.dtype, view._stream = self._device, self.device, self.dtype, self._stream
        view._owner = self._owner if self._owner is not None else self
        view.shape, view._at = shape, self._at + first * self.dtype.itemsize
        return view

    def reshape(self, *shape: int) -> DeviceArray:
        if int(numpy.prod(shape)) != int(numpy.prod(self.shape)):
            raise ValueError(f"an array of shape {self.shape} has not {shape}")
        return self._view(shape, 0)

    def numpy(self) -> numpy.ndarray:
        """A copy on the host, when all of it is there."""
        made = numpy.empty(self.shape, self.dtype)
        with self._device.lock:
            check(lib.cull_memory_download(self._device.backend, made.ctypes.data, self._at, made.nbytes))
        return made

    def tolist(self) -> list[Any]:
        return self.numpy().tolist()

    def __repr__(self) -> str:
        return f"<cull.DeviceArray of {' x '.join(map(str, self.shape))} {self.dtype} on {self.device}>"


class Seen(NamedTuple):
    """An array on a device, as the library sees it."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]    #: in elements
    dtype: int
    data: int
    ordinal: int
    stream: int | None    #: that the array is complete in; None: it is
    torch: Any    #: the module, where the array is a tensor of it
    keep: Any     #: what has to live as long as the view


class Place:
    """Where the arrays of one call lie, and of whose kind its results are."""

    __slots__ = ("ordinal", "torch", "streams", "name")

    def __init__(self, seen: Seen, name: str) -> None:
        self.ordinal, self.torch, self.name = seen.ordinal, seen.torch, name
        self.streams = [] if seen.stream is None else [seen.stream]

    def join(self, seen: Seen, name: str) -> None:
        """Another array of the call."""
        if seen.ordinal != self.ordinal:
            raise CullValueError(f"{self.name} is on cuda:{self.ordinal}, {name} on cuda:{seen.ordinal}: bring them to one "
                                 "device", "BAD_ARGUMENT", name)
        if self.torch is None and seen.torch is not None:    # its stream is the one that goes on
            self.torch = seen.torch
            self.streams = [s for s in self.streams if s != seen.stream]
            self.streams.append(seen.stream or 0)
        elif seen.stream is not None and seen.stream not in self.streams:
            self.streams.insert(0, seen.stream)

    @property
    def device(self) -> Device:
        return Device.of(self.ordinal, self.name)

    def apart(self, name: str) -> CullValueError:
        return CullValueError(f"{self.name} is on cuda:{self.ordinal}, {name} on the host: bring them to one of both",
                              "BAD_ARGUMENT", name)

    # ---- arrays there: within the device's turn ----

    def empty(self, count: int, dtype: str) -> tuple[Any, int]:
        """A new array and its address."""
        if self.torch is not None:
            made = self.torch.empty(count, dtype=getattr(self.torch, dtype), device=self.device.name)
            return made, made.data_ptr()
        array = DeviceArray(self.device, (count,), dtype)
        array._stream = self.streams[-1] if self.streams else None
        return array, array._at

    def send(self, array: numpy.ndarray) -> tuple[Any, int]:
        """A copy of an array of the host's."""
        if self.torch is not None:
            signed = array.view(numpy.int32) if array.dtype == numpy.uint32 else array    # torch has no others
            made = self.torch.from_numpy(signed).to(self.device.name)
            return made, made.data_ptr()
        array = numpy.ascontiguousarray(array)
        sent = DeviceArray(self.device, array.shape, array.dtype)
        check(lib.cull_memory_upload(self.device.backend, sent._at, array.ctypes.data, array.nbytes))
        return sent, sent._at

    def done(self) -> None:
        """Results are handed out: nobody knows the backend's own stream, so it is waited for."""
        if self.torch is None and not self.streams:
            self.device.wait()


# ---- how arrays are seen ----

def _types(torch: Any, integral: bool) -> dict[Any, int]:
    if integral:
        return {torch.int32: _abi.CULL_I32, torch.int64: _abi.CULL_I64, torch.uint8: _abi.CULL_U8}
    return {torch.float32: _abi.CULL_F32, torch.float64: _abi.CULL_F64, torch.bfloat16: _abi.CULL_BF16}


_known: dict[tuple[int, bool], dict[Any, int]] = {}


def stream_of(torch: Any, ordinal: int) -> int:
    """The current stream of a device, as torch has it."""
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw(ordinal) if raw is not None else torch.cuda.current_stream(ordinal).cuda_stream


def _see_tensor(torch: Any, array: Any, name: str, integral: bool) -> Seen:
    key = (id(torch), integral)
    types = _known.get(key) or _known.setdefault(key, _types(torch, integral))
    if array.layout is not torch.strided:
        raise CullValueError(f"{name} is a sparse tensor: give it {name}.to_dense()", "BAD_ARGUMENT", name)
    array = array.detach()
    if array.dtype not in types:
        if integral and not array.dtype.is_floating_point and not array.dtype.is_complex and array.dtype != torch.bool:
            array = array.to(torch.int64)
        elif not integral and array.dtype == torch.float16:
            array = array.to(torch.float32)
        else:
            raise wrong_type(name, str(array.dtype).replace("torch.", ""), integral)
    array = array.resolve_neg()
    if array.dim() and array.stride(-1) != 1 or array.dim() > 1 and array.stride(0) < array.shape[1]:
        array = array.contiguous()
    return Seen(tuple(array.shape), tuple(array.stride()), types[array.dtype], array.data_ptr(), array.device.index,
                stream_of(torch, array.device.index), torch, array)


def wrong_type(name: str, kind: object, integral: bool, floats: str = "float32, float64 or bfloat16") -> CullValueError:
    return CullValueError(f"{name} is of type {kind}, not {'int32, int64 or uint8' if integral else floats}",
                          "BAD_ARGUMENT", name)


def _see_interface(array: Any, name: str, integral: bool) -> Seen:
    # the interface does not say which device it is; cupy and we do
    number = array._device.ordinal if isinstance(array, DeviceArray) else getattr(getattr(array, "device", None), "id", 0)
    Device.of(number, name)
    told = getattr(array, _INTERFACE)
    known = _LABELS if integral else _FLOATS
    kind = told["typestr"]
    if kind == "|b1" and integral:
        kind = "|u1"
    if kind not in known:
        raise wrong_type(name, kind, integral, "float32 or float64")
    if told.get("mask") is not None:
        raise CullValueError(f"{name} has a mask, which nobody reads here", "BAD_ARGUMENT", name)
    shape, size = tuple(told["shape"]), int(kind[2:])
    dense = tuple(int(numpy.prod(shape[i + 1:])) for i in range(len(shape)))
    strides = dense if told.get("strides") is None else tuple(s // size for s in told["strides"])
    stream = told.get("stream")
    return Seen(shape, strides, known[kind], told["data"][0] or 0, number, stream, None, array)


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _see_dlpack(array: Any, name: str, integral: bool) -> Seen:
    """The producer lets the default stream wait for what it has under way."""
    Device.of(array.__dlpack_device__()[1], name)
    capsule = array.__dlpack__(stream=_LEGACY)
    view = _abi.cull_tensor()
    status = lib.cull_tensor_from_dlpack(_pointer(capsule, b"dltensor"), ctypes.byref(view))
    if status:
        raise CullValueError(f"{name} cannot be read: {lib.cull_last_error().decode()}", "BAD_ARGUMENT", name)
    labels = (_abi.CULL_I32, _abi.CULL_I64, _abi.CULL_U8)
    if (view.dtype in labels) != integral:
        raise wrong_type(name, lib.cull_dtype_name(view.dtype).decode(), integral)
    return Seen(tuple(view.shape[:view.dims]), tuple(view.stride[:view.dims]), view.dtype, view.data or 0,
                view.device.number, _LEGACY, None, (array, capsule))


def lies_there(array: Array) -> bool:
    """Does an array, a tensor or not, lie on a CUDA device?"""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return array.device.type == "cuda"
    if isinstance(array, (numpy.ndarray, list, tuple)):
        return False
    if hasattr(array, _INTERFACE):
        return True
    where = getattr(array, "__dlpack_device__", None)
    return where is not None and where()[0] in _DLPACK_CUDA


def see(array: Array, name: str, integral: bool) -> Seen:
    """An array on a device where it lies, or what its type or layout demand a copy of, beside it."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if torch.version.hip is not None:
            raise CullUnsupportedError(f"{name} is on a device of ROCm, and there are operations for CUDA's alone: give it "
                                       f"{name}.cpu()", "UNSUPPORTED", name)
        Device.of(array.device.index, name)
        seen = _see_tensor(torch, array, name, integral)
    elif hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        seen = _see_dlpack(array, name, integral)
    else:
        seen = _see_interface(array, name, integral)
    dense = len(seen.shape) < 1 or seen.strides[-1] == 1 or seen.shape[-1] == 1
    if not dense or any(s < 0 for s in seen.strides):
        raise CullValueError(f"{name} is not dense in its last dimension: give it a contiguous copy", "BAD_ARGUMENT", name)
    return seen
