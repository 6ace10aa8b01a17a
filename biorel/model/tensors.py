"""What every bundle of tensors can do."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import torch


@dataclass(frozen=True)
class Tensors:
    """A record whose fields are all tensors."""

    def to(self, device: torch.device) -> Self:
        """The same on another device."""
        return type(self)(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})
