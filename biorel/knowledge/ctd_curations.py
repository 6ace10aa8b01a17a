"""CTD's curated relations of articles: chemical-gene, chemical-disease, gene-disease.

One row of CTD holds one pair and the articles that it was found in; here it becomes one curation for each
article and relation. A row without direct evidence was inferred by CTD from two others: it is not asserted.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.identifiers import concept_id
from biorel.knowledge.ctd_table import find_table, missing, read_rows
from biorel.knowledge.ctd_vocabularies import part_alternates
from biorel.records import Curation


@dataclass(frozen=True, slots=True)
class _Table:
    """A bulk file: its names, newest first, and the columns that make a curation of a row."""

    names: tuple[str, ...]
    head_type: str
    head_column: str
    relation_column: str
    tail_type: str
    tail_column: str
    # in these files a row without a relation is one that CTD inferred
    has_inferred: bool


_TABLES = (
    _Table(("CTD_chem_gene_ixns",), "Chemical", "ChemicalID", "InteractionActions", "Gene", "GeneID", False),
    _Table(
        ("CTD_curated_chemicals_diseases", "CTD_chemicals_diseases"),
        "Chemical",
        "ChemicalID",
        "DirectEvidence",
        "Disease",
        "DiseaseID",
        True,
    ),
    _Table(
        ("CTD_curated_genes_diseases", "CTD_genes_diseases"),
        "Gene",
        "GeneID",
        "DirectEvidence",
        "Disease",
        "DiseaseID",
        True,
    ),
)
_TYPES = "CTD_chem_gene_ixn_types"


def read_curations(folder: Path, counts: Counts, doc_ids: Container[str] | None = None) -> Iterator[Curation]:
    """Yield the curations of the CTD files in a folder, streaming: file by file, row by row.

    The same curation can come more than once, as CTD keeps a row for each organism.

    Args:
        folder: with any of CTD_chem_gene_ixns, CTD_chemicals_diseases, CTD_genes_diseases or the newer
            CTD_curated_chemicals_diseases and CTD_curated_genes_diseases, which are preferred.
        counts: books rows, and why a row gave nothing.
        doc_ids: the articles wanted; None for all.

    Raises:
        InputError: there is no CTD file, or one cannot be read, is a web page or lacks a column.
    """
    found = [(table, find_table(folder, table.names, counts)) for table in _TABLES]
    if not any(path for _, path in found):
        raise missing(folder, [name for table in _TABLES for name in table.names])
    for table, path in found:
        if path is None:
            counts.add(Reason.CTD_TABLE_ABSENT, " or ".join(table.names))
        else:
            yield from _table_curations(table, path, counts, doc_ids)


def _table_curations(table: _Table, path: Path, counts: Counts, doc_ids: Container[str] | None) -> Iterator[Curation]:
    columns = (table.head_column, table.tail_column, table.relation_column, "PubMedIDs")
    for number, (raw_head, raw_tail, raw_relations, raw_articles) in read_rows(path, columns, counts):
        relations = [relation for part in raw_relations.split("|") if (relation := part.strip())]
        inferred = table.has_inferred and not relations
        if inferred:
            counts.add(Reason.CTD_ROW_INFERRED)
        articles = _articles(raw_articles, counts, path, number)
        if not articles:
            counts.add(Reason.CTD_ROW_WITHOUT_PMID)
            continue
        if doc_ids is not None:
            articles = [article for article in articles if article in doc_ids]
            if not articles:
                counts.add(Reason.CTD_ROW_OF_OTHER_ARTICLES)
                continue
        head_id = concept_id(raw_head, table.head_type)
        tail_id = concept_id(raw_tail, table.tail_type)
        if head_id is None or tail_id is None:
            counts.add(Reason.CTD_ROW_WITHOUT_CONCEPT, f"{path}:{number}")
            continue
        if not relations and not inferred:
            counts.add(Reason.CTD_ROW_WITHOUT_ACTION, f"{path}:{number}")
            continue
        counts.add(Reason.CTD_ROWS_KEPT)
        head, tail = (table.head_type, head_id), (table.tail_type, tail_id)
        for article in articles:
            for relation in dict.fromkeys(relations) or ("",):
                yield Curation(article, *head, relation, *tail, asserted=not inferred)


def _articles(raw: str, counts: Counts, path: Path, number: int) -> list[str]:
    """The PubMed ids of a cell, which CTD joins with `|`."""
    articles: dict[str, None] = {}
    for part in raw.replace(";", "|").split("|"):
        article = part.strip()
        if article.isascii() and article.isdecimal():
            articles[article] = None
        elif article:
            counts.add(Reason.CTD_PMID_NOT_A_NUMBER, f"{path}:{number}")
    return list(articles)


def read_interaction_types(folder: Path, counts: Counts) -> dict[str, str]:
    """From each chemical-gene interaction type to its parent type, "" at the top.

    Names are spelled as in the actions (`metabolic_processing`).

    Raises:
        InputError: the file is not there, cannot be read, or names a parent that it does not list.
    """
    path = find_table(folder, (_TYPES,), counts)
    if path is None:
        raise missing(folder, (_TYPES,))
    rows = [cells for _, cells in read_rows(path, ("TypeName", "Code", "ParentCode"), counts)]
    counts.add(Reason.CTD_ROWS_KEPT, count=len(rows))
    names = {code: name.replace(" ", "_") for name, code, _ in rows} | {"": ""}
    parents: dict[str, str] = {}
    for name, code, parent in rows:
        if parent not in names:
            raise InputError(f"{path}: type {name[:80]!r} has the parent {parent[:80]!r}, which is not in the file")
        if parents.setdefault(names[code], names[parent]) != names[parent]:
            raise InputError(f"{path}: the code {code[:80]!r} stands for two types")
    return parents


def read_alternate_ids(path: Path, counts: Counts) -> dict[str, str]:
    """From an alternate disease id to the primary one, of CTD's disease vocabulary (CTD_diseases, MEDIC).

    Here `|` joins the names of one concept. An alternate that two diseases claim, or that is itself a primary
    id, tells nothing and is left out.

    Raises:
        InputError: the file cannot be read, is a web page or lacks a column.
    """
    known = []
    for number, (raw_primary, raw_alternates) in read_rows(path, ("DiseaseID", "AltDiseaseIDs"), counts):
        primary = concept_id(raw_primary, "Disease")
        if primary is None:
            counts.add(Reason.CTD_ROW_WITHOUT_CONCEPT, f"{path}:{number}")
            continue
        counts.add(Reason.CTD_ROWS_KEPT)
        alternates = (concept_id(raw, "Disease") for raw in raw_alternates.split("|"))
        known.append((primary, [alternate for alternate in alternates if alternate is not None]))
    clear, shared = part_alternates(known)
    for alternate in shared:
        counts.add(Reason.ALTERNATE_DISEASE_ID_AMBIGUOUS, alternate)
    return clear
