"""The cues of a pair, read by hand."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from biorel.dataset.lexical_features import BUCKETS, CLOSEST, cues, pair_cues, read_words
from biorel.records import Mention
from biorel.text.sentences import sentence_starts

IDS = ("MESH:D1", "MESH:D2", "MESH:D3")
TYPES = ("Chemical", "Disease", "Chemical")


def _cues(text: str, *mentions: tuple[int, str], title: int = 0) -> list[str]:
    """The cues of entities 0 and 1; each mention is (entity, name), found in the text from left to right."""
    placed = []
    at = 0
    for entity, name in mentions:
        at = text.index(name, at)
        placed.append((entity, Mention("1", at, at + len(name), name, TYPES[entity], IDS[entity])))
        at += len(name)
    return list(cues(read_words(text, sentence_starts(text, title), placed, IDS, TYPES), 0, 1))


def _starting(found: Sequence[str], label: str) -> list[str]:
    return [cue for cue in found if cue.startswith(label)]


def test_the_words_between_are_read_in_order_and_as_a_whole() -> None:
    found = _cues("Clonidine induced hypotension.", (0, "Clonidine"), (1, "hypotension"))
    assert _starting(found, "HT ") == ["HT length 1", "HT induce", "HT whole induce"]
    assert _starting(found, "between") == ["between induce"]
    assert _starting(found, "HT>") == ["HT> .", "HT> ."]  # one word is beyond the second mention, not two


def test_the_direction_is_part_of_a_cue() -> None:
    found = _cues("hypotension after clonidine", (1, "hypotension"), (0, "clonidine"))
    assert _starting(found, "TH ") == ["TH length 1", "TH after", "TH whole after"]
    assert not _starting(found, "HT")


def test_a_mention_on_the_way_is_one_mark() -> None:
    found = _cues(
        "naloxone and amiodarone hydrochloride caused severe asystole",
        (0, "naloxone"),
        (2, "amiodarone hydrochloride"),
        (1, "asystole"),
    )
    assert "HT and <Chemical> caused" in found
    assert not [cue for cue in found if "hydroc" in cue and not cue.startswith("Hname")]


def test_no_words_are_between_mentions_of_different_sentences() -> None:
    found = _cues("We gave clonidine. Asystole came in 3 of 40 rats.", (0, "clonidine"), (1, "Asystole"))
    assert not _starting(found, "HT")
    assert not _starting(found, "TH")
    assert _starting(found, "H<") == ["H< gave", "H< we gave"]
    assert _starting(found, "T>") == ["T> came", "T> came in"]


def test_numbers_are_alike_and_names_and_ids_are_cues() -> None:
    found = _cues("3 mg clonidine or 40 asystole", (0, "clonidine"), (1, "asystole"))
    assert "HT or #" in found
    assert {"Hid MESH:D1", "Tid MESH:D2", "Hname clonidine", "Tname asystole", "Tword asysto"} <= set(found)


def test_only_the_closest_mentions_are_read() -> None:
    count = CLOSEST + 4
    text = "clonidine " + "asystole then " * count
    found = _cues(text, (0, "clonidine"), *[(1, "asystole")] * count)
    assert len(_starting(found, "HT length")) == CLOSEST


def test_overlapping_mentions_have_nothing_between() -> None:
    text = "clonidine overdose"
    placed = [
        (0, Mention("1", 0, 9, "clonidine", "Chemical", IDS[0])),
        (1, Mention("1", 0, 18, text, "Disease", IDS[1])),
    ]
    found = list(cues(read_words(text, (0,), placed, IDS, TYPES), 0, 1))
    assert "TH length 0" in found or "HT length 0" in found


@given(st.text(min_size=1, max_size=60), st.data())
@settings(max_examples=100, deadline=None)
def test_any_text_gives_sorted_buckets_and_the_same_again(text: str, data: st.DataObject) -> None:
    placed = []
    for entity in (0, 1):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        placed.append((entity, Mention("1", start, end, text[start:end], TYPES[entity], IDS[entity])))
    words = read_words(text, sentence_starts(text, 0), placed, IDS, TYPES)
    found = pair_cues(words, 0, 1)
    assert list(found) == sorted(set(found))
    assert all(0 <= bucket < BUCKETS for bucket in found)
    assert pair_cues(words, 0, 1) == found
