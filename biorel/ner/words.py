"""Text into words for a token-based tagger, cut so fine that an entity's border is a word's border.

Every character that is neither letter, digit nor blank is a word of its own, and letters and digits are
parted: of the 28,785 mentions of CDR none begins or ends inside a word, where scispaCy's own tokenizer
loses a tenth. What the cutting destroys (`5-HT` is three words) is given back as features.
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
    """The words of a text; blanks between them that are not one space are words, too.

    N words; all lists are of that length, and `"".join(word + " " * space)` is the text again.

    Attributes:
        words: the words.
        spaces: whether one space follows, that is no word of its own.
        starts: offset of each word, in code points.
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    starts: tuple[int, ...]


def split_words(text: str) -> Words:
    """Cut a text into words; nothing of it is lost."""
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
    """For each word the run of characters between blanks that it stands in, lower case, without outer punctuation.

    Args:
        text: the text.
        starts: [N] offsets of its words.
    """
    found = _CHUNK.finditer(text)
    begin = end = 0
    chunk = ""
    for start in starts:
        # each run is folded once: one of 80,000 signs holds as many words
        while end <= start and (match := next(found, None)) is not None:
            (begin, end), chunk = match.span(), (match[0].strip(_CHUNK_EDGES) or match[0]).lower()
        yield chunk if begin <= start < end else ""


def glosses(words: Sequence[str]) -> list[str]:
    """For each word that the text introduces as a short form, the end of the word that it is short for.

    In `acute renal failure (ARF)` every `ARF` of the text is given `lure`, the last letters of the word before
    the bracket: a reader of one sentence learns from it what kind of thing the letters stand for. Other
    words have the empty string.

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
    """What a tagger knows of each word beside its affixes and shape; all lists are [N] strings."""

    identities: tuple[str, ...]
    chunks: tuple[str, ...]
    hints: tuple[str, ...]


def features(text: str, split: Words, known: Container[str]) -> Features:
    """The features of a text's words.

    A word that the training texts do not share is not told by itself but by how often the text has it (once,
    twice, more), a chunk by its last letters: so the tagger learns from the words of a single training text
    what to make of words that it has never seen. A hint is the gloss of a short form, else the last three letters.

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
    """The words and chunks, in lower case and sorted, that at least so many of the texts have."""
    counts: Counter[str] = Counter()
    for text in texts:
        split = split_words(text)
        counts.update({*(word.lower() for word in split.words), *chunks(text, split.starts)})
    return tuple(sorted(word for word, count in counts.items() if count >= documents))


def reachable_spans(text: str, spans: Iterable[tuple[int, int]]) -> int:
    """How many of the spans begin where a word begins and end where one ends."""
    split = split_words(text)
    starts = set(split.starts)
    ends = {start + len(word) for start, word in zip(split.starts, split.words, strict=True)}
    return sum(start in starts and end in ends for start, end in spans)
