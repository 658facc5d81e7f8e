#!/usr/bin/python3
"""Writes the hand-made part of the corpora of containers: honest and hostile folders of arrays.

    /usr/bin/python3 tests/fuzz/make_container_corpus.py      (writes beside itself)

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


def npy(descr, shape, body):
    text = str({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + body


def array_folder(name, x=None, y=None, **changes):
    said = {"cull_set": 1, "dtype": "uint8", "shape": [1, 2, 2], "mean": [0.5], "deviation": [1], "target": "class",
            "classes": 2, "train": 2}
    said.update(changes)
    said = {key: value for key, value in said.items() if value is not None}
    x = npy("|u1", (2, 1, 2, 2), bytes(range(8))) if x is None else x
    y = npy("<i4", (2,), struct.pack("<ii", 0, 1)) if y is None else y
    text = json.dumps(said).encode()
    put("array_folder", name, struct.pack("<H", len(text)) + text + struct.pack("<H", len(x)) + x + y)


def array_folders():
    floats = npy("<f4", (2, 4), struct.pack("<8f", *range(8)))
    array_folder("good")
    array_folder("good_names", class_names=["a", "b"], published=True, made_from="x")
    array_folder("good_floats", floats, dtype="float32", shape=[4, 1, 1], mean=[0] * 4, deviation=[1] * 4)
    array_folder("good_real", y=npy("<f4", (2, 3), struct.pack("<6f", *range(6))), target="real", width=3)
    array_folder("good_several", y=npy("|u1", (2, 3), bytes([0, 1, 0, 1, 1, 0])), target="classes", width=3)
    array_folder("fortran", b"\x93NUMPY" + npy("|u1", (2, 1, 2, 2), bytes(8))[6:].replace(b"False", b"True "))
    array_folder("short", npy("|u1", (2, 1, 2, 2), bytes(7)))
    array_folder("label", y=npy("<i4", (2,), struct.pack("<ii", 0, 2)))
    array_folder("negative", y=npy("<i4", (2,), struct.pack("<ii", -1, 0)))
    array_folder("huge", train=2**32 - 2)
    array_folder("beyond", train=2**32)
    array_folder("wide", shape=[2**31, 1, 1])
    array_folder("wide_product", shape=[2**20, 4096, 4096], mean=[0], deviation=[1])
    array_folder("zero_deviation", deviation=[0])
    array_folder("no_dtype", dtype=None)
    array_folder("many_classes", classes=2**40)
    array_folder("width_huge", target="real", width=2**20)


if __name__ == "__main__":
    array_folders()
