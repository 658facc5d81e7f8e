#!/usr/bin/python3
"""Writes the hand-made part of the corpora of tables and sets of arrays.

    /usr/bin/python3 tests/fuzz/make_table_corpus.py      (needs numpy; writes beside itself)

Files with other names in the corpora were found by fuzzing.
"""
import gzip
import struct

import numpy as np

from make_corpus import put, saved


def table(name, text, how=0):
    put("csv", name, struct.pack("<H", how) + (text if isinstance(text, bytes) else text.encode()))


def tables():
    good = "size,colour,kind\n1,red,owl\n2,blue,cat\n3,green,dog\n"
    real, several, mean, bare = 8, 10, 66, 48  # as fuzz_csv.c takes them apart
    table("good", good)
    table("good_numbers", "a,b,y\n1,2,0\n3,4,1\n5,6,2\n")
    table("good_gzip", gzip.compress(good.encode(), mtime=0))
    table("good_crlf_bom", b"\xef\xbb\xbf" + good.replace("\n", "\r\n").encode())
    table("good_quotes", 'a;"b;c";y\n"1";"x""y";0\n2;"z;w";1\n')
    table("newline", 'a;"b;c";y\n"1";"x""y";0\n2;"z\nw";1\n')
    table("good_tabs", "a\ty\n 1\tcat \n2\tdog\n")
    table("good_real", "a,b,x\n1,2,3\n2.5,1e3,4\n", real)
    table("good_several", "a,b,x\n1,0,3\n0,1,4\n", several)
    table("good_missing", "a,c,y\n,red,0\n4,NA,1\n?,,0\n", mean)
    table("good_index", ",a,y,\n0,1,0,\n1,2,1,\n2,5,1,\n")
    table("good_unlabelled", "a,b\n1,2\n", bare)
    table("names", "id,a,y\n" + "".join(f"n{i},{i * i},{i % 2}\n" for i in range(40)))
    table("mixed_few", "floor,y\n1,0\n2,1\nG,0\n1,1\n")
    table("mixed_many", "a,y\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(40)) + "x,1\n")
    table("decimal_comma", "a;y\n1,5;0\n2;1\n")
    table("equals", "a=b,c,y\n1,x=y,0\n2,=,1\n")
    table("equals_two", "a=b,a,y\n1,2,0\n")
    table("missing", "a,y\n,0\n2,1\n")
    table("no_label", "a,y\n1,\n")
    table("ragged", "a,y\n1,0\n1\n")
    table("open_quote", 'a,y\n"1,0\n')
    table("behind_quote", 'a,y\n"1"2,0\n')
    table("two_separators", "a,b;c\n1,2\n")
    table("numbers_alone", "1,2\n3,4\n")
    table("one_column", "a\n1\n")
    table("header_alone", "a,y\n")
    table("empty", "")
    table("zero_byte", b"a,y\n1,\x00\n")
    table("beyond", "a,y\n1e39,0\n")
    table("infinite", "a,y\n-inf,0\n")
    table("control", "a,y\n\x1b[1m,0\nx,1\n")
    table("utf16", "a,y\n".encode("utf-16"))
    table("not_utf8", b"a,y\n\xff,0\nb,1\n")
    table("fractions", "a,y\n1,0.5\n2,1.5\n")
    table("minus", "a,y\n1,-1\n2,1\n")


def arrays(name, how=0, **members):
    data = struct.pack("<H", how)
    for key, array in members.items():
        content = array if isinstance(array, bytes) else saved(array)
        data += struct.pack("<HH", len(key) - 1, len(content)) + key.encode() + content
    put("array_set", name, data)


def sets():
    first, last, test, bare, alone = 3, 6, 9, 54, 72  # as fuzz_array_set.c takes them apart
    y = np.arange(4) % 3
    images = np.arange(4 * 5 * 6 * 3, dtype="u1").reshape(4, 5, 6, 3)
    arrays("good", x=np.arange(12, dtype="<f4").reshape(4, 3), y=y)
    arrays("good_nhwc", images=images, labels=y.reshape(4, 1))
    arrays("good_nhwc_f8", X=images / 7., Y=y.astype("f4"))
    arrays("good_nchw", x_train=images.transpose(0, 3, 1, 2).copy(), y_train=y)
    arrays("good_either", first, data=images[..., :2].copy(), target=y)
    arrays("good_either_last", last, data=images[..., :2].copy(), target=y)
    arrays("good_layout", x=images[..., :2].copy(), y=y, layout=np.frombuffer(b"nchw", "u1"))
    arrays("either", data=images[..., :2].copy(), target=y)
    arrays("good_half", x=images.astype("<f2"), y=y.astype("i1"))
    arrays("good_bool", x=images > 9, y=(y > 1))
    arrays("good_one_hot", x=images, y=np.eye(3)[y])
    arrays("good_int", x=images.astype("<i2"), y=y.astype("<u8"))
    arrays("good_real", 2, x=images, y=np.arange(8.).reshape(4, 2))
    arrays("good_several", 1, x=images, y=np.eye(3, dtype="u1")[y])
    arrays("good_test", test, x_val=images, y_val=y)
    arrays("good_alone", alone, x_train=images, y_train=y, x_test=images[:2], y_test=y[:2])
    arrays("train_alone", alone, x_train=images, y_train=y)
    arrays("good_bare", bare, X=images)
    arrays("fortran", x=np.asfortranarray(images), y=y)
    arrays("nan", x=np.full((4, 2), np.nan, "f4"), y=y)
    arrays("label_minus", x=images, y=y - 1)
    arrays("label_half", x=images, y=y + .5)
    arrays("two_hot", x=images, y=np.ones((4, 2)))
    arrays("counts", x=images, y=y[:3])
    arrays("none", x=images[:0], y=y[:0])
    arrays("names", photos=images, kinds=y)
    arrays("names_broken", photos=b"\x93NUMPY", kinds=y)
    arrays("flat", x=np.arange(4.), y=y)


if __name__ == "__main__":
    tables()
    sets()
