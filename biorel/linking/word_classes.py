"""Unites synonymous words in names of concepts, and leaves out words that a name does not need, by handmade tables.

- `same_words`: synonyms form one class: `renal` equals `kidney`, `cancer` equals `tumor`.
- `kindred_words`: in addition, the words for any disorder form one class, as vocabularies have one concept for them:
  texts call MeSH's `Thyroid Diseases` a thyroid disorder or a thyroid dysfunction.
- `plain_name`: leaves out the salt of a drug and the course of a disease, as annotators do.
"""

from __future__ import annotations

import re

from biorel.linking.names import SMALL, american, normal, stem, words

_SAME = (
    "kidney renal",
    "liver hepatic",
    "heart cardiac",
    "lung pulmonary",
    "brain cerebral",
    "stomach gastric",
    "eye ocular",
    "skin cutaneous dermal",
    "bowel intestinal intestine",
    "bladder vesical",
    "nerve neural neuronal",
    "muscle muscular",
    "vessel vascular",
    "bone osseous skeletal",
    "tumor neoplasm cancer carcinoma malignancy",
    "bleeding hemorrhage hemorrhagic bleed",
    "seizure convulsion",
    "injury trauma",
    "reduced decreased lowered low diminished impaired",
    "elevated increased raised",
    "1 i one",
    "2 ii two",
    "3 iii three",
)
_WRONG = (
    "disease disorder dysfunction damage injury toxicity impairment disturbance abnormality complication lesion trauma "
    "deficit difficulty problem illness change alteration defect"
)
SAME = {word: line.split()[0] for line in _SAME for word in line.split()}
KINDRED = SAME | dict.fromkeys(_WRONG.split(), "disease")
_SALTS = (
    "hydrochloride hcl hydrobromide bromide sodium potassium sulfate sulphate citrate maleate mesylate besylate "
    "tartrate fumarate succinate isethionate dihydrochloride monohydrate trihydrate"
)
_COURSES = (
    "severe mild moderate marked profound progressive transient persistent recurrent symptomatic asymptomatic "
    "clinical refractory overt apparent serious significant spontaneous reversible irreversible fatal delayed "
    "concomitant associated induced drug new subsequent bilateral unilateral"
)
_DROPPED = {"Chemical": frozenset(_SALTS.split()), "Disease": frozenset(_COURSES.split())}
# `adriamycin-induced nephropathy`: the cause is not part of the disease's name
_BROUGHT_ON = re.compile(r"\S+[- ](?:induced|associated|related)\s+", re.IGNORECASE)


def same_words(text: str) -> str:
    """The distinct stems of a name's words, sorted; a word of a class is replaced by its class."""
    return _classed(text, SAME)


def kindred_words(text: str) -> str:
    """As `same_words`, but all words for any disorder are in one class."""
    return _classed(text, KINDRED)


def plain_name(text: str, type_: str) -> str:
    """The normal form of a name, without a chemical's salt or a disease's course and cause; may be empty."""
    if type_ == "Disease":
        text = _BROUGHT_ON.sub("", text)
    dropped = _DROPPED.get(type_, frozenset())
    return " ".join(word for word in normal(text).split() if word not in dropped)


def _classed(text: str, classes: dict[str, str]) -> str:
    found = [american(word) for word in words(text) if word not in SMALL]
    return " ".join(sorted({classes[word] if word in classes else stem(word) for word in found}))
