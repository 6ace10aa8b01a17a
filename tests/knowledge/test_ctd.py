"""CTD bulk files into curations, the interaction types, and the alternates of disease ids."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.knowledge.ctd import read_curations, read_interaction_types
from biorel.knowledge.ctd_vocabularies import read_alternate_ids
from biorel.records import Curation
from tests.builders import read_and_lost

REMARKS = "# The Comparative Toxicogenomics Database (CTD)\n#\n# Report created: now, then\n#\n# Fields:\n"
GENE_COLUMNS = (
    "ChemicalName,ChemicalID,CasRN,GeneSymbol,GeneID,GeneForms,Organism,OrganismID,"
    "Interaction,InteractionActions,PubMedIDs"
)
CHEMICAL_COLUMNS = (
    "ChemicalName,ChemicalID,CasRN,DiseaseName,DiseaseID,DirectEvidence,"
    "InferenceGeneSymbol,InferenceScore,OmimIDs,PubMedIDs"
)
GENE_DISEASE_COLUMNS = (
    "GeneSymbol,GeneID,DiseaseName,DiseaseID,DirectEvidence,InferenceChemicalName,InferenceScore,OmimIDs,PubMedIDs"
)


def table(columns, *rows, remarks=REMARKS, mark="# "):
    """A CTD file; tab-separated where the columns are."""
    return f"{remarks}{mark}{columns}\n#\n" + "".join(f"{row}\n" for row in rows)


def chemical(evidence, articles, *, name="alphadrug", chemical_id="C900001", disease_id="MESH:D900002"):
    inferred = ",," if evidence else ",GEN1,4.2"
    return f"{name},{chemical_id},,tremor,{disease_id},{evidence}{inferred},,{articles}"


@pytest.fixture
def read(tmp_path, counts):
    def _read(doc_ids=None):
        return list(read_curations(tmp_path, counts, doc_ids))

    return _read


def fact(article, relation, tail="MESH:D900002", asserted=True):
    return Curation(article, "Chemical", "MESH:C900001", relation, "Disease", tail, asserted)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".tsv.gz"])
def test_every_file_and_packing_gives_one_curation_for_each_article_and_action(write, read, counts, suffix):
    files = {
        "CTD_chem_gene_ixns": table(
            GENE_COLUMNS,
            "alphadrug,C900001,,GEN1,9003,protein,Homo sapiens,9606,text,decreases^activity|increases^expression,1|2",
        ),
        "CTD_chemicals_diseases": table(CHEMICAL_COLUMNS, chemical("marker/mechanism|therapeutic", "3")),
        "CTD_genes_diseases": table(GENE_DISEASE_COLUMNS, "GEN1,9003,tremor,OMIM:900208,therapeutic,,,,4"),
    }
    for name, text in files.items():
        write(name + suffix, text if ".csv" in suffix else text.replace(",", "\t"))
    gene = ("Gene", "NCBIGene:9003")
    assert read() == [
        Curation(article, "Chemical", "MESH:C900001", action, *gene)
        for article in ("1", "2")
        for action in ("decreases^activity", "increases^expression")
    ] + [
        fact("3", "marker/mechanism"),
        fact("3", "therapeutic"),
        Curation("4", *gene, "therapeutic", "Disease", "OMIM:900208"),
    ]
    assert read_and_lost(counts) == {Reason.CTD_ROWS_READ: 3}


def test_C02_inferred_rows_are_not_asserted_and_are_counted(write, read, counts):
    rows = [chemical("marker/mechanism", "1"), chemical("", "2|3", disease_id="D900003"), chemical("", "")]
    write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, *rows))
    assert read() == [
        fact("1", "marker/mechanism"),
        fact("2", "", "MESH:D900003", asserted=False),
        fact("3", "", "MESH:D900003", asserted=False),
    ]
    assert counts[Reason.CTD_ROWS_READ] == 3
    assert counts[Reason.CTD_ROW_INFERRED] == 2
    assert counts[Reason.CTD_ROW_WITHOUT_PMID] == 1


def test_an_interaction_without_an_action_is_not_inferred(write, read, counts):
    write(
        "CTD_chem_gene_ixns.csv",
        table(GENE_COLUMNS, "a,C900001,,G,9003,,,,text,,1", "a,C900001,,G,9003,,,,text,affects^binding,1"),
    )
    assert [curation.relation for curation in read()] == ["affects^binding"]
    assert read_and_lost(counts) == {
        Reason.CTD_ROW_WITHOUT_ACTION: 1,
        Reason.CTD_ROWS_READ: 2,
        Reason.CTD_TABLE_ABSENT: 2,
    }


QUOTED = ["alpha", '"beta', "gamma", '"delta']


def test_C03_a_stray_quote_swallows_no_row_of_a_csv(write, read, counts):
    rows = [chemical("therapeutic", str(at), name=name) for at, name in enumerate(QUOTED)]
    path = write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, *rows))
    assert [curation.doc_id for curation in read()] == ["0", "2"]
    assert counts[Reason.ROW_MALFORMED] == 2
    assert counts.examples[Reason.ROW_MALFORMED] == [f"{path}:9", f"{path}:11"]


def test_quoted_commas_and_doubled_quotes_are_one_cell(write, read, counts):
    names = ['"2,4-drug"', '"a ""so-called"" drug, too"', "5'-drug", '3"-drug', '"alpha"-drug']
    rows = [chemical("therapeutic", str(at), name=name) for at, name in enumerate(names)]
    write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, *rows))
    assert read() == [fact(str(at), "therapeutic") for at in range(len(names))]
    assert counts[Reason.ROW_MALFORMED] == 0


def test_C04_names_like_NA_and_null_are_names(write, read):
    rows = [
        f"NA,C900001,,{symbol},{gene},,,,text,affects^binding,1"
        for symbol, gene in (("NA", 1), ("null", 2), ("nan", 3))
    ]
    write("CTD_chem_gene_ixns.csv", table(GENE_COLUMNS, *rows))
    assert [curation.tail_id for curation in read()] == ["NCBIGene:1", "NCBIGene:2", "NCBIGene:3"]


def test_C05_ids_are_text_end_to_end(write, read, counts):
    rows = [chemical("therapeutic", articles) for articles in ("900001", "", "900003", "900001.0|x|7; 8|7")]
    path = write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, *rows))
    assert [curation.doc_id for curation in read()] == ["900001", "900003", "7", "8"]
    assert counts[Reason.CTD_ROW_WITHOUT_PMID] == 1
    assert counts[Reason.CTD_PMID_NOT_A_NUMBER] == 2
    assert counts.examples[Reason.CTD_PMID_NOT_A_NUMBER] == [f"{path}:11"] * 2


@pytest.mark.parametrize(("raw", "known"), [("", False), ("-", False), ("D900001", True), ("mesh:d900001", True)])
def test_counts_rows_without_a_concept(write, read, counts, raw, known):
    write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, chemical("therapeutic", "1", chemical_id=raw)))
    assert [curation.head_id for curation in read()] == ["MESH:D900001"] * known
    assert counts[Reason.CTD_ROW_WITHOUT_CONCEPT] == (not known)


def test_counts_malformed_rows_with_their_place(write, read, counts):
    good = chemical("therapeutic", "1")
    broken = chemical("therapeutic", "3", name='"a"\rb')
    rows = ["alphadrug,C900001", good, chemical("therapeutic", "2") + ",more", "", broken]
    path = write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, *rows))
    assert [curation.doc_id for curation in read()] == ["1"]
    assert counts.examples[Reason.ROW_MALFORMED] == [f"{path}:8", f"{path}:10", f"{path}:12"]
    assert counts[Reason.CTD_ROWS_READ] == 4


@pytest.mark.parametrize(("remarks", "mark"), [(REMARKS, "# "), (REMARKS, "#"), ("", ""), ("\ufeff", ""), ("\n", "")])
def test_finds_columns_by_name_with_or_without_the_comment_sign(write, read, remarks, mark):
    columns = "PubMedIDs,DirectEvidence,DiseaseID,Extra,ChemicalID"
    write(
        "CTD_chemicals_diseases.csv",
        table(columns, "1,therapeutic,MESH:D900002,,C900001", remarks=remarks, mark=mark).replace("\n#\n", "\n"),
    )
    assert read() == [fact("1", "therapeutic")]


def test_a_name_may_begin_with_the_comment_sign(write, read):
    rows = [chemical("therapeutic", "1"), chemical("therapeutic", "2", name="#drug")]
    write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, *rows))
    assert [curation.doc_id for curation in read()] == ["1", "2"]


@pytest.mark.parametrize("text", ["", REMARKS, table("ChemicalID,DiseaseID", "a,b"), "a,b,c\nd,e,f\n"])
def test_a_file_without_the_columns_is_an_error(write, read, text):
    write("CTD_chemicals_diseases.csv", text)
    with pytest.raises(InputError, match="the column names ChemicalID, DiseaseID, PubMedIDs, DirectEvidence"):
        read()


def test_returns_only_the_requested_articles(write, read, counts):
    rows = [chemical("therapeutic", "1|2"), chemical("therapeutic", "3"), chemical("", "2|4")]
    write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, *rows))
    assert read({"2", "9"}) == [fact("2", "therapeutic"), fact("2", "", asserted=False)]
    assert counts[Reason.CTD_ROW_OF_OTHER_ARTICLES] == 1
    assert read(frozenset()) == []


def test_the_curated_edition_is_preferred_and_the_other_counted(write, read, counts):
    write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, chemical("therapeutic", "1")))
    write("CTD_curated_chemicals_diseases.csv.gz", table(CHEMICAL_COLUMNS, chemical("therapeutic", "2")))
    assert [curation.doc_id for curation in read()] == ["2"]
    reason = Reason.CTD_FILE_SUPERSEDED
    assert counts.examples[reason] == ["CTD_chemicals_diseases.csv"]


def test_one_of_two_packings_is_read(write, read, counts):
    for name in ("CTD_chemicals_diseases.csv", "CTD_chemicals_diseases.tsv.gz"):
        write(name, table(CHEMICAL_COLUMNS, chemical("therapeutic", "1")))
    assert len(read()) == 1
    assert counts[Reason.CTD_FILE_SUPERSEDED] == 1


def test_a_cell_may_exceed_the_default_limit_of_the_csv_module(write, read):
    articles = "|".join(str(10_000_000 + number) for number in range(20_000))
    write("CTD_chemicals_diseases.csv", table(CHEMICAL_COLUMNS, chemical("therapeutic", articles, name='"a,b"')))
    assert len(read()) == 20_000


def test_a_folder_without_ctd_files_is_an_error_that_names_them(read, write):
    write("CTD_diseases.csv", "")
    with pytest.raises(InputError, match=r"looked for CTD_chem_gene_ixns\{\.csv,.*CTD_genes_diseases") as caught:
        read()
    assert "https://ctdbase.org/downloads/" in caught.value.hint


@pytest.mark.parametrize("page", ["<!DOCTYPE html><html>captcha</html>", "\n  <html></html>", "\ufeff<HTML>"])
@pytest.mark.parametrize("name", ["CTD_chem_gene_ixns.csv", "CTD_chem_gene_ixns.tsv.gz"])
def test_rejects_a_web_page(write, tmp_path, read, name, page):
    # a server sends the page uncompressed, even under a .gz name
    (tmp_path / name).write_text(page, encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name}: this is a web page") as caught:
        read()
    assert "with a browser from https://ctdbase.org/downloads/" in caught.value.hint


TYPES = table(
    "TypeName,Code,Description,ParentCode",
    "expression,exp,Expression of a gene product,",
    '"metabolic processing",met,"a chain, of steps",',
    "N-linked glycosylation,nli,,gly",
    "glycosylation,gly,,met",
    "response to substance,rts,,",
)


@pytest.mark.parametrize("name", ["CTD_chem_gene_ixn_types.csv", "CTD_chem_gene_ixn_types.csv.gz"])
def test_interaction_types_are_spelled_as_in_the_actions(write, tmp_path, counts, name):
    write(name, TYPES)
    assert read_interaction_types(tmp_path, counts) == {
        "expression": "",
        "metabolic_processing": "",
        "N-linked_glycosylation": "glycosylation",
        "glycosylation": "metabolic_processing",
        "response_to_substance": "",
    }


def test_interaction_types_are_never_guessed(write, tmp_path, counts):
    with pytest.raises(InputError, match="looked for CTD_chem_gene_ixn_types"):
        read_interaction_types(tmp_path, counts)
    write("CTD_chem_gene_ixn_types.csv", TYPES + "splicing,spl,,xxx\n")
    with pytest.raises(InputError, match="'splicing' has the parent 'xxx', which is not in the file"):
        read_interaction_types(tmp_path, counts)
    write("CTD_chem_gene_ixn_types.csv", TYPES + "splicing,exp,,met\n")
    with pytest.raises(InputError, match="the code 'exp' belongs to two types"):
        read_interaction_types(tmp_path, counts)


DISEASES = "DiseaseName,DiseaseID,AltDiseaseIDs,Definition,ParentIDs,TreeNumbers,ParentTreeNumbers,Synonyms"


def test_C06_alternates_map_to_the_primary_id(write, counts):
    path = write(
        "CTD_diseases.csv.gz",
        table(
            DISEASES,
            "tremor,MESH:D900010,OMIM:900208|DO:DOID:1,,,,,a|b",
            "ataxia,OMIM:900300,,,,,,",
            "chorea,MESH:D900011,MESH:C900009 | OMIM:900301,,,,,",
        ),
    )
    assert read_alternate_ids(path, counts) == {
        "OMIM:900208": "MESH:D900010",
        "DO:DOID:1": "MESH:D900010",
        "MESH:C900009": "MESH:D900011",
        "OMIM:900301": "MESH:D900011",
    }


def test_C06_an_alternate_id_of_several_diseases_is_left_out(write, counts):
    path = write(
        "CTD_diseases.csv",
        table(DISEASES, "a,MESH:D900010,OMIM:1|OMIM:2,,,,,", "b,MESH:D900011,OMIM:1|MESH:D900010,,,,,"),
    )
    assert read_alternate_ids(path, counts) == {"OMIM:2": "MESH:D900010"}
    assert counts[Reason.ALTERNATE_DISEASE_ID_AMBIGUOUS] == 2
