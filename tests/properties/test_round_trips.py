"""Round trips: relations in JSONL and Parquet, documents in PubTator and BioC.

`tests/exports` tries PubTator and BioC on any text; here each format is read through the door of `extract`.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorel.counts import Counts, Reason
from biorel.formats.documents import read_documents, read_records
from biorel.formats.relations import read_relations
from biorel.formats.writers import FORMATS
from biorel.records import Annotated, Document, Entity, Evidence, Mention, Relation
from biorel.tables import write_table
from tests.formats.strategies import documents
from tests.properties.profile import PROPERTY
from tests.properties.test_spans import as_record

NOT_IN_XML = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF]))
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
WORDS = TEXTS.filter(str.strip)
SPANS = st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)).map(lambda pair: (pair[0], pair[0] + pair[1]))
SHARES = st.integers(0, 2**20).map(lambda number: number / 2**20)  # what float32 holds exactly
EVIDENCE = st.builds(Evidence, SPANS, SPANS, SHARES, SPANS)
ENTITIES = st.builds(Entity, WORDS, TEXTS, TEXTS)
RELATIONS = st.builds(Relation, WORDS, ENTITIES, WORDS, ENTITIES, SHARES, st.lists(EVIDENCE, max_size=3).map(tuple))


@PROPERTY
@given(relations=st.lists(RELATIONS, max_size=4))
@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_relations_survive_a_round_trip(tmp_path, format_, relations):
    path = tmp_path / f"a.{format_}"
    with FORMATS[format_].writer(path) as writer:
        writer.write(None, (), relations)
    found = list(read_relations(path, Counts()))
    # JSONL has six digits after the point
    pairs = zip(map(_numbers, found), map(_numbers, relations), strict=True)
    assert all(abs(one - other) < 1e-6 for ones, others in pairs for one, other in zip(ones, others, strict=True))
    assert [_exact(one) for one in found] == [_exact(one) for one in relations]


def _numbers(relation):
    return (relation.score, *(one.weight for one in relation.evidence))


def _exact(relation):
    return replace(relation, score=0.0, evidence=tuple(replace(one, weight=0.0) for one in relation.evidence))


@PROPERTY
@given(items=st.lists(documents("\t\n\r\0" + NOT_IN_XML), min_size=1, max_size=3))
@pytest.mark.parametrize(("format_", "name"), [("pubtator", "a.txt"), ("bioc", "a.xml")])
def test_documents_survive_a_round_trip(tmp_path, format_, name, items):
    path = tmp_path / name
    given_ = [_numbered(annotated, number) for number, (annotated, _) in enumerate(items, start=1)]
    with FORMATS[format_].writer(path) as writer:
        for annotated in given_:
            writer.write(annotated.document, annotated.mentions, ())
    found = [record for _, record in read_records(path, Counts())]
    assert [one.document for one in found] == [one.document for one in given_]
    assert [set(one.mentions) for one in found] == [set(one.mentions) for one in given_]


@PROPERTY
@given(items=st.lists(documents("\0"), min_size=1, max_size=4), data=st.data())
def test_documents_do_not_depend_on_the_order_of_files_and_rows(tmp_path, items, data):
    numbered = [_numbered(annotated, number) for number, (annotated, _) in enumerate(items, start=1)]
    numbered = [one for one in numbered if one.document.text.strip()]
    if not numbered:
        return
    lines = [as_record(one) for one in numbered]
    found = []
    for order in (lines, data.draw(st.permutations(lines))):
        cut = data.draw(st.integers(1, len(lines)))
        paths = []
        for number, part in enumerate((order[:cut], order[cut:])):
            if part:
                paths.append(tmp_path / f"{number}.jsonl")
                paths[-1].write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
        found.append({one.document.doc_id: one for one in read_documents(data.draw(st.permutations(paths)), Counts())})
    assert found[0] == found[1]
    assert len(found[0]) == len(numbered)


@PROPERTY
@given(items=st.lists(documents("\0"), min_size=1, max_size=3))
def test_tables_survive_a_round_trip(tmp_path, items):
    numbered = [_numbered(annotated, number) for number, (annotated, _) in enumerate(items, start=1)]
    write_table(tmp_path / "documents.parquet", Document, [one.document for one in numbered])
    write_table(tmp_path / "mentions.parquet", Mention, [mention for one in numbered for mention in one.mentions])
    assert [record for _, record in read_records(tmp_path, Counts())] == numbered


@PROPERTY
@given(items=st.lists(documents("\0"), min_size=1, max_size=3), bad=st.lists(st.text(max_size=9), max_size=4))
def test_every_line_becomes_a_document_or_a_bad_record(tmp_path, items, bad):
    """Rows read = rows kept + rows dropped, for lines and for their annotations."""
    lines = [as_record(_numbered(annotated, number)) for number, (annotated, _) in enumerate(items, start=1)]
    lines += [json.dumps(word) for word in bad]
    (tmp_path / "a.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    counts = Counts()
    found = [record for _, record in read_records(tmp_path / "a.jsonl", counts)]
    assert len(found) == len(lines) == counts[Reason.DOCUMENTS_READ] + counts[Reason.RECORD_UNUSABLE]
    kept = sum(len(record.mentions) for record in found if isinstance(record, Annotated))
    rows = counts[Reason.ANNOTATIONS_READ] + counts[Reason.MENTIONS_ADDED_SEVERAL_CONCEPTS]
    dropped = sum(count for reason, count in counts.by_reason.items() if reason.startswith("mentions dropped"))
    assert rows == kept + dropped


def _numbered(annotated: Annotated, number: int) -> Annotated:
    document = replace(annotated.document, doc_id=str(number))
    return Annotated(document, tuple(replace(one, doc_id=str(number)) for one in annotated.mentions))
