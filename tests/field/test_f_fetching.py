"""F: services that answer incompletely, late, with damaged data, or not at all."""

from __future__ import annotations

import gzip
import json
import socket

import pytest

from biorel.commands import fetch_ctd
from biorel.config.fetch_ctd import FetchCtd
from biorel.counts import Counts
from biorel.errors import FetchError, InputError
from biorel.fetch.eutils import BATCH
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.pubmed import read_pubmed
from biorel.knowledge.mesh import read_mesh
from tests.command_runs import HEADER, build, command_line, flags, pubtator
from tests.field.tables import doc_ids, missing
from tests.servers import PAGE, Reply, article, article_set, served_file

CUT = Reply(b"<PubmedArticleSet><PubmedArticle><MedlineCitation>")


def pages_of(service, size):
    """A search service that returns at most `size` ids a page, however many are requested."""

    def answer(request):
        start = int(request.parameters["retstart"])
        asked = min(int(request.parameters["retmax"]), size)
        found = {"count": str(len(service.hits)), "idlist": service.hits[start : start + asked]}
        return Reply(json.dumps({"esearchresult": found}).encode())

    return answer


@pytest.mark.parametrize(("hits", "most"), [(53, None), (53, 30), (20, None), (21, None)])
def test_f_01_reads_all_pages_of_a_search(pubmed, service, server, hits, most):
    service.hits = [str(number) for number in range(1, hits + 1)]
    server.on("/eutils/esearch.fcgi", pages_of(service, 20))
    out = pubmed(query="tremor", **({"max": most} if most else {}))
    assert doc_ids(out) == service.hits[:most]
    assert all("retmax" in request.parameters for request in server.to("/eutils/esearch.fcgi"))


def test_f_01_rejects_a_search_with_fewer_ids_than_its_count(pubmed, service, server, tmp_path):
    service.hits = [str(number) for number in range(1, 21)]
    short = {"count": "53", "idlist": service.hits}
    rest = {"count": "53", "idlist": []}
    replies = [Reply(json.dumps({"esearchresult": page}).encode()) for page in (short, short, rest)]
    server.on("/eutils/esearch.fcgi", *replies)
    with pytest.raises(FetchError, match="PubMed counts 53 articles but lists only 20"):
        pubmed(query="tremor")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("broken", [b"\n", b"\r\n", b"\t"])
def test_f_03_quotes_an_error_with_a_raw_line_break(capsys, server, tmp_path, broken):
    server.on(
        "/eutils/esearch.fcgi",
        Reply(b'{"esearchresult":{"ERROR":"Search Backend failed:' + broken + b'retstart too large"}}'),
    )
    given = flags(query="tremor", url=f"{server.url}/eutils", out=tmp_path / "out")
    code, _, err = command_line(capsys, "fetch", "pubmed", *given)
    assert code == 6
    assert "'tremor': Search Backend failed: retstart too large" in err
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", [CUT, Reply(b"bad", 400), Reply(PAGE)], ids=["cut XML", "HTTP 400", "page"])
def test_f_04_fetches_only_the_failed_batch_again(pubmed, service, server, tmp_path, fault):
    wanted = [str(number) for number in range(1, 2 * BATCH + 3)]
    service.faults["efetch"] = [None, *[fault] * 6]
    with pytest.raises(FetchError, match="1 of 3 batches failed; the first, number 2"):
        pubmed(*wanted)
    kept = sorted(path.name for path in (tmp_path / "out.partial" / "parts").iterdir())
    assert kept == ["000001.part", "000003.part"]
    with pytest.raises(InputError, match="no such file"):
        build(tmp_path / "dataset", documents=[tmp_path / "out" / "documents.parquet"])
    service.faults["efetch"].clear()
    before = len(server.requests)
    assert doc_ids(pubmed(*wanted)) == wanted
    (posted,) = [request for request in server.requests[before:] if "id" in request.parameters]
    assert posted.parameters["id"] == ",".join(wanted[BATCH : 2 * BATCH])


def test_f_04_reports_a_failed_batch_as_missing(pubmed, service):
    service.faults["efetch"] = [CUT] * 6
    out = pubmed(*range(1, BATCH + 2), incomplete=True)
    assert doc_ids(out) == [str(BATCH + 1)]
    assert len(missing(out)) == BATCH
    assert missing(out)["1"].startswith("not fetched: ")


@pytest.mark.parametrize(
    ("asked", "found"), [((1, 900002), ["1"]), ((900002, 900003), []), ((900002, 1, 900003, 2), ["1", "2"])]
)
def test_f_05_lists_articles_that_pubmed_did_not_return(pubmed, server, asked, found):
    out = pubmed(*asked)
    assert doc_ids(out) == found
    assert missing(out) == {str(pmid): "not returned by PubMed" for pmid in asked if str(pmid) not in found}
    assert len(server.requests) == 4


COLUMNS = HEADER["CTD_chemicals_diseases"]
ROWS = "".join(f"zetin{n},D900001,,tremor,MESH:D900002,therapeutic,,,,{n}\n" for n in range(1, 400))
WHOLE = gzip.compress(f"# Fields:\n# {COLUMNS}\n#\n{ROWS}".encode())
NAME = "CTD_curated_chemicals_diseases.csv.gz"


@pytest.mark.parametrize("damaged", [WHOLE[:-12], WHOLE[:50], WHOLE[:-20] + b"\0" * 20], ids=["12", "most", "zeros"])
def test_f_06_fetches_a_damaged_file_again(server, clock, tmp_path, damaged):
    server.on("/CTD_genes.csv.gz", Reply(b"", 404))
    server.on(f"/{NAME}", served_file(WHOLE))
    given = {"url": server.url, "file": ["CTD_curated_chemicals_diseases", "CTD_genes"], "out": tmp_path / "ctd"}
    with pytest.raises(FetchError, match="404"):
        fetch_ctd.run(FetchCtd.model_validate(given))
    cached = tmp_path / "ctd.partial" / NAME
    assert cached.read_bytes() == WHOLE
    cached.write_bytes(damaged)
    given["file"] = given["file"][:1]
    out = fetch_ctd.run(FetchCtd.model_validate(given)).path
    assert (out / NAME).read_bytes() == WHOLE


@pytest.mark.parametrize("damaged", [WHOLE[:-12], WHOLE[:50]])
@pytest.mark.parametrize("command", ["fetch ctd", "build-dataset"])
def test_f_06_uses_no_row_of_a_damaged_file(capsys, write, tmp_path, command, damaged):
    folder = write("ctd/notes", "").parent
    (folder / NAME).write_bytes(damaged)
    types = f"# Fields:\n# {HEADER['CTD_chem_gene_ixn_types']}\nabundance,abu,,\n"
    (folder / "CTD_chem_gene_ixn_types.csv").write_text(types)
    if command == "fetch ctd":
        options = flags(**{"from": folder}, file="CTD_curated_chemicals_diseases")
    else:
        text = pubtator("1", "Zetin.", "Tremor.", [("Zetin", "Chemical", "D900001"), ("Tremor", "Disease", "D900002")])
        options = flags(documents=write("a.txt", text), ctd=folder, hypernyms="off")
    code, _, err = command_line(capsys, *command.split(), *options, *flags(out=tmp_path / "out"))
    assert code == 3
    assert f"{folder / NAME}: damaged gzip file" in err
    assert not (tmp_path / "out").exists()


DTD = '<!DOCTYPE {} SYSTEM "https://dtd.nlm.nih.gov/x.dtd" [<!ENTITY leak SYSTEM "file:///etc/passwd">]>'
FILES = {
    "pubmed": DTD.format("PubmedArticleSet") + f"<PubmedArticleSet>{article(900001)}</PubmedArticleSet>",
    "bioc": DTD.format("collection") + "<collection><document><id>900001</id><passage><offset>0</offset>"
    "<text>A title.</text></passage></document></collection>",
    "mesh": DTD.format("DescriptorRecordSet")
    + "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D900001</DescriptorUI><DescriptorName><String>A title."
    "</String></DescriptorName></DescriptorRecord></DescriptorRecordSet>",
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("entity", ["", "&leak;"])
def test_f_07_no_parser_opens_the_network_or_an_entity(write, monkeypatch, kind, entity):
    def blocked(*args, **options):
        raise AssertionError("a parser opens the network")

    monkeypatch.setattr(socket, "socket", blocked)
    monkeypatch.setattr(socket, "create_connection", blocked)
    path = write(f"{kind}.xml", FILES[kind].replace("A title.", f"A title.{entity}"))
    if kind == "pubmed":
        (found,) = read_pubmed(path, Counts())
        text = found.document.title
    elif kind == "bioc":
        (item,) = read_bioc(path, Counts())
        text = item.document.title
    else:
        text = read_mesh([path], Counts()).names["MESH:D900001"]
    assert text.startswith("A title.")
    assert "root:" not in text


@pytest.mark.parametrize("most", [1, 5, 13])
def test_f_08_max_limits_the_results_of_a_query(pubmed, service, most):
    service.hits = [str(number) for number in range(14, 0, -1)]
    more = Reply(article_set(*(article(number) for number in range(1, 15))))
    service.faults["efetch"] = [more, more]
    assert doc_ids(pubmed(query="tremor", max=most)) == service.hits[:most]


def test_f_08_max_limits_a_list_of_pmids(pubmed):
    assert doc_ids(pubmed(*range(9, 99), max=5)) == ["9", "10", "11", "12", "13"]
