"""The dictionary tagger: every name of a lexicon, found in one pass over the text by Aho-Corasick.

A match must begin and end at a word's border; of overlapping ones the longest is kept. Names are found in any case,
except short ones and short ones in capitals (`ACE`, `As`), which must stand in the text as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import ahocorasick

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_lines
from biorel.formats.identifiers import entity_type
from biorel.linking.lexicon import read_lexicon
from biorel.ner.overlaps import Span, without_overlaps
from biorel.records import Document, Mention

SHORTEST = 2
_EXACT_UP_TO = 3
_CAPITALS_UP_TO = 6
_PARQUET_MAGIC = b"PAR1"


class DictionaryTagger:
    """A matcher over (name, type) pairs; a name of two types gives the type that comes first in the alphabet."""

    def __init__(self, lexicon: Iterable[tuple[str, str]], counts: Counts) -> None:
        """Build the automaton.

        Args:
            lexicon: names and their types; blanks around a name do not count.
            counts: books the names, and those too short to be told from words.

        Raises:
            InputError: no name is left.
        """
        names: dict[str, set[tuple[str, str]]] = {}
        for raw, type_ in lexicon:
            name = raw.strip()
            if len(name) < SHORTEST or not any(character.isalpha() for character in name):
                counts.add(Reason.LEXICON_NAME_DROPPED_TOO_SHORT_OR_WITHOUT_LETTER, name)
                continue
            counts.add(Reason.LEXICON_NAMES)
            names.setdefault(lowered(name), set()).add((name if is_exact(name) else "", type_))
        if not names:
            raise InputError(
                "the lexicon holds no name", "build one with biorel build-linker, or give name<TAB>type rows"
            )
        self._automaton = ahocorasick.Automaton()
        for key, entries in names.items():
            self._automaton.add_word(key, (len(key), tuple(sorted(entries))))
        self._automaton.make_automaton()

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """The mentions of each document, without concept ids."""
        return [self._mentions(document) for document in documents]

    def _mentions(self, document: Document) -> tuple[Mention, ...]:
        text = document.text
        return tuple(
            Mention(document.doc_id, start, end, text[start:end], type_, None)
            for start, end, type_ in without_overlaps(self._matches(text))
        )

    def _matches(self, text: str) -> Iterator[Span]:
        for last, (length, entries) in self._automaton.iter(lowered(text)):
            start, end = last + 1 - length, last + 1
            if is_bordered(text, start, end):
                for exact, type_ in entries:
                    if not exact or exact == text[start:end]:
                        yield start, end, type_


def lowered(text: str) -> str:
    """Lower case, character by character, so that offsets stay (the lower case of `İ` is two characters)."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def is_exact(name: str) -> bool:
    """Whether case matters for a name: up to three signs, or up to six without a small letter."""
    capitals = len(name) <= _CAPITALS_UP_TO and not any(character.islower() for character in name)
    return len(name) <= _EXACT_UP_TO or capitals


def is_bordered(text: str, start: int, end: int) -> bool:
    """Whether a span neither begins nor ends inside a run of letters and digits."""
    opens = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
    closes = end == len(text) or not (text[end].isalnum() and text[end - 1].isalnum())
    return opens and closes


def read_names(path: Path, counts: Counts) -> Iterator[tuple[str, str]]:
    """The (name, type) pairs of a lexicon: a linker's Parquet table, or a text file with a name, a tab, a type a line.

    Raises:
        InputError: the file is missing or a row is no pair.
    """
    if path.is_file() and _starts_with(path, _PARQUET_MAGIC):
        for entry in read_lexicon(path):
            yield entry.name, entry.type
        return
    for number, line in read_lines(path, counts):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) < 2 or not fields[1].strip():
            raise InputError(f"{path}:{number}: not a name, a tab and a type", "for instance: naloxone<TAB>Chemical")
        yield fields[0], entity_type(fields[1])


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic
