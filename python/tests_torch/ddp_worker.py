"""One of several processes that train together; started by test_ddp.py.

    ddp_worker.py CASE RANK WORLD FOLDER

Writes what it saw to FOLDER/CASE-WORLD-RANK.pt.
"""
import os
import pathlib
import sys

import torch
from torch import nn

from cull.torch import InfoBatch, LossMemorySampler, PoolSampler, Scorer, SelectiveBackprop
from torch_support import batch, cnn

COUNT, ROWS, STEPS = 96, 24, 4


def model_of(case):
    if case.endswith("norm"):
        model = cnn().double()
        model(batch(seed=40)[0].double())          # statistics to run with
        for m in model.modules():
            if isinstance(m, nn.modules.batchnorm._BatchNorm):
                m.eval()
        return model
    return cnn(norm=False).double()


def options_of(case):
    return {"sb": dict(strategy="sb", keep=0.25), "sb-norm": dict(strategy="sb", keep=0.25),
            "gradmatch": dict(strategy="gradmatch", keep=0.25),
            "remembered": dict(strategy="sb remembered", keep=0.25, dataset_size=COUNT, index=-1),
            "kath18": dict(strategy="kath18", keep=0.25, dataset_size=COUNT, index=-1),
            "one": dict(strategy="top-loss", keep=1e-9)}[case]


def steps_of(case, rank, world, folder):
    """Steps of SelectiveBackprop, each rank with its own part of every batch."""
    inner = model_of(case)
    model = nn.parallel.DistributedDataParallel(inner) if world > 1 else inner
    sb = SelectiveBackprop(model, norm="running" if case.endswith("norm") else "batch", seed=5,
                           **options_of(case))
    saved = folder / f"{case}-state.pt"
    seen = []
    for step in range(STEPS):
        x, y = batch(ROWS, seed=step)
        places = torch.randperm(COUNT, generator=torch.Generator().manual_seed(step))[:ROWS]
        part = slice(0, 7) if rank == 0 and world > 1 else slice(7, ROWS) if world > 1 \
            else slice(0, ROWS)                     # unequal shares
        made = (x.double()[part], y[part], places[part])
        inner.zero_grad()
        sb.loss(made if "index" in options_of(case) else made[:2]).backward()
        seen.append((sb.last.rows, sb.last.weights, [p.grad.clone() for p in inner.parameters()]))
        with torch.no_grad():
            for p in inner.parameters():
                p -= 0.05 * p.grad
        if step == 1 and rank == 0 and world > 1:
            torch.save([sb.state_dict(), inner.state_dict()], saved)
    return seen


def resumed(case, folder):
    """The second half, in one process, from what two had saved."""
    inner = model_of(case)
    sb = SelectiveBackprop(inner, seed=5, **options_of(case))
    state, weights = torch.load(folder / f"{case}-state.pt")
    inner.load_state_dict(weights)
    sb.load_state_dict(state)
    seen = []
    for step in range(2, STEPS):
        x, y = batch(ROWS, seed=step)
        places = torch.randperm(COUNT, generator=torch.Generator().manual_seed(step))[:ROWS]
        inner.zero_grad()
        sb.loss((x.double(), y, places)).backward()
        seen.append((sb.last.rows, sb.last.weights, [p.grad.clone() for p in inner.parameters()]))
        with torch.no_grad():
            for p in inner.parameters():
                p -= 0.05 * p.grad
    return seen


def samplers_of(rank, world, folder, count):
    """Which places each rank draws, over three epochs."""
    data = torch.utils.data.TensorDataset(*batch(count, seed=5))
    memory = LossMemorySampler(count, 6, keep=0.5, seed=2)
    pool = PoolSampler(data, 6, Scorer(cnn(norm=False)), keep=0.25, period=2)
    info = InfoBatch(data, 8, seed=2)
    seen = {"memory": [], "pool": [], "info": []}
    for epoch in range(3):
        epochs = {name: [] for name in seen}
        for places in memory:
            memory.update(places, torch.as_tensor(places).float() * (epoch + 1))
            epochs["memory"].append(places)
        epochs["pool"] = list(pool)
        for place in info.sampler:
            info.update(torch.tensor([float(place)]))
            epochs["info"].append([place])
        for name in seen:
            seen[name].append(epochs[name])
    begun = iter(memory)
    for _ in range(2):
        places = next(begun)
        memory.update(places, torch.ones(len(places)))
    if rank == 0 and world > 1:
        torch.save(memory.state_dict(), folder / f"memory-{count}.pt")
    return seen, [next(begun)]


def main():
    case, rank, world, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    folder = pathlib.Path(folder)
    torch.set_num_threads(1)
    if world > 1:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/{case}-meet",
                                             rank=rank, world_size=world)
    for one in case.split(","):
        if one.startswith("samplers-"):
            made = samplers_of(rank, world, folder, int(one[len("samplers-"):]))
        elif one.startswith("resumed-"):
            made = resumed(one[len("resumed-"):], folder)
        else:
            made = steps_of(one, rank, world, folder)
        torch.save(made, folder / f"{one}-{world}-{rank}.pt")
    if world > 1:
        torch.distributed.barrier()
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(0)      # the threads of a process group may abort when it is torn down


if __name__ == "__main__":
    main()
