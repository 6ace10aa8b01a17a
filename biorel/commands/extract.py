"""extract: documents -> relations with scores and evidence, and one status row for each input record."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import ExitStack
from functools import cache, partial
from itertools import islice
from pathlib import Path

import torch

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.extract import Extract
from biorel.counts import Counts, Reason
from biorel.errors import InputError, OutputError
from biorel.extraction.annotator import open_annotator
from biorel.extraction.api import DEFAULT_MODEL
from biorel.extraction.document import Outcome
from biorel.extraction.extractor import BATCH_SIZE, Extractor, open_extractor
from biorel.formats.documents import BAD_SHOWN, read_records
from biorel.formats.writers import FORMATS, format_of
from biorel.model.device import pick_device
from biorel.progress import SILENT, Progress
from biorel.records import Annotated, Status
from biorel.resources import resource
from biorel.schemas import to_row


def run(config: Extract, progress: Progress = SILENT) -> Artifact:
    """Extract the relations of all documents of `config.input`.

    Returns:
        The file of relations. `details` holds `status` (path of the status file), `documents`, `relations`,
        `by_status` and `counts` (numbers), `seconds` (from the first record to the last row) and `device`.

    Raises:
        BiorelError: the input cannot be read or has no usable document, the model cannot be used, or the output
            cannot be written. No output is left in these cases.
    """
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    out = config.out or _default_out(config)
    status_path = config.status or out.with_name(f"{out.name}.status.jsonl")
    if len({path.resolve() for path in (config.input, out, status_path)}) < 3:
        raise OutputError(
            f"the input, {out} and {status_path} must be three different files", "choose another --out or --status"
        )
    for path in (out, status_path):
        artifacts.check_output(path, force=config.force)
    writer_kind = FORMATS[format_of(out, config.format)].writer
    counts = Counts()
    extractor = _extractor(config, device, counts)
    by_status = Counter(dict.fromkeys(map(str, Outcome), 0))
    bad_places: list[str] = []
    relations = 0
    began = time.perf_counter()
    with ExitStack() as stack:
        relations_file = stack.enter_context(artifacts.whole_file(out, force=config.force))
        status_file = stack.enter_context(artifacts.whole_file(status_path, force=config.force))
        statuses = stack.enter_context(status_file.open("w", encoding="utf-8"))
        writer = stack.enter_context(writer_kind(relations_file))
        report_done = stack.enter_context(progress.documents())
        records = read_records(config.input, counts)
        while chunk := list(islice(records, BATCH_SIZE)):
            docs = extractor.extract([record for _, record in chunk], counts)
            for (line, record), doc in zip(chunk, docs, strict=True):
                if isinstance(record, Annotated):
                    counts.add(Reason.DOCUMENTS_KEPT)
                    too_many = doc.status == Outcome.BAD_RECORD
                    counts.add(Reason.DOCUMENT_WITH_TOO_MANY_PAIRS if too_many else Reason.DOCUMENTS_WRITTEN)
                if doc.status != Outcome.BAD_RECORD:
                    writer.write(doc.document, doc.mentions, [relation.to_record() for relation in doc.relations])
                elif len(bad_places) < BAD_SHOWN:
                    bad_places.append(f"{config.input}:{line}: {doc.reason}")
                status = Status(doc.doc_id, line, doc.status, doc.reason, len(doc.relations), doc.tokens, doc.windows)
                statuses.write(json.dumps(to_row(status), ensure_ascii=False) + "\n")
                by_status[doc.status] += 1
                relations += len(doc.relations)
            report_done(by_status.total())
        if by_status.total() == by_status[Outcome.BAD_RECORD]:
            first = bad_places[0] if bad_places else f"{config.input}: no record"
            raise InputError(
                f"{first} (and the input has no usable record)", "the input formats are listed in docs/formats.md"
            )
    if extractor.model.model.config.uses_graph and extractor.injector is None:
        counts.add(Reason.DOCUMENTS_WITHOUT_GRAPH, count=by_status.total())
    counts.check_balance()
    seconds = time.perf_counter() - began
    documents = by_status.total()
    by_status_text = ", ".join(f"{count} {name}" for name, count in by_status.items() if count)
    return Artifact(
        label="relations",
        path=out,
        summary=[
            f"{relations} relations of {documents} documents ({by_status_text or 'the input is empty'})",
            "; ".join(f"{reason}: {count}" for reason, count in counts.by_reason.items()),
            f"{documents / max(seconds, 1e-9):.1f} docs/s on {device} ({seconds:.1f} s)",
            f"status: {status_path}",
        ],
        details={
            "status": status_path,
            "documents": documents,
            "relations": relations,
            "by_status": dict(by_status),
            "counts": counts.by_reason,
            "seconds": seconds,
            "device": str(device),
        },
        bad_records=bad_places,
        bad_accepted=config.skip_bad,
    )


def _default_out(config: Extract) -> Path:
    """The default output: a file in the current folder, named after the input."""
    format_ = "jsonl" if config.format == "auto" else format_of(config.input, config.format)
    return Path(f"{_stem(config.input)}.relations{FORMATS[format_].suffixes[0]}")


def _stem(path: Path) -> str:
    """The file's name without .gz and without the suffix before it."""
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
