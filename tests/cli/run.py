#!/usr/bin/python3
"""Runs the program on case files and says which fail.

    /usr/bin/python3 tests/cli/run.py --cull build/cull tests/cli/cases/errors.txt

A case file holds cases apart by blank lines. A case is a comment that says what it shows, then

    run: COMMAND      bash, in a fresh folder with the arrays of fixtures() in it; more lines
                      go on in the same shell; $PYTHON is a Python with numpy, $SOURCE the tree,
                      $PICTURES the command that makes pictures (make_pictures.py)
    exit: N           its exit status (0)
    stdout: REGEX     found in standard output (any number of these)
    stderr: REGEX     found in standard error
    silent: stdout    nothing there (or stderr)
    check: PYTHON     true, with out and err the texts, j = the JSON of standard output,
                      np = numpy, load(NAME) = an array file, load_json(NAME), text(NAME),
                      same(A, B) = equal bytes,
                      exists(NAME), files() = all names in the folder
    each: strategy    the case is run once for every strategy, for $S in run and S in check, and
                      $SIGNALS in run, the flags that give it what it reads
    needs: terminal   the case is left out, and that is said, where no terminal can be opened
    needs: speed      the same with --slow: a program with sanitizers, under which it takes a
                      minute, and others go through the same code

Needs nothing beyond Python's library and numpy; exits 77 (skipped) without numpy.
"""
import argparse
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not there")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
M, V, D, C = 40, 12, 6, 3


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def fixtures(folder):
    """Signals of 40 examples and 12 validation examples, as files; and some that are wrong."""
    rng = np.random.default_rng(7)
    a = {}
    for prefix, rows in (("", M), ("target_", V)):
        labels = np.arange(rows) % C
        logits = rng.normal(size=(rows, C))
        a[prefix + "h"] = rng.normal(size=(rows, D)).astype("<f4")
        a[prefix + "p"] = softmax(logits) - np.eye(C)[labels]
        a[prefix + "labels"] = labels
        if prefix:
            a["target_logits"] = logits
        else:
            a["loss"] = -np.log(softmax(logits)[np.arange(rows), labels])
    a["irreducible"] = rng.uniform(0, .5, M)
    for name, array in a.items():
        np.save(os.path.join(folder, name + ".npy"), array)
    examples = {name: array for name, array in a.items() if not name.startswith("target_")}
    np.savez(os.path.join(folder, "all.npz"), **examples)
    np.savez_compressed(os.path.join(folder, "packed.npz"), **examples)
    np.savez(os.path.join(folder, "target.npz"), **a)
    np.savez(os.path.join(folder, "nothing.npz"))
    wrong = a["loss"].copy()
    wrong[17] = np.nan
    np.save(os.path.join(folder, "nan.npy"), wrong)
    np.save(os.path.join(folder, "big_endian.npy"), a["loss"].astype(">f8"))
    np.save(os.path.join(folder, "object.npy"), np.array([None]), allow_pickle=True)
    np.save(os.path.join(folder, "fortran.npy"), np.asfortranarray(a["h"]))
    np.save(os.path.join(folder, "equal.npy"), np.ones(M, "<f4"))
    np.save(os.path.join(folder, "zero_p.npy"), np.zeros((M, C)))
    np.save(os.path.join(folder, "short.npy"), a["loss"][:-1])
    np.save(os.path.join(folder, "empty.npy"), a["loss"][:0])
    np.save(os.path.join(folder, "one.npy"), a["loss"][:1])
    np.save(os.path.join(folder, "places.npy"), np.arange(M)[::-1] * 2)
    with open(os.path.join(folder, "loss.npy"), "rb") as file:
        whole = file.read()
    with open(os.path.join(folder, "cut.npy"), "wb") as file:
        file.write(whole[:-8])
    with open(os.path.join(folder, "text.npy"), "w") as file:
        file.write("1\n2\n3\n")
    make_set(folder)


def make_set(folder):
    """A small set of images, whose label shows in one row, and a recipe that learns it."""
    rng = np.random.default_rng(8)
    a = {}
    for role in ("train", "test"):
        labels = np.arange(60) % C
        images = rng.integers(0, 256, (60, 1, 6, 6), dtype=np.uint8)
        images[np.arange(60), 0, labels] = 225
        a["x_" + role], a["y_" + role] = images, labels.astype("<i4")
    np.savez(os.path.join(folder, "set.npz"), **a)
    with open(os.path.join(folder, "tiny.yaml"), "w") as file:
        file.write("data: {name: set.npz}\nmodel: {name: mlp}\n"
                   "train: {epochs: 5, batch: 16, threads: 1, log: 2}\n")
    with open(os.path.join(folder, "bare.yaml"), "w") as file:  # names no model
        file.write("data: {name: set.npz}\ntrain: {epochs: 2, batch: 16, threads: 1, log: 0}\n")


def signals(strategy):
    """The flags that give a strategy what it reads: a bundle of which it reads nothing is refused."""
    if strategy in ("full", "random", "adaptive-random", "fixed-random", "infobatch"):
        return "--pool %d" % M
    return "--signals target.npz" if strategy == "glister" else "--signals all.npz"


class Place:
    """What a check sees of the folder it ran in."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def load(self, name):
        loaded = np.load(self.path(name))
        return loaded if isinstance(loaded, np.ndarray) else dict(loaded)

    def load_json(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def same(self, a, b):
        with open(self.path(a), "rb") as x, open(self.path(b), "rb") as y:
            return x.read() == y.read()

    def exists(self, name):
        return os.path.exists(self.path(name))

    def files(self):
        return sorted(os.listdir(self.folder))


def parse(path):
    """The cases of a file: dicts of lists, with the title under '#'."""
    cases, case = [], {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(list(file) + ["\n"], 1):
            line = line.rstrip("\n")
            if not line:
                if "run" in case:
                    cases.append(case)
                    case = {}
                continue
            key, _, value = (line[0], "", line[1:].strip()) if line[0] == "#" else (
                line.partition(": "))
            if key not in ("#", "run", "exit", "stdout", "stderr", "silent", "check", "each", "needs"):
                sys.exit("%s:%d: no such key: %s" % (path, number, key))
            case.setdefault(key, []).append(value)
    return cases


def has_terminals():
    """A bare root without /dev/pts has none."""
    try:
        for end in pty.openpty():
            os.close(end)
        return True
    except OSError:
        return False


def lacking(case, slow):
    """What the case needs and is not here; None: nothing."""
    needs = case.get("needs", [])
    if "terminal" in needs and not has_terminals():
        return "no terminal can be opened here"
    return "it needs speed" if "speed" in needs and slow else None


def problems(case, cull, strategy):
    """Everything that is not as the case says."""
    with tempfile.TemporaryDirectory() as folder:
        fixtures(folder)
        place = Place(folder)
        env = dict(os.environ, PATH=os.path.dirname(cull) + ":" + os.environ["PATH"], S=strategy,
                   SIGNALS=signals(strategy), PYTHON=sys.executable, LC_ALL="C",
                   SOURCE=os.path.dirname(os.path.dirname(HERE)),
                   PICTURES="%s %s/make_pictures.py" % (sys.executable, HERE))
        done = subprocess.run(["bash", "-c", "\n".join(case["run"])], cwd=folder, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        out, err = done.stdout.decode(), done.stderr.decode()
        bad = []
        wanted = int(case.get("exit", ["0"])[0])
        if done.returncode != wanted:
            bad.append("exit status %d, not %d" % (done.returncode, wanted))
        for name, text in (("stdout", out), ("stderr", err)):
            for regex in case.get(name, []):
                if not re.search(regex, text, re.MULTILINE):
                    bad.append("%s lacks: %s" % (name, regex))
            if name in case.get("silent", []) and text:
                bad.append("%s is not silent" % name)
        names = {"out": out, "err": err, "np": np, "S": strategy, "load": place.load,
                 "load_json": place.load_json, "text": place.text,
                 "same": place.same, "exists": place.exists, "files": place.files}
        for check in case.get("check", []):
            try:
                if "j" in re.findall(r"\bj\b", check):
                    names["j"] = json.loads(out)
                if not eval(check, names):
                    bad.append("not true: %s" % check)
            except Exception as error:  # whatever it was, the case has failed
                bad.append("%s: %s: %s" % (check, type(error).__name__, error))
        if bad:
            bad += ["stdout: " + out[:2000], "stderr: " + err[:2000]]
        return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cull", required=True)
    parser.add_argument("--slow", action="store_true", help="leave out what needs speed")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    cull = os.path.abspath(arguments.cull)
    if not shutil.which(cull):
        sys.exit(cull + ": not there")
    listed = json.loads(subprocess.run([cull, "select", "--list", "--json"], check=True,
                                       capture_output=True).stdout)
    strategies = [s["name"] for s in listed]
    failed = total = 0
    for path in arguments.files:
        for case in parse(path):
            why = lacking(case, arguments.slow)
            if why:
                print("left out, %s: %s" % (why, " ".join(case["#"])))
                continue
            for strategy in strategies if "each" in case else [""]:
                bad = problems(case, cull, strategy)
                total += 1
                failed += bool(bad)
                for line in bad:
                    print("FAILED %s%s: %s" % (" ".join(case.get("#", ["?"])),
                                              strategy and " [%s]" % strategy, line))
    print("%d cases, %d failed" % (total, failed))
    return failed > 0 or total == 0


if __name__ == "__main__":
    sys.exit(main())
