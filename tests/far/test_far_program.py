#!/usr/bin/python3
"""The program on a backend whose memory is elsewhere: a comparison, whose runs are fresh processes,
and a probe give what they give on `ref`.

    test_far_program.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

PROGRAM = sys.argv[1]
RECIPE = """\
data: {{name: {0}/train.npz, test: {0}/test.npz, validation: 0.2}}
model: {{name: mlp}}
optim: {{lr: 0.05, momentum: 0.9}}
train: {{epochs: 2, batch: 16, threads: 1}}
"""


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def write_set(path, seed):
    draw = numpy.random.default_rng(seed)
    y = draw.integers(0, 3, 120)
    x = draw.integers(0, 60, (120, 1, 8, 8), dtype=numpy.uint8)
    x[numpy.arange(120), 0, y] += 150
    numpy.savez(path, x=x, y=y.astype(numpy.int32))


def runs_of(folder):
    """{arm and seed: what its run left}, of full training and the arms; controls go by measured times."""
    plan = json.loads((folder / "plan.json").read_text())
    found = {}
    for arm in plan["arms"]:
        if arm["role"] not in ("full", "arm"):
            continue
        for path in sorted((folder / "runs" / arm["folder"]).glob("seed-*/run.json")):
            made = json.loads(path.read_text())
            assert made["status"] == "finished", path
            found[arm["name"], path.parent.name] = [made[k] for k in ("weights", "test", "trained", "scored")]
    return found


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_set(folder / "train.npz", 1)
        write_set(folder / "test.npz", 2)
        (folder / "recipe.yaml").write_text(RECIPE.format(folder))
        compared, probed = {}, {}
        for backend in ("ref", "far"):
            run("compare", folder / "recipe.yaml", f"train.backend={backend}", "train.keep=latest", "--strategies",
                "random,sb,sb remembered,gradmatch,grad-match period=1", "--keep", "0.25", "--seeds", 1,
                "--threads", 1, "--jobs", 2, "--anyway", "--out", folder / backend)
            compared[backend] = runs_of(folder / backend)
            probed[backend] = run("probe", folder / "recipe.yaml", f"train.backend={backend}", "--strategies",
                                  "random,sb,gradmatch", "--keep", "0.25,0.5", "--batches", 3, "--json")
        assert len(compared["ref"]) == 6, sorted(compared["ref"])
        assert compared["ref"] == compared["far"], (compared["ref"], compared["far"])
        assert probed["ref"] == probed["far"], (probed["ref"], probed["far"])
        assert len(probed["far"].splitlines()) == 6


main()
