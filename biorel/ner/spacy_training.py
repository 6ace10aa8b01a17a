"""A spaCy tagger trained by a loop of our own: seeded, scored on dev after every epoch, averaged parameters.

Importing this file imports spaCy; import it in the function that needs it.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import filter_spans, fix_random_seed
from thinc.api import Adam

from biorel.ner import spacy_language as language
from biorel.ner.words import shared_words
from biorel.records import Annotated, Document

Span = tuple[int, int, str]
_EVALUATION_BATCH = 32


@dataclass(frozen=True)
class TrainingArguments:
    """What a training takes.

    Attributes:
        width, depth, window: of the convolutions; a word sees depth * window words to either side.
        rows: of the largest embedding tables; the smaller ones have a half and a quarter of it.
        known_from: training documents that must share a word for it to be told by itself.
        hidden: units of the transition model.
        dropout: the probability to drop.
        epochs: passes over the training documents.
        batch: documents of a step.
        learning_rate: the peak, after `warmup` steps; it falls by a cosine to `final_rate` of it.
    """

    width: int = 96
    depth: int = 6
    window: int = 1
    rows: int = 8000
    hidden: int = 64
    known_from: int = 2
    dropout: float = 0.2
    epochs: int = 15
    batch: int = 4
    learning_rate: float = 1e-3
    warmup: int = 100
    final_rate: float = 0.1
    seed: int = 1


@dataclass(frozen=True)
class Report:
    """One finished epoch. `counts` are per type (right, said, true) spans of the dev documents."""

    epoch: int
    loss: float
    counts: dict[str, tuple[int, int, int]]
    best: bool

    @property
    def f1(self) -> float:
        """Mean of the types' F1, so that the rarer type counts as much."""
        return sum(f1(*count) for count in self.counts.values()) / max(1, len(self.counts))


def f1(right: int, said: int, true: int) -> float:
    """F1 from counts; 0 where nothing was said and nothing is true."""
    return 2 * right / (said + true) if said + true else 0.0


def gold_spans(annotated: Annotated) -> set[Span]:
    """The (start, end, type) of a document's mentions; several concepts of one span are one."""
    return {(mention.start, mention.end, mention.type) for mention in annotated.mentions}


def network(recipe: TrainingArguments) -> dict[str, Any]:
    """spaCy's configuration of the `ner` component."""
    rows = [recipe.rows, recipe.rows // 2, recipe.rows // 2, recipe.rows // 4, recipe.rows, recipe.rows // 2]
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": recipe.hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": {
            "@architectures": "spacy.Tok2Vec.v2",
            "embed": {
                "@architectures": "spacy.MultiHashEmbed.v2",
                "width": recipe.width,
                "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE", "LEMMA", "TAG"],
                "rows": rows,
                "include_static_vectors": False,
            },
            "encode": {
                "@architectures": "spacy.MaxoutWindowEncoder.v2",
                "width": recipe.width,
                "depth": recipe.depth,
                "window_size": recipe.window,
                "maxout_pieces": 3,
            },
        },
    }


def example(nlp: Language, annotated: Annotated) -> Example:
    """A document as spaCy trains on it; of overlapping mentions the longest, and none off a word's border."""
    text = annotated.document.text
    reference = nlp.make_doc(text)
    spans = (reference.char_span(start, end, label=type_) for start, end, type_ in sorted(gold_spans(annotated)))
    reference.ents = tuple(filter_spans([span for span in spans if span is not None]))
    return Example(nlp.make_doc(text), reference)


def predicted_spans(nlp: Language, documents: Sequence[Document]) -> Iterator[set[Span]]:
    """The spans that a pipeline finds in each document."""
    for doc in nlp.pipe((document.text for document in documents), batch_size=_EVALUATION_BATCH):
        yield {(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents}


def count_spans(gold: Sequence[Annotated], predicted: Iterator[set[Span]]) -> dict[str, tuple[int, int, int]]:
    """Per type the numbers of right, said and true spans; a span is right when start, end and type are."""
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    true: Counter[str] = Counter()
    for annotated, found in zip(gold, predicted, strict=True):
        truth = gold_spans(annotated)
        right.update(type_ for _, _, type_ in truth & found)
        said.update(type_ for _, _, type_ in found)
        true.update(type_ for _, _, type_ in truth)
    return {type_: (right[type_], said[type_], true[type_]) for type_ in sorted(true | said)}


def train(
    training: Sequence[Annotated], dev: Sequence[Annotated], recipe: TrainingArguments, out: Path
) -> Iterator[Report]:
    """Train, and after each epoch yield how it does on dev; the best epoch's pipeline is written to `out`.

    The same documents, recipe and machine give the same pipeline.
    """
    fix_random_seed(recipe.seed)
    nlp = spacy.blank(language.NAME)
    known = shared_words((annotated.document.text for annotated in training), recipe.known_from)
    nlp.tokenizer = language.WordTokenizer(nlp.vocab, known)
    nlp.add_pipe("ner", config={"model": network(recipe)})
    examples = [example(nlp, annotated) for annotated in training]
    nlp.initialize(lambda: examples)
    optimizer = Adam(recipe.learning_rate, L2=0.01, grad_clip=1.0, use_averages=True, L2_is_weight_decay=True)
    order = random.Random(recipe.seed)  # noqa: S311 - an order of documents, no secret
    total = recipe.epochs * math.ceil(len(examples) / recipe.batch)
    step, best = 0, -1.0
    for epoch in range(1, recipe.epochs + 1):
        order.shuffle(examples)
        losses: dict[str, float] = {}
        for begin in range(0, len(examples), recipe.batch):
            optimizer.learn_rate = recipe.learning_rate * rate(step, total, recipe.warmup, recipe.final_rate)
            nlp.update(examples[begin : begin + recipe.batch], drop=recipe.dropout, sgd=optimizer, losses=losses)
            step += 1
        with nlp.use_params(optimizer.averages):
            counts = count_spans(dev, predicted_spans(nlp, [annotated.document for annotated in dev]))
            report = Report(epoch, losses.get("ner", 0.0) / len(examples), counts, False)
            if report.f1 > best:
                best = report.f1
                nlp.to_disk(out)
                report = Report(epoch, report.loss, counts, True)
        yield report


def rate(step: int, total: int, warmup: int, final: float) -> float:
    """Share of the peak learning rate at a step: a linear rise, then half a cosine down to `final`."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, total - warmup)
    return final + (1 - final) * (1 + math.cos(math.pi * done)) / 2
