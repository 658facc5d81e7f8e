"""Batches of any shape: how many rows they have, some of their rows, inputs and labels.

A batch may be a tensor, a tuple or list, a named tuple, a dict, anything with keys (Hugging
Face's BatchEncoding), a dataclass, or any of these inside another. What a training loop has
beyond that is told to a Scorer by functions of its own: ``split=``, ``take=``.
"""
from __future__ import annotations

import copy
import dataclasses
import inspect
from typing import Any, Iterator, NamedTuple

import numpy as np
import torch

LABELS = ("labels", "label", "targets", "target", "y")
INDICES = ("index", "indices", "idx")


class Split(NamedTuple):
    """What a model is given, and what its output is held against."""

    inputs: Any
    labels: Any


def is_mapping(batch: Any) -> bool:
    return hasattr(batch, "keys") and hasattr(batch, "__getitem__")


def is_record(batch: Any) -> bool:
    return dataclasses.is_dataclass(batch) and not isinstance(batch, type)


def is_array(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, np.ndarray))


def _is_container(value: Any) -> bool:
    return is_mapping(value) or is_record(value) or isinstance(value, (tuple, list))


def _is_row(value: Any) -> bool:
    """A list or tuple whose parts have no names."""
    return isinstance(value, (list, tuple)) and not hasattr(value, "_fields")


def is_column(value: Any) -> bool:
    """Things without an array, one for each row: texts, file names, numbers, lists of tags."""
    return _is_row(value) and not has_array(value)


def _parts(batch: Any) -> Iterator[tuple]:
    """(name, value) of what a container holds."""
    if is_record(batch):
        yield from ((f.name, getattr(batch, f.name)) for f in dataclasses.fields(batch))
    elif is_mapping(batch):
        yield from ((key, batch[key]) for key in batch.keys())
    else:
        names = getattr(batch, "_fields", range(len(batch)))
        yield from zip(names, batch)


def _arrays(batch: Any) -> Iterator[Any]:
    if is_array(batch):
        yield batch
    elif _is_container(batch):
        for _, value in _parts(batch):
            yield from _arrays(value)


def has_array(batch: Any) -> bool:
    """Is there a tensor or an array anywhere in it?"""
    return next(_arrays(batch), None) is not None


def column_size(batch: Any) -> int | None:
    """How long the first column is, where there are no arrays; None: there is none."""
    if is_column(batch):
        return len(batch)
    if not _is_container(batch):
        return None
    return next((len(part) for _, part in _parts(batch) if is_column(part)), None)


def size(batch: Any) -> int:
    """How many rows a batch has: the first dimension of its first array that has one.

    >>> size((torch.zeros(4, 3), torch.zeros(4)))
    4
    """
    shapes = [tuple(a.shape) for a in _arrays(batch)]
    if not shapes:
        raise TypeError(f"a batch of type {type(batch).__name__} holds no tensor: "
                        "pass split= and take= that know it")
    rows = next((shape[0] for shape in shapes if shape), None)
    if rows is None:
        raise ValueError("the batch has no batch dimension: all its tensors are single numbers; "
                         "give the DataLoader a batch_size, or unsqueeze(0) what it yields")
    if rows == 0:
        raise ValueError("the batch is empty")
    return rows


def take(batch: Any, rows: Any, count: int | None = None) -> Any:
    """The batch with these rows only, of the same type.

    rows    an int64 tensor; on the tensors' device or on the host.
    count   how many rows the batch has, where that is known.

    Tensors without dimensions, texts, numbers and None stay as they are; a list or tuple without
    tensors, one thing for each row, is picked from. A tensor whose first dimension is another is
    an error, and so is a list or tuple of another length.

    >>> take({"x": torch.arange(4), "name": list("abcd")}, torch.tensor([0, 2]))
    {'x': tensor([0, 2]), 'name': ['a', 'c']}
    """
    count = size(batch) if count is None else count
    return _take(batch, torch.as_tensor(rows, dtype=torch.int64), count, "the batch")


def _take(value: Any, rows: torch.Tensor, count: int, name: str) -> Any:
    if is_array(value):
        return _take_array(value, rows, count, name)
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        raise TypeError(f"{name} is a PackedSequence, which has no rows: pad it, or pass take=")
    if is_column(value) and (len(value) == count or not all(map(_is_row, value))):
        return _take_column(value, rows, count, name)
    if not _is_container(value):
        if value is None or isinstance(value, (str, bytes, bool, int, float)):
            return value
        raise TypeError(f"{name} is of type {type(value).__name__}, whose rows are not known: "
                        "pass take=, a function of (batch, rows)")
    parts = [(key, _take(part, rows, count, f"{key!r}")) for key, part in _parts(value)]
    return _rebuild(value, parts)


def _take_column(value: Any, rows: torch.Tensor, count: int, name: str) -> Any:
    if len(value) != count:
        raise ValueError(f"{name} is a {type(value).__name__} of {len(value)} in a batch of "
                         f"{count} rows: it has to have one thing for each row, or take= has to know it")
    if count > 1 and all(isinstance(v, tuple) and _is_row(v) and len(v) == count for v in value):
        raise ValueError(f"{name} has {count} tuples of {count} things, and nobody knows which are "
                         "the rows (default_collate turns lists of texts round): pass take=")
    picked = [value[i] for i in rows.tolist()]
    return picked if isinstance(value, list) else tuple(picked)


def _take_array(value: Any, rows: torch.Tensor, count: int, name: str) -> Any:
    if len(value.shape) == 0:
        return value
    if value.shape[0] != count:
        raise ValueError(f"{name} has the shape {tuple(value.shape)} in a batch of {count} rows: "
                         "its first dimension has to be the rows, or take= has to know it")
    if isinstance(value, np.ndarray):
        return value[rows.cpu().numpy()]
    return value.index_select(0, rows.to(value.device))


def _rebuild(value: Any, parts: list) -> Any:
    if isinstance(value, tuple):
        made = [part for _, part in parts]
        return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
    if isinstance(value, list):
        return [part for _, part in parts]
    new = copy.copy(value)
    for key, part in parts:
        if is_record(value):
            object.__setattr__(new, key, part)
        else:
            new[key] = part
    return new


def to(batch: Any, device: Any) -> Any:
    """The batch with its tensors on a device."""
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if not _is_container(batch) or is_column(batch):
        return batch
    return _rebuild(batch, [(key, to(part, device)) for key, part in _parts(batch)])


def part_of(batch: Any, where: Any) -> Any:
    """A part of a batch, by key, by position, or by a function of the batch."""
    if callable(where):
        return where(batch)
    if is_record(batch) or (isinstance(where, str) and hasattr(batch, "_fields")):
        return getattr(batch, where)
    return batch[where]


def without(batch: Any, where: Any) -> Any:
    """The batch without one part; what a function finds is not taken out."""
    if callable(where) or where is None:
        return batch
    if isinstance(batch, (tuple, list)) and not hasattr(batch, "_fields"):
        at = range(len(batch))[where]
        return type(batch)(v for i, v in enumerate(batch) if i != at)
    if is_record(batch) or hasattr(batch, "_fields"):
        return {key: value for key, value in _parts(batch) if key != where}
    return {key: batch[key] for key in batch.keys() if key != where}


def split(batch: Any) -> Split:
    """Inputs and labels of a batch.

    A pair is (inputs, labels). Of what has names, the labels are the first of `labels`, `label`,
    `targets`, `target`, `y`, and the inputs all others but indices. A tensor alone is both: what a
    model is to make of itself. Of more than two things in a row nobody knows: pass ``split=``.
    """
    if isinstance(batch, torch.Tensor):
        return Split(batch, batch)
    if is_record(batch) or is_mapping(batch) or hasattr(batch, "_fields"):
        parts = dict(_parts(batch))
        named = next((key for key in LABELS if key in parts), None)
        if named is not None:
            labels = parts.pop(named)
            return Split({k: v for k, v in parts.items() if k not in INDICES}, labels)
        if not (hasattr(batch, "_fields") and len(batch) == 2):
            raise ValueError(f"none of the batch's parts {sorted(map(str, parts))} is called "
                             f"{', '.join(LABELS)}: pass split=, a function of the batch that "
                             "returns (inputs, labels)")
    if isinstance(batch, (tuple, list)) and len(batch) == 2:
        return Split(batch[0], batch[1])
    if isinstance(batch, (tuple, list)) and len(batch) == 1:
        return split(batch[0])
    what = f"{len(batch)} parts" if isinstance(batch, (tuple, list)) else type(batch).__name__
    raise ValueError(f"a batch of {what}: pass split=, a function of the batch that returns "
                     "(inputs, labels), or index= where one of the parts is the indices")


def call(model: Any, forward: Any, inputs: Any) -> Any:
    """Call a model: with names where the inputs have names, one by one where they are a tuple; a
    list of texts is one input.

    A single named input that the model's forward does not know by that name is passed as the
    first argument.
    """
    if is_mapping(inputs):
        named = {key: inputs[key] for key in inputs.keys()}
        if len(named) == 1 and not _accepts(forward, next(iter(named))):
            return model(next(iter(named.values())))
        return model(**named)
    texts = is_column(inputs) and not all(map(_is_row, inputs))
    if isinstance(inputs, (tuple, list)) and not texts:
        return model(*inputs)
    return model(inputs)


def _accepts(forward: Any, name: str) -> bool:
    try:
        known = inspect.signature(forward).parameters
    except (TypeError, ValueError):
        return True
    return name in known or any(p.kind == p.VAR_KEYWORD for p in known.values())


def to_indices(values: Any, rows: int) -> torch.Tensor:
    """Places in the data set as an int64 tensor where they lie, as many as there are rows."""
    try:
        made = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"indices are whole numbers, one for each row, not {type(values).__name__} "
                        f"{str(values)[:40]}") from None
    if made.dtype.is_floating_point or made.dtype == torch.bool:
        raise TypeError(f"indices are whole numbers, not {made.dtype}")
    made = made.detach().to(torch.int64).reshape(-1)
    if made.numel() != rows:
        raise ValueError(f"{made.numel()} indices came with a batch of {rows} rows")
    return made
