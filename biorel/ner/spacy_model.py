"""The spaCy tagger runs any spaCy or scispaCy model, by name or path, and returns plain records."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from biorel.counts import Counts, Reason
from biorel.errors import ConfigError
from biorel.formats.identifiers import concept_id, entity_type
from biorel.ner.consistency import ConsistentTagger
from biorel.ner.spans import Span, without_overlaps
from biorel.ner.taggers import Tagger, TaggerOptions
from biorel.records import Document, Mention

ABBREVIATIONS, LINKER = "abbreviation_detector", "scispacy_linker"
# labels of scispaCy models -> our entity types; `entity_type` maps the others
LABELS: Mapping[str, str] = {
    "CANCER": "Disease",
    "CHEBI": "Chemical",
    "DO": "Disease",
    "GENE_OR_GENE_PRODUCT": "Gene",
    "GGP": "Gene",
    "ORGANISM": "Species",
    "SIMPLE_CHEMICAL": "Chemical",
    "TAXON": "Species",
}
_SCISPACY = "https://s3-us-west-2.amazonaws.com/ai2-s2-scispacy/releases/v0.5.4/{name}-0.5.4.tar.gz"
_SCISPACY_MODELS = ("en_core_sci_", "en_ner_")
_BATCH = 32
# components that find entities; the others are disabled for a document on which one of them fails
_ENTITY_PIPES = frozenset({"tok2vec", "transformer", "ner", "entity_ruler", "span_finder"})


def entity_type_of(label: str, labels: Mapping[str, str] = LABELS) -> str:
    """Convert the label of a model to an entity type: `GGP` -> `Gene`, `DISEASE` -> `Disease`."""
    return labels.get(label.upper()) or entity_type(label)


class PipelineEntities(NamedTuple):
    """The entities that a pipeline finds in a document. If the pipeline links, their ids by span are included."""

    spans: list[Span]
    ids: dict[tuple[int, int], str]


class SpacyTagger:
    """Tags documents with a loaded spaCy pipeline."""

    def __init__(
        self,
        nlp: Any,
        counts: Counts,
        *,
        n_process: int = 1,
        labels: Mapping[str, str] = LABELS,
        knowledge_base: str = "",
    ) -> None:
        """Wrap a pipeline.

        Args:
            nlp: a spaCy Language.
            counts: receives the documents on which a component failed.
            n_process: worker processes; the result is the same for any number.
            labels: a mapping from labels of the model, in capitals, to entity types; `entity_type` maps other labels.
            knowledge_base: scispaCy's name of the knowledge base that the pipeline links to; empty for none.
        """
        self._nlp = nlp
        self._knowledge_base = knowledge_base
        self._counts = counts
        self._n_process = n_process
        self._labels = labels

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """Find the mentions of each document, disjoint and in text order. They have ids if the pipeline links."""
        return [
            tuple(self._mentions(document, entities))
            for document, entities in zip(documents, self._entities(documents), strict=True)
        ]

    def _mentions(self, document: Document, entities: PipelineEntities) -> Iterator[Mention]:
        text = document.text
        typed = ((start, end, entity_type_of(label, self._labels)) for start, end, label in entities.spans)
        for start, end, type_ in without_overlaps(typed):
            yield Mention(
                document.doc_id, start, end, text[start:end], type_, self._id(entities.ids.get((start, end), ""), type_)
            )

    def _id(self, raw: str, type_: str) -> str | None:
        """Add the namespace to an id. Without a namespace, a UMLS id could be mistaken for a MeSH id."""
        if not raw or ":" in raw or self._knowledge_base in ("", "mesh"):
            return concept_id(raw, type_)
        return f"{self._knowledge_base.upper()}:{raw}"

    def _entities(self, documents: Sequence[Document]) -> list[PipelineEntities]:
        texts = [document.text for document in documents]
        try:
            # converted at once: spaCy's Span objects keep their whole Doc in memory
            return [_plain(doc) for doc in self._nlp.pipe(texts, batch_size=_BATCH, n_process=self._n_process)]
        except Exception as error:
            self._counts.add(Reason.BATCHES_SPLIT, _reason(error))
            return [self._one(document) for document in documents]

    def _one(self, document: Document) -> PipelineEntities:
        """Tag one document. After a failure only the entity components run; after another, nothing is found."""
        try:
            return _plain(self._nlp(document.text))
        except Exception as error:
            self._counts.add(Reason.DOCUMENTS_PARTLY_TAGGED, f"{document.doc_id}: {_reason(error)}")
        others = [name for name in self._nlp.pipe_names if name not in _ENTITY_PIPES]
        try:
            with self._nlp.select_pipes(disable=others):
                return _plain(self._nlp(document.text))
        except Exception as error:
            self._counts.add(Reason.DOCUMENTS_NOT_TAGGED, f"{document.doc_id}: {_reason(error)}")
            return PipelineEntities([], {})


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _plain(doc: Any) -> PipelineEntities:
    """The entities of a Doc, their short forms found by scispaCy, and the ids from scispaCy's linker."""
    spans = [(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]
    ids = {}
    for entity in doc.ents:
        # scispaCy's linker sets (id, score) pairs by descending score
        candidates = entity._.kb_ents if entity.has_extension("kb_ents") else []
        if candidates:
            ids[entity.start_char, entity.end_char] = str(candidates[0][0])
    if doc.has_extension("abbreviations"):
        types = {doc.text[start:end]: label for start, end, label in spans}
        covered = [(start, end) for start, end, _ in spans]
        for short in doc._.abbreviations:
            label = types.get(short._.long_form.text)
            start, end = short.start_char, short.end_char
            if label and not any(begin < end and start < stop for begin, stop in covered):
                spans.append((start, end, label))
    return PipelineEntities(spans, ids)


def open_tagger(options: TaggerOptions, counts: Counts) -> Tagger:
    """Open the tagger of the spaCy model `options.model`."""
    linker = options.scispacy_linker
    nlp = load_spacy(options.model, abbreviations=options.abbreviations, linker=linker)
    tagger = SpacyTagger(nlp, counts, n_process=options.n_process, knowledge_base=linker)
    return ConsistentTagger(tagger, counts) if options.consistent else tagger


def load_spacy(name: str, *, abbreviations: bool = False, linker: str = "") -> Any:
    """Load a model by package name or folder. A scispaCy linker in the model is left out unless `linker` is given.

    Args:
        name: package name or folder. Blanks around it are ignored; hyphens in a package name mean underscores.
        abbreviations: add scispaCy's detector, which finds the short forms of entities.
        linker: add scispaCy's linker for this knowledge base (`mesh`, `umls`, `rxnorm`, `go`, `hpo`); UMLS takes
            about 11 GB of memory and makes tagging much slower.

    Raises:
        ConfigError: spaCy, the model, the detector or the linker is not installed; the hint shows how to install it.
    """
    spacy = _imported("spacy", "pip install spacy")
    model = model_name(name)
    if (Path(model) / "config.cfg").is_file():
        # registers the spaCy language that the pipelines of train-tagger use
        importlib.import_module("biorel.ner.spacy_language")
    try:
        nlp = spacy.load(model, exclude=[LINKER])
    except OSError as error:
        raise ConfigError(
            f"spaCy model {model} is not installed, and there is no folder with this name", install(model)
        ) from error
    except Exception as error:
        # a damaged folder makes spaCy raise many kinds of errors
        raise ConfigError(f"spaCy model {model} cannot be loaded ({_reason(error)})", install(model)) from error
    if abbreviations and ABBREVIATIONS not in nlp.pipe_names:
        _imported("scispacy.abbreviation", "pip install 'biorel[scispacy]'")
        nlp.add_pipe(ABBREVIATIONS)
    if linker:
        _imported("scispacy.linking", "pip install 'biorel[scispacy]'")
        nlp.add_pipe(LINKER, config={"linker_name": linker, "resolve_abbreviations": abbreviations})
    return nlp


def model_name(name: str) -> str:
    """The importable name of a package. A path, or the name of an existing folder, is returned unchanged."""
    stripped = name.strip()
    return stripped if Path(stripped).exists() or _is_path(stripped) else stripped.replace("-", "_")


def _is_path(name: str) -> bool:
    return Path(name).name != name


def install(model: str) -> str:
    """A hint: the command that installs a model, or for a path, a request to check the path."""
    if _is_path(model):
        return "check the path, or train a tagger with biorel train-tagger"
    if model.startswith(_SCISPACY_MODELS):
        return f"pip install {_SCISPACY.format(name=model)}"
    return f"python -m spacy download {model}"


def _imported(module: str, command: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(f"{module.partition('.')[0]} is not installed", command) from error
