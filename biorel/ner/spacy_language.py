"""The spaCy language `biorel`. Its tokenizer splits words finely and adds the features that our taggers use.

Importing this file imports spaCy and registers the language. `spacy.load` needs the language for the pipelines of
`train-tagger`. Import this file only in the functions that use it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.attrs import LEMMA, NORM, PREFIX, SUFFIX, TAG
from spacy.language import BaseDefaults, Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from biorel.ner.words import features, split_words

NAME = "biorel"
_AFFIX = 4


def _prefix(word: str) -> str:
    return word[:_AFFIX].lower()


def _suffix(word: str) -> str:
    return word[-_AFFIX:].lower()


class WordTokenizer:
    """A spaCy tokenizer that uses `split_words`.

    The identity, chunk and hint of a word (see `words.features`) are stored as norm, lemma and tag of the token. These
    attributes accept any string, and spaCy's embedding layers read them.

    Attributes:
        known: the words that keep their identity. They are saved with the pipeline.
    """

    def __init__(self, vocab: Vocab, known: Iterable[str] = ()) -> None:
        self.vocab = vocab
        self.known = frozenset(known)

    def __call__(self, text: str) -> Doc:
        split = split_words(text)
        doc = Doc(self.vocab, words=list(split.words), spaces=list(split.spaces))
        if not split.words:
            return doc
        values = features(text, split, self.known)
        add = self.vocab.strings.add
        columns = [[add(value) for value in column] for column in (values.identities, values.chunks, values.hints)]
        return doc.from_array([NORM, LEMMA, TAG], np.array(columns, dtype=np.uint64).T)

    def to_bytes(self, **kwargs: Any) -> bytes:
        """Return the known words as a JSON list."""
        return json.dumps(sorted(self.known), ensure_ascii=False, indent=0).encode()

    def from_bytes(self, data: bytes, **kwargs: Any) -> WordTokenizer:
        """Restore the known words from the result of `to_bytes`."""
        self.known = frozenset(json.loads(data))
        return self

    def to_disk(self, path: str | Path, **kwargs: Any) -> None:
        """Write the known words to a file."""
        Path(path).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, **kwargs: Any) -> WordTokenizer:
        """Read the known words from a file."""
        return self.from_bytes(Path(path).read_bytes())


@spacy.registry.tokenizers("biorel.words.v1")
def _words_tokenizer() -> Any:
    return lambda nlp: WordTokenizer(nlp.vocab)


class _Defaults(BaseDefaults):
    config = {"nlp": {"tokenizer": {"@tokenizers": "biorel.words.v1"}}}  # noqa: RUF012 - spaCy reads it so
    lex_attr_getters = {**BaseDefaults.lex_attr_getters, PREFIX: _prefix, SUFFIX: _suffix}  # noqa: RUF012


@spacy.registry.languages(NAME)
class BiorelLanguage(Language):
    """A spaCy language without rules. It uses `WordTokenizer`, and prefixes and suffixes of four letters."""

    lang = NAME
    Defaults = _Defaults
