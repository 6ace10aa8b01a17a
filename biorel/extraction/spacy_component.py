"""The spaCy component `biorel` extracts relations between the entities of a Doc.

spaCy finds the component by an entry point, so `nlp.add_pipe("biorel")` needs no import of biorel.
Importing this file imports spaCy and torch.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from biorel.counts import Counts
from biorel.extraction.annotator import Annotator
from biorel.extraction.api import DEFAULT_MODEL, load
from biorel.extraction.document import ExtractedDocument, ExtractedRelation, MentionPair
from biorel.formats.identifiers import concept_ids
from biorel.formats.jsonl import cut_title
from biorel.linking.lexicon import JOINT
from biorel.linking.linker import load_linker
from biorel.ner.spacy_model import entity_type_of
from biorel.records import Annotated, BadRecord, Document, Entity, Mention
from biorel.resources import resource

# the key of `Doc.user_data` under which the results are stored as plain values, which every serialisation keeps
KEY = "biorel"


@Language.factory(
    "biorel",
    assigns=["doc.ents", "doc._.relations", "doc._.mentions"],
    default_config={
        "model": DEFAULT_MODEL,
        "tag": True,
        "tagger_model": None,
        "linker": None,
        "device": "auto",
        "min_score": None,
        "max_evidence": 5,
    },
)
def make_component(
    nlp: Any,
    name: str,
    model: str,
    tag: bool,
    tagger_model: str | None,
    linker: str | None,
    device: str,
    min_score: float | None,
    max_evidence: int,
) -> RelationComponent:
    """Build the component. spaCy calls this function for `nlp.add_pipe("biorel", config={...})`.

    Args:
        nlp, name: passed by spaCy.
        model: the name of a shipped model, or a folder written by `biorel train`.
        tag: if a Doc has no entities, find them with a tagger of biorel.
        tagger_model, linker, device, min_score, max_evidence: see `biorel.load`.
    """
    return RelationComponent(
        {
            "model": model,
            "tagger": "spacy" if tag else None,
            "tagger_model": tagger_model,
            "linker": linker,
            "device": device,
            "min_score": min_score,
            "max_evidence": max_evidence,
        }
    )


class RelationComponent:
    """Sets `doc._.relations`, `doc._.mentions`, and the `kb_id_` of each entity in `doc.ents`.

    An entity that has a `kb_id_` keeps it; the other entities are linked. Several ids of one entity are joined by `|`.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        """Open the models.

        Args:
            settings: the arguments of `biorel.load`.

        Raises:
            BiorelError: see `biorel.load`.
        """
        self._settings = settings
        self._process = os.getpid()
        self._extractor = load(**settings)
        folder = settings["linker"] or resource("models", "linker")
        self._annotator = self._extractor.annotator() or Annotator(None, load_linker(Path(folder)))

    def __reduce__(self) -> tuple[type[RelationComponent], tuple[dict[str, Any]]]:
        # a worker process that does not share this memory opens the models itself
        return RelationComponent, (self._settings,)

    def __call__(self, doc: Doc) -> Doc:
        """Extract the relations of one Doc."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 128) -> Iterator[Doc]:
        """Extract the relations of many Docs, in batches and in order."""
        if os.getpid() != self._process:
            # OpenMP hangs in a forked process unless it runs on one thread
            torch.set_num_threads(1)
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            results = self._extractor.extract([self._record(doc) for doc in batch], Counts())
            for doc, result in zip(batch, results, strict=True):
                _store(doc, result)
                yield doc

    def _record(self, doc: Doc) -> Annotated | BadRecord:
        if not doc.text.strip():
            return BadRecord(0, "", "no text")
        document = Document("", *cut_title(doc.text))
        mentions = tuple(
            Mention("", entity.start_char, entity.end_char, entity.text, type_, id_)
            for entity in doc.ents
            for type_ in [entity_type_of(entity.label_)]
            for id_ in concept_ids(entity.kb_id_, type_)
        )
        return Annotated(document, self._annotator.link(document, mentions))


def _store(doc: Doc, result: ExtractedDocument) -> None:
    """Write the results of a document into its Doc."""
    ids: dict[tuple[int, int], list[str]] = {}
    for mention in result.mentions:
        ids.setdefault((mention.start, mention.end), []).extend([mention.entity_id] if mention.entity_id else [])
    if doc.ents:
        entities = [_with_id(entity, ids.get((entity.start_char, entity.end_char), ())) for entity in doc.ents]
    else:
        types = {(mention.start, mention.end): mention.type for mention in result.mentions}
        # "expand", because a token of spaCy may be longer than a mention of our tagger
        entities = [
            doc.char_span(*span, label=types[span], kb_id=JOINT.join(ids[span]), alignment_mode="expand")
            for span in types
        ]
    doc.ents = filter_spans(entities)
    doc.user_data[KEY] = {
        "mentions": [asdict(mention) for mention in result.mentions],
        "relations": [asdict(relation) for relation in result.relations],
    }


def _with_id(entity: Span, ids: Sequence[str]) -> Span:
    if entity.kb_id_:
        return entity
    return Span(entity.doc, entity.start, entity.end, entity.label, kb_id=JOINT.join(ids), span_id=entity.id)


def _relations(doc: Doc) -> tuple[ExtractedRelation, ...]:
    return tuple(_relation(values) for values in doc.user_data.get(KEY, {}).get("relations", ()))


def _mentions(doc: Doc) -> tuple[Mention, ...]:
    return tuple(Mention(**values) for values in doc.user_data.get(KEY, {}).get("mentions", ()))


def _relation(values: dict[str, Any]) -> ExtractedRelation:
    evidence = tuple(_mention_pair(pair) for pair in values["evidence"])
    return ExtractedRelation(
        values["doc_id"],
        Entity(**values["head"]),
        values["relation"],
        Entity(**values["tail"]),
        values["score"],
        evidence,
    )


def _mention_pair(values: dict[str, Any]) -> MentionPair:
    # tuples have become lists where a Doc was serialised
    spans: dict[str, Any] = {name: tuple(values[name]) for name in ("head", "tail", "sentence")}
    return MentionPair(**{**values, **spans})


Doc.set_extension("relations", getter=_relations, force=True)
Doc.set_extension("mentions", getter=_mentions, force=True)
