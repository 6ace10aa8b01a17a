"""Which pairs a measure looks at."""

from __future__ import annotations

import math

import pytest

from biorel.errors import InputError, ModelError
from biorel.records import Pair
from biorel.scoring.pairs import NOT_SCORED, ScoredPair, check, counts, distinct, home_types, probability_matrix


def scored(
    doc_id: str = "1",
    relations: tuple[str, ...] = (),
    probabilities: tuple[float, ...] = (0.5, 0.1),
    excluded_because: str = "",
    distance: int = 5,
    tail_type: str = "Disease",
) -> ScoredPair:
    return ScoredPair(
        Pair(doc_id, "MESH:C", "Chemical", "MESH:D", tail_type, relations, excluded_because), probabilities, distance
    )


def test_a_scored_pair_knows_its_key_and_its_type() -> None:
    one = scored("12")
    assert one.key == ("12", "MESH:C", "MESH:D")
    assert one.pair_type == "chemical_disease"
    assert one.is_scored
    assert not scored(excluded_because="not_mentioned", distance=NOT_SCORED).is_scored


@pytest.mark.parametrize(
    ("excluded_because", "with_filter", "without_filter"),
    [
        ("", True, True),
        ("hypernym", False, True),
        ("unmapped", False, False),
        ("inferred", False, False),
        ("not_mentioned", True, True),
        ("too_long", True, True),
    ],
)
def test_every_drop_reason_has_its_place(excluded_because: str, with_filter: bool, without_filter: bool) -> None:
    one = scored(excluded_because=excluded_because)
    assert counts(one, filtered=True) is with_filter
    assert counts(one, filtered=False) is without_filter


def test_a_repeated_row_counts_once_E04() -> None:
    assert distinct([scored("1"), scored("2"), scored("1")]) == [scored("1"), scored("2")]


def test_two_rows_of_one_pair_that_differ_are_refused() -> None:
    with pytest.raises(InputError, match="document 1: the pair MESH:C, MESH:D"):
        distinct([scored(probabilities=(0.5, 0.1)), scored(probabilities=(0.4, 0.1))])


def test_check_names_what_does_not_fit() -> None:
    check([scored(relations=("a", "b")), scored(probabilities=(), distance=NOT_SCORED)], ["a", "b"])
    with pytest.raises(ModelError, match="relation 'c' is not among"):
        check([scored(relations=("c",))], ["a", "b"])
    with pytest.raises(ModelError, match="2 probabilities, 1 labels"):
        check([scored()], ["a"])
    for value in (math.nan, math.inf):
        with pytest.raises(ModelError, match="not a number"):
            check([scored(probabilities=(value, 0.1))], ["a", "b"])


def test_probability_matrix_has_a_row_per_pair() -> None:
    assert probability_matrix([scored(), scored("2", probabilities=(0.2, 0.3))], 2).tolist() == [
        [0.5, 0.1],
        [0.2, 0.3],
    ]
    assert probability_matrix([], 2).shape == (0, 2)


def test_a_relation_is_at_home_where_most_of_its_facts_are() -> None:
    pairs = [scored(relations=("a",)), scored("2", ("a", "b"), tail_type="Gene"), scored("3", ("a",), tail_type="Gene")]
    assert home_types(pairs) == {"a": "chemical_gene", "b": "chemical_gene"}
    assert home_types([scored()]) == {}
