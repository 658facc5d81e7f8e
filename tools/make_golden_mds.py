#!/usr/bin/env python3
"""Writes the MDS shards that tests read, with the library whose format it is.

    pip install mosaicml-streaming; tools/make_golden_mds.py      (writes tests/golden/mds)

Every number follows from a formula that the test knows too: element j of sample i is (37 i + 11 j) % 251.
"""
import os
import pathlib
import shutil

import numpy as np
from PIL import Image
from streaming import MDSWriter

OUT = pathlib.Path(__file__).resolve().parents[1] / "tests/golden/mds"
NAMES = ["ant", "bee", "cat"]


def elements(i, shape, dtype):
    return ((37 * i + 11 * np.arange(int(np.prod(shape)))) % 251).astype(dtype).reshape(shape)


def write(name, columns, sample, count=10, **options):
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    with MDSWriter(out=str(folder), columns=columns, **options) as out:
        for i in range(count):
            out.write(sample(i))


def main():
    write("plain", {"x": "ndarray:uint8:3,4,4", "y": "int"},
          lambda i: {"x": elements(i, (3, 4, 4), np.uint8), "y": i % 3}, size_limit=400)
    write("packed", {"image": "ndarray", "label": "str", "note": "json"},
          lambda i: {"image": elements(i, (5,), np.float32), "label": NAMES[i % 3], "note": {"i": i}},
          size_limit=400, compression="zstd:7", hashes=["sha1", "xxh64"])
    write("last", {"img": "ndarray:uint8", "cls": "uint16"},
          lambda i: {"img": elements(i, (6, 5, 3), np.uint8), "cls": i % 4})
    write("half", {"x": "ndarray:float16", "y": "str_int"},
          lambda i: {"x": elements(i, (2, 3), np.float16), "y": i % 2})
    write("bytes", {"data": "bytes", "target": "float32"},
          lambda i: {"data": elements(i, (7,), np.uint8).tobytes(), "target": float(i % 2)})
    write("raw", {"image": "pil", "class": "int8"},
          lambda i: {"image": Image.fromarray(elements(i, (6, 5, 3), np.uint8)), "class": i % 2})
    write("png", {"picture": "png", "y": "int"},
          lambda i: {"picture": Image.fromarray(elements(i, (6, 5, 3), np.uint8)), "y": i % 2}, count=4)
    write("jpeg", {"image": "jpeg", "y": "int"},
          lambda i: {"image": Image.new("RGB", (16, 8), (50 * i, 200 - 50 * i, 100)), "y": i % 2}, count=4)
    for role, count in (("train", 6), ("val", 3)):
        write("roles/" + role, {"x": "ndarray:int32:4", "y": "int"},
              lambda i: {"x": elements(i, (4,), np.int32), "y": i % 3}, count=count)
    for folder, _, files in os.walk(OUT):
        for file in files:
            print(os.path.getsize(os.path.join(folder, file)), os.path.join(folder, file))


if __name__ == "__main__":
    main()
