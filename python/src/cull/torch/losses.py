"""Per-example losses, and P: the gradient of their sum with respect to the logits.

    cross-entropy      loss_i = - sum_c t_ic log softmax(z_i)_c
                       P_i    = softmax(z_i) sum_c t_ic - t_i
    t, a class y       t_c = (1 - s) v_y [c = y] + s v_c / C      s smoothing, v class weights
    t, shares q        t_c = v_c ((1 - s) q_c + s / C)
    t, ignored         0

Anything else is differentiated.
"""
from __future__ import annotations

from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import nn

from . import batches


def logits_of(output: Any) -> Any:
    """The logits in what a model returns: itself, `.logits`, ["logits"], or the first of several."""
    if isinstance(output, torch.Tensor):
        return output
    if isinstance(getattr(output, "logits", None), torch.Tensor):
        return output.logits
    if batches.is_mapping(output) and "logits" in output.keys():
        return output["logits"]
    if isinstance(output, (tuple, list)) and output and isinstance(output[0], torch.Tensor):
        return output[0]
    raise TypeError(f"the model returns {type(output).__name__} without logits: pass logits=, "
                    "a function of the output that returns them")


def wide(values: torch.Tensor) -> torch.Tensor:
    """At least float32."""
    return values if values.dtype == torch.float64 else values.float()


def sequence_cross_entropy(logits: torch.Tensor, labels: torch.Tensor, *, shift: bool = False,
                           **options: Any) -> torch.Tensor:
    """Cross-entropy of each sequence: the mean over its labels that are not ignored (-100).

    logits      (B, T, V); labels (B, T).
    shift       position t is held against label t+1, as causal language models are trained.
    options     weight, label_smoothing and ignore_index of cross_entropy.

    A sequence without a label has the loss 0.
    """
    if shift:
        logits, labels = logits[:, :-1], labels[:, 1:]
    labels = labels.long()
    positions = F.cross_entropy(logits.transpose(1, -1), labels, reduction="none", **options)
    return _mean_over_labels(positions, labels, options.get("ignore_index", -100))


def _mean_over_labels(positions: torch.Tensor, labels: torch.Tensor, ignored: int) -> torch.Tensor:
    counted = labels.ne(ignored).flatten(1).sum(1).clamp(min=1)
    return positions.flatten(1).sum(1) / counted


class Losses:
    """A loss function as selection needs it: one number for each example.

    loss_fn     None: cross-entropy. nn.CrossEntropyLoss(reduction="none") is known: P needs no
                differentiation. Any other function of (logits, labels) returns one loss for each
                example, of that example alone.
    """

    def __init__(self, loss_fn: Callable | None = None) -> None:
        if loss_fn is not None and not callable(loss_fn):
            raise TypeError(f"loss_fn is {loss_fn!r}: it has to be a function of (logits, labels)")
        reduction = getattr(loss_fn, "reduction", "none")
        if reduction != "none":
            raise ValueError(f"{type(loss_fn).__name__} has reduction={reduction!r}, which leaves "
                             "one number of a batch: make it with reduction='none', the mean is "
                             "taken behind the selection")
        self.loss_fn: Any = loss_fn
        self.known = loss_fn is None or type(loss_fn) is nn.CrossEntropyLoss
        self.weight = getattr(loss_fn, "weight", None) if self.known else None
        self.smoothing = getattr(loss_fn, "label_smoothing", 0.0) if self.known else 0.0
        self.ignored: int = getattr(loss_fn, "ignore_index", -100)

    def __call__(self, logits: torch.Tensor, labels: Any) -> torch.Tensor:
        """(M) losses, with gradients where they are recorded."""
        found = self._cross_entropy(logits, labels) if self.known else self.loss_fn(logits, labels)
        return self._checked(found, batches.size(labels) if self.known else _rows(logits))

    def gradient(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """P (M, C) of cross-entropy over one class an example."""
        share = torch.softmax(logits, 1)
        target = self._targets(share, labels)
        return share * target.sum(1, keepdim=True) - target

    def _targets(self, like: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        classes = like.shape[1]
        scale = torch.ones_like(like[0]) if self.weight is None else self.weight.to(like)
        if labels.is_floating_point():
            return scale * ((1 - self.smoothing) * labels.to(like) + self.smoothing / classes)
        kept: torch.Tensor = labels.ne(self.ignored)
        known = torch.where(kept, labels, torch.zeros_like(labels)).long()
        target = (self.smoothing / classes * scale).expand_as(like).clone()
        target.scatter_add_(1, known[:, None], (1 - self.smoothing) * scale[known][:, None])
        return target * kept[:, None]

    def _cross_entropy(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        if not isinstance(labels, torch.Tensor):
            raise TypeError(f"labels are {type(labels).__name__}: cross-entropy takes a tensor")
        if not labels.is_floating_point():
            labels = labels.long()
        positions = logits.dim() > 2
        if positions and _last_is_class(logits, labels, self.loss_fn is None):
            logits = logits.movedim(-1, 1)
        found = F.cross_entropy(wide(logits), labels, weight=self.weight, reduction="none",
                                ignore_index=self.ignored, label_smoothing=self.smoothing)
        if positions and found.dim() > 1:
            return _mean_over_labels(found, labels, self.ignored)
        return found

    def _checked(self, found: Any, rows: int) -> torch.Tensor:
        if not isinstance(found, torch.Tensor):
            raise TypeError(f"loss_fn returns {type(found).__name__}: a tensor of {rows} losses, "
                            "one for each example, is needed")
        if found.dim() == 0:
            raise ValueError(f"loss_fn returns one number for {rows} examples: use "
                             "reduction='none', the mean is taken behind the selection")
        if found.numel() != rows:
            raise ValueError(f"loss_fn returns losses of shape {tuple(found.shape)} for {rows} "
                             "examples: one for each is needed; take the mean over all other "
                             "dimensions")
        return found.reshape(rows)


def _rows(logits: Any) -> int:
    return batches.size(logits)


def _last_is_class(logits: torch.Tensor, labels: torch.Tensor, prefer_last: bool) -> bool:
    """Where classes are: behind all others, as a linear layer leaves them, or at dimension 1, as
    nn.CrossEntropyLoss has it; where both would do, as the loss was given."""
    last = tuple(logits.shape[:-1]) == tuple(labels.shape)
    second = tuple(logits.shape[:1] + logits.shape[2:]) == tuple(labels.shape)
    return last and (prefer_last or not second)
