"""The BRAN tagger: tags per sub-word become spans of characters."""

from __future__ import annotations

import pytest

from biorel.counts import Reason
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import ner_labels
from biorel.dataset.relation_schema import RelationSchema, RelationType
from biorel.ner.bran_tagger import BranTagger, tagged_mentions
from biorel.records import Document
from biorel.text.tokenizer import learn_bpe
from biorel.training.model_folder import ModelFolder
from tests.builders import tiny_bran

LABELS = ner_labels(("Chemical", "Disease"))
TITLE = "Lithium caused tremor in T790M/L858R carriers."


def index(label: str) -> int:
    return LABELS.index(label)


@pytest.mark.parametrize("budget", [60, 400])
def test_T07_spans_are_exact_for_any_tokenisation(counts, budget):
    document = Document("1", TITLE, "")
    encoder = Featurizer(learn_bpe([TITLE * 3], budget), (), LABELS)
    example = encoder.example(document, (), (), (), counts)
    tags = []
    for start in example.token_starts:
        name = "Lithium" if start < 7 else "T790M" if 25 <= start < 30 else ""
        first = start in (0, 25)
        tags.append(0 if not name else index(f"{'B' if first else 'I'}-{'Chemical' if start < 7 else 'Disease'}"))
    found = tagged_mentions(document, example, tags, LABELS)
    assert [(one.text, one.type, one.entity_id) for one in found] == [
        ("Lithium", "Chemical", None),
        ("T790M", "Disease", None),
    ]


def test_spans_cover_whole_words(counts):
    document = Document("1", TITLE, "")
    example = Featurizer(learn_bpe([TITLE], 60), (), LABELS).example(document, (), (), (), counts)
    inside = next(place for place, start in enumerate(example.token_starts) if start > 0)
    assert example.token_starts[inside] < 7
    tags = [0] * len(example.token_ids)
    tags[inside] = index("I-Chemical")
    assert [one.text for one in tagged_mentions(document, example, tags, LABELS)] == ["Lithium"]


def test_mentions_are_in_the_order_of_the_documents(counts):
    relation = RelationType(name="CID", head="Chemical", tail="Disease", sources=("CID",))
    tokenizer = learn_bpe([TITLE * 3], 60)
    model = tiny_bran(vocabulary=tokenizer.get_vocab_size(), relations=2, ner_labels=len(LABELS), positions=50, seed=3)
    opened = ModelFolder(model, tokenizer, RelationSchema("test", (relation,)), LABELS, {"CID": 0.5})
    documents = [Document("1", TITLE, "Again " + TITLE), Document("2", "", ""), Document("3", TITLE, "")]
    tagger = BranTagger(opened, counts)
    found = tagger.tag(documents)
    assert found[1] == ()
    assert counts[Reason.DOCUMENTS_WITHOUT_TOKENS] == 1
    assert found[2] == tagger.tag(documents[2:])[0]
    for document, mentions in zip(documents, found, strict=True):
        assert all(document.text[one.start : one.end] == one.text for one in mentions)
        assert all(one.doc_id == document.doc_id for one in mentions)
