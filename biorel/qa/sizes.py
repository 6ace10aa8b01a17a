"""The sizes of a reader, from which it can be built again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ReaderConfig:
    """All that fixes the parameters of a reader, and its dropout (probabilities to drop).

    With `encoder` `bert` the configuration of the BERT is in `bert`, as JSON, and what is DGCNN's or BRAN's has no
    bearing.
    """

    vocabulary: int
    head: str = "labels"
    encoder: str = "dgcnn"
    width: int = 64
    embedding: int = 64
    positions: int = 64
    kernel: int = 3
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 1)
    question_dilations: tuple[int, ...] = (1, 2)
    blocks: int = 2
    heads: int = 4
    window: int = 500
    sample: int = 20
    focus: float = 2.0
    gate_noise: float = 0.1
    word_dropout: float = 0.1
    dropout: float = 0.1
    bert: str = ""
    cls_id: int = 0
    sep_id: int = 0
    unk_id: int = 0
