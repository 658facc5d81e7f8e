#!/usr/bin/env python3
"""Write tests/golden/model_*.txt and float_*.txt: ten steps of training as PyTorch does them.

    /usr/bin/python3 tools/make_golden.py [--float [--seed N] | --narrow] [NAME ...]

Needs torch (made with Debian's 1.13.1). Models are defined here from their papers and common
implementations, independently of the C library, with the library's names for their layers.

Every number both sides start from is a formula of a name and an element's number:

    number(name, i)   FNV-1a (64 bits) of the name, plus (i + 1) 0x9e3779b97f4a7c15, then the
                      finisher of splitmix64: z = (z ^ z>>30) 0xbf58476d1ce4e5b9,
                      z = (z ^ z>>27) 0x94d049bb133111eb, z ^ z>>31     (all modulo 2^64)
    even(name, i)     2 (number >> 11) / 2^53 - 1, from -1 to 1
    weight            of a dense layer or convolution: even / sqrt(fan_in); four times that where
                      there is no bias, that is before a normalisation
    gamma, beta       1 + even/4 and even/4; an eighth of these where no other normalisation lies
                      between this one and the classifier
    bias              even/4
    inputs            2 even("STEP:inputs", i), i over (example, channel, row, column)
    labels            (number("STEP:labels", i) >> 32) mod 10, i over the examples
    sign j            bit 56 + j of number("sign:" + parameter's name, i): + when set

with STEP from 1 to 10, so that no two steps see the same examples. The name of a parameter is that
of its layer and .weight or .bias.

The factors 4 and 1/8 make ten steps at rate .1 a question with an answer. Without them rounding
grows a hundredfold a step in MobileNetV2: PyTorch's own layouts, in double, part by 1 in the loss
of step 10 (docs/testing.md has the figures). A normalisation divides the size of the weights before
it out again, and the larger they are the less a step turns them; and the classifier's curvature
goes with the square of what the last normalisations hand it.

Ten steps of SGD, rate .1, momentum .9, mean loss over 8 examples of 16x16, in double. A file
model_*.txt holds, for relu and then (one step only) for gelu in its place:

    model NAME ACTIVATION CHANNELS
    loss            ten numbers; gelu: one
    parameter NAME COUNT   the norm of its gradient at the first step, and its projections on the
                           signs 0 .. 7 (gelu: 0 and 1)
    average NAME COUNT     projections 0 .. 3 of a running mean or variance after the last step
    path NAME              how far another way of PyTorch's through the same steps parts from this
                           one: the largest difference of a loss; of the first gradient, as a share
                           of its norm; of a projection of an average, as a share of max(1, value).
                           nhwc: channels-last; shifted: see Depthwise

With --float the same ten steps are done with 32 examples of 32x32 for the seeds 1 .. 5, in double
and along PyTorch's float paths; "SEED:" then stands before every name in the formulas but the
signs'. A file float_*.txt holds for each seed

    step SEED STEP         in double: the loss, the norm of the whole gradient, and the sums of its
                           parameters' projections on the signs 0 .. 7
    path SEED NAME         the largest error of a loss, and of a gradient as a share of its norm
                           (root mean square over the projections), over all steps

where the paths are nchw, nhwc (channels-last) and plain (without oneDNN; not for mobilenetv2, whose
depthwise layers would take hours). Seeds that the file has already are kept.

With --narrow, on a machine with a GPU, narrow.txt says how far PyTorch's first step there strays
from the one in double, the worst of all seeds, channels last:

    narrow NAME PRECISION  errors of the loss and of the gradient as above; tf32, or bfloat16
                           (autocast)
"""
import argparse
import math
import os
import re

import numpy
import torch
from torch import nn
from torch.nn import functional

STEPS, CLASSES = 10, 10
SMALL, WIDE = (8, 16), (32, 32)  # examples and extent
SEEDS = range(1, 6)
RATE, MOMENTUM = 0.1, 0.9
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "tests", "golden")


# ---- the formulas -----------------------------------------------------------------------------
def fnv(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def number(name, count):
    i = numpy.arange(1, count + 1, dtype=numpy.uint64)
    z = numpy.uint64(fnv(name)) + i * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def even(name, count):
    return 2 * ((number(name, count) >> numpy.uint64(11)).astype(numpy.float64) / 2**53) - 1


def initial(key, shape, prefix, keys, last):
    """keys: of all parameters; last: the layers that normalise last."""
    count, layer = math.prod(shape), key.rsplit(".", 1)[0]
    values = even(prefix + key, count)
    if key.endswith(".bias"):
        return values / 4 / (8 if layer in last else 1)
    if len(shape) == 1:
        return (1 + values / 4) / (8 if layer in last else 1)
    return values / math.sqrt(count // shape[0]) * (1 if layer + ".bias" in keys else 4)


def signs(name, count, kinds):
    z = number("sign:" + name, count) >> numpy.uint64(56)
    for j in range(kinds):
        yield ((z >> numpy.uint64(j)) & numpy.uint64(1)).astype(numpy.float64) * 2 - 1


def batch(size, channels, step, prefix=""):
    """step: from 0."""
    examples, extent = size
    prefix += f"{step + 1}:"
    inputs = 2 * even(prefix + "inputs", examples * channels * extent * extent)
    labels = (number(prefix + "labels", examples) >> numpy.uint64(32)) % numpy.uint64(CLASSES)
    return (torch.from_numpy(inputs.reshape(examples, channels, extent, extent)),
            torch.from_numpy(labels.astype(numpy.int64)))


# ---- the models -------------------------------------------------------------------------------
class Depthwise(nn.Conv2d):
    """Where `shifted`, as a sum over shifted images."""

    shifted = False

    def forward(self, x):
        if not self.shifted:
            return super().forward(x)
        stride, height, width = self.stride[0], x.shape[2], x.shape[3]
        x, y = functional.pad(x, (1, 1, 1, 1)), 0
        for r in range(3):
            for s in range(3):
                view = x[:, :, r:r + height:stride, s:s + width:stride]
                y = y + view * self.weight[:, 0, r, s].view(1, -1, 1, 1)
        return y


def conv(inputs, outputs, kernel, stride=1, groups=1):
    kind = Depthwise if groups > 1 else nn.Conv2d
    return kind(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)


class Mlp(nn.Module):
    def __init__(self, act, extent):
        super().__init__()
        self.act = act
        self.fc1 = nn.Linear(3 * extent * extent, 256)
        self.fc2 = nn.Linear(256, 256)
        self.fc3 = nn.Linear(256, CLASSES)

    def forward(self, x):
        return self.fc3(self.act(self.fc2(self.act(self.fc1(x.flatten(1))))))


class LeNet(nn.Module):
    def __init__(self, act, extent):
        super().__init__()
        self.act = act
        pad = 2 if extent <= 28 else 0
        side = ((extent + 2 * pad - 4) // 2 - 4) // 2
        self.conv1 = nn.Conv2d(1, 6, 5, padding=pad)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * side * side, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, CLASSES)

    def forward(self, x):
        x = functional.max_pool2d(self.act(self.conv1(x)), 2)
        x = functional.max_pool2d(self.act(self.conv2(x)), 2)
        return self.fc3(self.act(self.fc2(self.act(self.fc1(x.flatten(1))))))


class Basic(nn.Module):
    """Two 3x3 convolutions; the shortcut by option A (padded) or B (projected)."""

    def __init__(self, inputs, outputs, stride, act, project):
        super().__init__()
        self.act, self.stride, self.extra = act, stride, outputs - inputs
        if project and (stride != 1 or self.extra):
            self.downsample = nn.Sequential(conv(inputs, outputs, 1, stride),
                                            nn.BatchNorm2d(outputs))
        self.conv1, self.bn1 = conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = conv(outputs, outputs, 3), nn.BatchNorm2d(outputs)

    def skip(self, x):
        if hasattr(self, "downsample"):
            return self.downsample(x)
        half = self.extra // 2
        return functional.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, half, half))

    def forward(self, x):
        y = self.bn2(self.conv2(self.act(self.bn1(self.conv1(x)))))
        return self.act(y + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, act, widths, blocks, project, last):
        super().__init__()
        self.act, self.last, self.stages = act, last, len(widths)
        self.conv1, self.bn1 = conv(3, widths[0], 3), nn.BatchNorm2d(widths[0])
        before = widths[0]
        for stage, width in enumerate(widths):
            layer = []
            for i in range(blocks):
                layer.append(Basic(before, width, 2 if stage and not i else 1, act, project))
                before = width
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layer))
        setattr(self, last, nn.Linear(before, CLASSES))

    def forward(self, x):
        x = self.act(self.bn1(self.conv1(x)))
        for stage in range(self.stages):
            x = getattr(self, f"layer{stage + 1}")(x)
        return getattr(self, self.last)(x.mean((2, 3)))


class WideBlock(nn.Module):
    def __init__(self, inputs, outputs, stride, act):
        super().__init__()
        self.act, self.same = act, inputs == outputs
        self.bn1 = nn.BatchNorm2d(inputs)
        if not self.same:
            self.convShortcut = conv(inputs, outputs, 1, stride)
        self.conv1 = conv(inputs, outputs, 3, stride)
        self.bn2, self.conv2 = nn.BatchNorm2d(outputs), conv(outputs, outputs, 3)

    def forward(self, x):
        a = self.act(self.bn1(x))
        y = self.conv2(self.act(self.bn2(self.conv1(a))))
        return (x if self.same else self.convShortcut(a)) + y


class Layers(nn.Module):
    """A list of blocks that is called `layer`."""

    def __init__(self, blocks):
        super().__init__()
        self.layer = nn.Sequential(*blocks)

    def forward(self, x):
        return self.layer(x)


class WideResNet(nn.Module):
    def __init__(self, act, depth=16, widen=4):
        super().__init__()
        self.act = act
        self.conv1 = conv(3, 16, 3)
        before = 16
        for stage in range(3):
            width, blocks = (16 << stage) * widen, []
            for i in range((depth - 4) // 6):
                blocks.append(WideBlock(before, width, 2 if stage and not i else 1, act))
                before = width
            setattr(self, f"block{stage + 1}", Layers(blocks))
        self.bn1, self.fc = nn.BatchNorm2d(before), nn.Linear(before, CLASSES)

    def forward(self, x):
        x = self.block3(self.block2(self.block1(self.conv1(x))))
        return self.fc(self.act(self.bn1(x)).mean((2, 3)))


class Bottleneck(nn.Module):
    def __init__(self, inputs, growth, act):
        super().__init__()
        self.act = act
        self.bn1, self.conv1 = nn.BatchNorm2d(inputs), conv(inputs, 4 * growth, 1)
        self.bn2, self.conv2 = nn.BatchNorm2d(4 * growth), conv(4 * growth, growth, 3)

    def forward(self, x):
        y = self.conv1(self.act(self.bn1(x)))
        return torch.cat([x, self.conv2(self.act(self.bn2(y)))], 1)


class Transition(nn.Module):
    def __init__(self, inputs, outputs, act):
        super().__init__()
        self.act = act
        self.bn1, self.conv1 = nn.BatchNorm2d(inputs), conv(inputs, outputs, 1)

    def forward(self, x):
        return functional.avg_pool2d(self.conv1(self.act(self.bn1(x))), 2)


class DenseNet(nn.Module):
    def __init__(self, act, depth=100, growth=12):
        super().__init__()
        self.act = act
        channels, parts = 2 * growth, []
        self.conv1 = conv(3, channels, 3)
        for b in range(1, 4):
            blocks = []
            for _ in range((depth - 4) // 6):
                blocks.append(Bottleneck(channels, growth, act))
                channels += growth
            setattr(self, f"block{b}", Layers(blocks))
            if b < 3:
                setattr(self, f"trans{b}", Transition(channels, channels // 2, act))
                channels //= 2
        self.bn1, self.fc = nn.BatchNorm2d(channels), nn.Linear(channels, CLASSES)

    def forward(self, x):
        x = self.trans1(self.block1(self.conv1(x)))
        x = self.block3(self.trans2(self.block2(x)))
        return self.fc(self.act(self.bn1(x)).mean((2, 3)))


class Pointwise(nn.Module):
    """An activation as a module without parameters."""

    def __init__(self, act):
        super().__init__()
        self.act = act

    def forward(self, x):
        return self.act(x)


def conv_norm(inputs, outputs, kernel, stride, groups, act):
    return nn.Sequential(conv(inputs, outputs, kernel, stride, groups), nn.BatchNorm2d(outputs),
                         Pointwise(act))


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, expand, stride, act):
        super().__init__()
        self.adds = stride == 1 and inputs == outputs
        wide = inputs * expand
        parts = [] if expand == 1 else [conv_norm(inputs, wide, 1, 1, 1, act)]
        parts += [conv_norm(wide, wide, 3, stride, wide, act), conv(wide, outputs, 1),
                  nn.BatchNorm2d(outputs)]
        self.conv = nn.Sequential(*parts)

    def forward(self, x):
        return x + self.conv(x) if self.adds else self.conv(x)


class MobileNetV2(nn.Module):
    """torchvision's, with stride 1 in the stem and the second stage."""

    STAGES = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
              (6, 160, 3, 2), (6, 320, 1, 1))

    def __init__(self, act):
        super().__init__()
        before, parts = 32, [conv_norm(3, 32, 3, 1, 1, act)]
        for expand, width, repeat, stride in self.STAGES:
            for i in range(repeat):
                parts.append(Inverted(before, width, expand, 1 if i else stride, act))
                before = width
        parts.append(conv_norm(before, 1280, 1, 1, 1, act))
        self.features = nn.Sequential(*parts)
        self.classifier = nn.Sequential(nn.Identity(), nn.Linear(1280, CLASSES))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


MODELS = {
    "mlp": Mlp,
    "lenet5": LeNet,
    "resnet20": lambda act, _: ResNet(act, (16, 32, 64), 3, False, "linear"),
    "resnet18": lambda act, _: ResNet(act, (64, 128, 256, 512), 2, True, "fc"),
    "wrn-16-4": lambda act, _: WideResNet(act),
    "densenet-bc-100-12": lambda act, _: DenseNet(act),
    "mobilenetv2": lambda act, _: MobileNetV2(act),
}


def channels_of(name):
    return 1 if name == "lenet5" else 3


def last_norms(model):
    """Normalisations whose outputs reach the classifier without meeting another."""
    norms = [key for key, module in model.named_modules() if isinstance(module, nn.BatchNorm2d)]
    if not isinstance(model, ResNet):
        return norms[-1:]
    if any("downsample" in key for key in norms):  # the last projection normalises what came before
        return [key for key in norms if re.fullmatch(r"layer4\.\d\.(bn2|downsample\.1)", key)]
    return [key for key in norms if key == "bn1" or key.endswith("bn2")]


def make(name, activation, extent, prefix=""):
    relu = functional.relu6 if name == "mobilenetv2" else functional.relu
    model = MODELS[name](relu if activation == "relu" else functional.gelu, extent).double()
    last = last_norms(model)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for key, value in parameters.items():
            start = initial(key, value.shape, prefix, parameters, last)
            value.copy_(torch.from_numpy(start.reshape(value.shape)))
    return model


class Walk:
    """A network and its inputs on one of PyTorch's paths; steps through the ten batches."""

    def __init__(self, name, activation, size, path, prefix=""):
        self.name, self.size, self.path, self.prefix = name, size, path, prefix
        self.model = make(name, activation, size[1], prefix)
        for module in self.model.modules():
            if isinstance(module, Depthwise):
                module.shifted = path in ("shifted", "double")
        self.floats = prefix and path != "double"
        if self.floats:
            self.model = self.model.float()
        if path == "nhwc":
            self.model = self.model.to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=RATE, momentum=MOMENTUM)

    def learn(self, step):
        """The loss of a step; its gradient is then in the model."""
        inputs, labels = batch(self.size, channels_of(self.name), step, self.prefix)
        if self.floats:
            inputs = inputs.float()
        if self.path == "nhwc":
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        with torch.backends.mkldnn.flags(enabled=self.path != "plain"):
            self.optimizer.zero_grad()
            loss = functional.cross_entropy(self.model(inputs), labels)
            loss.backward()
        return loss.item()


# ---- the traces in double ---------------------------------------------------------------------
def text(values, digits=13):
    return " ".join(f"{value:.{digits}g}" for value in values)


def projections(name, tensor, kinds):
    flat = tensor.detach().numpy().ravel()
    return [float(numpy.dot(flat, sign)) for sign in signs(name, flat.size, kinds)]


def gradient_rows(model, kinds):
    return [(key, value.numel(), [float(value.grad.norm())] + projections(key, value.grad, kinds))
            for key, value in model.named_parameters()]


def average_rows(model):
    return [(key, value.numel(), projections(key, value, 4))
            for key, value in model.named_buffers() if not key.endswith("num_batches_tracked")]


def walk(name, activation, path):
    """Losses, rows of the first gradient, rows of the last averages."""
    here, losses, gradient = Walk(name, activation, SMALL, path), [], []
    for step in range(STEPS if activation == "relu" else 1):
        losses.append(here.learn(step))
        if step == 0:
            gradient = gradient_rows(here.model, 8 if activation == "relu" else 2)
        here.optimizer.step()
    return losses, gradient, average_rows(here.model) if activation == "relu" else []


def table(rows):
    return numpy.array([row[2] for row in rows])


def parted(one, other):
    """How far two walks part: losses, first gradient, averages."""
    losses = max(abs(a - b) for a, b in zip(one[0], other[0]))
    error = table(one[1])[:, 1:] - table(other[1])[:, 1:]
    gradient = math.sqrt((error ** 2).mean(1).sum()) / numpy.linalg.norm(table(one[1])[:, 0])
    if not one[2]:
        return losses, gradient, 0.0
    scale = numpy.maximum(1, abs(table(one[2])))
    return losses, gradient, float((abs(table(one[2]) - table(other[2])) / scale).max())


def trace(name, activation):
    seen = walk(name, activation, "nchw")
    lines = [f"model {name} {activation} {channels_of(name)}", f"loss {text(seen[0])}"]
    lines += [f"parameter {key} {count} {text(values)}" for key, count, values in seen[1]]
    lines += [f"average {key} {count} {text(values)}" for key, count, values in seen[2]]
    if activation == "relu":
        for path in ["nhwc"] + (["shifted"] if name == "mobilenetv2" else []):
            lines.append(f"path {path} {text(parted(seen, walk(name, activation, path)), 3)}")
    return lines


# ---- the float paths --------------------------------------------------------------------------
class Signs:
    """The signs of every parameter, kept: one row a kind."""

    def __init__(self, model):
        self.of = {key: numpy.stack([sign.astype(numpy.int8)
                                     for sign in signs(key, value.numel(), 8)])
                   for key, value in model.named_parameters()}

    def project(self, model):
        """The norm of the whole gradient, and its projections."""
        square, sums = 0.0, numpy.zeros(8)
        for key, value in model.named_parameters():
            flat = value.grad.detach().cpu().contiguous().numpy().ravel().astype(numpy.float64)
            square += float(flat @ flat)
            sums += [float(flat @ row) for row in self.of[key]]
        return math.sqrt(square), sums


def ten_steps(name, seed, path, kept):
    """Of each step the loss, the norm and the projections of the gradient."""
    here = Walk(name, "relu", WIDE, path, f"{seed}:")
    if not kept:
        kept.append(Signs(here.model))
    for step in range(STEPS):
        loss = here.learn(step)
        yield (loss,) + kept[0].project(here.model)
        here.optimizer.step()


def float_lines(name, seed, kept):
    double = list(ten_steps(name, seed, "double", kept))
    lines = [f"step {seed} {step + 1} {text([loss, norm, *sums], 10)}"
             for step, (loss, norm, sums) in enumerate(double)]
    for path in ["nchw", "nhwc"] + ([] if name == "mobilenetv2" else ["plain"]):
        worst = [0.0, 0.0]
        for (loss, norm, sums), (ours, _, theirs) in zip(double,
                                                         ten_steps(name, seed, path, kept)):
            error = math.sqrt(float(numpy.mean((sums - theirs) ** 2))) / norm
            worst = [max(worst[0], abs(loss - ours)), max(worst[1], error)]
        lines.append(f"path {seed} {path} {text(worst, 6)}")
        print(name, lines[-1], flush=True)
    return lines


def write_floats(name, seeds):
    path, lines, kept = os.path.join(FOLDER, f"float_{name}.txt"), [], []
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
    for seed in seeds:
        if not any(line.startswith(f"step {seed} ") for line in lines):
            lines += float_lines(name, seed, kept)
            write(path, lines)


# ---- precisions of a GPU ----------------------------------------------------------------------
class Narrow(Walk):
    """The same on a GPU, in a precision of its own."""

    def __init__(self, name, precision, prefix):
        super().__init__(name, "relu", WIDE, "nhwc", prefix)
        self.precision = precision
        self.model = self.model.to("cuda")

    def learn(self, step):
        inputs, labels = batch(self.size, channels_of(self.name), step, self.prefix)
        inputs = inputs.float().to("cuda").contiguous(memory_format=torch.channels_last)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = self.precision == "tf32"
        with torch.autocast("cuda", torch.bfloat16, enabled=self.precision == "bfloat16"):
            outputs = self.model(inputs)
        loss = functional.cross_entropy(outputs.float(), labels.to("cuda"))
        loss.backward()
        return loss.item()


def first_steps(name):
    """{seed: (loss, norm, projections)} of the file in double."""
    found = {}
    with open(os.path.join(FOLDER, f"float_{name}.txt"), encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] == "step" and words[2] == "1":
                numbers = [float(word) for word in words[3:]]
                found[int(words[1])] = (numbers[0], numbers[1], numpy.array(numbers[2:]))
    return found


def narrow_lines(name):
    kept, lines = None, []
    for precision in ("tf32", "bfloat16"):
        worst = [0.0, 0.0]
        for seed, (loss, norm, sums) in first_steps(name).items():
            here = Narrow(name, precision, f"{seed}:")
            kept = kept or Signs(here.model)
            worst[0] = max(worst[0], abs(here.learn(0) - loss))
            theirs = kept.project(here.model)[1]
            worst[1] = max(worst[1], math.sqrt(float(numpy.mean((sums - theirs) ** 2))) / norm)
        lines.append(f"narrow {name} {precision} {text(worst, 6)}")
        print(lines[-1], flush=True)
    return lines


def write(path, lines):
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description="golden traces of models, as PyTorch has them")
    parser.add_argument("--float", action="store_true", dest="floats", help="the float paths")
    parser.add_argument("--seed", type=int, choices=SEEDS, help="of the float paths this one alone")
    parser.add_argument("--narrow", action="store_true", help="first steps on a GPU, in tf32 and bfloat16")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    options = parser.parse_args()
    torch.set_num_threads(1)  # on a busy machine two wait for each other more than they work
    if options.narrow:
        lines = [line for name in MODELS for line in narrow_lines(name)]
        write(os.path.join(FOLDER, "narrow.txt"), lines)
        return
    for name in options.names or MODELS:
        if options.floats:
            write_floats(name, [options.seed] if options.seed else SEEDS)
            continue
        lines = trace(name, "relu") + trace(name, "gelu")
        write(os.path.join(FOLDER, f"model_{name}.txt"), lines)
        print(name, lines[1], *[line for line in lines if line.startswith("path")], sep="\n  ")


if __name__ == "__main__":
    main()
