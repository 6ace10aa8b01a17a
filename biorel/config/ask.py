"""The options of `biorel ask`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from biorel.config.base import BATCH_TOKENS, DEVICE, FORCE, THREADS, Config
from biorel.config.options import VOTE_HELP


class Ask(Config):
    """Answer a question from many abstracts, with scores for each abstract and the supporting sentences.

    Ask in plain words, or with --relation and --head or --tail. In the second case, templates phrase the question for
    each abstract with the name that it uses. If the question names a concept, only abstracts that mention it are
    searched.
    """

    example = (
        'biorel ask "Which diseases does lithium cause?" --over resources/sample/abstracts.pubtator.txt '
        "--type Disease --out answers.jsonl"
    )

    question: str | None = Field(None, description="question in plain words", json_schema_extra={"argument": True})
    over: tuple[Path, ...] = Field(min_length=1, description="documents to search, or a folder of them")
    model: Path | None = Field(None, description="folder of a reader  [default: the shipped reader]")
    relation: str | None = Field(None, description="ask by template about this relation; needs --head or --tail")
    head: str | None = Field(None, description="concept id; asks for the tails of its relations")
    tail: str | None = Field(None, description="concept id; asks for the heads of its relations")
    type: str = Field("", description="entity type of the answers, such as Disease  [default: any text span]")
    templates: tuple[Path, ...] = Field(
        (), description="TOML files of question templates; they take precedence over the shipped ones"
    )
    vote: Literal["smoothed", "squares", "sum", "max"] = Field("smoothed", description=VOTE_HELP)
    min_score: float | None = Field(
        None, ge=0, le=1, description="lowest score of an answer span  [default: the model's threshold]"
    )
    top: int = Field(20, ge=1, description="number of answers to return")
    spans: int = Field(5, ge=1, description="most answer spans taken from one document")
    tagger: Literal["spacy", "dictionary", "none"] = Field(
        "spacy", description="tagger for documents without entities; their entities are linked too"
    )
    tagger_model: str | None = Field(
        None, description="spaCy or scispaCy model, by name or folder  [default: the shipped tagger]"
    )
    linker: Path | None = Field(None, description="folder written by build-linker  [default: the shipped linker]")
    n_process: int = Field(1, ge=1, description="number of tagging processes")
    out: Path | None = Field(
        None, description="JSON Lines file to write, one answer a line  [default: only print a table]"
    )
    force: bool = FORCE
    skip_bad: bool = Field(False, description="exit with status 0 even if some records cannot be read")
    batch_tokens: int = BATCH_TOKENS
    device: str = DEVICE
    threads: int = THREADS

    @model_validator(mode="after")
    def _check(self) -> Ask:
        by_template = [self.relation, self.head, self.tail]
        if (self.question is None) == (self.relation is None):
            raise ValueError("give either a question in plain words, or --relation with --head or --tail")
        if self.question is not None and any(by_template):
            raise ValueError("--head and --tail go with --relation, not with a question in plain words")
        if self.relation is not None and (self.head is None) == (self.tail is None):
            raise ValueError("--relation needs either --head or --tail")
        if self.question is not None and not self.question.strip():
            raise ValueError("the question is empty")
        return self
