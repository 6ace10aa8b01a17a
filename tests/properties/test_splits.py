"""Splits share no document, and a dataset does not depend on the order of its inputs."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from biorel.dataset.splits import SPLITS, hash_split
from biorel.records import Document, Example, Mention, Pair
from biorel.tables import read_table
from tests.command_runs import SAMPLE, build, sample_documents
from tests.properties.profile import PROPERTY


@PROPERTY
@given(ids=st.lists(st.text(max_size=9), unique=True), dev=st.floats(0, 0.5), test=st.floats(0, 0.5), data=st.data())
def test_the_split_of_a_document_does_not_depend_on_others(ids, dev, test, data):
    alone = {doc_id: hash_split(doc_id, dev, test) for doc_id in ids}
    assert {doc_id: hash_split(doc_id, dev, test) for doc_id in data.draw(st.permutations(ids))} == alone
    assert set(alone.values()) <= set(SPLITS)


def shuffled_build(folder, seed):
    """A dataset of 16 documents in two files, all rows, files and CTD rows in an order drawn by the seed."""
    rng = random.Random(seed)
    folder.mkdir()
    blocks = sample_documents()[:16]
    (folder / "ctd").mkdir()
    for path in (SAMPLE / "ctd").iterdir():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        head = [line for line in lines if line.startswith("#")]
        rows = [line for line in lines if not line.startswith("#")]
        if seed:
            rng.shuffle(rows)
        (folder / "ctd" / path.name).write_text("".join([*head, *rows]), encoding="utf-8")
    mesh = (SAMPLE / "mesh.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    rows = mesh[1:]
    if seed:
        rng.shuffle(rows)
        rng.shuffle(blocks)
    (folder / "mesh.tsv").write_text("".join([mesh[0], *rows]), encoding="utf-8")
    files = [folder / "a.txt", folder / "b.txt"]
    for path, part in zip(files, (blocks[:5], blocks[5:]), strict=True):
        path.write_text("".join(part), encoding="utf-8")
    if seed:
        files.reverse()
    out = folder / "dataset"
    build(out, documents=files, ctd=folder / "ctd", mesh=[folder / "mesh.tsv"], max_tokens=1000)
    return out


def rows_of(dataset):
    """The rows of each table in sorted order; examples by document."""
    found = {}
    for split in SPLITS:
        for name, kind in (("documents", Document), ("mentions", Mention), ("pairs", Pair), ("examples", Example)):
            found[split, name] = sorted(map(str, read_table(dataset / split / f"{name}.parquet", kind)))
    return found


def test_a_dataset_does_not_depend_on_the_order_of_files_and_rows(tmp_path):
    plain = rows_of(shuffled_build(tmp_path / "plain", 0))
    assert sum(len(rows) for (_, name), rows in plain.items() if name == "pairs") > 20
    for seed in (1, 2):
        assert rows_of(shuffled_build(tmp_path / str(seed), seed)) == plain
    tables = (tmp_path / "1" / "dataset" / split / "pairs.parquet" for split in SPLITS)
    ids = [{row.doc_id for row in read_table(table, Pair)} for table in tables]
    assert sum(map(len, ids)) == len(set().union(*ids)) > 5
