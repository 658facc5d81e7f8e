"""How a model is run when it scores: normalisation, dropout, precision, compiled or wrapped.

Nothing that training keeps may move: running statistics and `num_batches_tracked`, the state of
random generators, the mode of any module, and the cast weights that autocast keeps.
"""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase

NORMS = ("batch", "running")
_NESTED = ("enable_nested_tensor", "use_nested_tensor")   # of nn.TransformerEncoder, by torch's age


def plain(model: nn.Module) -> nn.Module:
    """The module inside of torch.compile's, DistributedDataParallel's or DataParallel's wrapper.

    A hook that is added after a compiled model's first call never fires, and a wrapper's forward
    may exchange buffers: scoring goes through what is inside.
    """
    while True:
        inner = getattr(model, "_orig_mod", None)
        if inner is None and isinstance(model, (nn.parallel.DistributedDataParallel,
                                                nn.DataParallel)):
            inner = model.module
        if not isinstance(inner, nn.Module):
            return model
        model = inner


@contextlib.contextmanager
def uncompiled() -> Iterator[None]:
    """Parts that were compiled one by one run as they were written (torch 2.6 and later)."""
    stance = getattr(getattr(torch, "compiler", None), "set_stance", None)
    if stance is None or "torch._dynamo" not in sys.modules:  # nothing was compiled
        yield
    else:
        with stance("force_eager"):
            yield


@contextlib.contextmanager
def scoring(model: nn.Module, norm: str, dropout: bool) -> Iterator[None]:
    """Put every module into its mode for scoring, and back as it was.

    norm        'batch': normalisation layers take the statistics of what is scored and keep
                theirs; one that is frozen (in eval mode while the model trains) stays so.
                'running': they use the statistics they have.
    dropout     False: everything but normalisation is in eval mode. True: as it is trained, with
                random numbers of which the generators know nothing afterwards.
    """
    modules = [(m, m.training) for m in model.modules()]
    nested = [(m, name, getattr(m, name)) for m, _ in modules
              if isinstance(m, nn.TransformerEncoder) for name in _NESTED if hasattr(m, name)]
    norms = [m for m, _ in modules if isinstance(m, _NormBase)]
    tracked = [m.track_running_stats for m in norms]
    as_trained = [norm == "batch" and (m.training or not model.training) for m in norms]
    try:
        # In evaluation torch packs what a padding mask leaves, and padding comes back as zeros.
        for encoder, name, _ in nested:
            setattr(encoder, name, False)
        for module, training in modules:
            if training and not dropout:
                module.training = False
        for module, batch in zip(norms, as_trained):
            module.training = batch
            # With nothing to track, forward neither reads nor writes what was tracked.
            if batch:
                module.track_running_stats = False
        with _kept_generators(model) if dropout else contextlib.nullcontext():
            yield
    finally:
        for encoder, name, nests in nested:
            setattr(encoder, name, nests)
        for module, before in zip(norms, tracked):
            module.track_running_stats = before
        for module, training in modules:
            if module.training != training:
                module.training = training


def by_batch(model: nn.Module) -> list:
    """Layers that normalise by the statistics of a batch when the model is trained now."""
    return [m for m in model.modules() if isinstance(m, _BatchNorm) and
            (m.training or m.running_mean is None)]


def _kept_generators(model: nn.Module) -> Any:
    devices = {p.device.index for p in model.parameters() if p.device.type == "cuda"}
    return torch.random.fork_rng(devices=sorted(devices))


def device_of(model: nn.Module) -> torch.device:
    """Where a model's parameters lie; the host if it has none."""
    first = next(model.parameters(), None)
    return torch.device("cpu") if first is None else first.device


def ambient(kind: str) -> tuple:
    """(enabled, type) of the autocast region that surrounds the call."""
    if hasattr(torch, "get_autocast_dtype"):
        return torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)
    if kind == "cpu":
        return torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()
    return torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype()


def precision(kind: str, wanted: Any) -> Any:
    """A region of the precision that is wanted, without a memory of cast weights.

    wanted      None: that of the region around; False: none; True or a type: autocast with it.

    Weights that were cast while no gradients were recorded would be used again by the training
    forward of the same region, which then had none.
    """
    enabled, dtype = ambient(kind)
    if wanted is not None:
        enabled = wanted is not False
        dtype = wanted if isinstance(wanted, torch.dtype) else dtype
    if not enabled and not ambient(kind)[0]:
        return contextlib.nullcontext()
    return torch.autocast(kind, dtype=dtype, enabled=enabled, cache_enabled=False)
