#!/usr/bin/python3
"""Writes the hand-made part of the corpora of containers: honest and hostile folders of arrays, tar archives
and MDS shards.

    /usr/bin/python3 tests/fuzz/make_container_corpus.py      (writes beside itself; python3-zstandard for MDS)

Files with other names in the corpora were found by fuzzing.
"""
import io
import json
import os
import struct
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import make_pictures

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
    reals, several = npy("<f4", (2, 3), struct.pack("<6f", *range(6))), npy("|u1", (2, 3), bytes([0, 1, 0, 1, 1, 0]))
    array_folder("good_real", y=reals, target="real", width=3, classes=3)
    array_folder("good_several", y=several, target="classes", width=3, classes=3)
    array_folder("other_width", y=reals, target="real", width=3)
    array_folder("names_twice", class_names=["a", "a"])
    array_folder("names_wild", class_names=["a", "\x1b[31m"])
    for fill in range(4):  # one of them is only to be predicted
        array_folder("bare_%d" % fill, y=b"", class_names=["a", "b"], made_from="x" * fill)
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


def tar(name, files, how=0, format=tarfile.USTAR_FORMAT, change=lambda data: data):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        for path, content in files:
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    put("tar", name, bytes([how]) + change(out.getvalue()[:-8704]))  # less zeros


def row(level, shape=(2, 3)):
    return npy("|u1", shape, bytes([level]) * (shape[0] * shape[1]))


def tars():
    pairs = [("a.npy", row(1)), ("a.cls", b"1"), ("b.npy", row(2)), ("b.cls", b"0\n")]
    jpeg, png = make_pictures.jpeg(), make_pictures.plain(8, 8, (1, 2, 3))
    tar("pairs", pairs)
    tar("kept", pairs, 16)
    tar("asked", pairs, 4)
    tar("test", pairs, 1)
    tar("names", [("a.npy", row(1)), ("a.txt", b"owl"), ("b.npy", row(2)), ("b.txt", b"cat")])
    tar("json", [("a.npy", row(1)), ("a.json", b'{"label": 1}'), ("b.npy", row(2)), ("b.json", b'{"label": "x"}')])
    tar("json_key", [("a.npy", row(1)), ("a.json", b'{"id": 1}'), ("b.npy", row(2)), ("b.json", b'{"id": 0}')], 4)
    tar("folders", [("cat/a.npy", row(1)), ("dog/b.npy", row(2)), ("dog/c.npy", row(3))])
    tar("sets", [("d/train/cat/a.npy", row(1)), ("d/train/dog/b.npy", row(2)), ("d/test/cat/a.npy", row(3))])
    tar("sets_test", [("d/train/cat/a.npy", row(1)), ("d/val/dog/b.npy", row(2)), ("e/x.npy", row(3))], 1)
    tar("pictures", [("a.jpg", jpeg), ("a.cls", b"0"), ("b.png", png), ("b.cls", b"1")], 16)
    tar("scaled", [("a.jpg", jpeg), ("a.cls", b"0"), ("b.png", make_pictures.plain(5, 9, (1, 2, 3))),
                   ("b.cls", b"1")], 2 + 16)
    tar("predicted", [("a.jpg", jpeg), ("x/b.png", png)], 8)
    tar("shapes", [("a.npy", row(1)), ("a.cls", b"0"), ("b.npy", row(2, (3, 3))), ("b.cls", b"1")], 16)
    tar("long_pax", [("n" * 180 + "/a.npy", row(1)), ("n" * 180 + "/a.cls", b"1")], 0, tarfile.PAX_FORMAT)
    tar("long_gnu", [("n" * 180 + "/a.npy", row(1)), ("n" * 180 + "/a.cls", b"1")], 0, tarfile.GNU_FORMAT)
    tar("cut", pairs, change=lambda data: data[:-300])
    tar("sum", pairs, change=lambda data: data[:3] + b"x" + data[4:])
    put("tar", "zeros", bytes(1025))


def mds(name, encodings, samples, how=0, names=("x", "y"), sizes=None, packed=False, change=None):
    import zstandard
    sizes = sizes or [None] * len(encodings)
    parts = []
    for sample in samples:
        head = b"".join(struct.pack("<I", len(c)) for c, size in zip(sample, sizes) if size is None)
        parts.append(head + b"".join(sample))
    at = [4 * (len(parts) + 2)]
    for part in parts:
        at.append(at[-1] + len(part))
    shard = struct.pack("<%dI" % (len(at) + 1), len(parts), *at) + b"".join(parts)
    zipped = zstandard.ZstdCompressor().compress(shard) if packed else b""
    info = {"column_names": names, "column_encodings": encodings, "column_sizes": sizes, "format": "mds",
            "version": 2, "samples": len(parts), "compression": "zstd" if packed else None,
            "raw_data": {"basename": "b.mds" if packed else "a.mds", "bytes": len(shard), "hashes": {}},
            "zip_data": {"basename": "b.mds.zstd", "bytes": len(zipped), "hashes": {}} if packed else None}
    if change:
        change(info)
    text = json.dumps({"version": 2, "shards": [info]}).encode()
    shard = b"" if packed else shard
    put("mds", name, bytes([how]) + struct.pack("<H", len(text)) + text + struct.pack("<H", len(shard)) + shard +
        zipped)


def shards():
    numbers = [(bytes([i] * 4), struct.pack("<q", i % 2)) for i in range(3)]
    jpeg, png = make_pictures.jpeg(), make_pictures.plain(8, 8, (1, 2, 3))
    raw = struct.pack("<III", 2, 2, 3) + b"RGB" + bytes(range(12))
    mds("plain", ["ndarray:uint8:2,2", "int"], numbers, sizes=[4, 8])
    mds("packed", ["ndarray:uint8:2,2", "int"], numbers, 8, sizes=[4, 8], packed=True)
    mds("unkept", ["ndarray:uint8:2,2", "int"], numbers, 0, sizes=[4, 8], packed=True)
    mds("kept", ["ndarray:uint8:2,2", "int"], numbers, 16, sizes=[4, 8])
    mds("typed", ["ndarray", "str"], [(bytes([34, 1 << 2, 2]) + struct.pack("<2f", i, 1), b"n%d" % i) for i in range(3)])
    mds("shaped", ["ndarray:uint8", "str_int"], [(bytes([2 << 2, 2, 1, 5, 6]), b"%d" % i) for i in range(3)])
    mds("wide", ["ndarray:float16", "float32"], [(bytes([1 << 2 | 1, 2, 0]) + bytes(4), struct.pack("<f", 1))],
        sizes=[None, 4])
    mds("jpeg", ["jpeg", "uint8"], [(jpeg, b"\0"), (jpeg, b"\1")], 16, sizes=[None, 1])
    mds("png", ["png", "int8"], [(png, b"\0"), (png, b"\1")], 1, sizes=[None, 1])
    mds("pil", ["pil", "int16"], [(raw, b"\0\0"), (raw, b"\1\0")], 16, sizes=[None, 2])
    mds("bytes", ["bytes", "uint16"], [(b"abc", b"\0\0"), (png, b"\1\0")], sizes=[None, 2])
    mds("asked", ["ndarray:uint8:2,2", "int"], numbers, 4, ("x", "z"), sizes=[4, 8])
    mds("unlabelled", ["ndarray:uint8:2,2", "pkl"], numbers, 2, sizes=[4, None])
    mds("short", ["ndarray:uint8:2,2", "int"], numbers, sizes=[4, 8],
        change=lambda info: info["raw_data"].update(bytes=9))
    mds("bomb", ["ndarray:uint8:2,2", "int"], numbers, sizes=[4, 8], packed=True,
        change=lambda info: info["raw_data"].update(bytes=2**32 - 1))
    mds("samples", ["ndarray:uint8:2,2", "int"], numbers, sizes=[4, 8],
        change=lambda info: info.update(samples=2**32 - 2))
    mds("axes", ["ndarray:uint8", "int"], [(bytes([60 << 2 | 3]) + bytes(480), bytes(8))], sizes=[None, 8])
    mds("mode", ["pil", "int"], [(struct.pack("<III", 2, 2, 1) + b"P" + bytes(4), bytes(8))], sizes=[None, 8])


if __name__ == "__main__":
    array_folders()
    tars()
    shards()
