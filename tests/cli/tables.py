#!/usr/bin/python3
"""Holds what help prints against the manual and what completion offers; every line it prints is a fault.

    tests/cli/tables.py PAGES       PAGES: a folder that `cull write-pages` has filled

A command, flag, key or strategy that one of them lacks would have to be kept in a list by hand; there is none.
"""
import json
import os
import re
import subprocess
import sys


def cull(*words):
    return subprocess.run(["cull", *words], check=True, capture_output=True, text=True).stdout


def offered(*words):
    return [line.split("\t")[0] for line in cull("complete", *words).splitlines()]


def page(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read().replace("\\-", "-")


def faults(folder):
    """What is in one place and not in the others."""
    commands = re.findall(r"^  ([a-z]+) +\S", cull("help").split("options:")[0], re.M)
    assert {"train", "compare", "help", "version"} <= set(commands)
    yield from ("%s is not offered" % c for c in set(commands) - set(offered("")))
    yield from ("%s is not on cull.1" % c for c in commands if "\\fB%s\\fR" % c not in page(folder, "cull.1"))
    pages = {"cull.1", "cull-recipe.5"} | {"cull-%s.1" % c for c in commands}
    yield from ("%s: one more or less" % p for p in pages ^ set(os.listdir(folder)))
    for command in commands:
        flags = re.findall(r"^  (--?[a-z][a-z-]*)", cull("help", command), re.M)
        text = page(folder, "cull-%s.1" % command)
        assert "--help" in flags
        yield from ("%s %s is not offered" % (command, f) for f in set(flags) - set(offered(command, "-")))
        yield from ("%s %s is not on its page" % (command, f) for f in flags if "\\fB%s\\fR" % f not in text)
    keys = re.findall(r"^  ([a-z]+\.[a-z_]+)=", cull("help", "train"), re.M)
    assert len(keys) > 50 and "train.epochs" in keys
    there = offered("train", "x.yaml", "")
    recipe = page(folder, "cull-recipe.5")
    yield from ("%s= is not offered" % k for k in keys if k + "=" not in there)
    yield from ("%s is not on the page of recipes" % k for k in keys if "\\fB%s\\fR" % k not in recipe)
    layers = re.findall(r"^  ([a-z0-9]+)(?:: \{|$)", cull("help", "train").split("layers of model.layers")[1], re.M)
    assert {"conv", "relu6", "residual"} <= set(layers)
    yield from ("%s is not on the page of recipes" % l for l in layers if "\\fB%s\\fR" % l not in recipe)
    strategies = [s["name"] for s in json.loads(cull("select", "--list", "--json"))]
    yield from ("%s is not offered" % s for s in set(strategies) - set(offered("select", "--strategy", "")))
    yield from ("%s is not offered in a recipe" % s for s in strategies
                if "select.strategy=" + s not in offered("train", "x.yaml", "select.strategy="))


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found))
    sys.exit(len(found) > 0)
