"""Documents with mentions and pairs into examples: token ids, token spans, BIO tags, features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
class Featurizer:
    """What turns a document into an example: the tokenizer and the numbering of labels."""

    tokenizer: Tokenizer
    relations: tuple[str, ...]
    ner: tuple[str, ...]

    def count_tokens(self, document: Document) -> int:
        return len(self._encoded(document).ids)

    def _encoded(self, document: Document) -> Encoding:
        return encode(self.tokenizer, document.text)

    def example(
        self,
        document: Document,
        mentions: Sequence[Mention],
        linked: Sequence[Mention],
        pairs: Sequence[Pair],
        counts: Counts,
    ) -> Example:
        """Encode one document.

        Args:
            document: its text gives the tokens.
            mentions: all mentions, linked or not; they give the BIO tags.
            linked: the mentions that belong to entities (see `candidates.link`).
            pairs: candidates, labelled or not; those of entities without a token are left out.
            counts: books mentions that no token overlaps, the pairs lost with them, and neighbours in one token.
        """
        encoding = self._encoded(document)
        starts = tuple(start for start, _ in encoding.offsets)
        ends = tuple(end for _, end in encoding.offsets)
        spans = [(mention.start, mention.end) for mention in mentions]
        sentences = sentence_starts(document.text, len(document.title), spans)

        keys = entities(linked)
        number = {key: index for index, key in enumerate(keys)}
        placed: list[tuple[int, tuple[int, int], Mention]] = []
        for mention in sorted(set(linked), key=lambda m: (m.start, m.end, str(m.entity_id), m.type, m.text)):
            span = token_span(starts, ends, mention.start, mention.end)
            if span is None:
                counts.add(Reason.MENTION_WITHOUT_TOKENS, f"{document.doc_id} {mention.start}-{mention.end}")
            else:
                placed.append((number[EntityKey(mention.entity_id or "", mention.type)], span, mention))

        for (_, one, mention), (_, other, following) in pairwise(placed):
            if mention.end <= following.start and other[0] < one[1]:
                place = f"{document.doc_id} {mention.text!r} {following.text!r}"
                counts.add(Reason.MENTIONS_SHARING_TOKEN, place)

        places: dict[int, list[MentionPlace]] = {}
        for entity, (first, last), mention in placed:
            sentence = sentence_index(sentences, mention.start)
            places.setdefault(entity, []).append(
                MentionPlace(first, last, sentence, mention.start < len(document.title))
            )
        mention_counts = {keys[entity]: len(found) for entity, found in places.items()}
        kept = []
        for pair in pairs:
            head, tail = EntityKey(pair.head_id, pair.head_type), EntityKey(pair.tail_id, pair.tail_type)
            if head in mention_counts and tail in mention_counts:
                kept.append((number[head], number[tail], pair))
            else:
                counts.add(Reason.PAIR_WITHOUT_TOKENS, f"{document.doc_id} {pair.head_id} {pair.tail_id}")
        rivals = {
            type_: [count for key, count in mention_counts.items() if key.type == type_]
            for type_ in {key.type for key in mention_counts}
        }
        words = mark_words(
            document.text,
            sentences,
            [(entity, mention) for entity, _, mention in placed],
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
            mention_entities=tuple(entity for entity, _, _ in placed),
            mention_starts=tuple(span[0] for _, span, _ in placed),
            mention_ends=tuple(span[1] for _, span, _ in placed),
            mention_char_starts=tuple(mention.start for _, _, mention in placed),
            mention_char_ends=tuple(mention.end for _, _, mention in placed),
            pair_heads=tuple(head for head, _, _ in kept),
            pair_tails=tuple(tail for _, tail, _ in kept),
            pair_labels=tuple(tuple(self.relations.index(name) + 1 for name in pair.relations) for _, _, pair in kept),
            pair_exclusions=tuple(pair.excluded_because for _, _, pair in kept),
            pair_features=tuple(
                pair_features(
                    places[head], places[tail], rivals[pair.head_type], rivals[pair.tail_type], len(sentences)
                )
                for head, tail, pair in kept
            ),
            pair_lexical_features=tuple(lexical_features(words, head, tail) for head, tail, _ in kept),
        )

    def _tags(self, starts: Sequence[int], ends: Sequence[int], mentions: Sequence[Mention]) -> tuple[int, ...]:
        """BIO tag indices per sub-word (section 2.5); of overlapping mentions the longest is tagged."""
        tags = [0] * len(starts)
        index = {label: number for number, label in enumerate(self.ner)}
        for mention in sorted(mentions, key=lambda mention: (mention.start - mention.end, mention.start)):
            span = token_span(starts, ends, mention.start, mention.end)
            if span and f"B-{mention.type}" in index and not any(tags[span[0] : span[1]]):
                tags[span[0]] = index[f"B-{mention.type}"]
                tags[span[0] + 1 : span[1]] = [index[f"I-{mention.type}"]] * (span[1] - span[0] - 1)
        return tuple(tags)
