"""Reading JSON lines: the accepted forms of a record, and a clear message for each invalid line."""

from __future__ import annotations

import json

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats.jsonl import cut_title, read_jsonl
from biorel.records import Annotated, BadRecord, Curation, Document, Mention
from tests.builders import read_and_lost

TEXT = {"pmid": 900001, "title": "Alphadrug causes tremor.", "abstract": "In rats."}
ENTITIES = [
    {"start": 0, "end": 9, "text": "Alphadrug", "type": "Chemical", "id": "D900001"},
    {"start": 17, "end": 23, "type": "Disease", "id": "MESH:D900002"},
]


@pytest.fixture
def read(write, counts):
    """Read lines (objects become JSON) as a JSON-lines file."""

    def _read(*lines, name="a.jsonl"):
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        return list(read_jsonl(write(name, "\n".join(texts) + "\n"), counts))

    return _read


@pytest.fixture
def one(read):
    """Read one record, which must be valid."""

    def _one(record):
        ((_, annotated),) = read(record)
        assert isinstance(annotated, Annotated), annotated
        return annotated

    return _one


@pytest.fixture
def fault(read):
    """Read one record, which must be invalid, and return the reason."""

    def _fault(record):
        ((line, bad),) = read(record)
        assert isinstance(bad, BadRecord), bad
        assert bad.line == line == 1
        assert "\n" not in bad.reason
        return bad.reason

    return _fault


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_record_is_a_document_with_mentions_and_curations(read, counts, name):
    relations = [{"head": "D900001", "relation": "CID", "tail": {"id": "D900002"}}]
    ((line, annotated),) = read(TEXT | {"entities": ENTITIES, "relations": relations}, name=name)
    assert line == 1
    assert annotated == Annotated(
        Document("900001", "Alphadrug causes tremor.", "In rats."),
        (
            Mention("900001", 0, 9, "Alphadrug", "Chemical", "MESH:D900001"),
            Mention("900001", 17, 23, "tremor", "Disease", "MESH:D900002"),
        ),
        (Curation("900001", "Chemical", "MESH:D900001", "CID", "Disease", "MESH:D900002"),),
    )
    assert read_and_lost(counts) == {
        Reason.ANNOTATIONS_READ: 2,
        Reason.DOCUMENTS_READ: 1,
        Reason.RELATION_ROWS_READ: 1,
    }


def test_J02_bad_lines_are_numbered_and_the_rest_is_read(read, counts):
    found = read(TEXT, "{oops", TEXT | {"pmid": 2}, "", "[1]")
    assert [line for line, _ in found] == [1, 2, 3, 5]
    assert [type(record) for _, record in found] == [Annotated, BadRecord, Annotated, BadRecord]
    assert (counts[Reason.DOCUMENTS_READ], counts[Reason.RECORD_UNUSABLE]) == (2, 2)
    assert counts.examples[Reason.RECORD_UNUSABLE][1].endswith("a.jsonl:5: not a JSON object")


@pytest.mark.parametrize("name", ["pmid", "id", "doc_id"])
@pytest.mark.parametrize(
    ("value", "doc_id"),
    [(12345678, "12345678"), ("PMC99", "PMC99"), ("0012", "0012"), (" 12 ", "12"), (0, "0"), (2**70, str(2**70))],
)
def test_Q02_ids_become_text(one, name, value, doc_id):
    assert one({name: value, "title": "T."}).document.doc_id == doc_id


@pytest.mark.parametrize("value", [True, False, 1.0, 1e3, [1], {"a": 1}])
def test_Q02_rejects_values_that_cannot_be_ids(fault, value):
    assert fault({"pmid": value, "title": "T."}) == "pmid must be a string or a whole number"


def test_the_first_id_field_that_is_not_null_counts(one):
    assert one({"doc_id": "c", "id": "b", "pmid": None, "title": "T."}).document.doc_id == "b"


@pytest.mark.parametrize(
    ("fields", "title", "abstract"),
    [
        ({"title": "T.", "abstract": "A."}, "T.", "A."),
        ({"title": "T."}, "T.", ""),
        ({"abstract": "A.", "title": None}, "", "A."),
        ({"text": "First one. Second one. Third."}, "First one.", "Second one. Third."),
        ({"text": "No end here"}, "No end here", ""),
        ({"text": "T. A.", "title": "T.", "abstract": "A."}, "T.", "A."),
        ({"text": "A b. C", "title": "A"}, "A", "b. C"),
        ({"text": "T.", "title": "T."}, "T.", ""),
    ],
)
def test_combines_title_abstract_and_text(one, fields, title, abstract):
    assert one({"id": "1"} | fields).document == Document("1", title, abstract)


@pytest.mark.parametrize(
    "text",
    [
        "One. Two.",
        "One.  Two. Three.",
        "One.\nTwo. Three.",
        "One.\tTwo",
        "By E. coli alone. (Then) more.",
        "Is it? Yes! No.",
        "Ends with a blank. ",
        " Leading blank. And more.",
        "0.5 mg vs. 3 mg",
        "one. two. three.",
        "µ-drug. β rose.",
        "...",
        ". A",
    ],
)
def test_cutting_a_text_preserves_offsets(one, text):
    document = one({"id": "1", "text": text}).document
    assert document.text in (text, text + " ")
    assert document.title


def test_a_title_ends_where_a_sentence_does():
    title = "Effect of E. coli (vs. placebo)."
    assert cut_title(f"{title} A trial. Two.") == (title, "A trial. Two.")
    assert cut_title("(It rose.) Then fell.") == ("(It rose.)", "Then fell.")
    assert cut_title("Two blanks.  No cut. Here.") == ("Two blanks.  No cut.", "Here.")


@pytest.mark.parametrize(
    ("id_", "expected"),
    [
        (None, [None]),
        ("-", [None]),
        ("D900001", ["MESH:D900001"]),
        ("D900001|D900002", ["MESH:D900001", "MESH:D900002"]),
        (["D900001", "mesh:d900001", "CHEBI:900"], ["MESH:D900001", "CHEBI:900"]),
        ([], [None]),
        (900, ["900"]),
    ],
)
def test_P09_reads_entity_ids_in_every_form(one, id_, expected):
    entity = {"start": 0, "end": 9, "type": "Chemical", "id": id_}
    mentions = one(TEXT | {"entities": [entity]}).mentions
    assert [mention.entity_id for mention in mentions] == expected
    assert {mention.text for mention in mentions} == {"Alphadrug"}


def test_P06_an_entity_may_have_no_id_at_all(one):
    (mention,) = one(TEXT | {"entities": [{"start": 0, "end": 9, "type": "Chemical"}]}).mentions
    assert mention.entity_id is None


def test_accepts_biorels_own_column_names(one):
    mentions = [{"start": 0, "end": 9, "type": "Chemical", "entity_id": "MESH:D900001"}]
    curations = [{"head_type": "Chemical", "head_id": "D900001", "relation": "x", "tail_type": "Gene", "tail_id": 9}]
    annotated = one(TEXT | {"mentions": mentions, "curations": curations})
    assert annotated.mentions[0].entity_id == "MESH:D900001"
    assert annotated.curations == (Curation("900001", "Chemical", "MESH:D900001", "x", "Gene", "NCBIGene:9"),)


def test_reads_relations_in_the_form_that_extract_writes(one):
    relation = {
        "head": {"id": "MESH:D900001", "type": "Chemical", "name": "Alphadrug"},
        "relation": "induces",
        "tail": {"id": "MESH:D900002", "type": "Disease", "name": "tremor"},
        "score": 0.9,
        "evidence": [],
    }
    assert one(TEXT | {"relations": [relation]}).curations == (
        Curation("900001", "Chemical", "MESH:D900001", "induces", "Disease", "MESH:D900002"),
    )
    relation["type"] = relation.pop("relation")
    assert one(TEXT | {"relations": [relation]}).curations[0].relation == "induces"


def test_P07_spans_that_do_not_fit_are_repaired_or_dropped_and_counted(one, counts):
    record = {
        "id": "1",
        "title": "Dose of 5 µg β-agonist caused tremor.",
        "entities": [{"start": 32, "end": 38, "text": "tremor", "type": "Disease"}],
    }
    assert one(record).mentions[0].start == 30
    record["entities"][0] |= {"start": 3, "end": 9, "text": "absent"}
    assert one(record).mentions == ()
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1


def test_P07_byte_offsets_may_run_past_the_last_character(one):
    entity = {"start": 5, "end": 11, "text": "tremor", "type": "Disease"}
    (mention,) = one({"id": "1", "text": "µµ tremor", "entities": [entity]}).mentions
    assert (mention.start, mention.end) == (3, 9)


def test_ignores_blanks_around_a_record(read):
    ((_, plain), (_, blanks)) = read('{"id": 1, "text": "T."}', ' \t{"id": 2, "text": "T."}\t \r')
    assert plain.document.title == blanks.document.title == "T."


def test_rejects_a_byte_order_mark_within_the_file(read):
    (_, (line, bad)) = read(TEXT, "\ufeff" + json.dumps(TEXT))
    assert (line, bad.reason) == (2, "not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig) at column 1")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{oops", "not JSON: Expecting property name enclosed in double quotes at column 2"),
        ('{"pmid": 1} trailing', "not JSON: Extra data at column 13"),
        ('{"pmid": 0012}', "not JSON: Expecting ',' delimiter at column 11"),
        ('{"pmid": 1, "title": "T", "score": NaN}', "not JSON: NaN is not a JSON number"),
        ('{"pmid": 1, "title": "T", "score": -Infinity}', "not JSON: -Infinity is not a JSON number"),
        ("ab", "not JSON: Expecting value at column 1"),
        ("\t ab", "not JSON: Expecting value at column 3"),
        ("tab", "not JSON: Expecting value at column 1"),
        (" \ufeff{}", "not JSON: Expecting value at column 2"),
        ("\u3000{}", "not JSON: Expecting value at column 1"),
        (' {"pmid": 1} \t x', "not JSON: Extra data at column 16"),
        ('{"pmid": 1}\u3000', "not JSON: Extra data at column 12"),
        ("[1, 2]", "not a JSON object"),
        ('"text"', "not a JSON object"),
        ("null", "not a JSON object"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"pmid": ' + "9" * 5000 + "}", "the JSON cannot be read: Exceeds the limit"),
        ({"title": "T."}, "no id: one of pmid, id or doc_id is needed"),
        ({"pmid": None, "id": " ", "title": "T."}, "no id"),
        ({"pmid": 1}, "no text: a title, an abstract or a text is needed"),
        ({"pmid": 1, "title": " ", "abstract": None, "text": ""}, "no text"),
        ({"pmid": 1, "title": ["T."]}, "title must be a string"),
        ({"pmid": 1, "text": 7}, "text must be a string"),
        ({"pmid": 1, "title": "T.", "abstract": "A.", "text": "Other."}, "title, abstract and text do not agree"),
        ({"pmid": 1, "title": "T.", "text": "Other."}, "title, abstract and text do not agree"),
        ('{"pmid": 1, "title": "x \\ud83d"}', "title holds half of a surrogate pair"),
        (TEXT | {"entities": {}}, "entities must be a list"),
        (TEXT | {"entities": ["x"]}, "entities: item 1 is not an object"),
        (
            TEXT | {"entities": [ENTITIES[0], {"type": "x"}]},
            "entities: item 2 needs a start and an end that are whole numbers",
        ),
        (TEXT | {"entities": [{"start": 0, "end": 9.0, "type": "x"}]}, "entities: item 1 needs a start and an end"),
        (TEXT | {"entities": [{"start": True, "end": 9, "type": "x"}]}, "entities: item 1 needs a start and an end"),
        (TEXT | {"entities": [{"start": 0, "end": 9}]}, "entities: item 1 has no type"),
        (TEXT | {"entities": [{"start": 0, "end": 99, "type": "x"}]}, "item 1 has a span outside the text: 0-99"),
        (TEXT | {"entities": [{"start": 5, "end": 5, "type": "x"}]}, "item 1 has a span outside the text: 5-5"),
        (TEXT | {"entities": [{"start": -1, "end": 5, "type": "x"}]}, "item 1 has a span outside the text: -1-5"),
        (
            {"pmid": 1, "title": "T.", "entities": [{"start": 0, "end": 3, "type": "x"}]},
            "item 1 has a span outside the text: 0-3",
        ),
        (TEXT | {"entities": [ENTITIES[0] | {"id": 1.5}]}, "entities: item 1 has an id that is neither"),
        (TEXT | {"entities": [ENTITIES[0] | {"id": [False]}]}, "entities: item 1 has an id that is neither"),
        (TEXT | {"entities": [ENTITIES[0] | {"id": False}]}, "entities: item 1 has an id that is neither"),
        (TEXT | {"relations": [{"head": "D900001", "tail": "D900002"}]}, "relations: item 1 has no relation"),
        (TEXT | {"relations": [{"head": "D900001", "relation": "x"}]}, "relations: item 1 has no tail id"),
        (TEXT | {"relations": [{"head": {}, "relation": "x", "tail": "D9"}]}, "relations: item 1 has no head id"),
    ],
)
def test_describes_each_fault_in_one_sentence(fault, counts, line, reason):
    assert reason in fault(line)
    assert counts[Reason.RECORD_UNUSABLE] == 1
    assert counts[Reason.DOCUMENTS_READ] == counts[Reason.ANNOTATIONS_READ] == 0


def test_a_bad_record_has_its_id_if_known(read):
    found = [record for _, record in read({"pmid": "0012"}, "{")]
    assert [(record.line, record.doc_id) for record in found] == [(1, "0012"), (2, "")]


def test_a_repeated_id_is_a_bad_record_and_the_first_is_kept(read):
    bad_first = {"pmid": "5", "title": ""}
    found = read(TEXT, TEXT | {"pmid": "900001"}, TEXT | {"pmid": "0900001"}, bad_first, TEXT | {"pmid": 5})
    assert [type(record) for _, record in found] == [Annotated, BadRecord, Annotated, BadRecord, Annotated]
    assert found[1][1] == BadRecord(2, "900001", "the id 900001 already occurs on an earlier line")


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_J03_a_file_without_a_record_is_an_error(write, counts, content):
    with pytest.raises(InputError, match="no record in this file"):
        list(read_jsonl(write("a.jsonl", content), counts))
