#!/usr/bin/env python3
"""Write tests/golden/losses.txt: three steps of an MLP with each loss, as PyTorch does them.

    /usr/bin/python3 tools/make_golden_loss.py

Needs torch (made with Debian's 1.13.1). Network, inputs and start are those of make_golden.py's mlp
with relu; beside its formulas there are

    weights    1 + even("STEP:weights", i), i over the examples
    numbers    even("STEP:numbers", i) rounded to float32, i over (example, output)
    truths     number("STEP:truths", i) >> 63

An example's loss is cross_entropy, mse_loss or binary_cross_entropy_with_logits without reduction,
the latter two averaged over the outputs; a step goes down (1/8) sum weight loss, by SGD of rate .1
and momentum .9, in double. The file holds for each loss (cross-entropy, squared-error,
binary-cross-entropy) a line "loss NAME", and

    step N                 the eight losses; P, the gradient of their sum w.r.t. the outputs, row by
                           row
    parameter NAME COUNT   after the last step: its norm, and its projections on the signs 0 .. 7
"""
import os
import sys

import numpy
import torch
from torch.nn import functional

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_golden as golden  # noqa: E402

STEPS = 3


def target(name, step, outputs, labels):
    count = labels.numel() * outputs
    if name == "cross-entropy":
        return labels
    if name == "squared-error":
        values = golden.even(f"{step + 1}:numbers", count).astype(numpy.float32)
    else:
        values = golden.number(f"{step + 1}:truths", count) >> numpy.uint64(63)
    return torch.from_numpy(values.astype(numpy.float64).reshape(-1, outputs))


def losses(name, logits, wanted):
    if name == "cross-entropy":
        return functional.cross_entropy(logits, wanted, reduction="none")
    of = functional.mse_loss if name == "squared-error" else functional.binary_cross_entropy_with_logits
    return of(logits, wanted, reduction="none").mean(1)


def trace(name):
    model = golden.make("mlp", "relu", golden.SMALL[1], "")
    optimizer = torch.optim.SGD(model.parameters(), lr=golden.RATE, momentum=golden.MOMENTUM)
    lines = [f"loss {name}"]
    for step in range(STEPS):
        inputs, labels = golden.batch(golden.SMALL, 3, step)
        weights = torch.from_numpy(1 + golden.even(f"{step + 1}:weights", labels.numel()))
        optimizer.zero_grad()
        logits = model(inputs)
        each = losses(name, logits, target(name, step, golden.CLASSES, labels))
        p, = torch.autograd.grad(each.sum(), logits, retain_graph=True)
        (weights * each).mean().backward()
        lines.append(f"step {step + 1} {golden.text(each.tolist())} {golden.text(p.ravel().tolist())}")
        optimizer.step()
    for key, value in model.named_parameters():
        numbers = [float(value.detach().norm())] + golden.projections(key, value, 8)
        lines.append(f"parameter {key} {value.numel()} {golden.text(numbers)}")
    return lines


def main():
    torch.set_num_threads(1)
    lines = []
    for name in ("cross-entropy", "squared-error", "binary-cross-entropy"):
        lines += trace(name)
    golden.write(os.path.join(golden.FOLDER, "losses.txt"), lines)


if __name__ == "__main__":
    main()
