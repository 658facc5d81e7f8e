#!/usr/bin/python3
"""The program on a device that is imitated: what `cull doctor` says of one, of none, and of one that cannot be
used; and runs that find no device, no memory, or lose the device in the middle: a sentence, the last checkpoint
whole, and going on from it leaves what a run without any of it leaves; so do two at once.

    test_emu_program.py PROGRAM FOLDER-OF-THE-MODULE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

PROGRAM, MODULES = sys.argv[1:]
RECIPE = """\
data: {{name: {0}/train.npz, test: {0}/test.npz}}
model: {{name: mlp}}
optim: {{lr: 0.05, momentum: 0.9}}
select: {{strategy: sb, keep: 0.4}}
train: {{backend: cuda, epochs: 2, batch: 20, threads: 1, checkpoint_steps: 2}}
"""
LACKS = {
    "driver": "there is no CUDA driver on this machine",
    "newer driver": "knows CUDA 12.2, and this build is of 13.0: install a newer driver",
    "device": "it sees no device: look at nvidia-smi and at CUDA_VISIBLE_DEVICES",
    "code": "for which this build has no code: build with CULL_CUDA_ARCHITECTURES=90",
}
# Of bytes that end at one thing or another; parameters are 0.33 MB.
SHORT = {
    400000: "no memory for gradients: 332812 bytes on emu",
    670000: "the data take 0.01632 MB, and 0.004016 MB of the device's 0.67 MB are free.\nGive a set that fits",
    1020000: "no memory for an optimizer: 332812 bytes on emu; there lie 0.01731 MB of data, 0.6656 MB of parameters",
    1200000: "no memory for a plan's activations",
}


def start(words, emu):
    given = {f"CULL_EMU_{name}": str(value) for name, value in emu.items()}
    return subprocess.Popen([PROGRAM, *map(str, words)], env={**os.environ, "CULL_MODULES": MODULES, **given},
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*words, status=0, said="", **emu):
    """What it prints; it ends with `status`, and says `said`."""
    process = start(words, emu)
    out, err = process.communicate()
    if process.returncode != status or said not in err:
        sys.exit(f"{words} with {emu}: exit {process.returncode}, not {status}, or no '{said}' in\n{out}{err}")
    return out


def write_set(path, seed):
    draw = numpy.random.default_rng(seed)
    y = draw.integers(0, 3, 120)
    x = draw.integers(0, 60, (120, 1, 8, 8), dtype=numpy.uint8)
    x[numpy.arange(120), 0, y] += 150
    numpy.savez(path, x=x, y=y.astype(numpy.int32))


def left_by(folder):
    made = json.loads((folder / "run.json").read_text())
    assert made["status"] == "finished", (folder, made["status"])
    return [made[key] for key in ("weights", "test", "trained", "scored")]


def doctor_tells():
    found = json.loads(run("doctor", "--json"))
    assert [device["name"] for device in found["devices"]] == ["emu:0, emulated"], found
    assert found["devices"][0]["total"] == 8 << 30 and found["no_device"] == "", found
    assert len(json.loads(run("doctor", "--json", DEVICES=2))["devices"]) == 2
    for lacks, said in LACKS.items():
        found = json.loads(run("doctor", "--json", LACKS=lacks))
        assert found["devices"] == [] and said in found["no_device"], found
        assert said in run("doctor", LACKS=lacks)


def runs_say_why_not(recipe, folder):
    for lacks, said in LACKS.items():
        run("train", recipe, "--out", folder / "none", status=1, said=said, LACKS=lacks)
    run("train", recipe, "train.backend=cuda:3", "--out", folder / "none", status=1,
        said="there is no CUDA device 3; 1 is here")
    for memory, said in SHORT.items():
        run("train", recipe, "--out", folder / "none", status=1, said=said, MEMORY=memory)


def runs_go_on(recipe, folder):
    run("train", recipe, "--out", folder / "whole")
    whole = left_by(folder / "whole")
    for call in (700, 1000, 1500):
        lost = folder / f"lost-{call}"
        run("train", recipe, "--out", lost, status=1, said="an illegal memory access", LOSES=call)
        run("train", recipe, "--out", lost, "--resume")
        assert left_by(lost) == whole, (call, left_by(lost), whole)
    full = folder / "full"
    run("train", recipe, "--out", full, status=1, said="no memory", MEMORY=1200000)
    run("train", recipe, "--out", full)
    both = [start(["train", recipe, "--out", folder / name], {}) for name in ("one", "two")]
    for process, name in zip(both, ("one", "two")):
        _, err = process.communicate()
        assert process.returncode == 0, err
        assert left_by(folder / name) == whole, name
    assert left_by(full) == whole


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_set(folder / "train.npz", 1)
        write_set(folder / "test.npz", 2)
        recipe = folder / "recipe.yaml"
        recipe.write_text(RECIPE.format(folder))
        doctor_tells()
        runs_say_why_not(recipe, folder)
        runs_go_on(recipe, folder)


main()
