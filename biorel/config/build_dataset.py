"""The options of `biorel build-dataset`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import FORCE, OUT, Config
from biorel.config.options import (
    MERGES,
    MIN_COUNT,
    TOKENIZER,
    TOKENIZER_FILE,
    VOCABULARY,
    Units,
    tokenizer_fault,
)


class BuildDataset(Config):
    """Build a relation dataset: documents, mentions, labelled pairs and encoded examples, as Parquet.

    Either a corpus with its own sets and relation rows (--train, --dev, --test), or documents with entity tags and
    CTD's curations (--documents, --ctd).
    """

    example = (
        "biorel build-dataset --documents resources/sample/abstracts.pubtator.txt --ctd resources/sample/ctd "
        "--mesh resources/sample/mesh.tsv --out runs/sample-dataset"
    )

    train: tuple[Path, ...] = Field((), description="documents with mentions and relation rows, for training")
    dev: tuple[Path, ...] = Field((), description="the same for development")
    test: tuple[Path, ...] = Field((), description="the same for the final figure")
    documents: tuple[Path, ...] = Field((), description="documents with mentions, split by --splits or by hash")
    ctd: Path | None = Field(None, description="folder of CTD bulk files; labels come from there")
    chemprot: Path | None = Field(None, description="folder of ChemProt or DrugProt TSV files, as documents")
    mesh: tuple[Path, ...] = Field((), description="MeSH tree: TSV, mtreesYYYY.bin, descYYYY.xml, suppYYYY.xml")
    relation_schema: str = Field(
        "ctd13", alias="schema", description="ctd13, ctd14, cdr, chemprot, drugprot, derive, or a TOML file of your own"
    )
    min_share: float = Field(0.005, ge=0, le=1, description="derive: drop labels below this share of the positives")
    unlinked: Literal["drop", "merge"] = Field(
        "drop",
        description="mentions without a concept id: left out of pairs, or merged into one entity as the paper did",
    )
    hypernyms: Literal["off", "tail", "both"] = Field(
        "tail", description="drop negatives that a more specific positive explains, by MeSH"
    )
    inferred: Literal["negative", "exclude"] = Field(
        "negative", description="pairs that CTD only inferred for the article: negatives, or held back"
    )
    max_tokens: int = Field(500, ge=1, description="leave out documents of more tokens")
    splits: Path | None = Field(None, description="rows of: document id, tab, train|dev|test")
    dev_share: float = Field(0.1, ge=0, lt=1, description="share of dev in a split by hash")
    test_share: float = Field(0.1, ge=0, lt=1, description="share of test in a split by hash")
    split_sizes: tuple[int, int, int] | None = Field(
        None, description="documents of train, dev and test, drawn by --split-seed: three numbers"
    )
    folds: int | None = Field(None, ge=3, description="cross-validation by document: the number of folds")
    fold: int | None = Field(None, ge=1, description="the fold that is test, from 1; dev is the next one")
    split_seed: int = Field(1, ge=0, description="seed of the draw of --split-sizes or --folds")
    exclude_pmids: tuple[Path, ...] = Field((), description="document ids, one a line, to keep out of training")
    keep_empty: bool = Field(
        False, description="keep documents without a positive (always kept with --train/--dev/--test)"
    )
    merges: Path | None = MERGES
    tokenizer: Units = TOKENIZER
    tokenizer_file: Path | None = TOKENIZER_FILE
    vocabulary: int = VOCABULARY
    min_count: int = MIN_COUNT
    strict: bool = Field(False, description="a malformed row is an error, not a count")
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildDataset:
        sets = [*self.train, *self.dev, *self.test]
        if not sets and not self.documents and self.chemprot is None:
            raise ValueError("no documents: give --train/--dev/--test, --documents or --chemprot")
        if sets and (self.documents or self.chemprot):
            raise ValueError("--train/--dev/--test are splits already: leave out --documents and --chemprot")
        drawn = {"--splits": self.splits, "--split-sizes": self.split_sizes, "--folds": self.folds}
        asked = [flag for flag, value in drawn.items() if value is not None]
        if len(asked) > 1:
            raise ValueError(f"{' and '.join(asked)} exclude each other")
        if sets and asked:
            raise ValueError(f"--train/--dev/--test are splits already: leave out {asked[0]}")
        if self.split_sizes is not None and (min(self.split_sizes) < 0 or not self.split_sizes[0]):
            raise ValueError("--split-sizes: train holds one document at least, dev and test none or more")
        if (self.folds is None) != (self.fold is None):
            raise ValueError("--folds and --fold go together")
        if self.folds is not None and self.fold is not None and self.fold > self.folds:
            raise ValueError(f"--fold {self.fold} of --folds {self.folds}: folds are 1 to {self.folds}")
        if self.hypernyms != "off" and not self.mesh:
            raise ValueError(f"--hypernyms {self.hypernyms} needs --mesh; without MeSH say --hypernyms off")
        if fault := tokenizer_fault(self.tokenizer, self.merges, self.tokenizer_file):
            raise ValueError(fault)
        if self.dev_share + self.test_share >= 1:
            raise ValueError("--dev-share and --test-share leave nothing for training")
        return self
