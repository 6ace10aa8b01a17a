"""ask: answers over a small corpus, in plain words and by template; its counts; an error for every bad input."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from biorel.commands import ask
from biorel.config.ask import Ask
from biorel.counts import Reason
from biorel.errors import ConfigError, InputError
from tests.command_runs import SAMPLE, command_line, read_json_lines
from tests.qa.question_samples import jsonl, small_questions, stories, tiny_reader


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    return tiny_reader(small_questions(folder), folder / "reader", epochs=25)


@pytest.fixture
def over(tmp_path):
    return stories(tmp_path, "stories", range(24, 36))


def asked(reader, *over, **options):
    made = ask.run(Ask.model_validate({"model": reader, "over": over, "tagger": "none", **options}))
    return SimpleNamespace(**made.details)


def test_a_question_without_a_concept_is_asked_of_every_document(reader, over, tmp_path):
    summary = asked(reader, over, question="Which diseases were induced?", min_score=0, out=tmp_path / "a.jsonl")
    assert summary.documents == 12
    rows = read_json_lines(tmp_path / "a.jsonl")
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    linked = [row["entity_id"] for row in rows if row["entity_id"]]
    assert len(linked) == len(set(linked))
    for row in rows:
        assert row["support"] == len(row["found"]) == len({span["doc_id"] for span in row["found"]})
        for span in row["found"]:
            assert span["text"] in span["sentence_text"]


def test_a_template_is_asked_only_of_documents_that_mention_the_concept(reader, over):
    summary = asked(reader, over, relation="chemical_induced_disease", head="D000000", min_score=0)
    assert "lithium" in summary.question
    assert summary.documents == sum("\tD000000" in text for text in over.read_text().split("\n\n")) < 12
    assert summary.counts[Reason.DOCUMENT_WITHOUT_CONCEPT] == 12 - summary.documents
    assert "MESH:D000000" not in {answer.entity_id for answer in summary.answers}


def test_the_vote_uses_the_best_span_of_each_document(reader, over):
    summary = asked(reader, over, question="Which diseases does lithium induce?", min_score=0, vote="sum")
    for answer in summary.answers:
        assert answer.score == pytest.approx(sum(span.score for span in answer.found))
    smooth = asked(reader, over, question="Which diseases does lithium induce?", min_score=0)
    for answer in smooth.answers:
        scores = [span.score for span in answer.found]
        assert answer.score == pytest.approx(sum(s * s for s in scores) / (1 + sum(scores)))


def test_a_question_that_names_a_concept_is_asked_only_of_documents_that_mention_it(reader, tmp_path):
    def item(number: str, text: str, *entities: tuple[str, str, str]) -> dict:
        spans = [
            {"start": text.index(name), "end": text.index(name) + len(name), "type": type_, "id": id_}
            for name, type_, id_ in entities
        ]
        return {"id": number, "text": text, "entities": spans}

    lithium, salt = ("Lithium", "Chemical", "MESH:D008094"), ("LiCl", "Chemical", "MESH:D008094")
    path = jsonl(
        tmp_path / "named.jsonl",
        item("1", "Lithium caused tremor.", lithium, ("tremor", "Disease", "MESH:D014202")),
        item("2", "LiCl caused nausea.", salt, ("nausea", "Disease", "MESH:D009325")),
        item("3", "Aspirin caused rash.", ("Aspirin", "Chemical", "MESH:D001241"), ("rash", "Disease", "MESH:D005076")),
    )
    summary = asked(reader, path, question="Which diseases does LITHIUM cause?", min_score=0)
    assert summary.documents == 2
    assert {span.doc_id for answer in summary.answers for span in answer.found} == {"1", "2"}
    assert "MESH:D008094" not in {answer.entity_id for answer in summary.answers}
    assert summary.counts[Reason.DOCUMENT_WITHOUT_QUESTION_CONCEPT] == 1
    everything = asked(reader, path, question="Which diseases are mentioned?", min_score=0)
    assert everything.documents == 3
    assert {answer.entity_type for answer in everything.answers} > {"Disease"}


def test_rejects_a_very_long_question(reader, over):
    with pytest.raises(InputError, match=r"the question 'what was seen .* has 7,002 words, more than 200"):
        asked(reader, over, question=f"{'what was seen of this and that ' * 1000}of lithium?")


@pytest.mark.parametrize(
    "question", [{"question": "Which are mentioned?"}, {"relation": "chemical_induced_disease", "head": "D000000"}]
)
def test_type_restricts_the_answers(reader, over, question):
    summary = asked(reader, over, min_score=0, type="Disease", spans=50, **question)
    assert {answer.entity_type for answer in summary.answers} == {"Disease"}


def test_reads_all_files_of_a_folder_and_drops_repeated_documents(reader, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    stories(folder, "a", range(24, 27))
    stories(folder, "b", range(26, 30))
    summary = asked(reader, folder, question="Which diseases were induced?")
    assert summary.documents == 6
    assert summary.counts[Reason.DOCUMENT_REPEATED] == 1


def test_explains_why_there_is_no_answer(reader, over, tmp_path):
    summary = asked(reader, over, question="Which drugs cause tremor?", min_score=1, out=tmp_path / "a.jsonl")
    assert summary.answers == ()
    assert "below 1.000" in summary.why_none
    assert (tmp_path / "a.jsonl").read_text() == ""
    nowhere = asked(reader, over, relation="chemical_induced_disease", tail="MESH:D999999")
    assert nowhere.why_none == "no document mentions the concept"


@pytest.mark.parametrize("question", ["?", "... !!"])
def test_rejects_a_question_without_a_word(reader, over, question):
    with pytest.raises(InputError, match="contains no word"):
        asked(reader, over, question=question)


def test_rejects_a_question_in_an_unknown_script(reader, over):
    with pytest.raises(InputError, match="covers no word of the question"):
        asked(reader, over, question="什么药物会引起震颤")


def test_rejects_an_empty_question_and_conflicting_options(reader, over, capsys):
    for arguments, fault in (
        ([" "], "the question is empty"),
        ([], "either a question in plain words"),
        (["What?", "--relation", "r"], "either a question in plain words"),
        (["What?", "--head", "D1"], "go with --relation"),
        (["--relation", "r"], "needs either --head or --tail"),
        (["--relation", "r", "--head", "a", "--tail", "b"], "needs either --head or --tail"),
    ):
        code, _, err = command_line(capsys, "ask", *arguments, "--over", over, "--model", reader)
        assert (code, fault in err) == (2, True), (arguments, err)


def test_rejects_input_without_a_document(reader, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="this folder has no file"):
        asked(reader, empty, question="Which drugs cause tremor?")
    with pytest.raises(InputError, match="no such file"):
        asked(reader, tmp_path / "missing.jsonl", question="Which drugs cause tremor?")
    broken = jsonl(tmp_path / "broken.jsonl", {"id": "1"})
    with pytest.raises(InputError, match=r"no document to read \(.*broken\.jsonl:1: no text"):
        asked(reader, broken, question="Which drugs cause tremor?")


def test_rejects_an_unknown_relation_before_reading(reader, tmp_path):
    with pytest.raises(ConfigError, match="no question template asks for the tail of 'heals'"):
        asked(reader, tmp_path / "missing.jsonl", relation="heals", head="MESH:D000001")


def test_reads_a_text_of_50_000_characters_in_windows(reader, tmp_path):
    filler = "Nothing else was seen in this patient. " * 1280
    path = jsonl(
        tmp_path / "long.jsonl",
        {"id": "1", "text": f"{filler}Case: lithium caused tremor."},
        {"id": "2", "text": "ACGT" * 12_500},
        {"id": "3", "text": "Case: lithium caused tremor."},
    )
    summary = asked(reader, path, question="Which diseases does lithium induce?", min_score=0, spans=50)
    assert summary.documents == 3
    assert {span.doc_id for answer in summary.answers for span in answer.found} >= {"1", "3"}


def test_reports_bad_records_and_answers_from_the_others(reader, over, tmp_path, capsys):
    path = jsonl(tmp_path / "mixed.jsonl", {"id": "1", "text": "Lithium caused tremor."}, {"id": "2"})
    arguments = ["ask", "Which diseases does lithium induce?", "--over", path, "--model", reader, "--tagger", "none"]
    code, out, err = command_line(capsys, *arguments, "--min-score", 0)
    assert (code, "mixed.jsonl:2: no text" in err) == (3, True)
    assert "1 documents asked" in out
    code, _, _ = command_line(capsys, *arguments, "--min-score", 0, "--skip-bad")
    assert code == 0


def test_command_line_prints_a_table(reader, over, capsys):
    code, out, err = command_line(
        *(capsys, "ask", "--relation", "chemical_induced_disease", "--head", "D000000", "--over", over),
        *("--model", reader, "--min-score", 0, "--top", 2),
    )
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].endswith("?")
    assert lines[1].startswith("  1  ")
    assert sum(line.startswith(("  1  ", "  2  ", "  3  ")) for line in lines) == 2


def test_uses_the_shipped_reader_by_default():
    given = {"question": "Which diseases does lithium cause?", "over": [SAMPLE / "abstracts.pubtator.txt"]}
    summary = SimpleNamespace(**ask.run(Ask.model_validate(given)).details)
    assert 1 <= summary.documents < 48
    assert any(answer.entity_id.startswith("MESH:") for answer in summary.answers)
