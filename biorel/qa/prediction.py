"""Predicts candidate spans for questions, with one reader or with the average of several readers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from biorel.qa.batches import collate
from biorel.qa.decoding import SpanCandidates, merge_candidates
from biorel.qa.heads import SpanProbabilities
from biorel.qa.passages import Passage
from biorel.qa.reader import Reader
from biorel.training.batches import ordered_batches

BEAM = 40
LONGEST = 24
CANDIDATES = 60

TokenSpans = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # first and last token, probabilities of both ends


def predict(
    readers: Sequence[Reader],
    passages: Sequence[Passage],
    questions: int,
    *,
    token_budget: int,
    device: torch.device,
    beam: int = BEAM,
) -> list[SpanCandidates]:
    """The candidates of each question, merged over the windows of its document; empty without a passage.

    Args:
        readers: left in evaluation mode. The probabilities of several are averaged.
        passages: each holds the index of its question.
        questions: the number of questions.
        token_budget: padded passage tokens of a batch.
        beam: most anchors of a passage that are considered.
    """
    parts: list[list[list[SpanCandidates]]] = [[[] for _ in readers] for _ in range(questions)]
    lengths = [len(passage.token_ids) for passage in passages]
    for number, reader in enumerate(readers):
        reader.eval()
        for places in ordered_batches(lengths, token_budget=token_budget):
            chosen = [passages[place] for place in places]
            batch = collate(chosen).to(device)
            directions = reader.span_probabilities(batch, beam)
            shift = int(reader.head.has_no_answer_token)
            spans = [_most_probable_spans(direction, batch.token_mask, shift) for direction in directions]
            for row, passage in enumerate(chosen):
                parts[passage.question][number].append(_merge_directions([part[row] for part in spans], passage))
    return [merge_candidates([merge_candidates(windows) for windows in by_reader], len(readers)) for by_reader in parts]


def _most_probable_spans(direction: SpanProbabilities, mask: Tensor, shift: int) -> list[TokenSpans]:
    """The most probable spans of each passage in one direction, best first, without 'no answer'.

    Args:
        mask: [B, T] of the passages.
        shift: 1 if the probabilities count a no-answer token before the first, otherwise 0.
    """
    steps = torch.arange(min(LONGEST, mask.shape[1]), device=mask.device)
    anchors = direction.anchors[:, :, None] - shift  # [B, n, 1]; -1 is 'no answer'
    partners = anchors - steps if direction.backward else anchors + steps  # [B, n, L]
    valid = _is_token(anchors, mask) & _is_token(partners, mask)
    partners = partners.clamp(0, mask.shape[1] - 1)
    partner = direction.partner.gather(2, partners + shift)
    product = (direction.anchor[:, :, None] * partner).masked_fill(~valid, -1.0).flatten(1)
    top = product.topk(min(CANDIDATES, product.shape[1]), dim=1)
    spans = []
    for row, (places, values) in enumerate(zip(top.indices, top.values, strict=True)):
        real = places[values >= 0]
        anchor_places = real // len(steps)
        first, second = anchors[row, anchor_places, 0], partners[row].flatten()[real]
        starts, ends = (second, first) if direction.backward else (first, second)
        probabilities = (direction.anchor[row, anchor_places], partner[row].flatten()[real])
        spans.append(tuple(column.cpu().numpy() for column in (starts, ends, *probabilities)))
    return spans  # type: ignore[return-value]


def _is_token(places: Tensor, mask: Tensor) -> Tensor:
    """[B, n, m] places and [B, T] -> [B, n, m], True where a real token is; places may lie outside 0..T-1."""
    last = mask.shape[1] - 1
    real = mask.gather(1, places.clamp(0, last).flatten(1)).view_as(places)
    return real & (places >= 0) & (places <= last)


def _merge_directions(parts: Sequence[TokenSpans], passage: Passage) -> SpanCandidates:
    """The spans of all directions, in characters. A span of an earlier direction is dropped from later ones (MaP_E)."""
    seen: set[tuple[int, int]] = set()
    rows: list[tuple[int, int, int, float, float]] = []
    for starts, ends, anchors, partners in parts:
        for start, end, anchor, partner in zip(
            starts.tolist(), ends.tolist(), anchors.tolist(), partners.tolist(), strict=True
        ):
            if (start, end) not in seen:
                seen.add((start, end))
                rows.append((passage.starts[start], passage.ends[end], end - start + 1, anchor, partner))
    if not rows:
        return SpanCandidates.empty()
    places = np.array([row[:3] for row in rows], dtype=np.int64)  # [N, 3]
    probabilities = np.array([row[3:] for row in rows], dtype=np.float64)  # [N, 2]
    return SpanCandidates(places[:, 0], places[:, 1], places[:, 2], probabilities[:, 0], probabilities[:, 1])
