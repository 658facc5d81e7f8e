"""What a forward pass sees of a batch: losses, H, P and labels, and nothing of it stays."""
from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, Iterable

import torch
from torch import nn

from . import batches, heads, modes
from .losses import Losses, logits_of, wide

SIGNALS = ("loss", "h", "p", "labels", "logits")


@dataclasses.dataclass
class Signals:
    """What was asked for; all others are None. Rows are those of the batch."""

    loss: torch.Tensor | None = None      #: (M) per-example losses, unweighted
    h: torch.Tensor | None = None         #: (M, D) inputs of the last linear layer
    p: torch.Tensor | None = None         #: (M, C) gradient of the summed loss w.r.t. its output
    labels: torch.Tensor | None = None    #: (M) classes
    logits: torch.Tensor | None = None    #: (M, C) what the model said

    def asked(self) -> dict:
        """What there is, by name; the tensors themselves."""
        return {name: getattr(self, name) for name in SIGNALS if getattr(self, name) is not None}


class Scorer:
    """Runs a model over batches as a scoring pass.

    Gives per-example losses, the inputs H of the last linear layer, the gradient P of the summed
    loss with respect to its output, and labels, without gradients. Nothing that training keeps
    is touched: running statistics, modes of modules, random generators.

    model       also compiled, or in a DistributedDataParallel: scored is the module inside, as it
                was written, since hooks added to a compiled model never fire.
    loss_fn     None: cross-entropy; nn.CrossEntropyLoss(reduction="none"); or any function of
                (logits, labels) that returns one loss for each example.
    head        the last linear layer, or its name. None: the one that runs last in a forward
                over the first rows of the first batch.
    norm        'batch': normalisation layers use the statistics of the scored batch;
                'running': those they keep.
    dropout     False: off when scoring. True: on, with random numbers of its own.
    autocast    None: as the region around the call; False: none; True or a type (bfloat16).
    split       function of a batch that returns (inputs, labels).
    take        function of (batch, rows) that returns the batch with these rows only.
    logits      function of what the model returns that gives what loss_fn is to see.

    >>> model = nn.Linear(4, 3)
    >>> seen = Scorer(model)((torch.randn(8, 4), torch.randint(3, (8,))), ("loss", "p"))
    >>> seen.loss.shape, seen.p.shape
    (torch.Size([8]), torch.Size([8, 3]))
    """

    def __init__(self, model: nn.Module, loss_fn: Callable | None = None, head: Any = None, *,
                 norm: str = "batch", dropout: bool = False, autocast: Any = None,
                 split: Callable | None = None, take: Callable | None = None,
                 logits: Callable | None = None) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"a model is a torch.nn.Module, not {type(model).__name__}")
        if norm not in modes.NORMS:
            raise ValueError(f"norm={norm!r}: it is 'batch' or 'running'")
        self.model = model
        self.inner = modes.plain(model)
        self.losses = Losses(loss_fn)
        self.head: Any = heads.resolve(self.inner, head)   #: None: not looked for yet
        self.norm, self.dropout, self.autocast = norm, bool(dropout), autocast
        self.split = split or batches.split
        self._take = take
        self.logits_of = logits or logits_of
        self._logits_are_output: bool | None = None   # of the head; not known yet

    # ---- batches ----

    def size(self, batch: Any) -> int:
        """How many rows a batch has; inputs and labels have to agree."""
        inputs, labels = self.split(batch)
        rows = self._rows_of(inputs, labels)
        for array in (labels,) if batches.is_array(labels) else ():
            if len(array.shape) == 0 or array.shape[0] != rows:
                raise ValueError(f"labels of shape {tuple(array.shape)} came with {rows} rows of "
                                 "inputs: both need the batch as their first dimension (batch_size "
                                 "of the DataLoader, or unsqueeze(0) for a single example)")
        return rows

    @staticmethod
    def _rows_of(inputs: Any, labels: Any) -> int:
        """By the inputs' tensors, else by the labels', else by the length of a list."""
        known = next((part for part in (inputs, labels) if batches.has_array(part)), None)
        if known is not None:
            return batches.size(known)
        return batches.column_size(inputs) or batches.column_size(labels) or batches.size(inputs)

    def take(self, batch: Any, rows: torch.Tensor) -> Any:
        """The batch with these rows only."""
        return self._take(batch, rows) if self._take else batches.take(batch, rows)

    # ---- passes ----

    def train(self, batch: Any) -> tuple:
        """(logits, per-example losses) of a training forward of the model as it was given, with
        gradients."""
        inputs, labels = self.split(batch)
        logits = self.logits_of(batches.call(self.model, self.inner.forward, inputs))
        return logits, self.losses(logits, labels)

    def gradient(self, batch: Any, logits: torch.Tensor) -> torch.Tensor | None:
        """P from logits that a forward has given, where the loss is known and sees them as the
        last layer left them; None: only a scoring pass tells it."""
        if not self.losses.known or not self._logits_are_output:
            return None
        return self.losses.gradient(wide(logits.detach()), self.split(batch)[1])

    def __call__(self, batch: Any, signals: Iterable[str] = ("loss",), *,
                 norm: str | None = None) -> Signals:
        """Score a batch.

        signals     of "loss", "h", "p", "labels", "logits". "h" and "p" need the last layer;
                    losses alone do not.
        norm        another than the scorer's own.
        """
        wanted = {signals} if isinstance(signals, str) else set(signals)
        if not wanted <= set(SIGNALS):
            raise ValueError(f"signals {sorted(wanted - set(SIGNALS))}: there are {SIGNALS}")
        rows = self.size(batch)
        inputs, labels = self.split(batch)
        needs_head = bool(wanted & {"h", "p"})
        if needs_head and self._logits_are_output is None:
            self._look_at_head(batch, rows)
        differentiate = "p" in wanted and not (self.losses.known and self._logits_are_output)
        out = Signals()
        with torch.no_grad(), self._as_scored(norm or self.norm):
            if needs_head:
                with heads.Tap(self.head, differentiate) as tap:
                    logits = self.logits_of(self._forward(inputs))
                    self._read_head(out, tap, logits, labels, rows, wanted)
            else:
                logits = self.logits_of(self._forward(inputs))
            if out.loss is None and "loss" in wanted:
                out.loss = wide(self.losses(logits, labels))
        out.logits = wide(logits.detach()) if "logits" in wanted else None
        out.labels = self._classes(labels) if "labels" in wanted else None
        return out

    def _read_head(self, out: Signals, tap: heads.Tap, logits: torch.Tensor, labels: Any,
                   rows: int, wanted: set) -> None:
        tap.check(self.inner, logits, rows)
        if "h" in wanted:
            out.h = wide(tap.inputs())
        if "p" not in wanted:
            return
        if not tap.differentiate and tap.is_logits(logits):
            out.p = self.losses.gradient(wide(logits), labels)
            return
        if not tap.differentiate:
            raise ValueError("the model's output is now another than when it was scored before: "
                             "make a Scorer for each kind of forward")
        loss = self.losses(logits, labels)
        found, = torch.autograd.grad(loss.sum(), tap.z, allow_unused=True) \
            if loss.requires_grad else (None,)
        if found is None:
            raise ValueError(f"the loss does not depend on the output of "
                             f"{heads.name_of(self.inner, self.head)!r}: name the layer that gives "
                             f"the logits, head=..., of {heads.linear_names(self.inner)}")
        out.p = wide(found.reshape(rows, -1))
        out.loss = wide(loss.detach()) if "loss" in wanted else None

    # ---- how it runs ----

    def _as_scored(self, norm: str) -> Any:
        stack = contextlib.ExitStack()
        stack.enter_context(modes.uncompiled())
        stack.enter_context(modes.scoring(self.inner, norm, self.dropout))
        stack.enter_context(modes.precision(modes.device_of(self.inner).type, self.autocast))
        return stack

    def _forward(self, inputs: Any) -> Any:
        inner = self.inner
        # Module.compile() leaves the module itself in place of a wrapper.
        run = inner if getattr(inner, "_compiled_call_impl", None) is None else inner._call_impl
        return batches.call(run, inner.forward, inputs)

    def _look_at_head(self, batch: Any, rows: int) -> None:
        """Which layer it is, and whether its output is what the loss sees, from a few rows."""
        few = self.take(batch, torch.arange(min(rows, 2)))
        inputs, _ = self.split(few)
        with torch.no_grad(), self._as_scored("running"):
            head = self.head or heads.last_linear(self.inner, lambda: self._forward(inputs))
            with heads.Tap(head, False) as tap:
                logits = self.logits_of(self._forward(inputs))
            tap.check(self.inner, logits, min(rows, 2))
        self.head, self._logits_are_output = head, tap.is_logits(logits)

    def has_single(self, batch: Any, layers: Iterable[nn.Module]) -> bool:
        """Does one of these normalisation layers see a single number a channel of a batch?"""
        found: list = []

        def see(_: nn.Module, args: tuple) -> None:
            found.append(bool(args) and args[0].numel() == args[0].shape[1])

        handles = [m.register_forward_pre_hook(see) for m in layers]
        try:
            with torch.no_grad(), self._as_scored("running"):
                self._forward(self.split(batch)[0])
        finally:
            for handle in handles:
                handle.remove()
        return any(found)

    @staticmethod
    def _classes(labels: Any) -> torch.Tensor | None:
        if not isinstance(labels, torch.Tensor) or labels.dim() != 1 or \
                labels.is_floating_point() or labels.dtype == torch.bool:
            return None
        return labels.detach()
