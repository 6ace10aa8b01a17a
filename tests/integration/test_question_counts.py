"""Questions from all of CDR: every gold pair is asked both ways, and what the hypernym filter drops is held back."""

from __future__ import annotations

import pytest

from biorel.dataset.hypernyms import strict_ancestors
from biorel.dataset.label import Rules, label
from biorel.dataset.relation_schema import load_schema
from biorel.formats.documents import read_documents
from biorel.knowledge.mesh import read_mesh
from biorel.qa.questions import document_questions, read_templates
from tests.builders import RESOURCES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "positives", "hypernyms"), [("Training", 1038, 192), ("Development", 1012, 174), ("Test", 1066, 201)]
)
def test_questions_cover_the_pairs_of_cdr(shared_data, counts, name, positives, hypernyms):
    mesh = read_mesh([shared_data / "mesh" / "2017MeshTree.tsv.gz"], counts)
    rules = Rules(
        schema=load_schema(RESOURCES / "relations" / "cdr.toml"),
        parents={},
        ancestors=strict_ancestors(mesh.tree_numbers, mesh.mapped_to),
        unlinked="drop",
        hypernyms="tail",
        exclude_inferred=False,
        gold=True,
    )
    templates = read_templates([RESOURCES / "questions" / "cdr.toml"])
    facts: dict[str, set[tuple[str, str, str]]] = {"tail": set(), "head": set()}
    held_back = 0
    for item in read_documents([shared_data / "cdr" / f"CDR_{name}Set.PubTator.txt.gz"], counts):
        linked, pairs = label(item, rules)
        for question in document_questions(item.document.doc_id, linked, pairs, rules.schema, templates):
            for span in question.answers:
                assert item.document.text[span.start : span.end] == span.text
                ends = (question.entity_id, span.entity_id)
                facts[question.asks].add((question.doc_id, *(ends if question.asks == "tail" else ends[::-1])))
            held_back += len(question.ignored) if question.asks == "tail" else 0
    assert facts["tail"] == facts["head"]
    assert (len(facts["tail"]), held_back) == (positives, hypernyms)
