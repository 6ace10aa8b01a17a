"""X: variants of PubMed XML."""

from __future__ import annotations

import pytest

from biorel.commands import fetch_pubmed
from biorel.config.fetch_pubmed import FetchPubmed
from biorel.counts import Counts, Reason
from biorel.formats.pubmed import parse_pubmed
from biorel.records import Article
from biorel.tables import read_table
from tests.command_runs import command_line, flags
from tests.field.tables import counts, missing
from tests.servers import article, article_set


def parsed(*articles: str, counts: Counts | None = None):
    return parse_pubmed(article_set(*articles), "here", counts or Counts())


def with_abstract(inner: str, pmid: int = 900001) -> str:
    return article(pmid, "Title.", "x").replace("<AbstractText>x</AbstractText>", inner)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (
            '<AbstractText Label="">Aa.</AbstractText><AbstractText Label="RESULTS">Bb.</AbstractText>'
            "<AbstractText>Cc.</AbstractText>",
            "Aa. RESULTS: Bb. Cc.",
        ),
        (
            '<AbstractText Label="AIM">Aa.</AbstractText><AbstractText Label=" "/><AbstractText>Cc.</AbstractText>',
            "AIM: Aa. Cc.",
        ),
        (
            '<AbstractText>\n  Aa.\n</AbstractText><AbstractText Label="UNLABELLED">Bb.</AbstractText>',
            "Aa. UNLABELLED: Bb.",
        ),
        ("<AbstractText>Aa.</AbstractText><CopyrightInformation>(c) me</CopyrightInformation>", "Aa."),
    ],
)
def test_x_01_keeps_all_parts_of_a_structured_abstract_in_order(parts, text):
    (found,) = parsed(with_abstract(parts))
    assert found.document.abstract == text


def other(language: str, text: str, own: str = "") -> str:
    attribute = f' Language="{language}"' if language else ""
    extra = f'<OtherAbstract Type="Publisher"{attribute}><AbstractText>{text}</AbstractText></OtherAbstract>'
    return article(900001, "Title.", own).replace("</MedlineCitation>", f"{extra}</MedlineCitation>")


@pytest.mark.parametrize(
    ("record", "text", "source"),
    [
        (other("eng", "English."), "English.", "other abstract"),
        (other("", "Unsaid."), "Unsaid.", "other abstract"),
        (other("spa", "Hola.", own="Mine."), "Mine.", "abstract"),
        (other("eng", "English.", own="Mine."), "Mine.", "abstract"),
        (other("spa", "Hola."), "", "none"),
    ],
)
def test_x_03_uses_another_abstract_only_if_there_is_none(record, text, source):
    (found,) = parsed(record)
    assert (found.document.abstract, found.article.abstract_source) == (text, source)


BASE = article_set(article(900011), article(900012), article(900013, "Old."), article(900014, "Old.", version=3))
DELETED = "<DeleteCitation><PMID Version='1'>900012</PMID></DeleteCitation>"
UPDATE = article_set(article(900013, "New.", version=2), article(900014, "New.", version=2), DELETED)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("names", [("pubmed24n0001.xml", "pubmed24n1300.xml"), ("old.xml", "pubmed24n0900.xml.gz")])
def test_x_04_applies_deletions_and_versions_in_any_order(write, tmp_path, order, names):
    folders = {"a": write(f"a/{names[0]}", BASE).parent, "b": write(f"b/{names[1]}", UPDATE).parent}
    given = {"baseline": [folders[name] for name in order], "out": tmp_path / "out"}
    out = fetch_pubmed.run(FetchPubmed.model_validate(given)).path
    versions = {item.doc_id: item.version for item in read_table(out / "articles.parquet", Article)}
    assert versions == {"900011": 1, "900013": 2, "900014": 3}
    assert missing(out) == {"900012": "deleted from PubMed"}
    assert counts(out)[Reason.CITATION_SUPERSEDED] == 2


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", 1998),
        ("", None),
        ("<MedlineDate>Winter 2003-2004</MedlineDate>", 2003),
        ("<Season>Spring</Season>", None),
        ("<MedlineDate>Dec 18</MedlineDate>", None),
    ],
)
def test_x_06_an_unusual_or_missing_date_loses_no_document(write, tmp_path, date, year):
    record = article(900001).replace("<Year>2001</Year>", date)
    given = {"baseline": [write("a.xml", article_set(record, article(900002)))], "out": tmp_path / "out"}
    out = fetch_pubmed.run(FetchPubmed.model_validate(given)).path
    years = {item.doc_id: item.year for item in read_table(out / "articles.parquet", Article)}
    assert years == {"900001": year, "900002": 2001}


CITED = (
    "<CommentsCorrectionsList><CommentsCorrections RefType='Cites'><PMID Version='1'>900099</PMID>"
    "</CommentsCorrections></CommentsCorrectionsList>"
)
REFERENCES = (
    "<PubmedData><ArticleIdList><ArticleId IdType='pubmed'>900010</ArticleId></ArticleIdList><ReferenceList><Reference>"
    "<ArticleIdList><ArticleId IdType='pubmed'>900098</ArticleId></ArticleIdList></Reference></ReferenceList>"
    "</PubmedData>"
)
BOOK = (
    "<PubmedBookArticle><BookDocument><PMID Version='1'>900010</PMID><Book><BookTitle>Drugs</BookTitle></Book>"
    "<ArticleTitle>Zetin</ArticleTitle><ReferenceList><Reference><PMID>900097</PMID></Reference></ReferenceList>"
    "</BookDocument></PubmedBookArticle>"
)


@pytest.mark.parametrize(
    "record",
    [
        article(900010).replace("</MedlineCitation>", f"{CITED}</MedlineCitation>"),
        article(900010).replace("</MedlineCitation>", f"</MedlineCitation>{REFERENCES}"),
        BOOK,
    ],
    ids=["cited", "references", "book"],
)
def test_x_07_cited_articles_are_not_documents(record):
    assert [found.document.doc_id for found in parsed(record)] == ["900010"]


def test_x_07_a_record_with_only_citations_has_no_id(counts):
    record = article(900010).replace('<PMID Version="1">900010</PMID>', CITED)
    assert parsed(record, counts=counts) == []
    assert counts[Reason.RECORD_WITHOUT_PMID] == 1


@pytest.mark.parametrize(
    ("content", "root"),
    [
        ("<article><front><article-meta/></front></article>", "<article>"),
        ("<pmc-articleset><article/></pmc-articleset>", "<pmc-articleset>"),
        ("<collection><document/></collection>", "<collection>"),
    ],
)
def test_x_08_names_the_root_of_another_kind_of_xml(capsys, write, tmp_path, content, root):
    path = write("wrong.xml", content)
    code, _, err = command_line(capsys, "fetch", "pubmed", *flags(baseline=path, out=tmp_path / "out"))
    assert code == 3
    assert f"{path}: root element {root} where <PubmedArticleSet> or" in err
    assert not (tmp_path / "out").exists()


def test_x_08_does_not_read_pubmed_xml_as_bioc(capsys, write, tmp_path):
    """Both formats use the suffix .xml; the root element distinguishes them."""
    path = write("abstracts.xml", article_set(article(900001)))
    code, _, err = command_line(capsys, "extract", path, *flags(out=tmp_path / "r.jsonl"))
    assert code == 0, err
    assert '"900001"' in (tmp_path / "r.jsonl.status.jsonl").read_text()
