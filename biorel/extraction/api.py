"""The Python API: `load` a model, `read` documents, `write` the results or convert them with `to_frame`.

Import it as `import biorel`; the functions are loaded when they are first used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from biorel.artifacts import whole_file
from biorel.counts import Counts
from biorel.dataset.labels import LABELS
from biorel.errors import ConfigError, ModelError
from biorel.extraction.annotator import NO_TAGGER, open_annotator
from biorel.extraction.document import ExtractedDocument, Outcome
from biorel.extraction.extractor import BATCH_TOKENS, Extractor, open_extractor
from biorel.formats.documents import read_records
from biorel.formats.writers import FORMATS, format_of
from biorel.model.device import pick_device
from biorel.records import Annotated, BadRecord
from biorel.resources import resource

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_MODEL = "cdr"


def load(
    model: str | Path = DEFAULT_MODEL,
    *,
    tagger: str | None = "spacy",
    tagger_model: str | None = None,
    linker: str | Path | None = None,
    graph: str | Path | None = None,
    device: str = "auto",
    min_score: float | None = None,
    all_scores: bool = False,
    max_evidence: int = 5,
    batch_tokens: int = BATCH_TOKENS,
) -> Extractor:
    """Open a model, a tagger and a linker.

    >>> import biorel
    >>> extractor = biorel.load()
    >>> doc = extractor("Clonidine lowered blood pressure. Naloxone reversed the hypotension caused by clonidine.")
    >>> for relation in doc.relations:
    ...     print(relation.head.id, relation.relation, relation.tail.id, relation.evidence[0].sentence_text)
    MESH:D003000 chemical_induced_disease MESH:D007022 Naloxone reversed the hypotension caused by clonidine.

    Args:
        model: the name of a shipped model, or a folder written by `biorel train`.
        tagger: finds the entities of records without mentions: `spacy`, `bran` (the relation model itself) or
            `dictionary`; None leaves such records without entities.
        tagger_model: a spaCy or scispaCy model, by name or folder. The default is the shipped tagger.
        linker: a folder written by `biorel build-linker`. The default is the shipped linker.
        graph: a folder written by `biorel build-graph`, for a model that was trained with one.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        min_score: keep relations with at least this score. The default is the thresholds of the model.
        all_scores: keep every relation that the types of a pair allow, whatever its score.
        max_evidence: the maximum number of mention pairs kept as evidence of a relation.
        batch_tokens: the number of tokens, with padding, that the model scores at once; a lower number saves memory.

    Raises:
        ModelError: the model is not found, or the model, tagger, linker or device is unusable.
        InputError: the lexicon or graph is missing or damaged.
        ConfigError: the spaCy model is not installed, the tagger is unknown, or a number is out of range.
    """
    if min_score is not None and not 0 <= min_score <= 1:
        raise ConfigError(f"min_score={min_score} is not a probability", "give a number from 0 to 1")
    if max_evidence < 1 or batch_tokens < 1:
        raise ConfigError(f"max_evidence={max_evidence}, batch_tokens={batch_tokens}: both must be at least 1")
    folder = _model_folder(model)
    annotator = open_annotator(
        tagger=NO_TAGGER if tagger is None else tagger,
        tagger_model=tagger_model,
        linker=None if linker is None else Path(linker),
        counts=Counts(),
    )
    return open_extractor(
        folder,
        lambda: annotator,
        device=pick_device(device),
        graph=None if graph is None else Path(graph),
        min_score=min_score,
        all_scores=all_scores,
        max_evidence=max_evidence,
        batch_tokens=batch_tokens,
    )


def shipped_models() -> dict[str, Path]:
    """The relation models that this installation contains, as a mapping from name to folder."""
    folders = sorted(path.parent for path in resource("models").glob(f"*/{LABELS}"))
    return {folder.name: folder for folder in folders}


def _model_folder(model: str | Path) -> Path:
    shipped = shipped_models()
    if isinstance(model, str) and model in shipped:
        return shipped[model]
    folder = Path(model)
    if not folder.is_dir():
        raise ModelError(
            f"{model}: no such model; the shipped models are {', '.join(shipped)}",
            "name one of them, or a folder written by biorel train",
        )
    return folder


def read(path: str | Path, *, counts: Counts | None = None) -> Iterator[Annotated | BadRecord]:
    """Read the documents of a file lazily: JSON lines, BioC, PubTator, PubMed XML or Parquet; plain or gzip.

    >>> import biorel
    >>> records = biorel.read("resources/sample/abstracts.jsonl")
    >>> first = next(records)
    >>> first.document.doc_id, len(first.mentions)
    ('99000001', 12)

    Args:
        path: a file, or a folder written by `biorel tag` or `biorel fetch`. The format is detected.
        counts: receives the numbers of rows repaired or left out, by reason.

    Returns:
        An iterator over the records in file order: annotated documents, and bad records that are not documents.

    Raises:
        InputError: the file is missing or in no known format. If the file is damaged, the iterator raises the error.
    """
    records = (record for _, record in read_records(Path(path), Counts() if counts is None else counts))
    # a file that is missing is reported here, not where the records are used
    first = next(records, None)
    return iter(()) if first is None else chain([first], records)


def write(docs: Iterable[ExtractedDocument], path: str | Path, *, format: str = "auto") -> None:
    """Write the relations of documents to a file. The file appears only when it is complete.

    Documents are written one at a time, so `docs` may be the iterator that `Extractor.pipe` returns. Bad records are
    left out.

    >>> import biorel, tempfile
    >>> docs = [biorel.load()("Naloxone reversed the hypotension caused by clonidine.")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     biorel.write(docs, f"{folder}/relations.tsv")
    ...     print(Path(f"{folder}/relations.tsv").read_text().splitlines()[0].split("\\t")[:4])
    ['doc_id', 'head_id', 'head_type', 'head_name']

    Args:
        format: a key of `formats.writers.FORMATS`; `auto` chooses the format by the suffix of the file name:
            `.jsonl`, `.parquet`, `.tsv`, `.pubtator` or `.xml` (BioC).

    Raises:
        ConfigError: no format has this name or suffix.
        OutputError: the file cannot be written, or the format cannot express a document's id.
    """
    target = Path(path)
    writer_of = FORMATS[format_of(target, format)].writer
    with whole_file(target) as partial, writer_of(partial) as writer:
        for doc in docs:
            if doc.status != Outcome.BAD_RECORD:
                writer.write(doc.document, doc.mentions, [relation.to_record() for relation in doc.relations])


def to_frame(docs: Iterable[ExtractedDocument]) -> pd.DataFrame:
    """Convert the relations of documents to a pandas DataFrame with one row per relation.

    >>> import biorel
    >>> frame = biorel.to_frame([biorel.load()("Naloxone reversed the hypotension caused by clonidine.")])
    >>> frame.loc[0, ["head_id", "tail_id"]].tolist()
    ['MESH:D003000', 'MESH:D007022']

    Returns:
        The columns `doc_id`, `head_id`, `head_type`, `head_name`, `relation`, `tail_id`, `tail_type`, `tail_name` and
        `score`; and, for the strongest mention pair, `evidence_head_start`, `evidence_head_end`, `evidence_tail_start`,
        `evidence_tail_end` (offsets in characters), `evidence_weight` and `evidence_sentence` (text).
    """
    import pandas as pd

    rows = [
        (
            *(relation.doc_id, relation.head.id, relation.head.type, relation.head.name, relation.relation),
            *(relation.tail.id, relation.tail.type, relation.tail.name, relation.score),
            *(*pair.head, *pair.tail, pair.weight, pair.sentence_text),
        )
        for doc in docs
        for relation in doc.relations
        for pair in relation.evidence[:1]
    ]
    frame = pd.DataFrame.from_records(rows, columns=list(_COLUMNS))
    return frame.astype(_COLUMNS)


_COLUMNS = {
    **dict.fromkeys(("doc_id", "head_id", "head_type", "head_name", "relation"), "object"),
    **dict.fromkeys(("tail_id", "tail_type", "tail_name"), "object"),
    "score": "float64",
    **dict.fromkeys(("evidence_head_start", "evidence_head_end"), "int64"),
    **dict.fromkeys(("evidence_tail_start", "evidence_tail_end"), "int64"),
    "evidence_weight": "float64",
    "evidence_sentence": "object",
}
