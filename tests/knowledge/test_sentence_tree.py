"""The sentence tree: the worked example of the paper (figure 2), and the properties of every tree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.knowledge.sentence_tree import SENTENCE, Branch, branch_start, flatten

# [CLS] Tim Cook CEO Apple is visiting Beijing capital China is_a City now
SENTENCE_TOKENS = ("[CLS]", "Tim", "Cook", "is", "visiting", "Beijing", "now")
BRANCHES = (
    Branch(("CEO", "Apple"), (1, 2)),
    Branch(("capital", "China"), (5,)),
    Branch(("is_a", "City"), (5,)),
)
VISIBLE = """
1 1 1 0 0 1 1 1 0 0 0 0 1
1 1 1 1 1 1 1 1 0 0 0 0 1
1 1 1 1 1 1 1 1 0 0 0 0 1
0 1 1 1 1 0 0 0 0 0 0 0 0
0 1 1 1 1 0 0 0 0 0 0 0 0
1 1 1 0 0 1 1 1 0 0 0 0 1
1 1 1 0 0 1 1 1 0 0 0 0 1
1 1 1 0 0 1 1 1 1 1 1 1 1
0 0 0 0 0 0 0 1 1 1 0 0 0
0 0 0 0 0 0 0 1 1 1 0 0 0
0 0 0 0 0 0 0 1 0 0 1 1 0
0 0 0 0 0 0 0 1 0 0 1 1 0
1 1 1 0 0 1 1 1 0 0 0 0 1
"""


def test_figure_2_hard_positions():
    flat = flatten(SENTENCE_TOKENS, BRANCHES)
    assert " ".join(flat.tokens) == "[CLS] Tim Cook CEO Apple is visiting Beijing capital China is_a City now"
    hard = {token: place for place, token in enumerate(flat.tokens)}
    assert (hard["Apple"], hard["China"], hard["now"]) == (4, 9, 12)


def test_figure_2_soft_positions():
    assert flatten(SENTENCE_TOKENS, BRANCHES).soft == (0, 1, 2, 3, 4, 3, 4, 5, 6, 7, 6, 7, 6)


def test_figure_2_every_token_has_segment_a():
    assert flatten(SENTENCE_TOKENS, BRANCHES).segments == (0,) * 13


def test_figure_2_visible_matrix():
    visible = flatten(SENTENCE_TOKENS, BRANCHES).visible
    assert visible.shape == (13, 13)
    assert visible.astype(int).tolist() == [[int(cell) for cell in row.split()] for row in VISIBLE.split("\n")[1:-1]]
    assert not visible[4, 9]  # "Apple(4)" does not see "China(9)"


def test_the_additive_mask_is_0_where_visible_and_minus_infinity_elsewhere():
    flat = flatten(SENTENCE_TOKENS, BRANCHES)
    assert (flat.additive()[flat.visible] == 0).all()
    assert np.isneginf(flat.additive()[~flat.visible]).all()


def test_a_sentence_without_branches_is_unchanged():
    flat = flatten(SENTENCE_TOKENS, ())
    assert flat.tokens == SENTENCE_TOKENS
    assert flat.soft == tuple(range(7))
    assert flat.visible.all()


def test_a_branch_follows_the_first_mention_and_is_visible_to_all():
    flat = flatten("abcde", (Branch(("x",), (1, 3, 4)),))
    assert "".join(flat.tokens) == "abxcde"
    assert flat.soft == (0, 1, 2, 2, 3, 4)
    assert flat.chains == (SENTENCE, SENTENCE, 0, SENTENCE, SENTENCE, SENTENCE)
    assert flat.visible[2].tolist() == [False, True, True, False, True, True]


def test_a_branch_of_the_last_token_is_last():
    assert flatten("ab", (Branch(("x",), (1,)), Branch(("y",), (0,)))).tokens == ("a", "y", "b", "x")


def test_visibility_is_symmetric_and_no_branch_sees_another():
    flat = flatten(range(9), [Branch((10 + place, 20), (place, place + 2)) for place in range(6)])
    assert (flat.visible == flat.visible.T).all()
    chains = np.array(flat.chains)
    for one in range(6):
        for other in range(6):
            assert flat.visible[np.ix_(chains == one, chains == other)].all() == (one == other)


@pytest.mark.parametrize(("anchors", "start"), [((3,), 4), ((3, 4, 5), 6), ((3, 5), 4), ((0, 1, 7), 2)])
def test_a_branch_starts_after_the_first_run_of_its_anchors(anchors, start):
    assert branch_start(anchors) == start


def test_rejects_a_branch_without_an_anchor():
    with pytest.raises(ValueError, match="needs an anchor"):
        flatten("ab", (Branch(("x",), ()),))
