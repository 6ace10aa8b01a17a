"""A document into an example: token spans, BIO tags, pairs; mentions live on characters."""

import os
import subprocess
import sys
from math import log1p

import pytest
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from biorel.counts import Counts, Reason
from biorel.dataset.candidates import candidates, entities, link
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import ner_labels
from biorel.dataset.pair_features import FEATURES
from biorel.records import Document, Example, Mention, Pair
from tests.builders import RESOURCES, mention, relation, schema

TYPES = ("Chemical", "Disease", "Gene")
LABELS = ner_labels(TYPES)
CTD = schema(relation("causes", "Chemical", "Disease"), relation("treats", "Chemical", "Disease"))


def _tokenizer(pattern: str) -> Tokenizer:
    """Cuts the text into the pieces of a pattern; of the words it knows none."""
    tokenizer = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), behavior="removed", invert=True)
    return tokenizer


WORDS, CHARACTERS, PIECES = r"\S+", r"\S", r"[A-Za-z]+|\d|[^\w\s]"


def _spans(text: str, type_: str, entity_id: str | None, *names: str) -> list[Mention]:
    """All mentions of these names, in the order of the text."""
    found = []
    for name in names:
        start = text.find(name)
        while start >= 0:
            found.append(mention(start, start + len(name), type_, entity_id, text=name))
            start = text.find(name, start + 1)
    return sorted(found, key=lambda m: m.start)


def _example(
    document: Document,
    mentions: list[Mention],
    *,
    pattern: str = WORDS,
    pairs: tuple[Pair, ...] | None = None,
    counts: Counts | None = None,
) -> Example:
    encoder = Featurizer(_tokenizer(pattern), CTD.labels, LABELS)
    linked = link(mentions, "drop")
    offered = candidates(document.doc_id, entities(linked), CTD) if pairs is None else pairs
    return encoder.example(document, mentions, linked, offered, counts if counts is not None else Counts())


DOCUMENT = Document("1", "Lithium and gout.", "Lithium carbonate gave gout. Rats with gout died.")
MENTIONS = [
    *_spans(DOCUMENT.text, "Chemical", "MESH:L", "Lithium"),
    *_spans(DOCUMENT.text, "Disease", "MESH:G", "gout"),
]


def test_a_document_encoded_by_hand() -> None:
    found = _example(DOCUMENT, MENTIONS, pairs=(Pair("1", "MESH:L", "Chemical", "MESH:G", "Disease", ("treats",)),))
    #        Lithium and gout. Lithium carbonate gave gout. Rats with gout died.
    # token  0       1   2     3       4         5    6     7    8    9    10
    assert found.token_starts == (0, 8, 12, 18, 26, 36, 41, 47, 52, 57, 62)
    assert found.token_ends[:3] == (7, 11, 17)
    assert found.token_ids == (1,) * 11
    assert found.sentence_starts == (0, 18, 47)
    assert (found.entity_ids, found.entity_types) == (("MESH:L", "MESH:G"), ("Chemical", "Disease"))
    assert found.mention_entities == (0, 1, 0, 1, 1)
    assert found.mention_starts == (0, 2, 3, 6, 9)
    assert found.mention_ends == (1, 3, 4, 7, 10)
    assert found.mention_char_starts == (0, 12, 18, 41, 57)
    assert found.mention_char_ends == (7, 16, 25, 45, 61)
    tags = ["O"] * 11
    for place in (0, 3):
        tags[place] = "B-Chemical"
    for place in (2, 6, 9):
        tags[place] = "B-Disease"
    assert [LABELS[tag] for tag in found.ner_tags] == tags
    assert (found.pair_heads, found.pair_tails, found.pair_labels, found.pair_exclusions) == (
        (0,),
        (1,),
        ((2,),),
        ("",),
    )
    features = dict(zip(FEATURES, found.pair_features[0], strict=True))
    assert features["log_token_distance"] == 0.0  # they touch over the full stop
    assert (features["head_in_title"], features["tail_in_title"]) == (1.0, 1.0)
    assert features["log_shared_sentences"] == pytest.approx(log1p(2))
    assert features["log_entities_of_head_type"] == pytest.approx(log1p(1))
    assert features["tail_share_of_mentions_of_its_type"] == 1.0


def test_the_first_word_of_the_abstract_is_not_in_the_title() -> None:
    mentions = [mention(18, 25, "Chemical", "MESH:L"), mention(12, 16, "Disease", "MESH:G")]
    features = dict(zip(FEATURES, _example(DOCUMENT, mentions).pair_features[0], strict=True))
    assert (features["head_in_title"], features["tail_in_title"]) == (0.0, 1.0)


def test_d05_one_pair_with_its_mentions_as_lists() -> None:
    found = _example(DOCUMENT, MENTIONS)
    assert len(found.pair_heads) == 1
    assert [found.mention_entities.count(entity) for entity in (0, 1)] == [2, 3]


def test_sub_words_of_a_mention_are_b_then_i() -> None:
    found = _example(DOCUMENT, MENTIONS, pattern=CHARACTERS)
    tags = [LABELS[tag] for tag in found.ner_tags]
    assert tags[:8] == ["B-Chemical", *["I-Chemical"] * 6, "O"]
    assert tags.count("B-Disease") == 3
    assert tags.count("I-Disease") == 9


def test_mentions_without_a_concept_are_tagged_and_belong_to_no_entity() -> None:
    loose = mention(18, 35, "Chemical", None)
    found = _example(DOCUMENT, [*MENTIONS, loose])
    assert [LABELS[tag] for tag in found.ner_tags[3:5]] == ["B-Chemical", "I-Chemical"]
    assert found.entity_ids == ("MESH:L", "MESH:G")
    assert found.mention_starts == (0, 2, 3, 6, 9)


def test_of_overlapping_mentions_the_longest_is_tagged_and_all_are_kept() -> None:
    whole = mention(18, 35, "Disease", "MESH:W")
    for mentions in ([*MENTIONS, whole], [whole, *MENTIONS]):
        found = _example(DOCUMENT, mentions)
        assert [LABELS[tag] for tag in found.ner_tags[3:5]] == ["B-Disease", "I-Disease"]
        spans = sorted(zip(found.mention_starts, found.mention_ends, strict=True))
        assert spans == [(0, 1), (2, 3), (3, 4), (3, 5), (6, 7), (9, 10)]


def test_a_type_without_a_label_is_not_tagged() -> None:
    found = _example(DOCUMENT, [mention(0, 7, "Species", "TAX:1")])
    assert set(found.ner_tags) == {0}
    assert found.entity_types == ("Species",)


def test_a_mention_without_a_token_is_counted_with_the_pairs_lost() -> None:
    counts = Counts()
    gap = mention(17, 18, "Chemical", "MESH:X")  # the blank between title and abstract
    lost = Pair("1", "MESH:X", "Chemical", "MESH:G", "Disease")
    kept = Pair("1", "MESH:L", "Chemical", "MESH:G", "Disease", (), "hypernym")
    found = _example(DOCUMENT, [gap, *MENTIONS], pairs=(lost, kept), counts=counts)
    assert dict(counts.by_reason) == {Reason.MENTION_WITHOUT_TOKENS: 1, Reason.PAIR_WITHOUT_TOKENS: 1}
    assert counts.examples[Reason.MENTION_WITHOUT_TOKENS] == ["1 17-18"]
    assert len(found.pair_heads) == 1
    assert found.entity_ids[found.pair_heads[0]] == "MESH:L"
    assert found.entity_ids[found.pair_tails[0]] == "MESH:G"
    assert (found.pair_labels, found.pair_exclusions) == (((),), ("hypernym",))


def test_pairs_of_entities_without_a_mention_are_counted() -> None:
    counts = Counts()
    missed = Pair("1", "MESH:Z", "Chemical", "MESH:G", "Disease", ("treats",), "not_mentioned")
    assert _example(DOCUMENT, MENTIONS, pairs=(missed,), counts=counts).pair_heads == ()
    assert counts[Reason.PAIR_WITHOUT_TOKENS] == 1


def test_d06_sentence_features_follow_borders_outside_of_mentions() -> None:
    text = "Drug A reduced B. xyzq. Tabaci here."
    document = Document("1", "Title", text)
    start = document.text.index("B. xyzq")
    disease = mention(start, start + len("B. xyzq. Tabaci"), "Disease", "MESH:T")
    found = _example(document, [mention(6, 12, "Chemical", "MESH:A"), disease])
    assert found.sentence_starts == (0, 6)
    assert dict(zip(FEATURES, found.pair_features[0], strict=True))["log_shared_sentences"] == log1p(1)


@pytest.mark.parametrize("pattern", [WORDS, PIECES, CHARACTERS])
def test_t07_entities_live_on_characters_however_the_text_is_cut(pattern: str) -> None:
    document = Document("1", "EGFR T790M/L858R.", "Gefitinib.")
    mentions = [
        mention(0, 4, "Gene", "NCBIGene:1956"),
        mention(5, 10, "Disease", "V:1"),
        mention(11, 16, "Disease", "V:2"),
        mention(18, 27, "Chemical", "MESH:C"),
    ]
    found = _example(document, mentions, pattern=pattern)
    assert found.entity_ids == ("NCBIGene:1956", "V:1", "V:2", "MESH:C")
    assert found.mention_char_starts == (0, 5, 11, 18)
    assert found.mention_char_ends == (4, 10, 16, 27)
    assert len(found.pair_heads) == 2
    for start, end, first, last in zip(
        found.mention_char_starts, found.mention_char_ends, found.mention_starts, found.mention_ends, strict=True
    ):
        assert found.token_starts[first] <= start
        assert found.token_ends[last - 1] >= end


def test_t02_offsets_are_of_the_stored_text() -> None:
    document = Document("1", "nai\u0308ve T cells", "𝛼-toxin")
    mentions = [mention(0, 6, "Disease", "D:1"), mention(7, 14, "Disease", "D:2"), mention(15, 16, "Chemical", "C:1")]
    found = _example(document, mentions)
    assert found.token_starts == (0, 7, 9, 15)
    assert (found.mention_starts, found.mention_ends) == ((0, 1, 3), (1, 3, 4))


def test_the_same_mention_twice_counts_once() -> None:
    assert _example(DOCUMENT, [*MENTIONS, *MENTIONS]) == _example(DOCUMENT, MENTIONS)


def test_one_id_of_two_types_is_two_entities() -> None:
    mentions = [*MENTIONS, mention(0, 7, "Disease", "MESH:L")]
    found = _example(DOCUMENT, mentions)
    assert found.entity_ids == ("MESH:L", "MESH:G", "MESH:L")
    assert found.entity_types == ("Chemical", "Disease", "Disease")
    assert found.entity_types[found.pair_heads[0]] == "Chemical"


def test_a_document_without_mentions_and_one_without_text() -> None:
    found = _example(DOCUMENT, [])
    assert (found.entity_ids, found.mention_starts, found.pair_heads) == ((), (), ())
    assert set(found.ner_tags) == {0}
    empty = _example(Document("1", "", ""), [])
    assert (empty.token_ids, empty.ner_tags, empty.sentence_starts) == ((), (), (0,))


def test_an_example_has_the_tokens_of_its_encoding() -> None:
    encoder = Featurizer(_tokenizer(WORDS), CTD.labels, LABELS)
    assert len(encoder.encode(DOCUMENT).ids) == len(_example(DOCUMENT, MENTIONS).token_ids) == 11


_PROGRAM = """
from pathlib import Path
from biorel.dataset.candidates import candidates, entities, link
from biorel.dataset.derive_schema import derive
from biorel.dataset.relation_schema import load_schema, schema_toml
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import ner_labels
from biorel.dataset.hypernyms import filter_hypernyms, strict_ancestors
from biorel.dataset.supervise import supervise
from biorel.counts import Counts, Reason
from biorel.records import Curation, Document, Mention
from biorel.text.tokenizer import learn_bpe

document = Document("1", "alpha beta gamma", "delta epsilon zeta eta theta.")
types = ("Chemical", "Disease", "Gene")
mentions = [
    Mention("1", start, start + 5, document.text[start : start + 5], type_, f"MESH:{start % 7}")
    for start in range(0, 40, 3)
    for type_ in types
]
words = ("marker/mechanism", "therapeutic", "increases^expression", "decreases^activity", "affects^transport")
schema = load_schema(Path(SCHEMA))
linked = link(mentions, "drop")
pairs = candidates("1", entities(linked), schema)
facts = [Curation("1", p.head_type, p.head_id, words[(i + k) % 5], p.tail_type, p.tail_id)
         for i, p in enumerate(pairs) for k in (0, 2, 3) if i % 2]
pairs = supervise(pairs, facts, schema, exclude_inferred=True)
pairs = filter_hypernyms(pairs, strict_ancestors({f"MESH:{n}": ("C04" + ".100" * n,) for n in range(7)}, {}), "both")
encoder = Featurizer(learn_bpe([document.text] * 2, 80), schema.labels, ner_labels(types))
print(pairs)
print(encoder.tokenizer.to_str())
print(encoder.example(document, mentions, linked, pairs, Counts()))
counts = {(p.head_type, word, p.tail_type): 1 + i % 3 for i, p in enumerate(pairs) for word in words}
print(schema_toml(derive(counts, 0.001)))
"""


def test_d04_nothing_depends_on_the_hash_seed() -> None:
    program = _PROGRAM.replace("SCHEMA", repr(str(RESOURCES / "relations" / "ctd14.toml")))
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(RESOURCES.parent)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(outputs[0]) > 3000
    assert outputs[0] == outputs[1] == outputs[2]
