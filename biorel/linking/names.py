"""Computes normal forms of concept names, in which different spellings of a name become equal.

From strict to loose:

- `normal`: lower case, Greek letters as words, punctuation and hyphens as spaces, simple plurals as singulars.
- `order_key`: the words of `normal`, sorted, without small words: `failure of the kidneys`, `Kidney Failure`.
- `squeezed`: `normal` without spaces and in American spelling: `anti-oedema`, `antiedema`.
- `stemmed`: `order_key` of word stems, so that `hypertensive` equals `hypertension`.

Synonyms are handled by `word_classes`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon "
    "phi chi psi omega"
)
# U+03B1 to U+03C9, the small letters in alphabetical order, with two forms of sigma
_GREEK = {ord("α") + place: f" {name} " for place, name in enumerate(_GREEK_NAMES.split())}
# letters and digits of any script; all other characters separate words. Parkinson's becomes Parkinson
_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’`´]s?\b")
# not "a", which is a name in vitamin A
SMALL = frozenset({"and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"})
# endings in s that are not plurals
_SINGULAR_ENDINGS = ("ss", "us", "is", "as", "os")
# British spellings, in the order of replacement
_AMERICAN = (
    *(("haem", "hem"), ("aemi", "emi"), ("oed", "ed"), ("diarrhoe", "diarrhe"), ("oes", "es"), ("aes", "es")),
    *(("tumour", "tumor"), ("behaviour", "behavior"), ("sulph", "sulf"), ("paed", "ped")),
)
_ENDINGS_LIST = (
    "ically ical icity ities ity ic ia iac ias is es y al ally ual ive ively ion ed ing ation ated ating ative ous e "
    "ism ized osis otic itis itic ysis ytic a um emia emic"
)
# the endings that are cut off to get a stem, the longest first
_ENDINGS = tuple(sorted(_ENDINGS_LIST.split(), key=lambda ending: (-len(ending), ending)))
_SHORTEST_STEM = 5


def fold(text: str) -> str:
    """Lower case, compatibility forms and accents folded, Greek letters written out."""
    decomposed = unicodedata.normalize("NFKD", text).lower()
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return _POSSESSIVE.sub("", plain.translate(_GREEK))


def singular(word: str) -> str:
    """The word without a simple plural ending; `diabetes`, `stress`, `virus` and `sepsis` stay unchanged."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(_SINGULAR_ENDINGS):
        return word[:-1]
    return word


@lru_cache(maxsize=65_536)
def words(text: str) -> tuple[str, ...]:
    """The words of a name in order, folded and in the singular; empty for a name without letters and digits."""
    return tuple(singular(word) for word in _WORD.findall(fold(text)))


def normal(text: str) -> str:
    """The words, joined by spaces."""
    return " ".join(words(text))


def order_key(text: str) -> str:
    """The words, sorted and without small words; all words if all of them are small words."""
    found = words(text)
    return " ".join(sorted([word for word in found if word not in SMALL] or found))


def squeezed(text: str) -> str:
    """The words without spaces, in American spelling."""
    return american("".join(words(text)))


def stemmed(text: str) -> str:
    """The stems of the words, sorted and without small words."""
    return " ".join(sorted(stem(american(word)) for word in words(text) if word not in SMALL))


def american(word: str) -> str:
    """Replace British medical spellings by American ones: `haemorrhage`, `oedema`, `tumour`, `sulphate`."""
    for british, spelling in _AMERICAN:
        word = word.replace(british, spelling)
    return word


def stem(word: str) -> str:
    """The word without its ending: the first of the listed endings that leaves a stem of sufficient length."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
