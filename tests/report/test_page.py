#!/usr/bin/python3
"""The report in a browser: nothing complains, every figure is drawn, nothing sticks out at 400 to 1400 px or on
paper, nothing is white in the dark.

    tests/report/test_page.py --cull build/cull [--draw build/tests/paper_page] [--keep FOLDER] [DIR...]

DIRs are folders of cull compare or cull train; without any, those of make_samples.py are taken, and with --draw the
papers of make_papers.py. With --keep, pictures of the pages stay in FOLDER. Skipped (77) where Chromium, gnuplot or
numpy is missing.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

import browser

try:
    import make_papers
    import make_samples
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)

WIDTHS = (400, 800, 1400)
# What is there, and what sticks out of the page or lies above something else.
LOOK = """(() => {
  const plots = [...document.querySelectorAll('svg.plot')];
  const wide = document.documentElement.clientWidth;
  const drawn = plot => {
    const box = plot.getBoundingClientRect(), inner = plot.querySelector('g').getBBox();
    return box.width > 200 && box.height > 40 && inner.width > 200 && plot.querySelectorAll('path,polygon,use').length > 3;
  };
  const inScroll = e => e.closest('.scroll') !== null;
  const out = [...document.querySelectorAll('main *')].filter(e => !inScroll(e) && !e.closest('svg')
      && e.getBoundingClientRect().right > wide + 1).map(e => e.tagName + '.' + e.className).slice(0, 5);
  const sunk = [...document.querySelectorAll('.scroll')].filter(e => e.getBoundingClientRect().right > wide + 1).length;
  const texts = plots.flatMap(p => [...p.querySelectorAll('text')]);
  const small = texts.filter(t => t.getBoundingClientRect().height < 8 && t.textContent.trim()
      && Math.min(t.getBoundingClientRect().width, t.getBoundingClientRect().height) < 8).length;
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const ticks = plots.map(p => [...p.querySelectorAll('text')].filter(t => t.textContent.trim())
      .map(t => [t.getBoundingClientRect(), t.textContent]));
  const heaped = ticks.flatMap(all => all.flatMap((a, i) => all.slice(i + 1).filter(b => meet(a[0], b[0]))
      .map(b => a[1] + ' and ' + b[1]))).slice(0, 3);
  const verdict = document.querySelector('.verdict'), table = document.querySelector('table');
  const colour = getComputedStyle(document.body), first = document.querySelector('.scroll');
  const isWhite = e => ['fill', 'stroke'].some(k => getComputedStyle(e)[k] === 'rgb(255, 255, 255)');
  return {
    plots: plots.length, undrawn: plots.filter(p => !drawn(p)).length, out, sunk, small, heaped,
    blind: [...document.images].filter(i => !i.complete || i.naturalWidth === 0).length,
    scroll: document.documentElement.scrollWidth, wide,
    verdict: verdict ? verdict.textContent.trim().length : 0,
    size: verdict ? parseFloat(getComputedStyle(verdict).fontSize) : 0,
    first: verdict && table ? verdict.getBoundingClientRect().top < table.getBoundingClientRect().top : false,
    rows: table ? table.querySelectorAll('tbody tr').length : 0,
    unlabelled: plots.filter(p => !p.getAttribute('aria-label')).length,
    captions: document.querySelectorAll('figure').length - document.querySelectorAll('figcaption').length,
    unresolved: [...document.querySelectorAll('use')].filter(u => !document.querySelector(u.getAttribute('href'))).length,
    paper: colour.backgroundColor, ink: colour.color,
    white: [...document.querySelectorAll('svg.plot *')].filter(isWhite).length,
    hidden: first ? first.scrollWidth - first.clientWidth : 0,
  };
})()"""


def brightness(colour):
    return sum(float(part) for part in colour[colour.index("(") + 1:-1].split(",")[:3])


def look(page, window, path, width, dark):
    """What is wrong with one page at one width, as sentences."""
    window.open(path, width, dark)
    seen, name = window.ask(LOOK), "%s at %d px%s" % (page, width, ", dark" if dark else "")
    wrong = ["%s: %s" % (name, words) for words in window.complaints()]
    checks = [
        (seen["plots"] > 0 and seen["undrawn"] == 0, "%(undrawn)d of %(plots)d figures are not drawn"),
        (seen["unlabelled"] == 0 and seen["captions"] == 0, "a figure without label or caption"),
        (seen["unresolved"] == 0, "%(unresolved)d markers are not defined"),
        (seen["blind"] == 0, "%(blind)d pictures cannot be shown"),
        (seen["verdict"] > 20 and seen["size"] >= 18 and seen["first"], "no verdict before the table"),
        (seen["rows"] > 0, "an empty table"),
        (seen["scroll"] <= seen["wide"] == width, "the page is %(scroll)d px wide"),
        (not seen["out"] and not seen["sunk"], "sticks out: %(out)s"),
        (seen["small"] == 0, "%(small)d words are too small to read"),
        # numbers of thirty digits, as only the hostile have them, may
        (not seen["heaped"] or "hostile" in page, "words of a figure lie on each other: %(heaped)s"),
        ((brightness(seen["paper"]) < brightness(seen["ink"])) == dark, "light and dark are mixed up"),
        (not dark or seen["white"] == 0, "%(white)d parts of figures are white"),
        (page != "full" or seen["hidden"] <= 1, "the first table scrolls by %(hidden)d px"),
    ]
    return wrong + ["%s: %s" % (name, words % seen) for holds, words in checks if not holds]


def print_out(page, window, path):
    """The same of what a printer gets, also from a reader who likes the dark: light, and no wider than A4 less its
    margins (703 px)."""
    window.open(path, 703, dark=True, media="print")
    seen = window.ask(LOOK)
    checks = [
        (brightness(seen["paper"]) > brightness(seen["ink"]), "paper is dark"),
        (seen["scroll"] <= 703 and not seen["out"] and not seen["sunk"], "%(scroll)d px wide, sticks out: %(out)s"),
        (seen["hidden"] <= 1, "the first table is cut by %(hidden)d px"),
    ]
    wrong = ["%s on paper: %s" % (page, words % seen) for holds, words in checks if not holds]
    return wrong if window.paper().startswith(b"%PDF") else wrong + ["%s: cannot be printed" % page]


def pages_of(cull, draw, folder, given):
    """{name: the command that writes its page}, but for the page."""
    if given:
        return {os.path.basename(os.path.normpath(p)): [cull, "report", os.path.abspath(p), "-o"] for p in given}
    samples = make_samples.samples(folder)
    pages = {name: [cull, "report", samples[name], "-o"] for name in
             ("full", "quick", "unfinished", "many_arms", "long_names", "hostile", "run", "probe", "many")}
    if draw:
        papers = make_papers.samples(os.path.join(folder, "papers"))
        pages.update({"paper-" + name: [draw, papers[name]] for name in ("made", "hostile")})
    return pages


def run(cull, draw, program, folder, given, keep):
    wrong, pages = [], pages_of(cull, draw, folder, given)
    start, window = time.monotonic(), browser.Browser(program)
    try:
        for page, command in pages.items():
            path = os.path.join(folder, page + ".html")
            done = subprocess.run([*command, path], capture_output=True, text=True, check=False)
            if done.returncode:
                wrong.append("%s: %s" % (page, done.stderr))
                continue
            thorough = page in ("full", "paper-made") or given
            for width in WIDTHS if thorough else (WIDTHS[0], WIDTHS[-1]):
                for dark in (False, True) if thorough else (False,):
                    wrong += look(page, window, path, width, dark)
                    if keep:
                        window.picture(os.path.join(keep, "%s-%d%s.png" % (page, width, "-dark" if dark else "")))
            print("%s: %.1f s" % (page, time.monotonic() - start), flush=True)
            wrong += print_out(page, window, path)
    finally:
        window.close()
    print("%d pages looked at" % len(pages))
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cull", required=True)
    parser.add_argument("--draw")
    parser.add_argument("--keep")
    parser.add_argument("folders", nargs="*")
    arguments = parser.parse_args()
    program = browser.find()
    if not program or not shutil.which("gnuplot"):
        print("skipped: %s is not installed" % ("gnuplot" if program else "chromium"))
        return 77
    with tempfile.TemporaryDirectory(prefix="cull_page_") as folder:
        draw = arguments.draw and os.path.abspath(arguments.draw)
        wrong = run(os.path.abspath(arguments.cull), draw, program, folder, arguments.folders, arguments.keep)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
