"""cull - decide which training examples are worth backpropagating.

A selector looks at what a forward pass saw of M examples (per-example losses; the inputs H and the output gradients P
of the last linear layer) and returns a weighted subset of them to train on:

>>> import cull, numpy
>>> loss = numpy.linspace(0.1, 2.0, 128)            # from your forward pass
>>> subset = cull.select("sb", loss=loss, keep=0.3)
>>> len(subset), subset.rows.dtype
(38, dtype('int64'))

`cull.select` chooses once, `cull.Selector` step by step through a run, `cull.omp` and `cull.facility` are the solvers
behind, and `cull.strategies()` says what there is. Arrays are numpy's or torch's, on the host or on a CUDA device;
torch is not needed.
"""
from ._device import DeviceArray
from ._library import CullError, CullMemoryError, CullUnsupportedError, CullValueError, version
from ._program import CullProgramError, compare_recipe, train
from ._selector import Needs, Selector, select
from ._solvers import Facilities, Pursuit, facility, gram, omp
from ._strategies import Option, Strategy, strategies
from ._subset import Subset

__version__ = version()
__all__ = ["CullError", "CullMemoryError", "CullProgramError", "CullUnsupportedError", "CullValueError",
           "DeviceArray", "Facilities", "Needs", "Option", "Pursuit", "Selector", "Strategy", "Subset", "compare_recipe", "facility", "gram", "omp",
           "select", "strategies", "train", "version"]
