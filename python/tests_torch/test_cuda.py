"""On a GPU, where there is one: tensors are read where they lie, nothing large goes to the host, steps are those of
the host. Skipped elsewhere; what the package does then is tested on an imitated device (tests/test_device.py)."""
import json
import os
import tempfile
import unittest
import warnings

import numpy as np
import torch
from torch import nn

import cull
from cull import _device
from cull.torch import (GradMatchSelector, Indexed, InfoBatch, LossMemorySampler, PoolSampler, Scorer,
                        SelectiveBackprop)

M, D, C = 128, 512, 10
SMALL = 4096


def why_not():
    if not torch.cuda.is_available():
        return "skipped: no GPU"
    why = _device.why_not(0)
    return f"skipped: {why}" if why else ""


SKIP = why_not()


def signals(rows=M, dtype=torch.float32, seed=1):
    made = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, C, generator=made)
    labels = torch.randint(C, (rows,), generator=made)
    p = torch.softmax(logits, 1) - nn.functional.one_hot(labels, C)
    loss = nn.functional.cross_entropy(logits, labels, reduction="none")
    h = torch.randn(rows, D, generator=made)
    return {"loss": loss.to(dtype), "h": h.to(dtype), "p": p.to(dtype), "labels": labels,
            "irreducible": torch.rand(rows, generator=made).to(dtype)}


def largest_copy(run):
    """Bytes of the largest copy to the host while this runs, as the profiler's trace has them."""
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        run()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        seen.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    copies = [event["args"]["bytes"] for event in events if "DtoH" in event.get("name", "")]
    if not copies:    # a decision fetches a word at least: a trace without it would show nothing
        raise AssertionError("the trace has no copy to the host at all")
    return max(copies)


class Net(nn.Module):
    def __init__(self, width=D):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, width), nn.ReLU())
        self.head = nn.Linear(width, C)

    def forward(self, x):
        return self.head(self.body(x))


def net():
    torch.manual_seed(0)
    return Net()


def batch(seed=0, rows=M):
    made = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 32, generator=made), torch.randint(C, (rows,), generator=made)


@unittest.skipIf(SKIP, SKIP)
class Arrays(unittest.TestCase):
    def same(self, found, plain, tolerance=1e-5):
        self.assertEqual(found.rows.device.type, "cuda")
        self.assertEqual((found.rows.dtype, found.weights.dtype), (torch.int64, plain.weights.dtype))
        torch.testing.assert_close(found.rows.cpu(), plain.rows)
        torch.testing.assert_close(found.weights.cpu(), plain.weights, rtol=tolerance, atol=tolerance)

    def test_every_strategy_of_a_batch_chooses_as_on_the_host(self):
        for strategy in cull.strategies():
            if strategy.runs != "step":
                continue
            for dtype in (torch.float32, torch.float64):
                with self.subTest(strategy=strategy.name, dtype=dtype):
                    keep = {} if {"no budget", "keeps by power", "keeps all"} & strategy.traits else {"keep": 0.3}
                    pair = [cull.Selector(strategy.name, dataset_size=M, batch=M, epochs=4, seed=3, **keep)
                            for _ in range(2)]
                    for step in range(3):
                        given = signals(dtype=dtype, seed=step)
                        read = {name: given[name] for name in pair[0].needs().signals} or {"loss": given["loss"]}
                        plain = pair[0].select(**read)
                        found = pair[1].select(**{name: array.cuda() for name, array in read.items()})
                        self.same(found, plain)
                        observed = pair[0].needs(step=step).observed
                        if observed and len(plain):
                            seen = {name: given[name][:len(plain)] for name in observed}
                            pair[0].observe(places=plain.places, **seen)
                            pair[1].observe(places=found.places, **{name: a.cuda() for name, a in seen.items()})

    def test_narrow_types_are_read(self):
        given = signals()
        for dtype in (torch.float16, torch.bfloat16):
            narrow = {name: given[name].to(dtype) for name in "hp"}
            plain = cull.select("gradmatch", keep=0.3, **{name: array.float() for name, array in narrow.items()})
            self.same(cull.select("gradmatch", keep=0.3, **{name: a.cuda() for name, a in narrow.items()}), plain)

    def test_solvers(self):
        given = signals(dtype=torch.float64)
        h, p = given["h"], given["p"]
        self.same(cull.omp(h=h.cuda(), p=p.cuda(), budget=20), cull.omp(h=h, p=p, budget=20), 1e-8)
        self.same(cull.omp(g=h.cuda(), budget=20), cull.omp(g=h, budget=20), 1e-8)
        k, t, b2 = cull.gram(h, p)
        found = cull.gram(h.cuda(), p.cuda())
        torch.testing.assert_close(found[0].cpu(), torch.as_tensor(k))
        self.same(cull.omp(found[0], found[1], 20, b2=found[2]), cull.omp(torch.as_tensor(k), t, 20, b2=b2), 1e-8)
        self.same(cull.facility(h=h.cuda(), p=p.cuda(), budget=20), cull.facility(h=h, p=p, budget=20), 1e-8)

    def test_work_is_done_in_the_current_stream(self):
        given = {name: array.cuda() for name, array in signals(1280).items()}
        plain = cull.select("gradmatch", h=given["h"], p=given["p"], keep=0.5)
        side = torch.cuda.Stream()
        for _ in range(20):
            with torch.cuda.stream(side):
                h = torch.full_like(given["h"], float("nan"))
                torch.cuda._sleep(2_000_000)
                h.copy_(given["h"])
                found = cull.select("gradmatch", h=h, p=given["p"], keep=0.5)
                h.fill_(float("nan"))
                rows = found.rows.clone()
            side.synchronize()
            torch.testing.assert_close(rows, plain.rows)

    def test_a_capture_is_refused(self):
        loss = torch.rand(M, device="cuda")
        cull.select("sb", loss=loss, keep=0.3)
        graph = torch.cuda.CUDAGraph()
        told = []
        with torch.cuda.graph(graph):
            try:
                cull.select("sb", loss=loss, keep=0.3)
            except NotImplementedError as why:
                told.append(str(why))
            loss.mul_(1)
        self.assertRegex(told[0], "outside of the capture")

    @unittest.skipUnless(torch.cuda.device_count() > 1, "skipped: one GPU")
    def test_several_devices(self):
        given = signals()
        for number in (1, 0):
            found = cull.select("sb", loss=given["loss"].cuda(number), keep=0.3)
            self.assertEqual(found.rows.device.index, number)
        with self.assertRaisesRegex(ValueError, "bring them to one device"):
            cull.select("gradmatch", h=given["h"].cuda(0), p=given["p"].cuda(1), keep=0.3)

    def test_nothing_large_is_copied_to_the_host(self):
        given = {name: array.cuda() for name, array in signals(1280).items()}
        places = torch.arange(1280, device="cuda")
        for name, read in (("sb", ["loss"]), ("gradmatch", ["h", "p"]), ("sb remembered", [])):
            selector = cull.Selector(name, dataset_size=1280, batch=1280, keep=0.5, epochs=9)

            def step(selector=selector, read=read):
                subset = selector.select(places=places, **{key: given[key] for key in read})
                if selector.needs(step=selector.step - 1).observe:
                    selector.observe(loss=given["loss"][:len(subset)], places=subset.places)

            step()
            most = largest_copy(step)
            self.assertLessEqual(most, SMALL, name)


@unittest.skipIf(SKIP, SKIP)
class Training(unittest.TestCase):
    def test_steps_are_those_of_the_host(self):
        for strategy, options in (("sb", {}), ("gradmatch", {}), ("sb remembered", {"dataset_size": M, "index": -1})):
            with self.subTest(strategy=strategy):
                losses = {}
                for device in ("cpu", "cuda"):
                    model = net().to(device)
                    sb = SelectiveBackprop(model, strategy=strategy, keep=0.3, seed=2, **options)
                    optimizer = torch.optim.SGD(model.parameters(), 0.1)
                    losses[device] = []
                    for _ in range(4):
                        x, y = batch()
                        given = (x.to(device), y.to(device))
                        loss = sb.loss(given + (torch.arange(M, device=device),) if "index" in options else given)
                        loss.backward()
                        optimizer.step()
                        optimizer.zero_grad()
                        losses[device].append(loss.item())
                    self.assertEqual(sb.last.rows.device.type, device)
                np.testing.assert_allclose(losses["cuda"], losses["cpu"], rtol=2e-3)

    def test_a_step_copies_nothing_large_to_the_host(self):
        for strategy, rows in (("sb", 128), ("gradmatch", 1280)):
            model = net().cuda()
            sb = SelectiveBackprop(model, strategy=strategy, keep=0.5)
            given = tuple(part.cuda() for part in batch(rows=rows))

            def step(sb=sb, given=given):
                sb.loss(given).backward()

            step(), step()
            most = largest_copy(step)
            self.assertLessEqual(most, SMALL, strategy)

    def test_a_state_is_of_any_device(self):
        model = net().cuda()
        sb = SelectiveBackprop(model, strategy="sb remembered", keep=0.3, dataset_size=M, index=-1)
        given = tuple(part.cuda() for part in batch()) + (torch.arange(M, device="cuda"),)
        for _ in range(2):
            sb.loss(given).backward()
        state = sb.state_dict()
        model = model.cpu()
        again = SelectiveBackprop(model, strategy="sb remembered", keep=0.3, dataset_size=M, index=-1)
        again.load_state_dict(state)
        again.loss(tuple(part.cpu() for part in given)).backward()
        self.assertEqual(again.selector.step, 3)

    def test_samplers(self):
        dataset = torch.utils.data.TensorDataset(*batch(rows=256))
        for device in ("cpu", "cuda"):
            sampler = LossMemorySampler(dataset, 32, keep=0.3, epochs=3, seed=1)
            order = []
            for _ in range(3):
                for x, y, index in torch.utils.data.DataLoader(Indexed(dataset), batch_sampler=sampler):
                    order += index.tolist()
                    losses = (index.to(device).float() * 0.37) % 1.0
                    sampler.update(index.to(device), losses)
                    self.assertEqual(sampler.weights(index.to(device)).device.type, device)
            plain = order if device == "cpu" else plain
        self.assertEqual(order, plain)

    def test_pools_are_chosen_where_the_model_is(self):
        dataset = torch.utils.data.TensorDataset(*batch(rows=256))
        orders = {}
        for device in ("cpu", "cuda"):
            sampler = PoolSampler(dataset, 32, Scorer(net().to(device)), strategy="craig", keep=0.2, epochs=2, seed=1)
            orders[device] = [place for places in sampler for place in places]
        self.assertGreaterEqual(len(set(orders["cpu"]) & set(orders["cuda"])), len(orders["cpu"]) * 9 // 10)

    def test_infobatch_and_the_drop_in(self):
        dataset = InfoBatch(torch.utils.data.TensorDataset(*batch(rows=256)), 4)
        loader = torch.utils.data.DataLoader(dataset, batch_size=32, sampler=dataset.sampler)
        for _ in range(3):
            for x, y in loader:
                dataset.update((x.cuda() ** 2).mean(1))
        model = net().cuda()
        selector = GradMatchSelector(model, model.head, nn.CrossEntropyLoss(reduction="none"), 20)
        x, y = batch()
        rows, weights = selector(x.cuda(), y.cuda())
        self.assertEqual((rows.device.type, weights.device.type), ("cuda", "cuda"))
        model.cpu()
        plain, plain_weights = selector(x, y)
        torch.testing.assert_close(rows.cpu(), plain)
        torch.testing.assert_close(weights.cpu(), plain_weights, rtol=1e-3, atol=1e-3)

    def test_nothing_is_said_of_the_host(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SelectiveBackprop(net().cuda(), keep=0.3).loss(tuple(part.cuda() for part in batch()))


if __name__ == "__main__":
    unittest.main()
