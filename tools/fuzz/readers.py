"""The readers to fuzz, each with small valid files to mutate and a function that reads a whole file.

A reader yields its records, so that the fuzzer can check whether they fit biorel's tables.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from biorel.counts import Counts
from biorel.dataset.splits import read_ids, read_splits
from biorel.errors import FetchError
from biorel.fetch.archives import unpack
from biorel.fetch.eutils import fetch_articles, search
from biorel.fetch.http import MAX_ANSWER, BadAnswerError
from biorel.fetch.pubtator_api import export
from biorel.fetch.pubtator_dump import filter_dump
from biorel.formats.bioc.reader import read_bioc
from biorel.formats.chemprot import read_chemprot
from biorel.formats.documents import read_records
from biorel.formats.jsonl import read_jsonl
from biorel.formats.pmids import read_pmids
from biorel.formats.predictions import read_predictions
from biorel.formats.pubmed import Citation, parse_pubmed, read_pubmed
from biorel.formats.pubtator import read_pubtator
from biorel.formats.relations import read_relations
from biorel.formats.spo import read_spo
from biorel.formats.squad import read_squad
from biorel.knowledge.ctd import read_curations, read_facts, read_interaction_types
from biorel.knowledge.ctd_vocabularies import read_alternate_ids, read_vocabularies
from biorel.knowledge.known_pairs import read_known_pairs
from biorel.knowledge.mesh import read_mesh
from biorel.knowledge.mesh_files import read_terms
from biorel.records import Document, Entity, Evidence, Mention, Relation
from biorel.tables import write_table
from tests.servers import article, article_set

SAMPLE = Path(__file__).parents[2] / "resources" / "sample"


@dataclass(frozen=True)
class Reader:
    """A reader of one file.

    Attributes:
        file: name of the file, as some readers go by names.
        seeds: makes the valid files.
        read: yields all records of the file at a path.
        companions: valid files that the reader expects in the same folder, by name.
    """

    file: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], Iterable[Any]]
    companions: Callable[[], dict[str, bytes]] = field(default=dict)


class Answers:
    """A client that answers every request with the content of one file."""

    def __init__(self, path: Path) -> None:
        self._content = path.read_bytes()
        if len(self._content) > MAX_ANSWER:
            raise FetchError("too large")

    def once(self, path: str, parameters: Any, *, post: bool = False) -> bytes:
        posted = b"<ePostResult><QueryKey>1</QueryKey><WebEnv>x</WebEnv></ePostResult>"
        return posted if path == "epost.fcgi" and b"ePostResult" not in self._content else self._content

    def ask(self, path: str, parameters: Any, read: Callable[[bytes], Any], *, post: bool = False) -> Any:
        return self.repeat(path, lambda: read(self.once(path, parameters)))

    def repeat(self, place: str, attempt: Callable[[], Any]) -> Any:
        """Run the attempt once: asking again would give the same answer."""
        try:
            return attempt()
        except BadAnswerError as error:
            raise FetchError(error.reason) from error


def _pubtator() -> list[bytes]:
    blocks = (SAMPLE / "abstracts.pubtator.txt").read_text(encoding="utf-8").split("\n\n")
    odd = "7|t|β-drug 😀 x\n7|a|of TNF-α\n7\t0\t6\tβ-drug\tChemical\tD000001|D000002\n7\tCID\tD000001\tD000002"
    return [blocks[0].encode() + b"\n\n", f"{odd}\n\n{blocks[1][:900]}\n".encode()]


def _jsonl() -> list[bytes]:
    lines = (SAMPLE / "abstracts.jsonl").read_text(encoding="utf-8").splitlines()
    whole = {
        "id": "a1",
        "text": "Naloxone reverses. The effect 😀 of clonidine.",
        "entities": [{"start": 0, "end": 8, "text": "Naloxone", "type": "Chemical", "id": ["D009270", "D1|D2"]}],
        "relations": [{"head": {"id": "D009270", "type": "Chemical"}, "relation": "CID", "tail": "D007022"}],
    }
    return [f"{lines[0]}\n".encode(), f"{json.dumps(whole)}\n{lines[1]}\n".encode()]


def _bioc_json() -> list[bytes]:
    mark = {
        "id": "1",
        "infons": {"type": "Chemical", "identifier": ["MESH:D009270"], "MESH": "D1"},
        "text": "Naloxone",
        "locations": [{"offset": 0, "length": 8}],
    }
    relation = {
        "id": "R1",
        "infons": {"type": "CID", "role1": {"identifier": "D009270", "type": "Chemical"}, "role2": "Disease|D007022"},
        "nodes": [{"refid": "1", "role": "arg1"}],
    }
    passages = [
        {
            "infons": {"type": "title"},
            "offset": 0,
            "text": "Naloxone reverses.",
            "annotations": [mark],
            "relations": [],
        },
        {"offset": 19, "sentences": [{"offset": 19, "text": "The β effect.", "annotations": []}], "annotations": []},
    ]
    document = {"id": "1", "infons": {}, "passages": passages, "relations": [relation]}
    lines = "\n".join(json.dumps(document) for _ in range(2))
    return [json.dumps({"documents": [document]}, indent=1).encode(), lines.encode()]


def _bioc_xml() -> list[bytes]:
    annotation = (
        '<annotation id="1"><infon key="type">Chemical</infon><infon key="identifier">MESH:D009270</infon>'
        '<location offset="0" length="8"/><text>Naloxone</text></annotation>'
    )
    passage = f'<passage><infon key="type">title</infon><offset>0</offset><text>Naloxone.</text>{annotation}</passage>'
    rest = "<passage><offset>10</offset><sentence><offset>10</offset><text>A β.</text></sentence></passage>"
    relation = '<relation id="R"><infon key="type">CID</infon><node refid="1" role="a"/></relation>'
    doctype = '<!DOCTYPE collection SYSTEM "BioC.dtd">'
    head = f'<?xml version="1.0" encoding="UTF-8"?>{doctype}<collection><source>s</source>'
    return [f"{head}<document><id>1</id>{passage}{rest}{relation}</document></collection>".encode()]


def _pubmed() -> list[bytes]:
    parts = '<AbstractText Label="AIM">To <sub>2</sub>.</AbstractText>'
    labelled = article(3).replace("<AbstractText>Some text.</AbstractText>", parts)
    deleted = "<DeleteCitation><PMID>9</PMID></DeleteCitation>"
    return [article_set(article(1, version=2), labelled), article_set(article(2), deleted)]


def _rows(name: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        lines = (SAMPLE / "ctd" / name).read_bytes().splitlines(keepends=True)
        return [b"".join(lines if name.endswith("types.csv") else lines[:34])]

    return seeds


def _vocabulary() -> list[bytes]:
    head = "# Fields:\n# DiseaseName,DiseaseID,AltDiseaseIDs,Definition,ParentIDs,TreeNumbers,Synonyms\n#\n"
    return [f'{head}"Fever, high",MESH:D005334,OMIM:1|DO:2,,,C23,pyrexia|Fevers\nTremor,OMIM:3,,,,,\n'.encode()]


def _mesh_xml() -> list[bytes]:
    terms = "<ConceptList><Concept><TermList><Term><String>Heat</String></Term></TermList></Concept></ConceptList>"
    record = (
        "<DescriptorRecord><DescriptorUI>D005334</DescriptorUI><DescriptorName><String>Fever</String></DescriptorName>"
        f"<TreeNumberList><TreeNumber>C23.888</TreeNumber></TreeNumberList>{terms}</DescriptorRecord>"
    )
    mapped = (
        "<SupplementalRecord><SupplementalRecordUI>C000001</SupplementalRecordUI><SupplementalRecordName>"
        "<String>x</String></SupplementalRecordName><HeadingMappedToList><HeadingMappedTo><DescriptorReferredTo>"
        "<DescriptorUI>*D005334</DescriptorUI></DescriptorReferredTo></HeadingMappedTo></HeadingMappedToList>"
        "</SupplementalRecord>"
    )
    head = '<?xml version="1.0"?>\n'
    return [
        f"{head}<DescriptorRecordSet>{record}</DescriptorRecordSet>".encode(),
        f"{head}<SupplementalRecordSet>{mapped}</SupplementalRecordSet>".encode(),
    ]


def _mesh_rows() -> list[bytes]:
    tree = "Tree Number\tDesc Ui\tTerm\nC23.888\tD005334\tFever\nC10\tD009422\tÉpilepsy\n"
    return [tree.encode(), tree.encode("utf-16"), "Fever;C23.888\nÉpilepsy;C10\n".encode("iso-8859-1")]


def _tree_file(path: Path) -> Path:
    return path.with_name("tree.tsv")


def _tree_companion() -> dict[str, bytes]:
    return {"tree.tsv": _mesh_rows()[0]}


def _relations() -> list[Relation]:
    head, tail = Entity("MESH:D009270", "Chemical", "Naloxone"), Entity("MESH:D007022", "Disease", "low β")
    evidence = (Evidence((0, 8), (10, 15), 0.75, (0, 20)), Evidence((0, 8), (16, 18), 0.25, (0, 20)))
    return [Relation("1", head, "CID", tail, 0.5, evidence), Relation("2", tail, "r", head, 1.0, ())]


def _relation_lines() -> list[bytes]:
    from biorel.formats.relations import relation_row

    return ["".join(f"{json.dumps(relation_row(row))}\n" for row in _relations()).encode()]


def _parquet(kind: type, records: Callable[[], list[Any]]) -> Callable[[], list[bytes]]:
    @cache
    def content() -> bytes:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            write_table(Path(folder) / "table", kind, records())
            return (Path(folder) / "table").read_bytes()

    return lambda: [content()]


def _documents() -> list[Document]:
    return [Document(str(number), f"Title {number} 😀", "An abstract. " * number) for number in range(5)]


def _mentions() -> list[Mention]:
    return [Mention(str(number), 0, 5, "Title", "Chemical", "MESH:D1" if number else None) for number in range(5)]


def _zip() -> list[bytes]:
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("set/rows.tsv", "1\t2\n" * 50)
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("C/inner.zip", inner.getvalue())
        archive.writestr("C/readme.txt", "hello " * 20)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a", "text " * 99)
        archive.writestr("b", "text " * 99, zipfile.ZIP_LZMA)
    return [outer.getvalue(), packed.getvalue()]


_CHEMPROT = {
    "abstracts.tsv": b"1\tA title\tAn abstract with asparagine.\n2\tB\tC\n",
    "entities.tsv": b"1\tT1\tCHEMICAL\t25\t35\tasparagine\n1\tT2\tGENE-Y\t0\t1\tA\n",
    "relations.tsv": b"1\tCPR:9\tY \tPRODUCT-OF\tArg1:T1\tArg2:T2\n1\tPRODUCT-OF\tArg1:T1\tArg2:T2\n",
}


def _chemprot(name: str) -> Reader:
    def read(path: Path) -> Iterator[Any]:
        return read_chemprot(*(path.with_name(other) for other in _CHEMPROT), Counts())

    companions = {other: content for other, content in _CHEMPROT.items() if other != name}
    return Reader(name, lambda: [_CHEMPROT[name]], read, lambda: companions)


def _dump(path: Path) -> Iterator[Any]:
    with io.BytesIO() as out:
        filter_dump(path, ["7", "227508"], out, Counts())
        yield out.getvalue()


def _unpacked(path: Path) -> Iterator[Any]:
    import shutil

    folder = path.with_name("unpacked")
    try:
        yield from (str(file) for file in unpack(path, folder, max_bytes=2**27, max_files=1000))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _citations(records: Iterable[Any]) -> Iterator[Any]:
    for record in records:
        yield from (record.document, record.article) if isinstance(record, Citation) else (record.doc_id,)


_INVALID = "<InvalidIdList><Id>1</Id><Id>2</Id><Id>3</Id></InvalidIdList>"


def _search() -> list[bytes]:
    result = {"count": "3", "retmax": "3", "retstart": "0", "idlist": ["1", "2", "3"], "errorlist": {}}
    return [json.dumps({"header": {}, "esearchresult": result}).encode()]


def _predictions(path: Path) -> Iterator[Any]:
    found = read_predictions(path, Counts())
    yield from found.facts or ()
    for mentions in (found.mentions or {}).values():
        yield from mentions


def _records(path: Path) -> Iterator[Any]:
    return (record for _, record in read_records(path, Counts()))


def _ids(path: Path) -> Iterator[Any]:
    yield from read_splits(path, Counts()).items()
    yield from read_ids([path], Counts())


def _squad() -> list[bytes]:
    answers = [{"text": "tremor", "answer_start": 15}, {"text": "β 😀", "answer_start": 3}]
    asked = [
        {"id": "q1", "question": "What did it cause?", "is_impossible": False, "answers": answers},
        {"id": 2, "question": "Who?", "is_impossible": True, "answers": []},
    ]
    paragraphs = [{"context": "Lithium caused tremor. Some β 😀 came.", "qas": asked}]
    return [json.dumps({"version": "v2.0", "data": [{"title": "A", "paragraphs": paragraphs}]}).encode()]


def _questions(path: Path) -> Iterator[Any]:
    for document, questions in read_squad(path, Counts()):
        yield document
        yield from questions


READERS: dict[str, Reader] = {
    "bioc-xml": Reader("a.xml", _bioc_xml, lambda path: read_bioc(path, Counts())),
    "bioc-json": Reader("a.json", _bioc_json, lambda path: read_bioc(path, Counts())),
    "pubtator": Reader("a.txt", _pubtator, lambda path: read_pubtator(path, Counts())),
    "jsonl": Reader("a.jsonl", _jsonl, lambda path: (record for _, record in read_jsonl(path, Counts()))),
    "any-format": Reader("a", lambda: [*_pubtator(), *_jsonl(), *_bioc_json(), *_bioc_xml()], _records),
    "documents-table": Reader("documents.parquet", _parquet(Document, _documents), _records),
    "mentions-table": Reader(
        "mentions.parquet",
        _parquet(Mention, _mentions),
        lambda path: _records(path.with_name("documents.parquet")),
        lambda: {"documents.parquet": _parquet(Document, _documents)()[0]},
    ),
    "predictions": Reader("a", lambda: [*_relation_lines(), *_jsonl(), *_pubtator()], _predictions),
    "relations-jsonl": Reader("a.jsonl", _relation_lines, lambda path: read_relations(path, Counts())),
    "relations-table": Reader("a.parquet", _parquet(Relation, _relations), lambda path: read_relations(path, Counts())),
    "pubmed": Reader("a.xml", _pubmed, lambda path: _citations(read_pubmed(path, Counts()))),
    "pubmed-answer": Reader("a", _pubmed, lambda path: _citations(parse_pubmed(path.read_bytes(), "a", Counts()))),
    "mesh": Reader(
        "a",
        lambda: [*_mesh_rows(), *_mesh_xml()],
        lambda path: [vars(read_mesh([path, _tree_file(path)], Counts()))],
        _tree_companion,
    ),
    "mesh-terms": Reader("a", _mesh_xml, lambda path: read_terms([path], Counts())),
    "ctd-chemicals-genes": Reader(
        "CTD_chem_gene_ixns.csv",
        _rows("CTD_chem_gene_ixns.csv"),
        lambda path: read_curations(path.parent, Counts()),
    ),
    "ctd-chemicals-diseases": Reader(
        "CTD_chemicals_diseases.csv",
        _rows("CTD_chemicals_diseases.csv"),
        lambda path: read_curations(path.parent, Counts()),
    ),
    "ctd-types": Reader(
        "CTD_chem_gene_ixn_types.csv",
        _rows("CTD_chem_gene_ixn_types.csv"),
        lambda path: read_interaction_types(path.parent, Counts()).items(),
    ),
    "ctd-alternates": Reader("CTD_diseases.csv", _vocabulary, lambda path: read_alternate_ids(path, Counts()).items()),
    "ctd-vocabulary": Reader("CTD_diseases.csv", _vocabulary, lambda path: read_vocabularies(path.parent, Counts())),
    "chemprot-abstracts": _chemprot("abstracts.tsv"),
    "chemprot-entities": _chemprot("entities.tsv"),
    "chemprot-relations": _chemprot("relations.tsv"),
    "pmids": Reader(
        "a.txt",
        lambda: [b"227508\nPMID: 12\t2001\n# x\nabc\n\xef\xbc\x91\n"],
        lambda path: [read_pmids([path], Counts())],
    ),
    "splits": Reader("a.tsv", lambda: [b"227508\ttrain\t12\n\n12\tdev\n13\ttest\n"], _ids),
    "squad": Reader("a.json", _squad, _questions),
    "known-pairs": Reader(
        "a.tsv",
        lambda: [b"ChemicalID\tDiseaseID\tPubMedIDs\nC112297\tD006948\t19098162|7\nMESH:D1\tOMIM:2\n# x\n"],
        lambda path: read_known_pairs(path, Counts(), {"7"}),
    ),
    "spo": Reader(
        "a.spo",
        lambda: [b"lithium\tcauses\ttremor\n\nrash  x\tis_a\tskin disease\n"],
        lambda path: read_spo(path, Counts()),
    ),
    "ctd-facts": Reader(
        "a.tsv",
        lambda: [
            b"ChemicalID\tDiseaseID\tPubMedIDs\nC112297\tD006948\t19098162|7\nD000001\tMESH:D2\t\n",
            b"ChemicalID\tDiseaseID\tDirectEvidence\tPubMedIDs\nC112297\tD006948\ttherapeutic|marker/mechanism\t7\n",
        ],
        lambda path: read_facts(path, Counts(), {}),
    ),
    "pubtator-dump": Reader("a", _pubtator, _dump),
    "zip": Reader("a.zip", _zip, _unpacked),
    "pubtator-service": Reader(
        "a",
        _pubtator,
        lambda path: export(Answers(path), ["7", "227508"], "pubtator").items(),  # type: ignore[arg-type]
    ),
    "bioc-service": Reader(
        "a",
        _bioc_json,
        lambda path: export(Answers(path), ["1", "227508"], "biocjson").items(),  # type: ignore[arg-type]
    ),
    "search-service": Reader("a", _search, lambda path: search(Answers(path), "q", Counts())),  # type: ignore[arg-type]
    "article-service": Reader(
        "a",
        lambda: [*_pubmed(), f"<ePostResult>{_INVALID}</ePostResult>".encode()],
        lambda path: _citations(fetch_articles(Answers(path), ["1", "2", "3"])),  # type: ignore[arg-type]
    ),
}
"""The readers by name: of files that a user gives to biorel, and of answers that a service sends."""
