"""Samplers that choose from the whole data set, an epoch at a time.

A sampler makes an order of places when an epoch's first batch is drawn, cuts it into batches, and
hears of the losses in between. Where several processes train, all make the same order and each
takes every W-th of it; what is left of it when it does not divide is not trained in that epoch.

State. state_dict() holds the order, how far it was trained, the selector as the epoch began and
the losses told since; what is told later is no part of it. Nor are batches that a DataLoader has
fetched ahead: where losses are told, what counts as done is what was told. Iterators have a state
too, which torchdata's StatefulDataLoader uses to continue at the batch it would have yielded next.
It takes that state when it fetches a batch, and gives it out when the batch was trained: so its
log is live, and cut at its position when it is loaded.
"""
from __future__ import annotations

import numbers
from typing import Any, Iterator, Mapping

import numpy as np
import torch
from torch.utils.data import Dataset, Sampler

import cull
from cull._numbers import whole

from . import batches
from .ddp import Group
from .selective import described

_STATE_VERSION = 1
_LONG_LOG = 64   # entries of a log that a state makes one of


class Indexed(Dataset):
    """A data set whose items say their place: behind all else in a tuple, or as "index" in a dict.

    >>> Indexed([("a", 0), ("b", 1)])[1]
    ('b', 1, 1)
    >>> Indexed([{"x": 5}])[0]
    {'x': 5, 'index': 0}
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, place: int) -> Any:
        if isinstance(place, (list, tuple)):
            raise TypeError(f"{len(place)} places came for one item: a sampler that yields batches "
                            "is given to the DataLoader as batch_sampler=")
        return self._with(self.dataset[place], place)

    def __getitems__(self, places: list) -> list:
        if any(isinstance(place, (list, tuple)) for place in places):
            return [self[place] for place in places]
        many = getattr(self.dataset, "__getitems__", None)
        items = many(places) if many else [self.dataset[place] for place in places]
        return [self._with(item, place) for item, place in zip(items, places)]

    @staticmethod
    def _with(item: Any, place: int) -> Any:
        if isinstance(item, (tuple, list)):
            return (*item, place)
        if batches.is_mapping(item):
            return {**{key: item[key] for key in item.keys()}, "index": place}
        return (item, place)


class EpochSampler(Sampler):
    """What the samplers share: an order for each epoch, its parts for ranks, losses, state.

    Yields lists of places, or single ones where batch_size is None.
    """

    def __init__(self, selector: Any, dataset_size: int, batch_size: int | None, *, seed: int,
                 shuffle: bool, drop_last: bool, group: Any) -> None:
        batch_size = None if batch_size is None else whole("batch_size", batch_size, 1)
        self.selector, self.dataset_size, self.batch_size = selector, dataset_size, batch_size
        self.seed, self.shuffle, self.drop_last = seed, shuffle, drop_last
        self.group = Group(group)
        self.epoch = -1                      #: the epoch that is being trained; -1: none yet
        self._next: int | None = None        # as set_epoch() said
        self._resume: int | None = None      # where the next iterator begins in this epoch
        self._order = np.empty(0, np.int64)
        self._ends: np.ndarray | None = None      # of whole batches in it; None: any cut will do
        self._weight: np.ndarray | None = None    # by place; None: all 1
        self._there: Any = None              # the same, and its copy on a device
        self._drawn = 0                      # batches or places that the latest iterator drew
        self._iterators = 0                  # begun so far; only the latest says how the epoch goes
        self._first = (0, 0)                 # where it began, and how many losses were told then
        self._ended = False                  # it has given all
        self._largest = 0                    # losses that came at once in this epoch
        self._short = False                  # a loader is known to train short last batches
        self._base = selector.state_dict()
        self._log: list = []                 # [places, losses] told in this epoch
        self._told = 0                       # how many they are

    # ---- to be filled in ----

    def _choose(self, epoch: int) -> tuple:
        """(places, weights or None, ends of whole batches or None) of an epoch."""
        raise NotImplementedError

    # ---- epochs ----

    def set_epoch(self, epoch: int) -> None:
        """The next iterator is of this epoch; without it, of the one behind the last."""
        if self._resume is None or epoch != self.epoch:
            self._next, self._resume = int(epoch), None

    def _begin(self) -> int:
        """An iterator draws its first: the epoch begins, or goes on. Returns where, over ranks."""
        self._iterators += 1
        if self._resume is not None:
            at, self._resume = self._resume, None
            self._first, self._ended = (at, self._told), False
            return at
        abandoned = self._is_abandoned()
        if abandoned and self._next in (None, self.epoch):
            self._next, self._drawn = None, 0
            return self._first[0]
        if abandoned and not self._log:
            self.selector.load_state_dict({**self._base, "owed": 0})
        else:
            self._close()
        self.epoch = self.epoch + 1 if self._next is None else self._next
        self._next = None
        places, weights, ends = self._choose(self.epoch)
        if weights is not None:
            self._weight = np.ones(self.dataset_size, np.float32)
            self._weight[places] = weights
        else:
            self._weight = None
        self._order, self._ends = self._shuffled(places, ends)
        self._log, self._told, self._drawn, self._largest = [], 0, 0, 0
        self._first, self._ended = (0, 0), False
        self._base = self.selector.state_dict()
        return 0

    def _is_abandoned(self) -> bool:
        """Has the latest iterator been left, by someone who only looked at a batch?"""
        return self.epoch >= 0 and not self._ended and self._told == self._first[1] and \
            self._listens()

    def _close(self) -> None:
        """Tell the selector what the epoch's training saw."""
        if self.epoch < 0 or not self._listens():
            return
        if not self._log:
            raise ValueError(f"no losses came in epoch {self.epoch}: {self._how_to_tell()}")
        places, losses = self._all_told()
        self._check_places(places)
        self.selector.observe(places=places, loss=losses, step=self.epoch, epoch=self.epoch)
        given = len(self._order) // self.group.world * self.group.world
        if self._told == given and self._largest and given % self._largest:
            self._short = True
        self._log, self._told = [], 0

    def _all_told(self) -> list:
        """On the host: an order of places is made there, once an epoch."""
        return [torch.cat([told[i] for told in self._log]).to("cpu") for i in (0, 1)]

    def _listens(self) -> bool:
        return self.selector.needs(step=self.epoch, epoch=self.epoch).observe

    def _how_to_tell(self) -> str:
        return "call update(indices, losses) with the per-example losses of every batch"

    def _shuffled(self, places: np.ndarray, ends: np.ndarray | None) -> tuple:
        if not self.shuffle:
            return places, ends
        rng = np.random.Generator(np.random.Philox(
            key=np.array([self.seed, self.epoch], np.uint64)))
        if ends is None:
            return rng.permutation(places), None
        parts = np.split(places, ends[:-1])
        parts = [parts[i] for i in rng.permutation(len(parts))]
        return np.concatenate(parts), np.cumsum([len(part) for part in parts])

    # ---- ranks ----

    def _own(self) -> tuple:
        """(places, ends of batches or None) of this rank."""
        world, rank = self.group.world, self.group.rank
        if self._ends is None:
            whole = len(self._order) // world * world
            return self._order[:whole][rank::world], None
        starts = np.concatenate([[0], self._ends[:-1]])
        whole = len(self._ends) // world * world
        mine = [self._order[a:b] for a, b in zip(starts[:whole][rank::world],
                                                 self._ends[:whole][rank::world])]
        return (np.concatenate(mine) if mine else self._order[:0],
                np.cumsum([len(part) for part in mine]))

    def _batches_of(self, examples: int) -> int:
        own = examples // self.group.world
        if self.batch_size is None:
            return own
        return own // self.batch_size if self.drop_last else -(-own // self.batch_size)

    def __len__(self) -> int:
        """Batches of the epoch that runs, or between two of the one to come: as far as it is known
        before (the most there can be, where losses will decide)."""
        runs = self._drawn and not self._ended and self._next is None
        if runs or self._resume is not None:
            return self._length()
        coming = self.epoch + 1 if self._next is None else self._next
        needs = self.selector.needs(step=coming, epoch=coming)
        if needs.action == "keep":
            return self._length()
        known = self.dataset_size if needs.action == "all" else needs.budget
        return self._batches_of(self.dataset_size if known is None else known)

    def _length(self) -> int:
        """Batches of the order there is."""
        if self._ends is not None:
            return len(self._ends) // self.group.world
        return self._batches_of(len(self._order))

    # ---- losses and weights ----

    def weights(self, indices: Any) -> torch.Tensor:
        """The weights of these examples in this epoch: the loss is (weights * losses).mean()."""
        indices = torch.as_tensor(indices)
        if self._weight is None:
            return torch.ones(indices.shape, device=indices.device)
        if indices.device.type == "cpu":
            return torch.from_numpy(self._weight[indices.numpy()])
        if self._there is None or self._there[0] is not self._weight or self._there[1].device != indices.device:
            self._there = (self._weight, torch.from_numpy(self._weight).to(indices.device))
        return self._there[1][indices]

    def update(self, indices: Any, losses: Any) -> None:
        """Tell the per-example losses of a training batch, unweighted. Every rank tells its own."""
        losses = torch.as_tensor(losses).detach()
        if losses.dim() != 1:
            raise ValueError(f"losses of shape {tuple(losses.shape)}: one for each example is "
                             "needed, from a loss with reduction='none'")
        places = batches.to_indices(indices, len(losses))
        if places.device.type == "cpu":    # on a device nobody waits; they are looked at with the epoch's end
            self._check_places(places)
        if losses.device.type == "cpu" and not bool(torch.isfinite(losses).all()):
            bad = int(places.to("cpu")[~torch.isfinite(losses)][0])
            raise ValueError(f"the loss of example {bad} is not finite")
        if self.group.world > 1:
            counts = self.group.counts(len(losses), losses.device)
            places, losses = self.group.rows(places, counts), self.group.rows(losses, counts)
        self._log.append([places, losses if losses.dtype == torch.float64 else losses.float()])
        self._told += len(places)
        self._largest = max(self._largest, len(places))

    def _check_places(self, places: torch.Tensor) -> None:
        if len(places) and not (0 <= int(places.min()) and int(places.max()) < self.dataset_size):
            raise ValueError(f"indices {int(places.min())} to {int(places.max())} are not in a data "
                             f"set of {self.dataset_size}")

    # ---- state ----

    def _done(self) -> int:
        """How far the order is trained, over all ranks: by what was told, else by what was drawn."""
        if self._told or (self.epoch >= 0 and self._listens()):
            return self._told
        unit = 1 if self._ends is not None or self.batch_size is None else self.batch_size
        return self._drawn * unit * self.group.world

    def state_dict(self) -> dict:
        """All that a resumed run needs to continue bit for bit; also with other ranks."""
        at = self._resume if self._resume is not None else self._done()
        # in place: an iterator's states look at it
        if len(self._log) > _LONG_LOG or any(told.device.type != "cpu" for entry in self._log for told in entry):
            self._log[:] = [self._all_told()]
        return {"version": _STATE_VERSION, "epoch": self.epoch, "next": self._next, "position": at,
                "order": torch.from_numpy(self._order),
                "ends": None if self._ends is None else torch.from_numpy(self._ends),
                "weight": None if self._weight is None else torch.from_numpy(self._weight),
                "selector": self._base, "log": list(self._log), "over": self._is_over(at),
                "short": self._short}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what state_dict() gave, in a sampler made with the same arguments."""
        try:
            version, epoch, at = state["version"], int(state["epoch"]), int(state["position"])
            order, ends, weight = state["order"], state["ends"], state["weight"]
            log, after = [list(told) for told in state["log"]], state["next"]
            over, short = bool(state["over"]), bool(state["short"])
        except (KeyError, TypeError):
            raise ValueError(f"this is no state of a {type(self).__name__}") from None
        if version != _STATE_VERSION:
            raise ValueError(f"a state of version {version}, not {_STATE_VERSION}")
        self.selector.load_state_dict(state["selector"])
        self._base, self._log, self.epoch, self._next = state["selector"], log, epoch, after
        self._order = torch.as_tensor(order).numpy()
        self._ends = None if ends is None else torch.as_tensor(ends).numpy()
        self._weight = None if weight is None else torch.as_tensor(weight).numpy()
        self._drawn, self._told, self._largest = 0, sum(len(places) for places, _ in log), 0
        self._ended, self._short = False, short
        self._ended = over or self._is_over(at)      # by ranks of then, or of now
        self._resume = at if epoch >= 0 and not self._ended else None

    def _is_over(self, at: int) -> bool:
        """Is nothing left behind a place of the order that a rank would draw?"""
        world = self.group.world
        if self._ends is not None:
            return at >= len(self._ends) // world * world
        left = len(self._order) // world - at // world
        if self.batch_size is None and self._ended and not self._short:
            # The loader has drawn it all, and what makes no batch it may have dropped.
            return left < max(1, self._largest // world)
        return left < (self.batch_size if self.batch_size and self.drop_last else 1)

    def _continue_at(self, at: int, log: list) -> None:
        """An iterator goes on here, having been told of what is behind it."""
        if log and self._ends is None:
            places, losses = (torch.cat([told[i] for told in log])[:at] for i in (0, 1))
            self._log, self._told = [[places, losses]], len(places)
        self._iterators += 1
        self._resume, self._ended, self._first = None, False, (at, self._told)

    def __iter__(self) -> Iterator:
        return Epoch(self)


class Epoch:
    """One epoch's batches; begins with the first that is drawn. Has a state of its own."""

    def __init__(self, sampler: EpochSampler) -> None:
        self._sampler = sampler
        self._places: Any = None      # of this rank; None: not begun
        self._ends: Any = None
        self._at = 0      # places drawn, or batches where they are whole ones
        self._number = 0  # which of the sampler's it is
        self._log: Any = []    # what is told while it runs

    def __iter__(self) -> "Epoch":
        return self

    def _open(self, at: int) -> None:
        self._places, self._ends = self._sampler._own()
        self._at = at // self._sampler.group.world
        self._number, self._log = self._sampler._iterators, self._sampler._log

    def __next__(self) -> Any:
        try:
            return self._draw()
        except StopIteration:
            if self._number == self._sampler._iterators:
                self._sampler._ended = True
            raise

    def _draw(self) -> Any:
        sampler = self._sampler
        if self._places is None:
            self._open(sampler._begin())
        size = sampler.batch_size
        found: Any
        if self._ends is not None:
            found = self._whole()
        elif size is None:
            found = self._single()
        else:
            found = self._places[self._at:self._at + size]
            if len(found) < (size if sampler.drop_last else 1):
                raise StopIteration
            found = found.tolist()
            self._at += size
        sampler._drawn = self._at if size is None or self._ends is not None else self._at // size
        return found

    def _whole(self) -> list:
        if self._at >= len(self._ends):
            raise StopIteration
        first = self._ends[self._at - 1] if self._at else 0
        self._at += 1
        return self._places[first:self._ends[self._at - 1]].tolist()

    def _single(self) -> int:
        if self._at >= len(self._places):
            raise StopIteration
        self._at += 1
        return int(self._places[self._at - 1])

    def state_dict(self) -> dict:
        """Live: its log goes on growing until it is written or copied."""
        begun = self._places is not None
        return {"position": self._at * self._sampler.group.world if begun else None,
                "log": self._log}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if state["position"] is None:
            return
        sampler, at = self._sampler, int(state["position"])
        sampler._continue_at(at, state["log"])
        self._open(at)


class LossMemorySampler(EpochSampler):
    """A batch sampler that chooses by the losses that training itself has seen.

        sampler = LossMemorySampler(dataset, batch_size=128, keep=0.3, epochs=30)
        loader = DataLoader(Indexed(dataset), batch_sampler=sampler)
        for epoch in range(30):
            for x, y, index in loader:
                losses = F.cross_entropy(model(x), y, reduction="none")
                sampler.update(index, losses)
                losses.mean().backward()

    Each epoch, `keep` of the data set is drawn by the last known losses, examples never trained
    ranking above all others; they are trained in ordinary batches. There is no scoring pass and no
    hook, and what is not picked is never loaded.

    dataset         the training set, or how many examples it has.
    strategy        a rule that takes remembered losses: "sb", "top-loss", "rho" (with
                    irreducible=), "kath18" (with score="loss"; losses are then weighted by
                    sampler.weights(index)).
    options         of the strategy, e.g. beta=1, trim=0.1.
    """

    def __init__(self, dataset: Any, batch_size: int, *, strategy: str = "sb",
                 keep: float | None = None, epochs: int | None = None, seed: int = 0,
                 shuffle: bool = True, drop_last: bool = False, irreducible: Any = None,
                 group: Any = None, **options: Any) -> None:
        count = int(dataset) if isinstance(dataset, numbers.Integral) else len(dataset)
        known = described(strategy)
        if known is not None and "takes remembered" not in known.traits:
            raise ValueError(f"{known.name} takes no remembered losses; those that do are "
                             f"{', '.join(_remembering())}")
        selector = cull.Selector(strategy, dataset_size=count, epochs=epochs, seed=seed, keep=keep,
                                 scope="pool", **_with_remembered(strategy, options))
        self.irreducible = irreducible
        if "irreducible" in selector.needs().signals and irreducible is None:
            raise ValueError(f"{selector.name} needs the losses of a model trained on other data: "
                             "irreducible=, one for each example")
        super().__init__(selector, count, batch_size, seed=seed, shuffle=shuffle,
                         drop_last=drop_last, group=group)

    def _choose(self, epoch: int) -> tuple:
        needs = self.selector.needs(step=epoch, epoch=epoch)
        if needs.action == "all":
            return np.arange(self.dataset_size), None, None
        more = {"irreducible": np.asarray(self.irreducible)} \
            if "irreducible" in needs.signals else {}
        subset = self.selector.select(count=self.dataset_size, step=epoch, epoch=epoch, **more)
        weights = None if (subset.weights == 1).all() else subset.weights
        return subset.places, weights, None


def _remembering() -> list:
    return [s.name for s in cull.strategies() if "takes remembered" in s.traits]


def _with_remembered(strategy: str, options: Mapping[str, Any]) -> dict:
    """The modifier, unless it is in the strategy's text already."""
    said = "remembered" in strategy.replace("+", " ").replace("=", " ").split()
    return dict(options) if said else {"losses": "remembered", **options}
