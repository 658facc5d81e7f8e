"""Models and batches that the tests of cull.torch share."""
import torch
from torch import nn

CLASSES = 5
HAS_COMPILE = hasattr(torch, "compile")


def cnn(norm=True, dropout=False, classes=CLASSES):
    """A small convolutional network: one linear layer inside, one last."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4) if norm else nn.Identity(),
                         nn.ReLU(), nn.Flatten(), nn.Linear(4 * 16, 12),
                         nn.BatchNorm1d(12) if norm else nn.Identity(), nn.ReLU(),
                         nn.Dropout(0.5) if dropout else nn.Identity(), nn.Linear(12, classes))


def batch(rows=16, seed=0, classes=CLASSES):
    rng = torch.Generator().manual_seed(seed)
    return (torch.randn(rows, 1, 6, 6, generator=rng),
            torch.randint(classes, (rows,), generator=rng))


def state_of(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def same_state(test, model, before):
    for name, value in model.state_dict().items():
        test.assertTrue(torch.equal(value, before[name]), name)


def gradients(model):
    return [p.grad.clone() for p in model.parameters()]


def assert_close(test, found, wanted, tolerance=1e-6):
    found, wanted = torch.as_tensor(found), torch.as_tensor(wanted)
    test.assertEqual(tuple(found.shape), tuple(wanted.shape))
    gap = (found.double() - wanted.double()).abs().max().item() if found.numel() else 0.0
    test.assertLessEqual(gap, tolerance)
