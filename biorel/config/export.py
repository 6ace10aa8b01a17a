"""The options of `biorel export`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from biorel.config.base import FORCE, Config
from biorel.config.options import output_format


class Export(Config):
    """Export a model folder to ONNX, or convert a file of relations to another format."""

    example = "biorel export --relations relations.jsonl --out relations.tsv"

    model: Path | None = Field(None, description="model folder to export as ONNX")
    relations: Path | None = Field(None, description="relations to convert, in JSONL or Parquet as written by extract")
    documents: tuple[Path, ...] = Field(
        (), description="the source documents, for formats that include the text (pubtator, bioc)"
    )
    format: str = output_format("onnx")
    out: Path = Field(description="file to write; for ONNX a folder")
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> Export:
        if (self.model is None) == (self.relations is None):
            raise ValueError("give either --model or --relations")
        return self
