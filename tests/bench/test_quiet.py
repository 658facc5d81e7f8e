#!/usr/bin/env python3
"""bench/quiet.py: what counts as the load of others, and that nothing is printed beside it.

Times nothing: every reading is made up."""
import contextlib
import importlib
import io
import os
import sys
import tempfile
import unittest

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path.insert(0, BENCH)
import quiet  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def readings(*rows):
    """A clock that gives these (time, machine, ours) one after the other, then the last for ever."""
    left = list(rows)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def run_main(module, arguments, rows):
    """Exit status or sentence of a program's main, and what it printed; no case is really run."""
    out, before = io.StringIO(), quiet.reading
    saved = module.run_case, sys.argv, quiet.time.sleep
    line = {key: 1 for _, key in module.COLUMNS}
    module.run_case = lambda *_: (dict(line), True)
    quiet.reading, quiet.time.sleep = readings(*rows), lambda _: None
    sys.argv = ["program", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = module.main()
    except SystemExit as end:
        status = end.code
    finally:
        quiet.reading = before
        module.run_case, sys.argv, quiet.time.sleep = saved
    return status, out.getvalue()


class Readings(unittest.TestCase):
    def make_proc(self, stat, processes):
        folder = tempfile.TemporaryDirectory()
        root = folder.name
        self.addCleanup(folder.cleanup)
        with open(os.path.join(root, "stat"), "w", encoding="ascii") as file:
            file.write(stat)
        for pid, (name, parent, ticks) in processes.items():
            os.mkdir(os.path.join(root, str(pid)))
            with open(os.path.join(root, str(pid), "stat"), "w", encoding="utf-8") as file:
                file.write("%d (%s) S %d 1 1 0 -1 4 1 2 3 4 %d %d %d %d 20 0 1 0 5\n" %
                           (pid, name, parent, *ticks))
        os.mkdir(os.path.join(root, "99999"))  # has just ended
        return root

    def test_the_machine_is_busy_with_all_but_idling_and_waiting(self):
        root = self.make_proc("cpu  100 20 30 4000 500 6 7 8 0 0\ncpu0 1 1 1 1\n", {})
        self.assertAlmostEqual((100 + 20 + 30 + 6 + 7 + 8) / TICK, quiet.machine(root))

    def test_a_family_is_all_descendants_with_their_ended_children(self):
        root = self.make_proc("cpu\n", {
            10: ("us", 1, (1, 2, 4, 8)), 11: ("a child", 10, (16, 32, 64, 128)),
            12: ("odd) S 1 (name", 11, (256, 0, 0, 0)), 13: ("other", 1, (1000, 1000, 0, 0))})
        self.assertAlmostEqual(511 / TICK, quiet.family(10, root))
        self.assertAlmostEqual(256 / TICK, quiet.family(12, root))

    def test_this_machine_can_be_read(self):
        wall, busy, ours = quiet.reading()
        self.assertGreater(wall, 0)
        self.assertGreater(busy, 0)
        self.assertGreaterEqual(ours, 0)


class Meters(unittest.TestCase):
    def test_others_are_the_machine_less_ours(self):
        meter = quiet.Meter(readings((0, 100, 50), (10, 121, 68)))
        self.assertAlmostEqual(0.3, meter.worst())

    def test_the_worst_stretch_counts_not_the_mean(self):
        meter = quiet.Meter(readings((0, 0, 0), (10, 0, 0), (20, 15, 10), (30, 15, 10)))
        for _ in range(2):
            meter.mark()
        self.assertAlmostEqual(0.5, meter.worst())

    def test_stretches_too_short_to_tell_are_joined(self):
        meter = quiet.Meter(readings((0, 0, 0), (0.5, 0.4, 0), (4, 0.4, 0), (4.1, 0.44, 0)))
        meter.mark()  # .8 of a core for half a second
        meter.mark()
        self.assertAlmostEqual(0.44 / 4.1, meter.worst())

    def test_less_than_nothing_is_nothing(self):
        meter = quiet.Meter(readings((0, 0, 0), (5, 4.9, 5)))
        self.assertEqual(0, meter.worst())


class Programs(unittest.TestCase):
    IDLE = [(0, 0, 0), (2, 0.1, 0), (2, 0.1, 0), (60, 90, 85)]
    BUSY_FROM_THE_START = [(0, 0, 0), (2, 1, 0)]
    BUSY_LATER = [(0, 0, 0), (2, 0, 0), (2, 0, 0), (60, 90, 70)]

    def programs(self):
        return [importlib.import_module(name) for name in ("vs_sklearn", "vs_pytorch")]

    def test_an_idle_machine_gives_lines_and_a_table(self):
        for module in self.programs():
            status, out = run_main(module, ["--table"], self.IDLE)
            self.assertIn(status, (None, 0))
            self.assertIn('"others": 0.08', out)
            self.assertIn("| case |", out)
            self.assertNotIn("busy", out)

    def test_other_work_prints_nothing_and_ends_with_a_sentence(self):
        for module in self.programs():
            for rows, load in ((self.BUSY_FROM_THE_START, "0.50"), (self.BUSY_LATER, "0.34")):
                status, out = run_main(module, [], rows)
                self.assertEqual("", out)
                self.assertIn("the load of others was %s cores, more than 0.2" % load, status)

    def test_busy_marks_every_line_and_gives_no_table(self):
        for module in self.programs():
            status, out = run_main(module, ["--busy"], self.BUSY_LATER)
            self.assertIn(status, (None, 0))
            lines = out.splitlines()
            self.assertGreater(len(lines), 1)
            for line in lines:
                self.assertIn("taken on a busy machine", line)
            for other in ("--table", "--floor"):
                self.assertEqual((2, ""), run_main(module, ["--busy", other], self.IDLE))

    def test_medians_and_least_and_both_ratios_are_told(self):
        for module in self.programs():
            keys = [key for _, key in module.COLUMNS]
            for side in ("ours", "peer"):
                self.assertEqual(2, sum(key.startswith(side) for key in keys))
            self.assertTrue({"speedup", "speedup_least"} <= set(keys))


if __name__ == "__main__":
    unittest.main()
