"""Arrays on an imitated CUDA device, for tests on machines without one.

Importing it makes the package open the tests' module (tests/emu/) as the backend "cuda", which has to be before the
library opens another; where it was not built, `SKIP` says so. What lies there cannot be touched by the host: a test that
passes has not done so. Arrays are known by DLPack or by __cuda_array_interface__, and written in streams of their own.
"""
import ctypes
import os
import pathlib

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = os.environ.get("CULL_EMULATED", str(ROOT / "build" / "tests" / "emu_module"))
FILE = os.path.join(FOLDER, "libcull_cuda_select.so")
SKIP = "" if os.path.exists(FILE) else f"skipped: there is no imitation of a device in {FOLDER}"
if not SKIP:
    os.environ["CULL_MODULES"] = FOLDER
    _lib = ctypes.CDLL(FILE)
    for _name in ("emu_py_allocate", "emu_py_stream"):
        getattr(_lib, _name).restype = ctypes.c_void_p
    _lib.emu_py_fetched.restype = _lib.emu_py_waits.restype = ctypes.c_size_t
    _lib.emu_py_allocate.argtypes = [ctypes.c_size_t]
    _lib.emu_py_release.argtypes = _lib.emu_py_end_stream.argtypes = [ctypes.c_void_p]
    _lib.emu_py_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    _lib.emu_py_fetch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    _lib.emu_py_order.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    _lib.emu_py_capture.argtypes = [ctypes.c_void_p, ctypes.c_int]


def fetched():
    """Bytes of the largest copy to the host since this was asked last."""
    return _lib.emu_py_fetched()


def waits():
    """How often somebody has waited for the device, so far."""
    return _lib.emu_py_waits()


class Stream:
    """A stream of the caller's own."""

    def __init__(self):
        self.handle = _lib.emu_py_stream()

    def close(self):
        _lib.emu_py_end_stream(self.handle)

    def capture(self, begin):
        return _lib.emu_py_capture(self.handle, begin)


class OnDevice:
    """An array there: a copy of one here, done when the stream comes to it. Base of the two below."""

    def __init__(self, array, stream=None, number=0):
        from cull._device import Device

        Device.of(number)    # the imitation's memory begins when the library opens it
        array = numpy.ascontiguousarray(array)
        self.shape, self.dtype, self.stream, self.number = array.shape, array.dtype, stream, number
        self.strides, self.nbytes = array.strides, array.nbytes
        self.at = _lib.emu_py_allocate(array.nbytes)
        self.write(array)

    def write(self, array):
        array = numpy.ascontiguousarray(array, self.dtype)
        assert _lib.emu_py_copy(self.at, array.ctypes.data, array.nbytes, self.stream and self.stream.handle) == 0
        if self.stream is None:
            assert _lib.emu_py_wait() == 0    # who names no stream has nothing under way

    def __del__(self):
        _lib.emu_py_release(self.at)

    def numpy(self):
        made = numpy.empty(self.shape, self.dtype)
        assert _lib.emu_py_wait() == 0
        assert _lib.emu_py_fetch(made.ctypes.data, self.at, made.nbytes) == 0
        return made


class ByInterface(OnDevice):
    """Known by __cuda_array_interface__ alone."""

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.at, False), "strides": None, "version": 3,
                "stream": self.stream and self.stream.handle}


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_kind", ctypes.c_int32), ("device_number", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _DLManaged(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_NAME = ctypes.create_string_buffer(b"dltensor")
_CODES = {"i": 0, "u": 1, "f": 2}


class ByDLPack(OnDevice):
    """Known by DLPack alone. bfloat16: of floats, the upper halves."""

    def __init__(self, array, stream=None, number=0, bfloat16=False):
        array = numpy.asarray(array)
        self.bfloat16 = bfloat16
        if bfloat16:
            array = (array.astype("float32").view("uint32") >> 16).astype("uint16")
        super().__init__(array, stream, number)
        self.asked = []    # streams that the consumer named

    def __dlpack_device__(self):
        return 2, self.number

    def __dlpack__(self, *, stream=None, **_):
        self.asked.append(stream)
        if self.stream is not None and stream != -1:
            assert _lib.emu_py_order(stream, self.stream.handle) == 0
        dims = len(self.shape)
        shape = (ctypes.c_int64 * dims)(*self.shape)
        code = 4 if self.bfloat16 else _CODES[self.dtype.kind]
        tensor = _DLTensor(self.at, 2, self.number, dims, code, 8 * self.dtype.itemsize, 1, shape, None, 0)
        self.managed = _DLManaged(tensor, None, None)
        return _capsule(ctypes.addressof(self.managed), _NAME, None)


def there(given, kind=ByInterface, stream=None):
    """Signals as arrays on the device; a target block too."""
    return {name: there(array, kind, stream) if isinstance(array, dict) else kind(array, stream)
            for name, array in given.items()}
