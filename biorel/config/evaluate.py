"""The options of `biorel evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, OUT, Config
from biorel.config.options import GRAPH


class Evaluate(Config):
    """Score a model on one split of a dataset, or predictions against a gold corpus.

    Predictions are relations (JSONL or Parquet, as written by extract), or mentions (PubTator, BioC, JSONL or
    mentions.parquet). Mentions are scored by exact span, by overlap, and by the concepts of each document.
    """

    example = (
        "biorel evaluate --model runs/sample-model --dataset runs/sample-dataset --split test --out runs/sample-eval"
    )

    model: Path | None = Field(None, description="model folder")
    dataset: Path | None = Field(None, description="folder written by build-dataset")
    split: Literal["train", "dev", "test"] = Field("test", description="split to score")
    predictions: Path | None = Field(None, description="file of predicted relations or mentions, instead of a model")
    gold: tuple[Path, ...] = Field((), description="documents with gold mentions and relation rows")
    mesh: tuple[Path, ...] = Field(
        (), description="MeSH files; adds scores that ignore predicted hypernyms of a gold tail"
    )
    relation_schema: str = Field(
        "cdr",
        alias="schema",
        description="schema that maps the relation words of --gold to the labels of --predictions",
    )
    graph: Path | None = GRAPH
    device: str = DEVICE
    batch_tokens: int = BATCH_TOKENS
    plots: bool = Field(True, description="draw the curves as PNG files")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> Evaluate:
        of_model = [self.model is not None, self.dataset is not None]
        of_file = [self.predictions is not None, bool(self.gold)]
        if any(of_model) == any(of_file):
            raise ValueError("give either --model and --dataset, or --predictions and --gold")
        if any(of_model) and not all(of_model):
            raise ValueError("--model and --dataset go together")
        if any(of_file) and not all(of_file):
            raise ValueError("--predictions and --gold go together")
        if any(of_file) and self.graph:
            raise ValueError("--graph goes with --model; predictions are scored without a graph")
        if any(of_model) and self.mesh:
            raise ValueError(
                "--mesh works only with --predictions; the hypernym filter is applied to a dataset when it is built"
            )
        return self
