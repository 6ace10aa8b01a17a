"""The dictionary tagger finds every name of a lexicon in one pass over the text (Aho-Corasick).

A match begins and ends at a word border. Of overlapping matches the longest is kept. Case is ignored, except for very
short names and for short names in capitals (`ACE`, `As`), which must match exactly.
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
from biorel.ner.spans import Span, is_bordered, without_overlaps
from biorel.ner.taggers import TaggerOptions
from biorel.records import Document, Mention

SHORTEST = 2
_EXACT_UP_TO = 3
_CAPITALS_UP_TO = 6
_PARQUET_MAGIC = b"PAR1"


class DictionaryTagger:
    """Matches the names of a lexicon. A name with several types gets the first type in alphabetical order."""

    def __init__(self, lexicon: Iterable[tuple[str, str]], counts: Counts) -> None:
        """Build the automaton.

        Args:
            lexicon: (name, type) pairs; blanks around a name are ignored.
            counts: receives the numbers of names used, and of names left out as too short or without a letter.

        Raises:
            InputError: none of the names can be used.
        """
        names: dict[str, set[tuple[str, str]]] = {}
        for raw, type_ in lexicon:
            name = raw.strip()
            if len(name) < SHORTEST or not any(character.isalpha() for character in name):
                counts.add(Reason.LEXICON_NAME_TOO_SHORT, name)
                continue
            counts.add(Reason.LEXICON_NAMES_KEPT)
            names.setdefault(lowered(name), set()).add((name if is_exact(name) else "", type_))
        if not names:
            raise InputError(
                "the lexicon has no usable name",
                "build a lexicon with biorel build-linker, or give a file with lines name<TAB>type",
            )
        self._automaton = ahocorasick.Automaton()
        for key, entries in names.items():
            self._automaton.add_word(key, (len(key), tuple(sorted(entries))))
        self._automaton.make_automaton()

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """Find the mentions of each document. The mentions have no concept ids."""
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
    """Lower the case without a change of length, so that offsets stay valid (`İ` would become two characters)."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def is_exact(name: str) -> bool:
    """Whether a name must match exactly: it has up to three characters, or up to six and no lower-case letter."""
    capitals = len(name) <= _CAPITALS_UP_TO and not any(character.islower() for character in name)
    return len(name) <= _EXACT_UP_TO or capitals


def read_names(path: Path, counts: Counts) -> Iterator[tuple[str, str]]:
    """Yield the (name, type) pairs of a lexicon: a linker's Parquet table, or a text file with lines `name<TAB>type`.

    Raises:
        InputError: the file is missing or damaged, or a line has no type.
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
            raise InputError(
                f"{path}:{number}: the line is not a name, a tab and a type", "for example: naloxone<TAB>Chemical"
            )
        yield fields[0], entity_type(fields[1])


def open_tagger(options: TaggerOptions, counts: Counts) -> DictionaryTagger:
    """Open the tagger for the lexicon in `options`."""
    return DictionaryTagger(read_names(options.lexicon, counts), counts)


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic
