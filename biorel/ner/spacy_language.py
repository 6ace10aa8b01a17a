"""The spaCy language `biorel`: our words, and the features by which its taggers know a name.

Importing this file imports spaCy and makes the language known to it, so that `spacy.load` reads a pipeline that
`train-tagger` wrote; import it in the function that needs it.
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
    """spaCy's tokenizer protocol over `split_words`.

    Identity, chunk and hint of a word (see `words.features`) are stored as norm, lemma and tag of the token: places
    of a Doc that take any string and that spaCy's embedding reads.

    Attributes:
        known: the words that are told by themselves; saved with the pipeline.
    """

    def __init__(self, vocab: Vocab, known: Iterable[str] = ()) -> None:
        self.vocab = vocab
        self.known = frozenset(known)

    def __call__(self, text: str) -> Doc:
        split = split_words(text)
        doc = Doc(self.vocab, words=list(split.words), spaces=list(split.spaces))
        if not split.words:
            return doc
        told = features(text, split, self.known)
        add = self.vocab.strings.add
        columns = [[add(value) for value in column] for column in (told.identities, told.chunks, told.hints)]
        return doc.from_array([NORM, LEMMA, TAG], np.array(columns, dtype=np.uint64).T)

    def to_bytes(self, **kwargs: Any) -> bytes:
        """The known words as a JSON list."""
        return json.dumps(sorted(self.known), ensure_ascii=False, indent=0).encode()

    def from_bytes(self, data: bytes, **kwargs: Any) -> WordTokenizer:
        """Take the known words from what `to_bytes` gave."""
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
    """A language without rules: words, affixes of four letters, chunks and glosses."""

    lang = NAME
    Defaults = _Defaults
