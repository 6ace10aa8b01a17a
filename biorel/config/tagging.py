"""What tag, train-tagger and build-linker take."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import DEVICE, FORCE, OUT, Config


class BuildLinker(Config):
    """Build a linker: names of concepts from annotated documents, MeSH and CTD, with thresholds tuned on --dev."""

    example = (
        "biorel build-linker --documents resources/sample/abstracts.pubtator.txt --mesh resources/sample/mesh.tsv "
        "--out runs/sample-linker"
    )

    mesh: tuple[Path, ...] = Field((), description="MeSH files; descriptor and supplementary XML give synonyms, too")
    ctd: Path | None = Field(
        None, description="folder with CTD_chemicals, CTD_diseases, CTD_genes (those that are there)"
    )
    documents: tuple[Path, ...] = Field((), description="documents with linked mentions, whose names are learned")
    dev: tuple[Path, ...] = Field(
        (), description="documents to tune on  [default: some of --documents, which are learned from afterwards]"
    )
    held_out: float = Field(0.15, gt=0, lt=1, description="without --dev: share of the documents to tune on")
    seed: int = Field(0, ge=0, description="seed of the choice of those documents")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildLinker:
        if not (self.mesh or self.ctd or self.documents):
            raise ValueError("no names: give --documents, --mesh or --ctd")
        return self


class Tag(Config):
    """Tag and link the entities of documents: documents.parquet and mentions.parquet."""

    example = "biorel tag resources/sample/abstracts.jsonl --out runs/sample-tags"

    input: tuple[Path, ...] = Field(
        min_length=1,
        description="documents: .jsonl, PubTator, BioC, documents.parquet",
        json_schema_extra={"argument": True},
    )
    tagger: Literal["spacy", "bran", "dictionary", "imported"] = Field("spacy", description="what finds the entities")
    tagger_model: str | None = Field(
        None,
        description="spaCy or scispaCy model by name or folder, or a BRAN model folder  [default: the shipped one]",
    )
    annotations: tuple[Path, ...] = Field(
        (), description="imported: PubTator, BioC or JSONL files to lay over the documents"
    )
    lexicon: Path | None = Field(
        None, description="dictionary: lexicon.parquet, or rows of name, tab, type  [default: the linker's]"
    )
    linker: Path | None = Field(None, description="folder that build-linker wrote  [default: the shipped linker]")
    link: bool = Field(True, description="give the mentions concept ids")
    consistent: bool = Field(True, description="tag what was tagged once in a document at its other places, too")
    abbreviations: bool = Field(False, description="spacy: add scispaCy's abbreviation detector")
    scispacy_linker: Literal["", "mesh", "umls", "rxnorm", "go", "hpo"] = Field(
        "",
        description="spacy: scispaCy's linker over this knowledge base in place of ours (umls: about 11 GB of memory)",
    )
    n_process: int = Field(1, ge=1, description="spacy: processes that tag")
    device: str = DEVICE
    strict: bool = Field(False, description="a malformed row is an error, not a count")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> Tag:
        if (self.tagger == "imported") != bool(self.annotations):
            raise ValueError("--tagger imported and --annotations go together")
        return self


class TrainTagger(Config):
    """Train a spaCy pipeline that finds entities, on documents with gold mentions; the best epoch on dev is kept."""

    example = (
        "biorel train-tagger --train resources/sample/abstracts.pubtator.txt --held-out 8 --epochs 2 "
        "--out runs/sample-tagger"
    )

    train: tuple[Path, ...] = Field(min_length=1, description="documents with gold mentions")
    dev: tuple[Path, ...] = Field((), description="documents to choose the epoch on")
    held_out: int = Field(150, ge=1, description="without --dev: documents drawn from --train to choose on")
    width: int = Field(96, ge=8, description="width of the convolutions")
    depth: int = Field(6, ge=1, description="layers of convolutions")
    window: int = Field(1, ge=1, description="words to either side that a layer sees")
    rows: int = Field(8000, ge=4, description="rows of the largest embedding tables")
    hidden: int = Field(64, ge=1, description="units of the transition model")
    known_from: int = Field(2, ge=1, description="documents that must share a word for it to be told by itself")
    dropout: float = Field(0.2, ge=0, lt=1, description="probability to drop")
    epochs: int = Field(10, ge=1, description="passes over the training documents")
    batch: int = Field(4, ge=1, description="documents of a step")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    warmup: int = Field(100, ge=0, description="steps of linear warm-up")
    final_rate: float = Field(0.1, ge=0, le=1, description="share of the peak that the cosine schedule ends at")
    seed: int = Field(1, ge=0, description="seed of weights, order and --held-out")
    out: Path = OUT
    force: bool = FORCE
