#!/usr/bin/python3
"""Writes the hand-made part of the report's corpus: comparisons, runs and records, honest and hostile.

    /usr/bin/python3 tests/fuzz/make_report_corpus.py      (writes beside itself)
"""
import json
import os

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "report")
ODD = "<x onload=y>\"'&\u202e\U0001f600"


def put(name, kind, value):
    os.makedirs(HERE, exist_ok=True)
    data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    with open(os.path.join(HERE, "page_" + name), "wb") as file:
        file.write(kind + data)


def arm(role, **more):
    runs = [dict(seed=i, folder="runs/a/seed-%d" % i, status="finished", why=None, accuracy=90.0 + i,
                 seconds=dict(load=1, score=1, select=0, learn=5, optim=.1), joules=dict(load=1)) for i in range(2)]
    versus = [dict(control="u", kind="whole-budget", pairs=2, difference=.5, low=-1, high=2, level=.95, p=.2, p_holm=.4,
                   verdict="undecided", more_seeds=9)]
    whole = dict(name="a", role=role, strategy="sb", keep=.3, cost=.6, counted=.6, mean=90.5, sd=.5, runs=runs,
                 versus=versus, to_error=[dict(factor=1.1, cost=.5)], pareto=True)
    whole["pass"] = "separate"
    whole.update(more)
    return whole


def comparison(arms, **more):
    whole = dict(version=1, title="t", finished=True, verdict="v", seeds=[1, 2], margin=.5, machine=dict(cpu="c", cores=2),
                 recipe=dict(a=1), costs=dict(rows=[dict(what="w", seconds=1)]), arms=arms, problems=["p"])
    whole.update(more)
    return whole


M, C, R = b"\0", b"\1", b"\2"
put("comparison", C, comparison([arm("full", strategy="full"), arm("arm"), arm("same-m", strategy="random")]))
put("odd", C, comparison([arm("arm", name=ODD, strategy=ODD)], title=ODD, verdict=ODD, problems=[ODD], recipe={ODD: [ODD]}))
put("types", C, comparison([arm([], name=1, keep="x", cost={}, runs=[1, "a", None], versus=[2], to_error=[[]])], seeds={},
                           machine=[], costs=1))
put("no_arms", C, comparison([]))
put("huge_numbers", C, comparison([arm("arm", mean=1e308, cost=-1e308, keep=1e-300)], margin=1e300))
put("many", C, comparison([arm("arm", keep=i / 99, strategy="s%d" % i) for i in range(99)]))
put("cut", C, json.dumps(comparison([arm("arm")])).encode()[:300])
put("run", R, dict(status="failed", why=ODD, model=ODD, data=dict(name=ODD, train=3), test=.5, epoch=1.5, machine=dict(a=ODD)))
put("run_types", R, dict(status=1, data=[], machine="m", test="x"))
put("run_list", R, b"[]")
put("lines", M, b'{"kind":"evaluate","set":"test","epoch":1,"accuracy":0.5,"loss":1}\n{"kind":"epoch","epoch":1,"loss":2}\n'
                b'{"kind":"probe","strategy":"sb","keep":0.3,"error":2,"win":true}\n\n{"kind":"probe","strategy":"<x","keep":0.3,"error":1e-300}\n')
put("lines_broken", M, b'{"kind":\n\xff\xfe\n{"kind":"evaluate","set":"test","epoch":null}\n{"kind":"epoch","epoch":1e308,"accuracy":-1e308}')
