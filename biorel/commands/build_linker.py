"""build-linker: annotated documents, MeSH and CTD -> a lexicon of names, with thresholds of similarity."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.build_linker import BuildLinker
from biorel.counts import Counts, Reason
from biorel.errors import InputError
from biorel.formats.documents import read_documents
from biorel.knowledge.ctd_vocabularies import primary_ids, read_vocabularies
from biorel.knowledge.mesh import Mesh, read_mesh, resolve
from biorel.knowledge.mesh_files import read_terms
from biorel.linking.lexicon import LEXICON, from_ctd, from_documents, from_mesh, write_lexicon
from biorel.linking.linker import CONFIG, Linker, Settings
from biorel.progress import SILENT, Progress
from biorel.records import Annotated, Mention, Name
from biorel.scoring.concepts import ConceptScore
from biorel.scoring.metrics import Prf

_GRID = tuple(hundredths / 100 for hundredths in range(60, 96, 5))
# the threshold if there is no document to tune on; tuning on CDR's development documents gave this value
_UNTUNED = {"Chemical": 0.8, "Disease": 0.7, "Gene": 0.9}


@dataclass(frozen=True)
class _Vocabularies:
    """The names in MeSH and CTD, and a map from any id of a concept to the concept's id in MeSH and CTD."""

    names: tuple[Name, ...]
    to_primary: Callable[[str], str]


def run(config: BuildLinker, progress: Progress = SILENT) -> Artifact:
    """Build the linker folder `config.out`.

    Raises:
        BiorelError: an input cannot be read, or no input contains a name.
    """
    with artifacts.folder("build-linker", config.options(), config.out, force=config.force) as output:
        counts = output.counts
        progress.line("reading names")
        vocabularies = _vocabularies(config, counts)
        documents = list(read_documents(config.documents, counts))
        names = (*from_documents(documents, counts, vocabularies.to_primary), *vocabularies.names)
        if not names:
            raise InputError(
                "no input contains a name", "give documents whose mentions have concept ids, or MeSH or CTD files"
            )
        learned, tuned_on = _halves(config, documents, counts)
        progress.line(f"tuning on {len(tuned_on)} documents")
        tuning_names = (
            names if config.dev else (*from_documents(learned, Counts(), vocabularies.to_primary), *vocabularies.names)
        )
        thresholds, metrics = _tuned(Linker(tuning_names, Settings()), tuned_on, {name.type for name in names})
        counts.add(Reason.NAMES_WRITTEN, count=write_lexicon(output.path / LEXICON, names))
        artifacts.write_json(output.path / CONFIG, {"thresholds": thresholds})
        artifacts.write_json(output.path / "metrics.json", metrics)
        card = _card(config, counts, thresholds, metrics, len(tuned_on))
        (output.path / "README.md").write_text(card, encoding="utf-8")
    return Artifact(label="linker", path=config.out, summary=[card])


def _vocabularies(config: BuildLinker, counts: Counts) -> _Vocabularies:
    mesh = read_mesh(config.mesh, counts) if config.mesh else Mesh({}, {}, {})
    names = list(from_mesh(mesh, counts, read_terms(config.mesh, counts))) if config.mesh else []
    terms = list(read_vocabularies(config.ctd, counts)) if config.ctd else []
    names += from_ctd(terms, counts)
    alternates = primary_ids(terms, counts)

    def to_primary(id_: str) -> str:
        if id_ in alternates:
            return alternates[id_]
        return (resolve(mesh, id_) if mesh.names and id_.startswith("MESH:") else None) or id_

    return _Vocabularies(tuple(names), to_primary)


def _halves(
    config: BuildLinker, documents: Sequence[Annotated], counts: Counts
) -> tuple[Sequence[Annotated], Sequence[Annotated]]:
    """Two lists: the documents whose names are learned during tuning, and the documents to tune on."""
    if config.dev:
        known = {annotated.document.doc_id for annotated in documents}
        dev = []
        for annotated in read_documents(config.dev, Counts()):
            if annotated.document.doc_id in known:
                counts.add(Reason.DEV_DOCUMENT_IN_TRAINING, annotated.document.doc_id)
            else:
                dev.append(annotated)
        return documents, dev
    # sorted by id, so that the order of the files does not matter
    shuffled = sorted(documents, key=lambda annotated: annotated.document.doc_id)
    random.Random(config.seed).shuffle(shuffled)  # noqa: S311 (no secret)
    held = round(config.held_out * len(shuffled))
    return shuffled[held:], shuffled[:held]


def _tuned(
    linker: Linker, documents: Sequence[Annotated], types: Iterable[str]
) -> tuple[dict[str, float], dict[str, Any]]:
    """For each type the threshold with the best concept F1 (of equal ones the highest), and the resulting measures."""
    scores = {limit: _score(linker.retuned(Settings(dict.fromkeys(types, limit))), documents) for limit in _GRID}

    def best(type_: str) -> float:
        if not scores[_GRID[0]].gold[type_]:
            return _UNTUNED.get(type_, _GRID[-1])
        return max(_GRID, key=lambda limit: (_f1(scores[limit], type_), limit))

    thresholds = {type_: best(type_) for type_ in sorted(types)}
    concepts = _score(linker.retuned(Settings(thresholds)), documents).to_json()
    exact = _score(linker.retuned(Settings()), documents).to_json()
    by_limit = {f"{limit:.2f}": score.to_json() for limit, score in scores.items()}
    return thresholds, {"concepts": concepts, "without_similarity": exact, "by_threshold": by_limit}


def _score(linker: Linker, documents: Iterable[Annotated]) -> ConceptScore:
    """Score the linker alone: the concepts that it assigns to the gold spans."""
    score = ConceptScore.empty()
    for annotated in documents:
        bare: dict[Mention, None] = dict.fromkeys(replace(mention, entity_id=None) for mention in annotated.mentions)
        score.add(annotated.mentions, linker.link(annotated.document, bare))
    return score


def _f1(score: ConceptScore, type_: str) -> float:
    return Prf.of(score.correct[type_], score.predicted[type_], score.gold[type_]).f1 or 0.0


def _card(
    config: BuildLinker, counts: Counts, thresholds: dict[str, float], metrics: dict[str, Any], documents: int
) -> str:
    inputs = {"documents": config.documents, "MeSH": config.mesh, "CTD": (config.ctd,) if config.ctd else ()}
    sources = "; ".join(f"{kind}: {', '.join(path.name for path in paths)}" for kind, paths in inputs.items() if paths)
    how = "--dev" if config.dev else f"{config.held_out:.0%} of the documents, held out while tuning, then learned from"
    lines = [
        "# Linker",
        "",
        "Names of concepts, for `biorel tag` and `biorel extract`. Written by `biorel build-linker`.",
        "",
        f"- made from: {sources}",
        f"- names: {counts[Reason.NAMES_WRITTEN]:,}",
        f"- tuned on: {documents} documents ({how})",
        "",
        "Concepts of gold mentions (the set of ids of each document) in the documents tuned on:",
        "",
        "| type | similarity from | P | R | F1 | gold |",
        "|---|---|---|---|---|---|",
    ]
    for type_, prf in metrics["concepts"].items():
        numbers = ("-" if prf[key] is None else f"{100 * prf[key]:.1f}" for key in ("precision", "recall", "f1"))
        lines.append(f"| {type_} | {thresholds.get(type_, '')} | {' | '.join(numbers)} | {prf['gold']} |")
    return "\n".join(lines) + "\n"
