#!/usr/bin/python3
"""Data as a new user has it, for first_hour.sh: a folder of 2,000 pictures and a table.

    make_own.py FOLDER [FASHION-MNIST]      FOLDER/photos/CLASS/*.png, *.jpg and FOLDER/table.csv

Pictures are Fashion-MNIST's, of ten classes, as PNG, and every second one as JPEG where Pillow is there. The table
has 1,000 rows: numbers, a category, labels that follow from them but for one in twenty.
"""
import gzip
import os
import random
import struct
import sys
import zlib

NAMES = "t-shirt trouser pullover dress coat sandal shirt sneaker bag boot".split()
COUNT, SIDE = 2000, 28


def png(path, pixels):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b"".join(b"\0" + pixels[y * SIDE:(y + 1) * SIDE] for y in range(SIDE))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pictures(folder, source):
    try:
        from PIL import Image
    except ImportError:
        Image = None
    images = gzip.open(os.path.join(source, "train-images-idx3-ubyte.gz")).read()[16:]
    labels = gzip.open(os.path.join(source, "train-labels-idx1-ubyte.gz")).read()[8:]
    for name in NAMES:
        os.makedirs(os.path.join(folder, name))
    for i in range(COUNT):
        pixels = images[i * SIDE * SIDE:(i + 1) * SIDE * SIDE]
        path = os.path.join(folder, NAMES[labels[i]], f"{i:04}")
        if Image and i % 2:
            Image.frombytes("L", (SIDE, SIDE), pixels).save(path + ".jpg", quality=92)
        else:
            png(path + ".png", pixels)


def table(path):
    draw = random.Random(1)
    kinds = {"red": 0.5, "green": 0.0, "blue": -0.5}
    with open(path, "w") as file:
        file.write("size,weight,age,colour,kind\n")
        for _ in range(1000):
            size, weight, age, colour = draw.gauss(0, 1), draw.gauss(0, 1), draw.gauss(0, 1), draw.choice(list(kinds))
            told = size - weight + kinds[colour]
            kind = "owl" if told > 0.6 else "cat" if told < -0.6 else "dog"
            if draw.random() < 0.05:
                kind = draw.choice(["owl", "cat", "dog"])
            file.write(f"{10 + 2 * size:.3f},{70 + 9 * weight:.2f},{40 + 12 * age:.1f},{colour},{kind}\n")


if __name__ == "__main__":
    where = sys.argv[1]
    pictures(os.path.join(where, "photos"), sys.argv[2] if len(sys.argv) > 2 else "/usr/share/datasets/fashion-mnist")
    table(os.path.join(where, "table.csv"))
