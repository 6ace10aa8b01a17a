"""Plans into tensors: the ragged lists of several examples, padded, with the links between their units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from biorel.model.batch import Batch
from biorel.records import Example
from biorel.text.tokenizer import PAD_ID
from biorel.training.batches import Plan


@dataclass(frozen=True)
class Collator:
    """How examples become batches for one network.

    Attributes:
        units: `mentions` (a mention's tokens are averaged) or `tokens` (each scored, as in the paper).
        relation_types: (head type, tail type) of each relation, in label order without NULL.
        features: F, how many features of a pair the network reads; those that an example lacks, as a document
            without knowledge does those of a graph, are 0.
    """

    units: str
    relation_types: tuple[tuple[str, str], ...]
    features: int

    def __call__(self, examples: Sequence[Example], plan: Plan) -> Batch:
        """The batch of one plan; P pairs in the order of the plan's documents and their pairs."""
        documents = [examples[index] for index in plan.documents]
        length = max(1, *(len(document.token_ids) for document in documents))  # an empty text is one padding
        token_ids = np.full((len(documents), length), PAD_ID, dtype=np.int64)
        ner = np.zeros((len(documents), length), dtype=np.int64)
        mask = np.zeros((len(documents), length), dtype=bool)
        for row, document in enumerate(documents):
            size = len(document.token_ids)
            token_ids[row, :size] = document.token_ids
            ner[row, :size] = document.ner_tags
            mask[row, :size] = True

        heads: list[list[tuple[int, int]]] = []  # token spans of the head units of each document
        tails: list[list[tuple[int, int]]] = []
        joined: list[tuple[int, int, int]] = []  # (document, head unit, tail unit) of each link
        link_pairs: list[int] = []
        pair_documents: list[int] = []
        entities: dict[tuple[int, int], int] = {}  # numbers of the entities (row, entity) of pairs
        arguments: list[tuple[int, int]] = []
        features: list[Sequence[float]] = []
        cues: list[int] = []
        cue_starts: list[int] = []
        labels: list[np.ndarray] = []
        allowed: list[np.ndarray] = []
        relations = len(self.relation_types) + 1
        for row, (document, pairs) in enumerate(zip(documents, plan.pairs, strict=True)):
            units = entity_units(document, self.units)
            head_places = _number_units([document.pair_heads[pair] for pair in pairs], units)
            tail_places = _number_units([document.pair_tails[pair] for pair in pairs], units)
            heads.append([unit for entity in head_places for unit in units[entity]])
            tails.append([unit for entity in tail_places for unit in units[entity]])
            for pair in pairs:
                head, tail = document.pair_heads[pair], document.pair_tails[pair]
                for head_unit in head_places[head]:
                    for tail_unit in tail_places[tail]:
                        joined.append((row, head_unit, tail_unit))
                        link_pairs.append(len(pair_documents))
                pair_documents.append(row)
                arguments.append(
                    (
                        entities.setdefault((row, head), len(entities)),
                        entities.setdefault((row, tail), len(entities)),
                    )
                )
                features.append(document.pair_features[pair])
                cue_starts.append(len(cues))
                cues.extend(document.pair_lexical_features[pair])
                types = (document.entity_types[head], document.entity_types[tail])
                allowed.append(np.array([True, *(expected == types for expected in self.relation_types)]))
                row_labels = np.zeros(relations, dtype=bool)
                row_labels[list(document.pair_labels[pair] or (0,))] = True
                labels.append(row_labels)

        head_tokens, head_mask = _padded_units(heads)
        tail_tokens, tail_mask = _padded_units(tails)
        places = np.array(joined, dtype=np.int64).reshape(-1, 3)
        links = (places[:, 0] * head_tokens.shape[1] + places[:, 1]) * tail_tokens.shape[1] + places[:, 2]
        return Batch(
            token_ids=torch.from_numpy(token_ids),
            token_mask=torch.from_numpy(mask),
            head_tokens=head_tokens,
            head_mask=head_mask,
            tail_tokens=tail_tokens,
            tail_mask=tail_mask,
            links=torch.from_numpy(links),
            link_pairs=torch.tensor(link_pairs, dtype=torch.int64),
            pair_documents=torch.tensor(pair_documents, dtype=torch.int64),
            pair_heads=torch.tensor([head for head, _ in arguments], dtype=torch.int64),
            pair_tails=torch.tensor([tail for _, tail in arguments], dtype=torch.int64),
            pair_features=torch.from_numpy(feature_table(features, self.features)).float(),
            cues=torch.tensor(cues, dtype=torch.int64),
            cue_starts=torch.tensor(cue_starts, dtype=torch.int64),
            allowed=torch.from_numpy(np.array(allowed, dtype=bool).reshape(-1, relations)),
            labels=torch.from_numpy(np.array(labels, dtype=bool).reshape(-1, relations)),
            ner_labels=torch.from_numpy(ner),
            document_labels=torch.tensor([any(document.pair_labels) for document in documents], dtype=torch.bool),
            **padded_branches(documents, length),
        )


def feature_table(rows: Sequence[Sequence[float]], width: int) -> npt.NDArray[np.float64]:
    """[P, width]: each row cut to the width, or filled up with 0."""
    table = np.zeros((len(rows), width))
    for place, row in enumerate(rows):
        own = row[:width]
        table[place, : len(own)] = own
    return table


def padded_branches(documents: Sequence[Example], length: int) -> dict[str, Tensor]:
    """The branches of the documents, padded: ids and mask [B, K, L], anchors [B, K, T] of texts of `length` tokens."""
    number = max((len(document.branch_tokens) for document in documents), default=0)
    width = max((len(tokens) for document in documents for tokens in document.branch_tokens), default=0)
    ids = np.full((len(documents), number, width), PAD_ID, dtype=np.int64)
    mask = np.zeros(ids.shape, dtype=bool)
    anchors = np.zeros((len(documents), number, length), dtype=bool)
    for row, document in enumerate(documents):
        for place, (tokens, hangs) in enumerate(zip(document.branch_tokens, document.branch_anchors, strict=True)):
            ids[row, place, : len(tokens)] = tokens
            mask[row, place, : len(tokens)] = True
            anchors[row, place, list(hangs)] = True
    arrays = {"branch_ids": ids, "branch_mask": mask, "branch_anchors": anchors}
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def entity_units(document: Example, units: str) -> dict[int, list[tuple[int, int]]]:
    """The token spans of each entity's units: its mentions, or each of their tokens once."""
    found: dict[int, list[tuple[int, int]]] = {}
    for entity, start, end in zip(
        document.mention_entities, document.mention_starts, document.mention_ends, strict=True
    ):
        spans = [(start, end)] if units == "mentions" else [(token, token + 1) for token in range(start, end)]
        found.setdefault(entity, []).extend(spans)
    return {entity: list(dict.fromkeys(spans)) for entity, spans in found.items()}


def _number_units(entities: Sequence[int], units: dict[int, list[tuple[int, int]]]) -> dict[int, range]:
    """The places that each entity's units get in the document's row of units."""
    places: dict[int, range] = {}
    begin = 0
    for entity in dict.fromkeys(entities):
        places[entity] = range(begin, begin + len(units[entity]))
        begin += len(units[entity])
    return places


def _padded_units(rows: Sequence[Sequence[tuple[int, int]]]) -> tuple[Tensor, Tensor]:
    """Token positions [B, U, L] of the units and their mask."""
    units = max((len(row) for row in rows), default=0)
    length = max((end - start for row in rows for start, end in row), default=1)
    tokens = np.zeros((len(rows), units, length), dtype=np.int64)
    mask = np.zeros((len(rows), units, length), dtype=bool)
    for number, row in enumerate(rows):
        for place, (start, end) in enumerate(row):
            tokens[number, place, : end - start] = range(start, end)
            mask[number, place, : end - start] = True
    return torch.from_numpy(tokens), torch.from_numpy(mask)
