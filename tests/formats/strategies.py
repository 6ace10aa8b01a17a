"""Strategies for documents with mentions and relations, for the round trips of formats with text."""

from __future__ import annotations

from hypothesis import strategies as st

from biorel.records import Annotated, Document, Entity, Evidence, Mention, Relation

_IDS = {
    "Chemical": ["MESH:D900001", "MESH:C900002", "CHEBI:12345", "2,4-D"],
    "Disease": ["MESH:D900003", "OMIM:104300", "NCBIGene:5"],
    "Gene": ["NCBIGene:367", "NCBIGene:104300"],
    "Species": ["NCBITaxon:9606"],
    "Variant": ["p|SUB|V|600|E", "rs113488022"],
}
_CONCEPTS = [(type_, id_) for type_, ids in _IDS.items() for id_ in ids]


@st.composite
def documents(draw: st.DrawFn, forbidden: str) -> tuple[Annotated, list[Relation]]:
    """A document without the forbidden characters; each mention is within the title or the abstract."""
    characters = st.characters(exclude_categories=["Cs"], exclude_characters=forbidden)
    texts = st.text(characters | st.sampled_from("ab |;-"), max_size=30)
    document = Document("1", draw(texts), draw(texts))
    mentions: dict[Mention, None] = {}
    for begin, text in ((0, document.title), (len(document.title) + 1, document.abstract)):
        for _ in range(draw(st.integers(0, 3)) if text.strip() else 0):
            start = draw(st.integers(0, len(text) - 1))
            end = draw(st.integers(start + 1, len(text)))
            type_ = draw(st.sampled_from(sorted(_IDS)))
            for id_ in draw(st.lists(st.none() | st.sampled_from(_IDS[type_]), min_size=1, unique=True)):
                mentions[Mention("1", begin + start, begin + end, text[start:end], type_, id_)] = None
    entities = st.sampled_from(_CONCEPTS).map(lambda concept: Entity(concept[1], concept[0], "name"))
    evidence = Evidence((0, 1), (0, 1), 1.0, (0, 1))
    relations = st.builds(
        Relation, st.just("1"), entities, st.sampled_from(["r", "a b"]), entities, st.just(0.5), st.just((evidence,))
    )
    return Annotated(document, tuple(mentions)), draw(st.lists(relations, max_size=3))
