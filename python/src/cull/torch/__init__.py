"""Example selection in a PyTorch training loop.

    SelectiveBackprop     chooses rows of each batch: loss = sb.loss(batch)
    LossMemorySampler     chooses each epoch's examples by the losses of training, without scoring
    InfoBatch             each epoch without some of the easy examples
    PoolSampler           a subset of the data set every few epochs (GRAD-MATCH, CRAIG, GLISTER)
    GradMatchSelector     gradient matching with the signature of the paper's listing
    Scorer                per-example losses, H and P of a batch, without a trace
    Indexed               a data set whose items say their place
"""
from .batches import size, split, take
from .gradmatch_selector import GradMatchSelector
from .infobatch import InfoBatch
from .losses import sequence_cross_entropy
from .pool import PoolSampler
from .samplers import Indexed, LossMemorySampler
from .scorer import Scorer, Signals
from .selective import SelectiveBackprop

__all__ = ["GradMatchSelector", "Indexed", "InfoBatch", "LossMemorySampler", "PoolSampler",
           "Scorer", "SelectiveBackprop", "Signals", "sequence_cross_entropy", "size", "split",
           "take"]
