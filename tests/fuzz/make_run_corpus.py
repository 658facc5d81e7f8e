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
    }
    for name, text in texts.items():
        put("recipe", name, text if isinstance(text, bytes) else text.encode())


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


def states():
    fields = struct.pack("<8Q", 7, 2, 1, 0, 100, 200, 30, 20) + struct.pack("<d", 1.5)
    fields += struct.pack("<Q", 1) + struct.pack("<5d", .5, .5, .7, .4, .9) + struct.pack("<2Q", 1, 2)
    names = b"weights-7".ljust(64, b"\0") + b"weights-3".ljust(64, b"\0")
    meter = struct.pack("<3Q", 0, 30, 90) + struct.pack("<7d", *range(7))
    head = b"CULLRUN\0" + struct.pack("<Q", 1) + fields + names + meter
    parts = struct.pack("<Q", 5) + b"optim" + struct.pack("<Q", 3) + b"sel"
    put("state", "good_unsigned", head + parts)  # the target signs it
    put("state", "version", b"CULLRUN\0" + struct.pack("<Q", 2) + bytes(400))
    put("state", "long_part", head + struct.pack("<Q", 1 << 63) + b"x")
    put("state", "cut", (head + parts)[:100])
    put("state", "behind", head + parts + b"more")
    put("state", "slash", head.replace(b"weights-7", b"../weight") + parts)
    put("state", "endless_name", head.replace(names, b"w" * 128) + parts)


recipes()
weights()
states()
