#!/usr/bin/python3
"""cull report on whole and damaged folders: exit status, what is said, and what the page holds.

    tests/report/test_folders.py --cull build/cull

Skipped (77) where numpy or gnuplot is missing.
"""
import argparse
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import make_samples
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)

VOID = {"meta", "link", "img", "br", "circle", "path", "use", "rect"}


class Outline(html.parser.HTMLParser):
    """Tags that close in order, headings that descend a level at a time, no script, nothing fetched."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.level, self.count, self.ids, self.labels = [], [], 0, {}, set(), set()
        self.tables, self.links = [], set()  # a table is a list of rows, a row one of texts

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script" or any(name.startswith("on") for name in attrs):
            self.problems.append("script: %s %s" % (tag, attrs))
        for name in ("src", "href", "xlink:href"):
            value = attrs.get(name, "#")
            if not value.startswith(("#", "data:")):
                self.problems.append("fetches %s" % value[:80])
        if tag == "a":
            self.links.add(attrs.get("href", "")[1:])
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
        if "id" in attrs:
            if attrs["id"] in self.ids:
                self.problems.append("id %s twice" % attrs["id"])
            self.ids.add(attrs["id"])
        if tag == "img" and not attrs.get("alt"):
            self.problems.append("a picture without words")
        if tag == "section":
            self.labels = set()
        if tag == "svg" and "plot" in attrs.get("class", ""):
            if not attrs.get("aria-label") or attrs["aria-label"] in self.labels:
                self.problems.append("a figure without words of its own: %s" % attrs.get("aria-label"))
            self.labels.add(attrs.get("aria-label"))
        if tag == "th" and attrs.get("scope") not in ("row", "col"):
            self.problems.append("a heading that says not of what")
        if re.fullmatch("h[1-6]", tag):
            if int(tag[1]) > self.level + 1:
                self.problems.append("%s after h%d" % (tag, self.level))
            self.level = int(tag[1])

    def handle_data(self, data):
        if self.open and {"th", "td"} & set(self.open):
            self.tables[-1][-1][-1] += data

    handle_startendtag = lambda self, tag, attrs: (self.handle_starttag(tag, attrs),
                                                   tag not in VOID and self.handle_endtag(tag))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.problems.append("</%s> inside %s" % (tag, self.open[-3:]))
        else:
            self.open.pop()


class Case:
    """Runs the program and collects what is wrong."""

    def __init__(self, cull, folder):
        self.cull, self.folder, self.wrong = cull, folder, []

    def expect(self, holds, words):
        if not holds:
            self.wrong.append(words)

    def report(self, *arguments, end=0, says="", environment=None):
        done = subprocess.run([self.cull, "report", *arguments], cwd=self.folder, capture_output=True, text=True,
                              env=environment, check=False)
        said = done.stdout + done.stderr
        self.expect(done.returncode == end, "%s: exit %d, not %d: %s" % (arguments, done.returncode, end, said))
        self.expect(says in said, "%s: does not say '%s': %s" % (arguments, says, said))

    def page(self, name, *holds):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            text = file.read()
        outline = Outline()
        outline.feed(text)
        self.expect(not outline.problems and not outline.open,
                    "%s: %s %s" % (name, outline.problems[:5], outline.open))
        for words in holds:
            self.expect(words in text, "%s: does not hold '%s'" % (name, words))
        self.expect(outline.links <= outline.ids, "%s: links to nothing: %s" % (name, outline.links - outline.ids))
        self.check_tables(name, outline.tables)
        self.check_figures(name, text)
        self.expect(not re.search("https?:|url\\(|@import", text), "%s: names an address" % name)
        return text, outline.count


    def check_tables(self, name, tables):
        """No table without rows, no row of another length, no column in which nothing is known."""
        for rows in tables:
            head, body = rows[0], rows[1:]
            self.expect(body and all(len(row) == len(head) for row in body), "%s: table %s" % (name, head))
            for i, title in enumerate(head):
                self.expect(any(row[i].strip() not in ("", "–") for row in body if i < len(row)),
                            "%s: the column '%s' is empty" % (name, title))

    def check_figures(self, name, text):
        """Figures take all colours from the page, so that nothing is white in the dark."""
        for plot in re.findall('<svg class="plot".*?</svg>', text, re.S):
            found = re.search(r"(?i)white|#fff|rgb\(", plot)
            self.expect(not found, "%s: a figure has a colour of its own: %s" % (name, found and found.group()))


def contrast(one, other):
    """WCAG's ratio of two colours "#rgb" or "#rrggbb"."""
    light = []
    for colour in (one, other):
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [p / 12.92 if p <= .04045 else ((p + .055) / 1.055) ** 2.4 for p in parts]
        light.append(.2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2])
    return (max(light) + .05) / (min(light) + .05)


def check_colours(case, text):
    """Words stand 4.5:1 and marks 3:1 against what is behind them: light, dark and on paper."""
    themes = re.findall(r":root\{(.*?)\}", text, re.S)
    case.expect(len(themes) == 3, "%d themes" % len(themes))
    for number, theme in enumerate(themes):
        colour = dict(re.findall(r"--(\w+):(#[0-9a-f]+)", theme))
        words = [("ink", "paper"), ("soft", "paper"), ("soft", "card"), ("ink", "openbg"), ("bad", "paper"),
                 ("open", "paper")] + [(name, name + "bg") for name in ("good", "bad", "even", "open")]
        marks = [("k%d" % i, "paper") for i in (1, 4, 9, 10, *range(16, 24))]
        for pairs, least in ((words, 4.5), (marks, 3)):
            for one, other in pairs:
                ratio = contrast(colour[one], colour[other])
                case.expect(ratio >= least, "theme %d: %s on %s is %.2f:1" % (number, one, other, ratio))


def figure(text, label):
    """The figure whose picture is described by words that begin so."""
    return next((f for f in re.findall("<figure>.*?</figure>", text, re.S) if 'aria-label="%s' % label in f), "")


def keys(text, label):
    """[(how it looks, its name)] of a figure's legend."""
    return re.findall(r"<li>(<svg.*?</svg>)(.*?)</li>", figure(text, label), re.S)


def check_intervals(case, text, comparison):
    """Intervals of the first table, against ones made by hand: plain to full training, and to uniform
    choice at the level at which Holm's procedure tests."""
    with open(os.path.join(case.folder, comparison, "comparison.json"), encoding="utf-8") as file:
        arms = json.load(file)["arms"]
    primary = {a["name"]: v for a in arms for v in a.get("versus", []) if v["kind"] == "whole-budget"}
    levels = dict(zip(primary, make_samples.holm_levels([v["p"] for v in primary.values()])))
    outline = Outline()
    outline.feed(text)
    rows = {row[0].split("◀")[0].split("◁")[0].strip(): row for row in outline.tables[0][1:]}
    case.expect(outline.tables[0][1][0].startswith("full"), "full training is not in the first row")
    for arm in arms:
        if arm["role"] != "arm":
            continue
        row, number = rows[arm["name"]], lambda text: float(text.replace("−", "-"))
        gains = [a["accuracy"] - f["accuracy"] for a, f in zip(arm["runs"], arms[0]["runs"])]
        mean, _, low, high, _ = make_samples.t_interval(gains)
        seen = [number(n) for n in re.findall(r"[−+]?\d+\.\d\d", row[3])]
        case.expect(all(abs(a - b) <= .0051 for a, b in zip(seen, (mean, low, high))) and len(seen) == 3,
                    "%s against full: %s, not %s" % (arm["name"], seen, (mean, low, high)))
        if arm["name"] not in primary:
            case.expect(row[4] == "–", "%s has no primary comparison: %s" % (arm["name"], row[4]))
            continue
        v = primary[arm["name"]]
        half = make_samples.half_width(v["pairs"], v["sd"], levels[arm["name"]])
        seen = [number(n) for n in re.findall(r"[−+]?\d+\.\d\d", row[4])]
        want = (v["difference"], v["difference"] - half, v["difference"] + half)
        case.expect(all(abs(a - b) <= .0051 for a, b in zip(seen, want)) and len(seen) == 3,
                    "%s against uniform: %s, not %s" % (arm["name"], seen, want))
        case.expect((want[1] > 0 or want[2] < 0) == (v["p_holm"] < .05), "%s: interval and p disagree" % arm["name"])
        case.expect('title="%.3g %% interval"' % (100 * levels[arm["name"]]) in text, "no level of %s" % arm["name"])


def check_tooltips(case, text):
    """Marks say what they are, without a script."""
    mark = r"<title>%s: \d\d\.\d\d % at \d+(\.\d)? % of the cost</title>"
    plots = {words: figure(text, words) for words in ("Test accuracy against cost", "Test accuracy against the kept share",
                                                      "Test error against cost")}
    for words, plot in plots.items():
        for name in ("sb 0.1", "sb remembered 0.1", "full training"):
            case.expect(re.search(mark.replace("% at", "%% at").replace("% of", "%% of") % re.escape(name), plot),
                        "%s: no tooltip of %s" % (words, name))
    case.expect(re.search(r"<title>random 0.1: .* of the cost</title>", plots["Test accuracy against cost"]),
                "controls have no tooltips")
    order = plots["Test accuracy against cost"]
    case.expect(order.rindex("<title>random") < order.index("<title>sb 0.1"), "controls are drawn above arms")
    case.expect("<title>sb 0.1: score " in figure(text, "Time of each arm by phase"), "bars have no tooltips")
    case.expect(re.search(r"<title>sb 0.1: [+-]\d\.\d+ points, 9\d\.\d+ % interval", figure(text, "Difference of each arm")),
                "differences have no tooltips")


def check_style(case, text):
    style = text[text.index("<style>"):text.index("</style>")]
    for words in ("prefers-color-scheme:dark", "@media print", "break-inside:avoid", "@page{", "max-width:760px"):
        case.expect(words in style, "no '%s' in the style" % words)


def check_below(case):
    """Folders are looked through."""
    case.report("many", "-o", "below.html", says="1 comparison, 2 runs, 1 probe, ")
    text, _ = case.page("below.html", "1 comparison, 2 runs, 1 probe<", "many/deep/er/compared", 'href="#part-3"', 'id="part-3"')
    case.expect("many/.hidden" not in text, "a hidden folder is shown")
    runs = text[text.index('id="part-2"'):]
    case.expect(runs.count("class 7 has no example") == 1 and "that are trained <small>(all 2 runs)" in runs,
                "a warning of all runs: %s" % runs[:900])
    case.expect("touch x` <small>(1 of 2 runs)" in runs, "a warning of one run: %s" % runs[:900])
    case.report("many", "many/runs/one", "-o", "below.html", "--json", says='"runs": 2')
    case.report("many/runs", "-o", "below.html", says="2 runs, ")
    case.report("begun", "-o", "below.html", says="1 problem named")
    case.page("below.html", "begun and never judged")


def run(cull, folder):
    case = Case(cull, folder)
    make_samples.samples(folder)

    case.report("full", "-o", "full.html", says="12 figures")
    text, count = case.page("full.html", "To save 69\u00a0% of the cost, use sb remembered keep=0.3: it gives up ",
                            "Where that is too much, train in full", "<b>Does selection pay?</b> Remembered losses are better",
                            "6 seeds", "±0.5 points", '<tr class="advised" role="row"><th scope="row" class="w" role="rowheader">',
                            "sb keep=0.1 separate", "label changed", "Wrong labels", "Example CPU", "lenet5",
                            "Easiest examples", "<code>cull compare recipes", "about 1 more seed<")
    case.expect(text.count("class 7 has no example") == 1 and text.index("class 7") < text.index("<table") and
                re.search(r"training set’s 10\u00a0% that are trained <small>\(all \d\d+ runs\)", text), "full: no warning")
    check_intervals(case, text, "full")
    check_tooltips(case, text)
    check_style(case, text)
    case.page("full.html", "Score an example", "31.5&nbsp;µs", "Solve the pool", "957&nbsp;ms", "8.10&nbsp;ms",
              "load an example: 1.00&nbsp;µs", "Energy: not available here.")
    case.expect("▲&nbsp;costs more" not in text, "full: an arm is said to cost too much")
    check_colours(case, text)
    case.expect(count["figure"] == 14 and count["figcaption"] == 14, "full: figures %s" % count.get("figure"))
    case.expect(text.index('class="verdict"') < text.index("<table"), "the verdict does not come first")
    for verdict in ("better", "worse", "no different", "undecided"):
        case.expect('class="pill %s"' % {"no different": "same", "undecided": "open"}.get(verdict, verdict) in text,
                    "no verdict is '%s'" % verdict)
    case.report("full", "-o", "again.html")
    with open(os.path.join(folder, "again.html"), encoding="utf-8") as again:
        case.expect(again.read() == text, "the same folder gives another page")

    case.report("unfinished", "-o", "unfinished.html")
    case.page("unfinished.html", "So far: ", "There is no verdict yet.", "Not finished", "none yet", "(1 of 3 runs)")
    case.report("corrupt", "-o", "corrupt.html", says="problems named at its end")
    case.page("corrupt.html", "is no JSON; skipped", "metrics.jsonl is missing; skipped", "the loss is no longer finite",
              "no folder of this comparison", "selection.npz", "about 14 more seeds", "Left out, since a run failed: sb keep=0.3 separate")
    case.report("one_seed", "-o", "one_seed.html")
    case.page("one_seed.html", "cannot be said yet: one seed decides nothing", "no spread to test against", "–&nbsp;untested<", "Where the energy goes", "Energy J")
    case.report("shorter", "-o", "shorter.html")
    text, _ = case.page("shorter.html", "<b>About the data:</b>", "10\u00a0% that are trained</li>")
    case.page("shorter.html", "Train in full, but not as long: accuracy stays within 0.5 points of full training’s")
    case.page("shorter.html", "Does selection pay?</b> Selection does not pay here: sb keep=0.3 separate beats uniform choice",
              "but something simple that costs no more does better.")
    case.expect("older comparisons" not in text, "shorter: the page says that selection pays, and something else to do")
    case.report("no_full", "-o", "no_full.html", says="named at its end")
    case.page("no_full.html", "cannot be said yet: full training has no finished run", "out of memory")
    check_below(case)
    case.report("many_arms", "-o", "many_arms.html", says="13 figures")
    case.page("many_arms.html", "strategy-9 keep=0.7", "▲&nbsp;costs more than full training")
    case.report("long_names", "-o", "long_names.html")
    text, _ = case.page("long_names.html", "…")
    case.report("quick", "-o", "quick.html")
    text, _ = case.page("quick.html")
    for of in "cost", "time":
        case.expect(" No error at all lies at 0.5, as there is no zero." in figure(text, "Test error against " + of),
                    "quick: where is a run that makes no error, against %s?" % of)
    case.report("options", "-o", "options.html")
    text, _ = case.page("options.html")
    lines = keys(text, "Test accuracy against the kept share")
    for name in ("sb", "sb score.norm=running", "sb beta=3"):
        case.expect([key[1] for key in lines].count(name) == 1, "options: the lines are %s" % lines)
    case.expect(len({look for look, _ in lines}) == len(lines), "options: lines look the same: %s" % lines)
    rows = figure(text, "Difference of each arm")
    for name in ("sb 0.25", "sb 0.5", "sb score…=running 0.25", "sb score.…=running 0.5", "sb beta=3 0.25", "sb beta=3 0.5"):
        case.expect(re.search(r"<text[^>]*>\s*(<tspan[^>]*>)?%s<" % re.escape(name), rows), "options: no row '%s'" % name)
    case.report("uniform", "-o", "uniform.html")
    text, _ = case.page("uniform.html")
    marks = re.findall("<use", figure(text, "Test accuracy against the kept share").partition('<ul class="key">')[0])
    case.expect(len(marks) >= 2, "uniform: %d marks are drawn" % len(marks))
    case.report("stream", "-o", "stream.html")
    text, _ = case.page("stream.html")
    for share, of in (("25", "cost"), ("50", "cost"), ("25", "time"), ("50", "time")):
        names = [name for _, name in keys(text, "Test error against %s for the arms that keep %s %%" % (of, share))]
        for name in ("full training", "uniform, whole budget", "sb", "sb-stream", "infobatch"):
            case.expect(names.count(name) == 1, "stream: error against %s at %s %%: %s" % (of, share, names))
    case.report("streams", "-o", "streams.html")
    text, _ = case.page("streams.html", "<b>Error against cost.</b>", "<b>Error against time.</b>")
    names = [name for _, name in keys(text, "Test error against cost for the arms that decide how many they keep")]
    case.expect("sb-stream" in names and "infobatch" in names, "streams: error against cost: %s" % names)
    case.report("hostile", "-o", "hostile.html", says="1 problem named")
    text, _ = case.page("hostile.html", "&lt;script&gt;alert(1)&lt;/script&gt;")
    case.expect("\u202e" not in text and not os.path.exists(os.path.join(folder, "x")), "hostile: something came through")
    case.report("run", "-o", "run.html", "--json", says='"runs": 1')
    case.page("run.html", "Test accuracy 89.70 %", "strategy sb", "never picked", "Recipe", "Where the energy goes")
    case.report("run", "full", "-o", "both.html", says="19 figures")
    case.page("both.html", "1 comparison, 1 run<")
    case.report("probe", "-o", "probe.html", "--json", says='"probes": 1')
    case.page("probe.html", "gradmatch at ρ = 0.", "of 200 minibatches", "<b>Gradient error, ρ = 0.3.</b>", "Below uniform")
    case.report("picks", "-o", "picks.html", says="0 figures")
    text, _ = case.page("picks.html", "Wrong labels are picked most by sb at ρ = 0.1", "of uniform’s", "Wrong labels", "What the subsets hold")
    case.expect("Median error" not in text, "errors where no gradient was taken")
    case.report("probe", "picks", "run", "-o", "three.html")
    case.page("three.html", "1 run, 2 probes<")

    case.report("truncated", "-o", "none.html", end=1, says="comparison.json: line")
    case.report("empty", "-o", "none.html", end=1, says="nothing in it or below it is a comparison, a run or a probe")
    case.report("nowhere", "-o", "none.html", end=1, says="nowhere: No such file")
    case.report("run/run.json", "-o", "none.html", end=1, says="is no folder; give the one it lies in")
    case.report(end=2, says="no folder is given")
    case.report("run", "-o", "no/where.html", end=1, says="no/where.html")
    case.expect(not os.path.exists(os.path.join(folder, "none.html")), "a page about nothing was written")
    case.report("run", "empty", "-o", "some.html", end=1, says="1 folder was skipped: empty: nothing in it")
    case.page("some.html", "empty: nothing in it or below it")
    case.report("run", "long", "-o", "two.html", says="7 figures")
    case.page("two.html", "Of 2 runs, the best test accuracy is 89.70 %, of run.", "<p><b>long</b></p>")
    case.report("run", "run/", "./run", "-o", "once.html", "--json", says='"runs": 1')
    case.report("run", "-o", "run/run.json", end=2, says="is what the page is about")
    case.report("run", "-o", "run", end=1, says="run: is a folder")
    case.report("run", "-o", "run/page.html")
    for name in ("nothing", "odd"):
        case.report(name, "-o", "odd.html")
        text, count = case.page("odd.html", "There is no verdict yet.")
        case.expect(count.get("tr", 0) != 1 and "nan" not in text, "%s: a table of nothing, or NaN" % name)
    case.report("extreme", "-o", "extreme.html", "--json", says='"undrawn": 0')
    case.page("extreme.html")
    case.report("long", "-o", "long.html", says="4 figures")
    text, _ = case.page("long.html", "The run is running. So far, accuracy is 89.70 %")
    case.expect(len(text) < 200000, "20000 looks make a page of %d bytes" % len(text))
    bare = dict(os.environ, PATH=os.path.join(folder, "empty"))
    case.report("run", "-o", "bare.html", end=1, says="Install gnuplot", environment=bare)
    _, count = case.page("bare.html", "were not drawn: gnuplot is not installed", "Test accuracy")
    case.expect(not any(name.startswith(".") for name in os.listdir(folder)), "a temporary file was left")
    return case.wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cull", required=True)
    cull = os.path.abspath(parser.parse_args().cull)
    if not shutil.which("gnuplot"):
        print("skipped: gnuplot is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="cull_report_") as folder:
        wrong = run(cull, folder)
    print("\n".join(wrong) or "all pages as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
