"""extract: documents -> relations with score and evidence, and one status row for each input record."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path

import torch

from biorel import artifacts
from biorel.config import Extract
from biorel.counts import Counts, Reason
from biorel.errors import InputError, OutputError
from biorel.extraction.annotator import open_annotator
from biorel.extraction.api import DEFAULT_MODEL
from biorel.extraction.document import Outcome
from biorel.extraction.extractor import BATCH_SIZE, Extractor, open_extractor
from biorel.formats.documents import BAD_TOLD, read_records
from biorel.formats.writers import WRITERS, format_of
from biorel.model.device import pick_device
from biorel.records import Status
from biorel.resources import resource
from biorel.schemas import to_row

_SUFFIXES = {"auto": "jsonl", "bioc": "xml"}  # the other formats are their own suffix


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
    counts = Counts()
    extractor = _extractor(config, device, counts)
    by_status = Counter(dict.fromkeys(map(str, Outcome), 0))
    bad_places: list[str] = []
    found = 0
    began = time.perf_counter()
    with ExitStack() as stack:
        relations_file = stack.enter_context(artifacts.whole_file(out))
        status_file = stack.enter_context(artifacts.whole_file(status_path))
        statuses = stack.enter_context(status_file.open("w", encoding="utf-8"))
        writer = stack.enter_context(writer_kind(relations_file))
        records = read_records(config.input, counts)
        while chunk := list(islice(records, BATCH_SIZE)):
            docs = extractor.extract([record for _, record in chunk], counts)
            for (line, _), doc in zip(chunk, docs, strict=True):
                if doc.status != Outcome.BAD_RECORD:
                    writer.write(doc.document, doc.mentions, [relation.to_record() for relation in doc.relations])
                elif len(bad_places) < BAD_TOLD:
                    bad_places.append(f"{config.input}:{line}: {doc.reason}")
                status = Status(doc.doc_id, line, doc.status, doc.reason, len(doc.relations), doc.tokens, doc.windows)
                statuses.write(json.dumps(to_row(status), ensure_ascii=False) + "\n")
                by_status[doc.status] += 1
                found += len(doc.relations)
            progress(by_status.total())
        if by_status.total() == by_status[Outcome.BAD_RECORD]:
            first = bad_places[0] if bad_places else f"{config.input}: no record"
            raise InputError(f"{first} (and no other record is usable)", "the README tells the formats")
    if extractor.model.model.config.uses_graph and extractor.injector is None:
        counts.add(Reason.DOCUMENTS_READ_WITHOUT_GRAPH_THOUGH_MODEL_LEARNED_WI, count=by_status.total())
    seconds = time.perf_counter() - began
    return Summary(out, status_path, found, dict(by_status), bad_places, counts.by_reason, seconds, str(device))


def _stem(path: Path) -> str:
    """The name without its suffix, and without .gz."""
    return Path(path.name.removesuffix(".gz")).stem


def _extractor(config: Extract, device: torch.device, counts: Counts) -> Extractor:
    annotator = partial(
        open_annotator,
        tagger=config.tagger,
        tagger_model=config.tagger_model,
        linker=config.linker,
        n_process=config.n_process,
        counts=counts,
    )
    return open_extractor(
        config.model or resource("models", DEFAULT_MODEL),
        cache(annotator),
        device=device,
        graph=config.graph,
        min_score=config.min_score,
        all_scores=config.all_scores,
        max_evidence=config.max_evidence,
        batch_tokens=config.batch_tokens,
    )
