"""Annotate documents that have no mentions: a tagger finds the mentions, and a linker gives them concept ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from biorel.counts import Counts
from biorel.linking.lexicon import LEXICON
from biorel.linking.linker import Linker, load_linker
from biorel.ner.bran_tagger import tagged_mentions
from biorel.ner.taggers import Tagger, TaggerOptions, open_tagger
from biorel.records import Annotated, Document, Example, Mention
from biorel.resources import resource
from biorel.training.model_folder import ModelFolder

NO_TAGGER, RELATION_MODEL = "none", "bran"


@dataclass(frozen=True)
class Annotator:
    """A tagger and a linker. Threads may share an annotator, because a lock lets only one thread use it at a time.

    Attributes:
        tagger: None if the relation model itself tags the document, with its entity head.
    """

    tagger: Tagger | None
    linker: Linker
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def fill(self, items: Sequence[Annotated]) -> list[Annotated]:
        """Tag and link the items that have no mentions, unless the relation model is the tagger. Returns all items."""
        filled = list(items)
        places = [place for place, item in enumerate(items) if not item.mentions]
        if self.tagger is None or not places:
            return filled
        with self._lock:
            tagged = self.tagger.tag([items[place].document for place in places])
            for place, mentions in zip(places, tagged, strict=True):
                linked = self.linker.link(items[place].document, mentions)
                filled[place] = replace(items[place], mentions=linked)
        return filled

    def fill_from_tags(self, item: Annotated, example: Example, tags: Sequence[int], model: ModelFolder) -> Annotated:
        """Convert the tags of the relation model to mentions, and link them. Returns the item with these mentions.

        Args:
            example: the encoded document, T tokens.
            tags: [T] indices into the BIO labels of the model.
        """
        mentions = tagged_mentions(item.document, example, tags, model.ner_labels)
        return replace(item, mentions=self.link(item.document, mentions))

    def link(self, document: Document, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
        """Add concept ids to the mentions that have none."""
        with self._lock:
            return self.linker.link(document, mentions)


def open_annotator(
    *,
    tagger: str = "spacy",
    tagger_model: str | None = None,
    linker: Path | None = None,
    n_process: int = 1,
    counts: Counts,
) -> Annotator | None:
    """Open a tagger and a linker.

    Args:
        tagger: a key of `ner.taggers.TAGGERS`, or `none`. With `bran`, the entity head of the relation model tags.
        tagger_model: a spaCy model, by name or folder. The default is the shipped tagger.
        linker: a folder written by `build-linker`. The default is the shipped linker. The `dictionary` tagger
            uses the lexicon of the linker.
        n_process: processes of the spaCy tagger.
        counts: receives the counts of the tagger.

    Returns:
        The annotator, or None if `tagger` is `none`.

    Raises:
        BiorelError: a model, lexicon or linker is missing or unusable.
    """
    if tagger == NO_TAGGER:
        return None
    folder = linker or resource("models", "linker")
    opened_linker = load_linker(folder)
    if tagger == RELATION_MODEL:
        return Annotator(None, opened_linker)
    model = tagger_model or str(resource("models", "tagger"))
    options = TaggerOptions(lexicon=folder / LEXICON, model=model, n_process=n_process)
    return Annotator(open_tagger(tagger, options, counts), opened_linker)
