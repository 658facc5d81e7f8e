"""Whole numbers given by a caller."""
from __future__ import annotations

from typing import Any

from ._library import CullValueError


def whole(name: str, value: Any, least: int = 0, bits: int = 63) -> int:
    """A count or a number of a step, at least `least`, of so many bits."""
    try:
        number = int(value.__index__())
    except (AttributeError, TypeError):
        raise CullValueError(f"{name}={value!r} is no whole number", "BAD_ARGUMENT", name) from None
    if number < least:
        raise CullValueError(f"{name}={number} is not {least} or more", "BAD_ARGUMENT", name)
    if number >= 2**bits:
        raise CullValueError(f"{name}={number} is not below 2**{bits}", "BAD_ARGUMENT", name)
    return number
