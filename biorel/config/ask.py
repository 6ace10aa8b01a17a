"""The options of `biorel ask`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, THREADS, Config
from biorel.config.options import VOTE_HELP


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
    force: bool = FORCE
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
