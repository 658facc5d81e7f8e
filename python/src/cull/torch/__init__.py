"""Example selection in a PyTorch training loop."""
from .batches import size, split, take
from .losses import sequence_cross_entropy
from .scorer import Scorer, Signals

__all__ = ["Scorer", "Signals", "sequence_cross_entropy", "size", "split", "take"]
