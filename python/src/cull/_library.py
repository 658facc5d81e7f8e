"""The library of the package, opened once, and its failures as exceptions."""
from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from typing import Any

from . import _abi

_HERE = pathlib.Path(__file__).parent


def _open() -> ctypes.CDLL:
    """libcull_select as it lies in the package; CULL_SELECT_LIBRARY names another."""
    path = os.environ.get("CULL_SELECT_LIBRARY") or str(_HERE / "libcull_select.so")
    try:
        library = ctypes.CDLL(path)
    except OSError as why:
        raise ImportError(f"cull: its library cannot be opened ({why}); reinstall the package, or name another with "
                          "CULL_SELECT_LIBRARY") from None
    return _abi.declare(library)


lib = _open()


class CullError(Exception):
    """A call of the library that failed. Its text is the library's sentence.

    status   the library's name of the failure: "BAD_ARGUMENT", "NOT_FINITE", ...
    subject  what it is about, where one is named: an option's key, a strategy's name, a file. Else "".

    Which kind of failure it is can be caught as Python's own too: wrong arguments, options and numbers are
    ValueErrors, no memory a MemoryError, a device that cannot be used a NotImplementedError.
    """

    def __init__(self, message: str, status: str = "BAD_ARGUMENT", subject: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.subject = subject

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status, self.subject)


class CullValueError(CullError, ValueError):
    """An argument, option or number that cannot be."""


class CullMemoryError(CullError, MemoryError):
    """No memory, or more of it than the limit that was set."""


class CullUnsupportedError(CullError, NotImplementedError):
    """A device or an operation that this build does not have."""


_KINDS: dict[int, type[CullError]] = {
    _abi.CULL_NO_MEMORY: CullMemoryError,
    _abi.CULL_TOO_LARGE: CullMemoryError,
    _abi.CULL_BAD_ARGUMENT: CullValueError,
    _abi.CULL_BAD_OPTION: CullValueError,
    _abi.CULL_NOT_FINITE: CullValueError,
    _abi.CULL_UNKNOWN_OPTION: CullValueError,
    _abi.CULL_UNKNOWN_STRATEGY: CullValueError,
    _abi.CULL_BAD_STATE: CullValueError,
    _abi.CULL_UNSUPPORTED: CullUnsupportedError,
}


def failure(status: int) -> CullError:
    """This thread's latest failure, as an exception to be raised."""
    return _KINDS.get(status, CullError)(lib.cull_last_error().decode(), _abi.STATUS_NAMES.get(status, str(status)),
                                         lib.cull_last_subject().decode())


def check(status: int) -> None:
    if status:
        raise failure(status)


def version() -> str:
    """The version of the library, which is the package's."""
    return str(lib.cull_version().decode())


_backends: dict[tuple[int, str, int], int] = {}
_backends_lock = threading.Lock()


def backend(name: str, threads: int) -> int | None:
    """A backend of so many threads (0: one a core), shared by all who ask for it. None is the library's own: the
    cpu with one thread, which has nothing to share. Threads do not outlive a fork, so a child opens its own."""
    if name == "cpu" and threads == 1:
        return None
    key = (os.getpid(), name, threads)
    with _backends_lock:
        if key not in _backends:
            out = ctypes.c_void_p()
            check(lib.cull_backend_open(name.encode(), threads, ctypes.byref(out)))
            _backends[key] = out.value or 0
        return _backends[key]
