"""Requests go only to configured hosts, and an API key is never printed or saved."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from biorel.errors import ConfigError
from biorel.fetch.corpora import corpus_service, read_corpora
from biorel.fetch.services import host_of, read_service
from biorel.resources import resource
from tests.command_runs import biorel
from tests.servers import Eutils, Reply, article, running

PACKAGE = Path(__file__).parents[2] / "biorel"
NETWORK = {"requests", "urllib3", "urllib.request", "http.client", "socket", "httpx", "aiohttp", "ftplib", "smtplib"}
KEY = "s3cret-of-ncbi"


def test_only_one_module_opens_connections():
    """`http.py` sends the requests; another module may import a network library only for its exceptions."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        if set(names) & NETWORK or {name.split(".")[0] for name in names} & NETWORK:
            called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            found[path.name] = sorted(name for name in called if name.split(".")[0] in NETWORK)
    assert found == {"http.py": ["requests.Session"], "download.py": []}


def test_every_address_is_https_and_allows_only_its_host():
    services = tomllib.loads(resource("services.toml").read_text(encoding="utf-8"))
    for name, entry in services.items():
        service = read_service(resource("services.toml"), name, environ={})
        assert service.url.startswith("https://")
        assert service.hosts == {host_of(entry["url"])}
    for corpus in read_corpora(resource("corpora.toml")).values():
        urls = [url for file in corpus.files for url in file.urls]
        assert all(url.startswith("https://") for url in urls)
        assert corpus_service(corpus).hosts == set(map(host_of, urls))


@pytest.mark.parametrize(
    "address", ["ftp://u:secret@host/", "https://u:secret@host/", "http://u:secret@host/", "https://u:1@secret:x/"]
)
def test_a_password_in_an_address_is_not_repeated(address):
    with pytest.raises(ConfigError) as error:
        host_of(address)
    assert "secret" not in error.value.message + error.value.hint


@pytest.mark.parametrize("fails", [False, True])
def test_the_key_appears_in_no_output_and_no_file(fails, tmp_path):
    """The service repeats the key in its errors, and --debug prints them."""
    (tmp_path / "pmids.txt").write_text("1\n2\n", encoding="utf-8")
    with running() as server:
        service = Eutils(server, {"1": article(1), "2": article(2)})
        refusal = Reply(f'{{"error":"bad","api-key":"{KEY}"}}'.encode(), 403 if fails else 429)
        service.faults["epost"] = [refusal]
        done = biorel(
            "--debug",
            *("fetch", "pubmed", "--pmids", tmp_path / "pmids.txt", "--url", service.url, "--out", tmp_path / "out"),
            NCBI_API_KEY=KEY,
            NO_PROXY="127.0.0.1",
        )
        sent = {request.parameters.get("api_key") for request in server.requests}
        lines = [request.line for request in server.requests]
    assert sent == {KEY}
    assert done.returncode == (6 if fails else 0), done.stderr
    assert "bad" in done.stderr
    files = [path.read_text(encoding="utf-8", errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 2
    assert not [text for text in (done.stdout, done.stderr, *lines, *files) if KEY in text]
