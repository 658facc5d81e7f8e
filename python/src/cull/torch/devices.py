"""Where the library reads signals: where the model is, if it has operations there, else on the host."""
from __future__ import annotations

import functools
import warnings

import torch

from cull import _device


@functools.lru_cache(maxsize=None)
def _can(ordinal: int) -> bool:
    """Asked once for each device; where it cannot, this is said."""
    why = _device.why_not(ordinal) if torch.version.hip is None else "its operations are for CUDA, and this is ROCm"
    if why:
        warnings.warn(f"signals on cuda:{ordinal} are copied to the host, where they are selected from: {why}", RuntimeWarning,
                      stacklevel=4)
    return not why


def can_select(device: torch.device) -> bool:
    """Does the library have operations on this device, which is not the host?"""
    if device.type != "cuda":
        return False
    return _can(torch.cuda.current_device() if device.index is None else device.index)


def readable(signal: torch.Tensor) -> torch.Tensor:
    """A signal where the library reads it."""
    return signal if signal.device.type == "cpu" or can_select(signal.device) else signal.to("cpu")


def beside(places: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Places where signals of a model on this device are read; nobody waits."""
    if can_select(device):
        return places.to(device, non_blocking=True)
    return places if places.device.type == "cpu" else places.to("cpu")
