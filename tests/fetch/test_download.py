"""Downloads and local copies: verified, moved into place when complete, and resumed after an interruption."""

from __future__ import annotations

import gzip

import pytest

from biorel.counts import Reason
from biorel.errors import FetchError, InputError
from biorel.fetch.bulk_files import STATE, BulkFile, copy_files, fetch_files
from biorel.fetch.download import copy, download, sha256_of
from tests.servers import CAPTCHA, PAGE, Reply, client_of, running, served_file

TABLE = gzip.compress(b"# Fields:\n# A,B\n" + b"".join(b"%d,name\n" % number for number in range(5000)))


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running() as server:
        yield server


def fetch(server, tmp_path, *answers, name="t.csv.gz", clock=None, sha256=""):
    server.on(f"/{name}", *answers)
    return download(client_of(server.url, clock), f"{server.url}/{name}", tmp_path / name, sha256=sha256)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_download_is_complete_and_described_for_the_manifest(server, tmp_path):
    entry = fetch(server, tmp_path, served_file(TABLE))
    assert (tmp_path / "t.csv.gz").read_bytes() == TABLE
    assert (entry.bytes, entry.sha256) == (len(TABLE), sha256_of(tmp_path / "t.csv.gz"))
    assert entry.origin == f"{server.url}/t.csv.gz"
    assert entry.last_modified.startswith("Mon, 01 Jan 2024")
    assert names(tmp_path) == ["t.csv.gz"]


def test_a_gzip_file_stays_compressed_despite_a_content_encoding(server, tmp_path):
    fetch(server, tmp_path, Reply(TABLE, headers={"Content-Encoding": "gzip"}))
    assert (tmp_path / "t.csv.gz").read_bytes() == TABLE


def test_resumes_a_broken_download(server, tmp_path):
    fetch(server, tmp_path, served_file(TABLE, cut=9000), served_file(TABLE))
    assert (tmp_path / "t.csv.gz").read_bytes() == TABLE
    assert server.requests[1].headers["range"] == "bytes=9000-"
    assert server.requests[1].headers["if-range"] == '"v1"'


def test_the_next_run_resumes_a_killed_download(server, tmp_path):
    with pytest.raises(FetchError, match=r"cut short|expected"):
        fetch(server, tmp_path, served_file(TABLE, cut=9000), served_file(TABLE, cut=0))
    assert names(tmp_path) == ["t.csv.gz.part", "t.csv.gz.part.json"]
    fetch(server, tmp_path, served_file(TABLE))
    assert server.requests[-1].headers["range"] == "bytes=9000-"
    assert (tmp_path / "t.csv.gz").read_bytes() == TABLE


def test_does_not_resume_a_part_of_another_edition(server, tmp_path):
    fresh = gzip.compress(b"another edition " * 999)
    fetch(server, tmp_path, served_file(TABLE, cut=9000), served_file(fresh, etag='"v2"'))
    assert (tmp_path / "t.csv.gz").read_bytes() == fresh


@pytest.mark.parametrize(
    "second",
    [
        Reply(TABLE[9000:], 206, {"ETag": '"v2"', "Content-Range": f"bytes 9000-{len(TABLE) - 1}/{len(TABLE)}"}),
        Reply(TABLE, 206, {"ETag": '"v1"', "Content-Range": f"bytes 0-{len(TABLE) - 1}/{len(TABLE)}"}),
        Reply(TABLE[9000:], 206, {"ETag": '"v1"', "Content-Range": "bytes 9000-9999/10000"}),
        Reply(TABLE[9000:], 206, {"ETag": '"v1"'}),
        Reply(b"", 416),
    ],
)
def test_starts_again_after_a_wrong_range(server, tmp_path, second):
    fetch(server, tmp_path, served_file(TABLE, cut=9000), second, served_file(TABLE))
    assert (tmp_path / "t.csv.gz").read_bytes() == TABLE
    assert "range" not in server.requests[2].headers


def test_starts_again_if_the_server_supports_no_ranges(server, tmp_path):
    fetch(server, tmp_path, Reply(TABLE, cut=9000), Reply(TABLE))
    assert "range" not in server.requests[1].headers
    fetch(server, tmp_path, served_file(TABLE, ranges=False, cut=9000), served_file(TABLE, ranges=False), name="u.gz")
    assert (tmp_path / "u.gz").read_bytes() == TABLE


def test_only_verifies_a_complete_part(server, tmp_path):
    with pytest.raises(FetchError):
        fetch(server, tmp_path, served_file(TABLE, cut=9000), served_file(TABLE, cut=0))
    before = len(server.requests)
    (tmp_path / "t.csv.gz.part").write_bytes(TABLE)
    fetch(server, tmp_path, served_file(TABLE))
    assert len(server.requests) == before


@pytest.mark.parametrize("bad", [TABLE[:-12], TABLE[:-40] + b"\0" * 40, b"A,B\n1,2\n", b""])
def test_F06_never_moves_a_damaged_download_into_place(server, tmp_path, bad):
    with pytest.raises(FetchError, match=r"gzip|empty"):
        fetch(server, tmp_path, served_file(bad))
    assert not (tmp_path / "t.csv.gz").exists()
    fetch(server, tmp_path, served_file(bad), served_file(TABLE))
    assert (tmp_path / "t.csv.gz").read_bytes() == TABLE


def test_F06_fetches_a_damaged_file_again(server, tmp_path, counts):
    server.on("/t.csv.gz", served_file(TABLE))
    files = [BulkFile("t.csv.gz", (f"{server.url}/t.csv.gz",))]
    client = client_of(server.url)
    fetch_files(files, tmp_path, client, counts)
    assert fetch_files(files, tmp_path, client, counts)[0].bytes == len(TABLE)
    assert len(server.requests) == 1
    (tmp_path / "t.csv.gz").write_bytes(TABLE[:-12])
    fetch_files(files, tmp_path, client, counts)
    assert (tmp_path / "t.csv.gz").read_bytes() == TABLE
    assert counts[Reason.FILE_DAMAGED] == 1
    (tmp_path / STATE).unlink()
    fetch_files(files, tmp_path, client, counts)
    assert len(server.requests) == 3


def test_F06_reports_the_path_of_a_damaged_local_copy(tmp_path, write):
    bad = tmp_path / "bad" / "t.csv.gz"
    bad.parent.mkdir()
    bad.write_bytes(TABLE[:-12])
    with pytest.raises(InputError, match=r"bad/t.csv.gz: damaged gzip"):
        copy(bad, tmp_path / "t.csv.gz")
    assert names(tmp_path) == ["bad"]


def test_a_web_page_instead_of_a_file_leaves_nothing(server, tmp_path):
    with pytest.raises(FetchError, match="check for robots"):
        fetch(server, tmp_path, Reply(CAPTCHA))
    with pytest.raises(FetchError, match="web page"):
        fetch(server, tmp_path, Reply(PAGE), name="t.csv")
    assert not [name for name in names(tmp_path) if not name.endswith((".part", ".json"))]


def test_rejects_a_wrong_digest(server, tmp_path):
    with pytest.raises(FetchError, match=r"SHA-256 is .*, expected 0"):
        fetch(server, tmp_path, served_file(TABLE), sha256="0" * 64)
    assert len(server.requests) == 1
    assert "t.csv.gz" not in names(tmp_path)


def test_tries_the_next_address(server, tmp_path, counts):
    server.on("/b/t.gz", served_file(TABLE))
    file = BulkFile("t.gz", (f"{server.url}/a/t.gz", f"{server.url}/b/t.gz"))
    assert fetch_files([file], tmp_path, client_of(server.url), counts)[0].origin.endswith("/b/t.gz")


def test_finds_local_copies_by_any_of_their_names(tmp_path, write, counts):
    source = write("in/t.tsv", "a\tb\n")
    out = tmp_path / "out"
    out.mkdir()
    files = [BulkFile("t.csv.gz", (), local_names=("t.csv.gz", "t.tsv")), BulkFile("u.csv", ())]
    assert [entry.name for entry in copy_files(files, out, source.parent, counts)] == ["t.tsv"]
    assert counts[Reason.FILE_NOT_IN_FROM] == 1
    with pytest.raises(InputError, match=r"contains none of the files u\.csv"):
        copy_files(files[1:], out, source.parent, counts)
