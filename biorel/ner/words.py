"""Split text into words for the spaCy tagger, so finely that entities begin and end at word borders.

Letters and digits are separated, and every other character except blanks is a separate word. None of the 28,785
mentions of CDR begins or ends inside a word; with scispaCy's tokenizer, a tenth of the mentions do. Because names such
as `5-HT` are split (into three words), the features of a word also describe the chunk around the word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

# letters; digits; a single other character; blanks
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_|\s+")
_CHUNK = re.compile(r"\S+")
_CHUNK_EDGES = ".,;:!?()[]\"'"
_GLOSS_SUFFIX = 4
_UNKNOWN = "?"
_CHUNK_SUFFIX = 5
_MOST_COUNTED = 3
_LONGEST_SHORT_FORM = 10


@dataclass(frozen=True, slots=True)
class Words:
    """The N words of a text. Blanks other than a single space are also words.

    Joining `word + " " * space` over all words gives the text.

    Attributes:
        words: [N] texts of the words.
        spaces: [N] True if the word is followed by a single space, which is not a word.
        starts: [N] offset of each word in code points.
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    starts: tuple[int, ...]


def split_words(text: str) -> Words:
    """Split a text into words without losing a character."""
    words: list[str] = []
    spaces: list[bool] = []
    starts: list[int] = []
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if word.isspace() and words and word[0] == " ":
            spaces[-1] = True
            word, start = word[1:], start + 1
        if word:
            words.append(word)
            spaces.append(False)
            starts.append(start)
    return Words(tuple(words), tuple(spaces), tuple(starts))


def chunks(text: str, starts: Sequence[int]) -> Iterator[str]:
    """Yield for each word the blank-separated chunk around the word, in lower case, without outer punctuation.

    Args:
        starts: [N] offsets of the words of the text.
    """
    found = _CHUNK.finditer(text)
    begin = end = 0
    chunk = ""
    for start in starts:
        # each chunk is lowered once: a chunk of 80,000 characters may have as many words
        while end <= start and (match := next(found, None)) is not None:
            (begin, end), chunk = match.span(), (match[0].strip(_CHUNK_EDGES) or match[0]).lower()
        yield chunk if begin <= start < end else ""


def glosses(words: Sequence[str]) -> list[str]:
    """The gloss of each word. Only short forms that the text defines have one; the gloss of other words is "".

    The gloss is the ending of the word before the bracket. Given `acute renal failure (ARF)`, every `ARF` of the text
    has the gloss `lure`. So the kind of concept is known even in sentences that do not show it.

    Args:
        words: [N] words of one document.
    """
    known: dict[str, str] = {}
    for place in range(1, len(words) - 2):
        short = words[place + 1]
        if words[place] == "(" and words[place + 2] in (")", ";", ",") and _is_short_form(short):
            before = words[place - 1]
            if before.isalpha():
                known.setdefault(short, before.lower()[-_GLOSS_SUFFIX:])
    return [known.get(word, "") for word in words]


def _is_short_form(word: str) -> bool:
    return 2 <= len(word) <= _LONGEST_SHORT_FORM and sum(character.isupper() for character in word) >= 2


@dataclass(frozen=True, slots=True)
class Features:
    """Features of the N words of a text, in addition to their affixes and shapes; all are [N] strings."""

    identities: tuple[str, ...]
    chunks: tuple[str, ...]
    hints: tuple[str, ...]


def features(text: str, split: Words, known: Container[str]) -> Features:
    """The features of a text's words.

    A word that few training texts contain is represented by its number of occurrences in the text (1, 2, or 3 and
    more), and a rare chunk by its last letters. So the tagger learns from rare words how to treat unseen words. The
    hint of a short form is the gloss; the hint of any other word is the last three letters of the word.

    Args:
        text, split: the text and its words.
        known: words and chunks in lower case, see `shared_words`.
    """
    lowered = [word.lower() for word in split.words]
    counts = Counter(lowered)
    return Features(
        tuple(word if word in known else f"{_UNKNOWN}{min(counts[word], _MOST_COUNTED)}" for word in lowered),
        tuple(
            chunk if chunk in known else f"{_UNKNOWN}{chunk[-_CHUNK_SUFFIX:]}" for chunk in chunks(text, split.starts)
        ),
        tuple(f"={gloss}" if gloss else word[-3:] for word, gloss in zip(lowered, glosses(split.words), strict=True)),
    )


def shared_words(texts: Iterable[str], documents: int) -> tuple[str, ...]:
    """The words and chunks, in lower case and sorted, that occur in at least `documents` of the texts."""
    counts: Counter[str] = Counter()
    for text in texts:
        split = split_words(text)
        counts.update({*(word.lower() for word in split.words), *chunks(text, split.starts)})
    return tuple(sorted(word for word, count in counts.items() if count >= documents))


def reachable_spans(text: str, spans: Iterable[tuple[int, int]]) -> int:
    """The number of spans that begin at the start of a word and end at the end of a word."""
    split = split_words(text)
    starts = set(split.starts)
    ends = {start + len(word) for start, word in zip(split.starts, split.words, strict=True)}
    return sum(start in starts and end in ends for start, end in spans)
