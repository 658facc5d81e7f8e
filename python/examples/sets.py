"""Data for the examples: from files where they are, else made up, which is said."""
import gzip
import random
import zlib

import torch
from torch import nn
from torch.utils.data import TensorDataset

WORDS, LENGTH = 4096, 128


def made_up(name, shape, count):
    """Noise around one picture for each of ten classes."""
    print(f"{name} is not there: the images are made up")
    pictures = torch.randn(10, *shape, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(count or 2000) % 10
    return TensorDataset(pictures[labels] + torch.randn(len(labels), *shape) / 4, labels)


def fashion_mnist(folder, part, limit):
    """The files of Debian's dataset-fashion-mnist."""
    files = [folder / f"{part}-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
    if not all(file.exists() for file in files):
        return made_up(files[0], (1, 28, 28), limit)
    x, y = (torch.frombuffer(bytearray(gzip.open(file).read()), dtype=torch.uint8) for file in files)
    x = x[16:].view(-1, 1, 28, 28)[:limit].float() / 255
    return TensorDataset((x - 0.286) / 0.353, y[8:][:limit].long())


def cifar10(folder, part, limit):
    """The binary version: data_batch_1.bin ... data_batch_5.bin, test_batch.bin."""
    names = [f"data_batch_{i}.bin" for i in range(1, 6)] if part == "train" else ["test_batch.bin"]
    if not all((folder / name).exists() for name in names):
        return made_up(folder / names[0], (3, 32, 32), limit)
    raw = b"".join((folder / name).read_bytes() for name in names)
    rows = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(-1, 3073)[:limit]
    x = rows[:, 1:].reshape(-1, 3, 32, 32).float() / 255
    return TensorDataset((x - 0.473) / 0.251, rows[:, 0].long())


def texts(folder, part, limit):
    """(text, 0 or 1): neg/*.txt and pos/*.txt in train/ and test/, as IMDB has them."""
    if (folder / part / "pos").is_dir():
        return [(path.read_text(), label) for label, name in enumerate(("neg", "pos"))
                for path in sorted((folder / part / name).glob("*.txt"))[:limit and limit // 2]]
    print(f"{folder / part} is not there: the texts are made up")
    made, kinds = random.Random(part), (["bad", "dull"], ["good", "fine"])
    return [(" ".join(made.choice(["the", "a", "of", "it", "is", "was"] + kinds[label]) for _ in range(30)), label)
            for _ in range((limit or 1000) // 2) for label in (0, 1)]


def collate_texts(items):
    """A batch as transformers have it: a dict of ids, mask and labels."""
    ids = [[1 + zlib.crc32(word.encode()) % (WORDS - 1) for word in text.lower().split()[:LENGTH]]
           for text, _ in items]
    ids = nn.utils.rnn.pad_sequence([torch.tensor(i) for i in ids], batch_first=True)
    return {"input_ids": ids, "attention_mask": ids != 0,
            "labels": torch.tensor([label for _, label in items])}
