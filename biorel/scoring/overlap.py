"""How right an answer's text is: exact match and token F1, as SQuAD scores them (Rajpurkar et al. 2016)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Lower case, without ASCII punctuation, articles and surplus blanks."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, right: Iterable[str]) -> float:
    """1 where the answer is one of the right ones, else 0."""
    return float(normalised(answer) in {normalised(one) for one in right})


def token_f1(answer: str, right: Iterable[str]) -> float:
    """The best F1 of the answer's words against those of a right one."""
    return max((_f1(normalised(answer).split(), normalised(one).split()) for one in right), default=0.0)


def _f1(said: list[str], true: list[str]) -> float:
    if not said or not true:
        return float(said == true)
    common = (Counter(said) & Counter(true)).total()
    return 2 * common / (len(said) + len(true))
