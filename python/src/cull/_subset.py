"""What a selector chose."""
from __future__ import annotations

import ctypes
from typing import Any, Iterator

import numpy

from . import _abi
from ._device import Device, DeviceArray, Place
from ._library import check, lib

_FLAGS = ((_abi.CULL_SUBSET_FILLED, "filled"), (_abi.CULL_SUBSET_FALLBACK, "fell back"), (_abi.CULL_SUBSET_SHORT, "short"))


class Subset:
    """A weighted subset of the examples that came with a call, in ascending order of their rows.

    rows      where each stood among the signals (int64); -1: it was carried over from earlier ones
    places    its place in the data set (int64)
    weights   its weight, at least 0; the training loss is (1/m) sum of weight times loss, and never normalised again
    group     which training batch it belongs to (int64), where whole ones were chosen
    groups    how many training batches there are; 0: any batching will do
    picked    how many the rule itself picked; the others were filled in
    flags     the library's CULL_SUBSET_* bits; filled, fell_back and short tell them apart

    Arrays are torch's where a tensor was among the signals, else numpy's, and lie where the signals did; of a device's
    arrays that are not torch's they are `DeviceArray`s. Weights are float64 in numpy; elsewhere they have the type of
    the signals (float32, or float64 where a float64 signal came), so that they multiply a loss as they are. `len()` is
    the number of examples, and iterating gives pairs (row, weight).
    """

    __slots__ = ("rows", "places", "weights", "group", "groups", "picked", "flags")

    def __init__(self, rows: Any, places: Any, weights: Any, group: Any, groups: int, picked: int, flags: int) -> None:
        self.rows, self.places, self.weights, self.group = rows, places, weights, group
        self.groups, self.picked, self.flags = groups, picked, flags

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return zip(self.rows.tolist(), self.weights.tolist())

    @property
    def filled(self) -> bool:
        """The rule ended short; random examples fill the rest."""
        return bool(self.flags & _abi.CULL_SUBSET_FILLED)

    @property
    def fell_back(self) -> bool:
        """There was no positive weight at all: a random subset, weights 1."""
        return bool(self.flags & _abi.CULL_SUBSET_FALLBACK)

    @property
    def short(self) -> bool:
        """Fewer than the budget were kept."""
        return bool(self.flags & _abi.CULL_SUBSET_SHORT)

    def batches(self) -> list[Subset]:
        """The training batches, where whole ones were chosen; else the subset alone."""
        if self.groups <= 1:
            return [self]
        if isinstance(self.group, DeviceArray):
            return self._neighbours()
        parts = [self.group == i for i in range(self.groups)]
        return [Subset(self.rows[at], self.places[at], self.weights[at], self.group[at], 1, int(at.sum()), self.flags)
                for at in parts]

    def _neighbours(self) -> list[Subset]:
        """A batch's examples stand together."""
        sizes = numpy.bincount(self.group.numpy(), minlength=self.groups)
        ends = numpy.cumsum(sizes)
        return [Subset(self.rows[end - size:end], self.places[end - size:end], self.weights[end - size:end],
                       self.group[end - size:end], 1, int(size), self.flags) for size, end in zip(sizes, ends)]

    def __repr__(self) -> str:
        told = [f"{len(self)} examples"]
        if self.groups:
            told.append(f"{self.groups} batches")
        if self.picked != len(self):
            told.append(f"{self.picked} of them picked")
        told += [word for bit, word in _FLAGS if self.flags & bit]
        return f"<cull.Subset: {', '.join(told)}>"


class SubsetRoom:
    """A subset in the library's memory, reused by every call, and what is copied out of it."""

    __slots__ = ("struct", "ref", "_room", "_at", "_index", "_place", "_weight", "_group", "__weakref__")

    def __init__(self) -> None:
        self.struct = _abi.cull_subset()
        self.struct.size = ctypes.sizeof(_abi.cull_subset)
        self.ref = ctypes.byref(self.struct)
        self._room, self._at = 0, 0

    def __del__(self, clear: Any = lib.cull_subset_clear) -> None:
        clear(self.ref)

    def _look(self) -> None:
        """The arrays have moved: look at them anew."""
        struct = self.struct
        room = struct.room

        def array(kind: Any, address: int, dtype: str) -> numpy.ndarray:
            return numpy.frombuffer((kind * room).from_address(address), dtype)

        self._index = array(ctypes.c_uint32, struct.index, "uint32")
        self._place = array(ctypes.c_uint32, struct.place, "uint32")
        self._weight = array(ctypes.c_double, struct.weight, "float64")
        self._group = array(ctypes.c_uint32, struct.group, "uint32")
        self._room, self._at = room, struct.index

    def copy(self, torch: Any, double: bool, carries: bool) -> Subset:
        """The subset as arrays of its own. double: float64 weights for torch too."""
        struct = self.struct
        count = struct.count
        if not count:
            rows, places = numpy.empty(0, numpy.int64), numpy.empty(0, numpy.int64)
            weights, group = numpy.empty(0), None
        else:
            if struct.room != self._room or struct.index != self._at:
                self._look()
            rows = self._index[:count].astype(numpy.int64)
            places = self._place[:count].astype(numpy.int64)
            weights = self._weight[:count]
            weights = weights.astype(numpy.float32) if torch is not None and not double else weights.copy()
            group = self._group[:count].astype(numpy.int64) if struct.groups else None
            if carries:
                rows[rows == 0xFFFFFFFF] = -1
        if torch is not None:
            make = torch.from_numpy
            rows, places = make(rows), make(places)
            weights = make(weights if count or double else weights.astype(numpy.float32))
            group = None if group is None else make(group)
        return Subset(rows, places, weights, group, struct.groups, struct.picked, struct.flags)


class SubsetThere:
    """The same in the memory of a device, whose turn it is in every call."""

    __slots__ = ("struct", "ref", "device", "_given", "__weakref__")

    def __init__(self, device: Device) -> None:
        self.struct = _abi.cull_subset()
        self.struct.size = ctypes.sizeof(_abi.cull_subset)
        self.ref = ctypes.byref(self.struct)
        self.device = device
        self._given = _abi.cull_subset_arrays(ctypes.sizeof(_abi.cull_subset_arrays))

    def __del__(self, clear: Any = lib.cull_subset_clear) -> None:
        with self.device.lock:
            clear(self.ref)

    def copy(self, place: Place, double: bool) -> Subset:
        """As arrays of the caller's kind, beside his own."""
        struct, given, count = self.struct, self._given, self.struct.count
        group = None
        rows, given.index = place.empty(count, "int64")
        places, given.place = place.empty(count, "int64")
        weights, given.weight = place.empty(count, "float64" if double else "float32")
        given.dtype = _abi.CULL_F64 if double else _abi.CULL_F32
        given.group = None
        if struct.groups:
            group, given.group = place.empty(count, "int64")
        if count:
            check(lib.cull_subset_give(self.ref, ctypes.byref(given)))
        return Subset(rows, places, weights, group, struct.groups, struct.picked, struct.flags)
