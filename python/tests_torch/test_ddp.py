"""Two processes on gloo decide and train as one with all rows."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

from cull.torch import LossMemorySampler
from torch_support import assert_close

HERE = pathlib.Path(__file__).parent
CASES = ("sb", "sb-norm", "gradmatch", "remembered", "kath18", "one")


def run(case, world, folder):
    started = [subprocess.Popen([sys.executable, str(HERE / "ddp_worker.py"), case, str(rank),
                                 str(world), folder], cwd=HERE, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True) for rank in range(world)]
    told = [one.communicate(timeout=120)[0] for one in started]
    if any(one.returncode for one in started):
        raise AssertionError("\n".join(told))


@unittest.skipUnless(torch.distributed.is_available(), "this torch has no torch.distributed")
class Together(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.folder = cls.room.name
        cases = ",".join(CASES) + ",samplers-95,samplers-96"
        run(cases, 2, cls.folder)
        run(cases + ",resumed-remembered", 1, cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def seen(self, case, world, rank=0):
        return torch.load(f"{self.folder}/{case}-{world}-{rank}.pt")

    def same_steps(self, case, found, wanted):
        for (rows, weights, grads), (rows1, weights1, grads1) in zip(found, wanted):
            self.assertEqual(rows.tolist(), rows1.tolist(), case)
            assert_close(self, weights, weights1, 1e-9)
            for a, b in zip(grads, grads1):
                assert_close(self, a, b, 1e-12)

    def test_decisions_and_gradients_are_those_of_one_process(self):
        for case in CASES:
            one = self.seen(case, 1)
            for rank in range(2):
                self.same_steps(case, self.seen(case, 2, rank), one)
        self.assertTrue(any(float(g.abs().max()) > 0 for g in one[0][2]))

    def test_a_rank_that_keeps_nothing_takes_part(self):
        kept = [rows.tolist() for rows, _, _ in self.seen("one", 1)]
        self.assertTrue(all(len(rows) == 1 for rows in kept))     # so one of both ranks is idle

    def test_state_of_two_ranks_goes_on_in_one(self):
        self.same_steps("resumed", self.seen("resumed-remembered", 1),
                        self.seen("remembered", 1)[2:])

    def test_samplers_give_ranks_disjoint_parts_of_one_order(self):
        for count in (95, 96):
            one, _ = self.seen(f"samplers-{count}", 1)
            ranks = [self.seen(f"samplers-{count}", 2, r)[0] for r in (0, 1)]
            for name in ("memory", "pool", "info"):
                for epoch in range(3):
                    alone = sum(one[name][epoch], [])
                    first, second = (sum(ranks[r][name][epoch], []) for r in (0, 1))
                    self.assertEqual([len(b) for b in ranks[0][name][epoch]],
                                     [len(b) for b in ranks[1][name][epoch]])
                    both = [place for pair in zip(first, second) for place in pair]
                    self.assertEqual(len(set(both)), len(both))
                    # of an odd number one is left out, and then has no loss that others have
                    if count == 96 or epoch == 0:
                        self.assertEqual(both, alone[:len(both)])
                        self.assertLessEqual(len(alone) - len(both), 1)

    def test_a_samplers_state_of_two_ranks_goes_on_in_one(self):
        for count in (95, 96):
            sampler = LossMemorySampler(count, 6, keep=0.5, seed=2)
            sampler.load_state_dict(torch.load(f"{self.folder}/memory-{count}.pt"))
            following = next(iter(sampler))
            parts = [self.seen(f"samplers-{count}", 2, r)[1][0] for r in (0, 1)]
            both = [place for pair in zip(*parts) for place in pair]
            self.assertEqual(following, both[:6])


if __name__ == "__main__":
    unittest.main()
