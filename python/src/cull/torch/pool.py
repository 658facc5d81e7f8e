"""Subsets of the whole data set, chosen anew every few epochs: GRAD-MATCH, CRAIG, GLISTER."""
from __future__ import annotations

from typing import Any, Callable, Iterable

import numpy as np
import torch
from torch.utils.data import DataLoader, Subset

import cull

from . import batches, devices, modes
from .samplers import EpochSampler, Indexed
from .scorer import Scorer, Signals
from .selective import described


class PoolSampler(EpochSampler):
    """A batch sampler over a subset of the data set that is chosen anew every `period` epochs.

        sampler = PoolSampler(dataset, 128, Scorer(model), strategy="grad-match", keep=0.1,
                              period=20, epochs=300)
        loader = DataLoader(Indexed(dataset), batch_sampler=sampler)
        for epoch in range(sampler.epochs):
            for x, y, index in loader:
                losses = F.cross_entropy(model(x), y, reduction="none")
                (sampler.weights(index) * losses).mean().backward()

    When a choice is due, the scorer runs over the whole data set, without gradients and with the
    running statistics of normalisation layers, before the epoch's first batch.

    dataset         as it is to be scored: without augmentation, where there is a set that has none.
    scorer          of the model; strategies that read nothing (adaptive-random) need none.
    strategy, keep, period, epochs, seed, options
                    as cull.Selector has them; `epochs` is needed by a warm start (warm=0.5), and
                    `sampler.epochs` says how many the run then has.
    validation      a data set whose gradients are matched or whose loss is lowered (glister,
                    grad-match with match="validation").
    score_batch     examples that are scored at a time; workers, collate_fn as DataLoader has them.
    gather          where the signals of the whole set are kept and chosen from: None: where the model
                    is; "cpu": on the host, where a device has no room for them.

    With scope="batch" whole minibatches of batch_size are chosen, and trained as they are.
    """

    def __init__(self, dataset: Any, batch_size: int, scorer: Scorer | None = None, *,
                 strategy: str = "grad-match", keep: float | None = None,
                 epochs: int | None = None, seed: int = 0, shuffle: bool = True,
                 drop_last: bool = False, validation: Any = None, score_batch: int = 256,
                 workers: int = 0, collate_fn: Callable | None = None, gather: Any = None,
                 group: Any = None, **options: Any) -> None:
        self._refuse(strategy)
        self.gather = None if gather is None else torch.device(gather)
        selector = cull.Selector(strategy, dataset_size=len(dataset), batch=batch_size,
                                 epochs=epochs, seed=seed, keep=keep, **options)
        self.dataset, self.validation = dataset, validation
        self.scorer: Any = scorer
        self.score_batch, self.workers, self.collate_fn = score_batch, workers, collate_fn
        reads = selector.reads
        if reads.signals and scorer is None:
            raise ValueError(f"{selector.name} reads {', '.join(sorted(reads.signals))}: give the "
                             "sampler a Scorer(model)")
        if reads.target and validation is None:
            raise ValueError(f"{selector.name} needs a validation set: validation=")
        super().__init__(selector, len(dataset), batch_size, seed=seed, shuffle=shuffle,
                         drop_last=drop_last, group=group)

    @staticmethod
    def _refuse(strategy: str) -> None:
        known = described(strategy)
        if known is None:
            return
        if known.runs == "step":
            also = ", or LossMemorySampler" if "takes remembered" in known.traits else ""
            raise ValueError(f"{known.name} chooses from each batch: use SelectiveBackprop{also}")
        if known.runs == "epoch":
            raise ValueError(f"{known.name} chooses once an epoch: use InfoBatch")

    @property
    def epochs(self) -> int:
        """Of the run: fewer than were asked for under a warm start."""
        return self.selector.epochs

    def _choose(self, epoch: int) -> tuple:
        needs = self.selector.needs(step=epoch, epoch=epoch)
        if needs.action == "all":
            return np.arange(self.dataset_size), None, None
        if needs.action == "keep":
            weights = None if self._weight is None else self._weight[self._order]
            return self._order, weights, self._ends
        signals = self._over(self.dataset, needs.signals) if needs.signals else {}
        if needs.target:
            signals["target"] = self._over(self.validation, needs.target)
        subset = self.selector.select(**signals, count=self.dataset_size, step=epoch, epoch=epoch)
        return self._as_order(subset)

    @staticmethod
    def _as_order(subset: cull.Subset) -> tuple:
        places, weights = _here(subset.places), _here(subset.weights)
        ends = None
        if subset.groups:
            group = _here(subset.group)
            by_batch = np.argsort(group, kind="stable")
            places, weights = places[by_batch], weights[by_batch]
            ends = np.cumsum(np.bincount(group, minlength=subset.groups))
        return places, None if (weights == 1).all() else weights, ends

    def _over(self, dataset: Any, wanted: Iterable[str]) -> dict:
        """Signals of a whole data set, each rank scoring its share of it."""
        dataset = dataset.dataset if isinstance(dataset, Indexed) else dataset
        count, world, rank = len(dataset), self.group.world, self.group.rank
        first, last = count * rank // world, count * (rank + 1) // world
        mine = Subset(dataset, range(first, last)) if world > 1 else dataset
        loader = DataLoader(mine, self.score_batch, num_workers=self.workers,
                            collate_fn=self.collate_fn)
        device = modes.device_of(self.scorer.inner)
        parts: dict = {name: [] for name in sorted(wanted)}   # ranks exchange in one order
        for batch in loader:
            seen = self.scorer(batches.to(batch, device), wanted, norm="running")
            for name, told in parts.items():
                found = self._found(seen, name)
                told.append(devices.readable(found) if self.gather is None else found.to(self.gather))
        shares = [count * (r + 1) // world - count * r // world for r in range(world)]
        return {name: self.group.rows(torch.cat(told), shares) for name, told in parts.items()}

    def _found(self, seen: Signals, name: str) -> torch.Tensor:
        value = getattr(seen, name)
        if value is None:
            raise ValueError(f"{self.selector.name} reads {name}, which these batches do not have: "
                             "labels are one class for each row")
        return value


def _here(array: Any) -> np.ndarray:
    """Places and weights are the loader's, which is on the host."""
    return array.cpu().numpy() if isinstance(array, torch.Tensor) else np.asarray(array)
