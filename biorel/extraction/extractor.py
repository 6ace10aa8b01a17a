"""Extract relations with a relation model, which is opened once together with a tagger, linker and graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import numpy as np
import torch

from biorel.counts import Counts
from biorel.dataset.candidates import EntityKey, candidates, entities, link
from biorel.errors import ModelError
from biorel.extraction.annotator import Annotator
from biorel.extraction.decode_relations import DecodingOptions, decode_relations
from biorel.extraction.document import ExtractedDocument, Outcome
from biorel.formats.files import HALF_OF_PAIR
from biorel.formats.jsonl import cut_title
from biorel.knowledge.inject import Injector
from biorel.knowledge.triples import read_triples
from biorel.model.windows import plan_windows
from biorel.records import Annotated, BadRecord, Document, Example, Mention, Pair
from biorel.scoring.thresholds import in_label_order
from biorel.training.graph import build_injector
from biorel.training.inference import Prediction, predict
from biorel.training.model_folder import ModelFolder, open_model

# a text, a title with its abstract, or a record; a bad record is passed through
Input = str | tuple[str, str] | Document | Annotated | BadRecord
BATCH_SIZE = 256
BATCH_TOKENS = 16_000
# Scoring takes memory for every mention pair. Abstracts have some hundreds; a text that repeats two names
# thousands of times would use up all memory.
MAX_MENTION_PAIRS = 1_000_000


@dataclass(frozen=True)
class Extractor:
    """Extracts the relations of documents. Make one with `biorel.load`.

    An extraction does not change the extractor, so threads may share an extractor.

    Attributes:
        model: the relation model with its tokenizer, labels and thresholds.
        annotator: a function that returns the tagger and linker for records without mentions, or None. The function is
            called at the first such record, so a run that needs no tagger loads none.
        decoding: options that decide which relations are reported.
        injector: adds the triples of a graph to a document; None if no graph is used.
        batch_tokens: number of tokens, with padding, that the model scores at once.
    """

    model: ModelFolder
    annotator: Callable[[], Annotator | None]
    decoding: DecodingOptions
    injector: Injector | None
    device: torch.device
    batch_tokens: int = BATCH_TOKENS

    def __call__(self, record: Input) -> ExtractedDocument:
        """Extract the relations of one document.

        Args:
            record: a text, a (title, abstract) pair, a `Document`, or an `Annotated` document. The mentions of an
                annotated document are used as given; a document without mentions is tagged and linked.

        Returns:
            The document with its mentions and relations. A record without text has the status `bad record`.
        """
        return next(self.pipe([record]))

    def pipe(
        self, records: Iterable[Input], *, batch_size: int = BATCH_SIZE, counts: Counts | None = None
    ) -> Iterator[ExtractedDocument]:
        """Extract the relations of many documents, in batches and in the order given.

        Args:
            records: texts, pairs or documents, see `__call__`. Texts and pairs get their position, from 1, as `doc_id`.
            batch_size: number of records read ahead. The model batches these by length, so a higher number is faster.
            counts: receives the numbers of rows left out of the documents, by reason.
        """
        counts = Counts() if counts is None else counts
        numbers = count(1)
        items = (_item(record, number) for record, number in zip(records, numbers, strict=False))
        while batch := list(islice(items, batch_size)):
            yield from self.extract(batch, counts)

    def extract(self, records: Sequence[Annotated | BadRecord], counts: Counts) -> list[ExtractedDocument]:
        """Extract the relations of one batch. Returns one document for each record, in the same order.

        Args:
            counts: receives the numbers of rows left out of the documents, by reason.
        """
        given = [record for record in records if isinstance(record, Annotated)]
        annotator = self.annotator() if any(not item.mentions for item in given) else None
        items = given if annotator is None else annotator.fill(given)
        examples: list[Example] = []
        oversized: dict[int, str] = {}

        def encode(place: int) -> Example:
            item = items[place]
            linked = link(item.mentions, "drop")
            pairs = candidates(item.document.doc_id, entities(linked), self.model.schema)
            size = _mention_pairs(linked, pairs)
            featurizer = self.model.encoder
            if size > MAX_MENTION_PAIRS:
                oversized[place] = f"too many pairs of mentions: {size}, but at most {MAX_MENTION_PAIRS} can be scored"
                return featurizer.example(item.document, (), (), (), counts)
            example = featurizer.example(item.document, item.mentions, linked, pairs, counts)
            return example if self.injector is None else self.injector(example, item.document.text)

        examples = [encode(place) for place in range(len(items))]
        model_tags = annotator if annotator is not None and annotator.tagger is None else None

        def complete(place: int, tags: np.ndarray) -> Example:
            if model_tags is None or given[place].mentions:
                return examples[place]
            items[place] = model_tags.fill_from_tags(items[place], examples[place], tags.tolist(), self.model)
            return encode(place)

        predictions = predict(
            self.model.model,
            examples,
            self.model.collator,
            token_budget=self.batch_tokens,
            device=self.device,
            complete=None if model_tags is None else complete,
        )
        by_place = {prediction.index: prediction for prediction in predictions}
        documents: list[ExtractedDocument] = []
        places = count()
        for record in records:
            if isinstance(record, BadRecord):
                documents.append(_bad(record.doc_id, record.reason))
                continue
            place = next(places)
            if place in oversized:
                documents.append(_bad(record.document.doc_id, oversized[place]))
            else:
                documents.append(self._decoded(items[place], by_place[place], annotator is not None))
        return documents

    def _decoded(self, item: Annotated, prediction: Prediction, tagged: bool) -> ExtractedDocument:
        example = prediction.example
        pairs = len(example.pair_heads)
        relations = decode_relations(item.document, prediction, self.model, self.decoding)
        status, reason = Outcome.OK, ""
        if not item.mentions:
            status = Outcome.NO_ENTITIES
            reason = "no entity was found" if tagged else "the record has no entity"
        elif not pairs:
            types = ", ".join(f"{head}-{tail}" for head, tail in self.model.schema.pair_types)
            status, reason = Outcome.NO_ENTITIES, f"no pair of linked entities of the types {types}"
        elif not relations:
            status, reason = Outcome.NO_RELATIONS, f"{pairs} pairs scored"
        return ExtractedDocument(
            doc_id=item.document.doc_id,
            title=item.document.title,
            abstract=item.document.abstract,
            mentions=item.mentions,
            relations=tuple(relations),
            status=status,
            reason=reason,
            tokens=len(example.token_ids),
            windows=len(plan_windows(len(example.token_ids), self.model.model.config.positions)),
        )


def open_extractor(
    folder: Path,
    annotator: Callable[[], Annotator | None],
    *,
    device: torch.device,
    graph: Path | None = None,
    min_score: float | None = None,
    all_scores: bool = False,
    max_evidence: int = 5,
    batch_tokens: int = BATCH_TOKENS,
) -> Extractor:
    """Open a model folder for extraction.

    Args:
        graph: a folder written by `build-graph`, for a model that was trained with one.
        min_score: a score to use instead of the thresholds of the model.

    Raises:
        InputError: the folder of the graph cannot be used.
        ModelError: the model folder cannot be used or is not for relations, or `graph` is given for a model that was
            trained without a graph.
    """
    model = open_model(folder)
    network = model.model.config
    if network.task != "relations":
        raise ModelError(
            f"{folder}: the model was trained for {network.task}, not for relations",
            "use a model that was trained without --task; score this model with biorel evaluate",
        )
    injector = None if graph is None else build_injector(graph, read_triples(graph), network, model.tokenizer)
    model.model.to(device)
    labels = model.schema.labels
    thresholds = in_label_order(model.thresholds, labels) if min_score is None else (min_score,) * len(labels)
    return Extractor(
        model, annotator, DecodingOptions(thresholds, all_scores, max_evidence), injector, device, batch_tokens
    )


def _item(record: Input, number: int) -> Annotated | BadRecord:
    if isinstance(record, Annotated | BadRecord):
        return record
    if isinstance(record, Document):
        document = record
    elif isinstance(record, str):
        document = Document(str(number), *cut_title(record))
    else:
        document = Document(str(number), *record)
    if not document.text.strip():
        return BadRecord(number, document.doc_id, "no text: a title or an abstract is needed")
    if HALF_OF_PAIR.search(document.text):
        return BadRecord(number, document.doc_id, "the text holds half of a surrogate pair, which is not a character")
    return Annotated(document)


def _bad(doc_id: str, reason: str) -> ExtractedDocument:
    return ExtractedDocument(doc_id, "", "", status=Outcome.BAD_RECORD, reason=reason)


def _mention_pairs(linked: Sequence[Mention], pairs: Sequence[Pair]) -> int:
    """The number of mention pairs of all entity pairs. The time and memory for scoring grow with this number."""
    mentions = Counter(EntityKey(mention.entity_id or "", mention.type) for mention in linked)
    return sum(
        mentions[EntityKey(pair.head_id, pair.head_type)] * mentions[EntityKey(pair.tail_id, pair.tail_type)]
        for pair in pairs
    )
