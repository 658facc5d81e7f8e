"""Several processes that decide as one.

Signals are gathered in the order of ranks, every rank makes the same decision from them, and
trains those of its own rows that were kept. With m_r of the m kept rows on rank r of W,

    loss_r = W/m sum over its rows of w loss = (W m_r/m) (1/m_r) sum w loss

so that the mean of gradients over ranks, which DistributedDataParallel takes, is the gradient of
(1/m) sum w loss over all of them.
"""
from __future__ import annotations

from typing import Any

import torch


class Group:
    """The processes that train together; one, where torch.distributed is not in use.

    group       a process group; None: the default one, if there is any; False: this process alone.
    """

    def __init__(self, group: Any = None) -> None:
        self._group = group

    def _ready(self) -> bool:
        dist = torch.distributed
        return self._group is not False and dist.is_available() and dist.is_initialized()

    @property
    def world(self) -> int:
        """How many there are."""
        return torch.distributed.get_world_size(self._group) if self._ready() else 1

    @property
    def rank(self) -> int:
        """Which of them this is."""
        return torch.distributed.get_rank(self._group) if self._ready() else 0

    def counts(self, count: int, device: torch.device) -> list:
        """How many rows each rank has."""
        if self.world == 1:
            return [count]
        device = self._reachable(device)
        mine = torch.tensor([count], dtype=torch.int64, device=device)
        all_of = [torch.empty_like(mine) for _ in range(self.world)]
        torch.distributed.all_gather(all_of, mine, group=self._group)
        return torch.cat(all_of).tolist()

    def rows(self, values: torch.Tensor, counts: list) -> torch.Tensor:
        """The rows of all ranks, in their order; counts as counts() returned them."""
        if self.world == 1:
            return values
        home, most = values.device, max(counts)
        values = values.detach().to(self._reachable(home)).contiguous()
        if values.shape[0] < most:   # ranks exchange blocks of one size
            room = values.new_zeros((most,) + tuple(values.shape[1:]))
            room[:values.shape[0]] = values
            values = room
        all_of = [torch.empty_like(values) for _ in range(self.world)]
        torch.distributed.all_gather(all_of, values, group=self._group)
        return torch.cat([part[:count] for part, count in zip(all_of, counts)]).to(home)

    def _reachable(self, device: torch.device) -> torch.device:
        """nccl moves what lies on a GPU, gloo what lies on the host."""
        backend = torch.distributed.get_backend(self._group)
        if backend == "nccl" and device.type != "cuda":
            return torch.device("cuda", torch.cuda.current_device())
        if backend == "gloo" and device.type == "cuda":
            return torch.device("cpu")
        return device
