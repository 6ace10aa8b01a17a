"""Questions and documents as a reader sees them: token ids, features, and where the answers are, in windows.

A text of more tokens than the window is cut into overlapping ones, which are read apart and answer together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from tokenizers import Tokenizer

from biorel.model.windows import plan_windows
from biorel.qa.features import ALONE, FEATURES, DocumentFrequencies, word_features
from biorel.qa.similarity import Floats
from biorel.records import Question
from biorel.text.alignment import Word, token_span, words
from biorel.text.tokenizer import encode

_TEXTS_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Passage:
    """One window of a document beside one question.

    Attributes:
        question: place of the question among those given.
        question_ids: [Q] token ids.
        token_ids, starts, ends: [T] token ids and their characters in the document.
        features: [T, 8], those of the token's word.
        answers: (first token, last token) of each answer that lies within the window, both inclusive.
    """

    question: int
    question_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    features: Floats
    answers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text in tokens and words."""

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    words: tuple[Word, ...]
    word_of: tuple[int, ...]


class PassageWindower:
    """Makes passages with one tokenizer; of the last texts the tokens are kept, as a document has many questions."""

    def __init__(self, tokenizer: Tokenizer, window: int) -> None:
        self._tokenizer = tokenizer
        self._window = window
        self._text = lru_cache(_TEXTS_KEPT)(self._cut)

    def known_words(self, question: str) -> int:
        """Tokens of a question that the vocabulary holds."""
        unknown = self._tokenizer.token_to_id("[UNK]")
        return sum(id_ != unknown for id_ in self._text(question).ids)

    def passages(self, number: int, question: Question, text: str, company: DocumentFrequencies) -> Iterator[Passage]:
        """Yield the windows of a document for one question, at least one; none where the text has no token.

        Args:
            number: what the passages call the question.
        """
        asked, read = self._text(question.text), self._text(text)
        if not read.ids or not asked.ids:
            return
        by_word = word_features(asked.words, read.words, company)
        features = by_word[list(read.word_of)] if len(by_word) else np.zeros((len(read.ids), FEATURES), np.float32)
        spans = [token_span(read.starts, read.ends, answer.start, answer.end) for answer in question.answers]
        found = sorted({(first, last - 1) for first, last in filter(None, spans)})
        for window in plan_windows(len(read.ids), self._window):
            part = slice(window.start, window.end)
            yield Passage(
                question=number,
                question_ids=asked.ids,
                token_ids=read.ids[part],
                starts=read.starts[part],
                ends=read.ends[part],
                features=features[part],
                answers=tuple(
                    (first - window.start, last - window.start)
                    for first, last in found
                    if window.start <= first and last < window.end
                ),
            )

    def _cut(self, text: str) -> _Text:
        encoding = encode(self._tokenizer, text)
        found = words(text)
        begins = [word.start for word in found]
        starts = tuple(start for start, _ in encoding.offsets)
        word_of = tuple(max(0, bisect_right(begins, start) - 1) for start in starts)
        return _Text(tuple(encoding.ids), starts, tuple(end for _, end in encoding.offsets), found, word_of)


def all_passages(
    questions: Sequence[Question],
    texts: Mapping[str, str],
    companies: Mapping[str, DocumentFrequencies],
    cutter: PassageWindower,
) -> list[Passage]:
    """The passages of all questions.

    Args:
        texts: by document id.
        companies: of the documents that mention a concept, by its id; a question about another has its document alone.
    """
    return [
        passage
        for number, question in enumerate(questions)
        for passage in cutter.passages(
            number, question, texts[question.doc_id], companies.get(question.entity_id, ALONE)
        )
    ]
