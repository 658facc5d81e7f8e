"""What the tests share: signals, the program, and how an answer is compared."""
import os
import pathlib
import subprocess
import tempfile

import numpy

import cull

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CULL_PROGRAM", str(ROOT / "build" / "cull"))
M, V, D, C = 48, 12, 6, 3


def signals(seed=7, rows=M, dtype="float64"):
    """Signals of some examples and of a validation set: what every strategy may read."""
    rng = numpy.random.default_rng(seed)
    logits = rng.normal(size=(rows, C))
    labels = numpy.arange(rows) % C
    share = numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)
    a = {"loss": -numpy.log(share[numpy.arange(rows), labels]).astype(dtype),
         "h": rng.normal(size=(rows, D)).astype(dtype),
         "p": (share - numpy.eye(C)[labels]).astype(dtype),
         "labels": labels,
         "irreducible": rng.uniform(0, .5, rows).astype(dtype)}
    goal = numpy.arange(V) % C
    logits = rng.normal(size=(V, C))
    share = numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)
    a["target"] = {"h": rng.normal(size=(V, D)).astype(dtype), "p": (share - numpy.eye(C)[goal]).astype(dtype),
                   "labels": goal, "logits": logits.astype(dtype)}
    return a


def read_by(selector, given):
    """Of these signals, those that the next step reads."""
    needs = selector.needs()
    wanted = {name: given[name] for name in needs.signals}
    if needs.target:
        wanted["target"] = {name: given["target"][name] for name in needs.target}
    return wanted


class Command:
    """`cull select` in a folder of its own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def close(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def save(self, given):
        """The files of some signals, as flags."""
        flags = []
        flat = {k: v for k, v in given.items() if k != "target"}
        flat.update({f"target-{k}": v for k, v in given.get("target", {}).items()})
        for name, array in flat.items():
            numpy.save(self.path(name + ".npy"), array)
            flags += [f"--{name}", name + ".npy"]
        return flags

    def run(self, *arguments):
        done = subprocess.run([PROGRAM, "select", *map(str, arguments)], cwd=self.folder.name, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise AssertionError(f"cull select {' '.join(map(str, arguments))}: {done.stderr}")

    def subset(self, *arguments):
        self.run(*arguments, "-o", "out.npz")
        return dict(numpy.load(self.path("out.npz")))


def same(test, subset, other):
    """Bit for bit what another call chose (a Subset, or the program's arrays)."""
    if isinstance(other, cull.Subset):
        other = {"index": other.rows, "place": other.places, "weight": other.weights}
    rows = numpy.asarray(other["index"]).astype(numpy.int64)
    rows[rows == 0xFFFFFFFF] = -1
    numpy.testing.assert_array_equal(numpy.asarray(subset.rows), rows)
    numpy.testing.assert_array_equal(numpy.asarray(subset.places), numpy.asarray(other["place"]).astype(numpy.int64))
    test.assertEqual(numpy.asarray(subset.weights, "float64").tobytes(),
                     numpy.asarray(other["weight"], "float64").tobytes())
