#!/usr/bin/env python3
"""Writes the corpora of pictures: small honest ones of every form, and hostile ones made of them.

    python3 tests/fuzz/make_picture_corpus.py      (writes beside itself; needs Pillow)

Before each file stand two numbers of two bytes, which choose what it is scaled to. Files with other
names in the corpora were found by fuzzing.
"""
import io
import os
import struct
import zlib

from PIL import Image

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def put(folder, name, data, side=7, way=0):
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(os.path.join(HERE, folder, name), "wb") as file:
        file.write(struct.pack("<HH", side, way) + data)


def picture(mode, width=11, height=9):
    bands = len(Image.new(mode, (1, 1)).getbands())
    data = bytes((x * 20 + y * 7 + c * 50) % 256 for y in range(height) for x in range(width)
                 for c in range(bands))
    return Image.frombytes(mode, (width, height), data)


def save(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def exif(turn):
    tags = Image.Exif()
    tags[0x112] = turn
    return tags.tobytes()


def jpegs():
    rgb = save(picture("RGB"), "JPEG", quality=75)
    slow = save(picture("RGB", 20, 17), "JPEG", progressive=True)
    put("jpeg", "rgb", rgb)
    put("jpeg", "grey", save(picture("L"), "JPEG"), way=1)
    put("jpeg", "cmyk", save(picture("CMYK"), "JPEG"), way=2)
    put("jpeg", "progressive", slow, way=3)
    put("jpeg", "turned", save(picture("RGB"), "JPEG", exif=exif(6)), way=4)
    put("jpeg", "restart", save(picture("RGB", 40, 30), "JPEG", restart_marker_rows=1), way=9)
    put("jpeg", "cut", rgb[:-20])
    put("jpeg", "cut_progressive", slow[:-60])
    put("jpeg", "header", rgb[:100])
    at = rgb.index(b"\xff\xc0")
    put("jpeg", "bomb", rgb[:at + 5] + b"\xff\xdc\xff\xdc" + rgb[at + 9:])
    put("jpeg", "two_components", rgb[:at + 9] + b"\2" + rgb[at + 10:])
    put("jpeg", "zero_height", rgb[:at + 5] + b"\0\0" + rgb[at + 7:])


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, bits, kind, rows, *extra, interlaced=0, end=True):
    head = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(extra) +
            chunk(b"IDAT", zlib.compress(rows, 9)) + (chunk(b"IEND", b"") if end else b""))


def pngs():
    put("png", "rgba", save(picture("RGBA"), "PNG"))
    put("png", "grey_alpha", save(picture("LA"), "PNG"), way=1)
    put("png", "palette", save(picture("RGB").quantize(5), "PNG"), way=2)
    put("png", "turned", save(picture("RGB"), "PNG", exif=exif(8)), way=5)
    put("png", "bits_1", png(9, 2, 1, 0, b"\0\xa5\x80\0\x5a\0"))
    put("png", "bits_16", png(2, 2, 16, 2, b"\0" + bytes(range(12)) + b"\1" + bytes(range(12))))
    put("png", "clear", png(2, 1, 8, 2, b"\0\1\2\3\4\5\6", chunk(b"tRNS", b"\0\1\0\2\0\3")))
    put("png", "interlaced", png(3, 2, 8, 0, b"\0\1\0\2\0\3\4\0\5\6\7", interlaced=1))
    put("png", "bomb", png(2**31 - 1, 2**31 - 1, 8, 6, b""))
    put("png", "too_few_rows", png(4, 4, 8, 0, b"\0abcd"))
    put("png", "too_many_rows", png(1, 1, 8, 0, b"\0a" * 50))
    put("png", "no_palette", png(1, 1, 8, 3, b"\0\0"))
    put("png", "beyond_palette", png(1, 1, 8, 3, b"\0\7", chunk(b"PLTE", b"abc")))
    put("png", "no_end", png(2, 1, 8, 0, b"\0ab", end=False))
    put("png", "text_bomb", png(1, 1, 8, 0, b"\0a", chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(200000)))))
    put("png", "checksum", save(picture("L"), "PNG")[:-20] + b"1234" + save(picture("L"), "PNG")[-16:])


def webps():
    exact = save(picture("RGBA"), "WEBP", lossless=True)
    lossy = save(picture("RGB", 40, 30), "WEBP", quality=60)
    put("webp", "exact", exact)
    put("webp", "lossy", lossy, way=1)
    put("webp", "lossy_alpha", save(picture("RGBA", 30, 20), "WEBP", quality=30), way=2)
    put("webp", "turned", save(picture("RGB"), "WEBP", lossless=True, exif=exif(5)), way=3)
    put("webp", "animated", save(picture("RGB"), "WEBP", save_all=True, append_images=[picture("RGB").rotate(180)],
                                 minimize_size=True))
    put("webp", "cut", exact[:-10])
    put("webp", "cut_lossy", lossy[:-30])
    put("webp", "header", exact[:30])
    put("webp", "large", exact[:21] + b"\xff\xff\xff\x0f" + exact[25:])


if __name__ == "__main__":
    jpegs()
    pngs()
    webps()
