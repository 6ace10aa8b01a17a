"""The BRAN tagger: the entity head of a relation model, its tags per sub-word as spans of characters."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from biorel.counts import Counts, Reason
from biorel.dataset.labels import bio_spans
from biorel.model.checkpoint import pick_device
from biorel.ner.overlaps import without_overlaps
from biorel.records import Document, Example, Mention
from biorel.training.inference import predict
from biorel.training.model_folder import ModelFolder

_TOKEN_BUDGET = 16_000


class BranTagger:
    """The entity head of a model folder."""

    def __init__(self, opened: ModelFolder, counts: Counts, device: str = "cpu", token_budget: int = _TOKEN_BUDGET):
        """Take a model.

        Args:
            opened: the model folder; its network is moved to the device.
            counts: books documents without a token.
            device: as `--device`.
            token_budget: padded tokens of a batch.

        Raises:
            ConfigError: the device is not there.
        """
        self._device: torch.device = pick_device(device)
        self._opened = opened
        self._opened.model.to(self._device)
        self._ledger = counts
        self._token_budget = token_budget

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """The mentions of each document, without concept ids."""
        encoder = self._opened.encoder
        encoded = [encoder.example(document, (), (), (), self._ledger) for document in documents]
        places = [place for place, example in enumerate(encoded) if example.token_ids]
        if len(places) < len(documents):
            self._ledger.add(Reason.DOCUMENTS_WITHOUT_TOKEN, count=len(documents) - len(places))
        found: list[tuple[Mention, ...]] = [() for _ in documents]
        predictions = predict(
            self._opened.model,
            [encoded[place] for place in places],
            self._opened.collator,
            token_budget=self._token_budget,
            device=self._device,
        )
        for prediction in predictions:
            place = places[prediction.index]
            found[place] = tagged_mentions(
                documents[place], encoded[place], prediction.tags.tolist(), self._opened.ner_labels
            )
        return found


def tagged_mentions(
    document: Document, example: Example, tags: Sequence[int], labels: Sequence[str]
) -> tuple[Mention, ...]:
    """The mentions that a tagging of a document's sub-words means.

    Args:
        document: the document, for its text.
        example: the same, encoded; T sub-words.
        tags: [T] indices into `labels`.
        labels: `O`, and `B-` and `I-` of each type.
    """
    text = document.text
    spans = (
        (*_whole_word(text, example.token_starts[first], example.token_ends[last - 1]), type_)
        for first, last, type_ in bio_spans(tags, labels)
    )
    return tuple(
        Mention(document.doc_id, start, end, text[start:end], type_, None)
        for start, end, type_ in without_overlaps(spans)
    )


def _whole_word(text: str, start: int, end: int) -> tuple[int, int]:
    """The span, stretched over the letters that it cuts a word at: sub-words can part a word, entities do not."""
    while start > 0 and text[start - 1].isalpha() and text[start].isalpha():
        start -= 1
    while end < len(text) and text[end - 1].isalpha() and text[end].isalpha():
        end += 1
    return start, end
