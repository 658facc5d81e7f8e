"""Samplers over the whole data set: who is drawn, how often, and how a run goes on."""
import copy
import io
import unittest

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

import cull
from cull.torch import Indexed, InfoBatch, LossMemorySampler, PoolSampler, Scorer
from torch_support import CLASSES, assert_close, batch, cnn, same_state, state_of

try:
    from torchdata.stateful_dataloader import StatefulDataLoader
except ImportError:
    StatefulDataLoader = None

COUNT = 96


def dataset(count=COUNT):
    return TensorDataset(*batch(count, seed=5))


def loss_of(places, epoch):
    """A loss for each place and epoch that training might have seen."""
    return torch.as_tensor([((int(p) * 37 + epoch * 11) % 101) / 10 + 0.1 for p in places])


def run_epoch(sampler):
    """Draw an epoch's batches and tell their losses."""
    drawn = []
    for places in sampler:
        sampler.update(places, loss_of(places, sampler.epoch))
        drawn.append(places)
    return drawn


class Remembering(unittest.TestCase):
    def make(self, **options):
        return LossMemorySampler(COUNT, 8, **{**dict(keep=0.25, epochs=10, seed=3), **options})

    def test_an_epoch_is_the_selectors_choice_in_batches(self):
        sampler = self.make()
        own = cull.Selector("sb remembered", dataset_size=COUNT, epochs=10, seed=3, keep=0.25,
                            scope="pool")
        for epoch in range(4):
            self.assertEqual(len(sampler), 3)
            drawn = run_epoch(sampler)
            wanted = own.select(count=COUNT, step=epoch, epoch=epoch)
            self.assertEqual([len(b) for b in drawn], [8, 8, 8])
            self.assertEqual(sorted(sum(drawn, [])), wanted.places.tolist())
            own.observe(places=wanted.places, loss=loss_of(wanted.places, epoch), epoch=epoch,
                        step=epoch)
            self.assertTrue(all(type(p) is int for p in drawn[0]))

    def test_examples_never_trained_rank_above_all_others(self):
        sampler = self.make(strategy="top-loss")
        seen = sorted(sum((p for _ in range(4) for p in run_epoch(sampler)), []))
        self.assertEqual(seen, list(range(COUNT)))

    def test_large_losses_are_drawn_more_often(self):
        sampler = self.make(keep=0.5, epochs=400)
        kept = torch.zeros(COUNT)
        for epoch in range(200):
            for places in sampler:
                sampler.update(places, torch.as_tensor([float(p) for p in places]))
                if epoch >= 8:
                    kept[places] += 1
        rates = (kept / 192).reshape(4, -1).mean(1)
        self.assertTrue(bool((rates[1:] > rates[:-1] + 0.05).all()), rates)

    def test_forgotten_updates_are_told(self):
        sampler = self.make()
        list(sampler)
        with self.assertRaisesRegex(ValueError, "update"):
            list(sampler)

    def test_a_look_at_a_batch_is_no_epoch(self):
        wanted = self.make()
        epochs = [run_epoch(wanted) for _ in range(2)]
        sampler = self.make()
        self.assertEqual([next(iter(sampler)) for _ in range(2)], epochs[0][:1] * 2)
        self.assertEqual([run_epoch(sampler) for _ in range(2)], epochs)
        sampler = self.make()
        next(iter(sampler))
        sampler.set_epoch(0)
        self.assertEqual(run_epoch(sampler), epochs[0])
        sampler = self.make()
        next(iter(sampler))
        sampler.set_epoch(4)
        self.assertEqual((len(run_epoch(sampler)), sampler.epoch), (3, 4))

    def test_a_look_after_a_state_was_loaded(self):
        wanted, first, second = self.make(), self.make(), self.make()
        epochs = [run_epoch(wanted) for _ in range(2)]
        places = next(iter(first))
        first.update(places, loss_of(places, 0))
        second.load_state_dict(first.state_dict())
        next(iter(second))
        self.assertEqual([run_epoch(second) for _ in range(2)], [epochs[0][1:], epochs[1]])

    def test_its_length_is_that_of_the_epoch_to_come(self):
        sampler = self.make(start=0.2, end=0.4)       # 96, 96, 24, 24, 96
        told, drawn = [], []
        for _ in range(5):
            told.append(len(sampler))
            drawn.append(len(run_epoch(sampler)))
        self.assertEqual((told, drawn), ([12, 12, 3, 3, 12],) * 2)

    def test_numpys_integers_are_whole_numbers(self):
        sampler = LossMemorySampler(np.int64(COUNT), np.int32(8), keep=0.25)
        self.assertEqual(len(run_epoch(sampler)), 3)
        with self.assertRaisesRegex(ValueError, "batch_size"):
            LossMemorySampler(COUNT, 2.5)

    def test_seeds_of_64_bits(self):
        sampler = self.make(seed=2**64 - 1)
        self.assertEqual(len(run_epoch(sampler)), 3)
        with self.assertRaisesRegex(ValueError, r"seed=.* 2\*\*64"):
            self.make(seed=2**64)

    def test_a_sampler_of_batches_is_given_as_such(self):
        made = Indexed(dataset())
        for give in (lambda: made[[1, 2]], lambda: made.__getitems__([[1, 2]]),
                     lambda: next(iter(DataLoader(made, sampler=self.make())))):
            with self.assertRaisesRegex(TypeError, "batch_sampler="):
                give()

    def test_wrong_updates_are_refused(self):
        sampler = self.make()
        next(iter(sampler))
        for places, losses, sentence in (([1, 2], torch.rand(3), "2 indices"),
                                         ([1, COUNT], torch.rand(2), "not in a data set"),
                                         ([1, 2], torch.tensor([1.0, float("nan")]), "example 2"),
                                         ([1, 2], torch.tensor(1.0), "one for each")):
            with self.assertRaisesRegex(ValueError, sentence):
                sampler.update(places, losses)
        with self.assertRaises(TypeError):
            sampler.update([1.0], torch.rand(1))

    def test_options_are_checked_when_it_is_made(self):
        for options, sentence in ((dict(keep=2), "keep"), (dict(strategy="gradmatch"), "remembered"),
                                  (dict(strategy="rho"), "irreducible="), (dict(trim=3), "trim")):
            with self.assertRaisesRegex(ValueError, sentence):
                self.make(**options)
        with self.assertRaisesRegex(ValueError, "batch_size"):
            LossMemorySampler(COUNT, 0)

    def test_through_a_loader_with_workers(self):
        made = dataset()
        for workers in (0, 2):
            sampler = self.make()
            loader = DataLoader(Indexed(made), batch_sampler=sampler, num_workers=workers)
            seen = []
            for x, y, index in loader:
                self.assertTrue(torch.equal(x, made.tensors[0][index]))
                self.assertEqual(index.dtype, torch.int64)
                sampler.update(index, F.cross_entropy(torch.zeros(len(y), CLASSES), y,
                                                      reduction="none"))
                seen += index.tolist()
            self.assertEqual(len(set(seen)), 24)

    def test_weights_of_importance_sampling(self):
        sampler = self.make(strategy="kath18", score="loss", variable=False, keep=0.5)
        for _ in range(2):
            run_epoch(sampler)
        drawn = np.concatenate(list(sampler))
        weights = sampler.weights(drawn)
        self.assertEqual(len(drawn), 48)
        self.assertGreater(float(weights.std()), 0)
        self.assertTrue(torch.equal(self.make().weights([1, 2]), torch.ones(2)))

    def test_windows(self):
        sampler = self.make(start=0.2, end=0.4)
        self.assertEqual([sum(map(len, run_epoch(sampler))) for _ in range(5)],
                         [96, 96, 24, 24, 96])

    def test_an_epoch_over_a_large_set(self):
        """1.28 million examples, drawn and told; bench/python_overhead.py times it."""
        count = 1_281_167
        sampler = LossMemorySampler(count, 256, keep=0.3, epochs=3)
        losses = torch.rand(256)
        for _ in range(2):
            drawn = np.zeros(count, np.int64)
            for places in sampler:
                drawn[places] += 1
                sampler.update(places, losses[:len(places)])
            self.assertEqual((int(drawn.sum()), int(drawn.max())), (int(0.3 * count), 1))

    def test_other_generators_are_left_alone(self):
        np.random.seed(1), torch.manual_seed(1)
        before = np.random.get_state()[1].copy(), torch.get_rng_state()
        run_epoch(self.make())
        self.assertTrue((np.random.get_state()[1] == before[0]).all())
        self.assertTrue(torch.equal(torch.get_rng_state(), before[1]))


class Resuming(unittest.TestCase):
    def kinds(self):
        model = cnn()
        yield "memory", lambda: LossMemorySampler(COUNT, 8, keep=0.5, epochs=6, seed=3)
        yield "dropping", lambda: LossMemorySampler(COUNT, 7, keep=0.5, drop_last=True)
        yield "pool", lambda: PoolSampler(dataset(), 8, Scorer(model), keep=0.25, period=2)
        yield "whole batches", lambda: PoolSampler(dataset(), 8, Scorer(model), keep=0.5, period=2,
                                                   scope="batch")

    def stream(self, sampler, count, tell):
        """`count` batches, over as many epochs as they take."""
        drawn = []
        while len(drawn) < count:
            for places in sampler:
                if tell:
                    sampler.update(places, loss_of(places, sampler.epoch))
                drawn.append((sampler.epoch, places, sampler.weights(places).tolist()))
                if len(drawn) == count:
                    break
        return drawn

    def test_in_the_middle_of_an_epoch_and_at_its_end(self):
        for name, make in self.kinds():
            tell = name in ("memory", "dropping")
            whole = self.stream(make(), 20, tell)
            for stop in range(1, 13):
                first, second = make(), make()
                begun = self.stream(first, stop, tell)
                saved = io.BytesIO()
                torch.save(first.state_dict(), saved)
                saved.seek(0)
                second.load_state_dict(torch.load(saved))
                self.assertEqual(begun + self.stream(second, 20 - stop, tell), whole, (name, stop))

    def test_iterators_have_a_state(self):
        """As a loader uses it that keeps sampler and iterator apart: what it fetched counts."""
        for name, make in self.kinds():
            def draw(sampler, iterator, count):
                drawn = []
                for places in iterator:
                    sampler.update(places, loss_of(places, sampler.epoch))
                    drawn.append(places)
                    if len(drawn) == count:
                        break
                return drawn

            first, second = make(), make()
            one = iter(first)
            draw(first, one, 2)
            states = copy.deepcopy((first.state_dict(), one.state_dict()))
            second.load_state_dict(states[0])
            two = iter(second)
            two.load_state_dict(states[1])
            self.assertEqual(draw(second, two, 99), draw(first, one, 99), name)
            self.assertEqual(draw(second, iter(second), 99), draw(first, iter(first), 99), name)
            self.assertEqual((first.epoch, second.epoch), (1, 1))

    def test_long_epochs_are_told_in_one_piece(self):
        sampler = LossMemorySampler(2000, 8, keep=0.5)
        early, state = None, None
        for step, places in enumerate(sampler):
            sampler.update(places, loss_of(places, 0))
            if step == 3:
                early = sampler.state_dict()["log"]
            if step == 100:
                state = sampler.state_dict()
        self.assertEqual((len(early), len(state["log"])), (4, 1))
        self.assertEqual(sum(len(places) for places, _ in early), 32)
        self.assertEqual(sum(len(places) for places, _ in state["log"]), 808)
        other = LossMemorySampler(2000, 8, keep=0.5)
        other.load_state_dict(sampler.state_dict())
        self.assertEqual(next(iter(other)), next(iter(sampler)))

    def test_a_state_kept_in_memory_stays_as_it_was(self):
        for name, make in self.kinds():
            tell = name in ("memory", "dropping")
            whole = self.stream(make(), 14, tell)
            first, second = make(), make()
            saved = None
            for step, places in enumerate(first):
                if tell:
                    first.update(places, loss_of(places, 0))
                if step == 1:
                    saved = first.state_dict()
            self.stream(first, 3, tell)      # and on
            second.load_state_dict(saved)
            self.assertEqual(self.stream(second, 1, tell), whole[2:3], name)
            third = make()
            third.load_state_dict(second.state_dict())
            self.assertEqual(self.stream(third, 11, tell), whole[3:], name)

    def test_an_iterators_log_is_cut_where_it_was(self):
        make = next(self.kinds())[1]
        first, second = make(), make()
        one, saved, rest = iter(first), None, []
        for step, places in enumerate(one):
            first.update(places, loss_of(places, 0))
            if step == 1:
                saved = first.state_dict(), one.state_dict()
            if step > 1:
                rest.append(places)
        self.assertEqual(len(saved[0]["log"]), 2)
        second.load_state_dict(saved[0])
        two = iter(second)
        two.load_state_dict(saved[1])
        self.assertEqual(second._told, 16)
        self.assertEqual(list(two), rest)

    def test_what_was_fetched_ahead_is_not_lost(self):
        make = next(self.kinds())[1]
        whole = self.stream(make(), 10, True)
        first, second = make(), make()
        ahead = iter(first)
        fetched = [next(ahead) for _ in range(5)]
        for places in fetched[:2]:       # of five that a loader fetched, two were trained
            first.update(places, loss_of(places, 0))
        second.load_state_dict(copy.deepcopy(first.state_dict()))
        self.assertEqual(self.stream(second, 8, True), whole[2:])

    def test_before_the_first_epoch(self):
        for _, make in self.kinds():
            first, second = make(), make()
            second.load_state_dict(first.state_dict())
            self.assertEqual(next(iter(second)), next(iter(first)))

    def test_states_of_others_are_refused(self):
        for _, make in self.kinds():
            with self.assertRaisesRegex(ValueError, "no state"):
                make().load_state_dict({"epoch": 1})
        one, other = LossMemorySampler(COUNT, 8), LossMemorySampler(COUNT + 1, 8)
        with self.assertRaises(ValueError):
            one.load_state_dict(other.state_dict())

    @unittest.skipIf(StatefulDataLoader is None, "torchdata is not installed")
    def test_stateful_loaders(self):
        for workers in (0, 2):
            for name, make in self.kinds():
                tell = name in ("memory", "dropping")

                def loader_of(sampler):
                    return StatefulDataLoader(Indexed(dataset()), batch_sampler=sampler,
                                              num_workers=workers)

                def draw(sampler, loader, count):
                    drawn = []
                    while len(drawn) < count:
                        for _, _, index in loader:
                            if tell:
                                sampler.update(index, loss_of(index, sampler.epoch))
                            drawn.append(index.tolist())
                            if len(drawn) == count:
                                break
                    return drawn

                sampler = make()
                whole = draw(sampler, loader_of(sampler), 14)
                first, second = make(), make()
                loader = loader_of(first)
                begun = draw(first, loader, 4)
                saved = copy.deepcopy(loader.state_dict())
                loader = loader_of(second)
                loader.load_state_dict(saved)
                self.assertEqual(begun + draw(second, loader, 10), whole, (name, workers))


class Pools(unittest.TestCase):
    def test_strategies_choose_from_scores_of_the_whole_set(self):
        made = dataset()
        for strategy, options in (("grad-match", {}), ("craig", {}),
                                  ("grad-match", dict(scope="all", ridge=0))):
            model = cnn()
            model(made.tensors[0])
            before = state_of(model)
            sampler = PoolSampler(made, 8, Scorer(model), strategy=strategy, keep=0.25, period=2,
                                  score_batch=40, **options)
            drawn = sum(sampler, [])
            same_state(self, model, before)
            seen = Scorer(model, norm="running")(made[:], ("h", "p", "labels")).asked()
            wanted = cull.select(strategy, **seen, keep=0.25, **options)
            self.assertEqual(sorted(drawn), wanted.places.tolist())
            assert_close(self, sampler.weights(wanted.places), wanted.weights.float(), 1e-4)

    def test_a_subset_serves_until_its_period_is_over(self):
        sampler = PoolSampler(dataset(), 8, strategy="adaptive-random", keep=0.25, period=2)
        epochs = [sorted(sum(sampler, [])) for _ in range(5)]
        self.assertEqual(epochs[0], epochs[1])
        self.assertEqual(epochs[2], epochs[3])
        self.assertNotEqual(epochs[1], epochs[2])
        self.assertNotEqual(epochs[3], epochs[4])
        once = PoolSampler(dataset(), 8, strategy="fixed-random", keep=0.25)
        self.assertEqual(len({tuple(sorted(sum(once, []))) for _ in range(3)}), 1)

    def test_validation_sets(self):
        model = cnn()
        held = TensorDataset(*batch(24, seed=9))
        sampler = PoolSampler(dataset(), 8, Scorer(model), strategy="glister", keep=0.25,
                              greedy="naive", validation=held)
        drawn = sum(sampler, [])
        scorer = Scorer(model, norm="running")
        wanted = cull.select("glister", **scorer(dataset()[:], ("h", "p", "labels")).asked(),
                             target=scorer(held[:], ("h", "labels", "logits", "p")).asked(),
                             keep=0.25, greedy="naive")
        self.assertEqual(sorted(drawn), wanted.places.tolist())
        with self.assertRaisesRegex(ValueError, "validation="):
            sum(PoolSampler(dataset(), 8, Scorer(model), strategy="glister"), [])

    def test_its_length_is_that_of_the_epoch_to_come(self):
        for options in (dict(epochs=8, warm=0.5, keep=0.25), dict(keep=0.5), dict(keep=0.25)):
            scope = {} if "warm" in options else dict(scope="batch")
            kind = dict(strategy="adaptive-random") if "warm" in options \
                else dict(scorer=Scorer(cnn()))
            sampler = PoolSampler(dataset(), 8, period=2, **kind, **scope, **options)
            told, drawn = [], []
            for _ in range(5):
                told.append(len(sampler))
                drawn.append(len(list(sampler)))
            self.assertEqual(told, drawn)

    def test_whole_minibatches_are_trained_as_they_are(self):
        sampler = PoolSampler(dataset(), 8, Scorer(cnn()), scope="batch", keep=0.5)
        drawn = list(sampler)
        self.assertEqual(len(drawn), 6)
        self.assertEqual(len(set(sum(drawn, []))), 48)
        for places in drawn:
            self.assertEqual(len(places), 8)
            self.assertEqual(len(set(sampler.weights(places).tolist())), 1)
        again = list(sampler)
        self.assertNotEqual(again, drawn, "in another order")
        self.assertEqual(sorted(map(tuple, again)), sorted(map(tuple, drawn)))

    def test_warm_starts_train_everything_first(self):
        sampler = PoolSampler(dataset(), 8, strategy="adaptive-random", keep=0.25, period=2,
                              epochs=8, warm=0.5)
        sizes = [len(sum(sampler, [])) for _ in range(sampler.epochs)]
        self.assertEqual(sizes, [96, 24, 24, 24, 24])

    def test_what_is_for_others_is_refused_with_its_name(self):
        for strategy, sentence in (("sb", "SelectiveBackprop, or LossMemorySampler"),
                                   ("gradmatch", "SelectiveBackprop"), ("infobatch", "InfoBatch"),
                                   ("grad-match", r"Scorer\(model\)")):
            with self.assertRaisesRegex(ValueError, sentence):
                PoolSampler(dataset(), 8, strategy=strategy, epochs=2)


class InfoBatches(unittest.TestCase):
    def losses(self, index):
        return torch.as_tensor(index).float() + 1

    def run_epoch(self, made, loader):
        """(places, weighted sum of losses) of an epoch whose loss is known by place."""
        places, total = [], 0.0
        for x, y in loader:
            index = x[:, 0].long()
            mean = made.update(self.losses(index))
            places += index.tolist()
            total += float(mean) * len(index)
        return places, total

    def make(self, epochs=400, workers=0, count=40, **options):
        values = torch.arange(float(count))[:, None]
        made = InfoBatch(TensorDataset(values, values), epochs, **options)
        return made, DataLoader(made, batch_size=8, sampler=made.sampler, num_workers=workers)

    def test_losses_below_the_mean_are_left_out_at_their_rate_and_weigh_more(self):
        made, loader = self.make()
        places, total = self.run_epoch(made, loader)
        self.assertEqual(sorted(places), list(range(40)), "the first epoch has no losses yet")
        kept, sums = torch.zeros(40), []
        for _ in range(300):
            places, total = self.run_epoch(made, loader)
            kept[places] += 1
            sums.append(total)
            self.assertTrue(torch.equal(made.sampler.weights(torch.arange(20, 40)),
                                        torch.ones(20)))
        # losses 1 .. 40: those of places 0 .. 19 are below their mean
        self.assertTrue(bool((kept[20:] == 300).all()))
        self.assertLess(abs(float(kept[:20].mean()) / 300 - 0.5), 4 * (0.25 / 300 / 20) ** 0.5)
        error = (sum((i + 1.0) ** 2 for i in range(20)) / 300) ** 0.5   # of the mean of the sums
        self.assertLess(abs(sum(sums) / 300 - 820), 4 * error, "unbiased")

    def test_the_last_epochs_use_everything(self):
        made, loader = self.make(epochs=16, delta=0.8)
        sizes = [len(self.run_epoch(made, loader)[0]) for _ in range(16)]
        self.assertTrue(all(size < 40 for size in sizes[1:12]), sizes)
        self.assertEqual(sizes[12:], [40] * 4)     # floor(.8 * 16) = 12

    def test_full_epochs_are_known_before(self):
        made, loader = self.make(epochs=8)
        for _ in range(7):
            self.run_epoch(made, loader)
        self.assertLess(len(made.sampler._order), 40)
        self.assertEqual(len(loader), 5)

    def test_a_look_at_a_batch_is_no_epoch(self):
        (one, alone), (two, looked) = self.make(), self.make()
        next(iter(looked))
        for _ in range(2):
            self.assertEqual(self.run_epoch(two, looked), self.run_epoch(one, alone))

    def test_a_run_whose_loader_drops_the_last_goes_on_with_the_next_epoch(self):
        def loader_of(made):
            return DataLoader(made, batch_size=16, sampler=made.sampler, drop_last=True)

        made, _ = self.make()
        loader = loader_of(made)
        whole = [self.run_epoch(made, loader) for _ in range(3)]
        first, _ = self.make()
        self.assertEqual(self.run_epoch(first, loader_of(first)), whole[0])
        second, _ = self.make()
        second.load_state_dict(copy.deepcopy(first.state_dict()))
        loader = loader_of(second)
        self.assertEqual([self.run_epoch(second, loader) for _ in range(2)], whole[1:])

    def test_a_short_batch_that_workers_fetched_is_not_lost(self):
        first, _ = self.make()
        self.run_epoch(first, DataLoader(first, batch_size=16, sampler=first.sampler))
        fetched = list(first.sampler)            # all of the epoch
        first.update(self.losses(fetched[:16]))
        self.assertTrue(0 < len(fetched) - 16 < 16)
        second, _ = self.make()
        second.load_state_dict(copy.deepcopy(first.state_dict()))
        self.assertEqual(list(second.sampler), fetched[16:])

    def test_items_are_the_data_sets_own_and_places_are_ints(self):
        made, _ = self.make()
        self.assertTrue(torch.equal(made[3][0], torch.tensor([3.0])))
        self.assertEqual(made.tensors[0].shape, (40, 1))       # attributes too
        self.assertTrue(all(type(place) is int for place in made.sampler))

    def test_numpys_generator_is_left_alone(self):
        np.random.seed(1)
        before = np.random.get_state()[1].copy()
        made, loader = self.make()
        self.run_epoch(made, loader), self.run_epoch(made, loader)
        self.assertTrue((np.random.get_state()[1] == before).all())

    def test_workers_change_nothing(self):
        (one, alone), (two, helped) = self.make(), self.make(workers=2)
        for _ in range(2):
            self.assertEqual(self.run_epoch(one, alone), self.run_epoch(two, helped))

    def test_gradients_go_through_the_weighted_mean(self):
        made, loader = self.make()
        self.run_epoch(made, loader)
        next(iter(loader))
        own = made.sampler._own()[0][:8]
        losses = torch.rand(8, requires_grad=True)
        made.update(losses).backward()
        assert_close(self, losses.grad, made.sampler.weights(own) / 8)

    def test_wrong_updates_are_refused(self):
        made, loader = self.make()
        next(iter(loader))
        with self.assertRaisesRegex(ValueError, "reduction='none'"):
            made.update(torch.tensor(1.0))
        with self.assertRaisesRegex(ValueError, "once for every batch"):
            made.update(torch.rand(41))
        list(made.sampler)
        with self.assertRaisesRegex(ValueError, "dataset.update"):
            list(made.sampler)

    def test_a_resumed_run_continues_bit_for_bit(self):
        made, loader = self.make()
        self.run_epoch(made, loader)
        whole = [self.run_epoch(made, loader) for _ in range(2)]
        first, loader = self.make()
        self.run_epoch(first, loader)
        taken, stopped = [], 0.0
        for step, (x, _) in enumerate(loader):
            mean = first.update(self.losses(x[:, 0].long()))
            taken += x[:, 0].long().tolist()
            stopped += float(mean) * len(x)
            if step == 1:
                break
        second, loader = self.make()
        second.load_state_dict(copy.deepcopy(first.state_dict()))
        rest, total = self.run_epoch(second, loader)
        self.assertEqual(taken + rest, whole[0][0])
        self.assertAlmostEqual(stopped + total, whole[0][1], places=3)
        self.assertEqual(self.run_epoch(second, loader), whole[1])


if __name__ == "__main__":
    unittest.main()
