"""Normalising ids is idempotent."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from biorel.formats.identifiers import concept_id, concept_ids, document_key, entity_type, local_id
from tests.properties.profile import PROPERTY

PIECES = st.sampled_from(
    [
        "MESH",
        "mesh",
        ":",
        "D003000",
        "c534883",
        "|",
        ";",
        ",",
        "-",
        "-1",
        "*",
        " ",
        "367",
        "OMIM",
        "(Tax:9606)",
        "gene",
        "٣",
    ]
)
RAW = st.text(max_size=12) | st.lists(PIECES, max_size=6).map("".join)
TYPES = st.sampled_from(["Chemical", "Disease", "Gene", "Species", "Variant", "", "drug"])


@PROPERTY
@given(raw=RAW, type_=TYPES)
@example(raw="* x", type_="Gene")
@example(raw="mesh: *D003000", type_="")
@example(raw="* -", type_="Disease")
def test_normalising_an_id_twice_changes_nothing(raw, type_):
    once = concept_id(raw, type_)
    if once is not None:
        assert concept_id(once, type_) == once
        assert once == once.strip()


@PROPERTY
@given(raw=RAW, type_=TYPES)
def test_joined_ids_are_separated(raw, type_):
    ids = concept_ids(raw, type_)
    assert ids
    assert len(set(ids)) == len(ids)
    again = tuple(dict.fromkeys(part for id_ in ids for part in concept_ids("-" if id_ is None else id_, type_)))
    assert again == ids


@PROPERTY
@given(raw=st.text(max_size=12))
def test_normalising_a_type_twice_changes_nothing(raw):
    assert entity_type(entity_type(raw)) == entity_type(raw)


@PROPERTY
@given(one=st.text("0123٣", max_size=20), other=st.text("0123٣", max_size=20))
def test_document_keys_are_equal_only_for_equal_ids(one, other):
    assert (document_key(one) == document_key(other)) == (one == other)


@PROPERTY
@given(number=st.integers(1, 10**8))
def test_short_ids_can_be_expanded(number):
    for type_, id_ in (("Gene", f"NCBIGene:{number}"), ("Disease", f"MESH:D{number:06d}")):
        assert concept_id(local_id(id_), type_) == id_
