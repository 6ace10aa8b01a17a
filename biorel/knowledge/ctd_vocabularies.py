"""Reads CTD's vocabularies of chemicals, diseases and genes, with their synonyms and alternate ids.

In these files `|` joins the names or ids of one concept, whereas in PubTator `|` joins several concepts.
A disease (MEDIC) has a MeSH or an OMIM id; the other ids of the disease are its alternate ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.formats.files import read_head
from biorel.formats.identifiers import concept_id
from biorel.knowledge.ctd_table import CHEMICAL, DISEASE, GENE, ConceptColumns, find_table, missing, read_rows


@dataclass(frozen=True, slots=True)
class Term:
    """A concept of a vocabulary. The name is not among the synonyms, and the id not among the alternate ids."""

    id: str
    type: str
    name: str
    synonyms: tuple[str, ...]
    alternate_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The name and the columns of one file; `alternates` is empty if the file has no alternate ids."""

    file: str
    columns: ConceptColumns
    alternates: str


_ALTERNATE_DISEASE_IDS = "AltDiseaseIDs"
_VOCABULARIES = (
    _Vocabulary("CTD_chemicals", CHEMICAL, ""),
    _Vocabulary("CTD_diseases", DISEASE, _ALTERNATE_DISEASE_IDS),
    _Vocabulary("CTD_genes", GENE, "AltGeneIDs"),
)
_GENE_NAME = "GeneName"
# releases since 2024 split the synonyms of chemicals by source
_SYNONYMS, _SPLIT_SYNONYMS = ("Synonyms",), ("MESHSynonyms", "CTDCuratedSynonyms")


def read_vocabularies(folder: Path, counts: Counts) -> Iterator[Term]:
    """Yield the concepts of the vocabularies in a folder, file by file, row by row.

    Args:
        folder: contains any of CTD_chemicals, CTD_diseases and CTD_genes (csv or tsv, plain or gzip).
        counts: counts rows, rows without an id or a name, and missing vocabularies.

    Raises:
        InputError: there is no vocabulary, or a file cannot be read, is a web page or lacks a column.
    """
    found = [(vocabulary, find_table(folder, (vocabulary.file,), counts)) for vocabulary in _VOCABULARIES]
    if not any(path for _, path in found):
        raise missing(folder, [vocabulary.file for vocabulary in _VOCABULARIES])
    for vocabulary, path in found:
        if path is None:
            counts.add(Reason.CTD_VOCABULARY_ABSENT, vocabulary.file)
        else:
            yield from _terms(vocabulary, path, counts)


def primary_ids(terms: Iterable[Term], counts: Counts) -> dict[str, str]:
    """The primary id of each alternate id, except for ambiguous alternate ids (see `split_alternates`)."""
    unambiguous, ambiguous = split_alternates((term.id, term.alternate_ids) for term in terms)
    counts.add(Reason.ALTERNATE_ID_AMBIGUOUS, count=len(ambiguous))
    return unambiguous


def split_alternates(known: Iterable[tuple[str, Iterable[str]]]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Map each alternate id of exactly one concept to its primary id; returns the map and the ambiguous alternate ids.

    An alternate id is ambiguous if two concepts share the id or if the id is also a primary id.

    Args:
        known: (primary id, alternate ids) of each concept.
    """
    claims: dict[str, set[str]] = {}
    primaries: set[str] = set()
    for primary, alternates in known:
        primaries.add(primary)
        for alternate in alternates:
            claims.setdefault(alternate, set()).add(primary)
    unambiguous = {
        alternate: min(claimants)
        for alternate, claimants in claims.items()
        if len(claimants) == 1 and alternate not in primaries
    }
    return unambiguous, tuple(alternate for alternate in claims if alternate not in unambiguous)


def read_alternate_ids(path: Path, counts: Counts) -> dict[str, str]:
    """The primary id of each alternate disease id, from CTD's disease vocabulary (CTD_diseases, MEDIC).

    Alternate ids that belong to two diseases, or that are also primary ids, are ambiguous and left out.

    Raises:
        InputError: the file cannot be read, is a web page or lacks a column.
    """
    known = []
    for number, (raw_primary, raw_alternates) in read_rows(path, (DISEASE.id, _ALTERNATE_DISEASE_IDS), counts):
        primary = concept_id(raw_primary, "Disease")
        if primary is None:
            counts.add(Reason.CTD_ROW_WITHOUT_CONCEPT, f"{path}:{number}")
            continue
        counts.add(Reason.CTD_ROWS_KEPT)
        alternates = (concept_id(raw, "Disease") for raw in raw_alternates.split("|"))
        known.append((primary, [alternate for alternate in alternates if alternate is not None]))
    unambiguous, ambiguous = split_alternates(known)
    for alternate in ambiguous:
        counts.add(Reason.ALTERNATE_DISEASE_ID_AMBIGUOUS, alternate)
    return unambiguous


def required_columns(path: Path) -> tuple[str, ...]:
    """The columns that biorel reads from a file of this name; empty if the file is not a vocabulary."""
    name = path.name.partition(".")[0]
    found = (vocabulary for vocabulary in _VOCABULARIES if vocabulary.file == name)
    return next((_columns(vocabulary, _synonym_columns(path)) for vocabulary in found), ())


def _synonym_columns(path: Path) -> tuple[str, ...]:
    return _SPLIT_SYNONYMS if _SPLIT_SYNONYMS[0].encode() in read_head(path) else _SYNONYMS


def _columns(vocabulary: _Vocabulary, synonyms: tuple[str, ...]) -> tuple[str, ...]:
    alternates = (vocabulary.alternates,) if vocabulary.alternates else ()
    gene_name = (_GENE_NAME,) if vocabulary.columns is GENE else ()
    return (vocabulary.columns.name, vocabulary.columns.id, *synonyms, *alternates, *gene_name)


def _terms(vocabulary: _Vocabulary, path: Path, counts: Counts) -> Iterator[Term]:
    synonym_columns = _synonym_columns(path)
    columns = _columns(vocabulary, synonym_columns)
    for number, cells in read_rows(path, columns, counts):
        values = dict(zip(columns, cells, strict=True))
        id_ = concept_id(values[vocabulary.columns.id], vocabulary.columns.type)
        name = values[vocabulary.columns.name]
        if id_ is None or not name:
            counts.add(Reason.CTD_ROW_WITHOUT_CONCEPT_OR_NAME, f"{path}:{number}")
            continue
        counts.add(Reason.CTD_ROWS_KEPT)
        synonyms = [values.get(_GENE_NAME, "")]
        synonyms += [synonym for column in synonym_columns for synonym in values[column].split("|")]
        alternates = values.get(vocabulary.alternates, "").split("|")
        yield Term(
            id_,
            vocabulary.columns.type,
            name,
            _distinct(synonyms, name),
            _distinct([concept_id(raw, vocabulary.columns.type) or "" for raw in alternates], id_),
        )


def _distinct(values: list[str], known: str) -> tuple[str, ...]:
    """The distinct values in their order, without empty ones and `known`."""
    stripped = dict.fromkeys(value.strip() for value in values)
    return tuple(value for value in stripped if value and value != known)
