"""Scoring a file of predicted relations or mentions against a gold corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from biorel.counts import Counts, Reason
from biorel.dataset.hypernyms import Ancestors, strict_ancestors
from biorel.dataset.relation_schema import RelationSchema
from biorel.errors import InputError
from biorel.formats.documents import read_documents
from biorel.formats.predictions import Predictions, read_predictions
from biorel.knowledge.mesh import read_mesh
from biorel.records import Annotated
from biorel.scoring.concepts import ConceptScore
from biorel.scoring.facts import FactRow, FactScore, score_facts
from biorel.scoring.mentions import MentionScore
from biorel.scoring.metrics import Prf


def score_predictions(
    predictions: Path, gold: Sequence[Path], schema: RelationSchema, mesh: Sequence[Path], counts: Counts
) -> dict[str, Any]:
    """The metrics of a file of predictions, in the structure of metrics.json.

    Args:
        predictions: relations, or documents with mentions; see `formats.predictions`.
        gold: documents with gold mentions and relation rows.
        schema: maps the relation terms of both files to labels.
        mesh: MeSH files for the hypernym filter; if there are none, the filtered measures are left out.
        counts: receives the counts of the readers, and the predictions that are not scored.

    Raises:
        InputError: a file cannot be read, gold has no relation, or gold and predictions share no relation label.
    """
    documents = {annotated.document.doc_id: annotated for annotated in read_documents(gold, counts)}
    read = read_predictions(predictions, counts)
    gold_names = ", ".join(map(str, gold))
    metrics: dict[str, Any] = {}
    if read.facts is not None:
        facts = _gold_facts(documents, schema)
        if not facts:
            raise InputError(f"{gold_names}: no gold relation", "does the file have relation rows?")
        metrics |= _relations(documents, facts, read.facts, schema, mesh, counts)
    if read.mentions is not None:
        metrics |= _mentions(documents, read, counts)
    metrics["protocol"] = {
        "predictions": str(predictions),
        "gold": gold_names,
        "documents": len(documents),
        "entities": "as predicted; ids are compared with ids",
        "unit": "facts: distinct (document, head id, relation, tail id); all gold facts are in the denominator",
        "micro": "unfiltered: every predicted fact that gold has not is wrong",
        "filtered": "a wrong fact whose tail is, by MeSH, above a gold tail of its head is not counted"
        if mesh
        else "not asked for (--mesh)",
    }
    return metrics


def _gold_facts(gold: Mapping[str, Annotated], schema: RelationSchema) -> set[FactRow]:
    return {
        (doc_id, row.head_id, _label(row.relation, schema), row.tail_id)
        for doc_id, annotated in gold.items()
        for row in annotated.curations
    }


def _relations(
    gold: Mapping[str, Annotated],
    facts: set[FactRow],
    predicted: Iterable[FactRow],
    schema: RelationSchema,
    mesh_files: Sequence[Path],
    counts: Counts,
) -> dict[str, Any]:
    """Micro measures with and without the hypernym filter, and measures by relation."""
    rows = [(doc_id, head, _label(relation, schema), tail) for doc_id, head, relation, tail in predicted]
    # rows without a document are kept, to be counted as malformed
    inside = [row for row in rows if not row[0] or row[0] in gold]
    counts.add(Reason.PREDICTION_OUTSIDE_GOLD, count=len(rows) - len(inside))
    labels = {row[2] for row in facts}
    unknown = {row[2] for row in inside if row[0]} - labels
    if unknown and not {row[2] for row in inside} & labels:
        raise InputError(
            f"predicted relations {', '.join(sorted(unknown))}; gold has {', '.join(sorted(labels))}",
            "use --schema to give the relation schema that maps these terms to labels",
        )
    unfiltered = score_facts(facts, inside)
    metrics: dict[str, Any] = {
        "micro": asdict(unfiltered.prf),
        "unfiltered": {"micro": asdict(unfiltered.prf)},
        "filtered": None,
    }
    if mesh_files:
        mesh = read_mesh(mesh_files, counts)
        kept = _without_hypernyms(facts, inside, strict_ancestors(mesh.tree_numbers, mesh.mapped_to))
        counts.add(Reason.PREDICTION_HYPERNYM, count=len(inside) - len(kept))
        metrics["filtered"] = {"micro": asdict(score_facts(facts, kept).prf)}
    metrics["rows"] = _rows(unfiltered, len(rows))
    metrics["by_relation"] = {
        label: asdict(score_facts({row for row in facts if row[2] == label}, [r for r in inside if r[2] == label]).prf)
        for label in sorted(labels | unknown)
    }
    return metrics


def _label(term: str, schema: RelationSchema) -> str:
    """The label for a source term or a label name; any other term is returned unchanged."""
    return next((relation.name for relation in schema.relations if term in (relation.name, *relation.sources)), term)


def _without_hypernyms(gold: set[FactRow], predicted: Iterable[FactRow], ancestors: Ancestors) -> list[FactRow]:
    """The predictions without wrong pairs whose tail is above a gold tail of the same head."""
    pairs = {(doc_id, head, tail) for doc_id, head, _, tail in gold}
    above = {(doc_id, head, upper) for doc_id, head, tail in pairs for upper in ancestors(tail)} - pairs
    return [row for row in predicted if (row[0], row[1], row[3]) not in above]


def _rows(score: FactScore, rows: int) -> dict[str, int]:
    """The number of predicted rows, and of those that were not scored."""
    outside = rows - score.prf.predicted - score.repeated - score.malformed
    return {"read": rows, "repeated": score.repeated, "malformed": score.malformed, "of_other_documents": outside}


def _mentions(gold: Mapping[str, Annotated], predictions: Predictions, counts: Counts) -> dict[str, Any]:
    """Measures of mentions, by strict and by overlapping spans, and of the documents' concepts."""
    predicted = predictions.mentions or {}
    counts.add(
        Reason.PREDICTION_OUTSIDE_GOLD,
        count=sum(len(mentions) for doc_id, mentions in predicted.items() if doc_id not in gold),
    )
    spans, concepts = MentionScore.empty(), ConceptScore.empty()
    for doc_id, annotated in gold.items():
        spans.add(annotated.mentions, predicted.get(doc_id, ()))
        concepts.add(annotated.mentions, predicted.get(doc_id, ()))
    return {"mentions": spans.to_json(), "concepts": concepts.to_json()}


def predictions_report(metrics: Mapping[str, Any]) -> str:
    """The metrics of `score_predictions` as Markdown."""
    lines = ["# Predictions against gold", ""]
    lines += [f"- {name}: {value}" for name, value in metrics["protocol"].items()]
    if "rows" in metrics:
        lines += [f"- rows {name.replace('_', ' ')}: {count}" for name, count in metrics["rows"].items()]
    lines += ["", "| score | P | R | F1 | right | predicted | gold |", "|---|---|---|---|---|---|---|"]
    tables: dict[str, Any] = {}
    if "micro" in metrics:
        tables["relations, micro, filter off"] = metrics["unfiltered"]["micro"]
        if metrics["filtered"]:
            tables["relations, micro, filter on"] = metrics["filtered"]["micro"]
        tables |= {f"relations, {label}": prf for label, prf in metrics["by_relation"].items()}
    for kind, by_type in metrics.get("mentions", {}).items():
        tables |= {f"mentions, {kind}, {type_}": prf for type_, prf in by_type.items()}
    tables |= {f"concepts, {type_}": prf for type_, prf in metrics.get("concepts", {}).items()}
    lines += [f"| {name} | {_cells(Prf(**prf))} |" for name, prf in tables.items()]
    return "\n".join(lines) + "\n"


def _cells(prf: Prf) -> str:
    shares = ("-" if value is None else f"{100 * value:.1f}" for value in (prf.precision, prf.recall, prf.f1))
    return " | ".join([*shares, str(prf.true_positives), str(prf.predicted), str(prf.gold)])
