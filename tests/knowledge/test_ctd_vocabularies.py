"""CTD's vocabularies, in the columns of old and new releases: names, synonyms, alternate ids; and MeSH's terms."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.knowledge.ctd_vocabularies import Term, primary_ids, read_vocabularies
from biorel.knowledge.mesh_files import read_terms

DISEASES = (
    "# Fields:\n# DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers\tParentTreeNumbers\t"
    "Synonyms\tSlimMappings\n#\n"
)
OLD_CHEMICALS = (
    "# Fields:\n# ChemicalName,ChemicalID,CasRN,Definition,ParentIDs,TreeNumbers,ParentTreeNumbers,Synonyms\n#\n"
)
NEW_CHEMICALS = (
    "# Fields:\n# ChemicalName,ChemicalID,CasRN,PubChemCID,PubChemSID,DTXSID,InChIKey,Definition,ParentIDs,TreeNumbers,"
    "ParentTreeNumbers,MESHSynonyms,CTDCuratedSynonyms\n#\n"
)
GENES = "# Fields:\n# GeneSymbol\tGeneName\tGeneID\tAltGeneIDs\tSynonyms\n#\n"


def test_c06_a_disease_has_one_primary_id_and_alternates(write, tmp_path, counts):
    write(
        "CTD_diseases.tsv",
        DISEASES + "Shakes\tMESH:D900010\tOMIM:900208|DO:DOID:1\t\t\t\t\tTremble|Quakes|Shakes\t\n"
        "Rare shakes\tOMIM:900300\t\t\t\t\t\t\t\n",
    )
    terms = list(read_vocabularies(tmp_path, counts))
    assert terms == [
        Term("MESH:D900010", "Disease", "Shakes", ("Tremble", "Quakes"), ("OMIM:900208", "DO:DOID:1")),
        Term("OMIM:900300", "Disease", "Rare shakes", (), ()),
    ]
    assert primary_ids(terms, counts)["OMIM:900208"] == "MESH:D900010"


def test_an_alternate_id_of_two_concepts_is_ignored(counts):
    terms = [
        Term("MESH:D1", "Disease", "a", (), ("OMIM:1", "MESH:D2")),
        Term("MESH:D2", "Disease", "b", (), ("OMIM:1", "OMIM:2")),
    ]
    assert primary_ids(terms, counts) == {"OMIM:2": "MESH:D2"}
    assert counts[Reason.ALTERNATE_ID_AMBIGUOUS] == 2


@pytest.mark.parametrize(
    "content",
    [
        OLD_CHEMICALS + 'NA,D900001,,,,,,"nan|2,4-thing"\n',
        NEW_CHEMICALS + 'NA,MESH:D900001,,,,,,,,,,nan,"2,4-thing"\n',
    ],
    ids=["until 2023", "since 2024"],
)
def test_c04_chemicals_of_old_and_new_releases(write, tmp_path, counts, content):
    write("CTD_chemicals.csv.gz", content)
    assert list(read_vocabularies(tmp_path, counts)) == [
        Term("MESH:D900001", "Chemical", "NA", ("nan", "2,4-thing"), ())
    ]
    assert counts[Reason.CTD_VOCABULARY_ABSENT] == 2


def test_a_gene_has_its_full_name_as_a_synonym(write, tmp_path, counts):
    write("CTD_genes.tsv", GENES + "null\tgene of nothing\t900\t901|902\tNUL|null\n")
    assert list(read_vocabularies(tmp_path, counts)) == [
        Term("NCBIGene:900", "Gene", "null", ("gene of nothing", "NUL"), ("NCBIGene:901", "NCBIGene:902"))
    ]


def test_rows_without_id_or_name_are_counted(write, tmp_path, counts):
    write("CTD_genes.tsv", GENES + "G1\t\t\t\t\n\t\t7\t\t\nG2\t\t8\t\t\n")
    assert [term.name for term in read_vocabularies(tmp_path, counts)] == ["G2"]
    assert counts[Reason.CTD_ROW_WITHOUT_CONCEPT_OR_NAME] == 2


def test_rejects_a_folder_without_vocabularies(tmp_path, counts):
    with pytest.raises(InputError, match="CTD_chemicals"):
        list(read_vocabularies(tmp_path, counts))


def test_mesh_terms_are_all_names_of_a_concept(write, counts):
    path = write(
        "desc.xml",
        "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D900001</DescriptorUI><ConceptList><Concept><TermList>"
        "<Term><String>Drugine</String></Term><Term><String>Drugan</String></Term></TermList></Concept><Concept>"
        "<TermList><Term><String>Drug X</String></Term><Term/></TermList></Concept></ConceptList></DescriptorRecord>"
        "</DescriptorRecordSet>",
    )
    tree = write("tree.tsv", "Tree Number\tDesc Ui\tTerm\nD01\tD900001\tDrugine\n")
    assert [term for _, term in read_terms([tree, path], counts)] == ["Drugine", "Drugan", "Drug X"]
    assert counts[Reason.MESH_TERMS_READ] == 3
