"""Reads the relations that CTD curated from articles: chemical-gene, chemical-disease and gene-disease.

A row of CTD has one pair of concepts and the articles that report the pair. The row becomes one curation for each
article and relation. CTD inferred the rows without direct evidence from other rows; their curations are not asserted.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_head
from biorel.formats.identifiers import concept_id
from biorel.knowledge import ctd_vocabularies as vocabularies
from biorel.knowledge.ctd_table import CHEMICAL, DISEASE, GENE, ConceptColumns, find_table, missing, read_rows
from biorel.records import Curation

MARKER = "marker/mechanism"
_ARTICLES = "PubMedIDs"
_EVIDENCE = "DirectEvidence"


@dataclass(frozen=True, slots=True)
class _Table:
    """One of CTD's tables of relations.

    Attributes:
        names: possible names of the bulk file, newest first.
        head, tail: the columns of the two concepts.
        relation: the column of the relations, which are joined with `|`; empty if all rows state `marker/mechanism`.
        has_inferred: whether a row without a relation is one that CTD inferred.
    """

    names: tuple[str, ...]
    head: ConceptColumns
    tail: ConceptColumns
    relation: str
    has_inferred: bool


_TABLES = (
    _Table(("CTD_chem_gene_ixns",), CHEMICAL, GENE, "InteractionActions", False),
    _Table(("CTD_curated_chemicals_diseases", "CTD_chemicals_diseases"), CHEMICAL, DISEASE, _EVIDENCE, True),
    _Table(("CTD_curated_genes_diseases", "CTD_genes_diseases"), GENE, DISEASE, _EVIDENCE, True),
)
_TYPES = "CTD_chem_gene_ixn_types"
_TYPE_COLUMNS = ("TypeName", "Code", "ParentCode")


def read_curations(
    folder: Path, counts: Counts, doc_ids: Container[str] | None = None, names: dict[str, str] | None = None
) -> Iterator[Curation]:
    """Yield the curations of the CTD files in a folder, file by file and row by row.

    The same curation can occur more than once, as CTD has a row for each organism.

    Args:
        folder: contains any of CTD_chem_gene_ixns, CTD_chemicals_diseases, CTD_genes_diseases or the newer
            CTD_curated_chemicals_diseases and CTD_curated_genes_diseases, which are preferred.
        counts: counts the rows, and the excluded rows by reason.
        doc_ids: the articles to keep; None for all.
        names: receives the first name of each concept by id; None if names are not needed. If it is given,
            the files must have columns of names.

    Raises:
        InputError: there is no CTD file, or a file cannot be read, is a web page or lacks a column.
    """
    found = [(table, find_table(folder, table.names, counts)) for table in _TABLES]
    if not any(path for _, path in found):
        raise missing(folder, [name for table in _TABLES for name in table.names])
    for table, path in found:
        if path is None:
            counts.add(Reason.CTD_TABLE_ABSENT, " or ".join(table.names))
        else:
            yield from _table_curations(table, path, counts, doc_ids, names)


def check_file(path: Path) -> None:
    """Check a bulk file of CTD by its first row.

    Raises:
        InputError: the file cannot be read, is a web page, has no row, or lacks a column that biorel reads.
    """
    name = path.name.partition(".")[0]
    columns = _TYPE_COLUMNS if name == _TYPES else vocabularies.required_columns(path)
    for table in _TABLES:
        if name in table.names:
            columns = (table.head.id, table.tail.id, table.relation, _ARTICLES)
    if next(read_rows(path, columns, Counts()), None) is None:
        raise InputError(f"{path}: the file has no rows", "fetch or copy the file again")


def read_facts(path: Path, counts: Counts, names: dict[str, str]) -> Iterator[Curation]:
    """Yield the curations of a folder of bulk files, or of a single table without names.

    Such a table has the columns ChemicalID, DiseaseID and PubMedIDs, and DirectEvidence unless all of its rows state
    `marker/mechanism`.

    Args:
        path: the folder or the table.
        counts: as for `read_curations`.
        names: receives the names of the concepts of a folder, as in `read_curations`.

    Raises:
        InputError: as for `read_curations`.
    """
    if path.is_dir():
        yield from read_curations(path, counts, names=names)
        counts.add(Reason.CTD_CONCEPTS_NAMED, count=len(names))
        return
    has_evidence = _EVIDENCE.lower().encode() in read_head(path).split(b"\n", 1)[0].lower()
    table = _Table((), CHEMICAL, DISEASE, _EVIDENCE if has_evidence else "", has_evidence)
    yield from _table_curations(table, path, counts, None, None)


def _table_curations(
    table: _Table, path: Path, counts: Counts, doc_ids: Container[str] | None, names: dict[str, str] | None
) -> Iterator[Curation]:
    columns = [table.head.id, table.tail.id, _ARTICLES, *([table.relation] if table.relation else [])]
    columns += [table.head.name, table.tail.name] if names is not None else []
    for number, cells in read_rows(path, columns, counts):
        head_id, tail_id = concept_id(cells[0], table.head.type), concept_id(cells[1], table.tail.type)
        if names is not None:
            for id_, name in zip((head_id, tail_id), cells[-2:], strict=True):
                if id_ is not None and name:
                    names.setdefault(id_, name)
        relations = [part for raw in cells[3].split("|") if (part := raw.strip())] if table.relation else [MARKER]
        inferred = table.has_inferred and not relations
        if inferred:
            counts.add(Reason.CTD_ROW_INFERRED)
        articles = _articles(cells[2], counts, path, number)
        if not articles:
            counts.add(Reason.CTD_ROW_WITHOUT_PMID)
            continue
        if doc_ids is not None:
            articles = [article for article in articles if article in doc_ids]
            if not articles:
                counts.add(Reason.CTD_ROW_OF_OTHER_ARTICLES)
                continue
        if head_id is None or tail_id is None:
            counts.add(Reason.CTD_ROW_WITHOUT_CONCEPT, f"{path}:{number}")
            continue
        if not relations and not inferred:
            counts.add(Reason.CTD_ROW_WITHOUT_ACTION, f"{path}:{number}")
            continue
        counts.add(Reason.CTD_ROWS_KEPT)
        head, tail = (table.head.type, head_id), (table.tail.type, tail_id)
        for article in articles:
            for relation in dict.fromkeys(relations) or ("",):
                yield Curation(article, *head, relation, *tail, asserted=not inferred)


def _articles(raw: str, counts: Counts, path: Path, number: int) -> list[str]:
    """The distinct PubMed ids of a cell, which CTD joins with `|`."""
    articles: dict[str, None] = {}
    for part in raw.replace(";", "|").split("|"):
        article = part.strip()
        if article.isascii() and article.isdecimal():
            articles[article] = None
        elif article:
            counts.add(Reason.CTD_PMID_NOT_A_NUMBER, f"{path}:{number}")
    return list(articles)


def read_interaction_types(folder: Path, counts: Counts) -> dict[str, str]:
    """The parent of each chemical-gene interaction type; "" for a type at the top.

    The names of the types are spelled as in CTD's actions (`metabolic_processing`).

    Raises:
        InputError: the file is missing, cannot be read, or names a parent that it does not list.
    """
    path = find_table(folder, (_TYPES,), counts)
    if path is None:
        raise missing(folder, (_TYPES,))
    rows = [cells for _, cells in read_rows(path, _TYPE_COLUMNS, counts)]
    names = {code: name.replace(" ", "_") for name, code, _ in rows} | {"": ""}
    counts.add(Reason.CTD_ROWS_KEPT, count=len(rows))
    parents: dict[str, str] = {}
    for name, code, parent in rows:
        if parent not in names:
            raise InputError(f"{path}: type {name[:80]!r} has the parent {parent[:80]!r}, which is not in the file")
        if parents.setdefault(names[code], names[parent]) != names[parent]:
            raise InputError(f"{path}: the code {code[:80]!r} belongs to two types")
    return parents
