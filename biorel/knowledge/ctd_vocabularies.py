"""CTD's vocabularies: chemicals, diseases and genes with their synonyms and alternate ids.

Here `|` joins names, or ids, of one concept; in PubTator it joins concepts. A disease (MEDIC) is known by a MeSH or an
OMIM id, and what other ids it had are its alternates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.formats.files import read_head
from biorel.formats.identifiers import concept_id
from biorel.knowledge.ctd_table import find_table, missing, read_rows


@dataclass(frozen=True, slots=True)
class Term:
    """A concept of a vocabulary; of its synonyms and alternate ids none repeats the name or the id."""

    id: str
    type: str
    name: str
    synonyms: tuple[str, ...]
    alternate_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """A file: its name, and its columns of name, id, synonyms and alternate ids (empty: it has none)."""

    file: str
    type: str
    name: str
    id: str
    alternates: str


_VOCABULARIES = (
    _Vocabulary("CTD_chemicals", "Chemical", "ChemicalName", "ChemicalID", ""),
    _Vocabulary("CTD_diseases", "Disease", "DiseaseName", "DiseaseID", "AltDiseaseIDs"),
    _Vocabulary("CTD_genes", "Gene", "GeneSymbol", "GeneID", "AltGeneIDs"),
)
_GENE_NAME = "GeneName"
# releases since 2024 part the synonyms of chemicals by where they come from
_SYNONYMS, _PARTED_SYNONYMS = ("Synonyms",), ("MESHSynonyms", "CTDCuratedSynonyms")


def read_vocabularies(folder: Path, counts: Counts) -> Iterator[Term]:
    """Yield the concepts of the vocabularies that the folder holds, file by file, row by row.

    Args:
        folder: with any of CTD_chemicals, CTD_diseases, CTD_genes (csv or tsv, plain or gzip).
        counts: books rows, rows without an id or a name, and vocabularies that are absent.

    Raises:
        InputError: there is none of them, or one cannot be read, is a web page or lacks a column.
    """
    found = [(one, find_table(folder, (one.file,), counts)) for one in _VOCABULARIES]
    if not any(path for _, path in found):
        raise missing(folder, [one.file for one in _VOCABULARIES])
    for vocabulary, path in found:
        if path is None:
            counts.add(Reason.CTD_VOCABULARY_ABSENT, vocabulary.file)
        else:
            yield from _terms(vocabulary, path, counts)


def primary_ids(terms: Iterable[Term], counts: Counts) -> dict[str, str]:
    """From each alternate id to the primary one; an alternate that two concepts claim, or that is one, is left out."""
    clear, shared = part_alternates((term.id, term.alternate_ids) for term in terms)
    counts.add(Reason.ALTERNATE_ID_AMBIGUOUS, count=len(shared))
    return clear


def part_alternates(known: Iterable[tuple[str, Iterable[str]]]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The alternate ids that are one concept's alone, with its primary id, and those that tell nothing.

    Args:
        known: (primary id, alternate ids) of each concept; what two claim, or what is itself primary, tells nothing.
    """
    claims: dict[str, set[str]] = {}
    primaries: set[str] = set()
    for primary, alternates in known:
        primaries.add(primary)
        for alternate in alternates:
            claims.setdefault(alternate, set()).add(primary)
    clear = {
        alternate: min(claimants)
        for alternate, claimants in claims.items()
        if len(claimants) == 1 and alternate not in primaries
    }
    return clear, tuple(alternate for alternate in claims if alternate not in clear)


def _terms(vocabulary: _Vocabulary, path: Path, counts: Counts) -> Iterator[Term]:
    synonym_columns = _PARTED_SYNONYMS if _PARTED_SYNONYMS[0].encode() in read_head(path) else _SYNONYMS
    columns = [vocabulary.name, vocabulary.id, *synonym_columns]
    columns += [vocabulary.alternates] if vocabulary.alternates else []
    columns += [_GENE_NAME] if vocabulary.type == "Gene" else []
    for number, cells in read_rows(path, columns, counts):
        values = dict(zip(columns, cells, strict=True))
        id_ = concept_id(values[vocabulary.id], vocabulary.type)
        name = values[vocabulary.name]
        if id_ is None or not name:
            counts.add(Reason.CTD_ROW_WITHOUT_CONCEPT_OR_NAME, f"{path}:{number}")
            continue
        counts.add(Reason.CTD_ROWS_KEPT)
        synonyms = [values.get(_GENE_NAME, "")]
        synonyms += [synonym for column in synonym_columns for synonym in values[column].split("|")]
        alternates = values.get(vocabulary.alternates, "").split("|")
        yield Term(
            id_,
            vocabulary.type,
            name,
            _distinct(synonyms, name),
            _distinct([concept_id(raw, vocabulary.type) or "" for raw in alternates], id_),
        )


def _distinct(values: list[str], known: str) -> tuple[str, ...]:
    """The values in their order, once each, without empty ones and the one that is known."""
    stripped = dict.fromkeys(value.strip() for value in values)
    return tuple(value for value in stripped if value and value != known)
