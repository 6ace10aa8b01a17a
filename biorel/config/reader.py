"""What train-reader, evaluate-reader and ask take."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.aggregation import VOTE_HELP
from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, OUT, THREADS, Config
from biorel.config.encoder import heads_fault


class TrainReader(Config):
    """Train a reader (DGCNN, or a head of MaP over an encoder) on questions; a killed run goes on when given again."""

    example = "biorel train-reader --questions runs/sample-questions --out runs/sample-reader --epochs 2 --seed 1"

    questions: Path = Field(description="folder that build-questions wrote")
    vectors: Path | None = Field(None, description="pre-trained sub-word vectors, word2vec text, plain or gzip")
    freeze_vectors: bool = Field(False, description="leave the token vectors as they are, as the paper does")
    resplit_dev: int = Field(0, ge=0, description="join train and dev and draw this many dev documents anew by seed")
    folds: int = Field(
        1, ge=1, description="train on the folds of train and dev together, each being dev once; their mean answers"
    )
    seed: int = Field(1, ge=0, description="seed of initial weights, folds, order and dropout")
    device: str = DEVICE
    threads: int = THREADS

    head: Literal["labels", "independent", "vector", "matrix", "matrix-both"] = Field(
        "labels", description="DGCNN's 0/1 labels; or MaP's InD, VCP, MaP_F, MaP_E"
    )
    encoder: str = Field(
        "dgcnn",
        pattern=r"^(dgcnn|bran|hf:.+)$",
        description="gated dilated convolutions; `bran`, its blocks; or hf:FOLDER_OR_NAME, a pre-trained BERT that "
        "reads question and passage together (extra `hf`)",
    )
    encoder_rate: float = Field(5e-5, gt=0, description="hf: peak learning rate of its last block")
    layer_decay: float = Field(0.9, gt=0, le=1, description="hf: share of that rate from block to block downwards")
    width: int = Field(64, ge=4, description="D, the width of a token in context")
    embedding: int = Field(64, ge=2, description="width of a token's vector")
    positions: int = Field(64, ge=2, multiple_of=2, description="width of the sinusoidal positions")
    kernel: int = Field(3, ge=1, description="width of the convolutions")
    dilations: tuple[int, ...] = Field(
        (1, 2, 4, 8, 16, 32, 64, 128, 1), description="of the passage's convolutions, one a layer"
    )
    question_dilations: tuple[int, ...] = Field((1, 2), description="of the question's convolutions")
    blocks: int = Field(2, ge=1, description="blocks of --encoder bran")
    heads: int = Field(4, ge=0, description="attention heads of --encoder bran")
    window: int = Field(
        500,
        ge=8,
        description="tokens read at once, hf: at most 3/4 of its positions; longer texts in overlapping windows",
    )
    sample: int = Field(20, ge=1, description="k, the starts and ends that a step of MaP looks at")
    focus: float = Field(2.0, ge=0, description="gamma of the focal loss of --head labels")
    gate_noise: float = Field(0.1, ge=0, lt=1, description="noise on the gates")
    word_dropout: float = Field(0.1, ge=0, lt=1, description="probability that a token's vector is zero")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout before each layer")

    epochs: int = Field(4, ge=1, description="passes over the training questions")
    patience: int = Field(0, ge=0, description="stop after this many epochs without a better dev F1; 0: never")
    token_budget: int = Field(4000, ge=1, description="padded tokens of a batch")
    learning_rate: float = Field(1e-3, gt=0, description="peak learning rate")
    warmup: int = Field(100, ge=0, description="steps of linear warm-up")
    final_rate: float = Field(0.05, ge=0, le=1, description="share of the peak that the cosine schedule ends at")
    weight_decay: float = Field(0.0, ge=0, description="decoupled weight decay")
    clip: float = Field(10.0, gt=0, description="gradient norm is clipped to this")
    ema: float = Field(0.998, ge=0, lt=1, description="decay of the running average of the weights")
    eval_tokens: int = BATCH_TOKENS
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> TrainReader:
        if self.encoder == "bran" and (fault := heads_fault(self.width, self.heads)):
            raise ValueError(fault)
        if not self.dilations or not self.question_dilations:
            raise ValueError("--dilations and --question-dilations hold one number at least")
        if min(*self.dilations, *self.question_dilations) < 1:
            raise ValueError("--dilations are 1 or more")
        if self.resplit_dev and self.folds > 1:
            raise ValueError("--resplit-dev and --folds exclude each other")
        if self.encoder.startswith("hf:") and self.vectors is not None:
            raise ValueError("--encoder hf:... brings its own weights: leave out --vectors")
        if self.freeze_vectors and self.vectors is None:
            raise ValueError("--freeze-vectors needs --vectors")
        return self


class EvaluateReader(Config):
    """Score a reader on one split of questions: exact match, F1, no answer, and the entities that it tells."""

    example = "biorel evaluate-reader --model runs/sample-reader --questions runs/sample-questions --out runs/ask-eval"

    model: Path = Field(description="reader's folder")
    questions: Path = Field(description="folder that build-questions wrote")
    split: Literal["train", "dev", "test"] = Field("test", description="the split to score")
    known: Path | None = Field(
        None,
        description="rows of head id, tab, tail id, and perhaps a tab and PubMed ids joined with |: tell at which rank "
        "the vote over abstracts has a known tail",
    )
    exclude_pmids: tuple[Path, ...] = Field(
        (), description="ids of articles, one a line: a known pair that only these say does not count"
    )
    exclude_splits: tuple[Literal["train", "dev", "test"], ...] = Field(
        (), description="the same for the documents of these splits of --questions, such as those trained on"
    )
    device: str = DEVICE
    threads: int = THREADS
    batch_tokens: int = BATCH_TOKENS
    out: Path = OUT
    force: bool = FORCE

    @model_validator(mode="after")
    def _check(self) -> EvaluateReader:
        if self.known is None and (self.exclude_pmids or self.exclude_splits):
            raise ValueError("--exclude-pmids and --exclude-splits go with --known")
        return self


class Ask(Config):
    """Answer a question from many abstracts: ranked answers with ids, scores by abstract, the vote, and sentences.

    Ask in words, or by --relation with --head or --tail: then each abstract is asked with the name that it uses.
    Either way only abstracts that mention a concept that the question names are asked, where it names one.
    """

    example = (
        'biorel ask "Which diseases does lithium cause?" --over resources/sample/abstracts.pubtator.txt '
        "--type Disease --out answers.jsonl"
    )

    question: str | None = Field(None, description="a question in words", json_schema_extra={"argument": True})
    over: tuple[Path, ...] = Field(min_length=1, description="documents, or a folder of them")
    model: Path | None = Field(None, description="reader's folder  [default: the shipped one]")
    relation: str | None = Field(None, description="ask by template: the relation, with --head or --tail")
    head: str | None = Field(None, description="concept id: asks for the tails of the relation")
    tail: str | None = Field(None, description="concept id: asks for the heads of the relation")
    type: str = Field("", description="entity type of the answers, such as Disease  [default: any span]")
    templates: tuple[Path, ...] = Field((), description="TOML files of question templates, before the shipped ones")
    vote: Literal["smoothed", "squares", "sum", "max"] = Field("smoothed", description=VOTE_HELP)
    min_score: float | None = Field(
        None, ge=0, le=1, description="take spans from this score, not the model's threshold"
    )
    top: int = Field(20, ge=1, description="answers told")
    spans: int = Field(5, ge=1, description="answers taken from one document")
    tagger: Literal["spacy", "dictionary", "none"] = Field(
        "spacy", description="what finds and links the entities of a document that brings none"
    )
    tagger_model: str | None = Field(
        None, description="spaCy or scispaCy model by name or folder  [default: the shipped tagger]"
    )
    linker: Path | None = Field(None, description="folder that build-linker wrote  [default: the shipped linker]")
    n_process: int = Field(1, ge=1, description="processes that tag")
    out: Path | None = Field(None, description="JSON lines to write, an answer a line  [default: a table is printed]")
    skip_bad: bool = Field(False, description="exit 0 although some records are bad")
    batch_tokens: int = BATCH_TOKENS
    device: str = DEVICE
    threads: int = THREADS

    @model_validator(mode="after")
    def _check(self) -> Ask:
        by_template = [self.relation, self.head, self.tail]
        if (self.question is None) == (self.relation is None):
            raise ValueError("give either a question in words, or --relation with --head or --tail")
        if self.question is not None and any(by_template):
            raise ValueError("--head and --tail go with --relation, not with a question in words")
        if self.relation is not None and (self.head is None) == (self.tail is None):
            raise ValueError("--relation needs either --head or --tail")
        if self.question is not None and not self.question.strip():
            raise ValueError("the question is empty")
        return self
