"""Read BioC's infons, which hold the concepts of an annotation and the arguments of a relation.

BioC does not fix the names of infons. Corpora write a concept as `identifier` (PubTator, BioRED) or under the name of
its vocabulary (`MESH`, CDR); a relation refers to annotations through nodes, or names its concepts in infons:
`role1` and `role2` (PubTator3), `entity1` and `entity2` (BioRED), or two types (`Chemical`, `Disease`, CDR).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bioc import BioCAnnotation, BioCRelation

from biorel.counts import Counts, Reason
from biorel.formats.identifiers import concept_ids, entity_type
from biorel.formats.references import Concept, resolve, says_no_relation
from biorel.records import Curation

_VOCABULARIES = ("mesh", "ncbigene", "ncbi gene", "entrezgene", "omim", "chebi", "ncbitaxon", "taxon")
_ARGUMENT_NAMES = (("role1", "role2"), ("entity1", "entity2"), ("arg1", "arg2"))
_CONCEPT_TYPES = ("Chemical", "Disease", "Gene")
_HEAD_ROLES = frozenset({"arg1", "subject", "head", "source", "agent"})
_TAIL_ROLES = frozenset({"arg2", "object", "tail", "target"})
# `Chemical|MESH:D003000`; the parts of a mutation (`p|DEL|10_12|`) are shorter than any type's name
_TYPED = re.compile(r"([A-Za-z]{3,})\|(.+)", re.DOTALL)


def infon_text(node: Any, name: str) -> str:
    """The text of an infon: a number in digits, a list joined by `|`; empty if the infon is missing."""
    return _text(node.infons.get(name))


def annotated_concepts(annotation: BioCAnnotation) -> tuple[tuple[str | None, ...], str]:
    """The concept ids of an annotation (at least one, possibly None) and its type."""
    type_ = entity_type(infon_text(annotation, "type"))
    raw = infon_text(annotation, "identifier") or infon_text(annotation, "normalized_id")
    if not raw:
        ids = []
        for name in annotation.infons:
            if name.lower() in _VOCABULARIES:
                parts = re.split(r"[|;,]", infon_text(annotation, name))
                ids += [part if ":" in part else f"{name}:{part.strip()}" for part in parts]
        raw = "|".join(ids)
    return concept_ids(raw, type_), type_


def curations(
    doc_id: str,
    relations: Iterable[BioCRelation],
    annotations: Mapping[str, BioCAnnotation],
    concepts: Mapping[str, Concept],
    counts: Counts,
    place: str,
) -> Iterator[Curation]:
    """Yield the relations that have a type and two arguments with concept ids. The others are counted.

    An argument that names several concepts gives one curation for each.

    Args:
        relations: all relations of the document.
        annotations: the annotations of the document by id; nodes refer to these ids.
        concepts: the concepts of the document's mentions, see `references.concepts_of`.
        counts: receives the relations read and excluded.
        place: file and document, as an example for the counts.
    """
    for relation in relations:
        counts.add(Reason.RELATION_ROWS_READ)
        name = infon_text(relation, "type") or infon_text(relation, "relation")
        arguments = _arguments(relation, annotations, concepts)
        where = f"{place} relation {relation.id}"
        if not name:
            counts.add(Reason.CURATION_WITHOUT_TYPE, where)
        elif says_no_relation(name):
            counts.add(Reason.CURATION_NEGATIVE, where)
        elif len(arguments) != 2:
            counts.add(Reason.CURATION_NOT_TWO_ARGUMENTS, where)
        elif not all(arguments):
            counts.add(Reason.CURATION_ARGUMENT_WITHOUT_CONCEPT, where)
        else:
            pairs = list(itertools.product(*arguments))
            if len(pairs) > 1:
                counts.add(Reason.CURATIONS_ADDED_SEVERAL_CONCEPTS, count=len(pairs) - 1)
            for (head_id, head_type), (tail_id, tail_type) in pairs:
                yield Curation(doc_id, head_type, head_id, name, tail_type, tail_id)


def _arguments(
    relation: BioCRelation, annotations: Mapping[str, BioCAnnotation], concepts: Mapping[str, Concept]
) -> list[list[Concept]]:
    """The concepts that each argument of a relation names, head first."""
    infons = {name.lower(): value for name, value in relation.infons.items()}
    # infons first, because PubTator3's nodes do not hold annotation ids
    for head, tail in _ARGUMENT_NAMES:
        if head in infons and tail in infons:
            return [_named(infons[head], concepts), _named(infons[tail], concepts)]
    if relation.nodes:
        known = [annotations[node.refid] for node in _by_role(relation.nodes) if node.refid in annotations]
        named = [annotated_concepts(annotation) for annotation in known]
        return [[(id_, type_) for id_ in ids if id_ is not None] for ids, type_ in named]
    typed = [(entity_type(name), _text(value)) for name, value in relation.infons.items()]
    return [_resolved(value, type_, concepts) for type_, value in typed if type_ in _CONCEPT_TYPES]


def _by_role(nodes: Iterable[Any]) -> list[Any]:
    """The nodes sorted by role, heads before tails. Nodes without such a role keep the order of the file."""

    def rank(node: Any) -> int:
        role = node.role.lower()
        return 0 if role in _HEAD_ROLES else 2 if role in _TAIL_ROLES else 1

    return sorted(nodes, key=rank)


def _named(value: Any, concepts: Mapping[str, Concept]) -> list[Concept]:
    """The concepts of an argument. The value of its infon is an id, `type|id`, or an object as PubTator3 writes it."""
    if isinstance(value, dict):
        raw = _text(value.get("identifier")) or _text(value.get("normalized_id"))
        return _resolved(raw, entity_type(_text(value.get("type")) or _text(value.get("biotype"))), concepts)
    typed = _TYPED.fullmatch(_text(value))
    if typed:
        return _resolved(typed[2], entity_type(typed[1]), concepts)
    return _resolved(_text(value), "", concepts)


def _resolved(raw: str, type_: str, concepts: Mapping[str, Concept]) -> list[Concept]:
    resolved = (resolve(id_, type_, concepts) for id_ in concept_ids(raw, type_) if id_ is not None)
    return list(dict.fromkeys(concept for concept in resolved if concept is not None))


def _text(value: Any) -> str:
    """A string, a number in digits, or a list of these joined by `|`. Nested lists are ignored."""
    if isinstance(value, list):
        return "|".join(text for text in map(_one_text, value) if text)
    return _one_text(value)


def _one_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
