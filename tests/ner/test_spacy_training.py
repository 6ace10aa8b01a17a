"""The training loop and the language: seeded, learns, and what it writes is read again without pickle."""

from __future__ import annotations

from dataclasses import replace

import pytest

from biorel.ner.spacy_model import SpacyTagger, load_spacy
from biorel.records import Annotated, Document, Mention

pytest.importorskip("spacy")
from biorel.ner.spacy_training import TrainingArguments, count_spans, example, f1, predicted_spans, rate, train

RECIPE = TrainingArguments(
    width=16, depth=1, rows=200, hidden=16, epochs=4, batch=2, warmup=2, learning_rate=0.01, dropout=0.0
)


def annotated(number: int) -> Annotated:
    drug = ("zetin", "moxetin", "5-HT2", "lurine")[number % 4]
    text = f"Patients on {drug} had tremor after {drug}."
    starts = [("Chemical", text.index(drug), drug), ("Disease", text.index("tremor"), "tremor")]
    starts.append(("Chemical", text.rindex(drug), drug))
    mentions = tuple(Mention(str(number), at, at + len(name), name, type_, None) for type_, at, name in starts)
    return Annotated(Document(str(number), text, "It ended."), mentions)


DOCUMENTS = [annotated(number) for number in range(16)]


def test_learns_and_reloads_with_the_same_predictions(tmp_path, counts):
    reports = list(train(DOCUMENTS[:12], DOCUMENTS[12:], RECIPE, tmp_path / "one"))
    assert [report.epoch for report in reports] == [1, 2, 3, 4]
    best = max(reports, key=lambda report: (report.f1, -report.epoch))
    assert [report.epoch for report in reports if report.best][-1] == best.epoch
    assert best.f1 > 0.8
    nlp = load_spacy(str(tmp_path / "one"))
    again = count_spans(DOCUMENTS[12:], predicted_spans(nlp, [item.document for item in DOCUMENTS[12:]]))
    assert again == best.counts
    assert not [path for path in (tmp_path / "one").rglob("*") if path.suffix in (".pkl", ".pickle", ".joblib")]

    other = list(train(DOCUMENTS[:12], DOCUMENTS[12:], RECIPE, tmp_path / "two"))
    assert other == reports
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in files)

    runs = [
        SpacyTagger(nlp, counts, n_process=processes).tag([item.document for item in DOCUMENTS]) for processes in (1, 2)
    ]
    assert runs[0] == runs[1]


def test_weights_depend_on_the_seed(tmp_path):
    # a single document has no order, and nothing is dropped
    for seed in (1, 2):
        list(train(DOCUMENTS[:1], DOCUMENTS[:1], replace(RECIPE, seed=seed, epochs=1), tmp_path / str(seed)))
    assert (tmp_path / "1" / "ner" / "model").read_bytes() != (tmp_path / "2" / "ner" / "model").read_bytes()


def test_J04_tags_a_very_long_word_in_bounded_time(tmp_path, counts):
    list(
        train(
            DOCUMENTS[:4],
            DOCUMENTS[4:6],
            TrainingArguments(width=8, depth=1, rows=50, hidden=8, epochs=1),
            tmp_path / "m",
        )
    )
    texts = [Document("1", "on zetin", ""), Document("2", "ACGT" * 20_000, ""), Document("3", "on zetin", "")]
    first, _, third = SpacyTagger(load_spacy(str(tmp_path / "m")), counts).tag(texts)
    assert [one.start for one in first] == [one.start for one in third]


def test_learns_the_longest_of_overlapping_mentions(tmp_path):
    import spacy

    from biorel.ner import spacy_language as language

    nlp = spacy.blank(language.NAME)
    spans = ((0, 4, "Disease"), (0, 9, "Disease"), (0, 9, "Disease"), (11, 13, "Chemical"))
    text = "back pain, 5-HT"
    mentions = tuple(Mention("1", start, end, text[start:end], type_, None) for start, end, type_ in spans)
    learned = example(nlp, Annotated(Document("1", text, ""), mentions)).reference.ents
    assert [(entity.text, entity.label_) for entity in learned] == [("back pain", "Disease"), ("5-", "Chemical")]


def test_measures():
    assert f1(2, 4, 4) == 0.5
    assert f1(0, 0, 0) == 0.0
    assert rate(0, 100, 10, 0.1) == 0.1
    assert rate(10, 110, 10, 0.1) == 1.0
    assert rate(110, 110, 10, 0.1) == pytest.approx(0.1)
