"""Selective backpropagation inside of a training loop of one's own."""
from __future__ import annotations

import warnings
from typing import Any, Callable, Mapping

import torch
from torch import nn

import cull

from . import batches, devices, modes
from .ddp import Group
from .scorer import Scorer, Signals

_STATE_VERSION = 1
_TRIAL_BATCH = 128   # options are checked with it before the first batch is there


def by_place(strategy: str, options: Mapping[str, Any]) -> bool:
    """Does it keep losses by place in the data set?"""
    words = strategy.replace("+", " ").replace("=", " ").split()
    return bool({"stale", "remembered"} & set(words)) or \
        options.get("losses", "scored") != "scored"


def described(strategy: str) -> Any:
    """What the library says of a strategy; None of one in a shared object."""
    name = strategy.replace("+", " ").split()[0] if strategy.split() else ""
    return next((s for s in cull.strategies() if s.name == name), None)


class SelectiveBackprop:
    """Scores a batch, decides which rows are worth training on, and trains those.

        sb = SelectiveBackprop(model, loss_fn, strategy="sb", keep=0.3)
        for batch in loader:
            loss = sb.loss(batch)      # scores, decides, runs the kept rows: (1/m) sum w loss
            loss.backward()            # GradScaler, clipping, accumulation: all as before
            optimizer.step()
            optimizer.zero_grad()

    The loader's batch is what is scored; `keep` of it is trained. Everything that is asked for is
    checked when this is made or with the first batch, also where a window opens later.

    model, loss_fn, head, norm, dropout, autocast, split, take, logits
                    as Scorer has them. The scoring pass leaves no trace; the rows that are kept
                    run through `model` as it was given: compiled, wrapped, in its own modes.
    strategy, keep, epochs, seed, options
                    as cull.Selector has them: "sb", "top-loss", "gradmatch", "sb remembered", ...
    dataset_size    examples in the training set; windows and strategies that keep losses by place
                    need it.
    batch           rows of a batch over all processes, before the selection (kath18 and
                    mode="scaled": behind it); None: as the first batch has them.
    steps           batches of an epoch: a number, or the loader itself, whose length counts, drop_last
                    and all; else dataset_size / batch, rounded up. A loader with drop_last=True has
                    fewer: say it then, or epochs drift.
    index           where a batch has the places of its rows in the data set: a key, a position, or
                    a function of the batch. Strategies that keep losses by place need it;
                    `Indexed(dataset)` adds them, behind all else (index=-1) or as "index".
    irreducible     losses of a model trained on other data, for `rho`: a tensor by place, or a
                    function of the batch.
    validation      a batch, or a function that returns one, whose gradient is matched
                    (gradmatch with match="validation").
    group           the process group that decides together; None: the default one; False: each
                    process decides for itself.

    In several processes every rank calls `loss` with its own rows; the decision is one, over all.

    On a CUDA device signals stay where the model is: scoring, decision and training go to its
    current stream, and the host waits once a step, to know how many rows were kept.
    """

    def __init__(self, model: nn.Module, loss_fn: Callable | None = None, *, strategy: str = "sb",
                 keep: float | None = None, dataset_size: int | None = None,
                 epochs: int | None = None, batch: int | None = None, steps: Any = None,
                 index: Any = None, seed: int = 0, head: Any = None, norm: str = "batch",
                 dropout: bool = False, autocast: Any = None, split: Callable | None = None,
                 take: Callable | None = None, logits: Callable | None = None,
                 irreducible: Any = None, validation: Any = None, group: Any = None,
                 **options: Any) -> None:
        self.scorer = Scorer(model, loss_fn, head, norm=norm, dropout=dropout, autocast=autocast,
                             split=split, take=take, logits=logits)
        self.group = Group(group)
        self.index, self.irreducible, self.validation = index, irreducible, validation
        steps = len(steps) if hasattr(steps, "__len__") else steps
        self._steps = steps
        self._arguments = dict(strategy=strategy, dataset_size=dataset_size, epochs=epochs,
                               seed=seed, keep=keep, steps=steps, **options)
        self._by_place = by_place(strategy, options)
        self.selector: Any = None              # made with the first batch
        self.batch, self.rows = batch, 0       #: as it is told, and rows that are scored at once
        self.last: cull.Subset | None = None   #: the latest decision, over all processes
        self._epoch: int | None = None
        self._pending: _Decision | None = None   # what sb(batch) returned
        self._checked = False
        self._seen: Any = None                   # the epoch, and which places came in it
        self._drifts = False                     # it was said that epochs are shorter
        self._check_arguments(strategy, dataset_size, batch, epochs)

    # ---- before the first step ----

    def _check_arguments(self, strategy: str, dataset_size: Any, batch: Any, epochs: Any) -> None:
        self._refuse(strategy)
        if epochs is not None and dataset_size is None and self._steps is None:
            raise ValueError("epochs= is counted in batches: say dataset_size= or steps= too")
        if self._by_place and self.index is None:
            raise ValueError(f"{strategy} keeps losses by the examples' places: wrap the data set, "
                             "DataLoader(Indexed(dataset), ...), and say where they are, "
                             "index=-1 (behind a tuple) or index='index' (in a dict)")
        trial = batch or min(_TRIAL_BATCH, dataset_size or _TRIAL_BATCH)
        selector = cull.Selector(**self._arguments, batch=trial)
        if selector.needs().action in ("pool", "keep"):
            raise ValueError(f"{selector.name} chooses from the whole data set: use "
                             f"{'LossMemorySampler' if self._by_place else 'PoolSampler'}")
        self._check_given(selector)

    def _check_given(self, selector: Any) -> None:
        """What no batch has must have been given."""
        reads = selector.reads
        by_place = not callable(self.irreducible) and self.index is None
        if "irreducible" in reads.signals and (self.irreducible is None or by_place):
            raise ValueError(f"{selector.name} needs the losses of a model trained on other data: "
                             "irreducible=, a tensor by place (and index=), or a function of the "
                             "batch")
        if reads.target and self.validation is None:
            raise ValueError(f"{selector.name} matches a validation set: validation=, a batch or a "
                             "function that returns one")

    @staticmethod
    def _refuse(strategy: str) -> None:
        known = described(strategy)
        if known is None:
            return
        if known.runs == "epoch":
            raise ValueError(f"{known.name} chooses once an epoch: use InfoBatch")
        if known.runs != "step":
            raise ValueError(f"{known.name} chooses from the whole data set: use PoolSampler")
        if "keeps by power" in known.traits:
            raise ValueError(f"{known.name} collects its batches over several steps: use "
                             f"cull.Selector({known.name!r}), its select and flush, or the "
                             "strategy 'sb', which decides in each batch")

    def _make(self, rows: int) -> None:
        """With the first batch: `rows` are scored at once, so in mode=scaled keep of them are the
        batch."""
        pool = self._arguments["dataset_size"]
        rows = rows if pool is None else min(rows, pool)
        batch = self.batch or rows
        options = cull.Selector(**self._arguments, batch=batch).options
        if self.batch is None and options.get("mode") == "scaled":
            batch = max(1, round(rows * float(options["keep"])))
        self.selector, self.batch, self.rows = self._selector_of(batch, rows), batch, rows

    def _selector_of(self, batch: int, rows: int) -> Any:
        return cull.Selector(**{**self._arguments, "steps": self._steps_of(rows)}, batch=batch)

    def _steps_of(self, rows: int) -> int | None:
        """Steps of an epoch, each of which brings so many rows."""
        pool = self._arguments["dataset_size"]
        return self._steps or (None if pool is None else -(-pool // rows))

    # ---- one step ----

    def loss(self, batch: Any) -> torch.Tensor:
        """Score a batch, decide, run the kept rows; (1/m) sum w loss over them, for backward().

        In several processes it is scaled such that the mean of the ranks' gradients is that of
        one process with all rows.
        """
        kept, decision = self._decide(batch)
        if len(decision.rows) == 1 and not decision.is_idle:
            self._check_single(batch, kept)
        logits, losses = self._run(kept, decision)
        weights = decision.weights.to(losses)
        total = (weights * losses).sum() * (self.group.world / max(1, decision.count))
        self._observe(kept, decision, logits, losses)
        return total

    def __call__(self, batch: Any) -> tuple:
        """(kept batch, weights): for those who run the model themselves.

        The loss is (weights * losses).mean() of the kept batch. A strategy that remembers losses
        is then told them: sb.observe(losses). One process only.
        """
        if self.group.world > 1:
            raise ValueError("in several processes use sb.loss(batch), which scales the ranks' "
                             "losses to one decision")
        kept, decision = self._decide(batch)
        self._pending = decision
        device = modes.device_of(self.scorer.inner)
        return kept, decision.weights.to(device)

    def observe(self, losses: torch.Tensor) -> None:
        """Tell the losses of the batch that sb(batch) returned, one for each row, unweighted."""
        decision = self._pending
        if decision is None:
            raise ValueError("observe tells the losses of what sb(batch) returned: call that first")
        if losses.dim() != 1 or losses.shape[0] != len(decision.rows):
            raise ValueError(f"losses of shape {tuple(losses.shape)} for {len(decision.rows)} rows "
                             "that were kept: one for each is needed")
        self._pending = None
        if decision.observed - {"loss"}:
            raise ValueError(f"{self.selector.name} has to see {sorted(decision.observed)} of what "
                             "is trained: use sb.loss(batch)")
        if decision.observed:
            self._tell(decision, {"loss": losses.detach()})

    # ---- its parts ----

    def _decide(self, batch: Any) -> tuple:
        places = None
        if self._pending is not None and self._pending.observed:
            raise cull.CullError(f"{self.selector.name} chooses by what training saw, and was not "
                                 "told: call sb.observe(losses) after each sb(batch), before the "
                                 "next", "BAD_ARGUMENT", "observe")
        if not self._checked:
            self._check_model()
        if self.index is not None:
            found = self._find_places(batch)
            batch = self._without_places(batch)
            places = batches.to_indices(found, self.scorer.size(batch))
            if places.device.type == "cpu":    # elsewhere the selector looks, and nobody waits
                self._check_places(places)
            places = devices.beside(places, modes.device_of(self.scorer.inner))
        rows = self.scorer.size(batch)
        counts = self.group.counts(rows, modes.device_of(self.scorer.inner))
        if self.selector is None:
            self._make(sum(counts))
        epoch = self.epoch
        while self.selector.epoch < epoch:
            self.selector.next_epoch()
        needs = self.selector.needs(epoch=epoch)
        seen = self._check_first(batch, needs)
        places = None if places is None else self.group.rows(places, counts)
        subset = self._choose(batch, needs, seen, places, counts, epoch)
        if places is not None:
            self._count_places(places, epoch)
        self.last = subset
        return self._own_part(batch, needs, subset, counts)

    def _check_model(self) -> None:
        synced = (m for m in modes.by_batch(self.scorer.inner) if isinstance(m, nn.SyncBatchNorm))
        if self.group.world > 1 and next(synced, None) is not None:
            raise ValueError("SyncBatchNorm waits for every process, and one that keeps no row has "
                             "no statistics to bring: use BatchNorm, or freeze these layers by "
                             "their eval()")

    def _find_places(self, batch: Any) -> Any:
        if callable(self.index):
            return self.index(batch)
        try:
            if not batches.is_array(batch):
                return batches.part_of(batch, self.index)
            raise TypeError
        except (KeyError, IndexError, AttributeError, TypeError):
            raise ValueError(f"the batch, a {type(batch).__name__}, has no index={self.index!r}: "
                             "Indexed(dataset) adds it, behind a tuple (index=-1) or as 'index' in "
                             "a dict") from None

    def _without_places(self, batch: Any) -> Any:
        return batch if self.index is None else batches.without(batch, self.index)

    def _check_places(self, places: torch.Tensor) -> None:
        pool = self._arguments["dataset_size"]
        least, most = int(places.min()), int(places.max())
        if least < 0 or pool is not None and most >= pool:
            raise ValueError(f"index={self.index!r} gives places {least} to {most}, which are not "
                             f"in a data set of {'any size' if pool is None else pool}: is it the "
                             "right part of the batch?")

    def _count_places(self, places: torch.Tensor, epoch: int) -> None:
        """Say it once when epochs are shorter than they are counted."""
        pool = self._arguments["dataset_size"]
        counted = self._epoch is None and self._steps is None and pool is not None
        if self._drifts or not counted or \
                not (self.selector._by_epoch or self._arguments["epochs"] is not None):
            return
        if self._seen is None or self._seen[0] != epoch:
            self._seen = (epoch, torch.zeros(pool, dtype=torch.bool, device=places.device))
        seen = self._seen[1]
        if bool(seen[places].any()):
            self._drifts = True
            warnings.warn(f"an example came twice within epoch {epoch} as it is counted, "
                          f"{self._steps_of(self.rows)} batches: with drop_last=True say "
                          "steps=len(loader), or call set_epoch(epoch)", RuntimeWarning,
                          stacklevel=4)
        seen[places] = True

    def _check_first(self, batch: Any, needs: Any) -> Signals | None:
        """The first batch is scored as any of the run may be, so that nothing fails later."""
        if self._checked:
            return None
        wanted = self._scored(needs.signals | self._reads())
        seen = self.scorer(batch, wanted) if wanted else None
        self._checked = True
        return seen

    def _reads(self) -> frozenset:
        """What is scored in the course of the run; losses of training come with training."""
        reads = self.selector.reads
        return reads.signals | (reads.observed - {"loss"})

    @staticmethod
    def _scored(signals: Any) -> frozenset:
        return frozenset(signals) - {"irreducible"}

    def _choose(self, batch: Any, needs: Any, seen: Signals | None, places: Any, counts: list,
                epoch: int) -> cull.Subset:
        total = sum(counts)
        if needs.action == "all":
            self.selector.advance()
            return _everything(total, needs.count, places)
        wanted = self._scored(needs.signals)
        if wanted and seen is None:
            seen = self.scorer(batch, wanted)
        signals: dict = {name: devices.readable(self.group.rows(value, counts))
                         for name, value in (seen.asked() if seen else {}).items()
                         if name in wanted}
        missing = wanted - set(signals)
        if missing:
            raise ValueError(f"{self.selector.name} reads {sorted(missing)}, which this batch does "
                             "not have: labels are one class for each row")
        if "irreducible" in needs.signals:
            signals["irreducible"] = self._irreducible(batch, places, counts)
        if needs.target:
            signals["target"] = self._target(needs.target)
        subset = _as_tensors(self.selector.select(**signals, places=places, count=total,
                                                  epoch=epoch))
        looks = subset.rows.device.type == "cpu" or self.selector._carries    # elsewhere looking waits
        if looks and len(subset) and int(subset.rows.min()) < 0:
            raise ValueError(f"{self.selector.name} returns examples of earlier batches: use "
                             "cull.Selector, its select and flush")
        return subset

    def _irreducible(self, batch: Any, places: Any, counts: list) -> torch.Tensor:
        if callable(self.irreducible):
            mine = torch.as_tensor(self.irreducible(batch)).detach().float()
            if tuple(mine.shape) != (counts[self.group.rank],):
                raise ValueError(f"irreducible= returns the shape {tuple(mine.shape)} for a batch "
                                 f"of {counts[self.group.rank]} rows: one loss for each is needed")
            return devices.readable(self.group.rows(mine, counts))
        losses = torch.as_tensor(self.irreducible).detach().float().to(places.device)
        self.irreducible = losses    # where it is read from now on
        if losses.dim() == 1 and places.device.type != "cpu" and len(losses) >= (self._arguments["dataset_size"] or 2**63):
            return losses[places.clamp(0, len(losses) - 1)]    # the selector finds those that are none
        if losses.dim() != 1 or len(losses) <= int(places.max()):
            raise ValueError(f"irreducible= is of shape {tuple(losses.shape)}, and this batch has "
                             f"the place {int(places.max())}: one loss for each example of the "
                             "data set is needed")
        return losses[places]

    def _target(self, wanted: Any) -> dict:
        given = self.validation() if callable(self.validation) else self.validation
        seen = self.scorer(given, wanted)
        return {name: devices.readable(value) for name, value in seen.asked().items()}

    def _own_part(self, batch: Any, needs: Any, subset: cull.Subset, counts: list) -> tuple:
        rows, weights, places = subset.rows, subset.weights, subset.places
        own = counts[self.group.rank]
        if len(counts) > 1:
            first = sum(counts[:self.group.rank])
            mine = (rows >= first) & (rows < first + own)
            rows, weights, places = rows[mine] - first, weights[mine], places[mine]
        decision = _Decision(rows, weights, places, len(subset), needs.observed)
        if len(rows) == 0:
            return self.scorer.take(batch, torch.zeros(1, dtype=torch.int64)), decision.idle()
        if len(rows) == own and bool((rows[1:] > rows[:-1]).all()):
            return batch, decision
        return self.scorer.take(batch, rows), decision

    def _check_single(self, batch: Any, kept: Any) -> None:
        """One row has no statistics where BatchNorm sees one number a channel."""
        layers = modes.by_batch(self.scorer.inner)
        if layers and self.scorer.has_single(kept, layers):
            rows = self.scorer.size(self._without_places(batch))
            raise ValueError(f"the batch of {rows} rows keeps 1, of which BatchNorm has no "
                             "statistics: drop_last=True, or a larger keep or batch")

    def _run(self, kept: Any, decision: "_Decision") -> tuple:
        if not decision.is_idle:
            return self.scorer.train(kept)
        # One row of weight zero: it moves no statistics, and a single row has none.
        with modes.scoring(self.scorer.model, "running", False):
            return self.scorer.train(kept)

    def _observe(self, kept: Any, decision: "_Decision", logits: torch.Tensor,
                 losses: torch.Tensor) -> None:
        if not decision.observed:
            return
        seen = {"loss": losses.detach()} if "loss" in decision.observed else {}
        more = decision.observed - {"loss"}
        if more == {"p"}:
            found = self.scorer.gradient(kept, logits)
            if found is not None:
                seen["p"], more = found, frozenset()
        if more:
            scored = self.scorer(kept, more).asked()
            seen.update({name: scored[name] for name in sorted(more)})
        self._tell(decision, seen)

    def _tell(self, decision: "_Decision", seen: Mapping[str, torch.Tensor]) -> None:
        device = next(iter(seen.values())).device
        count = 0 if decision.is_idle else len(decision.rows)
        counts = self.group.counts(count, device)
        if sum(counts) == 0:
            return
        told = {name: devices.readable(self.group.rows(value[:count], counts))
                for name, value in seen.items()}
        places = self.group.rows(decision.places[:count], counts)
        self.selector.observe(**told, places=places)

    # ---- where the run is ----

    @property
    def epoch(self) -> int:
        """The epoch of the next step: as set_epoch() said, else by counting steps."""
        if self._epoch is not None:
            return self._epoch
        steps = self._steps_of(self.rows) if self.selector else None
        return self.selector.step // steps if steps else 0

    def set_epoch(self, epoch: int) -> None:
        """An epoch begins: for loops whose epochs are not dataset_size / batch steps long."""
        self._epoch = int(epoch)

    def state_dict(self) -> dict:
        """What a resumed run continues from, bit for bit. It is the same on every rank, and may be
        loaded with another number of them."""
        return {"version": _STATE_VERSION, "batch": self.batch, "rows": self.rows,
                "epoch": self._epoch,
                "selector": self.selector.state_dict() if self.selector else None}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what state_dict() gave, with the same arguments."""
        try:
            version, batch, rows, epoch, saved = (
                state[key] for key in ("version", "batch", "rows", "epoch", "selector"))
        except (KeyError, TypeError):
            raise ValueError("this is no state of a SelectiveBackprop") from None
        if version != _STATE_VERSION:
            raise ValueError(f"a state of version {version}, not {_STATE_VERSION}")
        if saved is not None:
            selector = self._selector_of(batch, rows)
            selector.load_state_dict(saved)
            self.selector, self.batch, self.rows = selector, batch, rows
        else:      # before the first batch
            self.selector, self.batch, self.rows = None, batch, 0
        self._pending, self._seen = None, None
        self._epoch = epoch


class _Decision:
    """The part of a decision that is this process's own."""

    def __init__(self, rows: torch.Tensor, weights: torch.Tensor, places: torch.Tensor, count: int,
                 observed: frozenset) -> None:
        self.rows, self.weights, self.places = rows, weights, places
        self.count, self.observed = count, observed
        self.is_idle = False

    def idle(self) -> "_Decision":
        """Nothing was kept here: one row of weight zero takes part in the exchange of gradients."""
        self.is_idle = True
        where = self.weights.device
        self.rows, self.weights = torch.zeros(1, dtype=torch.int64, device=where), torch.zeros(1, device=where)
        return self


def _as_tensors(subset: cull.Subset) -> cull.Subset:
    """Where no signal was read, arrays are numpy's."""
    if not isinstance(subset.rows, torch.Tensor):
        subset.rows, subset.places = torch.from_numpy(subset.rows), torch.from_numpy(subset.places)
        subset.weights = torch.from_numpy(subset.weights).float()
    return subset


def _everything(total: int, count: int | None, places: Any) -> cull.Subset:
    """A plain step: all rows, or as many as it takes, evenly spread."""
    where = None if places is None else places.device
    rows = torch.arange(total, device=where)
    if count is not None and count < total:
        rows = rows[(rows + 1) * count // total > rows * count // total]
    return cull.Subset(rows, rows if places is None else places[rows],
                       torch.ones(len(rows), device=where), None, 0, len(rows), 0)
