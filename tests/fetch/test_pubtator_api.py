"""PubTator3's export, and selected documents of its dump."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc

import pytest

from biorel.counts import Reason
from biorel.errors import FetchError, InputError
from biorel.fetch.pubtator_api import export
from biorel.fetch.pubtator_dump import filter_dump
from biorel.formats.pubtator import read_pubtator
from tests.servers import CAPTCHA, PAGE, Reply, client_of, running

PATH = "/publications/export"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running() as server:
        yield server


def bioc(pmid):
    passages = [{"infons": {"type": "title"}, "offset": 0, "text": "Tïtle\u2028", "annotations": []}]
    return {"_id": f"{pmid}|None", "id": str(pmid), "pmid": pmid, "passages": passages}


def answer(*pmids):
    return Reply(json.dumps({"PubTator3": [bioc(pmid) for pmid in pmids]}).encode())


def block(pmid, text="Text."):
    return f"{pmid}|t|Title.\n{pmid}|a|{text}\n{pmid}\t0\t5\tTitle\tDisease\tD1\n"


def test_returns_documents_as_lines_in_the_given_order(server):
    server.on(f"{PATH}/biocjson", answer(2, 1))
    found = export(client_of(server.url), ["1", "2"], "biocjson")
    assert [json.loads(line)["pmid"] for (line,) in found.values()] == [1, 2]
    assert list(found) == ["1", "2"]
    assert server.requests[0].parameters == {"pmids": "1,2"}


def test_returns_the_lines_of_blocks(server):
    server.on(f"{PATH}/pubtator", Reply(f"{block(1)}\n{block(2, 'a | b')}\n\n".encode()))
    assert export(client_of(server.url), ["2"], "pubtator") == {
        "2": ["2|t|Title.", "2|a|a | b", "2\t0\t5\tTitle\tDisease\tD1"]
    }


@pytest.mark.parametrize(
    ("format_", "replies", "pmids"),
    [
        ("biocjson", [answer(1), answer()], ["1"]),
        ("biocjson", [answer(1), answer(2)], ["1", "2"]),
        ("biocjson", [answer(), answer()], []),
        ("biocjson", [Reply(b""), Reply(b"")], []),
        ("biocjson", [answer(1, 2, 3, 2)], ["1", "2"]),
        ("biocjson", [Reply(b"\n".join(json.dumps(bioc(pmid)).encode() for pmid in (1, 2)))], ["1", "2"]),
        ("biocjson", [Reply(json.dumps([bioc(1), bioc(2)]).encode())], ["1", "2"]),
        ("pubtator", [Reply(block(1).encode()), Reply(b"")], ["1"]),
        ("pubtator", [Reply((block(1) + block(9) + block(2)).encode())], ["1", "2"]),
        (
            "pubtator",
            [Reply(f"{block(1)}\n{block(1, 'again')}\n{block(2)}".replace("\n", "\r\n").encode())],
            ["1", "2"],
        ),
    ],
)
def test_F05_requests_missing_documents_a_second_time(server, format_, replies, pmids):
    server.on(f"{PATH}/{format_}", *replies)
    assert list(export(client_of(server.url), ["1", "2"], format_)) == pmids
    assert len(server.requests) == (1 if len(replies) == 1 else 2)


@pytest.mark.parametrize("format_", ["biocjson", "pubtator"])
@pytest.mark.parametrize(
    "fault",
    [Reply(PAGE), Reply(b"", 429), Reply(b"", 502), Reply(b"[{", 200), Reply(b"x" * 99, cut=9), Reply(b"\xff|t|")],
)
def test_F04_retries_after_a_faulty_answer(server, format_, fault):
    good = answer(1) if format_ == "biocjson" else Reply(block(1).encode())
    server.on(f"{PATH}/{format_}", fault, good)
    assert list(export(client_of(server.url), ["1"], format_)) == ["1"]


@pytest.mark.parametrize("body", [b'{"detail":"Could not retrieve publications"}', CAPTCHA, b'{"PubTator3":"none"}'])
def test_rejects_an_answer_without_documents(server, body):
    server.on(f"{PATH}/biocjson", Reply(body))
    with pytest.raises(FetchError, match=r"instead of d"):
        export(client_of(server.url), ["1"], "biocjson")
    assert len(server.requests) == 1


def filter_text(path, wanted, counts):
    out = io.BytesIO()
    done = filter_dump(path, wanted, out, counts)
    return done, out.getvalue().decode()


DUMP = "\n".join(block(pmid) for pmid in range(1, 10)) + "\n"


@pytest.mark.parametrize("name", ["dump.txt", "dump.gz"])
def test_keeps_only_the_selected_documents_unchanged(write, counts, name):
    done, text = filter_text(write(name, DUMP), ["7", "3", "99"], counts)
    assert text == f"{block(3)}\n{block(7)}\n"
    assert (done.bytes_read, done.documents, done.kept, done.missing) == (len(DUMP), 9, 2, ["99"])
    assert counts[Reason.DUMP_DOCUMENTS_READ] == 9


@pytest.mark.parametrize(
    ("dump", "kept"),
    [
        (block(3) + block(4) + block(5), f"{block(4)}\n"),
        (f"{block(4)}\n{block(5)}\n{block(4, 'again')}\n", f"{block(4)}\n"),
        (block(4).rstrip("\n"), f"{block(4)}\n"),
        (f"\n\n{block(4)}".replace("\n", "\r\n"), f"{block(4)}\n"),
        (block(4, "x|t|y 5|t|z") + block(44), f"{block(4, 'x|t|y 5|t|z')}\n"),
        (block(4, "a\0b"), f"{block(4, 'a b')}\n"),
        (block(14) + block(40), ""),
    ],
)
def test_keeps_each_block_once_even_without_blank_lines(write, counts, dump, kept):
    assert filter_text(write("dump", dump), ["4"], counts)[1] == kept


def test_counts_nul_bytes_and_repeated_documents(write, counts):
    filter_text(write("dump", block(4, "a\0b") + block(4)), ["4"], counts)
    assert (counts[Reason.NUL_REPLACED], counts[Reason.DOCUMENT_REPEATED]) == (1, 1)


def test_F06_rejects_a_truncated_dump(write, counts):
    path = write("dump", gzip.compress(DUMP.encode())[:-12])
    with pytest.raises(InputError, match="damaged gzip"):
        filter_text(path, ["4"], counts)


@pytest.mark.parametrize("content", [PAGE, b"", b"1\tGene\t5\tx\tMeSH\n", b"{}"])
def test_rejects_a_file_that_is_not_a_dump(write, counts, content):
    with pytest.raises(InputError, match=r"a web page|not PubTator text"):
        filter_text(write("dump", content), ["4"], counts)


def test_keeps_all_of_the_real_sample(shared_data, tmp_path, counts):
    sample = shared_data / "pubtator" / "bioconcepts2pubtator_offsets.sample.gz"
    every = list(read_pubtator(sample, counts))
    wanted = [item.document.doc_id for item in every]
    with (tmp_path / "out.txt").open("wb") as out:
        done = filter_dump(sample, wanted, out, counts)
    assert done.missing == []
    by_id = {item.document.doc_id: item for item in reversed(every)}
    assert {item.document.doc_id: item for item in read_pubtator(tmp_path / "out.txt", counts)} == by_id


def test_memory_does_not_grow_with_the_dump(tmp_path, counts):
    peaks = []
    for times in (1, 8):
        path = tmp_path / "dump"
        with path.open("w") as out:
            for number in range(times):
                out.writelines(block(pmid, "word " * 200) for pmid in range(number * 2000 + 1, number * 2000 + 2001))
        tracemalloc.start()
        with (tmp_path / "out").open("wb") as out:
            filter_dump(path, ["5"], out, counts)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 50_000
