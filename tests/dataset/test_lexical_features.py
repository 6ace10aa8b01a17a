"""The lexical features of a pair, against strings worked out by hand."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.dataset.lexical_features import BUCKETS, CLOSEST, feature_strings, lexical_features, mark_words
from biorel.records import Mention
from biorel.text.sentences import sentence_starts

IDS = ("MESH:D1", "MESH:D2", "MESH:D3")
TYPES = ("Chemical", "Disease", "Chemical")


def _features(text: str, *mentions: tuple[int, str], title: int = 0) -> list[str]:
    """The features of entities 0 and 1; each mention is (entity, name), searched in the text from left to right."""
    placed = []
    at = 0
    for entity, name in mentions:
        at = text.index(name, at)
        placed.append((entity, Mention("1", at, at + len(name), name, TYPES[entity], IDS[entity])))
        at += len(name)
    return list(feature_strings(mark_words(text, sentence_starts(text, title), placed, IDS, TYPES), 0, 1))


def _starting(features: Sequence[str], prefix: str) -> list[str]:
    return [feature for feature in features if feature.startswith(prefix)]


def test_the_words_between_are_read_in_order_and_as_a_whole() -> None:
    features = _features("Clonidine induced hypotension.", (0, "Clonidine"), (1, "hypotension"))
    assert _starting(features, "HT ") == ["HT length 1", "HT induce", "HT whole induce"]
    assert _starting(features, "between") == ["between induce"]
    assert _starting(features, "HT>") == ["HT> .", "HT> ."]  # only one word follows the second mention


def test_the_order_of_the_entities_is_part_of_a_feature() -> None:
    features = _features("hypotension after clonidine", (1, "hypotension"), (0, "clonidine"))
    assert _starting(features, "TH ") == ["TH length 1", "TH after", "TH whole after"]
    assert not _starting(features, "HT")


def test_a_mention_between_the_two_is_replaced_by_its_type() -> None:
    features = _features(
        "naloxone and amiodarone hydrochloride caused severe asystole",
        (0, "naloxone"),
        (2, "amiodarone hydrochloride"),
        (1, "asystole"),
    )
    assert "HT and <Chemical> caused" in features
    assert not [feature for feature in features if "hydroc" in feature and not feature.startswith("Hname")]


def test_mentions_of_different_sentences_have_no_words_between() -> None:
    features = _features("We gave clonidine. Asystole came in 3 of 40 rats.", (0, "clonidine"), (1, "Asystole"))
    assert not _starting(features, "HT")
    assert not _starting(features, "TH")
    assert _starting(features, "H<") == ["H< gave", "H< we gave"]
    assert _starting(features, "T>") == ["T> came", "T> came in"]


def test_numbers_share_one_stem_and_names_and_ids_are_features() -> None:
    features = _features("3 mg clonidine or 40 asystole", (0, "clonidine"), (1, "asystole"))
    assert "HT or #" in features
    assert {"Hid MESH:D1", "Tid MESH:D2", "Hname clonidine", "Tname asystole", "Tword asysto"} <= set(features)


def test_only_the_closest_mention_pairs_are_read() -> None:
    count = CLOSEST + 4
    text = "clonidine " + "asystole then " * count
    features = _features(text, (0, "clonidine"), *[(1, "asystole")] * count)
    assert len(_starting(features, "HT length")) == CLOSEST


def test_overlapping_mentions_have_no_words_between() -> None:
    text = "clonidine overdose"
    placed = [
        (0, Mention("1", 0, 9, "clonidine", "Chemical", IDS[0])),
        (1, Mention("1", 0, 18, text, "Disease", IDS[1])),
    ]
    features = list(feature_strings(mark_words(text, (0,), placed, IDS, TYPES), 0, 1))
    assert "TH length 0" in features or "HT length 0" in features


@given(st.text(min_size=1, max_size=60), st.data())
@settings(max_examples=100, deadline=None)
def test_any_text_gives_distinct_sorted_buckets_reproducibly(text: str, data: st.DataObject) -> None:
    placed = []
    for entity in (0, 1):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        placed.append((entity, Mention("1", start, end, text[start:end], TYPES[entity], IDS[entity])))
    words = mark_words(text, sentence_starts(text, 0), placed, IDS, TYPES)
    buckets = lexical_features(words, 0, 1)
    assert list(buckets) == sorted(set(buckets))
    assert all(0 <= bucket < BUCKETS for bucket in buckets)
    assert lexical_features(words, 0, 1) == buckets
