"""Arrays of any make go in, and what cannot be read is refused with a sentence."""
import gc
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import numpy

import cull
from support import M, ROOT, same, signals

try:
    import torch
except ImportError:
    torch = None


class Foreign:
    """An array of another library, known by DLPack alone."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.device


class Numpy(unittest.TestCase):
    def test_float32_and_float64_are_read_where_they_lie(self):
        from cull import _abi, _arrays
        for dtype in ("float32", "float64"):
            array = numpy.zeros((3, 2), dtype)
            tensor = _abi.cull_tensor()
            held = _arrays.View(tensor, "h", 2).set(array)
            self.assertIs(held, array)
            self.assertEqual(tensor.data, array.ctypes.data)

    def test_other_layouts_are_copied_and_give_the_same(self):
        given = signals()
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3)
        wide = numpy.zeros((2 * M, 12))
        wide[::2, ::2] = given["h"]
        same(self, cull.select("gradmatch", h=wide[::2, ::2], p=numpy.asfortranarray(given["p"]), keep=0.3), plain)
        same(self, cull.select("gradmatch", h=given["h"].astype(">f8"), p=given["p"].tolist(), keep=0.3), plain)
        same(self, cull.select("gradmatch", h=given["h"][::-1][::-1], p=given["p"], keep=0.3), plain)
        frozen = given["h"].copy()
        frozen.flags.writeable = False
        same(self, cull.select("gradmatch", h=frozen, p=given["p"], keep=0.3), plain)

    @unittest.skipUnless(hasattr(numpy, "from_dlpack"), "this numpy reads no DLPack")
    def test_arrays_of_others_are_read_by_dlpack(self):
        given = signals()
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3)
        same(self, cull.select("gradmatch", h=Foreign(given["h"]), p=Foreign(given["p"]), keep=0.3), plain)

    def test_half_floats_are_widened_exactly(self):
        loss = signals()["loss"].astype("float16")
        same(self, cull.select("sb", loss=loss, keep=0.3), cull.select("sb", loss=loss.astype("float32"), keep=0.3))

    def test_integers_of_any_kind_are_labels_and_places(self):
        given = signals()
        plain = cull.select("craig", h=given["h"], p=given["p"], labels=given["labels"], keep=0.3)
        for dtype in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", ">i4"):
            with self.subTest(dtype):
                same(self, cull.select("craig", h=given["h"], p=given["p"], labels=given["labels"].astype(dtype), keep=0.3),
                     plain)
                chosen = cull.select("top-loss", loss=given["loss"], places=numpy.arange(M)[::-1].astype(dtype),
                                     dataset_size=M, keep=0.25)
                numpy.testing.assert_array_equal(chosen.places, M - 1 - chosen.rows)

    def test_arrays_are_not_written_and_not_kept(self):
        loss = signals()["loss"]
        copy, counted = loss.copy(), sys.getrefcount(loss)
        selector = cull.Selector("sb", keep=0.3)
        subset = selector.select(loss=loss, places=numpy.arange(M))
        self.assertEqual(sys.getrefcount(loss), counted)
        numpy.testing.assert_array_equal(loss, copy)
        before = subset.rows.copy(), subset.weights.copy()
        for _ in range(20):
            selector.select(loss=numpy.random.default_rng(1).uniform(size=3000))
        del selector
        gc.collect()
        numpy.testing.assert_array_equal(subset.rows, before[0])
        numpy.testing.assert_array_equal(subset.weights, before[1])

    def test_a_subset_is_a_sequence_of_pairs(self):
        subset = cull.select("top-loss", loss=numpy.array([0.5, 4, 1, 3]), keep=0.5)
        self.assertEqual(list(subset), [(1, 1.0), (3, 1.0)])
        self.assertEqual((len(subset), subset.picked, subset.flags, subset.groups), (2, 2, 0, 0))
        self.assertEqual(repr(subset), "<cull.Subset: 2 examples>")
        self.assertEqual((subset.rows.dtype, subset.places.dtype, subset.weights.dtype), ("int64", "int64", "float64"))
        self.assertFalse(subset.filled or subset.short or subset.fell_back)
        lazy = cull.select("gradmatch", h=numpy.ones((8, 2)), p=numpy.zeros((8, 2)), keep=0.5)
        self.assertTrue(lazy.fell_back)
        short = cull.select("gradmatch", h=numpy.ones((8, 2)), p=numpy.ones((8, 2)), keep=0.5, short="accept")
        self.assertTrue(short.short and len(short) < 4)
        filled = cull.select("gradmatch", h=numpy.ones((8, 2)), p=numpy.ones((8, 2)), keep=0.5)
        self.assertTrue(filled.filled and filled.picked < len(filled) == 4)


class Refused(unittest.TestCase):
    """Each with the words of its sentence, its status and its subject."""

    def refused(self, words, status, call, kind=ValueError, subject=None):
        with self.assertRaisesRegex(kind, words) as caught:
            call()
        self.assertIsInstance(caught.exception, cull.CullError)
        self.assertEqual(caught.exception.status, status)
        if subject is not None:
            self.assertEqual(caught.exception.subject, subject)

    def test_arrays_that_cannot_be_read(self):
        given, bad = signals(), "BAD_ARGUMENT"
        loss, h, p = given["loss"], given["h"], given["p"]
        self.refused("loss is of type int64", bad, lambda: cull.select("sb", loss=numpy.arange(4)), subject="loss")
        self.refused("loss is of type complex128", bad, lambda: cull.select("sb", loss=loss * 1j), subject="loss")
        self.refused("loss is of type bool", bad, lambda: cull.select("sb", loss=loss > 1), subject="loss")
        self.refused("loss is no array|loss is of type", bad, lambda: cull.select("sb", loss=[object()]), subject="loss")
        self.refused("labels is of type float64", bad, lambda: cull.select("craig", h=h, p=p, labels=loss))
        self.refused("loss has 2 dimensions, not 1", bad, lambda: cull.select("sb", loss=h), subject="loss")
        self.refused("loss has 0 dimensions, not 1", bad, lambda: cull.select("sb", loss=numpy.float64(1), count=1))
        self.refused("h has 1 dimension, not 2", bad, lambda: cull.select("gradmatch", h=loss, p=p), subject="h")
        self.refused("p", bad, lambda: cull.select("gradmatch", h=h, p=p[:-1]))
        self.refused("no examples", bad, lambda: cull.Selector("sb").select(loss=numpy.zeros(0)))
        self.refused("places is of type float64", bad, lambda: cull.select("sb", loss=loss, places=loss, dataset_size=M))
        self.refused("places has -1 to 46", bad,
                     lambda: cull.select("sb", loss=loss, places=numpy.arange(M) - 1, dataset_size=M))
        self.refused("not places", bad,
                     lambda: cull.select("sb", loss=loss, places=numpy.arange(M) << 33, dataset_size=M))
        self.refused("place", bad, lambda: cull.select("sb", loss=loss, places=numpy.arange(M), dataset_size=M - 1))
        self.refused("places are of 47", bad,
                     lambda: cull.select("sb", loss=loss, places=numpy.arange(M - 1), dataset_size=M))
        self.refused("count=5, but", bad, lambda: cull.select("sb", loss=loss, count=5, dataset_size=M))
        self.refused("dataset_size", bad, lambda: cull.select("sb", loss=loss, places=numpy.arange(M)))
        self.refused(r"on cuda:1, which cannot be used here: .*Or give it loss.cpu\(\)", "UNSUPPORTED",
                     lambda: cull.select("sb", loss=Foreign(loss, (2, 1)), count=M), NotImplementedError)
        self.refused("unseen is of type float64", bad, lambda: cull.select("sb", loss=loss, unseen=loss))
        self.refused("target is a mapping", bad, lambda: cull.select("glister", h=h, p=p, target=h), subject="target")
        self.refused("target is a mapping", bad, lambda: cull.gram(h, p, target={"h": h}))
        self.refused("a target block has", bad, lambda: cull.select("glister", h=h, p=p, target={"x": h}))
        self.refused(r"target block are of \[11, 12\]", bad, lambda: cull.select(
            "glister", h=h, p=p, target={**given["target"], "labels": given["target"]["labels"][:-1]}))

    def test_numbers_that_are_not_finite(self):
        for value in (numpy.nan, numpy.inf):
            loss = signals()["loss"]
            loss[17] = value
            self.refused("17", "NOT_FINITE", lambda: cull.select("sb", loss=loss))

    def test_signals_that_are_missing(self):
        given = signals()
        self.refused("loss", "BAD_ARGUMENT", lambda: cull.select("sb", h=given["h"]))
        self.refused("p", "BAD_ARGUMENT", lambda: cull.select("gradmatch", h=given["h"]))
        self.refused("target", "BAD_ARGUMENT", lambda: cull.select("glister", h=given["h"], p=given["p"],
                                                                   labels=given["labels"]))
        self.refused("how many examples", "BAD_ARGUMENT", lambda: cull.select("random"))
        self.refused("how many examples", "BAD_ARGUMENT", lambda: cull.Selector("random").select())
        self.refused("told nothing", "BAD_ARGUMENT", lambda: cull.Selector("random").observe())

    def test_options_that_cannot_be(self):
        loss = signals()["loss"]
        for keep in (0, -1, 1.5, "many", float("nan")):
            with self.subTest(keep=keep):
                self.refused("keep", "BAD_OPTION", lambda: cull.select("sb", loss=loss, keep=keep), subject="keep")
        self.refused("kep", "UNKNOWN_OPTION", lambda: cull.select("sb", loss=loss, kep=1), subject="kep")
        self.refused("trim-weigt", "UNKNOWN_OPTION", lambda: cull.select("sb", loss=loss, trim_weigt=1))
        self.refused("keep", "BAD_OPTION", lambda: cull.select("sb keep=0.3", loss=loss, keep=0.5))
        self.refused("bs", "UNKNOWN_STRATEGY", lambda: cull.select("bs", loss=loss), subject="bs")
        self.refused("", "BAD_OPTION", lambda: cull.select("sb forgotten", loss=loss))
        self.refused("", "BAD_OPTION", lambda: cull.select("", loss=loss))
        self.refused("a strategy is a text", "BAD_ARGUMENT", lambda: cull.select(None, loss=loss))
        self.refused("a strategy is a text", "BAD_ARGUMENT", lambda: cull.select("sb\0x", loss=loss))
        self.refused("beta", "BAD_OPTION", lambda: cull.select("sb", loss=loss, beta=object()))

    def test_numbers_of_the_setting_that_cannot_be(self):
        loss, bad = signals()["loss"], "BAD_ARGUMENT"
        self.refused("a budget of 49 for 48", bad, lambda: cull.select("sb", loss=loss, budget=49))
        self.refused("budget=0", bad, lambda: cull.select("sb", loss=loss, budget=0))
        self.refused("budget=2.5", bad, lambda: cull.select("sb", loss=loss, budget=2.5))
        self.refused("seed=-1", bad, lambda: cull.select("sb", loss=loss, seed=-1))
        self.refused("batch", bad, lambda: cull.Selector("sb", dataset_size=10, batch=11))
        self.refused("dataset_size=0", bad, lambda: cull.Selector("sb", dataset_size=0))
        self.refused("no backend", "UNSUPPORTED", lambda: cull.Selector("sb", backend="gpu"), NotImplementedError)
        self.refused("epochs", "BAD_OPTION", lambda: cull.Selector("infobatch", dataset_size=10))
        for text in ("sb remembered", "sb losses=stale", "grad-match", "infobatch", "sb remembered scope=pool"):
            with self.subTest(text):
                self.refused("say dataset_size=", bad, lambda: cull.Selector(text), subject="dataset_size")
        for text in ("sb-stream", "kath18", "sb mode=scaled", "random rounding=alternate"):
            with self.subTest(text):
                self.refused("say batch=", bad, lambda: cull.Selector(text, dataset_size=9, epochs=3), subject="batch")
        self.refused("say batch=", bad, lambda: cull.Selector("sb", dataset_size=9, epochs=3, end=0.5), subject="batch")
        self.refused("say dataset_size=", bad, lambda: cull.Selector("sb", batch=9, epochs=3, end=0.5))
        self.assertEqual(cull.Selector("sb", epochs=4, steps=10, end=0.5).needs(step=20, epoch=2).action, "all")


@unittest.skipIf(torch is None, "torch is not there")
class Tensors(unittest.TestCase):
    def test_tensors_choose_what_arrays_choose(self):
        given = signals(dtype="float32")
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.3)
        made = cull.select("gradmatch", h=torch.from_numpy(given["h"]), p=torch.from_numpy(given["p"]), keep=0.3)
        self.assertIsInstance(made.rows, torch.Tensor)
        self.assertEqual((made.rows.dtype, made.places.dtype, made.weights.dtype),
                         (torch.int64, torch.int64, torch.float32))
        self.assertEqual(made.rows.tolist(), plain.rows.tolist())
        numpy.testing.assert_array_equal(made.weights.numpy(), plain.weights.astype("float32"))
        double = cull.select("gradmatch", h=torch.from_numpy(given["h"]).double(), p=torch.from_numpy(given["p"]), keep=0.3)
        self.assertEqual(double.weights.dtype, torch.float64)
        mixed = cull.select("gradmatch", h=given["h"], p=torch.from_numpy(given["p"]), keep=0.3)
        self.assertIsInstance(mixed.weights, torch.Tensor)
        self.assertIsInstance(cull.Selector("random").select(count=9).rows, numpy.ndarray)
        self.assertIsInstance(cull.select("random", places=torch.arange(9), dataset_size=9).rows, torch.Tensor)

    def test_a_tensor_that_was_refused_leaves_no_mark(self):
        selector = cull.Selector("random", dataset_size=9)
        with self.assertRaises(ValueError):
            selector.select(places=torch.rand(9))
        self.assertIsInstance(selector.select(count=9).rows, numpy.ndarray)

    def test_any_tensor_on_the_host_is_read(self):
        loss = torch.rand(M, generator=torch.Generator().manual_seed(1))
        plain = cull.select("sb", loss=loss, keep=0.3)
        grown = (loss.clone().requires_grad_() * 1)
        for other in (torch.stack([loss, loss], 1)[:, 0], grown, torch.nn.Parameter(loss.clone())):
            same(self, cull.select("sb", loss=other, keep=0.3), plain)
        half = loss.to(torch.bfloat16)
        same(self, cull.select("sb", loss=half, keep=0.3), cull.select("sb", loss=half.float(), keep=0.3))
        with torch.inference_mode():
            same(self, cull.select("sb", loss=loss * 1, keep=0.3), plain)
        given = signals()
        labels = torch.from_numpy(given["labels"])
        kept = cull.select("craig", h=given["h"], p=given["p"], labels=given["labels"], keep=0.3)
        for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
            same(self, cull.select("craig", h=given["h"], p=given["p"], labels=labels.to(dtype), keep=0.3), kept)

    def test_what_is_flushed_is_of_the_kind_that_came(self):
        selector = cull.Selector("sb-stream", dataset_size=M, batch=32, seed=1)
        selector.select(loss=torch.rand(M), places=torch.arange(M))
        rest = selector.flush()
        self.assertIsInstance(rest.places, torch.Tensor)
        self.assertEqual(rest.weights.dtype, torch.float32)

    def test_tensors_that_cannot_be_read(self):
        for bad, words in ((torch.zeros(4, dtype=torch.int64), "loss is of type int64"),
                           (torch.zeros(4, dtype=torch.complex64), "loss is of type complex64"),
                           (torch.zeros(4).to_sparse(), "sparse"), (torch.zeros(2, 2), "2 dimensions"),
                           (torch.empty(4, device="meta"), "loss is on meta")):
            with self.subTest(words), self.assertRaisesRegex(cull.CullError, words):
                cull.Selector("sb").select(loss=bad)
        with self.assertRaisesRegex(NotImplementedError, r"on meta.*on the host and on CUDA devices.*loss.cpu\(\)"):
            cull.Selector("sb").select(loss=torch.empty(4, device="meta"))
        with self.assertRaisesRegex(ValueError, "places"):
            cull.Selector("random").select(places=torch.zeros(4, dtype=torch.bfloat16))
        with self.assertRaisesRegex(NotImplementedError, "places is on meta"):
            cull.Selector("random").select(places=torch.empty(4, device="meta", dtype=torch.int64))


class Alone(unittest.TestCase):
    def test_torch_is_not_imported_by_cull(self):
        code = "import sys, cull, numpy; cull.select('sb', loss=numpy.ones(4)); sys.exit('torch' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_the_list_of_strategies_is_the_library_s(self):
        found = {s.name: s for s in cull.strategies()}
        self.assertEqual(len(found), len(cull.strategies()))
        self.assertEqual(found["gradmatch"].signals, {"h", "p"})
        self.assertIn("takes remembered", found["sb"].traits)
        self.assertEqual((found["sb"].runs, found["craig"].runs, found["infobatch"].runs), ("step", "period", "epoch"))
        trim = next(o for o in found["sb"].options if o.key == "trim-weight")
        self.assertEqual((trim.type, trim.default, trim.low, trim.high), ("real", "0.05", 0, 1))
        mode = next(o for o in found["sb"].options if o.key == "mode")
        self.assertEqual(mode.words, ("fixed", "scaled"))

    def test_a_strategy_in_a_shared_object_is_named_by_its_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "median.so")
            subprocess.run(["cc", "-std=c17", "-shared", "-fPIC", "-I", str(ROOT / "include"),
                            str(ROOT / "examples" / "strategy_median.c"), "-o", path], check=True)
            selector = cull.Selector(path, keep=0.2, memory=0)
            chosen = selector.select(loss=numpy.arange(25.0))
            self.assertEqual(chosen.rows.tolist(), [10, 11, 12, 13, 14])
            again = pickle.loads(pickle.dumps(selector))
            self.assertEqual(again.select(loss=numpy.arange(25.0)).rows.tolist(), chosen.rows.tolist())
            with self.assertRaisesRegex(ValueError, "memry"):
                cull.Selector(path, memry=1)
        with self.assertRaises(cull.CullError):
            cull.Selector("./nowhere.so")

    def test_options_are_keywords(self):
        selector = cull.Selector("sb remembered keep=0.3", dataset_size=9, trim=0.1, trim_weight=numpy.float32(0.5))
        self.assertEqual((selector.name, selector.options["trim-weight"], selector.options["keep"]),
                         ("sb remembered", "0.5", "0.3"))
        self.assertEqual(cull.Selector("kath18", batch=3, variable=False).options["variable"], "false")
        self.assertIn("keep=0.3", repr(selector))


if __name__ == "__main__":
    unittest.main()
