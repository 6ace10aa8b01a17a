"""The options of `biorel train`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, OUT, THREADS, Config
from biorel.config.options import (
    BLOCKS,
    EXPANSION,
    GRAPH,
    HEADS,
    KERNELS,
    POSITIONS,
    WIDTH,
    heads_fault,
)


class Train(Config):
    """Train BRAN on a dataset.

    Repeat the command to resume a run that was stopped; it continues from its last checkpoint.
    """

    example = "biorel train --dataset runs/sample-dataset --out runs/sample-model --epochs 2 --seed 1"

    dataset: Path = Field(description="folder written by build-dataset")
    resplit_dev: int = Field(
        0, ge=0, description="draw this many dev documents by seed from train and dev together (the paper: 150 for CDR)"
    )
    vectors: Path | None = Field(None, description="pre-trained token vectors in word2vec text format, plain or gzip")
    pretrained: Path | None = Field(None, description="folder written by pretrain --method masked, to start from")
    task: Literal["relations", "triage", "ner"] = Field(
        "relations",
        description="what to learn: relations; triage (whether an abstract has any relation); ner (entity spans only)",
    )
    graph: Path | None = GRAPH
    graph_features: bool = Field(
        True, description="with --graph: add features on how often the graph's articles support a pair"
    )
    branches: int = Field(0, ge=0, description="with --graph: number of triples of each entity to insert into the text")
    soft_positions: bool = Field(True, description="with --branches: inserted triples get their own positions (K-BERT)")
    visible_matrix: bool = Field(
        True, description="with --branches: only the mentions of its entity can attend to a triple (K-BERT)"
    )
    seed: int = Field(1, ge=0, description="seed for initial weights, splits, order and dropout")
    device: str = DEVICE
    threads: int = THREADS
    deterministic: bool = Field(
        False, description="on CUDA: use only operations that give bit-identical results (on a CPU this is always so)"
    )

    encoder: str = Field(
        "transformer",
        pattern=r"^(transformer|hf:.+)$",
        description="transformer: BRAN's own blocks; hf:FOLDER_OR_NAME: a pre-trained BERT instead (extra `hf`)",
    )
    encoder_rate: float = Field(5e-5, gt=0, description="hf: peak learning rate of the last block")
    layer_decay: float = Field(
        0.9, gt=0, le=1, description="hf: factor of the learning rate from each block to the one below"
    )
    gradient_checkpointing: bool = Field(False, description="hf: recompute activations to save memory")
    mixed_precision: bool = Field(True, description="hf: use bfloat16 on a GPU")
    width: int = WIDTH
    blocks: int = BLOCKS
    heads: int = HEADS
    kernels: tuple[int, ...] = KERNELS
    expansion: int = EXPANSION
    positions: int = POSITIONS
    span_pooling: Literal["mentions", "tokens"] = Field(
        "mentions",
        description="what the bi-affine scores: the mean of each mention, or each mention token as in the paper",
    )
    pair_features: bool = Field(True, description="add scores from hand-made features of a pair")
    rerank: bool = Field(
        True,
        description="after training, combine BRAN's scores with a linear model over words and compare each pair with"
        " its competing pairs; needs the pair features; without both, the scores are those of the "
        "paper's BRAN",
    )
    word_dropout: float = Field(0.15, ge=0, lt=1, description="probability of replacing a token by UNK")
    input_dropout: float = Field(0.3, ge=0, lt=1, description="dropout on the token embeddings")
    inner_dropout: float = Field(0.1, ge=0, lt=1, description="dropout inside the blocks")
    final_dropout: float = Field(0.5, ge=0, lt=1, description="dropout on the head and tail projections")

    epochs: int = Field(20, ge=1, description="passes over the training documents")
    patience: int = Field(0, ge=0, description="stop after this many epochs without a better dev F1; 0 means never")
    sampling: Literal["documents", "paper"] = Field(
        "documents",
        description="documents: all pairs of a batch of documents; paper: minibatches of pairs, positive or negative"
        " with equal probability",
    )
    token_budget: int = Field(3200, ge=1, description="padded tokens of a batch of documents")
    pairs_per_step: int = Field(32, ge=1, description="paper sampling: pairs of a minibatch")
    steps_per_epoch: int = Field(100, ge=1, description="paper sampling: minibatches of an epoch")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    warmup: int = Field(100, ge=0, description="steps of linear warm-up")
    final_rate: float = Field(
        0.05,
        ge=0,
        le=1,
        description="learning rate at the end of the cosine schedule, as a share of the peak; 1 keeps it constant",
    )
    beta1: float = Field(0.9, ge=0, lt=1, description="decay of Adam's first moment")
    beta2: float = Field(0.999, ge=0, lt=1, description="decay of Adam's second moment")
    epsilon: float = Field(1e-8, gt=0, description="Adam's epsilon")
    weight_decay: float = Field(0.0, ge=0, description="decoupled weight decay")
    clip: float = Field(10.0, gt=0, description="largest gradient norm")
    gradient_noise: float = Field(
        0.0, ge=0, description="eta of the annealed Gaussian noise on the gradient; 0 for none"
    )
    ema: float = Field(0.998, ge=0, lt=1, description="decay of the running average of the weights")
    positive_weight: float = Field(1.0, gt=0, description="weight of pairs that have a relation")
    ner_weight: float = Field(
        1.0, ge=0, description="weight (lambda) of the entity-type loss; 0 is the paper's 'no NER'"
    )
    thresholds: Literal["shared", "own"] = Field(
        "shared",
        description="tuned on dev: shared by all relations, at half of the best F1 (Lipton et al. 2014); or each "
        "relation's own, where its F1 is best (the paper)",
    )
    eval_tokens: int = BATCH_TOKENS
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> Train:
        if fault := heads_fault(self.width, self.heads):
            raise ValueError(fault)
        if self.vectors and self.pretrained:
            raise ValueError("--pretrained brings its own vectors: leave out --vectors")
        if self.encoder != "transformer" and (self.vectors or self.pretrained):
            raise ValueError("--encoder hf:... brings its own weights: leave out --vectors and --pretrained")
        if self.branches and not self.graph:
            raise ValueError("--branches needs --graph")
        if self.graph and not (self.branches or self.reads_graph_features):
            raise ValueError(
                "--graph brings no knowledge here: give --branches 2, or use its features together with "
                "the pair features of --task relations"
            )
        if self.rerank and not self.pair_features:
            raise ValueError("--rerank needs pair features: with --no-pair-features, give --no-rerank too")
        return self

    @property
    def reads_graph_features(self) -> bool:
        """Whether the features of a pair include the support of the graph's articles."""
        known = self.graph is not None and self.task == "relations"
        return known and self.graph_features and self.pair_features
