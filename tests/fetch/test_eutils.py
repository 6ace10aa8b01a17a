"""The E-utilities: complete searches and complete batches."""

from __future__ import annotations

import json

import pytest

from biorel.counts import Reason
from biorel.errors import FetchError
from biorel.fetch.eutils import MAX_LISTED, fetch_articles, search
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
    return client_of(eutils.url, clock, retry_statuses=frozenset({400}))


def result(**fields):
    return Reply(json.dumps({"esearchresult": fields}).encode())


def test_F01_requests_the_next_page_after_a_short_one(server, counts):
    def twenty(request):
        start = int(request.parameters["retstart"])
        return result(count="53", idlist=PMIDS[start : start + 20])

    server.on("/eutils/esearch.fcgi", twenty)
    assert search(client_of(f"{server.url}/eutils"), "x", counts) == PMIDS
    assert [request.parameters["retstart"] for request in server.requests][1:] == ["0", "20", "40"]
    assert all("retmax" in request.parameters for request in server.requests)


@pytest.mark.parametrize("shown", [PMIDS[:20], []])
def test_F01_neighbour_rejects_a_search_with_fewer_ids_than_its_count(server, counts, shown):
    server.on("/esearch.fcgi", lambda request: result(count="53", idlist=shown))
    with pytest.raises(FetchError, match=f"PubMed counts 53 articles but lists only {len(shown)}"):
        search(client_of(server.url), "x", counts)
    assert len(server.requests) < 10


def test_splits_a_search_with_too_many_hits_by_date(server, counts):
    hits = [str(number) for number in range(1_000_000, 1_000_000 + 2 * MAX_LISTED + 77)]
    eutils = service(server, hits=hits)
    found = search(client(eutils), "x", counts)
    assert sorted(found) == hits
    days = [eutils.entered(pmid) for pmid in found]
    assert days[0] > days[-1]
    assert len(server.requests) < 60


def test_a_small_limit_needs_no_split_by_date(server, counts):
    eutils = service(server, hits=[str(number) for number in range(1, 30_001)])
    assert search(client(eutils), "x", counts, 5) == ["1", "2", "3", "4", "5"]
    assert len(server.requests) == 2
    many = search(client(eutils), "x", counts, MAX_LISTED + 2)
    assert len(set(many)) == MAX_LISTED + 2


def test_rejects_a_day_with_too_many_articles(server, counts):
    server.on("/esearch.fcgi", lambda request: result(count="20000", idlist=[]))
    with pytest.raises(FetchError, match="20000 articles entered PubMed on 2099-12-31"):
        search(client_of(server.url), "x", counts)


def test_F03_quotes_an_error_with_a_raw_line_break_without_a_retry(server, counts):
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
def test_F03_neighbours_retries_after_an_answer_without_a_result(server, counts, body):
    server.on("/esearch.fcgi", Reply(body), result(count="1", idlist=[]), Reply(body), result(count="1", idlist=["7"]))
    assert search(client_of(server.url), "x", counts) == ["7"]


def test_counts_words_that_pubmed_does_not_find(server, counts):
    server.on("/esearch.fcgi", result(count="1", idlist=["7"], errorlist={"phrasesnotfound": ["xyzzy"]}))
    search(client_of(server.url), "x", counts)
    assert counts[Reason.QUERY_WORDS_NOT_FOUND] == 1


def doc_ids(citations):
    return [item.document.doc_id for item in citations]


def test_posts_a_batch_and_fetches_it_in_the_given_order(server):
    eutils = service(server, "1", "2", "3")
    assert doc_ids(fetch_articles(client(eutils), ["3", "1", "2"])) == ["3", "1", "2"]
    post, fetch = server.requests
    assert (post.method, post.parameters["id"]) == ("POST", "3,1,2")
    assert (fetch.parameters["retmax"], fetch.parameters["query_key"]) == ("3", "1")


CUT = Reply(b"<PubmedArticleSet><PubmedArticle><MedlineCitation>")


@pytest.mark.parametrize(
    ("tool", "fault"),
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
def test_F04_posts_the_list_again_after_a_faulty_answer(server, tool, fault):
    eutils = service(server, "1", "2")
    eutils.faults[tool] = [fault]
    assert doc_ids(fetch_articles(client(eutils), ["1", "2"])) == ["1", "2"]
    assert len(server.to("/eutils/epost.fcgi")) == 2


def test_F04_raises_if_a_batch_stays_faulty(server):
    eutils = service(server, "1")
    eutils.faults["efetch"] = [CUT] * 99
    with pytest.raises(FetchError, match=rf"PMIDs 1 to 1: efetch: not well-formed XML .*\({TRIES} tries\)"):
        fetch_articles(client(eutils), ["1"])
    eutils.faults["efetch"] = [Reply(b"<eFetchResult><ERROR>History lost</ERROR></eFetchResult>")] * 99
    with pytest.raises(FetchError, match="efetch: History lost"):
        fetch_articles(client(eutils), ["1"])


def test_F05_requests_missing_articles_a_second_time(server):
    eutils = service(server, "900001")
    assert doc_ids(fetch_articles(client(eutils), ["900001", "900002"])) == ["900001"]
    assert [request.parameters["id"] for request in server.to("/eutils/epost.fcgi")] == ["900001,900002", "900002"]


def test_F05_neighbours_accepts_a_batch_without_any_article(server):
    eutils = service(server)
    clock = FakeClock()
    assert fetch_articles(client(eutils, clock), ["900003", "900004"]) == []
    assert len(server.requests) == 4
    assert clock.long_pauses() == []
    invalid = Reply(b"<ePostResult><InvalidIdList><Id>900003</Id></InvalidIdList></ePostResult>")
    eutils.faults["epost"] = [invalid, invalid]
    assert fetch_articles(client(eutils), ["900003"]) == []


def test_F05_neighbour_completes_a_short_answer(server):
    eutils = service(server, "1", "2", "3")
    eutils.faults["efetch"] = [Reply(article_set(article(2)))]
    assert doc_ids(fetch_articles(client(eutils), ["1", "2", "3"])) == ["1", "2", "3"]


def test_F08_leaves_out_articles_that_were_not_requested(server):
    eutils = service(server, "5")
    eutils.faults["efetch"] = [Reply(article_set(*(article(number) for number in range(1, 15))))]
    assert doc_ids(fetch_articles(client(eutils), ["5", "3"])) == ["5", "3"]


def test_F08_neighbour_keeps_the_higher_of_two_versions(server):
    eutils = service(server)
    two = [article(1, "New.", version=2), article(1, "Old.")]
    eutils.faults["efetch"] = [Reply(article_set(*two))]
    (found,) = fetch_articles(client(eutils), ["1"])
    assert found.document.title == "New."
