"""Reading BioC XML and JSON: text offsets, spans, concepts, relations, and files in other formats."""

from __future__ import annotations

import json

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.xml_stream import read_elements
from biorel.records import Curation, Document
from tests.builders import read_and_lost

XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>s</source><date/><key/>
<document><id>900001</id>
  <passage><infon key="type">title</infon><offset>0</offset><text>Alphadrug causes tremor.</text>
    <annotation id="T1"><infon key="type">Chemical</infon><infon key="identifier">MESH:D900001</infon>
      <location offset="0" length="9"/><text>Alphadrug</text></annotation>
    <annotation id="T2"><infon key="type">Disease</infon><infon key="identifier">D900002</infon>
      <location offset="17" length="6"/><text>tremor</text></annotation>
  </passage>
  <passage><infon key="type">abstract</infon><offset>25</offset><text>In rats, alphadrug did.</text>
    <annotation id="T3"><infon key="type">Chemical</infon><infon key="identifier">mesh:d900001</infon>
      <location offset="34" length="9"/><text>alphadrug</text></annotation>
  </passage>
  <relation id="R1"><infon key="type">CID</infon>
    <node refid="T2" role="object"/><node refid="T1" role="subject"/></relation>
</document>
</collection>
"""

CURATION = Curation("900001", "Chemical", "MESH:D900001", "CID", "Disease", "MESH:D900002")


def annotation(id_, type_, identifier, offset, text, **more):
    infons = {"type": type_, "identifier": identifier} | more
    return {
        "id": id_,
        "infons": infons,
        "text": text,
        "locations": [{"offset": offset, "length": len(text)}],
    }


def passage(kind, offset, text, *annotations, **more):
    return {
        "infons": {"type": kind} if kind else {},
        "offset": offset,
        "text": text,
        "annotations": list(annotations),
    } | more


def document(*passages, id_="900001", **more):
    return {"id": id_, "passages": list(passages)} | more


TITLE = passage(
    "title",
    0,
    "Alphadrug causes tremor.",
    annotation("T1", "Chemical", "MESH:D900001", 0, "Alphadrug"),
    annotation("T2", "Disease", "D900002", 17, "tremor"),
)
RELATION = {
    "id": "R1",
    "infons": {"type": "CID"},
    "nodes": [{"refid": "T1", "role": ""}, {"refid": "T2", "role": ""}],
}


@pytest.fixture
def read(write, counts):
    """Read content (objects become JSON) as a BioC file and return its documents."""

    def _read(content, name="a"):
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        return list(read_bioc(write(name, content), counts))

    return _read


def shown(annotated):
    text = annotated.document.text
    assert all(text[mention.start : mention.end] == mention.text for mention in annotated.mentions)
    return [(mention.start, mention.text, mention.entity_id) for mention in annotated.mentions]


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz"])
def test_P02_annotations_are_read_from_passages(read, counts, name):
    (annotated,) = read(XML, name)
    assert annotated.document == Document("900001", "Alphadrug causes tremor.", "In rats, alphadrug did.")
    assert shown(annotated) == [
        (0, "Alphadrug", "MESH:D900001"),
        (17, "tremor", "MESH:D900002"),
        (34, "alphadrug", "MESH:D900001"),
    ]
    assert annotated.curations == (CURATION,)
    assert read_and_lost(counts) == {
        Reason.ANNOTATIONS_READ: 3,
        Reason.DOCUMENTS_READ: 1,
        Reason.RELATION_ROWS_READ: 1,
    }


def test_P02_annotations_are_read_from_sentences_and_from_the_document(read, counts):
    sentences = [
        {
            "offset": 10,
            "text": "Alpha rose.",
            "annotations": [annotation("T1", "Gene", "9001", 10, "Alpha")],
        },
        {
            "offset": 22,
            "text": "Beta fell.",
            "annotations": [annotation("T2", "Gene", "9002", 22, "Beta")],
        },
    ]
    with_text = passage("abstract", 10, "Alpha rose. Beta fell.", sentences=sentences)
    without_text = passage("abstract", 10, "", sentences=sentences)
    loose = annotation("T3", "Disease", "-", 27, "fell")
    title = passage("title", 0, "Genes rose")
    for abstract, on_document in (
        (with_text, [loose]),
        (without_text, [loose]),
        (without_text | {"annotations": [loose]}, []),
    ):
        (annotated,) = read([document(title, abstract, annotations=on_document)])
        assert annotated.document.text == "Genes rose Alpha rose. Beta fell."
        assert sorted(shown(annotated)) == [
            (11, "Alpha", "NCBIGene:9001"),
            (23, "Beta", "NCBIGene:9002"),
            (28, "fell", None),
        ]


def test_P02_rejects_a_file_with_no_usable_annotation(read, counts):
    wrong = passage("title", 0, "tremor, tremor", annotation("T1", "Disease", "D900002", 3, "tremor"))
    with pytest.raises(InputError, match="none of the 1 annotations could be imported"):
        read([document(wrong)])
    assert [item.mentions for item in read([document(passage("title", 0, "No annotation"))])] == [()]


@pytest.mark.parametrize("offsets", [(0, 25), (0, 24), (0, 99), (7, 40)])
def test_spans_follow_their_passage_at_any_offset(read, offsets):
    first, second = offsets
    title = passage("title", first, "Alphadrug causes tremor.", annotation("T1", "D", "-", first, "Alphadrug"))
    abstract = passage("abstract", second, "More tremor.", annotation("T2", "D", "-", second + 5, "tremor"))
    (annotated,) = read([document(title, abstract)])
    assert annotated.document.text == "Alphadrug causes tremor. More tremor."
    assert shown(annotated) == [(0, "Alphadrug", None), (30, "tremor", None)]


def test_P07_converts_byte_offsets_in_every_passage(read, counts):
    title, abstract = "β-drug and β-agonist.", "µg of β-drug and β-drug."
    in_title = annotation("T1", "Chemical", "-", len("β-drug and ".encode()), "β-agonist")
    in_title["locations"][0]["length"] = len("β-agonist".encode())
    begin = len(title.encode()) + 1
    at = begin + len("µg of ".encode())
    in_abstract = annotation("T2", "Chemical", "-", at, "β-drug")
    in_abstract["locations"][0]["length"] = len("β-drug".encode())
    (annotated,) = read(
        [document(passage("title", 0, title, in_title), passage("abstract", begin, abstract, in_abstract))]
    )
    assert shown(annotated) == [(11, "β-agonist", None), (28, "β-drug", None)]
    assert counts[Reason.SPAN_REPAIRED_UTF8] == 2


def test_P08_a_document_of_another_edition_does_not_affect_the_others(read, counts):
    shifted = passage("title", 0, "tremor after tremor by drug", annotation("T1", "Disease", "D900002", 3, "tremor"))
    first, second = read([document(shifted, id_="1"), document(TITLE, id_="2")])
    assert (first.mentions, len(second.mentions)) == ((), 2)
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1


def test_P09_reads_identifiers_in_every_style(read):
    raw = ["MESH:D900001", "D900001", "mesh:d900001", "CHEBI:900", None, "-", 9003]
    marks = [annotation(str(at), "Chemical", id_, at, "abcdefg"[at]) for at, id_ in enumerate(raw)]
    (annotated,) = read([document(passage("title", 0, "abcdefg", *marks))])
    assert [mention.entity_id for mention in annotated.mentions] == [
        "MESH:D900001",
        "MESH:D900001",
        "MESH:D900001",
        "CHEBI:900",
        None,
        None,
        "9003",
    ]


def test_reads_concepts_under_the_name_of_their_vocabulary(read, counts):
    marks = [
        {"id": "1", "infons": {"type": "Disease", "MESH": "D900001|D900002"}},
        {"id": "2", "infons": {"type": "Gene", "NCBI GENE": "9003"}},
        {"id": "3", "infons": {"type": "Disease", "OMIM": "900208"}},
        {"id": "4", "infons": {"type": "Chemical", "MESH": "-1"}},
        {"id": "5", "infons": {"type": "Chemical", "CHEBI": "900"}},
    ]
    for at, mark in enumerate(marks):
        mark |= {"text": "abcde"[at], "locations": [{"offset": at, "length": 1}]}
    (annotated,) = read([document(passage("title", 0, "abcde", *marks))])
    assert [(mention.text, mention.entity_id) for mention in annotated.mentions] == [
        ("a", "MESH:D900001"),
        ("a", "MESH:D900002"),
        ("b", "NCBIGene:9003"),
        ("c", "OMIM:900208"),
        ("d", None),
        ("e", "CHEBI:900"),
    ]
    assert counts[Reason.MENTIONS_ADDED_SEVERAL_CONCEPTS] == 1


@pytest.mark.parametrize(
    "passages",
    [
        [passage("title", 0, "Tt."), passage("abstract", 4, "Aa.")],
        [passage("front", 0, "Tt."), passage("abstract", 4, "Aa.")],
        [passage("", 0, "Tt."), passage("", 4, "Aa.")],
        [
            {"infons": {"section_type": "TITLE"}, "offset": 0, "text": "Tt."},
            {"infons": {"section_type": "ABSTRACT"}, "offset": 4, "text": "Aa."},
        ],
        [passage("abstract", 4, "Aa."), passage("title", 0, "Tt.")],
    ],
)
def test_the_title_is_the_marked_passage_or_the_first(read, passages):
    (annotated,) = read([document(*passages)])
    assert annotated.document == Document("900001", "Tt.", "Aa.")


def test_an_abstract_without_a_title_stays_an_abstract(read):
    mark = annotation("T1", "Disease", "-", 5, "tremor")
    (annotated,) = read([document(passage("abstract", 0, "More tremor.", mark))])
    assert annotated.document == Document("900001", "", "More tremor.")
    assert shown(annotated) == [(6, "tremor", None)]


def test_sections_of_an_abstract_are_joined_in_order(read):
    parts = [passage("title", 0, "Tt."), passage("abstract", 4, "Aa."), passage("abstract", 8, "Bb tremor.")]
    parts[2]["annotations"] = [annotation("T1", "Disease", "-", 11, "tremor")]
    (annotated,) = read([document(*parts)])
    assert annotated.document.text == "Tt. Aa. Bb tremor."
    assert shown(annotated) == [(11, "tremor", None)]


def test_accepts_empty_passages_and_documents(read):
    first, second = read([document(passage("title", 0, "Tt."), passage("abstract", 4, "")), document(id_="2")])
    assert first.document == Document("900001", "Tt.", "")
    assert second.document == Document("2", "", "")


def test_a_discontinuous_mention_becomes_one_span(read, counts):
    mark = annotation("T1", "Disease", "D900001", 0, "renal failure")
    mark["locations"] = [{"offset": 0, "length": 5}, {"offset": 16, "length": 7}]
    wrong = annotation("T2", "Disease", "D900001", 0, "other words")
    wrong["locations"] = mark["locations"]
    (annotated,) = read([document(passage("title", 0, "renal and liver failure", mark, wrong))])
    assert shown(annotated) == [(0, "renal and liver failure", "MESH:D900001")]
    assert counts[Reason.MENTION_PARTS_JOINED] == 1
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1


@pytest.mark.parametrize("locations", [[], [{"offset": "x", "length": 3}], [{"offset": 1.5, "length": 3}], [{}]])
def test_drops_and_counts_annotations_without_offsets(read, counts, locations):
    bad = annotation("T9", "Disease", "-", 0, "tremor") | {"locations": locations}
    (annotated,) = read([document(TITLE | {"annotations": [*TITLE["annotations"], bad]})])
    assert len(annotated.mentions) == 2
    assert counts[Reason.ANNOTATIONS_READ] == 3
    assert counts[Reason.ANNOTATION_WITHOUT_OFFSETS] == 1


RELATIONS = [
    RELATION,
    {"id": "R", "infons": {"relation": "CID", "Chemical": "D900001", "Disease": "D900002"}},
    {"id": "R", "infons": {"type": "CID", "entity1": "D900001", "entity2": "D900002"}},
    {"id": "R", "infons": {"type": "CID", "role1": "Chemical|MESH:D900001", "role2": "Disease|MESH:D900002"}},
    {
        "id": "R",
        "infons": {
            "type": "CID",
            "role1": {"identifier": "MESH:D900001", "type": "Chemical"},
            "role2": {"normalized_id": "D900002", "biotype": "disease"},
        },
        # PubTator3's nodes hold numbers that are no annotation's id
        "nodes": [{"refid": "0", "role": "1,0"}, {"refid": "1", "role": "2,1"}],
    },
    RELATION | {"nodes": [{"refid": "T2", "role": "Arg2"}, {"refid": "T1", "role": "Arg1"}]},
]


@pytest.mark.parametrize("relation", RELATIONS)
def test_relations_of_every_corpus_become_curations(read, relation):
    (on_document,) = read([document(TITLE, relations=[relation])])
    (on_passage,) = read([document(TITLE | {"relations": [relation]})])
    assert on_document.curations == on_passage.curations == (CURATION,)


def test_bare_gene_ids_in_relations_match_those_of_the_mentions(read):
    genes = passage(
        "title", 0, "GEN1 GEN2", annotation("1", "Gene", "9003", 0, "GEN1"), annotation("2", "Gene", 9004, 5, "GEN2")
    )
    relation = {"id": "R", "infons": {"type": "Bind", "entity1": "9003", "entity2": 9004}}
    (annotated,) = read([document(genes, relations=[relation])])
    assert annotated.curations == (Curation("900001", "Gene", "NCBIGene:9003", "Bind", "Gene", "NCBIGene:9004"),)


def test_bars_in_a_mutation_do_not_separate_a_type(read):
    mutation = passage("title", 0, "T790M", annotation("1", "SequenceVariant", "p|DEL|10_12|", 0, "T790M"))
    infons = {"type": "Cause", "role1": "p|DEL|10_12|", "role2": "DNAMutation|c|SUB|A|1|T"}
    (annotated,) = read([document(mutation, relations=[{"id": "R", "infons": infons}])])
    assert annotated.curations == (
        Curation("900001", "SequenceVariant", "p|DEL|10_12|", "Cause", "DNAMutation", "c|SUB|A|1|T"),
    )


def test_an_argument_with_several_concepts_gives_a_curation_for_each(read, counts):
    marks = [
        annotation("T1", "Chemical", "D900001", 0, "Alphadrug"),
        annotation("T2", "Disease", "D900002|D900003", 17, "tremor"),
    ]
    (annotated,) = read([document(TITLE | {"annotations": marks}, relations=[RELATION])])
    assert [curation.tail_id for curation in annotated.curations] == ["MESH:D900002", "MESH:D900003"]
    assert counts[Reason.CURATIONS_ADDED_SEVERAL_CONCEPTS] == 1


@pytest.mark.parametrize(
    ("relation", "reason"),
    [
        (RELATION | {"infons": {}}, Reason.CURATION_WITHOUT_TYPE),
        (RELATION | {"nodes": [{"refid": "T1", "role": ""}]}, Reason.CURATION_NOT_TWO_ARGUMENTS),
        (
            RELATION | {"nodes": [{"refid": "T1", "role": ""}, {"refid": "R7", "role": ""}]},
            Reason.CURATION_NOT_TWO_ARGUMENTS,
        ),
        ({"id": "R", "infons": {"type": "CID"}}, Reason.CURATION_NOT_TWO_ARGUMENTS),
        (
            {"id": "R", "infons": {"type": "CID", "entity1": "-", "entity2": "D900002"}},
            Reason.CURATION_ARGUMENT_WITHOUT_CONCEPT,
        ),
    ],
)
def test_counts_unreadable_relations(read, counts, relation, reason):
    (annotated,) = read([document(TITLE, relations=[relation])])
    assert annotated.curations == ()
    assert counts[Reason.RELATION_ROWS_READ] == counts[reason] == 1


ONE = document(TITLE, relations=[RELATION])


@pytest.mark.parametrize(
    "content",
    [
        ONE,
        [ONE],
        {"source": "s", "documents": [ONE]},
        [{"documents": [ONE]}],
        {"PubTator3": [ONE]},
        json.dumps({"PubTator3": [ONE]}, indent=1),
        json.dumps(ONE) + "\n",
        "\ufeff\n" + json.dumps(ONE),
    ],
)
def test_reads_every_form_of_json(read, content):
    (annotated,) = read(content)
    assert annotated.document.title == "Alphadrug causes tremor."
    assert len(annotated.mentions) == 2
    assert annotated.curations == (CURATION,)


def test_json_lines_of_documents_are_read_line_by_line(write, counts):
    lines = [json.dumps(ONE | {"id": id_}) for id_ in ("1", "2")]
    path = write("a.jsonl.gz", "\n".join([lines[0], "", lines[1], '{"passages": ']))
    documents = read_bioc(path, counts)
    assert [next(documents).document.doc_id for _ in range(2)] == ["1", "2"]
    with pytest.raises(InputError, match=r"a\.jsonl\.gz:4: not JSON"):
        next(documents)


def test_Q02_numeric_ids_become_text(read):
    (annotated,) = read([document(TITLE, id_=900001)])
    assert annotated.document.doc_id == "900001"
    (annotated,) = read([{"pmid": 900001, "passages": [TITLE]}])
    assert annotated.document.doc_id == "900001"


def test_drops_and_counts_documents_without_id(read, counts):
    (annotated,) = read([document(TITLE, id_=" "), document(TITLE)])
    assert annotated.document.doc_id == "900001"
    assert counts[Reason.RECORD_WITHOUT_ID] == 1


def test_text_inside_inline_tags_is_kept(read):
    inline = XML.replace("did.", "H<sub>2</sub>O <i>in <b>vivo</b></i> &lt;1 &#176;C.<!-- no text -->")
    (annotated,) = read(inline)
    assert annotated.document.abstract == "In rats, alphadrug H2O in vivo <1 °C."


def test_replaces_and_counts_half_surrogate_pairs(read, counts):
    (annotated,) = read('[{"id": "1", "passages": [{"offset": 0, "text": "x \\ud83d y \\ud83d\\ude00"}]}]')
    assert annotated.document.title == "x \ufffd y 😀"
    assert annotated.document.title.encode()
    assert counts[Reason.SURROGATE_REPLACED] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<article><front/></article>", r"root element <article> where <collection> \(BioC\) was expected"),
        ("<PubmedArticleSet/>", "root element <PubmedArticleSet>"),
        ("<collection><document><id>1</id>", "not well-formed XML"),
        ("<collection/>", "no document with an id"),
        ("[]", "no document with an id"),
        ('{"detail": "Not found"}', r"an object with the keys detail where a BioC collection"),
        ("{}", "an object with the keys"),
        ('["x"]', "'x' where a BioC collection"),
        ('{"passages": [', "not JSON"),
        ('[{"id": "1", "passages": "text"}]', "document '1' is not BioC"),
        ('[{"id": "1", "passages": [{"infons": ["a"]}]}]', "document '1' is not BioC"),
        ("[" * 100_000, "nested too deeply"),
        ("", "neither XML nor JSON"),
        ("PMID- 1", "neither XML nor JSON"),
    ],
)
def test_X08_rejects_other_files_in_one_line(read, content, message):
    with pytest.raises(InputError, match=message) as caught:
        read(content)
    assert "\n" not in caught.value.message


def test_F07_no_entity_or_dtd_is_loaded(write, read, tmp_path, counts):
    secret = write("secret.txt", "SECRET")
    dtd = write("evil.dtd", '<!ENTITY out "LOADED">')
    doctype = (
        f'<!DOCTYPE collection SYSTEM "{dtd.as_uri()}" [<!ENTITY in "EXPANDED">'
        f'<!ENTITY file SYSTEM "{secret.as_uri()}"><!ENTITY net SYSTEM "http://127.0.0.1:9/x">]>'
    )
    hostile = XML.replace('<!DOCTYPE collection SYSTEM "BioC.dtd">', doctype)
    hostile = hostile.replace("did.", "did &file;&net;&in;&out;.")
    (annotated,) = read(hostile)
    assert annotated.document.abstract == "In rats, alphadrug did &file;&net;&in;&out;."
    assert len(annotated.mentions) == 3


def test_entities_that_multiply_do_not_explode(read):
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = XML.replace('SYSTEM "BioC.dtd"', f'[<!ENTITY e0 "lol">{levels}]').replace("did.", "&e9;")
    with pytest.raises(InputError, match=r"not well-formed XML \(Maximum entity amplification"):
        read(bomb)
    with pytest.raises(InputError, match=r"not well-formed XML \(Maximum entity amplification"):
        read(bomb.replace('key="type"', 'key="&e9;"'))


def test_xml_is_streamed_one_document_at_a_time(write, counts):
    body = XML[XML.index("<document>") : XML.index("</collection>")]
    path = write("a.xml", f"<collection>{body * 3}<document><oops></document></collection>")
    documents = read_bioc(path, counts)
    assert [next(documents).document.doc_id for _ in range(3)] == ["900001"] * 3
    with pytest.raises(InputError, match="not well-formed XML"):
        next(documents)


def test_memory_does_not_grow_with_the_file(write):
    body = "<document><id>1</id><passage><text>" + "x" * 1000 + "</text></passage></document>\n"
    path = write("a.xml.gz", f"<collection>{body * 3000}</collection>")
    held = [len(element.getparent()) for element in read_elements(path, "BioC", ("collection",), ("document",))]
    # the parser reads about 32 kB ahead
    assert len(held) == 3000
    assert max(held) < 100


@pytest.mark.parametrize("content", [XML, json.dumps({"documents": [ONE] * 50}, indent=1)])
def test_F06_a_cut_gzip_file_is_an_error_that_names_it(write, counts, content):
    path = write("a.gz", content)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(InputError, match=r"a\.gz: damaged gzip file"):
        list(read_bioc(path, counts))
