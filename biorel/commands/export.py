"""export: a model folder -> ONNX, or a relations file -> another format.

Relations are streamed. Only a format that contains the text needs all relations in memory, grouped by document; then
the documents are streamed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.export import Export
from biorel.counts import Counts, Reason
from biorel.errors import ConfigError, InputError, OutputError
from biorel.formats.documents import read_documents
from biorel.formats.relations import read_relations
from biorel.formats.writers import FORMATS, RelationWriter, format_of
from biorel.progress import SILENT, Progress
from biorel.records import Relation

MODEL_FILES = ("tokenizer.json", "labels.json", "thresholds.json", "config.json")


def run(config: Export, progress: Progress = SILENT) -> Artifact:
    """Export to `config.out`.

    Raises:
        BiorelError: two flags exclude each other, the input is bad, or the output exists or cannot be written.
            No output is left in these cases.
    """
    summary: list[str] = []
    if config.relations is not None:
        summary = _convert(config, config.relations)
    elif config.model is not None:
        summary = _to_onnx(config, config.model)
    return Artifact(label="exported", path=config.out, summary=summary)


def _to_onnx(config: Export, model: Path) -> list[str]:
    if config.format not in ("auto", "onnx"):
        raise ConfigError(
            f"a model folder cannot be exported to {config.format!r}", "leave --format out, or give --relations"
        )
    if config.documents:
        raise ConfigError("--documents can be used only with --relations", "leave --documents out")
    if config.out.resolve() == model.resolve():
        raise OutputError(f"{config.out}: the output is the model folder itself", "choose another --out")
    # torch takes seconds to load, and converting relations does not need it
    from biorel.model.onnx import export_onnx
    from biorel.training.model_folder import open_model

    opened = open_model(model)
    with artifacts.folder("export", config.options(), config.out, force=config.force) as output:
        export_onnx(opened.model, output.path)
        for name in MODEL_FILES:
            shutil.copyfile(model / name, output.path / name)
    return ["ONNX graphs, described in onnx.json"]


def _convert(config: Export, source: Path) -> list[str]:
    if config.format == "onnx":
        raise ConfigError("relations cannot be exported to ONNX", "give --model, or another --format")
    format_ = format_of(config.out, config.format)
    if FORMATS[format_].holds_text and not config.documents:
        raise ConfigError(
            f"--format {format_} contains the text, so it needs --documents",
            "give the files that `biorel extract` read",
        )
    if config.documents and not FORMATS[format_].holds_text:
        raise ConfigError(f"--format {format_} contains no text, so it takes no --documents", "leave --documents out")
    artifacts.check_output(config.out, force=config.force, inputs=(source, *config.documents))
    counts = Counts()
    with artifacts.whole_file(config.out, force=config.force) as place, FORMATS[format_].writer(place) as writer:
        relations = read_relations(source, counts)
        if config.documents:
            _with_documents(config, relations, writer, counts)
        else:
            for relation in relations:
                writer.write(None, (), (relation,))
                counts.add(Reason.RELATIONS_WRITTEN)
        counts.check_balance()
    return [
        f"{reason}: {count}" + (f" ({', '.join(counts.examples[reason])})" if counts.examples.get(reason) else "")
        for reason, count in counts.by_reason.items()
    ]


def _with_documents(config: Export, relations: Iterator[Relation], writer: RelationWriter, counts: Counts) -> None:
    """Write every document with its relations.

    Raises:
        InputError: there are relations, but none belongs to a document of --documents.
    """
    grouped: dict[str, list[Relation]] = {}
    for relation in relations:
        grouped.setdefault(relation.doc_id, []).append(relation)
    for annotated in read_documents(config.documents, counts):
        found = grouped.pop(annotated.document.doc_id, [])
        writer.write(annotated.document, annotated.mentions, found)
        counts.add(Reason.RELATIONS_WRITTEN, count=len(found))
    for doc_id, left in grouped.items():
        counts.add(Reason.RELATION_WITHOUT_DOCUMENT, doc_id, len(left))
    if grouped and not counts[Reason.RELATIONS_WRITTEN]:
        raise InputError(
            f"{config.relations}: no relation belongs to a document in --documents "
            f"(the first belongs to {next(iter(grouped))})",
            "give the documents that the relations were extracted from",
        )
