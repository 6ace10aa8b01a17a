"""A span covers the same text from import to export, for any text."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from biorel.counts import Counts, Reason
from biorel.dataset.candidates import candidates, entities, link
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import ner_labels
from biorel.formats.jsonl import read_jsonl
from biorel.formats.spans import check_spans
from biorel.model.windows import plan_windows
from biorel.records import Annotated
from biorel.text.tokenizer import load_tokenizer
from tests.builders import RESOURCES, relation, schema
from tests.formats.strategies import documents
from tests.properties.profile import PROPERTY

TYPES = ("Chemical", "Disease", "Gene")
SCHEMA = schema(relation("r", "Chemical", "Disease"))
_UNITS = {"UTF-8 bytes": ("utf-8", 1), "UTF-16 units": ("utf-16-le", 2)}


@functools.cache
def encoder() -> Featurizer:
    """The shipped tokenizer."""
    tokenizer = load_tokenizer(RESOURCES / "models" / "cdr" / "tokenizer.json")
    return Featurizer(tokenizer, SCHEMA.labels, ner_labels(TYPES))


def as_record(annotated: Annotated) -> str:
    """The document as a line of JSON, with unchanged mentions."""
    document = annotated.document
    rows = [
        {"start": one.start, "end": one.end, "text": one.text, "type": one.type, "id": one.entity_id or "-"}
        for one in annotated.mentions
    ]
    return json.dumps({"id": document.doc_id, "title": document.title, "abstract": document.abstract, "entities": rows})


def imported(annotated: Annotated, folder: Path) -> Annotated:
    path = folder / "a.jsonl"
    path.write_text(f"{as_record(annotated)}\n", encoding="utf-8")
    ((_, found),) = read_jsonl(path, Counts())
    assert isinstance(found, Annotated), found
    return found


@PROPERTY
@given(item=documents("\0"))
def test_spans_survive_import_tokens_and_windows(tmp_path, item):
    annotated, _ = item
    if not annotated.document.text.strip():
        return
    found = imported(annotated, tmp_path)
    # one id that joins several is several mentions: only those of types whose ids are joined
    assert found.document == annotated.document
    assert {(one.start, one.end, one.text) for one in found.mentions} == {
        (one.start, one.end, one.text) for one in annotated.mentions
    }
    linked = link(found.mentions, "drop")
    pairs = candidates("1", entities(linked), SCHEMA)
    counts = Counts()
    example = encoder().example(found.document, found.mentions, linked, pairs, counts)
    text = found.document.text
    lost = counts[Reason.MENTION_WITHOUT_TOKENS]
    assert len(example.mention_starts) + lost == len(set(linked))
    assert len(example.pair_heads) + counts[Reason.PAIR_WITHOUT_TOKENS] == len(pairs)
    tokens = list(zip(example.token_starts, example.token_ends, strict=True))
    assert all(0 <= start < end <= len(text) for start, end in tokens)
    shown = {(one.start, one.end): one.text for one in linked}
    for first, last, start, end in zip(
        example.mention_starts,
        example.mention_ends,
        example.mention_char_starts,
        example.mention_char_ends,
        strict=True,
    ):
        assert text[start:end] == shown[start, end]
        assert first < last
        # each of its tokens overlaps it, and no adjacent token does
        inside = [number for number, span in enumerate(tokens) if span[0] < end and start < span[1]]
        assert inside == list(range(first, last))
    for size in (1, 2, 7):
        windows = plan_windows(len(example.token_ids), size)
        kept = [place for window in windows for place in range(window.keep_start, window.keep_end)]
        assert kept == list(range(len(example.token_ids)))
        assert all(window.start <= window.keep_start <= window.keep_end <= window.end for window in windows)


@PROPERTY
@given(item=documents("\0"), unit=st.sampled_from(sorted(_UNITS)))
def test_detects_and_repairs_offsets_in_other_units(item, unit):
    annotated, _ = item
    document, mentions = annotated.document, annotated.mentions
    encoding, width = _UNITS[unit]

    def counted(place: int) -> int:
        return len(document.text[:place].encode(encoding)) // width

    moved = [_at(mention, counted(mention.start), counted(mention.end)) for mention in mentions]
    counts = Counts()
    found = check_spans(document, moved, counts, "")
    if moved == list(mentions):
        assert (found, counts.by_reason) == (mentions, {})
    elif unit == "UTF-8 bytes" or found == mentions:
        # UTF-16 offsets that are valid as UTF-8 may be converted as such; a kept span matches its text either way
        assert all(document.text[one.start : one.end] == one.text for one in found)
        assert all(one.end <= len(document.text) for one in found)
        assert counts.by_reason


@PROPERTY
@given(
    item=documents("\0"),
    shifts=st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40)), min_size=1, max_size=12),
)
def test_misplaced_mentions_are_repaired_or_counted(item, shifts):
    annotated, _ = item
    moved = [
        _at(mention, mention.start + left, mention.end + right)
        for mention, (left, right) in zip(annotated.mentions, shifts, strict=False)
    ]
    counts = Counts()
    found = check_spans(annotated.document, moved, counts, "")
    dropped = sum(count for reason, count in counts.by_reason.items() if reason.startswith("mentions dropped"))
    assert len(found) + dropped == len(moved)
    assert all(0 <= one.start < one.end <= len(annotated.document.text) for one in found)
    assert all(annotated.document.text[one.start : one.end] == one.text for one in found)


def _at(mention, start, end):
    return replace(mention, start=start, end=end)
