#!/usr/bin/python3
"""Writes the hand-made part of the corpora of data sets: honest and hostile idx, CIFAR, .mat files.

    /usr/bin/python3 tests/fuzz/make_data_corpus.py      (writes beside itself)

Files with other names in the corpora were found by fuzzing.
"""
import gzip
import os
import struct
import zlib

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
UINT8, INT32, UINT32, INT8, DOUBLE, MATRIX, PACKED = 2, 5, 6, 1, 9, 14, 15


def put(folder, name, data):
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(os.path.join(HERE, folder, name), "wb") as file:
        file.write(data)


def idx(shape, payload=None, kind=8):
    count = 1
    for length in shape:
        count *= length
    body = bytes(i % 10 for i in range(count)) if payload is None else payload
    return struct.pack(">HBB", 0, kind, len(shape)) + struct.pack(f">{len(shape)}I", *shape) + body


def idx_pair(images, labels):
    return struct.pack("<H", len(images)) + images + labels


def idxs():
    images, labels = idx((3, 2, 2)), idx((3,))
    packed = gzip.compress(images, mtime=0)
    put("idx", "good", idx_pair(images, labels))
    put("idx", "good_gzip", idx_pair(packed, gzip.compress(labels, mtime=0)))
    put("idx", "short", idx_pair(images[:-1], labels))
    put("idx", "long", idx_pair(images + b"x", labels))
    put("idx", "counts_differ", idx_pair(images, idx((2,))))
    put("idx", "label_ten", idx_pair(images, idx((3,), bytes([1, 2, 10]))))
    put("idx", "overflow", idx_pair(idx((2**32 - 1,) * 3, b""), labels))
    put("idx", "wide", idx_pair(idx((1, 1, 5000)), idx((1,))))
    put("idx", "zero", idx_pair(idx((0, 2, 2)), idx((0,))))
    put("idx", "floats", idx_pair(idx((3, 2, 2), kind=13), labels))
    put("idx", "gzip_cut", idx_pair(packed[:-5], labels))
    put("idx", "gzip_two", idx_pair(packed * 2, labels))
    put("idx", "gzip_bomb", idx_pair(gzip.compress(idx((2**30, 28, 28), b""), mtime=0), labels))
    put("idx", "gzip_crc", idx_pair(packed[:-8] + b"1234" + packed[-4:], labels))


def cifars():
    put("cifar", "good_10", b"\0" + b"\x07" + bytes(3072) + b"\x09" + bytes(range(256)) * 12)
    put("cifar", "good_100", b"\1" + b"\x13\x63" + bytes(3072))
    put("cifar", "label_10", b"\0" + b"\x0a" + bytes(3072))
    put("cifar", "coarse_20", b"\1" + b"\x14\x63" + bytes(3072))
    put("cifar", "short", b"\0" + bytes(3072))
    put("cifar", "empty", b"\0")


def element(kind, data, small=False):
    if small:
        return struct.pack("<HH", kind, len(data)) + data.ljust(4, b"\0")
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def matrix(name, shape, kind, stored, data, flags=0, size=None, small=False):
    body = element(UINT32, struct.pack("<II", kind | flags << 8, 0))
    body += element(INT32, struct.pack(f"<{len(shape)}i", *shape))
    body += element(INT8, name.encode(), small=len(name) <= 4)
    body += element(stored, data, small)
    return struct.pack("<II", MATRIX, len(body) if size is None else size) + body


def packed(inner):
    data = zlib.compress(inner, 9)
    return struct.pack("<II", PACKED, len(data)) + data


def mat(*elements, version=b"\0\1IM"):
    return b"MATLAB 5.0 MAT-file".ljust(124) + version + b"".join(elements)


def mats():
    x = matrix("X", (32, 32, 3, 2), 9, UINT8, bytes(6144))
    y = matrix("y", (2, 1), 9, UINT8, b"\1\x0a", small=True)
    wide = matrix("y", (1, 2), 6, DOUBLE, struct.pack("<dd", 1, 10))
    put("svhn", "good_packed", mat(packed(x), packed(y)))
    put("svhn", "good_plain", mat(y, x))
    put("svhn", "good_double", mat(packed(matrix("z", (1, 1), 6, DOUBLE, bytes(8))), packed(x), packed(wide)))
    put("svhn", "single", mat(packed(matrix("X", (32, 32, 3), 9, UINT8, bytes(3072))),
                              matrix("y", (1, 1), 9, UINT8, b"\3", small=True)))
    put("svhn", "level_7_3", mat(version=b"\0\2IM"))
    put("svhn", "big_endian", mat(version=b"\1\0MI"))
    put("svhn", "no_y", mat(packed(x)))
    put("svhn", "x_twice", mat(packed(x), packed(x), packed(y)))
    put("svhn", "label_eleven", mat(packed(x), matrix("y", (2, 1), 9, UINT8, b"\1\x0b", small=True)))
    put("svhn", "negative_shape", mat(packed(matrix("X", (32, 32, 3, -1), 9, UINT8, bytes(8))), y))
    put("svhn", "huge_shape", mat(packed(matrix("X", (32, 32, 3, 2**31 - 1), 9, UINT8, bytes(8))), y))
    put("svhn", "matrix_too_small", mat(packed(matrix("X", (32, 32, 3, 2), 9, UINT8, bytes(6144), size=80)), y))
    put("svhn", "matrix_too_large", mat(packed(matrix("X", (32, 32, 3, 2), 9, UINT8, bytes(6144), size=7000)), y))
    put("svhn", "complex", mat(matrix("X", (32, 32, 3, 2), 9, UINT8, bytes(6144), flags=8), y))
    put("svhn", "adler", mat(packed(x)[:-4] + b"1234", packed(y)))
    put("svhn", "cut", mat(packed(x))[:-3])
    put("svhn", "other_element", mat(element(INT32, bytes(8))))
    put("svhn", "many", mat(*[matrix("z", (0, 0), 6, DOUBLE, b"")] * 70))


if __name__ == "__main__":
    idxs()
    cifars()
    mats()
