"""Signals on a CUDA device: read where they lie, in their order, with the host's results. On an imitated device
(`emulated`), whose memory the host cannot touch, and whose streams go their own ways unless an event orders them."""
import gc
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import unittest

import emulated
import numpy

import cull
from emulated import ByDLPack, ByInterface, Stream, there
from support import D, M, read_by, same, signals

FAKES = str(pathlib.Path(__file__).parent / "fakes")
SMALL = 4096    # bytes that may be copied to the host


def host(subset):
    """A subset on the device, brought here."""
    given = [array if isinstance(array, numpy.ndarray) else array.numpy()
             for array in (subset.rows, subset.places, subset.weights)]
    return cull.Subset(*given, None, subset.groups, subset.picked, subset.flags)


def close(test, subset, other, tolerance=1e-6):
    """The same rows, and weights within the type's rounding."""
    numpy.testing.assert_array_equal(host(subset).rows, other.rows)
    numpy.testing.assert_array_equal(host(subset).places, other.places)
    numpy.testing.assert_allclose(host(subset).weights, other.weights, rtol=tolerance, atol=tolerance)
    test.assertEqual((subset.groups, subset.picked, subset.flags), (other.groups, other.picked, other.flags))


def arguments(strategy):
    """Of a selector of that strategy."""
    given = {"dataset_size": M, "epochs": 6, "seed": 3}
    if strategy.runs == "step":
        given["batch"] = M
    if not {"no budget", "keeps by power", "keeps all"} & strategy.traits:
        given["keep"] = 0.3
    return given


@unittest.skipIf(emulated.SKIP, emulated.SKIP)
class Strategies(unittest.TestCase):
    def test_every_strategy_chooses_what_it_chooses_on_the_host(self):
        for strategy in cull.strategies():
            for dtype, kind in (("float32", ByInterface), ("float64", ByDLPack)):
                with self.subTest(strategy=strategy.name, dtype=dtype):
                    here, away = (cull.Selector(strategy.name, **arguments(strategy)) for _ in range(2))
                    for step in range(4):
                        given = signals(seed=step, dtype=dtype)
                        if here.needs().action == "keep":
                            break
                        read = read_by(here, given) or {"loss": given["loss"]}
                        subset = here.select(**read)
                        found = away.select(**there(read, kind))
                        close(self, found, subset, 1e-6 if dtype == "float32" else 1e-12)
                        self.assertEqual(found.weights.dtype, dtype)
                        for selector, chosen, bring in ((here, subset, lambda a: a), (away, host(found), kind)):
                            seen = {name: bring(given[name][:len(chosen)]) for name in here.needs(step=step).observed}
                            if seen and len(chosen):
                                selector.observe(places=bring(chosen.places), **seen)

    def test_modifiers_keep_their_history_on_the_device(self):
        for name in ("sb remembered", "top-loss stale", "sb remembered percentile=pool trim=0.1"):
            with self.subTest(name=name):
                here, away = (cull.Selector(name, dataset_size=4 * M, batch=M, epochs=4, seed=1, keep=0.3)
                              for _ in range(2))
                for step in range(12):
                    places = (numpy.arange(M) * 5 + step) % (4 * M)
                    loss = signals(seed=step, dtype="float32")["loss"]
                    read = {"loss": loss} if "loss" in here.needs().signals else {}
                    subset = here.select(places=places, **read)
                    found = away.select(places=ByInterface(places), **there(read))
                    close(self, found, subset)
                    if here.needs(step=step).observe:
                        here.observe(loss=loss[:len(subset)], places=subset.places)
                        away.observe(loss=ByInterface(loss[:len(subset)]), places=found.places)
                    if step % 4 == 3:
                        here.next_epoch(), away.next_epoch()

    def test_whole_minibatches_come_in_their_groups(self):
        given = signals(dtype="float32")
        read = {key: given[key] for key in ("h", "p")}
        how = dict(dataset_size=M, batch=6, keep=0.5, scope="batch", seed=4)
        here = cull.Selector("grad-match", **how).select(**read)
        away = cull.Selector("grad-match", **how).select(**there(read))
        self.assertEqual(here.groups, away.groups)
        for batch, other in zip(here.batches(), away.batches()):
            numpy.testing.assert_array_equal(batch.rows, other.rows.numpy())
            numpy.testing.assert_array_equal(batch.group, other.group.numpy())

    def test_nothing_large_is_copied_to_the_host(self):
        rng = numpy.random.default_rng(0)
        rows = 4096
        given = {"loss": rng.uniform(size=rows).astype("float32"), "h": rng.normal(size=(rows, 8)).astype("float32"),
                 "p": rng.normal(size=(rows, 3)).astype("float32"), "places": rng.permutation(rows)}
        for name, read in (("sb", ["loss"]), ("random", ["loss"]), ("top-loss", ["loss"]), ("kath18", ["loss", "p"]),
                           ("sb remembered", ["loss"])):
            selector = cull.Selector(name, dataset_size=rows, batch=rows, keep=0.3, seed=1)
            away = there({key: given[key] for key in [*read, "places"]})
            emulated.fetched()
            before = emulated.waits()
            subset = selector.select(**away)
            seen = {key: away[key] for key in selector.needs(step=0).observed}
            if seen:
                selector.observe(places=away["places"], **seen)
            self.assertLessEqual(emulated.fetched(), SMALL, name)
            self.assertGreaterEqual(len(subset), rows // 5)
            self.assertLessEqual(emulated.waits() - before, 12, name)
        small = {key: given[key][:640] for key in ("h", "p")}
        emulated.fetched()
        cull.select("gradmatch", keep=0.3, **there(small))
        self.assertLessEqual(emulated.fetched(), SMALL)


@unittest.skipIf(emulated.SKIP, emulated.SKIP)
class Arrays(unittest.TestCase):
    def test_types_as_they_come(self):
        given = signals(dtype="float32")
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3)
        rough = cull.select("gradmatch", h=ByDLPack(given["h"], bfloat16=True), p=ByDLPack(given["p"], bfloat16=True),
                            keep=0.3)
        widened = {key: (given[key].view("uint32") & 0xFFFF0000).view("float32") for key in "hp"}
        close(self, rough, cull.select("gradmatch", keep=0.3, **widened))
        self.assertEqual(rough.weights.dtype, "float32")
        for labels in ("int32", "int64", "uint8"):
            how = dict(h=given["h"], p=given["p"], labels=given["labels"].astype(labels))
            close(self, cull.select("craig", keep=0.3, **there(how)), cull.select("craig", keep=0.3, **how))
        self.assertEqual(len(plain), len(rough))

    def test_rows_that_stand_apart_are_read_where_they_lie(self):
        given = signals(dtype="float32")
        wide = numpy.zeros((M, D + 5), "float32")
        wide[:, :D] = given["h"]
        away = ByInterface(wide)

        class Part:
            __cuda_array_interface__ = {"shape": (M, D), "typestr": "<f4", "data": (away.at, False), "version": 3,
                                        "strides": (4 * (D + 5), 4), "stream": None}

        class Turned:
            __cuda_array_interface__ = {"shape": (D + 5, M), "typestr": "<f4", "data": (away.at, False), "version": 3,
                                        "strides": (4, 4 * (D + 5)), "stream": None}

        p = ByInterface(given["p"])
        close(self, cull.select("gradmatch", h=Part(), p=p, keep=0.3),
              cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3))
        with self.assertRaisesRegex(ValueError, "h is not dense in its last dimension"):
            cull.select("gradmatch", h=Turned(), p=p, keep=0.3)

    def test_places_and_marks_of_any_kind(self):
        loss = signals(dtype="float32")["loss"]
        places = numpy.random.default_rng(1).permutation(4 * M)[:M]
        unseen = numpy.arange(M) % 5 == 0
        how = dict(dataset_size=4 * M, keep=0.3, seed=2)
        plain = cull.select("sb", loss=loss, places=places, unseen=unseen, **how)
        for kind in (lambda a: a, ByInterface):
            for dtype in ("int64", "int32", "uint8" if places.max() < 256 else "int64"):
                found = cull.select("sb", loss=ByInterface(loss), places=kind(places.astype(dtype)), unseen=kind(unseen),
                                    **how)
                close(self, found, plain)

    def test_results_are_arrays_of_the_device(self):
        subset = cull.select("top-loss", loss=ByInterface(numpy.arange(8, dtype="float32")), keep=0.5)
        self.assertIsInstance(subset.rows, cull.DeviceArray)
        self.assertEqual(subset.rows.device, "cuda:0")
        self.assertEqual((subset.rows.dtype, subset.weights.dtype, len(subset)), ("int64", "float32", 4))
        self.assertEqual(list(subset), [(4, 1), (5, 1), (6, 1), (7, 1)])
        told = subset.rows.__cuda_array_interface__
        self.assertEqual((told["shape"], told["typestr"], told["version"]), ((4,), "<i8", 3))
        self.assertEqual(subset.rows[1:3].tolist(), [5, 6])
        self.assertEqual(subset.rows[1:][1:].tolist(), [6, 7])
        self.assertIn("4 int64 on cuda:0", repr(subset.rows))
        with self.assertRaisesRegex(TypeError, "neighbours"):
            subset.rows[0]
        rows = subset.rows[1:3]
        del subset
        gc.collect()
        self.assertEqual(rows.tolist(), [5, 6])

    def test_what_cannot_be_read_is_refused(self):
        given = signals(dtype="float32")
        loss, away = given["loss"], there(given)
        for said, call in (
                ("h is on cuda:0, p on the host: bring them to one", lambda: cull.select("gradmatch", h=away["h"], p=given["p"])),
                ("p is on cuda:0, h on the host", lambda: cull.select("gradmatch", h=given["h"], p=away["p"])),
                ("target h on the host", lambda: cull.select("glister", h=away["h"], p=away["p"], labels=away["labels"],
                                                             target=given["target"])),
                ("loss is of type <f2", lambda: cull.select("sb", loss=ByInterface(loss.astype("float16")))),
                ("loss is of type <i8", lambda: cull.select("sb", loss=ByInterface(numpy.arange(4)))),
                ("loss is of type int64", lambda: cull.select("sb", loss=ByDLPack(numpy.arange(4)))),
                ("labels is of type float32", lambda: cull.select("craig", h=away["h"], p=away["p"], labels=ByDLPack(loss))),
                ("h has 1 dimension", lambda: cull.select("gradmatch", h=away["loss"], p=away["p"])),
                ("places are of 47", lambda: cull.select("sb", loss=away["loss"], places=numpy.arange(M - 1), dataset_size=M)),
                ("places has 2 dim", lambda: cull.select("sb", loss=away["loss"], dataset_size=M,
                                                         places=ByInterface(numpy.zeros((M, 2), "int64")))),
                ("place", lambda: cull.select("sb", loss=away["loss"], places=ByInterface(numpy.arange(M) - 1), dataset_size=M)),
                ("place", lambda: cull.select("sb", loss=away["loss"], places=ByInterface(numpy.arange(M) + 2**33), dataset_size=M)),
                ("unseen is of shape", lambda: cull.select("sb", loss=away["loss"], unseen=ByInterface(numpy.zeros(3, bool)))),
                ("on cuda:7, which cannot be used here: there is no CUDA device 7; 1 is here. Or give it loss.cpu",
                 lambda: cull.select("sb", loss=_Far(), count=4)),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(ValueError if "cuda:7" not in said else NotImplementedError, said):
                call()
        loss = loss.copy()
        loss[17] = numpy.nan
        with self.assertRaisesRegex(cull.CullValueError, "loss of example 17") as caught:
            cull.select("sb", loss=ByInterface(loss))
        self.assertEqual(caught.exception.status, "NOT_FINITE")
        close(self, cull.select("sb", keep=.3, loss=away["loss"]), cull.select("sb", keep=.3, loss=given["loss"]))


class _Far:
    """On a device that is not there."""

    shape = (4,)

    def __dlpack_device__(self):
        return 2, 7

    def __dlpack__(self, **_):
        raise AssertionError("asked of a device that is not there")


@unittest.skipIf(emulated.SKIP, emulated.SKIP)
class Order(unittest.TestCase):
    """Of streams: the imitation does the last first, unless an event says otherwise."""

    def test_signals_are_read_behind_their_stream_and_written_to_at_once(self):
        given = signals(dtype="float32")
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3)
        stream = Stream()
        for kind in (ByInterface, ByDLPack):
            h, p = kind(numpy.full_like(given["h"], numpy.nan), stream), kind(given["p"], stream)
            h.write(given["h"])
            subset = cull.select("gradmatch", h=h, p=p, keep=0.3)
            h.write(numpy.full_like(given["h"], numpy.nan))
            close(self, subset, plain)

    def test_arrays_of_several_streams_are_waited_for(self):
        given = signals(dtype="float32")
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3)
        for first, second in ((Stream(), Stream()), (Stream(), None), (None, Stream())):
            h = ByInterface(given["h"], first)
            subset = cull.select("gradmatch", h=h, p=ByInterface(given["p"], second), keep=0.3)
            h.write(numpy.zeros_like(given["h"]))
            close(self, subset, plain)

    def test_results_are_complete_in_the_stream_they_name(self):
        loss = numpy.arange(8, dtype="float32")
        stream = Stream()
        away = ByInterface(loss, stream)
        subset = cull.select("top-loss", loss=away, keep=0.5)
        self.assertEqual(subset.rows.__cuda_array_interface__["stream"], stream.handle)
        copy = ByInterface(numpy.zeros(4, "int64"), stream)
        emulated._lib.emu_py_copy(copy.at, subset.rows._at, 32, stream.handle)
        self.assertEqual(copy.numpy().tolist(), [4, 5, 6, 7])
        self.assertIsNone(cull.select("top-loss", loss=ByInterface(loss), keep=0.5).rows.__cuda_array_interface__["stream"])

    def test_dlpack_is_told_which_stream_will_read(self):
        loss = ByDLPack(numpy.arange(8, dtype="float32"))
        cull.select("top-loss", loss=loss, keep=0.5)
        self.assertEqual(set(loss.asked), {1})

    def test_a_stream_in_capture_is_refused_and_not_spoiled(self):
        stream = Stream()
        loss = ByInterface(numpy.arange(8, dtype="float32"))
        loss.stream = stream
        self.assertEqual(stream.capture(True), 0)
        with self.assertRaisesRegex(NotImplementedError, "captured into a graph.*outside of the capture"):
            cull.select("top-loss", loss=loss, keep=0.5)
        self.assertEqual(stream.capture(False), 0)
        self.assertEqual(len(cull.select("top-loss", loss=loss, keep=0.5)), 4)

    def test_threads_take_turns(self):
        given = signals(dtype="float32")
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3)
        wrong = []

        def work():
            try:
                for _ in range(5):
                    stream = Stream()
                    read = there({key: given[key] for key in "hp"}, ByInterface, stream)
                    close(self, cull.select("gradmatch", keep=0.3, **read), plain)
            except BaseException as why:    # noqa: told below
                wrong.append(why)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


@unittest.skipIf(emulated.SKIP, emulated.SKIP)
class History(unittest.TestCase):
    def test_it_goes_where_the_signals_come_from_bit_for_bit(self):
        def run(kinds):
            selector = cull.Selector("sb remembered", dataset_size=M, batch=M, epochs=8, seed=1, keep=0.3)
            found = []
            for step, bring in enumerate(kinds):
                places = numpy.arange(M)
                subset = host(selector.select(places=bring(places)))
                loss = signals(seed=step, dtype="float32")["loss"][subset.rows]
                selector.observe(loss=bring(loss), places=bring(subset.places))
                selector.next_epoch()
                found.append(subset)
            return found

        def here(array):
            return array

        plain = run([here] * 6)
        for kinds in ([here, here, ByInterface, ByInterface, here, ByDLPack], [ByInterface] * 6):
            for subset, other in zip(run(kinds), plain):
                same(self, cull.Subset(subset.rows, subset.places, subset.weights.astype("float64"), None, 0, 0, 0), other)

    def test_a_state_of_the_device_is_a_state_of_the_host(self):
        loss = signals(dtype="float32")["loss"]
        how = dict(dataset_size=M, batch=M, epochs=4, seed=1, keep=0.3)
        away, here = (cull.Selector("top-loss stale", **how) for _ in range(2))
        away.select(loss=ByInterface(loss), places=numpy.arange(M))
        here.select(loss=loss, places=numpy.arange(M))
        self.assertEqual(away.state_dict(), here.state_dict())
        for selector in (away, here):
            selector.next_epoch()
        again = cull.Selector("top-loss stale", **how)
        again.load_state_dict(away.state_dict())
        copied = pickle.loads(pickle.dumps(away))
        expected = here.select(places=numpy.arange(M))
        for selector in (again, copied):
            close(self, selector.select(places=ByInterface(numpy.arange(M))), expected)

    def test_what_is_held_back_is_flushed_where_the_signals_lay(self):
        loss = signals(dtype="float32")["loss"]
        how = dict(dataset_size=4 * M, batch=M, seed=1)
        here, away = (cull.Selector("sb-stream", **how) for _ in range(2))
        for step in range(4):
            places = numpy.arange(M) + step * M
            close(self, away.select(loss=ByInterface(loss), places=places), here.select(loss=loss, places=places))
        close(self, away.flush(), here.flush())

    def test_a_backend_is_named_for_signals_of_the_host(self):
        given = signals()
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3)
        for backend in ("cuda", "cuda:0"):
            found = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3, backend=backend)
            self.assertIsInstance(found.rows, numpy.ndarray)
            close(self, found, plain, 1e-12)
        with self.assertRaisesRegex(ValueError, "a device is cuda, or cuda:1"):
            cull.Selector("sb", backend="cuda:x")

    def test_strategies_of_the_host_copy(self):
        self.assertIn("host signals", next(s for s in cull.strategies() if s.name == "infobatch").traits)
        selector = cull.Selector("infobatch", dataset_size=M, epochs=4, seed=1)
        other = cull.Selector("infobatch", dataset_size=M, epochs=4, seed=1)
        places, loss = numpy.arange(M), signals(dtype="float32")["loss"]
        for epoch in range(3):
            subset, found = other.select(places=places), selector.select(places=ByInterface(places))
            close(self, found, subset)
            other.observe(loss=loss[subset.rows], places=subset.places)
            selector.observe(loss=ByInterface(loss[subset.rows]), places=found.places)
            other.next_epoch(), selector.next_epoch()


@unittest.skipIf(emulated.SKIP, emulated.SKIP)
class Solvers(unittest.TestCase):
    def compare(self, found, plain, tolerance=1e-6):
        numpy.testing.assert_array_equal(found.rows.numpy(), plain.rows)
        numpy.testing.assert_allclose(found.weights.numpy(), plain.weights, rtol=tolerance, atol=tolerance)
        for told, expected in zip(found[2:], plain[2:]):
            self.assertTrue(told == expected or abs(told - expected) < 1e-9 * (1 + abs(expected)), (told, expected))

    def test_pursuits(self):
        rows = numpy.arange(3, 40, 3)
        for dtype, kind in (("float32", ByInterface), ("float64", ByDLPack)):
            given = signals(dtype=dtype)
            h, p = given["h"], given["p"]
            away = there({"h": h, "p": p}, kind)
            near = 1e-6 if dtype == "float32" else 1e-12
            for how in ({}, {"column": 1}, {"nonnegative": True, "pick": "signed"}, {"ridge": 0.1},
                        {"b": numpy.sin(numpy.arange(3.0 * D + 3)).reshape(3, D + 1)}, {"column": 0, "b": numpy.ones(D + 1)}):
                self.compare(cull.omp(budget=4, **away, **how), cull.omp(h=h, p=p, budget=4, **how), near)
            for bring in (lambda a: a, ByInterface):
                self.compare(cull.omp(budget=4, rows=bring(rows), **away), cull.omp(h=h, p=p, budget=4, rows=rows), near)
            b = numpy.arange(float(D))
            self.compare(cull.omp(g=kind(h), budget=4), cull.omp(g=h, budget=4), near)
            for bring in (lambda a: a, kind):
                self.compare(cull.omp(g=kind(h), b=bring(b), budget=4), cull.omp(g=h, b=b, budget=4), near)
            k, t, b2 = cull.gram(h, p)
            self.compare(cull.omp(kind(k), kind(t), 5, b2=b2), cull.omp(k, t, 5, b2=b2), 1e-12)
            self.compare(cull.omp(kind(k.astype(dtype)), t, 5, b2=b2), cull.omp(k.astype(dtype), t, 5, b2=b2), near)

    def test_facilities(self):
        given = signals(dtype="float32")
        h, p, near = given["h"], given["p"], numpy.abs(given["h"] @ given["h"].T)
        away = there({"h": h, "p": p})
        for how in ({}, {"greedy": "stochastic", "seed": 5}, {"rows": numpy.arange(5, 45)}):
            self.compare(cull.facility(budget=6, **away, **how), cull.facility(h=h, p=p, budget=6, **how))
        self.compare(cull.facility(ByInterface(near), 6), cull.facility(near, 6))

    def test_gram_matrices(self):
        given = signals(dtype="float32")
        goal = given["target"]
        for target in (None, {"h": goal["h"], "p": goal["p"]}):
            k, t, b2 = cull.gram(given["h"], given["p"], target=target)
            found = cull.gram(ByInterface(given["h"]), ByInterface(given["p"]), target=target and there(target))
            numpy.testing.assert_allclose(found[0].numpy(), k, rtol=1e-12)
            numpy.testing.assert_allclose(found[1].numpy(), t, atol=1e-12)
            self.assertAlmostEqual(found[2], b2, 12)
            self.assertEqual(found[0].shape, (M, M))

    def test_they_follow_the_stream_and_copy_little(self):
        given = signals(dtype="float32")
        plain = cull.omp(h=given["h"], p=given["p"], budget=4)
        stream = Stream()
        h, p = ByInterface(numpy.zeros_like(given["h"]), stream), ByInterface(given["p"], stream)
        h.write(given["h"])
        emulated.fetched()
        found = cull.omp(h=h, p=p, budget=4)
        self.assertLessEqual(emulated.fetched(), SMALL)
        h.write(numpy.zeros_like(given["h"]))
        self.compare(found, plain)

    def test_what_is_wrong_is_said(self):
        given = signals(dtype="float32")
        away = there({"h": given["h"], "p": given["p"]})
        for said, call in (
                ("row 51 of 48 asked for", lambda: cull.omp(budget=2, rows=ByInterface(numpy.array([1, 51])), **away)),
                ("asked for", lambda: cull.omp(budget=2, rows=ByInterface(numpy.array([1, -1])), **away)),
                ("rows has 51", lambda: cull.omp(budget=2, rows=numpy.array([1, 51]), **away)),
                ("p is on the host", lambda: cull.omp(h=away["h"], p=given["p"], budget=2)),
                ("h and p go together", lambda: cull.omp(h=away["h"], budget=2)),
                ("a budget of 49 for 48", lambda: cull.omp(budget=49, **away)),
                ("column=3, but p has 3", lambda: cull.omp(budget=2, column=3, **away)),
                ("b has the shape", lambda: cull.omp(budget=2, b=ByInterface(numpy.zeros(5)), **away)),
                ("not of type float64", lambda: cull.omp(budget=2, b=ByInterface(numpy.zeros((3, 7), "float32")), **away)),
                ("not square", lambda: cull.facility(away["h"], 2)),
                ("not square", lambda: cull.omp(away["h"], given["loss"], 2)),
                ("number below zero", lambda: cull.facility(ByInterface(-numpy.eye(4)), 2))):
            with self.subTest(said=said), self.assertRaisesRegex(ValueError, said):
                call()


def run_alone(code, **environment):
    """What a process of its own says, of one line of the tests."""
    path = os.pathsep.join([os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120,
                          env={**os.environ, "PYTHONPATH": path, **environment})
    return done.stdout + done.stderr


REFUSED = """
import numpy, cull
class There:
    shape = (4,)
    def __dlpack_device__(self): return 2, 0
    def __dlpack__(self, **_): raise AssertionError
try:
    cull.select("sb", loss=There())
except NotImplementedError as why:
    print(why)
"""


class Refusals(unittest.TestCase):
    def test_a_package_without_the_module_says_how_to_build_it(self):
        said = run_alone(REFUSED, CULL_MODULES=os.path.dirname(__file__))
        self.assertRegex(said, r"loss is on cuda:0, which cannot be used here: .*libcull_cuda_select.so is not where "
                               r"CULL_MODULES says.*Or give it loss.cpu\(\)")

    @unittest.skipIf(emulated.SKIP, emulated.SKIP)
    def test_what_a_machine_lacks_is_said_with_what_to_do(self):
        for lacks, said in (("driver", "no CUDA driver on this machine.*install NVIDIA's"),
                            ("newer driver", "knows CUDA 12.2, and this build is of 13.0: install a newer driver"),
                            ("device", "sees no device: look at nvidia-smi and at CUDA_VISIBLE_DEVICES"),
                            ("code", "compute capability 9.0.*build with CULL_CUDA_ARCHITECTURES=90")):
            self.assertRegex(run_alone(REFUSED, CULL_MODULES=emulated.FOLDER, CULL_EMU_LACKS=lacks),
                             f"loss is on cuda:0, which cannot be used here: .*{said}.*Or give it")

    @unittest.skipIf(emulated.SKIP, emulated.SKIP)
    def test_devices_are_told_apart_by_their_numbers(self):
        said = run_alone("import emulated, numpy, cull\n"
                         "a = numpy.arange(8, dtype='float32')\n"
                         "s = cull.Selector('top-loss', keep=.5)\n"
                         "for number in (1, 0, 1):\n"
                         "    found = s.select(loss=emulated.ByDLPack(a, number=number))\n"
                         "    print(found.rows.device, found.rows.tolist())\n"
                         "try:\n"
                         "    cull.select('rho', loss=emulated.ByDLPack(a), irreducible=emulated.ByDLPack(a, number=1))\n"
                         "except ValueError as why:\n"
                         "    print(why)\n", CULL_EMU_DEVICES="2")
        self.assertEqual(said.splitlines(), [f"cuda:{n} [4, 5, 6, 7]" for n in (1, 0, 1)] +
                         ["loss is on cuda:0, irreducible on cuda:1: bring them to one device"])

    @unittest.skipIf(emulated.SKIP, emulated.SKIP)
    def test_tensors_of_torch_are_worked_on_in_its_current_stream(self):
        """torch's own way, with an imitation of the few things that are asked of it (fakes/torch)."""
        said = run_alone("import sys; sys.path.insert(0, %r)\nimport torch_trial" % FAKES)
        self.assertEqual(said.splitlines()[-1:], ["all is well"], said)


if __name__ == "__main__":
    unittest.main()
