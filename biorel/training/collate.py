"""Turn a plan into a batch: the padded tensors of several examples, with the mention pairs of their entity pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from biorel.model.batch import Batch
from biorel.records import Example
from biorel.text.tokenizer import PAD_ID
from biorel.training.batches import Plan

Span: TypeAlias = tuple[int, int]  # tokens [start, end)


@dataclass(frozen=True)
class Collator:
    """Makes batches of examples for one network.

    Attributes:
        span_pooling: `mentions` (the tokens of a mention are averaged) or `tokens` (each is scored, as in the paper).
        relation_types: (head type, tail type) of each relation, in label order without NULL.
        features: F, the number of pair features that the network reads. Features that an example lacks are 0, such as
            those of a knowledge graph in a document without knowledge.
    """

    span_pooling: str
    relation_types: tuple[tuple[str, str], ...]
    features: int

    def __call__(self, examples: Sequence[Example], plan: Plan) -> Batch:
        """The batch of one plan; its P pairs are in the order of the plan's documents and their pairs."""
        documents = [examples[index] for index in plan.documents]
        length = max(1, *(len(document.token_ids) for document in documents))  # an empty text is one padding token
        token_ids = np.full((len(documents), length), PAD_ID, dtype=np.int64)
        ner = np.zeros((len(documents), length), dtype=np.int64)
        mask = np.zeros((len(documents), length), dtype=bool)
        for row, document in enumerate(documents):
            size = len(document.token_ids)
            token_ids[row, :size] = document.token_ids
            ner[row, :size] = document.ner_tags
            mask[row, :size] = True

        head_spans: list[list[Span]] = []  # of each document
        tail_spans: list[list[Span]] = []
        mention_pairs: list[tuple[int, int, int]] = []  # (document, head span, tail span)
        entity_pairs: list[int] = []
        pair_documents: list[int] = []
        entities: dict[tuple[int, int], int] = {}  # numbers of the entities (row, entity) of pairs
        arguments: list[tuple[int, int]] = []
        features: list[Sequence[float]] = []
        lexical_features: list[int] = []
        lexical_starts: list[int] = []
        labels: list[np.ndarray] = []
        allowed: list[np.ndarray] = []
        relations = len(self.relation_types) + 1
        for row, (document, pairs) in enumerate(zip(documents, plan.pairs, strict=True)):
            spans = entity_spans(document, self.span_pooling)
            heads = _number_spans((document.pair_heads[pair] for pair in pairs), spans)
            tails = _number_spans((document.pair_tails[pair] for pair in pairs), spans)
            head_spans.append([span for entity in heads for span in spans[entity]])
            tail_spans.append([span for entity in tails for span in spans[entity]])
            for pair in pairs:
                head, tail = document.pair_heads[pair], document.pair_tails[pair]
                for head_span in heads[head]:
                    for tail_span in tails[tail]:
                        mention_pairs.append((row, head_span, tail_span))
                        entity_pairs.append(len(pair_documents))
                pair_documents.append(row)
                arguments.append(
                    (
                        entities.setdefault((row, head), len(entities)),
                        entities.setdefault((row, tail), len(entities)),
                    )
                )
                features.append(document.pair_features[pair])
                lexical_starts.append(len(lexical_features))
                lexical_features.extend(document.pair_lexical_features[pair])
                types = (document.entity_types[head], document.entity_types[tail])
                allowed.append(np.array([True, *(expected == types for expected in self.relation_types)]))
                row_labels = np.zeros(relations, dtype=bool)
                row_labels[list(document.pair_labels[pair] or (0,))] = True
                labels.append(row_labels)

        head_tokens, head_mask = _padded_spans(head_spans)
        tail_tokens, tail_mask = _padded_spans(tail_spans)
        indices = np.array(mention_pairs, dtype=np.int64).reshape(-1, 3)
        flat = (indices[:, 0] * head_tokens.shape[1] + indices[:, 1]) * tail_tokens.shape[1] + indices[:, 2]
        branch_ids, branch_mask, branch_anchors = padded_branches(documents, length)
        return Batch(
            token_ids=torch.from_numpy(token_ids),
            token_mask=torch.from_numpy(mask),
            head_tokens=head_tokens,
            head_mask=head_mask,
            tail_tokens=tail_tokens,
            tail_mask=tail_mask,
            mention_pairs=torch.from_numpy(flat),
            entity_pairs=torch.tensor(entity_pairs, dtype=torch.int64),
            pair_documents=torch.tensor(pair_documents, dtype=torch.int64),
            pair_heads=torch.tensor([head for head, _ in arguments], dtype=torch.int64),
            pair_tails=torch.tensor([tail for _, tail in arguments], dtype=torch.int64),
            pair_features=torch.from_numpy(feature_table(features, self.features)).float(),
            lexical_features=torch.tensor(lexical_features, dtype=torch.int64),
            lexical_starts=torch.tensor(lexical_starts, dtype=torch.int64),
            allowed=torch.from_numpy(np.array(allowed, dtype=bool).reshape(-1, relations)),
            labels=torch.from_numpy(np.array(labels, dtype=bool).reshape(-1, relations)),
            ner_labels=torch.from_numpy(ner),
            document_labels=torch.tensor([any(document.pair_labels) for document in documents], dtype=torch.bool),
            branch_ids=branch_ids,
            branch_mask=branch_mask,
            branch_anchors=branch_anchors,
        )


def feature_table(rows: Sequence[Sequence[float]], width: int) -> npt.NDArray[np.float64]:
    """[P, width], where each row is cut to the width or padded with 0."""
    table = np.zeros((len(rows), width))
    for number, row in enumerate(rows):
        kept = row[:width]
        table[number, : len(kept)] = kept
    return table


def padded_branches(documents: Sequence[Example], length: int) -> tuple[Tensor, Tensor, Tensor]:
    """The padded branches of the documents: token ids and mask [B, G, L], anchors [B, G, T].

    Args:
        length: T.
    """
    number = max((len(document.branch_tokens) for document in documents), default=0)
    width = max((len(tokens) for document in documents for tokens in document.branch_tokens), default=0)
    token_ids = np.full((len(documents), number, width), PAD_ID, dtype=np.int64)
    mask = np.zeros(token_ids.shape, dtype=bool)
    anchors = np.zeros((len(documents), number, length), dtype=bool)
    for row, document in enumerate(documents):
        branches = zip(document.branch_tokens, document.branch_anchors, strict=True)
        for branch, (tokens, anchor_tokens) in enumerate(branches):
            token_ids[row, branch, : len(tokens)] = tokens
            mask[row, branch, : len(tokens)] = True
            anchors[row, branch, list(anchor_tokens)] = True
    return torch.from_numpy(token_ids), torch.from_numpy(mask), torch.from_numpy(anchors)


def entity_spans(document: Example, span_pooling: str) -> dict[int, list[Span]]:
    """The distinct spans of each entity: its mentions, or with `tokens` the single tokens of its mentions."""
    spans_of: dict[int, list[Span]] = {}
    mentions = zip(document.mention_entities, document.mention_starts, document.mention_ends, strict=True)
    for entity, start, end in mentions:
        spans = [(start, end)] if span_pooling == "mentions" else [(token, token + 1) for token in range(start, end)]
        spans_of.setdefault(entity, []).extend(spans)
    return {entity: list(dict.fromkeys(spans)) for entity, spans in spans_of.items()}


def _number_spans(entities: Iterable[int], spans: Mapping[int, Sequence[Span]]) -> dict[int, range]:
    """The indices of each entity's spans in the document's row of spans."""
    indices: dict[int, range] = {}
    begin = 0
    for entity in dict.fromkeys(entities):
        indices[entity] = range(begin, begin + len(spans[entity]))
        begin += len(spans[entity])
    return indices


def _padded_spans(rows: Sequence[Sequence[Span]]) -> tuple[Tensor, Tensor]:
    """The token positions [B, H, L] of the spans, and their mask."""
    number = max((len(row) for row in rows), default=0)
    length = max((end - start for row in rows for start, end in row), default=1)
    tokens = np.zeros((len(rows), number, length), dtype=np.int64)
    mask = np.zeros((len(rows), number, length), dtype=bool)
    for document, row in enumerate(rows):
        for span, (start, end) in enumerate(row):
            tokens[document, span, : end - start] = range(start, end)
            mask[document, span, : end - start] = True
    return torch.from_numpy(tokens), torch.from_numpy(mask)
