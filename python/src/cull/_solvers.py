"""The solvers behind the strategies: orthogonal matching pursuit, facility location, Gram matrices."""
from __future__ import annotations

import ctypes
from typing import Any, Mapping, NamedTuple

import numpy

from . import _abi, _device
from ._arrays import Array, View, as_numpy, places_of, torch_of
from ._device import Place
from ._library import CullValueError, backend as open_backend, check, lib
from ._numbers import whole

_PICKS = {"abs": _abi.CULL_PICK_ABS, "signed": _abi.CULL_PICK_SIGNED, "sample": _abi.CULL_PICK_SAMPLE}
_STOPS = {_abi.CULL_OMP_BUDGET: "budget", _abi.CULL_OMP_FIT: "fit", _abi.CULL_OMP_DEPENDENT: "dependent",
          _abi.CULL_OMP_NO_GAIN: "no gain", _abi.CULL_OMP_ZERO_TARGET: "zero target"}
_GREEDY = {"lazy": _abi.CULL_GREEDY_LAZY, "naive": _abi.CULL_GREEDY_NAIVE, "stochastic": _abi.CULL_GREEDY_STOCHASTIC}


class Pursuit(NamedTuple):
    """What `omp` found."""

    rows: Any  #: atoms in the order picked (int64)
    weights: Any  #: their weights, not normalised
    residual: float  #: |r| / |b|; NaN where |b| is not known
    ridge: float  #: what the ridge came to: lambda times the mean of diag K
    stop: str  #: why it ended: "budget", "fit", "dependent", "no gain" or "zero target"


class Facilities(NamedTuple):
    """What `facility` found."""

    rows: Any  #: atoms in the order picked (int64)
    weights: Any  #: how many atoms each represents; they add up to n
    value: float  #: the sum of best similarities


def _word(name: str, value: str, words: Mapping[str, int]) -> int:
    if value not in words:
        raise CullValueError(f"{name}={value!r} is not one of {', '.join(words)}", "BAD_ARGUMENT", name)
    return words[value]


def _real(name: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise CullValueError(f"{name}={value!r} is no number", "BAD_ARGUMENT", name) from None


def _doubles(array: Array, name: str, shape: tuple[int, ...]) -> numpy.ndarray:
    made = as_numpy(array, name)
    if made.dtype.kind not in "fiu":
        raise CullValueError(f"{name} is of type {made.dtype}, not of numbers", "BAD_ARGUMENT", name)
    if made.shape != shape:
        raise CullValueError(f"{name} has the shape {made.shape}, not {shape}", "BAD_ARGUMENT", name)
    made = numpy.asarray(made, numpy.float64, order="C")
    if not numpy.isfinite(made).all():
        raise CullValueError(f"{name} has NaN or infinite numbers", "NOT_FINITE", name)
    return made


def _address(array: numpy.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _given(rows: numpy.ndarray, weights: numpy.ndarray, arrays: list[Any]) -> tuple[Any, Any]:
    """Results of the caller's kind, weights of his type."""
    torch = next((found for found in map(torch_of, arrays) if found is not None), None)
    rows = rows.astype(numpy.int64)
    if torch is None:
        return rows, weights.copy()
    double = any(a is not None and str(a.dtype).endswith("float64") for a in arrays)
    return torch.from_numpy(rows), torch.from_numpy(weights.astype(numpy.float64 if double else numpy.float32))


def _last_layer(h: Array, p: Array, problem: Any) -> tuple[Any, Any]:
    """Views of H and P in a problem; returns what they look at."""
    if h is None or p is None:
        raise CullValueError("h and p go together", "BAD_ARGUMENT", "p" if p is None else "h")
    return _same_rows(View(problem.h, "h", 2).set(h), View(problem.p, "p", 2).set(p))


def _same_rows(h: Any, p: Any) -> tuple[Any, Any]:
    if h.shape[0] != p.shape[0]:
        raise CullValueError(f"h has {h.shape[0]} rows, p has {p.shape[0]}", "BAD_ARGUMENT", "p")
    return h, p


def _room(problem: Any, count: int, budget: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Arrays for the picks of a problem of `count` atoms, and their weights."""
    problem.count, problem.budget = count, whole("budget", budget, 1)
    if problem.budget > count:
        raise CullValueError(f"a budget of {budget} for {count} atoms", "BAD_ARGUMENT", "budget")
    index, weight = numpy.zeros(problem.budget, numpy.uint32), numpy.zeros(problem.budget)
    problem.index, problem.weight = _address(index), _address(weight)
    return index, weight


def _atoms(rows: Array, count: int, problem: Any) -> tuple[Any, int]:
    """Which rows are atoms, and how many that are."""
    if rows is None:
        return None, count
    held = places_of(rows, "rows")
    if held.size and int(held.max()) >= count:
        raise CullValueError(f"rows has {int(held.max())}, but there are {count}", "BAD_ARGUMENT", "rows")
    problem.row = _address(held)
    return held, held.shape[0]


def _mean_gradient(h: Any, p: Any, rows: Any, column: int | None) -> numpy.ndarray:
    """The mean of p (x) [h; 1], (C, D+1), or its row `column`."""
    h64, p64 = as_numpy(h, "h").astype(numpy.float64), as_numpy(p, "p").astype(numpy.float64)
    if rows is not None:
        h64, p64 = h64[rows], p64[rows]
    if column is not None:
        p64 = p64[:, column:column + 1]
    wide = numpy.concatenate([h64, numpy.ones((len(h64), 1))], axis=1)
    return p64.T @ wide / max(len(h64), 1)


def omp(k: Array = None, t: Array = None, budget: int | None = None, *, g: Array = None, h: Array = None,
        p: Array = None, b: Array = None, b2: float = 0.0, noise: float = 0.0, rows: Array = None,
        column: int | None = None, ridge: float = 0.0, tolerance: float = 1e-6, nonnegative: bool = False,
        pick: str = "abs", seed: int = 0, step: int = 0, memory: int = 0, backend: str = "cpu",
        threads: int = 1) -> Pursuit:
    """Orthogonal matching pursuit: few atoms and weights whose sum comes near a target.

    Atoms are given in one of three ways:

    k, t      their Gram matrix (n, n) and inner products with the target (n); b2 is the target's squared length where
              it is known, noise the relative error of k's entries
    g         themselves (n, width); b is the target (width), or their mean
    h, p      last-layer gradients p (x) [h; 1] by their factors, (n, D) and (n, C): the Gram matrix is made column by
              column and never stored. b is the target (C, D+1), bias last, or their mean; with `column` only row c of
              the gradient counts, and b is (D+1); `rows` names the atoms among the n

    budget       most picks
    ridge        lambda, relative to the mean of the Gram matrix's diagonal
    tolerance    stop when the residual is below this share of the target
    nonnegative  refit under weights >= 0 after each pick
    pick         by "abs" correlation, the "signed" one, or a "sample" in proportion to the absolute one (by seed, step)
    memory       bytes that one problem may take; 0: 1 GiB

    Where the arrays lie on a CUDA device it is solved there, in their stream, and rows and weights are there; t, b and
    rows may be on the host.

    >>> import cull, numpy
    >>> g = numpy.eye(4)
    >>> cull.omp(g=g, b=numpy.array([0, 3.0, 0, 1.0]), budget=2).rows
    array([1, 3])
    """
    if sum(way is not None for way in (k, g, h)) != 1:
        raise CullValueError("omp takes k and t, or g, or h and p", "BAD_ARGUMENT", "k")
    if budget is None:
        raise CullValueError("omp needs a budget", "BAD_ARGUMENT", "budget")
    options = _abi.cull_omp_options(ctypes.sizeof(_abi.cull_omp_options), _real("ridge", ridge),
                                    _real("tolerance", tolerance), bool(nonnegative), _word("pick", pick, _PICKS),
                                    lib.cull_key_make(whole("seed", seed, bits=64), b"omp"), whole("step", step),
                                    whole("memory", memory))
    problem = _abi.cull_omp_problem(ctypes.sizeof(_abi.cull_omp_problem))
    problem.column = -1
    arrays = [k, g, h, p]
    if any(map(_device.lies_there, arrays)):
        return _omp_there(arrays, t, budget, b, b2, noise, rows, column, problem, options)
    if h is None:
        if g is not None:
            held, k, t, b2 = _from_atoms(g, b)
        elif t is None:
            raise CullValueError("k goes with t", "BAD_ARGUMENT", "t")
        gram = View(problem.k, "k", 2).set(k)
        count = gram.shape[0]
        if gram.shape[1] != count:
            raise CullValueError(f"k has the shape {tuple(gram.shape)}, which is not square", "BAD_ARGUMENT", "k")
        target = _doubles(t, "t", (count,))
        problem.t, problem.b2, problem.noise = _address(target), _real("b2", b2), _real("noise", noise)
    else:
        held = _last_layer(h, p, problem)
        atoms, count = _atoms(rows, held[0].shape[0], problem)
        width, classes = held[0].shape[1] + 1, held[1].shape[1]
        if column is not None:
            problem.column = whole("column", column)
            if problem.column >= classes:
                raise CullValueError(f"column={column}, but p has {classes}", "BAD_ARGUMENT", "column")
        shape = (classes, width) if column is None else (width,)
        target = _doubles(_mean_gradient(*held, atoms, column).reshape(shape) if b is None else b, "b", shape)
        problem.b = _address(target)
    index, weight = _room(problem, count, budget)
    check(lib.cull_omp(open_backend(backend, whole("threads", threads)), ctypes.byref(problem), 1,
                       ctypes.byref(options)))
    found = _given(index[:problem.picked], weight[:problem.picked], arrays)
    return Pursuit(*found, problem.residual, problem.ridge, _STOPS[problem.stop])


class _There:
    """Arrays of one problem on a device, put together before its turn and worked on in it."""

    def __init__(self) -> None:
        self.place: Place | None = None
        self.held: list[Any] = []    # what has to live until the end
        self.double = False

    def matrix(self, tensor: _abi.cull_tensor, name: str, array: Array) -> tuple[int, ...]:
        """One of the problem's matrices; all lie on one device."""
        view = View(tensor, name, 2)
        held = view.set(array)
        self.held.append((view, held))
        if view.seen is None:
            raise CullValueError(f"{name} is on the host, and others of its problem on a device: bring them to one of both",
                                 "BAD_ARGUMENT", name)
        if self.place is None:
            self.place = Place(view.seen, name)
        else:
            self.place.join(view.seen, name)
        self.double = self.double or tensor.dtype == _abi.CULL_F64
        return held.shape

    def joined(self) -> Place:
        assert self.place is not None
        return self.place

    def doubles(self, array: Array, name: str, shape: tuple[int, ...]) -> Any:
        """Doubles wherever they lie: as they are on the device, or here, to be sent by `address`."""
        if not _device.lies_there(array):
            return _doubles(array, name, shape)
        torch = torch_of(array)
        seen = _device.see(array if torch is None else array.detach().to(torch.float64).contiguous(), name, False)
        self.joined().join(seen, name)
        if seen.dtype != _abi.CULL_F64:
            raise CullValueError(f"{name} is on a device and not of type float64", "BAD_ARGUMENT", name)
        if seen.shape != shape or (len(shape) == 2 and seen.strides[0] != shape[1]):
            raise CullValueError(f"{name} has the shape {seen.shape}, not {shape}", "BAD_ARGUMENT", name)
        return seen

    def last_layer(self, problem: Any, h: Array, p: Array, rows: Array) -> tuple[int, Any, int, int]:
        """(atoms, which rows they are, D, C) of gradients by their factors."""
        if h is None or p is None:
            raise CullValueError("h and p go together", "BAD_ARGUMENT", "p" if p is None else "h")
        wide, deep = self.matrix(problem.h, "h", h), self.matrix(problem.p, "p", p)
        if wide[0] != deep[0]:
            raise CullValueError(f"h has {wide[0]} rows, p has {deep[0]}", "BAD_ARGUMENT", "p")
        atoms, count = self.rows(rows, wide[0])
        return count, atoms, wide[1], deep[1]

    def rows(self, rows: Array, count: int) -> tuple[Any, int]:
        """Which rows are atoms, and how many; out of range they are found on the device."""
        if rows is None or not _device.lies_there(rows):
            return _atoms(rows, count, _abi.cull_omp_problem())
        seen = _device.see(rows, "rows", True)
        if len(seen.shape) != 1:
            raise CullValueError(f"rows has {len(seen.shape)} dimensions, not 1", "BAD_ARGUMENT", "rows")
        self.joined().join(seen, "rows")
        return seen, seen.shape[0]

    # ---- in the device's turn ----

    def address(self, array: Any) -> int | None:
        if array is None or isinstance(array, _device.Seen):
            self.held.append(array)
            return None if array is None else array.data
        held, at = self.joined().send(array)
        self.held.append(held)
        return at

    def places(self, rows: Any) -> int | None:
        if rows is None or isinstance(rows, numpy.ndarray):
            return self.address(rows)
        place = self.joined()
        held, at = place.empty(rows.shape[0], "uint32" if place.torch is None else "int32")
        view = _abi.cull_tensor(data=rows.data, dtype=rows.dtype, dims=1)
        view.shape[0], view.stride[0] = rows.shape[0], rows.strides[0] if rows.shape[0] > 1 else 1
        view.device.kind, view.device.number = _device.CUDA, place.ordinal
        check(lib.cull_places_take(place.device.backend, ctypes.byref(view), at))
        self.held += [held, rows]
        return at

    def room(self, problem: Any, count: int, budget: int) -> None:
        """For the picks of a problem, and their weights."""
        place = self.joined()
        problem.count, problem.budget = count, whole("budget", budget, 1)
        if problem.budget > count:
            raise CullValueError(f"a budget of {budget} for {count} atoms", "BAD_ARGUMENT", "budget")
        index, problem.index = place.empty(problem.budget, "uint32" if place.torch is None else "int32")
        weight, problem.weight = place.empty(problem.budget, "float64")
        self.held += [index, weight]

    def given(self, problem: Any, picked: int) -> tuple[Any, Any]:
        """The picks as arrays of the caller's kind."""
        place = self.joined()
        subset = _abi.cull_subset(ctypes.sizeof(_abi.cull_subset))
        subset.count, subset.index, subset.weight = picked, problem.index, problem.weight
        subset.backend = place.device.backend
        subset.device.kind, subset.device.number = _device.CUDA, place.ordinal
        arrays = _abi.cull_subset_arrays(ctypes.sizeof(_abi.cull_subset_arrays))
        rows, arrays.index = place.empty(picked, "int64")
        weights, arrays.weight = place.empty(picked, "float64" if self.double else "float32")
        arrays.dtype = _abi.CULL_F64 if self.double else _abi.CULL_F32
        if picked:
            check(lib.cull_subset_give(ctypes.byref(subset), ctypes.byref(arrays)))
        place.done()
        return rows, weights


def _omp_there(arrays: list[Any], t: Array, budget: int, b: Array, b2: float, noise: float, rows: Array,
               column: int | None, problem: Any, options: Any) -> Pursuit:
    """`omp` of arrays on a device."""
    k, g, h, p = arrays
    there = _There()
    target = atoms = None
    double = False
    if g is not None:
        k, t, b2, double = _gram_of_atoms(g, b)
    if k is not None:
        if t is None:
            raise CullValueError("t goes with k", "BAD_ARGUMENT", "t")
        shape = there.matrix(problem.k, "k", k)
        count = shape[0]
        if shape[1] != count:
            raise CullValueError(f"k has the shape {tuple(shape)}, which is not square", "BAD_ARGUMENT", "k")
        target = there.doubles(t, "t", (count,))
        problem.b2, problem.noise = _real("b2", b2), _real("noise", noise)
        there.double = double if g is not None else there.double
    else:
        count, atoms, width, classes = there.last_layer(problem, h, p, rows)
        if column is not None:
            problem.column = whole("column", column)
            if problem.column >= classes:
                raise CullValueError(f"column={column}, but p has {classes}", "BAD_ARGUMENT", "column")
        if b is not None:
            target = there.doubles(b, "b", (classes, width + 1) if column is None else (width + 1,))
    place = there.joined()
    with place.device.turn(place.streams):
        if h is None:
            problem.t = there.address(target)
        else:
            problem.b, problem.row = there.address(target), there.places(atoms)
        there.room(problem, count, budget)
        check(lib.cull_omp(place.device.backend, ctypes.byref(problem), 1, ctypes.byref(options)))
        found = there.given(problem, problem.picked)
    return Pursuit(*found, problem.residual, problem.ridge, _STOPS[problem.stop])


class _Row:
    """A vector on a device as a matrix of one row."""

    def __init__(self, seen: _device.Seen) -> None:
        self.seen = seen
        kind = {_abi.CULL_F32: "<f4", _abi.CULL_F64: "<f8"}.get(seen.dtype)
        if kind is None or len(seen.shape) != 1:
            raise CullValueError("b on a device is a vector of float32 or float64", "BAD_ARGUMENT", "b")
        self.__cuda_array_interface__ = {"shape": (1, *seen.shape), "typestr": kind, "data": (seen.data, False),
                                         "strides": None, "version": 3, "stream": seen.stream or None}


def _gram_of_atoms(g: Array, b: Array) -> tuple[Any, Any, float, bool]:
    """Gram matrix, inner products and the target's squared length of atoms on a device, which are last-layer gradients
    whose H is zero; and whether they are float64."""
    seen = _device.see(g, "g", False)
    if len(seen.shape) != 2:
        raise CullValueError(f"g is of shape {seen.shape}, not a matrix", "BAD_ARGUMENT", "g")
    place = Place(seen, "g")
    target = None
    with place.device.turn(place.streams):
        none, _ = place.send(numpy.zeros((seen.shape[0], 1), numpy.float32))
        if b is not None:
            goal = b
            if not _device.lies_there(b):
                goal = place.send(_doubles(b, "b", (seen.shape[1],)).reshape(1, -1))[0]
            elif torch_of(b) is not None:
                goal = b.reshape(1, -1)
            else:
                goal = _Row(_device.see(b, "b", False))
            target = {"h": place.send(numpy.zeros((1, 1), numpy.float32))[0], "p": goal}
    return (*gram(none, g, target=target), seen.dtype == _abi.CULL_F64)


def _from_atoms(g: Array, b: Array) -> tuple[Any, numpy.ndarray, numpy.ndarray, float]:
    """Gram matrix, inner products and the target's squared length, in double."""
    atoms = as_numpy(g, "g")
    if atoms.ndim != 2 or atoms.dtype.kind not in "fiu":
        raise CullValueError(f"g is of type {atoms.dtype} and shape {atoms.shape}, not a matrix of numbers", "BAD_ARGUMENT",
                             "g")
    atoms = _doubles(atoms, "g", atoms.shape)
    target = atoms.mean(axis=0) if b is None else _doubles(b, "b", (atoms.shape[1],))
    return atoms, atoms @ atoms.T, atoms @ target, float(target @ target)


def facility(similarity: Array = None, budget: int | None = None, *, h: Array = None, p: Array = None,
             rows: Array = None, greedy: str = "lazy", sample: float = 0.01, seed: int = 0, step: int = 0,
             memory: int = 0, backend: str = "cpu", threads: int = 1) -> Facilities:
    """Facility location: choose atoms so that every atom has a near one.

    similarity  (n, n), at least 0; or
    h, p        last-layer gradients by their factors, (n, D) and (n, C), whose unsquared distances make the
                similarities (largest distance - distance); `rows` names the atoms among the n
    budget      picks
    greedy      "lazy" and "naive" pick the same; "stochastic" looks at (n/k) ln(1/sample) candidates a pick
    memory      bytes of similarities held at once; 0: 512 MiB

    >>> import cull, numpy
    >>> near = numpy.array([[2, 1, 0], [1, 2, 0], [0, 0, 2.0]])
    >>> found = cull.facility(near, 2)
    >>> found.rows, found.weights
    (array([0, 2]), array([2., 1.]))
    """
    if (similarity is None) == (h is None):
        raise CullValueError("facility takes similarity, or h and p", "BAD_ARGUMENT", "similarity")
    if budget is None:
        raise CullValueError("facility needs a budget", "BAD_ARGUMENT", "budget")
    options = _abi.cull_facility_options(ctypes.sizeof(_abi.cull_facility_options), _word("greedy", greedy, _GREEDY),
                                         _real("sample", sample), lib.cull_key_make(whole("seed", seed, bits=64), b"facility"),
                                         whole("step", step), whole("memory", memory))
    problem = _abi.cull_facility_problem(ctypes.sizeof(_abi.cull_facility_problem))
    if any(map(_device.lies_there, (similarity, h, p))):
        return _facility_there(similarity, h, p, rows, budget, problem, options)
    if similarity is not None:
        held: Any = View(problem.similarity, "similarity", 2).set(similarity)
        atoms, count = None, held.shape[0]
        if held.shape[1] != count:
            raise CullValueError(f"similarity has the shape {tuple(held.shape)}, which is not square", "BAD_ARGUMENT",
                                 "similarity")
    else:
        held = _last_layer(h, p, problem)
        atoms, count = _atoms(rows, held[0].shape[0], problem)
    index, weight = _room(problem, count, budget)
    check(lib.cull_facility(open_backend(backend, whole("threads", threads)), ctypes.byref(problem), 1,
                            ctypes.byref(options)))
    del atoms, held
    return Facilities(*_given(index, weight, [similarity, h, p]), problem.value)


def _facility_there(similarity: Array, h: Array, p: Array, rows: Array, budget: int, problem: Any,
                    options: Any) -> Facilities:
    """`facility` of arrays on a device."""
    there = _There()
    atoms = None
    if similarity is not None:
        shape = there.matrix(problem.similarity, "similarity", similarity)
        count = shape[0]
        if shape[1] != count:
            raise CullValueError(f"similarity has the shape {tuple(shape)}, which is not square", "BAD_ARGUMENT",
                                 "similarity")
    else:
        count, atoms = there.last_layer(problem, h, p, rows)[:2]
    place = there.joined()
    with place.device.turn(place.streams):
        problem.row = there.places(atoms)
        there.room(problem, count, budget)
        check(lib.cull_facility(place.device.backend, ctypes.byref(problem), 1, ctypes.byref(options)))
        found = there.given(problem, problem.budget)
    return Facilities(*found, problem.value)


def gram(h: Array, p: Array, *, target: Mapping[str, Array] | None = None, backend: str = "cpu",
         threads: int = 1) -> tuple[Any, Any, float]:
    """The Gram matrix K = P P^T o (H H^T + 1) of last-layer gradients, its row means t and their mean b2, in double;
    with a target block (h, p), t and b2 are towards its mean gradient. What `omp` takes. Of h and p on a device, k and t
    are there too.

    >>> import cull, numpy
    >>> k, t, b2 = cull.gram(numpy.zeros((2, 3)), numpy.array([[1.0], [2.0]]))
    >>> k.tolist(), t.tolist(), b2
    ([[1.0, 2.0], [2.0, 4.0]], [1.5, 3.0], 2.25)
    """
    if _device.lies_there(h) or _device.lies_there(p):
        return _gram_there(h, p, target)
    block = _abi.cull_target()
    views = _abi.cull_tensor(), _abi.cull_tensor()
    held = [*_same_rows(View(views[0], "h", 2).set(h), View(views[1], "p", 2).set(p))]
    if target is not None:
        if not isinstance(target, Mapping) or not {"h", "p"} <= set(target):
            raise CullValueError("target is a mapping with h and p", "BAD_ARGUMENT", "target")
        held += [View(block.h, "target h", 2).set(target["h"]), View(block.p, "target p", 2).set(target["p"])]
        if held[2].shape[0] != held[3].shape[0]:
            raise CullValueError(f"target h has {held[2].shape[0]} rows, target p has {held[3].shape[0]}", "BAD_ARGUMENT",
                                 "target")
        block.count = held[2].shape[0]
    count, b2 = held[0].shape[0], ctypes.c_double()
    k, t = numpy.zeros((count, count)), numpy.zeros(count)
    check(lib.cull_gram(open_backend(backend, whole("threads", threads)), ctypes.byref(views[0]), ctypes.byref(views[1]),
                        ctypes.byref(block) if target is not None else None, _address(k), _address(t),
                        ctypes.byref(b2)))
    return k, t, b2.value


def _gram_there(h: Array, p: Array, target: Mapping[str, Array] | None) -> tuple[Any, Any, float]:
    """`gram` of arrays on a device."""
    there, b2 = _There(), ctypes.c_double()
    views, block = (_abi.cull_tensor(), _abi.cull_tensor()), _abi.cull_target()
    wide, deep = there.matrix(views[0], "h", h), there.matrix(views[1], "p", p)
    if wide[0] != deep[0]:
        raise CullValueError(f"h has {wide[0]} rows, p has {deep[0]}", "BAD_ARGUMENT", "p")
    if target is not None:
        if not isinstance(target, Mapping) or not {"h", "p"} <= set(target):
            raise CullValueError("target is a mapping with h and p", "BAD_ARGUMENT", "target")
        goal = there.matrix(block.h, "target h", target["h"])
        if there.matrix(block.p, "target p", target["p"])[0] != goal[0]:
            raise CullValueError(f"target h has {goal[0]} rows, target p has others", "BAD_ARGUMENT", "target")
        block.count = goal[0]
    place, count = there.joined(), wide[0]
    with place.device.turn(place.streams):
        k, at = place.empty(count * count, "float64")
        t, t_at = place.empty(count, "float64")
        check(lib.cull_gram(place.device.backend, ctypes.byref(views[0]), ctypes.byref(views[1]),
                            ctypes.byref(block) if target is not None else None, at, t_at, ctypes.byref(b2)))
        place.done()
    return k.reshape(count, count), t, b2.value
