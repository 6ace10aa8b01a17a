"""P: PubTator and BioC rows as they occur in practice."""

from __future__ import annotations

import json

import pytest

from biorel.commands import tag
from biorel.config.tag import Tag
from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.pubtator import read_pubtator
from biorel.records import Document, Mention
from biorel.tables import read_table
from tests.command_runs import build, command_line, flags, pubtator
from tests.field.tables import counts, pairs

TEXT = "Zetin causes tremor."


def bioc(place: str, *, shift: int = 0) -> str:
    """One document whose two annotations belong to the document, its passage or its sentence."""
    marks = [
        {"id": str(n), "infons": {"type": type_, "identifier": id_}, "text": name, "locations": [at]}
        for n, (type_, id_, name, at) in enumerate(
            [
                ("Chemical", "D900001", "Zetin", {"offset": shift, "length": 5}),
                ("Disease", "D900002", "tremor", {"offset": 13 + shift, "length": 6}),
            ]
        )
    ]
    sentence = {"offset": 0, "text": TEXT, "annotations": marks if place == "sentence" else []}
    passage = {"offset": 0, "infons": {"type": "title"}, "annotations": marks if place == "passage" else []}
    passage |= {"sentences": [sentence]} if place == "sentence" else {"text": TEXT}
    return json.dumps({"id": "900001", "passages": [passage], "annotations": marks if place == "document" else []})


@pytest.mark.parametrize("place", ["passage", "sentence", "document"])
def test_p_02_finds_annotations_at_every_level(write, counts, place):
    (found,) = read_bioc(write("a.json", bioc(place)), counts)
    assert [mention.text for mention in found.mentions] == ["Zetin", "tremor"]
    assert counts[Reason.ANNOTATIONS_READ] == 2


@pytest.mark.parametrize("format_", ["bioc", "pubtator"])
def test_p_02_rejects_a_file_with_no_usable_annotation(write, counts, format_):
    rows = "900001\t0\t5\tNetix\tChemical\tD900001\n900001\t6\t9\tnope\tDisease\tD900002\n"
    if format_ == "bioc":
        content = (
            bioc("passage").replace('"text": "Zetin"', '"text": "Netix"').replace('"text": "tremor"', '"text": "nope"')
        )
        path, read = write("a.json", content), read_bioc
    else:
        path, read = write("a.txt", f"900001|t|{TEXT}\n900001|a|\n{rows}"), read_pubtator
    with pytest.raises(InputError, match="none of the 2 annotations could be imported"):
        list(read(path, counts))


def test_p_03_keeps_pipes_in_relation_rows_and_texts(write, counts):
    content = (
        "900004|t|Title here.\n900004|a|Abstract | with a pipe.\n900004\tAssociation\tp|DEL|10_12|\tD900001\tNovel\n"
    )
    (found,) = read_pubtator(write("a.txt", content), counts)
    assert found.document == Document("900004", "Title here.", "Abstract | with a pipe.")
    (row,) = found.curations
    assert (row.relation, row.head_id, row.tail_id) == ("Association", "p|DEL|10_12|", "MESH:D900001")
    assert counts[Reason.RELATION_ROWS_READ] == 1
    assert not counts[Reason.ROW_MALFORMED]


@pytest.mark.parametrize(
    ("line", "title"),
    [("900004|t|A|t|B | C|a|D", "A|t|B | C|a|D"), ("900004|t|", ""), ("900004|t||", "|")],
)
def test_p_03_splits_a_text_line_at_most_twice(write, counts, line, title):
    (found,) = read_pubtator(write("a.txt", f"{line}\n900004|a|x|a|y\n"), counts)
    assert (found.document.title, found.document.abstract) == (title, "x|a|y")


ROWS = {
    5: "900005\t0\t5\tT790M\tMutation",
    6: "900005\t0\t5\tT790M\tMutation\tp.T790M",
    7: "900005\t0\t5\tT790M\tMutation\tp.T790M\tRSID:900",
    8: "900005\t0\t5\tT790M\tMutation\tp.T790M\tRSID:900\tx",
}


@pytest.mark.parametrize("columns", ROWS)
def test_p_04_accepts_rows_of_five_or_more_columns(write, counts, columns):
    (found,) = read_pubtator(write("a.txt", f"900005|t|T790M.\n900005|a|\n{ROWS[columns]}\n"), counts)
    assert [mention.entity_id for mention in found.mentions] == ([None] if columns == 5 else ["p.T790M"])


@pytest.mark.parametrize(
    "row", ["900005\t0\t5\tT790M", "900005\tzero\t5", "900006\t0\t5\tT790M\tMutation", "free text"]
)
def test_p_04_counts_bad_rows_with_their_line_and_strict_stops(write, capsys, tmp_path, counts, row):
    path = write("a.txt", f"900005|t|T790M.\n900005|a|\n{ROWS[6]}\n{row}\n")
    (found,) = read_pubtator(path, counts)
    assert len(found.mentions) == 1
    assert counts[Reason.ROW_MALFORMED] == 1
    assert counts.examples[Reason.ROW_MALFORMED][0].startswith(f"{path}:4: ")
    given = flags(tagger="dictionary", out=tmp_path / "tagged")
    assert command_line(capsys, "tag", path, *given)[0] == 0
    code, _, err = command_line(capsys, "tag", path, *given, "--strict", "--force")
    assert code == 3
    assert f"{path}:4" in err


@pytest.mark.parametrize("ids", [("-", "-1", ""), ("N/A", "nan", "CUI-less"), ("MESH:-", "null", "None")])
@pytest.mark.parametrize("unlinked", ["drop", "merge"])
def test_p_06_does_not_merge_mentions_without_an_id(write, tmp_path, ids, unlinked):
    names = [(name, "Chemical", id_) for name, id_ in zip(("drugX", "drugY", "drugZ"), ids, strict=True)]
    known = [("zetin", "Chemical", "D900001"), ("tremor", "Disease", "D900002")]
    text = pubtator("1", "drugX, drugY and drugZ.", "zetin, tremor.", names + known, [("D900001", "D900002")])
    build(tmp_path / "d", train=[write("a.txt", text)], schema="cdr", unlinked=unlinked)
    mentions = read_table(tmp_path / "d" / "train" / "mentions.parquet", Mention)
    assert [mention.text for mention in mentions if mention.entity_id is None] == ["drugX", "drugY", "drugZ"]
    found = pairs(tmp_path / "d")
    assert ("MESH:D900001", "MESH:D900002") in found
    # `merge` gives the paper's counts; it is not the default
    assert len(found) == (1 if unlinked == "drop" else 2)


DOSE = "Dose of 5 µg β-agonist caused tremor."


@pytest.mark.parametrize(
    ("title", "unit"),
    [(DOSE, "utf-8"), ("𝛼 " + DOSE, "utf-16-le"), ("Naïve – " + DOSE, "utf-8"), (DOSE, "code points")],
)
def test_p_07_converts_offsets_in_bytes_and_utf_16(write, counts, title, unit):
    rows = []
    for name in ("agonist", "tremor"):
        start = title.index(name)
        if unit != "code points":
            start = len(title[:start].encode(unit)) // (2 if unit == "utf-16-le" else 1)
        rows.append(f"900007\t{start}\t{start + len(name)}\t{name}\tDisease\tD900002")
    (found,) = read_pubtator(write("a.txt", "\n".join([f"900007|t|{title}", "900007|a|", *rows])), counts)
    assert [title[mention.start : mention.end] for mention in found.mentions] == ["agonist", "tremor"]
    assert sum(count for reason, count in counts.by_reason.items() if "repaired" in reason) == 2 * (
        unit != "code points"
    )


def test_p_07_drops_only_the_spans_that_fit_no_unit(write, counts):
    rows = "900007\t32\t38\ttremor\tDisease\tD1\n900007\t3\t8\tnever\tDisease\tD2\n"
    (found,) = read_pubtator(write("a.txt", f"900007|t|{DOSE}\n900007|a|\n{rows}"), counts)
    assert [(mention.start, mention.text) for mention in found.mentions] == [(DOSE.index("tremor"), "tremor")]
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1


A = "Zetin caused tremor twice."


@pytest.mark.parametrize(
    ("abstract", "kept"),
    [(A, ["Zetin", "tremor"]), (A + " Zetin and tremor.", []), (A.replace("tremor", "ataxia"), ["Zetin"])],
    ids=["each once", "each twice", "one is gone"],
)
def test_p_08_another_version_of_one_text_affects_no_other_document(write, tmp_path, abstract, kept):
    shift = len("T. BACKGROUND: ")
    rows = [f"1\t{shift}\t{shift + 5}\tZetin\tChemical\tD900001", f"1\t{shift + 13}\t{shift + 19}\ttremor\tDisease\tD2"]
    fine = [pubtator(n, "T.", A, [("Zetin", "Chemical", "D1"), ("tremor", "Disease", "D2")]) for n in "23"]
    source = write("a.txt", "\n".join(["1|t|T.", f"1|a|{abstract}", *rows, "", *fine]))
    given = {"input": [source], "annotations": [source], "tagger": "imported", "out": tmp_path / "t"}
    out = tag.run(Tag.model_validate(given)).path
    mentions: dict[str, list[str]] = {"1": [], "2": [], "3": []}
    for mention in read_table(out / "mentions.parquet", Mention):
        mentions[mention.doc_id].append(mention.text)
    assert mentions == {"1": kept, "2": ["Zetin", "tremor"], "3": ["Zetin", "tremor"]}
    assert counts(out).get(f"annotations: {Reason.MENTION_SPAN_MISMATCH}", 0) == 2 - len(kept)


STYLES = ("MESH:D900001", "D900001", "mesh:d900001", "CHEBI:900")


@pytest.mark.parametrize(
    ("type_", "styles", "expected"),
    [
        ("Chemical", STYLES, ["MESH:D900001", "CHEBI:900"]),
        ("Gene", ("367", "NCBIGene:367", "gene:367", "367(Tax:9606)", "EntrezGene:367"), ["NCBIGene:367"]),
        ("Disease", ("OMIM:104300", "MIM:104300", "104300", "*OMIM:104300"), ["OMIM:104300"]),
    ],
)
def test_p_09_gives_one_id_to_all_spellings_of_a_concept(write, counts, type_, styles, expected):
    names = [f"n{number}x" for number in range(len(styles))]
    block = pubtator("1", " ".join(names), "", [(n, type_, s) for n, s in zip(names, styles, strict=True)])
    (found,) = read_pubtator(write("a.txt", block), counts)
    assert list(dict.fromkeys(mention.entity_id for mention in found.mentions)) == expected


@pytest.mark.parametrize("raw", ["D900001|D900002", "D900001;MESH:D900002", "mesh:d900001,D900002"])
def test_p_09_counts_a_mention_of_two_ids_once(write, tmp_path, counts, raw):
    """A mention has one row for each concept; counts of spans count the span once."""
    block = pubtator("1", "Zetin.", "", [("Zetin", "Chemical", raw)])
    path = write("a.txt", block)
    (found,) = read_pubtator(path, counts)
    assert [mention.entity_id for mention in found.mentions] == ["MESH:D900001", "MESH:D900002"]
    assert len({(mention.start, mention.end) for mention in found.mentions}) == 1
    assert counts[Reason.ANNOTATIONS_READ] == 1
