#!/usr/bin/python3
"""Writes the hand-made part of the corpora: honest and hostile .npy and .npz files.

    /usr/bin/python3 tests/fuzz/make_corpus.py      (needs numpy; writes beside itself)

Files with other names in the corpora were found by fuzzing.
"""
import io
import os
import struct
import zipfile
import zlib

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


def put(folder, name, data):
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(os.path.join(HERE, folder, name), "wb") as file:
        file.write(data)


def npy(text=GOOD, payload=bytes(24), version=1, magic=b"\x93NUMPY"):
    text = text.encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return magic + bytes([version, 0]) + length + text + payload


def saved(array, **how):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, **how)
    return out.getvalue()


def archive(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in members:
            with file.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                member.write(data)
    return out.getvalue()


def deflated(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def patch(data, at, value):
    return data[:at] + value + data[at + len(value):]


def npys():
    put("npy", "good_f4", saved(np.arange(6, dtype="<f4").reshape(2, 3)))
    put("npy", "good_f8_fortran", saved(np.asfortranarray(np.arange(12.0).reshape(3, 4))))
    put("npy", "good_i8_v2", saved(np.arange(5), version=(2, 0)))
    put("npy", "good_u1_v3", saved(np.arange(5, dtype="u1"), version=(3, 0)))
    put("npy", "good_i4_4d", saved(np.zeros((1, 2, 1, 3), "<i4")))
    put("npy", "good_empty", saved(np.zeros((0, 3), "<f4")))
    put("npy", "empty_file", b"")
    put("npy", "magic_alone", b"\x93NUMPY")
    put("npy", "wrong_magic", npy(magic=b"\x93NUMPZ"))
    put("npy", "wrong_version", npy(version=9))
    put("npy", "header_truncated", npy()[:40])
    put("npy", "header_length_beyond_end", patch(npy(), 8, b"\xff\xff"))
    put("npy", "header_length_huge_v2", patch(npy(version=2), 8, b"\xff\xff\xff\xff"))
    put("npy", "payload_short", npy()[:-1])
    put("npy", "payload_long", npy() + b"x")
    for name, shape in {
            "negative": "(-2, 3)", "overflow": "(4611686018427387904, 4)",
            "overflow_digits": "(18446744073709551617,)", "overflow_hidden_by_zero":
            "(0, 9223372036854775807, 9223372036854775807)", "five": "(1, 1, 1, 1, 1)",
            "none": "()", "no_tuple": "(6)", "float": "(6.0,)", "name": "(n,)", "open": "(2, 3",
            "nested": "((2, 3), )", "huge": "(1000000000000,)"}.items():
        put("npy", "shape_" + name, npy(GOOD.replace("(2, 3)", shape)))
    for name, descr in {
            "object": "'|O'", "big_endian": "'>f4'", "half": "'<f2'", "string": "'<U8'",
            "record": "[('a', '<f4')]", "empty": "''", "escape": "'\\x3cf4'"}.items():
        put("npy", "descr_" + name, npy(GOOD.replace("'<f4'", descr)))
    put("npy", "pickle", saved(np.array([{"a": 1}], dtype=object), allow_pickle=True))
    put("npy", "key_twice", npy(GOOD.replace("'fortran_order': False", "'descr': '<f4'")))
    put("npy", "key_unknown", npy(GOOD.replace("fortran_order", "cobol_order")))
    put("npy", "key_missing", npy("{'descr': '<f4', 'shape': (2, 3)}"))
    put("npy", "code_behind", npy(GOOD + "; import os"))
    put("npy", "quotes_open", npy("{'descr: "))


def npzs():
    one = saved(np.arange(6, dtype="<f4").reshape(2, 3))
    two = saved(np.arange(50) // 9)
    good = archive([("loss.npy", one), ("labels.npy", two)])
    packed = deflated([("loss.npy", one), ("labels.npy", two)])
    end = good.rindex(b"PK\x05\x06")
    first = good.index(b"PK\x01\x02")
    put("npz", "good_stored", good)
    put("npz", "good_deflated", packed)
    put("npz", "good_empty", archive([]))
    put("npz", "good_other_member", archive([("readme.txt", b"hello"), ("x.npy", one)]))
    put("npz", "good_comment", patch(good, end + 20, b"\x05\x00") + b"hello")
    put("npz", "cut_in_data", good[:200])
    put("npz", "cut_in_directory", good[:first + 30])
    put("npz", "cut_end", good[:-1])
    put("npz", "prefix", b"#!junk" + good)
    put("npz", "crc_mismatch", patch(good, first + 16, b"\0\0\0\0"))
    put("npz", "data_flipped", patch(good, 190, bytes([good[190] ^ 1])))
    put("npz", "encrypted", patch(good, first + 8, b"\x01\x00"))
    put("npz", "method_unknown", patch(good, first + 10, b"\x0e\x00"))
    put("npz", "offset_beyond_end", patch(good, first + 42, b"\xff\xff\xff\x7f"))
    put("npz", "size_beyond_end", patch(patch(good, first + 20, b"\0\0\0\x7f"), first + 24,
                                        b"\0\0\0\x7f"))
    put("npz", "zip64_missing", patch(good, first + 24, b"\xff\xff\xff\xff"))
    put("npz", "count_wrong", patch(good, end + 8, b"\x09\x00\x09\x00"))
    put("npz", "count_huge", patch(good, end + 8, b"\xfe\xff\xfe\xff"))
    put("npz", "directory_offset_wrong", patch(good, end + 16, b"\x00\x00\x00\x00"))
    second = good.index(b"PK\x01\x02", first + 4)
    put("npz", "members_overlap", patch(good, second + 42, good[first + 42:first + 46]))
    put("npz", "names_twice", archive([("x.npy", one), ("y.npy", one)]).replace(b"y.npy",
                                                                               b"x.npy"))
    put("npz", "name_control", good.replace(b"loss.npy", b"lo\ns.npy"))
    put("npz", "local_name_differs", good.replace(b"loss.npy", b"moss.npy", 1))
    put("npz", "object_inside", archive([("x.npy", saved(np.array([None]), allow_pickle=True))]))
    zeros = b"\x93NUMPY" + npy(GOOD.replace("(2, 3)", "(1000000,)"), b"")[6:] + bytes(4000000)
    put("npz", "bomb_honest_size", deflated([("x.npy", zeros)]))
    bomb = deflated([("x.npy", zeros)])
    central = bomb.index(b"PK\x01\x02")
    put("npz", "bomb_small_size", patch(bomb, central + 24, struct.pack("<I", 200)))
    put("npz", "bomb_claims_3_gib", patch(bomb, central + 24, struct.pack("<I", 3 << 30)))
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    raw = stream.compress(one) + stream.flush()
    put("npz", "deflate_cut", packed.replace(raw, raw[:-2] + b"\xff\xff"))


if __name__ == "__main__":
    npys()
    npzs()
