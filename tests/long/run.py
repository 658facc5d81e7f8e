#!/usr/bin/python3
"""What takes too long for `make check`: training on real data, killing and resuming, threads.

    /usr/bin/python3 tests/long/run.py --cull build/cull [--seed N] [PART ...]

Parts are mnist, cifar10, killed, texts, threads and large; without any, all. A part whose data set is not there is
skipped and says so: the sets are looked for where $CULL_DATA points, as `cull data list` says.
Needs nothing beyond Python's library.
"""
import argparse
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
RECIPES = os.path.join(HERE, "..", "..", "recipes")

# Few steps, each with a checkpoint; two epochs so that evaluations and a best are among them.
KILLED = ["data.name=fashion-mnist", "model.name=lenet5", "augment.crop=2", "augment.flip=true",
          "data.label_noise=0.1", "data.imbalance=1", "data.imbalance_keep=0.01",
          "optim.weight_decay=0.001", "train.batch=50", "train.epochs=2", "train.log=1",
          "train.checkpoint_steps=1"]
KILLS = 12

# The same of reviews, in batches of several lengths, going back through the scoring pass.
TEXTS = ["data.subset=0.004", "model.name=transformer-1-32", "model.dropout=0.1", "optim.name=adamw",
         "optim.lr=0.001", "optim.clip=1", "schedule.name=linear", "select.strategy=sb", "select.keep=0.5",
         "score.pass=reuse", "train.batch=8", "train.epochs=2", "train.log=1", "train.checkpoint_steps=1"]
TEXT_KILLS = 4

# Name, shape of an example, changes: a few steps, in which a difference in any bit would spread.
THREADED = [("lenet5", (1, 28, 28),
             ["data.name=fashion-mnist", "model.name=lenet5", "train.cost=3200"]),
            ("resnet20", (3, 32, 32),
             ["data.name=cifar10", "model.name=resnet20", "train.cost=640"]),
            ("mobilenetv2", (3, 32, 32),
             ["data.name=cifar10", "model.name=mobilenetv2", "train.cost=128"]),
            ("wrn-16-4 with dropout", (3, 32, 32),
             ["data.name=cifar10", "model.name=wrn-16-4", "model.dropout=0.3", "train.cost=128"])]


class Failed(Exception):
    """A sentence that says what is not as it should be."""


class Skipped(Exception):
    """A sentence that says what is missing."""


class Runs:
    """The program, and a folder for what it writes."""

    def __init__(self, cull, folder):
        self.cull, self.folder = cull, folder
        self.empty = self.path("empty.yaml")
        with open(self.empty, "w", encoding="utf-8"):
            pass

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def need(self, name):
        listed = json.loads(subprocess.run([self.cull, "data", "list", "--json"], check=True,
                                           capture_output=True).stdout)
        if not any(s["name"] == name and s["train"] and s["test"] for s in listed):
            raise Skipped("%s is not below $CULL_DATA" % name)

    def command(self, out, recipe, changes):
        return [self.cull, "train", recipe, "--out", self.path(out)] + changes

    def train(self, out, changes, recipe=None, resume=False):
        done = subprocess.run(self.command(out, recipe or self.empty, changes) +
                              ["--resume-or-begin"] * resume, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            raise Failed("exit status %d: %s" % (done.returncode, done.stderr.decode()))
        return self.record(out)

    def record(self, out):
        with open(self.path(out, "run.json"), encoding="utf-8") as file:
            return json.load(file)

    def bytes(self, out, name):
        with open(self.path(out, name), "rb") as file:
            return file.read()


# ---- accuracy ----

def reaches(runs, recipe, name, seed, bar):
    runs.need(name)
    run = runs.train(name, ["train.seed=%d" % seed], os.path.join(RECIPES, recipe))
    said = "%s: %.2f %% on the test set in %.0f s" % (recipe, 100 * run["test"], run["seconds"])
    if run["status"] != "finished" or not run["test"] >= bar:
        raise Failed("%s; at least %.1f %% was to be reached" % (said, 100 * bar))
    return said


# ---- killed and resumed ----

def metrics_of(runs, out):
    """The lines without times, whose names begin with seconds."""
    lines = runs.bytes(out, "metrics.jsonl").decode().splitlines()
    return [{k: v for k, v in json.loads(line).items() if not k.startswith("seconds")}
            for line in lines]


def events_of(runs, out):
    """The records without wall times (the first field, a double) and without checksums."""
    data, at, events = runs.bytes(out, "events.out.tfevents.cull"), 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        events.append(data[at + 12 + 9:at + 12 + length])
        at += 16 + length
    if at != len(data):
        raise Failed("%s: the event file ends inside a record" % out)
    return events


def words_of(data):
    return [data[i:i + 8] for i in range(0, len(data), 8)]


def unlike(runs, a, b):
    """Which words of the states of two runs differ, but for the length of the metrics, which hold
    times."""
    sizes = [struct.pack("<Q", len(runs.bytes(out, "metrics.jsonl"))) for out in (a, b)]
    x, y = (words_of(runs.bytes(out, "state")) for out in (a, b))
    if len(x) != len(y):
        raise Failed("%s: the state is of another length" % b)
    return {i for i in range(len(x)) if x[i] != y[i] and [x[i], y[i]] != sizes}


def same_run(runs, a, b, times):
    if sorted(os.listdir(runs.path(a))) != sorted(os.listdir(runs.path(b))):
        raise Failed("%s holds other files than %s: %s" % (b, a, os.listdir(runs.path(b))))
    for name in os.listdir(runs.path(a)):
        if name.startswith("weights-") or name.endswith((".npz", ".yaml")):
            if runs.bytes(a, name) != runs.bytes(b, name):
                raise Failed("%s: %s differs" % (b, name))
    if unlike(runs, a, b) - times:
        raise Failed("%s: the state differs in more than times" % b)
    for part in (metrics_of, events_of):
        if part(runs, a) != part(runs, b):
            raise Failed("%s: %s differ" % (b, part.__name__[:-3]))
    x, y = runs.record(a), runs.record(b)
    if any(x[k] != y[k] for k in x if k != "written" and not k.startswith("seconds")):
        raise Failed("%s: run.json differs" % b)


def is_writing(folder):
    try:
        return any(name.startswith((".weights", ".state")) for name in os.listdir(folder))
    except FileNotFoundError:
        return False


def kill_and_resume(runs, out, changes, moments):
    """Kill the run at each moment in turn, resuming in between; then let it end. A moment is in
    seconds; None is the next at which a checkpoint is being written."""
    where = ""
    for moment in moments:
        child = subprocess.Popen(runs.command(out, runs.empty, changes + ["--resume-or-begin"]),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE)
        if moment is None:
            while child.poll() is None and not is_writing(runs.path(out)):
                pass
        else:
            time.sleep(moment)
        child.kill()
        _, err = child.communicate()
        if child.returncode not in (0, -signal.SIGKILL):
            raise Failed("%s: exit status %d: %s" % (out, child.returncode, err.decode()))
        where += "w" if is_writing(runs.path(out)) else "."
    runs.train(out, changes, resume=True)
    return where


def same_killed(runs, seed, changes, kills):
    rng = random.Random(seed)
    began = time.monotonic()
    runs.train("a", changes)
    took = time.monotonic() - began
    runs.train("b", changes)
    times = unlike(runs, "a", "b")  # and the checksum; nothing else may differ below
    same_run(runs, "a", "b", times)
    where = ""
    for i in range(kills):
        moments = [None if rng.random() < .5 else rng.uniform(0, took) for _ in range(1 + i % 3)]
        where += " " + kill_and_resume(runs, "killed%d" % i, changes, moments)
        same_run(runs, "a", "killed%d" % i, times)
    return "%d runs, killed%s (w: inside a checkpoint) and resumed, are the same bits" % (kills, where)


def killed(runs, seed):
    runs.need("fashion-mnist")
    return same_killed(runs, seed, KILLED, KILLS)


def texts(runs, seed):
    root = os.environ.get("CULL_DATA", "")
    reviews, pieces = os.path.join(root, "aclImdb"), os.path.join(root, "bert", "vocab.txt")
    if not (os.path.isdir(reviews) and os.path.exists(pieces)):
        raise Skipped("aclImdb or bert/vocab.txt is not below $CULL_DATA")
    subprocess.run([runs.cull, "data", "convert", reviews, "--tokenizer", pieces, "--length", "192", "-o",
                    runs.path("reviews")], check=True, capture_output=True)
    return same_killed(runs, seed, TEXTS + ["data.name=" + runs.path("reviews")], TEXT_KILLS)


# ---- threads ----

def array(kind, shape, data):
    """A .npy file's bytes."""
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, tuple(shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data


def blank_test(runs, shape):
    """A test set of a few black images, so that no time goes into evaluations."""
    count, size = 10, shape[0] * shape[1] * shape[2]
    path = runs.path("test-%d.npz" % size)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", array("|u1", (count,) + shape, bytes(count * size)))
        file.writestr("y.npy", array("|u1", (count,), bytes(range(count))))
    return path


def threads(runs, _):
    for name in ("fashion-mnist", "cifar10"):
        runs.need(name)
    for name, shape, changes in THREADED:
        test = "data.test=" + blank_test(runs, shape)
        weights = {runs.train("%s-%d" % (name, n), changes + [
            test, "train.batch=64", "train.threads=%d" % n, "data.workers=%d" % (n - 1)])["weights"]
                   for n in (1, 2, 3)}
        if len(weights) != 1:
            raise Failed("%s: weights depend on the threads: %s" % (name, sorted(weights)))
    return "1, 2 and 3 threads give the same weights: " + ", ".join(t[0] for t in THREADED)


# ---- a set larger than memory ----

# 48 GiB of pictures that are holes, and labels; what is kept of each example in memory is part of the bar.
LARGE, SIDE, CLASSES, MOST = 48 << 30, 64, 10, 1 << 30
LEARNED = ["model.name=mlp", "model.width=32", "model.depth=1", "select.strategy=sb", "select.keep=0.5",
           "train.batch=128", "train.threads=1", "train.cost=60000", "train.log=0", "train.keep=none"]


def sparse(path, kind, shape, size):
    """A .npy file of zeros that takes no room."""
    head = array(kind, shape, b"")
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + size)


def large_set(folder):
    """As `cull data convert` leaves one: its constants are in set.json."""
    row = 3 * SIDE * SIDE
    count = {"train": LARGE // row, "test": 500}
    os.mkdir(folder)
    for role, name in (("train", ""), ("test", "_test")):
        n = count[role]
        sparse(os.path.join(folder, "x%s.npy" % name), "|u1", (n, 3, SIDE, SIDE), n * row)
        labels = (struct.pack("<%di" % CLASSES, *range(CLASSES)) * (n // CLASSES + 1))[:4 * n]
        with open(os.path.join(folder, "y%s.npy" % name), "wb") as file:
            file.write(array("<i4", (n,), labels))
    with open(os.path.join(folder, "set.json"), "w", encoding="utf-8") as file:
        json.dump(dict(count, cull_set=1, dtype="uint8", shape=[3, SIDE, SIDE], mean=[.5] * 3, deviation=[.25] * 3,
                       target="class", width=1, classes=CLASSES), file)


def memory_of(pid):
    """Bytes by name, of a process that lives: RssAnon is its own, RssFile what is mapped and can go."""
    try:
        with open("/proc/%d/status" % pid, encoding="utf-8") as file:
            lines = [line.split() for line in file]
    except OSError:
        return {}
    return {l[0][:-1]: 1024 * int(l[1]) for l in lines if len(l) == 3 and l[2] == "kB"}


def watch(processes):
    """The most that each has while it runs."""
    most = [{} for _ in processes]
    while any(p.poll() is None for p in processes):
        for peak, process in zip(most, processes):
            for key, value in memory_of(process.pid).items():
                peak[key] = max(peak.get(key, 0), value)
        time.sleep(.05)
    return most


def large(runs, seed):
    folder = runs.path("large")
    large_set(folder)
    begun = time.monotonic()
    processes = [subprocess.Popen(runs.command("run-%d" % i, runs.empty, LEARNED + [
        "data.name=" + folder, "train.seed=%d" % (seed + i)]), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for i in range(2)]
    most = watch(processes)
    seconds = time.monotonic() - begun
    for process in processes:
        if process.returncode:
            raise Failed("exit status %d: %s" % (process.returncode, process.stderr.read().decode()))
        process.stderr.close()
    trained = [runs.record("run-%d" % i)["trained"] for i in range(2)]
    with open("/proc/meminfo", encoding="utf-8") as file:
        total = 1024 * int(file.readline().split()[1])
    said = "%d GiB of pictures on a machine with %.1f: RssAnon %s, RssFile %s MiB at most, %s examples in %.0f s" % (
        LARGE >> 30, total / 2 ** 30, *(" and ".join("%d" % (m[k] >> 20) for m in most)
                                        for k in ("RssAnon", "RssFile")), " and ".join(map(str, trained)), seconds)
    if max(m["RssAnon"] for m in most) > MOST:
        raise Failed(said)
    return said


PARTS = {
    "mnist": lambda runs, seed: reaches(runs, "lenet-mnist.yaml", "mnist", seed, .99),
    "cifar10": lambda runs, seed: reaches(runs, "resnet20-cifar10.yaml", "cifar10", seed, .65),
    "killed": killed,
    "texts": texts,
    "threads": threads,
    "large": large,
}


def main():
    parser = argparse.ArgumentParser(description="long tests of the program")
    parser.add_argument("--cull", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    cull = os.path.abspath(arguments.cull)
    wrong = [p for p in arguments.parts if p not in PARTS]
    if wrong or not os.access(cull, os.X_OK):
        parser.error("no part or no program: %s" % (wrong or cull))
    failed = 0
    for part in arguments.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                said = PARTS[part](Runs(cull, folder), arguments.seed)
            except Skipped as missing:
                said = "skipped: %s" % missing
            except Failed as wrong:
                said = "FAILED: %s" % wrong
                failed += 1
            print("long: %s: %s" % (part, said), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
