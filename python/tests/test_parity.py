"""Every strategy through Python chooses what the program chooses, to the bit."""
import unittest

import numpy

import cull
from support import M, Command, read_by, same, signals

VARIANTS = {
    "gradmatch": ["gradmatch", "gradmatch nonnegative=omp", "gradmatch match=validation", "gradmatch short=accept"],
    "sb": ["sb", "sb beta=balles"],
    "grad-match": [f"grad-match scope={scope}" for scope in ("class-gradient", "class", "all", "batch")],
    "craig": ["craig", "craig scope=batch", "craig greedy=stochastic"],
    "glister": ["glister", "glister greedy=r-greedy", "glister greedy=naive"],
    "kath18": ["kath18 variable=false", "kath18 variable=false score=gnorm-last", "kath18 score=loss variable=false"],
}


class Parity(unittest.TestCase):
    def setUp(self):
        self.command = Command()
        self.addCleanup(self.command.close)

    def hold(self, text, dtype, **more):
        given, setting = signals(dtype=dtype), dict(dataset_size=M, batch=8, epochs=20, seed=3, **more)
        selector = cull.Selector(text, **setting)
        read = read_by(selector, given)
        flags = self.command.save(read)
        option = [f"keep={more['keep']}"] if "keep" in more else []
        theirs = self.command.subset("--strategy", *text.split(), *option, *flags, "--pool", M, "--batch", 8,
                                     "--epochs", 20, "--seed", 3)
        ours = selector.select(**read, **({} if read else {"count": M}))
        self.assertGreater(len(ours), 0)
        same(self, ours, theirs)
        once = cull.select(text, **read, **({} if read else {"count": M}), **setting)
        same(self, once, theirs)

    def test_every_strategy_chooses_what_the_program_chooses(self):
        held = 0
        for strategy in cull.strategies():
            keep = {} if "no budget" in strategy.traits else {"keep": 0.3}
            for text in VARIANTS.get(strategy.name, [strategy.name]):
                for dtype in ("float32", "float64"):
                    with self.subTest(text, dtype=dtype):
                        self.hold(text, dtype, **keep)
                        held += 1
        self.assertGreaterEqual(held, 2 * len(cull.strategies()))

    def test_threads_and_the_plain_backend_choose_the_same(self):
        given = signals()
        for name in ("gradmatch", "grad-match", "craig"):
            read = read_by(cull.Selector(name, dataset_size=M, batch=8), given)
            one = cull.select(name, **read, keep=0.3, seed=5)
            same(self, cull.select(name, **read, keep=0.3, seed=5, threads=3), one)
        plain = cull.select("sb", loss=given["loss"], keep=0.3, seed=5, backend="ref")
        same(self, plain, cull.select("sb", loss=given["loss"], keep=0.3, seed=5))

    def test_a_run_of_remembered_losses_is_the_program_s(self):
        """Steps with a history, the program's kept in a file between commands."""
        for text in ("sb remembered keep=0.5", "top-loss stale keep=0.5", "sb remembered percentile=pool keep=0.5"):
            with self.subTest(text):
                self.walk(text)
                Command.close(self.command)
                self.setUp()

    def walk(self, text):
        given, batch = signals(), 16
        selector = cull.Selector(text, dataset_size=M, batch=batch, epochs=3, seed=2)
        run = ["--strategy", *text.split(), "--pool", M, "--batch", batch, "--epochs", 3, "--seed", 2, "--state", "s"]
        for epoch in range(3):
            for first in range(0, M, batch):
                places = numpy.arange(first, first + batch)
                read = {name: given[name][places] for name in selector.needs().signals}
                moment = ["--step", selector.step, "--epoch", epoch]
                observe = selector.needs().observe
                flags = self.command.save({**read, "places": places})
                ours = selector.select(**read, places=places)
                theirs = self.command.subset(*run, *moment, *flags)
                same(self, ours, theirs)
                if observe:
                    loss = given["loss"][ours.places] / (1 + epoch)
                    numpy.savez(self.command.path("trained.npz"), place=ours.places, loss=loss)
                    self.command.run(*run, *moment, "--observe", "trained.npz")
                    selector.observe(loss=loss, places=ours.places)
            selector.next_epoch()


if __name__ == "__main__":
    unittest.main()
