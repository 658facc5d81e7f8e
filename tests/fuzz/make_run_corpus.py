#!/usr/bin/python3
"""Writes the hand-made part of the corpora of runs: recipes, weights and states, honest and hostile.

    /usr/bin/python3 tests/fuzz/make_run_corpus.py      (writes beside itself)

Files with other names in the corpora were found by fuzzing.
"""
import json
import os
import struct

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def put(folder, name, data):
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(os.path.join(HERE, folder, name), "wb") as file:
        file.write(data)


def recipes():
    texts = {
        "empty": "",
        "comment": "# nothing\n",
        "nested": "optim: {lr: 0.1, nesterov: true}\ntrain:\n  epochs: 3\n",
        "dotted": "optim.lr: 0.2\ndata.name: \"a 'b'.npz\"\n",
        "list": "schedule: {name: multi-step, milestones: [1, 2.5, 1e3]}\n",
        "list_of_none": "schedule: {milestones: ['', ',', 1]}\n",
        "unknown": "optim: {rate: 1}\n",
        "strategy": "select: {keep: 0.3, strategy: sb remembered, scope: pool}\nscore: {augment: false}\n",
        "strategy_unknown": "select: {strategy: 'sb  x', keep: 1}\n",
        "strategy_text": "select: {strategy: sb-stream, history: '64', bet: 1}\n",
        "twice": "optim: {lr: 1}\noptim.lr: 1\n",
        "anchor": "a: &x {b: *x}\n",
        "tag": "train: {epochs: !!int 1}\n",
        "two_documents": "--- {}\n--- {}\n",
        "deep": "{a: " * 12 + "1" + "}" * 12,
        "key_of_map": "? {a: 1}\n: 2\n",
        "null_byte": "data: {name: \"a\\0b\"}\n",
        "escapes": "data: {name: \"\\x41\\u00e9\\n\"}\n",
        "block": "data:\n  name: |\n    a\n    b\n",
        "utf16": "\ufefftrain: {epochs: 1}\n".encode("utf-16-le"),
        "long_key": "a" * 200 + ": 1\n",
        "layers": "model:\n  layers:\n  - conv: {channels: 4, kernel: [3, 1], padding: same, dilation: 2}\n"
                  "  - batchnorm: {epsilon: 1e-3}\n  - relu\n  - maxpool: {kernel: 2, stride: 1, padding: 1}\n"
                  "  - residual:\n    - shortcut: 4\n    - dropout: 0.5\n  - flatten\n"
                  "  - dense: {width: 8, bias: false, init: he-out, name: fc.1}\n  - dense\n",
        "layers_branches": "model.layers: [concat: [[], [relu6, groupnorm: 2], [gelu]], add: [[layernorm], "
                           "[conv: {channels: 6, kernel: 1, groups: 6}]], globalpool, dense: 3]\n",
        "layers_of_none": "model: {layers: none, name: mlp, width: 3, depth: 4}\n",
        "layers_and_name": "model: {layers: [flatten, dense], name: resnet20}\n",
        "layers_empty": "model: {layers: []}\n",
        "layers_odd": "model:\n  layers:\n  - ~\n  - [relu]\n  - {relu: , gelu: }\n  - conv: {a: {b: [c]}}\n",
        "layers_deep": "model: {layers: " + "[residual: " * 40 + "}\n",
        "layers_branches_deep": "model: {layers: " + "[add: [[relu], " * 12 + "[gelu]" + "]]" * 12 + "}\n",
        "layers_many": "model: {layers: [flatten, " + "relu, " * 1200 + "dense]}\n",
        "layers_huge": "model: {layers: [conv: {channels: 16777216, kernel: 4096, padding: same, "
                       "dilation: 4096}, flatten, dense: 16777216, dense]}\n",
        "layers_numbers": "model: {layers: [conv: {channels: 1e300, kernel: [-1, 0.5], stride: nan}, dense: 0x1]}\n",
        "layers_names": "model: {layers: [flatten, dense: {width: 1, name: 'null'}, dense: {name: \"a\\0b\"}]}\n",
        "layers_anchor": "model: {layers: &x [flatten, *x]}\n",
        "layers_long": "model: {layers: [flatten, dense: {name: " + "n" * 3000 + "}]}\n",
    }
    for name, text in texts.items():
        put("recipe", name, text if isinstance(text, bytes) else text.encode())


def options():
    texts = {
        "empty": "",
        "good": "optim.lr=0.1\ntrain.epochs=3\naugment.flip=true\n",
        "list": "schedule.milestones=[1,2.5]\nschedule.name=multi-step\n",
        "list_bare": "schedule.milestones=1,2\n",
        "list_of_none": "schedule.milestones=[,]\n",
        "brackets": "data.name=[\n",
        "text": "data.name=a 'b' = c.npz\n",
        "twice": "optim.lr=1\noptim.lr=1\n",
        "unknown": "optim.rate=1\n",
        "no_key": "=1\n",
        "no_value": "optim.lr=\n",
        "not_finite": "optim.lr=nan\noptim.clip=inf\n",
        "hexadecimal": "optim.lr=0x1p-3\n",
        "huge": "train.epochs=99999999999999999999999\noptim.lr=1e-400\n",
        "strategy": "select.strategy=sb remembered\nselect.beta=2\n",
        "strategy_option": "select.strategy=gradmatch\nselect.keep=0.1\nselect.ridge=1e-3\n",
        "control": "data.name=a\tb\x01\n",
        "layers": "model.layers=[conv: {channels: 2, kernel: 3}, residual: [relu, gelu], flatten, dense: 8, dense]\n",
        "layers_json": 'model.layers=[{"dense":{"width":2}},"relu","dense"]\nmodel.name=layers\n',
        "layers_none": "model.layers=none\nmodel.name=mlp\nmodel.width=1\n",
        "layers_open": "model.layers=[flatten, dense: {\n",
        "layers_two": "model.layers=[dense]\nmodel.name=lenet5\nmodel.norm_epsilon=0.1\n",
        "layers_deep": "model.layers=" + "[" * 3000 + "\n",
        "layers_held": "model.layers=" + "[residual: " * 2000 + "\n",
        "layers_controls": "model.layers=[d\x01, \x7f: \x1b[0m]\n",
    }
    for name, text in texts.items():
        put("options", name, text.encode())
    for name, data in (("latin1", b"\xe9"), ("long", b"\xc0\xaf"), ("cut", b"\xe2\x82"), ("tail", b"\x80"),
                       ("surrogate", b"\xed\xa0\x80"), ("beyond", b"\xf4\x90\x80\x80"),
                       ("line", "\u2028".encode()), ("next_line", "\x85".encode()),
                       ("mark", "\ufeff".encode()), ("fine", "\u00e9\u20ac\U0001f600".encode())):
        put("options", "utf8_" + name, b"data.name=a" + data + b"b\n")


def reports():
    """The first byte says what: 0 metrics, 1 a comparison, 2 a run."""
    line = {"kind": "evaluate", "step": 1, "epoch": 1, "set": "test", "loss": .5, "accuracy": .9,
            "best": True, "thirds": 30, "seconds_load": .1, "seconds_learn": 1}
    probe = {"kind": "probe", "strategy": "sb", "keep": .1, "error": .5, "win": 1}
    epoch = {"kind": "epoch", "step": 1, "epoch": 1, "loss": .4, "accuracy": .8}
    lines = "\n".join(json.dumps(x) for x in (epoch, line, probe)) + "\n"
    put("report", "metrics", b"\0" + lines.encode())
    put("report", "metrics_cut", b"\0" + lines.encode()[:-9])
    put("report", "metrics_odd", b"\0" + b'[]\n{}\n\n{"kind":3}\n{"kind":"evaluate","set":7}\nx\n')
    put("report", "metrics_null", b"\0" + b'{"kind":"evaluate","set":"test","accuracy":null,"loss":"x"}\n')
    run = {"folder": "a/1", "status": "finished", "seed": 1, "accuracy": .9, "thirds": 9,
           "seconds": {"load": 1}}
    versus = {"control": "uniform", "kind": "cost", "verdict": "better", "sentence": "s", "p": .01}
    arm = {"name": "sb .1", "role": "strategy", "strategy": "sb", "keep": .1, "mean": 90,
           "runs": [run, dict(run, status="odd"), 5], "versus": [versus, None],
           "to_error": [{"factor": 1.1, "cost": .5}]}
    whole = {"version": 1, "title": "t", "arms": [arm, dict(arm, name="uniform"), {}, []],
             "seeds": [1, 2], "machine": {}, "problems": ["x"]}
    put("report", "comparison", b"\1" + json.dumps(whole).encode())
    put("report", "comparison_cut", b"\1" + json.dumps(whole).encode()[:-3])
    put("report", "comparison_old", b"\1" + json.dumps(dict(whole, version=2)).encode())
    put("report", "comparison_deep", b"\1" + b"[" * 3000)
    put("report", "comparison_many", b"\1" + json.dumps(dict(whole, arms=[{}] * 3000)).encode())
    single = {"status": "finished", "seed": 1, "model": "mlp", "strategy": "full", "test": .9,
              "machine": {"cores": 2}, "data": {"name": "x", "train": 60, "test": 60}}
    put("report", "run", b"\2" + json.dumps(single).encode())
    put("report", "run_list", b"\2" + b"[1]")
    put("report", "run_odd", b"\2" + json.dumps(dict(single, data=3, machine=[])).encode())
    put("report", "run_utf8", b"\2" + b'{"model":"\xff\xfe"}')


def tensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def weights():
    good = {"__metadata__": {"format": "pt"}, "a.weight": entry("F32", [2, 1], 0, 8),
            "a.bias": entry("F64", [1], 8, 16), "n": entry("I64", [], 16, 24)}
    put("safetensors", "good", tensors(good, bytes(24)))
    put("safetensors", "cut", tensors(good, bytes(23)))
    put("safetensors", "longer", tensors(good, bytes(25)))
    put("safetensors", "none", tensors({}))
    put("safetensors", "overlap", tensors({"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 0, 4)}, bytes(4)))
    put("safetensors", "hole", tensors({"a": entry("U8", [2], 0, 2), "b": entry("U8", [1], 3, 4)}, bytes(4)))
    put("safetensors", "huge_shape", tensors({"a": entry("F32", [1 << 40, 1 << 40], 0, 0)}))
    put("safetensors", "huge_header", struct.pack("<Q", 1 << 63) + b"{}")
    put("safetensors", "half", tensors({"a": entry("F16", [1], 0, 2)}, bytes(2)))
    put("safetensors", "twice", tensors(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
                                        b'"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'))
    put("safetensors", "escaped", tensors(b'{"a\\"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'))
    put("safetensors", "metadata", tensors(b'{"__metadata__":{"a":"\\\\\\"","b":"\\u0000"}}  '))


def cards():
    """What weights say of what they were trained on."""
    table = {"cull.input": "2x1x1", "cull.dtype": "float32", "cull.target": "class", "cull.outputs": "3",
             "cull.mean": "[1.5, -2]", "cull.deviation": "[1, 0.25]", "cull.classes": '["a", "b", "\\u00e9"]',
             "cull.features": '["x", "c=red"]', "cull.labels": '["kind"]'}
    real = dict(table, **{"cull.target": "real", "cull.outputs": "1", "cull.target_mean": "[3]",
                          "cull.target_deviation": "[2.5]", "cull.classes": '["y"]'})
    texts = {"cull.input": "1x64x1", "cull.dtype": "int32", "cull.vocabulary": "30522", "cull.target": "classes",
             "cull.outputs": "2", "cull.mean": "[0]", "cull.deviation": "[1]"}
    for name, card in (("table", table), ("real", real), ("texts", texts),
                       ("few_names", dict(table, **{"cull.classes": '["a"]'})),
                       ("no_deviation", dict(table, **{"cull.deviation": "[1, 0]"})),
                       ("wide", dict(table, **{"cull.input": "65536x4096x4096"})),
                       ("no_array", dict(table, **{"cull.mean": "1.5"}))):
        put("safetensors", "card_" + name, tensors({"__metadata__": card, "a": entry("U8", [1], 0, 1)}, bytes(1)))


def folders():
    """Plans, costs, what was picked, audits: as fuzz_folder.c takes them."""
    plan = dict(version=1, title="t", created="c", strategies="sb", keep="0.1", seeds=3, threads=1, jobs=1, margin=.5,
                arms=[dict(name="a")], problems=["p"])
    own = dict(name="a", score=.1, decide=.1, learn_kept=.1, pool_score=0, pool_solve=0, share=.5)
    costs = dict(version=1, threads=1, jobs=1, pool=60, validation=0, test=60, classes=3, parameters=9, start=.1, load=.1,
                 optim=.1, waited=0, learn=[dict(batch=16, seconds=.1)], arms=[own], settled=True, guess=.3)
    put("folder", "plan", b"\0" + json.dumps(plan).encode())
    put("folder", "plan_list", b"\0[]")
    put("folder", "costs", b"\1" + json.dumps(costs).encode())
    put("folder", "costs_below", b"\1" + json.dumps(dict(costs, load=-1)).encode())
    put("folder", "costs_sizes", b"\1" + json.dumps(dict(costs, learn=[dict(batch=i, seconds=1) for i in range(99)])).encode())
    counts, places = struct.pack("<4i", 0, 1, 5, 2), struct.pack("<4i", 3, 1, 2, 0)
    vector, changes = b"\2\0\4\0\0\0", b"\2\1\2\3\0\0"
    put("folder", "selection", b"\2\4" + vector + counts + vector + places + changes + struct.pack("<6i", 1, 0, 2, 3, 1, 1))
    put("folder", "selection_far", b"\2\4\3\0\2\0\0\0" + struct.pack("<2q", 1 << 62, -1))
    whole = b"\2\0\2\0\0\0" + struct.pack("<2i", 1, 0)
    put("folder", "audit", b"\3" + b"\4\3\2\2\2\1" + bytes(range(8)) + 3 * whole + b"\0\0\2\0\0\0" +
        struct.pack("<2f", .5, 2) + whole + b"\7" + bytes(5))


def states():
    fields = struct.pack("<5Q", 7, 2, 1, 16, 0) + struct.pack("<d", .05)
    fields += struct.pack("<5Q", 0, 100, 200, 30, 20) + struct.pack("<d", 1.5)
    fields += struct.pack("<Q", 1) + struct.pack("<5d", .5, .5, .7, .4, .9) + struct.pack("<2Q", 1, 2)
    names = b"weights-7".ljust(64, b"\0") + b"weights-3".ljust(64, b"\0")
    meter = struct.pack("<9Q", 0, 30, 90, 0, 5, 3, 0, 1, 9) + struct.pack("<14d", *range(14))
    head = b"CULLRUN\0" + struct.pack("<Q", 3) + fields + names + meter
    parts = struct.pack("<Q", 5) + b"optim" + struct.pack("<Q", 3) + b"sel" + bytes(8) + \
        struct.pack("<Q", 2) + b"ta" + bytes(8)
    put("state", "good_unsigned", head + parts)  # the target signs it
    put("state", "version", b"CULLRUN\0" + struct.pack("<Q", 2) + bytes(400))
    put("state", "long_part", head + struct.pack("<Q", 1 << 63) + b"x")
    put("state", "cut", (head + parts)[:100])
    put("state", "behind", head + parts + b"more")
    put("state", "slash", head.replace(b"weights-7", b"../weight") + parts)
    put("state", "endless_name", head.replace(names, b"w" * 128) + parts)


recipes()
options()
reports()
weights()
cards()
folders()
states()
