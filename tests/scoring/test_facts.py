"""Scoring of relation files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorel.errors import InputError
from biorel.scoring.facts import FactScore, score_facts
from biorel.scoring.metrics import Prf

ONE = ("1", "MESH:C1", "cid", "MESH:D1")
TWO = ("1", "MESH:C1", "cid", "MESH:D2")


def test_repeated_and_malformed_rows_E04() -> None:
    score = score_facts({ONE, TWO}, [ONE, ONE, ONE, ("1", "MESH:C1", "cid", "")])
    assert score == FactScore(Prf(1.0, 0.5, pytest.approx(2 / 3), 1, 1, 2), repeated=2, malformed=1)
    assert score.to_json()["repeated"] == 2


@pytest.mark.parametrize("row", [("", "C", "r", "D"), ("1", " ", "r", "D"), ("1", "C", "r", "")])
def test_any_empty_id_is_malformed_and_an_empty_relation_is_not(row: tuple[str, str, str, str]) -> None:
    assert score_facts({ONE}, [row]).malformed == 1
    assert score_facts({("1", "C", "", "D")}, [("1", "C", "", "D")]).prf.f1 == 1.0


def test_direction_and_relation_are_part_of_a_fact() -> None:
    assert score_facts({ONE}, [("1", "MESH:D1", "cid", "MESH:C1"), ("1", "MESH:C1", "other", "MESH:D1")]).prf == Prf.of(
        0, 2, 1
    )


def test_nothing_said_and_nothing_to_find() -> None:
    assert score_facts(set(), []).prf == Prf(None, None, None, 0, 0, 0)
    assert score_facts({ONE}, []).prf == Prf(None, 0.0, 0.0, 0, 0, 1)


def test_a_malformed_gold_fact_is_refused() -> None:
    with pytest.raises(InputError, match="an id is empty"):
        score_facts({("1", "", "cid", "D")}, [])


ROW = st.tuples(*(st.sampled_from(["", "x", "y"]) for _ in range(4)))


@given(st.sets(ROW), st.lists(ROW))
def test_the_books_balance(gold: set[tuple[str, str, str, str]], rows: list[tuple[str, str, str, str]]) -> None:
    gold = {fact for fact in gold if fact[0] and fact[1] and fact[3]}
    score = score_facts(gold, rows)
    assert len(rows) == score.prf.predicted + score.repeated + score.malformed
    assert (score.prf.recall or 0.0) <= 1
