"""Any spaCy or scispaCy model as a tagger, by name or path: plain values come out, whatever the components do."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from biorel.counts import Counts, Reason
from biorel.errors import ConfigError
from biorel.formats.identifiers import concept_id, entity_type
from biorel.ner.overlaps import Span, without_overlaps
from biorel.records import Document, Mention

ABBREVIATIONS, LINKER = "abbreviation_detector", "scispacy_linker"
# labels of the scispaCy models whose types have other names here; `entity_type` knows the rest
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
# what finds entities; the rest of a pipeline is left out where it fails
_ENTITY_PIPES = frozenset({"tok2vec", "transformer", "ner", "entity_ruler", "span_finder"})


class Found(NamedTuple):
    """What a pipeline finds in a document: spans, and the id of a span that its own linker knows."""

    spans: list[Span]
    ids: dict[tuple[int, int], str]


class SpacyTagger:
    """A loaded pipeline over documents."""

    def __init__(
        self,
        nlp: Any,
        counts: Counts,
        *,
        n_process: int = 1,
        labels: Mapping[str, str] = LABELS,
        knowledge_base: str = "",
    ) -> None:
        """Take a pipeline.

        Args:
            nlp: a spaCy Language.
            counts: books documents for which a component failed.
            n_process: worker processes; the mentions and their order are the same for any number.
            labels: from a model's label in capitals to a type; other labels are read by `entity_type`.
            knowledge_base: what the ids of the pipeline's own linker are of, as scispaCy names it.
        """
        self._nlp = nlp
        self._knowledge_base = knowledge_base
        self._ledger = counts
        self._n_process = n_process
        self._labels = labels

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """The mentions of each document, disjoint, in the order of the text; with ids if the pipeline links."""
        return [
            tuple(self._mentions(document, found))
            for document, found in zip(documents, self._found(documents), strict=True)
        ]

    def _mentions(self, document: Document, found: Found) -> Iterator[Mention]:
        text = document.text
        typed = (
            (start, end, self._labels.get(label.upper()) or entity_type(label)) for start, end, label in found.spans
        )
        for start, end, type_ in without_overlaps(typed):
            yield Mention(
                document.doc_id, start, end, text[start:end], type_, self._id(found.ids.get((start, end), ""), type_)
            )

    def _id(self, raw: str, type_: str) -> str | None:
        """An id of the linker's knowledge base with its namespace; a UMLS concept looks like a MeSH one without."""
        if not raw or ":" in raw or self._knowledge_base in ("", "mesh"):
            return concept_id(raw, type_)
        return f"{self._knowledge_base.upper()}:{raw}"

    def _found(self, documents: Sequence[Document]) -> list[Found]:
        texts = [document.text for document in documents]
        try:
            # Span objects stay in this line: they hold their Doc, and cannot leave a process
            return [_plain(doc) for doc in self._nlp.pipe(texts, batch_size=_BATCH, n_process=self._n_process)]
        except Exception as error:
            self._ledger.add(Reason.BATCHES_TAGGED_ONE_BY_ONE_COMPONENT_FAILED, _reason(error))
            return [self._one(document) for document in documents]

    def _one(self, document: Document) -> Found:
        """What is found in a document that may break a component; then of the entity tagger alone; then none."""
        try:
            return _plain(self._nlp(document.text))
        except Exception as error:
            self._ledger.add(Reason.DOCUMENTS_TAGGED_WITHOUT_OTHER_COMPONENTS, f"{document.doc_id}: {_reason(error)}")
        others = [name for name in self._nlp.pipe_names if name not in _ENTITY_PIPES]
        try:
            with self._nlp.select_pipes(disable=others):
                return _plain(self._nlp(document.text))
        except Exception as error:
            self._ledger.add(Reason.DOCUMENTS_NOT_TAGGED_MODEL_FAILED, f"{document.doc_id}: {_reason(error)}")
            return Found([], {})


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _plain(doc: Any) -> Found:
    """The entities of a Doc, the short forms of those that are long forms, and their ids where they are linked."""
    spans = [(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]
    ids = {}
    for entity in doc.ents:
        # what scispaCy's linker sets: (id, score) by descending score
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
    return Found(spans, ids)


def load_spacy(name: str, *, abbreviations: bool = False, linker: str = "") -> Any:
    """Load a model by the name of its package or by its folder, without a linker of its own unless it is asked for.

    Args:
        name: blanks around it do not count, and hyphens are read as underscores: both look installed and do not load.
        abbreviations: add scispaCy's detector, so that short forms of found names are found.
        linker: add scispaCy's linker over this knowledge base (`mesh`, `umls`, `rxnorm`, `go`, `hpo`); UMLS takes
            about 11 GB of memory and slows tagging much.

    Raises:
        ConfigError: spaCy, the model, the detector or the linker is not installed; the hint tells the command.
    """
    spacy = _imported("spacy", "pip install spacy")
    model = model_name(name)
    if (Path(model) / "config.cfg").is_file():
        # a pipeline that train-tagger wrote is in the language of this file
        importlib.import_module("biorel.ner.spacy_language")
    try:
        nlp = spacy.load(model, exclude=[LINKER])
    except OSError as error:
        raise ConfigError(f"spaCy model {model} is not installed and no such folder is here", install(model)) from error
    except Exception as error:
        # whatever spaCy stumbles over in a damaged folder
        raise ConfigError(f"spaCy model {model} cannot be loaded ({_reason(error)})", install(model)) from error
    if abbreviations and ABBREVIATIONS not in nlp.pipe_names:
        _imported("scispacy.abbreviation", "pip install 'biorel[scispacy]'")
        nlp.add_pipe(ABBREVIATIONS)
    if linker:
        _imported("scispacy.linking", "pip install 'biorel[scispacy]'")
        nlp.add_pipe(LINKER, config={"linker_name": linker, "resolve_abbreviations": abbreviations})
    return nlp


def model_name(name: str) -> str:
    """The name as Python knows the package, or the folder where there is one of that name or the name is a path."""
    stripped = name.strip()
    return stripped if Path(stripped).exists() or _is_path(stripped) else stripped.replace("-", "_")


def _is_path(name: str) -> bool:
    return Path(name).name != name


def install(model: str) -> str:
    """The command that installs a model, or where a path leads to none what else to do."""
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
