"""A small convolutional network on Fashion-MNIST that backpropagates a part of each batch.

    fashion_mnist.py [--strategy sb] [--keep 0.3] [--epochs 5] [--data FOLDER] [--limit EXAMPLES]
"""
import argparse
import pathlib

import torch
from torch import nn
from torch.utils.data import DataLoader

import sets
from cull.torch import SelectiveBackprop

options = argparse.ArgumentParser()
options.add_argument("--strategy", default="sb")
options.add_argument("--keep", type=float, default=0.3)
options.add_argument("--epochs", type=int, default=5)
options.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
options.add_argument("--limit", type=int)


def network():
    return nn.Sequential(nn.Conv2d(1, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(32, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(1600, 128), nn.ReLU(), nn.Linear(128, 10))


def main():
    o = options.parse_args()
    torch.manual_seed(0)
    train = sets.fashion_mnist(o.data, "train", o.limit)
    test = sets.fashion_mnist(o.data, "t10k", o.limit)
    loader = DataLoader(train, batch_size=128, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True)
    sb = SelectiveBackprop(model, strategy=o.strategy, keep=o.keep, dataset_size=len(train), epochs=o.epochs)
    for epoch in range(o.epochs):
        model.train()
        for batch in loader:
            loss = sb.loss(batch)      # scores the batch, keeps 30 % of it, runs those
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(1) == y).sum().item() for x, y in DataLoader(test, 500))
        print(f"epoch {epoch}: test accuracy {100 * right / len(test):.2f} %")


if __name__ == "__main__":
    main()
