#!/usr/bin/python3
"""Pages of made-up papers: every number that is drawn, against the run folders it was drawn from.

    tests/report/test_papers.py --draw build/tests/paper_page

What is expected is worked out here once more, from run.json, metrics.jsonl and points.jsonl. It is held against the data
in the script that gnuplot was given, the words of marks, the cells of tables, and the places of lines and ticks in the
picture itself. Skipped (77) where numpy or gnuplot is missing.
"""
import argparse
import itertools
import json
import math
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

try:
    import numpy as np

    import make_papers
    import test_folders
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)

PHASES = make_papers.PHASES
KEEPER = """#!/bin/sh
n=$(ls "$KEPT" | wc -l)
tee "$KEPT/$(printf %04d $n)" | exec gnuplot "$@"
"""


# ---- what is there -------------------------------------------------------------------------

class Run:
    """A run folder."""

    read = {}

    def __init__(self, folder):
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
            self.info = json.load(file)
        with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
            self.looks = [json.loads(line) for line in file]
        self.end = 100 * self.info["test"]
        self.best = max([self.end] + [100 * look["accuracy"] for look in self.looks])

    def spent(self, key="seconds"):
        return sum(self.info[key + "_by_phase"].values())

    def reach(self, error):
        return next((look for look in self.looks if error_of(look) <= error), None)


def run_of(folder):
    if folder not in Run.read:
        Run.read[folder] = Run(folder)
    return Run.read[folder]


def runs_of(arm):
    return [run_of(folder) for folder in arm["run"]]


def error_of(look):
    return abs(100 - 100 * look["accuracy"])


def seconds_at(look):
    return sum(look["seconds_" + phase] for phase in PHASES)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def spread(values):
    values = list(values)
    return mean(values), min(values), max(values)


def x_of(arm):
    return arm.get("x", math.nan)


def full_of(figure, arm):
    """That of its value; the one that is of none, or the only one there is; None."""
    fulls = [a for a in figure["arms"] if a["full"]]
    if len(fulls) == 1 and figure["runs"] == figure["of"]:
        return fulls[0]
    return next((a for a in fulls if a["value"] and a["value"] == arm["value"]),
                next((a for a in fulls if not a["value"]), None))


def called(arm):
    return "full training" if arm["full"] else arm["series"]


def named(arm):
    if arm["value"]:
        return "%s, %s" % (called(arm), arm["value"])
    return called(arm) if arm["full"] or math.isnan(x_of(arm)) else "%s, %.4g" % (called(arm), arm["x"])


def told(figure, arm):
    return named(arm) if sum(called(a) == called(arm) for a in figure["arms"]) > 1 else called(arm)


def joined(arms):
    """[(first arm, all of its line)] in the order they come."""
    lines = {}
    for arm in arms:
        lines.setdefault(called(arm), []).append(arm)
    return list(lines.values())


# ---- what was drawn ------------------------------------------------------------------------

class Drawn:
    """A figure: the data and plots of its script, and its picture. A plot is [how, rows, its title]."""

    def __init__(self, script, svg):
        self.svg, self.script = svg, script
        blocks = {int(n): [line.split() for line in rows.splitlines()] for n, rows in
                  re.findall(r"^\$d(\d+) << EOD\n(.*?)^EOD$", script, re.S | re.M)}
        clauses = re.split(r", (?=\$d\d+ |[-\d.e+]+ with)", script[script.rindex("\nplot ") + 6:].strip())
        titles = iter(re.findall("<title>(.*?)</title>", svg))
        self.plots = []
        for clause in clauses:
            block = re.match(r"\$d(\d+) ", clause)
            rows = blocks[int(block.group(1))] if block else [[clause.split()[0]]]
            named_ = ("with lines" in clause and "dt (2,3)" not in clause and "#010204" not in clause) or \
                     ("with points" in clause and "ps .35" not in clause and " every " not in clause) or "boxxyerror" in clause
            self.plots.append((clause, rows, next(titles, None) if named_ else None))
        self.left = list(titles)
        self.used = {clause.split()[0] for clause in clauses}
        self.blocks = blocks

    def rows(self, how, title=None):
        """Data of every plot of this kind, as numbers."""
        return [np.array(rows, float) for clause, rows, name in self.plots if how in clause and (title is None or name == title)]

    def titles(self):
        return [name for _, _, name in self.plots if name]


def near(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return a.shape == b.shape and np.allclose(a, b, rtol=2e-8, atol=1e-9)


class Case(test_folders.Case):
    """Figures of one page, one after the other."""

    def expect_rows(self, drawn, how, want, title=None, what=""):
        """One of the plots of this kind has this data; columns beyond those that are wanted are free."""
        want = np.atleast_2d(np.array(want, float))
        for rows in drawn.rows(how, title):
            if rows.shape[0] == want.shape[0] and near(rows[:, :want.shape[1]], want):
                return
        self.expect(False, "%s: no plot '%s' %s of %s\nbut %s" % (what, how, title, want, drawn.rows(how, title)))

    def expect_titles(self, drawn, want, what):
        """The marks and lines that say something say this, and there are no others."""
        seen, want = sorted(drawn.titles()), sorted(want)
        self.expect(seen == want, "%s: said but not expected %s, expected but not said %s" %
                    (what, [s for s in seen if s not in want], [w for w in want if w not in seen]))
        self.expect(not drawn.left, "%s: words of no plot: %s" % (what, drawn.left))

    def expect_places(self, drawn, what):
        """Lines lie in the picture where their data says, and ticks beside them."""
        logs = ["set logscale " + axis in drawn.script for axis in "xy"]
        scale = lambda value, axis: math.log10(value) if logs[axis] else value
        data, pixels = [], []
        paths = {title: body for title, body in re.findall(r"<g><title>([^<]*)</title>(.*?)(?=<g><title>|\Z)", drawn.svg, re.S)}
        for clause, rows, title in drawn.plots:
            if "using 1:2 with lines" not in clause or not title:
                continue
            path = re.search(r"<path [^>]*d='M([^']*)'", paths[title])
            points = re.findall(r"([-\d.]+),([-\d.]+)", path.group(1)) if path else []
            self.expect(len(points) == len(rows), "%s: %s has %d corners of %d" % (what, title, len(points), len(rows)))
            data += [(scale(float(r[0]), 0), scale(float(r[1]), 1)) for r in rows[:len(points)]]
            pixels += [(float(x), float(y)) for x, y in points[:len(rows)]]
        data, pixels = np.array(data), np.array(pixels)
        for axis in range(2):
            slope, at = np.polyfit(data[:, axis], pixels[:, axis], 1)
            off = np.abs(slope * data[:, axis] + at - pixels[:, axis]).max()
            self.expect(off < .02 and (slope > 0) == (axis == 0), "%s: %s is drawn %.3g px off" % (what, "xy"[axis], off))
            ticks = re.findall(r'<g transform="translate\(([-\d.]+),([-\d.]+)\)"[^>]*text-anchor="%s">\s*<text>\s*(?:<tspan[^>]*>)?\s*([−\d.]+)\s*<'
                               % ("middle", "end")[axis], drawn.svg)
            rest = [float(t[axis]) - slope * scale(float(t[2].replace("−", "-")), axis) - at for t in ticks]
            self.expect(len(ticks) >= 3 and max(rest) - min(rest) < .5, "%s: ticks of %s: %s, off by %s" % (what, "xy"[axis], ticks, rest))


# ---- one kind after the other --------------------------------------------------------------

def check_values(case, figure, drawn, what):
    """Highest and last results, against shares, numbers or words."""
    by_share, want = figure["drawing"] == "by-keep", []
    level = full_of(figure, dict(value="")) if sum(a["full"] for a in figure["arms"]) == 1 else None
    word = lambda a: a["value"].split(":")[-1]
    numbers = [x_of(a) for a in figure["arms"] if a is not level]
    words = list(dict.fromkeys(word(a) for a in figure["arms"] if a is not level))
    placed = any(map(math.isnan, numbers)) or min(numbers) == 0 and max(numbers) > 12 * min(x for x in numbers if x)
    case.expect(("set logscale x" in drawn.script) == (not placed and max(numbers) >= 12 * min(numbers)), "%s: the axis" % what)
    lines = joined(figure["arms"])
    beside = [l for l in lines if l[0] is not level]
    for arms in lines:
        turn = beside.index(arms) if arms in beside else 0
        shift = (turn - .5 * (len(beside) - 1)) * min(.16, .8 / (len(beside) + 1)) if placed else 0
        for best in (True, False):
            rows = []
            for arm in arms if placed else sorted(arms, key=x_of):
                middle, low, high = spread(r.best if best else r.end for r in runs_of(arm))
                where = " at ρ = %.3g" % arm["x"] if by_share and not math.isnan(x_of(arm)) else " at " + arm["value"] if arm["value"] else ""
                want.append("%s%s: %s %.2f %%, %.2f to %.2f over %d seeds" %
                            (called(arm), where, "maximum" if best else "at the end", middle, low, high, len(arm["run"])))
                x = 1 if arm is level else words.index(word(arm)) + 1 + shift if placed else 100 * x_of(arm) if by_share else x_of(arm)
                rows.append((x, middle, low, high))
            if arms[0] is level:
                case.expect_rows(drawn, "with lines", rows[0][1], want[-1], what)
                continue
            if best:
                case.expect_rows(drawn, "yerrorbars" if placed else "filledcurves", rows, None, what)
            for row in rows:
                case.expect_rows(drawn, "with points", row[:2], None, what)
            if not placed:
                case.expect_rows(drawn, "lines lw 1.8" if best else "dt (2,3)", rows, called(arms[0]) if best else None, what)
                want += [called(arms[0])] if best else []
    case.expect_titles(drawn, want, what)
    case.expect(">%s%s%s<" % (figure["x"], " (%)" if by_share else "", ", log scale" if "logscale x" in drawn.script else "") in drawn.svg,
                "%s: the axis is not called %s" % (what, figure["x"]))
    if not placed:
        case.expect_places(drawn, what)


def check_along(case, figure, drawn, what, arms, name):
    updates, course, want = figure["drawing"] == "updates", figure["drawing"] == "course", []
    for arm in arms:
        runs = runs_of(arm)
        rows = []
        for looks in zip(*(r.looks for r in runs)):
            x = mean(look["updates"] if updates else seconds_at(look) for look in looks)
            rows.append((x, *spread(100 * look["accuracy"] if course else error_of(look) for look in looks)))
        case.expect_rows(drawn, "with lines", rows, name(arm), what)
        if len(arms) <= 6:  # more bands would hide each other
            case.expect_rows(drawn, "filledcurves", rows, None, what)
        case.expect_rows(drawn, "with points", rows[-1][:2], None, what)
        best, unit = min(rows, key=lambda r: -r[1] if course else r[1]), "updates" if updates else "s"
        want += [name(arm), "%s: %s %.2f %% after %.4g %s, the %s %.2f %% after %.4g %s" %
                 (name(arm), "accuracy" if course else "error", rows[-1][1], rows[-1][0], unit, "best" if course else "least",
                  best[1], best[0], unit)]
    case.expect(("filledcurves" in drawn.script) == (len(arms) <= 6), "%s: bands of %d lines" % (what, len(arms)))
    case.expect_titles(drawn, want, what)
    case.expect((">test accuracy (%)<" if course else ">test error (%), log scale<") in drawn.svg, "%s: what is drawn is not said" % what)
    case.expect_places(drawn, what)


def check_spent(case, figure, section, drawn, what):
    """Phases until the target, forward told from backward by what scoring an example takes."""
    scoring = [r.info["seconds_by_phase"]["score"] / r.info["scored"] for a in figure["arms"] for r in runs_of(a) if r.info["scored"]]
    want, each = [], mean(scoring)
    parts = ["load and update", "forward, to score", "select", "forward, to learn", "backward"]
    for row, arm in enumerate(figure["arms"]):
        level = figure["target"] * (100 - mean(r.end for r in runs_of(full_of(figure, arm))))
        looks = [look for look in (r.reach(level) for r in runs_of(arm)) if look]
        few = "" if len(looks) == len(arm["run"]) else "%.3g s, %d of %d runs" % (mean(map(seconds_at, looks)), len(looks), len(arm["run"])) if looks else "not reached"
        case.expect(not few or few in drawn.svg, "%s: %s does not say '%s'" % (what, called(arm), few))
        case.expect("(%.2f %%)" % level in section, "%s: no level %.2f" % (what, level))
        if not looks:
            want += ["%s: %s 0 s" % (told(figure, arm), part) for part in parts]
            continue
        forward = [min(each * look["trained"], look["seconds_learn"]) for look in looks]
        values = [mean(l["seconds_load"] + l["seconds_optim"] for l in looks), mean(l["seconds_score"] for l in looks),
                  mean(l["seconds_select"] for l in looks), mean(forward),
                  mean(l["seconds_learn"] - f for l, f in zip(looks, forward))]
        case.expect(abs(sum(values) - mean(seconds_at(l) for l in looks)) < 1e-9, "%s: the parts are not the whole" % what)
        for i, value in enumerate(values):
            start = sum(values[:i])
            title = "%s: %s %.3g s" % (told(figure, arm), parts[i], value)
            case.expect_rows(drawn, "boxxyerror", (start, row + 1, start, start + value, row + .64, row + 1.36), title, what)
            want.append(title)
    case.expect_titles(drawn, want, what)


def check_speedup(case, figure, section, drawn, what):
    key, want, arms = "joules" if figure["drawing"] == "energy" else "seconds", [], [a for a in figure["arms"] if not a["full"]]
    given_up = lambda arm: mean(r.end for r in runs_of(full_of(figure, arm))) - mean(r.end for r in runs_of(arm))
    least = min([1] + [given_up(arm) for arm in arms if given_up(arm) >= .01]) / 2
    none = sum(given_up(arm) < .01 for arm in arms)
    words = " %d mark%s on the lowest line give%s nothing up." % (none, *(("", "s") if none == 1 else ("s", "")))
    case.expect((words in section) == (none > 0) and (none > 0 or "on the lowest line" not in section), "%s: not said: %s" % (what, words))
    case.expect(("small shares lie right" in section) == (not arms[0]["value"]), "%s: which lie right" % what)
    for arms in joined(arms):
        rows = []
        for arm in sorted(arms, key=lambda a: -a["x"]):
            gained = mean(r.spent(key) for r in runs_of(full_of(figure, arm))) / mean(r.spent(key) for r in runs_of(arm))
            lost = given_up(arm)
            rows.append((gained, lost if lost >= .01 else least))
            want.append("%s: %.3g times %s, %.2f points %s" % (named(arm), gained, "less energy" if key == "joules" else "faster",
                                                               abs(lost), "given up" if lost >= 0 else "gained"))
            case.expect_rows(drawn, "with points", rows[-1], want[-1], what)
        case.expect(arms[0]["value"] or [r[0] for r in rows] == sorted(r[0] for r in rows), "%s: small shares do not lie right" % what)
        case.expect_rows(drawn, "with lines", rows, called(arms[0]), what)
        want.append(called(arms[0]))
    case.expect_titles(drawn, want, what)
    case.expect_places(drawn, what)


def check_frontier(case, figure, drawn, table, what):
    """By its definition: no other point is as early and as good, and earlier or better."""
    points = [(seconds_at(look), error_of(look), arm) for arm in figure["arms"] for r in runs_of(arm) for look in r.looks]
    front = [p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and (q[0] < p[0] or q[1] < p[1]) for q in points)]
    want = []
    for x, error, arm in front:
        want.append("%s: error %.2f %% after %.4g s" % (named(arm), error, x))
        case.expect_rows(drawn, "with points", (x, error), want[-1], what)
    case.expect_rows(drawn, "with lines", sorted(p[:2] for p in front), None, what)
    case.expect_titles(drawn, want, what)
    clouds = drawn.rows("ps .35")
    case.expect(sum(map(len, clouds)) == len(points) - len(front), "%s: %d points behind the frontier" % (what, sum(map(len, clouds))))
    groups = list(dict.fromkeys(arm["group"] for arm in figure["arms"]))
    rows = [["Group", "Points", "On the frontier", "Share"]]
    for group in groups:
        mine = sum(p[2]["group"] == group for p in front)
        rows.append([group, str(sum(p[2]["group"] == group for p in points)), str(mine), "%.1f %%" % (100 * mine / len(front))])
    case.expect(table == rows, "%s: %s, not %s" % (what, table, rows))


def check_targets(case, figure, table, what):
    rows = []
    for arm in figure["arms"]:
        if arm["full"] or not full_of(figure, arm):
            continue
        full = runs_of(full_of(figure, arm))
        error = 100 - mean(r.end for r in full)
        row = [told(figure, arm), "%.2f %%" % error, "%.2f %%" % (100 - mean(r.end for r in runs_of(arm)))]
        for factor in (1.1, 1.2, 1.4):
            mine = [seconds_at(l) for l in (r.reach(factor * error) for r in runs_of(arm)) if l]
            whole = [seconds_at(l) for l in (r.reach(factor * error) for r in full) if l]
            few = " (%d of %d runs)" % (len(mine), len(arm["run"])) if len(mine) < len(arm["run"]) else ""
            row.append("%.2f×%s" % (mean(whole) / mean(mine), few) if mine else "never")
        rows.append(row)
    case.expect(table[1:] == rows, "%s: %s, not %s" % (what, table[1:], rows))


def wilcoxon(gains):
    """Two-sided, over all signs."""
    gains = [g for g in gains if abs(g) > 1e-9]
    order = sorted(range(len(gains)), key=lambda i: abs(gains[i]))
    rank = {i: r + 1 for r, i in enumerate(order)}
    seen = sum(rank[i] for i, g in enumerate(gains) if g > 0)
    middle = sum(rank.values()) / 2
    sums = [sum(r for r, s in zip(rank.values(), signs) if s) for signs in itertools.product((0, 1), repeat=len(gains))]
    return sum(abs(s - middle) >= abs(seen - middle) - 1e-9 for s in sums) / len(sums)


def check_ranks(case, figure, section, table, what):
    lines = joined(a for a in figure["arms"] if not a["full"])
    levels = ((".05", 6), (".01", 8), (".005", 9))
    case.expect(table[0] == ["Strategy"] + [called(l[0]) for l in lines], "%s: columns %s" % (what, table[0]))
    gains = {}
    for (i, mine), (j, other) in itertools.permutations(enumerate(lines), 2):
        seeds = {b["x"]: dict(zip(b["seed"], runs_of(b))) for b in other}
        gains[i, j] = [run.end - seeds[a["x"]][seed].end for a in mine if a["x"] in seeds
                       for seed, run in zip(a["seed"], runs_of(a)) if seed in seeds[a["x"]]]
    counts = set(map(len, gains.values()))
    for (i, j), gain in gains.items():
        p, n = wilcoxon(gain), len(gain)
        below = [level for level in (.05, .01, .005) if p <= level]
        want = "%sp = %.2g%s" % ("%+.2f" % mean(gain) if abs(mean(gain)) >= .005 else "0.00", p,
                                 "below " + ("%g" % below[-1])[1:] if below else "")
        if len(counts) > 1:
            want += "%d pair%s" % (n, "" if n == 1 else "s") + next(("%s needs %d more" % (w, k - n) for w, k in levels if n < k), "")
        cell = table[1 + i][1 + j].replace("−", "-")
        case.expect(cell == want, "%s: '%s', not '%s'" % (what, cell, want))
        case.expect(table[1 + i][1 + i] == "–", "%s: a strategy against itself" % what)
    n = min(counts)
    words = " Every test is over %d pairs%s." % (n, "".join("; %s needs %d more" % (w, k - n) for w, k in levels if n < k))
    case.expect((words in section) == (len(counts) == 1) and ("Every test" in section) == (len(counts) == 1), "%s: '%s'" % (what, words))


def check_points(case, figure, drawns, what):
    with open(os.path.join(figure["folder"], "points.jsonl"), encoding="utf-8") as file:
        points = [json.loads(line) for line in file]
    panels = list(dict.fromkeys(p["panel"] for p in points))
    case.expect(len(drawns) == len(panels), "%s: %d pictures of %d" % (what, len(drawns), len(panels)))
    for panel, drawn in zip(panels, drawns):
        mine = [p for p in points if p["panel"] == panel]
        series, want = list(dict.fromkeys(p["series"] for p in mine)), []
        for one in series:
            rows = [(p.get("x"), p["y"]) for p in mine if p["series"] == one]
            if figure["drawing"] == "bars":
                values = list(dict.fromkeys(p["value"] for p in mine))
                for row, value in enumerate(values):
                    part = [next(p["y"] for p in mine if p["value"] == value and p["series"] == s) for s in series]
                    k = series.index(one)
                    title = "%s: %s %.3g" % (value, one, part[k])
                    case.expect_rows(drawn, "boxxyerror", (sum(part[:k]), row + 1, sum(part[:k]), sum(part[:k + 1])), title, what)
                    want.append(title)
                continue
            case.expect_rows(drawn, "with lines", rows, one, what)
            want += [one] + ["%s at %.4g: %.4g" % (one, *row) for row in (rows[::-1][::len(rows) // 8] if len(rows) > 40 else rows)]
        case.expect_titles(drawn, want, what)
        if figure["drawing"] == "lines":  # more bands would hide each other
            case.expect(("filledcurves" in drawn.script) == (len(series) <= 5), "%s: bands of %d lines" % (what, len(series)))
        titles = [(figure[axis] or "").split("; ") for axis in ("xx" if figure["drawing"] == "bars" else "xy")]
        for title in titles:  # of the first picture, of the second; the last counts on
            name = title[min(panels.index(panel), len(title) - 1)]
            case.expect(not name or ">%s<" % name in drawn.svg, "%s: no axis of '%s' is called '%s'" % (what, panel, name))
        if figure["drawing"] == "lines":
            case.expect_places(drawn, what)


def check_errors(case, figure, drawns, what):
    """Shares of minibatches by error, a picture for each share that is kept."""
    with open(os.path.join(figure["folder"], "probe.jsonl"), encoding="utf-8") as file:
        probes = [json.loads(line) for line in file]
    keeps = sorted({p["keep"] for p in probes})
    case.expect(len(drawns) == len(keeps), "%s: %d pictures" % (what, len(drawns)))
    for keep, drawn in zip(keeps, drawns):
        mine = [p for p in probes if p["keep"] == keep]
        logs = [math.log10(p["error"]) for p in mine]
        bins = max(8, math.ceil(2 * (len(mine) / 3) ** (1 / 3) - 1e-9))
        low, width = min(logs), (max(logs) - min(logs)) / bins
        for series in ("random", "sb", "gradmatch"):
            count = [0] * bins
            for p in mine:
                if p["strategy"] == series:
                    count[min(bins - 1, int((math.log10(p["error"]) - low) / width))] += 1
            rows = drawn.rows("with lines", series)[0]
            for x, share in rows:
                i = round((math.log10(x) - low) / width - .5)
                case.expect(abs(share - 100 * count[i] / 200) < .6, "%s: %s has %g %% at %g, not %g" % (what, series, share, x, count[i] / 2))
            case.expect(abs(rows[:, 1].sum() - 100) < 1e-6, "%s: %s adds up to %g %%" % (what, series, rows[:, 1].sum()))


# ---- the page ------------------------------------------------------------------------------

def check_figure(case, figure, section, drawns):
    kind, what = figure["drawing"], "%s (%s)" % (figure["number"], figure["drawing"])
    outline = test_folders.Outline()
    outline.feed(section)
    if kind in ("by-keep", "by-value") and figure["arms"]:
        values = list(dict.fromkeys(a["value"] for a in figure["arms"])) if kind == "by-keep" else [""]
        case.expect(len(drawns) == len(values), "%s: %d pictures" % (what, len(drawns)))
        for value, drawn in zip(values, drawns):
            of_value = [a for a in figure["arms"] if len(values) == 1 or a["value"] == value]
            check_values(case, dict(figure, arms=of_value, x=figure["x"].split("; ")[0]), drawn, what)
            case.expect(len(values) == 1 or figure["x"].split("; ")[1] + " " + value in section, "%s: no words of %s" % (what, value))
    elif kind in ("updates", "time", "course"):
        values = list(dict.fromkeys(a["value"] for a in figure["arms"] if a["full"] and a["value"]))
        groups = [[a for a in figure["arms"] if a["value"] == v] for v in values] if len(values) > 1 else [figure["arms"]]
        case.expect(len(drawns) == len(groups), "%s: %d pictures" % (what, len(drawns)))
        for arms, drawn in zip(groups, drawns):
            check_along(case, figure, drawn, what, arms, called if len(values) > 1 else lambda arm: told(figure, arm))
    elif kind == "phases":
        check_spent(case, figure, section, drawns[0], what)
    elif kind in ("speedup", "energy") and figure["arms"]:
        check_speedup(case, figure, section, drawns[0], what)
    elif kind == "frontier":
        check_frontier(case, figure, drawns[0], outline.tables[0], what)
    elif kind == "targets":
        check_targets(case, figure, outline.tables[0], what)
    elif kind == "ranks":
        check_ranks(case, figure, section, outline.tables[0], what)
    elif kind in ("lines", "bars"):
        check_points(case, figure, drawns, what)
    elif kind == "errors":
        check_errors(case, figure, drawns, what)
    elif kind == "examples":
        case.expect(outline.count.get("img") == 20, "%s: %s pictures" % (what, outline.count.get("img")))


def check_words(case, figure, section, number):
    """Claim, outcome, finding and scale of each, in this order."""
    outcome = dict(none="not judged", held="held", open="undecided")
    outcome["not"] = "not held"
    at = 0
    for words in ('id="figure-%d"' % number, figure["number"], figure["title"], "The paper says", figure["claim"], "Here",
                  ">%s</span>" % outcome[figure["held"]], figure["finding"], figure["scale"], figure["missing"]):
        found = section.find(words, at)
        case.expect(found >= 0, "%s: '%s' is not in its place" % (figure["number"], words))
        at = max(at, found)
    if figure["runs"] < figure["of"]:
        case.expect("%d of %d runs are there" % (figure["runs"], figure["of"]) in section, "%s: no number of runs" % figure["number"])
    if figure["missing"] or not (figure["arms"] or figure["folder"]):
        case.expect("<svg class=\"plot\"" not in section and 'class="note"' in section, "%s: is drawn" % figure["number"])


def check_made(case, paper, text, kept):
    sections = re.findall(r'<section class="part paper[ a-z]*".*?</section>', text, re.S)
    scripts = iter(kept)
    case.expect(len(sections) == len(paper["figures"]), "%d sections" % len(sections))
    for i, (figure, section) in enumerate(zip(paper["figures"], sections)):
        svgs = re.findall(r'<svg class="plot".*?</svg>', section, re.S)
        check_words(case, figure, section, i + 1)
        check_figure(case, figure, section, [Drawn(next(scripts), svg) for svg in svgs])
    case.expect(next(scripts, None) is None, "a figure was drawn that is not on the page")
    outline = test_folders.Outline()
    outline.feed(text)
    for figure, row in zip(paper["figures"], outline.tables[0][1:]):
        runs = "%d of %d" % (figure["runs"], figure["of"]) if figure["of"] else "–"
        case.expect(row[:3] == [figure["number"], figure["title"], runs], "contents: %s" % row)
    held = [f["held"] for f in paper["figures"]]
    case.expect("Of %d claims that were judged here, %d held, %d did not, and %d are undecided." %
                (len(held) - held.count("none"), held.count("held"), held.count("not"), held.count("open")) in text, "no sum of claims")


def check_hostile(case, text, said):
    case.expect(said["undrawn"] == 0, "hostile: %s" % said)
    case.expect("\u202e" not in text and "<script" not in text and "&lt;script&gt;" in text, "hostile: something came through")
    case.expect(text.count("hostile-bad: run.json") == 1 and text.count("nowhere: holds no run") == 1, "hostile: a folder is named twice or never")


def draw(program, description, page, keeper, kept):
    os.makedirs(kept)
    environment = dict(os.environ, KEPT=kept)
    done = subprocess.run([program, description, page, keeper], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr)
    scripts = []
    for name in sorted(os.listdir(kept)):
        with open(os.path.join(kept, name), encoding="utf-8") as file:
            scripts.append(file.read())
    return json.loads(done.stdout), scripts


def run(program, folder):
    case = Case(None, folder)
    papers = make_papers.samples(folder)
    keeper = os.path.join(folder, "keeper")
    with open(keeper, "w", encoding="utf-8") as file:
        file.write(KEEPER)
    os.chmod(keeper, os.stat(keeper).st_mode | stat.S_IEXEC)
    for name, description in papers.items():
        page = os.path.join(folder, name + ".html")
        said, scripts = draw(program, description, page, keeper, os.path.join(folder, "kept-" + name))
        text, _ = case.page(page)
        with open(description, encoding="utf-8") as file:
            paper = json.load(file)
        if name == "made":
            check_made(case, paper, text, scripts)
            case.expect(said["runs"] == len({r for f in paper["figures"] for a in f["arms"] for r in a["run"]}), "made: %s" % said)
            case.expect(said["problems"] == 0 and said["figures"] == len(scripts), "made: %s" % said)
        elif name == "hostile":
            check_hostile(case, text, said)
        else:
            case.expect("None of the claims of 0 figures" in text, "bare: no sentence")
    return case.wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--draw", required=True)
    program = os.path.abspath(parser.parse_args().draw)
    if not shutil.which("gnuplot"):
        print("skipped: gnuplot is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="cull_papers_") as folder:
        wrong = run(program, folder)
    print("\n".join(wrong) or "every number is where it belongs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
