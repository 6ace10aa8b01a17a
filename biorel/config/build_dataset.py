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
    TokenizerKind,
    tokenizer_fault,
)


class BuildDataset(Config):
    """Build a relation dataset from a labelled corpus, or from tagged documents and CTD's curations.

    A labelled corpus comes with its own splits and relation rows (--train, --dev, --test). Otherwise CTD's curations
    label the pairs of --documents. The output holds documents, mentions, labelled pairs and encoded examples.
    """

    example = (
        "biorel build-dataset --documents resources/sample/abstracts.pubtator.txt --ctd resources/sample/ctd "
        "--mesh resources/sample/mesh.tsv --out runs/sample-dataset"
    )

    train: tuple[Path, ...] = Field((), description="training documents with mentions and relation rows")
    dev: tuple[Path, ...] = Field((), description="development documents, likewise")
    test: tuple[Path, ...] = Field((), description="test documents, likewise")
    documents: tuple[Path, ...] = Field(
        (), description="documents with mentions; split by --splits, or by a hash of their ids"
    )
    ctd: Path | None = Field(None, description="folder of CTD files, whose curations label the pairs")
    chemprot: Path | None = Field(None, description="folder of ChemProt or DrugProt TSV files to use as documents")
    mesh: tuple[Path, ...] = Field(
        (), description="MeSH file with the hierarchy: TSV, mtreesYYYY.bin, descYYYY.xml or suppYYYY.xml"
    )
    relation_schema: str = Field(
        "ctd13",
        alias="schema",
        description="relation schema: ctd13, ctd14, cdr, chemprot, drugprot, derive, or your own TOML file",
    )
    min_share: float = Field(
        0.005, ge=0, le=1, description="derive: leave out labels with a smaller share of the positive pairs"
    )
    unlinked: Literal["drop", "merge"] = Field(
        "drop",
        description="mentions without a concept id: drop them from the pairs, or merge them into one entity (the "
        "paper)",
    )
    hypernyms: Literal["off", "tail", "both"] = Field(
        "tail", description="exclude negative pairs that a more specific positive pair explains, according to MeSH"
    )
    inferred: Literal["negative", "exclude"] = Field(
        "negative", description="pairs that CTD only inferred for the article: use them as negatives, or exclude them"
    )
    max_tokens: int = Field(500, ge=1, description="exclude documents with more tokens")
    splits: Path | None = Field(None, description="file that assigns documents: id, tab, and train, dev or test")
    dev_share: float = Field(0.1, ge=0, lt=1, description="share of dev documents in a split by hash")
    test_share: float = Field(0.1, ge=0, lt=1, description="share of test documents in a split by hash")
    split_sizes: tuple[int, int, int] | None = Field(
        None, description="number of train, dev and test documents to draw with --split-seed"
    )
    folds: int | None = Field(None, ge=3, description="number of folds of a cross-validation over documents")
    fold: int | None = Field(None, ge=1, description="number of the test fold, from 1; the next fold is dev")
    split_seed: int = Field(1, ge=0, description="seed for --split-sizes and --folds")
    exclude_pmids: tuple[Path, ...] = Field(
        (), description="files of document ids, one a line, to keep out of training"
    )
    keep_empty: bool = Field(
        False, description="keep documents without a positive pair (always on with --train, --dev or --test)"
    )
    merges: Path | None = MERGES
    tokenizer: TokenizerKind = TOKENIZER
    tokenizer_file: Path | None = TOKENIZER_FILE
    vocabulary: int = VOCABULARY
    min_count: int = MIN_COUNT
    strict: bool = Field(False, description="stop at a malformed row instead of counting it")
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
            raise ValueError("--split-sizes: train needs at least one document; dev and test may have none")
        if (self.folds is None) != (self.fold is None):
            raise ValueError("--folds and --fold go together")
        if self.folds is not None and self.fold is not None and self.fold > self.folds:
            raise ValueError(f"--fold {self.fold} of --folds {self.folds}: folds are 1 to {self.folds}")
        if self.hypernyms != "off" and not self.mesh:
            raise ValueError(f"--hypernyms {self.hypernyms} needs --mesh; without MeSH, give --hypernyms off")
        if fault := tokenizer_fault(self.tokenizer, self.merges, self.tokenizer_file):
            raise ValueError(fault)
        if self.dev_share + self.test_share >= 1:
            raise ValueError("--dev-share and --test-share leave nothing for training")
        return self
