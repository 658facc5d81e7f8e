#!/usr/bin/env python3
"""Time cull's matching pursuit against scikit-learn's, both in one run.

    bench/vs_sklearn.py [--build DIR] [--peer PYTHON]... [--rounds N] [--table]

float64 Gram matrices, both sides allowed two threads, ours timed in C around one solver
call (bench_omp --serve), theirs in Python around one `_gram_omp` call. Rounds alternate
between the sides; a side has the median of its rounds and the least of them, and the fastest
of the given interpreters' scikit-learns is the peer, in each of the two. Picks and weights are
compared before anything is timed. One JSON line a case, all at the end:

    {"case":"omp M=128 m=38","ours_us":...,"ours_least_us":...,"peer_us":...,"peer_least_us":...,
     "speedup":...,"speedup_least":...,...}

`--table` prints them as Markdown too. Where other work took more than 0.2 of a core nothing is
printed and the exit status is 1 (quiet.py says what is measured); `--busy` prints all the same,
every line marked. Exit status 1 also when an answer differs. `--floor` also demands the speed-ups the project
promises: 30 at M=128, 12 at M=512, 10 at M=1280.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

import quiet

CASES = [(128, 13), (128, 38), (128, 64), (512, 51), (512, 154), (512, 256), (1280, 128)]
FLOOR = {128: 30, 512: 12, 1280: 10}
THREADS = 2
COLUMNS = [("case", "case"), ("cull, median µs", "ours_us"), ("least", "ours_least_us"),
           ("scikit-learn, median µs", "peer_us"), ("least", "peer_least_us"),
           ("speed-up of medians", "speedup"), ("of the least", "speedup_least")]

# Runs under the peer's interpreter: the same protocol as bench_omp --serve.
PEER = r"""
import statistics, sys, time, warnings
import numpy, sklearn
from sklearn.linear_model._omp import _gram_omp
with open(sys.argv[1], "rb") as file:
    n, m = (int(v) for v in numpy.fromfile(file, numpy.int64, 2))
    gram = numpy.asfortranarray(numpy.fromfile(file, float, n * n).reshape(n, n))
    xy = numpy.fromfile(file, float, n)
warnings.simplefilter("error")
def call():
    start = time.perf_counter()
    result = _gram_omp(gram, xy, m, copy_Gram=True, copy_Xy=True)
    return time.perf_counter() - start, result
for _ in range(5):
    weight, index, _ = call()[1]
print(sklearn.__version__)
print(*(int(i) for i in index))
print(*(repr(float(w)) for w in weight), flush=True)
for _ in sys.stdin:
    print(statistics.median(call()[0] for _ in range(11)) * 1e6, flush=True)
"""


def make_case(path, n, m):
    """K = G G^T of 2n uniform numbers each and t its row means, from a fixed generator."""
    import random

    generator = random.Random(n * 1000 + m)
    width = 2 * n
    try:
        import numpy

        g = numpy.array([generator.random() - 0.45 for _ in range(n * width)]).reshape(n, width)
        k = g @ g.T
        k = (k + k.T) / 2
        t = k.mean(axis=1)
        with open(path, "wb") as file:
            numpy.array([n, m], numpy.int64).tofile(file)
            k.tofile(file)
            t.tofile(file)
    except ImportError:
        sys.exit("numpy is missing under this interpreter: run with /usr/bin/python3")


class Side:
    """A process that has solved the case and times itself when a line is sent."""

    def __init__(self, command, has_version):
        environment = dict(os.environ, OMP_NUM_THREADS=str(THREADS),
                           OPENBLAS_NUM_THREADS=str(THREADS))
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)
        self.version = self.line() if has_version else ""
        self.index = [int(i) for i in self.line().split()]
        self.weight = [float(w) for w in self.line().split()]
        self.times = []

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended without an answer")
        return line.strip()

    def round(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.times.append(float(self.line()))

    def median(self):
        return statistics.median(self.times)

    def least(self):
        return min(self.times)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def same_answer(ours, peer):
    return ours.index == peer.index and all(
        abs(a - b) <= 1e-8 * abs(b) for a, b in zip(ours.weight, peer.weight))


def run_case(bench, peers, n, m, rounds, folder):
    path = os.path.join(folder, f"{n}_{m}")
    make_case(path, n, m)
    ours = Side([bench, "--threads", str(THREADS), "--serve", path], False)
    others = [Side([peer, "-c", PEER, path], True) for peer in peers]
    for other in others:
        if not same_answer(ours, other):
            sys.exit(f"omp M={n} m={m}: scikit-learn {other.version} answers otherwise")
    for _ in range(rounds):
        for side in [ours, *others]:
            side.round()
    best = min(others, key=Side.median)
    least = min(others, key=Side.least)
    line = {"case": f"omp M={n} m={m}", "ours_us": round(ours.median(), 2),
            "ours_least_us": round(ours.least(), 2), "peer_us": round(best.median(), 1),
            "peer_least_us": round(least.least(), 1),
            "speedup": round(best.median() / ours.median(), 1),
            "speedup_least": round(least.least() / ours.least(), 1), "peer": best.version,
            "peer_of_least": least.version, "rounds": rounds}
    for side in [ours, *others]:
        side.close()
    os.remove(path)
    return line, line["speedup"] >= FLOOR[n]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build", help="where bench/bench_omp was built")
    parser.add_argument("--peer", action="append", default=[],
                        help="an interpreter with scikit-learn, besides /usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--floor", action="store_true", help="fail below the promised speed-ups")
    quiet.add_options(parser)
    options = parser.parse_args()
    quiet.check_options(parser, options)
    meter = quiet.watch("vs_sklearn", options.busy)
    bench = os.path.join(options.build, "bench", "bench_omp")
    lines, slow = [], []
    with tempfile.TemporaryDirectory() as folder:
        for n, m in CASES:
            line, met = run_case(bench, ["/usr/bin/python3", *options.peer], n, m, options.rounds,
                                 folder)
            lines.append(line)
            meter.mark()
            if not met:
                slow.append(f"omp M={n} m={m}: {line['speedup']} times, {FLOOR[n]} promised")
    quiet.publish("vs_sklearn", lines, meter, options, COLUMNS)
    if options.floor and slow:
        sys.exit("\n".join(slow))


if __name__ == "__main__":
    main()
