#!/usr/bin/python3
"""Folders for the report's tests: comparisons and runs as cull writes them, whole and damaged.

    tests/report/make_samples.py OUT        (writes OUT/full, OUT/unfinished, ...)

Everything is drawn from fixed seeds, so that the same folders come out everywhere. The numbers are
invented; their shapes are those of real runs.
"""
import json
import math
import os
import random
import sys

import numpy as np

PHASES = ["load", "score", "select", "learn", "optim"]
HOSTILE = "<script>alert(1)</script><img src=x onerror='alert(2)'>\"&amp;\u202eEOD\nplot 1 `touch x`"
GAIN = {"random": 0, "sb": -.15, "sb remembered": .75, "gradmatch": -.3, "grad-match": -1.2}
WARNING = "class 7 has no example in the training set's 10 % that are trained"
NOISE = {"gradmatch": .7}


def json_file(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)


def accuracy_at(share, final, classes=10):
    """Percent after a share of the run: quick first, then slower."""
    start = 100 / classes
    return start + (final - start) * (1 - math.exp(-4 * share ** .5)) / (1 - math.exp(-4))


def seconds_of(cost, keep, strategy, total=52.0):
    """A run's seconds by phase."""
    pays = strategy not in ("random", "full", "sb remembered")
    all_ = total * cost
    score = .30 * total if pays else 0
    select = {"gradmatch": .02, "grad-match": .04, "sb": .002}.get(strategy, .0005) * total
    load, optim = .04 * total * max(keep, .3), .015 * total
    return dict(load=load, score=score, select=select,
                learn=max(all_ - score - select - load - optim, .01 * total), optim=optim)


def joules_of(seconds, watts):
    return {k: v * watts for k, v in seconds.items()} if watts else None


def write_run(folder, rng, name, strategy, keep, final, work, seconds, seed, examples=6000,
              noise=0, points=12, probes=False, audit=False, watts=None, warnings=()):
    os.makedirs(folder, exist_ok=True)
    lines, accuracy = [], 0
    for i in range(points + 1):
        share = i / points
        if i and i % 4 == 0:
            lines.append(dict(kind="epoch", step=i * 39, epoch=i // 4, loss=1.9 * math.exp(-3 * share),
                              accuracy=min(.99, accuracy / 100 + .01), rate=.1, scored=0,
                              trained=int(examples * share), thirds=int(3 * examples * work * share)))
        accuracy = accuracy_at(share, final) + rng.gauss(0, .25 * (i < points))
        accuracy = accuracy if i < points else final
        record = dict(kind="evaluate", step=i * 39, epoch=3 * share, set="test", loss=2.3 * (1 - accuracy / 110),
                      accuracy=accuracy / 100, best=True, scored=0, trained=int(examples * 3 * share),
                      thirds=int(3 * 3 * examples * work * share))
        record.update({"seconds_" + k: v * share for k, v in seconds.items()})
        record["seconds"] = sum(seconds.values()) * share
        lines.append(record)
    with open(os.path.join(folder, "metrics.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    json_file(os.path.join(folder, "run.json"), dict(
        warnings=list(warnings), status="finished", version="0.1.0", seed=seed, model="lenet5", parameters=61706,
        machine=dict(system="Linux", release="6.1.0", processor="x86_64", cores=2, backend="cpu avx2 1 thread"),
        data=dict(name="fashion-mnist", train=examples, validation=0, test=10000, classes=10,
                  dropped=0, relabelled=int(noise * examples), wrong=int(noise * examples), copies=0),
        strategy=strategy, watched="test", step=points * 39, epoch=3, accuracy=final / 100,
        best=final / 100 + .001, best_epoch=3, test=final / 100, scored=0, trained=int(3 * examples),
        thirds=int(9 * examples * work), seconds=sum(seconds.values()),
        seconds_by_phase=seconds, joules_by_phase=joules_of(seconds, watts) or "not available here: no counter"))
    with open(os.path.join(folder, "recipe.yaml"), "w", encoding="utf-8") as file:
        file.write("model: lenet5\ndata:\n  name: fashion-mnist\nselect:\n  strategy: %s\n  keep: %g\n" % (strategy, keep))
    write_selection(folder, seed, strategy, keep, examples, noise)
    if probes:
        write_probes(folder, rng)
    if audit:
        write_audit(folder, seed)


def write_selection(folder, seed, strategy, keep, examples, noise):
    rng = np.random.default_rng([seed, len(strategy), int(1000 * keep)])
    hardness = rng.gamma(1.2, 1, examples)
    wrong = rng.permutation(examples)[:int(noise * examples)]
    hardness[wrong] += 3
    rate = hardness ** 1.5 if strategy in ("sb", "sb remembered", "top-loss") else np.ones(examples)
    count = rng.poisson(np.minimum(30 * keep * rate / rate.mean(), 30)).astype(np.int32)
    np.savez(os.path.join(folder, "selection.npz"), count=count, weight=count.astype(float),
             loss=hardness.astype(np.float32), first=np.where(count > 0, 0, -1).astype(np.int32),
             label=rng.integers(0, 10, examples).astype(np.int32))
    if noise:
        label = rng.integers(0, 10, len(wrong))
        np.savez(os.path.join(folder, "corruption.npz"), dropped=np.zeros(0, np.int64),
                 relabelled=np.stack([wrong, label, (label + 1) % 10], 1).astype(np.int64))


def write_probes(folder, rng):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "probe.jsonl"), "w", encoding="utf-8") as file:
        for keep in (.1, .3):
            for i in range(200):
                base = rng.lognormvariate(-1.5, .5) * (1 / keep - 1)
                for strategy, factor in (("random", 1), ("sb", 2.2), ("gradmatch", .55)):
                    error = base * factor * rng.lognormvariate(0, .45)
                    record = dict(kind="probe", strategy=strategy, keep=keep, batch=i, error=error, full=.016,
                                  cosine=.5 / (1 + factor), kept=int(128 * keep), corrupted=0)
                    if strategy != "random":
                        record["win"] = error < base
                    file.write(json.dumps(record) + "\n")


def write_picks(folder, rng):
    """What cull probe --picks leaves: no gradients, and who picks wrong labels."""
    os.makedirs(folder)
    with open(os.path.join(folder, "probe.jsonl"), "w", encoding="utf-8") as file:
        for i in range(60):
            for strategy, rate in (("random", .1), ("sb", .3)):
                wrong = sum(rng.random() < rate for _ in range(12))
                file.write(json.dumps(dict(kind="probe", strategy=strategy, keep=.1, batch=i, kept=12, corrupted=wrong)) + "\n")


def write_audit(folder, seed, side=28, channels=1, count=10):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:side, 0:side] / side - .5
    images = np.zeros((2 * count, side, side, channels), np.uint8)
    for i in range(2 * count):
        a, b = rng.uniform(.1, .4, 2)
        shape = np.clip(1.2 - ((x / a) ** 2 + (y / b) ** 2), 0, 1)
        images[i] = (200 * shape + 50 * rng.random((side, side)) * (i >= count))[..., None].astype(np.uint8)
    kind = (np.arange(2 * count) >= count).astype(np.uint8)
    label = rng.integers(0, 10, 2 * count).astype(np.int32)
    np.savez(os.path.join(folder, "audit.npz"), images=images, label=label,
             predicted=np.where(kind, (label + 3) % 10, label).astype(np.int32),
             loss=np.where(kind, rng.uniform(3, 9, 2 * count), rng.uniform(1e-5, 1e-3, 2 * count)), kind=kind,
             corrupted=((np.arange(2 * count) % 3 == 0) & (kind == 1)).astype(np.uint8))


def beta(a, b, x):
    """The regularised incomplete beta function, summed as a series (x up to about .99 here)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta(b, a, 1 - x)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)) / a
    term, total, n = 1.0, 1.0, 0
    while term > 1e-16 * total:
        term *= (a + b + n) / (a + 1 + n) * x
        total, n = total + term, n + 1
    return front * total


def t_p(t, freedom):
    """Of |T| >= |t|."""
    return beta(freedom / 2, .5, freedom / (freedom + t * t))


def t_quantile(p, freedom):
    low, high = 0.0, 1.0
    while t_p(high, freedom) > p:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_p(middle, freedom) > p else (low, middle)
    return high


def half_width(n, sd, level):
    return t_quantile(1 - level, n - 1) * sd / math.sqrt(n)


def t_interval(values):
    """Mean, deviation, plain 95 % interval and p of the paired test."""
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return mean, None, None, None, None
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    half = half_width(n, sd, .95)
    return mean, sd, mean - half, mean + half, t_p(mean * math.sqrt(n) / sd, n - 1)


def holm_levels(p):
    """The level that Holm's procedure tests each at: that of its step, or of the step at which it stops."""
    level, share, stopped = [None] * len(p), None, False
    for step, i in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        share = share if stopped else .05 / (len(p) - step)
        stopped = stopped or not p[i] < share
        level[i] = 1 - share
    return level


def holm(p):
    adjusted, floor = [None] * len(p), 0
    for step, i in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        floor = min(1, max(floor, (len(p) - step) * p[i]))
        adjusted[i] = floor
    return adjusted


def verdict_of(v):
    if v["p"] is None:
        return "untested"
    if v["p_holm"] < .05:
        return "better" if v["difference"] > 0 else "worse"
    half = half_width(v["pairs"], v["sd"], .9)
    return "no different" if abs(v["difference"]) + half <= .5 else "undecided"


class Comparison:
    """A comparison's folder, arm by arm."""

    def __init__(self, folder, title, seeds, noise=0, watts=None, total=52.0):
        self.total = total
        self.folder, self.seeds, self.noise, self.watts, self.arms = folder, seeds, noise, watts, []
        self.rng = random.Random(title)
        self.title, self.problems, self.warnings = title, [], []
        self.shift = {s: self.rng.gauss(0, .22) for s in seeds}

    def arm(self, name, role, strategy, keep, pass_, cost, counted, final, files=True, **extra):
        folder = "".join(c if c.isalnum() or c in ".-" else "-" for c in name)[:60]
        seconds = seconds_of(cost, keep or 1, strategy, self.total)
        runs = []
        for seed in self.seeds:
            accuracy = final + self.shift[seed] + self.rng.gauss(0, NOISE.get(strategy, .12))
            path = "runs/%s/seed-%d" % (folder, seed)
            measured = {k: v * self.rng.uniform(.98, 1.04) for k, v in seconds.items()}
            if files:
                write_run(os.path.join(self.folder, path), self.rng, name, strategy, keep or 1, accuracy,
                          counted, measured, seed, noise=self.noise,
                          probes=seed == self.seeds[0] and strategy == "gradmatch" and keep == .1,
                          audit=seed == self.seeds[0] and strategy == "sb" and keep == .1, warnings=self.warnings)
            runs.append(dict(seed=seed, folder=path, status="finished", why=None, accuracy=accuracy,
                             best=accuracy + .1, scored=0 if pass_ is None else 180000, trained=int(180000 * (keep or 1)),
                             thirds=int(540000 * counted), seconds=measured, joules=joules_of(measured, self.watts)))
        values = [r["accuracy"] for r in runs]
        mean, sd, *_ = t_interval(values)
        full = sum(self.arms[0]["runs"][0]["seconds"].values()) if self.arms else sum(seconds.values())
        measured_saving = 1 - sum(runs[0]["seconds"].values()) / full
        arm = dict(name=name, folder=folder, role=role, strategy=strategy, keep=keep, cost=cost, counted=counted,
                   predicted_saving=1 - cost, measured_saving=measured_saving, mean=mean, sd=sd, best_mean=mean + .1,
                   runs=runs, pareto=False)
        arm["pass"] = pass_ or "none"
        arm.update(extra)
        self.arms.append(arm)
        return arm

    def versus(self, arm, control, kind):
        pairs = [a["accuracy"] - b["accuracy"] for a, b in zip(arm["runs"], control["runs"])]
        mean, sd, low, high, p = t_interval(pairs)
        entry = dict(control=control["name"], kind=kind, pairs=len(pairs), difference=mean, sd=sd, low=low,
                     high=high, level=.95, p=p, p_holm=None, wilcoxon=None, verdict=None, more_seeds=None, sentence="")
        arm.setdefault("versus", []).append(entry)

    def judge(self):
        """Holm over the arms' primary comparisons, and a verdict each."""
        primary = [(arm, v) for arm in self.arms for v in arm.get("versus", []) if v["kind"] == "whole-budget"]
        tested = [v for _, v in primary if v["p"] is not None]
        for v, p_holm in zip(tested, holm([v["p"] for v in tested])):
            v["p_holm"] = p_holm
        for arm, v in primary:
            v["verdict"] = arm["verdict"] = verdict_of(v)
            if v["verdict"] == "undecided":
                v["more_seeds"] = 14 if arm["keep"] == .1 else 1

    def step_times(self):
        rows = [dict(what="load an example", seconds=1e-6), dict(what="learn 39", seconds=.0029),
                dict(what="learn 128", seconds=.0081), dict(what="optimizer", seconds=5e-5)]
        for arm in self.arms:
            if arm["role"] == "arm":
                pool = "grad-match" in arm["name"]
                rows += [dict(what="score the pool: " + arm["name"], seconds=1.98),
                         dict(what="solve the pool: " + arm["name"], seconds=.957)] if pool else \
                        [dict(what="score an example: " + arm["name"], seconds=3.15e-5),
                         dict(what="decide: " + arm["name"], seconds=2e-5)]
        return rows

    def frontier(self):
        best = -1
        for arm in sorted((a for a in self.arms if a["mean"] is not None), key=lambda a: (a["cost"], -a["mean"])):
            arm["pareto"] = arm["mean"] > best
            best = max(best, arm["mean"])

    def write(self, **changes):
        self.frontier()
        whole = dict(
            version=1, title=self.title, created="2026-01-05T10:00:00Z", finished=True,
            command="cull compare recipes/lenet-fashion.yaml --strategies random,sb,gradmatch --keep 0.1,0.3 --seeds %d" % len(self.seeds),
            machine=dict(cpu="Example CPU @ 2.1 GHz", cores=2, backend="cpu avx2 1 thread", version="0.1.0"),
            threads=1, jobs=2, seeds=self.seeds, margin=.5, classes=10,
            recipe={"model": "lenet5", "data.name": "fashion-mnist", "data.batch": "128", "train.epochs": "3",
                    "optim.lr": "0.05", "optim.nesterov": "true", "schedule.name": "one-cycle"},
            costs=dict(full_step=.0081, rows=self.step_times()),
            verdict="Remembered losses are better than uniform sampling at the same cost, by 0.8 points at ρ = 0.1; "
                    "no strategy that pays for a scoring pass is.",
            arms=self.arms, problems=self.problems, warnings=self.warnings)
        whole.update(changes)
        json_file(os.path.join(self.folder, "comparison.json"), whole)


def make(folder, title, seeds, strategies, keeps, noise=0, files=True, passes=("separate",), rename=lambda s: s,
         watts=None, warnings=(), total=52.0):
    c = Comparison(folder, title, seeds, noise, watts, total)
    c.warnings += warnings
    full = c.arm("full", "full", "full", 1.0, None, 1.0, 1.0, 90.6, files)
    controls = {}

    def control(role, strategy, cost, keep, final):
        key = (role, round(cost, 2))
        if key not in controls:
            controls[key] = c.arm("%s at %.0f %%" % (role, 100 * cost), role, strategy, keep, None, cost, cost, final,
                                  files and role != "early-stop")
        return controls[key]

    for keep in keeps:
        for strategy in strategies:
            for pass_ in passes:
                pays = strategy not in ("random", "sb remembered")
                cost = keep + (.34 if pays and pass_ == "separate" else .22 if pays else .01)
                level = 86.0 + 4.4 * min(cost, 1) ** .5
                final = level - (1.6 if pays else 0) * (keep < .2) + GAIN.get(strategy, c.rng.gauss(0, .3))
                name = rename("%s keep=%g%s" % (strategy, keep, " " + pass_ if pays else ""))
                bare = " ".join(word for word in strategy.split() if "=" not in word)
                arm = c.arm(name, "arm", rename(bare), keep, pass_ if pays else None, cost,
                            keep + (1 / 3 if pays else 0), final, files)
                arm["options"] = dict(word.split("=", 1) for word in strategy.split() if "=" in word)
                arm["to_error"] = [dict(factor=f, cost=cost * s if cost * s < 1 and final > 88 else None)
                                   for f, s in ((1.1, .97), (1.2, .83), (1.4, .61))]
                whole = control("whole-budget", "random", cost, cost - .01, level)
                same = control("same-m", "random", keep + .01, keep, level - .5)
                short = control("shortened", "full", cost, 1.0, level - .3)
                early = control("early-stop", "full", cost, 1.0, level - 1.5)
                arm["controls"] = {"whole-budget": whole["name"], "same-m": same["name"], "shortened": short["name"],
                                   "early-stop": early["name"]}
                uniform = strategy == "random" and keep > .2  # at .1 it stands for an arm that is no different
                if uniform:
                    arm["verdict"] = "control"
                for kind, other in (("whole-budget", whole), ("same-m", same), ("shortened", short), ("early-stop", early)):
                    if not uniform or kind in ("shortened", "early-stop"):
                        c.versus(arm, other, kind)
    full["to_error"] = []
    c.judge()
    return c


def write_below(many, begun):
    """Folders with something to show further down, and a comparison that was never judged."""
    make(os.path.join(many, "deep", "er", "compared"), "Deep down", [1, 2], ["sb"], [.3]).write()
    for name, warnings in (("runs/one", [WARNING, HOSTILE]), ("runs/two", [WARNING]), (".hidden", [])):
        write_run(os.path.join(many, name), random.Random(9), "sb", "sb", .3, 89, .6, seconds_of(.6, .3, "sb"), 5,
                  warnings=warnings)
    write_probes(os.path.join(many, "probed"), random.Random(10))
    os.makedirs(os.path.join(many, "empty"))
    write_run(os.path.join(begun, "runs", "sb", "seed-1"), random.Random(9), "sb", "sb", .3, 89, .6, seconds_of(.6, .3, "sb"), 5)
    json_file(os.path.join(begun, "plan.json"), dict(version=1))


def samples(out):
    """{name: folder}, all written."""
    at = {name: os.path.join(out, name) for name in
          ("full", "quick", "unfinished", "corrupt", "one_seed", "many_arms", "long_names", "hostile", "truncated", "run", "empty", "probe", "picks", "nothing", "odd",
           "extreme", "long", "options", "uniform", "stream", "streams", "shorter", "no_full", "many", "begun")}
    usual = list(GAIN)
    make(at["full"], "LeNet-5 on fashion-mnist, 3 epochs, batch 128", [1, 2, 3, 4, 5, 6], usual, [.1, .3], noise=.1,
         warnings=[WARNING]).write()

    # As a first try on a small table is.
    c = make(at["quick"], "Runs of milliseconds", [1, 2], usual[:3], [.3], total=.00095)
    for run in c.arms[0]["runs"]:
        path = os.path.join(at["quick"], run["folder"], "metrics.jsonl")
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        lines[-1]["accuracy"] = 1.0
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    c.write(test=50)

    c = make(at["unfinished"], "LeNet-5 on fashion-mnist, half-way", [1, 2, 3], usual, [.1, .3])
    for arm in c.arms[4:]:
        for run in arm["runs"][1:]:
            run.update(status="missing", accuracy=None, best=None, seconds={p: None for p in PHASES})
        arm.update(sd=None, mean=None if arm is c.arms[-1] else arm["runs"][0]["accuracy"])
        for v in arm.get("versus", []):
            v.update(sd=None, low=None, high=None, p=None, p_holm=None, verdict=None, more_seeds=None)
    c.write(finished=False, verdict="")

    c = make(at["corrupt"], "With damaged runs", [1, 2, 3], usual[:3], [.3])
    first, second, third = c.arms[1]["runs"], c.arms[2]["runs"], c.arms[4]["runs"]
    with open(os.path.join(at["corrupt"], first[0]["folder"], "metrics.jsonl"), "a", encoding="utf-8") as file:
        file.write('{"kind":"evaluate","set":"te')
    with open(os.path.join(at["corrupt"], first[1]["folder"], "metrics.jsonl"), "wb") as file:
        file.write(bytes(range(256)) * 3)
    os.remove(os.path.join(at["corrupt"], second[0]["folder"], "metrics.jsonl"))
    with open(os.path.join(at["corrupt"], second[1]["folder"], "selection.npz"), "wb") as file:
        file.write(b"PK\x05\x06 no archive")
    second[2].update(status="failed", why="the loss is no longer finite", accuracy=None)
    next(a for a in c.arms if a["name"] == "sb keep=0.3 separate")["runs"][2].update(
        status="failed", why="ended by signal 9", accuracy=None, best=None)
    third[0].update(status="corrupt", why="run.json: line 1 is no JSON", accuracy=None)
    third[1]["folder"] = "../../etc"
    c.problems.append("%s: run.json is no JSON; skipped" % third[0]["folder"])
    c.write(verdict="Undecided: about 14 more seeds needed.")

    make(at["one_seed"], "One seed", [7], usual[:3], [.3], watts=40).write(
        verdict="One seed decides nothing: there is no spread to test against.")
    many = ["strategy-%d" % i for i in range(10)]
    make(at["many_arms"], "Thirty arms", [1, 2], many, [.05, .2, .7]).write()
    make(at["long_names"], "A title that goes on " * 12, [1, 2], usual[:3], [.3],
         rename=lambda s: s + " with-an-option=of-very-great-length-that-nobody-would-type" * 4).write(
        verdict="A verdict of many words. " * 60)
    c = make(at["hostile"], HOSTILE, [1, 2], usual[:3], [.3], rename=lambda s: HOSTILE + s)
    c.problems.append(HOSTILE)
    c.write(verdict=HOSTILE, command=[HOSTILE, {"a": 1}], created=HOSTILE, recipe={HOSTILE: HOSTILE, "list": [1, [2], "x"]},
            margin="wide", seeds={"a": 1}, machine=[1, 2])
    make(at["options"], "Options", [1, 2], ["sb", "sb score.norm=running", "sb beta=3"], [.25, .5]).write()
    make(at["uniform"], "Uniform", [1, 2], ["random"], [.1, .5], files=False).write()
    for name, beside, keeps in (("stream", ["sb"], [.25, .5]), ("streams", [], [.5])):
        c = make(at[name], "Rules that decide how many they keep", [1, 2], beside + ["sb-stream", "infobatch"], keeps)
        c.arms = [a for a in c.arms if a["strategy"] not in ("sb-stream", "infobatch") or a["keep"] == .5]
        for arm in c.arms:
            if arm["strategy"] in ("sb-stream", "infobatch"):
                arm.update(keep=None, name="%s separate" % arm["strategy"])
        c.write()
    os.makedirs(at["truncated"])
    with open(os.path.join(at["full"], "comparison.json"), "rb") as whole, \
            open(os.path.join(at["truncated"], "comparison.json"), "wb") as cut:
        cut.write(whole.read()[:5000])
    write_run(at["run"], random.Random(5), "sb", "sb", .3, 89.7, .6, seconds_of(.6, .3, "sb"), 5, noise=.1, probes=True,
              audit=True, watts=40)
    os.makedirs(at["empty"])
    write_probes(at["probe"], random.Random(6))
    write_picks(at["picks"], random.Random(7))
    json_file(os.path.join(at["nothing"], "comparison.json"), dict(version=1, arms=[]))
    json_file(os.path.join(at["odd"], "comparison.json"), dict(version=1, arms=[None, 1, {}, []]))
    c = make(at["extreme"], "Numbers that cannot be", [1, 2], usual[:3], [.1, .3], files=False)
    for arm, value in zip(c.arms[1:], (1e300, -1e300, 1e-300, 0, -5, 1e29, -1e29) * 9):
        arm.update(mean=value, cost=value, keep=value)
        for v in arm.get("versus", []):
            v.update(difference=value, low=-value, high=value, p=value)
        for run in arm["runs"]:
            run.update(accuracy=value, seconds={p: value for p in PHASES})
    c.write(margin=-5)
    c = make(at["shorter"], "Nothing pays", [1, 2, 3, 4, 5, 6], ["sb"], [.3], files=False, warnings=[WARNING])
    for arm in c.arms:
        if arm["role"] == "shortened":
            for run, full in zip(arm["runs"], c.arms[0]["runs"]):
                run["accuracy"] = full["accuracy"] - .1
            arm["mean"] = c.arms[0]["mean"] - .1
        if arm["role"] == "arm":  # better than uniform choice, and yet outdone
            arm["verdict"] = arm["versus"][0]["verdict"] = "better"
            arm["versus"][0]["difference"] = .9
    c.write(verdict="Selection pays here: as older comparisons say.")
    c = make(at["no_full"], "Without full training", [1, 2, 3], ["sb remembered"], [.3], files=False)
    for run in c.arms[0]["runs"]:
        run.update(status="failed", why="out of memory", accuracy=None, best=None)
    c.arms[0].update(mean=None, sd=None)
    c.write()
    write_below(at["many"], at["begun"])
    write_run(at["long"], random.Random(8), "sb", "sb", .3, 89.7, .6, seconds_of(.6, .3, "sb"), 5, points=20000)
    json_file(os.path.join(at["long"], "run.json"), dict(status="running", epoch=3, accuracy=.897, strategy="sb"))
    return at


if __name__ == "__main__":
    for sample, place in samples(sys.argv[1]).items():
        print(sample, place)
