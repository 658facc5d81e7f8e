"""A transformer that classifies texts, trained on examples whose gradient matches the batch's.

    text_classifier.py [--keep 0.3] [--epochs 3] [--data FOLDER] [--limit EXAMPLES]
"""
import argparse
import pathlib

import torch
from torch import nn
from torch.utils.data import DataLoader

import sets
from cull.torch import SelectiveBackprop


class Classifier(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.words = nn.Embedding(sets.WORDS, width)
        self.places = nn.Parameter(torch.randn(sets.LENGTH, width) / 10)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 2)

    def forward(self, input_ids, attention_mask):
        x = self.words(input_ids) + self.places[:input_ids.shape[1]]
        x = self.body(x, src_key_padding_mask=~attention_mask)
        mask = attention_mask[..., None]
        return self.head((x * mask).sum(1) / mask.sum(1))


def main():
    options = argparse.ArgumentParser()
    for name, kind, default in (("--keep", float, 0.3), ("--epochs", int, 3), ("--limit", int, None),
                                ("--data", pathlib.Path, pathlib.Path("imdb"))):
        options.add_argument(name, type=kind, default=default)
    o = options.parse_args()
    torch.manual_seed(0)
    train, test = sets.texts(o.data, "train", o.limit), sets.texts(o.data, "test", o.limit)
    loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=sets.collate_texts)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    sb = SelectiveBackprop(model, strategy="gradmatch", keep=o.keep, weights="solved")
    for epoch in range(o.epochs):
        model.train()
        for batch in loader:           # a dict of ids, mask and labels
            optimizer.zero_grad()
            sb.loss(batch).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(b["input_ids"], b["attention_mask"]).argmax(1) == b["labels"]).sum().item()
                        for b in DataLoader(test, 200, collate_fn=sets.collate_texts))
        print(f"epoch {epoch}: test accuracy {100 * right / len(test):.2f} %")


if __name__ == "__main__":
    main()
