"""evaluate --predictions: a file of predicted relations or mentions + a gold corpus -> metrics and a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from biorel import artifacts
from biorel.config.evaluate import Evaluate
from biorel.counts import Counts, Reason
from biorel.dataset.hypernyms import Ancestors, strict_ancestors
from biorel.dataset.relation_schema import RelationSchema, named_schema
from biorel.errors import ConfigError, InputError
from biorel.formats.documents import read_documents
from biorel.formats.predictions import Predictions, read_predictions
from biorel.knowledge.mesh import read_mesh
from biorel.records import Annotated
from biorel.scoring.concepts import ConceptScore
from biorel.scoring.facts import FactRow, FactScore, score_facts
from biorel.scoring.mentions import MentionScore
from biorel.scoring.metrics import Prf


def run(config: Evaluate) -> str:
    """Score the predictions and write the folder `config.out`; returns the report.

    Raises:
        BiorelError: a file cannot be read, gold and predictions speak of different things, or no relation label of
            one is a label of the other.
    """
    if config.predictions is None or not config.gold:
        raise ConfigError("--predictions and --gold go together", "see --help")
    with artifacts.folder("evaluate", config.options(), config.out, force=config.force) as output:
        counts = output.counts
        gold = {annotated.document.doc_id: annotated for annotated in read_documents(config.gold, counts)}
        predictions = read_predictions(config.predictions, counts)
        metrics: dict[str, Any] = {}
        if predictions.facts is not None:
            metrics |= _relations(config, gold, predictions.facts, counts)
        if predictions.mentions is not None:
            metrics |= _mentions(gold, predictions, counts)
        metrics["protocol"] = {
            "predictions": str(config.predictions),
            "gold": ", ".join(map(str, config.gold)),
            "documents": len(gold),
            "entities": "as predicted; ids are compared with ids",
            "unit": "facts: distinct (document, head id, relation, tail id); all gold facts are in the denominator",
            "micro": "unfiltered: every predicted fact that gold has not is wrong",
            "filtered": "a wrong fact whose tail is, by MeSH, above a gold tail of its head is not counted"
            if config.mesh
            else "not asked for (--mesh)",
        }
        artifacts.write_json(output.path / "metrics.json", metrics)
        report = _report(metrics)
        (output.path / "report.md").write_text(report, encoding="utf-8")
    return report


def _relations(
    config: Evaluate, gold: Mapping[str, Annotated], facts: Iterable[FactRow], counts: Counts
) -> dict[str, Any]:
    """Micro measures without and with the hypernym filter, and by relation."""
    schema = named_schema(config.relation_schema)
    true = {
        (doc_id, row.head_id, _label(row.relation, schema), row.tail_id)
        for doc_id, annotated in gold.items()
        for row in annotated.curations
    }
    if not true:
        raise InputError(f"{', '.join(map(str, config.gold))}: no gold relation", "are there relation rows in it?")
    said = [(doc_id, head, _label(relation, schema), tail) for doc_id, head, relation, tail in facts]
    known = [row for row in said if not row[0] or row[0] in gold]
    counts.add(Reason.PREDICTION_OUTSIDE_GOLD, count=len(said) - len(known))
    labels = {row[2] for row in true}
    strangers = {row[2] for row in known if row[0]} - labels
    if strangers and not {row[2] for row in known} & labels:
        raise InputError(
            f"predicted relations {', '.join(sorted(strangers))}; gold has {', '.join(sorted(labels))}",
            "--schema names the relation schema that says which words mean which label",
        )
    unfiltered = score_facts(true, known)
    found: dict[str, Any] = {"micro": asdict(unfiltered.prf), "unfiltered": {"micro": asdict(unfiltered.prf)}}
    found["filtered"] = None
    if config.mesh:
        mesh = read_mesh(config.mesh, counts)
        kept = _without_hypernyms(true, known, strict_ancestors(mesh.tree_numbers, mesh.mapped_to))
        counts.add(Reason.PREDICTION_HYPERNYM, count=len(known) - len(kept))
        found["filtered"] = {"micro": asdict(score_facts(true, kept).prf)}
    found["rows"] = _rows(unfiltered, len(said))
    found["by_relation"] = {
        label: asdict(score_facts({row for row in true if row[2] == label}, [r for r in known if r[2] == label]).prf)
        for label in sorted(labels | strangers)
    }
    return found


def _label(word: str, schema: RelationSchema) -> str:
    """The label that a word of a source, or the label itself, stands for; a word of neither kind stays."""
    return next((relation.name for relation in schema.relations if word in (relation.name, *relation.sources)), word)


def _without_hypernyms(gold: set[FactRow], predicted: Iterable[FactRow], ancestors: Ancestors) -> list[FactRow]:
    """The predictions without pairs that gold has not and that a more specific gold pair of the same head explains."""
    pairs = {(doc_id, head, tail) for doc_id, head, _, tail in gold}
    above = {(doc_id, head, upper) for doc_id, head, tail in pairs for upper in ancestors(tail)} - pairs
    return [row for row in predicted if (row[0], row[1], row[3]) not in above]


def _rows(score: FactScore, rows: int) -> dict[str, int]:
    """What became of each predicted row."""
    outside = rows - score.prf.predicted - score.repeated - score.malformed
    return {"read": rows, "repeated": score.repeated, "malformed": score.malformed, "of_other_documents": outside}


def _mentions(gold: Mapping[str, Annotated], predictions: Predictions, counts: Counts) -> dict[str, Any]:
    """Mentions, strict and overlapping, and the documents' concepts."""
    said = predictions.mentions or {}
    counts.add(
        Reason.PREDICTION_OUTSIDE_GOLD,
        count=sum(len(mentions) for doc_id, mentions in said.items() if doc_id not in gold),
    )
    spans, concepts = MentionScore.empty(), ConceptScore.empty()
    for doc_id, annotated in gold.items():
        spans.add(annotated.mentions, said.get(doc_id, ()))
        concepts.add(annotated.mentions, said.get(doc_id, ()))
    return {"mentions": spans.to_json(), "concepts": concepts.to_json()}


def _report(metrics: Mapping[str, Any]) -> str:
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
