"""InfoBatch in the three lines of the original: wrap the data set, take its sampler, update."""
from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

import cull

from .samplers import EpochSampler


class _Sampler(EpochSampler):
    """Places one by one, for a DataLoader that makes the batches."""

    def __init__(self, count: int, epochs: int, r: float, delta: float, seed: int,
                 group: Any) -> None:
        selector = cull.Selector("infobatch", dataset_size=count, epochs=epochs, seed=seed, r=r,
                                 delta=delta)
        super().__init__(selector, count, None, seed=seed, shuffle=True, drop_last=False,
                         group=group)

    def _choose(self, epoch: int) -> tuple:
        if self.selector.needs(step=epoch, epoch=epoch).action == "all":
            return np.arange(self.dataset_size), None, None
        subset = self.selector.select(count=self.dataset_size, step=epoch, epoch=epoch)
        weights = None if (subset.weights == 1).all() else subset.weights
        return subset.places, weights, None

    def _how_to_tell(self) -> str:
        return "loss = dataset.update(losses), with the per-example losses of every batch"


class InfoBatch(Dataset):
    """Each epoch without some of the easy examples, at an unbiased loss.

        dataset = InfoBatch(dataset, epochs)
        loader = DataLoader(dataset, batch_size=128, sampler=dataset.sampler)
        for epoch in range(epochs):
            for x, y in loader:
                loss = dataset.update(F.cross_entropy(model(x), y, reduction="none"))
                loss.backward()

    Examples whose last training loss is below the mean are left out with probability
    `prune_ratio`; those of them that stay weigh 1/(1 - prune_ratio). The last 1 - delta of the
    epochs use everything.

    The loader is an ordinary one, with any number of workers, and items are the data set's own:
    batches come in the order in which the sampler gave their places (so not with in_order=False,
    nor where a batch is left out between two updates; then tell the indices, too).
    """

    def __init__(self, dataset: Any, num_epochs: int, prune_ratio: float = 0.5,
                 delta: float = 0.875, *, seed: int = 0, group: Any = None) -> None:
        self.dataset = dataset
        self.sampler = _Sampler(len(dataset), num_epochs, prune_ratio, delta, seed, group)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, place: int) -> Any:
        return self.dataset[place]

    def __getattr__(self, name: str) -> Any:
        """What the data set itself has."""
        if "dataset" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["dataset"], name)

    def update(self, losses: torch.Tensor, indices: Any = None) -> torch.Tensor:
        """The weighted mean of a batch's losses, which are remembered for the next epoch.

        losses      one for each row, from a loss with reduction="none".
        indices     the rows' places, where batches do not come in the sampler's order.
        """
        if losses.dim() != 1:
            raise ValueError(f"losses of shape {tuple(losses.shape)}: one for each example is "
                             "needed, from a loss with reduction='none'")
        if indices is None:
            indices = self._next_places(len(losses))
        weights = self.sampler.weights(indices).to(losses)
        self.sampler.update(indices, losses)
        return (weights * losses).mean()

    def _next_places(self, count: int) -> torch.Tensor:
        own, _ = self.sampler._own()
        at = self.sampler._done() // self.sampler.group.world
        if at + count > len(own):
            raise ValueError(f"{count} losses came where {len(own) - at} examples are left of the "
                             "epoch: update() is told once for every batch of the loader")
        return torch.from_numpy(own[at:at + count].copy())

    def state_dict(self) -> dict:
        return self.sampler.state_dict()

    def load_state_dict(self, state: Any) -> None:
        self.sampler.load_state_dict(state)
