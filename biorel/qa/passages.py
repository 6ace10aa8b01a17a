"""Documents as a reader receives them with a question: token windows with features and answer positions.

A document longer than the reader's window becomes several overlapping passages. They are read separately, and their
answers are merged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from tokenizers import Tokenizer

from biorel.model.windows import plan_windows
from biorel.qa.features import FEATURES, SINGLE_PASSAGE, DocumentFrequencies, Floats, word_features
from biorel.records import Question
from biorel.text.alignment import Word, token_span, words
from biorel.text.tokenizer import encode

_CACHED_TEXTS = 1024


@dataclass(frozen=True, slots=True)
class Passage:
    """One window of a document, with one question.

    Attributes:
        question: index of the question.
        question_ids: [Q] token ids.
        token_ids, starts, ends: [T] token ids and their character offsets in the document.
        features: [T, 8] features of the word that each token belongs to.
        answers: (first token, last token), both inclusive, of each answer that lies within the window.
    """

    question: int
    question_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    features: Floats
    answers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _TokenizedText:
    """The tokens and words of a text, and the index of each token's word."""

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    words: tuple[Word, ...]
    word_of: tuple[int, ...]


class PassageWindower:
    """Makes passages with one tokenizer. Recent texts are cached, since a document is asked many questions."""

    def __init__(self, tokenizer: Tokenizer, window: int) -> None:
        self._tokenizer = tokenizer
        self._window = window
        self._tokenized = lru_cache(_CACHED_TEXTS)(self._tokenize)

    def known_tokens(self, text: str) -> int:
        """The number of tokens of a text that are in the vocabulary."""
        unknown = self._tokenizer.token_to_id("[UNK]")
        return sum(id_ != unknown for id_ in self._tokenized(text).ids)

    def passages(
        self, number: int, question: Question, text: str, document_frequencies: DocumentFrequencies
    ) -> Iterator[Passage]:
        """Yield the windows of a document for one question; none if the document or the question has no token.

        Args:
            number: index of the question, for `Passage.question`.
        """
        asked, document = self._tokenized(question.text), self._tokenized(text)
        if not document.ids or not asked.ids:
            return
        by_word = word_features(asked.words, document.words, document_frequencies)
        if len(by_word):
            features = by_word[list(document.word_of)]
        else:
            features = np.zeros((len(document.ids), FEATURES), np.float32)
        spans = [token_span(document.starts, document.ends, answer.start, answer.end) for answer in question.answers]
        answers = sorted({(first, last - 1) for first, last in filter(None, spans)})
        for window in plan_windows(len(document.ids), self._window):
            inside = slice(window.start, window.end)
            yield Passage(
                question=number,
                question_ids=asked.ids,
                token_ids=document.ids[inside],
                starts=document.starts[inside],
                ends=document.ends[inside],
                features=features[inside],
                answers=tuple(
                    (first - window.start, last - window.start)
                    for first, last in answers
                    if window.start <= first and last < window.end
                ),
            )

    def _tokenize(self, text: str) -> _TokenizedText:
        encoding = encode(self._tokenizer, text)
        text_words = words(text)
        word_starts = [word.start for word in text_words]
        starts = tuple(start for start, _ in encoding.offsets)
        word_of = tuple(max(0, bisect_right(word_starts, start) - 1) for start in starts)
        return _TokenizedText(
            tuple(encoding.ids), starts, tuple(end for _, end in encoding.offsets), text_words, word_of
        )


def build_passages(
    questions: Sequence[Question],
    texts: Mapping[str, str],
    document_frequencies: Mapping[str, DocumentFrequencies],
    windower: PassageWindower,
) -> list[Passage]:
    """The passages of all questions.

    Args:
        texts: document texts by document id.
        document_frequencies: by concept id, over the documents that mention the concept. A question about any other
            concept has its own document as its only passage.
    """
    return [
        passage
        for number, question in enumerate(questions)
        for passage in windower.passages(
            number, question, texts[question.doc_id], document_frequencies.get(question.entity_id, SINGLE_PASSAGE)
        )
    ]
