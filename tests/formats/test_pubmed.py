"""Reading PubMed XML, and which citation of a PMID is the current one."""

from __future__ import annotations

import gzip
import itertools
import socket

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats.pubmed import Citation, Deletion, from_line, parse_pubmed, pmid_of, read_pubmed, to_line
from biorel.formats.pubmed_versions import LatestVersions, baseline_files
from biorel.records import Document
from tests.servers import article, article_set

LABELLED = (
    '<AbstractText Label="">Aa.</AbstractText><AbstractText Label="RESULTS">Bb.</AbstractText>'
    "<AbstractText>Cc.</AbstractText>"
)


def citation(body: str, *, pmid: str = "900010", date: str = "<Year>2001</Year>", after: str = "") -> str:
    """An article whose <Article> holds `body`; `after` follows it in the citation."""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><Journal><JournalIssue>'
        f"<PubDate>{date}</PubDate></JournalIssue></Journal>{body}</Article>{after}</MedlineCitation></PubmedArticle>"
    )


@pytest.fixture
def read(write, counts):
    def _read(*articles: str, name: str = "in.xml"):
        return list(read_pubmed(write(name, article_set(*articles)), counts))

    return _read


def abstract(read, inner: str, **options) -> str:
    (found,) = read(citation(f"<ArticleTitle>T.</ArticleTitle><Abstract>{inner}</Abstract>", **options))
    return found.document.abstract


def test_X01_keeps_the_parts_of_a_structured_abstract_in_order(read):
    assert abstract(read, LABELLED) == "Aa. RESULTS: Bb. Cc."


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<AbstractText>One.</AbstractText>", "One."),
        ("<AbstractText/>", ""),
        ("<AbstractText></AbstractText><AbstractText>Two.</AbstractText>", "Two."),
        ('<AbstractText Label="METHODS"/><AbstractText Label="RESULTS">Bb.</AbstractText>', "RESULTS: Bb."),
        ('<AbstractText Label="UNASSIGNED" NlmCategory="UNASSIGNED">Aa.</AbstractText>', "UNASSIGNED: Aa."),
        ('<AbstractText NlmCategory="METHODS">Aa.</AbstractText>', "Aa."),
        ('<AbstractText Label=" AIM ">Aa.</AbstractText>', "AIM: Aa."),
        ("<AbstractText>Aa.</AbstractText><CopyrightInformation>(c)</CopyrightInformation>", "Aa."),
    ],
)
def test_X01_neighbours_labels_are_part_of_the_text(read, inner, text):
    assert abstract(read, inner) == text


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("The <i>p53</i> gene", "The p53 gene"),
        ("H<sub>2</sub>O and 10<sup>-3</sup> M", "H2O and 10-3 M"),
        ("<b>All <i>of <u>it</u></i></b> stays", "All of it stays"),
        ("a <mml:math xmlns:mml='m'><mml:mi>x</mml:mi></mml:math> b", "a x b"),
        ("TNF-&#945; &lt; 5 &#x3bc;g &amp; <i/>more", "TNF-α < 5 μg & more"),
        ("two\n   lines", "two lines"),
        ("fast-acting &#946;\n\t\t<sub>2</sub>-agonist\n\t", "fast-acting β2-agonist"),
        ("97.1%    1.6%", "97.1%    1.6%"),
        ("  <i>x</i>  ", "x"),
        ("a &#8232; b", "a b"),
        ("a<!-- remark -->b", "ab"),
    ],
)
def test_keeps_inline_tags_and_turns_layout_into_one_blank(read, inner, text):
    assert abstract(read, f"<AbstractText>{inner}</AbstractText>") == text
    (found,) = read(citation(f"<ArticleTitle>{inner}</ArticleTitle>"))
    assert found.document.title == text


def test_the_real_answer_is_read_as_pubtator_writes_it(shared_data, counts):
    (found,) = read_pubmed(shared_data / "http" / "pubmed_efetch_29768149.xml", counts)
    text = found.document.text
    assert text.startswith("Inhaled Combined Budesonide-Formoterol as Needed in Mild Asthma. BACKGROUND: In patients")
    assert "fast-acting β2-agonist may be" in text
    assert ". METHODS: We conducted" in text
    assert ". RESULTS: A total of 3849" in text
    assert "(200 μg of budesonide" in text
    assert text.endswith("NCT02149199 .).")
    assert (found.article.doc_id, found.article.year, found.revised) == ("29768149", 2018, "20220410")


def test_X03_uses_another_abstract_only_if_there_is_none(read):
    other = '<OtherAbstract Type="Publisher" Language="{}"><AbstractText>Other.</AbstractText></OtherAbstract>'
    own = "<Abstract><AbstractText>Own.</AbstractText></Abstract>"
    first, second = read(
        citation("<ArticleTitle>A.</ArticleTitle>", after=other.format("eng")),
        citation(f"<ArticleTitle>B.</ArticleTitle>{own}", after=other.format("spa"), pmid="2"),
    )
    assert (first.document.abstract, first.article.abstract_source) == ("Other.", "other abstract")
    assert (second.document.abstract, second.article.abstract_source) == ("Own.", "abstract")


def test_X03_neighbours_ignores_translations(read):
    other = "<OtherAbstract{}><AbstractText{}>Other.</AbstractText></OtherAbstract>"
    empty = "<Abstract><AbstractText></AbstractText></Abstract>"
    foreign, unmarked, second = read(
        citation("<ArticleTitle>A.</ArticleTitle>", after=other.format(' Language="spa"', "")),
        citation(f"<ArticleTitle>B.</ArticleTitle>{empty}", after=other.format("", ' Label="AIM"'), pmid="2"),
        citation("", after=other.format(' Language="fre"', "") + other.format(' Language="eng"', ""), pmid="3"),
    )
    assert (foreign.document.abstract, foreign.article.abstract_source) == ("", "none")
    assert unmarked.document.abstract == "AIM: Other."
    assert second.document == Document("3", "", "Other.")


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", 1998),
        ("", None),
        ("<Year>2004</Year><Month>May</Month>", 2004),
        ("<MedlineDate>Winter 1987-88</MedlineDate>", 1987),
        ("<MedlineDate>no date</MedlineDate>", None),
        ("<Year></Year>", None),
        ("<Season>Spring</Season>", None),
    ],
)
def test_X06_keeps_documents_with_a_textual_date_or_none(read, date, year):
    (found,) = read(citation("<ArticleTitle>T.</ArticleTitle>", date=date))
    assert found.article.year == year


def test_X06_neighbour_a_citation_without_journal_or_article_is_kept(read):
    (found,) = read("<PubmedArticle><MedlineCitation><PMID>5</PMID></MedlineCitation></PubmedArticle>")
    assert (found.document, found.article.year) == (Document("5", "", ""), None)


def test_X07_cited_and_corrected_articles_are_not_documents(read):
    cited = "<CommentsCorrectionsList><CommentsCorrections><PMID>900099</PMID></CommentsCorrections>"
    (found,) = read(citation("<ArticleTitle>T.</ArticleTitle>", after=f"{cited}</CommentsCorrectionsList>"))
    assert found.document.doc_id == "900010"


def test_X07_reads_books_by_pmid_and_counts_records_without_one(read, counts):
    book = (
        "<PubmedBookArticle><BookDocument><PMID>77</PMID><ArticleIdList><ArticleId>78</ArticleId></ArticleIdList>"
        "<Book><BookTitle>The <i>book</i></BookTitle><PubDate><Year>1993</Year></PubDate></Book>"
        "<ArticleTitle>A chapter</ArticleTitle><Abstract><AbstractText>Text.</AbstractText></Abstract>"
        "<ReferenceList><Reference><PMID>79</PMID></Reference></ReferenceList></BookDocument></PubmedBookArticle>"
    )
    lost = (
        "<PubmedArticle><MedlineCitation><CommentsCorrectionsList><CommentsCorrections><PMID>900099</PMID>"
        "</CommentsCorrections></CommentsCorrectionsList></MedlineCitation></PubmedArticle>"
    )
    (found,) = read(book, lost, lost.replace("MedlineCitation", "Other"))
    assert found.document == Document("77", "A chapter", "Text.")
    assert found.article.year == 1993
    assert counts[Reason.RECORD_WITHOUT_PMID] == 2


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("<article><front><article-meta/></front></article>", "<article>"),
        ("<html><body/></html>", "<html>"),
        ("<eFetchResult><ERROR>no</ERROR></eFetchResult>", "<eFetchResult>"),
        ("<collection/>", "<collection>"),
    ],
)
def test_X08_rejects_other_xml_with_file_and_roots(write, counts, content, found):
    with pytest.raises(InputError, match=f"in.xml: root element {found} where <PubmedArticleSet>"):
        list(read_pubmed(write("in.xml", content), counts))


@pytest.mark.parametrize("cut", ["<PubmedArticleSet><PubmedArticle><MedlineCitation>", "", "{}", "<PubmedArticleSet>"])
def test_X08_neighbour_rejects_truncated_and_other_files(write, counts, cut):
    with pytest.raises(InputError, match=r"in\.xml: not well-formed XML"):
        list(read_pubmed(write("in.xml", cut), counts))


def test_F07_fetches_no_dtd_and_opens_no_entity(read, write, counts, tmp_path, monkeypatch):
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the parser opens a socket")

    monkeypatch.setattr(socket, "socket", refused)
    assert [item.document.doc_id for item in read(article(1))] == ["1"]
    secret = tmp_path / "secret"
    secret.write_text("leaked")
    evil = (
        f'<!DOCTYPE PubmedArticleSet [<!ENTITY e SYSTEM "{secret.as_uri()}"><!ENTITY a "aaaa">'
        '<!ENTITY b "&a;&a;&a;&a;">]><PubmedArticleSet>' + article(2, "T &e; &b;") + "</PubmedArticleSet>"
    )
    (found,) = read_pubmed(write("evil.xml", evil), counts)
    assert "leaked" not in found.document.title
    assert "aaaa" not in found.document.title


def test_F06_neighbour_rejects_a_truncated_baseline_file(write, counts):
    path = write("in.xml", gzip.compress(article_set(*(article(number) for number in range(1, 400))))[:-12])
    with pytest.raises(InputError, match=r"in\.xml: damaged gzip"):
        list(read_pubmed(path, counts))


def test_the_older_citation_set_is_read_too(write, counts):
    inner = article(3).removeprefix("<PubmedArticle>").removesuffix("</PubmedArticle>")
    path = write("in.xml.gz", f"<MedlineCitationSet>{inner}</MedlineCitationSet>")
    assert [item.document.doc_id for item in read_pubmed(path, counts)] == ["3"]


def test_an_answer_is_read_like_a_file(counts):
    body = article_set(article(1), "<DeleteCitation><PMID>7</PMID><PMID>x</PMID></DeleteCitation>")
    first, second = parse_pubmed(body, "efetch", counts)
    assert first.document == Document("1", "A title.", "Some text.")
    assert second == Deletion("7")


def test_uses_the_vernacular_title_if_the_title_is_missing(read):
    (found,) = read(citation("<ArticleTitle/><VernacularTitle>Titel.</VernacularTitle>"))
    assert found.document.title == "Titel."


def test_records_survive_a_round_trip_as_lines(read):
    records = [*read(article(1, "Ünïcode\u2029 <i>α</i>"), citation("", date="")), Deletion("9")]
    assert [from_line(to_line(record)) for record in records] == records
    assert not [line for line in map(to_line, records) if len(line.splitlines()) > 1]


@pytest.mark.parametrize(("raw", "pmid"), [("12", "12"), (" 0012 ", "12"), ("0", None), ("1.0", None), ("١", None)])
def test_a_pmid_is_a_number_without_leading_zeros(raw, pmid):
    assert pmid_of(raw) == pmid


BASELINE = article_set(article(900012), article(900013, "First."))
UPDATE = article_set(
    article(900013, "Second.", version=2), "<DeleteCitation><PMID Version='1'>900012</PMID></DeleteCitation>"
)


def standing(paths, counts):
    """The current titles, by PMID."""
    files = baseline_files(paths)
    records = [(number, place, item) for number, path in enumerate(files) for place, item in _read(path, counts)]
    known = LatestVersions(files)
    for number, place, item in records:
        known.note(item, number, place)
    return {
        item.document.doc_id: item.document.title
        for number, place, item in records
        if isinstance(item, Citation) and known.is_current(item, number, place)
    }


def _read(path, counts):
    return enumerate(read_pubmed(path, counts))


@pytest.mark.parametrize(
    ("baseline", "update"),
    [
        ("pubmed24n0001.xml.gz", "pubmed24n1300.xml.gz"),
        ("baseline.xml", "update.xml"),
        ("old.xml", "new.xml"),
        ("z.xml", "a.xml.gz"),
    ],
)
def test_X04_deletions_and_versions_count_in_any_order(write, counts, baseline, update):
    paths = [write(baseline, BASELINE), write(update, UPDATE)]
    for order in itertools.permutations(paths):
        assert standing(order, counts) == {"900013": "Second."}
    assert standing([paths[0].parent], counts) == {"900013": "Second."}


def test_X04_neighbours_later_revisions_and_republished_citations(write, counts):
    revised = article(1, "Revised.").replace("<Article>", "<DateRevised><Year>2020</Year></DateRevised><Article>")
    delete = "<DeleteCitation><PMID>2</PMID><PMID>3</PMID><PMID>9</PMID></DeleteCitation>"
    paths = [
        write("pubmed24n0002.xml", article_set(article(1, "Later."), article(2, "Gone."), article(3, "Gone."))),
        write("pubmed24n0001.xml", article_set(revised, article(4, "Old."), article(4, "New in its file."))),
        write("pubmed24n0010.xml", article_set(delete)),
        write("pubmed24n0011.xml", article_set(article(3, "Given again."))),
    ]
    for order in itertools.permutations(paths):
        assert standing(order, counts) == {"1": "Revised.", "3": "Given again.", "4": "New in its file."}


def test_finds_baseline_files_and_rejects_folders_without_any(write, tmp_path):
    write("a/pubmed24n0010.xml.gz", "x")
    write("a/b/pubmed24n0009.xml.gz", "x")
    write("a/pubmed24n0009.xml.gz.md5", "x")
    write("a/extra.xml", "x")
    names = [path.name for path in baseline_files([tmp_path / "a", tmp_path / "a" / "extra.xml"])]
    assert names == ["extra.xml", "pubmed24n0009.xml.gz", "pubmed24n0010.xml.gz"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: no \.xml"):
        baseline_files([tmp_path / "empty"])
    with pytest.raises(InputError, match="nowhere: no such"):
        baseline_files([tmp_path / "nowhere"])
