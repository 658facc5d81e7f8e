"""A selector through a run: needs, steps and epochs, observe, flush, its state."""
import pickle
import threading
import unittest
import warnings

import numpy

import cull
from support import M, read_by, same, signals


def walk(selector, given, steps, batch=16):
    """Some steps of a run; the subsets."""
    chosen = []
    for _ in range(steps):
        first = selector.step % (M // batch) * batch
        if selector.step and first == 0:
            selector.next_epoch()
        places = numpy.arange(first, first + batch)
        needs = selector.needs()
        if needs.action in ("batch", "all"):
            read = {name: given[name][places] for name in needs.signals}
            chosen.append(selector.select(**read, places=places))
        elif needs.action == "pool":
            chosen.append(selector.select(**read_by(selector, given), count=M))
        else:
            selector.advance()
        if needs.observe:
            at = places if needs.action == "keep" else chosen[-1].places
            seen = {name: given[name][at] for name in needs.observed}
            selector.observe(**seen, places=at)
    return chosen


class Loop(unittest.TestCase):
    def test_needs_says_what_to_bring_and_asking_changes_nothing(self):
        selector = cull.Selector("gradmatch", dataset_size=1000, batch=100, keep=0.3)
        needs = selector.needs()
        self.assertEqual((needs.action, needs.signals, needs.count, needs.budget), ("batch", {"h", "p"}, 100, 30))
        self.assertFalse(needs.observe or needs.target or needs.running)
        self.assertEqual(selector.needs(), needs)
        self.assertEqual((selector.step, selector.epoch), (0, 0))
        pool = cull.Selector("glister", dataset_size=1000, batch=100, keep=0.3).needs()
        self.assertEqual((pool.action, pool.count, pool.budget, pool.running), ("pool", 1000, 300, True))
        self.assertEqual(pool.target, {"h", "logits", "labels"} & pool.target | {"h"})
        self.assertIsNone(cull.Selector("sb", keep=0.3).needs().count)

    def test_reads_is_what_the_whole_run_may_ask_for(self):
        late = cull.Selector("gradmatch", dataset_size=100, batch=10, epochs=4, keep=0.3, start=0.5)
        self.assertEqual((late.needs().signals, late.reads.signals), (frozenset(), {"h", "p"}))
        self.assertEqual(cull.Selector("sb remembered", dataset_size=9).reads.observed, {"loss"})
        warm = cull.Selector("glister", dataset_size=100, epochs=40, keep=0.3, warm=0.5)
        self.assertEqual((warm.needs().action, warm.needs().target), ("all", frozenset()))
        self.assertTrue(warm.reads.target)

    def test_a_window_trains_all_outside_of_it(self):
        selector = cull.Selector("sb", dataset_size=100, batch=10, epochs=4, keep=0.3, start=0.5)
        self.assertEqual(selector.needs(step=19, epoch=1).action, "all")
        self.assertEqual(selector.needs(step=20, epoch=2).action, "batch")
        selector.advance()
        self.assertEqual(selector.step, 1)

    def test_select_counts_steps_and_goes_on_from_those_given(self):
        selector, loss = cull.Selector("sb", keep=0.5, seed=1), signals()["loss"]
        first, second = selector.select(loss=loss), selector.select(loss=loss)
        self.assertEqual(selector.step, 2)
        self.assertFalse(numpy.array_equal(first.rows, second.rows))
        same(self, selector.select(loss=loss, step=0), first)
        self.assertEqual(selector.step, 1)
        same(self, selector.select(loss=loss), second)
        selector.select(loss=loss, epoch=5)
        self.assertEqual(selector.epoch, 5)

    def test_signals_of_different_lengths_are_named(self):
        selector = cull.Selector("gradmatch", keep=0.5)
        with self.assertRaisesRegex(ValueError, "h has 4 rows, p has 5"):
            selector.select(h=numpy.zeros((4, 3)), p=numpy.zeros((5, 2)))
        given = signals()
        self.assertGreater(len(selector.select(h=given["h"], p=given["p"])), 0)

    def test_seeds_have_64_bits(self):
        loss = signals()["loss"]
        found = {tuple(cull.select("sb", loss=loss, keep=0.5, seed=seed).rows) for seed in (2**63 - 1, 2**63, 2**64 - 1)}
        self.assertEqual(len(found), 3)
        for seed, words in ((2**64, r"not below 2\*\*64"), (-1, "not 0 or more")):
            with self.assertRaisesRegex(ValueError, words):
                cull.Selector("sb", seed=seed)

    def test_a_failed_call_counts_nothing(self):
        selector = cull.Selector("sb", keep=0.5)
        with self.assertRaises(cull.CullError):
            selector.select(loss=numpy.array([1, numpy.nan]))
        self.assertEqual(selector.step, 0)

    def test_forgetting_observe_is_told_at_the_second_step(self):
        for text, names in (("sb remembered", "loss="), ("kath18 score=loss", "loss=")):
            with self.subTest(text):
                selector = cull.Selector(text, dataset_size=M, batch=16, keep=0.5)
                places = numpy.arange(selector.needs().count)
                selector.select(places=places)
                with self.assertRaisesRegex(cull.CullError, r"call observe\(" + names) as caught:
                    selector.select(places=places)
                self.assertEqual(caught.exception.subject, "observe")
                with self.assertRaises(cull.CullError):
                    selector.advance()
                selector.observe(loss=numpy.ones(len(places)), places=places)
                selector.select(places=places)
        plain = cull.Selector("sb", keep=0.5)
        plain.select(loss=numpy.ones(4))
        plain.select(loss=numpy.ones(4))

    def test_remembered_losses_steer_the_choice(self):
        selector = cull.Selector("top-loss remembered", dataset_size=M, batch=M, keep=0.25)
        places = numpy.arange(M)
        selector.select(places=places)
        selector.observe(loss=numpy.where(places < M // 4, 2.0, 1.0), places=places)
        numpy.testing.assert_array_equal(selector.select(places=places).places, places[:M // 4])

    def test_flush_gives_what_a_stream_still_holds(self):
        selector = cull.Selector("sb-stream", dataset_size=M, batch=16, seed=1)
        held = [s for s in walk(selector, signals(), 9) if len(s)]
        for subset in held:
            self.assertEqual(len(subset) % 16, 0)
        rest = selector.flush()
        self.assertTrue(0 < len(rest) < 16)
        self.assertTrue((rest.rows == -1).all())
        self.assertEqual(len(selector.flush()), 0)
        self.assertTrue(any((s.rows == -1).any() for s in held))

    def test_whole_minibatches_come_in_groups(self):
        given = signals()
        subset = cull.select("grad-match", h=given["h"], p=given["p"], labels=given["labels"], scope="batch", batch=8,
                             keep=0.5)
        self.assertEqual((subset.groups, len(subset)), (3, 24))
        parts = subset.batches()
        self.assertEqual([len(part) for part in parts], [8, 8, 8])
        self.assertEqual(sorted(numpy.concatenate([part.rows for part in parts])), sorted(subset.rows))
        self.assertIn("3 batches", repr(subset))

    def test_distinct_selectors_work_in_threads_at_once(self):
        given, alone, found = signals(), {}, {}
        for seed in range(4):
            alone[seed] = walk(cull.Selector("gradmatch", dataset_size=M, batch=16, keep=0.3, seed=seed), given, 30)

        def work(seed):
            selector = cull.Selector("gradmatch", dataset_size=M, batch=16, keep=0.3, seed=seed, threads=2)
            found[seed] = walk(selector, given, 30)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in alone]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed, chosen in alone.items():
            for ours, theirs in zip(found[seed], chosen):
                same(self, ours, theirs)

    def test_one_selector_in_threads_loses_nothing(self):
        selector, loss = cull.Selector("sb", keep=0.5), signals()["loss"]
        threads = [threading.Thread(target=lambda: [selector.select(loss=loss) for _ in range(200)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(selector.step, 800)


    def test_epochs_that_nobody_counts_are_told_once(self):
        loss, places = numpy.ones(M), numpy.arange(M)
        selector = cull.Selector("sb stale", dataset_size=M, batch=M)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for _ in range(5):
                selector.select(loss=loss, places=places)
        self.assertEqual([str(w.message)[:24] for w in told], ["sb stale goes by epochs,"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for text, counted in (("sb stale", True), ("sb", False)):
                selector = cull.Selector(text, dataset_size=M, batch=M)
                for _ in range(5):
                    selector.select(loss=loss, places=places)
                    if counted:
                        selector.next_epoch()

    def test_a_target_that_failed_leaves_nothing_behind(self):
        given = signals()
        selector = cull.Selector("glister", dataset_size=M, keep=0.3)
        read = read_by(selector, given)
        with self.assertRaises(ValueError):
            selector.select(**{**read, "target": {**read["target"], "labels": numpy.zeros(3, int)}})
        with self.assertRaises(ValueError):
            selector.select(**{**read, "target": {"h": read["target"]["h"]}})
        same(self, selector.select(**read), cull.select("glister", **read, keep=0.3))


class State(unittest.TestCase):
    TEXTS = ("sb", "sb remembered", "sb remembered percentile=pool trim=0.1", "top-loss stale predict=trend", "sb-stream",
             "kath18", "gradmatch", "random", "sb remembered scope=pool")

    def make(self, text, **more):
        return cull.Selector(text, **{"dataset_size": M, "batch": 16, "epochs": 9, "seed": 4, **more})

    def test_a_restored_selector_goes_on_bit_for_bit(self):
        given = signals()
        for text in self.TEXTS:
            with self.subTest(text):
                whole = self.make(text)
                expected = walk(whole, given, 15)
                first = self.make(text)
                before = walk(first, given, 7)
                state = pickle.loads(pickle.dumps(first.state_dict()))
                other = self.make(text)
                other.load_state_dict(state)
                self.assertEqual((other.step, other.epoch), (first.step, first.epoch))
                after = walk(other, given, 8)
                self.assertEqual(len(before) + len(after), len(expected))
                for ours, theirs in zip(before + after, expected):
                    same(self, ours, theirs)

    def test_a_pickled_selector_is_the_same_selector(self):
        given = signals()
        one = self.make("sb remembered", keep=0.4)
        walk(one, given, 4)
        other = pickle.loads(pickle.dumps(one))
        for ours, theirs in zip(walk(other, given, 5), walk(one, given, 5)):
            same(self, ours, theirs)

    def test_what_observe_owes_is_part_of_the_state(self):
        one = self.make("sb remembered")
        one.select(places=numpy.arange(16))
        other = self.make("sb remembered")
        other.load_state_dict(one.state_dict())
        with self.assertRaisesRegex(cull.CullError, "observe"):
            other.select(places=numpy.arange(16))

    def test_another_s_state_is_refused_and_nothing_is_changed(self):
        given = signals()
        state = self.make("sb remembered").state_dict()
        cases = {"another strategy": self.make("top-loss remembered"), "another option": self.make("sb remembered", keep=.2),
                 "another seed": self.make("sb remembered", seed=5),
                 "another set": self.make("sb remembered", dataset_size=M + 1)}
        for name, selector in cases.items():
            with self.subTest(name):
                before = selector.state_dict()
                with self.assertRaises(ValueError) as caught:
                    selector.load_state_dict(state)
                self.assertEqual(caught.exception.status, "BAD_STATE")
                self.assertEqual(selector.state_dict(), before)
        selector = self.make("sb remembered")
        walk(selector, given, 3)
        good = selector.state_dict()
        for name, bad in {"cut": {**good, "history": good["history"][:-1]}, "empty": {},
                          "newer": {**good, "version": 9}, "no step": {**good, "step": "x"},
                          "no bytes": {**good, "history": None}}.items():
            with self.subTest(name), self.assertRaises(cull.CullError) as caught:
                selector.load_state_dict(bad)
            self.assertIn(caught.exception.status, ("BAD_STATE", "BAD_ARGUMENT"))
            self.assertEqual(selector.state_dict(), good)


if __name__ == "__main__":
    unittest.main()
