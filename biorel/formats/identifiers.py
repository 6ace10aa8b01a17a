"""Normalise concept ids, so that tables of different sources can be joined by id.

Normalised ids look like `MESH:D003000`, `NCBIGene:367`, `OMIM:104300`, `CHEBI:16523` and `NCBITaxon:9606`. Normalising
a normalised id does not change it.
"""

from __future__ import annotations

import re

# names of entity types in corpora, and those of biorel; other types are kept unchanged
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
# mutations use the separators that otherwise join concepts (`c|SUB|G|12|A`)
_JOINED_TYPES = frozenset({"Chemical", "Disease", "Gene", "Species"})
# BioRED joins ids with commas; a name may hold a comma too (`2,4-D`), so both sides must look like ids
_COMMA = re.compile(r"(?<=\d)\s*,\s*(?=(?:[A-Za-z]+:[\w.]+|[CDcd]\d{6,9}|\d+)\s*(?:[,|;]|$))")


def entity_type(raw: str) -> str:
    """The name that biorel uses for an entity type of a corpus."""
    return _TYPES.get(raw.strip().lower(), raw.strip())


def concept_id(raw: str, type_: str) -> str | None:
    """Add the namespace to one id. Returns None if the source marks the concept as unknown.

    The entity type decides the namespace of a bare number: NCBIGene, NCBITaxon, or OMIM for a disease.
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
    """The ids in the concept field of a mention. PubTator joins several ids with `|` or `;`, BioRED with `,`.

    The result is never empty. A part marked as unlinked (the `-1` of `D002544|-1`) gives None. The ids keep the order
    of the source; repeated ids are left out.
    """
    parts = [raw]
    if type_ in _JOINED_TYPES:
        parts = [part for part in re.split(r"[|;]", _COMMA.sub("|", raw)) if part.strip()]
    return tuple(dict.fromkeys(concept_id(part, type_) for part in parts)) or (None,)


def local_id(id_: str) -> str:
    """The id without the namespaces that PubTator files leave out (MESH and NCBIGene)."""
    return re.sub(r"^(MESH|NCBIGene):", "", id_)


def document_key(doc_id: str) -> int | str:
    """A compact key of a document id for sets: a PMID becomes a number, which takes half the memory."""
    if doc_id.isascii() and doc_id.isdecimal() and doc_id[0] != "0" and len(doc_id) < 19:
        return int(doc_id)
    return doc_id
