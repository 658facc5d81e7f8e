"""What strategies there are, and how one is written."""
from __future__ import annotations

import ctypes
import functools
import math
from dataclasses import dataclass
from typing import Any, Mapping

from . import _abi
from ._library import CullValueError, check, lib

SIGNALS = {_abi.CULL_SIGNAL_LOSS: "loss", _abi.CULL_SIGNAL_H: "h", _abi.CULL_SIGNAL_P: "p",
           _abi.CULL_SIGNAL_LABEL: "labels", _abi.CULL_SIGNAL_IRREDUCIBLE: "irreducible",
           _abi.CULL_SIGNAL_LOGITS: "logits"}
TRAITS = {_abi.CULL_TAKES_STALE: "takes stale", _abi.CULL_TAKES_REMEMBERED: "takes remembered",
          _abi.CULL_NO_BUDGET: "no budget", _abi.CULL_SAMPLES: "samples", _abi.CULL_COMES_SHORT: "comes short",
          _abi.CULL_HOST_SIGNALS: "host signals", _abi.CULL_UNIFORM: "uniform", _abi.CULL_KEEPS_ALL: "keeps all",
          _abi.CULL_KEEPS_BY_POWER: "keeps by power"}
RUNS = {_abi.CULL_RUNS_STEP: "step", _abi.CULL_RUNS_EPOCH: "epoch", _abi.CULL_RUNS_PERIOD: "period",
        _abi.CULL_RUNS_ONCE: "once"}
TYPES = {_abi.CULL_OPTION_INT: "int", _abi.CULL_OPTION_REAL: "real", _abi.CULL_OPTION_CHOICE: "choice",
         _abi.CULL_OPTION_BOOL: "bool", _abi.CULL_OPTION_TEXT: "text", _abi.CULL_OPTION_LIST: "list",
         _abi.CULL_OPTION_LAYERS: "layers"}


@functools.lru_cache(maxsize=None)
def names_of(bits: int) -> frozenset[str]:
    """The signals of a mask, by the names of `select`'s arguments."""
    return frozenset(name for bit, name in SIGNALS.items() if bits & bit)


@dataclass(frozen=True)
class Option:
    """One option of a strategy; as a keyword its dashes are underscores."""

    key: str
    type: str  #: int, real, choice, bool, text or list
    default: str
    low: float  #: bounds of a number, both inclusive
    high: float
    words: tuple[str, ...]  #: what may be said instead of a number, or at all
    doc: str


@dataclass(frozen=True)
class Strategy:
    """One strategy as the library describes it."""

    name: str
    doc: str
    runs: str  #: when it chooses: every "step" over a batch; every "epoch" or "period", or "once", over the pool
    signals: frozenset[str]  #: what its rule always reads; options may ask for more
    traits: frozenset[str]
    options: tuple[Option, ...]


def _option(spec: Any) -> Option:
    words = tuple(spec.words.decode().split("|")) if spec.words else ()
    return Option(spec.key.decode(), TYPES[spec.type], (spec.fallback or b"").decode(), spec.low, spec.high, words,
                  spec.doc.decode())


def _strategy(found: Any) -> Strategy:
    options: list[Option] = []
    one = found.contents
    while True:
        spec = lib.cull_strategy_option_at(found, len(options))
        if not spec:
            break
        options.append(_option(spec.contents))
    return Strategy(one.name.decode(), one.doc.decode(), RUNS[one.runs], names_of(one.signals),
                    frozenset(name for bit, name in TRAITS.items() if one.traits & bit), tuple(options))


def strategies() -> list[Strategy]:
    """All strategies of the library, with their options.

    >>> [s.name for s in strategies()][:4]
    ['full', 'random', 'top-loss', 'sb']
    >>> next(s for s in strategies() if s.name == "sb").signals
    frozenset({'loss'})
    """
    found: list[Strategy] = []
    while True:
        one = lib.cull_strategy_at(len(found))
        if not one:
            return found
        found.append(_strategy(one))


def value_text(key: str, value: Any) -> str:
    """An option's value as the library reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and "\0" not in value:
        return value
    if isinstance(value, (list, tuple)):
        return ",".join(value_text(key, one) for one in value) or "none"
    if hasattr(value, "item"):
        return value_text(key, value.item())
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    raise CullValueError(f"{key}={value!r} is no value of an option", "BAD_OPTION", key)


def read(text: str, options: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """A strategy as a user writes it and keywords beside it: name with modifier, and all options in their order."""
    if not isinstance(text, str) or "\0" in text:
        raise CullValueError(f"a strategy is a text, not {text!r}", "BAD_ARGUMENT", "strategy")
    parts = _abi.cull_strategy_text()
    try:
        check(lib.cull_strategy_text_read(text.encode(), ctypes.byref(parts)))
        name = parts.name.decode() + (" " + parts.modifier.decode() if parts.modifier else "")
        given = [(parts.option[i].key.decode(), parts.option[i].value.decode()) for i in range(parts.options)]
    finally:
        lib.cull_strategy_text_clear(ctypes.byref(parts))
    return name, given + [(key.replace("_", "-"), value_text(key, value)) for key, value in options.items()
                          if value is not None]
