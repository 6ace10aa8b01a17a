"""Section 2.3: the bi-affine over gathered spans equals the dense tensor A at those tokens."""

import numpy as np
import pytest
import torch

from biorel.model.heads import Biaffine
from tests.builders import scrambled

WIDTH, RELATIONS, TOKENS = 3, 4, 6


def _dense(heads: np.ndarray, tails: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """A_ilj over all tokens: [T, R, T], by a sum over both widths with a last column of ones."""
    scores = np.zeros((len(heads), RELATIONS, len(tails)))
    for i, head in enumerate(heads):
        for l in range(RELATIONS):  # noqa: E741 (the letter in the paper)
            for j, tail in enumerate(tails):
                for d, left in enumerate([*head, 1.0]):
                    for e, right in enumerate([*tail, 1.0]):
                        scores[i, l, j] += left * weight[d, l, e] * right
    return scores


def test_gathered_spans_have_the_scores_of_the_dense_tensor() -> None:
    biaffine = scrambled(Biaffine(width=WIDTH, relations=RELATIONS))
    generator = torch.Generator().manual_seed(3)
    heads, tails = torch.randn(2, 2, TOKENS, WIDTH, dtype=torch.float64, generator=generator)
    head_places, tail_places = [[4, 0], [5, 5]], [[1, 2, 3], [0, 5, 1]]
    rows = torch.arange(2)[:, None]
    found = biaffine(heads[rows, torch.tensor(head_places)], tails[rows, torch.tensor(tail_places)])
    assert found.shape == (2, 2, RELATIONS, 3)
    for row in range(2):
        dense = _dense(heads[row].numpy(), tails[row].numpy(), biaffine.weight.detach().numpy())
        for h, i in enumerate(head_places[row]):
            for k, j in enumerate(tail_places[row]):
                np.testing.assert_allclose(found[row, h, :, k].detach().numpy(), dense[i, :, j], atol=1e-12)


def test_zero_vectors_score_the_bias_of_each_relation() -> None:
    biaffine = scrambled(Biaffine(width=WIDTH, relations=RELATIONS))
    zero = torch.zeros(1, 1, WIDTH, dtype=torch.float64)
    torch.testing.assert_close(biaffine(zero, zero)[0, 0, :, 0], biaffine.weight[WIDTH, :, WIDTH])


@pytest.mark.parametrize("width", [1, 8])
def test_the_matrix_of_each_relation_starts_orthogonal(width: int) -> None:
    torch.manual_seed(0)
    weight = Biaffine(width=width, relations=RELATIONS).weight.detach()
    for relation in range(RELATIONS):
        matrix = weight[:, relation]
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(width + 1), atol=1e-5, rtol=0)
    if width > 1:
        assert not torch.allclose(weight[:, 0], weight[:, 1])
