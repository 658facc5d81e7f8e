#!/usr/bin/env python3
"""Time PyTorch's training steps on a GPU, for what bench_device_step says of ours to be held against.

    bench/gpu_vs_pytorch.py [--steps N] [--batch N,N] [--model NAME,NAME] [--quick] [--device cpu]

The network, SGD with Nesterov momentum and made-up pictures are those of bench_device_step, in
bfloat16 autocast with channels last; minilm-LENGTH is bert_peer.py's network with AdamW and dropout of
.1 on made-up texts of LENGTH tokens and no padding (bench_device_step with TEXTS). Three ways: eager, the whole step captured in a CUDA graph, and
that of a compiled model. A selective step with a separate pass is a scoring forward over all and a
step of the kept, timed apart and added (in a graph of its own each), without deciding and gathering:
what PyTorch would reach if those were free. Milliseconds, medians of five rounds; one JSON line a case.
On the processor, which is there to try this on, there are no graphs.
"""
import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

import bert_peer


def conv(i, o, k, s):
    return nn.Conv2d(i, o, k, s, k // 2, bias=False)


class Basic(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.conv1, self.bn1 = conv(i, o, 3, s), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = conv(o, o, 3, 1), nn.BatchNorm2d(o)
        self.skip = nn.Sequential(conv(i, o, 1, s), nn.BatchNorm2d(o)) if s > 1 or i != o else None

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        return F.relu(y + (self.skip(x) if self.skip else x), inplace=True)


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = conv(3, 64, 3, 1), nn.BatchNorm2d(64)
        widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
        self.blocks = nn.Sequential(*(Basic(i, o, 1 if i == o else 2) for i, o in zip(widths, widths[1:])))
        self.fc = nn.Linear(512, 10)

    def forward(self, x):
        x = self.blocks(F.relu(self.bn(self.conv(x)), inplace=True))
        return self.fc(x.mean((2, 3)))


class Wide(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(i), conv(i, o, 3, s)
        self.bn2, self.conv2 = nn.BatchNorm2d(o), conv(o, o, 3, 1)
        self.skip = conv(i, o, 1, s) if i != o else None

    def forward(self, x):
        h = F.relu(self.bn1(x), inplace=True)
        y = self.conv2(F.relu(self.bn2(self.conv1(h)), inplace=True))
        return y + (self.skip(h) if self.skip else x)


class WRN(nn.Module):
    def __init__(self, n=2, k=4):
        super().__init__()
        self.conv, blocks, i = conv(3, 16, 3, 1), [], 16
        for stage, width in enumerate([16 * k, 32 * k, 64 * k]):
            for b in range(n):
                blocks.append(Wide(i, width, 2 if stage and not b else 1))
                i = width
        self.blocks, self.bn, self.fc = nn.Sequential(*blocks), nn.BatchNorm2d(i), nn.Linear(i, 10)

    def forward(self, x):
        x = F.relu(self.bn(self.blocks(self.conv(x))), inplace=True)
        return self.fc(x.mean((2, 3)))


MODELS = {"resnet18": ResNet18, "wrn-16-4": WRN}


class Work:
    """A model and what a step of it takes, in one of the three ways."""

    def __init__(self, name, compiled, device):
        torch.manual_seed(1)
        self.device = device
        self.length = int(name.split("-")[1]) if name.startswith("minilm-") else 0
        if self.length:
            self.model = bert_peer.Bert(bert_peer.MINILM, 2, 0.1).to(device)
            self.optimizer = torch.optim.AdamW(self.model.decayed(0.01), lr=2e-5, fused=True,
                                               capturable=device == "cuda")
        else:
            self.model = MODELS[name]().to(device).to(memory_format=torch.channels_last)
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9,
                                             nesterov=True, weight_decay=5e-4, fused=True)
        self.forward = torch.compile(self.model) if compiled else self.model

    def batch(self, count):
        if self.length:
            x = torch.randint(0, bert_peer.MINILM["vocab_size"], (count, self.length), device=self.device)
            return (x, False), torch.randint(0, 2, (count,), device=self.device)
        x = torch.rand(count, 3, 32, 32, device=self.device).to(memory_format=torch.channels_last)
        return (x,), torch.randint(0, 10, (count,), device=self.device)

    def step(self, x, y):
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device, torch.bfloat16):
            loss = F.cross_entropy(self.forward(*x), y)
        loss.backward()
        self.optimizer.step()

    def score(self, x, y):
        self.model.train(not self.length)  # BatchNorm by the batch, and no dropout
        with torch.no_grad(), torch.autocast(self.device, torch.bfloat16):
            return F.cross_entropy(self.forward(*x), y, reduction="none")

    def runner(self, call, count, graph):
        """What does `call` once, on a batch of so many."""
        x, y = self.batch(count)
        if not graph:
            return lambda: call(x, y)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(5):
                call(x, y)
        torch.cuda.current_stream().wait_stream(stream)
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            call(x, y)
        return recorded.replay


def milliseconds(run, steps):
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    for _ in range(5):
        run()
    rounds = []
    for _ in range(5):
        wait()
        begin = time.perf_counter()
        for _ in range(steps):
            run()
        wait()
        rounds.append(1e3 * (time.perf_counter() - begin) / steps)
    return statistics.median(rounds), min(rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", help="(128, of texts 32)")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--quick", action="store_true", help="graphs of compiled models alone")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    options = parser.parse_args()
    gpu = options.device == "cuda"
    torch.backends.cudnn.benchmark = True
    print(json.dumps({"bench": "gpu_vs_pytorch", "torch": torch.__version__,
                      "cudnn": torch.backends.cudnn.version() if gpu else None,
                      "device": torch.cuda.get_device_name() if gpu else "cpu"}))
    ways = {"graph + compile": (True, True)}
    if not options.quick:
        ways = {"eager": (False, False), "graph": (False, True), **ways}
    if not gpu:
        ways = {"eager": (False, False)}
    for name in options.model.split(","):
        for batch in map(int, (options.batch or ("32" if name.startswith("minilm") else "128")).split(",")):
            for way, (compiled, graph) in ways.items():
                work = Work(name, compiled, options.device)
                cases = [("full", work.step, batch), ("forward", work.score, batch)]
                cases += [(f"step of {keep}", work.step, max(1, int(keep * batch))) for keep in (0.5, 0.3, 0.1)]
                for case, call, count in cases:
                    median, least = milliseconds(work.runner(call, count, graph), options.steps)
                    print(json.dumps({"model": name, "batch": batch, "way": way, "case": case, "count": count,
                                      "ms": round(median, 4), "least_ms": round(least, 4)}), flush=True)


if __name__ == "__main__":
    main()
