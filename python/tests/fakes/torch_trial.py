"""What torch's tensors on a device come to, with torch as it is imitated beside this: run by test_device in a process
of its own."""
import emulated
import numpy
import torch    # the imitation
from support import M, signals

import cull

given = signals(dtype="float32")
h, p, loss = given["h"], given["p"], given["loss"]


def same(found, plain, dtype=torch.float32, tolerance=1e-6):
    assert isinstance(found.rows, torch.Tensor) and found.rows.dtype is torch.int64, found.rows
    assert found.rows.device.type == "cuda" and found.weights.dtype is dtype
    assert numpy.array_equal(found.rows.numpy(), plain.rows), (found.rows.numpy(), plain.rows)
    assert numpy.allclose(found.weights.numpy(), plain.weights, tolerance, tolerance)


# in the current stream: what was asked before is seen, what is asked behind is not
plain = cull.select("gradmatch", h=h, p=p, keep=0.3)
tensor = torch.Tensor(numpy.full_like(h, numpy.nan))
tensor.owner.write(h)
subset = cull.select("gradmatch", h=tensor, p=torch.Tensor(p), keep=0.3)
tensor.owner.write(numpy.full_like(h, numpy.nan))
copy = emulated.ByInterface(numpy.zeros(len(subset), "int64"), torch.current)
emulated._lib.emu_py_copy(copy.at, subset.rows.data_ptr(), 8 * len(subset), torch.current.handle)
same(subset, plain)
assert numpy.array_equal(copy.numpy(), plain.rows)

# another current stream
torch.current = emulated.Stream()
same(cull.select("gradmatch", h=torch.Tensor(h), p=torch.Tensor(p), keep=0.3), plain)

# types
same(cull.select("gradmatch", h=torch.Tensor(h.astype("float64")), p=torch.Tensor(p), keep=0.3),
     cull.select("gradmatch", h=h.astype("float64"), p=p, keep=0.3), torch.float64)
half = {"h": torch.Tensor(h.astype("float16")), "p": torch.Tensor(p.astype("float16"))}
same(cull.select("gradmatch", keep=0.3, **half), cull.select("gradmatch", keep=0.3, h=h.astype("float16").astype("float32"),
                                                             p=p.astype("float16").astype("float32")))
rough = {"h": torch.narrow(h), "p": torch.narrow(p)}
same(cull.select("gradmatch", keep=0.3, **rough),
     cull.select("gradmatch", keep=0.3, **{k: (given[k].view("uint32") & 0xFFFF0000).view("float32") for k in "hp"}))
labels = given["labels"].astype("int16")
same(cull.select("craig", h=torch.Tensor(h), p=torch.Tensor(p), labels=torch.Tensor(labels), keep=0.3),
     cull.select("craig", h=h, p=p, labels=labels, keep=0.3))
try:
    cull.select("gradmatch", h=torch.Tensor(h.astype("int64")), p=torch.Tensor(p), keep=0.3)
    raise SystemExit("integers were taken for H")
except ValueError as why:
    assert "h is of type int64, not float32, float64 or bfloat16" in str(why), why

# places and marks, wherever they are
places = numpy.random.default_rng(1).permutation(4 * M)[:M]
unseen = numpy.arange(M) % 5 == 0
how = dict(dataset_size=4 * M, keep=0.3, seed=2)
plain = cull.select("sb", loss=loss, places=places, unseen=unseen, **how)
for bring in (lambda a: a, torch.Tensor):
    found = cull.select("sb", loss=torch.Tensor(loss), places=bring(places), unseen=bring(unseen), **how)
    same(found, plain)
    assert numpy.array_equal(found.places.numpy(), plain.places)

# a foreign array beside a tensor: results are torch's, behind both streams
stream = emulated.Stream()
other = emulated.ByInterface(numpy.full_like(p, numpy.nan), stream)
other.write(p)
found = cull.select("gradmatch", h=torch.Tensor(h), p=other, keep=0.3)
other.write(numpy.full_like(p, numpy.nan))
same(found, cull.select("gradmatch", h=h, p=p, keep=0.3))

# solvers
same(cull.omp(h=torch.Tensor(h), p=torch.Tensor(p), budget=5), cull.omp(h=h, p=p, budget=5))
same(cull.omp(h=torch.Tensor(h), p=torch.Tensor(p), budget=5, rows=torch.Tensor(numpy.arange(3, 40))),
     cull.omp(h=h, p=p, budget=5, rows=numpy.arange(3, 40)))
b = numpy.arange(6, dtype="float32")
same(cull.omp(g=torch.Tensor(h), b=torch.Tensor(b), budget=4), cull.omp(g=h, b=b, budget=4))
same(cull.facility(h=torch.Tensor(h), p=torch.Tensor(p), budget=5), cull.facility(h=h, p=p, budget=5))
k, t, b2 = cull.gram(torch.Tensor(h), torch.Tensor(p))
assert isinstance(k, torch.Tensor) and k.shape == (M, M) and k.dtype is torch.float64
assert numpy.allclose(k.numpy(), cull.gram(h, p)[0])
same(cull.omp(k, t, 5, b2=b2), cull.omp(*cull.gram(h, p)[:2], 5, b2=b2), torch.float64)

# a sampler's kind of history, and what it leaves
selector = cull.Selector("sb remembered", dataset_size=M, batch=M, keep=0.3, epochs=4)
plain = cull.Selector("sb remembered", dataset_size=M, batch=M, keep=0.3, epochs=4)
for _ in range(3):
    found, kept = selector.select(places=torch.Tensor(numpy.arange(M))), plain.select(places=numpy.arange(M))
    same(found, kept)
    selector.observe(loss=torch.Tensor(loss[kept.rows]), places=found.places)
    plain.observe(loss=loss[kept.rows], places=kept.places)
    selector.next_epoch(), plain.next_epoch()
assert selector.state_dict() == plain.state_dict()
print("all is well")
