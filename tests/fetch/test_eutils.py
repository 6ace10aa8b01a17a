"""The E-utilities: searches that show all they count, and batches that are whole or not there."""

from __future__ import annotations

import json

import pytest

from biorel.counts import Reason
from biorel.errors import FetchError
from biorel.fetch.eutils import REACHABLE, fetch_articles, search
from biorel.fetch.http import TRIES
from tests.servers import PAGE, Eutils, FakeClock, Reply, article, article_set, client_of, running

PMIDS = [str(number) for number in range(900001, 900054)]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running() as server:
        yield server


def service(server, *pmids, hits=(), **changed):
    return Eutils(server, {pmid: article(pmid) for pmid in pmids} | changed, hits)


def client(eutils, clock=None):
    return client_of(eutils.url, clock, again=frozenset({400}))


def result(**fields):
    return Reply(json.dumps({"esearchresult": fields}).encode())


def test_F01_a_page_smaller_than_asked_for_is_followed_by_the_next(server, counts):
    def twenty(request):
        start = int(request.parameters["retstart"])
        return result(count="53", idlist=PMIDS[start : start + 20])

    server.on("/eutils/esearch.fcgi", twenty)
    assert search(client_of(f"{server.url}/eutils"), "x", counts) == PMIDS
    assert [request.parameters["retstart"] for request in server.requests][1:] == ["0", "20", "40"]
    assert all("retmax" in request.parameters for request in server.requests)


@pytest.mark.parametrize("shown", [PMIDS[:20], []])
def test_F01_neighbour_a_count_that_is_never_shown_is_an_error(server, counts, shown):
    server.on("/esearch.fcgi", lambda request: result(count="53", idlist=shown))
    with pytest.raises(FetchError, match=f"53 PMIDs were counted, and {len(shown)} shown"):
        search(client_of(server.url), "x", counts)
    assert len(server.requests) < 10


def test_more_hits_than_a_search_shows_are_had_by_dates(server, counts):
    hits = [str(number) for number in range(1_000_000, 1_000_000 + 2 * REACHABLE + 77)]
    eutils = service(server, hits=hits)
    found = search(client(eutils), "x", counts)
    assert sorted(found) == hits
    days = [eutils.entered(pmid) for pmid in found]
    assert days[0] > days[-1]
    assert len(server.requests) < 60


def test_a_limit_within_reach_needs_no_dates(server, counts):
    eutils = service(server, hits=[str(number) for number in range(1, 30_001)])
    assert search(client(eutils), "x", counts, 5) == ["1", "2", "3", "4", "5"]
    assert len(server.requests) == 2
    many = search(client(eutils), "x", counts, REACHABLE + 2)
    assert len(set(many)) == REACHABLE + 2


def test_a_day_with_too_many_articles_is_told(server, counts):
    server.on("/esearch.fcgi", lambda request: result(count="20000", idlist=[]))
    with pytest.raises(FetchError, match="20000 articles entered PubMed on 2099-12-31"):
        search(client_of(server.url), "x", counts)


def test_F03_an_error_with_a_raw_line_break_is_quoted_and_not_asked_again(server, counts):
    server.on("/esearch.fcgi", Reply(b'{"esearchresult":{"ERROR":"Search Backend failed:\nretstart too large"}}'))
    with pytest.raises(FetchError) as error:
        search(client_of(server.url), "lithium [ti]", counts)
    assert error.value.message == ("PubMed refuses the query 'lithium [ti]': Search Backend failed: retstart too large")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":"API rate limit exceeded","count":"11"}',
        b"{}",
        b"[]",
        b"not json",
        b"",
        b'{"esearchresult":{"count":"x","idlist":[]}}',
        b'{"esearchresult":{"count":"1"}}',
        b'{"esearchresult":{"count":"1","idlist":["a"]}}',
        PAGE,
    ],
)
def test_F03_neighbours_an_answer_that_is_no_result_is_asked_again(server, counts, body):
    server.on("/esearch.fcgi", Reply(body), result(count="1", idlist=[]), Reply(body), result(count="1", idlist=["7"]))
    assert search(client_of(server.url), "x", counts) == ["7"]


def test_words_that_pubmed_does_not_know_are_booked(server, counts):
    server.on("/esearch.fcgi", result(count="1", idlist=["7"], errorlist={"phrasesnotfound": ["xyzzy"]}))
    search(client_of(server.url), "x", counts)
    assert counts[Reason.QUERY_WORDS_NOT_FOUND] == 1


def doc_ids(citations):
    return [item.document.doc_id for item in citations]


def test_a_batch_is_posted_then_fetched_in_the_order_asked_for(server):
    eutils = service(server, "1", "2", "3")
    assert doc_ids(fetch_articles(client(eutils), ["3", "1", "2"])) == ["3", "1", "2"]
    post, fetch = server.requests
    assert (post.method, post.parameters["id"]) == ("POST", "3,1,2")
    assert (fetch.parameters["retmax"], fetch.parameters["query_key"]) == ("3", "1")


CUT = Reply(b"<PubmedArticleSet><PubmedArticle><MedlineCitation>")


@pytest.mark.parametrize(
    ("of", "fault"),
    [
        ("efetch", CUT),
        ("efetch", Reply(b"", 400)),
        ("efetch", Reply(b"<eFetchResult><ERROR>Cannot retrieve history data</ERROR></eFetchResult>", 400)),
        ("efetch", Reply(b"<eFetchResult><ERROR>Cannot retrieve history data</ERROR></eFetchResult>")),
        ("efetch", Reply(PAGE)),
        ("efetch", Reply(b"")),
        ("efetch", Reply(article_set(article(1)), cut=300)),
        ("efetch", Reply(b"", 429)),
        ("epost", Reply(b"", 502)),
        ("epost", Reply(PAGE)),
        ("epost", Reply(b"<ePostResult><ERROR>busy</ERROR></ePostResult>")),
        ("epost", Reply(b"<ePostResult>")),
        ("epost", Reply(reset=True)),
    ],
)
def test_F04_a_faulty_answer_is_asked_again_with_a_fresh_list(server, of, fault):
    eutils = service(server, "1", "2")
    eutils.faults[of] = [fault]
    assert doc_ids(fetch_articles(client(eutils), ["1", "2"])) == ["1", "2"]
    assert len(server.to("/eutils/epost.fcgi")) == 2


def test_F04_a_batch_that_stays_faulty_is_an_error_and_no_empty_result(server):
    eutils = service(server, "1")
    eutils.faults["efetch"] = [CUT] * 99
    with pytest.raises(FetchError, match=rf"PMIDs 1 to 1: efetch: not well-formed XML .*\({TRIES} tries\)"):
        fetch_articles(client(eutils), ["1"])
    eutils.faults["efetch"] = [Reply(b"<eFetchResult><ERROR>History lost</ERROR></eFetchResult>")] * 99
    with pytest.raises(FetchError, match="efetch: History lost"):
        fetch_articles(client(eutils), ["1"])


def test_F05_what_pubmed_does_not_have_is_missing_and_asked_for_once_more(server):
    eutils = service(server, "900001")
    assert doc_ids(fetch_articles(client(eutils), ["900001", "900002"])) == ["900001"]
    assert [request.parameters["id"] for request in server.to("/eutils/epost.fcgi")] == ["900001,900002", "900002"]


def test_F05_neighbours_a_batch_without_any_article_ends(server):
    eutils = service(server)
    clock = FakeClock()
    assert fetch_articles(client(eutils, clock), ["900003", "900004"]) == []
    assert len(server.requests) == 4
    assert clock.long_pauses() == []
    invalid = Reply(b"<ePostResult><InvalidIdList><Id>900003</Id></InvalidIdList></ePostResult>")
    eutils.faults["epost"] = [invalid, invalid]
    assert fetch_articles(client(eutils), ["900003"]) == []


def test_F05_neighbour_a_short_answer_is_completed(server):
    eutils = service(server, "1", "2", "3")
    eutils.faults["efetch"] = [Reply(article_set(article(2)))]
    assert doc_ids(fetch_articles(client(eutils), ["1", "2", "3"])) == ["1", "2", "3"]


def test_F08_articles_that_nobody_asked_for_are_left_out(server):
    eutils = service(server, "5")
    eutils.faults["efetch"] = [Reply(article_set(*(article(number) for number in range(1, 15))))]
    assert doc_ids(fetch_articles(client(eutils), ["5", "3"])) == ["5", "3"]


def test_F08_neighbour_of_two_versions_the_higher_one_stands(server):
    eutils = service(server)
    two = [article(1, "New.", version=2), article(1, "Old.")]
    eutils.faults["efetch"] = [Reply(article_set(*two))]
    (found,) = fetch_articles(client(eutils), ["1"])
    assert found.document.title == "New."
