#!/usr/bin/env python3
"""Write tests/golden/scale_cases.txt: pictures as Pillow's bilinear resize scales them.

    python3 tools/make_golden_scale.py > tests/golden/scale_cases.txt

Needs Pillow and numpy (made with Pillow 13.0.0). A case is a line

    seed width height channels to_width to_height bytes

bytes being the scaled picture, row by row, pixel by pixel, in hexadecimal. The picture itself is
made again from the seed, by integers alone, so that both sides see the same bits:

    splitmix64   state starts at the seed; a number is state += 0x9e3779b97f4a7c15, then
                 z = state; z = (z ^ z>>30) * 0xbf58476d1ce4e5b9;
                 z = (z ^ z>>27) * 0x94d049bb133111eb; z ^ z>>31     (all modulo 2^64)
    pixels       row by row, pixel by pixel, channel by channel, each number >> 56
"""
import numpy
from PIL import Image

MASK = 2**64 - 1
# Smaller, larger, one axis each way, by whole factors and not, to and from a single pixel.
CASES = [(7, 5, 3, 4, 3), (5, 7, 3, 16, 15), (40, 30, 3, 11, 8), (30, 40, 1, 20, 20), (64, 64, 3, 16, 16),
         (50, 3, 3, 7, 9), (3, 50, 1, 9, 7), (1, 1, 3, 5, 4), (9, 1, 1, 3, 3), (200, 150, 3, 1, 1),
         (120, 90, 1, 13, 12), (33, 33, 3, 32, 32), (16, 16, 1, 17, 17), (150, 200, 3, 9, 12)]


def pixels(seed, count):
    state = seed
    for _ in range(count):
        state = (state + 0x9e3779b97f4a7c15) & MASK
        z = state
        z = ((z ^ z >> 30) * 0xbf58476d1ce4e5b9) & MASK
        z = ((z ^ z >> 27) * 0x94d049bb133111eb) & MASK
        yield (z ^ z >> 31) >> 56


for seed, (width, height, channels, to_width, to_height) in enumerate(CASES, 1):
    data = numpy.fromiter(pixels(seed, width * height * channels), numpy.uint8)
    picture = Image.fromarray(data.reshape((height, width, channels)[:2 + (channels > 1)]))
    scaled = picture.resize((to_width, to_height), Image.BILINEAR)
    print(seed, width, height, channels, to_width, to_height, numpy.asarray(scaled).tobytes().hex())
