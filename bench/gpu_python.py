#!/usr/bin/env python3
"""What a decision of the Python package adds to a step of PyTorch on a GPU.

    bench/gpu_python.py [--steps N]

A step: ResNet-18 (as gpu_vs_pytorch.py has it) in bfloat16 autocast, eager, scores M made-up pictures without
a gradient and trains on m of them. Once the rows are given beforehand, once `gradmatch` decides from the head's
inputs and P; the two take turns, and the difference of their medians is what the decision adds. One JSON line
a case, milliseconds. The package is the one that PYTHONPATH and CULL_SELECT_LIBRARY name.
"""
import argparse
import json
import statistics
import sys
import time

import torch
from torch.nn import functional as F

import cull
from gpu_vs_pytorch import ResNet18

CASES = ((128, .3), (128, .5), (1280, .5))    # M, keep
ROUNDS = 7


class Loop:
    """Steps of one network, deciding or not."""

    def __init__(self, rows, keep):
        torch.manual_seed(1)
        self.model = ResNet18().cuda().to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9, nesterov=True, fused=True)
        self.x = torch.rand(rows, 3, 32, 32, device="cuda").to(memory_format=torch.channels_last)
        self.y = torch.randint(10, (rows,), device="cuda")
        self.head = {}
        self.model.fc.register_forward_pre_hook(lambda _, given: self.head.update(h=given[0]))
        self.selector = cull.Selector("gradmatch", dataset_size=rows, batch=rows, keep=keep)
        self.rows = torch.arange(int(keep * rows), device="cuda")
        self.weights = torch.ones(len(self.rows), device="cuda")

    def step(self, decides):
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
            logits = self.model(self.x).float()
            p = torch.softmax(logits, 1) - F.one_hot(self.y, 10)
        rows, weights = self.rows, self.weights
        if decides:
            chosen = self.selector.select(h=self.head["h"].float(), p=p)
            rows, weights = chosen.rows, chosen.weights.float()
        with torch.autocast("cuda", torch.bfloat16):
            loss = (weights * F.cross_entropy(self.model(self.x[rows]), self.y[rows], reduction="none")).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

    def milliseconds(self, decides, steps):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(steps):
            self.step(decides)
        torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - begin) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("skipped: no GPU")
    for rows, keep in CASES:
        loop, found = Loop(rows, keep), {False: [], True: []}
        for decides in (False, True):
            loop.milliseconds(decides, 10)
        for _ in range(ROUNDS):
            for decides, times in found.items():
                times.append(loop.milliseconds(decides, options.steps))
        plain, deciding = (statistics.median(found[decides]) for decides in (False, True))
        print(json.dumps({"bench": "gpu_python", "torch": torch.__version__, "case": f"gradmatch {rows}", "keep": keep,
                          "step_ms": round(plain, 4), "deciding_ms": round(deciding, 4),
                          "added_ms": round(deciding - plain, 4)}), flush=True)


if __name__ == "__main__":
    main()
