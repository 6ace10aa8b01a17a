"""Defines the hyper-parameters from which a reader is built in training and when its folder is opened."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ReaderConfig:
    """Everything that determines a reader's parameters, and its dropout rates (probabilities to drop).

    The field names are those in the `config.json` of a reader's folder.

    Attributes:
        vocabulary: number of tokens.
        head: a key of `heads.HEADS`.
        encoder: a key of `reader.ENCODERS`.
        width: D, the width of an encoded token.
        embedding: width of a token's embedding.
        positions: width of the sinusoidal positions, even.
        kernel, dilations, question_dilations: of the gated convolutions (`dgcnn`; all encoders but `bert` encode the
            question with them).
        blocks, heads: transformer blocks and attention heads (`bran`).
        window: most tokens of a passage that are read at once.
        sample: k, the starts and ends in the sampled loss of MaP.
        focus: exponent gamma of the focal loss of DGCNN's labels.
        gate_noise: bound of the noise on the gates (DGCNN equation 9).
        bert: the configuration of the pre-trained BERT as JSON (`bert`, which ignores the sizes of the others).
        cls_id, sep_id, unk_id: ids of the special tokens of the BERT.
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
