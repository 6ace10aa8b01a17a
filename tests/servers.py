"""A local web server that answers like the real services, including their faults, and a clock that does not wait."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from biorel.fetch.http import Client, Clock
from biorel.fetch.services import Service, host_of

TIMEOUT = 5  # seconds, for a connection and for the end of the server
PAGE = b"<!DOCTYPE html>\n<html><head><title>Server busy</title></head><body>Please try again.</body></html>"
CAPTCHA = b"<html><head><title>CTD</title></head><body><altcha-widget>Are you a robot?</altcha-widget></body></html>"


@dataclass(frozen=True)
class Request:
    """A received request; the parameters are those of the address and of the body."""

    method: str
    path: str
    parameters: Mapping[str, str]
    headers: Mapping[str, str]
    line: str


@dataclass(frozen=True)
class Reply:
    """A reply; `cut` ends the body after this many bytes, `reset` breaks the connection instead of answering."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    reset: bool = False


Answer = Reply | Callable[[Request], Reply]


class Server:
    """Answers by path. Each path has a list of answers; the last one is repeated.

    Attributes:
        url: the base address.
        requests: all received requests.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.requests: list[Request] = []
        self._answers: dict[str, list[Answer]] = {}
        self._lock = threading.Lock()

    def on(self, path: str, *answers: Answer) -> None:
        self._answers[path] = list(answers)

    def to(self, path: str) -> list[Request]:
        """The requests of a path."""
        return [request for request in self.requests if request.path == path]

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            answers = self._answers.get(request.path, [Reply(b"no such path", 404)])
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            return answer if isinstance(answer, Reply) else answer(request)


@contextmanager
def running() -> Iterator[Server]:
    """A server that runs during the block."""
    holder: dict[str, Server] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = TIMEOUT
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._serve({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self._serve(dict(parse_qsl(body.decode(), keep_blank_values=True)))

        def _serve(self, form: dict[str, str]) -> None:
            parts = urlsplit(self.path)
            parameters = dict(parse_qsl(parts.query, keep_blank_values=True)) | form
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = holder["server"].answer(Request(self.command, parts.path, parameters, headers, self.path))
            if reply.reset:
                # closing with this option sends RST instead of FIN
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            self.send_response(reply.status)
            for name, value in ({"Content-Length": str(len(reply.body))} | dict(reply.headers)).items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body[: reply.cut])
            if reply.cut is not None or "Content-Length" in reply.headers:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True

        def finish(self) -> None:
            try:
                super().finish()
            except (OSError, ValueError):
                self.close_connection = True

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        holder["server"] = Server(http.server_address[1])
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield holder["server"]
        finally:
            http.shutdown()
            thread.join(TIMEOUT)


class FakeClock:
    """A clock whose pauses take no time; `pauses` lists them in seconds."""

    def __init__(self) -> None:
        self.time = 0.0
        self.pauses: list[float] = []

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.time, self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds

    def long_pauses(self) -> list[float]:
        """The pauses that are longer than pacing needs."""
        return [pause for pause in self.pauses if pause >= 1]


def client_of(url: str, clock: FakeClock | None = None, **options: Any) -> Client:
    """A client for a service at this address."""
    service = Service(name="test", url=url, hosts=frozenset({host_of(url)}), page="https://example.org/", **options)
    return Client(service, clock=(clock or FakeClock()).clock)


def served_file(content: bytes, *, etag: str = '"v1"', ranges: bool = True, cut: int | None = None) -> Answer:
    """A file as a file server sends it: a range if it is valid and allowed, otherwise the whole file."""

    def answer(request: Request) -> Reply:
        headers = {"ETag": etag, "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
        asked = request.headers.get("range")
        if ranges and asked and request.headers.get("if-range") in (etag, headers["Last-Modified"]):
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            if start >= len(content):
                return Reply(b"", 416, {"Content-Range": f"bytes */{len(content)}"})
            place = f"bytes {start}-{len(content) - 1}/{len(content)}"
            return Reply(content[start:], 206, headers | {"Content-Range": place}, cut=cut)
        return Reply(content, 200, headers, cut=cut)

    return answer


def article(pmid: str | int, title: str = "A title.", abstract: str = "Some text.", *, version: int = 1) -> str:
    """A PubMed article in XML."""
    text = f"<Abstract><AbstractText>{abstract}</AbstractText></Abstract>" if abstract else ""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article><Journal><JournalIssue>'
        f"<PubDate><Year>2001</Year></PubDate></JournalIssue></Journal><ArticleTitle>{title}</ArticleTitle>{text}"
        "</Article></MedlineCitation></PubmedArticle>"
    )


def article_set(*articles: str) -> bytes:
    """Articles as efetch sends them, with a DOCTYPE that refers to a DTD on the web."""
    doctype = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" '
    dtd = '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">'
    body = f'<?xml version="1.0" ?>\n{doctype}{dtd}\n<PubmedArticleSet>{"".join(articles)}</PubmedArticleSet>'
    return body.encode()


class Eutils:
    """The E-utilities with some articles: esearch finds all hits, epost keeps lists, efetch sends the articles.

    `faults` holds replies of esearch, epost and efetch that precede the regular ones; None is a regular one.
    """

    def __init__(self, server: Server, articles: Mapping[str, str], hits: Sequence[str] = ()) -> None:
        self.url = f"{server.url}/eutils"
        self.hits = list(hits)
        self.unknown: list[str] = []  # words of a query that are reported as not found
        self.faults: dict[str, list[Reply | None]] = {"esearch": [], "epost": [], "efetch": []}
        self._articles = dict(articles)
        self._lists: dict[str, list[str]] = {}
        for name, answer in (("esearch", self._esearch), ("epost", self._epost), ("efetch", self._efetch)):
            server.on(f"/eutils/{name}.fcgi", self._or_fault(name, answer))

    def _or_fault(self, name: str, answer: Callable[[Request], Reply]) -> Answer:
        def either(request: Request) -> Reply:
            fault = self.faults[name].pop(0) if self.faults[name] else None
            return fault or answer(request)

        return either

    def _esearch(self, request: Request) -> Reply:
        start, size = int(request.parameters["retstart"]), int(request.parameters.get("retmax", "20"))
        if start > 9998:
            error = "Search Backend failed: 'retstart' cannot be larger than 9998.\nFor PubMed, use EDirect."
            # the real service sends this raw line break too
            return Reply(b'{"esearchresult":{"ERROR":"' + error.encode() + b'"}}')
        hits = self._between(request.parameters)
        shown = hits[start : min(start + size, 9999)]
        result = {"count": str(len(hits)), "retmax": str(len(shown)), "retstart": str(start), "idlist": shown}
        if self.unknown:
            result["errorlist"] = {"phrasesnotfound": self.unknown, "fieldsnotfound": []}
        return Reply(json.dumps({"header": {"type": "esearch"}, "esearchresult": result}).encode())

    def _between(self, parameters: Mapping[str, str]) -> list[str]:
        """The hits in a span of entry dates. `entered` derives the date of a PMID from its last three digits."""
        if "mindate" not in parameters:
            return self.hits
        assert parameters["datetype"] == "edat"
        span = [parameters[name].replace("/", "") for name in ("mindate", "maxdate")]
        return [pmid for pmid in self.hits if span[0] <= self.entered(pmid) <= span[1]]

    @staticmethod
    def entered(pmid: str) -> str:
        number = int(pmid) % 1000
        return f"{2000 + number // 100}{1 + number % 12:02d}{1 + number % 28:02d}"

    def _epost(self, request: Request) -> Reply:
        assert request.method == "POST"
        session = f"MCID_{len(self._lists)}"
        self._lists[session] = request.parameters["id"].split(",")
        return Reply(f"<ePostResult><QueryKey>1</QueryKey><WebEnv>{session}</WebEnv></ePostResult>".encode())

    def _efetch(self, request: Request) -> Reply:
        pmids = self._lists[request.parameters["WebEnv"]]
        return Reply(article_set(*(self._articles[pmid] for pmid in pmids if pmid in self._articles)))
