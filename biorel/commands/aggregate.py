"""aggregate: relations of many documents -> triples of the whole corpus, with vote, support and best evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.aggregate import Aggregate
from biorel.counts import Counts, Reason
from biorel.formats.documents import read_documents
from biorel.formats.relations import read_relations
from biorel.formats.triples import WRITERS, triples_format
from biorel.progress import SILENT, Progress
from biorel.records import CorpusTriple, Entity, Relation
from biorel.scoring.vote import Voted, vote

Key = tuple[str, str, str]


@dataclass
class _Support:
    """Collects the relations of one triple: best score in each document, names of the entities, strongest relation."""

    best: Relation
    scores: dict[str, float] = field(default_factory=dict)
    heads: Counter[tuple[str, str]] = field(default_factory=Counter)
    tails: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, relation: Relation) -> None:
        self.scores[relation.doc_id] = max(relation.score, self.scores.get(relation.doc_id, relation.score))
        self.heads[relation.head.type, relation.head.name] += 1
        self.tails[relation.tail.type, relation.tail.name] += 1
        if (-relation.score, relation.doc_id) < (-self.best.score, self.best.doc_id):
            self.best = relation


def run(config: Aggregate, progress: Progress = SILENT) -> Artifact:
    """Write the triples to `config.out`, highest vote first.

    Raises:
        InputError: a file cannot be read, or one of its rows is not a relation.
        OutputError: the output exists, is an input, or cannot be written.
    """
    format_ = triples_format(config.out, config.format)
    artifacts.check_output(config.out, force=config.force, inputs=(*config.relations, *config.documents))
    counts = Counts()
    by_triple = _read(config, counts)
    scores = ((key, doc_id, score) for key, triple in by_triple.items() for doc_id, score in triple.scores.items())
    ranked = vote(scores, config.vote)
    kept = [voted for voted in ranked if voted.support >= config.min_support]
    if len(kept) < len(ranked):
        counts.add(Reason.TRIPLE_BELOW_MIN_SUPPORT, count=len(ranked) - len(kept))
    sentences = _sentences(config, {by_triple[voted.answer].best.doc_id for voted in kept}, counts)
    with artifacts.whole_file(config.out, force=config.force) as place:
        WRITERS[format_](place, (_triple(voted, by_triple[voted.answer], sentences) for voted in kept))
    counts.add(Reason.TRIPLES_WRITTEN, count=len(kept))
    counts.check_balance()
    summary = [f"{reason}: {count}" for reason, count in counts.by_reason.items()]
    return Artifact(label="triples", path=config.out, summary=summary)


def _read(config: Aggregate, counts: Counts) -> dict[Key, _Support]:
    by_triple: dict[Key, _Support] = {}
    for path in config.relations:
        for relation in read_relations(path, counts):
            if relation.score < config.min_score:
                counts.add(Reason.RELATION_BELOW_MIN_SCORE)
                continue
            key = (relation.head.id, relation.relation, relation.tail.id)
            triple = by_triple.setdefault(key, _Support(relation))
            if relation.doc_id in triple.scores:
                counts.add(Reason.RELATION_REPEATED)
            else:
                counts.add(Reason.RELATIONS_AGGREGATED)
            triple.add(relation)
    return by_triple


def _sentences(config: Aggregate, wanted: set[str], counts: Counts) -> Mapping[str, str]:
    """The texts, by document id, of the documents that contain the best evidence of some triple."""
    texts = {
        annotated.document.doc_id: annotated.document.text
        for annotated in read_documents(config.documents, counts)
        if annotated.document.doc_id in wanted
    }
    if config.documents and (missing := sorted(wanted - texts.keys())):
        counts.add(Reason.EVIDENCE_DOCUMENT_MISSING, missing[0], len(missing))
    return texts


def _triple(voted: Voted[Key], triple: _Support, texts: Mapping[str, str]) -> CorpusTriple:
    head_id, relation, tail_id = voted.answer
    best = triple.best
    evidence = best.strongest
    text = texts.get(best.doc_id, "")
    return CorpusTriple(
        head=_entity(head_id, triple.heads),
        relation=relation,
        tail=_entity(tail_id, triple.tails),
        score=voted.score,
        support=voted.support,
        documents=tuple(voted.by_document),
        best_document=best.doc_id,
        best_score=best.score,
        evidence=evidence,
        sentence=text[slice(*evidence.sentence)].strip() if evidence else "",
    )


def _entity(id_: str, names: Counter[tuple[str, str]]) -> Entity:
    """The concept with its most common name. Among equally common names the alphabetically first is taken."""
    type_, name = min(names, key=lambda typed_name: (-names[typed_name], typed_name))
    return Entity(id_, type_, name)
