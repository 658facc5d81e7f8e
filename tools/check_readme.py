#!/usr/bin/python3
"""Runs the commands of a page and compares what they print with what the page says they print.

    tools/check_readme.py PAGE BUILD_DIR

In ```console blocks, "$ command" is run by the shell at the root of the sources, with build/ standing
for BUILD_DIR, and the lines below it are what it must print; numbers may differ in the digits that
depend on a processor's vector width. `make` and `git` are for the reader.
"""
import math
import pathlib
import re
import subprocess
import sys

CLOSE = 1e-4  # relative; float32 sums in another order
ROOT = pathlib.Path(__file__).resolve().parents[1]


def commands(text):
    """(command, expected output) for each "$ " line of the console blocks."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            yield command, expected


def same(printed, expected):
    """Word by word: numbers close, everything else equal."""
    if [len(line.split()) for line in printed.splitlines()] != \
            [len(line.split()) for line in expected.splitlines()]:
        return False
    for one, other in zip(printed.split(), expected.split()):
        try:
            if not math.isclose(float(one.strip("(),")), float(other.strip("(),")), rel_tol=CLOSE):
                return False
        except ValueError:
            if one != other:
                return False
    return True


def main():
    page, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    ran = failed = 0
    for command, expected in commands(page.read_text()):
        if command.split()[0] in {"make", "git"}:
            continue
        done = subprocess.run(re.sub(r"(?<![\w/])build/", f"{build}/", command), shell=True, cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        ran += 1
        if done.returncode or not same(done.stdout, expected):
            failed += 1
            print(f"$ {command}\n--- {page.name} says:\n{expected}--- it prints (exit status "
                  f"{done.returncode}):\n{done.stdout}")
    if not ran:
        print(f"{page}: no command found")
    print(f"{ran} commands, {failed} not as printed")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
