"""Whole numbers given by a caller."""
from __future__ import annotations

from typing import Any

from ._library import CullValueError


def whole(name: str, value: Any, least: int = 0) -> int:
    """A count or a number of a step, at least `least`."""
    try:
        number = int(value.__index__())
    except (AttributeError, TypeError):
        raise CullValueError(f"{name}={value!r} is no whole number", "BAD_ARGUMENT", name) from None
    if not least <= number < 2**63:
        raise CullValueError(f"{name}={number} is not {least} or more", "BAD_ARGUMENT", name)
    return number
