"""One name, one reading in one document."""

from __future__ import annotations

from collections.abc import Sequence

from biorel.counts import Reason
from biorel.ner.consistency import ConsistentTagger, carry_over
from biorel.records import Document, Mention


def tagged(text: str, *names: tuple[int, str, str]) -> list[tuple[str, int, str]]:
    """What is tagged after these (occurrence, name, type) were."""
    mentions = []
    for occurrence, name, type_ in names:
        start = -1
        for _ in range(occurrence + 1):
            start = text.index(name, start + 1)
        mentions.append(Mention("1", start, start + len(name), name, type_, None))
    return [(one.text, one.start, one.type) for one in carry_over(Document("1", text, ""), mentions)]


def test_tags_other_occurrences_of_a_name_but_not_inside_words():
    found = tagged("Zetin, zetin. Zetins Zetin-like", (0, "Zetin", "Chemical"))
    assert found == [("Zetin", 0, "Chemical"), ("Zetin", 21, "Chemical")]


def test_uses_the_most_frequent_type_of_a_name():
    found = tagged("ABC ABC ABC ABC", (0, "ABC", "Disease"), (1, "ABC", "Chemical"), (2, "ABC", "Disease"))
    assert [type_ for _, _, type_ in found] == ["Disease", "Chemical", "Disease", "Disease"]


def test_a_short_form_gets_the_type_of_its_long_form():
    found = tagged("Acute renal failure (ARF). ARF is bad.", (0, "Acute renal failure", "Disease"))
    assert [name for name, _, _ in found] == ["Acute renal failure", "ARF", "ARF"]


def test_added_mentions_do_not_overlap_tagged_ones():
    found = tagged("pain and back pain", (0, "pain", "Disease"), (0, "back pain", "Disease"))
    assert [name for name, _, _ in found] == ["pain", "back pain"]


def test_single_letters_are_not_carried_over():
    assert len(tagged("K, K and K", (0, "K", "Chemical"))) == 1


class _First:
    """A tagger that finds the first word only."""

    def tag(self, documents: Sequence[Document]) -> list[tuple[Mention, ...]]:
        return [(Mention(one.doc_id, 0, 3, one.text[:3], "Chemical", None),) for one in documents]


def test_counts_the_added_mentions(counts):
    documents = [Document("1", "abc abc", ""), Document("2", "abd", "x")]
    first, second = ConsistentTagger(_First(), counts).tag(documents)
    assert (len(first), len(second)) == (2, 1)
    assert {one.doc_id for one in first} == {"1"}
    assert counts[Reason.MENTIONS_ADDED_SAME_NAME] == 1
