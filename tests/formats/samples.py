"""A document with everything that is hard for a format to represent, and its relations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from biorel.formats.writers import FORMATS
from biorel.records import Annotated, Document, Entity, Evidence, Mention, Relation

TITLE = 'Alphadrug <&> "β-blocker" 𝛼 and tremor | a study.'
ABSTRACT = "In rats, lung and liver tumours; AR (367) followed."
DOCUMENT = Document("900001", TITLE, ABSTRACT)
BARE = Document("900002", "Nothing here.", "")


def _mention(text: str, type_: str, entity_id: str | None) -> Mention:
    start = DOCUMENT.text.index(text)
    return Mention("900001", start, start + len(text), text, type_, entity_id)


MENTIONS = (
    _mention("Alphadrug", "Chemical", "MESH:D900001"),
    _mention('"β-blocker" 𝛼', "Chemical", None),
    _mention("tremor", "Disease", "OMIM:104300"),
    _mention("lung and liver tumours", "Disease", "MESH:D900003"),
    _mention("lung and liver tumours", "Disease", None),
    _mention("lung and liver tumours", "Disease", "MESH:D900004"),
    _mention("AR", "Gene", "NCBIGene:367"),
    _mention("367", "Variant", "c|SUB|G|12|A"),
    _mention("367", "Variant", "c|SUB|G|12|C"),
)


def span_of(entity_id: str) -> tuple[int, int]:
    mention = next(mention for mention in MENTIONS if mention.entity_id == entity_id)
    return mention.start, mention.end


def relation(head: str, name: str, tail: str, score: float = 0.5, doc_id: str = "900001") -> Relation:
    """A relation of two of `MENTIONS`, with one piece of weaker evidence before the strong one."""
    types = {mention.entity_id: (mention.type, mention.text) for mention in MENTIONS}
    one, other = (Entity(id_, *types[id_]) for id_ in (head, tail))
    weak = Evidence((0, 1), (2, 3), 0.25, (0, 4))
    strong = Evidence(span_of(head), span_of(tail), 0.75, (0, len(TITLE)))
    return Relation(doc_id, one, name, other, score, (weak, strong))


RELATIONS = (
    relation("MESH:D900001", "chemical_induced_disease", "OMIM:104300", 0.875),
    relation("MESH:D900001", "chemical_induced_disease", "MESH:D900004", 0.75),
    relation("NCBIGene:367", "gene disease", "MESH:D900003"),
)
ANNOTATED = Annotated(DOCUMENT, MENTIONS)


def write(format_: str, path: Path, items: Sequence[tuple[Annotated, Sequence[Relation]]]) -> Path:
    """Write documents with their relations."""
    with FORMATS[format_].writer(path) as writer:
        for annotated, relations in items:
            writer.write(annotated.document, annotated.mentions, relations)
    return path


def write_sample(format_: str, path: Path) -> Path:
    """Write the sample document and one without mentions."""
    return write(format_, path, [(ANNOTATED, RELATIONS), (Annotated(BARE), ())])
