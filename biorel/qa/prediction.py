"""A reader (or several, averaged) over questions: the most probable spans of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from biorel.model.budget import ordered_batches
from biorel.qa.batches import collate
from biorel.qa.decoding import Candidates, merged
from biorel.qa.network import Reader
from biorel.qa.passages import Passage
from biorel.qa.spans import Direction

BEAM = 40
LONGEST = 24
KEPT = 60


def predict(
    models: Sequence[Reader],
    passages: Sequence[Passage],
    questions: int,
    *,
    token_budget: int,
    device: torch.device,
    beam: int = BEAM,
) -> list[Candidates]:
    """The candidates of each question, windows of one document joined; none for a question without a passage.

    Args:
        models: put in evaluation mode and left there; of several the probabilities are averaged.
        passages: each names its question by its place.
        questions: how many there are.
        beam: anchors of a passage that are looked at.
    """
    found: list[list[list[Candidates]]] = [[[] for _ in models] for _ in range(questions)]
    lengths = [len(passage.token_ids) for passage in passages]
    for number, model in enumerate(models):
        model.eval()
        for places in ordered_batches(lengths, token_budget=token_budget):
            chosen = [passages[place] for place in places]
            batch = collate(chosen).to(device)
            directions = model.directions(batch, beam)
            rows = [_spans(direction, batch.token_mask, int(model.head.null)) for direction in directions]
            for row, passage in enumerate(chosen):
                found[passage.question][number].append(_joined([part[row] for part in rows], passage))
    return [merged([merged(windows) for windows in parts], len(models)) for parts in found]


Spans = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # first and last token, probabilities of both sides


def _spans(direction: Direction, mask: Tensor, shift: int) -> list[Spans]:
    """The most probable spans of each passage by one direction, best first, without 'no answer'."""
    steps = torch.arange(min(LONGEST, mask.shape[1]), device=mask.device)
    anchors = direction.anchors[:, :, None] - shift  # [B, n, 1], -1 for no answer
    partners = anchors - steps if direction.backward else anchors + steps  # [B, n, L]
    inside = _real(anchors, mask) & _real(partners, mask)
    partners = partners.clamp(0, mask.shape[1] - 1)
    partner = direction.partner.gather(2, partners + shift)
    product = (direction.anchor[:, :, None] * partner).masked_fill(~inside, -1.0).flatten(1)
    best = product.topk(min(KEPT, product.shape[1]), dim=1)
    spans = []
    for row, (places, values) in enumerate(zip(best.indices, best.values, strict=True)):
        real = places[values >= 0]
        anchor_places = real // len(steps)
        first, second = anchors[row, anchor_places, 0], partners[row].flatten()[real]
        starts, ends = (second, first) if direction.backward else (first, second)
        sides = (direction.anchor[row, anchor_places], partner[row].flatten()[real])
        spans.append(tuple(one.cpu().numpy() for one in (starts, ends, *sides)))
    return spans  # type: ignore[return-value]


def _real(places: Tensor, mask: Tensor) -> Tensor:
    """[B, n, m] places, [B, T] -> [B, n, m], whether there is a token; places may lie outside."""
    last = mask.shape[1] - 1
    held = mask.gather(1, places.clamp(0, last).flatten(1)).view_as(places)
    return held & (places >= 0) & (places <= last)


def _joined(parts: Sequence[Spans], passage: Passage) -> Candidates:
    """The spans of all directions in characters; one that an earlier direction found is pruned from the later."""
    seen: set[tuple[int, int]] = set()
    rows: list[tuple[int, int, int, float, float]] = []
    for starts, ends, anchor, partner in parts:
        for start, end, one, other in zip(
            starts.tolist(), ends.tolist(), anchor.tolist(), partner.tolist(), strict=True
        ):
            if (start, end) not in seen:
                seen.add((start, end))
                rows.append((passage.starts[start], passage.ends[end], end - start + 1, one, other))
    if not rows:
        return Candidates.none()
    whole = np.array([row[:3] for row in rows], dtype=np.int64)  # [N, 3]
    sides = np.array([row[3:] for row in rows], dtype=np.float64)  # [N, 2]
    return Candidates(whole[:, 0], whole[:, 1], whole[:, 2], sides[:, 0], sides[:, 1])
