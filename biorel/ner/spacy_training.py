"""Train the spaCy tagger with a fixed seed and averaged parameters, and score the dev documents after every epoch.

Importing this file imports spaCy. Import this file only in the functions that use it.
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
    """The sizes of the network and the training schedule.

    Attributes:
        width, depth, window: sizes of the convolutions; a word is encoded with depth * window words on either side.
        rows: rows of the largest embedding tables; the smaller tables have a half or a quarter of these rows.
        known_from: a word keeps its identity if at least this number of training documents contain the word.
        hidden: number of hidden units of the transition model.
        dropout: the dropout probability.
        epochs: passes over the training documents.
        batch: documents per step.
        learning_rate: the peak, reached after `warmup` steps; a cosine then lowers it to `final_rate` of the peak.
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
    """The result of an epoch. `counts` maps each type to the numbers of (correct, predicted, gold) spans on dev."""

    epoch: int
    loss: float
    counts: dict[str, tuple[int, int, int]]
    best: bool

    @property
    def f1(self) -> float:
        """The mean F1 of the types, so that rare types count as much as common ones."""
        return sum(f1(*count) for count in self.counts.values()) / max(1, len(self.counts))


def f1(correct: int, predicted: int, gold: int) -> float:
    """Compute F1 from numbers of spans. F1 is 0 if there are no predicted and no gold spans."""
    return 2 * correct / (predicted + gold) if predicted + gold else 0.0


def gold_spans(annotated: Annotated) -> set[Span]:
    """The (start, end, type) of a document's mentions; a span with several concepts counts once."""
    return {(mention.start, mention.end, mention.type) for mention in annotated.mentions}


def network(arguments: TrainingArguments) -> dict[str, Any]:
    """spaCy's configuration of the `ner` component."""
    rows = [
        arguments.rows,
        arguments.rows // 2,
        arguments.rows // 2,
        arguments.rows // 4,
        arguments.rows,
        arguments.rows // 2,
    ]
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": arguments.hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": {
            "@architectures": "spacy.Tok2Vec.v2",
            "embed": {
                "@architectures": "spacy.MultiHashEmbed.v2",
                "width": arguments.width,
                "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE", "LEMMA", "TAG"],
                "rows": rows,
                "include_static_vectors": False,
            },
            "encode": {
                "@architectures": "spacy.MaxoutWindowEncoder.v2",
                "width": arguments.width,
                "depth": arguments.depth,
                "window_size": arguments.window,
                "maxout_pieces": 3,
            },
        },
    }


def example(nlp: Language, annotated: Annotated) -> Example:
    """Make a training example for spaCy.

    Of overlapping mentions only the longest is used. Mentions that begin or end inside a word are left out.
    """
    text = annotated.document.text
    reference = nlp.make_doc(text)
    spans = (reference.char_span(start, end, label=type_) for start, end, type_ in sorted(gold_spans(annotated)))
    reference.ents = tuple(filter_spans([span for span in spans if span is not None]))
    return Example(nlp.make_doc(text), reference)


def predicted_spans(nlp: Language, documents: Sequence[Document]) -> Iterator[set[Span]]:
    """Yield the spans that a pipeline finds in each document."""
    for doc in nlp.pipe((document.text for document in documents), batch_size=_EVALUATION_BATCH):
        yield {(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents}


def count_spans(gold: Sequence[Annotated], predicted: Iterator[set[Span]]) -> dict[str, tuple[int, int, int]]:
    """The numbers of (correct, predicted, gold) spans by type. A span is correct if start, end and type match."""
    correct_counts: Counter[str] = Counter()
    predicted_counts: Counter[str] = Counter()
    gold_counts: Counter[str] = Counter()
    for annotated, predicted_here in zip(gold, predicted, strict=True):
        gold_here = gold_spans(annotated)
        correct_counts.update(type_ for _, _, type_ in gold_here & predicted_here)
        predicted_counts.update(type_ for _, _, type_ in predicted_here)
        gold_counts.update(type_ for _, _, type_ in gold_here)
    types = sorted(gold_counts | predicted_counts)
    return {type_: (correct_counts[type_], predicted_counts[type_], gold_counts[type_]) for type_ in types}


def train(
    training: Sequence[Annotated], dev: Sequence[Annotated], arguments: TrainingArguments, out: Path
) -> Iterator[Report]:
    """Train, and yield the scores on dev after each epoch. The best epoch's pipeline is written to `out`.

    The same documents and arguments give the same pipeline on the same machine.
    """
    fix_random_seed(arguments.seed)
    nlp = spacy.blank(language.NAME)
    known = shared_words((annotated.document.text for annotated in training), arguments.known_from)
    nlp.tokenizer = language.WordTokenizer(nlp.vocab, known)
    nlp.add_pipe("ner", config={"model": network(arguments)})
    examples = [example(nlp, annotated) for annotated in training]
    nlp.initialize(lambda: examples)
    optimizer = Adam(arguments.learning_rate, L2=0.01, grad_clip=1.0, use_averages=True, L2_is_weight_decay=True)
    order = random.Random(arguments.seed)  # noqa: S311 - not used for security
    total = arguments.epochs * math.ceil(len(examples) / arguments.batch)
    step, best = 0, -1.0
    for epoch in range(1, arguments.epochs + 1):
        order.shuffle(examples)
        losses: dict[str, float] = {}
        for begin in range(0, len(examples), arguments.batch):
            optimizer.learn_rate = arguments.learning_rate * rate(step, total, arguments.warmup, arguments.final_rate)
            nlp.update(examples[begin : begin + arguments.batch], drop=arguments.dropout, sgd=optimizer, losses=losses)
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
    """The share of the peak learning rate at a step: a linear rise, then half a cosine down to `final`."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, total - warmup)
    return final + (1 - final) * (1 + math.cos(math.pi * done)) / 2
