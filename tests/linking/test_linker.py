"""The linker: which id a mention gets, why, and that it is always the same one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from biorel.errors import InputError, ModelError
from biorel.linking.lexicon import write_lexicon
from biorel.linking.linker import Linker, Settings, load_linker, parts
from biorel.records import Document, Mention, Name

NAMES = (
    Name("kidney failure", "Disease", "MESH:D1", "mesh", 0),
    Name("Liver Failure", "Disease", "MESH:D2", "mesh", 0),
    Name("Hypertension, Pulmonary", "Disease", "MESH:D3", "mesh", 0),
    Name("Thyroid Diseases", "Disease", "MESH:D4", "mesh", 0),
    Name("nephropathy", "Disease", "MESH:D5", "training", 2),
    Name("hemorrhagic cystitis", "Disease", "MESH:D6|MESH:D7", "training", 3),
    Name("depression", "Disease", "MESH:D9", "training", 1),
    Name("depression", "Disease", "MESH:D8", "training", 4),
    Name("Depression", "Disease", "MESH:D10", "mesh", 0),
    Name("methotrexate", "Chemical", "MESH:D20", "ctd", 0),
    Name("amiodarone", "Chemical", "MESH:D21", "ctd", 0),
    Name("DOPAC", "Chemical", "MESH:D22", "training", 1),
    Name("GEN1", "Gene", "NCBIGene:9", "ctd", 0),
)
SETTINGS = Settings({"Disease": 0.75, "Chemical": 0.75})


@pytest.fixture
def linker() -> Linker:
    return Linker(NAMES, SETTINGS)


def mentions(text: str, *names: tuple[str, str]) -> tuple[Mention, ...]:
    return tuple(
        Mention("1", text.index(name), text.index(name) + len(name), name, type_, None) for name, type_ in names
    )


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("Kidney failures", ("MESH:D1",)),
        ("renal failure", ("MESH:D1",)),
        ("failure of the kidney", ("MESH:D1",)),
        ("pulmonary hypertension", ("MESH:D3",)),
        ("thyroid dysfunction", ("MESH:D4",)),
        ("adriamycin-induced nephropathy", ("MESH:D5",)),
        ("Haemorrhagic cystitis", ("MESH:D6", "MESH:D7")),
        ("renal and hepatic failure", ("MESH:D1", "MESH:D2")),
        ("nephropathyy", ("MESH:D5",)),
        ("something else", ()),
        ("", ()),
        ("-", ()),
    ],
)
def test_finds_a_name_by_the_strictest_matching_form(linker, name, ids):
    assert linker.look_up(name, "Disease") == ids


def test_prefers_training_texts_then_the_more_frequent_concept(linker):
    assert linker.look_up("depression", "Disease") == ("MESH:D8",)


def test_breaks_ties_by_id():
    names = [Name("x syndrome", "Disease", id_, "mesh", 0) for id_ in ("MESH:D3", "MESH:D1", "MESH:D2")]
    assert Linker(names, Settings()).look_up("X syndrome", "Disease") == ("MESH:D1",)
    assert Linker(names[::-1], Settings()).look_up("X syndrome", "Disease") == ("MESH:D1",)


def test_types_have_separate_names(linker):
    assert linker.look_up("methotrexate", "Disease") == ()
    assert linker.look_up("methotrexate", "Species") == ()


def test_similarity_needs_a_threshold_for_the_type(linker):
    assert linker.look_up("amiodarome", "Chemical") == ("MESH:D21",)
    assert linker.look_up("amiodarome", "Chemical", guess=False) == ()
    assert linker.look_up("GENE1", "Gene") == ()
    assert linker.retuned(Settings({"Chemical": 0.99})).look_up("amiodarome", "Chemical") == ()
    assert linker.look_up("amiodarome", "Chemical") == ("MESH:D21",)


def test_a_short_form_gets_the_id_of_its_long_form(linker):
    text = "Effects of methotrexate (MTX) . MTX was given."
    document = Document("1", "", text)
    found = linker.link(document, mentions(document.text, ("methotrexate", "Chemical"), ("MTX", "Chemical")))
    assert [mention.entity_id for mention in found] == ["MESH:D20", "MESH:D20"]
    assert linker.look_up("MTX", "Chemical") == ()


def test_an_unknown_long_form_gets_the_id_of_its_short_form(linker):
    text = "Levels of dihydroxyphenylacetic (DOPAC) fell."
    document = Document("1", "", text.replace("dihydroxyphenylacetic", "dihydroxy-o-phenylacetic"))
    found = linker.link(document, mentions(document.text, ("dihydroxy-o-phenylacetic", "Chemical")))
    assert [mention.entity_id for mention in found] == ["MESH:D22"]


def test_keeps_given_ids_and_splits_composites(linker):
    document = Document("1", "Renal and hepatic failure", "after foo and methotrexate.")
    given = mentions(
        document.text, ("Renal and hepatic failure", "Disease"), ("foo", "Disease"), ("methotrexate", "Chemical")
    )
    given = (*given[:2], replace(given[2], entity_id="CHEBI:1"))
    found = linker.link(document, given)
    assert [(mention.text, mention.entity_id) for mention in found] == [
        ("Renal and hepatic failure", "MESH:D1"),
        ("Renal and hepatic failure", "MESH:D2"),
        ("foo", None),
        ("methotrexate", "CHEBI:1"),
    ]
    assert {(mention.start, mention.end) for mention in found} == {(mention.start, mention.end) for mention in given}


def test_p06_unknown_mentions_are_not_merged(linker):
    document = Document("1", "", "drugX and drugY")
    found = linker.link(document, mentions(document.text, ("drugX", "Chemical"), ("drugY", "Chemical")))
    assert [mention.entity_id for mention in found] == [None, None]
    assert len(found) == 2


def test_s04_ids_do_not_depend_on_earlier_links(linker):
    names = ["renal failures", "amiodaronee", "pulmonary hypertensive", "x", "nephropathyy", "liver failures"]
    fresh = [Linker(NAMES[::-1], SETTINGS).look_up(name, "Disease") for name in names]
    assert [linker.look_up(name, "Disease") for name in names] == fresh
    assert [linker.look_up(name, "Disease") for name in reversed(names)] == fresh[::-1]


def test_splits_a_span_into_parts():
    assert parts("renal failure") == ()
    assert ("renal failure", "hepatic failure") in parts("renal and hepatic failure")
    assert ("nausea", "vomiting") in parts("nausea and vomiting")
    assert ("toxicity of liver", "toxicity kidney") in parts("toxicity of liver and kidney")


def test_s05_loads_a_linker_without_pickle(tmp_path):
    write_lexicon(tmp_path / "lexicon.parquet", NAMES)
    (tmp_path / "config.json").write_text(json.dumps({"thresholds": {"Disease": 0.75}}))
    loaded = load_linker(tmp_path)
    assert loaded.settings == Settings({"Disease": 0.75})
    assert loaded.look_up("renal failure", "Disease") == ("MESH:D1",)
    # nothing is built before it is asked for
    assert list(loaded._types) == ["Disease"]


@pytest.mark.parametrize("content", [None, "no json", "{}", '{"thresholds": 3}', '{"thresholds": {"Disease": "x"}}'])
def test_rejects_a_folder_that_is_not_a_linker(tmp_path, content):
    write_lexicon(tmp_path / "lexicon.parquet", NAMES)
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(ModelError, match=r"config\.json"):
        load_linker(tmp_path)


def test_rejects_a_folder_without_a_lexicon(tmp_path):
    (tmp_path / "config.json").write_text('{"thresholds": {}}')
    with pytest.raises(InputError, match="lexicon"):
        load_linker(tmp_path)
