"""A residual network on CIFAR-10 that trains, each epoch, the part it has learned least of.

    cifar_resnet.py [--keep 0.3] [--epochs 24] [--width 64] [--data FOLDER] [--limit EXAMPLES]
"""
import argparse
import pathlib

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

import sets
from cull.torch import Indexed, LossMemorySampler


class Block(nn.Module):
    def __init__(self, wide, out, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(wide, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                                  nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        self.past = nn.Conv2d(wide, out, 1, stride, bias=False) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.past(x) + self.body(x))


def main():
    options = argparse.ArgumentParser()
    for name, kind, default in (("keep", float, 0.3), ("epochs", int, 24), ("width", int, 64), ("limit", int, None)):
        options.add_argument("--" + name, type=kind, default=default)
    options.add_argument("--data", type=pathlib.Path, default="cifar10")
    o = options.parse_args()
    torch.manual_seed(0)
    device, w = "cuda" if torch.cuda.is_available() else "cpu", o.width
    train, test = (sets.cifar10(o.data, part, o.limit) for part in ("train", "test"))
    model = nn.Sequential(nn.Conv2d(3, w, 3, padding=1), Block(w, w, 1), Block(w, w, 1), Block(w, 2 * w, 2),
                          Block(2 * w, 2 * w, 1), Block(2 * w, 4 * w, 2), Block(4 * w, 4 * w, 1),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * w, 10)).to(device)
    sampler = LossMemorySampler(train, batch_size=128, keep=o.keep, epochs=o.epochs)
    loader, tests = DataLoader(Indexed(train), batch_sampler=sampler), DataLoader(test, 500)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, o.epochs * len(sampler))
    for epoch in range(o.epochs):
        model.train()
        for x, y, index in loader:
            losses = F.cross_entropy(model(x.to(device)), y.to(device), reduction="none")
            sampler.update(index, losses)      # what the next epochs are drawn by
            optimizer.zero_grad()
            losses.mean().backward()
            optimizer.step(), schedule.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(x.to(device)).argmax(1).cpu() == y).sum().item() for x, y in tests)
        print(f"epoch {epoch}: test accuracy {100 * right / len(test):.2f} %")


if __name__ == "__main__":
    main()
