"""The BRAN tagger tags every sub-word with the entity head of a relation model (BRAN, section 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from biorel.counts import Counts, Reason
from biorel.dataset.labels import bio_spans
from biorel.model.device import pick_device
from biorel.ner.consistency import ConsistentTagger
from biorel.ner.spans import without_overlaps
from biorel.ner.taggers import Tagger, TaggerOptions
from biorel.records import Document, Example, Mention
from biorel.training.inference import predict
from biorel.training.model_folder import ModelFolder, open_model

_TOKEN_BUDGET = 16_000


class BranTagger:
    """Tags documents with the entity head of a model."""

    def __init__(self, opened: ModelFolder, counts: Counts, device: str = "cpu", token_budget: int = _TOKEN_BUDGET):
        """Move the model to the device.

        Args:
            opened: the model folder.
            counts: receives the number of documents without a token.
            device: `auto`, `cpu`, `cuda` or `cuda:N`.
            token_budget: the maximum number of tokens in a batch, with padding.

        Raises:
            ModelError: the device cannot be used.
        """
        self._device: torch.device = pick_device(device)
        self._opened = opened
        self._opened.model.to(self._device)
        self._counts = counts
        self._token_budget = token_budget

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """Find the mentions of each document. The mentions have no concept ids."""
        encoder = self._opened.encoder
        encoded = [encoder.example(document, (), (), (), self._counts) for document in documents]
        places = [place for place, example in enumerate(encoded) if example.token_ids]
        if len(places) < len(documents):
            self._counts.add(Reason.DOCUMENTS_WITHOUT_TOKENS, count=len(documents) - len(places))
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


def open_tagger(options: TaggerOptions, counts: Counts) -> Tagger:
    """Open the tagger of the model folder `options.model`."""
    tagger = BranTagger(open_model(Path(options.model)), counts, options.device)
    return ConsistentTagger(tagger, counts) if options.consistent else tagger


def tagged_mentions(
    document: Document, example: Example, tags: Sequence[int], labels: Sequence[str]
) -> tuple[Mention, ...]:
    """Convert the BIO tags of a document's sub-words to mentions that do not overlap.

    Args:
        example: the encoded document, T sub-words.
        tags: [T] indices into `labels`.
        labels: `O`, and for each entity type a label with `B-` and one with `I-`.
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
    """Extend a span to whole words, because sub-words may split a word but entities do not."""
    while start > 0 and text[start - 1].isalpha() and text[start].isalpha():
        start -= 1
    while end < len(text) and text[end - 1].isalpha() and text[end].isalpha():
        end += 1
    return start, end
