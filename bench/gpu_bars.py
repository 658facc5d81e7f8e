#!/usr/bin/env python3
"""Hold what bench/gpu.sh has measured against what the project aims at, a line for each aim.

    bench/gpu_bars.py FOLDER

FOLDER holds the logs of its parts, of one visit or several; lines of JSON among them are read, the last of a
case counts. What no log knows is said to be not measured. Nothing here decides anything: it is a table.
"""
import json
import pathlib
import statistics
import sys

STEP = {"full": 2.0, "sb reuse .1": 1.30, "sb reuse .3": 1.50, "sb reuse .5": 1.70,
        "sb remembered .1": .70, "sb remembered .3": 1.00, "sb remembered .5": 1.30}
STEP_512 = {"full": 5.3, "sb reuse .1": 2.8, "sb reuse .3": 3.4, "sb reuse .5": 4.0,
            "sb remembered .1": 1.15, "sb remembered .3": 2.1, "sb remembered .5": 3.0}
MATCHED = {".1": 3, ".3": 3, ".5": 6}
SOLVED = {"pursuit 1 M=128 m=64": 100, "pursuit 1 M=1280 m=640": 6000, "pursuits 1000 M=128 m=38": 20000}
POOLS = {("cifar", "grad-match"): .2, ("imagenet", "grad-match"): 4, ("cifar", "craig"): 1}
ADDED = {"gradmatch 128": .4, "gradmatch 1280": 10}


def lines(folder, name):
    """The objects of one part's log."""
    path = folder / f"{name}.log"
    found = []
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def say(what, found, most, unit):
    if found is None:
        print(f"  {what:44} not measured   ({most:g} {unit})")
    else:
        print(f"  {what:44} {found:10.3f} {unit:4} ({most:g}){'' if found <= most else '   MISSED'}")


def steps(folder, name, batch, bars):
    found = {line["case"]: line["ms"] for line in lines(folder, name) if line.get("batch") == batch}
    for case, most in bars.items():
        say(f"batch {batch}: {case}", found.get(case), most, "ms")


def above_sb(folder):
    found = {line["case"]: line["ms"] for line in lines(folder, "steps-matched")}
    for keep, most in MATCHED.items():
        both = [found.get(f"{rule} reuse {keep}") for rule in ("gradmatch", "sb")]
        known = None not in both and "full" in found
        say(f"gradmatch above sb at {keep}", 100 * (both[0] - both[1]) / found["full"] if known else None, most, "%")


def ways(folder):
    """How much longer a step takes with one thing otherwise, in the same minutes."""
    plain = {line["case"]: line["ms"] for line in lines(folder, "ways-CULL_CUDA_EARLY=0")}
    for path in sorted(folder.glob("ways-*.log")):
        apart = [f"{line['case'].replace('remembered', 'rem.')} {line['ms'] - plain[line['case']]:+.3f}"
                 for line in lines(folder, path.stem) if line.get("case") in plain]
        if apart and not path.stem.endswith("EARLY=0"):
            print(f"  with {path.stem[5:]}: {', '.join(apart)} ms")


def solvers(folder):
    found = {line["case"]: line for line in lines(folder, "match") if line.get("h") == "f32" and "us" in line}
    for case, most in SOLVED.items():
        say(case, found[case]["us"] if case in found else None, most, "us")
    other = sum(line.get("other", 0) for line in lines(folder, "match"))
    if found:
        print(f"  picks that are not the processor's: {other}")
    for (size, rule), most in POOLS.items():
        times = [line["seconds"] for line in lines(folder, f"pool-{size}")
                 if "seconds" in line and line["case"] == f"{rule} {size}"]
        say(f"pool, {size}: {rule}", min(times) if times else None, most, "s")


def trained(folder):
    runs = [line for line in lines(folder, "train") if line.get("bench") == "train"]
    if not runs:
        print("  CIFAR-10 to 94 % in 60 s                     not measured")
        return
    accuracy = [next(v for k, v in run.items() if "accuracy" in k) for run in runs]
    print(f"  CIFAR-10, {len(runs)} seeds: accuracy {100 * statistics.mean(accuracy):.2f} % (94), "
          f"the longest {max(run['seconds'] for run in runs):.1f} s (60)")


def peers(folder):
    for line in lines(folder, "peer"):
        if line.get("case") == "full":
            print(f"  PyTorch, {line['way']}: {line['model']}, batch {line['batch']}: {line['ms']:.3f} ms")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/gpu")
    print("== bars (aims in brackets)")
    steps(folder, "steps", 128, STEP)
    steps(folder, "steps-512", 512, STEP_512)
    wide = [line["ms"] for line in lines(folder, "steps-wrn") if line.get("case") == "full"]
    say("WRN-16-4, batch 128: full", wide[-1] if wide else None, 1.5, "ms")
    above_sb(folder)
    ways(folder)
    solvers(folder)
    added = {line["case"]: line["added_ms"] for line in lines(folder, "python-step") if "added_ms" in line}
    for case, most in ADDED.items():
        say(f"to a step of PyTorch: {case}", added.get(case), most, "ms")
    trained(folder)
    peers(folder)


if __name__ == "__main__":
    main()
