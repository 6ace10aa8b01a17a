"""fetch: complete folders with a manifest, resumed work after a failure, and counts that balance."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest

from biorel.commands import fetch_corpus, fetch_ctd, fetch_mesh, fetch_pubmed, fetch_pubtator
from biorel.config.fetch_corpus import FetchCorpus
from biorel.config.fetch_ctd import FetchCtd
from biorel.config.fetch_mesh import FetchMesh
from biorel.config.fetch_pubmed import FetchPubmed
from biorel.config.fetch_pubtator import FetchPubtator
from biorel.counts import Counts, Reason
from biorel.errors import ConfigError, FetchError, InputError, OutputError
from biorel.fetch import bulk_files
from biorel.fetch.bulk_files import write_state
from biorel.fetch.eutils import BATCH
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.documents import read_documents
from biorel.formats.pubtator import read_pubtator
from biorel.records import Article, Document
from biorel.resources import resource
from biorel.tables import read_table
from tests.command_runs import command_line, flags, read_json
from tests.recorder import Recorder
from tests.servers import CAPTCHA, PAGE, Eutils, FakeClock, Reply, article, article_set, running, served_file

CUT = Reply(b"<PubmedArticleSet><PubmedArticle><MedlineCitation>")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NCBI_API_KEY", raising=False)
    with running() as server:
        yield server


@pytest.fixture
def fetch(tmp_path, monkeypatch):
    """Runs a fetch into `out`; `fetch.reports` has its progress, `fetch.clock` its pauses."""

    def _fetch(command, kind, **options):
        _fetch.clock, recorder = FakeClock(), Recorder()
        given = kind.model_validate({"out": tmp_path / "out", **options})
        monkeypatch.setattr(command, "CLOCK", _fetch.clock.clock)
        made = command.run(given, recorder)
        _fetch.reports = [*recorder.lines, *made.summary]
        return tmp_path / "out"

    return _fetch


@pytest.fixture
def pubmed(server, fetch, write):
    """Runs fetch pubmed for some PMIDs against a service with many articles."""
    articles = {str(number): article(number, f"Title {number}.") for number in range(1, 3 * BATCH)}
    service = Eutils(server, articles)

    def _pubmed(*pmids, **options):
        if pmids:
            options["pmids"] = [write("pmids.txt", "".join(f"{pmid}\n" for pmid in pmids))]
        return fetch(fetch_pubmed, FetchPubmed, url=service.url, **options)

    _pubmed.service, _pubmed.server = service, server
    return _pubmed


def doc_ids(out):
    return [document.doc_id for document in read_table(out / "documents.parquet", Document)]


def missing(out):
    return dict(line.split("\t") for line in (out / "missing.tsv").read_text().splitlines()[1:])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_documents_articles_and_a_manifest(pubmed):
    out = pubmed(3, 1, email="a@b.example")
    assert doc_ids(out) == ["3", "1"]
    assert list(read_table(out / "articles.parquet", Article)) == [
        Article("3", 2001, 1, "abstract"),
        Article("1", 2001, 1, "abstract"),
    ]
    assert names(out) == ["articles.parquet", "documents.parquet", "manifest.json", "missing.tsv", "pmids.txt"]
    manifest = read_json(out / "manifest.json")
    assert manifest["service"] == {"url": pubmed.service.url, "requests": 2}
    assert manifest["counts"][Reason.DOCUMENTS_WRITTEN] == 2
    assert {request.parameters["email"] for request in pubmed.server.requests} == {"a@b.example"}
    assert {request.parameters["tool"] for request in pubmed.server.requests} == {"biorel"}


def test_the_documents_can_be_read_like_any_other_file(pubmed, counts):
    (found,) = read_documents([pubmed(7) / "documents.parquet"], counts)
    assert found.document == Document("7", "Title 7.", "Some text.")


def test_F05_lists_missing_pmids_with_the_reason(pubmed):
    out = pubmed(900001, 1, "PMID: 2", "x12", 2, "", "# remark")
    assert doc_ids(out) == ["1", "2"]
    assert missing(out) == {"x12": "not a PMID", "900001": "not returned by PubMed"}
    counts = read_json(out / "manifest.json")["counts"]
    assert counts[Reason.PMIDS_REQUESTED] == 3 == counts[Reason.DOCUMENTS_WRITTEN] + 1
    assert counts[Reason.PMID_REPEATED] == 1
    again = pubmed(pmids=[out / "missing.tsv"], force=True)
    assert (doc_ids(again), list(missing(again))) == ([], ["x12", "900001"])


def test_F05_lists_a_document_without_any_text_as_missing(server, fetch, write):
    service = Eutils(server, {"1": article(1, "", "")})
    out = fetch(fetch_pubmed, FetchPubmed, url=service.url, pmids=[write("p", "1\n")])
    assert missing(out) == {"1": "neither title nor abstract"}


def test_F04_neighbour_other_pmids_do_not_resume_that_work(pubmed, tmp_path):
    pubmed.service.faults["efetch"] = [None, *[CUT] * 6]
    with pytest.raises(FetchError):
        pubmed(*range(1, BATCH + 2))
    assert doc_ids(pubmed(5, 6)) == ["5", "6"]


def test_F04_neighbour_stops_if_the_service_is_down(pubmed, tmp_path):
    pubmed.service.faults["epost"] = [Reply(PAGE)] * 999
    with pytest.raises(FetchError, match="3 batches in a row"):
        pubmed(*range(1, 200 * 20), incomplete=True)
    assert len(pubmed.server.requests) == 18
    assert not (tmp_path / "out").exists()


def test_a_resumed_fetch_does_not_search_again(pubmed):
    pubmed.service.hits, pubmed.service.unknown = ["4", "5"], ["xyzzy"]
    pubmed.service.faults["efetch"] = [CUT] * 6
    with pytest.raises(FetchError):
        pubmed(query="tremor xyzzy")
    searched = len(pubmed.server.to("/eutils/esearch.fcgi"))
    pubmed.service.hits = ["6"]
    out = pubmed(query="tremor xyzzy")
    assert doc_ids(out) == ["4", "5"]
    assert (out / "pmids.txt").read_text() == "4\n5\n"
    assert read_json(out / "manifest.json")["counts"][Reason.QUERY_WORDS_NOT_FOUND] == 1
    assert "searched.json" not in names(out)
    assert len(pubmed.server.to("/eutils/esearch.fcgi")) == searched


def test_a_query_without_hits_leaves_nothing(pubmed, tmp_path):
    with pytest.raises(InputError, match="no article of PubMed matches the query 'xyzzy'"):
        pubmed(query="xyzzy")
    assert not [name for name in names(tmp_path) if name.startswith("out")]


def test_fetches_the_articles_of_curated_rows(pubmed):
    out = pubmed(ctd=resource("sample", "ctd"), max=3)
    assert read_json(out / "manifest.json")["counts"][Reason.PMIDS_REQUESTED] == 3


def test_the_key_is_sent_and_appears_nowhere(pubmed, fetch, monkeypatch):
    monkeypatch.setenv("NCBI_API_KEY", "s3cret")
    pubmed.service.faults["epost"] = [Reply(b'{"error":"limit","api-key":"s3cret"}', 429)]
    out = pubmed(1)
    assert {request.parameters["api_key"] for request in pubmed.server.requests} == {"s3cret"}
    assert not [request.line for request in pubmed.server.requests if "s3cret" in request.line]
    files = [path.read_bytes() for path in out.rglob("*") if path.is_file()]
    assert not [content for content in files if b"s3cret" in content]
    assert "s3cret" not in " ".join(fetch.reports)


def test_an_existing_output_stays_and_no_request_is_sent(pubmed):
    pubmed(1)
    asked = len(pubmed.server.requests)
    with pytest.raises(OutputError, match="exists already"):
        pubmed(2)
    assert len(pubmed.server.requests) == asked


def baseline(write):
    write("base/pubmed24n0001.xml.gz", article_set(*(article(number, f"Old {number}.") for number in range(1, 6))))
    deleted = "<DeleteCitation><PMID>2</PMID><PMID>77</PMID></DeleteCitation>"
    return write("up/pubmed24n1300.xml.gz", article_set(article(3, "New.", version=2), deleted)).parent.parent


def test_selects_articles_of_baseline_files_by_pmid(write, fetch):
    folder, pmids = baseline(write), write("pmids.txt", "4\n2\n77\n88\n1\n")
    out = fetch(fetch_pubmed, FetchPubmed, baseline=[folder], pmids=[pmids], max=1)
    assert doc_ids(out) == ["1"]
    assert missing(out) == {"2": "deleted from PubMed", "77": "deleted from PubMed", "88": "not in these files"}


def test_resumes_after_a_broken_baseline_file(write, fetch, tmp_path):
    folder = baseline(write)
    broken = folder / "up" / "pubmed24n1300.xml.gz"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-12])
    with pytest.raises(InputError, match=r"pubmed24n1300.xml.gz: damaged gzip"):
        fetch(fetch_pubmed, FetchPubmed, baseline=[folder])
    assert not (tmp_path / "out").exists()
    broken.write_bytes(whole)
    assert len(doc_ids(fetch(fetch_pubmed, FetchPubmed, baseline=[folder]))) == 4


def bioc(request):
    passage = {"infons": {"type": "title"}, "offset": 0, "text": "Tremor.", "annotations": []}
    pmids = [pmid for pmid in request.parameters["pmids"].split(",") if int(pmid) < 900000]
    return Reply(json.dumps({"PubTator3": [{"id": pmid, "passages": [passage]} for pmid in pmids]}).encode())


def blocks(request):
    pmids = [pmid for pmid in request.parameters["pmids"].split(",") if int(pmid) < 900000]
    return Reply("\n".join(f"{pmid}|t|Tremor.\n{pmid}|a|\n" for pmid in pmids).encode())


@pytest.mark.parametrize(
    ("format_", "answer", "name", "read"),
    [
        ("biocjson", bioc, "documents.bioc.jsonl", read_bioc),
        ("pubtator", blocks, "documents.pubtator.txt", read_pubtator),
    ],
)
def test_fetches_pubtator_documents_in_batches_and_resumes(server, fetch, write, counts, format_, answer, name, read):
    pmids = [*map(str, range(1, 205)), "900001"]
    given = {"url": server.url, "pmids": [write("p.txt", "\n".join(pmids))], "format": format_}
    path = f"/publications/export/{format_}"
    server.on(path, answer, *[Reply(PAGE)] * 6, answer)
    with pytest.raises(FetchError, match="1 of 3 batches failed"):
        fetch(fetch_pubtator, FetchPubtator, **given)
    before = len(server.requests)
    out = fetch(fetch_pubtator, FetchPubtator, **given)
    assert len(server.requests) == before + 1
    assert names(out) == [name, "manifest.json", "missing.tsv", "pmids.txt"]
    assert [item.document.doc_id for item in read(out / name, counts)] == pmids[:-1]
    assert [item.document.doc_id for item in read_documents([out / name], Counts())] == pmids[:-1]
    assert missing(out) == {"900001": "not returned by PubTator"}
    assert read_json(out / "manifest.json")["counts"][Reason.DOCUMENTS_WRITTEN] == 204


def test_selects_documents_of_a_dump_and_reports_the_speed(fetch, write, counts):
    dump = write("dump.gz", "".join(f"{number}|t|T.\n{number}|a|A.\n\n" for number in range(1, 50)))
    out = fetch(fetch_pubtator, FetchPubtator, dump=dump, pmids=[write("p.txt", "7\n70\n3\n")])
    assert [item.document.doc_id for item in read_pubtator(out / "documents.pubtator.txt", counts)] == ["3", "7"]
    assert missing(out) == {"70": "not in the dump"}
    assert "MB/s" in " ".join(fetch.reports)


CTD = "# Report\n# Fields:\n# {}\n#\n{}\n"
FILES = {
    "CTD_chem_gene_ixns.csv.gz": "ChemicalID,GeneID,InteractionActions,PubMedIDs",
    "CTD_chem_gene_ixn_types.csv": "TypeName,Code,ParentCode",
    "CTD_curated_chemicals_diseases.csv.gz": "ChemicalID,DiseaseID,DirectEvidence,PubMedIDs",
    "CTD_curated_genes_diseases.csv.gz": "GeneID,DiseaseID,DirectEvidence,PubMedIDs",
    "CTD_chemicals.csv.gz": "ChemicalName,ChemicalID,Synonyms",
    "CTD_diseases.csv.gz": "DiseaseName,DiseaseID,AltDiseaseIDs,Synonyms",
    "CTD_genes.csv.gz": "GeneSymbol,GeneName,GeneID,AltGeneIDs,Synonyms",
}


def ctd_file(name):
    content = CTD.format(FILES[name], ",".join("1" for _ in FILES[name].split(","))).encode()
    return gzip.compress(content, mtime=0) if name.endswith(".gz") else content


@pytest.fixture
def ctd(server):
    for name in FILES:
        server.on(f"/{name}", served_file(ctd_file(name)))
    return server


def test_fetches_all_of_ctd_with_a_manifest(ctd, fetch):
    out = fetch(fetch_ctd, FetchCtd, url=ctd.url)
    assert names(out) == sorted([*FILES, "manifest.json"])
    entries = read_json(out / "manifest.json")["files"]
    assert {entry["name"] for entry in entries} == set(FILES)
    assert all(len(entry["sha256"]) == 64 and entry["origin"].startswith(ctd.url) for entry in entries)
    assert f"--ctd {out}" in fetch.reports[-1]


@pytest.mark.parametrize("page", [CAPTCHA, PAGE])
def test_reports_a_page_instead_of_ctd_with_instructions(ctd, fetch, tmp_path, page):
    ctd.on("/CTD_chem_gene_ixn_types.csv", Reply(page))
    with pytest.raises(FetchError, match=r"CTD_chem_gene_ixn_types.csv.* instead of data") as error:
        fetch(fetch_ctd, FetchCtd, url=ctd.url)
    for words in ("https://ctdbase.org/downloads/", "--from FOLDER", "build-dataset --ctd FOLDER"):
        assert words in error.value.hint
    assert not (tmp_path / "out").exists()
    assert "CTD_chem_gene_ixn_types.csv" not in names(tmp_path / "out.partial")
    ctd.on("/CTD_chem_gene_ixn_types.csv", served_file(ctd_file("CTD_chem_gene_ixn_types.csv")))
    fetch(fetch_ctd, FetchCtd, url=ctd.url)
    assert len(ctd.to("/CTD_chem_gene_ixns.csv.gz")) == 1


@pytest.mark.parametrize("noted", [0, 3])
def test_a_killed_fetch_of_ctd_ends_in_the_same_manifest(ctd, fetch, monkeypatch, noted):
    class KilledError(BaseException):
        pass

    def killed(folder, done):
        if len(done) > noted:
            raise KilledError
        write_state(folder, done)

    with monkeypatch.context() as patch:
        # killed after a file is in place and before it is listed
        patch.setattr(bulk_files, "write_state", killed)
        with pytest.raises(KilledError):
            fetch(fetch_ctd, FetchCtd, url=ctd.url)
    resumed = read_json(fetch(fetch_ctd, FetchCtd, url=ctd.url) / "manifest.json")
    assert [len(ctd.to(f"/{name}")) for name in FILES] == [1 + (number == noted) for number in range(len(FILES))]
    undisturbed = read_json(fetch(fetch_ctd, FetchCtd, url=ctd.url, force=True) / "manifest.json")
    assert resumed["counts"] == undisturbed["counts"] == {Reason.FILES_FETCHED: len(FILES)}
    for manifest in (resumed, undisturbed):
        for holder in (manifest, *manifest["files"]):
            for time in {"began", "seconds", "date"} & set(holder):
                del holder[time]
        del manifest["config"]["force"]
    assert resumed == undisturbed


def test_a_folder_does_not_take_over_files_of_another_failed_command(ctd, fetch, write, pubmed):
    ctd.on("/CTD_genes.csv.gz", served_file(ctd_file("CTD_genes.csv.gz"), cut=9))
    with pytest.raises(FetchError):
        fetch(fetch_ctd, FetchCtd, url=ctd.url)
    out = fetch(fetch_ctd, FetchCtd, url=ctd.url, file=["CTD_diseases"])
    assert names(out) == ["CTD_diseases.csv.gz", "manifest.json"]
    ctd.on("/CTD_genes.csv.gz", served_file(ctd_file("CTD_genes.csv.gz"), cut=9))
    with pytest.raises(FetchError):
        fetch(fetch_ctd, FetchCtd, url=ctd.url, force=True)
    local = write("local/CTD_genes.csv.gz", gzip.decompress(ctd_file("CTD_genes.csv.gz"))).parent
    assert names(fetch(fetch_ctd, FetchCtd, force=True, **{"from": local})) == ["CTD_genes.csv.gz", "manifest.json"]
    pubmed.service.hits = ["4"]
    pubmed.service.faults["efetch"] = [CUT] * 6
    with pytest.raises(FetchError):
        pubmed(query="tremor", force=True)
    out = fetch(fetch_pubmed, FetchPubmed, baseline=[baseline(write)], force=True)
    assert "pmids.txt" not in names(out)


def test_selects_ctd_files_by_name_and_checks_their_columns(ctd, fetch, tmp_path):
    assert names(fetch(fetch_ctd, FetchCtd, url=ctd.url, file=["CTD_genes"])) == ["CTD_genes.csv.gz", "manifest.json"]
    with pytest.raises(ConfigError, match="--file CTD_pathways: not a file"):
        fetch(fetch_ctd, FetchCtd, url=ctd.url, file=["CTD_pathways"], force=True)
    ctd.on("/CTD_genes.csv.gz", served_file(ctd_file("CTD_diseases.csv.gz")))
    with pytest.raises(InputError, match="no line with the column names GeneSymbol, GeneID, Synonyms"):
        fetch(fetch_ctd, FetchCtd, url=ctd.url, file=["CTD_genes"], force=True)


@pytest.mark.parametrize(
    ("columns", "accepted"),
    [("Synonyms", True), ("MESHSynonyms,CTDCuratedSynonyms", True), ("MESHSynonyms", False), ("Definition", False)],
)
def test_accepts_both_forms_of_synonyms_in_ctd_chemicals(ctd, fetch, columns, accepted):
    content = CTD.format(f"ChemicalName,ChemicalID,{columns}", ",".join("1" * (3 + columns.count(",")))).encode()
    ctd.on("/CTD_chemicals.csv.gz", served_file(gzip.compress(content, mtime=0)))
    if accepted:
        assert "CTD_chemicals.csv.gz" in names(fetch(fetch_ctd, FetchCtd, url=ctd.url, file=["CTD_chemicals"]))
    else:
        with pytest.raises(InputError, match="no line with the column names"):
            fetch(fetch_ctd, FetchCtd, url=ctd.url, file=["CTD_chemicals"])


def test_verifies_and_copies_local_files_of_ctd(write, fetch, tmp_path):
    for name in FILES:
        write(f"local/{name.removesuffix('.gz')}", gzip.decompress(ctd_file(name)) if ".gz" in name else ctd_file(name))
    local = write("local/notes.txt", "mine").parent
    out = fetch(fetch_ctd, FetchCtd, **{"from": local})
    assert names(out) == sorted([*(name.removesuffix(".gz") for name in FILES), "manifest.json"])
    write("local/CTD_genes.csv", CAPTCHA)
    with pytest.raises(InputError, match=r"CTD_genes.csv: a web page"):
        fetch(fetch_ctd, FetchCtd, **{"from": local}, force=True)
    (local / "CTD_genes.csv").unlink()
    (local / "CTD_genes.csv.gz").write_bytes(ctd_file("CTD_genes.csv.gz")[:-12])
    with pytest.raises(InputError, match=r"local/CTD_genes.csv.gz: damaged gzip"):
        fetch(fetch_ctd, FetchCtd, **{"from": local}, force=True)


DESCRIPTORS = (
    '<DescriptorRecordSet LanguageCode="eng"><DescriptorRecord><DescriptorUI>D000001</DescriptorUI><DescriptorName>'
    "<String>A</String></DescriptorName></DescriptorRecord></DescriptorRecordSet>"
)
SUPPLEMENT = (
    "<SupplementalRecordSet><SupplementalRecord><SupplementalRecordUI>C000001</SupplementalRecordUI>"
    "<SupplementalRecordName><String>B</String></SupplementalRecordName></SupplementalRecord></SupplementalRecordSet>"
)


def test_fetches_mesh_of_a_year_and_suggests_the_address_of_older_years(server, fetch):
    server.on("/xmlmesh/desc2024.gz", served_file(gzip.compress(DESCRIPTORS.encode())))
    server.on("/xmlmesh/supp2024.gz", served_file(gzip.compress(SUPPLEMENT.encode())))
    server.on("/meshtrees/mtrees2024.bin", served_file(b"Body Regions;A01\n"))
    out = fetch(fetch_mesh, FetchMesh, url=server.url, year=2024)
    assert names(out) == ["desc2024.xml.gz", "manifest.json", "mtrees2024.bin", "supp2024.xml.gz"]
    with pytest.raises(FetchError, match="404") as error:
        fetch(fetch_mesh, FetchMesh, url=f"{server.url}/MESH_FILES", year=2019, force=True)
    assert error.value.hint.endswith(f"--url {server.url}/2019")


@pytest.mark.parametrize("cut", [DESCRIPTORS[:-30], "<html><body>captcha</body></html>", SUPPLEMENT[:23] + "/>"])
def test_reads_a_local_copy_of_mesh_completely(write, fetch, cut):
    path = write("local/desc2024.xml", DESCRIPTORS)
    assert "desc2024.xml" in names(fetch(fetch_mesh, FetchMesh, **{"from": path.parent}))
    write("local/desc2024.xml", cut)
    with pytest.raises(InputError):
        fetch(fetch_mesh, FetchMesh, **{"from": path}, force=True)


def archive(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        for name, content in members.items():
            out.writestr(name.replace("__", "/"), content)
    return stream.getvalue()


def test_fetches_unpacks_and_cites_a_corpus(server, fetch):
    server.on("/BIORED.zip", served_file(archive(BioRED__Train="1|t|T\n")))
    out = fetch(fetch_corpus, FetchCorpus, name="biored", url=server.url)
    assert names(out) == ["BioRED", "manifest.json"]
    assert (out / "BioRED" / "Train").read_text() == "1|t|T\n"
    manifest = read_json(out / "manifest.json")
    assert manifest["corpus"]["citation"].startswith("Luo L")
    assert manifest["files"][0]["name"] == "BIORED.zip"
    assert any(f"use it with: biorel build-dataset --train {out}/BioRED" in line for line in fetch.reports)


def test_resumes_a_fetch_of_a_corpus_that_was_killed_after_unpacking(server, fetch, monkeypatch):
    class KilledError(BaseException):
        pass

    def killed(archive):
        unpack(archive)
        raise KilledError

    server.on("/BIORED.zip", served_file(archive(BioRED__Train="1|t|T\n")))
    unpack = fetch_corpus._unpack
    with monkeypatch.context() as patch:
        patch.setattr(fetch_corpus, "_unpack", killed)
        with pytest.raises(KilledError):
            fetch(fetch_corpus, FetchCorpus, name="biored", url=server.url)
    out = fetch(fetch_corpus, FetchCorpus, name="biored", url=server.url)
    assert names(out) == ["BioRED", "manifest.json"]
    assert read_json(out / "manifest.json")["counts"] == {Reason.FILES_FETCHED: 1, Reason.FILES_UNPACKED: 1}


def test_an_unsafe_or_damaged_corpus_archive_leaves_nothing(server, fetch, tmp_path):
    server.on("/BIORED.zip", served_file(archive(**{"..__outside": "1"})))
    with pytest.raises(InputError, match="leads outside"):
        fetch(fetch_corpus, FetchCorpus, name="biored", url=server.url)
    server.on("/BIORED.zip", served_file(archive(a="1")[:-9], etag='"v2"'))
    with pytest.raises(InputError, match="damaged or not a zip archive"):
        fetch(fetch_corpus, FetchCorpus, name="biored", url=server.url)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "outside").exists()
    server.on("/BIORED.zip", served_file(archive(a="1"), etag='"v3"'))
    assert "a" in names(fetch(fetch_corpus, FetchCorpus, name="biored", url=server.url))


def test_unpacks_a_local_archive(write, fetch):
    path = write("BIORED.zip", archive(a="1"))
    assert "a" in names(fetch(fetch_corpus, FetchCorpus, name="biored", **{"from": path}))
    assert path.exists()


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({}, "give one of --pmids, --query, --ctd and --baseline"),
        ({"query": "a", "ctd": "b"}, "give one of"),
        ({"query": "a", "baseline": "b"}, "--query asks the service"),
        ({"query": "a", "email": "nobody"}, "--email"),
        ({"query": "a", "max": 0}, "--max"),
    ],
)
def test_rejects_wrong_options(capsys, tmp_path, options, fault):
    code, _, stderr = command_line(capsys, "fetch", "pubmed", *flags(**options, out=tmp_path / "out"))
    assert code == 2
    assert fault in stderr


def test_the_command_line_reports_a_failure_with_its_exit_code(capsys, server, tmp_path, write):
    server.on("/eutils/esearch.fcgi", Reply(b'{"esearchresult":{"ERROR":"bad\nquery"}}'))
    given = flags(query="x", url=f"{server.url}/eutils", out=tmp_path / "out")
    code, _, stderr = command_line(capsys, "fetch", "pubmed", *given)
    assert code == 6
    assert "error: PubMed refuses the query 'x': bad query" in stderr
    assert "Traceback" not in stderr


def test_takes_the_address_from_the_environment(capsys, server, tmp_path, write, monkeypatch):
    Eutils(server, {"1": article(1)})
    monkeypatch.setenv("BIOREL_EUTILS_URL", f"{server.url}/eutils")
    given = flags(pmids=write("p.txt", "1\n"), out=tmp_path / "out")
    code, stdout, _ = command_line(capsys, "fetch", "pubmed", *given)
    assert code == 0
    assert stdout.splitlines() == ["1 documents, 0 PMIDs missing (see missing.tsv)", f"documents: {tmp_path / 'out'}"]


def test_help_shows_examples(capsys):
    code, stdout, _ = command_line(capsys, "fetch", "--help")
    assert code == 0
    for name in ("pubmed", "ctd", "mesh", "pubtator", "corpus"):
        assert f"biorel fetch {name} " in stdout
