"""Selective backpropagation in a loop of one's own: decisions, gradients, refusals, state."""
import copy
import unittest
import warnings
from unittest import mock

import torch
import torch.nn.functional as F
from torch import nn

import cull
from cull.torch import Indexed, Scorer, SelectiveBackprop
from torch_support import (CLASSES, HAS_COMPILE, assert_close, batch, cnn, gradients, same_state,
                     state_of)

NONE = nn.CrossEntropyLoss(reduction="none")


def chosen(strategy, made, keep, seed=0, step=0, **options):
    """What a selector of one's own picks from the signals of a scoring pass."""
    seen = Scorer(cnn())(made, ("loss", "h", "p")).asked()
    signals = {k: seen[k] for k in ({"loss"} if strategy != "gradmatch" else {"h", "p"})}
    selector = cull.Selector(strategy, batch=len(made[0]), keep=keep, seed=seed, **options)
    return selector.select(**signals, step=step)


def by_hand(model, made, subset, scale=1.0):
    """Gradients of (1/m) sum w loss over the subset."""
    x, y = made[0][subset.rows], made[1][subset.rows]
    loss = (subset.weights * F.cross_entropy(model(x), y, reduction="none")).sum() / len(subset)
    (loss * scale).backward()
    return loss.detach()


class Steps(unittest.TestCase):
    def test_the_loss_is_that_of_the_kept_rows_at_their_weights(self):
        for strategy in ("sb", "top-loss", "gradmatch"):
            made, ours, theirs = batch(), cnn(), cnn()
            sb = SelectiveBackprop(ours, NONE, strategy=strategy, keep=0.25)
            loss = sb.loss(made)
            loss.backward()
            subset = chosen(strategy, made, 0.25)
            self.assertEqual(sb.last.rows.tolist(), subset.rows.tolist())
            self.assertEqual(len(subset), 4)
            wanted = by_hand(theirs, made, subset)
            self.assertTrue(torch.equal(loss.detach(), wanted))
            for a, b in zip(gradients(ours), gradients(theirs)):
                self.assertTrue(torch.equal(a, b))

    def test_statistics_are_bit_identical_to_training_on_the_kept_rows_alone(self):
        for norm in ("batch", "running"):
            ours, theirs = cnn(), cnn()
            sb = SelectiveBackprop(ours, strategy="sb", keep=0.5, norm=norm)
            for step in range(3):
                made = batch(seed=step)
                sb.loss(made).backward()
                F.cross_entropy(theirs(made[0][sb.last.rows]), made[1][sb.last.rows]).backward()
            same_state(self, ours, state_of(theirs))
            self.assertEqual(int(ours[1].num_batches_tracked), 3)

    def test_batches_and_weights_for_those_who_run_the_model(self):
        made = batch()
        sb = SelectiveBackprop(cnn(), strategy="gradmatch", keep=0.25)
        (x, y), weights = sb(made)
        subset = chosen("gradmatch", made, 0.25)
        self.assertTrue(torch.equal(x, made[0][subset.rows]))
        self.assertTrue(torch.equal(y, made[1][subset.rows]))
        self.assertTrue(torch.equal(weights, subset.weights))

    def test_keeping_all_is_full_training(self):
        made, ours, theirs = batch(), cnn(), cnn()
        loss = SelectiveBackprop(ours, strategy="sb", keep=1.0).loss(made)
        loss.backward()
        F.cross_entropy(theirs(made[0]), made[1]).backward()
        for a, b in zip(gradients(ours), gradients(theirs)):
            assert_close(self, a, b, 1e-7)

    def test_random_never_scores(self):
        model = cnn()
        sb = SelectiveBackprop(model, strategy="random", keep=0.25)
        calls = []
        model.register_forward_hook(lambda *_: calls.append(1))
        sb.loss(batch())
        self.assertEqual((len(calls), len(sb.last)), (1, 4))

    def test_dicts_and_repeated_draws(self):
        class Named(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = cnn()

            def forward(self, pixels, labels=None):
                return {"logits": self.body(pixels)}

        x, y = batch(48)
        sb = SelectiveBackprop(Named(), strategy="kath18", variable=False)
        loss = sb.loss({"pixels": x, "labels": y})
        loss.backward()
        self.assertEqual(len(sb.last), 16)   # a third of what is scored, with replacement
        self.assertTrue(torch.isfinite(loss))

    def test_importance_sampling_waits_until_it_pays(self):
        made = batch(48)
        sb = SelectiveBackprop(cnn(), strategy="kath18")
        for _ in range(3):
            sb.loss(made)
            self.assertEqual(len(sb.last), 16)    # plain steps of a batch, evenly spread
        self.assertTrue(bool((sb.last.weights == 1).all()))
        own = SelectiveBackprop(cnn(), strategy="kath18", score="gnorm-last")
        own.loss(made), own.loss(made)            # H and P of what is trained are observed


class Around(unittest.TestCase):
    """What a training loop puts around it gives the gradient computed by hand."""

    def test_accumulation_over_four_batches(self):
        ours, theirs = cnn(norm=False), cnn(norm=False)
        sb = SelectiveBackprop(ours, strategy="gradmatch", keep=0.25)
        for step in range(4):
            (sb.loss(batch(seed=step)) / 4).backward()
            by_hand(theirs, batch(seed=step), sb.last, 0.25)
        for a, b in zip(gradients(ours), gradients(theirs)):
            self.assertTrue(torch.equal(a, b))

    def test_autocast_with_a_scaled_loss(self):
        made, ours, theirs = batch(), cnn(), cnn()
        sb = SelectiveBackprop(ours, strategy="sb", keep=0.5)
        scale = 1024.0
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = sb.loss(made)
        (loss * scale).backward()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            wanted = F.cross_entropy(theirs(made[0][sb.last.rows]).float(), made[1][sb.last.rows])
        (wanted * scale).backward()
        for a, b in zip(gradients(ours), gradients(theirs)):
            self.assertGreater(float(b.abs().max()), 0)
            assert_close(self, a / scale, b / scale, 1e-6)

    def test_cast_weights_of_the_scoring_pass_are_not_trained_with(self):
        """In one autocast region, weights cast without gradients would be used again."""
        model = cnn()
        sb = SelectiveBackprop(model, strategy="sb", keep=0.5)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            sb.loss(batch()).backward()
        self.assertTrue(all(p.grad is not None and bool(p.grad.abs().sum() > 0)
                            for p in (model[0].weight, model[4].weight, model[8].weight)))

    @unittest.skipUnless(HAS_COMPILE, "this torch does not compile models")
    def test_a_compiled_model(self):
        made, theirs = batch(), cnn()
        model = torch.compile(cnn())
        model(batch(seed=9)[0])
        theirs(batch(seed=9)[0])
        sb = SelectiveBackprop(model, strategy="gradmatch", keep=0.5)
        sb.loss(made).backward()
        by_hand(theirs, made, sb.last)
        for a, b in zip(gradients(model), gradients(theirs)):
            assert_close(self, a, b, 1e-5)
        self.assertEqual(int(model._orig_mod[1].num_batches_tracked), 2)


class Refusals(unittest.TestCase):
    """An exception before the first step that says what to change."""

    def refuses(self, sentence, *, made=None, model=None, error=ValueError, **arguments):
        with self.assertRaisesRegex(error, sentence):
            sb = SelectiveBackprop(model or cnn(), arguments.pop("loss_fn", None), **arguments)
            sb.loss(batch() if made is None else made)

    def test_losses_heads_and_batches(self):
        self.refuses("reduction='none'", loss_fn=nn.CrossEntropyLoss())
        self.refuses("reduction='none'", loss_fn=F.cross_entropy)
        self.refuses("reduction='none'", loss_fn=F.cross_entropy, strategy="random")
        self.refuses("not the last layer", strategy="gradmatch", head="4")
        self.refuses("no linear layer", strategy="gradmatch",
                     model=nn.Sequential(nn.Conv2d(1, CLASSES, 6), nn.Flatten()))
        x, y = batch()
        self.refuses("batch", made=(x[0], y[0]))
        self.refuses("empty", made=(x[:0], y[:0]))
        self.refuses("index=", made=(x, y, y))

    def test_options(self):
        for keep in (0, -1, 1.5, float("nan")):
            self.refuses("keep", keep=keep)
        self.refuses("beta", beta=-1)
        self.refuses("frobnicate", frobnicate=1)
        self.refuses("no strategy|unknown|called", strategy="sbb")
        self.refuses("norm=", norm="none")
        self.refuses("dataset_size=", epochs=3, start=0.5)

    def test_what_is_for_samplers(self):
        for strategy in ("grad-match", "craig", "glister", "adaptive-random", "fixed-random"):
            self.refuses("PoolSampler", strategy=strategy, dataset_size=100)
        self.refuses("InfoBatch", strategy="infobatch", dataset_size=100, epochs=2)
        self.refuses("cull.Selector", strategy="sb-stream")
        self.refuses("LossMemorySampler", strategy="sb remembered", scope="pool", index=-1,
                     dataset_size=100)

    def test_rules_that_return_earlier_examples(self):
        """A strategy in a shared object may carry examples over."""
        sb = SelectiveBackprop(cnn())
        sb.loss(batch())
        carried = cull.Subset(torch.tensor([3, -1]), torch.tensor([3, 7]), torch.ones(2), None, 0, 2, 0)
        with mock.patch.object(sb.selector, "select", return_value=carried):
            with self.assertRaisesRegex(ValueError, "cull.Selector"):
                sb.loss(batch())

    def test_places(self):
        for strategy in ("sb remembered", "sb+stale", "top-loss losses=remembered"):
            self.refuses("Indexed", strategy=strategy, dataset_size=100)
        self.refuses("irreducible=", strategy="rho")
        x, y = batch()
        self.refuses("whole numbers", strategy="sb remembered", dataset_size=100, index=-1,
                     made=(x, y, torch.zeros(16)), error=TypeError)
        self.refuses("100", strategy="sb remembered", dataset_size=100, index=-1,
                     made=(x, y, torch.arange(100, 116)))

    def test_places_that_are_not_there(self):
        x, y = batch()
        places = dict(strategy="sb remembered", dataset_size=100)
        for index, made in (("index", (x, y, y)), (5, (x, y)), (-1, {"x": x, "labels": y}),
                            ("at", {"x": x, "labels": y}), (-1, x)):
            self.refuses(f"no index={index!r}.*Indexed", index=index, made=made, **places)
        self.refuses("-1 to 14.*data set of 100", index=-1, made=(x, y, torch.arange(-1, 15)),
                     **places)
        self.refuses("whole numbers", index=-1, made=(x, y, tuple("abcdefghijklmnop")),
                     error=TypeError, **places)
        rho = dict(strategy="rho", keep=0.25, dataset_size=100, index=-1,
                   made=(x, y, torch.arange(16)))
        self.refuses("irreducible= is of shape .*place 15", irreducible=torch.zeros(10), **rho)
        self.refuses("irreducible= returns the shape", irreducible=lambda _: torch.zeros(10), **rho)

    def test_one_row_has_no_statistics(self):
        made = batch(5)
        model = cnn()
        before = state_of(model)
        with self.assertRaisesRegex(ValueError, "batch of 5 rows keeps 1.*drop_last=True"):
            SelectiveBackprop(model, keep=0.2).loss(made)
        same_state(self, model, before)
        model[5].eval()                     # frozen: the other one sees pixels
        SelectiveBackprop(model, keep=0.2).loss(made)
        long = nn.Sequential(nn.Flatten(2), nn.BatchNorm1d(1), nn.Flatten(), nn.Linear(36, CLASSES))
        SelectiveBackprop(long, keep=0.2).loss(made)
        SelectiveBackprop(cnn().eval(), keep=0.2).loss(made)

    def test_synchronised_statistics_in_several_processes(self):
        model = nn.SyncBatchNorm.convert_sync_batchnorm(cnn())
        with mock.patch("cull.torch.ddp.Group.world", 2):
            self.refuses("SyncBatchNorm", model=model)

    def test_all_is_checked_before_a_window_opens(self):
        window = dict(dataset_size=160, epochs=4, start=0.5)
        self.refuses("not the last layer", strategy="gradmatch", head="4", **window)
        self.refuses("reduction='none'", loss_fn=F.cross_entropy, **window)
        self.refuses("not the last layer", strategy="kath18", head="4", batch=8, **window)
        self.refuses("validation=", strategy="gradmatch", match="validation", **window)
        self.refuses("irreducible=", strategy="rho", irreducible=torch.zeros(160), **window)

    def test_losses_that_are_not_finite_are_named(self):
        x, y = batch()
        x[3] = float("nan")
        self.refuses("3", model=cnn(norm=False), made=(x, y))


class Memory(unittest.TestCase):
    def batches(self, epoch, count=64, rows=16):
        order = torch.randperm(count, generator=torch.Generator().manual_seed(epoch))
        x, y = batch(count, seed=5)
        return [(x[i], y[i], i) for i in order.split(rows)]

    def test_remembered_losses_are_those_of_training(self):
        sb = SelectiveBackprop(cnn(), strategy="sb remembered", keep=0.25, dataset_size=64,
                               epochs=3, index=-1)
        own = cull.Selector("sb remembered", keep=0.25, dataset_size=64, batch=16, epochs=3)
        model = cnn()
        calls = []
        sb.scorer.model.register_forward_hook(lambda *_: calls.append(1))
        for epoch in range(3):
            for x, y, places in self.batches(epoch):
                sb.loss((x, y, places))
                subset = own.select(places=places, epoch=epoch)
                self.assertEqual(sb.last.places.tolist(), subset.places.tolist())
                losses = F.cross_entropy(model(x[subset.rows]), y[subset.rows], reduction="none")
                own.observe(loss=losses.detach(), places=subset.places)
        self.assertEqual(len(calls), 12, "no scoring pass")

    def test_epochs_are_counted_or_told(self):
        def scored(tell):
            model, seen = cnn(), []
            sb = SelectiveBackprop(model, strategy="sb stale", keep=0.25, dataset_size=64, index=-1)
            model.register_forward_hook(lambda *_: seen.append(1))
            counts = []
            for epoch in range(4):
                if tell:
                    sb.set_epoch(epoch)
                before = len(seen)
                for made in self.batches(epoch):
                    sb.loss(made)
                counts.append(len(seen) - before)
            return counts

        self.assertEqual(scored(False), [8, 4, 8, 4])   # losses are scored every other epoch
        self.assertEqual(scored(True), [8, 4, 8, 4])

    def test_epochs_that_are_shorter_than_counted_are_told_once(self):
        """65 examples in batches of 16 are five, and four where the last is dropped."""
        def run(dropped=True, **options):
            sb = SelectiveBackprop(cnn(), keep=0.25, dataset_size=65, index=-1,
                                   **{"strategy": "sb stale", **options})
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                for epoch in range(3):
                    for made in self.batches(epoch, 65)[:4 if dropped else 5]:
                        sb.loss(made)
            return [str(w.message) for w in told if "drop_last" in str(w.message)]

        self.assertEqual(len(run()), 1)
        self.assertIn("steps=len(loader)", run()[0])
        self.assertEqual(len(run(strategy="sb", epochs=3)), 1)
        for quiet in (dict(steps=4), dict(strategy="sb remembered")):
            self.assertEqual(run(**quiet), [])

    def test_windows_count_the_batches_that_come(self):
        """Four epochs of two batches of 48, of which 16 are drawn in the second half."""
        sb = SelectiveBackprop(cnn(), strategy="kath18", variable=False, dataset_size=96, epochs=4,
                               start=0.5)
        drawn = []
        for step in range(8):
            self.assertEqual(sb.epoch, step // 2)
            sb.loss(batch(48, seed=step))
            self.assertEqual(len(sb.last), 16)
            drawn.append(not bool((sb.last.weights == 1).all()))
        self.assertEqual(drawn, [False] * 4 + [True] * 4)

    def test_nothing_kept_is_a_loss_of_nothing(self):
        """Where all gradients are zero, and falling short is accepted, nothing is kept."""
        model = cnn()      # whose BatchNorm could not train on the one row that then runs
        before = state_of(model)
        sb = SelectiveBackprop(model, lambda z, y: (z * 0).sum(1), strategy="gradmatch", keep=0.25,
                               short="accept")
        loss = sb.loss(batch())
        loss.backward()
        same_state(self, model, before)
        self.assertTrue(all(m.training for m in model.modules()))
        self.assertEqual((len(sb.last), float(loss.detach())), (0, 0.0))
        self.assertTrue(all(float(g.abs().max()) == 0 for g in gradients(model)))

    def test_the_other_way_has_to_be_told_too(self):
        sb = SelectiveBackprop(cnn(), strategy="sb remembered", keep=0.25, dataset_size=64, index=-1)
        first, second, third = self.batches(0)[:3]
        kept, weights = sb(first)
        sb.observe(torch.rand(4))
        sb(second)
        with self.assertRaisesRegex(cull.CullError, r"sb\.observe\(losses\)"):
            sb(third)
        with self.assertRaisesRegex(cull.CullError, r"sb\.observe\(losses\)"):
            sb.loss(third)
        with self.assertRaisesRegex(ValueError, "call that first"):
            SelectiveBackprop(cnn()).observe(torch.rand(4))

    def test_reducible_losses(self):
        x, y = batch()
        places = torch.arange(16)
        held = torch.linspace(0, 10, 64)
        sb = SelectiveBackprop(cnn(), strategy="rho", keep=0.25, dataset_size=64, index=-1,
                               irreducible=held)
        sb.loss((x, y, places))
        loss = Scorer(cnn())((x, y)).loss
        self.assertEqual(sb.last.rows.tolist(), (loss - held[:16]).topk(4)[1].sort()[0].tolist())

    def test_a_validation_batch_may_be_matched(self):
        made, held = batch(), batch(seed=8)
        sb = SelectiveBackprop(cnn(), strategy="gradmatch", match="validation", keep=0.25,
                               validation=lambda: held)
        sb.loss(made)
        scorer = Scorer(cnn())
        seen, target = scorer(made, ("h", "p")).asked(), scorer(held, ("h", "p")).asked()
        wanted = cull.Selector("gradmatch", match="validation", keep=0.25, batch=16).select(
            **seen, target=target)
        self.assertEqual(sb.last.rows.tolist(), wanted.rows.tolist())

    def test_indexed_data_sets(self):
        x, y = batch(32)
        loader = torch.utils.data.DataLoader(
            Indexed(torch.utils.data.TensorDataset(x, y)), batch_size=16)
        sb = SelectiveBackprop(cnn(), strategy="top-loss remembered", keep=0.5, dataset_size=32,
                               index=-1)
        for made in loader:
            sb.loss(made)
        self.assertEqual(len(sb.last), 8)
        self.assertTrue(all(16 <= place < 32 for place in sb.last.places.tolist()))

    def test_a_resumed_run_continues_bit_for_bit(self):
        for strategy, options in (("sb remembered", {}), ("sb", dict(start=0.25, every=2)),
                                  ("kath18", dict(batch=4))):
            def make():
                torch.manual_seed(3)
                model = cnn()
                sb = SelectiveBackprop(model, strategy=strategy, keep=0.25, dataset_size=64,
                                       epochs=4, index=-1, seed=7, **options)
                return model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), sb

            def run(parts, batches):
                model, optimizer, sb = parts
                told = []
                for made in batches:
                    optimizer.zero_grad()
                    loss = sb.loss(made)
                    loss.backward()
                    optimizer.step()
                    told.append((loss.item(), sb.last.places.tolist()))
                return told

            stream = [made for epoch in range(4) for made in self.batches(epoch)]
            whole = run(make(), stream)
            first, second = make(), make()
            begun = run(first, stream[:7])
            for one, other in zip(first, second):
                other.load_state_dict(copy.deepcopy(one.state_dict()))
            self.assertEqual(begun + run(second, stream[7:]), whole, strategy)

    def test_a_state_from_before_the_first_batch(self):
        sb = SelectiveBackprop(cnn(), keep=0.5)
        fresh = copy.deepcopy(sb.state_dict())
        sb.loss(batch())
        first = sb.last.rows.tolist()
        sb.loss(batch(12))
        sb.load_state_dict(fresh)
        self.assertEqual(sb.state_dict(), fresh)
        sb.scorer.inner.load_state_dict(cnn().state_dict())
        sb.loss(batch())
        self.assertEqual(sb.last.rows.tolist(), first)

    def test_states_of_others_are_refused(self):
        sb = SelectiveBackprop(cnn(), keep=0.5)
        with self.assertRaisesRegex(ValueError, "no state"):
            sb.load_state_dict({"a": 1})
        other = SelectiveBackprop(cnn(), strategy="top-loss", keep=0.5)
        other.loss(batch())
        with self.assertRaises(ValueError):
            sb.load_state_dict(other.state_dict())


class Law(unittest.TestCase):
    def test_rates_by_quartile_of_loss(self):
        """METHODS' table: M=128, inclusion rates of the quartiles of loss, low to high."""
        table = [(0.5, 1, (.176, .447, .628, .749)), (0.5, 2, (.061, .350, .690, .899)),
                 (0.3, 1 / 0.3 - 1, (.016, .140, .384, .647)), (0.1, 9, (.000, .001, .026, .348))]

        class Given(nn.Module):      # an example's loss is its input
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(1))

            def forward(self, x):
                return x * self.scale

        losses = torch.arange(128.0)[torch.randperm(128, generator=torch.Generator().manual_seed(2))]
        trials = 1500
        for keep, beta, wanted in table:
            sb = SelectiveBackprop(Given(), lambda z, _: z, strategy="sb", keep=keep, beta=beta)
            kept = torch.zeros(128)
            for _ in range(trials):
                sb((losses, losses))
                kept[losses[sb.last.rows].long()] += 1
            rates = (kept / trials).reshape(4, 32).mean(1)
            for found, told in zip(rates.tolist(), wanted):
                # both are estimates: 32 examples, drawn at rate p, in 1500 and in 4000 trials
                spread = max(told, 0.0005) * (1 - told) / 32
                error = (spread * (1 / trials + 1 / 4000)) ** 0.5
                rounded = 0.0005
                self.assertLessEqual(abs(found - told), 4 * error + rounded, (keep, beta, rates))


if __name__ == "__main__":
    unittest.main()
