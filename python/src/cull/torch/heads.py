"""The last linear layer of a model: which it is, and what goes through it in one forward.

It is found by one forward over the first rows of a batch: the linear layer that ran last. Its
output must then be the logits, or what they are made of alone (a log-softmax, a squeeze).
"""
from __future__ import annotations

import math
from typing import Any, Callable

import torch
from torch import nn


def resolve(model: nn.Module, head: Any) -> nn.Module | None:
    """A layer that is told, as a module of the model or by its name; None stays None."""
    if head is None:
        return None
    if isinstance(head, str):
        named = dict(model.named_modules())
        if head not in named:
            raise ValueError(f"the model has no layer {head!r}; its linear layers are "
                             f"{linear_names(model)}")
        return named[head]
    if not any(m is head for m in model.modules()):
        raise ValueError(f"head= is a {type(head).__name__} that is no part of the model; its "
                         f"linear layers are {linear_names(model)}")
    return head


def linear_names(model: nn.Module) -> str:
    names = [name for name, m in model.named_modules() if isinstance(m, nn.Linear)]
    return ", ".join(map(repr, names)) or "none"


def name_of(model: nn.Module, layer: nn.Module) -> str:
    return next((name for name, m in model.named_modules() if m is layer), "?")


def last_linear(model: nn.Module, forward: Callable[[], Any]) -> nn.Module:
    """The linear layer that runs last when `forward` is called."""
    ran: list = []
    handles = [m.register_forward_hook(lambda module, args, output: ran.append(module))
               for m in model.modules() if isinstance(m, nn.Linear)]
    try:
        forward()
    finally:
        for handle in handles:
            handle.remove()
    if not ran:
        has = linear_names(model)
        raise ValueError("no linear layer was seen in the model's forward" +
                         (f" (it has {has})" if handles else "") + ": name the layer that gives "
                         "the logits, head=..., or use a strategy that reads losses alone")
    return ran[-1]


class Tap:
    """Sees a layer's inputs and output in one forward.

    With `differentiate`, the output becomes a leaf and what follows it is recorded, so that the
    loss can be differentiated with respect to it; nothing before it is.
    """

    def __init__(self, layer: nn.Module, differentiate: bool) -> None:
        self.layer, self.differentiate = layer, differentiate
        self.calls = 0
        self.h: Any = None
        self.z: Any = None

    def __enter__(self) -> "Tap":
        self._handle = self.layer.register_forward_hook(self._see)
        self._recorded = torch.is_grad_enabled()
        return self

    def __exit__(self, *_: Any) -> None:
        self._handle.remove()
        torch.set_grad_enabled(self._recorded)

    def _see(self, module: nn.Module, args: tuple, output: Any) -> Any:
        self.calls += 1
        self.h = args[0] if args else None
        self.z = output
        if self.differentiate and isinstance(output, torch.Tensor):
            self.z = output.detach().requires_grad_(True)
            torch.set_grad_enabled(True)
        return self.z

    def check(self, model: nn.Module, logits: Any, rows: int) -> None:
        """Is it the last layer, with one row for each example?"""
        name = name_of(model, self.layer)
        if self.calls == 0:
            raise ValueError(f"the layer {name!r} was not seen when the model was scored: head= has "
                             "to be the layer that gives the logits, and none inside of a part "
                             "that was compiled by itself (before torch 2.6)")
        if self.calls > 1:
            raise ValueError(f"the layer {name!r} runs {self.calls} times in one forward: head= "
                             "has to be a layer that gives the logits once")
        if not isinstance(self.h, torch.Tensor) or not isinstance(self.z, torch.Tensor):
            raise TypeError(f"the layer {name!r} does not take a tensor and return one: it cannot "
                            "be the last linear layer")
        h, z = tuple(self.h.shape), tuple(self.z.shape)
        if len(_rows_of(h)) > 2 and h[0] == rows:
            raise ValueError(f"the last linear layer {name!r} runs at every position (inputs "
                             f"{h}): gradient matching needs one row for each example; use a "
                             "strategy that reads losses alone")
        wanted = tuple(logits.shape) if isinstance(logits, torch.Tensor) else z
        if h[0] != rows or z[0] != rows or z.count(1) < len(z) - 2 or \
                math.prod(wanted) != math.prod(z):
            raise ValueError(f"the layer {name!r} gives {z} of inputs {h} where the logits are "
                             f"{wanted}: it is not the last layer; name the one that gives the "
                             f"logits, head=..., of {linear_names(model)}")

    def inputs(self) -> torch.Tensor:
        return self.h.detach().reshape(self.h.shape[0], -1)

    def is_logits(self, logits: Any) -> bool:
        return logits is self.z


def _rows_of(shape: tuple) -> tuple:
    """Without trailing ones: a 1x1 convolution's inputs are rows too."""
    while len(shape) > 2 and shape[-1] == 1:
        shape = shape[:-1]
    return shape
