"""Reading and writing SQuAD JSON: the round trip, and the place of each fault in a file."""

from __future__ import annotations

import json
import time

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats import files as json_size
from biorel.formats import squad
from biorel.formats.squad import read_squad, write_squad
from biorel.records import AnswerSpan, Document, Question
from tests.builders import read_and_lost

CONTEXT = "Lithium caused tremor. The tremor went away."


def qa(id_="q1", question="What?", answers=(("tremor", 15),), **more):
    spans = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": id_, "question": question, "answers": spans, **more}


def file_of(write, *qas, context=CONTEXT):
    return write(
        "s.json", json.dumps({"data": [{"title": "t", "paragraphs": [{"context": context, "qas": list(qas)}]}]})
    )


def test_a_question_has_its_spans(write, counts):
    path = file_of(write, qa(answers=(("tremor", 27), ("tremor", 15), ("tremor", 15))))
    ((document, (question,)),) = read_squad(path, counts)
    assert document.text.rstrip() == CONTEXT
    assert [(span.start, document.text[span.start : span.end]) for span in question.answers] == [
        (15, "tremor"),
        (27, "tremor"),
    ]
    # the caller counts the questions that it keeps
    counts.add(Reason.QUESTIONS_KEPT)
    assert read_and_lost(counts) == {
        Reason.DOCUMENTS_READ: 1,
        Reason.QUESTIONS_READ: 1,
        Reason.ANSWER_REPEATED: 1,
    }


def test_an_impossible_question_has_no_answer(write, counts):
    ((_, questions),) = read_squad(file_of(write, qa("a", is_impossible=True), qa("b", answers=())), counts)
    assert [question.answers for question in questions] == [(), ()]


def test_moves_or_drops_a_shifted_answer(write, counts):
    path = file_of(write, qa("a", answers=(("Lithium", 3),)), qa("b", answers=(("tremor", 3), ("", 0), ("L", -1))))
    ((_, (moved, dropped)),) = read_squad(path, counts)
    assert [span.start for span in moved.answers] == [0]
    # the text has one L; the answer gives it at -1, so it is moved
    assert [(span.start, span.text) for span in dropped.answers] == [(0, "L")]
    assert counts[Reason.ANSWER_SPAN_MISMATCH] == 1
    assert counts[Reason.ANSWER_EMPTY] == 1
    assert counts[Reason.ANSWER_MOVED] == 2


def test_repeated_paragraphs_and_titles_get_distinct_ids(write, counts):
    paragraph = {"context": CONTEXT, "qas": []}
    articles = [{"title": "t", "paragraphs": [paragraph, paragraph]}, {"title": "t", "paragraphs": [paragraph]}]
    path = write("s.json", json.dumps({"data": articles}))
    assert [document.doc_id for document, _ in read_squad(path, counts)] == ["t", "t#2", "t#3"]


def test_a_numbered_title_differs_from_all_other_titles(write, counts):
    articles = [{"title": title, "paragraphs": [{"context": CONTEXT, "qas": []}]} for title in ("t#2", "t", "t", "t")]
    path = write("s.json", json.dumps({"data": articles}))
    assert [document.doc_id for document, _ in read_squad(path, counts)] == ["t#2", "t", "t#3", "t#4"]


def test_many_paragraphs_of_one_title_take_linear_time(write, counts):
    paragraphs = [{"context": CONTEXT, "qas": []}] * 20_000
    path = write("s.json", json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]}))
    began = time.process_time()
    assert len({document.doc_id for document, _ in read_squad(path, counts)}) == 20_000
    assert time.process_time() - began < 10


def test_reads_back_what_it_wrote(tmp_path, counts):
    document = Document("7", "Title β.", "Lithium caused tremor.")
    spans = (AnswerSpan(9, 16, "Lithium", ""), AnswerSpan(24, 30, "tremor", ""))
    asked = (
        Question("a", "7", "What?", "", "", "", "", spans, ()),
        Question("b", "7", "Who?", "", "", "", "", (), ()),
    )
    write_squad(tmp_path / "s.json", [(document, asked)])
    assert list(read_squad(tmp_path / "s.json", counts)) == [(document, asked)]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "not JSON"),
        ("[]", "the file is not an object"),
        ("{}", "the file has no data"),
        ('{"data": [{}]}', r"data\[0\] has no paragraphs"),
        ('{"data": [{"paragraphs": [{"context": " ", "qas": []}]}]}', r"paragraphs\[0\].context is empty"),
        ('{"data": [{"paragraphs": [{"context": 1.5, "qas": []}]}]}', "context is not a string"),
        ('{"data": [{"paragraphs": [{"context": "x", "qas": {}}]}]}', "qas is not a list"),
        ('{"data": [{"paragraphs": [{"context": "x\\ud83d", "qas": []}]}]}', "context holds half of a surrogate pair"),
        ('{"data": [{"paragraphs": [{"context": "x", "qas": [{"id": 1, "question": " "}]}]}]}', "question is empty"),
        (
            '{"data": [{"paragraphs": [{"context": "x", "qas": [{"id": 1, "question": "q", "answers": '
            '[{"text": "x", "answer_start": "0"}]}]}]}]}',
            r"answers\[0\].answer_start is not a whole number",
        ),
    ],
)
def test_names_the_place_where_the_form_differs(write, counts, content, fault):
    with pytest.raises(InputError, match=fault) as error:
        list(read_squad(write("s.json", content), counts))
    assert error.value.message.count("s.json") == 1


def test_rejects_a_file_that_is_too_large(write, counts, monkeypatch):
    monkeypatch.setattr(squad, "LARGEST_JSON", 100)
    with pytest.raises(InputError, match=r"s\.json: the file is too large \(more than 0 MiB"):
        list(read_squad(write("s.json", json.dumps({"data": [], "x": "y" * 100})), counts))


def test_rejects_too_many_values_before_they_fill_memory(write, counts, monkeypatch):
    monkeypatch.setattr(json_size, "MOST_VALUES", 5)
    with pytest.raises(InputError, match=r"s\.json: the file has too many values to be read at once"):
        list(read_squad(write("s.json", json.dumps({"data": [{}, {}, {}, {}, {}]})), counts))


def test_rejects_a_repeated_question_id(write, counts):
    with pytest.raises(InputError, match=r"qas\[1\]: the id q1 is used twice"):
        list(read_squad(file_of(write, qa(), qa()), counts))
