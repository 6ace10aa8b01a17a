"""Requests: retries, pacing, allowed hosts, the API key, and web pages instead of data."""

from __future__ import annotations

import logging

import pytest

from biorel.errors import ConfigError, FetchError
from biorel.fetch.corpora import corpus_service, read_corpora
from biorel.fetch.http import TRIES, BadAnswerError, Client, Pace, is_captcha, page_title
from biorel.fetch.services import Service, host_of, read_service
from biorel.resources import resource
from tests.servers import CAPTCHA, PAGE, FakeClock, Reply, client_of, running


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running() as server:
        yield server


def answer(server, *replies, clock=None, **options):
    """The answer that a client returns for these replies."""
    server.on("/x", *replies)
    return client_of(server.url, clock, **options).ask("x", {"q": "1"}, bytes.decode)


@pytest.mark.parametrize(
    "fault",
    [
        Reply(b'{"error":"API rate limit exceeded","count":"11"}', 429),
        Reply(b"", 429, {"Retry-After": "7"}),
        Reply(b"", 429, {"Retry-After": "soon"}),
        Reply(b"", 500),
        Reply(PAGE, 502),
        Reply(b"", 503, {"Retry-After": "0"}),
        Reply(b"", 408),
        Reply(PAGE, 200),
        Reply(b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>\n<html/>"),
        Reply(b"a whole answer", cut=5),
        Reply(reset=True),
        Reply(b"zz", headers={"Transfer-Encoding": "chunked", "Content-Length": ""}, cut=2),
    ],
)
def test_retries_after_a_temporary_fault(server, fault):
    clock = FakeClock()
    assert answer(server, fault, Reply(b"good"), clock=clock) == "good"
    wait = 7.0 if fault.headers.get("Retry-After") == "7" else 1.0
    assert clock.long_pauses() == [wait]
    assert len(server.requests) == 2


def test_gives_up_after_growing_pauses(server):
    clock = FakeClock()
    with pytest.raises(FetchError, match=rf"HTTP 503 .*\({TRIES} tries\)") as error:
        answer(server, Reply(b"", 503), clock=clock)
    assert clock.long_pauses() == [1, 2, 4, 8, 16]
    assert error.value.exit_code == 6
    assert len(server.requests) == TRIES


def test_rejects_a_web_page(server):
    with pytest.raises(FetchError, match="web page 'Server busy' instead of data"):
        answer(server, Reply(PAGE))


def test_reports_a_captcha_at_once_with_a_hint(server):
    with pytest.raises(FetchError, match="check for robots") as error:
        answer(server, Reply(CAPTCHA), by_hand="save it by browser")
    assert error.value.hint == "save it by browser"
    assert len(server.requests) == 1


def test_reports_a_permanent_status_at_once(server):
    with pytest.raises(FetchError, match="HTTP 404 Not Found: gone"):
        answer(server, Reply(b"gone\nfor good", 404))
    with pytest.raises(FetchError, match="HTTP 400"):
        answer(server, Reply(b"", 400), retry_statuses=frozenset({400}))
    assert len(server.requests) == 1 + TRIES


def test_stops_if_a_service_asks_for_a_long_pause(server):
    clock = FakeClock()
    with pytest.raises(FetchError, match="asks for a pause of 3600 s"):
        answer(server, Reply(b"", 429, {"Retry-After": "3600"}), clock=clock)
    assert len(server.requests) == 1
    assert clock.long_pauses() == []


def test_reports_a_refused_connection_in_one_line():
    with pytest.raises(FetchError, match=r"test: x: no connection \(Connection refused\)"):
        client_of("http://127.0.0.1:9").ask("x", {}, bytes)


def test_retries_if_the_answer_cannot_be_parsed(server):
    def read(body):
        if body != b"good":
            raise BadAnswerError("not good")
        return body

    server.on("/x", Reply(b"bad"), Reply(b"bad"), Reply(b"good"))
    assert client_of(server.url).ask("x", {}, read) == b"good"
    assert len(server.requests) == 3


@pytest.mark.parametrize("rate", [3, 10])
def test_no_second_has_more_requests_than_allowed(rate):
    clock = FakeClock()
    pace = Pace(rate, clock.clock)
    times = []
    for _ in range(60):
        pace.wait("a")
        times.append(clock.time)
    assert all(sum(start <= time < start + 1 for time in times) <= rate for start in times)
    assert times[-1] < 60 / rate * 1.2


def test_each_host_has_its_own_pace_and_idle_time_counts():
    clock = FakeClock()
    pace = Pace(1, clock.clock)
    pace.wait("a")
    pace.wait("b")
    assert clock.pauses == []
    clock.time += 5
    pace.wait("a")
    assert clock.pauses == []


def test_a_key_allows_a_faster_pace(server):
    service = Service("e", server.url, frozenset({host_of(server.url)}), per_second=3, per_second_with_key=10)
    for key, least in (("", 2.5), ("secret", 0.8)):
        clock = FakeClock()
        server.on("/x", Reply(b"1"))
        client = Client(service, key=key, clock=clock.clock)
        for _ in range(9):
            client.ask("x", {}, bytes)
        assert least < clock.time < 2 * least


def test_refuses_a_redirect_to_another_host(server):
    with running() as other:
        other.on("/x", Reply(b"stolen"))
        with pytest.raises(FetchError, match=f"redirects to {other.url}/x, which is not 127.0.0.1"):
            answer(server, Reply(b"", 302, {"Location": f"{other.url}/x?api_key=k"}))
        assert other.requests == []


@pytest.mark.parametrize("target", ["file:///etc/passwd", "//evil.example/x", "https://u@127.0.0.1/x", "ftp://h/x"])
def test_refuses_other_forms_of_redirects(server, target):
    with pytest.raises(FetchError, match="redirects to"):
        answer(server, Reply(b"", 301, {"Location": target}))


def test_follows_redirects_within_the_host_but_not_forever(server):
    server.on("/y", Reply(b"there"))
    assert answer(server, Reply(b"", 302, {"Location": "/y"})) == "there"
    with pytest.raises(FetchError, match="more than 5 redirects"):
        answer(server, Reply(b"", 302, {"Location": "/x"}))


def test_a_redirected_post_keeps_its_parameters(server):
    client = client_of(server.url)
    server.on("/y", lambda request: Reply(request.parameters.get("id", "lost").encode()))
    server.on("/x", Reply(b"", 307, {"Location": "/y"}))
    assert client.ask("x", {"id": "5"}, bytes, post=True) == b"5"
    server.on("/x", Reply(b"", 302, {"Location": "/y"}))
    with pytest.raises(FetchError, match="redirects a POST"):
        client.ask("x", {"id": "5"}, bytes, post=True)


def test_the_key_appears_in_no_address_log_or_error(server, caplog):
    caplog.set_level(logging.DEBUG)
    reports = []
    service = Service("e", server.url, frozenset({host_of(server.url)}))
    client = Client(service, common={"tool": "t"}, key="s3cr/t", clock=FakeClock().clock, report=reports.append)
    server.on("/x", Reply(b'{"error":"limit","api-key":"s3cr/t"}', 429), Reply(b"", 500), Reply(b"bad s3cr%2Ft", 404))
    with pytest.raises(FetchError, match="404") as error:
        client.ask("x", {"term": "q"}, bytes)
    assert [request.parameters["api_key"] for request in server.requests] == ["s3cr/t"] * 3
    assert {request.parameters["tool"] for request in server.requests} == {"t"}
    texts = [
        *reports,
        error.value.message,
        error.value.hint,
        caplog.text,
        *(request.line for request in server.requests),
    ]
    assert "limit" in reports[0]
    assert not [text for text in texts if "s3cr" in text]


def test_a_shortened_error_contains_no_part_of_the_key(server):
    client = Client(
        Service("e", server.url, frozenset({host_of(server.url)})), key="s3cret-key", clock=FakeClock().clock
    )
    for before in range(140, 165):
        server.on("/x", Reply(b"x" * before + b"s3cret-key", 404))
        with pytest.raises(FetchError) as error:
            client.repeat("x", lambda: client.once("x", {}))
        assert "s3" not in error.value.message


def test_sends_a_long_query_by_post(server):
    server.on("/x", lambda request: Reply(request.method.encode()))
    client = client_of(server.url)
    assert client.ask("x", {"term": "short"}, bytes) == b"GET"
    assert client.ask("x", {"term": "long " * 500}, bytes) == b"POST"


@pytest.mark.parametrize(
    "address",
    ["ftp://host/x", "host/x", "https://", "http://example.org/", "https://u:p@host/", "https://host/?api_key=1"],
)
def test_rejects_an_invalid_address(address):
    with pytest.raises(ConfigError):
        host_of(address)


def test_an_address_comes_from_the_option_the_environment_or_the_file():
    path = resource("services.toml")
    assert read_service(path, "eutils", environ={}).url == "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    here = {"BIOREL_EUTILS_URL": "http://127.0.0.1:1/e/"}
    assert read_service(path, "eutils", environ=here).url == "http://127.0.0.1:1/e"
    flagged = read_service(path, "eutils", "https://mirror.example/e", here)
    assert (flagged.url, flagged.hosts) == ("https://mirror.example/e", {"mirror.example"})


def test_every_corpus_has_a_licence_a_citation_and_files():
    corpora = read_corpora(resource("corpora.toml"))
    assert list(corpora) == ["cdr", "chemprot", "drugprot", "biored", "chemdisgene"]
    for corpus in corpora.values():
        assert corpus.licence
        assert corpus.citation
        assert corpus_service(corpus).hosts
        names = [file.name for file in corpus.files]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("page", [PAGE, CAPTCHA, b"\xef\xbb\xbf  <HTML>", b"<!-- a --><html>", b"<head> <title>E"])
def test_recognises_web_pages(page):
    assert page_title(page)


@pytest.mark.parametrize(
    "data", [b"", b"<PubmedArticleSet>", b"<?xml version='1.0'?><collection>", b"# <html>", b"\x1f\x8b"]
)
def test_does_not_take_data_for_a_web_page(data):
    assert page_title(data) is None


def test_recognises_a_captcha():
    assert is_captcha(CAPTCHA)
    assert not is_captcha(PAGE)
