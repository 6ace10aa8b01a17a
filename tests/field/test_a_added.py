"""A: the unnumbered faults at the top of the list: web pages in place of data, tags in texts, NUL bytes, offsets."""

from __future__ import annotations

import json

import pytest

from biorel.commands import fetch_ctd, fetch_pubtator
from biorel.config.fetch_ctd import FetchCtd
from biorel.config.fetch_pubtator import FetchPubtator
from biorel.counts import Counts, Reason
from biorel.errors import FetchError
from biorel.fetch.eutils import BATCH
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.pubmed import parse_pubmed
from biorel.formats.pubtator import read_pubtator
from tests.field.tables import counts, doc_ids, missing
from tests.servers import CAPTCHA, PAGE, Reply, article, article_set

UPPER_PAGE = b"\n<!-- cached -->\n<HTML><HEAD></HEAD><BODY>verify that you are a human</BODY></HTML>"


@pytest.mark.parametrize("page", [CAPTCHA, PAGE, UPPER_PAGE], ids=["captcha", "busy", "no title"])
def test_a_01_rejects_a_web_page_with_status_200_as_ctd_file(server, clock, tmp_path, page):
    name = "CTD_genes.csv.gz"
    server.on(f"/{name}", Reply(page))
    given = FetchCtd.model_validate({"url": server.url, "file": ["CTD_genes"], "out": tmp_path / "ctd"})
    with pytest.raises(FetchError, match=rf"{name}.* instead of data") as caught:
        fetch_ctd.run(given)
    for words in ("https://ctdbase.org/downloads/", "--from FOLDER", "build-dataset --ctd FOLDER"):
        assert words in caught.value.hint
    assert not list(tmp_path.rglob(name))
    assert not [part for part in tmp_path.rglob("*.part") if part.stat().st_size]
    assert not (tmp_path / "ctd").exists()


FAULTS = {
    "429 without Retry-After": (Reply(b"", 429), 1),
    "429 with Retry-After": (Reply(b"", 429, {"Retry-After": "7"}), 7),
    "a page with status 200": (Reply(PAGE), 1),
    "JSON with status 200": (Reply(b'{"error":"API rate limit exceeded","count":"11"}'), 1),
}


@pytest.mark.parametrize("call", ["epost", "efetch"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_02_repeats_a_refused_request_and_never_returns_an_empty_result(pubmed, service, clock, call, fault):
    reply, pause = FAULTS[fault]
    service.faults[call] = [reply, reply]
    out = pubmed(1, 2)
    assert (doc_ids(out), missing(out)) == (["1", "2"], {})
    assert len(clock.long_pauses()) == 2
    assert min(clock.long_pauses()) >= pause


def test_a_02_writes_no_result_if_a_batch_stays_refused(pubmed, service, tmp_path):
    service.faults["efetch"] = [Reply(PAGE)] * 6
    with pytest.raises(FetchError, match="web page 'Server busy'"):
        pubmed(1, 2)
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "out.partial" / "parts").iterdir())


@pytest.mark.parametrize(("key", "rate"), [("", 3), ("k3y", 10)])
def test_a_02_limits_the_rate_of_requests(pubmed, server, clock, monkeypatch, key, rate):
    monkeypatch.setenv("NCBI_API_KEY", key)
    pubmed(*range(1, 2 * BATCH + 1))
    assert len(server.requests) == 4
    assert clock.time >= 3 / rate


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("<i>In vitro</i> action", "In vitro action"),
        ("H<sub>2</sub>O and Ca<sup>2+</sup> rise", "H2O and Ca2+ rise"),
        ("a <b>bold <i>and <sub>deep</sub></i></b> word", "a bold and deep word"),
        ("&lt;5 mg <u>daily</u>", "<5 mg daily"),
    ],
)
def test_a_03_keeps_the_text_in_and_after_inline_tags(marked, text, counts):
    (found,) = parse_pubmed(article_set(article(900001, f"{marked}.", f"{marked}. End.")), "here", counts)
    assert (found.document.title, found.document.abstract) == (f"{text}.", f"{text}. End.")


@pytest.mark.parametrize(
    ("broken", "title"),
    [("900002|t|Zetin\0acts.", "Zetin acts."), ("900002|t|\0Zetin", " Zetin"), ("\0" * 3 + "900002|t|Zetin", "Zetin")],
    ids=["inside", "at the start of a text", "before the line"],
)
def test_a_04_replaces_and_counts_a_nul_byte(write, tmp_path, broken, title):
    content = f"900001|t|One.\n900001|a|\n\n{broken}\n900002|a|B.\n\n900003|t|Three.\n900003|a|\n\n"
    whole = write("dump.gz", content)
    counts = Counts()
    found = [item.document for item in read_pubtator(whole, counts)]
    assert [document.doc_id for document in found] == ["900001", "900002", "900003"]
    assert found[1].title == title
    assert counts[Reason.NUL_REPLACED] == 1


def test_a_04_filters_a_dump_with_a_nul_byte(write, tmp_path):
    dump = write("dump", "900001|t|One\0.\n900001|a|A\0B\n900001\t0\t3\tO\0e\tGene\t1\n\n")
    given = {"dump": dump, "pmids": [write("p", "900001\n")], "out": tmp_path / "out"}
    out = fetch_pubtator.run(FetchPubtator.model_validate(given)).path
    assert counts(out)[Reason.NUL_REPLACED] == 3
    assert (out / "documents.pubtator.txt").read_text().startswith("900001|t|One .\n900001|a|A B\n")


@pytest.mark.parametrize(
    ("shown", "normalised", "kept"),
    [
        ("TNF-α", "TNF-a", "TNF-α"),
        ("IL-1β", "il-1b", "IL-1β"),
        ("5 µg", "5 ug", "5 µg"),
        ("TNF-α", "TNF-alpha", None),
        ("TNF-α", "IL-12", None),
    ],
)
def test_a_05_prefers_the_text_of_the_passage_to_a_normalised_text(write, counts, shown, normalised, kept):
    text = f"We gave {shown} and zetin."

    def annotation(number: int, start: int, words: str) -> dict:
        locations = [{"offset": start, "length": len(shown) if number == 1 else len(words)}]
        return {"id": str(number), "infons": {"type": "Gene"}, "text": words, "locations": locations}

    marks = [annotation(1, 8, normalised), annotation(2, text.index("zetin"), "zetin")]
    passage = {"infons": {"type": "title"}, "offset": 0, "text": text, "annotations": marks}
    (found,) = read_bioc(write("a.json", json.dumps({"id": "900001", "passages": [passage]})), counts)
    assert [mention.text for mention in found.mentions] == ([kept] if kept else []) + ["zetin"]
    assert all(text[mention.start : mention.end] == mention.text for mention in found.mentions)
    assert counts[Reason.MENTION_SPAN_MISMATCH] == (not kept)


@pytest.mark.parametrize("empty", ["<AbstractText/>", "<AbstractText Label='AIM'> \n </AbstractText>", ""])
def test_a_06_reads_an_empty_abstract_text_as_empty_abstract(counts, empty):
    plain = article(900001, "A title.", "x")
    (found,) = parse_pubmed(article_set(plain.replace("<AbstractText>x</AbstractText>", empty)), "here", counts)
    assert (found.document.title, found.document.abstract) == ("A title.", "")
    assert found.article.abstract_source == "none"


@pytest.mark.parametrize("title", ["Title.", "", "𝛼-toxin and µ"])
def test_a_07_the_abstract_begins_one_character_after_the_title(write, counts, title):
    start = len(title) + 1
    block = f"900001|t|{title}\n900001|a|Zetin acts.\n900001\t{start}\t{start + 5}\tZetin\tChemical\tD900001\n"
    (found,) = read_pubtator(write("a.txt", block), counts)
    (mention,) = found.mentions
    assert mention.start == start
    assert found.document.text[mention.start :] == "Zetin acts."
    assert not [reason for reason in counts.by_reason if "repaired" in reason]
