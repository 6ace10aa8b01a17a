"""The Python API: what the documentation shows, in one thread and in four, without loading more than it needs."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import biorel
from biorel.commands import extract
from biorel.config.extract import Extract
from biorel.errors import ConfigError, InputError, ModelError, OutputError
from biorel.extraction import api
from tests.command_runs import SAMPLE

REPOSITORY = Path(__file__).parents[1]
ABSTRACTS = SAMPLE / "abstracts.jsonl"
TEXT = "Clonidine lowered blood pressure. Naloxone reversed the hypotension caused by clonidine."
HEAVY = ("torch", "numpy", "pandas", "pyarrow", "spacy", "tokenizers", "pydantic", "lxml")
CALLER = """
import biorel

extractor = biorel.load("cdr", device="cpu", min_score=0.5)
doc = extractor("Lithium caused tremor.")
text: str = doc.text
starts: list[int] = [mention.start for mention in doc.mentions]
for relation in doc.relations:
    name: str = relation.head.name + relation.relation + relation.tail.id
    score: float = relation.score
    sentences: list[str] = [pair.sentence_text for pair in relation.evidence]
docs = list(extractor.pipe(biorel.read("abstracts.pubtator.gz")))
outcome: biorel.Outcome = docs[0].status
biorel.write(docs, "relations.tsv")
rows: int = len(biorel.to_frame(docs))
"""


@pytest.fixture(scope="module")
def extractor() -> biorel.Extractor:
    """The shipped model."""
    return biorel.load(device="cpu")


@pytest.fixture(scope="module")
def docs(extractor: biorel.Extractor) -> list[biorel.ExtractedDocument]:
    """The documents of the sample, extracted in one go."""
    return list(extractor.pipe(biorel.read(ABSTRACTS)))


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        cwd=REPOSITORY,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("module", [biorel, api], ids=lambda module: module.__name__)
def test_examples_of_the_docstrings_run(module, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    results = doctest.testmod(module)
    assert results.attempted > 2
    assert not results.failed


def test_import_is_fast_and_loads_no_library():
    code = (
        "import sys, time; began = time.perf_counter(); import biorel; seconds = time.perf_counter() - began\n"
        f"print(seconds, *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    runs = [python("-c", code).stdout.split() for _ in range(3)]
    assert all(len(run) == 1 for run in runs)
    assert min(float(run[0]) for run in runs) < 0.1


def test_every_public_name_can_be_imported():
    assert {name for name in biorel.__all__ if getattr(biorel, name, None) is None} == set()
    assert set(biorel.__all__) <= set(dir(biorel))
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        biorel.lode  # noqa: B018 - the access itself raises


@pytest.mark.slow
def test_strict_type_check_of_a_caller_passes(tmp_path):
    pytest.importorskip("mypy")
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(CALLER)
    bad.write_text(CALLER + "\nbiorel.lode()\nwrong: int = doc.text\n")
    cache = str(tmp_path / "cache")
    options = ("-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "--cache-dir", cache)
    checked = python(*options, str(good), MYPYPATH=str(REPOSITORY))
    assert checked.returncode == 0, checked.stdout
    faults = python(*options, str(bad), MYPYPATH=str(REPOSITORY)).stdout
    assert '"lode"' in faults
    assert "Incompatible types in assignment" in faults
    assert (Path(biorel.__file__).parent / "py.typed").is_file()


def test_evidence_quotes_the_text(extractor):
    doc = extractor(TEXT)
    assert doc.text == TEXT
    (relation,) = doc.relations
    assert (relation.head.id, relation.tail.id) == ("MESH:D003000", "MESH:D007022")
    assert 0.5 < relation.score < 1
    assert len(relation.evidence) == 2
    for pair in relation.evidence:
        assert TEXT[slice(*pair.head)] == pair.head_text
        assert TEXT[slice(*pair.tail)] == pair.tail_text
        assert TEXT[slice(*pair.sentence)].strip() == pair.sentence_text
    assert relation.evidence[0].sentence_text == "Naloxone reversed the hypotension caused by clonidine."


def test_accepts_a_text_a_pair_a_document_and_an_annotated_document(extractor):
    title, abstract = TEXT.split(". ")[0] + ".", TEXT.split(". ")[1]
    by_text = extractor(TEXT)
    document = biorel.Document("1", title, abstract)
    assert extractor((title, abstract)) == extractor(document) == by_text
    assert extractor(biorel.Annotated(document, by_text.mentions)) == by_text
    chosen = tuple(mention for mention in by_text.mentions if mention.text != "clonidine")
    assert extractor(biorel.Annotated(document, chosen)).mentions == chosen


def test_pipe_is_lazy_and_keeps_the_order(extractor):
    taken: list[int] = []

    def texts():
        for number in range(10):
            taken.append(number)
            yield f"Lithium caused tremor in {'many ' * (10 - number)}patients."

    results = extractor.pipe(texts(), batch_size=4)
    assert taken == []
    next(results)
    assert len(taken) == 4
    rest = list(results)
    assert [doc.doc_id for doc in rest] == [str(number) for number in range(2, 11)]
    assert [doc.text.count("many") for doc in rest] == list(range(9, 0, -1))


def test_bad_records_become_documents_with_a_reason(extractor, write):
    source = write("a.jsonl", '{"pmid": "1", "title": "Lithium caused tremor."}\nno json\n{"pmid": "3"}\n')
    good, no_json, no_text = extractor.pipe(biorel.read(source))
    assert (good.status, good.reason, len(good.relations)) == ("ok", "", 1)
    assert no_json.status == no_text.status == biorel.Outcome.BAD_RECORD
    assert "not JSON" in no_json.reason
    assert no_text.doc_id == "3"
    for text in (" ", "\ud83d is half of a character"):
        doc = extractor(text)
        assert doc.status == "bad record"
        assert doc.reason


def test_four_threads_give_the_results_of_one(extractor):
    texts = [doc.document.text for doc in biorel.read(ABSTRACTS) if isinstance(doc, biorel.Annotated)][:16] * 2
    expected = [extractor(text) for text in texts]
    assert sum(len(doc.relations) for doc in expected) > 10
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(extractor, texts)) == expected


def test_four_threads_may_share_a_model_that_tags_by_itself():
    extractor = biorel.load(tagger="bran", device="cpu")
    texts = [doc.document.text for doc in biorel.read(ABSTRACTS) if isinstance(doc, biorel.Annotated)][:12]
    expected = [extractor(text) for text in texts]
    assert any(doc.mentions for doc in expected)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(extractor, texts)) == expected


@pytest.mark.parametrize("name", ["r.jsonl", "r.tsv", "r.pubtator", "r.xml", "r.parquet"])
def test_write_gives_the_file_of_the_extract_command(docs, name, tmp_path):
    biorel.write(iter(docs), tmp_path / name)
    extract.run(Extract.model_validate({"input": ABSTRACTS, "out": tmp_path / "c" / name, "device": "cpu"}))
    assert (tmp_path / name).read_bytes() == (tmp_path / "c" / name).read_bytes()


def test_write_leaves_no_part_of_a_file(docs, tmp_path):
    def failing():
        yield docs[0]
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        biorel.write(failing(), tmp_path / "r.tsv")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError, match="unknown output format"):
        biorel.write(docs, tmp_path / "r.doc")
    with pytest.raises(OutputError, match="folder"):
        biorel.write(docs, tmp_path, format="tsv")


def test_frame_has_a_row_for_each_relation(docs):
    frame = biorel.to_frame(docs)
    assert len(frame) == sum(len(doc.relations) for doc in docs) > 10
    assert not frame.isna().to_numpy().any()
    first = next(relation for doc in docs for relation in doc.relations)
    row = frame.iloc[0]
    assert (row["doc_id"], row["head_id"], row["tail_name"]) == (first.doc_id, first.head.id, first.tail.name)
    assert (row["evidence_head_start"], row["evidence_head_end"]) == first.evidence[0].head
    assert row["evidence_sentence"] == first.evidence[0].sentence_text
    empty = biorel.to_frame([])
    assert list(empty.columns) == list(frame.columns)
    assert list(empty.dtypes) == list(frame.dtypes)


def test_min_score_and_all_scores_choose_the_relations():
    every = biorel.load(tagger=None, all_scores=True, max_evidence=1)
    some = biorel.load(tagger=None, min_score=0.3)
    records = list(biorel.read(ABSTRACTS))[:5]
    scores = [relation.score for doc in every.pipe(records) for relation in doc.relations]
    chosen = [relation.score for doc in some.pipe(records) for relation in doc.relations]
    assert sorted(chosen) == pytest.approx(sorted(score for score in scores if score >= 0.3), abs=2e-6)
    assert 0 < len(chosen) < len(scores)


def test_without_a_tagger_a_text_has_no_entity():
    doc = biorel.load(tagger=None)(TEXT)
    assert (doc.status, doc.reason) == ("no entities", "the record has no entity")


def test_unknown_model_is_refused_with_the_names_of_the_shipped_ones(tmp_path):
    assert "cdr" in biorel.shipped_models()
    with pytest.raises(ModelError, match=re.escape(", ".join(biorel.shipped_models()))):
        biorel.load("cdrr")
    with pytest.raises(ModelError):
        biorel.load(tmp_path)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"tagger": "spicy"}, ConfigError),
        ({"min_score": 1.5}, ConfigError),
        ({"max_evidence": 0}, ConfigError),
        ({"batch_tokens": 0}, ConfigError),
        ({"linker": "nowhere"}, ModelError),
        ({"graph": "nowhere"}, InputError),
    ],
)
def test_load_refuses_unusable_options(options, error):
    with pytest.raises(error):
        biorel.load(**options)


def test_read_reports_a_missing_file_at_once(tmp_path):
    with pytest.raises(InputError):
        biorel.read(tmp_path / "none.jsonl")
