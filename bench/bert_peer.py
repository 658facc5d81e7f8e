"""BERT with a classifier in plain PyTorch, for ours to be held against: transformers'
BertForSequenceClassification with its names, but with the three projections of a block in one and
PyTorch's own attention, which is faster; dropout of attention's weights too. Tokens below zero are
padding. Needs torch alone.
"""
import json
import os
import struct

import torch
from torch import nn
from torch.nn import functional as F

MINILM = {"vocab_size": 30522, "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
          "intermediate_size": 1536, "max_position_embeddings": 512, "type_vocab_size": 2,
          "layer_norm_eps": 1e-12}


class Block(nn.Module):
    def __init__(self, c, dropout):
        super().__init__()
        width, inner, epsilon = c["hidden_size"], c["intermediate_size"], c["layer_norm_eps"]
        self.heads, self.dropout = c["num_attention_heads"], dropout
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = (nn.LayerNorm(width, epsilon) for _ in range(2))

    def drop(self, x):
        return F.dropout(x, self.dropout, self.training) if self.dropout else x

    def forward(self, x, mask):
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, mask, self.dropout if self.training else 0.0)
        y = y.transpose(1, 2).reshape(n, length, width)
        x = self.norm1(x + self.drop(self.out(y)))
        return self.norm2(x + self.drop(self.down(F.gelu(self.up(x)))))


class Bert(nn.Module):
    def __init__(self, config, classes, dropout):
        super().__init__()
        c, width, self.dropout = config, config["hidden_size"], dropout
        self.words = nn.Embedding(c["vocab_size"], width)
        self.places = nn.Embedding(c["max_position_embeddings"], width)
        self.kinds = nn.Embedding(c["type_vocab_size"], width)
        self.norm = nn.LayerNorm(width, c["layer_norm_eps"])
        self.blocks = nn.ModuleList(Block(c, dropout) for _ in range(c["num_hidden_layers"]))
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, classes)
        for layer in self.modules():
            if isinstance(layer, (nn.Linear, nn.Embedding)):
                nn.init.normal_(layer.weight, std=0.02)
            if isinstance(layer, nn.Linear):
                nn.init.zeros_(layer.bias)

    def drop(self, x):
        return F.dropout(x, self.dropout, self.training) if self.dropout else x

    def forward(self, tokens, padded=True):
        """Logits. padded: tokens may be below zero."""
        mask = (tokens >= 0)[:, None, None, :] if padded else None
        x = self.words(tokens.clamp(min=0) if padded else tokens)
        x = x + self.kinds.weight[0] + self.places.weight[:tokens.shape[1]]
        x = self.drop(self.norm(x))
        for block in self.blocks:
            x = block(x, mask)
        return self.classifier(self.drop(torch.tanh(self.pooler(x[:, 0]))))

    def load(self, path):
        """Weights under transformers' names, with "bert." or without; a classifier may be missing."""
        file = read_safetensors(path)
        found = {name.removeprefix("bert."): value for name, value in file.items()}
        parts = {"words": "embeddings.word_embeddings", "places": "embeddings.position_embeddings",
                 "kinds": "embeddings.token_type_embeddings", "norm": "embeddings.LayerNorm",
                 "pooler": "pooler.dense"}
        if "classifier.weight" in found:
            parts["classifier"] = "classifier"
        inner = {"out": "attention.output.dense", "norm1": "attention.output.LayerNorm",
                 "up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm"}
        state = self.state_dict()
        for i in range(len(self.blocks)):
            layer = "encoder.layer.%d." % i
            parts.update({"blocks.%d.%s" % (i, own): layer + name for own, name in inner.items()})
            for kind in ("weight", "bias"):
                state["blocks.%d.qkv.%s" % (i, kind)].copy_(torch.cat(
                    [found[layer + "attention.self.%s.%s" % (part, kind)]
                     for part in ("query", "key", "value")]))
        for own, name in parts.items():
            for kind in ("weight", "bias"):
                if "%s.%s" % (own, kind) in state:
                    state["%s.%s" % (own, kind)].copy_(found["%s.%s" % (name, kind)])

    def decayed(self, decay):
        """Parameters for AdamW, of which neither biases nor norms decay."""
        plain = [p for name, p in self.named_parameters() if p.dim() < 2]
        rest = [p for name, p in self.named_parameters() if p.dim() >= 2]
        return [{"params": rest, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]


def read_safetensors(path):
    """Tensors of float32 by name."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(length))
        data = bytearray(file.read())
    return {name: torch.frombuffer(data, dtype=torch.float32, offset=of["data_offsets"][0],
                                   count=(of["data_offsets"][1] - of["data_offsets"][0]) // 4)
            .view(of["shape"]) for name, of in head.items()
            if name != "__metadata__" and of["dtype"] == "F32"}


def from_folder(folder, classes, dropout):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        model = Bert(json.load(file), classes, dropout)
    model.load(os.path.join(folder, "model.safetensors"))
    return model
