"""extract: documents -> relations with score and evidence, and one status row per input record.

The input is streamed in chunks; every record ends as one status row, whatever becomes of it. Records that bring no
entities are tagged and linked first.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from biorel import artifacts
from biorel.config import Extract
from biorel.counts import Counts, Reason
from biorel.errors import InputError, ModelError, OutputError
from biorel.extraction.annotator import Annotator, open_annotator
from biorel.extraction.decode_relations import Choice, candidates_of, read_relations
from biorel.formats.documents import BAD_TOLD, read_records
from biorel.formats.writers import WRITERS, format_of
from biorel.knowledge.inject import Injector
from biorel.model.checkpoint import pick_device
from biorel.model.windows import plan_windows
from biorel.records import Annotated, BadRecord, Example, Relation, Status
from biorel.resources import resource
from biorel.schemas import to_row
from biorel.scoring.thresholds import in_label_order
from biorel.training.graph import injector_for, read_triples
from biorel.training.inference import Prediction, predict
from biorel.training.model_folder import ModelFolder, open_model

OK, NO_ENTITIES, NOTHING, BAD = "ok", "no entities", "nothing above threshold", "bad record"
_SUFFIXES = {"auto": "jsonl", "bioc": "xml"}  # the other formats are their own suffix
_CHUNK = 256
# a text that repeats two names thousands of times would take all memory; an abstract has some hundreds
_MOST_MENTION_PAIRS = 1_000_000


@dataclass(frozen=True)
class Summary:
    """What an extraction did.

    Attributes:
        bad_places: the first few bad records.
        books: what was read, repaired and dropped, by reason.
        seconds: the whole time from the first record to the last row.
    """

    out: Path
    status: Path
    relations: int
    by_status: dict[str, int]
    bad_places: list[str]
    books: Mapping[str, int]
    seconds: float
    device: str

    @property
    def documents(self) -> int:
        return sum(self.by_status.values())


def run(config: Extract, progress: Callable[[int], None] = lambda documents: None) -> Summary:
    """Extract the relations of all documents of `config.input`.

    Args:
        config: the command's configuration.
        progress: is told the number of documents done, after each chunk.

    Raises:
        BiorelError: the input cannot be read or holds no usable document, the model is unusable, or the
            output cannot be written. Nothing is left at the output's place then.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    out = config.out or Path(f"{_stem(config.input)}.relations.{_SUFFIXES.get(config.format, config.format)}")
    status_path = config.status or out.with_name(f"{_stem(out)}.status.jsonl")
    if len({path.resolve() for path in (config.input, out, status_path)}) < 3:
        raise OutputError(f"the input, {out} and {status_path} must be three files", "choose another --out or --status")
    writer_kind = WRITERS[format_of(out, config.format)]
    opened = open_model(config.model or resource("models", "cdr"))
    if opened.model.sizes.task != "relations":
        raise ModelError(
            f"{config.model}: trained for {opened.model.sizes.task}, it tells no relations",
            "train one without --task; this one is for biorel evaluate",
        )
    opened.model.to(device)
    counts = Counts()
    triples = read_triples(config.graph) if config.graph is not None else []
    inject = injector_for(config.graph, triples, opened.model.sizes, opened.tokenizer)
    labels = opened.schema.labels
    tuned = in_label_order(opened.thresholds, labels)
    thresholds = tuned if config.min_score is None else (config.min_score,) * len(labels)
    choice = Choice(thresholds, config.all_scores, config.max_evidence)
    reader = _Reader(
        opened, cache(partial(open_annotator, config, counts)), choice, config.batch_tokens, device, counts, inject
    )
    by_status = Counter(dict.fromkeys((OK, NO_ENTITIES, NOTHING, BAD), 0))
    bad_places: list[str] = []
    found = 0
    began = time.perf_counter()
    with ExitStack() as stack:
        relations_file = stack.enter_context(artifacts.whole_file(out))
        status_file = stack.enter_context(artifacts.whole_file(status_path))
        statuses = stack.enter_context(status_file.open("w", encoding="utf-8"))
        writer = stack.enter_context(writer_kind(relations_file))
        for chunk in _chunks(read_records(config.input, counts)):
            for item, status, relations in reader.read(chunk):
                if isinstance(item, Annotated):
                    writer.write(item.document, item.mentions, relations)
                elif len(bad_places) < BAD_TOLD:
                    bad_places.append(f"{config.input}:{status.line}: {status.reason}")
                statuses.write(json.dumps(to_row(status), ensure_ascii=False) + "\n")
                by_status[status.status] += 1
                found += len(relations)
            progress(by_status.total())
        if by_status.total() == by_status[BAD]:
            first = bad_places[0] if bad_places else f"{config.input}: no record"
            raise InputError(f"{first} (and no other record is usable)", "the README tells the formats")
    if opened.model.sizes.reads_graph and inject is None:
        counts.add(Reason.DOCUMENTS_READ_WITHOUT_GRAPH_THOUGH_MODEL_LEARNED_WI, count=by_status.total())
    seconds = time.perf_counter() - began
    return Summary(out, status_path, found, dict(by_status), bad_places, counts.by_reason, seconds, str(device))


def _stem(path: Path) -> str:
    """The name without its suffix, and without .gz."""
    return Path(path.name.removesuffix(".gz")).stem


Item = tuple[int, Annotated | BadRecord]


def _chunks(records: Iterator[Item]) -> Iterator[list[Item]]:
    while chunk := list(islice(records, _CHUNK)):
        yield chunk


@dataclass(frozen=True)
class _Reader:
    """All that reading a chunk takes, opened once."""

    opened: ModelFolder
    annotator: Callable[[], Annotator | None]
    choice: Choice
    token_budget: int
    device: torch.device
    counts: Counts
    inject: Injector | None

    def read(self, chunk: Sequence[Item]) -> Iterator[tuple[Annotated | BadRecord, Status, list[Relation]]]:
        """Every record of a chunk with its status and relations, in the order of the input."""
        items = [item for _, item in chunk if isinstance(item, Annotated)]
        bare = {index for index, item in enumerate(items) if not item.mentions}
        # opened by the first record that brings no entities: a run without such records needs no tagger
        annotator = self.annotator() if bare else None
        if annotator is not None:
            found = annotator.annotate([items[index].document for index in sorted(bare)])
            for index, mentions in zip(sorted(bare), found, strict=True):
                items[index] = replace(items[index], mentions=mentions)
        oversized: dict[int, str] = {}

        def encoded(index: int) -> Example:
            found = candidates_of(items[index], self.opened)
            number = found.mention_pairs()
            if number > _MOST_MENTION_PAIRS:
                oversized[index] = f"{number} pairs of mentions, where at most {_MOST_MENTION_PAIRS} are scored"
                return self.opened.encoder.example(items[index].document, (), (), (), self.counts)
            return found.example(self.opened, self.counts, self.inject)

        examples = [encoded(index) for index in range(len(items))]

        def complete(index: int, tags: np.ndarray) -> Example:
            if annotator is None or index not in bare:
                return examples[index]
            items[index] = annotator.complete(items[index], examples[index], tags.tolist(), self.opened)
            return encoded(index)

        predictions = predict(
            self.opened.model,
            examples,
            self.opened.collator,
            token_budget=self.token_budget,
            device=self.device,
            complete=complete if annotator is not None and annotator.tagger is None else None,
        )
        by_index = {prediction.index: prediction for prediction in predictions}
        index = 0
        for line, item in chunk:
            if isinstance(item, Annotated) and index in oversized:
                item = BadRecord(line, item.document.doc_id, oversized[index])
                index += 1
            if isinstance(item, BadRecord):
                yield item, Status(item.doc_id, line, BAD, item.reason, 0, 0, 0), []
            else:
                missing = "no entity was found" if annotator is not None else "the record has no entity"
                yield self._told(line, items[index], by_index[index], missing)
                index += 1

    def _told(
        self, line: int, item: Annotated, prediction: Prediction, missing: str
    ) -> tuple[Annotated, Status, list[Relation]]:
        tokens = len(prediction.example.token_ids)
        windows = len(plan_windows(tokens, self.opened.model.sizes.positions))
        status = Status(item.document.doc_id, line, OK, "", 0, tokens, windows)
        pairs = len(prediction.example.pair_heads)
        if not item.mentions:
            return item, replace(status, status=NO_ENTITIES, reason=missing), []
        if not pairs:
            types = ", ".join(f"{head}-{tail}" for head, tail in self.opened.schema.pair_types)
            return (
                item,
                replace(status, status=NO_ENTITIES, reason=f"no pair of linked entities of the types {types}"),
                [],
            )
        relations = read_relations(item, prediction, self.opened, self.choice)
        if not relations:
            return item, replace(status, status=NOTHING, reason=f"{pairs} pairs scored"), []
        return item, replace(status, relations=len(relations)), relations
