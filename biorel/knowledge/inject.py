"""K-Inject of K-BERT: adds the branches of a document to its example, as token ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

from tokenizers import Tokenizer

from biorel.knowledge.graph import Graph, Subject, find_names, name_key
from biorel.knowledge.support import Support
from biorel.records import Example, Triple
from biorel.text.alignment import token_span
from biorel.text.tokenizer import encode

LONGEST_BRANCH = 16  # tokens of predicate and object; longer branches are cut
ENTITIES, NAMES = "entities", "names"


@dataclass(frozen=True)
class Injector:
    """Writes the triples of a graph into documents, in one vocabulary.

    Attributes:
        limit: maximum number of branches of an entity. A branch is attached to all mentions of the entity together.
        by: `entities` attaches branches to the entities of the document, `names` to the graph's names in the text,
            so that the branches do not reveal the entities to a network that has to find them.
        support: if given, its features are appended to the text features of each pair.
        text_features: the number of text features; features after these are replaced.
    """

    graph: Graph
    tokenizer: Tokenizer
    limit: int
    by: str = ENTITIES
    support: Support | None = None
    text_features: int = 0
    _ids: Callable[[str], tuple[int, ...]] = field(init=False, repr=False, compare=False)
    _names: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        @cache
        def ids(words: str) -> tuple[int, ...]:
            return tuple(encode(self.tokenizer, words).ids[:LONGEST_BRANCH])

        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_names", self.graph.subject_names if self.by == NAMES else frozenset())

    def __call__(self, example: Example, text: str) -> Example:
        """Add the branches of the entities to an example; the branches of one entity are adjacent.

        Args:
            example: the example of the text; branches that are there already are replaced.
            text: the text that the example's character spans refer to.
        """
        places, subjects = self._named(example, text) if self.by == NAMES else _entities(example, text)
        found = self.graph.branches(subjects, example.doc_id, self.limit)
        grown = [
            (tokens, anchors)
            for anchors, triples in zip(places, found, strict=True)
            for triple in triples
            if (tokens := self._ids(branch_words(triple)))
        ]
        return replace(
            example,
            branch_tokens=tuple(tokens for tokens, _ in grown),
            branch_anchors=tuple(anchors for _, anchors in grown),
            pair_features=example.pair_features
            if self.support is None
            else _with_support(example, self.support, self.text_features),
        )

    def _named(self, example: Example, text: str) -> tuple[list[tuple[int, ...]], list[Subject]]:
        """The tokens and names of the graph's subjects that the text names."""
        tokens: dict[str, set[int]] = {}
        for start, end in find_names(text, self._names):
            span = token_span(example.token_starts, example.token_ends, start, end)
            if span is not None:
                tokens.setdefault(name_key(text[start:end]), set()).update(range(*span))
        return [tuple(sorted(places)) for places in tokens.values()], [Subject("", (name,)) for name in tokens]


def _with_support(example: Example, support: Support, text_features: int) -> tuple[tuple[float, ...], ...]:
    """The text features of each pair, followed by those of the graph."""
    ids = example.entity_ids
    return tuple(
        (*own[:text_features], *support.features(ids[head], ids[tail], example.doc_id))
        for own, head, tail in zip(example.pair_features, example.pair_heads, example.pair_tails, strict=True)
    )


def branch_words(triple: Triple) -> str:
    """The words of a branch: the predicate, then the object."""
    return f"{triple.predicate.replace('_', ' ')} {triple.object}"


def _entities(example: Example, text: str) -> tuple[list[tuple[int, ...]], list[Subject]]:
    """The tokens of each entity's mentions, and its id and names; entities without a mention are left out."""
    tokens: dict[int, set[int]] = {}
    names: dict[int, dict[str, None]] = {}
    for entity, start, end, first, last in zip(
        example.mention_entities,
        example.mention_starts,
        example.mention_ends,
        example.mention_char_starts,
        example.mention_char_ends,
        strict=True,
    ):
        tokens.setdefault(entity, set()).update(range(start, end))
        names.setdefault(entity, {})[text[first:last]] = None
    subjects = [Subject(example.entity_ids[entity], tuple(names[entity])) for entity in tokens]
    return [tuple(sorted(places)) for places in tokens.values()], subjects
