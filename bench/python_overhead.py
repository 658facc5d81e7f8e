#!/usr/bin/env python3
"""Time one decision of the Python package, Python included: from arrays of a batch to arrays of a subset.

    bench/python_overhead.py [--build DIR] [--rounds N] [--floor] [--table]

M=128, D=512, C=10, float32, keep .3, one thread; CPU tensors where torch is there, and numpy arrays. A
round is the mean of as many calls as take about 20 ms; a case has the median of its rounds and the least
of them. Rows and weights are compared with those of `cull select` before anything is timed. One JSON line
a case, all at the end:

    {"case":"sb torch","us":...,"least_us":...,"most_us":...,"calls":...,"rounds":...}

`--floor` demands what the project promises of a call on tensors (sb 30 µs, gradmatch 450 µs) and of a
sampler's epoch over 1.28 million examples (3 s). It runs the package as it lies in the tree, on the library
of `--build`. The manner of printing is quiet.py's: beside other work nothing, or with `--busy` lines that
say so.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import quiet

ROOT = pathlib.Path(__file__).resolve().parents[1]
M, D, C, KEEP, POOL = 128, 512, 10, 0.3, 50000
LARGE = 1_281_167    # ImageNet
EPOCH = "LossMemorySampler, an epoch of ImageNet's size, drawn and told"
FLOOR = {"sb torch": 30, "gradmatch torch": 450, EPOCH: 3e6}
COLUMNS = [("case", "case"), ("median µs", "us"), ("least", "least_us"), ("promised", "most_us")]


def signals():
    """Losses, H and P of a batch, float32."""
    import numpy

    rng = numpy.random.default_rng(1)
    label = rng.integers(0, C, M)
    logits = rng.normal(size=(M, C))
    share = numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)
    p = share - numpy.eye(C)[label]
    made = {"loss": -numpy.log(share[numpy.arange(M), label]), "h": rng.normal(size=(M, D)), "p": p}
    return {name: array.astype("float32") for name, array in made.items()}


def check(cull, program, name, given):
    """The subset is the program's, or there is nothing to time."""
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        flags = []
        for key, array in given.items():
            numpy.save(os.path.join(folder, key + ".npy"), array)
            flags += ["--" + key, key + ".npy"]
        subprocess.run([program, "select", "--strategy", name, f"keep={KEEP}", *flags, "-o", "out.npz"], cwd=folder,
                       check=True, stdout=subprocess.DEVNULL)
        theirs = numpy.load(os.path.join(folder, "out.npz"))
        ours = cull.select(name, **given, keep=KEEP)
        if not numpy.array_equal(ours.rows, theirs["index"]) or not numpy.array_equal(ours.weights, theirs["weight"]):
            sys.exit(f"{name}: the program answers otherwise")


def timed(call, rounds):
    """(median, least) of a call's time in µs, and calls a round."""
    begin = time.perf_counter()
    calls = 0
    while time.perf_counter() - begin < 0.1:
        call()
        calls += 1
    calls = max(1, calls // 5)
    found = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        found.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(found), min(found), calls


def cases(cull, given):
    """(name, call) of everything that is timed."""
    import numpy

    kinds = {"numpy": {name: array for name, array in given.items()}}
    try:
        import torch

        torch.set_num_threads(1)
        kinds["torch"] = {name: torch.from_numpy(array) for name, array in given.items()}
        places = torch.arange(M)
    except ImportError:
        print("torch is not there: numpy alone is timed", file=sys.stderr)
        places = numpy.arange(M)
    for kind, arrays in kinds.items():
        for name, read in (("sb", ("loss",)), ("gradmatch", ("h", "p"))):
            selector = cull.Selector(name, dataset_size=POOL, batch=M, keep=KEEP)
            take = {key: arrays[key] for key in read}
            yield f"{name} {kind}", lambda selector=selector, take=take: selector.select(**take)
    selector = cull.Selector("sb", dataset_size=POOL, batch=M, keep=KEEP)
    loss = list(kinds.values())[-1]["loss"]
    yield "sb with places", lambda: selector.select(loss=loss, places=places)
    yield "sb, a selector a call", lambda: cull.select("sb", loss=loss, keep=KEEP)
    memory = cull.Selector("sb remembered", dataset_size=POOL, batch=M, keep=KEEP)

    def step():
        subset = memory.select(places=places)
        memory.observe(loss=subset.weights, places=subset.places)

    yield "sb remembered, select and observe", step
    if "torch" in kinds:
        yield EPOCH, sampled_epoch()


def sampled_epoch():
    """One epoch of a sampler over a large set, whose losses are told batch by batch."""
    import torch
    from cull.torch import LossMemorySampler

    sampler = LossMemorySampler(LARGE, 256, keep=KEEP)
    losses = torch.rand(256)

    def epoch():
        for places in sampler:
            sampler.update(places, losses[:len(places)])

    return epoch


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build", help="where cull and libcull_select.so were built")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--floor", action="store_true", help="fail above the promised times")
    quiet.add_options(parser)
    options = parser.parse_args()
    quiet.check_options(parser, options)
    build = pathlib.Path(options.build).resolve()
    os.environ["CULL_SELECT_LIBRARY"] = str(build / "libcull_select.so")
    sys.path.insert(0, str(ROOT / "python" / "src"))
    import cull

    meter = quiet.watch("python_overhead", options.busy)
    given, lines, slow = signals(), [], []
    check(cull, str(build / "cull"), "sb", {"loss": given["loss"]})
    check(cull, str(build / "cull"), "gradmatch", {"h": given["h"], "p": given["p"]})
    for name, call in cases(cull, given):
        median, least, calls = timed(call, options.rounds)
        lines.append({"case": name, "us": round(median, 2), "least_us": round(least, 2), "most_us": FLOOR.get(name, ""),
                      "calls": calls, "rounds": options.rounds})
        meter.mark()
        if median > FLOOR.get(name, float("inf")):
            slow.append(f"{name}: {median:.1f} µs, {FLOOR[name]} promised")
    quiet.publish("python_overhead", lines, meter, options, COLUMNS)
    if options.floor and slow:
        sys.exit("\n".join(slow))


if __name__ == "__main__":
    main()
