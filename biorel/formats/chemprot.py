"""Read ChemProt and DrugProt. A corpus consists of three tab-separated files: abstracts, entities and relations.

    abstracts   17380207  title  abstract
    entities    17380207  T1  CHEMICAL  1102  1112  Asparagine
    relations   17380207  PRODUCT-OF  Arg1:T1  Arg2:T6                    (DrugProt)
                17380207  CPR:9  Y  PRODUCT-OF  Arg1:T1  Arg2:T6          (ChemProt)

Entities have no concept ids, so each annotation is a separate entity, such as `LOCAL:T1`, within its document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.files import read_lines
from biorel.formats.identifiers import document_key, entity_type
from biorel.formats.references import distinct_curations
from biorel.formats.spans import check_spans, is_offset, without_repeats
from biorel.records import Annotated, Curation, Document, Mention

_FILES = re.compile(r".*(?P<kind>abstrac|entities|relations)[^/]*\.(?:tsv|txt)(?:\.gz)?", re.IGNORECASE)
_ARGUMENT = re.compile(r"Arg([12]):(\S+)")

# rows are kept as text and split when their document is read: lists of cells would take five times the memory
Rows = dict[str, list[str]]
_MOST_ROWS = 3_000_000


def locate(folder: Path) -> tuple[Path, Path, Path | None]:
    """Find the files of abstracts, entities and relations in a folder. Relations may be missing.

    Raises:
        InputError: the folder is missing, lacks abstracts or entities, or has several sets of files.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", "name the folder that holds the three TSV files")
    found: dict[str, list[Path]] = {"abstrac": [], "entities": [], "relations": []}
    for path in sorted(folder.iterdir()):
        match = _FILES.fullmatch(path.name)
        if match and path.is_file():
            found[match["kind"].lower()].append(path)
    for paths in found.values():
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths)
            raise InputError(f"{folder}: the folder has several sets of files: {names}", "keep one set in the folder")
    if not found["abstrac"] or not found["entities"]:
        raise InputError(
            f"{folder}: the folder has no ChemProt or DrugProt files (*abstracts*.tsv and *entities*.tsv)",
            "name the folder that holds the TSV files, plain or .gz",
        )
    return found["abstrac"][0], found["entities"][0], next(iter(found["relations"]), None)


def read_chemprot(abstracts: Path, entities: Path, relations: Path | None, counts: Counts) -> Iterator[Annotated]:
    """Yield the documents in the order of the file of abstracts.

    The three files are in different orders, so entities and relations are held in memory.

    Args:
        abstracts: a file with rows of document id, title, abstract.
        entities: a file with rows of document id, annotation id, type, start, end, text.
        relations: a file with rows of document id, relation, annotation ids of the two arguments; may be None.
        counts: receives the documents, annotations and relations read and excluded.

    Raises:
        InputError: a file cannot be read, or the file of abstracts is empty.
    """
    entity_rows = _grouped(entities, 6, counts)
    relation_rows = _grouped(relations, 4, counts) if relations else {}
    seen: set[int | str] = set()
    for number, line in read_lines(abstracts, counts):
        fields = line.split("\t")
        if not line.strip():
            continue
        counts.add(Reason.ROWS_READ)
        if len(fields) < 2 or not fields[0].strip():
            counts.add(Reason.ROW_MALFORMED, f"{abstracts}:{number}")
            continue
        counts.add(Reason.ROWS_KEPT)
        counts.add(Reason.RECORDS_READ)
        counts.add(Reason.DOCUMENTS_READ)
        doc_id = fields[0].strip()
        if document_key(doc_id) in seen:
            counts.add(Reason.DOCUMENT_REPEATED, f"{abstracts}:{number}")
            continue
        seen.add(document_key(doc_id))
        counts.add(Reason.DOCUMENTS_KEPT)
        # tabs within the abstract are kept, because offsets count them
        document = Document(doc_id, fields[1], "\t".join(fields[2:]))
        marked = [row.split("\t") for row in entity_rows.pop(doc_id, [])]
        related = [row.split("\t") for row in relation_rows.pop(doc_id, [])]
        yield _annotated(document, marked, related, counts, f"{entities} {doc_id}")
    if not seen:
        raise InputError(
            f"{abstracts}: the file has no abstracts", "each line should be id, title and abstract, separated by tabs"
        )
    for doc_id, rows in entity_rows.items():
        counts.add(Reason.ANNOTATIONS_READ, count=len(rows))
        counts.add(Reason.ANNOTATION_WITHOUT_DOCUMENT, doc_id, len(rows))
    for doc_id, rows in relation_rows.items():
        counts.add(Reason.RELATION_ROWS_READ, count=len(rows))
        counts.add(Reason.CURATION_WITHOUT_DOCUMENT, doc_id, len(rows))


def _grouped(path: Path, width: int, counts: Counts) -> Rows:
    """The rows of a file by document id. The last cell of a row, such as the text of an entity, may contain tabs.

    Raises:
        InputError: the file cannot be read, or has more rows than fit in memory.
    """
    rows: Rows = {}
    count = 0
    for number, line in read_lines(path, counts):
        if not line.strip():
            continue
        counts.add(Reason.ROWS_READ)
        if line.count("\t") < width - 1:
            counts.add(Reason.ROW_MALFORMED, f"{path}:{number}")
            continue
        count += 1
        if count > _MOST_ROWS:
            raise InputError(
                f"{path}: too many rows to hold in memory (more than {_MOST_ROWS} rows)", "divide the set into parts"
            )
        counts.add(Reason.ROWS_KEPT)
        doc_id, _, rest = line.partition("\t")
        rows.setdefault(doc_id.strip(), []).append(rest)
    return rows


def _annotated(
    document: Document, entities: list[list[str]], relations: list[list[str]], counts: Counts, place: str
) -> Annotated:
    mentions: dict[str, Mention] = {}
    for local, raw_type, start, end, *text in entities:
        counts.add(Reason.ANNOTATIONS_READ)
        if not (is_offset(start) and is_offset(end)):
            counts.add(Reason.ANNOTATION_WITHOUT_OFFSETS, f"{place} {local}")
        elif local in mentions:
            counts.add(Reason.ANNOTATION_NAME_REPEATED, f"{place} {local}")
        else:
            mentions[local] = Mention(
                document.doc_id,
                int(start),
                int(end),
                "\t".join(text),
                entity_type(raw_type),
                f"LOCAL:{local}",
            )
    found = distinct_curations(_curations(document.doc_id, relations, mentions, counts, place), counts, place)
    checked = check_spans(document, tuple(mentions.values()), counts, place)
    return Annotated(document, without_repeats(checked, counts, place), found)


def _curations(
    doc_id: str, rows: list[list[str]], mentions: dict[str, Mention], counts: Counts, place: str
) -> Iterator[Curation]:
    """Convert relation rows to curations. In ChemProt, more cells follow the relation, before the arguments."""
    for relation, *cells in rows:
        counts.add(Reason.RELATION_ROWS_READ)
        matches = filter(None, (_ARGUMENT.fullmatch(cell.strip()) for cell in cells))
        arguments = {match[1]: match[2] for match in matches}
        head, tail = (mentions.get(arguments.get(side, "")) for side in ("1", "2"))
        if head is None or tail is None or not head.entity_id or not tail.entity_id:
            counts.add(Reason.CURATION_ARGUMENT_NOT_ANNOTATED, f"{place} {relation}")
            continue
        yield Curation(doc_id, head.type, head.entity_id, relation.strip(), tail.type, tail.entity_id)
