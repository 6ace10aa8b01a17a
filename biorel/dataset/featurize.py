"""Encodes a document with mentions and pairs as an example: token ids, token spans, BIO tags and pair features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tokenizers import Encoding, Tokenizer

from biorel.counts import Counts, Reason
from biorel.dataset.candidates import EntityKey, entities
from biorel.dataset.lexical_features import lexical_features, mark_words
from biorel.dataset.pair_features import MentionPlace, pair_features
from biorel.records import Document, Example, Mention, Pair
from biorel.text.alignment import token_span
from biorel.text.sentences import sentence_index, sentence_starts
from biorel.text.tokenizer import encode


@dataclass(frozen=True)
class _Placed:
    """A linked mention with the index of its entity and its half-open token span."""

    entity: int
    first: int
    last: int
    mention: Mention


@dataclass(frozen=True)
class Featurizer:
    """Turns documents into examples.

    Attributes:
        tokenizer: splits the texts into the tokens of the examples.
        relations: [R] labels; relation i of an example is label i - 1, and 0 is NULL.
        ner: BIO labels, see `dataset.labels.ner_labels`.
    """

    tokenizer: Tokenizer
    relations: tuple[str, ...]
    ner: tuple[str, ...]

    @cached_property
    def _relation_index(self) -> Mapping[str, int]:
        return {name: index for index, name in enumerate(self.relations, start=1)}

    @cached_property
    def _tag_index(self) -> Mapping[str, int]:
        return {label: index for index, label in enumerate(self.ner)}

    def encode(self, document: Document) -> Encoding:
        """The tokens of a document."""
        return encode(self.tokenizer, document.text)

    def example(
        self,
        document: Document,
        mentions: Sequence[Mention],
        linked: Sequence[Mention],
        pairs: Sequence[Pair],
        counts: Counts,
        encoding: Encoding | None = None,
    ) -> Example:
        """Encode one document.

        Args:
            document: the document.
            mentions: all mentions, linked or not, from which the BIO tags are made.
            linked: the mentions that belong to entities (see `candidates.link`).
            pairs: candidates, labelled or not. Pairs of an entity that has no token are left out.
            counts: receives the mentions that no token overlaps, the pairs lost with them, and pairs of adjacent
                mentions that share a token.
            encoding: the document's tokens, if `encode` has been called already.
        """
        text = document.text
        encoding = encoding if encoding is not None else self.encode(document)
        offsets = encoding.offsets
        starts = tuple(start for start, _ in offsets)
        ends = tuple(end for _, end in offsets)
        sentences = sentence_starts(text, len(document.title), [(mention.start, mention.end) for mention in mentions])

        keys = entities(linked)
        entity_of = {key: index for index, key in enumerate(keys)}
        placed = _placed(document, linked, entity_of, starts, ends, counts)
        places: dict[int, list[MentionPlace]] = {}
        for one in placed:
            sentence = sentence_index(sentences, one.mention.start)
            in_title = one.mention.start < len(document.title)
            places.setdefault(one.entity, []).append(MentionPlace(one.first, one.last, sentence, in_title))

        kept: list[tuple[int, int, Pair]] = []
        for pair in pairs:
            head = entity_of.get(EntityKey(pair.head_id, pair.head_type))
            tail = entity_of.get(EntityKey(pair.tail_id, pair.tail_type))
            if head in places and tail in places:
                kept.append((head, tail, pair))
            else:
                counts.add(Reason.PAIR_WITHOUT_TOKENS, f"{document.doc_id} {pair.head_id} {pair.tail_id}")
        type_counts: dict[str, list[int]] = {}
        for entity, of_entity in places.items():
            type_counts.setdefault(keys[entity].type, []).append(len(of_entity))
        words = mark_words(
            text,
            sentences,
            [(one.entity, one.mention) for one in placed],
            [key.id for key in keys],
            [key.type for key in keys],
        )
        return Example(
            doc_id=document.doc_id,
            token_ids=tuple(encoding.ids),
            token_starts=starts,
            token_ends=ends,
            sentence_starts=sentences,
            ner_tags=self._tags(starts, ends, mentions),
            entity_ids=tuple(key.id for key in keys),
            entity_types=tuple(key.type for key in keys),
            mention_entities=tuple(one.entity for one in placed),
            mention_starts=tuple(one.first for one in placed),
            mention_ends=tuple(one.last for one in placed),
            mention_char_starts=tuple(one.mention.start for one in placed),
            mention_char_ends=tuple(one.mention.end for one in placed),
            pair_heads=tuple(head for head, _, _ in kept),
            pair_tails=tuple(tail for _, tail, _ in kept),
            pair_labels=tuple(tuple(self._relation_index[name] for name in pair.relations) for _, _, pair in kept),
            pair_exclusions=tuple(pair.excluded_because for _, _, pair in kept),
            pair_features=tuple(
                pair_features(
                    places[head],
                    places[tail],
                    type_counts[pair.head_type],
                    type_counts[pair.tail_type],
                    len(sentences),
                )
                for head, tail, pair in kept
            ),
            pair_lexical_features=tuple(lexical_features(words, head, tail) for head, tail, _ in kept),
        )

    def _tags(self, starts: Sequence[int], ends: Sequence[int], mentions: Sequence[Mention]) -> tuple[int, ...]:
        """[T] BIO tags (section 2.5). Of overlapping mentions the longest is tagged."""
        tags = [0] * len(starts)
        for mention in sorted(mentions, key=lambda mention: (mention.start - mention.end, mention.start)):
            begin = self._tag_index.get(f"B-{mention.type}")
            span = token_span(starts, ends, mention.start, mention.end)
            if span and begin is not None and not any(tags[span[0] : span[1]]):
                tags[span[0]] = begin
                tags[span[0] + 1 : span[1]] = [self._tag_index[f"I-{mention.type}"]] * (span[1] - span[0] - 1)
        return tuple(tags)


def _placed(
    document: Document,
    linked: Sequence[Mention],
    entity_of: Mapping[EntityKey, int],
    starts: Sequence[int],
    ends: Sequence[int],
    counts: Counts,
) -> list[_Placed]:
    """The distinct linked mentions with their tokens, in the order of the text; those without a token are counted."""
    placed: list[_Placed] = []
    for mention in sorted(set(linked), key=lambda m: (m.start, m.end, str(m.entity_id), m.type, m.text)):
        span = token_span(starts, ends, mention.start, mention.end)
        if span is None:
            counts.add(Reason.MENTION_WITHOUT_TOKENS, f"{document.doc_id} {mention.start}-{mention.end}")
        else:
            placed.append(_Placed(entity_of[EntityKey(mention.entity_id or "", mention.type)], *span, mention))
    for one, following in pairwise(placed):
        if one.mention.end <= following.mention.start and following.first < one.last:
            place = f"{document.doc_id} {one.mention.text!r} {following.mention.text!r}"
            counts.add(Reason.MENTIONS_SHARING_TOKEN, place)
    return placed
