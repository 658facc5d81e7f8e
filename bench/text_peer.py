#!/usr/bin/env python3
"""Fine-tune a BERT on texts with PyTorch alone, as recipes/imdb-minilm.yaml has ours do it.

    bench/text_peer.py SET MODEL [--seeds N,N,N] [--epochs N] [--device cuda|cpu] [--texts N]

SET is a folder of `cull data convert ... -o FOLDER` (tokens of texts, a test set), MODEL one of
transformers' with config.json and model.safetensors. Batches of 32 texts of about one length, as
ours are made; AdamW at 2e-5 without decay of norms and biases, a linear warm-up over a tenth of an
epoch and then a line to zero, gradients clipped to 1, dropout of .1; bfloat16 autocast on a device.
One JSON line a seed: accuracy on the test set after every epoch, seconds of training alone.
"""
import argparse
import json
import math
import time

import numpy
import torch
from torch.nn import functional as F

import bert_peer

BATCH, WINDOW, BUCKET = 32, 50, 64


def read(folder, name, texts, device):
    x = numpy.load("%s/x%s.npy" % (folder, name), mmap_mode="r")
    y = numpy.load("%s/y%s.npy" % (folder, name))
    some = numpy.linspace(0, len(x) - 1, min(texts or len(x), len(x))).astype(int)  # of all classes
    x = numpy.ascontiguousarray(x[some].reshape(len(some), -1))
    lengths = torch.from_numpy((x >= 0).sum(1))
    return torch.from_numpy(x).to(device), torch.from_numpy(y[some].astype(numpy.int64)).to(device), lengths


def padded(length, most):
    return min(most, (int(length) + BUCKET - 1) // BUCKET * BUCKET)


def batches(lengths, generator):
    """An epoch's: windows of 50 batches sorted by length, then all of them shuffled."""
    order = torch.randperm(len(lengths), generator=generator)
    parts = []
    for window in order.split(BATCH * WINDOW):
        buckets = (lengths[window] + BUCKET - 1) // BUCKET
        parts += window[buckets.argsort(stable=True)].split(BATCH)
    return [parts[i] for i in torch.randperm(len(parts), generator=generator)]


def accuracy(model, data, autocast):
    x, y, lengths = data
    right, order = 0, lengths.argsort()
    model.eval()
    with torch.no_grad(), autocast():
        for some in order.split(256):
            length = padded(lengths[some].max(), x.shape[1])
            at = some.to(x.device)
            right += (model(x[at, :length]).argmax(1) == y[at]).sum().item()
    model.train()
    return right / len(y)


def train(options, seed, data, test):
    torch.manual_seed(seed)
    device, generator = options.device, torch.Generator().manual_seed(seed)
    model = bert_peer.from_folder(options.model, 2, 0.1).to(device)
    optimizer = torch.optim.AdamW(model.decayed(0.01), lr=2e-5, fused=True)
    x, y, lengths = data
    steps = math.ceil(len(lengths) / BATCH)
    all_steps, warm = steps * options.epochs, 0.1 * steps

    def autocast():
        return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")

    reached, seconds, at = [], 0.0, 0
    for _ in range(options.epochs):
        begin = time.perf_counter()
        for some in batches(lengths, generator):
            rate = at / warm if at < warm else 1 - (at - warm) / (all_steps - warm)
            for group in optimizer.param_groups:
                group["lr"] = 2e-5 * rate
            length, there = padded(lengths[some].max(), x.shape[1]), some.to(device)
            optimizer.zero_grad(set_to_none=True)
            with autocast():
                loss = F.cross_entropy(model(x[there, :length]), y[there])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            at += 1
        if device == "cuda":
            torch.cuda.synchronize()
        seconds += time.perf_counter() - begin
        reached.append(round(accuracy(model, test, autocast), 5))
    return {"peer": "torch %s" % torch.__version__, "seed": seed, "accuracy": reached[-1],
            "by_epoch": reached, "seconds_training": round(seconds, 2), "last_loss": round(loss.item(), 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set")
    parser.add_argument("model")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--texts", type=int, help="so many of each set (all)")
    options = parser.parse_args()
    data, test = (read(options.set, name, options.texts, options.device) for name in ("", "_test"))
    for seed in options.seeds.split(","):
        print(json.dumps(train(options, int(seed), data, test)), flush=True)


if __name__ == "__main__":
    main()
