#!/usr/bin/python3
"""Makes pictures for the case files, with Python's library alone.

    make_pictures.py set FOLDER [SIDE]     FOLDER/{train,test}/{cat,dog}: cats are red, dogs blue; of
                                           several sizes, or all of SIDE pixels a side
    make_pictures.py KIND FILE...          one picture in each file; KIND is a function below
"""
import base64
import os
import struct
import sys
import zlib

RED, BLUE = (200, 40, 40), (40, 40, 200)

# 8x8, the left half blue, the right half red.
JPEG = base64.b64decode("""
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNS
Mj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P
T0//wAARCAAIAAgDAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAABv/EABcQAAMBAAAAAAAAAAAAAAAAAAAEQoH/xAAVAQEBAAAA
AAAAAAAAAAAAAAAEBf/EABkRAAIDAQAAAAAAAAAAAAAAAAAFQoHBQ//aAAwDAQACEQMRAD8AOp3g95zvCmnnWn//2Q==""")
WEBP = base64.b64decode("UklGRiIAAABXRUJQVlA4TBUAAAAvB8ABAA8wKEcBPRjy/EcLCh/R/wAA")
# 8x8 of the inks 0, 200, 200, 20: the colours 235, 51, 51.
CMYK = base64.b64decode("""
/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJTUjI+
WmFaUGBKUVJP/8AAFAgACAAIBEMRAE0RAFkRAEsRAP/EABUAAQEAAAAAAAAAAAAAAAAAAAYH/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/a
AA4EQwBNAFkASwAAPwCnCQkoT//Z""")


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, bits, kind, rows, *extra):
    head = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(extra) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def plain(width, height, colour):
    return png(width, height, 8, 2, (b"\0" + bytes(colour) * width) * height)


def jpeg():
    return JPEG


def turned():
    """The same, to be turned by 90 degrees: the upper half is seen blue."""
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"
    return JPEG[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + JPEG[2:]


def cmyk():
    return CMYK


def webp():
    return WEBP


def red():
    return plain(8, 8, RED)


def large():
    return plain(30, 20, BLUE)


def grey():
    return png(8, 8, 8, 0, (b"\0" + b"\x80" * 8) * 8)


def deep():
    """16 bits a channel: 128.0 of 255."""
    return png(8, 8, 16, 2, (b"\0" + b"\x80\x80" * 24) * 8)


def palette():
    return png(8, 8, 1, 3, b"\0\xaa" * 8, chunk(b"PLTE", bytes(RED + BLUE)))


def clear():
    """Black, and nothing of it to be seen."""
    return png(8, 8, 8, 6, (b"\0" + b"\0\0\0\0" * 8) * 8)


def bomb():
    return png(100000, 100000, 1, 0, bytes(100))


def cut():
    return JPEG[:-30]


def animated():
    return b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\2\0\0\0\7\0\0\7\0\0"


def nothing():
    return b""


def text():
    return b"<html>404</html>\n"


def write(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def make_set(folder, side=0):
    for role, count in (("train", 10), ("test", 4)):
        for i in range(count):
            width, height = side or 8 + i % 5, side or 8 + i % 3
            shade = 15 * i
            write(f"{folder}/{role}/cat/{i}.png", plain(width, height, (255 - shade, shade // 3, 20)))
            write(f"{folder}/{role}/dog/{i}.png", plain(width, height, (20, shade // 3, 255 - shade)))


if __name__ == "__main__":
    if sys.argv[1] == "set":
        make_set(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        for name in sys.argv[2:]:
            write(name, globals()[sys.argv[1]]())
