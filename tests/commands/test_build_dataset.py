"""build-dataset on small hand-made corpora: counts, output files and errors."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from biorel.commands import build_dataset
from biorel.commands.build_dataset import TABLES
from biorel.config import load
from biorel.config.build_dataset import BuildDataset
from biorel.counts import Reason
from biorel.dataset.splits import hash_split
from biorel.errors import ConfigError, InputError, OutputError
from biorel.records import Example, Pair
from biorel.tables import read_table
from tests.command_runs import build, ctd_folder, mesh_file, pubtator, read_json
from tests.recorder import Recorder

ASPIRIN, PAIN, ULCER, GASTRIC = "MESH:D001241", "MESH:D010146", "MESH:D014456", "MESH:D013276"
# aspirin causes gastric ulcer; ulcer lies above it in the tree, pain elsewhere
STORY = pubtator(
    "1",
    "Aspirin and gastric ulcer.",
    "Aspirin was given for pain. A gastric ulcer, the first ulcer of this patient, followed.",
    [
        ("Aspirin", "Chemical", "D001241"),
        ("gastric ulcer", "Disease", "D013276"),
        ("Aspirin", "Chemical", "D001241"),
        ("pain", "Disease", "D010146"),
        ("gastric ulcer", "Disease", "D013276"),
        ("first ulcer", "Disease", "D014456"),
    ],
    [("D001241", "D013276")],
)
TREE = (("C06", "D004066"), ("C06.552", "D014456"), ("C06.552.100", "D013276"), ("C23.888", "D010146"))


def story(doc_id: str, *, related: bool = True) -> str:
    """The same text under another id, with or without its relation row."""
    lines = [line for line in STORY.strip().split("\n") if related or "\tCID\t" not in line]
    return "\n".join(f"{doc_id}{line[1:]}" for line in lines) + "\n\n"


def pairs(dataset: Path, split: str = "train") -> dict[tuple[str, str, str], Pair]:
    return {(one.doc_id, one.head_id, one.tail_id): one for one in read_table(dataset / split / "pairs.parquet", Pair)}


def documents(dataset: Path) -> dict[str, list[str]]:
    """The document ids of each split."""
    return {
        split: pq.read_table(dataset / split / "documents.parquet")["doc_id"].to_pylist()
        for split in ("train", "dev", "test")
    }


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    return mesh_file(tmp_path / "mesh.tsv", *TREE)


# ---- output


def test_stats_have_the_documented_structure(write, tmp_path, mesh):
    stats = build(tmp_path / "d", train=[write("a.txt", STORY)], schema="cdr", mesh=[mesh])
    assert list(stats["splits"]) == ["train", "dev", "test"]
    for counts in (*stats["splits"].values(), stats["total"]):
        promised = [
            "documents",
            "positives",
            "negatives",
            "dropped_hypernym",
            "too_long",
            "by_relation",
            "by_pair_type",
        ]
        assert set(promised) <= set(counts)
        assert list(counts["by_relation"]) == ["chemical_induced_disease"]
        assert list(counts["by_pair_type"]) == ["chemical_disease"]
    train = stats["splits"]["train"]
    assert (train["documents"], train["positives"], train["negatives"], train["dropped_hypernym"]) == (1, 1, 1, 1)
    assert train["by_relation"] == {"chemical_induced_disease": 1}
    assert train["by_pair_type"] == {"chemical_disease": {"documents": 1, "positives": 1, "negatives": 1}}
    assert stats["total"] == train


def test_a_dataset_folder_is_complete(write, tmp_path, mesh):
    build(tmp_path / "d", train=[write("a.txt", STORY)], dev=[write("b.txt", story("2"))], schema="cdr", mesh=[mesh])
    files = {str(path.relative_to(tmp_path / "d")) for path in (tmp_path / "d").rglob("*") if path.is_file()}
    tables = {f"{split}/{name}.parquet" for split in ("train", "dev", "test") for name in TABLES}
    assert files == tables | {
        *("stats.json", "tables.md", "labels.json", "schema.toml", "tokenizer.json", "manifest.json")
    }
    assert documents(tmp_path / "d") == {"train": ["1"], "dev": ["2"], "test": []}
    (example,) = read_table(tmp_path / "d" / "dev" / "examples.parquet", Example)
    assert example.doc_id == "2"
    assert len(example.token_ids) == len(example.ner_tags) > 10
    tokenizer = read_json(tmp_path / "d" / "tokenizer.json")
    assert (tokenizer["truncation"], tokenizer["padding"]) == (None, None)
    table = (tmp_path / "d" / "tables.md").read_text()
    assert "| Train" in table
    assert "Chemical / Disease" in table


def test_a_vocabulary_of_words_holds_the_frequent_words_of_the_training_documents(write, tmp_path):
    options = {"dev": [write("b.txt", story("2"))], "schema": "cdr", "tokenizer": "words"}
    build(tmp_path / "d", train=[write("a.txt", STORY)], min_count=1, **options)
    vocabulary = read_json(tmp_path / "d" / "tokenizer.json")["model"]["vocab"]
    (example,) = read_table(tmp_path / "d" / "train" / "examples.parquet", Example)
    assert set(example.token_ids) == set(vocabulary.values()) - {0, 1}
    assert list(zip(example.mention_starts, example.mention_ends, strict=True))[:2] == [(0, 1), (2, 4)]
    build(tmp_path / "e", train=[write("a.txt", STORY)], min_count=2, **options)
    fewer = read_json(tmp_path / "e" / "tokenizer.json")["model"]["vocab"]
    assert 2 < len(fewer) < len(vocabulary)
    (again,) = read_table(tmp_path / "e" / "train" / "examples.parquet", Example)
    assert again.mention_char_starts == example.mention_char_starts
    assert again.token_ids.count(1) > 0


def test_uses_the_tokenizer_of_another_folder_unchanged(write, tmp_path):
    build(tmp_path / "d", train=[write("a.txt", STORY)], schema="cdr", vocabulary=100)
    build(tmp_path / "e", train=[write("c.txt", story("2"))], schema="cdr", tokenizer_file=tmp_path / "d")
    assert (tmp_path / "e" / "tokenizer.json").read_bytes() == (tmp_path / "d" / "tokenizer.json").read_bytes()
    with pytest.raises(InputError, match=r"nowhere: no such file"):
        build(tmp_path / "f", train=[write("a.txt", STORY)], schema="cdr", tokenizer_file=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"merges": "m", "tokenizer_file": "t"}, "--merges and --tokenizer-file exclude each other"),
        ({"merges": "m", "tokenizer": "words"}, "leave out --merges"),
        ({"tokenizer_file": "t", "tokenizer": "words"}, "leave out --tokenizer-file"),
        ({"tokenizer": "tokenizer.json"}, "Input should be 'bpe' or 'words'"),
    ],
)
def test_rejects_two_sources_of_the_vocabulary(options, fault):
    with pytest.raises(ConfigError, match=fault):
        load(BuildDataset, {"train": ["a.txt"], "hypernyms": "off", "out": "d", **options})


def test_the_counts_balance(write, tmp_path):
    """Documents read = documents written + documents left out, by reason."""
    texts = [
        story("1"),
        story("2", related=False),
        story("3"),
        story("3"),
        story("4"),
        story("5"),
        pubtator("6", "Aspirin.", "Long " * 200, [("Aspirin", "Chemical", "D001241")], []),
        story("7").replace("A gastric ulcer,", "A gastric ulcer " + "of no size " * 80),
    ]
    rows = "".join(f"{n}\t{s}\n" for n, s in zip("1234567", ["train"] * 4 + ["dev", "train", "train"], strict=True))
    build(
        tmp_path / "d",
        documents=[write("a.txt", "".join(texts))],
        splits=write("splits.tsv", rows.replace("4\ttrain\n", "")),
        exclude_pmids=[write("out.txt", "3\n5\n")],
        schema="cdr",
        max_tokens=150,
    )
    counts = read_json(tmp_path / "d" / "manifest.json")["counts"]
    written = {name: count for name, count in counts.items() if name.startswith(Reason.DOCUMENTS_WRITTEN)}
    assert written == {"documents written: train": 1, "documents written: dev": 1}
    dropped = {
        Reason.DOCUMENT_REPEATED: 1,
        Reason.DOCUMENT_WITHOUT_SPLIT: 1,
        Reason.DOCUMENT_EXCLUDED_FROM_TRAINING: 1,
        Reason.DOCUMENT_WITHOUT_POSITIVE: 2,
        Reason.DOCUMENT_TOO_LONG: 1,
    }
    assert {reason: counts.get(reason) for reason in dropped} == dropped
    assert counts[Reason.DOCUMENTS_READ] == sum(written.values()) + sum(dropped.values())
    assert counts[Reason.DOCUMENTS_LABELLED] == 5
    # what the dropped documents held
    assert counts[Reason.NEGATIVE_PAIR_WITHOUT_POSITIVE] == 3
    assert counts[Reason.POSITIVE_PAIR_TOO_LONG] == 1
    assert counts[Reason.NEGATIVE_PAIR_TOO_LONG] == 2


def test_reports_documents_over_the_token_limit_with_their_pairs(write, tmp_path):
    long = story("2").replace("A gastric ulcer,", "A gastric ulcer, " + "of no size " * 80)
    stats = build(tmp_path / "d", train=[write("a.txt", story("1") + long)], schema="cdr", max_tokens=150)
    train = stats["splits"]["train"]
    assert (train["documents"], train["positives"], train["negatives"]) == (1, 1, 2)
    assert (train["too_long"], train["too_long_positives"], train["too_long_negatives"]) == (1, 1, 2)
    kept = pairs(tmp_path / "d")
    assert kept["2", ASPIRIN, GASTRIC].excluded_because == "too_long"
    assert kept["2", ASPIRIN, GASTRIC].relations == ("chemical_induced_disease",)
    assert kept["1", ASPIRIN, GASTRIC].excluded_because == ""
    assert documents(tmp_path / "d")["train"] == ["1"]


# ---- splits


def test_splits_by_file(write, tmp_path):
    text = "".join(story(str(number)) for number in range(1, 6))
    splits = write("splits.tsv", "1\ttrain\t120\n2\tdev\t80\n\n3\ttest\n4\ttrain\n")
    build(tmp_path / "d", documents=[write("a.txt", text)], splits=splits, schema="cdr")
    assert documents(tmp_path / "d") == {"train": ["1", "4"], "dev": ["2"], "test": ["3"]}


def test_splits_by_the_corpus_keep_documents_without_a_positive(write, tmp_path):
    sets = {
        name: [write(f"{name}.txt", story(id_, related=id_ != "2"))]
        for name, id_ in zip(("train", "dev", "test"), "123", strict=True)
    }
    stats = build(tmp_path / "d", **sets, schema="cdr")
    assert documents(tmp_path / "d") == {"train": ["1"], "dev": ["2"], "test": ["3"]}
    assert stats["splits"]["dev"]["negatives"] == 3


def test_splits_by_hash_depend_only_on_the_id(write, tmp_path):
    ids = [str(number) for number in range(1, 41)]
    one, two = ids[:25], ids[5:]
    for name, chosen in (("one", one), ("two", list(reversed(two)))):
        build(
            tmp_path / name,
            documents=[write(f"{name}.txt", "".join(map(story, chosen)))],
            schema="cdr",
            dev_share=0.2,
            test_share=0.3,
        )
    places = [
        {doc_id: split for split, found in documents(tmp_path / name).items() for doc_id in found}
        for name in ("one", "two")
    ]
    assert set(places[0]) == set(one)
    assert set(places[1]) == set(two)
    assert all(places[0][doc_id] == places[1][doc_id] for doc_id in set(one) & set(two))
    assert set(places[1].values()) == {"train", "dev", "test"}
    # another machine or release of biorel must give the same
    assert [hash_split(doc_id, 0.2, 0.3) for doc_id in ("1", "3", "7", "PMC99")] == ["test", "train", "dev", "test"]


def test_splits_of_exact_sizes_and_folds_are_drawn_from_all_documents(write, tmp_path):
    stories = [story(str(number)) for number in range(1, 8)]
    given = {"documents": [write("a.txt", "".join(stories))], "schema": "cdr", "keep_empty": True}
    turned = given | {"documents": [write("b.txt", "".join(reversed(stories)))]}
    build(tmp_path / "sized", **given, split_sizes=(4, 2, 1))
    assert [len(ids) for ids in documents(tmp_path / "sized").values()] == [4, 2, 1]
    build(tmp_path / "turned", **turned, split_sizes=(4, 2, 1))
    build(tmp_path / "other", **given, split_sizes=(4, 2, 1), split_seed=2)
    drawn = {
        name: {split: sorted(ids) for split, ids in documents(tmp_path / name).items()}
        for name in ("sized", "turned", "other")
    }
    assert drawn["sized"] == drawn["turned"] != drawn["other"]

    tested = []
    for fold in (1, 2, 3):
        build(tmp_path / f"fold-{fold}", **given, folds=3, fold=fold)
        found = documents(tmp_path / f"fold-{fold}")
        assert sorted(doc_id for ids in found.values() for doc_id in ids) == list("1234567")
        tested += found["test"]
    assert sorted(tested) == list("1234567")

    with pytest.raises(InputError, match=r"--split-sizes 4 \+ 2 \+ 2 add up to 8 documents, but there are 7"):
        build(tmp_path / "wrong", **given, split_sizes=(4, 2, 2))
    assert not (tmp_path / "wrong").exists()


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"split_sizes": (4, 2, 1), "folds": 3, "fold": 1}, "--split-sizes and --folds exclude each other"),
        ({"splits": "s.tsv", "split_sizes": (4, 2, 1)}, "--splits and --split-sizes exclude each other"),
        ({"folds": 3}, "--folds and --fold go together"),
        ({"folds": 3, "fold": 4}, "--fold 4 of --folds 3: folds are 1 to 3"),
        ({"folds": 2, "fold": 1}, "greater than or equal to 3"),
        ({"split_sizes": (0, 2, 1)}, "train needs at least one document"),
        ({"split_sizes": (4, -1, 1)}, "train needs at least one document"),
        ({"split_sizes": (4, 2)}, "--split-sizes.2: Field required"),
        ({"documents": (), "train": ["a.txt"], "folds": 3, "fold": 1}, "are splits already: leave out --folds"),
    ],
)
def test_rejects_two_ways_to_split(options, fault):
    with pytest.raises(ConfigError, match=re.escape(fault)):
        load(BuildDataset, {"documents": ["a.txt"], "out": "d", "hypernyms": "off", **options})


def test_excluded_documents_stay_out_of_training_only(write, tmp_path):
    text = "".join(story(str(number)) for number in range(1, 5))
    splits = write("splits.tsv", "1\ttrain\n2\ttrain\n3\tdev\n4\ttest\n")
    excluded = [write("a.ids", "# to test on\n2\tlater\n"), write("b.ids", "3\n4\n")]
    build(tmp_path / "d", documents=[write("a.txt", text)], splits=splits, exclude_pmids=excluded, schema="cdr")
    assert documents(tmp_path / "d") == {"train": ["1"], "dev": ["3"], "test": ["4"]}


def test_rejects_a_document_in_two_splits(write, tmp_path):
    with pytest.raises(InputError, match="document 1 is in train and in test"):
        build(tmp_path / "d", train=[write("a.txt", STORY)], test=[write("b.txt", story("1"))], schema="cdr")
    assert not (tmp_path / "d").exists()


def test_rejects_a_list_with_a_document_in_two_splits(write, tmp_path):
    splits = write("splits.tsv", "1\ttrain\n1\tdev\n")
    with pytest.raises(InputError, match=r"splits\.tsv:2: 1 is in train and in dev"):
        build(tmp_path / "d", documents=[write("a.txt", STORY)], splits=splits, schema="cdr")


def test_D07_a_test_dataset_needs_no_training_documents(write, tmp_path):
    stats = build(tmp_path / "d", test=[write("a.txt", STORY)], schema="cdr")
    assert stats["splits"]["test"]["positives"] == 1
    assert stats["splits"]["train"]["documents"] == 0
    assert documents(tmp_path / "d") == {"train": [], "dev": [], "test": ["1"]}


# ---- rules


@pytest.mark.parametrize(("mode", "negatives", "heads"), [("drop", 1, {ASPIRIN}), ("merge", 3, {ASPIRIN, "UNLINKED"})])
def test_P06_mentions_without_an_id_are_left_out_or_merged(write, tmp_path, mode, negatives, heads):
    text = pubtator(
        "1",
        "Aspirin, drugX and drugY.",
        "With drugZ came an ulcer and pain.",
        [
            ("Aspirin", "Chemical", "D001241"),
            ("drugX", "Chemical", "-"),
            ("drugY", "Chemical", "-1"),
            ("drugZ", "Chemical", ""),
            ("ulcer", "Disease", "D014456"),
            ("pain", "Disease", "D010146"),
        ],
        [("D001241", "D014456")],
    )
    stats = build(tmp_path / "d", train=[write("a.txt", text)], schema="cdr", unlinked=mode)
    assert (stats["total"]["positives"], stats["total"]["negatives"]) == (1, negatives)
    assert {head for _, head, _ in pairs(tmp_path / "d")} == heads


@pytest.mark.parametrize(("sides", "dropped"), [("off", 0), ("tail", 1), ("both", 3)])
def test_filters_hypernyms_on_the_given_sides(write, tmp_path, sides, dropped):
    """Salicylates are above aspirin, and ulcer is above gastric ulcer; aspirin causes gastric ulcer."""
    mesh = mesh_file(tmp_path / "mesh.tsv", *TREE, ("D02.241", "D012459"), ("D02.241.700", "D001241"))
    text = pubtator(
        "1",
        "Aspirin, a salicylate.",
        "It eased pain; a gastric ulcer followed, the first ulcer here.",
        [
            ("Aspirin", "Chemical", "D001241"),
            ("salicylate", "Chemical", "D012459"),
            ("pain", "Disease", "D010146"),
            ("gastric ulcer", "Disease", "D013276"),
            ("first ulcer", "Disease", "D014456"),
        ],
        [("D001241", "D013276")],
    )
    total = build(tmp_path / "d", train=[write("a.txt", text)], schema="cdr", hypernyms=sides, mesh=[mesh])["total"]
    assert (total["positives"], total["negatives"], total["dropped_hypernym"]) == (1, 5 - dropped, dropped)
    found = {key[1:] for key, pair in pairs(tmp_path / "d").items() if pair.excluded_because == "hypernym"}
    above = [(ASPIRIN, ULCER), ("MESH:D012459", GASTRIC), ("MESH:D012459", ULCER)]
    assert found == set(above[:dropped])


CURATED = pubtator(
    "1",
    "Aspirin, COX2 and ulcer.",
    "Aspirin acts on COX2, eases pain and makes an ulcer.",
    [
        ("Aspirin", "Chemical", "MESH:D001241"),
        ("COX2", "Gene", "5743"),
        ("ulcer", "Disease", "MESH:D014456"),
        ("pain", "Disease", "MESH:D010146"),
    ],
)


def chemical_disease(disease: str, evidence: str, articles: str = "1") -> dict[str, str]:
    return {"ChemicalID": "D001241", "DiseaseID": disease, "DirectEvidence": evidence, "PubMedIDs": articles}


def chemical_gene(actions: str, articles: str = "1") -> dict[str, str]:
    return {"ChemicalID": "D001241", "GeneID": "5743", "InteractionActions": actions, "PubMedIDs": articles}


def gene_disease(disease: str, evidence: str, articles: str = "1") -> dict[str, str]:
    return {"GeneID": "5743", "DiseaseID": disease, "DirectEvidence": evidence, "PubMedIDs": articles}


def curated(tmp_path: Path, write, *, text: str = CURATED, schema: str = "ctd13", **tables) -> dict:
    """A dataset of one article and these CTD rows; everything is for training."""
    named = {f"CTD_{name}": rows for name, rows in tables.items()}
    folder = ctd_folder(tmp_path / "ctd", **named)
    return build(tmp_path / "d", documents=[write("a.txt", text)], ctd=folder, schema=schema, dev_share=0, test_share=0)


def test_several_relations_of_one_pair_are_several_labels(write, tmp_path):
    stats = curated(
        tmp_path,
        write,
        chem_gene_ixns=[
            chemical_gene("decreases^activity|increases^expression"),
            chemical_gene("increases^expression"),
        ],
        chemicals_diseases=[chemical_disease("MESH:D014456", "marker/mechanism|therapeutic")],
    )
    assert stats["total"]["positives"] == 4
    assert stats["total"]["by_relation"]["chemical_gene:decreases_activity"] == 1
    assert stats["total"]["by_relation"]["chemical_gene:increases_expression"] == 1
    pair = pairs(tmp_path / "d")["1", ASPIRIN, "NCBIGene:5743"]
    assert set(pair.relations) == {"chemical_gene:decreases_activity", "chemical_gene:increases_expression"}
    (example,) = read_table(tmp_path / "d" / "train" / "examples.parquet", Example)
    assert sorted(len(labels) for labels in example.pair_labels) == [0, 0, 0, 2, 2]


def test_a_pair_with_only_dropped_relations_is_neither_positive_nor_negative(write, tmp_path):
    stats = curated(
        tmp_path,
        write,
        chem_gene_ixns=[chemical_gene("affects^binding|affects^expression")],
        chemicals_diseases=[chemical_disease("MESH:D014456", "marker/mechanism")],
    )
    total = stats["total"]
    assert total["only_dropped_relations"] == 1
    assert total["by_pair_type"]["chemical_gene"] == {"documents": 0, "positives": 0, "negatives": 0}
    assert pairs(tmp_path / "d")["1", ASPIRIN, "NCBIGene:5743"].excluded_because == "unmapped"


def test_C02_inferred_rows_are_not_positives(write, tmp_path):
    rows = [chemical_disease("MESH:D014456", "marker/mechanism"), chemical_disease("MESH:D010146", "")]
    stats = curated(tmp_path, write, chemicals_diseases=rows)
    assert (stats["total"]["positives"], stats["total"]["by_pair_type"]["chemical_disease"]["negatives"]) == (1, 1)
    held_back = build(
        tmp_path / "held",
        documents=[tmp_path / "a.txt"],
        ctd=tmp_path / "ctd",
        schema="ctd13",
        inferred="exclude",
        dev_share=0,
        test_share=0,
    )
    assert held_back["total"]["held_back_inferred"] == 1
    assert held_back["total"]["by_pair_type"]["chemical_disease"]["negatives"] == 0


def test_ctd14_has_one_relation_more_than_ctd13(write, tmp_path):
    tables = {
        "genes_diseases": [
            gene_disease("MESH:D014456", "therapeutic"),
            gene_disease("MESH:D010146", "marker/mechanism"),
        ],
        "chem_gene_ixns": [chemical_gene("increases^uptake|affects^uptake")],
        "chem_gene_ixn_types": [
            {"TypeName": "transport", "Code": "trt"},
            {"TypeName": "uptake", "Code": "upt", "ParentCode": "trt"},
        ],
    }
    thirteen = curated(tmp_path / "13", write, schema="ctd13", **tables)["total"]
    fourteen = curated(tmp_path / "14", write, schema="ctd14", **tables)["total"]
    assert set(fourteen["by_relation"]) - set(thirteen["by_relation"]) == {"gene_disease:therapeutic"}
    assert len(thirteen["by_relation"]) == 13
    assert fourteen["by_relation"]["gene_disease:therapeutic"] == 1
    # both words of transport, one of them through its parent, are one label of one pair
    assert thirteen["by_relation"]["chemical_gene:affects_transport"] == 1
    assert (thirteen["positives"], fourteen["positives"]) == (2, 3)
    assert (thirteen["only_dropped_relations"], fourteen["only_dropped_relations"]) == (1, 0)


def test_derive_applies_the_rules_and_writes_the_schema(write, tmp_path):
    """affects^transport outnumbers its directions and takes them in; affects^activity does not and is dropped."""
    texts = [CURATED.replace("1|", f"{n}|").replace("\n1\t", f"\n{n}\t") for n in range(1, 7)]
    rows = [
        chemical_gene("affects^transport", "1|2|3"),
        chemical_gene("increases^transport", "4"),
        chemical_gene("increases^activity|affects^activity", "5"),
        chemical_gene("increases^activity", "6"),
    ]
    build(
        tmp_path / "d",
        documents=[write("a.txt", "".join(texts))],
        ctd=ctd_folder(tmp_path / "ctd", CTD_chem_gene_ixns=rows),
        schema="derive",
        dev_share=0,
        test_share=0,
    )
    stats = read_json(tmp_path / "d" / "stats.json")
    assert stats["total"]["by_relation"] == {
        "chemical_gene:affects_transport": 4,
        "chemical_gene:increases_activity": 2,
    }
    schema = (tmp_path / "d" / "schema.toml").read_text()
    assert 'sources = ["affects^transport", "increases^transport"]' in schema
    # the schema that was derived can be given by name of its file, and counts the same
    again = build(
        tmp_path / "again",
        documents=[tmp_path / "a.txt"],
        ctd=tmp_path / "ctd",
        schema=str(tmp_path / "d" / "schema.toml"),
        dev_share=0,
        test_share=0,
    )
    assert again["total"] == stats["total"]


def test_derive_drops_rare_labels(write, tmp_path):
    rows = [chemical_gene("increases^activity", "1|2|3|4|5"), chemical_gene("decreases^expression", "6")]
    texts = [CURATED.replace("1|", f"{n}|").replace("\n1\t", f"\n{n}\t") for n in range(1, 7)]
    options = {
        "documents": [write("a.txt", "".join(texts))],
        "ctd": ctd_folder(tmp_path / "ctd", CTD_chem_gene_ixns=rows),
        "schema": "derive",
        "dev_share": 0,
        "test_share": 0,
    }
    kept = build(tmp_path / "all", **options)["total"]["by_relation"]
    common = build(tmp_path / "common", **options, min_share=0.2)["total"]
    assert set(kept) == {"chemical_gene:increases_activity", "chemical_gene:decreases_expression"}
    assert common["by_relation"] == {"chemical_gene:increases_activity": 5}
    assert common["documents"] == 5


OWN = """
name = "mine"
[[relation]]
name = "binds"
head = "Gene"
tail = "Gene"
sources = ["Bind", "Association"]
symmetric = true
[[relation]]
name = "cures"
head = "Chemical"
tail = "Disease"
sources = ["Cotreatment"]
"""


def test_accepts_a_schema_file_of_the_user(write, tmp_path):
    text = pubtator(
        "1",
        "TP53 and MDM2.",
        "TP53 binds MDM2 and BRCA1; aspirin eases pain.",
        [
            ("TP53", "Gene", "7157"),
            ("MDM2", "Gene", "4193"),
            ("BRCA1", "Gene", "672"),
            ("aspirin", "Chemical", "D001241"),
            ("pain", "Disease", "D010146"),
        ],
        [("7157", "4193")],
        word="Association",
    )
    text = text.strip() + "\n1\tCotreatment\tD001241\tD010146\n\n"
    stats = build(tmp_path / "d", train=[write("a.txt", text)], schema=str(write("mine.toml", OWN)))
    # three genes are three unordered pairs, not six
    assert stats["total"]["by_pair_type"] == {
        "gene_gene": {"documents": 1, "positives": 1, "negatives": 2},
        "chemical_disease": {"documents": 1, "positives": 1, "negatives": 0},
    }
    labels = read_json(tmp_path / "d" / "labels.json")
    assert [relation["name"] for relation in labels["relations"]] == ["binds", "cures"]
    assert labels["ner"] == ["O", "B-Gene", "I-Gene", "B-Chemical", "I-Chemical", "B-Disease", "I-Disease"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('name = "x"\n', "relation: Field required"),
        ('name = "x"\n[[relation]]\nname = "r"\nhead = "A"\n', r"relation\.0\.tail.*relation\.0\.sources"),
        ("name = ", "not TOML"),
    ],
)
def test_rejects_an_invalid_schema(write, tmp_path, content, fault):
    with pytest.raises(ConfigError, match=fault):
        build(tmp_path / "d", train=[write("a.txt", STORY)], schema=str(write("bad.toml", content)))
    assert not (tmp_path / "d").exists()


# ---- errors


def test_reports_that_the_token_limit_left_out_all_positives(write, tmp_path):
    with pytest.raises(InputError, match="no positive pair") as error:
        build(tmp_path / "d", train=[write("a.txt", STORY)], schema="cdr", max_tokens=10)
    assert "1 positive pairs are in documents longer than --max-tokens" in error.value.hint


BAD_INPUTS = {
    "missing.txt": None,
    "empty.txt": "",
    "noise.txt": "this is\nno PubTator\n",
    "bad.jsonl": '{"pmid": 1, "title": "A"}\n{"pmid": \n',
    "latin.txt": b"1|t|caf\xe9\n1|a|x\n",
}


@pytest.mark.parametrize("name", BAD_INPUTS)
def test_malformed_input_leaves_no_output(write, tmp_path, name):
    content = BAD_INPUTS[name]
    path = tmp_path / name if content is None else write(name, content)
    with pytest.raises(InputError, match=name):
        build(tmp_path / "d", train=[write("good.txt", STORY), path], schema="cdr")
    assert not list(tmp_path.glob("d*"))


def test_malformed_input_keeps_the_previous_output(write, tmp_path):
    build(tmp_path / "d", train=[write("a.txt", STORY)], schema="cdr")
    before = {path: path.read_bytes() for path in (tmp_path / "d").rglob("*") if path.is_file()}
    with pytest.raises(InputError):
        build(tmp_path / "d", train=[tmp_path / "missing.txt"], schema="cdr", force=True)
    assert {path: path.read_bytes() for path in (tmp_path / "d").rglob("*") if path.is_file()} == before
    assert not list(tmp_path.glob("d.*"))


def test_strict_makes_a_malformed_row_an_error(write, tmp_path):
    text = STORY.strip() + "\n1\tnonsense\n\n"
    stats = build(tmp_path / "d", train=[write("a.txt", text)], schema="cdr")
    assert stats["total"]["positives"] == 1
    assert read_json(tmp_path / "d" / "manifest.json")["counts"][Reason.ROW_MALFORMED] == 1
    with pytest.raises(InputError, match=r"1 malformed rows, at .*a\.txt:10"):
        build(tmp_path / "strict", train=[tmp_path / "a.txt"], schema="cdr", strict=True)
    assert not list(tmp_path.glob("strict*"))


def test_replaces_an_existing_output_only_with_force(write, tmp_path):
    build(tmp_path / "d", train=[write("a.txt", STORY)], schema="cdr")
    with pytest.raises(OutputError, match="exists already") as error:
        build(tmp_path / "d", train=[write("b.txt", story("2"))], schema="cdr")
    assert "--force" in error.value.hint
    assert documents(tmp_path / "d")["train"] == ["1"]
    build(tmp_path / "d", train=[tmp_path / "b.txt"], schema="cdr", force=True)
    assert documents(tmp_path / "d")["train"] == ["2"]


def test_force_does_not_replace_a_folder_without_a_biorel_manifest(write, tmp_path):
    write("d/thesis.doc", "ten years of work")
    with pytest.raises(OutputError, match="biorel did not write this folder"):
        build(tmp_path / "d", train=[write("a.txt", STORY)], schema="cdr", force=True)
    assert (tmp_path / "d" / "thesis.doc").read_text() == "ten years of work"


def test_ignores_a_stale_partial_folder(write, tmp_path):
    write("d.partial/train/pairs.parquet", "half a file")
    write("d.partial/old.txt", "left by a kill")
    build(tmp_path / "d", train=[write("a.txt", STORY)], schema="cdr")
    assert not (tmp_path / "d" / "old.txt").exists()
    assert len(pairs(tmp_path / "d")) == 3
    assert not (tmp_path / "d.partial").exists()


def test_reports_all_faults_of_the_options_at_once():
    with pytest.raises(ValueError, match="max_tokens") as error:
        BuildDataset.model_validate({"out": "d", "max_tokens": 0, "unlinked": "x", "odd": 1})
    assert error.value.error_count() == 3


# ---- the same input, the same bytes


def test_run_reports_progress_and_returns_its_folder(write, tmp_path):
    config = BuildDataset.model_validate(
        {"train": [write("a.txt", STORY)], "schema": "cdr", "hypernyms": "off", "out": tmp_path / "d"}
    )
    recorder = Recorder()
    made = build_dataset.run(config, recorder)
    assert made.path == tmp_path / "d"
    assert recorder.lines[0] == "reading documents"
    assert "Chemical / Disease" in made.summary[-1]
