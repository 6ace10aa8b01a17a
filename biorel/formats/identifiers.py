"""Concept ids in one style. Each source normalises at its edge, so that joins meet.

`MESH:D003000`, `NCBIGene:367`, `OMIM:104300`, `CHEBI:16523`, `NCBITaxon:9606`. Normalising twice
changes nothing.
"""

from __future__ import annotations

import re

# what corpora call the types that biorel knows; other types pass as they are
_TYPES = {
    "chemical": "Chemical",
    "chemicalentity": "Chemical",
    "drug": "Chemical",
    "disease": "Disease",
    "diseaseorphenotypicfeature": "Disease",
    "gene": "Gene",
    "geneorgeneproduct": "Gene",
    "gene-y": "Gene",
    "gene-n": "Gene",
    "protein": "Gene",
    "species": "Species",
    "organismtaxon": "Species",
}
_PREFIXES = {
    "mesh": "MESH",
    "omim": "OMIM",
    "mim": "OMIM",
    "chebi": "CHEBI",
    "ncbigene": "NCBIGene",
    "ncbi gene": "NCBIGene",
    "gene": "NCBIGene",
    "entrezgene": "NCBIGene",
    "ncbitaxon": "NCBITaxon",
    "taxon": "NCBITaxon",
}
_UNLINKED = frozenset({"", "-", "--", "-1", "none", "null", "nil", "na", "n/a", "nan", "unknown", "cui-less"})
_STARS = re.compile(r"\A[\s*]+")
_MESH = re.compile(r"[CDcd]\d{6,9}")
_GENE_WITH_TAXON = re.compile(r"(\d+)\s*\(Tax:\d+\)")
# mutations spell their parts with the separators that join concepts elsewhere (`c|SUB|G|12|A`)
_JOINED_TYPES = frozenset({"Chemical", "Disease", "Gene", "Species"})
# BioRED joins with commas; a name may hold one too (`2,4-D`), so both sides must look like ids
_COMMA = re.compile(r"(?<=\d)\s*,\s*(?=(?:[A-Za-z]+:[\w.]+|[CDcd]\d{6,9}|\d+)\s*(?:[,|;]|$))")


def entity_type(raw: str) -> str:
    """The type in biorel's spelling."""
    return _TYPES.get(raw.strip().lower(), raw.strip())


def concept_id(raw: str, type_: str) -> str | None:
    """One id with its namespace, or None where the source says that it knows none.

    A bare number is read by the entity type: a gene, a taxon, or, for a disease, an OMIM entry.
    """
    text = _STARS.sub("", raw).strip()
    if text.lower() in _UNLINKED:
        return None
    prefix, colon, rest = text.partition(":")
    if colon and prefix.lower() in _PREFIXES:
        namespace = _PREFIXES[prefix.lower()]
        if rest.strip().lower() in _UNLINKED:
            return None
        local = rest.strip()
        return f"{namespace}:{local.upper() if namespace == 'MESH' else local}"
    if _MESH.fullmatch(text):
        return f"MESH:{text.upper()}"
    if type_ == "Gene":
        with_taxon = _GENE_WITH_TAXON.fullmatch(text)
        if with_taxon or text.isdecimal():
            return f"NCBIGene:{with_taxon[1] if with_taxon else text}"
    if text.isdecimal() and type_ in ("Species", "Disease"):
        return f"{'NCBITaxon' if type_ == 'Species' else 'OMIM'}:{text}"
    return text


def concept_ids(raw: str, type_: str) -> tuple[str | None, ...]:
    """The ids of a mention field: PubTator joins several concepts with `|` or `;`, BioRED with `,`.

    Never empty. A part that says it is unlinked (`D002544|-1`) is a concept that nobody knows: None.
    Order is the source's, repeats are gone.
    """
    parts = [raw]
    if type_ in _JOINED_TYPES:
        parts = [part for part in re.split(r"[|;]", _COMMA.sub("|", raw)) if part.strip()]
    return tuple(dict.fromkeys(concept_id(part, type_) for part in parts)) or (None,)


def local_id(id_: str) -> str:
    """The id without the namespaces that PubTator files leave out (MESH and NCBIGene)."""
    return re.sub(r"^(MESH|NCBIGene):", "", id_)


def document_key(doc_id: str) -> int | str:
    """The id as a set remembers it best: a PMID as a number, half its size; unequal ids stay unequal."""
    if doc_id.isascii() and doc_id.isdecimal() and doc_id[0] != "0" and len(doc_id) < 19:
        return int(doc_id)
    return doc_id
