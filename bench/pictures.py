#!/usr/bin/env python3
"""Time cull's reading of pictures against torchvision's, per core, both in one run.

    bench/pictures.py --peer PYTHON [--build DIR] [--folder DIR] [--count N] [--rounds N] [--table]

PYTHON has torchvision and Pillow. JPEGs of 500x375 and 375x500 pixels (2,000 of them, made once by
Pillow at quality 90 in DIR, or in a folder that is removed) become squares of 224 and of 64 pixels, the
shorter side scaled and the middle taken: files are opened, read, decoded and scaled, by one thread.

    ours      bench_pictures --serve: libjpeg, at half size or less where that leaves twice the pixels
    pillow    Image.open().convert("RGB"), Resize, CenterCrop, pil_to_tensor: ImageFolder's way
    decode    torchvision.io.decode_jpeg, then resize(antialias=True) and center_crop on tensors

The first 20 pictures are compared before anything is timed: ours, without shrinking, must be within a
level of Pillow's, which rounds between the axes. Rounds alternate between the sides; a side has the
median of its rounds and the least of them, in milliseconds a picture. One JSON line a size, at the end.
quiet.py says when nothing is printed, and what --busy does.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

import quiet

SIDES = [224, 64]
COLUMNS = [("to", "to"), ("cull, median ms", "ours_ms"), ("least", "ours_least_ms"),
           ("Pillow, median ms", "pillow_ms"), ("least", "pillow_least_ms"),
           ("decode_jpeg, median ms", "decode_ms"), ("least", "decode_least_ms"),
           ("times as fast as Pillow", "over_pillow"), ("as decode_jpeg", "over_decode")]

# Both run under the peer's interpreter.
MAKE = r"""
import os, sys
import numpy
from PIL import Image
folder, count = sys.argv[1], int(sys.argv[2])
rng = numpy.random.default_rng(1)
for i in range(count):
    width, height = (500, 375) if i % 3 else (375, 500)
    coarse = rng.integers(0, 256, (height // 16 + 2, width // 16 + 2, 3), dtype=numpy.uint8)
    smooth = Image.fromarray(coarse).resize((width, height), Image.BICUBIC)
    grain = rng.integers(-12, 13, (height, width, 3), dtype=numpy.int16)
    pixels = (numpy.asarray(smooth, numpy.int16) + grain).clip(0, 255).astype(numpy.uint8)
    Image.fromarray(pixels).save(os.path.join(folder, "%05d.jpg" % i), quality=90)
"""
PEER = r"""
import os, sys, time
import torch, torchvision
from PIL import Image
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2
folder, side, raw, way = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
torch.set_num_threads(1)
paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name[0] != ".")
resize, crop = v2.Resize(side, antialias=True), v2.CenterCrop(side)
def pillow(path):
    with open(path, "rb") as file:
        return v2.functional.pil_to_tensor(crop(resize(Image.open(file).convert("RGB"))))
def decode(path):
    return crop(resize(decode_jpeg(read_file(path), mode=ImageReadMode.RGB))).contiguous()
read = pillow if way == "pillow" else decode
with open(raw, "wb") as file:
    for path in paths[:20]:
        file.write(read(path).numpy().tobytes())
print(len(paths), torchvision.__version__, flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    for path in paths:
        read(path)
    print(time.perf_counter() - start, flush=True)
"""


class Side:
    """A process that has read every picture it will be compared by, and times itself on demand."""

    def __init__(self, command, raw):
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)
        self.raw, self.times = raw, []
        self.count, *version = self.line().split()
        self.count, self.version = int(self.count), " ".join(version)

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended without an answer")
        return line.strip()

    def round(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.times.append(1e3 * float(self.line()) / self.count)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def difference(a, b):
    """The most that two files of bytes differ."""
    with open(a, "rb") as x, open(b, "rb") as y:
        x, y = x.read(), y.read()
    if len(x) != len(y):
        sys.exit(f"{a} has {len(x)} bytes, {b} {len(y)}")
    return max(abs(i - j) for i, j in zip(x, y))


def run_side(options, pictures, side, folder, meter):
    raws = {name: os.path.join(folder, name) for name in ("ours", "pillow", "decode")}
    bench = os.path.join(options.build, "bench", "bench_pictures")
    sides = {name: Side([bench, "--serve", pictures, str(side), raws[name]] if name == "ours" else
                        [options.peer, "-c", PEER, pictures, str(side), raws[name], name], raws[name])
             for name in raws}
    apart = {name: difference(raws["ours"], raws[name]) for name in ("pillow", "decode")}
    if apart["pillow"] > 1:
        sys.exit(f"to {side}: ours is {apart['pillow']} levels from Pillow's")
    for _ in range(options.rounds):
        for one in sides.values():
            one.round()
        meter.mark()
    line = {"case": f"pictures to {side}", "to": side, "pictures": sides["ours"].count}
    for name, one in sides.items():
        line[name + "_ms"] = round(statistics.median(one.times), 4)
        line[name + "_least_ms"] = round(min(one.times), 4)
        one.close()
    for name in apart:
        line["over_" + name] = round(line[name + "_ms"] / line["ours_ms"], 2)
        line["over_%s_least" % name] = round(line[name + "_least_ms"] / line["ours_least_ms"], 2)
        line["apart_" + name] = apart[name]
    line.update(torchvision=sides["decode"].version, rounds=options.rounds)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--peer", required=True, help="an interpreter with torchvision and Pillow")
    parser.add_argument("--build", default="build", help="where bench/bench_pictures was built")
    parser.add_argument("--folder", help="where the pictures are, or are made and stay")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.set_defaults(floor=False)
    quiet.add_options(parser)
    options = parser.parse_args()
    quiet.check_options(parser, options)
    with tempfile.TemporaryDirectory() as folder:
        pictures = options.folder or os.path.join(folder, "pictures")
        os.makedirs(pictures, exist_ok=True)
        if not os.listdir(pictures):
            subprocess.run([options.peer, "-c", MAKE, pictures, str(options.count)], check=True)
        meter = quiet.watch("pictures", options.busy)
        lines = [run_side(options, pictures, side, folder, meter) for side in SIDES]
        quiet.publish("pictures", lines, meter, options, COLUMNS)


if __name__ == "__main__":
    main()
