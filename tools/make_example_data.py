#!/usr/bin/python3
"""Makes examples/data/: what a forward pass saw of 64 examples, as `cull select` takes it.

A softmax classifier of four classes on 15 inputs, part of the way through its training: h holds its
inputs, p = softmax - one-hot, loss the cross-entropy, label the classes. A few labels are wrong.
"""
import pathlib

import numpy as np

EXAMPLES, INPUTS, CLASSES, WRONG = 64, 15, 4, 3

rng = np.random.default_rng(1)
centres = rng.normal(size=(CLASSES, INPUTS))
label = rng.integers(0, CLASSES, EXAMPLES)
h = centres[label] + 0.9 * rng.normal(size=(EXAMPLES, INPUTS))
label[:WRONG] = (label[:WRONG] + 1) % CLASSES
onehot = np.eye(CLASSES)[label]
weight = np.zeros((INPUTS, CLASSES))
for _ in range(20):
    logits = h @ weight
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    weight -= 0.1 * h.T @ (p - onehot) / EXAMPLES
loss = -np.log(p[np.arange(EXAMPLES), label])

folder = pathlib.Path(__file__).parents[1] / "examples" / "data"
folder.mkdir(parents=True, exist_ok=True)
for name, array in {"h": h, "p": p - onehot, "loss": loss}.items():
    np.save(folder / f"{name}.npy", array.astype(np.float32))
np.save(folder / "label.npy", label.astype(np.int64))
