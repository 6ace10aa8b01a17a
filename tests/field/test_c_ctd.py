"""C: CTD's files: inferred rows, quotes, names and ids."""

from __future__ import annotations

import gzip
import json

import pytest

from biorel.commands import extract
from biorel.config.extract import Extract
from biorel.counts import Reason
from biorel.errors import InputError
from biorel.knowledge.ctd import read_curations
from biorel.knowledge.ctd_table import read_rows
from biorel.knowledge.ctd_vocabularies import read_vocabularies
from tests.command_runs import build, command_line, ctd_folder, flags, pubtator, read_json, read_json_lines
from tests.field.tables import counts, pairs

TEXT = pubtator(
    "1",
    "Zetin and netol.",
    "Tremor and ataxia with GEN1.",
    [
        *(("Zetin", "Chemical", "D900001"), ("netol", "Chemical", "D900003")),
        *(("Tremor", "Disease", "MESH:D900002"), ("ataxia", "Disease", "D900004"), ("GEN1", "Gene", "900001")),
    ],
)
CURATED = {"ChemicalID": "D900001", "DiseaseID": "MESH:D900002", "DirectEvidence": "marker/mechanism", "PubMedIDs": "1"}
INFERRED = {
    "ChemicalID": "D900003",
    "DiseaseID": "MESH:D900002",
    "InferenceGeneSymbol": "GEN1",
    "InferenceScore": "4.2",
    "PubMedIDs": "1",
}
ALONE = {"dev_share": 0, "test_share": 0}


@pytest.mark.parametrize("policy", ["negative", "exclude"])
@pytest.mark.parametrize("evidence", ["", " "])
def test_c_02_inferred_rows_are_not_positives(write, tmp_path, policy, evidence):
    """The expected counts of the real slice include inferred pairs as negatives, so excluding them is an option."""
    gene = {"GeneID": "900001", "DiseaseID": "MESH:D900004", "InferenceChemicalName": "zetin", "PubMedIDs": "1"}
    folder = ctd_folder(
        tmp_path / "ctd",
        CTD_chemicals_diseases=[CURATED, INFERRED | {"DirectEvidence": evidence}],
        CTD_genes_diseases=[gene],
    )
    stats = build(tmp_path / "d", documents=[write("a.txt", TEXT)], ctd=folder, inferred=policy, **ALONE)
    found = pairs(tmp_path / "d")
    assert found["MESH:D900001", "MESH:D900002"].relations == ("chemical_disease:marker/mechanism",)
    for key in (("MESH:D900003", "MESH:D900002"), ("NCBIGene:900001", "MESH:D900004")):
        assert found[key].relations == ()
        assert found[key].excluded_because == ("inferred" if policy == "exclude" else "")
    assert stats["inferred_rows"] == 2
    assert stats["total"]["held_back_inferred"] == (2 if policy == "exclude" else 0)


def test_c_02_a_pair_both_curated_and_inferred_is_positive(write, tmp_path):
    twice = [INFERRED | {"ChemicalID": "D900001"}, CURATED]
    folder = ctd_folder(tmp_path / "ctd", CTD_chemicals_diseases=twice)
    build(tmp_path / "d", documents=[write("a.txt", TEXT)], ctd=folder, inferred="exclude", **ALONE)
    assert pairs(tmp_path / "d")["MESH:D900001", "MESH:D900002"].relations


NAMES = {
    "opening": ["alpha", '"beta', "gamma", '"delta'],
    "closing": ["alpha", 'beta"', "gamma", 'del"ta'],
    "primes": ["2',3'-x", '5"-y', '""', '"'],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("packed", [False, True])
def test_c_03_a_stray_quote_loses_no_other_row(write, counts, names, packed):
    rows = "".join(f"{name}\tD90000{number}\tx\n" for number, name in enumerate(names))
    path = write("CTD_chemicals.tsv" + ".gz" * packed, f"# Fields:\n# ChemicalName\tChemicalID\tSynonyms\n#\n{rows}")
    found = [cells for _, cells in read_rows(path, ("ChemicalName", "ChemicalID"), counts)]
    assert found == [[name, f"D90000{number}"] for number, name in enumerate(names)]
    assert counts[Reason.CTD_ROWS_READ] == len(names)


@pytest.mark.parametrize("name", ["NA", "null", "nan", "None", "N/A"])
def test_c_04_reads_names_that_look_like_missing_values(write, tmp_path, counts, name):
    folder = write(
        "v/CTD_chemicals.csv", f"# Fields:\n# ChemicalName,ChemicalID,Synonyms\n#\n{name},D900001,NA|null\n"
    ).parent
    (term,) = read_vocabularies(folder, counts)
    assert (term.name, term.id) == (name, "MESH:D900001")
    assert set(term.synonyms) == {"NA", "null"} - {name}


def test_c_04_writes_names_that_look_like_missing_values(write, tmp_path):
    text = "NA causes null."
    marks = [{"start": 0, "end": 2, "type": "Chemical", "id": "D008750"}]
    marks += [{"start": 10, "end": 14, "type": "Disease", "id": "D007022"}]
    source = write("a.jsonl", json.dumps({"pmid": "1", "text": text, "entities": marks}) + "\n")
    for suffix in ("jsonl", "tsv"):
        given = {"input": source, "out": tmp_path / f"r.{suffix}", "all_scores": True}
        extract.run(Extract.model_validate(given))
    (row,) = read_json_lines(tmp_path / "r.jsonl")
    assert (row["head"]["name"], row["tail"]["name"]) == ("NA", "null")
    cells = (tmp_path / "r.tsv").read_text().splitlines()[1].split("\t")
    assert {"NA", "null"} <= set(cells)
    assert "nan" not in [cell.lower() for cell in cells]


@pytest.mark.parametrize("gap", ["", " ", "|"])
def test_c_05_keeps_ids_as_text_from_input_to_output(write, tmp_path, counts, gap):
    def row(gene: str, article: str) -> dict[str, str]:
        return {"GeneID": gene, "DiseaseID": "MESH:D900002", "DirectEvidence": "therapeutic", "PubMedIDs": article}

    rows = [row("900001", "900001"), row("900002", gap), row(gap.strip("|"), "900003"), row("900003", f"900003|{gap}")]
    folder = ctd_folder(tmp_path / "ctd", CTD_genes_diseases=rows)
    found = [(curation.doc_id, curation.head_id) for curation in read_curations(folder, counts)]
    assert found == [("900001", "NCBIGene:900001"), ("900003", "NCBIGene:900003")]
    assert counts[Reason.CTD_ROW_WITHOUT_PMID] == 1
    assert counts[Reason.CTD_ROW_WITHOUT_CONCEPT] == 1


@pytest.mark.parametrize("article", ["2", "1.0"])
def test_c_05_rejects_curations_that_match_no_document(capsys, write, tmp_path, article):
    folder = ctd_folder(tmp_path / "ctd", CTD_chemicals_diseases=[CURATED | {"PubMedIDs": article}])
    given = flags(documents=write("a.txt", TEXT), ctd=folder, hypernyms="off", out=tmp_path / "d")
    code, _, err = command_line(capsys, "build-dataset", *given)
    assert code == 3
    assert "no positive pair in 1 documents" in err
    assert "no curation concerns these documents" in err
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    ("alternates", "used"),
    [("OMIM:900208|DO:DOID:1", "OMIM:900208"), ("DO:DOID:1|OMIM:900208", "OMIM:900208"), ("MESH:C900777", "C900777")],
)
def test_c_06_joins_an_alternate_id_with_mentions_of_the_primary_id(write, tmp_path, alternates, used):
    folder = ctd_folder(tmp_path / "ctd", CTD_chemicals_diseases=[CURATED | {"DiseaseID": used}])
    rows = f"# Fields:\n# DiseaseName,DiseaseID,AltDiseaseIDs\n#\ntremor,MESH:D900002,{alternates}\n"
    (folder / "CTD_diseases.csv.gz").write_bytes(gzip.compress(rows.encode()))
    stats = build(tmp_path / "d", documents=[write("a.txt", TEXT)], ctd=folder, **ALONE)
    assert stats["total"]["positives"] == 1
    assert pairs(tmp_path / "d")["MESH:D900001", "MESH:D900002"].relations


def test_c_06_ignores_an_alternate_id_of_two_diseases(write, tmp_path):
    folder = ctd_folder(tmp_path / "ctd", CTD_chemicals_diseases=[CURATED, CURATED | {"DiseaseID": "OMIM:900208"}])
    rows = "tremor,MESH:D900002,OMIM:900208\nataxia,MESH:D900004,OMIM:900208\n"
    (folder / "CTD_diseases.csv").write_text(f"# Fields:\n# DiseaseName,DiseaseID,AltDiseaseIDs\n#\n{rows}")
    stats = build(tmp_path / "d", documents=[write("a.txt", TEXT)], ctd=folder, **ALONE)
    assert stats["total"]["positives"] == 1
    assert counts(tmp_path / "d")[Reason.ALTERNATE_DISEASE_ID_AMBIGUOUS] == 1
    assert read_json(tmp_path / "d" / "manifest.json")["counts"][Reason.CTD_ROWS_READ] == 4


def test_c_06_reads_a_pipe_in_pubtator_as_two_diseases(write, tmp_path):
    with pytest.raises(InputError, match="no positive pair"):
        build(
            tmp_path / "d",
            documents=[write("a.txt", TEXT)],
            ctd=ctd_folder(tmp_path / "ctd", CTD_chemicals_diseases=[CURATED | {"DiseaseID": "OMIM:900208"}]),
            **ALONE,
        )
