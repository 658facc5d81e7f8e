"""GradMatchSelector against the rule of the paper's listing, by scikit-learn's solver."""
import unittest
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import cull
from cull.torch import GradMatchSelector
from torch_support import assert_close, batch, cnn, same_state, state_of

try:
    from sklearn.linear_model._omp import _gram_omp
except ImportError:
    _gram_omp = None

NONE = nn.CrossEntropyLoss(reduction="none")


def listed(model, layer, loss_fn, k, x, y):
    """What the listing does: the last layer's inputs by a hook, output gradients by autograd of the
    summed loss, their Gram matrix, pursuit of its row sums, weights clipped and scaled."""
    seen = {}
    hook = layer.register_forward_hook(lambda module, args, output: seen.update(h=args[0].detach()))
    output = model(x)
    hook.remove()
    p, = torch.autograd.grad(loss_fn(output, y).sum(), output)
    gram = ((p @ p.T) * (seen["h"] @ seen["h"].T + 1)).detach().numpy().astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")      # dependent atoms end it early
        weights, picks, _ = _gram_omp(gram, gram.sum(1), k)
    weights = np.maximum(weights[:, 0] if weights.ndim > 1 else weights, 0)
    return picks, weights / weights.sum() * len(picks)


class Features(nn.Module):
    """The end of a residual network: pooled, rectified features and a linear layer."""

    def __init__(self, width, classes, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.body, self.fc = nn.Linear(32, width), nn.Linear(width, classes)

    def forward(self, x):
        return self.fc(F.relu(self.body(x)))


class Listing(unittest.TestCase):
    @unittest.skipIf(_gram_omp is None, "scikit-learn is not installed")
    def test_the_same_picks_and_weights_as_the_listing(self):
        for seed, (rows, width, classes, k) in enumerate(
                [(128, 512, 10, 12), (128, 512, 10, 38), (128, 512, 10, 64), (64, 256, 100, 32),
                 (128, 64, 10, 64)]):
            model = Features(width, classes, seed).double()
            x, y = torch.randn(rows, 32).double(), torch.randint(classes, (rows,))
            picks, weights = listed(model, model.fc, NONE, k, x, y)
            found, ours = GradMatchSelector(model, model.fc, NONE, k)(x, y)
            self.assertEqual((found.dtype, ours.dtype), (torch.int64, torch.float32))
            self.assertEqual(set(found.tolist()), set(picks.tolist()), seed)
            by_place = dict(zip(picks.tolist(), weights))
            assert_close(self, ours, [by_place[i] for i in found.tolist()], 1e-5)

    @unittest.skipIf(_gram_omp is None, "scikit-learn is not installed")
    def test_single_precision_too(self):
        model = Features(512, 10, 7)
        x, y = torch.randn(128, 32), torch.randint(10, (128,))
        picks, weights = listed(model, model.fc, NONE, 13, x, y)
        found, ours = GradMatchSelector(model, "fc", None, 13)(x, y)
        self.assertEqual(set(found.tolist()), set(picks.tolist()))
        by_place = dict(zip(picks.tolist(), weights))
        assert_close(self, ours, [by_place[i] for i in found.tolist()], 1e-4)

    def test_it_is_gradmatch_that_accepts_to_fall_short(self):
        model = Features(64, 10, 3).double()
        x, y = torch.randn(96, 32).double(), torch.randint(10, (96,))
        found, weights = GradMatchSelector(model, model.fc, NONE, 30)(x, y)
        h = F.relu(model.body(x)).detach()
        p = (torch.softmax(model(x), 1) - F.one_hot(y, 10)).detach()
        subset = cull.select("gradmatch", h=h, p=p, budget=30, short="accept", tolerance=0)
        kept = weights > 0
        self.assertEqual(sorted(found[kept].tolist()), subset.rows.tolist())
        order = torch.argsort(found[kept])
        share = (weights[kept] / weights.sum())[order]
        assert_close(self, share, subset.weights / subset.weights.sum(), 1e-6)


class Around(unittest.TestCase):
    def test_the_model_is_left_as_it_was(self):
        model = cnn()
        before = state_of(model)
        selector = GradMatchSelector(model, model[8], NONE, 4)
        idx, weights = selector(*batch())
        same_state(self, model, before)
        self.assertEqual(list(selector.parameters()), [])
        self.assertEqual(len(idx), 4)
        self.assertAlmostEqual(float(weights.sum()), 4, places=5)
        self.assertEqual(sum(len(m._forward_hooks) for m in model.modules()), 0)

    def test_duplicates_end_it_early(self):
        x, y = batch(4)
        model = cnn(norm=False)
        idx, weights = GradMatchSelector(model, model[8], NONE, 12)(x.repeat(4, 1, 1, 1), y.repeat(4))
        self.assertLessEqual(len(idx), 4)
        self.assertAlmostEqual(float(weights.sum()), len(idx), places=5)

    def test_wrong_arguments(self):
        model = cnn()
        self.assertEqual(len(GradMatchSelector(model, model[8], NONE, np.int64(4))(*batch())[0]), 4)
        for k in (0, -1, 2.5, True):
            with self.assertRaisesRegex(ValueError, "k="):
                GradMatchSelector(model, model[8], NONE, k)
        with self.assertRaisesRegex(ValueError, "batch of 16"):
            GradMatchSelector(model, model[8], NONE, 17)(*batch())
        with self.assertRaisesRegex(ValueError, "not the last layer"):
            GradMatchSelector(model, model[4], NONE, 4)(*batch())


if __name__ == "__main__":
    unittest.main()
