"""Annotations laid over documents: every span is checked, and every annotation accounted for."""

from __future__ import annotations

from biorel.counts import Reason
from biorel.ner.imported import ImportedTagger
from biorel.records import Annotated, Document, Mention

TEXT = "Dose of 5 µg β-agonist caused tremor."


def annotated(doc_id: str, title: str, abstract: str, *spans: tuple[int, int, str]) -> Annotated:
    mentions = tuple(Mention(doc_id, start, end, text, "Disease", "MESH:D900001") for start, end, text in spans)
    return Annotated(Document(doc_id, title, abstract), mentions)


def spans(mentions: tuple[Mention, ...]) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.text) for one in mentions]


def test_annotations_keep_their_ids(counts):
    tagger = ImportedTagger([annotated("1", "Pain.", "Pain.", (0, 4, "Pain"), (6, 10, "Pain"))], counts)
    (found,) = tagger.tag([Document("1", "Pain.", "Pain.")])
    assert spans(found) == [(0, 4, "Pain"), (6, 10, "Pain")]
    assert {one.entity_id for one in found} == {"MESH:D900001"}


def test_P07_offsets_in_bytes_become_code_points(counts):
    start = len(TEXT[: TEXT.index("tremor")].encode())
    (found,) = ImportedTagger([annotated("1", TEXT, "", (start, start + 6, "tremor"))], counts).tag(
        [Document("1", TEXT, "")]
    )
    assert spans(found) == [(30, 36, "tremor")]


def test_P07_offsets_in_code_points_stay(counts):
    (found,) = ImportedTagger([annotated("1", TEXT, "", (30, 36, "tremor"))], counts).tag([Document("1", TEXT, "")])
    assert spans(found) == [(30, 36, "tremor")]


def test_P08_another_edition_of_a_text_leaves_other_documents_unchanged(counts):
    # A's annotations were made without BACKGROUND; its name occurs twice, so it cannot be anchored by its text
    items = [
        annotated("A", "On pain.", "Pain or more pain.", (9, 13, "Pain"), (22, 26, "pain")),
        annotated("B", "Fever.", "", (0, 5, "Fever")),
        annotated("C", "Ache.", "", (0, 4, "Ache")),
    ]
    ours = [
        Document("A", "On pain.", "BACKGROUND: Pain or more pain."),
        Document("B", "Fever.", ""),
        Document("C", "Something else.", "And nothing."),
    ]
    first, second, third = ImportedTagger(items, counts).tag(ours)
    assert spans(first) == [(21, 25, "Pain"), (34, 38, "pain")]
    assert spans(second) == [(0, 5, "Fever")]
    assert third == ()
    assert counts[Reason.DOCUMENTS_WITH_OTHER_TEXT] == 2
    assert counts[Reason.MENTION_SPAN_MISMATCH] == 1


def test_P08_mentions_move_if_the_annotated_text_is_longer(counts):
    item = annotated("A", "Pain.", "BACKGROUND: Pain, pain.", (18, 22, "Pain"), (24, 28, "pain"))
    (found,) = ImportedTagger([item], counts).tag([Document("A", "Pain.", "Pain, pain.")])
    assert spans(found) == [(6, 10, "Pain"), (12, 16, "pain")]


def test_uses_the_first_of_repeated_annotated_documents(counts):
    items = [annotated("1", "Pain.", "", (0, 4, "Pain")), annotated("1", "Ache.", "", (0, 4, "Ache"))]
    (found,) = ImportedTagger(items, counts).tag([Document("1", "Pain.", "")])
    assert spans(found) == [(0, 4, "Pain")]
    assert counts[Reason.ANNOTATED_DOCUMENTS_READ] == 2
    assert counts[Reason.ANNOTATED_DOCUMENT_REPEATED] == 1
    assert counts[Reason.MENTIONS_TRANSFERRED] == 1


def test_counts_every_annotated_document(counts):
    tagger = ImportedTagger([annotated("1", "a", ""), annotated("02", "b", ""), annotated("3", "c", "")], counts)
    tagger.tag([Document("3", "c", ""), Document("2", "b", "")])
    tagger.tag([Document("3", "c", "")])
    assert counts[Reason.ANNOTATED_DOCUMENTS_READ] == 3
    assert counts[Reason.ANNOTATED_DOCUMENT_UNMATCHED] == 2
    assert counts[Reason.DOCUMENTS_WITHOUT_ANNOTATIONS] == 1
    assert Reason.ANNOTATED_DOCUMENT_UNMATCHED not in counts.examples
