"""Question templates by relation: a TOML list of `[[question]]`, each with relation, side asked for, and texts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal
from zlib import crc32

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from biorel.errors import ConfigError, InputError

PLACE = "{entity}"
TAIL, HEAD = "tail", "head"
SIDES = (TAIL, HEAD)
Templates = Mapping[tuple[str, str], tuple[str, ...]]  # (relation, side asked for) -> texts


class _Question(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    relation: str = Field(min_length=1)
    asks: Literal["tail", "head"]
    texts: tuple[str, ...] = Field(min_length=1)

    @field_validator("texts")
    @classmethod
    def _one_place(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in texts:
            if text.count(PLACE) != 1:
                raise ValueError(f"{text!r} does not hold {PLACE} once")
        return texts


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    question: tuple[_Question, ...] = Field(min_length=1)


def read_templates(paths: Iterable[Path]) -> Templates:
    """The templates of several files; of a relation and side that come twice the later file's.

    Raises:
        InputError: a file cannot be read or is not TOML.
        ConfigError: it is no list of questions.
    """
    templates: dict[tuple[str, str], tuple[str, ...]] = {}
    for path in paths:
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}", "name a TOML file of question templates") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{path}: not TOML ({error})") from error
        try:
            questions = _File.model_validate(content).question
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(str(part) for part in fault["loc"])
            message = str(fault["msg"]).removeprefix("Value error, ")
            raise ConfigError(
                f"{path}: {place}: {message}", "resources/questions/cdr.toml shows what a file of templates looks like"
            ) from error
        templates |= {(question.relation, question.asks): question.texts for question in questions}
    return templates


def ask(templates: Templates, relation: str, asks: str, entity: str, key: str = "") -> str:
    """The question about an entity, by its name; of several texts the one that `key` falls on, always the same.

    Raises:
        ConfigError: there is no template for this relation and side.
    """
    texts = templates.get((relation, asks))
    if texts is None:
        known = sorted({relation for relation, side in templates if side == asks})
        raise ConfigError(
            f"no question asks for the {asks} of {relation!r}",
            f"give --templates with one; there are questions for {', '.join(known) or 'no relation'}",
        )
    return texts[crc32(key.encode()) % len(texts)].replace(PLACE, entity)
