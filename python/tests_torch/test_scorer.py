"""What a scoring pass sees, and that nothing of it stays."""
import unittest
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

from cull.torch import Scorer, sequence_cross_entropy
from torch_support import CLASSES, HAS_COMPILE, assert_close, batch, cnn, same_state, state_of

ALL = ("loss", "h", "p", "labels")


def by_autograd(model, loss_fn, made):
    """Losses, and the gradient of their sum with respect to the logits, in eval mode."""
    model.eval()
    logits = model(made[0]).detach().requires_grad_(True)
    losses = loss_fn(logits, made[1])
    found, = torch.autograd.grad(losses.sum(), logits)
    model.train()
    return losses.detach(), found


class Untouched(unittest.TestCase):
    def test_statistics_modes_and_generators_stay(self):
        for norm in ("batch", "running"):
            for dropout in (False, True):
                model = cnn(dropout=True)
                model[1].eval()      # frozen
                before, modes = state_of(model), [m.training for m in model.modules()]
                generator = torch.get_rng_state()
                Scorer(model, norm=norm, dropout=dropout)(batch(), ALL)
                same_state(self, model, before)
                self.assertEqual([m.training for m in model.modules()], modes)
                self.assertTrue(torch.equal(torch.get_rng_state(), generator))
                self.assertTrue(all(m.track_running_stats for m in model.modules()
                                    if isinstance(m, nn.modules.batchnorm._NormBase)))
                self.assertTrue(torch.is_grad_enabled())
                self.assertTrue(all(p.grad is None for p in model.parameters()))

    def test_a_forward_that_fails_leaves_all_as_it_was(self):
        model = cnn()
        before, modes = state_of(model), [m.training for m in model.modules()]
        with self.assertRaises(RuntimeError):
            Scorer(model)((torch.zeros(4, 3, 6, 6), torch.zeros(4, dtype=torch.long)), ALL)
        same_state(self, model, before)
        self.assertEqual([m.training for m in model.modules()], modes)
        self.assertTrue(torch.is_grad_enabled())
        self.assertEqual(sum(len(m._forward_hooks) for m in model.modules()), 0)

    def test_batch_statistics_are_those_of_the_scored_batch(self):
        model, made = cnn(), batch()
        wanted = F.cross_entropy(cnn()(made[0]), made[1], reduction="none")   # in training mode
        assert_close(self, Scorer(model)(made).loss, wanted.detach())
        model.eval()   # nobody froze a layer: all of it evaluates
        assert_close(self, Scorer(model)(made).loss, wanted.detach())

    def test_running_statistics_are_those_of_evaluation(self):
        model, made = cnn(), batch()
        model(batch(seed=3)[0])
        wanted = F.cross_entropy(model.eval()(made[0]), made[1], reduction="none").detach()
        self.assertTrue(torch.equal(Scorer(model.train(), norm="running")(made).loss, wanted))

    def test_a_frozen_layer_keeps_using_what_it_has(self):
        model, made = cnn(), batch()
        model[1].eval(), model[5].eval()
        wanted = F.cross_entropy(model.eval()(made[0]), made[1], reduction="none").detach()
        model.train(), model[1].eval(), model[5].eval()
        self.assertTrue(torch.equal(Scorer(model)(made).loss, wanted))


    def test_padded_sequences_are_scored_as_they_are_trained(self):
        class Padded(nn.Module):
            def __init__(self):
                super().__init__()
                torch.manual_seed(0)
                layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
                self.body, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(8, 3)

            def forward(self, x, mask):
                return self.head(self.body(x, src_key_padding_mask=mask).mean(1))

        model = Padded()
        mask = torch.arange(5)[None] >= torch.tensor([5, 3, 2, 4])[:, None]
        made = {"x": torch.randn(4, 5, 8), "mask": mask, "labels": torch.tensor([0, 1, 2, 0])}
        wanted = F.cross_entropy(model(made["x"], mask), made["labels"], reduction="none").detach()
        before = dict(vars(model.body))
        assert_close(self, Scorer(model)(made).loss, wanted, 1e-5)
        self.assertEqual({k: vars(model.body)[k] for k in before}, before)


class Gradients(unittest.TestCase):
    def test_p_is_softmax_minus_one_hot(self):
        model, made = cnn(norm=False), batch()
        seen = Scorer(model)(made, ALL)
        wanted = torch.softmax(model(made[0]), 1) - F.one_hot(made[1], CLASSES)
        assert_close(self, seen.p, wanted.detach())
        self.assertTrue(torch.equal(seen.labels, made[1]))
        model[8] = nn.Identity()
        assert_close(self, seen.h, model(made[0]).detach())

    def test_known_losses_have_the_gradient_that_autograd_finds(self):
        made = batch()
        ignoring = (made[0], made[1].clone())
        ignoring[1][::3] = 2
        shares = (made[0], torch.softmax(torch.randn(16, CLASSES), 1))
        weight = torch.rand(CLASSES) + 0.1
        cases = [(nn.CrossEntropyLoss(reduction="none", label_smoothing=0.1), made),
                 (nn.CrossEntropyLoss(reduction="none", weight=weight), made),
                 (nn.CrossEntropyLoss(reduction="none", weight=weight, label_smoothing=0.2), made),
                 (nn.CrossEntropyLoss(reduction="none", ignore_index=2, weight=weight,
                                      label_smoothing=0.2), ignoring),
                 (nn.CrossEntropyLoss(reduction="none", weight=weight, label_smoothing=0.2),
                  shares)]
        for loss_fn, given in cases:
            model = cnn(norm=False)
            losses, wanted = by_autograd(model, loss_fn, given)
            scorer = Scorer(model, loss_fn)
            self.assertTrue(scorer.losses.known)
            seen = scorer(given, ("loss", "p"))
            assert_close(self, seen.loss, losses)
            assert_close(self, seen.p, wanted)

    def test_p_by_autograd_is_softmax_minus_one_hot_too(self):
        model, made = cnn(norm=False), batch()
        own = Scorer(model, lambda logits, labels: F.cross_entropy(logits, labels, reduction="none"))
        self.assertFalse(own.losses.known)
        wanted = torch.softmax(model(made[0]), 1) - F.one_hot(made[1], CLASSES)
        assert_close(self, own(made, ("p",)).p, wanted.detach())
        assert_close(self, own(made, ("p",)).p, Scorer(model)(made, ("p",)).p)

    def test_any_loss_is_differentiated(self):
        def squared(logits, labels):
            return (logits - F.one_hot(labels, CLASSES)).pow(2).sum(1)

        model, made = cnn(norm=False), batch()
        losses, wanted = by_autograd(model, squared, made)
        seen = Scorer(model, squared)(made, ALL)
        assert_close(self, seen.loss, losses)
        assert_close(self, seen.p, wanted)

    def test_what_follows_the_head_is_differentiated_too(self):
        class LogSoftmax(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = cnn(norm=False)

            def forward(self, x):
                return {"logits": F.log_softmax(self.body(x) / 2, 1)}

        made = batch()
        seen = Scorer(LogSoftmax(), lambda z, y: F.nll_loss(z, y, reduction="none"))(made, ALL)
        logits = cnn(norm=False)(made[0])
        wanted = (torch.softmax(logits / 2, 1) - F.one_hot(made[1], CLASSES)) / 2
        assert_close(self, seen.p, wanted.detach())
        assert_close(self, seen.loss, F.cross_entropy(logits / 2, made[1], reduction="none").detach())

    def test_one_logit_an_example(self):
        model = nn.Sequential(nn.Linear(3, 1), nn.Flatten(0))
        made = (torch.randn(6, 3), torch.randint(2, (6,)).float())
        seen = Scorer(model, nn.BCEWithLogitsLoss(reduction="none"))(made, ("loss", "h", "p"))
        assert_close(self, seen.p[:, 0], (torch.sigmoid(model(made[0])) - made[1]).detach())


class Heads(unittest.TestCase):
    def test_the_last_linear_layer_that_runs_is_found(self):
        class Backwards(nn.Module):   # the order of modules is not that of the forward
            def __init__(self):
                super().__init__()
                self.head, self.body, self.unused = nn.Linear(4, 3), nn.Linear(6, 4), nn.Linear(9, 9)

            def forward(self, x):
                return self.head(self.body(x).relu())

        model = Backwards()
        scorer = Scorer(model)
        scorer((torch.randn(5, 6), torch.zeros(5, dtype=torch.long)), ("h",))
        self.assertIs(scorer.head, model.head)

    def test_wrong_layers_are_refused_with_what_to_name(self):
        model, made = cnn(), batch()
        for head in ("4", model[4]):
            with self.assertRaisesRegex(ValueError, "not the last layer.*'4', '8'"):
                Scorer(model, head=head)(made, ("h",))
        with self.assertRaisesRegex(ValueError, "no layer 'fc'"):
            Scorer(model, head="fc")
        with self.assertRaisesRegex(ValueError, "no part of the model"):
            Scorer(model, head=nn.Linear(12, CLASSES))
        with self.assertRaisesRegex(ValueError, "no linear layer was seen"):
            Scorer(nn.Sequential(nn.Conv2d(1, CLASSES, 6), nn.Flatten()))(made, ("p",))
        Scorer(nn.Sequential(nn.Conv2d(1, CLASSES, 6), nn.Flatten()))(made, ("loss",))

    def test_a_convolution_may_be_the_head_where_it_is_named(self):
        model, made = nn.Sequential(nn.Conv2d(1, CLASSES, 6), nn.Flatten()), batch()
        with self.assertRaisesRegex(ValueError, "runs at every position"):
            Scorer(model, head="0")(made, ("h",))
        model = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(1, CLASSES, 1), nn.Flatten())
        seen = Scorer(model, head="1")(made, ("h", "p"))
        assert_close(self, seen.h, made[0].mean((2, 3)), 1e-6)
        wanted = torch.softmax(model(made[0]), 1) - F.one_hot(made[1], CLASSES)
        assert_close(self, seen.p, wanted.detach())

    def test_a_layer_that_runs_twice_is_refused(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 3)

            def forward(self, x):
                return self.head(x) + self.head(-x)

        with self.assertRaisesRegex(ValueError, "runs 2 times"):
            Scorer(Twice())((torch.randn(5, 4), torch.zeros(5, dtype=torch.long)), ("h",))

    def test_a_layer_the_loss_does_not_depend_on_is_refused(self):
        class Aside(nn.Module):
            def __init__(self):
                super().__init__()
                self.real, self.aside = nn.Conv1d(1, 3, 4), nn.Linear(4, 3)

            def forward(self, x):
                self.aside(x)
                return self.real(x[:, None]).flatten(1)

        with self.assertRaisesRegex(ValueError, "does not depend"):
            Scorer(Aside())((torch.randn(5, 4), torch.zeros(5, dtype=torch.long)), ("p",))


class Losses(unittest.TestCase):
    def test_reduced_losses_are_refused(self):
        for reduced in (nn.CrossEntropyLoss(), nn.BCEWithLogitsLoss(reduction="sum")):
            with self.assertRaisesRegex(ValueError, "reduction='none'"):
                Scorer(cnn(), reduced)
        with self.assertRaisesRegex(ValueError, "reduction='none'"):
            Scorer(cnn(), F.cross_entropy)(batch())
        with self.assertRaisesRegex(ValueError, "mean over all other"):
            Scorer(cnn(), lambda z, y: z)(batch())

    def test_a_single_example_without_a_batch_is_refused(self):
        x, y = batch()
        with self.assertRaisesRegex(ValueError, r"unsqueeze\(0\)"):
            Scorer(cnn())((x[0], y[0]))

    def test_sequences_are_means_over_the_labels_that_count(self):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(7, 6), nn.Linear(6, 7))
        tokens, labels = torch.randint(7, (4, 5)), torch.randint(7, (4, 5))
        labels[0, 2:], labels[3] = -100, -100
        wanted = torch.stack([F.cross_entropy(model(tokens[i]), labels[i], reduction="sum") /
                              max(1, (labels[i] != -100).sum()) for i in range(4)]).detach()
        for loss_fn in (None, nn.CrossEntropyLoss(reduction="none"), sequence_cross_entropy):
            assert_close(self, Scorer(model, loss_fn)((tokens, labels)).loss, wanted)
        self.assertEqual(wanted[3].item(), 0)
        with self.assertRaisesRegex(ValueError, "losses alone"):
            Scorer(model)((tokens, labels), ("h", "p"))

    def test_causal_models_are_held_against_the_next_token(self):
        torch.manual_seed(0)
        logits, tokens = torch.randn(3, 5, 7), torch.randint(7, (3, 5))
        wanted = torch.stack([F.cross_entropy(logits[i, :-1], tokens[i, 1:]) for i in range(3)])
        assert_close(self, sequence_cross_entropy(logits, tokens, shift=True), wanted)

    def test_pixels_are_averaged_too(self):
        model = nn.Conv2d(1, 3, 1)
        made = (torch.randn(2, 1, 4, 5), torch.randint(3, (2, 4, 5)))
        wanted = F.cross_entropy(model(made[0]), made[1], reduction="none").mean((1, 2))
        found = Scorer(model, nn.CrossEntropyLoss(reduction="none"))(made).loss
        assert_close(self, found, wanted.detach())


class Forms(unittest.TestCase):
    def test_outputs_and_batches_as_other_libraries_have_them(self):
        class Classifier(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, self.head = nn.Embedding(9, 6), nn.Linear(6, 3)

            def forward(self, input_ids, attention_mask=None, labels=None):
                mean = (self.embed(input_ids) * attention_mask[..., None]).mean(1)
                return SimpleNamespace(loss=None, logits=self.head(mean))

        made = {"input_ids": torch.randint(9, (4, 5)), "attention_mask": torch.ones(4, 5),
                "labels": torch.tensor([0, 1, 2, 0])}
        seen = Scorer(Classifier())(made, ALL)
        self.assertEqual((tuple(seen.h.shape), tuple(seen.p.shape)), ((4, 6), (4, 3)))

    def test_functions_of_ones_own(self):
        model = nn.Linear(3, 2)
        made = SimpleNamespace(a=torch.randn(4, 3), b=torch.zeros(4, dtype=torch.long))
        scorer = Scorer(model, split=lambda m: (m.a, m.b), logits=lambda out: out * 2,
                        take=lambda m, rows: SimpleNamespace(a=m.a[rows], b=m.b[rows]))
        wanted = F.cross_entropy(model(made.a) * 2, made.b, reduction="none").detach()
        assert_close(self, scorer(made, ALL).loss, wanted)

    def test_inputs_without_tensors(self):
        class Texts(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(2, 3)

            def forward(self, texts):
                return self.head(torch.tensor([[len(t), t.count("a")] for t in texts]).float())

        texts, labels = ["a", "aab", "bb", "abba"], torch.tensor([0, 1, 2, 0])
        model = Texts()
        wanted = F.cross_entropy(model(texts), labels, reduction="none").detach()
        assert_close(self, Scorer(model)((texts, labels), ALL).loss, wanted)
        own = dict(split=lambda b: ({"texts": b["texts"]}, b["goal"]),
                   take=lambda b, rows: {k: [v[i] for i in rows.tolist()] for k, v in b.items()})
        scorer = Scorer(model, lambda z, y: F.cross_entropy(z, torch.tensor(y), reduction="none"),
                        **own)
        made = {"texts": texts, "goal": labels.tolist()}
        self.assertEqual(scorer.size(made), 4)
        assert_close(self, scorer(made, ALL).loss, wanted)

    def test_parallel_wrappers_are_looked_into(self):
        model = cnn()
        self.assertIs(Scorer(nn.DataParallel(model)).inner, model)

    def test_autocast_as_around_or_as_told(self):
        model, made = cnn(norm=False), batch()
        plain = Scorer(model)(made, ALL)
        told = Scorer(model, autocast=torch.bfloat16)(made, ALL)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            around = Scorer(model)(made, ALL)
            off = Scorer(model, autocast=False)(made, ALL)
        for name in ("loss", "h", "p"):
            self.assertEqual(getattr(told, name).dtype, torch.float32)
            self.assertTrue(torch.equal(getattr(told, name), getattr(around, name)))
            self.assertTrue(torch.equal(getattr(plain, name), getattr(off, name)))
        self.assertFalse(torch.equal(plain.loss, told.loss))

    def test_what_was_asked_for_is_not_copied(self):
        seen = Scorer(cnn())(batch(), ("loss", "p"))
        self.assertEqual(list(seen.asked()), ["loss", "p"])
        self.assertIs(seen.asked()["p"], seen.p)

    def test_one_name_is_a_name(self):
        self.assertEqual(list(Scorer(cnn())(batch(), "loss").asked()), ["loss"])

    def test_narrow_labels(self):
        x, y = batch()
        wanted = Scorer(cnn())((x, y), ("loss", "p"))
        for kind in (torch.int32, torch.uint8):
            seen = Scorer(cnn())((x, y.to(kind)), ("loss", "p"))
            self.assertTrue(torch.equal(seen.loss, wanted.loss) and torch.equal(seen.p, wanted.p))
        logits, tokens = torch.randn(3, 5, 7), torch.randint(7, (3, 5))
        self.assertTrue(torch.equal(sequence_cross_entropy(logits, tokens.int()),
                                    sequence_cross_entropy(logits, tokens)))

    def test_doubles_stay_doubles(self):
        x, y = batch()
        self.assertEqual(Scorer(cnn().double())((x.double(), y), ALL).p.dtype, torch.float64)


@unittest.skipUnless(HAS_COMPILE, "this torch does not compile models")
class Compiled(unittest.TestCase):
    def test_models_that_ran_compiled_are_scored(self):
        made = batch()
        wanted = Scorer(cnn())(made, ALL)
        for compile_it in (torch.compile, self.in_place, self.in_part):
            model = compile_it(cnn())
            model.train()
            before = None
            model(made[0])                    # compiled before any hook is there
            before = state_of(model)
            seen = Scorer(model)(made, ALL)
            same_state(self, model, before)
            for name in ("loss", "h", "p"):
                assert_close(self, getattr(seen, name), getattr(wanted, name), 1e-5)

    @staticmethod
    def in_place(model):
        model.compile()
        return model

    @staticmethod
    def in_part(model):
        return nn.Sequential(torch.compile(model[:4]), torch.compile(model[4:]))


if __name__ == "__main__":
    unittest.main()
