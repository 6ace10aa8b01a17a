"""Mentions with concept ids for records that come as text alone: a tagger, then a linker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from biorel.config import Ask, Extract
from biorel.counts import Counts
from biorel.linking.linker import Linker, load_linker
from biorel.ner.bran_tagger import tagged_mentions
from biorel.ner.tagger import Tagger
from biorel.ner.taggers import TAGGERS, Options
from biorel.records import Annotated, Document, Example, Mention
from biorel.resources import resource
from biorel.training.model_folder import ModelFolder

LEXICON = "lexicon.parquet"


@dataclass(frozen=True)
class Annotator:
    """Finds and links the mentions of documents without any.

    Attributes:
        tagger: None with `--tagger bran`: the relation model's entity head tags, as it encodes the document anyway.
    """

    tagger: Tagger | None
    linker: Linker

    def annotate(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        """The linked mentions of each document; none where the model's own head is to tag."""
        if self.tagger is None:
            return [()] * len(documents)
        found = self.tagger.tag(documents)
        return [self.linker.link(document, mentions) for document, mentions in zip(documents, found, strict=True)]

    def complete(self, item: Annotated, example: Example, tags: Sequence[int], opened: ModelFolder) -> Annotated:
        """The document with the linked mentions that the model's own tags [T] mean."""
        mentions = tagged_mentions(item.document, example, tags, opened.ner_labels)
        return replace(item, mentions=self.linker.link(item.document, mentions))


def open_annotator(config: Extract | Ask, counts: Counts) -> Annotator | None:
    """The tagger and linker that the configuration names, or None with `--tagger none`.

    Raises:
        BiorelError: a model, lexicon or linker that is not there or cannot be used.
    """
    if config.tagger == "none":
        return None
    linker_folder = config.linker or resource("models", "linker")
    linker = load_linker(linker_folder)
    if config.tagger == "bran":
        return Annotator(None, linker)
    options = Options(
        lexicon=linker_folder / LEXICON,
        model=config.tagger_model or str(resource("models", "tagger")),
        n_process=config.n_process,
    )
    return Annotator(TAGGERS[config.tagger](options, counts), linker)
