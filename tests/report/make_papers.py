#!/usr/bin/python3
"""Made-up papers for the tests of their pages: run folders, and a description of the page as paper_page.c reads it.

    tests/report/make_papers.py OUT        (writes OUT/made.json, OUT/hostile.json, OUT/bare.json and the runs)

Everything is drawn from fixed seeds. The numbers are invented; their shapes are those of real runs.
"""
import json
import math
import os
import random
import sys

import make_samples
from make_samples import HOSTILE, PHASES, json_file

SETTINGS = {  # what a strategy is like: points below full training, shares of full's time, of the updates
    "full": (0, 0, 1), "random": (1.2, 0, 1), "sb beta=balles": (1.9, .35, 1), "gradmatch": (1.4, .38, 1),
    "sb-stream beta=2": (.1, .3, .36), "sb-stream stale beta=2 stale-every=3": (.3, .12, .36), "kath18": (.6, .4, .5),
    "grad-match": (.8, .03, 1), "grad-match scope=batch warm=0.5": (.3, .02, 1), "craig": (1.5, .06, 1),
    "glister": (1.1, .08, 1), "better": (-.7, .02, 1),
}


class Runs:
    """Run folders below a folder, each made once."""

    def __init__(self, folder):
        self.folder, self.made = folder, set()

    def make(self, strategy, seed, keep=1.0, harder=0.0, longer=1.0, looks=24, watts=None, away=""):
        """The folder of a run of that kind."""
        name = "".join(c if c.isalnum() or c in ".-" else "-" for c in
                       "%s-%g-%g-%g%s-%d" % (strategy, keep, harder, longer, away, seed))[:120]
        path = os.path.join(self.folder, name)
        if path not in self.made:
            self.made.add(path)
            write_course(path, strategy, seed, keep, harder, longer, looks, watts)
        return path


def write_course(path, strategy, seed, keep, harder, longer, looks, watts):
    rng = random.Random("%s %d %g %g %g" % (strategy, seed, keep, harder, longer))
    below, pays, fewer = SETTINGS.get(strategy) or (.3 + .1 * rng.randrange(12), .05, 1)
    whole = 200.0 * longer
    final = 94.0 - harder - below * (1 + .8 * (keep < .2)) - 3.4 * (1 - keep) ** 4 + .6 * math.log(longer) + rng.gauss(0, .18)
    seconds = dict(load=.03 * whole * max(keep, .2), score=.3 * whole * (pays > .1), select=.2 * whole * pays * (pays < .1),
                   learn=.93 * whole * keep * (1 if strategy == "full" else fewer if fewer < 1 else 1), optim=.04 * whole * keep)
    steps, trained = int(4000 * longer), int(512000 * longer * keep * fewer)
    scored = int(512000 * longer) if pays > .1 else 0
    lines = []
    for i in range(1, looks + 1):
        share = i / looks
        value = make_samples.accuracy_at(share, final + .25) + rng.gauss(0, .8 * (1 - share) ** .5)
        value = min(99.0, final if i == looks else value)
        lines.append(dict(kind="evaluate", step=int(steps * share), epoch=30 * share, set="test", loss=2.3 * (1 - value / 110),
                          accuracy=value / 100, best=False, scored=int(scored * share), trained=int(trained * share),
                          thirds=int((3 * trained + scored) * share), updates=int(steps * fewer * share),
                          seconds=sum(seconds.values()) * share,
                          **{"seconds_" + k: v * share * rng.uniform(.995, 1.005) for k, v in seconds.items()},
                          **({"joules_" + k: watts * v * share for k, v in seconds.items()} if watts else {})))
    last = {k: lines[-1]["seconds_" + k] for k in PHASES}
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "metrics.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    json_file(os.path.join(path, "run.json"), dict(
        status="finished", version="0.1.0", seed=seed, model="resnet18", parameters=11173962, strategy=strategy.split()[0],
        machine=dict(system="Linux", release="6.1.0", processor="x86_64", cores=2, backend="cpu"),
        data=dict(name="cifar10", train=50000, validation=0, test=10000, classes=10, dropped=0, relabelled=0, wrong=0, copies=0),
        watched="test", step=steps, epoch=30, accuracy=final / 100, best=max(l["accuracy"] for l in lines), best_epoch=29,
        test=final / 100, scored=scored, trained=trained, thirds=3 * trained + scored, seconds=sum(last.values()),
        seconds_by_phase=last, joules_by_phase={k: watts * v for k, v in last.items()} if watts else "no counter"))


def arm(runs, series, seeds, x=None, value="", group="", **kind):
    full = series == "full"
    return dict(series=series, group=group, value=value, full=full, seed=list(seeds), **({} if x is None else dict(x=x)),
                run=[runs.make(series, seed, **kind) for seed in seeds])


def figure(number, title, drawing, arms=(), **more):
    count = sum(len(a["run"]) for a in arms)
    return dict(dict(name="made/" + number.lower().replace(" ", ""), number=number, title=title, drawing=drawing, arms=list(arms),
                     claim="Selection does this much better, and sooner, than training on everything.", x="", y="", folder="",
                     runs=count, of=count, held="open", missing="", finding="Ours is 1.3 points below, of 0.5 that would count.",
                     scale="3 of 300 epochs, 2 of 5 seeds, and a tenth of the training examples."), **more)


def by_keep(runs):
    seeds = (1, 2, 3)
    return [arm(runs, "full", seeds)] + [arm(runs, s, seeds, keep, keep=keep) for s in ("random", "sb beta=balles", "gradmatch")
                                         for keep in (.1, .3, .5)]


def by_number(runs):
    """Every value has a full training of its own."""
    return [arm(runs, s, (1, 2), x, "%g" % x, keep=keep, harder=2 * abs(math.log10(x)), longer=1 / x)
            for x in (.1, .316, 1, 3.16, 10) for s, keep in (("full", 1), ("random", .3), ("gradmatch", .3))]


def by_word(runs):
    return [arm(runs, s, (1, 2), None, word, keep=keep, harder=harder, away=word)
            for word, harder in (("resnet18", 0), ("densenet-bc-100-12", .8), ("mobilenetv2", 2))
            for s, keep in (("full", 1), ("sb-stream beta=2", .4))]


JIANG = ("sb-stream beta=2", "sb-stream stale beta=2 stale-every=3", "kath18")


def jiang(runs):
    groups = ["SB and Stale-SB", "SB and Stale-SB", "Kath18"]
    return [arm(runs, "full", (1, 2), group="Traditional")] + [arm(runs, s, (1, 2), group=g, keep=.9) for s, g in zip(JIANG, groups)]


RIVALS = ("grad-match", "grad-match scope=batch warm=0.5", "craig", "glister")
OTHERS = ("grad-match warm=0.5", "grad-match scope=batch", "craig warm=0.5", "craig scope=batch", "craig scope=batch warm=0.5",
          "glister warm=0.5", "adaptive-random", "adaptive-random warm=0.5")


def rivals(runs, seeds, keeps=(.05, .1, .2, .3), series=RIVALS, watts=None):
    return [arm(runs, "full", seeds, watts=watts, away="w" if watts else "")] + \
        [arm(runs, s, seeds, keep, keep=keep, watts=watts, away="w" if watts else "") for s in series for keep in keeps]


def by_noise(runs):
    """Against the share, for each of two values."""
    return [dict(one, value=value) for value in ("0.05", "0.4") for one in by_keep(runs)]


def longer(runs):
    """Longer runs against one common full run."""
    return [arm(runs, "full", (1, 2))] + [arm(runs, "grad-match scope=batch warm=0.5", (1, 2), x, "%g epochs" % x, keep=.3, longer=x / 300)
                                          for x in (300, 330, 350)]


def ridges(runs):
    """Numbers with nothing among them; and words before them."""
    return [arm(runs, "full", (1, 2))] + [arm(runs, s, (1, 2), x, "absolute:%g" % x, keep=.1, harder=abs(.5 - x) ** .5)
                                          for s in ("grad-match", "glister") for x in (0, .1, .5, 1, 10)]


def periods(runs):
    """One line over a value that is no share."""
    return [arm(runs, "full", (1, 2))] + [arm(runs, s, (1, 2), x, "%d" % x, keep=.05, harder=.05 * x, longer=1 - x / 40)
                                          for s in ("grad-match", "craig") for x in (5, 10, 20)]


def write_points(folder, points, spread=None):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "points.jsonl"), "w", encoding="utf-8") as file:
        for panel, series, value, x, y in points:
            point = dict(kind="point", panel=panel, series=series, value=value, y=y)
            if x is not None:
                point["x"] = x
            if spread:
                point.update(low=y - spread, high=y + spread)
            file.write(json.dumps(point) + "\n")
    return folder


def confidence(out):
    return write_points(os.path.join(out, "confidence"), [
        (panel, series, "", float(x), scale * (1 - math.exp(-x / sharp)))
        for panel, scale in (("confidence in the true class", 1), ("share classified right", .96))
        for series, sharp in (("full training", 30), ("sb-stream beta=2", 18)) for x in range(0, 101, 1 if scale == 1 else 10)])


def chances(out):
    rng = random.Random(3)
    return write_points(os.path.join(out, "chances"), [
        (panel, "example %d" % i, "", float(epoch), min(1, max(0, .15 * i + rng.gauss(0, wide))))
        for panel, wide in (("full", .05), ("sb-stream beta=2", .14)) for i in range(1, 6) for epoch in range(1, 16)])


def gradients(out):
    """A picture with few lines, and one with many."""
    return write_points(os.path.join(out, "gradients"), [
        (panel, "picks %d" % i, "", float(epoch), .1 * i + .01 * epoch)
        for panel, lines in (("cosine", 3), ("equal signs", 9)) for i in range(lines) for epoch in range(1, 9)], spread=.05)


def passes(out):
    return write_points(os.path.join(out, "passes"), [
        ("", part, "batch %d" % batch, None, seconds * batch / 128) for batch in (32, 64, 128)
        for part, seconds in (("forward", .013), ("backward", .031))])


def made(out):
    runs = Runs(os.path.join(out, "runs"))
    examples, probed = os.path.join(out, "examples"), os.path.join(out, "probed")
    os.makedirs(examples, exist_ok=True)
    make_samples.write_audit(examples, 4, 32, 3)
    make_samples.write_probes(probed, random.Random(6))
    return dict(name="made", title="Somebody et al.: A paper that was made up for its page, 2026",
                setup="Two cores of an example processor, version 0.1.0.", figures=[
        figure("Figure 1", "accuracy against the share kept, CIFAR-10", "by-keep", by_keep(runs), held="held", x="share kept"),
        figure("Figure 2", "the easiest and the hardest examples", "examples", folder=examples, held="none", of=0),
        figure("Figure 3", "squared gradient error at the start", "errors", folder=probed, held="not", of=0),
        figure("Figure 4", "accuracy against the stretch of rate and epochs", "by-value", by_number(runs), x="stretch of rate and epochs"),
        figure("Figure 5", "three architectures", "by-value", by_word(runs), x="architecture", held="held"),
        figure("Figure 6", "error against updates, CIFAR-10, WRN-28-10", "updates", jiang(runs)),
        figure("Figure 7", "error against time, CIFAR-10, WRN-28-10", "time", jiang(runs), held="held", of=12),
        figure("Figure 8", "confidence after ten epochs", "lines", folder=confidence(out), x="percentile of the test examples",
               y="in the true class", of=0),
        figure("Figure 9", "three noise levels", "time", by_word(runs)),
        figure("Figure 10", "where the time to a target error goes", "phases", jiang(runs), target=1.2),
        figure("Figure 11", "longer runs", "time", longer(runs)),
        figure("Figure 3j", "accuracy against time", "course", longer(runs)),
        figure("Figure 3m", "accuracy against time, of many", "course", rivals(runs, (1, 2), (.3,), RIVALS + OTHERS)),
        figure("Figure 12", "speed-up against error", "speedup", rivals(runs, (1, 2))),
        figure("Figure 13", "energy against error", "energy", rivals(runs, (1, 2), watts=40)),
        figure("Figure 14", "the frontier of time and error", "frontier", jiang(runs)),
        figure("Figure 15", "chances of being picked over time", "lines", folder=chances(out), x="epoch", y="chance of being picked; and then", of=0),
        figure("Figure 16", "gradients of examples of high loss", "lines", folder=gradients(out), x="epoch", of=0),
        figure("Figure 18", "forward against backward", "bars", folder=passes(out), x="seconds of a batch", of=0),
        figure("Table 1", "speed-up to 1.1, 1.2 and 1.4 times the final error", "targets", jiang(runs), held="not"),
        figure("Table 2", "signed-rank test against the rivals", "ranks", rivals(runs, (1, 2))),
        figure("Table 6", "runs of some are missing", "ranks",
               rivals(runs, (1, 2), (.1, .2), RIVALS[:2]) + rivals(runs, (2, 3), (.05, .1), RIVALS[2:])[1:]),
        figure("Table 3", "the same of all strategies, too few of each", "ranks", rivals(runs, (1, 2), (.1, .3), RIVALS + OTHERS)),
        figure("Figure 16", "speed-up against error, all strategies", "speedup", rivals(runs, (1, 2), (.1, .3), RIVALS + OTHERS)),
        figure("Figure 17", "what beats full training, and what never comes near", "speedup",
               rivals(runs, (1, 2), (.2, .9, .95), ("better", "craig"))),
        figure("Table 4", "the same, to errors", "targets", rivals(runs, (1, 2, 3), (.05, .9, .95), ("better", "craig"))),
        figure("Table 5", "errors of three architectures", "targets", by_word(runs)[:-2] + by_word(runs)[-1:]),
        figure("Figure 23", "longer runs against one full training, which is of the first value", "by-value",
               [dict(longer(runs)[0], value="300", x=300)] + longer(runs)[1:], x="epochs"),
        figure("Figure 24", "a ridge, none among them", "by-value", ridges(runs), x="lambda"),
        figure("Figure 25", "how often to select", "speedup", periods(runs)),
        figure("Figure 22", "a target that some runs reach", "phases", jiang(runs), target=.99),
        figure("Figure 19", "ImageNet in full size", "speedup", missing="It trains on ImageNet in full size, which is not here.",
               held="none", of=0, finding="", scale=""),
        figure("Figure C.3", "various levels of noise", "by-keep", by_noise(runs), x="share kept; share of wrong labels"),
        figure("Figure 20", "what nobody ran", "by-keep", held="none", of=9, finding="", scale=""),
    ])


def hostile(out):
    """Words of files wherever there can be any, and folders that hold nothing good."""
    runs = Runs(os.path.join(out, "hostile-runs"))
    good = by_keep(runs) + [dict(series=HOSTILE, group=HOSTILE, value=HOSTILE, full=False, x=.3, seed=[1], run=[runs.make("craig", 1, .3)])]
    bad = os.path.join(out, "hostile-bad")
    os.makedirs(bad, exist_ok=True)
    with open(os.path.join(bad, "run.json"), "wb") as file:
        file.write(bytes(range(256)))
    good.append(dict(series="gradmatch", group="", value="", full=False, x=.7, seed=[1, 2, 3], run=[bad, os.path.join(out, "nowhere"), bad]))
    points = write_points(os.path.join(out, "hostile-points"), [(HOSTILE, HOSTILE, HOSTILE, None, 1.0), ("", "", HOSTILE, 1e29, -1e29)])
    with open(os.path.join(points, "points.jsonl"), "a", encoding="utf-8") as file:
        file.write('{"kind":"point","se\n')
    words = dict(title=HOSTILE, claim=HOSTILE, finding=HOSTILE, scale=HOSTILE, x=HOSTILE[:100], y=HOSTILE[:100])
    kinds = ("by-keep", "by-value", "updates", "time", "course", "phases", "frontier", "speedup", "energy", "targets", "ranks")
    figures = [dict(figure(HOSTILE, "", kind, good, target=1.2), **words) for kind in kinds]
    figures += [dict(figure("Figure %d" % (20 + i), "", kind, folder=folder), **words)
                for i, (kind, folder) in enumerate((k, f) for k in ("lines", "bars", "examples", "errors") for f in (points, bad, os.path.join(out, "nowhere")))]
    return dict(name=HOSTILE, title=HOSTILE, setup=HOSTILE, figures=figures)


def samples(out):
    """{name: its description}, all written."""
    papers = dict(made=made(out), hostile=hostile(out), bare=dict(name="bare", title="A paper without figures", setup="", figures=[]))
    for name, paper in papers.items():
        json_file(os.path.join(out, name + ".json"), paper)
    return {name: os.path.join(out, name + ".json") for name in papers}


if __name__ == "__main__":
    for sample, place in samples(sys.argv[1]).items():
        print(sample, place)
