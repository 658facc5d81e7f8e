"""Gradient matching with the signature of the listing in Balles et al. (2023), appendix B."""
from __future__ import annotations

import numbers
from typing import Any

from torch import nn

import cull

from . import devices
from .scorer import Scorer


class GradMatchSelector(nn.Module):
    """Chooses k examples of a batch whose weighted gradient matches that of the batch.

        selector = GradMatchSelector(model, model.fc, nn.CrossEntropyLoss(reduction="none"), k)
        idx, weights = selector(X, y)

    model           the network; its parameters are not parameters of the selector.
    output_layer    its last linear layer, or that layer's name.
    loss_fn         returns one loss for each example; None: cross-entropy.
    k               how many examples to choose.
    norm, dropout, autocast
                    as Scorer has them: running statistics stay as they are.

    Returns the places of what was picked in the batch (int64), in the order of the picks, and
    their weights, clipped at zero and summing to as many; both on the device of X. Fewer than k
    are returned where the gradients have a lower rank, none where no weight is positive.
    """

    def __init__(self, model: nn.Module, output_layer: Any, loss_fn: Any, k: int, *,
                 norm: str = "batch", dropout: bool = False, autocast: Any = None) -> None:
        super().__init__()
        whole: Any = k
        if isinstance(k, bool) or not isinstance(whole, numbers.Integral) or k < 1:
            raise ValueError(f"k={k!r}: how many examples to choose, a whole number of 1 or more")
        # As a tuple: a module inside of a module would have its parameters there too.
        self._scorer = (Scorer(model, loss_fn, output_layer, norm=norm, dropout=dropout,
                               autocast=autocast),)
        self._k = int(k)

    def forward(self, X: Any, y: Any) -> tuple:
        seen = self._scorer[0]((X, y), ("h", "p")).asked()
        h, p, device = seen["h"], seen["p"], seen["h"].device
        if self._k > len(h):
            raise ValueError(f"k={self._k} of a batch of {len(h)} examples")
        found = cull.omp(h=devices.readable(h.double()), p=devices.readable(p.double()), budget=self._k,
                         tolerance=0.0)
        weights = found.weights.clamp(min=0.0)
        total = weights.sum()
        if not float(total) > 0:
            return found.rows[:0].to(device), weights[:0].float().to(device)
        weights = weights / total * len(weights)
        return found.rows.to(device), weights.float().to(device)
