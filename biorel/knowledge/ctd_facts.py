"""CTD as facts rather than as labels: bulk files with the names of their concepts, or a bare table of rows.

A bare table has the columns ChemicalID, DiseaseID and PubMedIDs, and DirectEvidence where its rows are not all of one
relation; it holds no names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.formats.files import read_head
from biorel.formats.identifiers import concept_id
from biorel.knowledge.ctd_curations import read_curations
from biorel.knowledge.ctd_table import find_table, read_rows
from biorel.records import Curation

MARKER = "marker/mechanism"
_BARE = ("ChemicalID", "DiseaseID", "PubMedIDs")
_EVIDENCE = "DirectEvidence"
# where a bulk file names the concepts of its two columns of ids
_NAMED = (
    (("CTD_chem_gene_ixns",), (("Chemical", "ChemicalID", "ChemicalName"), ("Gene", "GeneID", "GeneSymbol"))),
    (
        ("CTD_curated_chemicals_diseases", "CTD_chemicals_diseases"),
        (("Chemical", "ChemicalID", "ChemicalName"), ("Disease", "DiseaseID", "DiseaseName")),
    ),
    (
        ("CTD_curated_genes_diseases", "CTD_genes_diseases"),
        (("Gene", "GeneID", "GeneSymbol"), ("Disease", "DiseaseID", "DiseaseName")),
    ),
)


def read_facts(path: Path, counts: Counts) -> Iterator[Curation]:
    """Yield the curations of a folder of bulk files, or of a bare table.

    Raises:
        InputError: as `ctd.read_curations`, or the table cannot be read or lacks a column.
    """
    if path.is_dir():
        yield from read_curations(path, counts)
        return
    with_evidence = _EVIDENCE.lower().encode() in read_head(path).split(b"\n", 1)[0].lower()
    columns = (*_BARE, _EVIDENCE) if with_evidence else _BARE
    for number, (raw_head, raw_tail, articles, *evidence) in read_rows(path, columns, counts):
        head, tail = concept_id(raw_head, "Chemical"), concept_id(raw_tail, "Disease")
        if head is None or tail is None:
            counts.add(Reason.CTD_ROW_WITHOUT_CONCEPT, f"{path}:{number}")
            continue
        relations = [part for part in evidence[0].split("|") if part] if evidence else [MARKER]
        found = [article for part in articles.split("|") if (article := part.strip()).isdecimal()]
        if not found:
            counts.add(Reason.CTD_ROW_WITHOUT_PMID, f"{path}:{number}")
            continue
        counts.add(Reason.CTD_ROWS_KEPT)
        for article in found:
            for relation in relations or ("",):
                yield Curation(article, "Chemical", head, relation, "Disease", tail, asserted=bool(relations))


def read_names(folder: Path, counts: Counts) -> dict[str, str]:
    """The names of the concepts by id, as the bulk files of a folder have them; the first of each.

    Args:
        folder: as of `ctd.read_curations`.
        counts: books nothing of rows; they are booked when they are read for their relations.
    """
    names: dict[str, str] = {}
    for files, concepts in _NAMED:
        path = find_table(folder, files, Counts())
        if path is None:
            continue
        columns = [column for _, id_column, name_column in concepts for column in (id_column, name_column)]
        for _, cells in read_rows(path, columns, Counts()):
            for place, (type_, _, _) in enumerate(concepts):
                id_, name = concept_id(cells[2 * place], type_), cells[2 * place + 1]
                if id_ is not None and name:
                    names.setdefault(id_, name)
    counts.add(Reason.CTD_CONCEPTS_NAMED, count=len(names))
    return names
