"""A selector: needs -> select -> observe, and its state."""
from __future__ import annotations

import contextlib
import ctypes
import threading
import warnings
from dataclasses import dataclass
from typing import Any, Mapping

import numpy

from . import _abi, _device, _strategies
from ._arrays import Array, View, as_numpy, places_of, rows_of, torch_of
from ._device import Device, Place
from ._library import CullError, CullValueError, backend as open_backend, check, failure, lib
from ._numbers import whole
from ._subset import Subset, SubsetRoom, SubsetThere

_ACTIONS = {_abi.CULL_TRAIN_ALL: "all", _abi.CULL_SELECT_BATCH: "batch", _abi.CULL_SELECT_POOL: "pool",
            _abi.CULL_KEEP_SUBSET: "keep"}
_LARGEST_POOL = 2**32 - 2
_STATE_VERSION = 1


def _ordinal(backend: str) -> int:
    """The number of a device in "cuda:1"."""
    number = backend.partition(":")[2] or "0"
    if not number.isdigit():
        raise CullValueError(f"backend={backend!r}: a device is cuda, or cuda:1", "BAD_ARGUMENT", "backend")
    return int(number)


@dataclass(frozen=True)
class Needs:
    """What a selector wants of the step to come.

    action    "batch": bring `count` examples to select; "pool": the same with the whole data set, then train the
              subset in batches; "keep": go on training the subset chosen last from the pool; "all": train
              everything, nothing is selected
    signals   names of what `select` will read: loss, h, p, labels, irreducible; empty: no scoring pass
    target    the same of its target block: h, p, labels, logits
    observe   whether `observe` must be told what training saw
    observed  names of what it will read then
    running   score with BatchNorm's running averages
    count     examples to bring; None where the selector was not told a batch
    budget    about how many of them will be kept; None: not known before
    """

    action: str
    signals: frozenset[str]
    target: frozenset[str]
    observe: bool
    observed: frozenset[str]
    running: bool
    count: int | None
    budget: int | None


class _Signals:
    """The library's struct of signals, kept between calls, with views of the caller's arrays."""

    __slots__ = ("struct", "ref", "views", "target", "targeted", "held", "names", "torch", "double", "there")

    def __init__(self) -> None:
        struct = self.struct = _abi.cull_signals()
        struct.size = ctypes.sizeof(_abi.cull_signals)
        self.ref = ctypes.byref(struct)
        self.views = {"loss": View(struct.loss, "loss", 1), "h": View(struct.h, "h", 2), "p": View(struct.p, "p", 2),
                      "labels": View(struct.label, "labels", 1, True),
                      "irreducible": View(struct.irreducible, "irreducible", 1)}
        block = struct.target
        self.target = {"h": View(block.h, "target h", 2), "p": View(block.p, "target p", 2),
                       "labels": View(block.label, "target labels", 1, True),
                       "logits": View(block.logits, "target logits", 2)}
        self.targeted = False
        self.held: list[Any] = []
        self.names: list[str] = []  # of the signals that were added first
        self.torch: Any = None
        self.double = False
        self.there: Place | None = None  # where they lie, if on a device

    def add(self, name: str, array: Array, others: int = -1) -> int:
        """Look at one signal; returns how many examples it is of. Where others were added, of `others`."""
        held = self.views[name].set(array)
        if others not in (-1, held.shape[0]):
            raise self._unequal(name, held.shape[0])
        self.names.append(name)
        self.held.append(held)
        view = self.views[name]
        if view.seen is not None or self.there is not None:
            self._join(view, len(self.names) > 1)
        elif type(array) is not numpy.ndarray and self.torch is None:
            self.torch = torch_of(array)
        if view.tensor.dtype == _abi.CULL_F64:
            self.double = True
        return held.shape[0]

    def _join(self, view: View, others: bool) -> None:
        """Signals lie together: all on the host, or all on one device."""
        if view.seen is None:
            assert self.there is not None
            raise self.there.apart(view.name)
        if self.there is not None:
            self.there.join(view.seen, view.name)
        elif others:
            raise Place(view.seen, view.name).apart(self.names[0])
        else:
            self.there = Place(view.seen, view.name)

    def _unequal(self, name: str, rows: int) -> CullValueError:
        """Says which signals are of how many examples."""
        told = ", ".join(f"{other} has {self.held[at].shape[0]} rows" for at, other in enumerate(self.names))
        self.views[name].clear()
        return CullValueError(f"{told}, {name} has {rows}", "BAD_ARGUMENT", name)

    def add_target(self, target: Mapping[str, Array]) -> None:
        if not isinstance(target, Mapping):
            raise CullValueError(f"target is a mapping with h, p, labels and logits, not {type(target).__name__}",
                                 "BAD_ARGUMENT", "target")
        counts = set()
        self.targeted = True
        for name, array in target.items():
            if name not in self.target:
                raise CullValueError(f"a target block has h, p, labels and logits, not {name}", "BAD_ARGUMENT", name)
            if array is not None:
                self.held.append(self.target[name].set(array))
                counts.add(self.held[-1].shape[0])
                if self.target[name].seen is not None or self.there is not None:
                    self._join(self.target[name], bool(self.names) or len(counts) > 1)
        if len(counts) > 1:
            raise CullValueError(f"the arrays of the target block are of {sorted(counts)} examples", "BAD_ARGUMENT",
                                 "target")
        self.struct.target.count = counts.pop() if counts else 0

    def add_places(self, places: Array) -> int:
        if type(places) is not numpy.ndarray and self.torch is None:
            self.torch = torch_of(places)
        held = places_of(places)
        self.held.append(held)
        self.struct.place = held.__array_interface__["data"][0]
        return held.shape[0]

    def add_unseen(self, unseen: Array, count: int) -> None:
        held = numpy.asarray(as_numpy(unseen, "unseen"), order="C")
        if held.dtype.kind not in "biu" or held.shape != (count,):
            raise CullValueError(f"unseen is of type {held.dtype} and shape {held.shape}, not one bool for each of {count} "
                                 "examples", "BAD_ARGUMENT", "unseen")
        held = (held != 0).view(numpy.uint8)
        self.held.append(held)
        self.struct.unseen = held.__array_interface__["data"][0]

    # ---- on a device, in its turn ----

    def see_places(self, places: Array) -> tuple[Any, int]:
        """Places wherever they lie, to be brought to the signals by `bring`; and how many they are."""
        if not _device.lies_there(places):
            held: Any = places_of(places)
            return held, held.shape[0]
        seen = _device.see(places, "places", True)
        if len(seen.shape) != 1:
            raise CullValueError(f"places has {len(seen.shape)} dimensions, not 1", "BAD_ARGUMENT", "places")
        if self.there is None:
            self.there = Place(seen, "places")
        else:
            self.there.join(seen, "places")
        return seen, seen.shape[0]

    def see_unseen(self, unseen: Array, count: int) -> Any:
        """What `unseen` says, as bytes on the host or as it lies on the device."""
        if not _device.lies_there(unseen):
            self.add_unseen(unseen, count)
            return self.held[-1]
        torch = torch_of(unseen)
        seen = _device.see(unseen if torch is None else unseen.ne(0).to(torch.uint8), "unseen", True)
        if seen.shape != (count,) or seen.dtype != _abi.CULL_U8 or seen.strides != (1,):
            raise CullValueError(f"unseen is of shape {seen.shape}, not one bool for each of {count} examples",
                                 "BAD_ARGUMENT", "unseen")
        assert self.there is not None
        self.there.join(seen, "unseen")
        return seen

    def bring(self, places: Any, unseen: Any) -> None:
        """Places and marks come to where the signals lie, and all is said to lie there."""
        there, struct = self.there, self.struct
        assert there is not None
        struct.device.kind, struct.device.number = _device.CUDA, there.ordinal
        if isinstance(places, numpy.ndarray):
            held, struct.place = there.send(places)
            self.held.append(held)
        elif places is not None:
            held, struct.place = there.empty(places.shape[0], "uint32" if there.torch is None else "int32")
            view = _abi.cull_tensor(data=places.data, dtype=places.dtype, dims=1)
            view.shape[0], view.stride[0] = places.shape[0], places.strides[0] if places.shape[0] > 1 else 1
            view.device.kind, view.device.number = _device.CUDA, there.ordinal
            check(lib.cull_places_take(there.device.backend, ctypes.byref(view), struct.place))
            self.held += [held, places]
        if isinstance(unseen, numpy.ndarray):
            held, struct.unseen = there.send(unseen)
            self.held.append(held)
        elif unseen is not None:
            struct.unseen = unseen.data
            self.held.append(unseen)

    def clear(self) -> None:
        """Nothing is borrowed any longer."""
        self.torch, self.double = None, False
        if self.there is not None:
            self._clear_there()
        if not self.held:
            return
        struct = self.struct
        for view in self.views.values():
            view.tensor.data = None
        if self.targeted:
            struct.target.count = 0
            for view in self.target.values():
                view.tensor.data = None
            self.targeted = False
        struct.place = struct.unseen = None
        self.held, self.names = [], []

    def _clear_there(self) -> None:
        for view in (*self.views.values(), *self.target.values()):
            view.clear()
        self.struct.device.kind = self.struct.device.number = 0
        self.there = None


class Selector:
    """Decides, step by step, which examples are worth backpropagating.

    strategy      a name that `cull.strategies()` lists, a modifier behind it ("sb remembered", "top-loss stale") and
                  options if wanted: "sb remembered keep=0.3"; or the path of a strategy in a shared object
    dataset_size  examples in the training set. Needed by what chooses from the whole set, or keeps losses by place
    batch         base batch size, before selection; None: as many as come
    epochs        of the whole run; windows and infobatch need it
    seed          of all randomness: the same seed and inputs give the same subset, bit for bit
    keep          share of the candidates to keep; short for the option of that name
    steps         per epoch, where batches do not tell
    backend       "cpu", or "ref": plain loops, the definition of right; or "cuda", "cuda:1": signals from the host go to
                  that device. Signals that lie on a device are worked on there without being asked to, and so is the
                  history from then on
    threads       of the backend; 0: one a core. It never changes the result
    options       of the strategy, dashes as underscores: trim_weight=0.05

    A training loop asks, chooses, trains and tells:

    >>> import cull, numpy
    >>> selector = cull.Selector("sb remembered", dataset_size=100, batch=10, epochs=2, seed=1, keep=0.3)
    >>> for epoch in range(2):
    ...     for places in numpy.arange(100).reshape(10, 10):
    ...         needs = selector.needs()              # no signals: losses are those of training steps
    ...         subset = selector.select(places=places)
    ...         loss = 1.0 / (1 + subset.places)      # of training on subset.places, here made up
    ...         selector.observe(loss=loss, places=subset.places)
    ...     selector.next_epoch()
    >>> selector.step, selector.epoch, len(subset)
    (20, 2, 3)

    `select` counts steps, `next_epoch` epochs; a `step` or `epoch` that is given to a call holds for it and is
    counted on from. A selector is used by one thread at a time; distinct ones are independent.
    """

    def __init__(self, strategy: str, *, dataset_size: int | None = None, batch: int | None = None,
                 epochs: int | None = None, seed: int = 0, keep: float | None = None, steps: int | None = None,
                 backend: str = "cpu", threads: int = 1, **options: Any) -> None:
        self._handle = ctypes.c_void_p()
        self._home: Device | None = None  # the device that the history lies on
        if keep is not None:
            options = {"keep": keep, **options}
        self._arguments = dict(strategy=strategy, dataset_size=dataset_size, batch=batch, epochs=epochs, seed=seed,
                               steps=steps, backend=backend, threads=threads, **options)
        name, given = _strategies.read(strategy, options)
        found = lib.cull_strategy_of(name.encode())  # none: a shared object, of which only the library knows more
        self._carries = not found or bool(found.contents.flush)
        over_pool = bool(found and found.contents.runs != _abi.CULL_RUNS_STEP) or ("scope", "pool") in given
        if dataset_size is None and (over_pool or " " in name or dict(given).get("losses", "scored") != "scored"):
            raise self._unknown(name, "dataset_size")
        setting = _abi.cull_setting(ctypes.sizeof(_abi.cull_setting))
        setting.pool = _LARGEST_POOL if dataset_size is None else whole("dataset_size", dataset_size, 1)
        setting.batch = (0 if over_pool else 1) if batch is None else whole("batch", batch, 1)
        setting.epochs = 0 if epochs is None else whole("epochs", epochs)
        setting.steps = 0 if steps is None else whole("steps", steps)
        setting.seed = whole("seed", seed, bits=64)
        if backend.split(":")[0] == "cuda":
            self._home = Device.of(_ordinal(backend))
        setting.backend = self._home.backend if self._home else open_backend(backend, whole("threads", threads))
        pairs = (_abi.cull_option * len(given))(*(_abi.cull_option(key.encode(), value.encode()) for key, value in given))
        self._made_of = name.encode(), pairs, len(given), setting
        self._create(self._handle)
        self._batch_known = batch is not None or over_pool
        if not over_pool:
            self._refuse_unknown(name, found, dataset_size, batch, steps)
        self._signals, self._room = _Signals(), SubsetRoom()
        self._needs = _abi.cull_needs(ctypes.sizeof(_abi.cull_needs))
        self._needs_ref = ctypes.byref(self._needs)
        self._asked: dict[tuple[Any, ...], Needs] = {}
        self._lock = threading.Lock()
        self._step = self._epoch = 0
        self._last: tuple[int, int] | None = None  # the step and epoch that observe is about
        self._owed = 0  # what observe has to be told before the next step
        self._begun = False  # there is a history
        self._there = None if self._home is None else SubsetThere(self._home)
        self._came_from: Place | None = None  # where the last signals lay
        self._kind: tuple[Any, bool] = (None, True)  # whose arrays came last
        check(lib.cull_selector_reads(self._handle, self._needs_ref))
        self._observes = bool(self._needs.observe)
        self._by_epoch = dataset_size or 0 if not over_pool and self._counts_by_epoch() else 0
        self._brought, self._brought_in, self._warned = 0, 0, False

    def _create(self, out: Any) -> None:
        name, pairs, count, setting = self._made_of
        check(lib.cull_selector_create(name, pairs, count, ctypes.byref(setting), ctypes.byref(out)))

    def _move(self, device: Device) -> None:
        """Signals come from another device than the history lies on: it goes there, bit for bit."""
        setting, before = self._made_of[3], self._made_of[3].backend
        handle = ctypes.c_void_p()
        history = self._save() if self._begun else b""
        setting.backend = device.backend
        try:
            self._create(handle)
            if self._begun:
                check(lib.cull_selector_restore(handle, history, len(history)))
        except BaseException:
            setting.backend = before
            lib.cull_selector_destroy(handle)
            raise
        self._destroy(lib.cull_selector_destroy)
        self._handle, self._home, self._there = handle, device, SubsetThere(device)

    def _turn(self, place: Place | None = None) -> Any:
        """This selector's turn with the device it works on, if any."""
        if self._home is None:
            return contextlib.nullcontext()
        return self._home.turn([] if place is None else place.streams)

    def _counts_by_epoch(self) -> bool:
        """Whether the choice among a batch depends on which epoch it is in."""
        options = self.options
        return options.get("losses") == "stale" or options.get("percentile") == "pool" or \
            float(options.get("trim", 0)) > 0

    def _count_epoch(self, number: int, epoch: int) -> None:
        """Say it once when epochs seem not to be counted."""
        self._brought = self._brought + number if epoch == self._brought_in else number
        self._brought_in = epoch
        if self._brought > 2 * self._by_epoch:
            self._warned = True
            warnings.warn(f"{self.name} goes by epochs, and {self._brought} examples came in epoch {epoch} of a data set of "
                          f"{self._by_epoch}: call next_epoch() at the end of each, or give epoch= to select",
                          RuntimeWarning, stacklevel=3)

    @staticmethod
    def _unknown(name: str, argument: str) -> CullValueError:
        what = "the data set" if argument == "dataset_size" else "the batch size"
        return CullValueError(f"{name} needs to know {what}: say {argument}=", "BAD_ARGUMENT", argument)

    def _refuse_unknown(self, name: str, found: Any, dataset_size: int | None, batch: int | None,
                        steps: int | None) -> None:
        """A rule that counts in batches has to be told one, and a window how many there are in an epoch."""
        options = self.options
        counts = bool(found) and bool(found.contents.flush or found.contents.traits & _abi.CULL_SAMPLES)
        window = float(options.get("start", 0)) > 0 or float(options.get("end", 1)) < 1
        if batch is None and (counts or options.get("mode") == "scaled" or options.get("rounding") == "alternate" or
                              window and not steps):
            raise self._unknown(name, "batch")
        if dataset_size is None and window and not steps:
            raise self._unknown(name, "dataset_size")

    def __del__(self, destroy: Any = lib.cull_selector_destroy) -> None:
        self._destroy(destroy)

    def _destroy(self, destroy: Any) -> None:
        if self._home is None:
            destroy(self._handle)
            return
        with self._home.lock:
            destroy(self._handle)

    def __repr__(self) -> str:
        return f"<cull.Selector {self.name} {lib.cull_selector_options(self._handle).decode()}>"

    @property
    def name(self) -> str:
        """The strategy's name with its modifier."""
        return lib.cull_selector_name(self._handle).decode()

    @property
    def options(self) -> dict[str, str]:
        """All options as they were resolved, by their keys."""
        text = lib.cull_selector_options(self._handle).decode()
        return dict(pair.split("=", 1) for pair in text.split(" ") if pair)

    @property
    def epochs(self) -> int:
        """Epochs of the run: as given, save under a warm start, which has fewer."""
        return lib.cull_selector_epochs(self._handle)

    @property
    def step(self) -> int:
        """The step that the next `select` is about, counted over the whole run."""
        return self._step

    @property
    def epoch(self) -> int:
        """The epoch that the next `select` is about."""
        return self._epoch

    def next_epoch(self) -> None:
        """The epoch ends here."""
        self._epoch += 1

    def needs(self, step: int | None = None, epoch: int | None = None) -> Needs:
        """What the selector wants of the next step, or of one that is named. Asking changes nothing."""
        with self._lock:
            raw = self._ask(self._step if step is None else whole("step", step),
                            self._epoch if epoch is None else whole("epoch", epoch))
            return self._told(raw)

    @property
    def reads(self) -> Needs:
        """What a selector that has seen nothing yet may ask for in the course of the run: signals, target and observed
        of every step, also where the first are trained plainly. What is not among them it never reads."""
        with self._lock:
            check(lib.cull_selector_reads(self._handle, self._needs_ref))
            return self._told(self._needs)

    def _told(self, raw: _abi.cull_needs) -> Needs:
        """Needs as the caller sees them; few differ in a run."""
        key = (raw.action, raw.signals, raw.target, raw.observe, raw.running, raw.candidates, raw.budget)
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = Needs(
                _ACTIONS[raw.action], _strategies.names_of(raw.signals), _strategies.names_of(raw.target),
                bool(raw.observe), _strategies.names_of(raw.observe), raw.running,
                raw.candidates if self._batch_known else None, raw.budget or None if self._batch_known else None)
        return found

    def _ask(self, step: int, epoch: int) -> _abi.cull_needs:
        status = lib.cull_selector_needs(self._handle, step, epoch, self._needs_ref)
        if status:
            raise failure(status)
        return self._needs

    def select(self, *, loss: Array = None, h: Array = None, p: Array = None, labels: Array = None,
               places: Array = None, irreducible: Array = None, unseen: Array = None,
               target: Mapping[str, Array] | None = None, count: int | None = None, budget: int | None = None,
               step: int | None = None, epoch: int | None = None) -> Subset:
        """Choose a weighted subset of the examples whose signals are given, and count the step.

        loss         per-example losses (M)
        h, p         inputs of the last linear layer (M, D), and the gradient of the summed loss by its outputs (M, C)
        labels       classes (M), integers
        places       places of the examples in the data set (M), integers; None: rows 0 .. M-1 of it
        irreducible  losses of a model trained on other data (M)
        unseen       true where no loss is known (M)
        target       a validation set to match: a mapping with h, p, labels, logits
        count        M, where no array tells it (nothing is read, as by "random"); else the batch
        budget       how many to keep instead of the selector's share

        numpy arrays or torch tensors, float32 or float64, on the host; or, float32, float64 or bfloat16, all on one
        CUDA device: torch's tensors, or what has __dlpack__ or __cuda_array_interface__. They are read where they lie
        when they are contiguous, and copied else; half floats are widened. Nothing is kept of them. Work on a device is
        done in torch's current stream there (or the arrays' own), and the subset is there too; places and unseen may be
        on the host all the same.
        """
        with self._lock:
            step = self._step if step is None else whole("step", step)
            epoch = self._epoch if epoch is None else whole("epoch", epoch)
            if self._owed:
                self._tell_owed()
            signals = self._signals
            try:
                number = -1
                if loss is not None:
                    number = signals.add("loss", loss, number)
                if h is not None:
                    number = signals.add("h", h, number)
                if p is not None:
                    number = signals.add("p", p, number)
                if labels is not None:
                    number = signals.add("labels", labels, number)
                if irreducible is not None:
                    number = signals.add("irreducible", irreducible, number)
                if target is not None:
                    signals.add_target(target)
                if signals.there is not None or number < 0 and places is not None and _device.lies_there(places):
                    subset, number, owed = self._select_there(places, unseen, number, count, budget, step, epoch)
                else:
                    if places is not None:
                        number = self._agree(signals.add_places(places), number)
                    if number < 0 or count is not None:
                        number = self._count(number, count, step, epoch)
                    if unseen is not None:
                        signals.add_unseen(unseen, number)
                    struct = signals.struct
                    struct.count, struct.step, struct.epoch = number, step, epoch
                    owed = self._ask(step, epoch).observe if self._observes else 0
                    status = self._call(lib.cull_select, 0 if budget is None else whole("budget", budget, 1),
                                        self._room.ref)
                    if status:
                        raise failure(status)
                    self._kind, self._came_from = (signals.torch, signals.double), None
                    subset = self._room.copy(signals.torch, signals.double, self._carries)
                self._begun = True
            finally:
                signals.clear()
            if self._by_epoch and not self._warned:
                self._count_epoch(number, epoch)
            self._last = (step, epoch)
            self._step, self._epoch = step + 1, epoch
            if owed and len(subset):
                self._owed = owed
        return subset

    def _call(self, function: Any, *more: Any) -> int:
        """A call about signals on the host; the history may be elsewhere."""
        if self._home is None:
            return function(self._handle, self._signals.ref, *more)
        with self._home.lock:
            return function(self._handle, self._signals.ref, *more)

    @staticmethod
    def _agree(placed: int, number: int) -> int:
        if number not in (-1, placed):
            raise CullValueError(f"places are of {placed} examples, the signals of {number}", "BAD_ARGUMENT", "places")
        return placed

    def _select_there(self, places: Array, unseen: Array, number: int, count: int | None, budget: int | None, step: int,
                      epoch: int) -> tuple[Subset, int, int]:
        """Of signals that lie on a device: they are read there, and the subset is there."""
        signals = self._signals
        marks = None
        if places is not None:
            places, placed = signals.see_places(places)
            number = self._agree(placed, number)
        number = self._count(number, count, step, epoch) if count is not None else number
        if unseen is not None:
            marks = signals.see_unseen(unseen, number)
        place, struct = signals.there, signals.struct
        assert place is not None
        device = place.device
        with device.turn(place.streams):
            if self._home is not device:
                self._move(device)
            signals.bring(places, marks)
            struct.count, struct.step, struct.epoch = number, step, epoch
            owed = self._ask(step, epoch).observe if self._observes else 0
            there = self._there
            assert there is not None
            status = lib.cull_select(self._handle, signals.ref, 0 if budget is None else whole("budget", budget, 1),
                                     there.ref)
            if status:
                raise failure(status)
            subset = there.copy(place, signals.double)
            place.done()
        self._kind, self._came_from = (place.torch, signals.double), place
        return subset, number, owed

    def _count(self, told: int, count: int | None, step: int, epoch: int) -> int:
        """How many examples there are where arrays do not say it, or say it beside `count`."""
        if count is not None:
            count = whole("count", count, 1)
            if told not in (-1, count):
                raise CullValueError(f"count={count}, but the signals are of {told} examples", "BAD_ARGUMENT", "count")
            return count
        if not self._batch_known:
            raise CullValueError("how many examples are there? Give an array, count=, or batch= to the selector",
                                 "BAD_ARGUMENT", "count")
        return self._ask(step, epoch).candidates

    def _tell_owed(self) -> None:
        names = ", ".join(f"{name}=..." for name in sorted(_strategies.names_of(self._owed)))
        raise CullError(f"{self.name} chooses by what training saw, and was not told: call observe({names}, "
                        "places=subset.places) after each step, before the next select", "BAD_ARGUMENT", "observe")

    def observe(self, *, loss: Array = None, h: Array = None, p: Array = None, labels: Array = None,
                places: Array = None, irreducible: Array = None, step: int | None = None,
                epoch: int | None = None) -> None:
        """Tell the selector what training saw of the examples that were trained: what `needs().observed` names, and
        their places. Does nothing for strategies that remember nothing. It is about the last step, unless another is
        named."""
        with self._lock:
            last = self._last or (self._step, self._epoch)
            signals = self._signals
            try:
                numbers = [signals.add(name, array) for name, array in
                           (("loss", loss), ("h", h), ("p", p), ("labels", labels), ("irreducible", irreducible))
                           if array is not None]
                placed: Any = None
                if places is not None and (signals.there is not None or not numbers and _device.lies_there(places)):
                    placed, number = signals.see_places(places)
                    numbers.append(number)
                elif places is not None:
                    numbers.append(signals.add_places(places))
                if not numbers:
                    raise CullValueError("observe is told nothing: give it the losses of what was trained, and places",
                                         "BAD_ARGUMENT", "loss")
                if len(set(numbers)) > 1:
                    raise CullValueError(f"observe is told of {sorted(set(numbers))} examples", "BAD_ARGUMENT", "places")
                struct = signals.struct
                struct.count = numbers[0]
                struct.step = last[0] if step is None else whole("step", step)
                struct.epoch = last[1] if epoch is None else whole("epoch", epoch)
                if signals.there is not None:
                    self._observe_there(placed)
                    self._owed, self._begun = 0, True
                    return
                self._begun = True
                status = self._call(lib.cull_observe)
                if status:
                    raise failure(status)
            finally:
                signals.clear()
            self._owed = 0

    def _observe_there(self, places: Any) -> None:
        signals, place = self._signals, self._signals.there
        assert place is not None
        device = place.device
        with device.turn(place.streams):
            if self._home is not device:
                self._move(device)
            signals.bring(places, None)
            status = lib.cull_observe(self._handle, signals.ref)
            if status:
                raise failure(status)

    def advance(self) -> None:
        """Count a step that was trained without `select`, as `needs` allows where its action is "all"."""
        with self._lock:
            if self._owed:
                self._tell_owed()
            self._owed = self._ask(self._step, self._epoch).observe if self._observes else 0
            self._last = (self._step, self._epoch)
            self._step += 1

    def flush(self) -> Subset:
        """The end of the run: what the selector still holds (sb-stream's last, short batch), as arrays of the kind that
        `select` was given last; empty else."""
        with self._lock:
            place, there = self._came_from, self._there
            with self._turn(place):
                if place is None or there is None:
                    check(lib.cull_flush(self._handle, self._room.ref))
                    return self._room.copy(*self._kind, self._carries)
                check(lib.cull_flush(self._handle, there.ref))
                subset = there.copy(place, self._kind[1])
                place.done()
                return subset

    def state_dict(self) -> dict[str, Any]:
        """The selector's history as plain values, so that a resumed run continues bit for bit."""
        with self._lock:
            with self._turn():
                history = self._save()
            return {"version": _STATE_VERSION, "strategy": self.name, "step": self._step, "epoch": self._epoch,
                    "last": self._last, "owed": self._owed, "history": history}

    def _save(self) -> bytes:
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        check(lib.cull_selector_save(self._handle, ctypes.byref(data), ctypes.byref(size)))
        try:
            return ctypes.string_at(data, size.value)
        finally:
            lib.cull_bytes_release(data)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave, in a selector made with the same arguments. Nothing is changed where the
        state is another's."""
        try:
            version, history = state["version"], bytes(state["history"])
            step, epoch = whole("step", state["step"]), whole("epoch", state["epoch"])
            last, owed = state["last"], whole("owed", state["owed"])
            last = None if last is None else (whole("last", last[0]), whole("last", last[1]))
        except (KeyError, TypeError, IndexError) as why:
            raise CullValueError(f"this is no state of a selector ({why!r})", "BAD_STATE", "state") from None
        if version != _STATE_VERSION:
            raise CullValueError(f"a selector's state of version {version}, not {_STATE_VERSION}", "BAD_STATE", "version")
        with self._lock:
            with self._turn():
                check(lib.cull_selector_restore(self._handle, history, len(history)))
            self._begun = True
            self._step, self._epoch, self._last, self._owed = step, epoch, last, owed

    def __getstate__(self) -> dict[str, Any]:
        return {"arguments": self._arguments, "state": self.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["arguments"])  # type: ignore[misc]
        self.load_state_dict(state["state"])


def select(strategy: str, *, loss: Array = None, h: Array = None, p: Array = None, labels: Array = None,
           places: Array = None, irreducible: Array = None, unseen: Array = None,
           target: Mapping[str, Array] | None = None, count: int | None = None, keep: float | None = None,
           budget: int | None = None, seed: int = 0, step: int = 0, epoch: int = 0, dataset_size: int | None = None,
           batch: int | None = None, epochs: int | None = None, backend: str = "cpu", threads: int = 1,
           **options: Any) -> Subset:
    """Choose a weighted subset of M examples, once. The arguments are those of `Selector` and its `select`; the data
    set is the M examples, unless dataset_size says that they are part of a larger one.

    The same seed, step and inputs give the same subset: in a training loop, count the steps or use a `Selector`.

    >>> import cull, numpy
    >>> subset = cull.select("top-loss", loss=numpy.array([0.5, 4.0, 1.0, 3.0]), keep=0.5)
    >>> subset.rows, subset.weights
    (array([1, 3]), array([1., 1.]))
    """
    if dataset_size is None:
        if places is not None:
            raise CullValueError("places are in a data set: say dataset_size=", "BAD_ARGUMENT", "dataset_size")
        dataset_size = next((rows_of(array, name) for name, array in
                             (("loss", loss), ("h", h), ("p", p), ("labels", labels), ("irreducible", irreducible))
                             if array is not None), count)
    if dataset_size is None:
        raise CullValueError("how many examples are there? Give an array or count=", "BAD_ARGUMENT", "count")
    selector = Selector(strategy, dataset_size=dataset_size, batch=dataset_size if batch is None else batch,
                        epochs=epochs, seed=seed, keep=keep, backend=backend, threads=threads, **options)
    return selector.select(loss=loss, h=h, p=p, labels=labels, places=places, irreducible=irreducible, unseen=unseen,
                           target=target, count=count, budget=budget, step=step, epoch=epoch)
