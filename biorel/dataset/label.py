"""Labelling one document: linking, candidate pairs, supervision and the hypernym filter, in this order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from biorel.dataset.candidates import candidates, entities, link
from biorel.dataset.derive_schema import roll_up
from biorel.dataset.hypernyms import Ancestors, filter_hypernyms
from biorel.dataset.relation_schema import RelationSchema
from biorel.dataset.supervise import not_mentioned, supervise
from biorel.records import Annotated, Exclusion, Mention, Pair


@dataclass(frozen=True)
class Rules:
    """How documents are labelled.

    Attributes:
        schema: the labels.
        parents: maps each interaction type of CTD to its parent; see `derive_schema.roll_up`.
        ancestors: see `hypernyms.strict_ancestors`.
        unlinked: see `candidates.link`.
        hypernyms: see `hypernyms.filter_hypernyms`.
        exclude_inferred: see `supervise.supervise`.
        gold: the curations are the corpus's own relation rows. A row whose entity has no mention is then a missed
            fact; a row of CTD may come from the full text of the article.
    """

    schema: RelationSchema
    parents: Mapping[str, str]
    ancestors: Ancestors
    unlinked: str
    hypernyms: str
    exclude_inferred: bool
    gold: bool


def label(annotated: Annotated, rules: Rules) -> tuple[tuple[Mention, ...], tuple[Pair, ...]]:
    """The linked mentions of a document, and all its pairs including the excluded ones."""
    doc_id = annotated.document.doc_id
    curations = [
        replace(curation, relation=roll_up(curation.relation, rules.parents)) for curation in annotated.curations
    ]
    linked = link(annotated.mentions, rules.unlinked)
    pairs = candidates(doc_id, entities(linked), rules.schema)
    pairs = supervise(pairs, curations, rules.schema, exclude_inferred=rules.exclude_inferred)
    pairs = filter_hypernyms(pairs, rules.ancestors, rules.hypernyms)
    missing = not_mentioned(doc_id, pairs, curations, rules.schema) if rules.gold else ()
    return linked, (*pairs, *missing)


def mark_too_long(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Exclude all pairs of a document that is over the token limit. The positive pairs still count as facts."""
    return tuple(replace(pair, excluded_because=pair.excluded_because or Exclusion.TOO_LONG) for pair in pairs)
