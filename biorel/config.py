"""One frozen model per command. TOML and flags meet here, and all faults are told at once.

A field is a flag: its name is the flag's, its description the help. A value given as a flag wins over the same
value in a `--config` file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from biorel.errors import ConfigError

C = TypeVar("C", bound="Config")

_OUT = Field(description="folder to write; it appears whole or not at all")
_FORCE = Field(False, description="replace the output if it exists")
_DEVICE = Field("auto", description="auto, cpu, cuda or cuda:N", pattern=r"^(auto|cpu|cuda(:\d+)?)$")
_BATCH_TOKENS = Field(16_000, ge=1, description="padded tokens scored at once")


class Config(BaseModel):
    """What all commands share. `example` is a command line that works; --help shows it."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    example: ClassVar[str] = ""


def load(kind: type[C], flags: Mapping[str, Any], file: Path | None = None) -> C:
    """Build a command's configuration from a TOML file and flags.

    Raises:
        ConfigError: naming every fault there is.
    """
    values: dict[str, Any] = {}
    if file is not None:
        try:
            values.update(tomllib.loads(file.read_text(encoding="utf-8")))
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror or error}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file}: not TOML ({error})") from error
    values.update(flags)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults = "; ".join(_fault(fault) for fault in error.errors())
        raise ConfigError(faults, "see --help for what each option takes") from error


def _fault(fault: Any) -> str:
    name = ".".join(str(part) for part in fault["loc"])
    message = str(fault["msg"]).removeprefix("Value error, ")
    return f"--{name.replace('_', '-')}: {message}" if name else message


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
    max_tokens: int = Field(500, ge=1, description="leave out documents of more BPE tokens")
    splits: Path | None = Field(None, description="rows of: document id, tab, train|dev|test")
    dev_share: float = Field(0.1, ge=0, lt=1, description="share of dev in a split by hash")
    test_share: float = Field(0.1, ge=0, lt=1, description="share of test in a split by hash")
    exclude_pmids: tuple[Path, ...] = Field((), description="document ids, one a line, to keep out of training")
    keep_empty: bool = Field(
        False, description="keep documents without a positive (always kept with --train/--dev/--test)"
    )
    merges: Path | None = Field(None, description="BPE merges in subword-nmt's format, instead of learning them")
    tokenizer: Path | None = Field(None, description="a tokenizer.json to use as it is")
    vocabulary: int = Field(2500, ge=50, description="budget of the learned BPE vocabulary")
    strict: bool = Field(False, description="a malformed row is an error, not a count")
    out: Path = _OUT
    force: bool = _FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildDataset:
        sets = [*self.train, *self.dev, *self.test]
        if not sets and not self.documents and self.chemprot is None:
            raise ValueError("no documents: give --train/--dev/--test, --documents or --chemprot")
        if sets and (self.documents or self.chemprot or self.splits):
            raise ValueError("--train/--dev/--test are splits already: leave out --documents, --chemprot and --splits")
        if self.hypernyms != "off" and not self.mesh:
            raise ValueError(f"--hypernyms {self.hypernyms} needs --mesh; without MeSH say --hypernyms off")
        if self.merges and self.tokenizer:
            raise ValueError("--merges and --tokenizer exclude each other")
        if self.dev_share + self.test_share >= 1:
            raise ValueError("--dev-share and --test-share leave nothing for training")
        return self


class Train(Config):
    """Train BRAN on a dataset; a killed run goes on from its last checkpoint when the same command is given again."""

    example = "biorel train --dataset runs/sample-dataset --out runs/sample-model --epochs 2 --seed 1"

    dataset: Path = Field(description="folder that build-dataset wrote")
    resplit_dev: int = Field(
        0, ge=0, description="join train and dev and draw this many dev documents anew by seed (the paper: 150 of CDR)"
    )
    vectors: Path | None = Field(None, description="pre-trained sub-word vectors, word2vec text, plain or gzip")
    seed: int = Field(1, ge=0, description="seed of initial weights, splits, order and dropout")
    device: str = _DEVICE
    threads: int = Field(0, ge=0, description="CPU threads; 0 leaves torch's choice")

    width: int = Field(64, ge=4, description="D, the width of a token")
    blocks: int = Field(2, ge=0, description="Transformer blocks")
    heads: int = Field(4, ge=0, description="attention heads; 0 leaves attention out ('CNN only')")
    kernels: tuple[int, ...] = Field((1, 5, 1), description="widths of the convolutions of a block")
    expansion: int = Field(4, ge=1, description="channels inside the convolutions, times D")
    positions: int = Field(1000, ge=1, description="learned positions; longer texts are read in windows")
    units: Literal["mentions", "tokens"] = Field(
        "mentions", description="what the bi-affine scores: averaged mentions, or every mention token as in the paper"
    )
    pair_features: bool = Field(True, description="add scores from hand-made features of a pair")
    word_dropout: float = Field(0.15, ge=0, lt=1, description="probability that a token becomes UNK")
    input_dropout: float = Field(0.3, ge=0, lt=1, description="dropout on the embedded tokens")
    inner_dropout: float = Field(0.1, ge=0, lt=1, description="dropout inside the blocks")
    final_dropout: float = Field(0.5, ge=0, lt=1, description="dropout on the head and tail projections")

    epochs: int = Field(24, ge=1, description="passes over the training documents")
    patience: int = Field(0, ge=0, description="stop after this many epochs without a better dev F1; 0: never")
    sampling: Literal["documents", "paper"] = Field(
        "documents", description="all pairs of a batch of documents, or the paper's pair minibatches by a coin"
    )
    token_budget: int = Field(3200, ge=1, description="padded tokens of a batch of documents")
    pairs_per_step: int = Field(32, ge=1, description="paper sampling: pairs of a minibatch")
    steps_per_epoch: int = Field(100, ge=1, description="paper sampling: minibatches that make an epoch")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    warmup: int = Field(100, ge=0, description="steps of linear warm-up")
    final_rate: float = Field(
        0.05, ge=0, le=1, description="share of the peak that the cosine schedule ends at; 1: constant"
    )
    beta1: float = Field(0.9, ge=0, lt=1, description="Adam's first decay")
    beta2: float = Field(0.999, ge=0, lt=1, description="Adam's second decay")
    epsilon: float = Field(1e-8, gt=0, description="Adam's epsilon")
    weight_decay: float = Field(0.0, ge=0, description="decoupled weight decay")
    clip: float = Field(10.0, gt=0, description="gradient norm is clipped to this")
    gradient_noise: float = Field(0.0, ge=0, description="eta of the annealed Gaussian noise on gradients")
    ema: float = Field(0.998, ge=0, lt=1, description="decay of the running average of the weights")
    positive_weight: float = Field(1.0, gt=0, description="weight of pairs that hold a relation")
    ner_weight: float = Field(1.0, ge=0, description="lambda of the entity-type loss; 0 is 'no NER'")
    eval_tokens: int = _BATCH_TOKENS
    out: Path = _OUT
    force: bool = _FORCE

    @model_validator(mode="after")
    def _check(self) -> Train:
        if self.heads and self.width % self.heads:
            raise ValueError(f"--width {self.width} is not a multiple of --heads {self.heads}")
        return self


class Evaluate(Config):
    """Score a model on one split of a dataset, or predictions against a gold corpus: metrics, tables, curves.

    Predictions are relations (JSONL or Parquet, as extract writes them), or documents with mentions (PubTator, BioC,
    JSONL) or mentions.parquet, which are scored by span, by overlap and by the concepts of each document.
    """

    example = (
        "biorel evaluate --model runs/sample-model --dataset runs/sample-dataset --split test --out runs/sample-eval"
    )

    model: Path | None = Field(None, description="model folder")
    dataset: Path | None = Field(None, description="folder that build-dataset wrote")
    split: Literal["train", "dev", "test"] = Field("test", description="the split to score")
    predictions: Path | None = Field(None, description="predicted relations or mentions, in place of a model")
    gold: tuple[Path, ...] = Field((), description="the documents with gold mentions and relation rows")
    mesh: tuple[Path, ...] = Field(
        (), description="MeSH files: tell beside the figure that with predicted hypernyms of a gold tail left out"
    )
    relation_schema: str = Field(
        "cdr", alias="schema", description="which words of --gold mean which label of --predictions"
    )
    device: str = _DEVICE
    batch_tokens: int = _BATCH_TOKENS
    plots: bool = Field(True, description="draw the curves as PNG")
    out: Path = _OUT
    force: bool = _FORCE

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
        if any(of_model) and self.mesh:
            raise ValueError("--mesh is for --predictions; a dataset was filtered when it was built")
        return self


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
    out: Path = _OUT
    force: bool = _FORCE

    @model_validator(mode="after")
    def _check(self) -> BuildLinker:
        if not (self.mesh or self.ctd or self.documents):
            raise ValueError("no names: give --documents, --mesh or --ctd")
        return self


class Extract(Config):
    """Extract relations from abstracts: JSONL, PubTator or BioC in, a relations table out.

    Entities that a record brings are taken as they are; a record without any is tagged and linked first.
    """

    example = "biorel extract resources/sample/abstracts.jsonl --out relations.jsonl"

    input: Path = Field(
        description="documents: .jsonl, PubTator text, BioC .xml or .json", json_schema_extra={"argument": True}
    )
    model: Path | None = Field(None, description="model folder  [default: the shipped CDR model]")
    out: Path | None = Field(None, description="file to write  [default: NAME.relations.jsonl in the current folder]")
    format: Literal["auto", "jsonl", "parquet", "tsv", "pubtator", "bioc"] = Field(
        "auto", description="format of the output; auto tells it by the suffix"
    )
    status: Path | None = Field(
        None, description="one row per input document  [default: beside --out, NAME.status.jsonl]"
    )
    tagger: Literal["spacy", "bran", "dictionary", "none"] = Field(
        "spacy", description="what finds the entities of a record that brings none"
    )
    tagger_model: str | None = Field(
        None, description="spaCy or scispaCy model by name or folder  [default: the shipped tagger]"
    )
    linker: Path | None = Field(None, description="folder that build-linker wrote  [default: the shipped linker]")
    n_process: int = Field(1, ge=1, description="processes that tag")
    min_score: float | None = Field(
        None, ge=0, le=1, description="keep relations from this score, not the model's thresholds"
    )
    all_scores: bool = Field(False, description="write every candidate pair and relation with its score")
    max_evidence: int = Field(5, ge=1, description="mention pairs told per relation, by weight")
    batch_tokens: int = _BATCH_TOKENS
    device: str = _DEVICE
    threads: int = Field(0, ge=0, description="CPU threads; 0 leaves torch's choice")
    skip_bad: bool = Field(
        False, description="exit 0 although some records are bad; they are in the status file either way"
    )


class Export(Config):
    """Export a model folder to ONNX, or a relations file to another format."""

    example = "biorel export --relations relations.jsonl --out relations.tsv"

    model: Path | None = Field(None, description="model folder to export to ONNX")
    relations: Path | None = Field(None, description="relations in JSONL or Parquet, as extract writes them")
    documents: tuple[Path, ...] = Field(
        (), description="the documents, for formats that hold the text (pubtator, bioc)"
    )
    format: Literal["auto", "onnx", "jsonl", "parquet", "tsv", "pubtator", "bioc"] = Field(
        "auto", description="format of the output; auto tells it by the suffix"
    )
    out: Path = Field(description="file to write (ONNX: a folder)")
    force: bool = _FORCE

    @model_validator(mode="after")
    def _check(self) -> Export:
        if (self.model is None) == (self.relations is None):
            raise ValueError("give either --model or --relations")
        return self


class Run(Config):
    """Run a whole pipeline; a stage whose inputs and parameters did not change is skipped."""

    example = "biorel run pipelines/sample.toml --data resources/sample --out runs/sample"

    pipeline: Path = Field(description="pipeline TOML", json_schema_extra={"argument": True})
    data: Path | None = Field(None, description="folder that {data} stands for in the pipeline")
    out: Path = Field(description="folder of all stages")
    seed: int | None = Field(None, ge=0, description="seed for every stage that takes one")
    device: str | None = Field(None, description="device for every stage that takes one")
    set: tuple[str, ...] = Field((), description="STAGE.FIELD=VALUE, over the pipeline's own (repeatable)")
    dry_run: bool = Field(False, description="say what would run and why")


_URL = Field(None, description="base address of the service  [default: as in resources/services.toml]")
_INCOMPLETE = Field(False, description="accept batches that failed; their PMIDs are listed as missing")
_LOCAL = Field(None, alias="from", description="copy and verify local files of this folder instead of downloading")


class FetchPubmed(Config):
    """Fetch articles from PubMed: documents.parquet, their years, and a list of what is missing.

    A killed fetch goes on when the same command is given again. With a key in NCBI_API_KEY it is three times as fast.
    """

    example = "biorel fetch pubmed --query 'lithium AND tremor' --max 500 --email you@example.org --out data/abstracts"

    pmids: tuple[Path, ...] = Field((), description="files with one PMID a line")
    query: str | None = Field(None, min_length=1, description="a query in PubMed's language")
    ctd: Path | None = Field(None, description="folder of CTD files: the articles of its curated rows")
    baseline: tuple[Path, ...] = Field(
        (),
        description="read local baseline and update files (folders or files), of all PMIDs or those of --pmids/--ctd",
    )
    max: int | None = Field(None, ge=1, description="at most this many articles")
    email: str | None = Field(None, pattern=r"^\S+@\S+$", description="your address, which NCBI asks for")
    tool: str = Field("biorel", min_length=1, pattern=r"^\S+$", description="what NCBI is told that asks")
    url: str | None = _URL
    incomplete: bool = _INCOMPLETE
    out: Path = _OUT
    force: bool = _FORCE

    @model_validator(mode="after")
    def _check(self) -> FetchPubmed:
        given = [bool(self.pmids), self.query is not None, self.ctd is not None]
        if sum(given) > 1 or not (any(given) or self.baseline):
            raise ValueError("give one of --pmids, --query, --ctd and --baseline")
        if self.baseline and self.query:
            raise ValueError("--query asks the service; with --baseline give --pmids or --ctd, or none")
        return self


class FetchCtd(Config):
    """Fetch CTD's bulk files, or verify and copy them from a local folder (--from)."""

    example = "biorel fetch ctd --from resources/sample/ctd --out data/ctd"

    file: tuple[str, ...] = Field(
        (), description="a file by its name, such as CTD_genes_diseases  [default: all but the inferred ones]"
    )
    source: Path | None = _LOCAL
    url: str | None = _URL
    out: Path = _OUT
    force: bool = _FORCE


class FetchMesh(Config):
    """Fetch MeSH's descriptors, supplementary concepts and tree, or verify and copy local files (--from)."""

    example = "biorel fetch mesh --from resources/sample/mesh.tsv --out data/mesh"

    year: int | None = Field(None, ge=2000, le=2100, description="year of the MeSH edition  [default: this year]")
    source: Path | None = _LOCAL
    url: str | None = _URL
    out: Path = _OUT
    force: bool = _FORCE


class FetchPubtator(Config):
    """Fetch annotated abstracts from PubTator3, or out of its bulk dump (--dump)."""

    example = "biorel fetch pubtator --pmids pmids.txt --out data/pubtator"

    pmids: tuple[Path, ...] = Field(min_length=1, description="files with one PMID a line")
    format: Literal["biocjson", "pubtator"] = Field("biocjson", description="format that the service is asked for")
    dump: Path | None = Field(None, description="bioconcepts2pubtator_offsets(.gz): take the documents out of it")
    url: str | None = _URL
    incomplete: bool = _INCOMPLETE
    out: Path = _OUT
    force: bool = _FORCE


class FetchCorpus(Config):
    """Fetch a gold corpus from where its authors publish it, or verify and unpack a local copy (--from)."""

    example = "biorel fetch corpus cdr --out data/cdr"

    name: Literal["cdr", "chemprot", "drugprot", "biored", "chemdisgene"] = Field(
        description="cdr, chemprot, drugprot, biored or chemdisgene", json_schema_extra={"argument": True}
    )
    source: Path | None = _LOCAL
    url: str | None = Field(None, description="a mirror that holds the files by their names")
    out: Path = _OUT
    force: bool = _FORCE
