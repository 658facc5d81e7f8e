"""The solvers behind the strategies: orthogonal matching pursuit, facility location, Gram matrices."""
from __future__ import annotations

import ctypes
from typing import Any, Mapping, NamedTuple

import numpy

from . import _abi
from ._arrays import Array, View, as_numpy, places_of, torch_of
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


def gram(h: Array, p: Array, *, target: Mapping[str, Array] | None = None, backend: str = "cpu",
         threads: int = 1) -> tuple[numpy.ndarray, numpy.ndarray, float]:
    """The Gram matrix K = P P^T o (H H^T + 1) of last-layer gradients, its row means t and their mean b2, in double;
    with a target block (h, p), t and b2 are towards its mean gradient. What `omp` takes.

    >>> import cull, numpy
    >>> k, t, b2 = cull.gram(numpy.zeros((2, 3)), numpy.array([[1.0], [2.0]]))
    >>> k.tolist(), t.tolist(), b2
    ([[1.0, 2.0], [2.0, 4.0]], [1.5, 3.0], 2.25)
    """
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
