"""One document through all the rules: link, candidates, supervision, hypernym filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from biorel.dataset.candidates import candidates, entities, link
from biorel.dataset.hypernyms import Ancestors, filter_hypernyms
from biorel.dataset.relation_schema import RelationSchema, roll_up
from biorel.dataset.supervise import not_mentioned, supervise
from biorel.records import TOO_LONG, Annotated, Curation, Mention, Pair


@dataclass(frozen=True)
class Rules:
    """What labelling depends on beside the document; see `config.BuildDataset` for the choices.

    `gold` says that curations are relation rows of the corpus: one whose entity has no mention is a
    fact missed, not a fact of the full text.
    """

    schema: RelationSchema
    parents: Mapping[str, str]
    ancestors: Ancestors
    unlinked: str
    hypernyms: str
    exclude_inferred: bool
    gold: bool


def label(
    annotated: Annotated, curations: Iterable[Curation], rules: Rules
) -> tuple[tuple[Mention, ...], tuple[Pair, ...]]:
    """The linked mentions of a document and all its pairs, those that count and those held back."""
    doc_id = annotated.document.doc_id
    rolled = [replace(curation, relation=roll_up(curation.relation, rules.parents)) for curation in curations]
    linked = link(annotated.mentions, rules.unlinked)
    pairs = candidates(doc_id, entities(linked), rules.schema)
    pairs = supervise(pairs, rolled, rules.schema, exclude_inferred=rules.exclude_inferred)
    pairs = filter_hypernyms(pairs, rules.ancestors, rules.hypernyms)
    missing = not_mentioned(doc_id, pairs, rolled, rules.schema) if rules.gold else ()
    return linked, (*pairs, *missing)


def mark_too_long(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """The pairs of a document over the token cap: told, and kept as facts that were missed."""
    return tuple(replace(pair, excluded_because=pair.excluded_because or TOO_LONG) for pair in pairs)
