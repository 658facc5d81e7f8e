"""The program as a child process: records as dicts, failures as exceptions."""
import json
import os
import pathlib
import stat
import tempfile
import unittest
from unittest import mock

import numpy

import cull
from support import PROGRAM

RECIPE = {"data": {"name": "set.npz"}, "model": {"name": "mlp"},
          "train": {"epochs": 3, "batch": 16, "threads": 1, "log": 2}}


def make_set():
    """Images whose label shows in one row."""
    rng, arrays = numpy.random.default_rng(8), {}
    for role in ("train", "test"):
        labels = numpy.arange(60) % 3
        images = rng.integers(0, 256, (60, 1, 6, 6), dtype=numpy.uint8)
        images[numpy.arange(60), 0, labels] = 225
        arrays["x_" + role], arrays["y_" + role] = images, labels.astype("<i4")
    numpy.savez("set.npz", **arrays)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        patch = mock.patch.dict(os.environ, {"CULL_PROGRAM": PROGRAM})
        patch.start()
        self.addCleanup(patch.stop)
        make_set()
        pathlib.Path("tiny.yaml").write_text(json.dumps(RECIPE))

    def test_a_run_s_records_are_dicts_and_its_lines_are_passed_on(self):
        lines = []
        result = cull.train("tiny.yaml", progress=lines.append, train={"epochs": 2, "seed": 7}, select__strategy="sb")
        self.assertEqual(result["folder"], "runs/tiny")
        self.assertEqual((result["run"]["status"], result["run"]["seed"], result["run"]["epoch"]), ("finished", 7, 2))
        self.assertEqual(result["run"]["strategy"], "sb")
        self.assertIn("step", {line["kind"] for line in result["metrics"]})
        self.assertTrue(any(line.startswith("epoch 2/2") for line in lines), lines)

    def test_a_mapping_is_a_recipe(self):
        result = cull.train(RECIPE, out="here")
        self.assertEqual((result["folder"], result["run"]["epoch"]), ("here", 3))

    def test_a_run_goes_on_when_it_is_resumed(self):
        def stop(line):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            cull.train("tiny.yaml", out="run", progress=stop, train={"epochs": 60})
        with self.assertRaises(cull.CullProgramError) as caught:
            cull.train("tiny.yaml", out="run", train={"epochs": 60})
        self.assertEqual((caught.exception.status, caught.exception.subject), ("EXISTS", "run"))
        result = cull.train("tiny.yaml", out="run", resume=True, train={"epochs": 60})
        self.assertEqual((result["run"]["status"], result["run"]["epoch"]), ("finished", 60))

    def test_failures_are_the_program_s_sentences(self):
        with self.assertRaisesRegex(cull.CullProgramError, "no option is called 'train.epoch'") as caught:
            cull.train("tiny.yaml", train__epoch=3)
        self.assertEqual((caught.exception.status, caught.exception.subject, caught.exception.code),
                         ("UNKNOWN_OPTION", "train.epoch", 2))
        with self.assertRaisesRegex(cull.CullProgramError, "none.yaml"):
            cull.train("none.yaml")
        with self.assertRaisesRegex(cull.CullProgramError, "no strategy is called 'nix'"):
            cull.compare_recipe("tiny.yaml", "nix")
        with self.assertRaises(ValueError):
            cull.train("tiny.yaml", train={"epochs": object()})

    def test_a_program_that_is_not_there_is_named(self):
        for value, words in (("", "is not on the PATH"), ("/nowhere/cull", "/nowhere/cull is no program")):
            with mock.patch.dict(os.environ, {"CULL_PROGRAM": value, "PATH": "/nowhere"}):
                with self.assertRaisesRegex(cull.CullProgramError, words) as caught:
                    cull.train("tiny.yaml")
                self.assertEqual(caught.exception.status, "NOT_FOUND")
        broken = pathlib.Path("broken")
        broken.write_text("#!/nowhere/sh\n")
        broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
        with self.assertRaisesRegex(cull.CullProgramError, "cannot be started"):
            cull.train("tiny.yaml", program="./broken")
        broken.write_text("#!/bin/sh\nexit 3\n")
        with self.assertRaisesRegex(cull.CullProgramError, "ended with 3"):
            cull.train("tiny.yaml", program="./broken")
        broken.write_text("#!/bin/sh\nexit 0\n")
        with self.assertRaisesRegex(cull.CullProgramError, "run.json cannot be read") as caught:
            cull.train("tiny.yaml", program="./broken")
        self.assertEqual(caught.exception.status, "BAD_FILE")

    def test_a_comparison_is_a_dict_with_its_runs(self):
        lines = []
        found = cull.compare_recipe("tiny.yaml", ["random", "sb"], keep=[0.5], seeds=2, jobs=2, anyway=True,
                                    progress=lines.append)
        self.assertEqual(found["folder"], "compare/tiny")
        self.assertTrue(found["finished"])
        names = [arm["name"] for arm in found["arms"]]
        self.assertTrue(any("random" in name for name in names) and any("sb" in name for name in names), names)
        self.assertTrue(found["records"])
        for record in found["records"].values():
            self.assertEqual(record["run"]["status"], "finished")
        self.assertTrue(lines)


if __name__ == "__main__":
    unittest.main()
