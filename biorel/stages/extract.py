"""extract: documents with entities -> relations with score and evidence, and one status row per input record.

The input is streamed in chunks; every record ends as one status row, whatever becomes of it.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import torch

from biorel import artifacts
from biorel.config import Extract
from biorel.dataset.candidates import candidates, entities, link
from biorel.errors import InputError, OutputError
from biorel.exports import WRITERS, format_of
from biorel.ledger import Ledger
from biorel.model.checkpoint import pick_device
from biorel.model.windows import plan_windows
from biorel.records import Annotated, BadRecord, Entity, Example, Relation, Status
from biorel.resources import resource
from biorel.schemas import to_row
from biorel.scoring.thresholds import decide, in_label_order
from biorel.sources.documents import read_records
from biorel.training.evidence import relation_evidence
from biorel.training.inference import Prediction, predict
from biorel.training.model_folder import ModelFolder, open_model

OK, NO_ENTITIES, NOTHING, BAD = "ok", "no entities", "nothing above threshold", "bad record"
BAD_TOLD = 3
_SUFFIXES = {"auto": "jsonl", "bioc": "xml"}  # the other formats are their own suffix
_CHUNK = 256


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
    opened.model.to(device)
    ledger = Ledger()
    by_status = Counter(dict.fromkeys((OK, NO_ENTITIES, NOTHING, BAD), 0))
    bad_places: list[str] = []
    found = 0
    began = time.perf_counter()
    with ExitStack() as stack:
        relations_file = stack.enter_context(artifacts.whole_file(out))
        status_file = stack.enter_context(artifacts.whole_file(status_path))
        statuses = stack.enter_context(status_file.open("w", encoding="utf-8"))
        writer = stack.enter_context(writer_kind(relations_file))
        for chunk in _chunks(read_records(config.input, ledger)):
            for item, status, relations in _extract(chunk, opened, config, device, ledger):
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
    seconds = time.perf_counter() - began
    return Summary(out, status_path, found, dict(by_status), bad_places, ledger.counts, seconds, str(device))


def _stem(path: Path) -> str:
    """The name without its suffix, and without .gz."""
    return Path(path.name.removesuffix(".gz")).stem


Item = tuple[int, Annotated | BadRecord]


def _chunks(records: Iterator[Item]) -> Iterator[list[Item]]:
    while chunk := list(islice(records, _CHUNK)):
        yield chunk


def _extract(
    chunk: Sequence[Item], opened: ModelFolder, config: Extract, device: torch.device, ledger: Ledger
) -> Iterator[tuple[Annotated | BadRecord, Status, list[Relation]]]:
    """Every record of a chunk with its status and relations, in the order of the input."""
    examples: list[Example] = []
    place: dict[int, int] = {}
    for number, (_, item) in enumerate(chunk):
        if isinstance(item, Annotated) and item.mentions:
            place[number] = len(examples)
            examples.append(_example(item, opened, ledger))
    predictions: dict[int, Prediction] = {
        prediction.index: prediction
        for prediction in predict(
            opened.model, examples, opened.collator, token_budget=config.batch_tokens, device=device
        )
    }
    for number, (line, item) in enumerate(chunk):
        if isinstance(item, BadRecord):
            yield item, Status(item.doc_id, line, BAD, item.reason, 0, 0, 0), []
            continue
        doc_id = item.document.doc_id
        if number not in place:
            yield item, Status(doc_id, line, NO_ENTITIES, "the record has no entity", 0, 0, 0), []
            continue
        example = examples[place[number]]
        tokens = len(example.token_ids)
        windows = len(plan_windows(tokens, opened.model.sizes.positions))
        status = Status(doc_id, line, OK, "", 0, tokens, windows)
        if not example.pair_heads:
            reason = f"no pair of linked entities of the types {_types(opened)}"
            yield item, replace(status, status=NO_ENTITIES, reason=reason), []
            continue
        relations = _relations(item, example, predictions[place[number]], opened, config)
        if not relations:
            yield item, replace(status, status=NOTHING, reason=f"{len(example.pair_heads)} pairs scored"), []
        else:
            yield item, replace(status, relations=len(relations)), relations


def _types(opened: ModelFolder) -> str:
    return ", ".join(f"{head}-{tail}" for head, tail in opened.schema.pair_types)


def _example(item: Annotated, opened: ModelFolder, ledger: Ledger) -> Example:
    linked = link(item.mentions, "drop")
    pairs = candidates(item.document.doc_id, entities(linked), opened.schema)
    return opened.encoder.example(item.document, item.mentions, linked, pairs, ledger)


def _relations(
    item: Annotated, example: Example, prediction: Prediction, opened: ModelFolder, config: Extract
) -> list[Relation]:
    """The relations of one document by descending score."""
    labels = opened.schema.labels
    thresholds = in_label_order(opened.thresholds, labels)
    if config.min_score is not None:
        thresholds = (config.min_score,) * len(labels)
    types = [(relation.head, relation.tail) for relation in opened.schema.relations]
    found = []
    for pair, (head, tail) in enumerate(zip(example.pair_heads, example.pair_tails, strict=True)):
        probabilities = prediction.pairs[pair, 1:].tolist()
        chosen = decide(probabilities, thresholds)
        pair_types = (example.entity_types[head], example.entity_types[tail])
        kept = (
            [number for number, expected in enumerate(types) if expected == pair_types]
            if config.all_scores
            else [chosen]
        )
        links = prediction.links[prediction.link_pairs == pair]
        for number in kept:
            if number is not None:
                evidence = relation_evidence(
                    example, head, tail, links[:, number + 1], opened.model.sizes.units, config.max_evidence
                )
                found.append(
                    Relation(
                        example.doc_id,
                        _entity(item, example, head),
                        labels[number],
                        _entity(item, example, tail),
                        probabilities[number],
                        evidence,
                    )
                )
    return sorted(found, key=lambda relation: (-relation.score, relation.head.id, relation.tail.id, relation.relation))


def _entity(item: Annotated, example: Example, entity: int) -> Entity:
    first = example.mention_entities.index(entity)
    name = item.document.text[example.mention_char_starts[first] : example.mention_char_ends[first]]
    return Entity(example.entity_ids[entity], example.entity_types[entity], name)
